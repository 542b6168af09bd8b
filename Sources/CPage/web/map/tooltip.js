import { store } from "../data/store.js";
import { format, t } from "../text/text.js";
import { isSimulated } from "../ui/badges.js";
import { h } from "../ui/dom.js";

/** @typedef {import("../types.js").Quake} Quake */

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
