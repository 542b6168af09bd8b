import { glance, lastLook } from "../data/connection.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button, byId, h, phone } from "../ui/dom.js";
import { toast } from "../ui/toasts.js";

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
export async function toggle(id, open) {
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
export function start(dock) {
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
