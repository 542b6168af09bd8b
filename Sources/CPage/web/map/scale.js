import { magnitudeSteps } from "../ui/magnitude.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {"age"|"depth"|"magnitude"} Coloring */

const hour = 3_600_000;
const day = 24 * hour;

/** Where the classes of each coloring begin, after the first: magnitudes, km and ms. */
export const limits = Object.freeze({
  magnitude: magnitudeSteps,
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
 * The colours of an element's theme.
 * @param {HTMLElement} element
 * @param {readonly string[]} names custom properties
 * @returns {string[]}
 */
export function colors(element, names) {
  const style = getComputedStyle(element);
  return names.map((name) => style.getPropertyValue(name).trim());
}
