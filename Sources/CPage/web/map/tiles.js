import { server } from "../ui/server.js";

/** @typedef {import("../marks/camera.js").Camera} Camera */

const most = 256;
/** Tiles at a time: a fast zoom must not ask for hundreds that are never seen. */
const mostLoading = 12;

/** Optional pictures of the ground from a server that the operator names, drawn over the coastlines. */
export class Tiles {
  /** @type {Map<string, HTMLImageElement>} */
  #images = new Map();
  #loading = 0;
  #template;
  #arrived;

  /**
   * @param {string} template with {z}, {x} and {y}
   * @param {() => void} arrived called when a tile can be drawn
   */
  constructor(template, arrived) {
    this.#template = template;
    this.#arrived = arrived;
  }

  /**
   * @param {CanvasRenderingContext2D} context in device pixels
   * @param {Camera} camera
   */
  draw(context, camera) {
    const zoom = Math.max(0, Math.min(19, Math.round(camera.zoom + Math.log2(devicePixelRatio))));
    const count = 2 ** zoom;
    const side = camera.pixels / count * devicePixelRatio;
    const [left, top] = camera.toWorld(0, 0);
    const [right, bottom] = camera.toWorld(camera.width, camera.height);
    const last = Math.min(count - 1, bottom * count);
    for (let row = Math.max(0, Math.floor(top * count)); row <= last; row += 1) {
      for (let column = Math.floor(left * count); column <= right * count; column += 1) {
        const image = this.#get(zoom, ((column % count) + count) % count, row);
        if (!image) continue;
        const x = Math.floor((column / count - left) * camera.pixels * devicePixelRatio);
        const y = Math.floor((row / count - top) * camera.pixels * devicePixelRatio);
        context.drawImage(image, x, y, Math.ceil(side) + 1, Math.ceil(side) + 1);
      }
    }
  }

  /** @param {number} z @param {number} x @param {number} y @returns {HTMLImageElement|null} a loaded tile */
  #get(z, x, y) {
    const key = `${z}/${x}/${y}`;
    const known = this.#images.get(key);
    if (known) {
      // The one that was used last is the last to be dropped.
      this.#images.delete(key);
      this.#images.set(key, known);
      return known.complete && known.naturalWidth > 0 ? known : null;
    }
    if (this.#loading >= mostLoading) return null;
    this.#loading += 1;
    const image = new Image();
    const done = () => {
      this.#loading -= 1;
      this.#arrived();
    };
    image.addEventListener("load", done, { once: true });
    image.addEventListener("error", done, { once: true });
    image.src = this.#template.replace("{z}", String(z)).replace("{x}", String(x)).replace("{y}", String(y));
    this.#images.set(key, image);
    for (const old of this.#images.keys()) {
      if (this.#images.size <= most) break;
      this.#images.delete(old);
    }
    return null;
  }
}

/**
 * @param {() => void} arrived
 * @returns {Promise<Tiles|null>} null where the operator names no tiles
 */
export async function tilesOfServer(arrived) {
  const { tiles } = await server;
  return tiles === null ? null : new Tiles(tiles, arrived);
}
