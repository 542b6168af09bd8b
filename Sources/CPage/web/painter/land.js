import { worldX, worldY } from "./projection.js";

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
