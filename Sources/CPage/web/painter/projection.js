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

/**
 * The radius in CSS pixels: it grows by the same factor with each magnitude, as the energy does, so that M2
 * is a dot and M7 is visible from afar.
 * @param {number|null} magnitude
 * @param {number} zoom
 * @returns {number}
 */
export function radius(magnitude, zoom) {
  const near = Math.max(0.55, Math.min(1.7, 2 ** ((zoom - 2.4) * 0.35)));
  return Math.max(1.3, 1.25 * 1.43 ** Math.min(9.5, magnitude ?? 1) * near);
}

/** Sizes are drawn in steps of a fifth of a magnitude. */
export const sizes = 50;
/** The step of an event that is not drawn. */
export const hiddenStep = 255;

/** @param {number|null} magnitude @returns {number} the size's step, from 0 to below `sizes` */
export function sizeStep(magnitude) {
  return Math.max(0, Math.min(sizes - 1, Math.round((magnitude ?? 1) * 5)));
}

/** @param {number} step @returns {number} its magnitude */
export function stepMagnitude(step) {
  return step / 5;
}

/**
 * The colours of an element's theme.
 * @param {HTMLElement} element
 * @param {readonly string[]} names custom properties
 * @returns {string[]}
 */
export function colors(element, names) {
  const style = getComputedStyle(element);
  return names.map((name) => style.getPropertyValue(name).trim());
}

/** @param {number} zoom @returns {number} degrees between the lines of the graticule */
export function graticuleStep(zoom) {
  const wanted = 85 / worldPixels(zoom) * 360;
  return [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60].find((step) => step >= wanted) ?? 90;
}

/**
 * @param {number} left @param {number} top world coordinates
 * @param {number} width @param {number} height pixels
 * @param {number} scale
 */
export function graticulePath(left, top, width, height, scale) {
  const path = new Path2D();
  const step = graticuleStep(Math.log2(scale / 256));
  const first = Math.ceil((left - 0.5) * 360 / step);
  const end = (left + width / scale - 0.5) * 360 / step;
  for (let line = first; line <= end; line += 1) {
    const x = Math.round((worldX(line * step) - left) * scale) + 0.5;
    path.moveTo(x, 0);
    path.lineTo(x, height);
  }
  const south = latitudeOf(Math.min(1, top + height / scale));
  const north = latitudeOf(Math.max(0, top));
  for (let line = Math.ceil(south / step); line * step <= north; line += 1) {
    const y = Math.round((worldY(line * step) - top) * scale) + 0.5;
    path.moveTo(0, y);
    path.lineTo(width, y);
  }
  return path;
}
