import { ApiError } from "../api/api-error.js";
import { columns } from "../api/rows.js";
import { readText } from "./read-text.js";

/** @typedef {import("../api/rows.js").Row} Row */
/** @typedef {{token: string, time: number}} TableHead */

/** The reading of a table ends with an error when no bytes have come for this long. */
const silence = 30_000;

/** Lines are handed over in pieces of this many at most. */
const pieceLines = 500;

/**
 * Reads `/v1/table` while it arrives: its rows are one a line, so none of it is held twice.
 * @param {string} query
 * @param {AbortSignal} signal
 * @param {{head: (head: TableHead) => void, rows: (rows: Row[]) => void}} consumer `head` comes first
 * @returns {Promise<void>} rejects as `readText` does, and with an error of the form of the table
 */
export async function readTable(query, signal, consumer) {
  const parser = new TableParser(consumer);
  for await (const text of readText(`/v1/table?${query}`, signal, silence)) parser.feed(text);
  parser.end();
}

/** Parses a table line by line. */
class TableParser {
  #rest = "";
  /** @type {Row[]} */
  #rows = [];
  #finished = false;
  /**
   * Where the expected columns are; empty: in their places; null before the head.
   * @type {number[]|null}
   */
  #places = null;

  /** @param {{head: (head: TableHead) => void, rows: (rows: Row[]) => void}} consumer */
  constructor(consumer) {
    this.consumer = consumer;
  }

  /** @param {string} text */
  feed(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    this.#flush();
  }

  end() {
    if (this.#rest) this.#line(this.#rest);
    this.#flush();
    if (!this.#finished) throw new ApiError(0, "tableEnded", "");
  }

  /** @param {string} line */
  #line(line) {
    if (!this.#places) return this.#head(line);
    if (line.startsWith("]")) {
      this.#finished = true;
    } else if (line.startsWith("[")) {
      const closes = line.endsWith("]]}");
      const row = JSON.parse(closes ? line.slice(0, -2) : line.endsWith(",") ? line.slice(0, -1) : line);
      this.#finished ||= closes;
      const places = this.#places;
      this.#rows.push(places.length === 0 ? row : places.map((place) => row[place]));
      if (this.#rows.length === pieceLines) this.#flush();
    }
  }

  /** @param {string} line the text up to the `[` of the rows */
  #head(line) {
    const closed = line.endsWith("]}");
    const head = JSON.parse(closed ? line : `${line}]}`);
    if (typeof head.token !== "string" || !Array.isArray(head.columns)) {
      throw new ApiError(0, "tableForm", "");
    }
    const places = columns.map((column) => head.columns.indexOf(column));
    this.#places = places.every((place, index) => place === index) ? [] : places;
    this.#finished = closed;
    this.consumer.head({ token: head.token, time: head.time });
  }

  #flush() {
    if (this.#rows.length === 0) return;
    const rows = this.#rows;
    this.#rows = [];
    this.consumer.rows(rows);
  }
}
