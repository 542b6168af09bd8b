import { worldPixels } from "../painter/projection.js";

/** @typedef {import("../marks/camera.js").Camera} Camera */
/** @typedef {import("./events.js").Events} Events */
/** @typedef {import("../painter/types.js").FromPainter} FromPainter */
/** @typedef {import("../painter/types.js").Painted} Painted */
/** @typedef {import("../painter/types.js").Layer} Layer */
/** @typedef {import("../painter/types.js").ToPainter} ToPainter */

/** Pixels that a picture shows around the map, so that a drag has something to bring in. */
const margin = 160;

/**
 * The pictures of the ground and the events, made by the painter. While the map moves, the last ones are
 * shown where they belong and new ones are on order: one at a time of each layer, for the newest place.
 * Its event "change" tells that there is something new to show.
 */
export class Layers extends EventTarget {
  #worker = new Worker(new URL("../painter/painter.js", import.meta.url), { type: "module" });
  /** @type {Record<Layer, Painted|null>} */
  #shown = { ground: null, points: null };
  /** @type {Record<Layer, boolean>} */
  #ordered = { ground: false, points: false };
  /** @type {Record<Layer, boolean>} whether the content changed after the last order */
  #stale = { ground: true, points: true };
  #version = 0;
  #camera;

  /** @param {Camera} camera */
  constructor(camera) {
    super();
    this.#camera = camera;
    this.#worker.addEventListener("message", ({ data }) => this.#receive(data));
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.dispatchEvent(new CustomEvent("failed", { detail: event.message ?? "" }));
    });
  }

  /** @returns {number} the version of the events that are on the screen */
  get version() {
    return this.#shown.points?.version ?? 0;
  }

  /**
   * @param {import("../painter/types.js").GroundColors} colors
   * @param {string[]} palette
   * @param {string} edge
   */
  setColors(colors, palette, edge) {
    this.#send({ kind: "ground", colors });
    this.#send({ kind: "palette", colors: palette, edge });
    this.#stale = { ground: true, points: true };
    this.dispatchEvent(new Event("change"));
  }

  /** @param {Events} events @returns {number} their version */
  setEvents({ xs, ys, steps, classes }) {
    this.#version += 1;
    this.#send({ kind: "events", version: this.#version, xs, ys, steps, classes });
    this.#stale.points = true;
    this.dispatchEvent(new Event("change"));
    return this.#version;
  }

  /**
   * Shows what there is and orders what is missing.
   * @param {CanvasRenderingContext2D} context
   * @param {(context: CanvasRenderingContext2D) => void} between draws on the ground, below the events
   */
  draw(context, between) {
    const { canvas } = context;
    for (const layer of /** @type {Layer[]} */ (["ground", "points"])) {
      const shown = this.#shown[layer];
      if (shown) this.#copy(context, shown, canvas);
      if (layer === "ground") between(context);
      this.#order(layer);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {Painted} painted @param {HTMLCanvasElement} canvas */
  #copy(context, { picture, frame }, canvas) {
    const camera = this.#camera;
    const scale = 2 ** (camera.zoom - frame.zoom);
    const pixels = camera.pixels * devicePixelRatio;
    const worlds = Math.round(camera.x - frame.x);
    const width = picture.width * scale * devicePixelRatio / frame.ratio;
    const height = picture.height * scale * devicePixelRatio / frame.ratio;
    const x = canvas.width / 2 + (frame.x + worlds - camera.x) * pixels - width / 2;
    const y = canvas.height / 2 + (frame.y - camera.y) * pixels - height / 2;
    const same = scale === 1 && frame.ratio === devicePixelRatio;
    if (same) context.drawImage(picture, Math.round(x), Math.round(y));
    else context.drawImage(picture, x, y, width, height);
  }

  /** @param {Layer} layer */
  #order(layer) {
    if (this.#ordered[layer] || (!this.#stale[layer] && this.#fits(layer))) return;
    const { x, y, zoom, width, height } = this.#camera;
    const ratio = devicePixelRatio;
    const even = (/** @type {number} */ size) => Math.round(size / 2) * 2;
    const frame = { x, y, zoom, width: even(width) + 2 * margin, height: even(height) + 2 * margin, ratio };
    this.#ordered[layer] = true;
    this.#stale[layer] = false;
    this.#send({ kind: "paint", layer, frame });
  }

  /** @param {Layer} layer @returns {boolean} whether its picture still covers the map at the right size */
  #fits(layer) {
    const shown = this.#shown[layer];
    if (!shown) return false;
    const { frame } = shown;
    const camera = this.#camera;
    if (frame.zoom !== camera.zoom || frame.ratio !== devicePixelRatio) return false;
    const pixels = worldPixels(frame.zoom);
    const beyond = frame.x + Math.round(camera.x - frame.x) - camera.x;
    // A new picture is ordered when half of the margin is used up.
    const spareX = (frame.width - camera.width) / 2 - Math.abs(beyond) * pixels;
    const spareY = (frame.height - camera.height) / 2 - Math.abs(frame.y - camera.y) * pixels;
    return spareX >= margin / 2 && spareY >= margin / 2;
  }

  /** @param {FromPainter} message */
  #receive(message) {
    if (message.kind === "painted") {
      this.#shown[message.layer]?.picture.close();
      this.#shown[message.layer] = message;
      this.#ordered[message.layer] = false;
    } else if (message.kind === "land") {
      this.#stale.ground = true;
    } else {
      this.dispatchEvent(new CustomEvent("failed", { detail: `${message.file}: ${message.reason}` }));
      return;
    }
    this.dispatchEvent(new Event("change"));
  }

  /** @param {ToPainter} message */
  #send(message) {
    this.#worker.postMessage(message);
  }
}
