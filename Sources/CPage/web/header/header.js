import { connection, isLost } from "../data/connection.js";
import { store } from "../data/store.js";
import { isToken, timeOfPoint } from "../state/point.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button, h, icon } from "../ui/dom.js";

/** Seconds are shown below a minute, so the text is written anew at each. */
const step = 1_000;
/** Shorter waits for the next attempt would only flicker. */
const leastWait = 2_000;

/**
 * The state of the connection in words, and when the last change came.
 * @param {HTMLElement} element
 */
function startConnection(element) {
  const sign = h("i", { class: "sign", "aria-hidden": "true" });
  const words = h("span", { class: "words" });
  const updated = h("span", { class: "updated" });
  const again = button({ text: t("retry"), kind: "outlined", action: () => connection.retry() });
  const live = button({ text: t("past.back"), kind: "primary", action: () => view.set({ asOf: null }) });
  live.id = "back-to-live";
  element.append(sign, words, again, live, updated);

  const update = () => {
    const { kind, since, detail, lastChange, retryAt } = connection.state;
    const { asOf } = view.get();
    element.dataset.kind = kind;
    const wait = (retryAt ?? 0) - Date.now();
    const attempt = wait > leastWait ? ` ${t("connection.retry", { n: Math.ceil(wait / 1000) })}` : "";
    write(words, state(kind, since, asOf) + attempt);
    words.title = detail ?? "";
    again.hidden = !isLost(kind);
    live.hidden = asOf === null;
    updated.hidden = asOf !== null || lastChange === null;
    if (lastChange !== null) {
      write(updated, t("connection.updated", { time: format.relative(lastChange) }));
      updated.title = format.time(lastChange);
    }
  };
  connection.addEventListener("state", update);
  view.addEventListener("change", update);
  setInterval(update, step);
  update();
}

/**
 * @param {import("../types.js").ConnectionState["kind"]} kind
 * @param {number} since
 * @param {string | null} asOf
 */
function state(kind, since, asOf) {
  if (asOf !== null && (kind === "past" || kind === "live")) {
    if (store.problem !== null) return t("time.failed");
    const time = timeOfPoint(asOf);
    // A token begins with the number of its transaction.
    if (isToken(asOf)) return t("past.after", { number: asOf.split(".")[0] });
    return t("past.is", { time: Number.isNaN(time) ? asOf : format.time(time) });
  }
  if (kind === "offline" || kind === "database") {
    return t(`connection.${kind}.since`, { time: format.clock(since) });
  }
  return t(`connection.${kind}`);
}

/**
 * Writes only what differs, so that a selection of the text stays.
 * @param {HTMLElement} element
 * @param {string} text
 */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * One line: what this is, and the state of the connection. Its buttons come later: see `tools.js`.
 * @param {HTMLElement} element
 */
export function start(element) {
  const status = h("div", { class: "status" });
  element.append(h("h1", {}, icon("wave"), h("span", { text: "Quake" })), status);
  startConnection(status);
}
