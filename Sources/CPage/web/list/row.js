import { store } from "../data/store.js";
import { format, t } from "../text/text.js";
import { h } from "../ui/dom.js";
import { magnitudeColor, magnitudeSize } from "../ui/magnitude.js";
import { badges, sentence } from "./badges.js";

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
  #state = "";
  #dot = h("i", { class: "dot" });
  #magnitude = h("span", { class: "magnitude" });
  #type = h("span", { class: "magnitude-type" });
  #place = h("span", { class: "place" });
  #time = h("time", {});
  #notes = h("span", { class: "notes" });
  #tick = h("span", { class: "tick", "aria-hidden": "true" });

  /** @param {number} number of the row within the list */
  constructor(number) {
    this.element = h(
      "div", { class: "row", role: "option", id: `row-${number}` },
      this.#tick, h("span", { class: "dot-box" }, this.#dot),
      h("span", { class: "measure" }, this.#magnitude, this.#type),
      this.#place, this.#notes, this.#time,
    );
  }

  /** @returns {HTMLTimeElement} */
  get time() {
    return this.#time;
  }

  /**
   * @param {Quake} quake
   * @param {number} index
   * @param {number} size of the whole list
   * @param {Mark | undefined} mark what just happened to the event
   */
  show(quake, index, size, mark) {
    if (index !== this.index || size !== this.#size) {
      this.index = index;
      this.#size = size;
      this.element.setAttribute("aria-posinset", String(index + 1));
      this.element.setAttribute("aria-setsize", String(size));
      this.element.style.transform = `translateY(calc(var(--row) * ${index}))`;
    }
    if (quake === this.quake && mark === this.#mark) return;
    this.quake = quake;
    this.#mark = mark;
    this.element.dataset.code = quake.code;
    this.#fill(quake, mark);
    this.updateTime();
  }

  /**
   * @param {Quake} quake
   * @param {Mark | undefined} mark
   */
  #fill(quake, mark) {
    const color = magnitudeColor(quake.magnitude);
    const size = `${magnitudeSize(quake.magnitude).toFixed(1)}px`;
    this.#dot.style.width = size;
    this.#dot.style.height = size;
    this.#dot.style.backgroundColor = `var(--${color})`;
    this.#magnitude.textContent = format.magnitude(quake);
    this.#magnitude.classList.toggle("strong", (quake.magnitude ?? 0) >= 5);
    this.#type.textContent = quake.magnitude === null ? "" : quake.magnitudeType ?? "";
    this.#place.textContent = quake.place || t("place.unknown");
    this.#state = "";
    this.element.className = mark ? `row ${mark.kind}` : "row";
    if (mark) this.element.style.setProperty("--age", `${mark.started - performance.now()}ms`);
    const notes = badges(quake).map(({ text, kind }) => h("span", { class: `badge ${kind}`, text }));
    const depth = h("span", { class: "depth", text: format.depth(quake.depth) });
    this.#notes.replaceChildren(
      ...(mark ? [h("span", { class: "badge mark", text: mark.text })] : []), depth, ...notes,
    );
  }

  /** Writes the relative time, which grows. */
  updateTime() {
    const { quake } = this;
    if (!quake) return;
    const now = store.now();
    const text = now - quake.time < relativeUpTo ? format.relative(quake.time, now) : format.date(quake.time);
    if (this.#time.textContent === text && this.#time.dateTime.startsWith(iso(quake.time))) return;
    this.#time.textContent = text;
    this.#time.dateTime = iso(quake.time);
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

/** @param {number} ms */
const iso = (ms) => new Date(ms).toISOString();
