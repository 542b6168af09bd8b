import { start as startDetail } from "./detail/detail.js";
import { start as startFilters } from "./filters/filters.js";
import { startDock, startKeys, startSheet, startSummary, startUpgrade } from "./frame/frame.js";
import { start as startAlerts } from "./header/settings.js";
import { start as startTools } from "./header/tools.js";
import { part } from "./ui/toasts.js";

/** The style sheets of the parts that start here. */
const sheets = ["filters", "detail", "dialogs", "map", "time", "charts"];

/**
 * Loads a style sheet. A part without its style works, so a failure does not stop it.
 * @param {string} name
 * @returns {Promise<void>}
 */
function style(name) {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL(`./style/${name}.css`, import.meta.url).href;
  document.head.append(link);
  return new Promise((resolve) => {
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => resolve());
  });
}

/** Starts everything beside the list: the second step of main.js. */
export async function start() {
  await Promise.all(sheets.map(style));
  void part("header", startTools);
  void part("filters", startFilters);
  void part("detail", startDetail);
  void part("map", async (element) => (await import("./map/map.js")).start(element));
  void part("dock", startDock);
  void part("side", startSheet);
  void part("summary", startSummary);
  startKeys();
  startAlerts();
  void startUpgrade();
  document.documentElement.dataset.ready = "";
}
