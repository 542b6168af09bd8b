import { store } from "../data/store.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button } from "../ui/button.js";
import { copy } from "../ui/copy.js";
import { h } from "../ui/dom.js";
import { place, step } from "./neighbours.js";

/**
 * The line above the event: its neighbours in the list, its link, and closing.
 * @returns {{ element: HTMLElement, update: () => void }}
 */
export function detailBar() {
  const previous = button(
    { icon: "previous", label: t("detail.previous"), key: "k", action: () => step(-1) },
  );
  const next = button({ icon: "next", label: t("detail.next"), key: "j", action: () => step(1) });
  const position = h("span", { class: "quiet small" });
  const element = h(
    "div", { class: "detail-bar" }, previous, position, next, h("span", { class: "grow" }),
    button({
      icon: "link", label: t("detail.copy"), action: () => void copy(
        new URL(view.address(), location.href).href,
      ),
    }),
    button(
      { icon: "close", label: t("detail.close"), key: "Escape", action: () => view.set({ selected: null }) },
    ),
  );
  return {
    element,
    update() {
      const { selected } = view.get();
      if (selected === null) return;
      const { index, length } = place(selected);
      const missing = store.complete ? t("detail.notListed") : "";
      position.textContent = index < 0
        ? missing
        : t("detail.position", { i: format.number(index + 1), n: length });
      previous.disabled = index <= 0;
      next.disabled = index < 0 || index >= length - 1;
    },
  };
}
