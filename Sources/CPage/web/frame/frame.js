import { api, server } from "../data/api.js";
import { connection, isLost } from "../data/connection.js";
import { store } from "../data/store.js";
import { step } from "../detail/detail.js";
import { showHelp, showSettings } from "../header/settings.js";
import { showShare } from "../header/tools.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { byId, phone, rem } from "../ui/dom.js";
import { toast } from "../ui/toasts.js";
import { toggle } from "./dock.js";

/** @typedef {import("../types.js").Quake} Quake */

/** A shorter movement is a tremble of the finger: the handle was pressed. In pixels. */
const tremble = 6;
/** The handle and the search field remain: the height of a low sheet in style/layout.css. In rem. */
const leastHeight = 4.75;
/** The parts of the window below which a dragged sheet becomes low, or middle. */
const lowUpTo = 0.25;
const middleUpTo = 0.68;

const heights = /** @type {const} */ (["low", "middle", "high"]);
/** @typedef {typeof heights[number]} Height */

/**
 * The list as a sheet over the map, on a phone: its handle is dragged or pressed.
 * @param {HTMLElement} side
 */
export function startSheet(side) {
  const handle = byId("sheet-handle");

  // Elements that the sheet covers cannot be reached with the keyboard.
  const cover = () => {
    const covered = phone.matches && side.dataset.height === "high";
    for (const id of ["map", "dock"]) byId(id).inert = covered;
  };
  phone.addEventListener("change", cover);

  /** @param {Height} height */
  const set = (height) => {
    side.dataset.height = height;
    side.style.height = "";
    cover();
    handle.setAttribute("aria-label", t(height === "high" ? "sheet.smaller" : "sheet.larger"));
  };
  const step = (/** @type {number} */ by) => {
    const index = heights.indexOf(/** @type {Height} */ (side.dataset.height ?? "middle"));
    set(heights[Math.min(heights.length - 1, Math.max(0, index + by))]);
  };
  set("middle");

  let shown = view.get().selected;
  let from = 0;
  let height = 0;
  let moved = false;
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    from = event.clientY;
    height = side.getBoundingClientRect().height;
    moved = false;
  });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId) || !phone.matches) return;
    if (Math.abs(event.clientY - from) > tremble) moved = true;
    if (!moved) return;
    side.classList.add("dragged");
    side.style.height = `${Math.max(rem(leastHeight), height + from - event.clientY)}px`;
  });
  const drop = () => {
    side.classList.remove("dragged");
    if (!moved) return;
    const share = side.getBoundingClientRect().height / innerHeight;
    set(share < lowUpTo ? "low" : share < middleUpTo ? "middle" : "high");
  };
  handle.addEventListener("pointerup", drop);
  handle.addEventListener("pointercancel", drop);
  handle.addEventListener("click", () => {
    if (moved) return;
    if (side.dataset.height === "high") set("low");
    else step(1);
  });
  // The sheet is raised if it hides the element that a person opens or types in.
  const raise = () => {
    if (phone.matches && side.dataset.height === "low") set("middle");
  };
  side.addEventListener("focusin", ({ target }) => {
    if (target !== handle) raise();
  });
  view.addEventListener("change", () => {
    if (view.get().selected !== shown && view.get().selected !== null) raise();
    shown = view.get().selected;
  });
  handle.addEventListener("keydown", (event) => {
    if (event.key === "ArrowUp") step(1);
    else if (event.key === "ArrowDown") step(-1);
    else return;
    event.preventDefault();
  });
}

/** @type {Record<string, () => void>} */
const keys = {
  "/": () => uncover("search").focus(),
  f: () => uncover("filter-toggle").click(),
  l: () => uncover("rows").focus(),
  m: () => focusable(byId("map"))?.focus(),
  h: () => void toggle("time"),
  c: () => void toggle("charts"),
  j: () => step(1),
  k: () => step(-1),
  s: showShare,
  ",": showSettings,
  "?": showHelp,
  r: () => document.getElementById("refresh")?.click(),
  t: () => document.getElementById("token")?.click(),
  x: () => document.getElementById("select")?.click(),
  Escape: () => view.set({ selected: null }),
};

/**
 * Closes the details, which may cover the element.
 * @param {string} id
 */
function uncover(id) {
  view.set({ selected: null });
  return byId(id);
}

/**
 * @param {HTMLElement} element
 * @returns {HTMLElement | null} what takes the keys in it
 */
function focusable(element) {
  return element.tabIndex >= 0 ? element : element.querySelector("[tabindex='0'], canvas, button");
}

/** Starts the keys of the page. They do nothing while a person writes or a dialog is open. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const { target } = event;
    const writes = target instanceof HTMLElement && target.matches(
      "input, select, textarea, [contenteditable]",
    );
    if (writes && event.key !== "Escape") return;
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** A screen reader needs time for a sentence: at most one announcement in this time. */
const pause = 10_000;

/**
 * Tells screen readers how many events are new, changed or deleted, and which new one is the strongest.
 * @param {HTMLElement} element
 */
export function startSummary(element) {
  /** @type {Map<string, Quake>} */
  const inserted = new Map();
  let updated = 0;
  let news = "";
  let deleted = 0;
  let last = 0;
  let lost = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const say = () => {
    timer = undefined;
    const sentences = news === "" ? [] : [news];
    news = "";
    if (inserted.size > 0) {
      const strongest = [...inserted.values()].reduce(
        (a, b) => ((b.magnitude ?? -9) > (a.magnitude ?? -9) ? b : a),
      );
      sentences.push(t("summary.new", {
        n: inserted.size, magnitude: format.magnitude(strongest),
        place: strongest.place || t("place.unknown"),
      }));
    }
    if (updated > 0) sentences.push(t("summary.changed", { n: updated }));
    if (deleted > 0) sentences.push(t("summary.deleted", { n: deleted }));
    inserted.clear();
    updated = 0;
    deleted = 0;
    if (sentences.length === 0) return;
    last = Date.now();
    element.textContent = sentences.join(" ");
  };
  const soon = () => {
    timer ??= setTimeout(say, Math.max(500, last + pause - Date.now()));
  };

  store.addEventListener("change", (event) => {
    const { detail } = /** @type {CustomEvent<import("../types.js").StoreChange>} */ (event);
    if (detail.kind !== "changes" || !detail.live) return;
    for (const quake of detail.inserted) inserted.set(quake.code, quake);
    updated += detail.updated.length;
    for (const { code } of detail.deleted) if (!inserted.delete(code)) deleted += 1;
    soon();
  });
  connection.addEventListener("state", () => {
    const { kind } = connection.state;
    const fails = isLost(kind);
    // The page begins with "connecting"; only losing and regaining the connection is news.
    if (fails === lost || (!fails && kind !== "live")) return;
    lost = fails;
    news = t(kind === "database" ? "summary.database" : lost ? "summary.offline" : "summary.live");
    soon();
  });
}

/** Offers to load the page again when the server comes back with another version of it. */
export async function startUpgrade() {
  const { assets } = await server();
  let { kind } = connection.state;
  let told = false;
  connection.addEventListener("state", async () => {
    const before = kind;
    ({ kind } = connection.state);
    if (told || kind !== "live" || before === "live" || !assets) return;
    const now = await api.settings().catch(() => null);
    if (told || !now?.assets || now.assets === assets) return;
    told = true;
    toast({ text: t("upgrade"), action: { text: t("upgrade.reload"), run: () => location.reload() } });
  });
}
