import { defaultView, formatView, parseAddress } from "./view-address.js";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Box} Box */

/** Browsers refuse more than some hundred changes of the address in half a minute. */
const addressDelay = 300;

/**
 * What the person looks at. It begins with the address of the page and is written back to it.
 * Its event "change" has `detail.changed`, the set of the names that changed; "bounds" is among them when the
 * map shows another part of the earth. Its event "trail" has the revisions of the event whose detail is open.
 */
class ViewState extends EventTarget {
  #address = parseAddress(globalThis.location?.search ?? "");
  #view = this.#address.view;
  /** @type {Box|null} */
  #bounds = null;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;

  constructor() {
    super();
    globalThis.addEventListener?.("popstate", () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#address = parseAddress(location.search);
      this.#replace(this.#address.view);
    });
    globalThis.addEventListener?.("pagehide", () => this.#writeNow());
  }

  /** The parameters of the address that the page does not know, or whose values are not valid. */
  get ignored() {
    return this.#address.ignored;
  }

  /** @returns {Readonly<View>} */
  get() {
    return this.#view;
  }

  /**
   * Selecting an event makes an entry in the browser's history, so that "back" closes the detail.
   * @param {Partial<View>} partial
   */
  set(partial) {
    const wasSelected = this.#view.selected;
    if (!this.#replace({ ...this.#view, ...partial })) return;
    if (wasSelected === null && this.#view.selected !== null) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      history.pushState(null, "", this.address());
    } else {
      this.#timer ??= setTimeout(() => this.#writeNow(), addressDelay);
    }
  }

  /** Selects all events; map, order and colour stay. */
  clearFilters() {
    const { from, to, minMagnitude, maxMagnitude, minDepth, maxDepth } = defaultView;
    const { types, networks, box, within, mapOnly, text } = defaultView;
    this.set({
      period: "all", from, to, minMagnitude, maxMagnitude, minDepth, maxDepth, types, networks, box, within,
      mapOnly, text,
    });
  }

  /** @returns {Box|null} the part of the earth that the map shows */
  bounds() {
    return this.#bounds;
  }

  /**
   * The map calls this when it has moved or changed its size.
   * @param {Box|null} bounds null: the whole earth
   */
  setBounds(bounds) {
    if (String(bounds) === String(this.#bounds)) return;
    this.#bounds = bounds;
    this.dispatchEvent(new CustomEvent("change", { detail: { changed: new Set(["bounds"]) } }));
  }

  /** @returns {string} the address of this view, relative to the page's path */
  address() {
    const query = formatView(this.#view);
    return location.pathname + (query ? `?${query}` : "") + location.hash;
  }

  #writeNow() {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    history.replaceState(null, "", this.address());
  }

  /** @param {View} view @returns {boolean} whether anything changed */
  #replace(view) {
    const names = /** @type {(keyof View)[]} */ (Object.keys(defaultView));
    const before = this.#view;
    const changed = new Set(names.filter((name) => !same(before[name], view[name])));
    if (changed.size === 0) return false;
    this.#view = view;
    this.dispatchEvent(new CustomEvent("change", { detail: { changed } }));
    return true;
  }
}

/** @param {unknown} a @param {unknown} b */
function same(a, b) {
  return a === b || (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
}

/** The view of this page. */
export const view = new ViewState();
