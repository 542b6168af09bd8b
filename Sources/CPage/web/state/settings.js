/** Settings of this browser. Those of the view are in the address instead. */

/**
 * @typedef {object} Settings
 * @property {"auto"|"light"|"dark"} theme
 * @property {string} language a language of `text/`, or "auto" for that of the browser
 * @property {boolean} utc times in UTC instead of local time
 * @property {number|null} notifyAbove notify of new events of at least this magnitude
 */

const storageKey = "quake-settings";

/** @type {Settings} */
const defaults = { theme: "auto", language: "auto", utc: false, notifyAbove: null };

class SettingsStore extends EventTarget {
  /** @type {Settings} */
  #values = { ...defaults, ...stored() };

  constructor() {
    super();
    // Another tab changed them.
    globalThis.addEventListener?.("storage", (event) => {
      if (/** @type {StorageEvent} */ (event).key === storageKey) this.#replace({ ...defaults, ...stored() });
    });
  }

  /** @returns {Readonly<Settings>} */
  get() {
    return this.#values;
  }

  /** @param {Partial<Settings>} partial */
  set(partial) {
    this.#replace({ ...this.#values, ...partial });
    try {
      localStorage.setItem(storageKey, JSON.stringify(this.#values));
    } catch {
      // A browser that stores nothing keeps the settings until the page is closed.
    }
  }

  /** @param {Settings} values */
  #replace(values) {
    const names = /** @type {(keyof Settings)[]} */ (Object.keys(defaults));
    const changed = new Set(names.filter((name) => values[name] !== this.#values[name]));
    if (changed.size === 0) return;
    this.#values = values;
    this.dispatchEvent(new CustomEvent("change", { detail: { changed } }));
  }
}

/** @returns {Partial<Settings>} the stored settings whose values have the expected types */
function stored() {
  /** @type {Record<string, unknown>} */
  let values = {};
  try {
    values = JSON.parse(localStorage.getItem(storageKey) ?? "{}") ?? {};
  } catch {
    return {};
  }
  /** @type {Partial<Settings>} */
  const known = {};
  if (values.theme === "light" || values.theme === "dark") known.theme = values.theme;
  if (typeof values.language === "string") known.language = values.language;
  if (typeof values.utc === "boolean") known.utc = values.utc;
  if (typeof values.notifyAbove === "number") known.notifyAbove = values.notifyAbove;
  return known;
}

/** The settings; its event "change" has `detail.changed`, the set of names. */
export const settings = new SettingsStore();
