import { settings } from "../state/settings.js";
import { languages, t } from "../text/text.js";
import { open } from "../ui/dialogs.js";
import { h } from "../ui/dom.js";
import { allowed, askForNotifications } from "./alerts.js";

/** @typedef {import("../state/settings.js").Settings} Settings */

const themes = /** @type {const} */ (["auto", "light", "dark"]);
/** The magnitude in the field of a person who never chose one. */
const usualMagnitude = 5;

/** Opens the settings. Each holds at once. */
export function showSettings() {
  open(t("settings.title"), () => [
    select("theme", themes.map((theme) => [theme, t(`settings.theme.${theme}`)])),
    select("language", [["auto", t("settings.language.auto")], ...Object.entries(languages)]),
    choice(t("settings.time"), [[false, t("settings.time.local")], [true, t("settings.time.utc")]]),
    alerts(),
  ]);
}

/**
 * @param {"theme" | "language"} name
 * @param {(readonly [string, string])[]} values
 */
function select(name, values) {
  const now = settings.get()[name];
  const field = h(
    "select", { class: "field", id: `settings-${name}` },
    ...values.map(([value, text]) => h("option", { value, text, selected: value === now })),
  );
  field.addEventListener("change", () => {
    settings.set(/** @type {Partial<Settings>} */ ({ [name]: field.value }));
    // The texts are loaded with the page.
    if (name === "language") location.reload();
  });
  return h("div", { class: "setting" }, h("label", { for: field.id, text: t(`settings.${name}`) }), field);
}

/**
 * @param {string} name
 * @param {[boolean, string][]} values of `utc`
 */
function choice(name, values) {
  const options = values.map(([value, text]) => h("label", { class: "segment" }, h("input", {
    type: "radio", name: "settings-utc", class: "visually-hidden", checked: settings.get().utc === value,
    onchange: () => settings.set({ utc: value }),
  }), h("span", { text })));
  return h(
    "div", { class: "setting", role: "radiogroup", "aria-label": name }, h("span", { text: name }),
    h("div", { class: "segments" }, ...options),
  );
}

/** Notifications: off until a person turns them on. */
function alerts() {
  const above = h("input", {
    class: "field", type: "number", id: "settings-above", min: 0, max: 10, step: 0.1,
    value: settings.get().notifyAbove ?? usualMagnitude,
  });
  const desktop = h("input", { type: "checkbox", id: "settings-desktop" });
  const note = h("p", { class: "quiet small", role: "status" });
  desktop.checked = settings.get().notifyAbove !== null && allowed();
  const save = () => {
    const value = above.validity.valid && above.value !== "" ? above.valueAsNumber : usualMagnitude;
    settings.set({ notifyAbove: desktop.checked ? value : null });
  };
  above.addEventListener("change", save);
  desktop.addEventListener("change", async () => {
    if (desktop.checked && !(await askForNotifications())) {
      desktop.checked = false;
      note.textContent = t("settings.desktop.refused");
    }
    save();
  });
  return h(
    "fieldset", { class: "setting-group" }, h("legend", { text: t("settings.alerts") }),
    h("div", { class: "setting" }, h("label", { for: above.id, text: t("settings.above") }), above),
    h("label", { class: "check" }, desktop, t("settings.desktop")), note,
  );
}
