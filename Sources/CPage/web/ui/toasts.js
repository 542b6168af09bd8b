import { ApiError } from "../api/answers.js";
import { t } from "../text/text.js";
import { button, byId, h } from "./dom.js";

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

/**
 * Why something failed, and what to do.
 * @param {unknown} error
 * @returns {string}
 */
export function reason(error) {
  if (!(error instanceof ApiError)) return String(error);
  const said = error.detail || error.title;
  if (error.status === 0) return t("failure.unreachable", { reason: said });
  if (error.status === 401) return t("failure.token", { reason: said });
  if (error.status === 403) return t("failure.forbidden", { reason: said });
  if (error.status === 429) return t("failure.busy", { reason: said });
  if (error.status >= 500) return t("failure.server", { reason: said });
  return said;
}

/**
 * Says that something failed.
 * @param {string} what could not be done, as a sentence without its end
 * @param {unknown} error
 */
export function fail(what, error) {
  toast({ text: `${what}: ${reason(error)}`, error: true });
}

/**
 * Copies a text, and says so.
 * @param {string} text
 * @param {HTMLInputElement | HTMLTextAreaElement} [field] where it stands, for browsers without a clipboard
 */
export async function copy(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    toast({ text: t("copy.done") });
  } catch {
    // Without TLS a browser has no clipboard for pages.
    field?.select();
    const copied = field !== undefined && document.execCommand("copy");
    toast({ text: copied ? t("copy.done") : t("copy.failed", { text }), error: !copied });
  }
}

/** @typedef {(element: HTMLElement) => void | Promise<void>} Start */

/**
 * Starts a part of the page. If one fails, the others still work and the person learns which.
 * @param {string} id the element of the part
 * @param {Start} start
 */
export async function part(id, start) {
  try {
    await start(byId(id));
  } catch (error) {
    console.error(id, error);
    toast({ text: t("part.failed", { part: id, reason: String(error) }), error: true });
  }
}
