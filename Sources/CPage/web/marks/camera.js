import { latitudeOf, longitudeOf, worldPixels, worldX, worldY } from "../painter/projection.js";

/** @typedef {import("../types.js").Box} Box */

/** @typedef {{from: Place, to: Place, start: number, duration: number}} Flight */
/** @typedef {{vx: number, vy: number, last: number}} Glide pixels in a millisecond */

/** A glide loses two thirds of its speed in this time, in ms. */
const slowing = 220;
const slowest = 0.02;
/** After a pause of the page the map must not jump. */
const longestStep = 64;

/**
 * @param {Flight} flight
 * @param {number} now
 * @returns {Place & {done: boolean}} where it is
 */
function flightAt({ from, to, start, duration }, now) {
  const passed = Math.max(0, Math.min(1, (now - start) / duration));
  const eased = 1 - (1 - passed) ** 3;
  const zoom = from.zoom + (to.zoom - from.zoom) * eased;
  // In a zoom the middle moves with the scale, so that the point that it is about stays where it is.
  const scale = 2 ** (to.zoom - from.zoom);
  const part = Math.abs(scale - 1) < 1e-6 ? eased : (1 - 2 ** (from.zoom - zoom)) / (1 - 1 / scale);
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part, zoom, done: passed === 1 };
}

/**
 * Slows a glide down.
 * @param {Glide} glide is changed
 * @param {number} now
 * @returns {{dx: number, dy: number, done: boolean}} pixels since the last time
 */
function glideOn(glide, now) {
  const passed = Math.max(0, Math.min(longestStep, now - glide.last));
  const [dx, dy] = [glide.vx * passed, glide.vy * passed];
  const slower = Math.exp(-passed / slowing);
  glide.vx *= slower;
  glide.vy *= slower;
  glide.last = now;
  return { dx, dy, done: Math.hypot(glide.vx, glide.vy) < slowest };
}

/** @typedef {{x: number, y: number, zoom: number}} Place the middle in world coordinates; x is not wrapped */
/** @typedef {{top: number, right: number, bottom: number, left: number}} Padding */

const maxZoom = 12;
const flightTime = 420;
/** The home view has the Pacific in its middle and ends in the Atlantic, where it cuts no continent. */
const homeLongitude = 150;
const homeNorth = 76;
const homeSouth = -62;

/** Where the map looks: its middle and zoom, with the motion that follows a gesture. */
export class Camera extends EventTarget {
  x = 0.5;
  y = 0.5;
  zoom = 1;
  width = 1;
  height = 1;
  /** @type {Padding} parts of the map that other elements cover */
  padding = { top: 0, right: 0, bottom: 0, left: 0 };
  /** @type {Flight|null} */
  #flight = null;
  /** @type {Glide|null} */
  #glide = null;

  get pixels() {
    return worldPixels(this.zoom);
  }

  get minZoom() {
    const height = this.height - this.padding.top - this.padding.bottom;
    return Math.max(0, Math.log2(Math.max(height, 200) / 256));
  }

  /** @param {number} width @param {number} height @param {Padding} padding */
  resize(width, height, padding) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.padding = padding;
    this.#put(this.x, this.y, this.zoom);
  }

  /** @returns {Place} */
  home() {
    const { left, right } = this.padding;
    const zoom = Math.max(this.minZoom, Math.log2((this.width - left - right) / 256));
    const y = (worldY(homeSouth) + worldY(homeNorth)) / 2;
    const home = this.#shifted({ x: worldX(homeLongitude), y, zoom });
    return { ...home, y: this.#limited(home.y, zoom) };
  }

  /**
   * The place with which the point lies in the middle of what is not covered.
   * @param {Place} place
   */
  #shifted(place) {
    const { top, right, bottom, left } = this.padding;
    const pixels = worldPixels(place.zoom);
    return { ...place, x: place.x - (left - right) / 2 / pixels, y: place.y - (top - bottom) / 2 / pixels };
  }

  /** @returns {{longitude: number, latitude: number, zoom: number}} of the middle of what is not covered */
  get middle() {
    const { top, right, bottom, left } = this.padding;
    const x = this.x + (left - right) / 2 / this.pixels;
    const y = this.y + (top - bottom) / 2 / this.pixels;
    return { longitude: longitudeOf(x), latitude: latitudeOf(y), zoom: this.zoom };
  }

  /** @param {{longitude: number, latitude: number, zoom: number}} middle @returns {Place} */
  placeOf({ longitude, latitude, zoom }) {
    return this.#shifted({ x: worldX(longitude), y: worldY(latitude), zoom });
  }

  /**
   * The whole number of worlds by which a point is moved to lie nearest to the middle.
   * @param {number} x
   */
  wrap(x) {
    return Math.round(this.x - x);
  }

  /** @param {number} x @param {number} y world coordinates @returns {[number, number]} pixels of the map */
  toScreen(x, y) {
    return [
      (x + this.wrap(x) - this.x) * this.pixels + this.width / 2,
      (y - this.y) * this.pixels + this.height / 2,
    ];
  }

  /** @param {number} px @param {number} py @returns {[number, number]} world coordinates */
  toWorld(px, py) {
    return [this.x + (px - this.width / 2) / this.pixels, this.y + (py - this.height / 2) / this.pixels];
  }

  /** @returns {Box|null} what is not covered; null when that is the whole earth */
  bounds() {
    const { top, right, bottom, left } = this.padding;
    const [west, north] = this.toWorld(left, top);
    const [east, south] = this.toWorld(this.width - right, this.height - bottom);
    const all = east - west >= 1;
    const n = north <= 0.0005 ? 90 : latitudeOf(north);
    const s = south >= 0.9995 ? -90 : latitudeOf(south);
    if (all && n === 90 && s === -90) return null;
    const round = (/** @type {number} */ degrees) => Math.round(degrees * 1e4) / 1e4;
    return [all ? -180 : round(longitudeOf(west)), round(s), all ? 180 : round(longitudeOf(east)), round(n)];
  }

  /** @param {number} dx @param {number} dy pixels that the ground moves */
  pan(dx, dy) {
    this.stop();
    this.#put(this.x - dx / this.pixels, this.y - dy / this.pixels, this.zoom);
  }

  /**
   * Zooms so that the ground under a point stays there.
   * @param {number} px @param {number} py @param {number} by
   */
  zoomAt(px, py, by) {
    this.stop();
    const [x, y] = this.toWorld(px, py);
    const zoom = Math.max(this.minZoom, Math.min(maxZoom, this.zoom + by));
    const pixels = worldPixels(zoom);
    this.#put(x - (px - this.width / 2) / pixels, y - (py - this.height / 2) / pixels, zoom);
  }

  /**
   * The same with motion.
   * @param {number} px
   * @param {number} py
   * @param {number} by
   * @param {boolean} still
   */
  flyZoom(px, py, by, still) {
    const [x, y] = this.toWorld(px, py);
    const goal = Math.max(this.minZoom, Math.min(maxZoom, (this.#flight?.to.zoom ?? this.zoom) + by));
    const pixels = worldPixels(goal);
    const to = { x: x - (px - this.width / 2) / pixels, y: y - (py - this.height / 2) / pixels, zoom: goal };
    this.fly(to, still, 240);
  }

  /** @param {Place} to @param {boolean} still without motion @param {number} [duration] */
  fly(to, still, duration = flightTime) {
    this.stop();
    const near = { ...to, x: to.x + Math.round(this.x - to.x) };
    if (still) {
      this.#put(near.x, near.y, near.zoom);
      return;
    }
    const from = { x: this.x, y: this.y, zoom: this.zoom };
    this.#flight = { from, to: near, start: performance.now(), duration };
    this.dispatchEvent(new Event("move"));
  }

  /**
   * Goes on after a drag.
   * @param {number} vx
   * @param {number} vy pixels in a millisecond
   */
  glide(vx, vy) {
    if (Math.hypot(vx, vy) < 0.1) return;
    this.#glide = { vx, vy, last: performance.now() };
    this.dispatchEvent(new Event("move"));
  }

  stop() {
    this.#flight = null;
    this.#glide = null;
  }

  /** @returns {Place} where it goes, or is */
  get goal() {
    return this.#flight?.to ?? { x: this.x, y: this.y, zoom: this.zoom };
  }

  /** @returns {boolean} whether it moves by itself */
  get moving() {
    return this.#flight !== null || this.#glide !== null;
  }

  /**
   * Moves it to where it is at this time.
   * @param {number} now
   */
  tick(now) {
    if (this.#flight) {
      const { x, y, zoom, done } = flightAt(this.#flight, now);
      if (done) this.#flight = null;
      this.#put(x, y, zoom);
    } else if (this.#glide) {
      const { dx, dy, done } = glideOn(this.#glide, now);
      if (done) this.#glide = null;
      this.#put(this.x - dx / this.pixels, this.y - dy / this.pixels, this.zoom);
    }
  }

  /** @param {number} x @param {number} y @param {number} zoom */
  #put(x, y, zoom) {
    this.zoom = Math.max(this.minZoom, Math.min(maxZoom, zoom));
    this.x = x;
    this.y = this.#limited(y, this.zoom);
    this.dispatchEvent(new Event("move"));
  }

  /**
   * Keeps the poles at the edges of what is not covered, or outside.
   * @param {number} y
   * @param {number} zoom
   */
  #limited(y, zoom) {
    const { top, bottom } = this.padding;
    const above = (this.height / 2 - top) / worldPixels(zoom);
    const below = (this.height / 2 - bottom) / worldPixels(zoom);
    return above + below >= 1 ? 0.5 + (above - below) / 2 : Math.max(above, Math.min(1 - below, y));
  }
}
