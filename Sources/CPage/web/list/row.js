import { store } from "../data/store.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { badges, sentence } from "../ui/badges.js";
import { h, setText } from "../ui/dom.js";
import { colorOf, magnitudeSize } from "../ui/sign.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {{ kind: "new" | "changed" | "deleted", text: string, started: number }} Mark */

/** A relative time of more than a week tells less than the date. */
const relativeUpTo = 7 * 86_400_000;

/** A row of the list. It is made once and shows one event after the other while the list is scrolled. */
export class Row {
  /** @type {Quake | null} */
  quake = null;
  index = -1;
  /** @type {Mark | undefined} */
  #mark;
  #size = -1;
  #top = -1;
  #state = "";
  #color = "";
  #dot = h("i", { class: "dot" });
  #magnitude = h("span", { class: "magnitude" });
  #type = h("span", { class: "magnitude-type" });
  #place = h("span", { class: "place", dir: "auto" });
  #time = h("time", {});
  #notes = h("span", { class: "notes" });
  #tick = h("span", { class: "tick", "aria-hidden": "true" });

  /** @param {number} number of the row within the list */
  constructor(number) {
    this.element = h(
      "div", { class: "row", role: "option", id: `row-${number}`, hidden: true },
      this.#tick, this.#dot, h("span", { class: "measure" }, this.#magnitude, this.#type), this.#place,
      h("span", { class: "facts" }, this.#notes, this.#time),
    );
  }

  /** @returns {HTMLTimeElement} */
  get time() {
    return this.#time;
  }

  /**
   * @param {Quake} quake
   * @param {{ index: number, size: number, top: number }} place in a list of this size; the top is in pixels
   * @param {Mark | undefined} mark what just happened to the event
   */
  show(quake, { index, size, top }, mark) {
    if (index !== this.index) this.element.setAttribute("aria-posinset", String(index + 1));
    if (size !== this.#size) this.element.setAttribute("aria-setsize", String(size));
    if (top !== this.#top) this.element.style.transform = `translateY(${top}px)`;
    this.index = index;
    this.#size = size;
    this.#top = top;
    if (quake === this.quake && mark === this.#mark) return;
    this.element.hidden = false;
    this.quake = quake;
    this.#mark = mark;
    this.element.dataset.code = quake.code;
    this.#fill(quake, mark);
    this.#writeTime(quake);
  }

  /** Shows nothing. */
  clear() {
    this.quake = null;
    this.element.hidden = true;
    delete this.element.dataset.code;
  }

  /** Shows nothing for a moment: to hide and to show it again would take longer than to fill it. */
  moveAway() {
    this.quake = null;
    this.#top = -1;
    this.element.style.transform = "translateY(-100px)";
    delete this.element.dataset.code;
  }

  /**
   * @param {Quake} quake
   * @param {Mark | undefined} mark
   */
  #fill(quake, mark) {
    const size = `${Math.round(magnitudeSize(quake.magnitude))}px`;
    this.#dot.style.width = size;
    this.#dot.style.height = size;
    this.#color = "";
    this.updateColor();
    setText(this.#magnitude, format.magnitude(quake));
    this.#magnitude.classList.toggle("strong", (quake.magnitude ?? 0) >= 5);
    setText(this.#type, quake.magnitude === null ? "" : quake.magnitudeType ?? "");
    setText(this.#place, quake.place || t("place.unknown"));
    this.#state = "";
    this.element.className = mark ? `row ${mark.kind}` : "row";
    if (mark) this.element.style.setProperty("--age", `${mark.started - performance.now()}ms`);
    const notes = badges(quake).map(({ text, kind }) => ({ text, kind: `badge ${kind}` }));
    notes.unshift({ text: format.depth(quake.depth), kind: "depth" });
    if (mark) notes.unshift({ text: mark.text, kind: "badge mark" });
    this.#setNotes(notes);
  }

  /**
   * Uses the elements that are there again: making one takes longer than changing it.
   * @param {{ text: string, kind: string }[]} notes
   */
  #setNotes(notes) {
    const { children } = this.#notes;
    while (children.length > notes.length) children[notes.length].remove();
    while (children.length < notes.length) this.#notes.append(h("span"));
    for (const [number, { text, kind }] of notes.entries()) {
      const note = children[number];
      if (note.className !== kind) note.className = kind;
      setText(note, text);
    }
  }

  /** Shows the colour of the event on the scale of the view: its age grows. */
  updateColor() {
    if (!this.quake) return;
    const color = colorOf(this.quake, view.get().color, store.now());
    if (color !== this.#color) this.#dot.style.backgroundColor = color;
    this.#color = color;
  }

  /** Writes the relative time, which grows. */
  updateTime() {
    this.updateColor();
    if (this.quake && this.#time.textContent !== timeText(this.quake)) this.#writeTime(this.quake);
  }

  /** @param {Quake} quake */
  #writeTime(quake) {
    setText(this.#time, timeText(quake));
    this.#time.dateTime = new Date(quake.time).toISOString();
    const mark = this.#mark ? `${this.#mark.text}: ` : "";
    this.element.setAttribute("aria-label", mark + sentence(quake));
  }

  /**
   * @param {{ active: boolean, selected: boolean, checked: boolean | null }} state `checked` is null when
   *   nothing can be marked for an edit
   */
  setState({ active, selected, checked }) {
    const state = `${active} ${selected} ${checked}`;
    if (state === this.#state) return;
    this.#state = state;
    const { classList } = this.element;
    classList.toggle("active", active);
    classList.toggle("selected", selected);
    classList.toggle("checked", checked === true);
    this.element.setAttribute("aria-selected", String(checked ?? selected));
  }
}

/** @param {Quake} quake */
function timeText({ time }) {
  const now = store.now();
  return now - time < relativeUpTo ? format.relative(time, now) : format.date(time);
}
