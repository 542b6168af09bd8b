import { pieceSize } from "../api/rows.js";

/** @typedef {import("../api/rows.js").Row} Row */

/** The rows of a set of events by code, as JSON text. */
export class RowSet {
  /** @type {Map<string, {time: number, text: string}>} */
  #rows = new Map();

  get size() {
    return this.#rows.size;
  }

  /** @param {string} code */
  has(code) {
    return this.#rows.has(code);
  }

  /** @param {string} code @returns {number|null} its origin time */
  time(code) {
    return this.#rows.get(code)?.time ?? null;
  }

  /** @returns {IterableIterator<string>} */
  codes() {
    return this.#rows.keys();
  }

  /** @param {Row} row @returns {string|null} its text; null if the set has the same row already */
  set(row) {
    const text = JSON.stringify(row);
    if (this.#rows.get(row[0])?.text === text) return null;
    this.#rows.set(row[0], { time: row[1], text });
    return text;
  }

  /** @param {string} code @returns {boolean} whether the set had it */
  delete(code) {
    return this.#rows.delete(code);
  }

  clear() {
    this.#rows.clear();
  }

  /** @param {number} time @returns {string[]} the codes of events before it */
  before(time) {
    const codes = [];
    for (const [code, row] of this.#rows) if (row.time < time) codes.push(code);
    return codes;
  }

  /** @param {number} excess @returns {string[]} the codes of the oldest events */
  oldest(excess) {
    const rows = [...this.#rows].sort(([, a], [, b]) => a.time - b.time);
    return rows.slice(0, excess).map(([code]) => code);
  }

  /** @returns {Generator<string>} all rows in pieces, newest first, each a JSON array of rows */
  *pieces() {
    const rows = [...this.#rows.values()].sort((a, b) => b.time - a.time);
    for (let start = 0; start < rows.length; start += pieceSize) {
      yield jsonArray(rows.slice(start, start + pieceSize).map(({ text }) => text));
    }
  }
}

/** @param {string[]} texts JSON texts @returns {string} */
export function jsonArray(texts) {
  return `[${texts.join(",")}]`;
}

/** @param {string[]} texts JSON texts of rows @returns {Generator<string>} arrays of a piece's size */
export function* piecesOf(texts) {
  for (let start = 0; start < texts.length; start += pieceSize) {
    yield jsonArray(texts.slice(start, start + pieceSize));
  }
}
