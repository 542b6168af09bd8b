/** Sorting that lets the page breathe: a sort of 50,000 events in one go would block it for too long. */

/** The page is free again after this long. */
const budget = 8;

/** A part that is small enough to be sorted in one go. */
const part = 2000;

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(a: T, b: T) => number} compare
 * @param {AbortSignal} signal
 * @returns {Promise<T[]|null>} a sorted copy; null if the signal was aborted
 */
export async function sortInParts(items, compare, signal) {
  let end = performance.now() + budget;
  /** Waits when the time is used up. @returns {Promise<boolean>} whether to go on */
  const breathe = async () => {
    if (performance.now() < end) return true;
    await new Promise((resolve) => setTimeout(resolve));
    end = performance.now() + budget;
    return !signal.aborted;
  };
  /** @type {T[][]} */
  let runs = [];
  for (let start = 0; start < items.length; start += part) {
    runs.push(items.slice(start, start + part).sort(compare));
    if (!(await breathe())) return null;
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
        if (!(await breathe())) return null;
      }
      longer.push(merged);
    }
    runs = longer;
  }
  return runs[0] ?? [];
}
