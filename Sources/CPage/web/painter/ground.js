import { graticulePath, worldPixels, worldX, worldY } from "./projection.js";

/** @typedef {import("./painter.js").Frame} Frame */
/** @typedef {import("./painter.js").GroundColors} GroundColors */

/**
 * A coast, which is a closed line around land or a lake, or a border, which is a line.
 * @typedef {object} Line
 * @property {Float32Array} xs world coordinates
 * @property {Float32Array} ys
 * @property {Uint8Array} cut 1 where the edge to this point is only the edge of the map
 * @property {[number, number, number, number]} extent left, top, right, bottom
 */

/** @typedef {{coasts: Line[], borders: Line[]}} Land */

/**
 * Reads the format that deploy/coastlines.py writes and describes.
 * @param {ArrayBuffer} content
 * @returns {Land}
 */
export function decode(content) {
  const bytes = new Uint8Array(content);
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== "QLND") throw new Error("not a file of coastlines");
  let at = 4;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= bytes.length || shift > 28) throw new Error("the file of coastlines is damaged");
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const counts = () => Array.from({ length: limited(number()) }, () => limited(number()));
  const steps = number();
  const coasts = counts();
  const borders = counts();
  const lengths = [...coasts, ...borders];
  const axis = () => {
    let value = 0;
    return lengths.map((length) => Float64Array.from({ length }, () => {
      const coded = number();
      value += coded % 2 ? -(coded + 1) / 2 : coded / 2;
      return value / steps;
    }));
  };
  const longitudes = axis();
  const latitudes = axis();
  const lines = longitudes.map((degrees, index) => line(degrees, latitudes[index]));
  return { coasts: lines.slice(0, coasts.length), borders: lines.slice(coasts.length) };
}

/** @param {number} count @returns {number} */
function limited(count) {
  if (count > 1_000_000) throw new Error("the file of coastlines is damaged");
  return count;
}

/** @param {Float64Array} longitudes @param {Float64Array} latitudes @returns {Line} */
function line(longitudes, latitudes) {
  const xs = Float32Array.from(longitudes, worldX);
  const ys = Float32Array.from(latitudes, worldY);
  const cut = new Uint8Array(xs.length);
  /** @type {[number, number, number, number]} */
  const extent = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < xs.length; i += 1) {
    const before = i === 0 ? xs.length - 1 : i - 1;
    const onMeridian = Math.abs(longitudes[i]) > 179.95 && Math.abs(longitudes[before]) > 179.95;
    const atPole = latitudes[i] < -85 && latitudes[before] < -85;
    cut[i] = Number(onMeridian || atPole);
    extent[0] = Math.min(extent[0], xs[i]);
    extent[1] = Math.min(extent[1], ys[i]);
    extent[2] = Math.max(extent[2], xs[i]);
    extent[3] = Math.max(extent[3], ys[i]);
  }
  return { xs, ys, cut, extent };
}

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
