import { latitudeOf, worldPixels, worldX, worldY } from "./projection.js";

/** @param {number} zoom @returns {number} degrees between the lines of the graticule */
export function graticuleStep(zoom) {
  const wanted = 85 / worldPixels(zoom) * 360;
  return [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60].find((step) => step >= wanted) ?? 90;
}

/**
 * @param {number} left @param {number} top world coordinates
 * @param {number} width @param {number} height pixels
 * @param {number} scale
 */
export function graticulePath(left, top, width, height, scale) {
  const path = new Path2D();
  const step = graticuleStep(Math.log2(scale / 256));
  const first = Math.ceil((left - 0.5) * 360 / step);
  const end = (left + width / scale - 0.5) * 360 / step;
  for (let line = first; line <= end; line += 1) {
    const x = Math.round((worldX(line * step) - left) * scale) + 0.5;
    path.moveTo(x, 0);
    path.lineTo(x, height);
  }
  const south = latitudeOf(Math.min(1, top + height / scale));
  const north = latitudeOf(Math.max(0, top));
  for (let line = Math.ceil(south / step); line * step <= north; line += 1) {
    const y = Math.round((worldY(line * step) - top) * scale) + 0.5;
    path.moveTo(0, y);
    path.lineTo(width, y);
  }
  return path;
}
