import { beginOfDay, dayOf } from "../state/point.js";
import { format, has, t } from "../text/text.js";
import { typeName } from "../ui/sign.js";

/** @typedef {import("../types.js").View} View */
/** @typedef {{ id: string, text: string, clear: Partial<View> }} ActiveFilter */

/**
 * A range in words: "≥ 4.5", "≤ 6", "4.5 – 6".
 * @param {number | null} least
 * @param {number | null} most
 * @returns {string}
 */
function range(least, most) {
  if (least === null) return `≤ ${format.number(most ?? 0)}`;
  if (most === null) return `≥ ${format.number(least)}`;
  return `${format.number(least)} – ${format.number(most)}`;
}

/**
 * A range of times in words; whole days are written without the time of day.
 * @param {number | null} from
 * @param {number | null} to
 * @returns {string}
 */
function times(from, to) {
  const isDay = (/** @type {number | null} */ ms) => ms === null || beginOfDay(dayOf(ms)) === ms;
  const write = isDay(from) && isDay(to) ? format.date : format.time;
  if (to === null) return t("filters.is.from", { time: write(from ?? 0) });
  // The end is not part of the range: of whole days, the last one is the day before.
  const last = write === format.date ? write(to - 1) : write(to);
  if (from === null) return t("filters.is.to", { time: last });
  return write(from) === last ? last : t("filters.is.times", { from: write(from), to: last });
}

/**
 * The conditions of a view in words, each with what takes it away.
 * @param {Readonly<View>} view
 * @returns {ActiveFilter[]}
 */
export function activeFilters(view) {
  /** @type {ActiveFilter[]} */
  const list = [];
  if (view.text) list.push({ id: "text", text: `“${view.text}”`, clear: { text: "" } });
  if (view.minMagnitude !== null || view.maxMagnitude !== null) {
    list.push({
      id: "magnitude",
      text: t("filters.is.magnitude", { range: range(view.minMagnitude, view.maxMagnitude) }),
      clear: { minMagnitude: null, maxMagnitude: null },
    });
  }
  if (view.from !== null || view.to !== null) {
    list.push({ id: "period", text: times(view.from, view.to), clear: { from: null, to: null } });
  } else if (view.period !== "all") {
    const key = `period.${view.period}`;
    const period = view.period.replace(/\d(?=[a-z])/, "$& ");
    list.push({
      id: "period", text: has(key) ? t(key) : t("period.past", { period }), clear: { period: "all" },
    });
  }
  if (view.minDepth !== null || view.maxDepth !== null) {
    list.push({
      id: "depth", text: t("filters.is.depth", { range: range(view.minDepth, view.maxDepth) }),
      clear: { minDepth: null, maxDepth: null },
    });
  }
  if (view.types.length > 0) {
    list.push({ id: "types", text: view.types.map(typeName).join(", "), clear: { types: [] } });
  }
  if (view.networks.length > 0) {
    list.push({
      id: "networks",
      text: t("filters.is.network", { networks: view.networks.join(", ") }),
      clear: { networks: [] },
    });
  }
  if (view.box !== null) {
    const [west, south, east, north] = view.box.map(
      (degrees) => format.number(Math.round(degrees * 10) / 10),
    );
    list.push({
      id: "box", text: t("filters.is.box", { west, south, east, north }), clear: { box: null },
    });
  }
  if (view.within !== null) {
    const [km, latitude, longitude] = view.within;
    list.push({
      id: "within", clear: { within: null },
      text: t("filters.is.within", { km: format.number(km), position: format.place(latitude, longitude) }),
    });
  }
  if (view.mapOnly) list.push({ id: "mapOnly", text: t("filters.mapOnly"), clear: { mapOnly: false } });
  return list;
}
