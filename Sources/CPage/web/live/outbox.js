import { jsonArray, piecesOf } from "./row-set.js";

/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */

/** Changes are collected for this long: a commit is to be seen within a second, and 50 of them cost one. */
const delay = 40;

/** Collects changes, so that a burst of them is one message; of one event only the last counts. */
export class Outbox {
  /** @type {Map<string, string|null>} */
  #changes = new Map();
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
