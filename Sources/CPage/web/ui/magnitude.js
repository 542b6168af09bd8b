/** The lowest magnitude of each colour from `--m1` on; what is weaker has `--m0`. */
export const magnitudeSteps = Object.freeze([2, 3, 4, 5, 6]);

/**
 * @param {number | null} magnitude
 * @returns {string} the name of the colour in style/tokens.css, without the dashes
 */
export function magnitudeColor(magnitude) {
  if (magnitude === null) return "m-none";
  let step = 0;
  while (step < magnitudeSteps.length && magnitude >= magnitudeSteps[step]) step += 1;
  return `m${step}`;
}

/**
 * The diameter of the sign of a magnitude: one step of magnitude is about a third more.
 * @param {number | null} magnitude
 * @returns {number} in CSS pixels
 */
export function magnitudeSize(magnitude) {
  if (magnitude === null) return 6;
  return Math.min(30, Math.max(6, 4 * 1.29 ** magnitude));
}
