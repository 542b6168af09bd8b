import { t } from "../text/text.js";
import { button } from "./button.js";
import { byId, h } from "./dom.js";

/** How long a message stays that needs no answer; one with Undo stays longer, an error until it is closed. */
const stay = { plain: 6_000, undo: 20_000 };
const most = 4;

/**
 * Shows a message. It does not take the focus, and screen readers announce it.
 * @param {object} options
 * @param {string} options.text
 * @param {() => void} [options.undo]
 * @param {{ text: string, run: () => void }} [options.action] something else to do; the message stays
 * @param {boolean} [options.error]
 */
export function toast({ text, undo, action, error = false }) {
  const region = byId("toasts");
  // An open dialog covers everything that is not in it.
  const host = document.querySelector("dialog[open]") ?? document.body;
  if (region.parentElement !== host) host.append(region);
  const box = h("div", { class: error ? "toast error" : "toast", role: error ? "alert" : "status" });
  const close = () => {
    clearTimeout(timer);
    box.remove();
  };
  box.append(h("p", { text }));
  if (undo) {
    box.append(button({
      icon: "undo", text: t("undo"), kind: "outlined", action: () => {
        close();
        undo();
      },
    }));
  }
  if (action) box.append(button({ text: action.text, kind: "outlined", action: action.run }));
  box.append(button({ icon: "close", label: t("close"), action: close }));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const wait = () => {
    if (!error && !action) timer = setTimeout(close, undo ? stay.undo : stay.plain);
  };
  box.addEventListener("pointerenter", () => clearTimeout(timer));
  box.addEventListener("pointerleave", wait);
  box.addEventListener("focusin", () => clearTimeout(timer));
  box.addEventListener("focusout", wait);
  region.append(box);
  while (region.children.length > most) region.firstElementChild?.remove();
  wait();
}
