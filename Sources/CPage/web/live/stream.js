import { ApiError } from "../api/answers.js";

/** @typedef {import("../types.js").Change} Change */

const shortestPause = 500;
const longestPause = 30_000;

/** A server may ask for more patience than ours, but not for an endless one. */
const longestRetryAfter = 120_000;

/** The waiting time between attempts: it doubles, and varies so that clients do not return all at once. */
export class BackOff {
  #attempts = 0;
  /** @type {(() => void)|null} */
  #skip = null;
  /**
   * When the next attempt is made, in ms since 1970.
   * @type {number|null}
   */
  until = null;

  /** An attempt had success. */
  reset() {
    this.#attempts = 0;
  }

  /** @param {number|null} retryAfter seconds that the server asks for @returns {number} ms */
  next(retryAfter) {
    const own = Math.min(longestPause, shortestPause * 2 ** Math.min(this.#attempts, 16));
    this.#attempts += 1;
    const asked = Math.min(longestRetryAfter, (retryAfter ?? 0) * 1000);
    const delay = asked + own * (0.5 + Math.random() / 2);
    this.until = Date.now() + delay;
    return delay;
  }

  /** @param {number} delay @param {AbortSignal} signal @returns {Promise<void>} ends early when skipped */
  wait(delay, signal) {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", finish);
        this.#skip = null;
        this.until = null;
        resolve();
      };
      const timer = setTimeout(finish, delay);
      signal.addEventListener("abort", finish);
      this.#skip = finish;
      if (signal.aborted) finish();
    });
  }

  /** Makes the next attempt now. */
  skip() {
    this.#attempts = 0;
    this.#skip?.();
  }
}

/**
 * The fields of one Server-Sent Event.
 * @typedef {{id: string|null, event: string, data: string}} ServerSentEvent
 */

/** An event longer than this is none of our server. */
const longestEvent = 16_000_000;

/** Splits a stream of Server-Sent Events; EventSource itself ends for good at answers such as 429 and 503. */
class EventSplitter {
  #rest = "";
  /** @type {string|null} */
  #id = null;
  #event = "";
  /** @type {string[]} */
  #data = [];

  /** @param {string} text @returns {ServerSentEvent[]} the events that end in it */
  feed(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > longestEvent) throw new ApiError(0, "eventLength", "");
    /** @type {ServerSentEvent[]} */
    const events = [];
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line !== "") {
        this.#field(line);
      } else {
        if (this.#data.length > 0 || this.#id !== null) {
          events.push({ id: this.#id, event: this.#event, data: this.#data.join("\n") });
        }
        this.#id = null;
        this.#event = "";
        this.#data = [];
      }
    }
    return events;
  }

  /** @param {string} line */
  #field(line) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "data") this.#data.push(value);
    else if (name === "id") this.#id = value;
    else if (name === "event") this.#event = value;
  }
}

/**
 * @typedef {object} StreamConsumer
 * @property {(change: Change) => void} change
 * @property {(serverTime: number) => void} opened the server answered
 * @property {() => void} caughtUp all that was committed before has been delivered
 * @property {(error: ApiError, retryAt: number) => void} failed
 * @property {(reason: string) => void} lost the cursor cannot be continued: load the list anew
 */

/** The server sends a heartbeat every 30 s by default. A stream that is silent for this long is cut. */
const silence = 75_000;

/** The head of an answer takes less than this. */
const patience = 20_000;

/** After a pause of the machine, a stream that was silent for this long may be dead already. */
const doubt = 10_000;

/** A backlog arrives without pauses: after one this long, the stream has caught up. */
const pause = 400;

/** Follows `/v1/changes` from a cursor, and resumes there after whatever interrupts it. */
export class ChangeStream {
  #stop = new AbortController();
  #backOff = new BackOff();
  #lastBytes = 0;
  #wasCut = false;
  /** @type {AbortController|null} */
  #request = null;

  /** @param {string} cursor @param {StreamConsumer} consumer */
  constructor(cursor, consumer) {
    /** The cursor after the last event that was handed over. */
    this.cursor = cursor;
    this.consumer = consumer;
    this.#run();
  }

  stop() {
    this.#stop.abort();
    this.#request?.abort();
  }

  /** Something suggests that the network is back, or was away: do not wait for a timer to find out. */
  wake() {
    this.#backOff.skip();
    if (this.#lastBytes > 0 && Date.now() - this.#lastBytes > doubt) this.#cut();
  }

  /** Ends a stream that may be dead; the next one begins at once. */
  #cut() {
    this.#wasCut = true;
    this.#request?.abort();
  }

  async #run() {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#read();
        throw new ApiError(0, "streamEnded", "");
      } catch (error) {
        if (signal.aborted) return;
        if (this.#wasCut) continue;
        const failure = ApiError.from(error);
        if (failure.status === 400 || failure.status === 410) return this.consumer.lost(failure.title);
        const delay = this.#backOff.next(failure.retryAfter);
        this.consumer.failed(failure, Date.now() + delay);
        await this.#backOff.wait(delay, signal);
      }
    }
  }

  async #read() {
    const request = new AbortController();
    this.#request = request;
    this.#wasCut = false;
    let watchdog = setTimeout(() => request.abort(new ApiError(0, "timeout", "")), patience);
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let quiet;
    try {
      const response = await fetch(`/v1/changes?after=${encodeURIComponent(this.cursor)}`, {
        headers: { Accept: "text/event-stream" },
        cache: "no-store",
        signal: request.signal,
      });
      if (!response.ok || !response.body) throw await ApiError.of(response);
      this.consumer.opened(Date.parse(response.headers.get("Date") ?? "") || Date.now());
      clearTimeout(watchdog);
      watchdog = setTimeout(() => this.#cut(), silence);
      this.#lastBytes = Date.now();
      const splitter = new EventSplitter();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        clearTimeout(quiet);
        quiet = setTimeout(() => this.consumer.caughtUp(), pause);
        const { done, value } = await reader.read();
        if (done || this.#stop.signal.aborted) return;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => this.#cut(), silence);
        this.#lastBytes = Date.now();
        for (const event of splitter.feed(value)) {
          this.#backOff.reset();
          if (!this.#take(event)) return;
        }
      }
    } finally {
      clearTimeout(watchdog);
      clearTimeout(quiet);
      this.#lastBytes = 0;
      request.abort();
    }
  }

  /** @param {ServerSentEvent} event @returns {boolean} whether to go on */
  #take({ id, event, data }) {
    if (event === "reset") {
      this.stop();
      this.consumer.lost(JSON.parse(data).reason);
      return false;
    }
    if (event === "") this.consumer.change(JSON.parse(data));
    if (id) this.cursor = id;
    return true;
  }
}

/** Between two questions, in ms: while the server has its database, and while it has not. */
const usual = 5_000;
const soon = 3_000;

/** An answer takes less than this. */
const healthPatience = 10_000;

/** Asks whether the server has its database. Without one, a stream stays open and is only silent. */
export class Health {
  #stop = new AbortController();
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;

  /** @param {(problem: ApiError|null, retryAt: number) => void} tell gets each answer; null: all is well */
  constructor(tell) {
    this.tell = tell;
    this.#wait(usual);
  }

  stop() {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  /** Asks now. */
  wake() {
    this.#wait(0);
  }

  /** @param {number} delay */
  #wait(delay) {
    clearTimeout(this.#timer);
    if (!this.#stop.signal.aborted) this.#timer = setTimeout(() => this.#ask(), delay);
  }

  async #ask() {
    const request = new AbortController();
    const timer = setTimeout(() => request.abort(new ApiError(0, "timeout", "")), healthPatience);
    let delay = usual;
    try {
      const response = await fetch("/readyz", { cache: "no-store", signal: request.signal });
      if (this.#stop.signal.aborted) return;
      if (response.status === 503) delay = soon;
      this.tell(delay === soon ? await ApiError.of(response) : null, Date.now() + delay);
    } catch (error) {
      // The stream finds out whether the server can be reached. One that waits for its database says nothing.
      if (request.signal.aborted && !this.#stop.signal.aborted) {
        delay = soon;
        this.tell(ApiError.from(error), Date.now() + delay);
      }
    } finally {
      clearTimeout(timer);
    }
    this.#wait(delay);
  }
}
