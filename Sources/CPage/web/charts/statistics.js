import { api } from "../data/api.js";
import { ApiError } from "../data/api-error.js";
import { view } from "../state/view.js";

/**
 * The figures of GET /v1/stats that the charts show.
 * @typedef {object} Statistics
 * @property {number} count
 * @property {number|null} [completeness] magnitude of completeness
 * @property {number|null} [b_value]
 * @property {number|null} [b_value_error]
 * @property {number|null} [b_value_events]
 * @property {string|null} [b_value_refusal] why there is no b-value
 */

/** @typedef {{statistics: Statistics|null, failure: string|null, partial: boolean}} Answer
 * `partial` when the server's filter does not know all of the page's */

/** While changes arrive all the time, the server is asked this often. */
const interval = 5000;
const typingDelay = 250;

/** Asks the server for the b-value of what the list shows, one request at a time. */
export class StatisticsOfView {
  /** @type {Answer} */
  answer = { statistics: null, failure: null, partial: false };
  #changed;
  #asked = "";
  #last = -Infinity;
  #running = false;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;

  /** @param {() => void} changed called when there is a new answer */
  constructor(changed) {
    this.#changed = changed;
  }

  /** The list has changed, or the filter. */
  refresh() {
    if (this.#running || this.#timer !== undefined) return;
    const other = JSON.stringify(parametersOfView()) !== this.#asked;
    const wait = other ? typingDelay : Math.max(typingDelay, this.#last + interval - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#ask();
    }, wait);
  }

  async #ask() {
    const parameters = parametersOfView();
    this.#asked = JSON.stringify(parameters);
    this.#last = performance.now();
    this.#running = true;
    const { text, box, mapOnly } = view.get();
    const partial = text !== "" || (mapOnly && box !== null);
    try {
      this.answer = { statistics: await api.stats(parameters), failure: null, partial };
    } catch (error) {
      const failure = error instanceof ApiError && error.detail ? error.detail : String(error);
      this.answer = { statistics: null, failure, partial };
    }
    this.#running = false;
    if (JSON.stringify(parametersOfView()) !== this.#asked) this.refresh();
    this.#changed();
  }
}

/**
 * The page's search looks also at codes, which the server's filter does not, and that has one box.
 * @returns {Record<string, any>}
 */
function parametersOfView() {
  const state = view.get();
  const bounds = state.mapOnly && !state.box ? view.bounds() : null;
  return api.parameters(bounds ? { ...state, box: bounds } : state);
}
