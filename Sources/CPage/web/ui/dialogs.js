import { t } from "../text/text.js";
import { button, h } from "./dom.js";

/**
 * Opens a dialog over the page. Escape and a click beside it close it; the focus returns to where it was.
 * @param {string} title
 * @param {(dialog: HTMLDialogElement) => (Node | string | null | undefined | false)[]} content
 * @returns {{ dialog: HTMLDialogElement, closed: Promise<string> }} `closed` has what it was closed with
 */
export function open(title, content) {
  const before = document.activeElement;
  const name = h("h2", { text: title, id: `dialog-${crypto.getRandomValues(new Uint32Array(1))[0]}` });
  const dialog = h("dialog", { class: "dialog", "aria-labelledby": name.id });
  const head = h(
    "div", { class: "dialog-head" }, name,
    button({ icon: "close", label: t("close"), action: () => dialog.close() }),
  );
  dialog.append(head);
  for (const child of content(dialog)) if (child) dialog.append(child);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  // Not the button that closes it, which is first.
  const first = dialog.querySelector(":is(button, input, select, textarea):not(.dialog-head *)");
  if (first instanceof HTMLElement) first.focus();
  const closed = new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const toasts = dialog.querySelector("#toasts");
      if (toasts) document.body.append(toasts);
      dialog.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      resolve(dialog.returnValue);
    }, { once: true });
  });
  return { dialog, closed: /** @type {Promise<string>} */ (closed) };
}

/**
 * Asks before something is done.
 * @param {object} options
 * @param {string} options.title
 * @param {string | string[]} options.text what will happen
 * @param {string} options.action the text of the button that does it
 * @param {boolean} [options.danger]
 * @returns {Promise<boolean>}
 */
export async function ask({ title, text, action, danger = false }) {
  const { closed } = open(title, (dialog) => [
    ...[text].flat().map((paragraph) => h("p", { text: paragraph })),
    h(
      "div", { class: "dialog-actions" },
      button({ text: t("cancel"), kind: "outlined", action: () => dialog.close() }),
      button({ text: action, kind: danger ? "danger" : "primary", action: () => dialog.close("yes") }),
    ),
  ]);
  return (await closed) === "yes";
}
