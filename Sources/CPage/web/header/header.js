import { h } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { startConnection } from "./connection.js";

/**
 * One line: what this is, and the state of the connection. Its buttons come later: see tools.js.
 * @param {HTMLElement} element
 */
export function start(element) {
  const status = h("div", { class: "status" });
  element.append(h("h1", {}, icon("wave"), h("span", { text: "Quake" })), status);
  startConnection(status);
}
