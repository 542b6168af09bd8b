import { store } from "../data/store.js";
import { totals } from "../data/totals.js";
import { settings } from "../state/settings.js";
import { view } from "../state/view.js";
import { duration } from "../state/view-address.js";
import { FrequencyChart } from "./frequency-chart.js";
import { RateChart } from "./rate-chart.js";
import { sampleOf } from "./sample.js";
import { StatisticsOfView } from "./statistics.js";
import { TimeChart } from "./time-chart.js";

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
 * @param {import("./sample.js").Sample} sample
 * @param {import("./statistics.js").Answer} answer
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
 * @param {import("./statistics.js").Answer} answer
 * @returns {[number, number]}
 */
function spanWithin([begin, end], { span }) {
  if (!span) return [begin, end];
  const [first, last] = [Math.max(begin, span[0]), Math.min(end, span[1])];
  return first < last ? [first, last] : [begin, end];
}
