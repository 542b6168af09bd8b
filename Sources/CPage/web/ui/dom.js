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
