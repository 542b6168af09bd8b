import { api, server } from "../data/api.js";
import { connection, glance, isLost, lastLook } from "../data/connection.js";
import { store } from "../data/store.js";
import { step } from "../detail/detail.js";
import { showHelp, showSettings } from "../header/settings.js";
import { showShare } from "../header/tools.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button, byId, h, phone, rem } from "../ui/dom.js";
import { toast } from "../ui/toasts.js";

/** @typedef {import("../types.js").Quake} Quake */

/** @typedef {(element: HTMLElement) => void | Promise<void>} Start */

/** The parts that are folded away along the bottom. Each is loaded when it is opened first. */
const parts = {
  time: {
    icon: /** @type {const} */ ("clock"), key: "h",
    load: async () => /** @type {{ start: Start }} */ (await import("../time/time.js")),
  },
  charts: {
    icon: /** @type {const} */ ("chart"), key: "c",
    load: async () => /** @type {{ start: Start }} */ (await import("../charts/charts.js")),
  },
};

/** @typedef {keyof typeof parts} Part */

/** How often the relative time of the last look is written anew. */
const noteStep = 30_000;

/** @type {Set<Part>} */
const started = new Set();

/**
 * @param {Part} id
 * @param {boolean} open
 */
function show(id, open) {
  byId(id).hidden = !open;
  byId(`${id}-toggle`).setAttribute("aria-expanded", String(open));
}

/**
 * Opens or folds a part.
 * @param {Part} id
 * @param {boolean} [open]
 */
async function toggle(id, open) {
  const element = byId(id);
  show(id, open ?? element.hidden);
  if (!element.hidden && phone.matches) {
    // A phone has no place for both.
    for (const other of /** @type {Part[]} */ (Object.keys(parts))) if (other !== id) show(other, false);
  }
  if (element.hidden || started.has(id)) return;
  started.add(id);
  try {
    await (await parts[id].load()).start(element);
  } catch (error) {
    console.error(id, error);
    started.delete(id);
    toast({ text: t("part.failed", { part: t(`dock.${id}`), reason: String(error) }), error: true });
  }
}

/**
 * Offers what changed since the person looked last.
 * @param {HTMLElement} note
 */
function startLastLook(note) {
  const update = () => {
    const { previous } = lastLook;
    note.replaceChildren();
    if (!previous || view.get().since !== null || Date.now() - previous.at < glance) return;
    note.append(button({
      text: t("time.changes.since", { time: format.relative(previous.at) }), kind: "link",
      action: () => view.set({ since: previous.token }),
    }));
  };
  update();
  lastLook.addEventListener("change", update);
  view.addEventListener("change", update);
  setInterval(update, noteStep);
}

/**
 * Draws the buttons, and opens the history when the page shows the past.
 * @param {HTMLElement} dock
 */
export function startDock(dock) {
  const bar = dock.firstElementChild;
  for (const id of /** @type {Part[]} */ (Object.keys(parts))) {
    const { icon, key } = parts[id];
    const fold = button({ icon, text: t(`dock.${id}`), action: () => void toggle(id) });
    fold.id = `${id}-toggle`;
    fold.setAttribute("aria-expanded", "false");
    fold.setAttribute("aria-controls", id);
    fold.setAttribute("aria-keyshortcuts", key);
    bar?.append(fold);
  }
  bar?.append(h("div", { id: "dock-note" }));
  startLastLook(byId("dock-note"));
  const past = () => {
    const { asOf, since } = view.get();
    if ((asOf !== null || since !== null) && byId("time").hidden) void toggle("time", true);
  };
  past();
  view.addEventListener("change", (event) => {
    const { changed } = /** @type {CustomEvent<{ changed: Set<string> }>} */ (event).detail;
    // A person may fold the history while the page shows the past.
    if (changed.has("asOf") || changed.has("since")) past();
  });
}

/** A shorter movement is a tremble of the finger: the handle was pressed. In pixels. */
const tremble = 6;
/** The handle and the search field remain: the height of a low sheet in style/layout.css. In rem. */
const leastHeight = 4.75;
/** The parts of the window below which a dragged sheet becomes low, or middle. */
const lowUpTo = 0.25;
const middleUpTo = 0.68;

const heights = /** @type {const} */ (["low", "middle", "high"]);
/** @typedef {typeof heights[number]} Height */

/** The list as a sheet over the map, on a phone: its handle is dragged or pressed. */
class Sheet {
  #side;
  #handle = byId("sheet-handle");
  #selected = view.get().selected;
  /** Where the drag began, and the height that the sheet had. */
  #from = 0;
  #height = 0;
  #moved = false;

  /** @param {HTMLElement} side */
  constructor(side) {
    this.#side = side;
    this.#set("middle");
    phone.addEventListener("change", () => this.#cover());
    this.#listen(this.#handle);
    side.addEventListener("focusin", ({ target }) => {
      if (target !== this.#handle) this.#raise();
    });
    view.addEventListener("change", () => {
      const { selected } = view.get();
      if (selected !== this.#selected && selected !== null) this.#raise();
      this.#selected = selected;
    });
  }

  /** @param {HTMLElement} handle */
  #listen(handle) {
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      this.#from = event.clientY;
      this.#height = this.#side.getBoundingClientRect().height;
      this.#moved = false;
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId) || !phone.matches) return;
      if (Math.abs(event.clientY - this.#from) > tremble) this.#moved = true;
      if (!this.#moved) return;
      this.#side.classList.add("dragged");
      this.#side.style.height = `${Math.max(rem(leastHeight), this.#height + this.#from - event.clientY)}px`;
    });
    handle.addEventListener("pointerup", () => this.#drop());
    handle.addEventListener("pointercancel", () => this.#drop());
    handle.addEventListener("click", () => {
      if (this.#moved) return;
      if (this.#side.dataset.height === "high") this.#set("low");
      else this.#step(1);
    });
    handle.addEventListener("keydown", (event) => {
      if (event.key === "ArrowUp") this.#step(1);
      else if (event.key === "ArrowDown") this.#step(-1);
      else return;
      event.preventDefault();
    });
  }

  /** @param {Height} height */
  #set(height) {
    this.#side.dataset.height = height;
    this.#side.style.height = "";
    this.#cover();
    this.#handle.setAttribute("aria-label", t(height === "high" ? "sheet.smaller" : "sheet.larger"));
  }

  /** @param {number} by */
  #step(by) {
    const index = heights.indexOf(/** @type {Height} */ (this.#side.dataset.height ?? "middle"));
    this.#set(heights[Math.min(heights.length - 1, Math.max(0, index + by))]);
  }

  /** Elements that the sheet covers cannot be reached with the keyboard. */
  #cover() {
    const covered = phone.matches && this.#side.dataset.height === "high";
    for (const id of ["map", "dock"]) byId(id).inert = covered;
  }

  #drop() {
    this.#side.classList.remove("dragged");
    if (!this.#moved) return;
    const share = this.#side.getBoundingClientRect().height / innerHeight;
    this.#set(share < lowUpTo ? "low" : share < middleUpTo ? "middle" : "high");
  }

  /** The sheet is raised if it hides the element that a person opens or types in. */
  #raise() {
    if (phone.matches && this.#side.dataset.height === "low") this.#set("middle");
  }
}

/** @param {HTMLElement} side */
export function startSheet(side) {
  new Sheet(side);
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
