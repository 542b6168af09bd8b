import { direction, distance } from "../data/distance.js";
import { format, has, t } from "../text/text.js";
import { statusName, typeName } from "../ui/badges.js";

/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../types.js").EventRecord} EventRecord */

/** Columns whose change says nothing by itself. */
const silent = new Set(["updated", "as_of", "title", "first_stored", "code", "net", "net_code"]);

/** Columns whose change is a revision of the earthquake. A change of others alone is bookkeeping. */
const substance = new Set([
  "magnitude", "magnitude_type", "depth", "longitude", "latitude", "place", "time", "status", "type", "alert",
  "tsunami", "validated", "withdrawn_at", "superseded_by",
]);

/**
 * @param {Change} version
 * @returns {boolean} whether it changes what is said of the earthquake
 */
export function isRevision({ op, old, new: now, changed }) {
  return op !== "update" || !old || !now || changed.some((column) => substance.has(column));
}

/** @param {EventRecord} event */
const magnitude = ({ magnitude: value, magnitude_type: type }) =>
  (value === null ? t("unknown.short") : `${format.preciseMagnitude(value)} ${type ?? ""}`.trim());

/** @param {unknown} value */
const plain = (value) => (
  value === null || value === undefined || value === "" ? t("unknown.short") : String(value)
);

/**
 * @param {string} ids as the feeds list them: between commas
 * @returns {string[]}
 */
export const splitIDs = (ids) => (ids ?? "").split(",").filter(Boolean);

/**
 * The columns that have a sentence of their own. A sentence may speak for several columns.
 * @type {[string[], (before: EventRecord, after: EventRecord) => string | null][]}
 */
const sentences = [
  [["magnitude", "magnitude_type"], (a, b) => t("word.magnitude", { from: magnitude(a), to: magnitude(b) })],
  [["depth"], ({ depth: from }, { depth: to }) =>
    t("word.depth", { from: format.exactDepth(from), to: format.exactDepth(to) })],
  [["longitude", "latitude"], (a, b) => {
    const from = { longitude: a.longitude, latitude: a.latitude };
    const to = { longitude: b.longitude, latitude: b.latitude };
    if (Object.values({ ...from, ...to }).includes(null)) return t("word.position");
    return t("word.moved", {
      km: format.number(distance(from, to), 1), direction: t(`direction.${direction(from, to)}`),
    });
  }],
  [["place"], (_, b) => t("word.place", { to: plain(b.place) })],
  [["time"], (a, b) => {
    const seconds = (Date.parse(b.time) - Date.parse(a.time)) / 1000;
    const by = format.number(Math.abs(seconds), Math.abs(seconds) < 10 ? 2 : 0);
    return t(seconds < 0 ? "word.earlier" : "word.later", { seconds: by });
  }],
  [["status"], (_, b) => t("word.status", { to: statusName(plain(b.status)) })],
  [["type"], (_, b) => t("word.type", { to: typeName(plain(b.type)) })],
  [["alert"], (a, b) => t("word.alert", { from: level(a.alert), to: level(b.alert) })],
  [["tsunami"], (_, b) => t(b.tsunami ? "word.tsunami" : "word.tsunami.none")],
  [["felt"], (_, b) => t("word.felt", { n: b.felt ?? 0 })],
  [["validated"], (_, b) => t(b.validated ? "word.validated" : "word.unvalidated")],
  [["withdrawn_at"], (_, b) => t(b.withdrawn_at ? "word.withdrawn" : "word.returned")],
  [["superseded_by"], (_, b) => (
    b.superseded_by ? t("word.superseded", { code: b.superseded_by }) : t("word.alone")
  )],
  [["ids"], (a, b) => {
    const before = splitIDs(a.ids);
    const after = splitIDs(b.ids);
    const more = after.filter((id) => !before.includes(id));
    const less = before.filter((id) => !after.includes(id));
    return [more.length > 0 && t("word.ids.more", { ids: more.join(", ") }),
      less.length > 0 && t("word.ids.less", { ids: less.join(", ") })].filter(Boolean).join("; ") || null;
  }],
];

/** @param {string | null} alert */
function level(alert) {
  const key = `alert.${alert}`;
  return has(key) ? t(key) : plain(alert);
}

/**
 * What a revision changed, in words.
 * @param {Change} version
 * @param {boolean} first whether nothing was known of the event before
 * @returns {string[]}
 */
export function words(version, first) {
  const { op, old, new: now } = version;
  if (op === "delete" || op === "truncate" || !now) return [t("word.deleted")];
  if (op === "insert" || !old) {
    const values = { magnitude: magnitude(now), depth: format.exactDepth(now.depth) };
    return [t(first ? "word.first" : "word.restored", values)];
  }
  const rest = new Set(version.changed.filter((column) => !silent.has(column)));
  const list = [];
  for (const [columns, sentence] of sentences) {
    if (!columns.some((column) => rest.has(column))) continue;
    for (const column of columns) rest.delete(column);
    const text = sentence(old, now);
    if (text) list.push(text);
  }
  if (rest.size > 0) list.push(t("word.also", { names: [...rest].map(columnName).join(", ") }));
  return list.length > 0 ? list : [t("word.confirmed")];
}

/** @param {string} column @returns {string} */
export function columnName(column) {
  const key = `field.${column}`;
  return has(key) ? t(key) : column;
}

/**
 * Who made a change: a person or program by name, and what it was doing.
 * @param {Change} version
 * @returns {string}
 */
export function author({ transaction }) {
  const name = transaction?.author || transaction?.application || t("author.unknown");
  const context = transaction?.context ?? "";
  // The context of an edit over HTTP is its request; the revision says in words what it did.
  return context === "" || /^[A-Z]+ \//.test(context) ? name : `${name} · ${context}`;
}
