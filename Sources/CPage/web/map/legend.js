import { store } from "../data/store.js";
import { radius } from "../painter/projection.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { h, phone } from "../ui/dom.js";
import { isSimulated, limits } from "../ui/sign.js";

/** @typedef {import("../marks/camera.js").Camera} Camera */
/** @typedef {import("../ui/sign.js").Coloring} Coloring */
/** @typedef {import("../types.js").Quake} Quake */

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

/** Tells about the event below the pointer. The list has the same for those who use no pointer. */
export class Tooltip {
  #magnitude = h("strong");
  #place = h("span", { dir: "auto" });
  #when = h("span", { class: "quiet" });
  #simulated = h("span", { class: "badge simulated", text: t("badge.simulated") });
  #element = h("div", { class: "map-tooltip", hidden: true, "aria-hidden": "true" },
    this.#magnitude, this.#place, this.#when, this.#simulated);
  #parent;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.#parent = parent;
    parent.append(this.#element);
  }

  /**
   * @param {Quake|null} quake
   * @param {number} x
   * @param {number} y
   * @param {number} away pixels from the middle
   */
  show(quake, x, y, away) {
    this.#element.hidden = quake === null;
    if (!quake) return;
    this.#magnitude.textContent = t("map.tooltip.magnitude", { magnitude: format.magnitude(quake) });
    this.#place.textContent = quake.place || t("place.unknown");
    const depth = format.depth(quake.depth);
    const deep = quake.depth === null ? depth : t("map.tooltip.depth", { depth });
    this.#when.textContent = `${deep}, ${format.relative(quake.time, store.now())}`;
    this.#simulated.hidden = !isSimulated({ net: quake.network, code: quake.code });
    const { offsetWidth: width, offsetHeight: height } = this.#element;
    const right = x + away + 10 + width > this.#parent.clientWidth;
    const left = right ? Math.max(4, x - away - 10 - width) : x + away + 10;
    const top = Math.max(4, Math.min(this.#parent.clientHeight - height - 4, y - height / 2));
    this.#element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}
