import { store } from "../data/store.js";
import { totals } from "../data/totals.js";
import { zoneOffset } from "../state/point.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { h } from "../ui/dom.js";
import { Plot, labelWidth } from "./plot.js";
import { numberTicks, timeTicks } from "./ticks.js";

/** @typedef {import("./sample.js").Sample} Sample */

const widths = { hour: 3_600_000, day: 86_400_000 };

/** A range of this many days or less is shown by the hour unless the person chooses. */
const fewDays = 4;

/** The number of events in each hour or day. */
export class RateChart {
  #plot;
  /** @type {"hour"|"day"|null} what the person chose */
  #chosen = null;
  /** @type {Map<"hour"|"day", HTMLInputElement>} */
  #inputs = new Map();
  #counts = new Uint32Array(0);
  #first = 0;
  #width = widths.day;
  /** Of the zone at the first bar. */
  #offset = 0;

  /** @param {HTMLElement} parent @param {() => void} changed */
  constructor(parent, changed) {
    const choices = h("fieldset", { class: "chart-choices" },
      h("legend", { class: "visually-hidden", text: t("charts.width") }));
    for (const width of /** @type {("hour"|"day")[]} */ (["hour", "day"])) {
      const choose = () => {
        this.#chosen = width;
        changed();
      };
      const input = h("input", {
        type: "radio", name: "chart-width", value: width, class: "visually-hidden", onchange: choose,
      });
      this.#inputs.set(width, input);
      choices.append(h("label", {}, input, h("span", { text: t(`charts.${width}`) })));
    }
    this.#plot = new Plot(parent, t("charts.rate"), choices);
    this.#plot.changed = changed;
    this.#plot.onBrush();
    this.#plot.find = (x) => {
      const bar = Math.floor((this.#plot.valueAt(x) - this.#first) / this.#width);
      const n = this.#counts[bar];
      if (n === undefined) return null;
      const from = this.#first + bar * this.#width;
      const text = t("charts.hover.rate", { n, time: format.time(this.#begin(bar)) });
      return { x: this.#plot.x(from + this.#width / 2), y: this.#plot.y(n), text };
    };
  }

  /**
   * @param {Sample} sample
   * @param {[number, number]} times
   * @param {[number, number]} span the part of them that the catalogue covers
   */
  draw(sample, times, span) {
    const plot = this.#plot;
    if (!plot.measure()) return;
    const kind = this.#chosen ?? ((times[1] - times[0]) / widths.day <= fewDays ? "hour" : "day");
    for (const [width, input] of this.#inputs) input.checked = width === kind;
    this.#count(sample, times, widths[kind]);
    let most = 0;
    let mostBar = 0;
    for (const [bar, n] of this.#counts.entries()) {
      if (n <= most) continue;
      most = n;
      mostBar = bar;
    }
    const context = plot.begin({
      x: times, y: [0, Math.max(1, most) * 1.05],
      xTicks: timeTicks(times[0], times[1], plot.inner / labelWidth),
      yTicks: numberTicks(0, Math.max(4, most), 4, (value) => format.number(value)),
    });
    if (context) this.#bars(context);
    let count = 0;
    for (const one of sample.counted) count += one;
    if (count === 0) {
      plot.tellEmpty();
      return;
    }
    const { counts } = totals;
    const everyType = view.get().types.length > 0;
    if (store.partial && counts) count = counts.earthquakes + (everyType ? counts.others : 0);
    const average = count / Math.max(1, (span[1] - span[0]) / this.#width);
    plot.tell(t("charts.rate.summary", {
      average: format.number(average, average < 10 ? 1 : 0), width: t(`charts.${kind}`), most,
      time: format.time(this.#begin(mostBar)),
    }), totals.missing > 0 ? t("charts.partial", { n: totals.missing }) : "");
  }

  /**
   * @param {number} time
   * @returns {number} by how much its days begin earlier than those of the first bar, because of summer time
   */
  #shift(time) {
    return this.#width === widths.day ? zoneOffset(time) - this.#offset : 0;
  }

  /** @param {number} bar @returns {number} when it begins */
  #begin(bar) {
    const time = this.#first + bar * this.#width;
    return time - this.#shift(time);
  }

  /** @param {Sample} sample @param {[number, number]} times @param {number} width */
  #count(sample, [from, to], width) {
    this.#offset = zoneOffset(from);
    this.#width = width;
    this.#first = Math.floor((from + this.#offset) / width) * width - this.#offset;
    const last = Math.floor((to + this.#shift(to) - this.#first) / width);
    this.#counts = new Uint32Array(Math.min(1_000_000, last + 1));
    for (const [i, time] of sample.times.entries()) {
      if (sample.counted[i] === 0) continue;
      const bar = Math.floor((time + this.#shift(time) - this.#first) / width);
      if (bar >= 0 && bar < this.#counts.length) this.#counts[bar] += 1;
    }
  }

  /**
   * Where bars are narrower than a pixel, each column shows the highest of its bars.
   * @param {CanvasRenderingContext2D} context
   */
  #bars(context) {
    const plot = this.#plot;
    const base = plot.y(0);
    const step = plot.x(this.#first + this.#width) - plot.x(this.#first);
    const left = plot.left;
    context.fillStyle = plot.color("--accent");
    context.beginPath();
    let column = -Infinity;
    let highest = 0;
    for (const [bar, n] of this.#counts.entries()) {
      const x = plot.x(this.#first + bar * this.#width);
      if (step >= 2) {
        const from = Math.max(x, left);
        const wide = Math.max(1, x + step - from - (step > 4 ? 1 : 0.4));
        if (n > 0) context.rect(from, plot.y(n), wide, base - plot.y(n));
        continue;
      }
      if (Math.floor(x) !== column) {
        if (highest > 0) context.rect(column, plot.y(highest), 1, base - plot.y(highest));
        column = Math.floor(x);
        highest = 0;
      }
      highest = Math.max(highest, n);
    }
    if (highest > 0) context.rect(column, plot.y(highest), 1, base - plot.y(highest));
    context.fill();
  }
}
