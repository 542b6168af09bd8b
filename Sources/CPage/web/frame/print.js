import { store } from "../data/store.js";
import { countsOf, totals } from "../data/totals.js";
import { countText } from "../list/bar.js";
import { activeFilters } from "../filters/active.js";
import { badges } from "../list/badges.js";
import { view } from "../state/view.js";
import { timeOfPoint } from "../text/point.js";
import { format, t } from "../text/text.js";
import { h } from "../ui/dom.js";

/** Some forty pages. More rows would block the browser for seconds. */
const mostRows = 1_500;

/** Makes the table that is printed when printing begins, and takes it away afterwards. */
export function start() {
  /** @type {HTMLElement | null} */
  let table = null;
  addEventListener("beforeprint", () => {
    table?.remove();
    table = make();
    document.body.append(table);
  });
  addEventListener("afterprint", () => {
    table?.remove();
    table = null;
  });
}

const columns = /** @type {const} */ (
  ["magnitude", "type", "time", "place", "position", "depth", "notes", "code"]
);

/** @param {typeof columns[number]} column */
function heading(column) {
  return h("th", { scope: "col", text: t(column === "time" ? "print.time.column" : `print.${column}`) });
}

/** @param {string} asOf a time or a token */
function pointName(asOf) {
  const time = timeOfPoint(asOf);
  return Number.isNaN(time) ? asOf : format.time(time);
}

/** @returns {HTMLElement} */
function make() {
  const shown = store.shown();
  const now = view.get();
  const filter = activeFilters(now).map(({ text }) => text).join("; ") || t("print.all");
  const rows = shown.slice(0, mostRows).map((quake) => h(
    "tr", {},
    h("td", { class: "number", text: format.magnitude(quake) }),
    h("td", { text: quake.magnitudeType ?? "" }),
    h("td", { text: format.time(quake.time) }),
    h("td", { dir: "auto", text: quake.place }),
    h("td", { text: format.position(quake.latitude, quake.longitude) }),
    h("td", { class: "number", text: format.depth(quake.depth) }),
    h("td", { text: badges(quake).map(({ text }) => text).join(", ") }),
    h("td", { text: quake.code }),
  ));
  return h(
    "section", { id: "print", hidden: true }, h("h1", { text: t("print.title") }),
    h("p", { text: now.asOf === null
      ? t("print.time", { time: format.time(Date.now()) })
      : t("print.past", { time: pointName(now.asOf), now: format.time(Date.now()) }) }),
    h("p", { text: t("print.filter", { filter }) }),
    h("p", { text: rows.length < shown.length || totals.missing > 0
      ? t("print.some", { n: rows.length, all: format.number(shown.length + totals.missing) })
      : countText(countsOf(shown)) }),
    h("table", {}, h("thead", {}, h("tr", {}, ...columns.map(heading))), h("tbody", {}, ...rows)),
  );
}
