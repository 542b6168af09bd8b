import { selection } from "./selection.js";

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
export function listKeys(element, actions) {
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
