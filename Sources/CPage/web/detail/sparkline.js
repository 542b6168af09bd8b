const space = "http://www.w3.org/2000/svg";
const width = 200;
const height = 36;
const edge = 5;

/**
 * A small chart of a value over the revisions: a step for each, a dot where it changed. It is a picture; the
 * values are in the text beside it.
 * @param {(number | null)[]} values
 * @param {{ down?: boolean, current?: number }} [options] `down`: greater values are drawn lower, as
 *   depths are; `current`: the revision that is shown
 * @returns {SVGSVGElement}
 */
export function sparkline(values, options) {
  const { down = false, current = values.length - 1 } = options ?? {};
  const known = /** @type {number[]} */ (values.filter((value) => value !== null));
  const least = Math.min(...known);
  const span = Math.max(...known) - least || 1;
  const step = (width - 2 * edge) / Math.max(1, values.length - 1);
  const x = (/** @type {number} */ index) => edge + index * step;
  const y = (/** @type {number} */ value) => {
    const share = (value - least) / span;
    return edge + (down ? share : 1 - share) * (height - 2 * edge);
  };
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("class", "sparkline");
  svg.setAttribute("aria-hidden", "true");
  let line = "";
  /** @type {number | null} */
  let last = null;
  values.forEach((value, index) => {
    if (value === null) return;
    line += last === null ? `M${x(index)} ${y(value)}` : `H${x(index)}V${y(value)}`;
    if (value !== last || index === current) svg.append(dot(x(index), y(value), index === current));
    last = value;
  });
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", line);
  svg.prepend(path);
  return svg;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {boolean} current
 */
function dot(x, y, current) {
  const circle = document.createElementNS(space, "circle");
  circle.setAttribute("cx", String(x));
  circle.setAttribute("cy", String(y));
  circle.setAttribute("r", current ? "4" : "2.5");
  if (current) circle.setAttribute("class", "current");
  return circle;
}
