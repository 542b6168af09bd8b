/** @typedef {import("../types.js").Quake} Quake */

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
