import { settings } from "./settings.js";

/**
 * Whether a point of the history is given by a token, such as 1042.9f3ac2d1, and not by a time.
 * @param {string} asOf
 */
export function isToken(asOf) {
  return /^\d+(\.[0-9a-f]{8})?(-\d+)?$/.test(asOf);
}

/**
 * @param {string} asOf a time as the API reads it: in UTC if it names no zone
 * @returns {number} ms since 1970; not a number for a token, or for what is no time
 */
export function timeOfPoint(asOf) {
  if (isToken(asOf)) return NaN;
  return Date.parse(/T[\d:.]+$/.test(asOf) ? `${asOf}Z` : asOf);
}

const dayLength = 86_400_000;
/** @type {Record<string, number>} ms of each unit */
const units = { w: 7 * dayLength, d: dayLength, h: 3_600_000, m: 60_000, s: 1000 };
const age = /(\d+(?:\.\d+)?) ?(w|d|h|m|s)(?:eeks?|ays?|ours?|rs?|inutes?|ins?|econds?|ecs?)? ?/gy;

/**
 * The moment that words name which the API reads, too: yesterday, yesterday 14:30, 7d, 2 h ago.
 * @param {string} words
 * @param {number} now ms since 1970
 * @returns {string|null} the time in ISO 8601; null: these are no such words
 */
export function momentOfWords(words, now) {
  // 1.5218d42d is a token, and not 43 days.
  if (isToken(words)) return null;
  const text = words.trim().toLowerCase();
  if (text === "now") return new Date(now).toISOString();
  const [, day, clock] = /^(today|yesterday)(?: (\d\d:\d\d(?::\d\d)?))?$/.exec(text) ?? [];
  if (day) {
    const midnight = now - (now % dayLength) - (day === "yesterday" ? dayLength : 0);
    const date = new Date(midnight).toISOString().slice(0, 10);
    const time = Date.parse(`${date}T${clock ?? "00:00"}Z`);
    return Number.isNaN(time) ? null : new Date(time).toISOString();
  }
  const ago = text.replace(/ ago$/, "");
  let sum = 0;
  age.lastIndex = 0;
  while (age.lastIndex < ago.length) {
    const part = age.exec(ago);
    if (!part) return null;
    sum += Number(part[1]) * units[part[2]];
  }
  return sum > 0 && sum < now ? new Date(now - sum).toISOString() : null;
}

/**
 * @param {number} time which counts, since a zone may have a summer time
 * @returns {number} what is added to the time so that its days begin at midnight of the zone that is shown
 */
export function zoneOffset(time) {
  return settings.get().utc ? 0 : -new Date(time).getTimezoneOffset() * 60_000;
}

/** @param {number} ms @returns {string} its day in the zone that is shown, such as 2025-03-28 */
export function dayOf(ms) {
  return new Date(ms + zoneOffset(ms)).toISOString().slice(0, 10);
}

/**
 * @param {string} day such as 2025-03-28
 * @param {number} [after] this number of days later
 * @returns {number|null} when it begins in the zone that is shown, in ms; null for what is no day
 */
export function beginOfDay(day, after = 0) {
  const midnight = Date.parse(`${day}T00:00Z`) + after * dayLength;
  return Number.isNaN(midnight) ? null : midnight - zoneOffset(midnight - zoneOffset(midnight));
}
