import { store } from "../data/store.js";
import { settings } from "../state/settings.js";
import { view } from "../state/view.js";
import { format, isolated, languages, t } from "../text/text.js";
import { open } from "../ui/dialogs.js";
import { h } from "../ui/dom.js";
import { isSimulated } from "../ui/sign.js";

/** @typedef {import("../text/text.js").Key} Key */
/** @typedef {import("../state/settings.js").Settings} Settings */

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

/** An event that became known much later, such as one of a catalogue, is no news. */
const newest = 6 * 3_600_000;
/** An import of many events makes one notification, not a hundred. */
const pause = 5_000;

/** @returns {boolean} whether the browser shows notifications of this page */
const allowed = () => "Notification" in globalThis && Notification.permission === "granted";

/** @returns {Promise<boolean>} */
async function askForNotifications() {
  if (!("Notification" in globalThis)) return false;
  return (await Notification.requestPermission()) === "granted";
}

/**
 * Notifies of strong new events, and of events that became strong, if the settings say so: at the end of a
 * pause, of the strongest in it.
 */
export function start() {
  let last = -pause;
  /** @type {import("../types.js").Quake|null} */
  let strongest = null;
  const tell = () => {
    if (strongest) notify(strongest);
    strongest = null;
    last = Date.now();
  };
  store.addEventListener("news", (event) => {
    const { detail } = /** @type {CustomEvent<import("../types.js").Changes>} */ (event);
    const { notifyAbove } = settings.get();
    if (notifyAbove === null || !allowed()) return;
    /** @param {import("../types.js").Quake} quake */
    const isStrong = ({ magnitude }) => (magnitude ?? -9) >= notifyAbove;
    const risen = detail.updated.filter(({ before }) => !isStrong(before)).map(({ after }) => after);
    const [quake] = [...detail.inserted, ...risen]
      .filter((quake) => isStrong(quake) && Date.now() - quake.time < newest)
      .sort((a, b) => (b.magnitude ?? 0) - (a.magnitude ?? 0));
    if (!quake) return;
    if (strongest === null) setTimeout(tell, Math.max(0, last + pause - Date.now()));
    if ((quake.magnitude ?? 0) > (strongest?.magnitude ?? -Infinity)) strongest = quake;
  });
}

/** @param {import("../types.js").Quake} quake */
function notify(quake) {
  const simulated = isSimulated({ net: quake.network, code: quake.code }) && t("badge.simulated");
  try {
    const place = isolated(quake.place) || t("place.unknown");
    const shown = new Notification(`M ${format.magnitude(quake)} ${place}`, {
      body: [format.time(quake.time), format.depth(quake.depth), simulated].filter(Boolean).join(", "),
      tag: quake.code,
    });
    shown.addEventListener("click", () => {
      window.focus();
      view.set({ selected: quake.code, asOf: null });
    });
  } catch {
    // Browsers of phones allow notifications to service workers only.
  }
}

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
