import { graticuleStep } from "../painter/graticule.js";
import { latitudeOf, longitudeOf, worldX, worldY } from "../painter/projection.js";

/** @typedef {import("./camera.js").Camera} Camera */

/** Buttons cover the right edge down to here. */
const buttons = 132;

/**
 * Writes the degrees at the top and right edges of the map.
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {Camera} camera
 * @param {(degrees: number, digits: number) => string} written
 */
export function drawDegrees(context, camera, written) {
  const { top, bottom } = camera.padding;
  const step = graticuleStep(camera.zoom);
  const write = (/** @type {number} */ line, /** @type {number} */ x, /** @type {number} */ y) => {
    const degrees = Math.round(longitudeOf(worldX(line * step)) * 10) / 10;
    // The antimeridian has no sign, and zero has none either.
    context.fillText(written(degrees === -180 ? 180 : degrees || 0, step < 1 ? 1 : 0), x, y);
  };
  context.textBaseline = "top";
  context.textAlign = "left";
  const [west] = camera.toWorld(0, 0);
  const [east] = camera.toWorld(camera.width, 0);
  for (let line = Math.ceil((west - 0.5) * 360 / step); line * step <= (east - 0.5) * 360; line += 1) {
    const x = (worldX(line * step) - camera.x) * camera.pixels + camera.width / 2;
    if (x > 4 && x < camera.width - 90) write(line, x + 4, top + 5);
  }
  context.textAlign = "right";
  const south = latitudeOf(Math.min(1, camera.toWorld(0, camera.height - bottom)[1]));
  const north = latitudeOf(Math.max(0, camera.toWorld(0, top)[1]));
  for (let line = Math.ceil(south / step); line * step <= north; line += 1) {
    const y = (worldY(line * step) - camera.y) * camera.pixels + camera.height / 2;
    if (y > top + buttons && y < camera.height - bottom - 16) write(line, camera.width - 6, y + 3);
  }
}
