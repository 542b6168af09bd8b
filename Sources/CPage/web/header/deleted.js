import { api } from "../data/api.js";
import { store } from "../data/store.js";
import { format, t } from "../text/text.js";
import { button } from "../ui/button.js";
import { open } from "../ui/dialogs.js";
import { h } from "../ui/dom.js";
import { fail } from "../ui/failure.js";
import { restore } from "./edits.js";

/** At most this many of the last deletions are listed. */
const most = 50;

/** The events that were deleted last, each with Restore. */
export async function showDeleted() {
  /** @type {import("../types.js").Change[]} */
  let changes;
  try {
    ({ changes } = await api.history({ op: "delete", descending: true, limit: most }));
  } catch (error) {
    fail(t("restore.list.failed"), error);
    return;
  }
  const seen = new Set();
  const rows = changes.filter(({ code, old }) => {
    if (!code || !old || seen.has(code) || store.get(code)) return false;
    seen.add(code);
    return true;
  });
  open(t("restore.list"), () => [
    h("p", { class: "quiet", text: rows.length === 0 ? t("restore.list.none") : t("restore.list.text") }),
    h("ul", { class: "deleted-list" }, ...rows.map((change) => {
      const code = String(change.code);
      const { magnitude, place } = /** @type {import("../types.js").EventRecord} */ (change.old);
      const item = h(
        "li", {},
        h(
          "div", {}, h("p", { dir: "auto", text: `M ${format.magnitude({ magnitude })} ${place ?? code}` }),
          h("p", {
            class: "quiet small", text: t("restore.list.when", {
              time: format.relative(Date.parse(change.transaction?.at ?? "")),
              author: change.transaction?.author ?? change.transaction?.application ?? t("author.unknown"),
            }),
          }),
        ),
        button({
          icon: "undo", text: t("restore"), kind: "outlined", action: async () => {
            if (await restore([code])) item.remove();
          },
        }),
      );
      return item;
    })),
  ]);
}
