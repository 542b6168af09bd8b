import { circleText, duration, instant } from "../state/view-address.js";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Box} Box */
/** @typedef {Record<string, string>} Query */

/**
 * The conditions of a view as parameters of the API. What the API cannot say is left out: then it selects
 * more events than the view does, never fewer; only a search selects otherwise (`partOf`).
 * @param {Readonly<View>} view
 * @param {Box|null} bounds the part of the earth that the map shows
 * @param {number} now ms: the present, or the point that is looked back to
 * @returns {Query}
 */
export function queryOf(view, bounds, now) {
  const { period, asOf } = view;
  // The server counts `last` from now; the view counts its period from the point that it shows.
  const isPast = asOf !== null && period !== "all";
  const box = view.mapOnly && bounds ? overlap(view.box, bounds) : view.box;
  /** @type {Record<string, string|number|null>} */
  const parameters = {
    last: period === "all" || isPast ? null : period,
    from: isPast ? instant(now - duration(period)) : instant(view.from),
    to: instant(view.to),
    "min-magnitude": view.minMagnitude, "max-magnitude": view.maxMagnitude,
    "min-depth": view.minDepth, "max-depth": view.maxDepth,
    type: view.types.join(",") || null, network: view.networks.join(",") || null,
    bbox: box && box.join(","), within: circleText(view.within), place: view.text || null, "as-of": asOf,
  };
  /** @type {Query} */
  const query = {};
  for (const [name, value] of Object.entries(parameters)) if (value !== null) query[name] = String(value);
  return query;
}

/**
 * @param {Readonly<View>} view
 * @returns {string} its order as a parameter of the API, to the last event: equal ones as `order.js` has them
 */
export function orderOf({ sort, descending }) {
  const first = `${sort}:${descending ? "desc" : "asc"}`;
  return sort === "time" ? `${first},code:asc` : `${first},time:desc,code:asc`;
}

/** @param {string} text of a search @returns {string} its longest word: the server compares a whole text */
export function partOf(text) {
  return text.split(/\s+/).reduce((longest, word) => (word.length > longest.length ? word : longest), "");
}

/** @param {Readonly<View>} view @returns {boolean} whether nothing can lie between its limits */
export function isEmpty(view) {
  return crossed(view.minMagnitude, view.maxMagnitude) || crossed(view.minDepth, view.maxDepth)
    || (view.from !== null && view.to !== null && view.from >= view.to);
}

/** @param {number|null} least @param {number|null} most */
function crossed(least, most) {
  return least !== null && most !== null && least > most;
}

/**
 * @param {Box|null} a
 * @param {Box} b
 * @returns {Box} where both are, if this is one box; else one of them
 */
function overlap(a, b) {
  if (!a) return b;
  if (a[0] > a[2] || b[0] > b[2]) return a;
  const [west, south] = [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
  const [east, north] = [Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  return west <= east && south <= north ? [west, south, east, north] : a;
}
