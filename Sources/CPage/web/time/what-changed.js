import { distance } from "../data/distance.js";
import { isLocated } from "../painter/projection.js";
import { format, t } from "../text/text.js";
import { statusName } from "../ui/badges.js";

/** @typedef {import("../types.js").Quake} Quake */

/** @param {Quake} before @param {Quake} after @returns {string} such as "5.2 → 5.6, 10 km → 12 km" */
export function whatChanged(before, after) {
  const parts = [];
  /** @param {string} a @param {string} b */
  const add = (a, b) => {
    if (a !== b) parts.push(`${a} → ${b}`);
  };
  add(format.magnitude(before), format.magnitude(after));
  if (before.depth !== after.depth) add(format.depth(before.depth), format.depth(after.depth));
  if (before.place !== after.place) add(before.place, after.place);
  else if (before.latitude !== after.latitude || before.longitude !== after.longitude) {
    if (isLocated(before) && isLocated(after)) {
      parts.push(t("time.changes.moved", { km: format.number(distance(before, after), 0) }));
    } else {
      const [from, to] = [before, after].map((one) => format.position(one.latitude, one.longitude));
      add(from, to);
    }
  }
  if (before.time !== after.time) parts.push(t("time.changes.time"));
  add(statusName(before.status), statusName(after.status));
  return parts.length > 0 ? parts.join(", ") : t("time.changes.other");
}
