import { store } from "../data/store.js";
import { selection } from "../list/selection.js";
import { t } from "../text/text.js";
import { button } from "../ui/button.js";
import { byId, h } from "../ui/dom.js";
import { showDeleted } from "./deleted.js";
import { remove, validate } from "./edits.js";

/** The line below the list while events are marked for an edit. */
export function startEditBar() {
  const count = h("p", { class: "count", role: "status" });
  const erase = button({
    icon: "trash", text: t("delete"), kind: "outlined", action: () => void remove(selection.codes()),
  });
  const check = button({
    icon: "check", text: t("validate"), kind: "outlined", action: () => void validate(selection.codes()),
  });
  const back = button(
    { icon: "undo", text: t("restore.open"), kind: "outlined", action: () => void showDeleted() },
  );
  const all = button({
    text: t("edit.all"), action: () => selection.add(store.shown().map(({ code }) => code)),
  });
  const none = button({ text: t("edit.none"), action: () => selection.clear() });
  const done = button({ icon: "close", label: t("edit.done"), action: () => selection.turn(false) });
  const bar = h(
    "div", { class: "edit-bar", role: "toolbar", "aria-label": t("edit.bar"), hidden: true },
    h("div", { class: "edit-line" }, count, all, none, done),
    h("div", { class: "edit-line" }, erase, check, back),
  );
  byId("list").append(bar);

  const update = () => {
    bar.hidden = !selection.on;
    if (bar.hidden) return;
    const n = selection.size;
    count.textContent = t("edit.count", { n });
    erase.disabled = n === 0;
    none.disabled = n === 0;
    // Without marked events, Validate is for all that the filter selects.
    check.lastChild?.replaceWith(n === 0 ? t("validate.shown") : t("validate"));
  };
  selection.addEventListener("change", update);
  store.addEventListener("change", (event) => {
    const { detail } = /** @type {CustomEvent<import("../types.js").StoreChange>} */ (event);
    if (detail.kind !== "changes") return;
    for (const { code } of detail.deleted) if (selection.has(code)) selection.toggle(code);
  });
  update();
}
