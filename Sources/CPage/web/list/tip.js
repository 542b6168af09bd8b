import { format, t } from "../text/text.js";
import { h } from "../ui/dom.js";

/** @typedef {import("../types.js").Quake} Quake */

/** The exact origin time, in UTC and local time, of the row that a pointer or the keyboard is at. */
export class Tip {
  #element = h("div", { class: "tip", role: "presentation", hidden: true });
  #utc = h("span", {});
  #local = h("span", { class: "quiet" });

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.#element.append(this.#utc, this.#local);
    parent.append(this.#element);
  }

  /**
   * @param {Quake} quake
   * @param {Element} at
   */
  show(quake, at) {
    this.#utc.textContent = format.utcTime(quake.time);
    const local = format.localTime(quake.time);
    this.#local.textContent = local === format.utcTime(quake.time) ? "" : t("time.local", { time: local });
    this.#element.hidden = false;
    const parent = this.#element.offsetParent?.getBoundingClientRect();
    const place = at.getBoundingClientRect();
    if (!parent) return;
    const below = place.bottom - parent.top + 2;
    const height = this.#element.offsetHeight;
    const top = below + height > parent.height ? place.top - parent.top - height - 2 : below;
    this.#element.style.top = `${top}px`;
  }

  hide() {
    this.#element.hidden = true;
  }
}
