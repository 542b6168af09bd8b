import { ApiError, quakeOfRow, rowOfRecord } from "../api/answers.js";
import { api } from "../data/api.js";
import { connection } from "../data/connection.js";
import { store } from "../data/store.js";
import { tokenChanged } from "../list/selection.js";
import { settings } from "../state/settings.js";
import { view } from "../state/view.js";
import { format, isolated, t } from "../text/text.js";
import { button, byId, fill, h } from "../ui/dom.js";
import { copy, fail, reason } from "../ui/toasts.js";
import { content, known, preview } from "./content.js";
import { record } from "./timeline.js";

/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../marks/lines.js").Revision} Revision */

/**
 * @param {string} code
 * @returns {{ index: number, length: number }} where the event is in the list; -1 if the list lacks it
 */
function place(code) {
  const shown = store.shown();
  return { index: shown.findIndex((quake) => quake.code === code), length: shown.length };
}

/**
 * Opens the event before or after the selected one in the list.
 * @param {1 | -1} by
 */
export function step(by) {
  const { selected } = view.get();
  if (selected === null) return;
  const next = store.shown()[place(selected).index + by];
  if (next) view.set({ selected: next.code });
}

/**
 * The line above the event: its neighbours in the list, its link, and closing.
 * @returns {{ element: HTMLElement, update: () => void }}
 */
function detailBar() {
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

/** The history of an event has no limit of its own; the newest revisions count. */
const most = 200;

/**
 * Tells the map where the open event is, which the list need not have.
 * @param {import("../types.js").Quake|null} quake
 */
function tellOpened(quake) {
  view.dispatchEvent(new CustomEvent("opened", { detail: quake }));
}

/**
 * Tells the map where the revisions of the open event had its epicentre.
 * @param {Change[]} versions oldest first; empty: no event is open
 */
function tellTrail(versions) {
  /** @type {Revision[]} */
  const trail = [];
  for (const version of versions) {
    const event = version.new;
    if (!event || event.longitude === null || event.latitude === null) continue;
    const last = trail.at(-1);
    if (last && last.longitude === event.longitude && last.latitude === event.latitude) continue;
    trail.push({ longitude: event.longitude, latitude: event.latitude, magnitude: event.magnitude });
  }
  view.dispatchEvent(new CustomEvent("trail", { detail: trail.slice(-most) }));
}

/** Changes of the same event within this time are read together. */
const reloadDelay = 250;

/** One event: all that is known of it, and how that came to be known. */
class Detail {
  #element;
  #bar = detailBar();
  #body = h("div", { class: "detail-body", tabindex: 0, role: "group", "aria-label": t("detail.name") });
  /** @type {string | null} */
  #shown = null;
  /** @type {Change[] | null} */
  #versions = null;
  /** @type {Element | null} */
  #focusBefore = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #reload;
  #started = false;

  /** @param {HTMLElement} element */
  constructor(element) {
    this.#element = element;
    element.append(this.#bar.element, this.#body);
    view.addEventListener("change", (event) => {
      const { changed } = /** @type {CustomEvent<{ changed: Set<string> }>} */ (event).detail;
      this.#update();
      if (changed.has("asOf") || changed.has("color")) this.#draw();
    });
    for (const event of ["shown", "loaded"]) store.addEventListener(event, () => this.#bar.update());
    // The list does not have all columns, nor all events.
    connection.onAnswer((message) => {
      if (message.type === "touched") this.#follow(message.codes);
    });
    store.addEventListener("change", (event) => {
      const { detail } = /** @type {CustomEvent<import("../types.js").StoreChange>} */ (event);
      if (detail.kind !== "changes") return;
      const touched = [...detail.inserted, ...detail.deleted, ...detail.updated.map(({ after }) => after)];
      this.#follow(touched.map(({ code }) => code));
    });
    for (const source of [settings, tokenChanged]) source.addEventListener("change", () => this.#draw());
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      view.set({ selected: null });
    });
    this.#update();
    this.#started = true;
  }

  #draw() {
    if (this.#shown === null || this.#versions === null) return;
    const body = this.#body;
    const focused = document.activeElement;
    const isInside = focused !== body && body.contains(focused);
    fill(body, content(this.#shown, this.#versions, record(this.#versions, view.get().asOf)));
    if (!isInside) return;
    // The element that had the focus is made anew. If it is gone, the details get the focus.
    const text = focused?.textContent;
    const again = [...body.querySelectorAll("a, button")].find((one) => one.textContent === text);
    (again instanceof HTMLElement ? again : body).focus({ preventScroll: true });
  }

  /** @param {string} code */
  async #load(code) {
    try {
      const { versions } = await api.versions(code);
      if (this.#shown !== code) return;
      this.#versions = versions;
      this.#showTitle();
      const scroll = this.#body.scrollTop;
      this.#draw();
      this.#body.scrollTop = scroll;
      const last = record(versions, view.get().asOf)?.event;
      tellOpened(last ? quakeOfRow(rowOfRecord(last)) : null);
      tellTrail(versions);
    } catch (error) {
      if (this.#shown !== code) return;
      if (this.#versions === null) {
        fill(this.#body, known(code, store.get(code)), this.#failure(code, error));
      } else fail(t("detail.failed"), error);
    }
  }

  /**
   * @param {string} code
   * @param {unknown} error
   */
  #failure(code, error) {
    const missing = error instanceof ApiError && error.status === 404;
    return h(
      "div", { class: "state-text", role: "alert" },
      h("h2", { text: missing ? t("detail.missing") : t("detail.failed") }), h("p", { text: reason(error) }),
      missing ? null : button(
        { icon: "refresh", text: t("retry"), kind: "outlined", action: () => void this.#load(code) },
      ),
    );
  }

  /** Shows the event that is selected now. */
  #update() {
    const { selected } = view.get();
    this.#bar.update();
    if (selected === this.#shown) return;
    clearTimeout(this.#reload);
    const wasOpen = this.#shown !== null;
    this.#shown = selected;
    this.#versions = null;
    this.#element.hidden = selected === null;
    // Elements that the details cover cannot get the focus.
    for (const id of ["filters", "list"]) byId(id).inert = selected !== null;
    this.#showTitle();
    if (selected === null) return this.#close();
    this.#body.scrollTop = 0;
    fill(this.#body, preview(selected, store.get(selected)));
    if (!wasOpen) {
      // A page that is opened with an event in its address leaves the focus at its beginning.
      this.#focusBefore = document.activeElement === document.body ? null : document.activeElement;
      if (document.hasFocus() && this.#started) this.#body.focus({ preventScroll: true });
    }
    void this.#load(selected);
  }

  #close() {
    tellOpened(null);
    tellTrail([]);
    fill(this.#body);
    const before = this.#focusBefore;
    const back = before instanceof HTMLElement && before.isConnected ? before : byId("rows");
    back.focus({ preventScroll: true });
  }

  /** Tabs and the browser's history name the event that is open. */
  #showTitle() {
    const quake = this.#shown === null ? undefined : store.get(this.#shown);
    document.title = quake
      ? `M ${format.magnitude(quake)} ${isolated(quake.place || quake.code)} · Quake`
      : "Quake";
  }

  /** @param {string[]} touched the codes of events that changed */
  #follow(touched) {
    const code = this.#shown;
    if (code === null || !touched.includes(code)) return;
    clearTimeout(this.#reload);
    this.#reload = setTimeout(() => void this.#load(code), reloadDelay);
  }
}

/** @param {HTMLElement} element */
export function start(element) {
  new Detail(element);
}
