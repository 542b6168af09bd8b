import { zoneOffset } from "../state/point.js";
import { settings } from "../state/settings.js";
import { locale } from "../text/text.js";

/** @typedef {{at: number, label: string}} Tick */

const hour = 3_600_000;
const day = 24 * hour;

/**
 * Steps of a time axis with what is written at them.
 * @type {[number, Intl.DateTimeFormatOptions][]}
 */
const steps = [
  [hour / 4, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }],
  [hour, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }],
  [3 * hour, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }],
  [6 * hour, { weekday: "short", hour: "2-digit", hourCycle: "h23" }],
  [day, { month: "short", day: "numeric" }],
  [2 * day, { month: "short", day: "numeric" }],
  [7 * day, { month: "short", day: "numeric" }],
  [14 * day, { month: "short", day: "numeric" }],
  [31 * day, { year: "2-digit", month: "short" }],
  [92 * day, { year: "2-digit", month: "short" }],
  [366 * day, { year: "numeric" }],
  [5 * 366 * day, { year: "numeric" }],
  [20 * 366 * day, { year: "numeric" }],
  [50 * 366 * day, { year: "numeric" }],
  [200 * 366 * day, { year: "numeric" }],
  [500 * 366 * day, { year: "numeric" }],
];

/**
 * @param {number} from
 * @param {number} to
 * @param {number} most
 * @returns {Tick[]}
 */
export function timeTicks(from, to, most) {
  const [step, options] = steps.find(([length]) => (to - from) / length <= most) ?? steps[steps.length - 1];
  const timeZone = settings.get().utc ? "UTC" : undefined;
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone });
  const offset = zoneOffset(from);
  /** @type {Tick[]} */
  const ticks = [];
  for (let local = Math.ceil((from + offset) / step) * step; local <= to + zoneOffset(to); local += step) {
    const at = local - zoneOffset(local - offset);
    ticks.push({ at, label: format.format(at) });
  }
  return ticks;
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
