import { format, t } from "../text/text.js";
import { h } from "../ui/dom.js";

/** The keys move by a part of the history. */
const step = 1 / 500;
const page = 1 / 20;

/** @type {Record<string, number|undefined>} */
const keys = {
  ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageDown: -page, PageUp: page,
};

/** The slider over the history, with marks where much was committed. */
export class Slider {
  #input = h("input", {
    type: "range", class: "time-input", step: "any", "aria-label": t("time.slider"),
  });
  #marks = h("canvas", { class: "time-marks", "aria-hidden": "true" });
  #from = h("span", {});
  #to = h("span", { text: t("time.end") });
  element = h(
    "div", { class: "time-track" },
    h("div", { class: "time-rail" }, this.#marks, this.#input),
    h("div", { class: "time-ends quiet small", "aria-hidden": "true" }, this.#from, this.#to),
  );
  /** @type {{from: number, to: number, count: number}[]} */
  #spans = [];
  #least = 0;
  #most = 1;

  /** @param {(value: number|null) => void} moved a time; null is now */
  constructor(moved) {
    const input = this.#input;
    input.addEventListener("input", () => {
      const value = Number(input.value);
      moved(value >= this.#most ? null : value);
    });
    input.addEventListener("keydown", (event) => {
      const by = keys[event.key];
      if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      const distance = by * (this.#most - this.#least);
      const value = Math.min(this.#most, Math.max(this.#least, Number(input.value) + distance));
      input.value = String(value);
      moved(value >= this.#most ? null : value);
    });
    new ResizeObserver(() => this.#draw()).observe(this.#marks);
  }

  /** @param {number} first @param {number} last the times at its ends, in ms */
  setRange(first, last) {
    this.#least = first;
    this.#most = Math.max(first + 1, last);
    this.#input.min = String(this.#least);
    this.#input.max = String(this.#most);
    this.#from.textContent = format.time(first);
    this.#draw();
  }

  /**
   * @param {number|null} value null is now
   * @param {string} text what it means, for readers of the screen
   */
  set(value, text) {
    this.#input.value = String(value ?? this.#most);
    this.#input.setAttribute("aria-valuetext", text);
    const part = ((value ?? this.#most) - this.#least) / (this.#most - this.#least);
    this.#input.style.setProperty("--part", `${Math.min(1, Math.max(0, part)) * 100}%`);
  }

  /** @param {number} from @param {number} to @param {number} count of transactions */
  mark(from, to, count) {
    this.#spans.push({ from, to, count });
    this.#draw();
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.#marks;
    const context = this.#marks.getContext("2d");
    if (!context || width === 0) return;
    const scale = devicePixelRatio;
    this.#marks.width = width * scale;
    this.#marks.height = height * scale;
    context.scale(scale, scale);
    context.fillStyle = getComputedStyle(this.#marks).color;
    const most = Math.max(1, ...this.#spans.map(({ count }) => count));
    const span = this.#most - this.#least;
    for (const { from, to, count } of this.#spans) {
      const tall = Math.max(2, Math.sqrt(count / most) * height);
      const left = ((from - this.#least) / span) * width;
      const wide = Math.max(1.5, ((to - from) / span) * width - 0.5);
      context.fillRect(left, height - tall, wide, tall);
    }
  }
}
