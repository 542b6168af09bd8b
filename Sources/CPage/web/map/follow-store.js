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
/** More changes than this wait only while none of them passes the filter. */
const mostWaiting = 1000;
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
  /** Whether more is new than what is waiting. */
  let all = false;
  let replacing = false;

  const passes = () => filter(view.get(), view.bounds(), store.now());
  const replace = async () => {
    clearTimeout(ordering);
    ordering = undefined;
    waiting = [];
    all = false;
    replacing = true;
    await events.replace([...store.shown()], view.get().color, store.now());
    replacing = false;
    screen.setEvents();
    if (all || waiting.length > 0) later();
  };
  const show = () => {
    timer = undefined;
    // When all are replaced, it is called again.
    if (replacing) return;
    last = performance.now();
    const changes = waiting;
    waiting = [];
    const few = !all && store.shown().length > manyEvents
      && events.apply(changes, passes(), view.get().color, store.now())
      && events.count === store.shown().length;
    // If the numbers differ, the list is still being loaded.
    if (few) {
      screen.setEvents();
      ordering ??= setTimeout(replaceSoon, orderDelay);
    } else void replace();
  };
  const later = () => {
    const wait = store.shown().length > manyEvents ? last + manyDelay - performance.now() : 0;
    timer ??= setTimeout(show, Math.max(0, wait));
  };
  const replaceSoon = () => {
    all = true;
    later();
  };

  void replace();
  view.addEventListener("change", (event) => {
    const { changed } = /** @type {CustomEvent} */ (event).detail;
    if (changed.has("color") || changed.has("asOf")) replaceSoon();
  });
  setInterval(() => {
    if (view.get().color === "age" && view.get().asOf === null) replaceSoon();
  }, minute);
  store.addEventListener("shown", () => {
    // Without a change, the filter or the order is another.
    if (waiting.length === 0) all = true;
    later();
  });
  store.addEventListener("change", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (detail.kind === "changes" && waiting.length < mostWaiting) waiting.push(detail);
    else all = true;
    if (detail.kind !== "changes" || document.hidden) return;
    // In the past, a step of the history is marked, too; a jump over many changes is not.
    const step = view.get().asOf !== null
      && detail.inserted.length + detail.updated.length + detail.deleted.length <= mostFlashes;
    if (!detail.live && !step) return;
    screen.flash(flashesOf(detail, performance.now(), passes()));
  });
}
