import { store } from "../data/store.js";
import { settings } from "../state/settings.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { isSimulated } from "../ui/badges.js";

/** An event that became known much later, such as one of a catalogue, is no news. */
const newest = 6 * 3_600_000;
/** An import of many events makes one notification, not a hundred. */
const pause = 5_000;

/** @returns {boolean} whether the browser shows notifications of this page */
export const allowed = () => "Notification" in globalThis && Notification.permission === "granted";

/** @returns {Promise<boolean>} */
export async function askForNotifications() {
  if (!("Notification" in globalThis)) return false;
  return (await Notification.requestPermission()) === "granted";
}

/** Notifies of strong new events, if the settings say so. */
export function start() {
  let last = 0;
  store.addEventListener("news", (event) => {
    const { detail } = /** @type {CustomEvent<import("../types.js").Changes>} */ (event);
    const { notifyAbove } = settings.get();
    if (notifyAbove === null || !allowed()) return;
    if (Date.now() - last < pause) return;
    const [quake] = detail.inserted
      .filter(({ magnitude, time }) => (magnitude ?? -9) >= notifyAbove && Date.now() - time < newest)
      .sort((a, b) => (b.magnitude ?? 0) - (a.magnitude ?? 0));
    if (!quake) return;
    last = Date.now();
    notify(quake);
  });
}

/** @param {import("../types.js").Quake} quake */
function notify(quake) {
  const simulated = isSimulated({ net: quake.network, code: quake.code }) && t("badge.simulated");
  try {
    const shown = new Notification(`M ${format.magnitude(quake)} ${quake.place || t("place.unknown")}`, {
      body: [format.time(quake.time), format.depth(quake.depth), simulated].filter(Boolean).join(", "),
      tag: quake.code,
    });
    shown.addEventListener("click", () => {
      window.focus();
      view.set({ selected: quake.code });
    });
  } catch {
    // Browsers of phones allow notifications to service workers only.
  }
}
