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

/**
 * Moves the camera by wheel, drag, pinch, double click and keys.
 * @param {HTMLElement} element
 * @param {Camera} camera
 * @param {Intents} intents
 */
export function listen(element, camera, intents) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let moved = 0;
  /** @type {Place|null} where a drag for a box began */
  let corner = null;
  let velocity = { x: 0, y: 0, at: 0 };

  /** @param {MouseEvent} event @returns {Place} */
  const place = (event) => {
    const { left, top } = element.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const fingers = () => {
    const [a, b] = [...down.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.max(8, Math.hypot(a.x - b.x, a.y - b.y)) };
  };

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    const [x, y] = place(event);
    if (down.size === 0) {
      moved = 0;
      corner = event.shiftKey ? [x, y] : null;
    }
    if (down.size < 2) down.set(event.pointerId, { x, y });
    velocity = { x: 0, y: 0, at: event.timeStamp };
    camera.stop();
  });

  element.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    const last = down.get(event.pointerId);
    if (!last) {
      if (down.size === 0 && event.pointerType !== "touch") intents.hover(x, y);
      return;
    }
    const dx = x - last.x;
    const dy = y - last.y;
    moved += Math.hypot(dx, dy);
    if (corner) {
      intents.box(corner, [x, y], false);
    } else if (down.size === 1) {
      if (moved <= tremble) return;
      const passed = Math.max(1, event.timeStamp - velocity.at);
      const part = Math.min(1, passed / 60);
      velocity = {
        x: velocity.x + (dx / passed - velocity.x) * part,
        y: velocity.y + (dy / passed - velocity.y) * part,
        at: event.timeStamp,
      };
      element.classList.add("dragged");
      camera.pan(dx, dy);
      down.set(event.pointerId, { x, y });
    } else {
      const before = fingers();
      down.set(event.pointerId, { x, y });
      const after = fingers();
      camera.pan(after.x - before.x, after.y - before.y);
      camera.zoomAt(after.x, after.y, Math.log2(after.apart / before.apart));
    }
    intents.leave();
  });

  /** @param {PointerEvent} event */
  const up = (event) => {
    if (!down.delete(event.pointerId)) return;
    element.classList.remove("dragged");
    if (down.size > 0) return;
    if (corner && moved > tremble) {
      intents.box(corner, place(event), true);
    } else if (event.type === "pointerup" && moved <= tremble) {
      intents.click(...place(event), event.pointerType === "touch");
    } else if (event.type === "pointerup" && event.timeStamp - velocity.at < 60 && !intents.still()) {
      camera.glide(velocity.x, velocity.y);
    }
  };
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", () => intents.leave());

  element.addEventListener("dblclick", (event) => {
    event.preventDefault();
    camera.flyZoom(...place(event), event.shiftKey ? -1 : 1, intents.still());
  });

  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1);
    const by = Math.max(-1, Math.min(1, -pixels / (event.ctrlKey ? 80 : 320)));
    // A notch of a wheel is a jump and is smoothed; a touchpad sends small steps, which are smooth already.
    if (Math.abs(pixels) >= 60 && !event.ctrlKey) camera.flyZoom(...place(event), by * 1.6, intents.still());
    else camera.zoomAt(...place(event), by);
    intents.leave();
  }, { passive: false });

  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const far = event.shiftKey ? 0.75 : 0.25;
    const size = Math.min(camera.width, camera.height) * far;
    const [x, y] = [camera.width / 2, camera.height / 2];
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => shift(camera, -size, 0, intents.still()),
      ArrowRight: () => shift(camera, size, 0, intents.still()),
      ArrowUp: () => shift(camera, 0, -size, intents.still()),
      ArrowDown: () => shift(camera, 0, size, intents.still()),
      "+": () => camera.flyZoom(x, y, 1, intents.still()),
      "=": () => camera.flyZoom(x, y, 1, intents.still()),
      "-": () => camera.flyZoom(x, y, -1, intents.still()),
      _: () => camera.flyZoom(x, y, -1, intents.still()),
      Home: () => camera.fly(camera.home(), intents.still()),
      Enter: intents.middle,
      Escape: intents.escape,
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    if (event.key !== "Escape") event.stopPropagation();
    action();
  });
}

/** @param {Camera} camera @param {number} dx @param {number} dy @param {boolean} still */
function shift(camera, dx, dy, still) {
  const goal = camera.goal;
  camera.fly({ x: goal.x + dx / camera.pixels, y: goal.y + dy / camera.pixels, zoom: goal.zoom }, still, 160);
}
