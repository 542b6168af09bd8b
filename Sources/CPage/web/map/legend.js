import { radius } from "../painter/scale.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { h, phone } from "../ui/dom.js";
import { limits } from "../ui/sign.js";

/** @typedef {import("../marks/camera.js").Camera} Camera */
/** @typedef {import("../ui/sign.js").Coloring} Coloring */

const space = "http://www.w3.org/2000/svg";
const shownMagnitudes = [2, 3, 4, 5, 6, 7];
/** @type {Coloring[]} */
const colorings = ["age", "depth", "magnitude"];

/** @param {HTMLElement} parent @param {Camera} camera */
export function startLegend(parent, camera) {
  const swatches = h("ol", { class: "map-swatches" });
  const choices = colorings.map((coloring) => {
    const input = h("input", {
      type: "radio", name: "map-color", value: coloring, class: "visually-hidden",
      onchange: () => view.set({ color: coloring }),
    });
    return { coloring, input, label: h("label", {}, input, h("span", { text: t(`map.color.${coloring}`) })) };
  });
  const title = h("summary");
  const show = () => {
    const { color } = view.get();
    title.textContent = t("map.legend", { color: t(`map.color.${color}`) });
    for (const { coloring, input } of choices) input.checked = coloring === color;
    swatches.replaceChildren(...labels(color).map((text, place) => (
      h("li", {}, h("i", { class: `map-swatch map-${color}-${place}` }), h("span", { text }))
    )));
  };
  show();
  view.addEventListener("change", (event) => {
    if (/** @type {CustomEvent} */ (event).detail.changed.has("color")) show();
  });
  const legend = h("details", { class: "map-legend", open: !phone.matches },
    title,
    h("fieldset", { class: "map-colorings" },
      h("legend", { class: "visually-hidden", text: t("map.color") }), ...choices.map(({ label }) => label)),
    swatches, sizes(camera));
  parent.append(legend);
  phone.addEventListener("change", () => {
    legend.open = !phone.matches;
  });
}

/** @param {Coloring} coloring @returns {string[]} what the classes mean */
function labels(coloring) {
  if (coloring === "age") return [0, 1, 2, 3, 4, 5].map((place) => t(`map.age.${/** @type {0} */ (place)}`));
  const edges = limits[coloring];
  const written = (/** @type {number} */ value) => format.number(value);
  return [
    t("map.below", { value: written(edges[0]) }),
    ...edges.slice(0, -1).map((edge, place) => `${written(edge)}–${written(edges[place + 1])}`),
    t("map.from", { value: written(edges[edges.length - 1]) }),
  ];
}

/**
 * @param {Camera} camera
 * @returns {HTMLElement} circles in the sizes that the map has at its zoom, with their magnitudes
 */
function sizes(camera) {
  const row = h("ol", { class: "map-sizes", "aria-label": t("map.sizes") });
  const circles = shownMagnitudes.map((magnitude) => {
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("aria-hidden", "true");
    const circle = document.createElementNS(space, "circle");
    svg.append(circle);
    row.append(h("li", {}, svg, h("span", { text: t("map.tooltip.magnitude", { magnitude }) })));
    return { magnitude, svg, circle };
  });
  let shown = NaN;
  const show = () => {
    const zoom = Math.round(camera.zoom * 8) / 8;
    if (zoom === shown) return;
    shown = zoom;
    for (const { magnitude, svg, circle } of circles) {
      const reach = radius(magnitude, zoom);
      const side = String(Math.ceil(2 * reach + 2));
      svg.setAttribute("width", side);
      svg.setAttribute("height", side);
      circle.setAttribute("cx", "50%");
      circle.setAttribute("cy", "50%");
      circle.setAttribute("r", reach.toFixed(2));
    }
  };
  show();
  camera.addEventListener("move", show);
  return row;
}
