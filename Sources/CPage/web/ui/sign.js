import { store } from "../data/store.js";
import { format, has, t } from "../text/text.js";

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

/** @typedef {{ text: string, kind: string }} Badge */

/**
 * Whether an event was invented by the simulator. Its networks and ids begin with "sim", as no others do.
 * @param {{ net?: string | null, code: string, source?: string | null }} event
 * @returns {boolean}
 */
export function isSimulated({ net, code, source }) {
  return source === "simulated" || (/^sim/i.test(net ?? "") && /^sim/i.test(code));
}

/** A shape for each alert level, so that the colour is not all that tells them apart. */
const alertSigns = /** @type {Record<string, string>} */ ({ green: "●", yellow: "◆", orange: "▲", red: "■" });

/**
 * What is worth knowing of an event beside magnitude, place and time, the most urgent first.
 * @param {Quake} quake
 * @returns {Badge[]}
 */
export function badges(quake) {
  /** @type {Badge[]} */
  const list = [];
  if (isSimulated({ net: quake.network, code: quake.code })) {
    list.push({ text: t("badge.simulated"), kind: "simulated" });
  }
  if (quake.tsunami) list.push({ text: `≈ ${t("badge.tsunami")}`, kind: "tsunami" });
  const alert = quake.alert?.toLowerCase();
  if (alert && alert !== "green" && Object.hasOwn(alertSigns, alert)) list.push(alertBadge(alert));
  if (quake.felt) list.push({ text: t("badge.felt", { n: quake.felt }), kind: "felt" });
  if (quake.type && quake.type !== "earthquake") list.push({ text: typeName(quake.type), kind: "type" });
  if (alert === "green") list.push(alertBadge(alert));
  if (quake.status.toLowerCase() === "reviewed") {
    list.push({ text: `✓ ${t("badge.reviewed")}`, kind: "reviewed" });
  }
  return list;
}

/**
 * @param {string} alert
 * @returns {Badge}
 */
function alertBadge(alert) {
  const key = `alert.${alert}`;
  return { text: `${alertSigns[alert]} ${has(key) ? t(key) : alert}`, kind: `alert-${alert}` };
}

/**
 * @param {string} type such as "quarry blast"
 * @returns {string} in the language of the page where it has the word
 */
export function typeName(type) {
  const key = `type.${type}`;
  return has(key) ? t(key) : type;
}

/**
 * @param {string} status such as "reviewed"; some feeds write it in capitals
 * @returns {string}
 */
export function statusName(status) {
  const key = `status.${status.toLowerCase()}`;
  return has(key) ? t(key) : status.toLowerCase();
}

/**
 * The whole event in a sentence, for readers of the screen.
 * @param {Quake} quake
 * @returns {string}
 */
export function sentence(quake) {
  const magnitude = quake.magnitude === null ? t("magnitude.unknown") : t("magnitude.said", {
    m: format.magnitude(quake),
  });
  const rest = badges(quake).map(({ text }) => text.replace(/^[^\p{L}\p{N}]+/u, ""));
  const time = format.relative(quake.time, store.now());
  const depth = format.depth(quake.depth);
  return [magnitude, quake.place || t("place.unknown"), time, depth, ...rest].join(", ");
}
