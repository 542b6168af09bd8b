const shortest = 500;
const longest = 30_000;

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
    const own = Math.min(longest, shortest * 2 ** Math.min(this.#attempts, 16));
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
