import { ApiError, isListed, rowOfRecord, transactionNumber } from "../api/answers.js";
import { Load, Outbox, RowSet } from "./row-set.js";
import { BackOff } from "./stream.js";

/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */

/**
 * The events of one tab's view, which the server selects because the set of all tabs does not hold them all.
 * The same stream keeps both current; the tab leaves out the changes that its view does not select.
 */
export class Selection {
  #set = new RowSet();
  #outbox;
  #id = 0;
  #query = "";
  /** @type {Load|null} */
  #load = null;
  /** Changes up to this transaction are in the set. */
  #floor = Infinity;
  #backOff = new BackOff();
  #stop = new AbortController();

  /** @param {(message: WorkerMessage) => void} send */
  constructor(send) {
    this.send = send;
    this.#outbox = new Outbox(
      (message) => send({ type: "selection", id: this.#id, message }), () => null,
    );
  }

  stop() {
    this.#outbox.flush();
    this.#stop.abort();
    this.#load?.abort();
  }

  /** Tries again now. */
  wake() {
    this.#backOff.skip();
  }

  /**
   * @param {number} id of the request
   * @param {string} query of the table
   * @param {number} limit
   */
  async go(id, query, limit) {
    this.#load?.abort();
    this.#outbox.flush();
    this.#id = id;
    this.#query = query;
    this.#set = new RowSet();
    this.#floor = Infinity;
    while (!this.#stop.signal.aborted) {
      const load = new Load(this.#set, query, limit);
      this.#load = load;
      try {
        const gone = await load.run((token) => {
          this.#floor = transactionNumber(token);
        }, (texts) => this.#outbox.rows(texts));
        if (load.aborted) return;
        this.#backOff.reset();
        this.#outbox.gone(gone);
        this.send({ type: "selected", id, truncated: load.horizon !== null });
        return;
      } catch (error) {
        if (load.aborted) return;
        const failure = ApiError.from(error);
        const delay = this.#backOff.next(failure.retryAfter);
        const { status, title, detail } = failure;
        this.send({ type: "unselected", id, status, title, detail });
        await this.#backOff.wait(delay, this.#stop.signal);
        if (load.aborted) return;
      }
    }
  }

  /**
   * Nothing that was read holds any more: the history is another one.
   * @param {number} limit
   */
  again(limit) {
    this.#outbox.flush();
    // All of the answer is sent anew, to a tab that may show the first one already.
    this.send({ type: "reselecting", id: this.#id });
    void this.go(this.#id, this.#query, limit);
  }

  /**
   * A change of the stream.
   * @param {Change} change
   * @param {boolean} live committed just now
   * @param {number} at
   */
  take(change, live, at) {
    const transaction = transactionNumber(change.token);
    for (const record of [change.old, change.new]) if (record) this.#load?.touch(record.code, transaction);
    if (change.op === "truncate") this.#load?.touchAll(transaction);
    // Before the token of the table is known, the load decides which of the two is newer.
    if (this.#floor !== Infinity && transaction <= this.#floor) return;
    if (change.op === "truncate") {
      const codes = [...this.#set.codes()];
      this.#set.clear();
      return this.#outbox.gone(codes);
    }
    const { old, new: now } = change;
    if (old && (!isListed(now) || old.code !== now?.code)) {
      this.#set.delete(old.code);
      this.#outbox.change(old.code, null, live, at);
    }
    if (!now || !isListed(now)) return;
    const row = rowOfRecord(now);
    this.#set.set(row);
    this.#outbox.change(row[0], JSON.stringify(row), live, at);
  }
}
