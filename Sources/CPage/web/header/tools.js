import { api, server } from "../data/api.js";
import { formatView, view } from "../state/view.js";
import { t } from "../text/text.js";
import { open } from "../ui/dialogs.js";
import { button, h } from "../ui/dom.js";
import { copy } from "../ui/toasts.js";
import { showHelp, showSettings } from "./settings.js";

/** Opens the dialog with the address of this view, and the line of HTML for its map in another page. */
export function showShare() {
  const address = new URL(view.address(), location.href).href;
  const { selected, since, sort, descending, ...map } = view.get();
  const embed = new URL(`/embed?${formatView(map)}`, location.href).href;
  const frame = h(
    "iframe", { src: embed, width: 640, height: 400, title: t("share.frame"), loading: "lazy" },
  );
  open(t("share.title"), () => [
    line("share-link", t("share.link"), address),
    h("p", { class: "quiet small", text: t("share.link.text") }),
    line("share-embed", t("share.embed"), frame.outerHTML),
    h("p", { class: "quiet small", text: t("share.embed.text") }),
  ]);
}

/**
 * A text to copy.
 * @param {string} id
 * @param {string} name
 * @param {string} text
 */
function line(id, name, text) {
  const field = h("textarea", { id, class: "field wide", readonly: true, rows: 2, spellcheck: "false" });
  field.value = text;
  field.addEventListener("focus", () => field.select());
  return h(
    "div", { class: "copy-line" }, h("label", { for: id, text: name }), field,
    button({ icon: "link", text: t("copy"), kind: "outlined", action: () => void copy(text, field) }),
  );
}

/**
 * The buttons of the header.
 * @param {HTMLElement} element
 */
export async function start(element) {
  const tools = h("div", { class: "tools" });
  element.append(tools);

  const edits = h("div", { class: "tools" });
  tools.append(
    edits,
    button({ icon: "share", label: t("share.open"), key: "s", action: showShare }),
    button({ icon: "settings", label: t("settings.open"), key: ",", action: showSettings }),
    button({ icon: "help", label: t("help.open"), key: "?", action: showHelp }),
  );

  const { readOnly, edits: allowed } = await server();
  if (readOnly || !allowed) {
    api.setToken(null);
    return;
  }
  // Most people only read: what edits is loaded where the server has a token for it.
  (await import("./edit-tools.js")).startEdits(edits);
}
