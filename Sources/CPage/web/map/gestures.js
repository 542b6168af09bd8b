/** @typedef {import("../marks/camera.js").Camera} Camera */

/**
 * What a pointer or a key asks for that is not a move.
 * @typedef {object} Intents
 * @property {(x: number, y: number, touch: boolean) => void} click
 * @property {(from: Place, to: Place, done: boolean) => void} box a drag with the shift key
 * @property {(x: number, y: number) => void} hover
 * @property {() => void} leave
 * @property {() => void} middle select what lies nearest to the middle
 * @property {() => void} escape
 * @property {() => boolean} still whether the person wants no motion
 */

/** @typedef {[number, number]} Place pixels of the map */

/** Pixels that a finger or hand may tremble in a click. */
const tremble = 6;

/** Moves the camera by wheel, drag, pinch, double click and keys. */
class Gestures {
  #element;
  #camera;
  #intents;
  /** @type {Map<number, {x: number, y: number}>} the pointers that are down */
  #down = new Map();
  #moved = 0;
  /** @type {Place|null} where a drag for a box began */
  #corner = null;
  #velocity = { x: 0, y: 0, at: 0 };

  /** @param {HTMLElement} element @param {Camera} camera @param {Intents} intents */
  constructor(element, camera, intents) {
    this.#element = element;
    this.#camera = camera;
    this.#intents = intents;
    element.addEventListener("pointerdown", (event) => this.#press(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    element.addEventListener("pointerup", (event) => this.#lift(event));
    element.addEventListener("pointercancel", (event) => this.#lift(event));
    element.addEventListener("pointerleave", () => intents.leave());
    element.addEventListener("dblclick", (event) => {
      event.preventDefault();
      camera.flyZoom(...this.#place(event), event.shiftKey ? -1 : 1, intents.still());
    });
    element.addEventListener("wheel", (event) => this.#turn(event), { passive: false });
    element.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @param {MouseEvent} event @returns {Place} */
  #place(event) {
    const { left, top } = this.#element.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  /** The middle of two fingers, and how far they are apart. */
  #fingers() {
    const [a, b] = [...this.#down.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.max(8, Math.hypot(a.x - b.x, a.y - b.y)) };
  }

  /** @param {PointerEvent} event */
  #press(event) {
    if (event.button !== 0) return;
    this.#element.setPointerCapture(event.pointerId);
    const [x, y] = this.#place(event);
    if (this.#down.size === 0) {
      this.#moved = 0;
      this.#corner = event.shiftKey ? [x, y] : null;
    }
    if (this.#down.size < 2) this.#down.set(event.pointerId, { x, y });
    this.#velocity = { x: 0, y: 0, at: event.timeStamp };
    this.#camera.stop();
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const [x, y] = this.#place(event);
    const last = this.#down.get(event.pointerId);
    if (!last) {
      if (this.#down.size === 0 && event.pointerType !== "touch") this.#intents.hover(x, y);
      return;
    }
    this.#moved += Math.hypot(x - last.x, y - last.y);
    if (this.#corner) {
      this.#intents.box(this.#corner, [x, y], false);
    } else if (this.#down.size === 1) {
      if (this.#moved <= tremble) return;
      this.#drag(event, x - last.x, y - last.y);
      this.#down.set(event.pointerId, { x, y });
    } else {
      const before = this.#fingers();
      this.#down.set(event.pointerId, { x, y });
      const after = this.#fingers();
      this.#camera.pan(after.x - before.x, after.y - before.y);
      this.#camera.zoomAt(after.x, after.y, Math.log2(after.apart / before.apart));
    }
    this.#intents.leave();
  }

  /** @param {PointerEvent} event @param {number} dx @param {number} dy */
  #drag(event, dx, dy) {
    const { x, y, at } = this.#velocity;
    const passed = Math.max(1, event.timeStamp - at);
    const part = Math.min(1, passed / 60);
    this.#velocity = {
      x: x + (dx / passed - x) * part,
      y: y + (dy / passed - y) * part,
      at: event.timeStamp,
    };
    this.#element.classList.add("dragged");
    this.#camera.pan(dx, dy);
  }

  /** @param {PointerEvent} event */
  #lift(event) {
    if (!this.#down.delete(event.pointerId)) return;
    this.#element.classList.remove("dragged");
    if (this.#down.size > 0) return;
    const { x, y, at } = this.#velocity;
    if (this.#corner && this.#moved > tremble) {
      this.#intents.box(this.#corner, this.#place(event), true);
    } else if (event.type === "pointerup" && this.#moved <= tremble) {
      this.#intents.click(...this.#place(event), event.pointerType === "touch");
    } else if (event.type === "pointerup" && event.timeStamp - at < 60 && !this.#intents.still()) {
      this.#camera.glide(x, y);
    }
  }

  /** @param {WheelEvent} event */
  #turn(event) {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1);
    const by = Math.max(-1, Math.min(1, -pixels / (event.ctrlKey ? 80 : 320)));
    const place = this.#place(event);
    // A notch of a wheel is a jump and is smoothed; a touchpad sends small steps, which are smooth already.
    if (Math.abs(pixels) >= 60 && !event.ctrlKey) {
      this.#camera.flyZoom(...place, by * 1.6, this.#intents.still());
    } else this.#camera.zoomAt(...place, by);
    this.#intents.leave();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const camera = this.#camera;
    const still = this.#intents.still();
    const size = Math.min(camera.width, camera.height) * (event.shiftKey ? 0.75 : 0.25);
    const [x, y] = [camera.width / 2, camera.height / 2];
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => shift(camera, -size, 0, still),
      ArrowRight: () => shift(camera, size, 0, still),
      ArrowUp: () => shift(camera, 0, -size, still),
      ArrowDown: () => shift(camera, 0, size, still),
      "+": () => camera.flyZoom(x, y, 1, still),
      "=": () => camera.flyZoom(x, y, 1, still),
      "-": () => camera.flyZoom(x, y, -1, still),
      _: () => camera.flyZoom(x, y, -1, still),
      Home: () => camera.fly(camera.home(), still),
      Enter: this.#intents.middle,
      Escape: this.#intents.escape,
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    if (event.key !== "Escape") event.stopPropagation();
    action();
  }
}

/**
 * Moves the camera as a person wants.
 * @param {HTMLElement} element
 * @param {Camera} camera
 * @param {Intents} intents
 */
export function listen(element, camera, intents) {
  new Gestures(element, camera, intents);
}

/** @param {Camera} camera @param {number} dx @param {number} dy @param {boolean} still */
function shift(camera, dx, dy, still) {
  const goal = camera.goal;
  camera.fly({ x: goal.x + dx / camera.pixels, y: goal.y + dy / camera.pixels, zoom: goal.zoom }, still, 160);
}
