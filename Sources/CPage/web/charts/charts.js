import { ApiError, quakeOfRow } from "../api/answers.js";
import { api, queryOf } from "../data/api.js";
import { isEarthquake, totals } from "../data/selecting.js";
import { store } from "../data/store.js";
import { settings } from "../state/settings.js";
import { duration, view } from "../state/view.js";
import { classOf } from "../ui/sign.js";
import { FrequencyChart, RateChart } from "./bars.js";
import { TimeChart } from "./time-chart.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../ui/sign.js").Coloring} Coloring */

/** Events that are read at once: less than half a frame on a slow machine. */
const slice = 5000;

/**
 * The values of events that the charts need, as arrays.
 * @typedef {object} Sample
 * @property {Quake[]} quakes
 * @property {Float64Array} times
 * @property {Float32Array} magnitudes not a number where it is unknown
 * @property {Uint8Array} classes colours
 * @property {Uint8Array} counted 1 for what a rate counts: earthquakes, or the types that the view names
 * @property {number} known number of events with a known magnitude
 * @property {number} least magnitude
 * @property {number} strongest place of the event with the greatest magnitude, -1 without one
 * @property {number} first origin time
 * @property {number} last origin time
 */

/**
 * Reads the events in slices, so that frames are shown in between.
 * @param {readonly Quake[]} list
 * @param {Coloring} coloring
 * @param {number} now
 * @param {boolean} everyType whether a rate counts all events
 * @returns {Promise<Sample>}
 */
async function sampleOf(list, coloring, now, everyType) {
  // The list goes on changing while it is being read.
  const quakes = list.slice();
  const times = new Float64Array(quakes.length);
  const magnitudes = new Float32Array(quakes.length);
  const classes = new Uint8Array(quakes.length);
  const counted = new Uint8Array(quakes.length);
  const sample = {
    quakes, times, magnitudes, classes, counted, known: 0, least: Infinity, strongest: -1,
    first: quakes.length > 0 ? Infinity : now, last: quakes.length > 0 ? -Infinity : now,
  };
  for (let i = 0; i < quakes.length; i += 1) {
    if (i > 0 && i % slice === 0) await new Promise((resolve) => setTimeout(resolve));
    const quake = quakes[i];
    times[i] = quake.time;
    magnitudes[i] = quake.magnitude ?? NaN;
    counted[i] = everyType || isEarthquake(quake.type) ? 1 : 0;
    classes[i] = classOf(quake, coloring, now);
    sample.first = Math.min(sample.first, quake.time);
    sample.last = Math.max(sample.last, quake.time);
    if (quake.magnitude === null) continue;
    sample.known += 1;
    sample.least = Math.min(sample.least, magnitudes[i]);
    if (sample.strongest < 0 || magnitudes[i] > magnitudes[sample.strongest]) sample.strongest = i;
  }
  return sample;
}

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

/** While changes arrive all the time, the server is asked this often. */
const requestInterval = 10_000;
const typingDelay = 250;

/** Asks the server for the figures of what the list shows, one after the other. */
class StatisticsOfView {
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
    const rest = this.#last + requestInterval - performance.now();
    const wait = other ? typingDelay : Math.max(typingDelay, rest);
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

/** @returns {import("../data/api.js").Query} */
function parametersOfView() {
  return queryOf(view.get(), view.bounds(), store.now());
}

/** While changes arrive all the time, the charts are drawn this often. */
const interval = 1000;

/**
 * Draws the charts of what the list shows while the element is not folded.
 * @param {HTMLElement} element
 */
export function start(element) {
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  let last = -Infinity;
  let running = false;
  let again = false;
  const soon = (/** @type {number} */ wait) => {
    if (element.hidden) return;
    again = running;
    if (!running) timer ??= setTimeout(draw, Math.max(0, wait));
  };
  const now = () => soon(0);
  const statistics = new StatisticsOfView(now);
  const timeChart = new TimeChart(element, now);
  const rateChart = new RateChart(element, now);
  const frequencyChart = new FrequencyChart(element, now);

  async function draw() {
    timer = undefined;
    if (running) return;
    running = true;
    const { color, types } = view.get();
    const sample = await sampleOf(store.shown(), color, store.now(), types.length > 0);
    const { answer } = statistics;
    const times = range(sample, answer);
    // Each chart takes some milliseconds with many events: a frame may be shown between them.
    timeChart.draw(sample, times, answer);
    await pause();
    rateChart.draw(sample, times, spanWithin(times, answer));
    await pause();
    frequencyChart.draw(answer);
    running = false;
    last = performance.now();
    if (again) soon(interval);
    again = false;
  }

  const changed = () => {
    if (element.hidden) return;
    soon(last + interval - performance.now());
    statistics.refresh();
  };
  store.addEventListener("shown", changed);
  store.addEventListener("loaded", changed);
  totals.addEventListener("change", changed);
  settings.addEventListener("change", now);
  view.addEventListener("change", (event) => {
    const { changed: names } = /** @type {CustomEvent} */ (event).detail;
    if (names.has("color") || names.has("selected")) now();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", now);
  // Folded charts are not drawn: when they are opened they show what has changed since.
  new MutationObserver(changed).observe(element, { attributes: true, attributeFilter: ["hidden"] });
  const theme = { attributes: true, attributeFilter: ["data-theme"] };
  new MutationObserver(now).observe(document.documentElement, theme);
  now();
  statistics.refresh();
}

/** @returns {Promise<void>} */
function pause() {
  return new Promise((resolve) => setTimeout(resolve));
}

/**
 * @param {Sample} sample
 * @param {Answer} answer
 * @returns {[number, number]} the times that the charts show
 */
function range({ first, last }, { span }) {
  const { period, from, to } = view.get();
  const now = store.now();
  if (period !== "all") return [now - duration(period), now];
  const begin = from ?? Math.min(first, span?.[0] ?? first);
  const end = Math.max(begin + duration("1h"), to ?? Math.max(last, span?.[1] ?? last));
  return [begin, end];
}

/**
 * The part of these times in which the catalogue has events at all, whatever the filter selects of them: a
 * rate refers to it.
 * @param {[number, number]} times
 * @param {Answer} answer
 * @returns {[number, number]}
 */
function spanWithin([begin, end], { span }) {
  if (!span) return [begin, end];
  const [first, last] = [Math.max(begin, span[0]), Math.min(end, span[1])];
  return first < last ? [first, last] : [begin, end];
}
