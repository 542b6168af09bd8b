import { Pace } from "./pace.js";

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
