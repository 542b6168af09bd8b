import { api } from "../data/api.js";
import { store } from "../data/store.js";
import { beginOfDay, dayOf } from "../state/point.js";
import { view } from "../state/view.js";
import { t } from "../text/text.js";
import { button, fill, h, icon } from "../ui/dom.js";
import { typeName } from "../ui/sign.js";
import { activeFilters } from "./active.js";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Quake} Quake */

const periods = /** @type {const} */ (["1h", "1d", "7d", "30d", "all"]);
/** The most frequent values come first; the others are shown on request. */
const mostChoices = { types: 4, networks: 12 };

/**
 * The panel with all filters.
 * @returns {{ element: HTMLElement, update: () => void, open: () => void }} `update` writes what the view has
 *   into the fields, `open` does so when the panel is opened
 */
function filterPanel() {
  const magnitude = range("magnitude", ["minMagnitude", "maxMagnitude"], { min: -2, max: 10, step: 0.1 });
  const depth = range("depth", ["minDepth", "maxDepth"], { min: -10, max: 1000, step: 1 });
  const period = h(
    "div", { class: "segments", role: "radiogroup", "aria-labelledby": "filter-period" },
    ...periods.map((value) => h("label", { class: "segment" }, h("input", {
      type: "radio", name: "period", value, class: "visually-hidden",
      onchange: () => view.set({ period: value, from: null, to: null }),
    }), h("span", { text: t(`period.short.${value}`) }))),
  );
  const days = dates();
  const types = choices("types", (quake) => quake.type, typeName);
  const networks = choices("networks", (quake) => quake.network, (network) => network);
  const mapOnly = h("input", { type: "checkbox" });
  mapOnly.addEventListener("change", () => view.set({ mapOnly: mapOnly.checked }));
  const element = h(
    "div", { class: "filter-panel" },
    field("magnitude", magnitude.element),
    field("depth", depth.element),
    field("period", period),
    field("dates", days.element),
    field("types", types.element),
    field("networks", networks.element),
    field("area", h("div", {}, h("label", { class: "check" }, mapOnly, t("filters.mapOnly")))),
  );
  return {
    element,
    open() {
      this.update();
      void Promise.all([types.ask(), networks.ask()]).then(() => this.update());
    },
    update() {
      const now = view.get();
      days.update(now);
      magnitude.update(now);
      depth.update(now);
      for (const input of period.querySelectorAll("input")) {
        input.checked = input.value === now.period && now.from === null && now.to === null;
      }
      types.update(now);
      networks.update(now);
      mapOnly.checked = now.mapOnly;
    },
  };
}

/**
 * @param {"magnitude" | "depth" | "period" | "dates" | "types" | "networks" | "area"} name
 * @param {HTMLElement} content
 */
function field(name, content) {
  const id = `filter-${name}`;
  content.setAttribute("aria-labelledby", id);
  if (!content.hasAttribute("role")) content.setAttribute("role", "group");
  return h("div", { class: "filter" }, h("h3", { id, text: t(`filters.${name}`) }), content);
}

/**
 * Two fields for numbers: at least and at most.
 * @param {"magnitude" | "depth"} name
 * @param {["minMagnitude", "maxMagnitude"] | ["minDepth", "maxDepth"]} keys
 * @param {{ min: number, max: number, step: number }} limits
 */
function range(name, keys, limits) {
  const inputs = keys.map((key, index) => {
    const input = h("input", {
      class: "field", type: "number", inputmode: "decimal", ...limits,
      placeholder: t(index === 0 ? "filters.least" : "filters.most"),
      "aria-label": t(index === 0 ? `filters.${name}.least` : `filters.${name}.most`),
    });
    input.addEventListener("change", () => {
      if (!input.validity.valid) {
        input.reportValidity();
        return;
      }
      const value = input.value === "" ? null : input.valueAsNumber;
      const other = view.get()[keys[1 - index]];
      // A least value above the most one would select nothing: the other end follows.
      const crossed = value !== null && other !== null && (index === 0 ? value > other : value < other);
      view.set(/** @type {Partial<View>} */ ({ [key]: value, ...(crossed && { [keys[1 - index]]: value }) }));
    });
    return input;
  });
  return {
    element: h(
      "div", { class: "range" }, inputs[0], h("span", { "aria-hidden": "true", text: "–" }), inputs[1],
    ),
    /** @param {Readonly<View>} now */
    update(now) {
      keys.forEach((key, index) => {
        if (document.activeElement !== inputs[index]) inputs[index].value = String(now[key] ?? "");
      });
    },
  };
}

/** Two fields for days: the first and the last one, in the zone that is shown. */
function dates() {
  const inputs = /** @type {const} */ (["from", "to"]).map((key) => {
    const input = h("input", { class: "field", type: "date", "aria-label": t(`filters.dates.${key}`) });
    input.addEventListener("change", () => {
      const now = view.get();
      const isTo = key === "to";
      const time = input.value === "" ? null : beginOfDay(input.value, isTo ? 1 : 0);
      let [from, to] = isTo ? [now.from, time] : [time, now.to];
      // The last day cannot be before the first one: the other end follows.
      if (from !== null && to !== null && from >= to) {
        if (isTo) from = beginOfDay(input.value);
        else to = beginOfDay(input.value, 1);
      }
      view.set({ period: "all", from, to });
    });
    return input;
  });
  return {
    element: h(
      "div", { class: "range dates" }, inputs[0], h("span", { "aria-hidden": "true", text: "–" }), inputs[1],
    ),
    /** @param {Readonly<View>} now */
    update({ from, to }) {
      if (document.activeElement !== inputs[0]) inputs[0].value = from === null ? "" : dayOf(from);
      if (document.activeElement !== inputs[1]) inputs[1].value = to === null ? "" : dayOf(to - 1);
    },
  };
}

/**
 * Boxes for the values that the events have, the most frequent first.
 * @param {"types" | "networks"} key
 * @param {(quake: Quake) => string} value
 * @param {(value: string) => string} name
 */
function choices(key, value, name) {
  const element = h("div", { class: `choices ${key}` });
  let shown = "";
  let whole = false;
  /**
   * Those of the database, where not all of it is loaded.
   * @type {string[]}
   */
  let others = [];
  return {
    element,
    async ask() {
      if (!store.truncated && view.get().from === null && view.get().to === null) return;
      try {
        const { groups } = await api.stats({ by: key === "types" ? "type" : "network" });
        others = groups.flatMap((/** @type {{ key: string | null }} */ { key: of }) => of ?? []);
      } catch {
        // Those of the loaded events are offered.
      }
    },
    /** @param {Readonly<View>} now */
    update(now) {
      /** @type {Map<string, number>} */
      const counts = new Map([...now[key], ...others].map((known) => [known, 0]));
      for (const quake of store.all()) {
        const of = value(quake);
        if (of) counts.set(of, (counts.get(of) ?? 0) + 1);
      }
      const sorted = [...counts].sort(([, a], [, b]) => b - a);
      const most = sorted.filter(([of], index) => whole || index < mostChoices[key] || now[key].includes(of));
      const more = most.length < sorted.length && button({
        text: t("filters.more", { n: sorted.length - most.length }), kind: "link", action: () => {
          whole = true;
          shown = "";
          element.querySelector("input")?.focus();
          this.update(view.get());
        },
      });
      const names = most.map(([of]) => of).join();
      if (names !== shown && (shown === "" || !element.contains(document.activeElement))) {
        shown = names;
        fill(element, ...most.map(([of]) => choice(key, of, name(of))), more);
      }
      for (const input of element.querySelectorAll("input")) input.checked = now[key].includes(input.value);
    },
  };
}

/**
 * @param {"types" | "networks"} key
 * @param {string} value
 * @param {string} name
 */
function choice(key, value, name) {
  const input = h("input", { type: "checkbox", value });
  input.addEventListener("change", () => {
    const others = view.get()[key].filter((chosen) => chosen !== value);
    view.set({ [key]: input.checked ? [...others, value] : others });
  });
  return h("label", { class: "check" }, input, name);
}

/** Waiting this long after the last key keeps the list from being selected at each letter. */
const typingDelay = 120;

/** The field for the search. */
function searchField() {
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
  return search;
}

/** Says what of the address selects nothing: a person may expect it to. */
class IgnoredNotice {
  element = h("div", { class: "notice", role: "status", hidden: true });
  #told = "";

  update() {
    const names = view.ignored.join(", ");
    if (names === this.#told) return;
    this.#told = names;
    this.element.hidden = names === "";
    fill(
      this.element, h("p", { text: t("filters.ignored", { n: view.ignored.length, names }) }),
      button({ icon: "close", label: t("close"), action: () => {
        this.element.hidden = true;
      } }),
    );
  }
}

/** The filters that are set, each with a button that removes it. */
class Chips {
  element = h("ul", { class: "chips", "aria-label": t("filters.set") });
  #toggle;

  /** @param {HTMLElement} toggle gets the focus of a chip that is gone */
  constructor(toggle) {
    this.#toggle = toggle;
  }

  /** @param {ReturnType<typeof activeFilters>} filters */
  update(filters) {
    this.element.hidden = filters.length === 0;
    fill(this.element, ...filters.map(({ text, clear }) => h("li", {}, button({
      icon: "close", text, label: t("filters.remove", { filter: text }), kind: "chip", action: () => {
        view.set(clear);
        this.#toggle.focus();
      },
    }))));
    if (filters.length < 2) return;
    this.element.append(h("li", {}, button({
      text: t("filters.clear"), kind: "chip plain", action: () => {
        view.clearFilters();
        this.#toggle.focus();
      },
    })));
  }
}

/** The filters as a panel, and the button that opens it. */
function panelWithToggle() {
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
  return { panel, toggle };
}

/**
 * Search, the filters as a panel that opens, and what is set as chips that can be removed one by one.
 * @param {HTMLElement} element
 */
export function start(element) {
  element.setAttribute("role", "search");
  const search = searchField();
  const { panel, toggle } = panelWithToggle();
  const notice = new IgnoredNotice();
  const chips = new Chips(toggle);
  element.append(
    h("h2", { class: "visually-hidden", text: t("filters.name") }),
    h("div", { class: "filter-bar" }, h("label", { class: "search" }, icon("search"), search), toggle),
    notice.element, chips.element, panel.element,
  );

  const update = () => {
    const now = view.get();
    if (document.activeElement !== search) search.value = now.text;
    const filters = activeFilters(now).filter(({ id }) => id !== "text");
    toggle.lastChild?.replaceWith(
      filters.length === 0 ? t("filters.open") : t("filters.open.n", { n: filters.length }),
    );
    chips.update(filters);
    if (!panel.element.hidden) panel.update();
    notice.update();
  };
  view.addEventListener("change", (event) => {
    const { changed } = /** @type {CustomEvent<{ changed: Set<string> }>} */ (event).detail;
    const isOther = changed.size === 1 && ["bounds", "map", "selected"].some((name) => changed.has(name));
    if (!isOther) update();
  });
  update();
}
