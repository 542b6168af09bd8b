import { connection } from "../data/connection.js";
import { store } from "../data/store.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { h } from "../ui/dom.js";

/** @typedef {import("../types.js").Sort} Sort */

/** The orders that are offered; others can be in the address. */
const orders = /** @type {const} */ ([
  "time:desc", "time:asc", "magnitude:desc", "magnitude:asc",
  "depth:desc", "depth:asc", "place:asc", "updated:desc",
]);

/**
 * The line above the list: how many events it has, and their order.
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
  element.append(h("div", { class: "list-bar" }, count, order));

  const update = () => {
    const shown = store.shown().length;
    const all = store.size;
    count.textContent = shown === all
      ? t("list.count", { n: shown })
      : t("list.count.of", { n: all, shown: format.number(shown) });
    count.title = store.truncated ? t("list.truncated") : "";
    if (store.truncated) count.textContent += ` (${t("list.newest")})`;
    if (shown === 0 && ["offline", "error"].includes(connection.state.kind)) count.textContent = "";
    else if (!store.complete) {
      count.textContent = shown === 0 ? t("list.loading") : `${count.textContent} …`;
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
  connection.addEventListener("state", update);
  view.addEventListener("change", showOrder);
  update();
  showOrder();
}
