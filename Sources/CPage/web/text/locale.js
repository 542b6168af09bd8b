import { settings } from "../state/settings.js";

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
export const language = choose();

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
