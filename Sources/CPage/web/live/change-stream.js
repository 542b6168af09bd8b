import { ApiError } from "../api/api-error.js";
import { BackOff } from "./back-off.js";
import { EventSplitter } from "./event-source.js";

/** @typedef {import("../types.js").Change} Change */

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

  /** @param {import("./event-source.js").ServerSentEvent} event @returns {boolean} whether to go on */
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
