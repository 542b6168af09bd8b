import { filter } from "../data/filter.js";
import { store } from "../data/store.js";
import { flashesOf, mostFlashes } from "../marks/flashes.js";
import { view } from "../state/view.js";

/** @typedef {import("../types.js").Changes} Changes */
/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("./events.js").Events} Events */
/** @typedef {import("./screen.js").Screen} Screen */

/** With more events than this, new ones are drawn together: a change is marked at once in any case. */
const manyEvents = 5000;
const manyDelay = 300;
/** Of more events than this, changed ones are put on top until all are ordered again, this often. */
const orderDelay = 5000;
const minute = 60_000;

/**
 * Gives the map the events of the list, and marks what was just committed.
 * @param {Events} events
 * @param {Screen} screen
 */
export function followStore(events, screen) {
  let last = -Infinity;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let ordering;
  /** @type {Changes[]} not yet on the map */
  let waiting = [];

  const passes = () => filter(view.get(), view.bounds(), store.now());
  const replace = () => {
    clearTimeout(ordering);
    ordering = undefined;
    waiting = [];
    events.replace(store.shown(), view.get().color, store.now());
    screen.setEvents();
  };
  const show = () => {
    timer = undefined;
    last = performance.now();
    const changes = waiting;
    waiting = [];
    const few = store.shown().length > manyEvents && changes.length > 0
      && events.apply(changes, passes(), view.get().color, store.now())
      && events.count === store.shown().length;
    // If the numbers differ, the filter changed as well, or the list is still being loaded.
    if (!few) {
      replace();
      return;
    }
    screen.setEvents();
    ordering ??= setTimeout(replace, orderDelay);
  };
  const later = () => {
    const wait = store.shown().length > manyEvents ? last + manyDelay - performance.now() : 0;
    timer ??= setTimeout(show, Math.max(0, wait));
  };

  replace();
  view.addEventListener("change", (event) => {
    const { changed } = /** @type {CustomEvent} */ (event).detail;
    if (!changed.has("color") && !changed.has("asOf")) return;
    waiting = [];
    later();
  });
  setInterval(() => {
    if (view.get().color !== "age" || view.get().asOf !== null) return;
    waiting = [];
    later();
  }, minute);
  store.addEventListener("shown", later);
  store.addEventListener("change", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (detail.kind === "changes") waiting.push(detail);
    else waiting = [];
    if (detail.kind !== "changes" || document.hidden) return;
    // In the past, a step of the history is marked, too; a jump over many changes is not.
    const step = view.get().asOf !== null
      && detail.inserted.length + detail.updated.length + detail.deleted.length <= mostFlashes;
    if (!detail.live && !step) return;
    screen.flash(flashesOf(detail, performance.now(), passes()));
  });
}
