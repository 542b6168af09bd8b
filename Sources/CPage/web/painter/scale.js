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
