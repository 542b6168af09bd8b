import { quakeOfRow, rowOfRecord } from "../api/rows.js";
import { store } from "../data/store.js";
import { remove, restore, validate } from "../header/edits.js";
import { canEdit } from "../header/token.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { badges, isSimulated } from "../ui/badges.js";
import { button } from "../ui/button.js";
import { h } from "../ui/dom.js";
import { colorOf, magnitudeSize } from "../ui/sign.js";
import { fields, ids } from "./fields.js";
import { links } from "./links.js";
import { timeline } from "./timeline.js";
import { author } from "./words.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../types.js").EventRecord} EventRecord */

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
 * @param {import("./record.js").RecordAt | null} record
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
    h("h2", { dir: "auto", text: quake.place || t("place.unknown") }),
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
 * @param {EventRecord} event
 * @param {Change | null} deletion
 */
function actions(event, deletion) {
  const box = h("div", { class: "detail-actions" });
  const link = links(event);
  if (link) box.append(link);
  const { code } = event;
  if (!canEdit() || view.get().asOf !== null) return box;
  if (deletion) {
    box.append(
      button({ icon: "undo", text: t("restore"), kind: "primary", action: () => void restore([code]) }),
    );
    return box;
  }
  if (!event.validated) {
    box.append(
      button({ icon: "check", text: t("validate"), kind: "outlined", action: () => void validate([code]) }),
    );
  }
  box.append(
    button({ icon: "trash", text: t("delete"), kind: "outlined", action: () => void remove([code]) }),
  );
  return box;
}
