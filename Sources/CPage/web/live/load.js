import { transactionNumber } from "../api/rows.js";
import { readTable } from "./table.js";

/** @typedef {import("../api/rows.js").Row} Row */
/** @typedef {import("./row-set.js").RowSet} RowSet */

/**
 * One reading of the table into a set whose stream goes on meanwhile.
 *
 * The table shows the state after a transaction T, its token. What the stream delivers up to T, the table has
 * already; what it delivers after T, the table has not. So while it is read, and afterwards, changes up to T
 * are passed over, and rows of events that changed after T are: the set ends up exactly as the stream says,
 * whichever of the two is ahead.
 */
export class Load {
  #abort = new AbortController();
  /**
   * The newest transaction that changed an event since this load began.
   * @type {Map<string, number>}
   */
  #touched = new Map();
  #truncated = -1;
  /** @type {Set<string>} */
  #seen = new Set();
  /** The number of T; infinite before it is known. */
  #floor = Infinity;
  /**
   * The origin time of the last row, if there may be more events than rows.
   * @type {number|null}
   */
  horizon = null;

  /**
   * @param {RowSet} set
   * @param {string} query of the table
   * @param {number} limit of rows
   */
  constructor(set, query, limit) {
    this.set = set;
    this.query = query;
    this.limit = limit;
  }

  abort() {
    this.#abort.abort();
  }

  get aborted() {
    return this.#abort.signal.aborted;
  }

  /**
   * @param {(token: string) => void} begun
   * @param {(texts: string[]) => void} changed the rows that the set did not have, as text
   * @returns {Promise<string[]>} the codes of the set that the table does not have; they are removed
   */
  async run(begun, changed) {
    const query = `limit=${this.limit}${this.query ? `&${this.query}` : ""}`;
    let count = 0;
    let oldest = 0;
    await readTable(query, this.#abort.signal, {
      head: ({ token }) => {
        this.#floor = transactionNumber(token);
        begun(token);
      },
      rows: (rows) => {
        count += rows.length;
        oldest = rows[rows.length - 1][1];
        changed(this.#take(rows));
      },
    });
    if (count >= this.limit) this.horizon = oldest;
    const gone = [...this.set.codes()].filter((code) => !this.#seen.has(code) && !this.#isNewer(code));
    for (const code of gone) this.set.delete(code);
    return gone;
  }

  /**
   * The stream delivered a change of an event.
   * @param {string} code @param {number} transaction
   */
  touch(code, transaction) {
    this.#touched.set(code, transaction);
  }

  /**
   * The stream delivered a truncate of the events.
   * @param {number} transaction
   */
  touchAll(transaction) {
    this.#truncated = transaction;
  }

  /** @param {Row[]} rows @returns {string[]} */
  #take(rows) {
    const texts = [];
    for (const row of rows) {
      this.#seen.add(row[0]);
      if (this.#isNewer(row[0])) continue;
      const text = this.set.set(row);
      if (text !== null) texts.push(text);
    }
    return texts;
  }

  /** @param {string} code @returns {boolean} whether the stream knows the event better than the table */
  #isNewer(code) {
    return Math.max(this.#truncated, this.#touched.get(code) ?? -1) > this.#floor;
  }
}
