import { isEarthquake } from "../data/totals.js";
import { classOf } from "../ui/sign.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../ui/sign.js").Coloring} Coloring */

/** Events that are read at once: less than half a frame on a slow machine. */
const slice = 5000;

/**
 * The values of events that the charts need, as arrays.
 * @typedef {object} Sample
 * @property {Quake[]} quakes
 * @property {Float64Array} times
 * @property {Float32Array} magnitudes not a number where it is unknown
 * @property {Uint8Array} classes colours
 * @property {Uint8Array} counted 1 for what a rate counts: earthquakes, or the types that the view names
 * @property {number} known number of events with a known magnitude
 * @property {number} least magnitude
 * @property {number} strongest place of the event with the greatest magnitude, -1 without one
 * @property {number} first origin time
 * @property {number} last origin time
 */

/**
 * Reads the events in slices, so that frames are shown in between.
 * @param {readonly Quake[]} list
 * @param {Coloring} coloring
 * @param {number} now
 * @param {boolean} everyType whether a rate counts all events
 * @returns {Promise<Sample>}
 */
export async function sampleOf(list, coloring, now, everyType) {
  // The list goes on changing while it is being read.
  const quakes = list.slice();
  const times = new Float64Array(quakes.length);
  const magnitudes = new Float32Array(quakes.length);
  const classes = new Uint8Array(quakes.length);
  const counted = new Uint8Array(quakes.length);
  const sample = {
    quakes, times, magnitudes, classes, counted, known: 0, least: Infinity, strongest: -1,
    first: quakes.length > 0 ? Infinity : now, last: quakes.length > 0 ? -Infinity : now,
  };
  for (let i = 0; i < quakes.length; i += 1) {
    if (i > 0 && i % slice === 0) await new Promise((resolve) => setTimeout(resolve));
    const quake = quakes[i];
    times[i] = quake.time;
    magnitudes[i] = quake.magnitude ?? NaN;
    counted[i] = everyType || isEarthquake(quake.type) ? 1 : 0;
    classes[i] = classOf(quake, coloring, now);
    sample.first = Math.min(sample.first, quake.time);
    sample.last = Math.max(sample.last, quake.time);
    if (quake.magnitude === null) continue;
    sample.known += 1;
    sample.least = Math.min(sample.least, magnitudes[i]);
    if (sample.strongest < 0 || magnitudes[i] > magnitudes[sample.strongest]) sample.strongest = i;
  }
  return sample;
}
