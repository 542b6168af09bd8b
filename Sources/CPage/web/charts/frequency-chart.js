import { format, has, t } from "../text/text.js";
import { Plot } from "./plot.js";
import { logTicks, numberTicks } from "./ticks.js";

/** @typedef {import("./statistics.js").Answer} Answer */

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
