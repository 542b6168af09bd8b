import { duration } from "../state/view-address.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Box} Box */

/** @param {string} text @returns {string} in small letters and without accents: "pahala" finds Pāhala */
function folded(text) {
  const small = text.toLowerCase();
  return /[^ -~]/.test(small) ? small.normalize("NFD").replace(/\p{M}+/gu, "") : small;
}

/**
 * @param {Readonly<View>} view
 * @param {Box|null} bounds the part of the earth that the map shows
 * @param {number} now ms: the present, or the point that is looked back to
 * @returns {(quake: Quake) => boolean} whether the view includes an event; events without a value that is
 *   limited are not included
 */
export function filter(view, bounds, now) {
  const oldest = now - duration(view.period);
  const { minMagnitude, maxMagnitude, minDepth, maxDepth } = view;
  const types = view.types.length > 0 ? new Set(view.types) : null;
  const networks = view.networks.length > 0 ? new Set(view.networks) : null;
  const words = folded(view.text).split(/\s+/).filter(Boolean);
  const inBox = within(view.box);
  const inMap = within(view.mapOnly ? bounds : null);
  return (quake) => {
    if (quake.time < oldest) return false;
    if (minMagnitude !== null && !(quake.magnitude !== null && quake.magnitude >= minMagnitude)) return false;
    if (maxMagnitude !== null && !(quake.magnitude !== null && quake.magnitude <= maxMagnitude)) return false;
    if (minDepth !== null && !(quake.depth !== null && quake.depth >= minDepth)) return false;
    if (maxDepth !== null && !(quake.depth !== null && quake.depth <= maxDepth)) return false;
    if (types && !types.has(quake.type)) return false;
    if (networks && !networks.has(quake.network)) return false;
    if (inBox && !inBox(quake)) return false;
    if (inMap && !inMap(quake)) return false;
    if (words.length === 0) return true;
    const text = folded(`${quake.place} ${quake.code}`);
    return words.every((word) => text.includes(word));
  };
}

/** @param {Box|null} box @returns {((quake: Quake) => boolean)|null} */
function within(box) {
  if (!box) return null;
  const [west, south, east, north] = box;
  if (west <= east) {
    return ({ longitude, latitude }) => latitude !== null && longitude !== null &&
      latitude >= south && latitude <= north && longitude >= west && longitude <= east;
  }
  return ({ longitude, latitude }) => latitude !== null && longitude !== null &&
    latitude >= south && latitude <= north && (longitude >= west || longitude <= east);
}
