import { h } from "./dom.js";
import { icon } from "./icons.js";

/**
 * A button with an icon, a text or both. Without a text, `label` is its name and what a pointer shows.
 * @param {object} options
 * @param {import("./icons.js").Icon} [options.icon]
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
