import { has, t } from "../text/text.js";

/**
 * @param {string} reason why something failed: in the words of the server or of the browser, or one of ours,
 *   which the worker names by the end of its key
 * @returns {string} as a person is told
 */
export function reasonText(reason) {
  const key = `data.reason.${reason}`;
  return has(key) ? t(key) : reason;
}
