import { store } from "../data/store.js";
import { format, has, t } from "../text/text.js";

/** @typedef {import("../types.js").Quake} Quake */

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
