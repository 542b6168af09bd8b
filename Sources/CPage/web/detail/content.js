import { quakeOfRow, rowOfRecord } from "../api/answers.js";
import { store } from "../data/store.js";
import { canEdit } from "../list/selection.js";
import { view } from "../state/view.js";
import { format, t, undirected } from "../text/text.js";
import { button, h, icon } from "../ui/dom.js";
import { badges, colorOf, isSimulated, magnitudeSize, statusName, typeName } from "../ui/sign.js";
import { agency } from "./agency.js";
import { author, columnName, splitIDs, timeline } from "./timeline.js";

/** @typedef {import("../types.js").EventRecord} EventRecord */
/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../types.js").Quake} Quake */

/**
 * @param {EventRecord} event
 * @returns {HTMLElement | null}
 */
function links(event) {
  const page = agency(event);
  if (!page) return null;
  return h(
    "a", {
      class: "button outlined", href: page.address, target: "_blank", rel: "noopener noreferrer external",
    },
    t("detail.agency", { name: page.name }), icon("external"),
    h("span", { class: "visually-hidden", text: t("detail.newTab") }),
  );
}

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
function fields(event) {
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
function ids(event, versions) {
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

/**
 * What the store knows, where the rest cannot be read.
 * @param {string} code
 * @param {Quake | undefined} quake
 * @returns {HTMLElement}
 */
export function known(code, quake) {
  return h("div", { class: "detail-content" }, quake ? head(quake) : h("h2", { text: code }));
}

/**
 * What the store knows, until the rest has come.
 * @param {string} code
 * @param {Quake | undefined} quake
 * @returns {HTMLElement}
 */
export function preview(code, quake) {
  return h(
    "div", { class: "detail-content" }, quake ? head(quake) : h("h2", { text: code }),
    h("div", { class: "skeletons", "aria-hidden": "true" }, h("i", {}), h("i", {}), h("i", {}), h("i", {})),
    h("p", { class: "visually-hidden", role: "status", text: t("detail.loading") }),
  );
}

/**
 * @param {string} code
 * @param {Change[]} versions
 * @param {import("./timeline.js").RecordAt | null} record
 * @returns {HTMLElement}
 */
export function content(code, versions, record) {
  const box = h("div", { class: "detail-content" });
  if (!record) {
    box.append(h("h2", { text: code }), h("p", { text: t("detail.notYet") }));
    return box;
  }
  const { event, index, deletion } = record;
  const notice = absence(event, deletion);
  if (notice) box.append(notice);
  if (isSimulated(event)) box.append(note(t("detail.simulated")));
  box.append(head(quakeOfRow(rowOfRecord(event))), actions(event, deletion), timeline(versions, index));
  box.append(fields(event), ids(event, versions));
  return box;
}

/**
 * Magnitude, place and time, and what else is urgent.
 * @param {Quake} quake
 */
function head(quake) {
  const sign = h("i", { class: "dot" });
  const size = `${Math.round(magnitudeSize(quake.magnitude) * 1.4)}px`;
  sign.style.width = size;
  sign.style.height = size;
  sign.style.backgroundColor = colorOf(quake, view.get().color, store.now());
  return h(
    "header", { class: "detail-head" },
    h(
      "p", { class: "detail-magnitude" }, sign, h("b", { text: format.magnitude(quake) }),
      h("span", { class: "quiet", text: quake.magnitude === null ? "" : quake.magnitudeType ?? "" }),
    ),
    h("h2", { dir: "auto", text: undirected(quake.place) || t("place.unknown") }),
    h("p", {}, h("time", { datetime: new Date(quake.time).toISOString(), text: format.utcTime(quake.time) })),
    h("p", { class: "quiet" }, localTime(quake.time), format.relative(quake.time, store.now())),
    h("p", {}, format.position(quake.latitude, quake.longitude), " · ", format.exactDepth(quake.depth)),
    h("p", { class: "detail-badges" }, ...badges(quake).map(({ text, kind }) => h("span", {
      class: `badge ${kind}`, text,
    }))),
  );
}

/** @param {number} ms @returns {string} nothing where the local time is UTC */
function localTime(ms) {
  const local = format.localTime(ms);
  return local === format.utcTime(ms) ? "" : `${t("time.local", { time: local })} · `;
}

/**
 * Why the event is not in the list.
 * @param {EventRecord} event
 * @param {Change | null} deletion
 */
function absence(event, deletion) {
  if (deletion) {
    const at = Date.parse(deletion.transaction?.at ?? "");
    return note(t("detail.deleted", { time: format.time(at), author: author(deletion) }));
  }
  if (event.superseded_by) {
    const by = String(event.superseded_by);
    const box = note(t("detail.superseded", { code: by }));
    box.append(button(
      { text: t("detail.goTo", { code: by }), kind: "outlined", action: () => view.set({ selected: by }) },
    ));
    return box;
  }
  if (event.withdrawn_at) {
    return note(t("detail.withdrawn", { time: format.time(Date.parse(event.withdrawn_at)) }));
  }
  return null;
}

/** @param {string} text */
const note = (text) => h("div", { class: "note", role: "note" }, h("p", { text }));

/**
 * The module of the edits is there already: the page offers edits only with it.
 * @param {(edits: typeof import("../header/edits.js")) => Promise<unknown>} action
 */
const edit = (action) => async () => action(await import("../header/edits.js"));

/**
 * @param {EventRecord} event
 * @param {Change | null} deletion
 */
function actions(event, deletion) {
  const box = h("div", { class: "detail-actions" });
  const link = links(event);
  if (link) box.append(link);
  const { code } = event;
  if (!canEdit() || view.get().asOf !== null) return box;
  const repair = edit(({ restore }) => restore([code]));
  const approve = edit(({ validate }) => validate([code]));
  const erase = edit(({ remove }) => remove([code]));
  if (deletion) {
    box.append(button({ icon: "undo", text: t("restore"), kind: "primary", action: repair }));
    return box;
  }
  if (!event.validated) {
    box.append(button({ icon: "check", text: t("validate"), kind: "outlined", action: approve }));
  }
  box.append(button({ icon: "trash", text: t("delete"), kind: "outlined", action: erase }));
  return box;
}
