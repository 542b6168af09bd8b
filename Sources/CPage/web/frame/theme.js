import { settings } from "../state/settings.js";

/** Shows the theme of the settings: without a choice, that of the system. */
function show() {
  const { theme } = settings.get();
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

/** Follows the settings. */
export function start() {
  show();
  settings.addEventListener("change", show);
}
