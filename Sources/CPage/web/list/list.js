import { connection } from "../data/connection.js";
import { store } from "../data/store.js";
import { settings } from "../state/settings.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button, byId, h } from "../ui/dom.js";
import { ListState, startBar } from "./bar.js";
import { Marks } from "./marks.js";
import { selection } from "./selection.js";
import { ListWindow } from "./window.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").StoreChange} StoreChange */

/**
 * @typedef {object} ListActions
 * @property {() => number} position the index of the active row, or -1
 * @property {() => number} length
 * @property {() => number} page how many rows are seen
 * @property {() => number} first the index of the first row that is seen
 * @property {(index: number) => void} goTo
 * @property {(index: number) => void} open
 * @property {() => void} all marks all rows for an edit
 */

/**
 * The keys of the list: arrows, Page Up and Down, Home, End; Enter opens; Space marks.
 * @param {HTMLElement} element
 * @param {ListActions} actions
 */
function listKeys(element, actions) {
  element.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey || actions.length() === 0) return;
    const at = actions.position();
    const from = at < 0 ? actions.first() - 1 : at;
    if (event.ctrlKey) {
      if (event.key !== "a" || !selection.on) return;
      actions.all();
    } else if (event.key === "ArrowDown") actions.goTo(from + 1);
    else if (event.key === "ArrowUp") actions.goTo(at < 0 ? actions.first() : at - 1);
    else if (event.key === "PageDown") actions.goTo(Math.max(0, from) + actions.page());
    else if (event.key === "PageUp") actions.goTo(Math.max(0, from) - actions.page());
    else if (event.key === "Home") actions.goTo(0);
    else if (event.key === "End") actions.goTo(actions.length() - 1);
    else if ((event.key === "Enter" || event.key === " ") && at >= 0) actions.open(at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** The exact origin time, in UTC and local time, of the row that a pointer or the keyboard is at. */
class Tip {
  #element = h("div", { class: "tip", role: "presentation", hidden: true });
  #utc = h("span", {});
  #local = h("span", { class: "quiet" });

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.#element.append(this.#utc, this.#local);
    parent.append(this.#element);
  }

  /**
   * @param {Quake} quake
   * @param {Element} at
   */
  show(quake, at) {
    this.#utc.textContent = format.utcTime(quake.time);
    const local = format.localTime(quake.time);
    this.#local.textContent = local === format.utcTime(quake.time) ? "" : t("time.local", { time: local });
    this.#element.hidden = false;
    const parent = this.#element.offsetParent?.getBoundingClientRect();
    const place = at.getBoundingClientRect();
    if (!parent) return;
    const below = place.bottom - parent.top + 2;
    const height = this.#element.offsetHeight;
    const top = below + height > parent.height ? place.top - parent.top - height - 2 : below;
    this.#element.style.top = `${top}px`;
  }

  hide() {
    this.#element.hidden = true;
  }
}

/** How often relative times are written anew. */
const timeStep = 10_000;

/**
 * The list of the events that the view selects.
 * @param {HTMLElement} element
 */
export function start(element) {
  element.append(h("h2", { class: "visually-hidden", text: t("list.name") }));
  startBar(element);
  const scroller = h("div", {
    id: "rows", class: "scroller", role: "listbox", tabindex: 0, "aria-label": t("list.name"),
  });
  const body = h("div", { class: "list-body" }, scroller);
  element.append(body);
  const state = new ListState(body);
  const tip = new Tip(body);

  /**
   * The event that the keys are at.
   * @type {string | null}
   */
  let active = null;
  const marks = new Marks(() => update());
  const list = new ListWindow(scroller, (code) => marks.get(code), ({ quake }) => ({
    active: quake?.code === active,
    selected: quake?.code === view.get().selected,
    checked: selection.on ? selection.has(quake?.code ?? "") : null,
  }));

  // New events above what is seen are counted, not scrolled to.
  /** @type {Set<string>} */
  const unseen = new Set();
  let counted = 0;
  const more = button({ icon: "up", text: "", kind: "primary more", action: () => toTop() });
  more.hidden = true;
  body.prepend(more);
  const toTop = () => {
    list.scrollTo(0);
    list.draw();
    countUnseen();
    scroller.focus({ preventScroll: true });
  };
  const countUnseen = () => {
    if (unseen.size > 0) {
      if (list.atTop) unseen.clear();
      else {
        const above = new Set();
        for (const { code } of list.items.slice(0, list.first)) if (unseen.has(code)) above.add(code);
        for (const code of unseen) if (!above.has(code)) unseen.delete(code);
      }
    }
    if (unseen.size === counted) return;
    counted = unseen.size;
    more.hidden = counted === 0;
    if (counted > 0) more.lastChild?.replaceWith(t("list.more", { n: counted }));
  };

  /** @param {boolean} [hold] whether what is read stays where it is */
  const update = (hold = true) => {
    list.setItems(marks.withGhosts(/** @type {Quake[]} */ (store.shown())), hold);
    state.update(list.items.length > 0);
    countUnseen();
    follow();
  };
  /** Names the active row to readers of the screen, as long as the page has it. */
  const follow = () => {
    let id = null;
    for (const row of list.rows()) if (row.quake && row.quake.code === active) id = row.element.id;
    if (id === null) scroller.removeAttribute("aria-activedescendant");
    else if (scroller.getAttribute("aria-activedescendant") !== id) {
      scroller.setAttribute("aria-activedescendant", id);
    }
  };

  store.addEventListener("change", (event) => {
    const detail = /** @type {StoreChange} */ (/** @type {CustomEvent} */ (event).detail);
    if (detail.kind === "reset") {
      marks.clear();
      unseen.clear();
    } else if (detail.live) {
      marks.add(detail, (code) => list.drawnAt(code));
      if (!list.atTop) for (const { code } of detail.inserted) unseen.add(code);
    }
  });
  store.addEventListener("shown", () => update());
  store.addEventListener("loaded", () => {
    update();
    for (const row of list.rows()) row.updateTime();
  });
  connection.addEventListener("state", () => state.update(list.items.length > 0));
  selection.addEventListener("change", () => {
    if (selection.on) scroller.setAttribute("aria-multiselectable", "true");
    else scroller.removeAttribute("aria-multiselectable");
    list.draw();
    follow();
  });
  settings.addEventListener("change", () => {
    update();
    for (const row of list.rows()) row.updateTime();
  });
  view.addEventListener("change", (event) => {
    const { changed } = /** @type {CustomEvent<{ changed: Set<string> }>} */ (event).detail;
    if (changed.has("sort") || changed.has("descending")) list.scrollTo(0);
    if (changed.has("selected")) showSelected();
    if (changed.has("color")) for (const row of list.rows()) row.updateColor();
  });
  const showSelected = () => {
    const { selected } = view.get();
    if (selected !== null) {
      active = selected;
      const index = list.indexOf(selected, list.first);
      if (index >= 0) list.reveal(index);
    }
    list.draw();
    follow();
  };

  scroller.addEventListener("scroll", () => {
    tip.hide();
    countUnseen();
    follow();
  }, { passive: true });
  scroller.addEventListener("pointerover", (event) => {
    const row = rowOf(list, event.target);
    const isTime = event.target instanceof Element && event.target.closest("time") !== null;
    if (row?.quake && isTime) tip.show(row.quake, row.time);
    else tip.hide();
  });
  scroller.addEventListener("pointerleave", () => tip.hide());
  scroller.addEventListener("blur", () => tip.hide());
  scroller.addEventListener("click", (event) => {
    const row = rowOf(list, event.target);
    if (row?.quake) open(row.quake, event.shiftKey);
  });

  /**
   * @param {Quake} quake
   * @param {boolean} [range] mark everything between the last row and this one
   */
  const open = (quake, range = false) => {
    const ends = [active ?? quake.code, quake.code].map((code) => list.indexOf(code, list.first));
    active = quake.code;
    if (selection.on && range && Math.min(...ends) >= 0) {
      selection.add(list.items.slice(Math.min(...ends), Math.max(...ends) + 1).map(({ code }) => code));
    } else if (selection.on) selection.toggle(quake.code);
    else view.set({ selected: quake.code });
    list.draw();
    follow();
  };
  /** @param {number} index the keys go to this row */
  const goTo = (index) => {
    const quake = list.items[Math.min(list.items.length - 1, Math.max(0, index))];
    if (!quake) return;
    active = quake.code;
    list.reveal(list.indexOf(quake.code, index));
    follow();
    for (const row of list.rows()) if (row.quake === quake) tip.show(quake, row.time);
  };
  listKeys(scroller, {
    position: () => (active === null ? -1 : list.indexOf(active, list.first)),
    length: () => list.items.length,
    page: () => list.page,
    first: () => list.first,
    goTo,
    open: (index) => open(list.items[index]),
    all: () => selection.add(store.shown().map(({ code }) => code)),
  });
  element.addEventListener("focus", () => scroller.focus());
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    // The details cover the list.
    view.set({ selected: null });
    scroller.focus();
  });
  byId("side").addEventListener("list-focus", () => scroller.focus());

  setInterval(() => {
    for (const row of list.rows()) row.updateTime();
  }, timeStep);
  update();
  showSelected();
}

/**
 * @param {ListWindow} list
 * @param {EventTarget | null} target
 */
function rowOf(list, target) {
  const element = target instanceof Element ? target.closest(".row") : null;
  for (const row of list.rows()) if (row.element === element) return row;
  return null;
}
