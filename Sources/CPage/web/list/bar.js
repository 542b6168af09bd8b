import { connection, isLost } from "../data/connection.js";
import { store } from "../data/store.js";
import { countsOf, totals } from "../data/totals.js";
import { view } from "../state/view.js";
import { t } from "../text/text.js";
import { h } from "../ui/dom.js";

/** @typedef {import("../types.js").Sort} Sort */

/** The orders that are offered; others can be in the address. */
const orders = /** @type {const} */ ([
  "time:desc", "time:asc", "magnitude:desc", "magnitude:asc",
  "depth:desc", "depth:asc", "place:asc", "updated:desc",
]);

/**
 * The lines above the list: how many events the view selects, how many of them are not loaded, and their
 * order.
 * @param {HTMLElement} element
 */
export function startBar(element) {
  const count = h("p", { class: "count", id: "list-count" });
  const order = h(
    "select", { class: "order", "aria-label": t("list.order") },
    ...orders.map((value) => h("option", { value, text: t(`order.${value}`) })),
  );
  order.addEventListener("change", () => {
    const [sort, direction] = order.value.split(":");
    view.set({ sort: /** @type {Sort} */ (sort), descending: direction === "desc" });
  });
  const missing = h("p", { class: "list-missing quiet small", hidden: true });
  element.append(h("div", { class: "list-bar" }, count, order), missing);

  const update = () => {
    const { counts } = totals;
    const shown = store.shown().length;
    const words = counts === null ? "" : countText(counts);
    if (store.complete) count.textContent = words || t("list.counting");
    else if (shown > 0) count.textContent = `${countText(countsOf(store.shown()))} …`;
    else count.textContent = isLost(connection.state.kind) ? "" : t("list.loading");
    count.title = count.textContent;
    const n = store.complete ? totals.missing : 0;
    missing.hidden = n === 0;
    if (n > 0) missing.textContent = t("list.missing", { n, shown });
    else if (view.get().text !== "" && view.get().asOf === null && store.served.set !== null) {
      missing.hidden = false;
      missing.textContent = t("list.missing.search");
    }
  };
  const showOrder = () => {
    const { sort, descending } = view.get();
    const value = `${sort}:${descending ? "desc" : "asc"}`;
    if (![...order.options].some((option) => option.value === value)) {
      order.append(h("option", { value, text: `${sort} ${descending ? "↓" : "↑"}` }));
    }
    order.value = value;
  };
  for (const event of ["shown", "loaded"]) store.addEventListener(event, update);
  totals.addEventListener("change", update);
  connection.addEventListener("state", update);
  view.addEventListener("change", showOrder);
  update();
  showOrder();
}

/** @param {import("../data/totals.js").Counts} counts @returns {string} */
export function countText({ earthquakes, others }) {
  const words = t("list.count", { n: earthquakes });
  return others === 0 ? words : t("list.count.others", { words, n: others });
}
