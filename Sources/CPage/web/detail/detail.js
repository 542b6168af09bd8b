import { ApiError } from "../api/api-error.js";
import { quakeOfRow, rowOfRecord } from "../api/rows.js";
import { api } from "../data/api.js";
import { store } from "../data/store.js";
import { validated } from "../header/edits.js";
import { tokenChanged } from "../header/token.js";
import { settings } from "../state/settings.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button } from "../ui/button.js";
import { byId, fill, h } from "../ui/dom.js";
import { fail, reason } from "../ui/failure.js";
import { detailBar } from "./bar.js";
import { content, known, preview } from "./content.js";
import { record } from "./record.js";
import { tellOpened, tellTrail } from "./trail.js";

/** @typedef {import("../types.js").Change} Change */

/** Changes of the same event within this time are read together. */
const reloadDelay = 250;

/**
 * One event: all that is known of it, and how that came to be known.
 * @param {HTMLElement} element
 */
export function start(element) {
  const bar = detailBar();
  const body = h(
    "div", { class: "detail-body", tabindex: 0, role: "group", "aria-label": t("detail.name") },
  );
  element.append(bar.element, body);

  /** @type {string | null} */
  let shown = null;
  /** @type {Change[] | null} */
  let versions = null;
  /** @type {Element | null} */
  let focusBefore = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let reload;

  const draw = () => {
    if (shown === null || versions === null) return;
    const focused = document.activeElement;
    const isInside = focused !== body && body.contains(focused);
    fill(body, content(shown, versions, record(versions, view.get().asOf)));
    if (!isInside) return;
    // The element that had the focus is made anew. If it is gone, the details get the focus.
    const text = focused?.textContent;
    const again = [...body.querySelectorAll("a, button")].find((one) => one.textContent === text);
    (again instanceof HTMLElement ? again : body).focus({ preventScroll: true });
  };
  /** @param {string} code */
  const load = async (code) => {
    try {
      const answer = await api.versions(code);
      if (shown !== code) return;
      ({ versions } = answer);
      showTitle();
      const scroll = body.scrollTop;
      draw();
      body.scrollTop = scroll;
      const last = record(versions, view.get().asOf)?.event;
      tellOpened(last ? quakeOfRow(rowOfRecord(last)) : null);
      tellTrail(versions);
    } catch (error) {
      if (shown !== code) return;
      if (versions === null) fill(body, known(code, store.get(code)), failure(code, error));
      else fail(t("detail.failed"), error);
    }
  };
  /**
   * @param {string} code
   * @param {unknown} error
   */
  const failure = (code, error) => {
    const missing = error instanceof ApiError && error.status === 404;
    return h(
      "div", { class: "state-text", role: "alert" },
      h("h2", { text: missing ? t("detail.missing") : t("detail.failed") }), h("p", { text: reason(error) }),
      missing ? null : button(
        { icon: "refresh", text: t("retry"), kind: "outlined", action: () => void load(code) },
      ),
    );
  };
  const update = () => {
    const { selected } = view.get();
    bar.update();
    if (selected === shown) return;
    clearTimeout(reload);
    const wasOpen = shown !== null;
    shown = selected;
    versions = null;
    element.hidden = selected === null;
    // Elements that the details cover cannot get the focus.
    for (const id of ["filters", "list"]) byId(id).inert = selected !== null;
    showTitle();
    if (selected === null) {
      tellOpened(null);
      tellTrail([]);
      fill(body);
      const back = focusBefore instanceof HTMLElement && focusBefore.isConnected ? focusBefore : byId("rows");
      back.focus({ preventScroll: true });
      return;
    }
    body.scrollTop = 0;
    fill(body, preview(selected, store.get(selected)));
    if (!wasOpen) {
      // A page that is opened with an event in its address leaves the focus at its beginning.
      focusBefore = document.activeElement === document.body ? null : document.activeElement;
      if (document.hasFocus() && started) body.focus({ preventScroll: true });
    }
    void load(selected);
  };

  /** Tabs and the browser's history name the event that is open. */
  const showTitle = () => {
    const quake = shown === null ? undefined : store.get(shown);
    document.title = quake ? `M ${format.magnitude(quake)} ${quake.place || quake.code} · Quake` : "Quake";
  };

  let started = false;
  view.addEventListener("change", (event) => {
    update();
    if (/** @type {CustomEvent<{ changed: Set<string> }>} */ (event).detail.changed.has("asOf")) draw();
    else if (/** @type {CustomEvent} */ (event).detail.changed.has("color")) draw();
  });
  for (const event of ["shown", "loaded"]) store.addEventListener(event, () => bar.update());
  store.addEventListener("change", (event) => {
    const { detail } = /** @type {CustomEvent<import("../types.js").StoreChange>} */ (event);
    if (shown === null || detail.kind !== "changes") return;
    const code = shown;
    const touched = [...detail.inserted, ...detail.deleted, ...detail.updated.map(({ after }) => after)];
    if (!touched.some((quake) => quake.code === code)) return;
    clearTimeout(reload);
    reload = setTimeout(() => void load(code), reloadDelay);
  });
  // A validation changes nothing that the list has.
  validated.addEventListener("change", () => {
    if (shown !== null) void load(shown);
  });
  settings.addEventListener("change", draw);
  tokenChanged.addEventListener("change", draw);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    view.set({ selected: null });
  });
  update();
  started = true;
}
