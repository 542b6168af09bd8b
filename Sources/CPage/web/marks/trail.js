import { worldX, worldY } from "../painter/projection.js";
import { format } from "../text/text.js";

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {{latitude: number, longitude: number, magnitude: number|null}} Revision */

/** Beyond the mark of the selected event. */
const labelAway = 32;
/**
 * The places that an event had, joined in the order of its revisions: the first hollow, the last filled.
 * @param {CanvasRenderingContext2D} context
 * @param {Camera} camera
 * @param {readonly Revision[]} trail
 * @param {{ink: string, halo: string, accent: string, font: string}} colors
 */
export function drawTrail(context, camera, trail, colors) {
  const last = trail[trail.length - 1];
  const world = camera.wrap(worldX(last.longitude));
  const points = trail.map((one) => {
    // Each place lies in the world in which it is nearest to the last one, also beyond the antimeridian.
    const x = worldX(one.longitude) + world;
    const near = x + Math.round(worldX(last.longitude) + world - x);
    return {
      x: (near - camera.x) * camera.pixels + camera.width / 2,
      y: (worldY(one.latitude) - camera.y) * camera.pixels + camera.height / 2,
      one,
    };
  });
  context.lineJoin = "round";
  for (const [color, wide] of /** @type {[string, number][]} */ ([[colors.halo, 5], [colors.accent, 2]])) {
    context.beginPath();
    for (const { x, y } of points) context.lineTo(x, y);
    context.lineWidth = wide;
    context.strokeStyle = color;
    context.stroke();
  }
  for (const [index, { x, y }] of points.entries()) {
    context.beginPath();
    context.arc(x, y, index === points.length - 1 ? 4 : 3, 0, 2 * Math.PI);
    context.fillStyle = index === points.length - 1 ? colors.accent : colors.halo;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = colors.accent;
    context.stroke();
  }
  label(context, points[0], points[points.length - 1], colors);
}

/** @typedef {{x: number, y: number, one: Revision}} Point */

/**
 * The magnitude at both ends, where they are far enough from each other to be read.
 * @param {CanvasRenderingContext2D} context
 * @param {Point} first
 * @param {Point} last
 * @param {{ink: string, halo: string, font: string}} colors
 */
function label(context, first, last, colors) {
  if (Math.hypot(first.x - last.x, first.y - last.y) < 24) return;
  context.font = colors.font;
  context.textBaseline = "middle";
  for (const [point, other] of [[first, last], [last, first]]) {
    const away = point.x >= other.x ? 1 : -1;
    context.textAlign = away > 0 ? "left" : "right";
    context.lineWidth = 4;
    context.strokeStyle = colors.halo;
    const text = `M ${format.magnitude(point.one)}`;
    context.strokeText(text, point.x + away * labelAway, point.y);
    context.fillStyle = colors.ink;
    context.fillText(text, point.x + away * labelAway, point.y);
  }
}
