import { totals } from "../data/selecting.js";
import { store } from "../data/store.js";
import { countText } from "../list/bar.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { properties } from "../ui/sign.js";
import { labelWidth, Plot } from "./plot.js";
import { numberTicks, timeTicks } from "./ticks.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("./charts.js").Sample} Sample */

/** Pixels from the pointer within which an event is found. */
const reach = 8;

/** Magnitude by time, in the colours of the map. */
export class TimeChart {
  #plot;
  /** @type {Sample|null} */
  #sample = null;

  /** @param {HTMLElement} parent @param {() => void} changed */
  constructor(parent, changed) {
    this.#plot = new Plot(parent, t("charts.time"));
    this.#plot.changed = changed;
    this.#plot.find = (x, y) => {
      const quake = this.#at(x, y);
      if (!quake) return null;
      const text = t("charts.hover.event", {
        magnitude: format.magnitude(quake), place: quake.place, time: format.time(quake.time),
      });
      return { x: this.#plot.x(quake.time), y: this.#plot.y(/** @type {number} */ (quake.magnitude)), text };
    };
    this.#plot.onBrush();
    this.#plot.onChoose((x, y) => {
      const quake = this.#at(x, y);
      if (quake) view.set({ selected: quake.code });
    });
  }

  /**
   * @param {Sample} sample
   * @param {[number, number]} times
   * @param {import("./charts.js").Answer} answer
   */
  draw(sample, times, answer) {
    this.#sample = sample;
    const plot = this.#plot;
    if (!plot.measure()) return;
    const { quakes, known, least, magnitudes } = sample;
    const loaded = known > 0 ? quakes[sample.strongest] : null;
    // Of a part, the strongest need not be the strongest of all.
    const strongest = store.partial ? answer.strongest : loaded;
    /** @type {[number, number]} */
    const range = known > 0 ? [Math.floor(least), Math.ceil(magnitudes[sample.strongest] + 0.2)] : [0, 8];
    const context = plot.begin({
      x: times, y: range,
      xTicks: timeTicks(times[0], times[1], plot.inner / labelWidth),
      yTicks: numberTicks(range[0], range[1], 5, (value) => format.number(value)),
    });
    const { counts } = totals;
    const missing = totals.missing > 0 ? t("charts.partial", { n: totals.missing }) : "";
    if (!loaded || !counts) plot.tellEmpty();
    else if (!strongest) plot.tell(countText(counts), missing);
    else {
      plot.tell(t("charts.time.summary", {
        count: countText(counts), magnitude: format.magnitude(strongest),
        place: strongest.place, time: format.date(strongest.time),
      }), missing);
    }
    if (context) this.#points(context);
  }

  /**
   * Of the events that fall on the same pixels only one is drawn.
   * @param {CanvasRenderingContext2D} context
   */
  #points(context) {
    if (!this.#sample) return;
    const { times, magnitudes, classes, quakes } = this.#sample;
    const plot = this.#plot;
    const { color, selected } = view.get();
    const colors = properties[color].map((name) => plot.color(name));
    const wide = Math.ceil(plot.width);
    const taken = new Uint8Array(wide * Math.ceil(plot.height));
    /** @type {Path2D[]} */
    const paths = colors.map(() => new Path2D());
    for (let i = 0; i < times.length; i += 1) {
      const magnitude = magnitudes[i];
      const x = Math.round(plot.x(times[i]));
      if (x < 0 || x >= wide || Number.isNaN(magnitude)) continue;
      const y = Math.round(plot.y(magnitude));
      if (taken[y * wide + x]) continue;
      taken[y * wide + x] = 1;
      const half = magnitude < 4 ? 1 : magnitude < 6 ? 2 : 3;
      paths[classes[i]].rect(x - half, y - half, 2 * half, 2 * half);
    }
    for (const place of [...paths.keys()].reverse()) {
      context.fillStyle = colors[place];
      context.fill(paths[place]);
    }
    const marked = selected === null ? -1 : quakes.findIndex(({ code }) => code === selected);
    if (marked < 0 || Number.isNaN(magnitudes[marked])) return;
    context.strokeStyle = plot.color("--ink");
    context.lineWidth = 2;
    context.beginPath();
    context.arc(plot.x(times[marked]), plot.y(magnitudes[marked]), 6, 0, 2 * Math.PI);
    context.stroke();
  }

  /** @param {number} x @param {number} y @returns {Quake|null} */
  #at(x, y) {
    if (!this.#sample) return null;
    const { times, magnitudes, quakes } = this.#sample;
    let best = reach;
    /** @type {Quake|null} */
    let found = null;
    for (let i = 0; i < times.length; i += 1) {
      const dx = Math.abs(this.#plot.x(times[i]) - x);
      if (dx >= best) continue;
      const distance = Math.hypot(dx, this.#plot.y(magnitudes[i]) - y);
      if (!(distance < best)) continue;
      best = distance;
      found = quakes[i];
    }
    return found;
  }
}
