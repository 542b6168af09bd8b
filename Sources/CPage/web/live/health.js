import { ApiError } from "../api/api-error.js";

/** Between two questions, in ms: while the server has its database, and while it has not. */
const usual = 5_000;
const soon = 3_000;

/** An answer takes less than this. */
const patience = 10_000;

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
    const timer = setTimeout(() => request.abort(new ApiError(0, "timeout", "")), patience);
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
