import { ApiError } from "../api/api-error.js";
import { reasonText } from "./reason.js";

/** @typedef {import("../types.js").Change} Change */

const tokenKey = "quake-edit-token";
const timeout = 60_000;

/** Requests to the server. Each rejects with an ApiError. */
export const api = {
  /** @param {string} code @returns {Promise<any>} the event as a GeoJSON feature with all columns */
  detail: (code) => get(`quakes/${encodeURIComponent(code)}`),

  /** @param {string} code @returns {Promise<{versions: Change[]}>} oldest first */
  versions: (code) => get(`quakes/${encodeURIComponent(code)}/versions`),

  /** @param {Parameters} [parameters] @returns {Promise<any>} */
  stats: (parameters) => get("stats", parameters),

  /** @param {Parameters} parameters @returns {Promise<{columns: string[], rows: any[][]}>} */
  table: (parameters) => get("table", parameters),

  /** @param {Parameters} [parameters] @returns {Promise<{changes: Change[], next: string|null}>} */
  history: (parameters) => get("history", parameters),

  /**
   * @param {string} from a token or a time
   * @param {string} [to] by default now
   * @returns {Promise<{from: string, to: string, differences: Change[]}>}
   */
  diff: (from, to) => get("diff", { from, to: to ?? null }),

  /** @returns {Promise<any>} */
  status: () => get("status"),

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
