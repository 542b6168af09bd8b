import { view } from "../state/view.js";
import { t } from "../text/text.js";
import { button } from "../ui/button.js";
import { fill, h } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { activeFilters } from "./active.js";
import { filterPanel } from "./panel.js";

/** Waiting this long after the last key keeps the list from being selected at each letter. */
const typingDelay = 120;

/**
 * Search, the filters as a panel that opens, and what is set as chips that can be removed one by one.
 * @param {HTMLElement} element
 */
export function start(element) {
  element.setAttribute("role", "search");
  const search = h("input", {
    id: "search", class: "field", type: "search",
    placeholder: t("filters.search"), "aria-label": t("filters.search"),
    "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false", maxlength: 200,
    value: view.get().text,
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => view.set({ text: search.value.trim() }), typingDelay);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || search.value === "") return;
    event.stopPropagation();
    search.value = "";
    view.set({ text: "" });
  });

  const panel = filterPanel();
  panel.element.hidden = true;
  panel.element.id = "filter-panel";
  const toggle = button({
    icon: "filter", text: t("filters.open"), kind: "outlined", action: () => {
      panel.element.hidden = !panel.element.hidden;
      toggle.setAttribute("aria-expanded", String(!panel.element.hidden));
      if (!panel.element.hidden) panel.open();
    },
  });
  panel.element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    toggle.click();
    toggle.focus();
  });
  toggle.id = "filter-toggle";
  toggle.setAttribute("aria-expanded", "false");
  toggle.setAttribute("aria-controls", "filter-panel");
  toggle.setAttribute("aria-keyshortcuts", "f");
  // The address may come from a person who expects it to select something.
  const notice = h("div", { class: "notice", role: "status", hidden: true });
  let told = "";
  const tellIgnored = () => {
    const names = view.ignored.join(", ");
    if (names === told) return;
    told = names;
    notice.hidden = names === "";
    fill(
      notice, h("p", { text: t("filters.ignored", { n: view.ignored.length, names }) }),
      button({ icon: "close", label: t("close"), action: () => {
        notice.hidden = true;
      } }),
    );
  };
  const chips = h("ul", { class: "chips", "aria-label": t("filters.set") });
  element.append(
    h("h2", { class: "visually-hidden", text: t("filters.name") }),
    h("div", { class: "filter-bar" }, h("label", { class: "search" }, icon("search"), search), toggle),
    notice, chips, panel.element,
  );

  const update = () => {
    const now = view.get();
    if (document.activeElement !== search) search.value = now.text;
    const filters = activeFilters(now).filter(({ id }) => id !== "text");
    toggle.lastChild?.replaceWith(
      filters.length === 0 ? t("filters.open") : t("filters.open.n", { n: filters.length }),
    );
    chips.hidden = filters.length === 0;
    fill(chips, ...filters.map(({ text, clear }) => h("li", {}, button({
      icon: "close", text, label: t("filters.remove", { filter: text }), kind: "chip", action: () => {
        view.set(clear);
        toggle.focus();
      },
    }))));
    if (filters.length > 1) {
      chips.append(h("li", {}, button({
        text: t("filters.clear"), kind: "chip plain", action: () => {
          view.clearFilters();
          toggle.focus();
        },
      })));
    }
    if (!panel.element.hidden) panel.update();
    tellIgnored();
  };
  view.addEventListener("change", (event) => {
    const { changed } = /** @type {CustomEvent<{ changed: Set<string> }>} */ (event).detail;
    const isOther = changed.size === 1 && ["bounds", "map", "selected"].some((name) => changed.has(name));
    if (!isOther) update();
  });
  update();
}
