import { isLocated, radius, worldX, worldY } from "../painter/projection.js";
import { drawBox, drawCircle, drawTrail } from "./lines.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../painter/projection.js").Located} Located */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./lines.js").Revision} Revision */

/**
 * A change that was just committed.
 * @typedef {object} Flash
 * @property {"inserted"|"updated"|"deleted"} kind
 * @property {Located} quake
 * @property {Located|null} before where an updated event was
 * @property {number} start as performance.now()
 */

/** How long a change is marked, in ms. */
export const flashTime = 2600;

/** Of a large batch only the newest are marked: a thousand circles at once tell nothing. */
export const mostFlashes = 150;

/**
 * @param {import("../types.js").Changes} changes
 * @param {number} start
 * @param {(quake: Quake) => boolean} passes the filter; what leaves the selection is marked as deleted
 * @returns {Flash[]}
 */
export function flashesOf(changes, start, passes) {
  /** @type {Flash[]} */
  const all = [];
  const before = null;
  /** @param {Quake} quake @returns {quake is Located} */
  const isSeen = (quake) => isLocated(quake) && passes(quake);
  for (const quake of changes.deleted.filter(isSeen)) all.push({ kind: "deleted", quake, before, start });
  for (const { before: was, after } of changes.updated) {
    if (isSeen(after)) {
      all.push({ kind: "updated", quake: after, before: isLocated(was) ? was : null, start });
    } else if (isSeen(was)) {
      all.push({ kind: "deleted", quake: was, before, start });
    }
  }
  for (const quake of changes.inserted.filter(isSeen)) all.push({ kind: "inserted", quake, before, start });
  return all.slice(-mostFlashes);
}

/**
 * Marks an inserted event with growing circles, an updated one with a circle and a line from where it was,
 * and a deleted one with an outline that fades.
 * @param {CanvasRenderingContext2D} context
 * @param {Camera} camera
 * @param {readonly Flash[]} list
 * @param {number} now
 * @param {boolean} still without motion: the circles only appear and go
 * @param {{ink: string, accent: string, danger: string}} colors
 * @param {(quake: Quake) => string} colorOf
 */
function flashes(context, camera, list, now, still, colors, colorOf) {
  for (const { kind, quake, before, start } of list) {
    const age = Math.max(0, (now - start) / flashTime);
    const [x, y] = camera.toScreen(worldX(quake.longitude), worldY(quake.latitude));
    if (x < -80 || y < -80 || x > camera.width + 80 || y > camera.height + 80) continue;
    const reach = radius(quake.magnitude, camera.zoom);
    const fade = still ? 1 : 1 - age;
    context.lineWidth = 1.5;
    if (kind === "deleted") {
      context.strokeStyle = colors.danger;
      context.setLineDash([3, 3]);
      circle(context, x, y, reach + 2, fade);
      context.setLineDash([]);
      continue;
    }
    context.globalAlpha = 1;
    context.fillStyle = colorOf(quake);
    context.beginPath();
    context.arc(x, y, reach, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = colors.accent;
    if (kind === "updated") {
      if (before) line(context, camera, before, x, y, fade);
      circle(context, x, y, reach + 4, fade);
    } else if (still) {
      circle(context, x, y, reach + 6, 1);
    } else {
      for (const delay of [0, 0.18, 0.36]) {
        const part = (age - delay) / 0.55;
        if (part > 0 && part < 1) circle(context, x, y, reach + 26 * (1 - (1 - part) ** 2), 1 - part);
      }
    }
  }
  context.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} reach
 * @param {number} alpha */
function circle(context, x, y, reach, alpha) {
  context.globalAlpha = Math.max(0, alpha);
  context.beginPath();
  context.arc(x, y, reach, 0, 2 * Math.PI);
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {Camera} camera @param {Located} before @param {number} x
 * @param {number} y @param {number} alpha */
function line(context, camera, before, x, y, alpha) {
  const [fromX, fromY] = camera.toScreen(worldX(before.longitude), worldY(before.latitude));
  // Each end is drawn in the world nearest to the middle: the line must not cross the whole map.
  const worlds = Math.round((x - fromX) / camera.pixels);
  if (Math.hypot(x - fromX - worlds * camera.pixels, y - fromY) < 2) return;
  context.globalAlpha = Math.max(0, alpha);
  context.beginPath();
  context.moveTo(fromX + worlds * camera.pixels, fromY);
  context.lineTo(x, y);
  context.stroke();
}

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
