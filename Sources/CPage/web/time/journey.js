import { ApiError, milliseconds, slack, transactionNumber } from "../api/answers.js";
import { api, orderOf, queryOf, reasonText } from "../data/api.js";
import { connection } from "../data/connection.js";
import { Feed } from "../data/feed.js";
import { filters, store } from "../data/store.js";
import { isToken, timeOfPoint } from "../state/point.js";
import { duration, view } from "../state/view.js";

/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */
/** @typedef {import("../types.js").Quake} Quake */

/**
 * @typedef {object} Point
 * @property {number} time when a transaction was committed, in ms
 * @property {number} number of the transaction
 */

/** The number of parts in which the history is looked at; each costs one small request. */
const parts = 64;

/** The number of requests at a time: a browser has six connections. */
const parallel = 2;

/** @returns {Promise<{first: Point, last: Point}|null>} null if the history has no change */
export async function readRange() {
  const [oldest, newest] = await Promise.all([
    api.history({ limit: 1 }),
    api.history({ limit: 1, descending: true }),
  ]);
  const first = oldest.changes[0];
  const last = newest.changes[0];
  return first && last ? { first: pointOf(first), last: pointOf(last) } : null;
}

/**
 * @param {number} number of a transaction
 * @returns {Promise<number>} when it was committed, in ms; before the first one: just before that
 */
async function timeOf(number) {
  const { changes } = await api.history({ "up-to": number, descending: true, limit: 1 });
  if (changes[0]) return pointOf(changes[0]).time;
  const first = (await api.history({ limit: 1 })).changes[0];
  return first ? pointOf(first).time - 1 : Date.now();
}

/**
 * Finds out when much was committed. The numbers of transactions rise with time, so the first transaction
 * after a moment tells how many there were before it; quiet spans need no closer look.
 * @param {Point} first
 * @param {Point} last
 * @param {(from: number, to: number, count: number) => void} found a span and its number of transactions
 */
export async function readActivity(first, last, found) {
  const least = (last.time - first.time) / parts;
  /** @type {[Point, Point][]} */
  const spans = [[first, { time: last.time + 1, number: last.number + 1 }]];
  const work = async () => {
    for (let span = spans.shift(); span; span = spans.shift()) {
      const [from, to] = span;
      const count = to.number - from.number;
      if (count <= 0) continue;
      if (to.time - from.time <= least) {
        found(from.time, to.time, count);
        continue;
      }
      const middle = (from.time + to.time) / 2;
      const after = new Date(Math.floor(middle)).toISOString();
      const { changes } = await api.history({ after, limit: 1 });
      const number = changes[0] ? Math.min(to.number, transactionNumber(changes[0].token)) : to.number;
      spans.push([from, { time: middle, number }], [{ time: middle, number }, to]);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
}

/** @param {Change} change @returns {Point} */
function pointOf(change) {
  // The list as of this millisecond has the transaction already.
  const time = Math.ceil(milliseconds(change.transaction?.at ?? null) ?? 0);
  return { time, number: transactionNumber(change.token) };
}

/**
 * Brings the store to the point of the view, `asOf`, and back to now.
 *
 * While the slider is dragged one request is under way at a time; when it is answered, the latest point is
 * asked for, and those in between are skipped. Events: "moved" (`time` or `number` changed) and "failed" (its
 * detail is an ApiError).
 */
class Journey extends EventTarget {
  /**
   * The point that the store shows, in ms; null for now.
   * @type {number|null}
   */
  time = null;
  /** The transaction that the store shows. */
  number = 0;
  /** Whether the history has no change after this point. */
  atEnd = false;

  /** The point that the store has, or that is on its way. */
  #asOf = /** @type {string|null} */ (null);
  #id = 0;
  #time = 0;
  #isLarge = false;
  /** @type {((problem: ApiError|null) => void)|null} */
  #answered = null;
  /** @type {Map<string, Quake|null>} */
  #batch = new Map();
  #feed = new Feed((batch) => {
    for (const [code, quake] of batch) this.#batch.set(code, quake);
  });

  /** Begins to follow the view. */
  start() {
    connection.onAnswer((message) => this.#receive(message));
    view.addEventListener("change", (event) => {
      const { changed } = /** @type {CustomEvent<{changed: Set<string>}>} */ (event).detail;
      // Of a list with too many events, the server selects those of the view.
      const others = this.#isLarge ? [...filters, "sort", "descending"] : ["period", "from", "to"];
      const selects = others.some((name) => changed.has(name));
      if (selects && this.time !== null) this.#asOf = "";
      if (selects || changed.has("asOf")) this.#follow();
    });
    this.#follow();
  }

  /** Whether a request is under way. */
  get busy() {
    return this.#answered !== null;
  }

  /**
   * Applies the changes up to a time after the present one.
   * @param {number} time in ms
   * @returns {Promise<void>}
   */
  async advance(time) {
    const before = view.get().asOf;
    if (this.busy || before === null) return;
    const until = Math.floor(time);
    this.#time = until;
    await this.#ask((id) => connection.send({ type: "advance", id, until }));
    // Where nothing else was asked for meanwhile, the view is where the store is now.
    if (view.get().asOf === before) {
      this.#asOf = new Date(until).toISOString();
      view.set({ asOf: this.#asOf });
    }
    await this.#follow();
  }

  /** @returns {Promise<void>} */
  async #follow() {
    const { asOf, period, from: earliest } = view.get();
    if (asOf === null) return this.#leave();
    if (this.busy || asOf === this.#asOf) return;
    this.#asOf = asOf;
    try {
      this.#time = isToken(asOf) ? await timeOf(transactionNumber(asOf)) : timeOfPoint(asOf);
      if (view.get().asOf !== asOf) {
        this.#asOf = "";
        return this.#follow();
      }
      // The server refuses a text that is no point of the history, and says why.
      const whole = period === "all" || Number.isNaN(this.#time);
      const from = whole ? earliest : this.#time - duration(period) - slack;
      const query = this.#query(Number.isNaN(this.#time) ? Date.now() : this.#time);
      await this.#ask((id) => connection.send({ type: "past", id, asOf, from, query }));
    } catch (error) {
      this.#fail(ApiError.from(error));
    }
    this.#follow();
  }

  /** @param {number} time of the point @returns {string} what the view selects as of then, in its order */
  #query(time) {
    const now = view.get();
    const { "as-of": _, ...query } = queryOf(now, view.bounds(), time);
    return String(new URLSearchParams({ ...query, sort: orderOf(now) }));
  }

  #leave() {
    if (this.#asOf === null) return;
    this.#asOf = null;
    this.time = null;
    this.#id += 1;
    this.#feed.clear();
    this.#batch = new Map();
    this.#answered = null;
    connection.send({ type: "present" });
    store.leavePast();
    this.dispatchEvent(new CustomEvent("moved"));
  }

  /**
   * @param {(id: number) => void} send
   * @returns {Promise<void>} when the store shows the answer, or the request was cancelled
   */
  async #ask(send) {
    this.#id += 1;
    store.problem = null;
    const problem = await new Promise((/** @type {(problem: ApiError|null) => void} */ resolve) => {
      this.#answered = resolve;
      send(this.#id);
    });
    this.#answered = null;
    if (problem) this.#fail(problem);
  }

  /** @param {ApiError} problem */
  #fail(problem) {
    if (view.get().asOf === null) return;
    // The history does not have this point, such as one before the retention floor, and no other was shown.
    const isNone = this.time === null && [404, 410].includes(problem.status);
    store.problem = null;
    if (isNone) store.failPast(problem.message);
    this.dispatchEvent(new CustomEvent("failed", { detail: problem }));
    if (isNone) return;
    // The list must not claim to be that of a point that it could not be read for.
    view.set({ asOf: this.time === null ? null : new Date(this.time).toISOString() });
    this.#asOf = view.get().asOf;
  }

  /** @param {WorkerMessage} message */
  #receive(message) {
    if (!("id" in message) || message.id !== this.#id) return;
    if (message.type === "failure") {
      this.#answered?.(new ApiError(message.status, reasonText(message.title), message.detail));
    } else if (message.type === "past") {
      this.#feed.push({ rows: message.rows, gone: message.gone, live: false });
      if (!message.more) this.#feed.after(() => this.#arrive(message));
    }
  }

  /** @param {import("../api/messages.js").PastMessage} message */
  async #arrive(message) {
    const batch = this.#batch;
    this.#batch = new Map();
    this.number = transactionNumber(message.token);
    this.atEnd = message.end;
    const time = this.#time;
    const answered = this.#answered;
    this.#isLarge = message.isLarge;
    await store.applyPast(batch, time, message.isPart);
    if (view.get().asOf === null) return;
    this.time = time;
    this.dispatchEvent(new CustomEvent("moved"));
    answered?.(null);
  }
}

/** The journey of this page. */
export const journey = new Journey();

/** So often the list moves on while the history is played. */
const interval = 200;

/** Plays the history. Its event "change" tells that it began or ended. */
class Player extends EventTarget {
  playing = false;
  /** Seconds of the history in a second. */
  speed = 3600;
  #position = 0;
  #last = 0;
  #timer = 0;

  constructor() {
    super();
    journey.addEventListener("failed", () => this.pause());
    view.addEventListener("change", () => {
      if (view.get().asOf === null) this.pause();
    });
  }

  /** Plays on from the point that is shown. */
  play() {
    if (this.playing || journey.time === null) return;
    this.playing = true;
    this.#position = journey.time;
    this.#last = performance.now();
    this.#timer = window.setInterval(() => this.#step(), interval);
    this.dispatchEvent(new CustomEvent("change"));
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    clearInterval(this.#timer);
    this.dispatchEvent(new CustomEvent("change"));
  }

  async #step() {
    const now = performance.now();
    if (journey.busy) return;
    // A page that was hidden, or a slow answer, must not make the history leap.
    const elapsed = Math.min(1, (now - this.#last) / 1000);
    this.#last = now;
    this.#position += elapsed * this.speed * 1000;
    if (journey.atEnd && this.#position >= Date.now()) {
      this.pause();
      view.set({ asOf: null });
      return;
    }
    await journey.advance(this.#position);
  }
}

/** The player of this page. */
export const player = new Player();
