/** The mean radius of the earth, in km. */
export const earthRadius = 6371.0088;
/** In radians. */
const degree = Math.PI / 180;

/** @typedef {{ longitude: number, latitude: number }} Position */

/**
 * Computed as the server does, operation by operation, so that both find the same events within a circle.
 * @param {Position} a
 * @param {Position} b
 * @returns {number} kilometres along the great circle
 */
export function distance(a, b) {
  const [latitude, toLatitude] = [whole(a.latitude), whole(b.latitude)];
  const north = Math.sin(((toLatitude - latitude) * degree) / 2);
  const east = Math.sin(((whole(b.longitude) - whole(a.longitude)) * degree) / 2);
  const share = north * north + Math.cos(latitude * degree) * Math.cos(toLatitude * degree) * east * east;
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(share)));
}

/** @param {number} degrees @returns {number} without the digits that a sum with 1 cannot hold */
function whole(degrees) {
  return degrees + 1 - 1;
}

const directions = /** @type {const} */ (["n", "ne", "e", "se", "s", "sw", "w", "nw"]);

/**
 * @param {Position} a
 * @param {Position} b
 * @returns {typeof directions[number]} in which of eight directions b lies from a
 */
export function direction(a, b) {
  const east = (b.longitude - a.longitude) * degree;
  const y = Math.sin(east) * Math.cos(b.latitude * degree);
  const x = Math.cos(a.latitude * degree) * Math.sin(b.latitude * degree)
    - Math.sin(a.latitude * degree) * Math.cos(b.latitude * degree) * Math.cos(east);
  return directions[Math.round((Math.atan2(y, x) / degree + 360) / 45) % 8];
}
