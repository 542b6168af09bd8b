import { ApiError, isListed, rowLimit, rowOfRecord, slack, transactionNumber } from "../api/answers.js";
import { Load, Outbox, RowSet } from "./row-set.js";
import { BackOff, ChangeStream, Health } from "./stream.js";

/** @typedef {import("../api/messages.js").LinkState} LinkState */
/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */
/** @typedef {import("./selection.js").Selection} Selection */

/** How the stream, the load of the list and the database are; a load that fails is said before all else. */
class Status {
  #stream = of("connecting");
  /** @type {LinkState|null} */
  #load = null;
  /** @type {LinkState|null} */
  #database = null;

  /** @param {(state: LinkState) => void} changed */
  constructor(changed) {
    this.changed = changed;
  }

  /** @returns {LinkState} */
  get state() {
    return this.#load ?? (this.#stream.kind === "live" ? this.#database : null) ?? this.#stream;
  }

  /** The server answered; what was missed comes first. */
  opened() {
    if (this.#stream.kind !== "live") this.#set(of("catchingUp"), this.#load);
  }

  live() {
    this.#set(of("live"), this.#load);
  }

  loaded() {
    this.#set(this.#stream, null);
  }

  /** @param {ApiError} error @param {number} retryAt */
  streamFailed(error, retryAt) {
    this.#set(failed(error, retryAt), this.#load);
  }

  /** @param {ApiError} error @param {number} retryAt */
  loadFailed(error, retryAt) {
    this.#set(this.#stream, failed(error, retryAt));
  }

  /** @param {ApiError|null} problem why the server has no database @param {number} retryAt */
  database(problem, retryAt) {
    const lost = problem && failed(problem, retryAt);
    if (problem?.status === 503 && lost) lost.kind = "database";
    this.#set(this.#stream, this.#load, lost);
  }

  /** @param {LinkState} stream @param {LinkState|null} load @param {LinkState|null} database */
  #set(stream, load, database = this.#database) {
    const { kind, retryAt } = this.state;
    this.#stream = stream;
    this.#load = load;
    this.#database = database;
    if (this.state.kind !== kind || this.state.retryAt !== retryAt) this.changed(this.state);
  }
}

/** @param {LinkState["kind"]} kind @returns {LinkState} */
function of(kind) {
  return { kind, detail: null, retryAt: null };
}

/** @param {ApiError} error @param {number} retryAt @returns {LinkState} */
function failed(error, retryAt) {
  // A proxy answers like this for a server that is not there.
  const isAway = [0, 502, 503, 504].includes(error.status);
  return { kind: isAway ? "offline" : "error", detail: error.message, retryAt };
}

/** @typedef {(message: WorkerMessage) => void} Send */

const hour = 3_600_000;
/** A change counts as live if it was committed this recently. */
const fresh = 60_000;

/** The set of events that all tabs share: filled from the table, kept current by one stream. */
export class Engine {
  /** @type {Send} */
  #broadcast;
  /** @type {Outbox} */
  #outbox;
  #set = new RowSet();
  /** @type {ChangeStream|null} */
  #stream = null;
  /** @type {Load|null} */
  #load = null;
  #backOff = new BackOff();
  #stop = new AbortController();
  /** Changes up to this transaction are in the set. */
  #floor = -1;
  /** @type {number|null|undefined} the oldest origin time of the set; undefined before the first load */
  #from = undefined;
  #complete = false;
  /** @type {number|null} the time of the oldest event, if there are older ones */
  #horizon = null;
  #clockOffset = 0;
  #status = new Status((state) => {
    this.#outbox.flush();
    this.#broadcast({ type: "state", state });
  });
  #health = new Health((problem, retryAt) => this.#status.database(problem, retryAt));
  #prune = setInterval(() => this.#removeOld(), hour);
  /** @type {Set<Selection>} what single tabs see of the events that the set does not hold */
  selections = new Set();

  /** @param {Send} broadcast */
  constructor(broadcast) {
    this.#broadcast = broadcast;
    this.#outbox = new Outbox(broadcast, () => this.#stream?.cursor ?? null);
  }

  stop() {
    this.#stop.abort();
    this.#load?.abort();
    this.#stream?.stop();
    this.#health.stop();
    clearInterval(this.#prune);
  }

  /** Whether there is a set already, or one is being loaded. */
  get begun() {
    return this.#stream !== null || this.#from !== undefined;
  }

  /**
   * Begins with rows that a tab has read already, so that they are current before the rest is loaded.
   * @param {string} token @param {import("../api/answers.js").Row[]} rows
   */
  seed(token, rows) {
    // Rows of an older point must not come between those of a load.
    if (this.begun) return;
    const texts = rows.map((row) => this.#set.set(row)).filter((text) => text !== null);
    this.#outbox.rows(/** @type {string[]} */ (texts));
    this.#follow(token);
  }

  /**
   * Loads events of this period, if the set does not have them.
   * @param {number} period ms
   */
  need(period) {
    if (this.#covers(period)) return;
    this.#from = period === Infinity ? null : Date.now() - period - slack;
    // The newest events of a longer period are the same.
    if (this.#horizon !== null && this.#complete) this.#broadcast(this.#loaded());
    else this.#reload();
  }

  /**
   * Sends one client all that the set has.
   * @param {Send} send
   */
  attach(send) {
    this.#outbox.flush();
    send({ type: "attached" });
    for (const rows of this.#set.pieces()) send({ type: "rows", rows });
    if (this.#complete) send(this.#loaded());
    send({ type: "state", state: this.#status.state });
  }

  wake() {
    this.#backOff.skip();
    this.#stream?.wake();
    this.#health.wake();
    for (const selection of this.selections) selection.wake();
  }

  /**
   * Whether the set holds events of this period, or will.
   * @param {number} period ms
   */
  #covers(period) {
    if (this.#from === undefined) return false;
    return this.#from === null || (period !== Infinity && this.#from <= Date.now() - period);
  }

  async #reload() {
    this.#load?.abort();
    this.#complete = false;
    this.#broadcast({ type: "loading" });
    while (!this.#stop.signal.aborted) {
      const query = this.#from == null ? "" : `from=${new Date(this.#from).toISOString()}`;
      const load = new Load(this.#set, query, rowLimit);
      this.#load = load;
      try {
        const gone = await load.run(
          (token) => this.#begun(token),
          (texts) => this.#outbox.rows(texts),
        );
        if (load.aborted) return;
        this.#load = null;
        this.#backOff.reset();
        this.#status.loaded();
        this.#horizon = load.horizon;
        this.#complete = true;
        this.#outbox.gone(gone);
        this.#broadcast(this.#loaded());
        return;
      } catch (error) {
        if (load.aborted) return;
        const failure = ApiError.from(error);
        const delay = this.#backOff.next(failure.retryAfter);
        this.#status.loadFailed(failure, Date.now() + delay);
        await this.#backOff.wait(delay, this.#stop.signal);
        if (load.aborted) return;
      }
    }
  }

  /** @param {string} token */
  #begun(token) {
    this.#floor = Math.max(this.#floor, transactionNumber(token));
    if (!this.#stream) this.#follow(token);
  }

  /** @param {string} cursor */
  #follow(cursor) {
    this.#stream = new ChangeStream(cursor, {
      change: (change) => this.#take(change),
      opened: (serverTime) => {
        this.#clockOffset = serverTime - Date.now();
        this.#status.opened();
      },
      caughtUp: () => this.#status.live(),
      failed: (error, retryAt) => this.#status.streamFailed(error, retryAt),
      lost: () => {
        // Nothing that is known of the old history holds for the new one, not even the order of numbers.
        this.#stream?.stop();
        this.#stream = null;
        this.#floor = -1;
        this.#outbox.flush();
        this.#reload();
        for (const selection of this.selections) selection.again(rowLimit);
      },
    });
  }

  /** @param {Change} change */
  #take(change) {
    const transaction = transactionNumber(change.token);
    const at = Date.parse(change.transaction?.at ?? "");
    const live = Date.now() + this.#clockOffset - at < fresh;
    for (const selection of this.selections) selection.take(change, live, at);
    for (const record of [change.old, change.new]) if (record) this.#outbox.touch(record.code);
    if (transaction <= this.#floor) return;
    if (change.op === "truncate") {
      this.#load?.touchAll(transaction);
      const codes = [...this.#set.codes()];
      this.#set.clear();
      return this.#outbox.gone(codes);
    }
    for (const record of [change.old, change.new]) {
      if (record) this.#load?.touch(record.code, transaction);
    }
    if (change.old && (!isListed(change.new) || change.old.code !== change.new?.code)) {
      if (this.#set.delete(change.old.code)) this.#outbox.change(change.old.code, null, live, at);
    }
    if (!change.new || !isListed(change.new)) return;
    const row = rowOfRecord(change.new);
    const known = this.#set.has(row[0]);
    if (!known && row[1] < Math.max(this.#from ?? -Infinity, this.#horizon ?? -Infinity)) return;
    const text = this.#set.set(row);
    // An event that was only not loaded yet is no news.
    const isNews = known || change.op === "insert" || this.#complete;
    if (text !== null) this.#outbox.change(row[0], text, live && isNews, at);
    if (this.#set.size > rowLimit * 1.1) this.#removeOldest();
  }

  /** @returns {WorkerMessage} */
  #loaded() {
    const cursor = this.#stream?.cursor ?? null;
    return { type: "loaded", horizon: this.#horizon, from: this.#from ?? null, cursor };
  }

  #removeOld() {
    if (typeof this.#from !== "number" || !this.#complete) return;
    // The set's period is the same as before; its beginning moves with the clock.
    this.#from += hour;
    this.#remove(this.#set.before(this.#from));
  }

  #removeOldest() {
    this.#remove(this.#set.oldest(this.#set.size - rowLimit));
    const was = this.#horizon;
    this.#horizon = this.#set.time(this.#set.oldest(1)[0]);
    // The tabs say that the list is not the whole any more, and ask the server for what is older.
    if (was !== this.#horizon && this.#complete) this.#broadcast(this.#loaded());
  }

  /** @param {string[]} codes */
  #remove(codes) {
    for (const code of codes) this.#set.delete(code);
    this.#outbox.gone(codes);
  }
}
