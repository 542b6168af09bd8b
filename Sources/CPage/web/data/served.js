import { view } from "../state/view.js";
import { filter } from "./filter.js";
import { QuakeSet } from "./quake-set.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").Changes} Changes */
/** @typedef {ReadonlyMap<string, Quake|null>} Batch */

/** The events that the server selected for the view, because the loaded ones are not all of them. */
export class Served {
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
