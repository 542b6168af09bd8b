import { store } from "../data/store.js";
import { view } from "../state/view.js";
import { t } from "../text/text.js";
import { h, rem } from "../ui/dom.js";

/** @typedef {import("./ticks.js").Tick} Tick */
/** @typedef {{x: number, y: number, text: string}} Found a place in pixels and what is there */

/**
 * What a plot shows.
 * @typedef {object} Axes
 * @property {[number, number]} x
 * @property {[number, number]} y
 * @property {Tick[]} xTicks
 * @property {Tick[]} yTicks
 */

const margin = { top: rem(1), right: rem(0.625), bottom: rem(1.25), left: rem(2.625) };
/** A shorter drag was a click. In pixels. */
const leastBrush = 5;
/** A label of the time axis needs this many pixels. */
export const labelWidth = rem(3.875);

/** A canvas with two axes, its title, a sentence that tells the same, and the value below the pointer. */
export class Plot {
  #canvas = h("canvas", { role: "img" });
  #summary = h("p", { class: "chart-summary" });
  #note = h("p", { class: "chart-note", hidden: true });
  #value = h("div", { class: "chart-value", hidden: true, "aria-hidden": "true" });
  #dot = h("i", { class: "chart-dot", hidden: true, "aria-hidden": "true" });
  #frame = h("div", { class: "chart-frame" }, this.#canvas, this.#dot, this.#value);
  /** @type {Axes} */
  #axes = { x: [0, 1], y: [0, 1], xTicks: [], yTicks: [] };
  #brushed = false;
  width = 0;
  height = 0;
  /** @type {(x: number, y: number) => Found|null} what lies at a place in pixels */
  find = () => null;
  /** @type {() => void} */
  changed = () => {};

  /** @param {HTMLElement} parent @param {string} title @param {HTMLElement} [choices] beside the title */
  constructor(parent, title, choices) {
    this.title = title;
    parent.append(h("section", { class: "chart", "aria-label": title },
      h("div", { class: "chart-head" }, h("h3", { text: title }), choices),
      this.#frame, this.#summary, this.#note));
    new ResizeObserver(() => this.changed()).observe(this.#frame);
    this.#frame.addEventListener("pointermove", (event) => {
      const { left, top } = this.#frame.getBoundingClientRect();
      this.#show(this.find(event.clientX - left, event.clientY - top));
    });
    this.#frame.addEventListener("pointerleave", () => this.#show(null));
  }

  /** @param {(x: number, y: number) => void} chosen called with a place in pixels */
  onChoose(chosen) {
    this.#frame.classList.add("chart-choosable");
    this.#frame.addEventListener("click", (event) => {
      // A drag ends with a click, too.
      if (this.#brushed) return;
      const { left, top } = this.#frame.getBoundingClientRect();
      chosen(event.clientX - left, event.clientY - top);
    });
  }

  /**
   * Lets the person drag over a part of the time axis: the view then selects this range. Fingers scroll the
   * charts instead; the filters have fields for the same.
   */
  onBrush() {
    const brush = h("i", { class: "chart-brush", hidden: true, "aria-hidden": "true" });
    this.#frame.append(brush);
    this.#frame.classList.add("chart-brushable");
    /** @type {number|null} */
    let start = null;
    const place = (/** @type {PointerEvent} */ event) => {
      const x = event.clientX - this.#frame.getBoundingClientRect().left;
      return Math.min(this.width - margin.right, Math.max(margin.left, x));
    };
    this.#frame.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button !== 0) return;
      start = place(event);
      this.#brushed = false;
    });
    this.#frame.addEventListener("pointermove", (event) => {
      if (start === null) return;
      const x = place(event);
      if (!this.#brushed && Math.abs(x - start) < leastBrush) return;
      this.#brushed = true;
      this.#frame.setPointerCapture(event.pointerId);
      brush.hidden = false;
      brush.style.left = `${Math.min(start, x)}px`;
      brush.style.width = `${Math.abs(x - start)}px`;
    });
    const end = (/** @type {PointerEvent} */ event) => {
      brush.hidden = true;
      const from = start;
      start = null;
      if (from === null || !this.#brushed || event.type === "pointercancel") return;
      const times = [from, place(event)].map((x) => Math.round(this.valueAt(x) / 1000) * 1000);
      view.set({ period: "all", from: Math.min(...times), to: Math.max(...times) });
    };
    this.#frame.addEventListener("pointerup", end);
    this.#frame.addEventListener("pointercancel", end);
  }

  /** @param {string} summary @param {string} [note] */
  tell(summary, note = "") {
    this.#summary.textContent = summary;
    this.#note.textContent = note;
    this.#note.hidden = note === "";
    this.#canvas.setAttribute("aria-label", `${this.title}. ${summary} ${note}`.trim());
  }

  /** Tells why there is nothing to show. */
  tellEmpty() {
    if (store.shown().length > 0) this.tell(t("charts.unknown"));
    else this.tell(t(store.size === 0 && !store.complete ? "charts.loading" : "charts.empty"));
  }

  /** @returns {boolean} whether it has a size */
  measure() {
    this.width = this.#frame.clientWidth;
    this.height = this.#frame.clientHeight;
    return this.width > margin.left + margin.right && this.height > margin.top + margin.bottom;
  }

  /** @returns {number} where the values begin, in pixels */
  get left() {
    return margin.left;
  }

  /** @returns {number} where the values end, in pixels */
  get top() {
    return margin.top;
  }

  /** @returns {number} pixels between the axes */
  get inner() {
    return this.width - margin.left - margin.right;
  }

  /** @param {number} value @returns {number} */
  x(value) {
    const [from, to] = this.#axes.x;
    return margin.left + (value - from) / (to - from) * this.inner;
  }

  /** @param {number} value @returns {number} */
  y(value) {
    const [from, to] = this.#axes.y;
    const inner = this.height - margin.top - margin.bottom;
    return this.height - margin.bottom - (value - from) / (to - from) * inner;
  }

  /** @param {number} x pixels @returns {number} the value */
  valueAt(x) {
    const [from, to] = this.#axes.x;
    return from + (x - margin.left) / this.inner * (to - from);
  }

  /**
   * Draws the axes and returns what draws the rest.
   * @param {Axes} axes
   * @returns {CanvasRenderingContext2D|null}
   */
  begin(axes) {
    this.#axes = axes;
    this.#show(null);
    const ratio = devicePixelRatio;
    this.#canvas.width = Math.round(this.width * ratio);
    this.#canvas.height = Math.round(this.height * ratio);
    const context = this.#canvas.getContext("2d");
    if (!context) return null;
    context.scale(ratio, ratio);
    const style = getComputedStyle(this.#canvas);
    context.font = `${rem(0.6875)}px ${style.fontFamily}`;
    context.fillStyle = style.getPropertyValue("--ink-2");
    context.strokeStyle = style.getPropertyValue("--line");
    context.lineWidth = 1;
    context.beginPath();
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const { at, label } of axes.yTicks) {
      const y = Math.round(this.y(at)) + 0.5;
      context.moveTo(margin.left, y);
      context.lineTo(this.width - margin.right, y);
      context.fillText(label, margin.left - 6, y);
    }
    context.textBaseline = "top";
    context.textAlign = "center";
    for (const { at, label } of axes.xTicks) {
      const x = Math.round(this.x(at)) + 0.5;
      context.moveTo(x, this.height - margin.bottom);
      context.lineTo(x, this.height - margin.bottom + 4);
      const half = context.measureText(label).width / 2;
      if (x + half > this.width || x - half < 0) continue;
      context.fillText(label, x, this.height - margin.bottom + 6);
    }
    context.stroke();
    return context;
  }

  /** @param {string} name a custom property @returns {string} */
  color(name) {
    return getComputedStyle(this.#canvas).getPropertyValue(name).trim();
  }

  /** @param {Found|null} found */
  #show(found) {
    this.#value.hidden = found === null;
    this.#dot.hidden = found === null;
    if (!found) return;
    this.#value.textContent = found.text;
    this.#dot.style.transform = `translate(${found.x}px, ${found.y}px)`;
    const wide = this.#value.offsetWidth;
    const x = Math.max(0, Math.min(this.width - wide, found.x - wide / 2));
    const y = found.y > 40 ? found.y - 30 : found.y + 12;
    this.#value.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }
}
