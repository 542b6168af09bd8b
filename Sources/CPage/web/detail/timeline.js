import { transactionNumber } from "../api/answers.js";
import { direction, distance } from "../data/quake-set.js";
import { isToken, timeOfPoint } from "../state/point.js";
import { view } from "../state/view.js";
import { format, has, t } from "../text/text.js";
import { button, h } from "../ui/dom.js";
import { statusName, typeName } from "../ui/sign.js";

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
function isRevision({ op, old, new: now, changed }) {
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
function words(version, first) {
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

const space = "http://www.w3.org/2000/svg";
const width = 200;
const height = 36;
const edge = 5;

/**
 * A small chart of a value over the revisions: a step for each, a dot where it changed. It is a picture; the
 * values are in the text beside it.
 * @param {(number | null)[]} values
 * @param {{ down?: boolean, current?: number }} [options] `down`: greater values are drawn lower, as
 *   depths are; `current`: the revision that is shown
 * @returns {SVGSVGElement}
 */
function sparkline(values, options) {
  const { down = false, current = values.length - 1 } = options ?? {};
  const known = /** @type {number[]} */ (values.filter((value) => value !== null));
  const least = Math.min(...known);
  const span = Math.max(...known) - least || 1;
  const step = (width - 2 * edge) / Math.max(1, values.length - 1);
  const x = (/** @type {number} */ index) => edge + index * step;
  const y = (/** @type {number} */ value) => {
    const share = (value - least) / span;
    return edge + (down ? share : 1 - share) * (height - 2 * edge);
  };
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("class", "sparkline");
  svg.setAttribute("aria-hidden", "true");
  let line = "";
  /** @type {number | null} */
  let last = null;
  values.forEach((value, index) => {
    if (value === null) return;
    line += last === null ? `M${x(index)} ${y(value)}` : `H${x(index)}V${y(value)}`;
    if (value !== last || index === current) svg.append(dot(x(index), y(value), index === current));
    last = value;
  });
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", line);
  svg.prepend(path);
  return svg;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {boolean} current
 */
function dot(x, y, current) {
  const circle = document.createElementNS(space, "circle");
  circle.setAttribute("cx", String(x));
  circle.setAttribute("cy", String(y));
  circle.setAttribute("r", current ? "4" : "2.5");
  if (current) circle.setAttribute("class", "current");
  return circle;
}

/**
 * An event at a point of the history.
 * @typedef {object} RecordAt
 * @property {EventRecord} event the event as it is, or was as of the time of the view
 * @property {number} index the revision that this is
 * @property {Change | null} deletion the change that deleted it
 */

/**
 * Whether a change was committed by a point of the history.
 * @param {Change} version
 * @param {string | null} asOf a time or a token; null is now
 */
function isBy(version, asOf) {
  if (asOf === null) return true;
  if (isToken(asOf)) return transactionNumber(version.token) <= transactionNumber(asOf);
  return Date.parse(version.transaction?.at ?? "") <= timeOfPoint(asOf);
}

/**
 * The event at a point of the history.
 * @param {Change[]} versions oldest first
 * @param {string | null} asOf
 * @returns {RecordAt | null} null if it was not stored yet
 */
export function record(versions, asOf) {
  let index = versions.length - 1;
  while (index >= 0 && !isBy(versions[index], asOf)) index -= 1;
  const version = versions[index];
  if (!version) return null;
  if (version.new) return { event: version.new, index, deletion: null };
  const event = version.old ?? versions[index - 1]?.new;
  return event ? { event, index, deletion: version } : null;
}

/** Events of some feeds have hundreds of revisions; the newest are of most use. */
const mostAtFirst = 30;

/**
 * How the event came to be what it is: small charts, then each revision, newest first. What changed nothing
 * of the earthquake is folded, each run of such changes into one line.
 * @param {Change[]} versions oldest first
 * @param {number} current the version that is shown
 * @returns {HTMLElement}
 */
export function timeline(versions, current) {
  /** @type {HTMLElement[]} */
  const items = [];
  /** @type {Change[]} */
  const revisions = [];
  /** @type {Change[]} */
  let run = [];
  let shown = 0;
  const fold = (/** @type {number} */ end) => {
    if (run.length > 0) items.push(folded(run, end - run.length <= current && current < end));
    run = [];
  };
  for (const [index, version] of versions.entries()) {
    if (!isRevision(version)) {
      run.push(version);
      continue;
    }
    fold(index);
    revisions.push(version);
    items.push(revision(version, revisions.length, index === current));
    if (index <= current) shown = revisions.length - 1;
  }
  fold(versions.length);
  items.reverse();
  const list = h("ol", { class: "revisions", reversed: true }, ...items.slice(0, mostAtFirst));
  const rest = items.slice(mostAtFirst);
  const more = rest.length > 0 && button({
    text: t("revisions.more", { n: rest.length }), kind: "outlined", action: (event) => {
      list.append(...rest);
      /** @type {HTMLElement} */ (event.currentTarget).remove();
    },
  });
  return h(
    "section", { class: "part" }, h("h3", { text: t("revisions.title", { n: revisions.length }) }),
    charts(revisions, shown), list, more,
  );
}

/**
 * @param {Change[]} run changes that say nothing new of the earthquake, oldest first
 * @param {boolean} current whether the version that is shown is among them
 */
function folded(run, current) {
  const columns = [...new Set(run.flatMap(({ changed }) => changed))].filter((column) => column !== "as_of");
  const names = columns.map(columnName).join(", ") || t("revisions.nothing");
  const times = run.map(({ transaction }) => Date.parse(transaction?.at ?? ""));
  const write = (/** @type {number} */ ms) => (Number.isNaN(ms) ? "" : format.time(ms));
  const [from, to] = [write(times[0]), write(times[times.length - 1])];
  return h(
    "li", {
      class: `revision folded${current ? " current" : ""}`, "aria-current": current ? "true" : null,
    },
    h("p", { class: "quiet small", text: t("revisions.folded", { n: run.length, names }) }),
    h("p", { class: "quiet small", text: from === to ? from : `${from} – ${to}` }),
  );
}

/**
 * @param {Change[]} versions
 * @param {number} current
 */
function charts(versions, current) {
  const events = versions.map((version) => version.new);
  if (events.filter(Boolean).length < 2) return null;
  const first = events.find((event) => event && event.longitude !== null);
  const position = (/** @type {EventRecord} */ { longitude, latitude }) => ({ longitude, latitude });
  const moved = events.map((event) => (event && first && event.longitude !== null
    ? distance(position(first), position(event))
    : null));
  const box = h("div", { class: "moves" });
  /** @type {(key: "magnitude" | "depth" | "moved", values: (number | null)[],
   *   text: (value: number | null) => string) => void} */
  const add = (key, values, text) => {
    const known = values.filter((value) => value !== null);
    const from = known[0] ?? null;
    const to = known.at(-1) ?? null;
    const same = new Set(known).size <= 1;
    if (known.length === 0 || (key === "moved" && same)) return;
    box.append(
      h("span", { class: "quiet", text: t(`moves.${key}`) }),
      sparkline(values, { down: key === "depth", current }),
      h(
        "span", { class: "values", text: same || key === "moved" ? text(to) : `${text(from)} → ${text(to)}` },
      ),
    );
  };
  add("magnitude", events.map((event) => event?.magnitude ?? null), format.preciseMagnitude);
  add("depth", events.map((event) => event?.depth ?? null), format.exactDepth);
  add("moved", moved, (km) => t("depth.km", { km: format.number(km ?? 0, 1) }));
  return box;
}

/**
 * @param {Change} version
 * @param {number} number of the revision, from 1 on
 * @param {boolean} current
 */
function revision(version, number, current) {
  const at = Date.parse(version.transaction?.at ?? "");
  const later = !isBy(version, view.get().asOf);
  const time = button({
    text: Number.isNaN(at) ? version.token : format.time(at), kind: "link",
    action: () => view.set({ asOf: version.token }),
  });
  time.title = t("revisions.travel");
  return h(
    "li", {
      class: `revision${current ? " current" : ""}${later ? " later" : ""}`, value: number,
      "aria-current": current ? "true" : null,
    },
    h("div", { class: "when" }, time, h(
      "span", { class: "quiet", text: Number.isNaN(at) ? "" : format.relative(at) },
    )),
    h("ul", {}, ...words(version, number === 1).map((text) => h("li", { text }))),
    h(
      "p", { class: "quiet small author", dir: "auto", text: t("revisions.by", { author: author(version) }) },
    ),
    later && h("p", { class: "small", text: t("revisions.later") }),
  );
}
