import { decode, paintGround } from "./ground.js";
import { hiddenStep, radius, sizes, stepMagnitude, worldPixels } from "./projection.js";

/**
 * The messages between the map and its painter. The painter is a worker: it draws the ground and up to
 * 100,000 events beside the main thread, which only copies the finished pictures to the screen.
 */

/**
 * Which part of the world a picture shows: its middle in world coordinates, its size in CSS pixels, and the
 * device's pixels in one of them.
 * @typedef {{x: number, y: number, zoom: number, width: number, height: number, ratio: number}} Frame
 */

/** @typedef {"ground"|"points"} Layer */

/** @typedef {{sea: string, land: string, coast: string, border: string, graticule: string}} GroundColors */

/** @typedef {{kind: "ground", colors: GroundColors}} GroundMessage */
/** @typedef {{kind: "palette", colors: string[], edge: string}} PaletteMessage */
/** @typedef {{kind: "paint", layer: Layer, frame: Frame}} PaintMessage */

/**
 * @typedef {object} EventsMessage
 * @property {"events"} kind
 * @property {number} version counts up, so that the map knows which events a picture shows
 * @property {Float32Array} xs
 * @property {Float32Array} ys
 * @property {Uint8Array} steps sizes
 * @property {Uint8Array} classes colours
 */

/** @typedef {GroundMessage|PaletteMessage|EventsMessage|PaintMessage} ToPainter */

/** @typedef {{kind: "painted", layer: Layer, frame: Frame, version: number, picture: ImageBitmap}} Painted */
/** @typedef {{kind: "land"}} LandArrived the ground should be painted again */
/** @typedef {{kind: "failed", file: string, reason: string}} LandFailed */
/** @typedef {Painted|LandArrived|LandFailed} FromPainter */

/**
 * A canvas of a worker. Compilers that check the types of this page do not all know it.
 * @typedef {object} WorkerCanvas
 * @property {(kind: "2d", options?: object) => CanvasRenderingContext2D|null} getContext
 * @property {() => ImageBitmap} transferToImageBitmap
 */

/**
 * @param {number} width
 * @param {number} height
 * @returns {WorkerCanvas}
 */
function workerCanvas(width, height) {
  const global = /** @type {{OffscreenCanvas: new (width: number, height: number) => WorkerCanvas}} */ (
    /** @type {unknown} */ (globalThis)
  );
  return new global.OffscreenCanvas(width, height);
}

/** @typedef {{side: number, pixels: Uint32Array}} Sprite a square picture, colours multiplied by alpha */

/** The pictures of the events: one for each size and colour at the present zoom. */
class Sprites {
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

/**
 * Draws the events into pixels by itself. A canvas takes several times as long for the same small pictures,
 * because it keeps and checks each of them as a command of its own.
 */
class Points {
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

/**
 * What a worker has of its own; the types of a window lack it.
 * @typedef {object} WorkerScope
 * @property {(message: FromPainter, transfer: Transferable[]) => void} postMessage
 * @property {(name: "message", listener: (event: MessageEvent<ToPainter>) => void) => void} addEventListener
 */

const worker = /** @type {WorkerScope} */ (/** @type {unknown} */ (globalThis));
const points = new Points();
/** @type {import("./ground.js").Land|null} */
let land = null;
/** @type {EventsMessage|null} */
let events = null;
/** @type {GroundColors|null} */
let groundColors = null;

/** @param {FromPainter} message @param {Transferable[]} [transfer] */
function tell(message, transfer = []) {
  worker.postMessage(message, transfer);
}

/** @param {PaintMessage} message */
async function paint({ layer, frame }) {
  const width = Math.round(frame.width * frame.ratio);
  const height = Math.round(frame.height * frame.ratio);
  const version = events?.version ?? 0;
  /** @type {ImageBitmap} */
  let picture;
  if (layer === "points") {
    picture = await createImageBitmap(points.paint(events, frame));
  } else {
    const canvas = workerCanvas(width, height);
    const context = canvas.getContext("2d", { alpha: false });
    if (context && groundColors) paintGround(context, frame, land, groundColors);
    picture = canvas.transferToImageBitmap();
  }
  tell({ kind: "painted", layer, frame, version, picture }, [picture]);
}

worker.addEventListener("message", ({ data: message }) => {
  if (message.kind === "paint") paint(message);
  else if (message.kind === "events") events = message;
  else if (message.kind === "palette") points.setPalette(message.colors, message.edge);
  else groundColors = message.colors;
});

/** The coarse coastlines are there at once; the fine ones replace them. */
async function loadLand() {
  for (const name of ["land-110m.bin", "land-50m.bin"]) {
    try {
      const response = await fetch(new URL(`./${name}`, import.meta.url));
      if (!response.ok) throw new Error(String(response.status));
      land = decode(await response.arrayBuffer());
      tell({ kind: "land" });
    } catch (error) {
      tell({ kind: "failed", file: name, reason: error instanceof Error ? error.message : String(error) });
    }
  }
}

// Not awaited here: events are drawn meanwhile.
void loadLand();
