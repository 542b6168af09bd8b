import { earthRadius } from "../data/quake-set.js";
import { graticuleStep, latitudeOf, longitudeOf, worldX, worldY } from "../painter/projection.js";
import { format } from "../text/text.js";

/** @typedef {import("../types.js").Box} Box */
/** @typedef {import("./camera.js").Camera} Camera */

/** A smaller drag with the key for boxes was only a click. */
const leastSide = 6;
/** The number of lines that a circle is drawn with. */
const circleSteps = 120;

/**
 * The box of the filter, in each world that is in sight. West of it can lie east of its east: then it crosses
 * the antimeridian.
 * @param {CanvasRenderingContext2D} context
 * @param {Camera} camera
 * @param {Box} box
 * @param {{halo: string, accent: string}} colors
 */
export function drawBox(context, camera, [west, south, east, north], colors) {
  const left = worldX(west);
  const wide = (east < west ? worldX(east + 360) : worldX(east)) - left;
  const top = worldY(north);
  const [first] = camera.toWorld(0, 0);
  const [last] = camera.toWorld(camera.width, 0);
  for (let world = Math.floor(first - left - wide); world <= Math.ceil(last - left); world += 1) {
    const x = (left + world - camera.x) * camera.pixels + camera.width / 2;
    const y = (top - camera.y) * camera.pixels + camera.height / 2;
    const size = /** @type {const} */ ([wide * camera.pixels, (worldY(south) - top) * camera.pixels]);
    context.lineWidth = 4;
    context.strokeStyle = colors.halo;
    context.strokeRect(x, y, ...size);
    context.lineWidth = 1.5;
    context.strokeStyle = colors.accent;
    context.setLineDash([6, 4]);
    context.strokeRect(x, y, ...size);
    context.setLineDash([]);
  }
}

/**
 * The circle of the filter: its points on the ground, in each world that is in sight.
 * @param {CanvasRenderingContext2D} context
 * @param {Camera} camera
 * @param {import("../types.js").Circle} circle
 * @param {{halo: string, accent: string}} colors
 */
export function drawCircle(context, camera, [km, latitude, longitude], colors) {
  const degree = Math.PI / 180;
  const angle = Math.min(Math.PI, km / earthRadius);
  const sine = Math.sin(latitude * degree);
  const cosine = Math.cos(latitude * degree);
  const path = new Path2D();
  let before = worldX(longitude);
  for (let step = 0; step <= circleSteps; step += 1) {
    const bearing = 2 * Math.PI * step / circleSteps;
    const north = sine * Math.cos(angle) + cosine * Math.sin(angle) * Math.cos(bearing);
    const east = Math.atan2(
      Math.sin(bearing) * Math.sin(angle) * cosine, Math.cos(angle) - sine * north,
    );
    const x = worldX(longitude + east / degree);
    // The next point is in the world that is nearest to the last one.
    const world = Math.round(before - x);
    before = x + world;
    const y = worldY(Math.asin(Math.max(-1, Math.min(1, north))) / degree);
    path.lineTo((before - camera.x) * camera.pixels, (y - camera.y) * camera.pixels);
  }
  const [first] = camera.toWorld(0, 0);
  const [last] = camera.toWorld(camera.width, 0);
  const middle = worldX(longitude);
  context.save();
  context.translate(camera.width / 2 + Math.floor(first - middle) * camera.pixels, camera.height / 2);
  for (let world = Math.floor(first - middle); world <= Math.ceil(last - middle); world += 1) {
    context.lineWidth = 4;
    context.strokeStyle = colors.halo;
    context.stroke(path);
    context.lineWidth = 1.5;
    context.strokeStyle = colors.accent;
    context.setLineDash([6, 4]);
    context.stroke(path);
    context.setLineDash([]);
    context.translate(camera.pixels, 0);
  }
  context.restore();
}

/**
 * @param {Camera} camera
 * @param {[number, number]} from pixels of the map
 * @param {[number, number]} to
 * @returns {Box|null} null where the corners lie too near to each other
 */
export function boxBetween(camera, from, to) {
  if (Math.abs(from[0] - to[0]) < leastSide || Math.abs(from[1] - to[1]) < leastSide) return null;
  const [left, top] = camera.toWorld(Math.min(from[0], to[0]), Math.min(from[1], to[1]));
  const [right, bottom] = camera.toWorld(Math.max(from[0], to[0]), Math.max(from[1], to[1]));
  const degrees = (/** @type {number} */ value) => Math.round(value * 1000) / 1000;
  // The edges of the map show what lies nearer to the poles.
  const [south, north] = [bottom >= 1 ? -90 : latitudeOf(bottom), top <= 0 ? 90 : latitudeOf(top)];
  if (right - left >= 1) return [-180, degrees(south), 180, degrees(north)];
  return [degrees(longitudeOf(left)), degrees(south), degrees(longitudeOf(right)), degrees(north)];
}

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
