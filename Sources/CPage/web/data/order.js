/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").View} View */

/** The page is free again after this long, in ms. */
const budget = 8;

/** Divides long work into parts, between which the page can draw and answer. */
export class Pace {
  #end = performance.now() + budget;

  /** Whether the part has taken long enough. */
  get isOver() {
    return performance.now() >= this.#end;
  }

  /** Lets the page do what is waiting, then begins the next part. */
  async pause() {
    await new Promise((resolve) => setTimeout(resolve));
    this.#end = performance.now() + budget;
  }
}

/**
 * @param {Readonly<View>} view
 * @returns {(a: Quake, b: Quake) => number} a total order: events without a value come last, equal ones are
 *   ordered by time, newest first, then by code
 */
export function order({ sort, descending }) {
  const sign = descending ? -1 : 1;
  if (sort === "place") {
    return (a, b) => {
      if ((a.place === "") !== (b.place === "")) return a.place === "" ? 1 : -1;
      return sign * compare(a.place.toLowerCase(), b.place.toLowerCase()) || tie(a, b);
    };
  }
  return (a, b) => {
    const x = a[sort];
    const y = b[sort];
    if (x === y) return tie(a, b);
    if (x === null) return 1;
    if (y === null) return -1;
    return sign * (x - y);
  };
}

/** @param {Quake} a @param {Quake} b */
function tie(a, b) {
  return b.time - a.time || compare(a.code, b.code);
}

/** @param {string} a @param {string} b */
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Up to this number, changes are made one by one; more of them with one pass through the list. */
const few = 48;

/** Events in an order that is kept while some of them change. */
export class SortedList {
  /** @type {Quake[]} */
  items = [];

  /**
   * @param {readonly Quake[]} removed the very objects that may be in the list
   * @param {readonly Quake[]} added
   * @param {(a: Quake, b: Quake) => number} compare a total order
   * @returns {boolean} whether the list changed
   */
  change(removed, added, compare) {
    const before = this.items.length;
    if (removed.length + added.length <= few) {
      let found = 0;
      for (const quake of removed) if (this.#remove(quake, compare)) found += 1;
      for (const quake of added) this.items.splice(this.#place(quake, compare), 0, quake);
      return found > 0 || added.length > 0;
    }
    const gone = new Set(removed);
    const fresh = [...added].sort(compare);
    /** @type {Quake[]} */
    const merged = [];
    let next = 0;
    for (const quake of this.items) {
      if (gone.has(quake)) continue;
      while (next < fresh.length && compare(fresh[next], quake) < 0) merged.push(fresh[next++]);
      merged.push(quake);
    }
    while (next < fresh.length) merged.push(fresh[next++]);
    this.items = merged;
    return fresh.length > 0 || merged.length !== before;
  }

  /** @param {Quake} quake @param {(a: Quake, b: Quake) => number} compare @returns {boolean} */
  #remove(quake, compare) {
    const index = this.#place(quake, compare);
    if (this.items[index] !== quake) return false;
    this.items.splice(index, 1);
    return true;
  }

  /**
   * @param {Quake} quake
   * @param {(a: Quake, b: Quake) => number} compare
   * @returns {number} the index of the event, or where it belongs
   */
  #place(quake, compare) {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.items[middle], quake) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A part that is small enough to be sorted in one go. */
const part = 2000;

/**
 * Sorts in parts: a sort of 50,000 events in one go would block the page for too long.
 * @template T
 * @param {readonly T[]} items
 * @param {(a: T, b: T) => number} compare
 * @param {AbortSignal} signal
 * @returns {Promise<T[]|null>} a sorted copy; null if the signal was aborted
 */
export async function sortInParts(items, compare, signal) {
  const pace = new Pace();
  /** @type {T[][]} */
  let runs = [];
  for (let start = 0; start < items.length; start += part) {
    runs.push(items.slice(start, start + part).sort(compare));
    if (pace.isOver) await pace.pause();
    if (signal.aborted) return null;
  }
  while (runs.length > 1) {
    const longer = [];
    for (let index = 0; index < runs.length; index += 2) {
      const a = runs[index];
      const b = runs[index + 1] ?? [];
      /** @type {T[]} */
      const merged = [];
      let i = 0;
      let j = 0;
      while (i < a.length || j < b.length) {
        for (let n = 0; n < part && (i < a.length || j < b.length); n += 1) {
          merged.push(j >= b.length || (i < a.length && compare(a[i], b[j]) <= 0) ? a[i++] : b[j++]);
        }
        if (pace.isOver) await pace.pause();
        if (signal.aborted) return null;
      }
      longer.push(merged);
    }
    runs = longer;
  }
  return runs[0] ?? [];
}
