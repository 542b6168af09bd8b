import { momentOfWords, timeOfPoint } from "./point.js";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Box} Box */

/**
 * The view in the query of an address. The names are those of the API where it has the same parameter, so
 * that what is in the address can be used in a request, too.
 */

/** @type {Readonly<View>} */
export const defaultView = Object.freeze({
  period: "7d",
  from: null,
  to: null,
  minMagnitude: null,
  maxMagnitude: null,
  minDepth: null,
  maxDepth: null,
  types: [],
  networks: [],
  box: null,
  within: null,
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
/** All parameters; "theme" is that of a frame. */
const names = [
  "last", "from", "to", "min-magnitude", "max-magnitude", "min-depth", "max-depth", "type", "network", "bbox",
  "within", "map-only", "search", "sort", "color", "map", "as-of", "since", "selected", "theme",
];
/** What makes an address a question. As in the API, a question without a time is about all times. */
const questions = /** @type {const} */ ([
  "minMagnitude", "maxMagnitude", "minDepth", "maxDepth", "types", "networks", "box", "within", "mapOnly",
  "text", "sort", "descending", "asOf",
]);

/** Longer texts are cut: an address comes from anybody. Codes and lists of names are longer than a search. */
const textLimit = 200;
const codeLimit = 256;
const namesLimit = 1000;
const listLimit = 50;

/**
 * @param {string} query such as `?last=7d&min-magnitude=4.5`
 * @returns {{view: View, ignored: string[]}} the view, and the names of the parameters that are not known or
 *   whose values are not valid
 */
export function parseAddress(query) {
  const parameters = parametersOf(query);
  const ignored = [...parameters.keys()].filter((name) => !names.includes(name));
  /** @param {string} name @param {number} [limit] */
  const text = (name, limit = textLimit) => cut(parameters.get(name)?.trim() ?? "", limit) || null;
  /**
   * @template Value
   * @param {string} name
   * @param {(text: string) => Value|null} parse
   * @returns {Value|null}
   */
  const read = (name, parse) => {
    const given = text(name);
    const value = given === null ? null : parse(given);
    if (given !== null && value === null) ignored.push(name);
    return value;
  };
  /** @param {string} name @returns {string[]} */
  const list = (name) => {
    const words = (text(name, namesLimit) ?? "").split(",").map((word) => word.trim());
    return [...new Set(words.filter(Boolean))].slice(0, listLimit);
  };
  const view = { ...defaultView };
  view.minMagnitude = read("min-magnitude", finite);
  view.maxMagnitude = read("max-magnitude", finite);
  view.minDepth = read("min-depth", finite);
  view.maxDepth = read("max-depth", finite);
  view.types = list("type");
  view.networks = list("network");
  view.box = read("bbox", box);
  view.within = read("within", circle);
  view.mapOnly = parameters.has("map-only") && (text("map-only") === null || read("map-only", flag) === true);
  view.text = text("search") ?? "";
  const order = read("sort", sorting);
  if (order) {
    view.sort = /** @type {View["sort"]} */ (order[0]);
    // As in the API, ascending is the default of a column that is named without a direction.
    view.descending = order[1] === "desc";
  }
  view.selected = text("selected", codeLimit);
  const asOf = text("as-of");
  view.asOf = asOf && (momentOfWords(asOf, Date.now()) ?? asOf);
  const color = read("color", (given) => (colors.includes(given) ? given : null));
  view.color = /** @type {View["color"]} */ (color ?? defaultView.color);
  view.map = read("map", mapPosition);
  view.since = text("since");
  view.from = read("from", moment);
  view.to = read("to", moment);
  const last = read("last", period);
  const hasRange = view.from !== null || view.to !== null;
  if (hasRange && last !== null) ignored.push("last");
  view.period = hasRange ? "all" : last ?? (asks(view) ? "all" : defaultView.period);
  return { view, ignored };
}

/** @param {string} query @returns {Map<string, string>} */
function parametersOf(query) {
  const parameters = new Map();
  for (const [name, value] of new URLSearchParams(query)) {
    const key = name.replaceAll("_", "-");
    // As in the API, a list has commas, or the parameter is repeated.
    const before = lists.includes(key) ? parameters.get(key) : undefined;
    parameters.set(key, before === undefined ? value : `${before},${value}`);
  }
  return parameters;
}

/** @param {Readonly<View>} view @returns {boolean} whether it asks for others than the latest events */
function asks(view) {
  return questions.some((name) => JSON.stringify(view[name]) !== JSON.stringify(defaultView[name]));
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
  const usual = asks(view) ? "all" : defaultView.period;
  if (view.from === null && view.to === null) add("last", view.period === usual ? null : view.period);
  add("from", instant(view.from));
  add("to", instant(view.to));
  add("min-magnitude", view.minMagnitude);
  add("max-magnitude", view.maxMagnitude);
  add("min-depth", view.minDepth);
  add("max-depth", view.maxDepth);
  add("type", view.types.join(","));
  add("network", view.networks.join(","));
  add("bbox", view.box?.join(",") ?? null);
  add("within", circleText(view.within));
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

/** @param {string} text @returns {number|null} */
function finite(text) {
  if (text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/** @param {string} text @returns {boolean|null} as the API reads it */
function flag(text) {
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : null;
}

/** @param {string} text such as `magnitude:desc` @returns {string[]|null} a column and its direction */
function sorting(text) {
  const [column, direction = "asc", ...rest] = text.split(":");
  const isOrder = sorts.includes(column) && ["asc", "desc"].includes(direction) && rest.length === 0;
  return isOrder ? [column, direction] : null;
}

/** @param {string} text @returns {View["period"]|null} as the page offers it, where it does: 24h is 1d */
function period(text) {
  if (!(duration(text) > 0)) return null;
  return periods.find((one) => duration(one) === duration(text)) ?? text;
}

/** @param {string} text a time or words as the API reads them @returns {number|null} ms since 1970 */
function moment(text) {
  const words = momentOfWords(text, Date.now());
  if (words === null && !isDay(/^\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? "")) return null;
  return finite(String(timeOfPoint(words ?? text.replace(/^(\S+) (?=\d)/, "$1T"))));
}

/** @param {string} text @returns {boolean} false for February 30, which browsers read as a day of March */
function isDay(text) {
  const time = Date.parse(text);
  return !Number.isNaN(time) && instant(time) === text;
}

/** @param {number|null} ms @returns {string|null} as short as the API reads it */
export function instant(ms) {
  return ms === null ? null : new Date(ms).toISOString().replace(/(?:T00:00:00)?\.000Z$/, (end) =>
    (end.startsWith("T") ? "" : "Z"));
}

/** @param {string} text such as `300:35.7,139.7` @returns {View["within"]} */
function circle(text) {
  const numbers = text.split(/[:,]/).map(finite);
  if (!/^[^:,]+:[^:,]+,[^:,]+$/.test(text) || numbers.includes(null)) return null;
  const [km, latitude, longitude] = /** @type {number[]} */ (numbers);
  if (km < 0 || Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return null;
  return [km, latitude, longitude];
}

/** @param {View["within"]} within @returns {string|null} */
export function circleText(within) {
  return within && `${within[0]}:${within[1]},${within[2]}`;
}

/** @param {string} text @returns {View["box"]} */
function box(text) {
  const numbers = text.split(",").map(finite);
  if (numbers.length !== 4 || numbers.includes(null)) return null;
  const [west, south, east, north] = /** @type {number[]} */ (numbers);
  if (Math.abs(west) > 180 || Math.abs(east) > 180 || south < -90 || north > 90 || south > north) return null;
  return [west, south, east, north];
}

/** @param {string} text @returns {View["map"]} */
function mapPosition(text) {
  const [longitude, latitude, zoom] = text.split(",").map(finite);
  if (longitude == null || latitude == null || zoom == null) return null;
  if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90 || zoom < 0 || zoom > 20) return null;
  return { longitude, latitude, zoom };
}

/** Browsers refuse more than some hundred changes of the address in half a minute. */
const addressDelay = 300;

/**
 * What the person looks at. It begins with the address of the page and is written back to it.
 * Its event "change" has `detail.changed`, the set of the names that changed; "bounds" is among them when the
 * map shows another part of the earth. Its event "trail" has the revisions of the event whose detail is open.
 */
class ViewState extends EventTarget {
  #address = parseAddress(globalThis.location?.search ?? "");
  #view = this.#address.view;
  /** @type {Box|null} */
  #bounds = null;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;

  constructor() {
    super();
    globalThis.addEventListener?.("popstate", () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#address = parseAddress(location.search);
      this.#replace(this.#address.view);
    });
    globalThis.addEventListener?.("pagehide", () => this.#writeNow());
  }

  /** The parameters of the address that the page does not know, or whose values are not valid. */
  get ignored() {
    return this.#address.ignored;
  }

  /** @returns {Readonly<View>} */
  get() {
    return this.#view;
  }

  /**
   * Selecting an event makes an entry in the browser's history, so that "back" closes the detail. Closing it
   * keeps the entry, and the next event takes it if the view below is the same: events that were looked at
   * leave no row of equal entries.
   * @param {Partial<View>} partial
   */
  set(partial) {
    const opens = this.#view.selected === null && typeof partial.selected === "string";
    // "Back" leads to the view as it was just now.
    if (opens) this.#writeNow();
    const below = this.address();
    if (!this.#replace({ ...this.#view, ...partial })) return;
    if (opens && history.state !== below) {
      history.pushState(below, "", this.address());
    } else {
      this.#timer ??= setTimeout(() => this.#writeNow(), addressDelay);
    }
  }

  /** Selects all events; map, order and colour stay. */
  clearFilters() {
    const { from, to, minMagnitude, maxMagnitude, minDepth, maxDepth } = defaultView;
    const { types, networks, box, within, mapOnly, text } = defaultView;
    this.set({
      period: "all", from, to, minMagnitude, maxMagnitude, minDepth, maxDepth, types, networks, box, within,
      mapOnly, text,
    });
  }

  /** @returns {Box|null} the part of the earth that the map shows */
  bounds() {
    return this.#bounds;
  }

  /**
   * The map calls this when it has moved or changed its size.
   * @param {Box|null} bounds null: the whole earth
   */
  setBounds(bounds) {
    if (String(bounds) === String(this.#bounds)) return;
    this.#bounds = bounds;
    this.dispatchEvent(new CustomEvent("change", { detail: { changed: new Set(["bounds"]) } }));
  }

  /** @returns {string} the address of this view, relative to the page's path */
  address() {
    const query = formatView(this.#view);
    return location.pathname + (query ? `?${query}` : "") + location.hash;
  }

  #writeNow() {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    history.replaceState(history.state, "", this.address());
  }

  /** @param {View} view @returns {boolean} whether anything changed */
  #replace(view) {
    const names = /** @type {(keyof View)[]} */ (Object.keys(defaultView));
    const before = this.#view;
    const changed = new Set(names.filter((name) => !same(before[name], view[name])));
    if (changed.size === 0) return false;
    this.#view = view;
    this.dispatchEvent(new CustomEvent("change", { detail: { changed } }));
    return true;
  }
}

/** @param {unknown} a @param {unknown} b */
function same(a, b) {
  return a === b || (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
}

/** The view of this page. */
export const view = new ViewState();
