import { connection, isLost } from "../data/connection.js";
import { store } from "../data/store.js";
import { format, t } from "../text/text.js";

/** @typedef {import("../types.js").Quake} Quake */

/** A screen reader needs time for a sentence: at most one announcement in this time. */
const pause = 10_000;

/**
 * Tells screen readers how many events are new, changed or deleted, and which new one is the strongest.
 * @param {HTMLElement} element
 */
export function start(element) {
  /** @type {Map<string, Quake>} */
  const inserted = new Map();
  let updated = 0;
  let news = "";
  let deleted = 0;
  let last = 0;
  let lost = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const say = () => {
    timer = undefined;
    const sentences = news === "" ? [] : [news];
    news = "";
    if (inserted.size > 0) {
      const strongest = [...inserted.values()].reduce(
        (a, b) => ((b.magnitude ?? -9) > (a.magnitude ?? -9) ? b : a),
      );
      sentences.push(t("summary.new", {
        n: inserted.size, magnitude: format.magnitude(strongest),
        place: strongest.place || t("place.unknown"),
      }));
    }
    if (updated > 0) sentences.push(t("summary.changed", { n: updated }));
    if (deleted > 0) sentences.push(t("summary.deleted", { n: deleted }));
    inserted.clear();
    updated = 0;
    deleted = 0;
    if (sentences.length === 0) return;
    last = Date.now();
    element.textContent = sentences.join(" ");
  };
  const soon = () => {
    timer ??= setTimeout(say, Math.max(500, last + pause - Date.now()));
  };

  store.addEventListener("change", (event) => {
    const { detail } = /** @type {CustomEvent<import("../types.js").StoreChange>} */ (event);
    if (detail.kind !== "changes" || !detail.live) return;
    for (const quake of detail.inserted) inserted.set(quake.code, quake);
    updated += detail.updated.length;
    for (const { code } of detail.deleted) if (!inserted.delete(code)) deleted += 1;
    soon();
  });
  connection.addEventListener("state", () => {
    const { kind } = connection.state;
    const fails = isLost(kind);
    // The page begins with "connecting"; only losing and regaining the connection is news.
    if (fails === lost || (!fails && kind !== "live")) return;
    lost = fails;
    news = t(kind === "database" ? "summary.database" : lost ? "summary.offline" : "summary.live");
    soon();
  });
}
