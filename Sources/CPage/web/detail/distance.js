/** The mean radius of the earth, in km. */
const radius = 6371.0088;
/** In radians. */
const degree = Math.PI / 180;

/** @typedef {{ longitude: number, latitude: number }} Position */

/**
 * @param {Position} a
 * @param {Position} b
 * @returns {number} kilometres along the great circle
 */
export function distance(a, b) {
  const north = Math.sin(((b.latitude - a.latitude) * degree) / 2);
  const east = Math.sin(((b.longitude - a.longitude) * degree) / 2);
  const share = north ** 2 + Math.cos(a.latitude * degree) * Math.cos(b.latitude * degree) * east ** 2;
  return 2 * radius * Math.asin(Math.min(1, Math.sqrt(share)));
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
