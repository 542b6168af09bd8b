/** @typedef {string | number | Node | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Attributes */

/**
 * Makes an element. `onclick` and its like are listeners, `class` and `text` are what they say, `true` is an
 * attribute without a value, and null, undefined and false leave the attribute out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = String(value);
    else if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Child[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replaces what an element holds.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/**
 * Changes the text of an element that has nothing else. The node of the text is kept, which saves the browser
 * half of the work.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  const node = element.firstChild;
  if (!(node instanceof Text)) element.textContent = text;
  else if (node.data !== text) node.data = text;
}

/**
 * @param {string} id
 * @returns {HTMLElement} the element, which index.html has
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no element with the id "${id}"`);
  return element;
}

/** Whether the page is shown as on a phone: the list is a sheet over the map. */
export const phone = matchMedia("(max-width: 40rem)");

/** @returns {number} pixels of a size in rem, which grows with the text size that the person chose */
export function rem(size = 1) {
  return size * (Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16);
}

const space = "http://www.w3.org/2000/svg";

/** Lines of the icons in a box of 16 by 16. */
const paths = Object.freeze({
  refresh: "M13.5 8a5.5 5.5 0 1 1-1.6-3.9M13.5 2v3h-3",
  filter: "M2 4h12M4.5 8h7M6.5 12h3",
  search: "M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9M10.4 10.4 14 14",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  home: "M2.5 7.5 8 3l5.5 4.5M4.5 6.5V13h7V6.5",
  up: "M8 13V3M4 7l4-4 4 4",
  previous: "M10 3 5 8l5 5",
  next: "M6 3l5 5-5 5",
  link: "M6.5 9.5l3-3M7 4.5l1-1a3 3 0 0 1 4.5 4.3l-1 1M9 11.5l-1 1a3 3 0 0 1-4.5-4.3l1-1",
  share: "M8 10V2M5 4.5 8 2l3 2.5M3 8v5.5h10V8",
  settings: "M2 4.5h7M13 4.5h1M2 11.5h1M7 11.5h7M11 2.8a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4"
    + "M5 9.8a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4",
  help: "M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1v.5M8 12v.2M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8",
  key: "M9.5 6.5a3 3 0 1 0-2.8 3L8 8.3h1.5V7L14 2.5M12 4.5l1.5 1.5",
  trash: "M2.5 4.5h11M6 4.5V2.5h4v2M4 4.5l.7 9h6.6l.7-9M6.7 7v4M9.3 7v4",
  check: "M3 8.5 6.5 12 13 4.5",
  undo: "M5.5 3 2.5 6l3 3M2.5 6H9a4 4 0 0 1 0 8H6",
  external: "M6 3.5H3v9.5h9.5v-3M9 2.5h4.5V7M13.5 2.5 7.5 8.5",
  clock: "M8 4.5V8l2.3 1.6M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8",
  chart: "M2.5 13.5h11M4.5 11V7.5M8 11V3M11.5 11V6",
  select: "M2.5 2.5h11v11h-11zM5 8l2.2 2.2L11 6",
  play: "M5 3v10l7.5-5z",
  pause: "M5.5 3v10M10.5 3v10",
  wave: "M1.5 8c1.2-2.6 2.5-2.6 3.7 0s2.5 2.6 3.7 0 2.5-2.6 3.7 0c.5 1.2 1.1 1.9 1.9 1.9",
});

/** @typedef {keyof typeof paths} Icon */

/**
 * @param {Icon} name
 * @returns {SVGSVGElement} hidden from readers of the screen: the button beside it has a name
 */
export function icon(name) {
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}

/**
 * A button with an icon, a text or both. Without a text, `label` is its name and what a pointer shows.
 * @param {object} options
 * @param {Icon} [options.icon]
 * @param {string} [options.text]
 * @param {string} [options.label]
 * @param {string} [options.kind] classes beside `button`
 * @param {string} [options.key] the key that does the same
 * @param {(event: MouseEvent) => void} options.action
 * @returns {HTMLButtonElement}
 */
export function button({ icon: name, text, label, kind = "", key, action }) {
  return h(
    "button",
    {
      type: "button",
      class: `button ${kind}`.trim(),
      "aria-label": label,
      title: label && key ? `${label} (${key})` : label,
      "aria-keyshortcuts": key,
      onclick: action,
    },
    name && icon(name),
    text,
  );
}
