/**
 * The view in the query of an address. The names are those of the API where it has the same parameter, so
 * that what is in the address can be used in a request, too.
 */

import { momentOfWords } from "../text/point.js";

/** @typedef {import("../types.js").View} View */

/** @type {Readonly<View>} */
export const defaultView = Object.freeze({
  period: "all",
  minMagnitude: null,
  maxMagnitude: null,
  minDepth: null,
  maxDepth: null,
  types: [],
  networks: [],
  box: null,
  mapOnly: false,
  text: "",
  sort: "time",
  descending: true,
  selected: null,
  asOf: null,
  color: "age",
  map: null,
  since: null,
});

/** The periods that the page offers. */
const periods = ["1h", "1d", "7d", "30d", "all"];
/** @type {Record<string, number>} */
const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const sorts = ["time", "magnitude", "depth", "place", "updated"];
const lists = ["type", "network"];
const colors = ["age", "depth", "magnitude"];

/** Longer texts are cut: an address comes from anybody. Codes and lists of names are longer than a search. */
const textLimit = 200;
const codeLimit = 256;
const namesLimit = 1000;
const listLimit = 50;

/**
 * @param {string} query such as `?last=7d&min-magnitude=4.5`; what is not valid is left out
 * @returns {View}
 */
export function parseView(query) {
  /** @type {Map<string, string>} */
  const parameters = new Map();
  for (const [name, value] of new URLSearchParams(query)) {
    const key = name.replaceAll("_", "-");
    // As in the API, a list has commas, or the parameter is repeated.
    const before = lists.includes(key) ? parameters.get(key) : undefined;
    parameters.set(key, before === undefined ? value : `${before},${value}`);
  }
  /** @param {string} name @param {number} [limit] */
  const text = (name, limit = textLimit) => cut(parameters.get(name)?.trim() ?? "", limit) || null;
  /** @param {string} name */
  const number = (name) => finite(text(name));
  /** @param {string} name @returns {string[]} */
  const list = (name) => {
    const words = (text(name, namesLimit) ?? "").split(",").map((word) => word.trim());
    return [...new Set(words.filter(Boolean))].slice(0, listLimit);
  };
  const [sort, direction] = (text("sort") ?? "").split(":");
  const view = { ...defaultView };
  view.period = period(text("last"));
  view.minMagnitude = number("min-magnitude");
  view.maxMagnitude = number("max-magnitude");
  view.minDepth = number("min-depth");
  view.maxDepth = number("max-depth");
  view.types = list("type");
  view.networks = list("network");
  view.box = box(text("bbox"));
  view.mapOnly = parameters.has("map-only") && text("map-only") !== "false";
  view.text = text("search") ?? "";
  view.sort = /** @type {View["sort"]} */ (known(sort, sorts, defaultView.sort));
  // As in the API, ascending is the default of a column that is named without a direction.
  view.descending = sorts.includes(sort) ? direction === "desc" : defaultView.descending;
  view.selected = text("selected", codeLimit);
  const asOf = text("as-of");
  view.asOf = asOf && (momentOfWords(asOf, Date.now()) ?? asOf);
  view.color = /** @type {View["color"]} */ (known(text("color"), colors, defaultView.color));
  view.map = mapPosition(text("map"));
  view.since = text("since");
  return view;
}

/**
 * @param {string} period a duration as the API reads it, such as 7d, or "all"
 * @returns {number} ms; infinite for all, not a number for what is no period
 */
export function duration(period) {
  if (period === "all") return Infinity;
  const [, value, unit] = /^(\d{1,6}(?:\.\d{1,4})?)(ms|s|m|h|d)?$/.exec(period) ?? [];
  return Number(value) * units[unit ?? "s"] || NaN;
}

/**
 * @param {Partial<View>} partial what is absent, or has its default, is left out
 * @returns {string} the query without "?"
 */
export function formatView(partial) {
  const view = { ...defaultView, ...partial };
  const parts = [];
  /** @param {string} name @param {string|number|null} value */
  const add = (name, value) => {
    if (value !== null && value !== "") parts.push(`${name}=${readable(String(value))}`);
  };
  add("last", view.period === defaultView.period ? null : view.period);
  add("min-magnitude", view.minMagnitude);
  add("max-magnitude", view.maxMagnitude);
  add("min-depth", view.minDepth);
  add("max-depth", view.maxDepth);
  add("type", view.types.join(","));
  add("network", view.networks.join(","));
  add("bbox", view.box?.join(",") ?? null);
  if (view.mapOnly) parts.push("map-only");
  add("search", cut(view.text, textLimit));
  if (view.sort !== defaultView.sort || view.descending !== defaultView.descending) {
    add("sort", `${view.sort}:${view.descending ? "desc" : "asc"}`);
  }
  add("color", view.color === defaultView.color ? null : view.color);
  if (view.map) {
    add("map", `${degrees(view.map.longitude)},${degrees(view.map.latitude)},${+view.map.zoom.toFixed(2)}`);
  }
  add("as-of", view.asOf);
  add("since", view.since);
  add("selected", view.selected);
  return parts.join("&");
}

/** @param {string} text @returns {string} percent-encoded, but for characters that harm nowhere in a query */
function readable(text) {
  return encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%20", "+");
}

/** @param {string} text @param {number} limit @returns {string} without half a character at its end */
function cut(text, limit) {
  return text.slice(0, limit).replace(/[\ud800-\udbff]$/, "");
}

/** @param {number} value */
function degrees(value) {
  return +value.toFixed(3);
}

/** @param {string|null} text @returns {number|null} */
function finite(text) {
  if (text === null) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/** @param {string|null|undefined} value @param {string[]} values @param {string} otherwise */
function known(value, values, otherwise) {
  return value && values.includes(value) ? value : otherwise;
}

/** @param {string|null} text @returns {View["period"]} as the page offers it, where it does: 24h is 1d */
function period(text) {
  if (text === null || !(duration(text) > 0)) return defaultView.period;
  return periods.find((one) => duration(one) === duration(text)) ?? text;
}

/** @param {string|null} text @returns {View["box"]} */
function box(text) {
  const numbers = (text ?? "").split(",").map(finite);
  if (numbers.length !== 4 || numbers.includes(null)) return null;
  const [west, south, east, north] = /** @type {number[]} */ (numbers);
  if (Math.abs(west) > 180 || Math.abs(east) > 180 || south < -90 || north > 90 || south > north) return null;
  return [west, south, east, north];
}

/** @param {string|null} text @returns {View["map"]} */
function mapPosition(text) {
  const [longitude, latitude, zoom] = (text ?? "").split(",").map(finite);
  if (longitude == null || latitude == null || zoom == null) return null;
  if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90 || zoom < 0 || zoom > 20) return null;
  return { longitude, latitude, zoom };
}
