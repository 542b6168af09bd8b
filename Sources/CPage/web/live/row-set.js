import { ApiError, columns, pieceSize, transactionNumber } from "../api/answers.js";

/** @typedef {import("../api/answers.js").Row} Row */
/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */

/**
 * Reads an answer of the server while it arrives.
 * @param {string} address
 * @param {AbortSignal} signal
 * @param {number} silence the request fails when no bytes have come for this number of ms
 * @returns {AsyncGenerator<string>} its pieces; throws an ApiError, or the reason of the signal
 */
export async function* readText(address, signal, silence) {
  const abort = new AbortController();
  const forward = () => abort.abort(signal.reason);
  if (signal.aborted) forward();
  signal.addEventListener("abort", forward);
  const timeOut = () => abort.abort(new ApiError(0, "timeout", ""));
  let timer = setTimeout(timeOut, silence);
  try {
    const response = await fetch(address, { signal: abort.signal });
    if (!response.ok || !response.body) throw await ApiError.of(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(timeOut, silence);
      yield value;
    }
  } catch (error) {
    throw signal.aborted ? error : ApiError.from(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", forward);
    // A reader that stops early needs no more of the answer.
    abort.abort();
  }
}

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
function jsonArray(texts) {
  return `[${texts.join(",")}]`;
}

/** @param {string[]} texts JSON texts of rows @returns {Generator<string>} arrays of a piece's size */
export function* piecesOf(texts) {
  for (let start = 0; start < texts.length; start += pieceSize) {
    yield jsonArray(texts.slice(start, start + pieceSize));
  }
}

/** Changes are collected for this long: a commit is to be seen within a second, and 50 of them cost one. */
const delay = 40;

/** Collects changes, so that a burst of them is one message; of one event only the last counts. */
export class Outbox {
  /** @type {Map<string, string|null>} */
  #changes = new Map();
  /** @type {Set<string>} */
  #touched = new Set();
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;
  #live = false;
  #at = 0;

  /**
   * @param {(message: WorkerMessage) => void} send
   * @param {() => string|null} cursor after the newest change
   */
  constructor(send, cursor) {
    this.send = send;
    this.cursor = cursor;
  }

  /**
   * @param {string} code
   * @param {string|null} text the row; null: the event is gone
   * @param {boolean} live
   * @param {number} at when it was committed
   */
  change(code, text, live, at) {
    if (live !== this.#live) this.flush();
    this.#live = live;
    this.#at = at;
    this.#changes.set(code, text);
    this.#timer ??= setTimeout(() => this.flush(), delay);
  }

  /**
   * An event changed, if only in columns that no row has, or as one that is not loaded.
   * @param {string} code
   */
  touch(code) {
    this.#touched.add(code);
    this.#timer ??= setTimeout(() => this.flush(), delay);
  }

  /**
   * Rows that were loaded.
   * @param {string[]} texts
   */
  rows(texts) {
    this.flush();
    for (const rows of piecesOf(texts)) this.send({ type: "rows", rows });
  }

  /**
   * Events that the list has no more.
   * @param {string[]} codes
   */
  gone(codes) {
    this.flush();
    if (codes.length > 0) this.send({ type: "gone", codes });
  }

  flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#touched.size > 0) this.send({ type: "touched", codes: [...this.#touched] });
    this.#touched = new Set();
    if (this.#changes.size === 0) return;
    const texts = [];
    const gone = [];
    for (const [code, text] of this.#changes) {
      if (text === null) gone.push(code);
      else texts.push(text);
    }
    this.#changes = new Map();
    const cursor = this.cursor();
    this.send({ type: "changes", rows: jsonArray(texts), gone, live: this.#live, at: this.#at, cursor });
  }
}

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
