import { connection, isLost } from "./data/connection.js";
import { selecting, totals } from "./data/selecting.js";
import { store } from "./data/store.js";
import { countText } from "./list/bar.js";
import { start as startMap } from "./map/map.js";
import { formatView, view } from "./state/view.js";
import { format, t, translatePage } from "./text/text.js";
import { byId } from "./ui/dom.js";
import { fail } from "./ui/toasts.js";

// The map in a frame of another page. Its address has the filters, colour and place of the page's address,
// and `theme=light` or `theme=dark`; without a theme it follows the reader's system.

/** "3 minutes ago" gets older, too. */
const step = 15_000;

/** The view writes the query again when the map moves, so the theme is kept in the part behind it. */
function followTheme() {
  const theme = new URLSearchParams(location.search).get("theme") ?? location.hash.replace("#theme=", "");
  if (theme !== "light" && theme !== "dark") return;
  document.documentElement.dataset.theme = theme;
  history.replaceState(null, "", `${location.pathname}${location.search}#theme=${theme}`);
}

/** The page around the frame scrolls until the reader has chosen the map, or holds the key for zooming. */
function leaveScrollingToPage() {
  document.addEventListener("wheel", (event) => {
    if (!document.hasFocus() && !event.ctrlKey) event.stopPropagation();
  }, { capture: true, passive: true });
}

/** Writes the line below the map. */
function writeLine() {
  const { kind, since, lastChange, detail } = connection.state;
  const { selected } = view.get();
  const quake = selected === null ? undefined : store.get(selected);
  const line = byId("state");
  const { counts } = totals;
  const words = () => {
    if (quake) {
      return t("embed.selected", {
        magnitude: format.magnitude(quake), place: quake.place || t("place.unknown"),
        depth: format.depth(quake.depth), time: format.relative(quake.time, store.now()),
      });
    }
    if (store.problem !== null) return `${t("time.failed")}: ${store.problem}`;
    if (isLost(kind)) return t("embed.offline", { time: format.clock(since) });
    if (!store.complete || counts === null) return t("embed.loading");
    const count = countText(counts) + (totals.missing > 0 ? t("embed.missing", { n: totals.missing }) : "");
    if (view.get().asOf !== null) return t("embed.past", { count, time: format.time(store.now()) });
    return t("embed.count", { count, time: format.relative(lastChange ?? since) });
  };
  const text = words();
  // The same words again would be read aloud again.
  if (line.textContent !== text) line.textContent = text;
  line.title = store.problem ?? detail ?? "";
  const query = formatView(view.get());
  byId("full").setAttribute("href", query ? `/?${query}` : "/");
}

/** A frame that shows a moment of the history needs what goes there. */
async function lookBack() {
  try {
    const { journey } = await import("./time/journey.js");
    journey.addEventListener("failed", (event) => {
      // The line below the map has the text of such a problem.
      if (store.problem === null) fail(t("time.failed"), /** @type {CustomEvent} */ (event).detail);
    });
    journey.addEventListener("moved", writeLine);
    journey.start();
  } catch (error) {
    fail(t("time.failed"), error);
  }
}

connection.start();
selecting.start();
totals.start();
if (view.get().asOf !== null) void lookBack();
followTheme();
translatePage();
document.title = t("embed.title");
byId("full").textContent = t("embed.open");
leaveScrollingToPage();
startMap(byId("map"));
store.addEventListener("shown", writeLine);
store.addEventListener("loaded", writeLine);
totals.addEventListener("change", writeLine);
connection.addEventListener("state", writeLine);
view.addEventListener("change", writeLine);
setInterval(writeLine, step);
writeLine();
