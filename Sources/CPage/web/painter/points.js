import { worldPixels } from "./projection.js";
import { hiddenStep } from "./scale.js";
import { Sprites } from "./sprites.js";

/** @typedef {import("./types.js").EventsMessage} EventsMessage */
/** @typedef {import("./types.js").Frame} Frame */

/**
 * Draws the events into pixels by itself. A canvas takes several times as long for the same small pictures,
 * because it keeps and checks each of them as a command of its own.
 */
export class Points {
  #pixels = new Uint32Array(0);
  #sprites = new Sprites();

  /** @param {string[]} colors @param {string} edge */
  setPalette(colors, edge) {
    this.#sprites = new Sprites(colors, edge);
  }

  /**
   * @param {EventsMessage|null} events
   * @param {Frame} frame
   * @returns {ImageData}
   */
  paint(events, frame) {
    const width = Math.round(frame.width * frame.ratio);
    const height = Math.round(frame.height * frame.ratio);
    if (this.#pixels.length === width * height) this.#pixels.fill(0);
    else this.#pixels = new Uint32Array(width * height);
    if (events) this.#all(events, frame, width, height);
    straighten(this.#pixels);
    const bytes = new Uint8ClampedArray(this.#pixels.buffer);
    return new ImageData(bytes, width, height);
  }

  /** @param {EventsMessage} events @param {Frame} frame @param {number} width @param {number} height */
  #all({ xs, ys, steps, classes }, frame, width, height) {
    const scale = worldPixels(frame.zoom) * frame.ratio;
    const left = frame.x - width / 2 / scale;
    const top = frame.y - height / 2 / scale;
    this.#sprites.prepare(frame.zoom, frame.ratio);
    // Half the largest picture, as the part of a world: an event outside the frame can reach into it.
    const reach = 64 * frame.ratio / scale;
    const right = left + width / scale + reach;
    const bottom = top + height / scale + reach;
    const first = Math.floor(left - reach);
    const last = Math.floor(right);
    for (let i = 0; i < xs.length; i += 1) {
      if (steps[i] === hiddenStep) continue;
      const y = ys[i];
      if (y < top - reach || y > bottom) continue;
      for (let world = first; world <= last; world += 1) {
        const x = xs[i] + world;
        if (x < left - reach || x > right) continue;
        const sprite = this.#sprites.get(steps[i], classes[i]);
        const half = sprite.side / 2;
        draw(this.#pixels, width, height, sprite.pixels, sprite.side,
          Math.round((x - left) * scale - half), Math.round((y - top) * scale - half));
      }
    }
  }
}

/**
 * Lays a picture over the pixels. Both have colours that are multiplied by their alpha.
 * @param {Uint32Array} pixels @param {number} width @param {number} height
 * @param {Uint32Array} sprite @param {number} side
 * @param {number} left @param {number} top
 */
function draw(pixels, width, height, sprite, side, left, top) {
  const fromX = Math.max(0, -left);
  const toX = Math.min(side, width - left);
  const fromY = Math.max(0, -top);
  const toY = Math.min(side, height - top);
  for (let y = fromY; y < toY; y += 1) {
    const source = y * side;
    const target = (top + y) * width + left;
    for (let x = fromX; x < toX; x += 1) {
      const above = sprite[source + x];
      const alpha = above >>> 24;
      if (alpha === 0) continue;
      const below = pixels[target + x];
      if (below === 0 || alpha === 255) {
        pixels[target + x] = above;
        continue;
      }
      // Two channels at a time; (v * 257 + 257) >> 16 would be exact, but a step of one is not seen.
      const rest = 256 - alpha;
      const odd = ((below >>> 8 & 0xff00ff) * rest & 0xff00ff00) >>> 0;
      const even = ((below & 0xff00ff) * rest >>> 8) & 0xff00ff;
      pixels[target + x] = above + ((odd | even) >>> 0);
    }
  }
}

/**
 * Divides the colours by alpha, as pictures of a canvas have them.
 * @param {Uint32Array} pixels
 */
function straighten(pixels) {
  for (let i = 0; i < pixels.length; i += 1) {
    const pixel = pixels[i];
    const alpha = pixel >>> 24;
    if (alpha === 0 || alpha === 255) continue;
    const factor = 255 / alpha;
    const red = Math.min(255, (pixel & 255) * factor);
    const green = Math.min(255, (pixel >>> 8 & 255) * factor);
    const blue = Math.min(255, (pixel >>> 16 & 255) * factor);
    pixels[i] = (alpha << 24 | blue << 16 | green << 8 | red) >>> 0;
  }
}
