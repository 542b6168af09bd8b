import { RowSet } from "./row-set.js";

/** @typedef {import("../data/messages.js").WorkerMessage} WorkerMessage */

/** What the leader has sent so far, so that this worker can go on from there when the leader is gone. */
export class Replica {
  #set = new RowSet();

  /**
   * Where the stream goes on after all that was received.
   * @type {string|null}
   */
  cursor = null;

  /**
   * The oldest origin time of the set; null for all.
   * @type {number|null}
   */
  from = null;

  /**
   * The origin time of the oldest event of the set, if there are older ones.
   * @type {number|null}
   */
  horizon = null;

  /** Whether it has the whole set. */
  complete = false;

  /** @returns {RowSet} for an engine of this worker */
  take() {
    const set = new RowSet();
    for (const rows of this.#set.pieces()) for (const row of JSON.parse(rows)) set.set(row);
    return set;
  }

  /** @param {WorkerMessage} message */
  apply(message) {
    switch (message.type) {
      case "attached":
        this.#set.clear();
        this.complete = false;
        break;
      case "rows":
        for (const row of JSON.parse(message.rows)) this.#set.set(row);
        break;
      case "gone":
        for (const code of message.codes) this.#set.delete(code);
        break;
      case "changes":
        for (const code of message.gone) this.#set.delete(code);
        for (const row of JSON.parse(message.rows)) this.#set.set(row);
        this.cursor = message.cursor;
        break;
      case "loaded":
        this.complete = true;
        this.cursor = message.cursor;
        this.from = message.from;
        this.horizon = message.horizon;
    }
  }
}
