import { equalQuakes } from "../api/rows.js";
import { view } from "../state/view.js";
import { filter } from "./filter.js";
import { order } from "./order.js";
import { SortedList } from "./sorted-list.js";
import { sortInParts } from "./sorting.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").Changes} Changes */

/** More events than this are sorted in parts. */
const many = 3000;

/** A set of events, and those of it that the view shows, in its order. A change costs no sort of all. */
export class QuakeSet {
  /** @type {Map<string, Quake>} */
  #quakes = new Map();
  /** @type {Quake[]|null} */
  #all = null;
  /** All events in the order of the view, so that another filter needs one pass. */
  #sorted = new SortedList();
  #shown = new SortedList();
  #compare = order(view.get());
  /** @type {AbortController|null} */
  #sorting = null;
  /** @type {{removed: Quake[], added: Quake[]}[]} changes since the sort began */
  #meanwhile = [];
  /** Fulfilled when the events are in order. @type {Promise<void>} */
  ordered = Promise.resolve();

  /**
   * @param {() => number} now
   * @param {() => void} shownChanged
   */
  constructor(now, shownChanged) {
    this.now = now;
    this.shownChanged = shownChanged;
  }

  get size() {
    return this.#quakes.size;
  }

  /** @param {string} code */
  get(code) {
    return this.#quakes.get(code);
  }

  /** @returns {IterableIterator<string>} */
  codes() {
    return this.#quakes.keys();
  }

  /** @returns {readonly Quake[]} */
  all() {
    this.#all ??= [...this.#quakes.values()];
    return this.#all;
  }

  /** @returns {readonly Quake[]} */
  shown() {
    return this.#shown.items;
  }

  /**
   * @param {ReadonlyMap<string, Quake|null>} batch events by code; null: it is gone
   * @param {boolean} live
   * @returns {Changes|null} what is different now
   */
  apply(batch, live) {
    /** @type {Changes} */
    const changes = { kind: "changes", inserted: [], updated: [], deleted: [], live };
    for (const [code, after] of batch) {
      const before = this.#quakes.get(code);
      if (after === null) {
        if (!before) continue;
        this.#quakes.delete(code);
        changes.deleted.push(before);
      } else {
        if (before && equalQuakes(before, after)) continue;
        this.#quakes.set(code, after);
        if (before) changes.updated.push({ before, after });
        else changes.inserted.push(after);
      }
    }
    const { inserted, updated, deleted } = changes;
    if (inserted.length + updated.length + deleted.length === 0) return null;
    this.#all = null;
    const removed = [...deleted, ...updated.map(({ before }) => before)];
    const added = [...inserted, ...updated.map(({ after }) => after)];
    if (added.length > many) this.#sort();
    else this.#place(removed, added);
    return changes;
  }

  /** The order of the view changed. */
  reorder() {
    this.#sort();
  }

  /** The filter of the view changed, or time has passed. */
  refilter() {
    this.#shown.items = this.#sorted.items.filter(this.#filter());
    this.shownChanged();
  }

  /** Removes events that are older than the period of the view by now. */
  age() {
    const passes = this.#filter();
    if (this.#shown.items.every(passes)) return;
    this.#shown.items = this.#shown.items.filter(passes);
    this.shownChanged();
  }

  /** @param {Quake[]} removed @param {Quake[]} added */
  #place(removed, added) {
    if (this.#sorting) this.#meanwhile.push({ removed, added });
    this.#sorted.change(removed, added, this.#compare);
    if (this.#shown.change(removed, added.filter(this.#filter()), this.#compare)) this.shownChanged();
  }

  #sort() {
    this.#sorting?.abort();
    this.#meanwhile = [];
    const compare = order(view.get());
    if (this.size <= many) {
      this.#sorting = null;
      this.#ordered([...this.all()].sort(compare), compare);
      return;
    }
    const sorting = new AbortController();
    this.#sorting = sorting;
    this.ordered = sortInParts(this.all(), compare, sorting.signal).then((sorted) => {
      if (sorted === null || sorting.signal.aborted) return;
      this.#sorting = null;
      this.#ordered(sorted, compare);
    });
  }

  /** @param {Quake[]} sorted @param {(a: Quake, b: Quake) => number} compare */
  #ordered(sorted, compare) {
    this.#compare = compare;
    this.#sorted.items = sorted;
    for (const { removed, added } of this.#meanwhile) this.#sorted.change(removed, added, compare);
    this.#meanwhile = [];
    this.refilter();
  }

  #filter() {
    return filter(view.get(), view.bounds(), this.now());
  }
}
