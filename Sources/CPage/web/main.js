import { connection } from "./data/connection.js";
import { selecting, totals } from "./data/selecting.js";
import { store } from "./data/store.js";
import { start as startHeader } from "./header/header.js";
import { start as startList } from "./list/list.js";
import { settings } from "./state/settings.js";
import { view } from "./state/view.js";
import { t, translatePage } from "./text/text.js";
import { part, toast } from "./ui/toasts.js";

/** Shows the theme of the settings: without a choice, that of the system. */
function show() {
  const { theme } = settings.get();
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

/** Follows the settings. */
function startTheme() {
  show();
  settings.addEventListener("change", show);
}

// The page starts in two steps. A browser opens six connections, so each file takes its turn on a slow line:
// the list comes first, with the few files that it needs, and everything else afterwards.
connection.start();
selecting.start();
totals.start();

/** The second step begins at the latest after this time, whether there is a list or not. */
const patience = 2_000;

startTheme();
translatePage();
void part("header", startHeader);
void part("list", startList);

await new Promise((resolve) => {
  // A page that opens at a moment of the past needs the other files.
  if (store.size > 0 || view.get().asOf !== null) resolve(null);
  store.addEventListener("shown", resolve, { once: true });
  // Where nothing passes the filter, the end of the load is all there is to wait for.
  store.addEventListener("loaded", () => {
    if (store.complete) resolve(null);
  });
  setTimeout(resolve, patience);
});
// The list is drawn before the other files compete for the line.
await new Promise((resolve) => setTimeout(resolve));
try {
  await (await import("./rest.js")).start();
} catch (error) {
  console.error("rest.js", error);
  toast({ text: t("part.failed", { part: "rest", reason: String(error) }), error: true });
}
