import { view } from "../state/view.js";
import { timeOfPoint } from "../text/point.js";
import { QuakeSet } from "./quake-set.js";

/** @typedef {import("../types.js").Quake} Quake */

/** Events that have become too old for the view leave it at this interval. */
const ageInterval = 5000;

/** What selects events; "bounds" counts only with `mapOnly`. */
const filters = [
  "period", "minMagnitude", "maxMagnitude", "minDepth", "maxDepth", "types", "networks", "box", "mapOnly",
  "text",
];

/**
 * The events that are loaded: those of now, or while the view looks back, those of then. The set of now is
 * kept current all the time, so that the way back to it takes no time and has no gap.
 *
 * Events: "change" (detail: StoreChange) and "shown" (other events pass the view, or in another order), each
 * at most once a frame; "loaded" (`complete` or `truncated` changed).
 */
class Store extends EventTarget {
  /** @type {QuakeSet} */
  #live = new QuakeSet(() => Date.now(), () => this.#shownChanged(this.#live));
  /**
   * A page that begins in the past does not show the present first.
   * @type {QuakeSet|null}
   */
  #past = view.get().asOf === null ? null : this.#pastSet();
  #pastTime = timeOfPoint(view.get().asOf ?? "") || Date.now();
  #pastComplete = false;
  #refilter = 0;
  #complete = false;
  #truncated = false;

  constructor() {
    super();
    view.addEventListener("change", (event) => {
      const { changed } = /** @type {CustomEvent<{changed: Set<string>}>} */ (event).detail;
      if (changed.has("sort") || changed.has("descending")) for (const set of this.#sets()) set.reorder();
      if (filters.some((name) => changed.has(name)) || (changed.has("bounds") && view.get().mapOnly)) {
        this.#filterSoon();
      }
    });
    setInterval(() => {
      if (view.get().period !== "all") for (const set of this.#sets()) set.age();
    }, ageInterval);
  }

  /** @returns {number} the number of all loaded events */
  get size() {
    return this.#current.size;
  }

  /** Whether all events of the period are loaded; false while older ones are still on their way. */
  get complete() {
    return this.#past ? this.#pastComplete : this.#complete;
  }

  /** Whether the database has more events than a page can hold: these are the newest. */
  get truncated() {
    return this.#truncated;
  }

  /** @param {string} code @returns {Quake|undefined} */
  get(code) {
    return this.#current.get(code);
  }

  /** @returns {readonly Quake[]} in no certain order */
  all() {
    return this.#current.all();
  }

  /** @returns {readonly Quake[]} those that pass the filter of the view, in its order */
  shown() {
    return this.#current.shown();
  }

  /** @returns {number} the time that ages of events refer to: now, or the point that is looked back to */
  now() {
    return this.#past ? this.#pastTime : Date.now();
  }

  /** @param {ReadonlyMap<string, Quake|null>} batch @param {boolean} live */
  apply(batch, live) {
    const changes = this.#live.apply(batch, live);
    if (changes && !this.#past) this.dispatchEvent(new CustomEvent("change", { detail: changes }));
  }

  /** @param {boolean} complete @param {boolean} truncated */
  setLoaded(complete, truncated) {
    this.#complete = complete;
    this.#truncated = truncated;
    this.dispatchEvent(new CustomEvent("loaded"));
  }

  /** @returns {IterableIterator<string>} the codes of the events of now */
  liveCodes() {
    return this.#live.codes();
  }

  /**
   * Shows what differs at another point of the history; the first time, that is everything.
   * @param {ReadonlyMap<string, Quake|null>} batch
   * @param {number} time
   * @returns {Promise<void>}
   */
  async applyPast(batch, time) {
    if (this.#past) {
      const begins = !this.#pastComplete;
      this.#pastComplete = true;
      const aged = this.#pastTime !== time && view.get().period !== "all";
      this.#pastTime = time;
      const changes = this.#past.apply(batch, false);
      if (changes) this.dispatchEvent(new CustomEvent("change", { detail: changes }));
      if (aged) this.#past.refilter();
      // A first list without events differs in nothing from none.
      else if (begins && !changes) this.dispatchEvent(new CustomEvent("shown"));
      return;
    }
    const past = this.#pastSet();
    past.apply(batch, false);
    await past.ordered;
    if (view.get().asOf === null) return;
    this.#past = past;
    this.#pastTime = time;
    this.#pastComplete = true;
    past.refilter();
    this.#reset();
  }

  /** Back to now. */
  leavePast() {
    if (!this.#past) return;
    this.#past = null;
    this.#reset();
  }

  /** @returns {QuakeSet} */
  #pastSet() {
    /** @type {QuakeSet} */
    const past = new QuakeSet(() => this.#pastTime, () => this.#shownChanged(past));
    return past;
  }

  get #current() {
    return this.#past ?? this.#live;
  }

  #sets() {
    return this.#past ? [this.#past, this.#live] : [this.#live];
  }

  #reset() {
    this.dispatchEvent(new CustomEvent("change", { detail: { kind: "reset" } }));
    this.dispatchEvent(new CustomEvent("shown"));
  }

  #filterSoon() {
    if (this.#refilter !== 0) return;
    this.#refilter = requestAnimationFrame(() => {
      this.#refilter = 0;
      for (const set of this.#sets()) set.refilter();
    });
  }

  /** @param {QuakeSet} set */
  #shownChanged(set) {
    if (set === this.#current) queueMicrotask(() => this.dispatchEvent(new CustomEvent("shown")));
  }
}

/** The events of this page. */
export const store = new Store();
