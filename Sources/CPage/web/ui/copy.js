import { t } from "../text/text.js";
import { toast } from "./toasts.js";

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
