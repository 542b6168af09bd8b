import { isListed, rowOfRecord } from "../api/rows.js";
import { readText } from "./read-text.js";

/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../api/messages.js").Difference} Difference */
/** @typedef {import("../api/messages.js").DifferencesMessage} DifferencesMessage */

/** The server compares all before it sends the first byte: a long time takes it some seconds. */
const silence = 60_000;

/** The largest number of each kind that is handed over; all of them are counted. */
const most = 200;

/** Differences begin like this, and nothing within a string of JSON can look so: its quotes are escaped. */
const beginning = '{"op":"';

/**
 * Reads `/v1/diff` piece by piece, since the differences of a long time can be many megabytes.
 * @param {number} id of the request
 * @param {string} from
 * @param {string|null} to
 * @param {AbortSignal} signal
 * @returns {Promise<DifferencesMessage>}
 */
export async function readDifferences(id, from, to, signal) {
  const query = new URLSearchParams(to === null ? { from } : { from, to });
  const tops = { added: new Top(), changed: new Top(), gone: new Top() };
  let rest = "";
  /** @param {string} text */
  const take = (text) => {
    if (!text.startsWith(beginning)) return;
    // A comma and the next one follow, or the end of the list.
    const difference = differenceOf(JSON.parse(text.trimEnd().replace(/,$|\]\}$/, "")));
    if (difference) tops[difference.kind].add(difference);
  };
  for await (const piece of readText(`/v1/diff?${query}`, signal, silence)) {
    const parts = (rest + piece).split(/(?=\{"op":")/);
    rest = parts.pop() ?? "";
    parts.forEach(take);
  }
  take(rest);
  const { added, changed, gone } = tops;
  return {
    type: "differences", id,
    counts: { added: added.count, changed: changed.count, gone: gone.count },
    added: added.items(), changed: changed.items(), gone: gone.items(),
  };
}

/** @param {Change} change @returns {Difference|null} as the list of events shows it */
function differenceOf(change) {
  if (change.op === "truncate") return null;
  const before = change.old && isListed(change.old) ? JSON.stringify(rowOfRecord(change.old)) : null;
  const after = change.new && isListed(change.new) ? JSON.stringify(rowOfRecord(change.new)) : null;
  if (before === after) return null;
  const kind = before === null ? "added" : after === null ? "gone" : "changed";
  const weight = Math.max(change.old?.magnitude ?? -10, change.new?.magnitude ?? -10);
  return { kind, before, after, weight };
}

/** Counts differences and keeps those of the largest earthquakes. */
class Top {
  count = 0;
  /** @type {Difference[]} */
  #items = [];

  /** @param {Difference} difference */
  add(difference) {
    this.count += 1;
    this.#items.push(difference);
    if (this.#items.length > most * 4) this.#items = this.items();
  }

  /** @returns {Difference[]} the largest first */
  items() {
    return this.#items.sort((a, b) => b.weight - a.weight).slice(0, most);
  }
}
