import { format, t } from "../text/text.js";
import { statusName } from "../ui/sign.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("./window.js").Mark} Mark */

/** How long a change stays marked: as long as the animation `fade` of style/list.css. */
const stay = 10_000;
/** Marks that end within this time end together: a drawing of the list for each would be too much. */
const together = 100;
/** After a burst, such as the first import, a mark at each row would say nothing. */
const mostAtOnce = 60;

/**
 * What changed in an event, shortly.
 * @param {Quake} before
 * @param {Quake} after
 * @returns {string}
 */
function difference(before, after) {
  if (before.magnitude !== after.magnitude) {
    const [from, to] = [format.magnitude(before), format.magnitude(after)];
    return from === to
      ? `${format.preciseMagnitude(before.magnitude)} → ${format.preciseMagnitude(after.magnitude)}`
      : `${from} → ${to}`;
  }
  if (format.depth(before.depth) !== format.depth(after.depth)) {
    return `${format.depth(before.depth)} → ${format.depth(after.depth)}`;
  }
  if (before.latitude !== after.latitude || before.longitude !== after.longitude) return t("mark.moved");
  if (before.place !== after.place) return t("mark.place");
  if (before.time !== after.time) return t("mark.time");
  if (before.status !== after.status) return t("mark.status", { status: statusName(after.status) });
  if (before.felt !== after.felt) return t("badge.felt", { n: after.felt ?? 0 });
  return t("mark.changed");
}

/** What just happened to events, each for some seconds. */
export class Marks {
  /** @type {Map<string, Mark>} */
  #marks = new Map();
  /**
   * Deleted events that are still shown, with the position that they had.
   * @type {Map<string, Ghost>}
   */
  #ghosts = new Map();
  #onEnd;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @typedef {{ quake: Quake, index: number }} Ghost */

  /** @param {() => void} onEnd called when a mark ended */
  constructor(onEnd) {
    this.#onEnd = onEnd;
  }

  /** @param {string} code */
  get(code) {
    return this.#marks.get(code);
  }

  /**
   * @param {import("../types.js").Changes} changes
   * @param {(code: string) => number} position of an event that is seen, or -1
   */
  add({ inserted, updated, deleted }, position) {
    if (inserted.length + updated.length + deleted.length > mostAtOnce) return;
    const started = performance.now();
    for (const { code } of inserted) {
      this.#ghosts.delete(code);
      this.#set(code, { kind: "new", text: t("mark.new"), started });
    }
    for (const { before, after } of updated) {
      this.#set(after.code, { kind: "changed", text: difference(before, after), started });
    }
    for (const quake of deleted) {
      const index = position(quake.code);
      this.#marks.delete(quake.code);
      if (index < 0) continue;
      this.#ghosts.set(quake.code, { quake, index });
      this.#set(quake.code, { kind: "deleted", text: t("mark.deleted"), started });
    }
    this.#wait();
  }

  /** Forgets everything: another list is shown. */
  clear() {
    this.#marks.clear();
    this.#ghosts.clear();
  }

  /**
   * @param {Quake[]} shown
   * @returns {Quake[]} with the events that were deleted a moment ago, where they were
   */
  withGhosts(shown) {
    if (this.#ghosts.size === 0) return shown;
    const list = shown.slice();
    for (const { quake, index } of [...this.#ghosts.values()].sort((a, b) => a.index - b.index)) {
      list.splice(Math.min(index, list.length), 0, quake);
    }
    return list;
  }

  /**
   * @param {string} code
   * @param {Mark} mark
   */
  #set(code, mark) {
    this.#marks.delete(code);
    this.#marks.set(code, mark);
  }

  #wait() {
    if (this.#timer !== undefined || this.#marks.size === 0) return;
    const [first] = this.#marks.values();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const now = performance.now();
      for (const [code, { started }] of this.#marks) {
        if (now - started < stay - together) break;
        this.#marks.delete(code);
        this.#ghosts.delete(code);
      }
      this.#onEnd();
      this.#wait();
    }, Math.max(together, first.started + stay - performance.now()));
  }
}
