/** @typedef {import("../types.js").Quake} Quake */

/**
 * Web Mercator: the whole earth is the square from 0 to 1, west to east and north to south.
 * Equal Earth would show areas truly. But map tiles exist in this projection only; it keeps angles, so that a
 * fault looks right at each zoom; and its world repeats to the east and west without a seam.
 */

/** @typedef {Quake & {latitude: number, longitude: number}} Located an event that the map can show */

/** @param {Quake} quake @returns {quake is Located} whether its epicentre is known */
export function isLocated(quake) {
  return quake.latitude !== null && quake.longitude !== null;
}

/** Beyond this latitude the square ends. */
const maxLatitude = 85.0511287798066;

/** @param {number} longitude @returns {number} */
export function worldX(longitude) {
  return longitude / 360 + 0.5;
}

/** @param {number} latitude @returns {number} */
export function worldY(latitude) {
  const limited = Math.max(-maxLatitude, Math.min(maxLatitude, latitude));
  const sine = Math.sin(limited * Math.PI / 180);
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
}

/** @param {number} x any number of worlds to the east or west @returns {number} from -180 to below 180 */
export function longitudeOf(x) {
  return ((x % 1) + 1) % 1 * 360 - 180;
}

/** @param {number} y @returns {number} */
export function latitudeOf(y) {
  return Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180 / Math.PI;
}

/** @param {number} zoom @returns {number} pixels of the world's width; at zoom 0 it is one tile */
export function worldPixels(zoom) {
  return 256 * 2 ** zoom;
}
