import { timeOfPoint } from "../state/point.js";
import { duration, view } from "../state/view.js";
import { filter, QuakeSet } from "./quake-set.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").Changes} Changes */

/** @typedef {ReadonlyMap<string, Quake|null>} Batch */

/** The events that the server selected for the view, because the loaded ones are not all of them. */
class Served {
  /**
   * Null while the loaded ones are shown.
   * @type {QuakeSet|null}
   */
  set = null;
  /** Whether the view selects more events than these. */
  isPart = false;
  /** Whether the server has not answered yet; what is there is shown meanwhile. */
  waits = false;
  /**
   * An answer that is being sorted.
   * @type {QuakeSet|null}
   */
  #next = null;
  #shownChanged;

  /** @param {(set: QuakeSet) => void} shownChanged */
  constructor(shownChanged) {
    this.#shownChanged = shownChanged;
  }

  /** @returns {boolean} whether the view is again the one that the server has answered */
  keep() {
    if (!this.waits || this.#next) return false;
    this.waits = false;
    return true;
  }

  /**
   * @param {Batch} batch
   * @param {boolean} isPart
   * @returns {Promise<boolean>} false if another answer, or none, is wanted meanwhile
   */
  async show(batch, isPart) {
    /** @type {QuakeSet} */
    const next = new QuakeSet(() => Date.now(), () => this.#shownChanged(next));
    this.#next = next;
    next.apply(batch, false);
    await next.ordered;
    if (this.#next !== next) return false;
    this.#next = null;
    this.waits = false;
    this.set = next;
    this.isPart = isPart;
    next.refilter();
    return true;
  }

  /**
   * Changes of these events, and of others: those do not pass the filter.
   * @param {Batch} batch
   * @param {boolean} live
   * @returns {Changes|null} what is different in the list that is shown
   */
  apply(batch, live) {
    const target = this.#next ?? this.set;
    if (!target) return null;
    const passes = filter(view.get(), view.bounds(), Date.now());
    const own = [...batch].filter(([code, quake]) => target.get(code) || (quake && passes(quake)));
    const changes = target.apply(new Map(own), live);
    return target === this.set ? changes : null;
  }

  /** The loaded events are all that the view selects. */
  leave() {
    this.set = null;
    this.#next = null;
    this.waits = false;
  }
}

/** Events that have become too old for the view leave it at this interval. */
const ageInterval = 5000;

/** What selects events; "bounds" counts only with `mapOnly`. */
export const filters = Object.freeze([
  "period", "from", "to", "minMagnitude", "maxMagnitude", "minDepth", "maxDepth", "types", "networks", "box",
  "within", "mapOnly", "text",
]);

/**
 * The events that are loaded: those of now, or while the view looks back, those of then. The set of now is
 * kept current all the time, so that the way back to it takes no time and has no gap. Where it does not hold
 * all events of the view, the selection of the server takes its place (`selecting.js`).
 *
 * Events: "change" (detail: StoreChange) and "shown" (other events pass the view, or in another order), each
 * at most once a frame; "loaded" (`complete` or `partial` changed); "news" (detail: Changes, just committed).
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
  /**
   * The set of now has all events from this time on; null for all.
   * @type {number|null}
   */
  #from = null;
  /**
   * The time of its oldest event, if the database has older ones of the same period.
   * @type {number|null}
   */
  #horizon = null;
  /** What the server selected, where the set of now does not hold all events of the view. */
  served = new Served((set) => this.#shownChanged(set));
  #pastIsPart = false;
  /**
   * Why there is no list of the point that is looked back to; null: there is one, or it is on its way.
   * @type {string|null}
   */
  problem = null;

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

  /** Whether all is loaded that will be; false while more is on its way. */
  get complete() {
    if (this.#past) return this.#pastComplete;
    return !this.served.waits && (this.served.set !== null || this.#complete);
  }

  /** Whether the view selects more events than are loaded: those are the first of its order. */
  get partial() {
    if (this.#past) return this.#pastIsPart;
    return this.served.set ? this.served.isPart : !this.#covers();
  }

  /** Whether the database has events that are older than the set of now can hold. */
  get truncated() {
    return this.#horizon !== null;
  }

  /** Whether the set of now has all events of the view. */
  get covered() {
    return this.#complete && this.#covers();
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
    // An alert does not depend on what the view selects, nor on the moment that it shows.
    if (changes && live) this.dispatchEvent(new CustomEvent("news", { detail: changes }));
    if (!changes || this.#current !== this.#live) return;
    this.dispatchEvent(new CustomEvent("change", { detail: changes }));
  }

  /**
   * @param {boolean} complete
   * @param {number|null} from the oldest time that was asked for
   * @param {number|null} horizon the time of the oldest event, if there are older ones
   */
  setLoaded(complete, from = this.#from, horizon = this.#horizon) {
    this.#complete = complete;
    this.#from = from;
    this.#horizon = horizon;
    this.dispatchEvent(new CustomEvent("loaded"));
  }

  /**
   * The events that the server selected began, ended or are others.
   * @param {boolean} isOther whether another list is shown
   */
  servedChanged(isOther) {
    if (isOther && !this.#past) this.#reset();
    this.dispatchEvent(new CustomEvent("loaded"));
  }

  /**
   * Changes of the events that the server selected, or of others.
   * @param {ReadonlyMap<string, Quake|null>} batch
   * @param {boolean} live
   */
  applyServed(batch, live) {
    const changes = this.served.apply(batch, live);
    if (changes && !this.#past) this.dispatchEvent(new CustomEvent("change", { detail: changes }));
  }

  /** @returns {readonly Quake[]} those of now that all tabs share */
  live() {
    return this.#live.all();
  }

  /** @returns {IterableIterator<string>} the codes of the events of now */
  liveCodes() {
    return this.#live.codes();
  }

  /**
   * Shows what differs at another point of the history; the first time, that is everything.
   * @param {ReadonlyMap<string, Quake|null>} batch
   * @param {number} time
   * @param {boolean} isPart whether there were more events
   * @returns {Promise<void>}
   */
  async applyPast(batch, time, isPart) {
    this.#pastIsPart = isPart;
    this.problem = null;
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

  /**
   * Shows no list: the history does not have the point that is looked back to.
   * @param {string} problem
   */
  failPast(problem) {
    this.#past = this.#pastSet();
    this.#pastTime = timeOfPoint(view.get().asOf ?? "") || Date.now();
    this.#pastComplete = false;
    this.problem = problem;
    this.#reset();
  }

  /** Back to now. */
  leavePast() {
    if (!this.#past) return;
    this.#past = null;
    this.problem = null;
    this.#reset();
  }

  /** @returns {QuakeSet} */
  #pastSet() {
    /** @type {QuakeSet} */
    const past = new QuakeSet(() => this.#pastTime, () => this.#shownChanged(past));
    return past;
  }

  get #current() {
    return this.#past ?? this.served.set ?? this.#live;
  }

  /** @returns {QuakeSet[]} */
  #sets() {
    return [this.#past, this.served.set, this.#live].flatMap((set) => set ?? []);
  }

  #covers() {
    const { period, from, to } = view.get();
    const oldest = Math.max(from ?? -Infinity, Date.now() - duration(period));
    if (to !== null && from === null && this.#from !== null) return false;
    return oldest >= Math.max(this.#from ?? -Infinity, this.#horizon ?? -Infinity);
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
