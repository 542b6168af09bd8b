/**
 * The first rows of the list, asked for before anything else of the page runs: on a slow line the list can be
 * read while the rest is still on its way. `index.html` names this module first.
 */

/** As many as fill any screen. */
const count = 200;

/**
 * The parameters of the page's address that the table knows by the same names, and which of their values it
 * takes. The others the page leaves out, too.
 * @type {Record<string, (value: string) => boolean>}
 */
const filters = {
  last(value) {
    return /^\d{1,6}(\.\d{1,4})?(ms|s|m|h|d)?$/.test(value) && Number.parseFloat(value) > 0;
  },
  "min-magnitude": isNumber, "max-magnitude": isNumber, "min-depth": isNumber, "max-depth": isNumber,
  type: (value) => value !== "", network: (value) => value !== "",
  bbox(value) {
    const degrees = value.split(",").map((text) => (isNumber(text) ? +text : NaN));
    const [west, south, east, north] = degrees;
    return degrees.length === 4 && Math.abs(west) <= 180 && Math.abs(east) <= 180
      && south >= -90 && north <= 90 && south <= north;
  },
  within: (value) => /^\d+(\.\d+)?:-?\d{1,2}(\.\d+)?,-?\d{1,3}(\.\d+)?$/.test(value),
};

/** Other parameters of a question. An address without any has the usual period, as in `view.js`. */
const others = ["search", "sort", "map-only"];
const usualPeriod = "7d";

/** @param {string} text */
function isNumber(text) {
  return /^[-+]?(\d+\.?|\d*\.\d)\d*$/.test(text.trim());
}

/**
 * @typedef {object} FirstRows
 * @property {string} token
 * @property {number} time when the newest transaction was committed, in ms
 * @property {string[]} columns
 * @property {any[][]} rows
 */

/** @returns {Promise<FirstRows|null>} null if there are none; the worker then reports why */
async function read() {
  const address = new URLSearchParams(location.search);
  // The worker reads the events of then, and those of a range of times.
  if (["as-of", "as_of", "from", "to"].some((name) => address.has(name))) return null;
  let query = `limit=${count}`;
  /** @type {Record<string, string>} */
  const used = {};
  for (const [name, isTaken] of Object.entries(filters)) {
    const value = address.getAll(name).join(",").trim();
    if (!isTaken(value)) continue;
    used[name] = value;
    query += `&${name}=${encodeURIComponent(value)}`;
  }
  const asks = Object.keys(used).length > 0 || others.some((name) => address.has(name));
  if (!asks && address.get("last") !== "all") query += `&last=${usualPeriod}`;
  // Nothing is between limits that are crossed.
  if (+used["min-magnitude"] > +used["max-magnitude"] || +used["min-depth"] > +used["max-depth"]) return null;
  try {
    const response = await fetch(`/v1/table?${query}`, { headers: { Accept: "*/*" } });
    if (!response.ok) return null;
    const table = await response.json();
    return Array.isArray(table.rows) && typeof table.token === "string" ? table : null;
  } catch {
    return null;
  }
}

// A script of which a file does not arrive does nothing, and no other part of the page tells that.
addEventListener("error", ({ target }) => {
  if (target instanceof HTMLScriptElement) document.getElementById("unloaded")?.removeAttribute("hidden");
}, true);

/** The first rows, which are on their way as soon as this module is loaded. */
export const firstRows = read();
