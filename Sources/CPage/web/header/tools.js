import { api } from "../data/api.js";
import { selection } from "../list/selection.js";
import { t } from "../text/text.js";
import { button } from "../ui/button.js";
import { h } from "../ui/dom.js";
import { server } from "../ui/server.js";
import { startEditBar } from "./edit-bar.js";
import { showHelp } from "./help.js";
import { refresh } from "./refresh.js";
import { showSettings } from "./settings.js";
import { showShare } from "./share.js";
import { allowEdits, canEdit, forgetToken, showToken, tokenChanged } from "./token.js";

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

  const { readOnly, edits: allowed } = await server;
  if (readOnly || !allowed) {
    api.setToken(null);
    return;
  }
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
  edits.append(again, select, token);
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
