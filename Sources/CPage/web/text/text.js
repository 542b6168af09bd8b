import { withMinus } from "./format.js";
import { language, locale } from "./locale.js";

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

/**
 * A text of a feed for the middle of a sentence: it must not turn the direction of what follows.
 * @param {string} text
 * @returns {string} the same, if it has only characters that are written from left to right
 */
export function isolated(text) {
  const plain = text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
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

export { format } from "./format.js";
export { language, languages, locale } from "./locale.js";
