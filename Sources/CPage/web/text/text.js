import { settings } from "../state/settings.js";

/** @typedef {import("../types.js").Quake} Quake */

/** The languages of the page, each with its own name for itself. */
export const languages = Object.freeze({ en: "English", de: "Deutsch", es: "Español" });

/** @typedef {keyof typeof languages} Language */

/** @param {string} tag such as de-AT */
const base = (tag) => tag.toLowerCase().split("-")[0];

/** @returns {Language} the language that the person chose, else the first of the browser's that there is */
function choose() {
  for (const tag of [String(settings.get().language ?? "auto"), ...navigator.languages]) {
    if (Object.hasOwn(languages, base(tag))) return /** @type {Language} */ (base(tag));
  }
  return "en";
}

/** The language of all texts. Another one needs the page to be loaded again. */
const language = choose();

/** The browser's own variant of the language: an Australian keeps the order of the date. */
export const locale = navigator.languages.find((tag) => base(tag) === language && isValid(tag)) ?? language;

/** @param {string} tag @returns {boolean} false for those that some systems have, such as en-US@posix */
function isValid(tag) {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

/** @typedef {typeof import("./en.js").default} Texts */
/** @typedef {string & keyof Texts} Key */
/** @typedef {Record<string, string | number>} Values */

/** @type {Texts} */
const texts = (await import(`./${language}.js`)).default;

const plurals = new Intl.PluralRules(locale);
const numbers = new Intl.NumberFormat(locale);

/**
 * The text of a key. `{name}` in it is replaced by the value of that name; a number is written as the
 * language does. A text with several forms is chosen by the value `n`.
 * @param {Key} key
 * @param {Values} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = /** @type {string | Partial<Record<Intl.LDMLPluralRule, string>>} */ (texts[key]);
  if (text === undefined) return key;
  const form = typeof text === "string"
    ? text
    : text[plurals.select(Number(values.n))] ?? text.other ?? key;
  return form.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? withMinus(numbers.format(value)) : isolated(value);
  });
}

/** @param {string} text of a feed @returns {string} without the characters that turn its direction */
export function undirected(text) {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
}

/**
 * A text of a feed for the middle of a sentence: it must not turn the direction of what follows.
 * @param {string} text
 * @returns {string} the same, if it has only characters that are written from left to right
 */
export function isolated(text) {
  const plain = undirected(text);
  return /[\u0590-\u08ff\ufb1d-\ufefc]/.test(plain) ? `\u2068${plain}\u2069` : plain;
}

/**
 * Whether there is a text for a key that is made of data, such as a type of event.
 * @param {string} key
 * @returns {key is Key}
 */
export function has(key) {
  return Object.hasOwn(texts, key);
}

/** Gives the elements of index.html their texts: `data-text` is the content, `data-label` the name. */
export function translatePage() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-text]")) {
    element.textContent = t(/** @type {Key} */ (element.getAttribute("data-text")));
  }
  for (const element of document.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", t(/** @type {Key} */ (element.getAttribute("data-label"))));
  }
}

/** @type {Map<string, Intl.DateTimeFormat>} */
const dateFormats = new Map();
/** @type {Map<string, Intl.NumberFormat>} */
const numberFormats = new Map();
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "always", style: "short" });

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const units = [["year", 31_557_600], ["month", 2_629_800], ["day", 86_400], ["hour", 3_600], ["minute", 60]];

/**
 * A formatter made once: making one takes longer than a frame of the list.
 * @param {string} key
 * @param {Intl.DateTimeFormatOptions} options
 * @param {boolean} utc
 */
function dateFormat(key, options, utc) {
  const name = key + utc;
  let format = dateFormats.get(name);
  if (!format) {
    format = new Intl.DateTimeFormat(locale, { ...options, timeZone: utc ? "UTC" : undefined });
    dateFormats.set(name, format);
  }
  return format;
}

/**
 * @param {number} value
 * @param {number} least digits after the point
 * @param {number} [most]
 */
function decimal(value, least, most = least) {
  const name = `${least}.${most}`;
  let format = numberFormats.get(name);
  if (!format) {
    format = new Intl.NumberFormat(locale, { minimumFractionDigits: least, maximumFractionDigits: most });
    numberFormats.set(name, format);
  }
  // A value that is rounded to zero has no sign.
  return withMinus(format.format(value < 0 && Number(value.toFixed(most)) === 0 ? 0 : value));
}

/** @param {string} number @returns {string} with the sign for minus instead of a hyphen */
function withMinus(number) {
  return number.replace("-", "\u2212");
}

/** @type {Intl.DateTimeFormatOptions} */
const day = { year: "numeric", month: "short", day: "numeric" };
/** @type {Intl.DateTimeFormatOptions} */
const timeOfDay = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
/** @type {Intl.DateTimeFormatOptions} */
const exact = { ...day, ...timeOfDay, second: "2-digit", timeZoneName: "short" };

/** @param {number} latitude @param {number} longitude @param {number} least digits after the point */
function compass(latitude, longitude, least) {
  const north = t(
    latitude < 0 ? "position.south" : "position.north", { degrees: decimal(Math.abs(latitude), least, 3) },
  );
  const east = t(
    longitude < 0 ? "position.west" : "position.east", { degrees: decimal(Math.abs(longitude), least, 3) },
  );
  return `${north}, ${east}`;
}

/** How values are written for people, in their language and time zone. */
export const format = Object.freeze({
  /** @param {number} ms @returns {string} date, time and zone: UTC or local, as the settings say */
  time: (ms) => dateFormat("exact", exact, settings.get().utc).format(ms),

  /** @param {number} ms @returns {string} */
  utcTime: (ms) => dateFormat("exact", exact, true).format(ms),

  /** @param {number} ms @returns {string} */
  localTime: (ms) => dateFormat("exact", exact, false).format(ms),

  /** @param {number} ms @returns {string} the time of day */
  clock: (ms) => dateFormat("clock", timeOfDay, settings.get().utc).format(ms),

  /** @param {number} ms @returns {string} */
  date: (ms) => dateFormat("date", day, settings.get().utc).format(ms),

  /** @param {number} ms @param {number} [now] @returns {string} such as "3 min. ago" */
  relative(ms, now = Date.now()) {
    const seconds = (ms - now) / 1000;
    if (seconds > 60) return format.time(ms);
    for (const [unit, length] of units) {
      if (-seconds >= length) return relative.format(Math.trunc(seconds / length), unit);
    }
    return t("time.now");
  },

  /** @param {{ magnitude: number | null }} quake @returns {string} */
  magnitude: ({ magnitude }) => (magnitude === null ? t("unknown.short") : decimal(magnitude, 1)),

  /** @param {number | null} magnitude @returns {string} with a second digit if it has one */
  preciseMagnitude: (magnitude) => (magnitude === null ? t("unknown.short") : decimal(magnitude, 1, 2)),

  /** @param {number | null} km @returns {string} */
  depth: (km) => (km === null ? t("depth.unknown") : t("depth.km", { km: decimal(km, 0, km < 10 ? 1 : 0) })),

  /** @param {number | null} km @returns {string} with all digits that it has, at most 3 */
  exactDepth: (km) => (km === null ? t("depth.unknown") : t("depth.km", { km: decimal(km, 0, 3) })),

  /** @param {number} n @param {number} [digits] digits after the point; without it, as it has, at most 3
   * @returns {string} */
  number: (n, digits) => (digits === undefined ? decimal(n, 0, 3) : decimal(n, digits)),

  /**
   * @param {number | null} latitude
   * @param {number | null} longitude
   * @returns {string} such as "35.700° N, 139.700° E"
   */
  position(latitude, longitude) {
    if (latitude === null || longitude === null) return t("position.unknown");
    return compass(latitude, longitude, 3);
  },

  /** @param {number} latitude @param {number} longitude @returns {string} with the digits that they have */
  place: (latitude, longitude) => compass(latitude, longitude, 0),
});
