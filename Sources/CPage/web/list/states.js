import { connection, isLost } from "../data/connection.js";
import { store } from "../data/store.js";
import { activeFilters } from "../filters/active.js";
import { view } from "../state/view.js";
import { t } from "../text/text.js";
import { button } from "../ui/button.js";
import { fill, h } from "../ui/dom.js";
import { icon } from "../ui/icons.js";

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
      else state = isLost(kind) ? kind : "loading";
    }
    const key = state + (state === "filtered" ? JSON.stringify(view.get()) : detail ?? "");
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
      filtered: [t("list.filtered"), t("list.filtered.text")],
    }[state] ?? ["", ""];
    const actions = h("div", { class: "state-actions" });
    if (state === "error" || state === "offline" || state === "database") {
      actions.append(
        button({ icon: "refresh", text: t("retry"), kind: "outlined", action: () => connection.retry() }),
      );
    }
    if (state === "none" && asOf !== null) {
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
