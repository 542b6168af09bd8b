import { t } from "../text/text.js";
import { open } from "../ui/dialogs.js";
import { h } from "../ui/dom.js";

/** @typedef {import("../text/text.js").Key} Key */

/** The keys, by where they work. */
const groups = /** @type {const} */ ([
  ["page", [["/", "search"], ["f", "filters"], ["l", "list"], ["m", "map"], ["h", "time"], ["c", "charts"],
    ["s", "share"], [",", "settings"], ["?", "help"]]],
  ["list", [
    ["↑ ↓", "rows"], ["Page ↑ ↓", "pages"], ["Home End", "ends"], ["Enter", "open"], ["Space", "mark"],
  ]],
  ["detail", [["j k", "neighbours"], ["Esc", "close"]]],
  ["map", [["← ↑ → ↓", "pan"], ["+ −", "zoom"], ["Home", "world"], ["Enter", "open"]]],
  ["edit", [["t", "token"], ["r", "refresh"], ["x", "select"]]],
]);

/** Opens the help: what a circle means, and all keys. */
export function showHelp() {
  // A page that only reads has no keys for edits.
  const edits = document.getElementById("token") !== null;
  const { dialog } = open(t("help.title"), () => [
    h("p", { text: t("help.text") }),
    h("div", { class: "help" }, ...groups.filter(([group]) => edits || group !== "edit").map(section)),
  ]);
  dialog.classList.add("wide");
}

/** @param {typeof groups[number]} group */
function section([group, keys]) {
  return h(
    "section", {}, h("h3", { text: t(`help.${group}`) }),
    h("dl", {}, ...keys.flatMap(([key, name]) => {
      const text = t(/** @type {Key} */ (`help.${group}.${name}`));
      return [h("dt", {}, h("kbd", { text: key })), h("dd", { text })];
    })),
  );
}
