import { worldX, worldY } from "../painter/projection.js";
import { radius } from "../painter/scale.js";
import { drawBox, drawCircle } from "./box.js";
import { flashTime, flashes } from "./flashes.js";
import { drawTrail } from "./trail.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../painter/projection.js").Located} Located */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./trail.js").Revision} Revision */
/** @typedef {import("./flashes.js").Flash} Flash */

/**
 * @typedef {{ink: string, halo: string, accent: string, danger: string, label: string, font: string}} Colors
 */

/** What lies over the events: selection, hover, changes, box and the trail of revisions. */
export class Overlay {
  /** @type {Located|null} */
  selected = null;
  /** @type {Located|null} */
  hovered = null;
  /** @type {readonly Revision[]} */
  trail = [];
  /** @type {Flash[]} */
  flashes = [];
  /** @type {import("../types.js").Box|null} of the filter, or being drawn */
  box = null;
  /** @type {import("../types.js").Circle|null} of the filter */
  circle = null;
  /** Whether the keys move the map: they select what is nearest to the cross in the middle. */
  cross = false;
  /** @type {(quake: Quake) => string} */
  colorOf = () => "#888";
  /** @type {Colors} */
  colors = { ink: "", halo: "", accent: "", danger: "", label: "", font: "" };
  #camera;
  #wasEmpty = false;

  /** @param {Camera} camera */
  constructor(camera) {
    this.#camera = camera;
  }

  get #isEmpty() {
    return !this.selected && !this.hovered && !this.box && !this.circle && !this.cross
      && this.trail.length < 2 && this.flashes.length === 0;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} now
   * @param {boolean} still without motion
   * @returns {boolean} whether something moves, so that the next frame differs
   */
  draw(context, now, still) {
    const camera = this.#camera;
    const empty = this.#isEmpty;
    // Most frames of a moving map have nothing here: a canvas that stays empty costs nothing.
    if (empty && this.#wasEmpty) return false;
    this.#wasEmpty = empty;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    if (this.box) drawBox(context, camera, this.box, this.colors);
    if (this.circle) drawCircle(context, camera, this.circle, this.colors);
    this.flashes = this.flashes.filter((flash) => now - flash.start < flashTime);
    flashes(context, camera, this.flashes, now, still, this.colors, this.colorOf);
    if (this.trail.length > 1) drawTrail(context, camera, this.trail, this.colors);
    const { hovered, selected } = this;
    if (hovered && hovered.code !== selected?.code) this.#outline(context, hovered, 1.5, 2);
    if (this.selected) this.#mark(context, this.selected);
    if (this.cross) this.#cross(context);
    return this.flashes.length > 0 && !still;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Located} quake
   * @param {number} wide
   * @param {number} away
   */
  #outline(context, quake, wide, away) {
    const camera = this.#camera;
    const [x, y] = camera.toScreen(worldX(quake.longitude), worldY(quake.latitude));
    const reach = radius(quake.magnitude, camera.zoom) + away;
    context.beginPath();
    context.arc(x, y, reach, 0, 2 * Math.PI);
    context.lineWidth = wide + 2.5;
    context.strokeStyle = this.colors.halo;
    context.stroke();
    context.lineWidth = wide;
    context.strokeStyle = this.colors.ink;
    context.stroke();
    return { x, y, reach };
  }

  /** The selected event also when it is hidden below others: its own circle, an outline and four ticks.
   * @param {CanvasRenderingContext2D} context @param {Located} quake */
  #mark(context, quake) {
    const camera = this.#camera;
    const [px, py] = camera.toScreen(worldX(quake.longitude), worldY(quake.latitude));
    context.beginPath();
    context.arc(px, py, radius(quake.magnitude, camera.zoom), 0, 2 * Math.PI);
    context.fillStyle = this.colorOf(quake);
    context.fill();
    const { x, y, reach } = this.#outline(context, quake, 2, 4);
    context.beginPath();
    for (const [dx, dy] of [[0, -1], [1, 0], [0, 1], [-1, 0]]) {
      context.moveTo(x + dx * reach, y + dy * reach);
      context.lineTo(x + dx * (reach + 9), y + dy * (reach + 9));
    }
    context.lineWidth = 4.5;
    context.strokeStyle = this.colors.halo;
    context.stroke();
    context.lineWidth = 2;
    context.strokeStyle = this.colors.ink;
    context.stroke();
  }

  /** @param {CanvasRenderingContext2D} context */
  #cross(context) {
    const { width, height, padding } = this.#camera;
    const x = (width + padding.left - padding.right) / 2;
    const y = (height + padding.top - padding.bottom) / 2;
    context.beginPath();
    context.moveTo(x - 10, y);
    context.lineTo(x + 10, y);
    context.moveTo(x, y - 10);
    context.lineTo(x, y + 10);
    context.lineWidth = 4;
    context.strokeStyle = this.colors.halo;
    context.stroke();
    context.lineWidth = 2;
    context.strokeStyle = this.colors.accent;
    context.stroke();
  }
}
