import { ApiError } from "../api/api-error.js";
import { api } from "../data/api.js";
import { t } from "../text/text.js";
import { button } from "../ui/button.js";
import { open } from "../ui/dialogs.js";
import { h } from "../ui/dom.js";
import { reason } from "../ui/failure.js";
import { toast } from "../ui/toasts.js";

/** Its event "change" says that a token was entered or forgotten. */
export const tokenChanged = new EventTarget();

let allowed = false;

/** Says that the server allows edits. Until then the page offers none, even with a token. */
export function allowEdits() {
  allowed = true;
  tokenChanged.dispatchEvent(new CustomEvent("change"));
}

/** Whether the page offers edits now. */
export function canEdit() {
  return allowed && api.token() !== null;
}

/** @param {string | null} token */
function set(token) {
  api.setToken(token);
  tokenChanged.dispatchEvent(new CustomEvent("change"));
}

/** Forgets the token. */
export function forgetToken() {
  set(null);
  toast({ text: t("token.forgotten") });
}

/** Asks for a token. It is kept in this tab only, and sent with edits only. */
export function showToken() {
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
      set(token);
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
