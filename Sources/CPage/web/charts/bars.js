import { totals } from "../data/selecting.js";
import { store } from "../data/store.js";
import { zoneOffset } from "../state/point.js";
import { view } from "../state/view.js";
import { format, has, t } from "../text/text.js";
import { h } from "../ui/dom.js";
import { labelWidth, Plot } from "./plot.js";
import { logTicks, numberTicks, timeTicks } from "./ticks.js";

/** @typedef {import("./charts.js").Sample} Sample */
/** @typedef {import("./charts.js").Answer} Answer */

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

/** Width of the server's classes: magnitudes are given to a tenth. */
const bin = 0.1;

/** The number of events of at least each magnitude, with the law of Gutenberg and Richter where it holds. */
export class FrequencyChart {
  #plot;
  /** Events of at least the magnitude of each class. */
  #counts = new Uint32Array(0);
  /** The lowest class, in bins. */
  #lowest = 0;

  /** @param {HTMLElement} parent @param {() => void} changed */
  constructor(parent, changed) {
    this.#plot = new Plot(parent, t("charts.frequency"));
    this.#plot.changed = changed;
    this.#plot.find = (x) => {
      const place = Math.round(this.#plot.valueAt(x) / bin) - this.#lowest;
      const n = this.#counts[place];
      if (!n) return null;
      const magnitude = (place + this.#lowest) * bin;
      const text = t("charts.hover.frequency", { n, magnitude: format.number(magnitude, 1) });
      return { x: this.#plot.x(magnitude), y: this.#plot.y(Math.log10(n)), text };
    };
  }

  /** @param {Answer} answer of the server */
  draw(answer) {
    const plot = this.#plot;
    if (!plot.measure()) return;
    this.#count(answer);
    const known = this.#counts[0] ?? 0;
    const highest = this.#lowest + this.#counts.length - 1;
    /** @type {[number, number]} */
    const range = [0, 8];
    if (known > 0) {
      range[0] = Math.floor(this.#lowest * bin);
      range[1] = Math.max(range[0] + 1, Math.ceil(highest * bin));
    }
    const top = Math.max(1, Math.ceil(Math.log10(Math.max(1, known)) * 4) / 4 + 0.1);
    const context = plot.begin({
      x: range, y: [0, top],
      xTicks: numberTicks(range[0], range[1], 10, (value) => format.number(value)),
      yTicks: logTicks(top, (value) => format.number(value)),
    });
    if (known === 0 && answer.statistics !== null) plot.tellEmpty();
    else this.#tell(answer);
    if (!context || known === 0) return;
    context.fillStyle = plot.color("--ink-2");
    context.beginPath();
    for (const [place, n] of this.#counts.entries()) {
      if (n > 0) context.rect(plot.x((place + this.#lowest) * bin) - 1.5, plot.y(Math.log10(n)) - 1.5, 3, 3);
    }
    context.fill();
    this.#law(context, answer);
  }

  /** @param {Answer} answer */
  #count({ classes }) {
    const places = classes.map(({ magnitude }) => Math.round(magnitude / bin));
    this.#lowest = places[0] ?? 0;
    this.#counts = new Uint32Array(places.length > 0 ? places[places.length - 1] - this.#lowest + 1 : 0);
    for (const [index, { count }] of classes.entries()) this.#counts[places[index] - this.#lowest] += count;
    for (let place = this.#counts.length - 2; place >= 0; place -= 1) {
      this.#counts[place] += this.#counts[place + 1];
    }
  }

  /** @param {Answer} answer */
  #tell({ statistics, failure, partial }) {
    const completeness = statistics?.completeness ?? null;
    const b = statistics?.b_value ?? null;
    const error = statistics?.b_value_error ?? null;
    // The error has two digits that mean something; the value has as many decimals.
    const digits = error !== null && error < 0.01 ? 3 : 2;
    const note = partial ? t("charts.frequency.filters") : "";
    if (failure !== null) this.#plot.tell(t("charts.frequency.failed", { reason: failure }));
    else if (!statistics) this.#plot.tell("");
    else if (completeness === null || b === null) {
      const key = `charts.frequency.${statistics.b_value_refusal ?? "few-events"}`;
      const why = has(key) ? t(key, { n: statistics.b_value_events ?? 0 }) : statistics.b_value_reason ?? "";
      const from = completeness === null
        ? "" : `${t("charts.frequency.completeness", { completeness: format.number(completeness, 1) })} `;
      this.#plot.tell(from + why, note);
    } else {
      this.#plot.tell(t("charts.frequency.summary", {
        completeness: format.number(completeness, 1), b: format.number(b, digits),
        error: error === null ? t("unknown.short") : format.number(error, digits),
        events: statistics?.b_value_events ?? 0,
      }), note);
    }
  }

  /** The straight line of the b-value from the magnitude of completeness on.
   * @param {CanvasRenderingContext2D} context @param {Answer} answer */
  #law(context, { statistics }) {
    const completeness = statistics?.completeness ?? null;
    const b = statistics?.b_value ?? null;
    if (completeness === null || b === null || b <= 0) return;
    const start = this.#counts[Math.round(completeness / bin) - this.#lowest];
    if (!start) return;
    const plot = this.#plot;
    const from = Math.log10(start);
    const x = Math.round(plot.x(completeness)) + 0.5;
    context.strokeStyle = plot.color("--ink-2");
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(x, plot.y(0));
    context.lineTo(x, plot.top);
    context.stroke();
    context.setLineDash([]);
    context.strokeStyle = plot.color("--accent");
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(plot.x(completeness), plot.y(from));
    const end = Math.min(completeness + from / b, (this.#lowest + this.#counts.length) * bin);
    context.lineTo(plot.x(end), plot.y(from - b * (end - completeness)));
    context.stroke();
    const text = t("charts.completeness", { value: format.number(completeness, 1) });
    const last = plot.width - context.measureText(text).width;
    context.fillStyle = plot.color("--ink-2");
    context.textAlign = "left";
    context.textBaseline = "bottom";
    context.fillText(text, Math.max(0, Math.min(last, x + 5)), plot.top - 4);
  }
}
