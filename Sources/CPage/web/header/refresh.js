import { ApiError } from "../api/api-error.js";
import { api } from "../data/api.js";
import { t } from "../text/text.js";
import { fail } from "../ui/failure.js";
import { toast } from "../ui/toasts.js";
import { showToken } from "./token.js";

/** @typedef {{ feed: string, outcome: string | null, inserted: number | null, updated: number | null,
 *   error: string | null }} FeedResult */

/**
 * Makes the server poll its feeds now, and tells the result.
 * @param {HTMLButtonElement} button
 */
export async function refresh(button) {
  if (button.disabled) return;
  button.disabled = true;
  button.classList.add("busy");
  try {
    const { feeds } = /** @type {{ feeds: FeedResult[] }} */ (await api.refresh());
    const failed = feeds.filter(({ error }) => error);
    const waiting = feeds.filter(({ outcome, error }) => !outcome && !error);
    const done = feeds.length - failed.length - waiting.length;
    for (const { feed, error } of failed) {
      toast({ text: t("refresh.feed.failed", { feed, reason: String(error) }), error: true });
    }
    if (waiting.length > 0) {
      toast({
        text: t("refresh.waiting", { n: waiting.length, feeds: waiting.map(({ feed }) => feed).join(", ") }),
      });
    }
    if (done > 0) {
      /** @param {"inserted" | "updated"} key */
      const sum = (key) => feeds.reduce((all, feed) => all + (feed[key] ?? 0), 0);
      toast({ text: t("refresh.done", { n: done, inserted: sum("inserted"), updated: sum("updated") }) });
    }
  } catch (error) {
    fail(t("refresh.failed"), error);
    if (error instanceof ApiError && error.status === 401) showToken();
  } finally {
    button.disabled = false;
    button.classList.remove("busy");
  }
}
