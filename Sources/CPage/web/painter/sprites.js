import { workerCanvas } from "./canvas.js";
import { radius, sizes, stepMagnitude } from "./scale.js";

/** @typedef {{side: number, pixels: Uint32Array}} Sprite a square picture, colours multiplied by alpha */

/** The pictures of the events: one for each size and colour at the present zoom. */
export class Sprites {
  #colors;
  #edge;
  /** @type {(Sprite|undefined)[]} */
  #made = [];
  #zoom = NaN;
  #ratio = NaN;

  /** @param {string[]} [colors] @param {string} [edge] of the circles */
  constructor(colors = [], edge = "#000") {
    this.#colors = colors;
    this.#edge = edge;
  }

  /** @param {number} zoom @param {number} ratio */
  prepare(zoom, ratio) {
    // The size changes slowly with the zoom: eight steps of a zoom cannot be told apart.
    const step = Math.round(zoom * 8) / 8;
    if (step === this.#zoom && ratio === this.#ratio) return;
    this.#zoom = step;
    this.#ratio = ratio;
    this.#made = [];
  }

  /** @param {number} step @param {number} color @returns {Sprite} */
  get(step, color) {
    const place = color * sizes + step;
    return this.#made[place] ??= this.#make(step, this.#colors[color] ?? "#888");
  }

  /** @param {number} step @param {string} color @returns {Sprite} */
  #make(step, color) {
    const reach = radius(stepMagnitude(step), this.#zoom) * this.#ratio;
    const line = reach < 2.5 * this.#ratio ? 0.6 : 1;
    const side = Math.ceil(2 * reach + line * this.#ratio) + 2;
    const canvas = workerCanvas(side, side);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (!context) return { side: 0, pixels: new Uint32Array(0) };
    context.beginPath();
    context.arc(side / 2, side / 2, reach, 0, 2 * Math.PI);
    context.fillStyle = color;
    // Large circles let the coast and smaller events be seen through them.
    context.globalAlpha = reach > 9 * this.#ratio ? 0.62 : reach > 4 * this.#ratio ? 0.74 : 0.86;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = line * this.#ratio;
    context.strokeStyle = this.#edge;
    context.stroke();
    const data = context.getImageData(0, 0, side, side).data;
    const pixels = new Uint32Array(side * side);
    for (let i = 0; i < pixels.length; i += 1) {
      const alpha = data[4 * i + 3];
      const by = (/** @type {number} */ value) => Math.floor(value * alpha / 255);
      const [red, green, blue] = [by(data[4 * i]), by(data[4 * i + 1]), by(data[4 * i + 2])];
      pixels[i] = (alpha << 24 | blue << 16 | green << 8 | red) >>> 0;
    }
    return { side, pixels };
  }
}
