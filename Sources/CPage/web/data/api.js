import { ApiError } from "../api/answers.js";
import { circleText, duration, instant } from "../state/view.js";
import { has, t } from "../text/text.js";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Box} Box */
/** @typedef {import("../types.js").Change} Change */

/**
 * @param {string} reason why something failed: in the words of the server or of the browser, or one of ours,
 *   which the worker names by the end of its key
 * @returns {string} as a person is told
 */
export function reasonText(reason) {
  const key = `data.reason.${reason}`;
  return has(key) ? t(key) : reason;
}

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

const tokenKey = "quake-edit-token";
const timeout = 60_000;

/** Requests to the server. Each rejects with an ApiError. */
export const api = {
  /** @param {string} code @returns {Promise<{versions: Change[]}>} oldest first */
  versions: (code) => get(`quakes/${encodeURIComponent(code)}/versions`),

  /** @param {Parameters} [parameters] @returns {Promise<any>} */
  stats: (parameters) => get("stats", parameters),

  /** @param {Parameters} parameters @returns {Promise<{columns: string[], rows: any[][]}>} */
  table: (parameters) => get("table", parameters),

  /** @param {Parameters} [parameters] @returns {Promise<{changes: Change[], next: string|null}>} */
  history: (parameters) => get("history", parameters),

  /**
   * Makes the workers poll their feeds now.
   * @returns {Promise<any>}
   */
  refresh: () => request("POST", "refresh", {}),

  /** @param {string} code @returns {Promise<any>} */
  remove: (code) => request("DELETE", `quakes/${encodeURIComponent(code)}`, {}),

  /** @param {string} code @returns {Promise<any>} */
  restore: (code) => request("POST", `quakes/${encodeURIComponent(code)}/restore`, {}),

  /** @param {Parameters} filter @returns {Promise<any>} */
  validate: (filter) => request("POST", "validate", filter),

  /**
   * Rejects if the server does not take a token: asks for the effects of an edit of no event.
   * @param {string} token
   */
  check: (token) => send("POST", "/v1/validate?code=-&dry-run=true", token),

  /** @param {string|number} edit the number of an edit @returns {Promise<any>} */
  undo: (edit) => request("POST", `edits/${encodeURIComponent(edit)}/restore`, {}),

  /**
   * How the server was started.
   * @returns {Promise<PageSettings>}
   */
  async settings() {
    return (await send("GET", "/page/settings")).json();
  },

  /** @returns {string|null} the token for edits */
  token() {
    try {
      return sessionStorage.getItem(tokenKey);
    } catch {
      return heldToken;
    }
  },

  /** @param {string|null} token kept in this tab until it is closed; null forgets it */
  setToken(token) {
    heldToken = token;
    try {
      if (token) sessionStorage.setItem(tokenKey, token);
      else sessionStorage.removeItem(tokenKey);
    } catch {
      // A browser that stores nothing keeps the token until the page is left.
    }
  },
};

/**
 * @typedef {object} PageSettings
 * @property {boolean} readOnly
 * @property {boolean} edits
 * @property {string|null} tiles
 * @property {string} version
 * @property {string} [assets] the folder of the server's page
 */

/**
 * Null and undefined are left out.
 * @typedef {Record<string, string|number|boolean|null|undefined>} Parameters
 */

/** @type {string|null} */
let heldToken = null;

/** @param {string} path @param {Parameters} [parameters] */
async function get(path, parameters) {
  return request("GET", path, parameters ?? {});
}

/** @param {string} method @param {string} path @param {Parameters} parameters */
async function request(method, path, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  const response = await send(method, `/v1/${path}${text ? `?${text}` : ""}`);
  return response.json();
}

/** @param {string} text @returns {string} its bytes in UTF-8 as characters: a header holds no others */
function byteText(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/**
 * @param {string} method
 * @param {string} address
 * @param {string|null} [token]
 * @returns {Promise<Response>}
 */
async function send(method, address, token = api.token()) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (method !== "GET" && token) headers.Authorization = `Bearer ${byteText(token)}`;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new ApiError(0, reasonText("timeout"), "")), timeout);
  let response;
  try {
    response = await fetch(address, { method, headers, signal: abort.signal });
  } catch (error) {
    throw ApiError.from(error);
  } finally {
    clearTimeout(timer);
  }
  if (!response.ok) throw await ApiError.of(response);
  return response;
}

/** Between attempts, in ms. */
const shortest = 1_000;
const longest = 30_000;

/** @returns {Promise<PageSettings>} */
async function askServer() {
  for (let wait = shortest; ; wait = Math.min(longest, 2 * wait)) {
    try {
      return await api.settings();
    } catch (error) {
      console.warn("/page/settings", error);
      const { status } = /** @type {import("../api/answers.js").ApiError} */ (error);
      // A proxy that does not serve it will not do so later.
      if (status === 404) return { readOnly: true, edits: false, tiles: null, version: "" };
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** @type {Promise<PageSettings>|undefined} */
let answer;

/**
 * Asks until the server answers. The page only reads meanwhile.
 * @returns {Promise<PageSettings>} what the server allows
 */
export function server() {
  return (answer ??= askServer());
}
