import { view } from "../state/view.js";
import { t } from "../text/text.js";
import { button } from "../ui/button.js";
import { worldX, worldY } from "../map/projection.js";

/** @typedef {import("../map/camera.js").Camera} Camera */
/** @typedef {import("../map/screen.js").Screen} Screen */
/** @typedef {import("./trail.js").Revision} Revision */

/** A trail that is shorter than this, in pixels, cannot be read. */
const readable = 40;
/** The part of the map that the trail fills after the zoom. */
const filled = 0.4;

/**
 * Shows the trail that the detail tells of, and offers to zoom to it: most revisions move an event by some
 * kilometres only, which is less than a pixel of the whole earth.
 * @param {HTMLElement} parent
 * @param {Camera} camera
 * @param {Screen} screen
 * @param {() => boolean} still
 */
export function startTrail(parent, camera, screen, still) {
  const zoom = button({
    icon: "search", text: t("map.trail"), kind: "outlined map-trail", action: () => {
      const { x, y, side } = extent(screen.overlay.trail);
      const { width, height, padding } = camera;
      const space = Math.min(width - padding.left - padding.right, height - padding.top - padding.bottom);
      camera.fly(camera.around(x, y, Math.log2(space * filled / side / 256)), still());
    },
  });
  zoom.hidden = true;
  parent.append(zoom);
  const show = () => {
    const { trail } = screen.overlay;
    const { side } = extent(trail);
    const label = side === 0 || side * camera.pixels >= readable;
    if (zoom.hidden !== label) zoom.hidden = label;
  };
  view.addEventListener("trail", (event) => {
    screen.overlay.trail = /** @type {CustomEvent<Revision[]>} */ (event).detail;
    screen.refresh();
    show();
  });
  camera.addEventListener("move", show);
}

/**
 * @param {readonly Revision[]} trail
 * @returns {{x: number, y: number, side: number}} its middle and the longer side, in world coordinates
 */
function extent(trail) {
  if (trail.length < 2) return { x: 0, y: 0, side: 0 };
  const last = worldX(trail[trail.length - 1].longitude);
  // Beyond the antimeridian, the same place is nearer in the next world.
  const xs = trail.map(({ longitude }) => worldX(longitude) + Math.round(last - worldX(longitude)));
  const ys = trail.map(({ latitude }) => worldY(latitude));
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return { x: (left + right) / 2, y: (top + bottom) / 2, side: Math.max(right - left, bottom - top) };
}
