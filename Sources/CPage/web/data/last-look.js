/** When the person looked at the page last, so that the page can tell what changed since. */

const storageKey = "quake-last-look";

/** How often a look that goes on is noted. */
const interval = 30_000;

/** A person who was away for less than this has missed nothing worth a line. */
export const glance = 120_000;

/**
 * @typedef {object} Look
 * @property {string} token the cursor of then
 * @property {number} at ms since 1970
 */

class LastLook extends EventTarget {
  /**
   * The look before this one; null at a first visit. Its event "change" tells that there is another one.
   * @type {Look|null}
   */
  previous = null;
  /** @type {() => string|null} */
  #cursor = () => null;

  /** @param {() => string|null} cursor of now */
  start(cursor) {
    this.#cursor = cursor;
    this.#begin();
    setInterval(() => {
      if (!document.hidden) this.#note();
    }, interval);
    addEventListener("pagehide", () => this.#note());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#note();
      else this.#begin();
    });
  }

  #begin() {
    const look = stored();
    if (!look || (this.previous && Date.now() - look.at < glance)) return;
    this.previous = look;
    this.dispatchEvent(new CustomEvent("change"));
  }

  #note() {
    const token = this.#cursor()?.split("-")[0];
    if (!token) return;
    try {
      localStorage.setItem(storageKey, JSON.stringify({ token, at: Date.now() }));
    } catch {
      // Without storage each visit is a first one.
    }
  }
}

/** @returns {Look|null} */
function stored() {
  try {
    const look = JSON.parse(localStorage.getItem(storageKey) ?? "null");
    return typeof look?.token === "string" && typeof look.at === "number" ? look : null;
  } catch {
    return null;
  }
}

/** The last looks of this browser. */
export const lastLook = new LastLook();
