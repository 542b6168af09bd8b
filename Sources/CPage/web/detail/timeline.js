import { distance } from "../data/distance.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button } from "../ui/button.js";
import { h } from "../ui/dom.js";
import { isBy } from "./record.js";
import { sparkline } from "./sparkline.js";
import { author, columnName, isRevision, words } from "./words.js";

/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../types.js").EventRecord} EventRecord */

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
