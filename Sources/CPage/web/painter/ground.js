import { graticulePath } from "./graticule.js";
import { worldPixels } from "./projection.js";

/** @typedef {import("./land.js").Land} Land */
/** @typedef {import("./land.js").Line} Line */
/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").GroundColors} GroundColors */

/** Points nearer than this to the last one that was drawn are left out. */
const nearest = 0.7;

/**
 * Draws sea, land, borders and graticule.
 * @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 * @param {Land|null} land
 * @param {GroundColors} colors
 */
export function paintGround(context, frame, land, colors) {
  const scale = worldPixels(frame.zoom) * frame.ratio;
  const width = frame.width * frame.ratio;
  const height = frame.height * frame.ratio;
  const left = frame.x - width / 2 / scale;
  const top = frame.y - height / 2 / scale;
  context.fillStyle = colors.sea;
  context.fillRect(0, 0, width, height);
  context.lineJoin = "round";
  const graticule = graticulePath(left, top, width, height, scale);
  if (land) {
    const shores = new Path2D();
    const coasts = new Path2D();
    const borders = new Path2D();
    const right = left + width / scale;
    const bottom = top + height / scale;
    for (let world = Math.floor(left); world <= Math.floor(right); world += 1) {
      /** @param {Line} line */
      const shown = ({ extent }) =>
        extent[2] + world >= left && extent[0] + world <= right && extent[3] >= top && extent[1] <= bottom;
      const x = (world - left) * scale;
      const y = -top * scale;
      for (const line of land.coasts) if (shown(line)) add(line, x, y, scale, shores, coasts);
      for (const line of land.borders) if (shown(line)) add(line, x, y, scale, null, borders);
    }
    context.fillStyle = colors.land;
    context.fill(shores, "evenodd");
    stroke(context, graticule, colors.graticule, Math.max(1, Math.round(frame.ratio)));
    stroke(context, borders, colors.border, 0.8 * frame.ratio);
    stroke(context, coasts, colors.coast, 0.9 * frame.ratio);
  } else {
    stroke(context, graticule, colors.graticule, Math.max(1, Math.round(frame.ratio)));
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Path2D} path
 * @param {string} color
 * @param {number} wide
 */
function stroke(context, path, color, wide) {
  context.strokeStyle = color;
  context.lineWidth = wide;
  context.stroke(path);
}

/**
 * @param {Line} line
 * @param {number} x
 * @param {number} y
 * @param {number} scale
 * @param {Path2D|null} area the closed line is added to it
 * @param {Path2D} edge its edge is added to it, without the edges of the map
 */
function add({ xs, ys, cut }, x, y, scale, area, edge) {
  let px = x + xs[0] * scale;
  let py = y + ys[0] * scale;
  const startX = px;
  const startY = py;
  area?.moveTo(px, py);
  edge.moveTo(px, py);
  const last = xs.length - 1;
  for (let i = 1; i <= last; i += 1) {
    const nx = x + xs[i] * scale;
    const ny = y + ys[i] * scale;
    if (i < last && !cut[i] && Math.abs(nx - px) + Math.abs(ny - py) < nearest) continue;
    area?.lineTo(nx, ny);
    if (cut[i]) edge.moveTo(nx, ny);
    else edge.lineTo(nx, ny);
    px = nx;
    py = ny;
  }
  if (area) {
    area.closePath();
    if (!cut[0]) edge.lineTo(startX, startY);
  }
}
