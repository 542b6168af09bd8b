import { Pace } from "../data/order.js";
import { filter } from "../data/quake-set.js";
import { store } from "../data/store.js";
import { flashesOf, mostFlashes } from "../marks/overlay.js";
import { hiddenStep, isLocated, radius, sizes, sizeStep, worldX, worldY } from "../painter/projection.js";
import { view } from "../state/view.js";
import { classes, classOf } from "../ui/sign.js";

/** @typedef {import("../types.js").Changes} Changes */
/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../marks/camera.js").Camera} Camera */
/** @typedef {import("../painter/projection.js").Located} Located */
/** @typedef {import("../ui/sign.js").Coloring} Coloring */
/** @typedef {import("./screen.js").Screen} Screen */

/** The number of cells from west to east, and from north to south. */
const across = 512;

/**
 * Finds points near a place without looking at all of them: points by the cell of a grid over the world, made
 * with one counting sort.
 */
class Grid {
  #first = new Uint32Array(across * across + 1);
  /** @type {Uint32Array} */
  #points;

  /** @param {Float32Array} xs @param {Float32Array} ys world coordinates from 0 to 1 */
  constructor(xs, ys) {
    const cells = new Uint32Array(xs.length);
    for (let i = 0; i < xs.length; i += 1) {
      const cell = cellOf(ys[i]) * across + cellOf(xs[i]);
      cells[i] = cell;
      this.#first[cell + 1] += 1;
    }
    for (let cell = 0; cell < across * across; cell += 1) this.#first[cell + 1] += this.#first[cell];
    const next = this.#first.slice();
    this.#points = new Uint32Array(xs.length);
    for (let i = 0; i < xs.length; i += 1) this.#points[next[cells[i]]++] = i;
  }

  /**
   * Calls back with each point of the cells that a square touches; the world wraps.
   * @param {number} x @param {number} y the middle @param {number} reach half the square's side
   * @param {(point: number) => void} found
   */
  near(x, y, reach, found) {
    const wrapped = x - Math.floor(x);
    const left = Math.floor((wrapped - reach) * across);
    const right = Math.min(left + across - 1, Math.floor((wrapped + reach) * across));
    const top = cellOf(y - reach);
    const bottom = cellOf(y + reach);
    for (let row = top; row <= bottom; row += 1) {
      for (let column = left; column <= right; column += 1) {
        const cell = row * across + ((column % across) + across) % across;
        for (let at = this.#first[cell]; at < this.#first[cell + 1]; at += 1) found(this.#points[at]);
      }
    }
  }
}

/** @param {number} value @returns {number} */
function cellOf(value) {
  return Math.max(0, Math.min(across - 1, Math.floor(value * across)));
}

/** After this many events it is time to look whether the page waits. */
const part = 500;
/** Places for events that arrive before all are ordered again. */
const spare = 2000;

/** The events on the map as arrays for the painter, in the order in which they lie on each other. */
export class Events {
  /** @type {Quake[]} */
  quakes = [];
  xs = new Float32Array(0);
  ys = new Float32Array(0);
  /** Sizes; `hiddenStep` for an event that is no longer there, or whose epicentre is not known. */
  steps = new Uint8Array(0);
  classes = new Uint8Array(0);
  /** The number of events without the hidden ones. */
  count = 0;
  /** @type {Located|null} the newest by origin time */
  newest = null;
  /** @type {Map<string, number>} places by code */
  #places = new Map();
  /** @type {Grid|null} */
  #grid = null;
  /** @type {number|null} */
  #largest = null;

  /**
   * Puts others in the place of all events, many of them in parts. Until the end the old ones are there, and
   * nothing may change them.
   * @param {readonly Quake[]} quakes which do not change meanwhile
   * @param {Coloring} coloring
   * @param {number} now
   */
  async replace(quakes, coloring, now) {
    const pace = new Pace();
    const count = quakes.length;
    // Where the colour tells the age, what is newer lies above what is larger.
    const height = (/** @type {Quake} */ quake) => sizeStep(quake.magnitude)
      + (coloring === "age" ? (classes - classOf(quake, coloring, now)) * sizes : 0);
    const next = new Uint32Array((classes + 1) * sizes + 1);
    const heights = new Uint16Array(count);
    for (let i = 0; i < count; i += 1) {
      next[(heights[i] = height(quakes[i])) + 1] += 1;
      if (i % part === part - 1 && pace.isOver) await pace.pause();
    }
    for (let step = 0; step + 1 < next.length; step += 1) next[step + 1] += next[step];
    const all = new Events();
    all.quakes = new Array(count);
    // Of the same height the newest lies on top: the list is newest first unless the person sorts it.
    for (let i = count - 1; i >= 0; i -= 1) all.quakes[next[heights[i]]++] = quakes[i];
    all.xs = new Float32Array(count + spare);
    all.ys = new Float32Array(count + spare);
    all.steps = new Uint8Array(count + spare).fill(hiddenStep, count);
    all.classes = new Uint8Array(count + spare);
    all.count = count;
    for (let i = 0; i < count; i += 1) {
      const quake = all.quakes[i];
      all.#put(i, quake, coloring, now);
      all.#places.set(quake.code, i);
      if (i % part === part - 1 && pace.isOver) await pace.pause();
    }
    this.#take(all);
  }

  /** @param {Events} other */
  #take(other) {
    this.quakes = other.quakes;
    this.xs = other.xs;
    this.ys = other.ys;
    this.steps = other.steps;
    this.classes = other.classes;
    this.count = other.count;
    this.newest = other.newest;
    this.#places = other.#places;
    this.#largest = other.#largest;
    this.#grid = null;
  }

  /**
   * Changes a few events without ordering all.
   * @param {readonly Changes[]} list
   * @param {(quake: Quake) => boolean} passes the filter
   * @param {Coloring} coloring
   * @param {number} now
   * @returns {boolean} false if all must be replaced
   */
  apply(list, passes, coloring, now) {
    this.#grid = null;
    const newest = this.newest?.code;
    for (const { inserted, updated, deleted } of list) {
      for (const { code } of deleted) this.#hide(code);
      for (const quake of [...updated.map(({ after }) => after), ...inserted]) {
        this.#hide(quake.code);
        if (!passes(quake)) continue;
        const place = this.quakes.length;
        if (place >= this.xs.length) return false;
        this.quakes.push(quake);
        this.#places.set(quake.code, place);
        this.#put(place, quake, coloring, now);
        this.count += 1;
      }
    }
    // After the newest event has gone, only a look at all events finds the next newest.
    return newest === undefined || this.#places.has(newest);
  }

  /** @param {number} place @param {Quake} quake @param {Coloring} coloring @param {number} now */
  #put(place, quake, coloring, now) {
    if (!isLocated(quake)) {
      this.steps[place] = hiddenStep;
      return;
    }
    this.xs[place] = worldX(quake.longitude);
    this.ys[place] = worldY(quake.latitude);
    this.steps[place] = sizeStep(quake.magnitude);
    this.classes[place] = classOf(quake, coloring, now);
    if ((quake.magnitude ?? 1) > (this.#largest ?? 1)) this.#largest = quake.magnitude;
    if (this.newest === null || quake.time > this.newest.time || quake.code === this.newest.code) {
      this.newest = quake;
    }
  }

  /** @param {string} code */
  #hide(code) {
    const place = this.#places.get(code);
    if (place === undefined) return;
    this.#places.delete(code);
    this.steps[place] = hiddenStep;
    this.count -= 1;
  }

  /**
   * The event at a point of the map: the one whose circle the point is deepest in; of equals the upper one.
   * @param {Camera} camera
   * @param {number} px
   * @param {number} py
   * @param {number} slack pixels outside the circle that still hit
   * @returns {Located|null}
   */
  at(camera, px, py, slack) {
    const all = this.quakes.length;
    this.#grid ??= new Grid(this.xs.subarray(0, all), this.ys.subarray(0, all));
    const [x, y] = camera.toWorld(px, py);
    const { pixels, zoom } = camera;
    const largest = radius(this.#largest, zoom);
    let best = 1;
    let found = -1;
    this.#grid.near(x, y, (largest + slack) / pixels, (point) => {
      if (this.steps[point] === hiddenStep) return;
      const dx = x - this.xs[point];
      const distance = Math.hypot(dx - Math.round(dx), y - this.ys[point]) * pixels;
      const depth = distance / (radius(this.quakes[point].magnitude, zoom) + slack);
      if (depth < best || (depth === best && point > found)) {
        best = depth;
        found = point;
      }
    });
    const quake = this.quakes[found];
    return quake && isLocated(quake) ? quake : null;
  }
}

/** With more events than this, new ones are drawn together: a change is marked at once in any case. */
const manyEvents = 5000;
const manyDelay = 300;
/** Of more events than this, changed ones are put on top until all are ordered again, this often. */
const orderDelay = 5000;
/** More changes than this wait only while none of them passes the filter. */
const mostWaiting = 1000;
const minute = 60_000;

/** Gives the map the events of the list, and marks what was just committed. */
class MapFollower {
  #events;
  #screen;
  #last = -Infinity;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #ordering;
  /** @type {Changes[]} not yet on the map */
  #waiting = [];
  /** Whether more is new than what is waiting. */
  #all = false;
  #replacing = false;

  /** @param {Events} events @param {Screen} screen */
  constructor(events, screen) {
    this.#events = events;
    this.#screen = screen;
    void this.#replace();
    view.addEventListener("change", (event) => {
      const { changed } = /** @type {CustomEvent} */ (event).detail;
      if (changed.has("color") || changed.has("asOf")) this.#replaceSoon();
    });
    setInterval(() => {
      if (view.get().color === "age" && view.get().asOf === null) this.#replaceSoon();
    }, minute);
    store.addEventListener("shown", () => {
      // Without a change, the filter or the order is another.
      if (this.#waiting.length === 0) this.#all = true;
      this.#later();
    });
    store.addEventListener("change", (event) => this.#take(/** @type {CustomEvent} */ (event).detail));
  }

  #passes() {
    return filter(view.get(), view.bounds(), store.now());
  }

  async #replace() {
    clearTimeout(this.#ordering);
    this.#ordering = undefined;
    this.#waiting = [];
    this.#all = false;
    this.#replacing = true;
    await this.#events.replace([...store.shown()], view.get().color, store.now());
    this.#replacing = false;
    this.#screen.setEvents();
    if (this.#all || this.#waiting.length > 0) this.#later();
  }

  #show() {
    this.#timer = undefined;
    // When all are replaced, it is called again.
    if (this.#replacing) return;
    this.#last = performance.now();
    const changes = this.#waiting;
    this.#waiting = [];
    const few = !this.#all && store.shown().length > manyEvents
      && this.#events.apply(changes, this.#passes(), view.get().color, store.now())
      && this.#events.count === store.shown().length;
    // If the numbers differ, the list is still being loaded.
    if (few) {
      this.#screen.setEvents();
      this.#ordering ??= setTimeout(() => this.#replaceSoon(), orderDelay);
    } else void this.#replace();
  }

  #later() {
    const wait = store.shown().length > manyEvents ? this.#last + manyDelay - performance.now() : 0;
    this.#timer ??= setTimeout(() => this.#show(), Math.max(0, wait));
  }

  #replaceSoon() {
    this.#all = true;
    this.#later();
  }

  /** @param {import("../types.js").StoreChange} change */
  #take(change) {
    if (change.kind === "changes" && this.#waiting.length < mostWaiting) this.#waiting.push(change);
    else this.#all = true;
    if (change.kind !== "changes" || document.hidden) return;
    // In the past, a step of the history is marked, too; a jump over many changes is not.
    const step = view.get().asOf !== null
      && change.inserted.length + change.updated.length + change.deleted.length <= mostFlashes;
    if (!change.live && !step) return;
    this.#screen.flash(flashesOf(change, performance.now(), this.#passes()));
  }
}

/**
 * @param {Events} events
 * @param {Screen} screen
 */
export function followStore(events, screen) {
  new MapFollower(events, screen);
}
