import { t } from "../text/text.js";
import { button } from "../ui/button.js";
import { h } from "../ui/dom.js";

/**
 * The buttons for those who have neither wheel nor keys.
 * @param {HTMLElement} parent
 * @param {{in: () => void, out: () => void, home: () => void}} actions
 */
export function startControls(parent, actions) {
  parent.append(h(
    "div", { class: "map-controls", role: "group", "aria-label": t("map.controls") },
    button({ icon: "plus", label: t("map.zoom.in"), key: "+", action: actions.in }),
    button({ icon: "minus", label: t("map.zoom.out"), key: "-", action: actions.out }),
    button({ icon: "home", label: t("map.zoom.home"), key: "Home", action: actions.home }),
  ));
}
