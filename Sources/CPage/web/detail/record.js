import { transactionNumber } from "../api/rows.js";
import { isToken, timeOfPoint } from "../state/point.js";

/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../types.js").EventRecord} EventRecord */

/**
 * An event at a point of the history.
 * @typedef {object} RecordAt
 * @property {EventRecord} event the event as it is, or was as of the time of the view
 * @property {number} index the revision that this is
 * @property {Change | null} deletion the change that deleted it
 */

/**
 * Whether a change was committed by a point of the history.
 * @param {Change} version
 * @param {string | null} asOf a time or a token; null is now
 */
export function isBy(version, asOf) {
  if (asOf === null) return true;
  if (isToken(asOf)) return transactionNumber(version.token) <= transactionNumber(asOf);
  return Date.parse(version.transaction?.at ?? "") <= timeOfPoint(asOf);
}

/**
 * The event at a point of the history.
 * @param {Change[]} versions oldest first
 * @param {string | null} asOf
 * @returns {RecordAt | null} null if it was not stored yet
 */
export function record(versions, asOf) {
  let index = versions.length - 1;
  while (index >= 0 && !isBy(versions[index], asOf)) index -= 1;
  const version = versions[index];
  if (!version) return null;
  if (version.new) return { event: version.new, index, deletion: null };
  const event = version.old ?? versions[index - 1]?.new;
  return event ? { event, index, deletion: version } : null;
}
