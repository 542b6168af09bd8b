import { ApiError } from "../api/api-error.js";
import { t } from "../text/text.js";
import { toast } from "./toasts.js";

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
