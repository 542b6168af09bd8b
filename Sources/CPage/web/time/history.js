import { milliseconds, transactionNumber } from "../api/rows.js";
import { api } from "../data/api.js";

/** @typedef {import("../types.js").Change} Change */

/**
 * @typedef {object} Point
 * @property {number} time when a transaction was committed, in ms
 * @property {number} number of the transaction
 */

/** The number of parts in which the history is looked at; each costs one small request. */
const parts = 64;

/** The number of requests at a time: a browser has six connections. */
const parallel = 2;

/** @returns {Promise<{first: Point, last: Point}|null>} null if the history has no change */
export async function readRange() {
  const [oldest, newest] = await Promise.all([
    api.history({ limit: 1 }),
    api.history({ limit: 1, descending: true }),
  ]);
  const first = oldest.changes[0];
  const last = newest.changes[0];
  return first && last ? { first: pointOf(first), last: pointOf(last) } : null;
}

/**
 * @param {number} number of a transaction
 * @returns {Promise<number>} when it was committed, in ms; before the first one: just before that
 */
export async function timeOf(number) {
  const { changes } = await api.history({ "up-to": number, descending: true, limit: 1 });
  if (changes[0]) return pointOf(changes[0]).time;
  const first = (await api.history({ limit: 1 })).changes[0];
  return first ? pointOf(first).time - 1 : Date.now();
}

/**
 * Finds out when much was committed. The numbers of transactions rise with time, so the first transaction
 * after a moment tells how many there were before it; quiet spans need no closer look.
 * @param {Point} first
 * @param {Point} last
 * @param {(from: number, to: number, count: number) => void} found a span and its number of transactions
 */
export async function readActivity(first, last, found) {
  const least = (last.time - first.time) / parts;
  /** @type {[Point, Point][]} */
  const spans = [[first, { time: last.time + 1, number: last.number + 1 }]];
  const work = async () => {
    for (let span = spans.shift(); span; span = spans.shift()) {
      const [from, to] = span;
      const count = to.number - from.number;
      if (count <= 0) continue;
      if (to.time - from.time <= least) {
        found(from.time, to.time, count);
        continue;
      }
      const middle = (from.time + to.time) / 2;
      const after = new Date(Math.floor(middle)).toISOString();
      const { changes } = await api.history({ after, limit: 1 });
      const number = changes[0] ? Math.min(to.number, transactionNumber(changes[0].token)) : to.number;
      spans.push([from, { time: middle, number }], [{ time: middle, number }, to]);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
}

/** @param {Change} change @returns {Point} */
function pointOf(change) {
  // The list as of this millisecond has the transaction already.
  const time = Math.ceil(milliseconds(change.transaction?.at ?? null) ?? 0);
  return { time, number: transactionNumber(change.token) };
}
