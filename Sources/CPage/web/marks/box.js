import { earthRadius } from "../data/distance.js";
import { latitudeOf, longitudeOf, worldX, worldY } from "../painter/projection.js";

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
