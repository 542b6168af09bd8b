import { connection, isLost } from "../data/connection.js";
import { countsOf, totals } from "../data/selecting.js";
import { store } from "../data/store.js";
import { activeFilters } from "../filters/active.js";
import { view } from "../state/view.js";
import { t } from "../text/text.js";
import { button, fill, h, icon } from "../ui/dom.js";

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
    else count.textContent = isLost(connection.state.kind) || store.problem ? "" : t("list.loading");
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

/** @param {import("../data/selecting.js").Counts} counts @returns {string} */
export function countText({ earthquakes, others }) {
  const words = t("list.count", { n: earthquakes });
  return others === 0 ? words : t("list.count.others", { words, n: others });
}

const skeletonRows = 12;

/** What is shown where there are no rows to show: why, and what to do. */
export class ListState {
  #element = h("div", { class: "state", hidden: true });
  #kind = "";

  /** @param {HTMLElement} parent */
  constructor(parent) {
    parent.append(this.#element);
  }

  /** @param {boolean} hasRows */
  update(hasRows) {
    const { kind, detail } = connection.state;
    let state = "";
    if (!hasRows) {
      // What is in memory answers also without the server.
      if (store.complete) state = activeFilters(view.get()).length === 0 ? "none" : "filtered";
      else if (store.problem !== null) state = "nowhere";
      else state = isLost(kind) ? kind : "loading";
    }
    const key = state + (state === "filtered" ? JSON.stringify(view.get()) : store.problem ?? detail ?? "");
    if (key === this.#kind) return;
    this.#kind = key;
    this.#element.hidden = state === "";
    this.#element.dataset.kind = state;
    if (state === "loading") this.#loading();
    else if (state !== "") this.#explain(state, detail);
    else fill(this.#element);
  }

  #loading() {
    const rows = Array.from({ length: skeletonRows }, () =>
      h("div", { class: "skeleton" }, h("i", {}), h("b", {}), h("span", {}), h("span", { class: "short" })));
    fill(this.#element, h("p", { class: "visually-hidden", text: t("list.loading") }), ...rows);
  }

  /**
   * @param {string} state
   * @param {string | null} detail
   */
  #explain(state, detail) {
    const { asOf } = view.get();
    const texts = {
      error: [t("list.error"), detail ?? t("list.error.text")],
      database: [t("connection.database"), detail ?? t("list.error.text")],
      offline: [t("list.offline"), detail ? `${t("list.offline.text")} (${detail})` : t("list.offline.text")],
      none: asOf === null ? [t("list.none"), t("list.none.text")] : [t("list.none"), t("list.none.past")],
      nowhere: [t("time.failed"), store.problem ?? ""],
      filtered: [t("list.filtered"), t("list.filtered.text")],
    }[state] ?? ["", ""];
    const actions = h("div", { class: "state-actions" });
    if (state === "error" || state === "offline" || state === "database") {
      actions.append(
        button({ icon: "refresh", text: t("retry"), kind: "outlined", action: () => connection.retry() }),
      );
    }
    if (state === "nowhere" || (state === "none" && asOf !== null)) {
      actions.append(
        button({ text: t("past.back"), kind: "outlined", action: () => view.set({ asOf: null }) }),
      );
    }
    if (state === "filtered") {
      const filters = activeFilters(view.get());
      for (const { text, clear } of filters) {
        actions.append(button({
          icon: "close", text, label: t("filters.remove", { filter: text }), kind: "outlined",
          action: () => view.set(clear),
        }));
      }
      if (filters.length > 1) {
        actions.append(
          button({ text: t("filters.clear"), kind: "primary", action: () => view.clearFilters() }),
        );
      }
    }
    fill(
      this.#element, icon(state === "filtered" ? "filter" : "wave"), h("h3", { text: texts[0] }),
      h("p", { class: "quiet", text: texts[1] }), actions,
    );
  }
}
