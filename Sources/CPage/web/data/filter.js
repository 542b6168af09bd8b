import { duration } from "../state/view-address.js";
import { distance } from "./distance.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Box} Box */
/** @typedef {import("../types.js").Circle} Circle */

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
  const oldest = Math.max(view.from ?? -Infinity, now - duration(view.period));
  const end = view.to ?? Infinity;
  const { minMagnitude, maxMagnitude, minDepth, maxDepth } = view;
  const types = view.types.length > 0 ? new Set(view.types) : null;
  const networks = view.networks.length > 0 ? new Set(view.networks) : null;
  const words = folded(view.text).split(/\s+/).filter(Boolean);
  const areas = [isIn(view.box), isIn(view.mapOnly ? bounds : null), isNear(view.within)]
    .flatMap((area) => area ?? []);
  return (quake) => {
    if (quake.time < oldest || quake.time >= end) return false;
    if (minMagnitude !== null && !(quake.magnitude !== null && quake.magnitude >= minMagnitude)) return false;
    if (maxMagnitude !== null && !(quake.magnitude !== null && quake.magnitude <= maxMagnitude)) return false;
    if (minDepth !== null && !(quake.depth !== null && quake.depth >= minDepth)) return false;
    if (maxDepth !== null && !(quake.depth !== null && quake.depth <= maxDepth)) return false;
    if (types && !types.has(quake.type)) return false;
    if (networks && !networks.has(quake.network)) return false;
    for (const area of areas) if (!area(quake)) return false;
    if (words.length === 0) return true;
    const text = folded(`${quake.place} ${quake.code}`);
    return words.every((word) => text.includes(word));
  };
}

/** @param {Box|null} box @returns {((quake: Quake) => boolean)|null} */
function isIn(box) {
  if (!box) return null;
  const [west, south, east, north] = box;
  if (west <= east) {
    return ({ longitude, latitude }) => latitude !== null && longitude !== null &&
      latitude >= south && latitude <= north && longitude >= west && longitude <= east;
  }
  return ({ longitude, latitude }) => latitude !== null && longitude !== null &&
    latitude >= south && latitude <= north && (longitude >= west || longitude <= east);
}

/** @param {Circle|null} circle @returns {((quake: Quake) => boolean)|null} */
function isNear(circle) {
  if (!circle) return null;
  const [km, latitude, longitude] = circle;
  const centre = { latitude, longitude };
  return (quake) => quake.latitude !== null && quake.longitude !== null &&
    distance(centre, { latitude: quake.latitude, longitude: quake.longitude }) <= km;
}
