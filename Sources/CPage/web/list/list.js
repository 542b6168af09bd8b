import { connection } from "../data/connection.js";
import { store } from "../data/store.js";
import { settings } from "../state/settings.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button, h } from "../ui/dom.js";
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

/** The events that came above what is seen: they are counted, not scrolled to. */
class Unseen {
  /** @type {Set<string>} */
  #codes = new Set();
  #counted = 0;
  #list;
  #button;

  /** @param {ListWindow} list @param {HTMLElement} parent @param {() => void} toTop */
  constructor(list, parent, toTop) {
    this.#list = list;
    this.#button = button({ icon: "up", text: "", kind: "primary more", action: toTop });
    this.#button.hidden = true;
    parent.prepend(this.#button);
  }

  /** @param {readonly Quake[]} quakes */
  add(quakes) {
    if (!this.#list.atTop) for (const { code } of quakes) this.#codes.add(code);
  }

  clear() {
    this.#codes.clear();
  }

  /** What has been seen in the meantime counts no more. */
  update() {
    const list = this.#list;
    if (this.#codes.size > 0) {
      if (list.atTop) this.#codes.clear();
      else {
        const above = new Set();
        for (const { code } of list.items.slice(0, list.first)) if (this.#codes.has(code)) above.add(code);
        for (const code of this.#codes) if (!above.has(code)) this.#codes.delete(code);
      }
    }
    if (this.#codes.size === this.#counted) return;
    this.#counted = this.#codes.size;
    this.#button.hidden = this.#counted === 0;
    if (this.#counted > 0) this.#button.lastChild?.replaceWith(t("list.more", { n: this.#counted }));
  }
}

/** The list of the events that the view selects. */
class EventList {
  /**
   * The event that the keys are at.
   * @type {string | null}
   */
  #active = null;
  #scroller = h("div", {
    id: "rows", class: "scroller", role: "listbox", tabindex: 0, "aria-label": t("list.name"),
  });
  #marks = new Marks(() => this.#update());
  #list;
  #state;
  #tip;
  #unseen;

  /** @param {HTMLElement} body */
  constructor(body) {
    body.append(this.#scroller);
    this.#list = new ListWindow(this.#scroller, (code) => this.#marks.get(code), ({ quake }) => ({
      active: quake?.code === this.#active,
      selected: quake?.code === view.get().selected,
      checked: selection.on ? selection.has(quake?.code ?? "") : null,
    }));
    this.#state = new ListState(body);
    this.#tip = new Tip(body);
    this.#unseen = new Unseen(this.#list, body, () => {
      this.#list.scrollTo(0);
      this.#list.draw();
      this.#unseen.update();
      this.focus({ preventScroll: true });
    });
    this.#followStore();
    this.#followChoices();
    this.#listen();
    setInterval(() => this.#updateTimes(), timeStep);
    this.#update();
    this.#showSelected();
  }

  /** @param {FocusOptions} [options] */
  focus(options) {
    this.#scroller.focus(options);
  }

  #update() {
    this.#list.setItems(this.#marks.withGhosts(/** @type {Quake[]} */ (store.shown())));
    this.#state.update(this.#list.items.length > 0);
    this.#unseen.update();
    this.#nameActive();
  }

  #updateTimes() {
    for (const row of this.#list.rows()) row.updateTime();
  }

  /** Names the active row to readers of the screen, as long as the page has it. */
  #nameActive() {
    let id = null;
    for (const row of this.#list.rows()) {
      if (row.quake && row.quake.code === this.#active) id = row.element.id;
    }
    if (id === null) this.#scroller.removeAttribute("aria-activedescendant");
    else if (this.#scroller.getAttribute("aria-activedescendant") !== id) {
      this.#scroller.setAttribute("aria-activedescendant", id);
    }
  }

  #followStore() {
    store.addEventListener("change", (event) => {
      const detail = /** @type {StoreChange} */ (/** @type {CustomEvent} */ (event).detail);
      if (detail.kind === "reset") {
        this.#marks.clear();
        this.#unseen.clear();
      } else if (detail.live) {
        this.#marks.add(detail, (code) => this.#list.drawnAt(code));
        this.#unseen.add(detail.inserted);
      }
    });
    store.addEventListener("shown", () => this.#update());
    store.addEventListener("loaded", () => {
      this.#update();
      this.#updateTimes();
    });
    connection.addEventListener("state", () => this.#state.update(this.#list.items.length > 0));
  }

  #followChoices() {
    selection.addEventListener("change", () => {
      if (selection.on) this.#scroller.setAttribute("aria-multiselectable", "true");
      else this.#scroller.removeAttribute("aria-multiselectable");
      this.#list.draw();
      this.#nameActive();
    });
    settings.addEventListener("change", () => {
      this.#update();
      this.#updateTimes();
    });
    view.addEventListener("change", (event) => {
      const { changed } = /** @type {CustomEvent<{ changed: Set<string> }>} */ (event).detail;
      if (changed.has("sort") || changed.has("descending")) this.#list.scrollTo(0);
      if (changed.has("selected")) this.#showSelected();
      if (changed.has("color")) for (const row of this.#list.rows()) row.updateColor();
    });
  }

  #showSelected() {
    const { selected } = view.get();
    if (selected !== null) {
      this.#active = selected;
      const index = this.#list.indexOf(selected, this.#list.first);
      if (index >= 0) this.#list.reveal(index);
    }
    this.#list.draw();
    this.#nameActive();
  }

  #listen() {
    const scroller = this.#scroller;
    const list = this.#list;
    scroller.addEventListener("scroll", () => {
      this.#tip.hide();
      this.#unseen.update();
      this.#nameActive();
    }, { passive: true });
    scroller.addEventListener("pointerover", (event) => {
      const row = rowOf(list, event.target);
      const isTime = event.target instanceof Element && event.target.closest("time") !== null;
      if (row?.quake && isTime) this.#tip.show(row.quake, row.time);
      else this.#tip.hide();
    });
    scroller.addEventListener("pointerleave", () => this.#tip.hide());
    scroller.addEventListener("blur", () => this.#tip.hide());
    scroller.addEventListener("click", (event) => {
      const row = rowOf(list, event.target);
      if (row?.quake) this.#open(row.quake, event.shiftKey);
    });
    listKeys(scroller, {
      position: () => (this.#active === null ? -1 : list.indexOf(this.#active, list.first)),
      length: () => list.items.length,
      page: () => list.page,
      first: () => list.first,
      goTo: (index) => this.#goTo(index),
      open: (index) => this.#open(list.items[index], false),
      all: () => selection.add(store.shown().map(({ code }) => code)),
    });
  }

  /**
   * @param {Quake} quake
   * @param {boolean} range mark everything between the last row and this one
   */
  #open(quake, range) {
    const list = this.#list;
    const ends = [this.#active ?? quake.code, quake.code].map((code) => list.indexOf(code, list.first));
    this.#active = quake.code;
    if (selection.on && range && Math.min(...ends) >= 0) {
      selection.add(list.items.slice(Math.min(...ends), Math.max(...ends) + 1).map(({ code }) => code));
    } else if (selection.on) selection.toggle(quake.code);
    else view.set({ selected: quake.code });
    list.draw();
    this.#nameActive();
  }

  /** @param {number} index the keys go to this row */
  #goTo(index) {
    const { items } = this.#list;
    const quake = items[Math.min(items.length - 1, Math.max(0, index))];
    if (!quake) return;
    this.#active = quake.code;
    this.#list.reveal(this.#list.indexOf(quake.code, index));
    this.#nameActive();
    for (const row of this.#list.rows()) if (row.quake === quake) this.#tip.show(quake, row.time);
  }
}

/** @param {HTMLElement} element */
export function start(element) {
  element.append(h("h2", { class: "visually-hidden", text: t("list.name") }));
  startBar(element);
  const body = h("div", { class: "list-body" });
  element.append(body);
  const list = new EventList(body);
  element.addEventListener("focus", () => list.focus());
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    // The details cover the list.
    view.set({ selected: null });
    list.focus();
  });
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
