import { ApiError } from "../api/answers.js";
import { api } from "../data/api.js";
import { allowEdits, canEdit, selection, tokenChanged, useToken } from "../list/selection.js";
import { t } from "../text/text.js";
import { open } from "../ui/dialogs.js";
import { button, h } from "../ui/dom.js";
import { fail, reason, toast } from "../ui/toasts.js";
import { startEditBar } from "./edits.js";

/** Forgets the token. */
function forgetToken() {
  useToken(null);
  toast({ text: t("token.forgotten") });
}

/** Asks for a token. It is kept in this tab only, and sent with edits only. */
function showToken() {
  const field = h("input", {
    class: "field wide", type: "password", id: "token-field", autocomplete: "off",
    spellcheck: "false", required: true,
    maxlength: 500,
  });
  const problem = h("p", { class: "problem", role: "alert" });
  const use = h("button", { class: "button primary", text: t("token.use") });
  /** @param {HTMLDialogElement} self */
  const check = async (self) => {
    const token = field.value.trim();
    if (token === "" || use.disabled) return;
    use.disabled = true;
    problem.textContent = "";
    try {
      await api.check(token);
      useToken(token);
      self.close();
      toast({ text: t("token.kept") });
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status === 401;
      problem.textContent = isRefused ? t("token.refused") : `${t("token.unchecked")}: ${reason(error)}`;
      field.select();
    } finally {
      use.disabled = false;
    }
  };
  const { dialog } = open(t("token.title"), (self) => [
    h("p", { text: t("token.text") }),
    h(
      "form", {
        onsubmit: (/** @type {SubmitEvent} */ event) => {
          event.preventDefault();
          void check(self);
        },
      },
      h("label", { for: "token-field", text: t("token.field") }), field, problem,
      h(
        "div", { class: "dialog-actions" },
        button({ text: t("cancel"), kind: "outlined", action: () => self.close() }),
        use,
      ),
    ),
  ]);
  dialog.classList.add("narrow");
  field.focus();
}

/** @typedef {{ feed: string, outcome: string | null, inserted: number | null, updated: number | null,
 *   error: string | null }} FeedResult */

/**
 * Makes the server poll its feeds now, and tells the result.
 * @param {HTMLButtonElement} button
 */
async function refresh(button) {
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

/**
 * The buttons for edits.
 * @param {HTMLElement} element
 */
export function startEdits(element) {
  const again = button({ icon: "refresh", label: t("refresh"), key: "r", action: () => void refresh(again) });
  again.id = "refresh";
  const select = button({
    icon: "select", text: t("edit.select"), label: t("edit.select.label"), kind: "select", key: "x",
    action: () => selection.turn(!selection.on),
  });
  select.id = "select";
  const token = button({
    icon: "key", label: t("token.open"), key: "t", action: () => (api.token() ? forgetToken() : showToken()),
  });
  token.id = "token";
  element.append(again, select, token);
  startEditBar();
  const update = () => {
    const has = canEdit();
    select.hidden = !has;
    select.setAttribute("aria-pressed", String(selection.on));
    token.setAttribute("aria-label", t(has ? "token.forget" : "token.open"));
    token.title = `${t(has ? "token.forget" : "token.open")} (t)`;
    token.classList.toggle("held", has);
    if (!has) selection.turn(false);
  };
  tokenChanged.addEventListener("change", update);
  selection.addEventListener("change", update);
  allowEdits();
}
