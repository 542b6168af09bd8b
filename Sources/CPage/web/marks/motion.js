/** @typedef {import("./camera.js").Place} Place */

/** @typedef {{from: Place, to: Place, start: number, duration: number}} Flight */
/** @typedef {{vx: number, vy: number, last: number}} Glide pixels in a millisecond */

/** A glide loses two thirds of its speed in this time, in ms. */
const slowing = 220;
const slowest = 0.02;
/** After a pause of the page the map must not jump. */
const longestStep = 64;

/**
 * @param {Flight} flight
 * @param {number} now
 * @returns {Place & {done: boolean}} where it is
 */
export function flightAt({ from, to, start, duration }, now) {
  const passed = Math.max(0, Math.min(1, (now - start) / duration));
  const eased = 1 - (1 - passed) ** 3;
  const zoom = from.zoom + (to.zoom - from.zoom) * eased;
  // In a zoom the middle moves with the scale, so that the point that it is about stays where it is.
  const scale = 2 ** (to.zoom - from.zoom);
  const part = Math.abs(scale - 1) < 1e-6 ? eased : (1 - 2 ** (from.zoom - zoom)) / (1 - 1 / scale);
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part, zoom, done: passed === 1 };
}

/**
 * Slows a glide down.
 * @param {Glide} glide is changed
 * @param {number} now
 * @returns {{dx: number, dy: number, done: boolean}} pixels since the last time
 */
export function glideOn(glide, now) {
  const passed = Math.max(0, Math.min(longestStep, now - glide.last));
  const [dx, dy] = [glide.vx * passed, glide.vy * passed];
  const slower = Math.exp(-passed / slowing);
  glide.vx *= slower;
  glide.vy *= slower;
  glide.last = now;
  return { dx, dy, done: Math.hypot(glide.vx, glide.vy) < slowest };
}
