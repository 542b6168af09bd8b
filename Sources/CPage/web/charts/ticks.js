import { zoneOffset } from "../state/point.js";
import { settings } from "../state/settings.js";
import { locale } from "../text/text.js";

/** @typedef {{at: number, label: string}} Tick */

const hour = 3_600_000;
const day = 24 * hour;

/** @type {Record<string, Intl.DateTimeFormatOptions>} */
const labels = {
  time: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  date: { month: "short", day: "numeric" },
  month: { year: "2-digit", month: "short" },
  year: { year: "numeric" },
};

/**
 * Steps of a time axis: their length, what is written at them, and for months and years, whose length varies,
 * the number of months.
 * @type {[number, Intl.DateTimeFormatOptions, number?][]}
 */
const steps = [
  [hour / 4, labels.time],
  [hour, labels.time],
  [3 * hour, labels.time],
  [6 * hour, { weekday: "short", hour: "2-digit", hourCycle: "h23" }],
  [day, labels.date],
  [2 * day, labels.date],
  [7 * day, labels.date],
  [14 * day, labels.date],
  [31 * day, labels.month, 1],
  [92 * day, labels.month, 3],
  [366 * day, labels.year, 12],
  [5 * 366 * day, labels.year, 60],
  [20 * 366 * day, labels.year, 240],
  [50 * 366 * day, labels.year, 600],
  [200 * 366 * day, labels.year, 2400],
  [500 * 366 * day, labels.year, 6000],
];

/**
 * @param {number} from
 * @param {number} to
 * @param {number} most
 * @returns {Tick[]}
 */
export function timeTicks(from, to, most) {
  const [step, options, months] =
    steps.find(([length]) => (to - from) / length <= most) ?? steps[steps.length - 1];
  const timeZone = settings.get().utc ? "UTC" : undefined;
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone });
  const offset = zoneOffset(from);
  const first = new Date(from + offset);
  const firstMonth = first.getUTCFullYear() * 12 + first.getUTCMonth();
  /** @type {Tick[]} */
  const ticks = [];
  for (let n = Math.floor(months ? firstMonth / months : (from + offset) / step); ; n += 1) {
    const local = months ? new Date(0).setUTCFullYear(0, n * months, 1) : n * step;
    if (local > to + zoneOffset(to)) return ticks;
    const at = local - zoneOffset(local - offset);
    if (at >= from) ticks.push({ at, label: format.format(at) });
  }
}

/**
 * @param {number} from
 * @param {number} to
 * @param {number} most
 * @param {(value: number) => string} label
 * @returns {Tick[]} at 1, 2 or 5 times a power of ten
 */
export function numberTicks(from, to, most, label) {
  const rough = Math.max(to - from, 1e-9) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((wide) => wide >= rough) ?? 10 * power;
  /** @type {Tick[]} */
  const ticks = [];
  for (let n = Math.ceil(from / step - 1e-9); n * step <= to + step * 1e-9; n += 1) {
    ticks.push({ at: n * step, label: label(+(n * step).toFixed(6)) });
  }
  return ticks;
}

/**
 * @param {number} to
 * @param {(value: number) => string} label
 * @returns {Tick[]} powers of ten, placed at their logarithm
 */
export function logTicks(to, label) {
  /** @type {Tick[]} */
  const ticks = [];
  const step = to > 4 ? 2 : 1;
  for (let power = 0; power <= to; power += step) ticks.push({ at: power, label: label(10 ** power) });
  return ticks;
}
