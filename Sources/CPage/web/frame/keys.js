import { step } from "../detail/neighbours.js";
import { showHelp } from "../header/help.js";
import { showSettings } from "../header/settings.js";
import { showShare } from "../header/share.js";
import { view } from "../state/view.js";
import { byId } from "../ui/dom.js";
import { toggle } from "./dock.js";

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
export function start() {
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
