import { store } from "../data/store.js";
import { view } from "../state/view.js";

/**
 * @param {string} code
 * @returns {{ index: number, length: number }} where the event is in the list; -1 if the list lacks it
 */
export function place(code) {
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
