import { ApiError, isListed, milliseconds, rowLimit, rowOfRecord } from "../api/answers.js";
import { piecesOf, readTable, readText, RowSet } from "./row-set.js";

/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../api/messages.js").Difference} Difference */
/** @typedef {import("../api/messages.js").DifferencesMessage} DifferencesMessage */
/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */

/** The server compares all before it sends the first byte: a long time takes it some seconds. */
const differencesSilence = 60_000;

/** The largest number of each kind that is handed over; all of them are counted. */
const most = 200;

/** The most differences that the server sends at once. */
const differencesLimit = "10000";

/** Differences begin like this, and nothing within a string of JSON can look so: its quotes are escaped. */
const beginning = '{"op":"';

/** What follows the last difference, up to the cursor of the next page. */
const ending = '],"next":';

/**
 * Reads all pages of `/v1/diff`, each piece by piece, since it can be many megabytes.
 * @param {number} id of the request
 * @param {string} from
 * @param {string|null} to
 * @param {AbortSignal} signal
 * @returns {Promise<DifferencesMessage>}
 */
export async function readDifferences(id, from, to, signal) {
  const query = new URLSearchParams({ from, limit: differencesLimit });
  if (to !== null) query.set("to", to);
  const tops = { added: new Top(), changed: new Top(), gone: new Top() };
  /** @param {string} text */
  const take = (text) => {
    if (!text.startsWith(beginning)) return;
    // A comma and the next one follow, or nothing.
    const difference = differenceOf(JSON.parse(text.trimEnd().replace(/,$/, "")));
    if (difference) tops[difference.kind].add(difference);
  };
  /** @type {string|null} */
  let next = "";
  while (next !== null) {
    query.set("page", next);
    let rest = "";
    for await (const piece of readText(`/v1/diff?${query}`, signal, differencesSilence)) {
      const parts = (rest + piece).split(/(?=\{"op":")/);
      rest = parts.pop() ?? "";
      parts.forEach(take);
    }
    const end = rest.lastIndexOf(ending);
    take(rest.slice(0, end));
    next = JSON.parse(`{${rest.slice(end + 2)}`).next;
  }
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

/** Changes that are read ahead at a time while the past is played. */
const page = 500;

/** A page of changes takes less than this. */
const silence = 30_000;

/** The clocks of the browser and the server differ by less than this, in ms. */
const clocks = 2000;

/** A step of more pages than this is made with the table instead. */
const mostPages = 5;

/**
 * The list of one tab as of a point of the history. Going to a point reads the table as of then, and sends
 * the tab only what differs from what it has; playing applies the changes of the history, one by one.
 */
export class Past {
  #set = new RowSet();
  #token = "";
  #abort = new AbortController();
  /** @type {Change[]} changes that were read and not applied yet */
  #ahead = [];
  /**
   * The oldest origin time of the list; null for all.
   * @type {number|null}
   */
  #oldest = null;
  /** What the view selects, for a list with more events than a page can hold. */
  #query = "";
  #isLarge = false;
  #isPart = false;
  /** The token after which they are read. */
  #from = "";
  /**
   * The page of the history after them; "" is the first one, null is none.
   * @type {string|null}
   */
  #next = null;
  #ended = false;
  /** When the end of the history was reached, in ms since 1970: what was committed later may be missing. */
  #readAt = 0;

  /** @param {(message: WorkerMessage) => void} send */
  constructor(send) {
    this.send = send;
  }

  stop() {
    this.#abort.abort();
  }

  /**
   * Goes to a point. A request before it is cancelled: the latest one counts.
   * @param {number} id of the request
   * @param {string} asOf
   * @param {number|null} from oldest origin time
   * @param {string} query what the view selects
   */
  go(id, asOf, from, query) {
    this.#oldest = from;
    this.#query = query;
    return this.#answer(id, (signal) => this.#readTable(id, asOf, signal));
  }

  /**
   * Applies the changes up to a time.
   * @param {number} id of the request
   * @param {number} until ms
   */
  advance(id, until) {
    return this.#answer(id, async (signal) => {
      /** @type {Map<string, string|null>} */
      const changed = new Map();
      let pages = 0;
      // The history goes on while it is played.
      if (this.#ended && this.#ahead.length === 0 && until > this.#readAt - clocks) {
        this.#from = this.#token;
        this.#next = "";
        this.#ended = false;
      }
      for (;;) {
        if (this.#ahead.length === 0) {
          pages += 1;
          if (pages > mostPages) {
            this.#report(id, changed, false, true);
            return this.#readTable(id, new Date(until).toISOString(), signal);
          }
          try {
            await this.#readAhead(signal);
          } catch (error) {
            // The tab must learn what was applied: the next answer has only what differs from it.
            this.#report(id, changed, false, true);
            throw error;
          }
        }
        const change = this.#ahead[0];
        if (!change) break;
        if ((milliseconds(change.transaction?.at ?? null) ?? 0) > until) break;
        this.#ahead.shift();
        this.#token = change.token;
        this.#apply(change, changed);
      }
      this.#report(id, changed, this.#ended && this.#ahead.length === 0, false);
    });
  }

  /** @param {number} id @param {(signal: AbortSignal) => Promise<void>} work */
  async #answer(id, work) {
    this.#abort.abort();
    const abort = new AbortController();
    this.#abort = abort;
    try {
      await work(abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return;
      this.send(failureMessage(id, error));
    }
  }

  /**
   * Reads the table as of a point, and reports what differs from the set.
   * @param {number} id
   * @param {string} asOf
   * @param {AbortSignal} signal
   */
  async #readTable(id, asOf, signal) {
    const point = `limit=${rowLimit}&as-of=${encodeURIComponent(asOf)}`;
    const from = this.#oldest === null ? "" : `&from=${new Date(this.#oldest).toISOString()}`;
    let { token, rows } = await read(point + (this.#isLarge ? `&${this.#query}` : from), signal);
    if (!this.#isLarge && rows.length >= rowLimit) {
      this.#isLarge = true;
      ({ token, rows } = await read(`${point}&${this.#query}`, signal));
    }
    this.#isPart = rows.length >= rowLimit;
    /** @type {Map<string, string|null>} */
    const changed = new Map();
    const codes = new Set(rows.map(([code]) => code));
    for (const code of [...this.#set.codes()]) {
      if (!codes.has(code) && this.#set.delete(code)) changed.set(code, null);
    }
    for (const row of rows) {
      const text = this.#set.set(row);
      if (text !== null) changed.set(row[0], text);
    }
    this.#token = token;
    this.#ahead = [];
    this.#from = token;
    this.#next = "";
    this.#ended = false;
    this.#report(id, changed, false, false);
  }

  /** @param {AbortSignal} signal */
  async #readAhead(signal) {
    if (this.#ended || this.#next === null) return;
    const query = new URLSearchParams({ after: this.#from, limit: String(page) });
    if (this.#next !== "") query.set("page", this.#next);
    const asked = Date.now();
    let text = "";
    for await (const piece of readText(`/v1/history?${query}`, signal, silence)) text += piece;
    const { changes, next } = JSON.parse(text);
    this.#ahead = changes;
    this.#next = next;
    this.#ended = next === null;
    this.#readAt = asked;
  }

  /** @param {Change} change @param {Map<string, string|null>} changed */
  #apply(change, changed) {
    if (change.op === "truncate") {
      for (const code of this.#set.codes()) changed.set(code, null);
      this.#set.clear();
      return;
    }
    if (change.old && this.#set.delete(change.old.code)) changed.set(change.old.code, null);
    if (change.new && isListed(change.new)) {
      const row = rowOfRecord(change.new);
      changed.set(row[0], this.#set.set(row));
    }
  }

  /**
   * @param {number} id
   * @param {Map<string, string|null>} changed
   * @param {boolean} end
   * @param {boolean} more whether another report of this answer follows
   */
  #report(id, changed, end, more) {
    const token = this.#token;
    const texts = [];
    const gone = [];
    for (const [code, text] of changed) {
      if (text === null) gone.push(code);
      else texts.push(text);
    }
    const which = { isLarge: this.#isLarge, isPart: this.#isPart };
    for (const rows of piecesOf(texts)) {
      this.send({ type: "past", id, rows, gone: [], token, more: true, end, ...which });
    }
    this.send({ type: "past", id, rows: "[]", gone, token, more, end, ...which });
  }
}

/**
 * @param {string} query
 * @param {AbortSignal} signal
 * @returns {Promise<{token: string, rows: import("../api/answers.js").Row[]}>}
 */
async function read(query, signal) {
  /** @type {import("../api/answers.js").Row[]} */
  const rows = [];
  let token = "";
  await readTable(query, signal, {
    head: (head) => {
      token = head.token;
    },
    rows: (part) => {
      rows.push(...part);
    },
  });
  return { token, rows };
}

/**
 * @param {number} id
 * @param {unknown} error
 * @returns {import("../api/messages.js").FailureMessage}
 */
export function failureMessage(id, error) {
  const { status, title, detail } = ApiError.from(error);
  return { type: "failure", id, status, title, detail };
}
