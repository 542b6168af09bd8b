import { quakeOfRow } from "../api/answers.js";

/** @typedef {import("../types.js").Quake} Quake */

/** The longest time that parsing takes of a frame, in ms. */
const budget = 5;

/** Loaded events are handed over in batches of about this size, or after this time in ms. */
const batchSize = 2000;
const batchDelay = 120;

/** A hidden page has no frames. */
const hiddenDelay = 200;

/**
 * Takes messages with rows in their order and hands over batches of events, at most one a frame, so that
 * neither a load nor a burst of changes blocks the page.
 */
export class Feed {
  /** @type {(Part|(() => void))[]} */
  #queue = [];
  /** @type {Map<string, Quake|null>} */
  #batch = new Map();
  #live = false;
  #since = 0;
  #scheduled = false;

  /** @param {(batch: ReadonlyMap<string, Quake|null>, live: boolean) => void} apply */
  constructor(apply) {
    this.apply = apply;
    // A frame that was asked for while the page was shown does not come when it is hidden.
    document.addEventListener("visibilitychange", () => {
      this.#scheduled = false;
      if (this.#queue.length > 0 || this.#batch.size > 0) this.#schedule();
    });
  }

  /**
   * @typedef {object} Part
   * @property {string} rows JSON
   * @property {readonly string[]} gone
   * @property {boolean} live
   */

  /** @param {Part} part */
  push(part) {
    this.#queue.push(part);
    this.#schedule();
  }

  /** @param {() => void} action is called when all parts before it have been handed over */
  after(action) {
    this.#queue.push(action);
    this.#schedule();
  }

  /** Forgets what was not handed over. */
  clear() {
    this.#queue = [];
    this.#batch = new Map();
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const work = () => {
      if (!this.#scheduled) return;
      this.#scheduled = false;
      this.#work();
      if (this.#queue.length > 0 || this.#batch.size > 0) this.#schedule();
    };
    if (document.hidden) setTimeout(work, hiddenDelay);
    else requestAnimationFrame(work);
  }

  #work() {
    const end = performance.now() + budget;
    let next = 0;
    while (next < this.#queue.length && performance.now() < end) {
      const part = this.#queue[next];
      if (typeof part === "function") {
        if (this.#batch.size > 0) break;
        part();
      } else {
        if (this.#batch.size > 0 && part.live !== this.#live) break;
        if (this.#batch.size === 0) this.#since = performance.now();
        this.#live = part.live;
        this.#add(part);
        if (this.#batch.size >= batchSize) {
          next += 1;
          break;
        }
      }
      next += 1;
    }
    const blocked = next < this.#queue.length && performance.now() < end;
    this.#queue.splice(0, next);
    const due = performance.now() - this.#since > batchDelay;
    if (this.#batch.size === 0) return;
    if (this.#live || blocked || due || this.#queue.length === 0 || this.#batch.size >= batchSize) {
      const batch = this.#batch;
      this.#batch = new Map();
      this.apply(batch, this.#live);
    }
  }

  /** @param {Part} part */
  #add({ rows, gone }) {
    for (const code of gone) this.#batch.set(code, null);
    for (const row of JSON.parse(rows)) this.#batch.set(row[0], quakeOfRow(row));
  }
}
