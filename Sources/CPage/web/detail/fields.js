import { format, t } from "../text/text.js";
import { statusName, typeName } from "../ui/badges.js";
import { h } from "../ui/dom.js";
import { columnName, splitIDs } from "./words.js";

/** @typedef {import("../types.js").EventRecord} EventRecord */
/** @typedef {import("../types.js").Change} Change */

/** @param {string} text of a time */
const time = (text) => format.time(Date.parse(text));
/** @param {number} degrees */
const angle = (degrees) => `${format.number(degrees)}°`;

/**
 * How the values of columns are written; the others as they are.
 * @type {Record<string, (value: any) => string>}
 */
const writers = {
  magnitude: (magnitude) => format.preciseMagnitude(magnitude),
  depth: (km) => format.exactDepth(km),
  time, updated: time, as_of: time, withdrawn_at: time, first_stored: time,
  longitude: angle, latitude: angle, gap: angle, dmin: angle,
  rms: (seconds) => `${format.number(seconds)} s`,
  type: typeName,
  status: statusName,
  tsunami: (tsunami) => t(tsunami ? "yes" : "no"),
  validated: (validated) => t(validated ? "yes" : "no"),
  felt: (n) => format.number(n),
  sig: (n) => format.number(n),
  nst: (n) => format.number(n),
  cdi: (n) => format.number(n),
  mmi: (n) => format.number(n),
  ids: (ids) => splitIDs(ids).join(", "),
  sources: (ids) => splitIDs(ids).join(", "),
  types: (ids) => splitIDs(ids).join(", "),
};

/** The columns by subject. What is in none of them is at the end. */
const groups = /** @type {const} */ ([
  ["origin", ["time", "latitude", "longitude", "depth", "place", "type", "status"]],
  ["size", ["magnitude", "magnitude_type", "sig", "alert", "tsunami", "felt", "cdi", "mmi"]],
  ["quality", ["nst", "gap", "dmin", "rms"]],
  ["record", ["code", "net", "net_code", "source", "sources", "ids", "types", "updated", "as_of",
    "first_stored", "validated", "withdrawn_at", "superseded_by", "title", "url", "detail"]],
]);

/**
 * All columns of an event.
 * @param {EventRecord} event
 * @returns {HTMLElement}
 */
export function fields(event) {
  const known = new Set(/** @type {string[]} */ (groups.flatMap(([, columns]) => columns)));
  const others = Object.keys(event).filter((column) => !known.has(column));
  return h(
    "section", { class: "part" }, h("h3", { text: t("fields.title") }),
    ...groups.map(([group, columns]) => h(
      "div", { class: "fields" }, h("h4", { text: t(`fields.${group}`) }),
      h("dl", {}, .../** @type {string[]} */ ([...columns, ...(group === "record" ? others : [])])
        .flatMap((column) => pair(column, event[column]))),
    )),
  );
}

/**
 * @param {string} column
 * @param {unknown} value
 */
function pair(column, value) {
  const unknown = value === null || value === undefined || value === "";
  const text = unknown ? t("unknown.short") : writers[column]?.(value) ?? String(value);
  return [h("dt", { text: columnName(column) }), h("dd", { class: unknown ? "quiet" : null, text })];
}

/**
 * The ids of the event: since when each was known, and whether it still is.
 * @param {EventRecord} event
 * @param {Change[]} versions
 * @returns {HTMLElement}
 */
export function ids(event, versions) {
  /** @type {Map<string, { from: number, to: number | null }>} */
  const spans = new Map();
  for (const version of versions) {
    const at = Date.parse(version.transaction?.at ?? "");
    const now = new Set(version.new ? [version.new.code, ...splitIDs(version.new.ids)] : []);
    for (const id of now) if (!spans.has(id)) spans.set(id, { from: at, to: null });
    for (const [id, span] of spans) {
      if (now.has(id)) span.to = null;
      else span.to ??= at;
    }
  }
  return h(
    "section", { class: "part" }, h("h3", { text: t("ids.title") }),
    h("ul", { class: "ids" }, ...[...spans].map(([id, { from, to }]) => h(
      "li", {}, h("code", { text: id }),
      h("span", { class: "quiet small", text: [
        id === event.code && t("ids.preferred"), t("ids.since", { time: format.time(from) }),
        to !== null && t("ids.until", { time: format.time(to) }),
      ].filter(Boolean).join(", ") }),
    ))),
  );
}
