import { store } from "../data/store.js";
import { drawDegrees } from "../marks/lines.js";
import { flashTime, mostFlashes, Overlay } from "../marks/overlay.js";
import { colors, radius, worldPixels, worldX, worldY } from "../painter/projection.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { h, rem } from "../ui/dom.js";
import { classOf, properties } from "../ui/sign.js";
import { toast } from "../ui/toasts.js";

/** @typedef {import("../marks/camera.js").Camera} Camera */
/** @typedef {import("./events.js").Events} Events */
/** @typedef {import("../painter/painter.js").FromPainter} FromPainter */
/** @typedef {import("../painter/painter.js").Painted} Painted */
/** @typedef {import("../painter/painter.js").Layer} Layer */
/** @typedef {import("../painter/painter.js").ToPainter} ToPainter */
/** @typedef {import("../painter/projection.js").Located} Located */
/** @typedef {import("../marks/overlay.js").Flash} Flash */

/** Pixels that a picture shows around the map, so that a drag has something to bring in. */
const margin = 160;

/**
 * The pictures of the ground and the events, made by the painter. While the map moves, the last ones are
 * shown where they belong and new ones are on order: one at a time of each layer, for the newest place.
 * Its event "change" tells that there is something new to show.
 */
class Layers extends EventTarget {
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
   * @param {import("../painter/painter.js").GroundColors} colors
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

/** An event that is selected in the list is shown at this zoom at least, when the page opens with it. */
const closeZoom = 4.5;

/** The canvases of the map. They are drawn only when something changed, at most once a frame. */
export class Screen {
  /** @type {import("./map.js").Tiles|null} */
  tiles = null;
  #ground = h("canvas", { class: "map-ground", "aria-hidden": "true" });
  surface = h("canvas", {
    class: "map-surface", tabindex: "0", role: "application", "aria-label": t("map.name"),
    "aria-roledescription": t("map.role"), "aria-describedby": "map-help",
  });
  #pulse = h("div", { class: "map-newest", hidden: true, "aria-hidden": "true" });
  #element;
  #camera;
  #events;
  #still;
  #layers;
  /** @type {string[]} */
  #palette = [];
  #asked = false;
  #moved = true;
  #newest = "";

  /**
   * @param {HTMLElement} element
   * @param {Camera} camera
   * @param {Events} events
   * @param {() => boolean} still
   */
  constructor(element, camera, events, still) {
    this.#element = element;
    this.#camera = camera;
    this.#events = events;
    this.#still = still;
    this.#layers = new Layers(camera);
    this.overlay = new Overlay(camera);
    this.overlay.colorOf = (quake) => this.#palette[classOf(quake, view.get().color, store.now())] ?? "#888";
    element.append(this.#ground, this.surface, this.#pulse);
    const moved = () => {
      this.#moved = true;
      this.refresh();
    };
    camera.addEventListener("move", moved);
    this.#layers.addEventListener("change", moved);
    this.#layers.addEventListener("failed", (event) => {
      const reason = /** @type {CustomEvent} */ (event).detail;
      toast({ text: t("map.land.failed", { reason }), error: true });
    });
    for (const name of ["focus", "blur"]) this.surface.addEventListener(name, () => this.refresh());
  }

  /** Has everything drawn in the next frame. */
  refresh() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame((now) => this.#draw(now));
  }

  setEvents() {
    this.#layers.setEvents(this.#events);
    this.#showNewest();
  }

  /** @param {Flash[]} flashes */
  flash(flashes) {
    if (flashes.length === 0) return;
    this.overlay.flashes = [...this.overlay.flashes, ...flashes].slice(-2 * mostFlashes);
    this.refresh();
    // Without motion nothing asks for the frame in which the marks go.
    if (this.#still()) setTimeout(() => this.refresh(), flashTime + 100);
  }

  /**
   * Moves the map if the event is not in sight.
   * @param {Located} quake
   * @param {boolean} close zoom to it, too
   */
  reveal(quake, close) {
    const camera = this.#camera;
    const { top, right, bottom, left } = camera.padding;
    const [x, y] = camera.toScreen(worldX(quake.longitude), worldY(quake.latitude));
    const edge = 24;
    const inside = x > left + edge && y > top + edge
      && x < camera.width - right - edge && y < camera.height - bottom - edge;
    if (inside && !close) return;
    const zoom = close ? Math.max(camera.zoom, closeZoom) : camera.zoom;
    const { longitude, latitude } = quake;
    camera.fly(camera.placeOf({ longitude, latitude, zoom }), close || this.#still());
  }

  /** @param {readonly string[]} names */
  #colors(names) {
    return colors(this.#element, names);
  }

  /** Follows the theme of the page, and the colours of the view. */
  followTheme() {
    const follow = () => {
      const [sea, land, coast, border, graticule, edge, ink, halo, accent, danger, label] = this.#colors([
        "--sea", "--land", "--coast", "--border", "--graticule", "--dot-edge", "--ink", "--panel", "--accent",
        "--danger", "--map-label",
      ]);
      this.#palette = this.#colors(properties[view.get().color]);
      const font = `${rem(0.6875)}px ${this.#colors(["--font"])[0] || "sans-serif"}`;
      this.overlay.colors = { ink, halo, accent, danger, label, font };
      this.#layers.setColors({ sea, land, coast, border, graticule }, this.#palette, edge);
    };
    follow();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
    const options = { attributes: true, attributeFilter: ["data-theme"] };
    new MutationObserver(follow).observe(document.documentElement, options);
    view.addEventListener("change", (event) => {
      if (/** @type {CustomEvent} */ (event).detail.changed.has("color")) follow();
    });
    // A window that is moved to another screen changes the device's pixels.
    addEventListener("resize", () => {
      this.#moved = true;
      this.refresh();
    });
  }

  /** @param {number} now */
  #draw(now) {
    const camera = this.#camera;
    camera.tick(now);
    this.#asked = false;
    if (this.#moved) {
      this.#moved = false;
      fit(this.#ground, camera);
      const context = this.#ground.getContext("2d", { alpha: false });
      if (context) {
        context.imageSmoothingEnabled = true;
        context.setTransform(1, 0, 0, 1, 0, 0);
        this.#layers.draw(context, (below) => this.tiles?.draw(below, camera));
        context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
        context.font = this.overlay.colors.font;
        context.fillStyle = this.overlay.colors.label;
        drawDegrees(context, camera, (degrees, digits) => `${format.number(degrees, digits)}°`);
      }
      this.#placeNewest();
    }
    fit(this.surface, camera);
    const context = this.surface.getContext("2d");
    this.overlay.cross = this.surface.matches(":focus-visible");
    const moving = context ? this.overlay.draw(context, now, this.#still()) : false;
    if (moving || camera.moving) this.refresh();
    if (camera.moving) this.#moved = true;
  }

  /** The newest event pulses; the style sheet stops it for those who want no motion. */
  #showNewest() {
    const { newest } = this.#events;
    const code = newest && view.get().asOf === null ? newest.code : "";
    this.#pulse.hidden = code === "";
    if (code !== this.#newest) {
      this.#newest = code;
      // A new element begins its motion anew.
      const next = /** @type {HTMLDivElement} */ (this.#pulse.cloneNode());
      this.#pulse.replaceWith(next);
      this.#pulse = next;
    }
    this.#placeNewest();
  }

  #placeNewest() {
    const { newest } = this.#events;
    if (!newest || this.#pulse.hidden) return;
    const camera = this.#camera;
    const [x, y] = camera.toScreen(worldX(newest.longitude), worldY(newest.latitude));
    const reach = radius(newest.magnitude, camera.zoom) + 3;
    // The pulse grows by the same number of pixels around a dot and around a large circle.
    this.#pulse.style.setProperty("--map-grow", String(1 + 18 / reach));
    this.#pulse.style.width = `${2 * reach}px`;
    this.#pulse.style.height = `${2 * reach}px`;
    this.#pulse.style.transform = `translate(${x - reach}px, ${y - reach}px)`;
  }
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Camera} camera
 */
function fit(canvas, { width, height }) {
  const wide = Math.round(width * devicePixelRatio);
  const high = Math.round(height * devicePixelRatio);
  if (canvas.width === wide && canvas.height === high) return;
  canvas.width = wide;
  canvas.height = high;
}
