import { ApiError, quakeOfRow } from "../api/answers.js";
import { reasonText } from "../data/api.js";
import { connection } from "../data/connection.js";
import { distance } from "../data/quake-set.js";
import { store } from "../data/store.js";
import { isLocated } from "../painter/projection.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button, fill, h } from "../ui/dom.js";
import { colorOf, statusName } from "../ui/sign.js";
import { reason } from "../ui/toasts.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../api/messages.js").Difference} Difference */
/** @typedef {import("../api/messages.js").DifferencesMessage} DifferencesMessage */
/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */

/** @param {Quake} before @param {Quake} after @returns {string} such as "5.2 → 5.6, 10 km → 12 km" */
function whatChanged(before, after) {
  const parts = [];
  /** @param {string} a @param {string} b */
  const add = (a, b) => {
    if (a !== b) parts.push(`${a} → ${b}`);
  };
  add(format.magnitude(before), format.magnitude(after));
  if (before.depth !== after.depth) add(format.depth(before.depth), format.depth(after.depth));
  if (before.place !== after.place) add(before.place, after.place);
  else if (before.latitude !== after.latitude || before.longitude !== after.longitude) {
    if (isLocated(before) && isLocated(after)) {
      parts.push(t("time.changes.moved", { km: format.number(distance(before, after), 0) }));
    } else {
      const [from, to] = [before, after].map((one) => format.position(one.latitude, one.longitude));
      add(from, to);
    }
  }
  if (before.time !== after.time) parts.push(t("time.changes.time"));
  add(statusName(before.status), statusName(after.status));
  return parts.length > 0 ? parts.join(", ") : t("time.changes.other");
}

/** The panel with the net changes since a point of the history. */
export class ChangesPanel {
  element = h("section", { class: "time-changes", hidden: true, "aria-live": "off" });
  #id = 0;
  #when = "";
  /** @type {DifferencesMessage|null} */
  #message = null;

  /** @param {string} since a token or a time @param {string} when in words */
  open(since, when) {
    this.#when = when;
    // Numbers of their own, so that no answer to the slider is taken for one of these.
    this.#id = -Math.abs(this.#id) - 1;
    this.element.hidden = false;
    this.#fill(h("p", { class: "quiet", text: t("time.changes.loading") }));
    connection.send({ type: "differences", id: this.#id, from: since, to: null });
  }

  close() {
    this.element.hidden = true;
    this.#message = null;
    fill(this.element);
  }

  /** @param {WorkerMessage} message */
  receive(message) {
    if (!("id" in message) || message.id !== this.#id || this.element.hidden) return;
    if (message.type === "failure") {
      const error = new ApiError(message.status, reasonText(message.title), message.detail);
      this.#fill(h("p", { role: "alert", text: t("time.changes.failed", { reason: reason(error) }) }));
    } else if (message.type === "differences") {
      this.#message = message;
      this.#show(message);
    }
  }

  constructor() {
    // One scale of colours at a time.
    view.addEventListener("change", (event) => {
      const { changed } = /** @type {CustomEvent<{changed: Set<string>}>} */ (event).detail;
      if (changed.has("color") && this.#message) this.#show(this.#message);
    });
  }

  /** @param {DifferencesMessage} message */
  #show({ counts, added, changed, gone }) {
    const all = counts.added + counts.changed + counts.gone;
    if (all === 0) return this.#fill(h("p", { class: "quiet", text: t("time.changes.none") }));
    this.#fill(
      h(
        "div", { class: "time-columns" },
        group(t("time.changes.added", { n: counts.added }), added, counts.added),
        group(t("time.changes.changed", { n: counts.changed }), changed, counts.changed),
        group(t("time.changes.gone", { n: counts.gone }), gone, counts.gone),
      ),
    );
  }

  /** @param {Node} content */
  #fill(content) {
    fill(
      this.element,
      h(
        "div", { class: "time-changes-head" },
        h("h3", { text: t("time.changes.title", { time: this.#when }) }),
        button({ icon: "close", label: t("close"), action: () => view.set({ since: null }) }),
      ),
      content,
    );
  }
}

/** @param {string} title @param {Difference[]} differences @param {number} count */
function group(title, differences, count) {
  const rest = count - differences.length;
  return h(
    "section", {},
    h("h4", { class: "small", text: title }),
    h("ul", {}, ...differences.map((difference) => h("li", {}, row(difference)))),
    rest > 0 && h("p", { class: "quiet small", text: t("time.changes.more", { n: rest }) }),
  );
}

/** @param {Difference} difference */
function row(difference) {
  const before = difference.before === null ? null : quakeOfRow(JSON.parse(difference.before));
  const after = difference.after === null ? null : quakeOfRow(JSON.parse(difference.after));
  const quake = /** @type {import("../types.js").Quake} */ (after ?? before);
  const what = before && after ? whatChanged(before, after) : format.time(quake.time);
  const magnitude = h("b", { class: "time-magnitude", text: format.magnitude(quake) });
  magnitude.style.borderColor = colorOf(quake, view.get().color, store.now());
  return h(
    "button",
    { type: "button", class: "time-change", onclick: () => view.set({ selected: quake.code }) },
    magnitude, h("span", { class: "time-place", dir: "auto", text: quake.place || quake.code }),
    h("span", { class: "quiet small", text: what }),
  );
}
