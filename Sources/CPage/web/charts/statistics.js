import { ApiError } from "../api/api-error.js";
import { quakeOfRow } from "../api/rows.js";
import { api } from "../data/api.js";
import { queryOf } from "../data/query.js";
import { store } from "../data/store.js";
import { view } from "../state/view.js";

/**
 * The figures of GET /v1/stats that the charts show.
 * @typedef {object} Statistics
 * @property {number} count
 * @property {number|null} [completeness] magnitude of completeness
 * @property {number|null} [b_value]
 * @property {number|null} [b_value_error]
 * @property {number|null} [b_value_events]
 * @property {string|null} [b_value_refusal] why there is no b-value, as a word
 * @property {string|null} [b_value_reason] the same in a sentence
 */

/** @typedef {{magnitude: number, count: number}} MagnitudeClass of 0.1 */

/**
 * @typedef {object} Answer
 * @property {Statistics|null} statistics
 * @property {readonly MagnitudeClass[]} classes in ascending order
 * @property {[number, number]|null} span the times of the first and the last event of the catalogue, with no
 *   filter; null: not known
 * @property {Quake|null} strongest the event of the greatest magnitude, if not all of them are loaded
 * @property {string|null} failure
 * @property {boolean} partial whether the server's filter does not know all of the page's
 */

/** @typedef {import("../types.js").Quake} Quake */

/** While changes arrive all the time, the server is asked this often. */
const interval = 10_000;
const typingDelay = 250;

/** Asks the server for the figures of what the list shows, one after the other. */
export class StatisticsOfView {
  /** @type {Answer} */
  answer = { statistics: null, classes: [], span: null, strongest: null, failure: null, partial: false };
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
    const { text, asOf } = view.get();
    const partial = text !== "";
    const { span } = this.answer;
    try {
      const statistics = await api.stats(parameters);
      const { groups } = await api.stats({ ...parameters, by: "magnitude", bin: 0.1 });
      const strongest = store.partial ? await firstOf({ ...parameters, sort: "magnitude:desc" }) : null;
      const first = await firstOf({ sort: "time:asc", "as-of": asOf });
      const last = await firstOf({ sort: "time:desc", "as-of": asOf });
      this.answer = {
        statistics, strongest, failure: null, partial, span: first && last && [first.time, last.time],
        classes: groups.flatMap((/** @type {{key: number|null, count: number}} */ { key, count }) => (
          key === null ? [] : { magnitude: key, count }
        )),
      };
    } catch (error) {
      const failure = error instanceof ApiError ? error.detail || error.title : String(error);
      this.answer = { statistics: null, classes: [], span, strongest: null, failure, partial };
    }
    this.#running = false;
    if (JSON.stringify(parametersOfView()) !== this.#asked) this.refresh();
    this.#changed();
  }
}

/**
 * @param {import("../data/api.js").Parameters} parameters
 * @returns {Promise<Quake|null>} the first event of a list
 */
async function firstOf(parameters) {
  const { rows } = await api.table({ ...parameters, limit: 1 });
  return rows.length > 0 ? quakeOfRow(rows[0]) : null;
}

/** @returns {import("../data/query.js").Query} */
function parametersOfView() {
  return queryOf(view.get(), view.bounds(), store.now());
}
