import { t } from "../text/text.js";
import { byId } from "./dom.js";
import { toast } from "./toasts.js";

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
