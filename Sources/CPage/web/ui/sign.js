/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {"age"|"depth"|"magnitude"} Coloring */

const hour = 3_600_000;
const day = 24 * hour;

/** Where the classes of each coloring begin, after the first: magnitudes, km and ms. */
export const limits = Object.freeze({
  magnitude: [2, 3, 4, 5, 6],
  depth: [10, 35, 70, 150, 300],
  age: [hour, 6 * hour, day, 7 * day, 30 * day],
});

/** The number of classes of each coloring. */
export const classes = 6;
/** The class of what is not known. */
const unknownClass = classes;

/** The custom properties with the colours of the classes, then that of what is not known. */
export const properties = Object.freeze({
  magnitude: ["--m0", "--m1", "--m2", "--m3", "--m4", "--m5", "--m-none"],
  depth: ["--d0", "--d1", "--d2", "--d3", "--d4", "--d5", "--m-none"],
  age: ["--a0", "--a1", "--a2", "--a3", "--a4", "--a5", "--m-none"],
});

/**
 * @param {Quake} quake
 * @param {Coloring} coloring
 * @param {number} now ms since 1970, from which ages are counted
 * @returns {number} the class, or `unknownClass`
 */
export function classOf(quake, coloring, now) {
  const value = coloring === "age" ? now - quake.time : quake[coloring];
  if (value === null) return unknownClass;
  const edges = limits[coloring];
  let place = 0;
  while (place < edges.length && value >= edges[place]) place += 1;
  return place;
}

/**
 * @param {Quake} quake
 * @param {Coloring} coloring
 * @param {number} now
 * @returns {string} the colour of an event wherever it is shown, as a value of a style
 */
export function colorOf(quake, coloring, now) {
  return `var(${properties[coloring][classOf(quake, coloring, now)]})`;
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
