import { store } from "../data/store.js";
import { drawDegrees } from "../marks/degrees.js";
import { flashTime, mostFlashes } from "../marks/flashes.js";
import { Overlay } from "../marks/overlay.js";
import { worldX, worldY } from "../painter/projection.js";
import { colors, radius } from "../painter/scale.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { h, rem } from "../ui/dom.js";
import { classOf, properties } from "../ui/sign.js";
import { toast } from "../ui/toasts.js";
import { Layers } from "./layers.js";

/** @typedef {import("../marks/camera.js").Camera} Camera */
/** @typedef {import("./events.js").Events} Events */
/** @typedef {import("../painter/projection.js").Located} Located */
/** @typedef {import("../marks/flashes.js").Flash} Flash */

/** An event that is selected in the list is shown at this zoom at least, when the page opens with it. */
const closeZoom = 4.5;

/** The canvases of the map. They are drawn only when something changed, at most once a frame. */
export class Screen {
  /** @type {import("./tiles.js").Tiles|null} */
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
