import { transactionNumber } from "../api/rows.js";
import { connection } from "../data/connection.js";
import { lastLook } from "../data/last-look.js";
import { isToken, timeOfPoint } from "../state/point.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button } from "../ui/button.js";
import { fill, h } from "../ui/dom.js";
import { fail, reason } from "../ui/failure.js";
import { ChangesPanel } from "./changes.js";
import { PlayControls } from "./controls.js";
import { readActivity, readRange } from "./history.js";
import { journey } from "./journey.js";
import { player } from "./player.js";
import { Slider } from "./slider.js";

/** @typedef {import("./history.js").Point} Point */

/** The newest point of the slider is brought up to date this often. */
const interval = 10_000;

/**
 * The slider over the history, along the bottom of the page.
 * @param {HTMLElement} element
 */
export async function start(element) {
  journey.start();
  const label = h("p", { class: "time-label", role: "status" });
  const since = button({ text: "", kind: "outlined", action: () => showChanges() });
  const panel = new ChangesPanel();
  connection.onAnswer((message) => panel.receive(message));
  const controls = new PlayControls(() => play());
  const slider = new Slider((value) => {
    player.pause();
    view.set({ asOf: value === null ? null : new Date(value).toISOString() });
  });
  const note = h("p", { class: "quiet", text: t("time.loading") });
  element.classList.add("time");
  element.append(
    h("div", { class: "time-bar" }, controls.element, label, h("span", { class: "time-space" }), since),
    note, slider.element, panel.element,
  );
  slider.element.hidden = true;
  /** @type {{first: Point, last: Point}|null} */
  let range = null;

  journey.addEventListener("moved", () => showPosition());
  journey.addEventListener("failed", (event) => {
    fail(t("time.failed"), /** @type {CustomEvent} */ (event).detail);
  });
  lastLook.addEventListener("change", () => nameChanges());
  view.addEventListener("change", (event) => {
    const { changed } = /** @type {CustomEvent<{changed: Set<string>}>} */ (event).detail;
    if (changed.has("since")) openChanges();
    if (changed.has("asOf")) {
      showPosition();
      nameChanges();
    }
  });
  showPosition();
  nameChanges();
  openChanges();
  await load();

  async function load() {
    try {
      range = await readRange();
    } catch (error) {
      const retry = () => void load();
      return fill(
        note, t("time.range.failed", { reason: reason(error) }), " ",
        button({ icon: "refresh", text: t("retry"), kind: "outlined", action: retry }),
      );
    }
    if (!range) return fill(note, t("time.none"));
    note.remove();
    slider.element.hidden = false;
    extend();
    setInterval(extend, interval);
    const { first, last } = range;
    readActivity(first, last, (from, to, count) => slider.mark(from, to, count)).catch(() => {
      // The marks are an extra: the slider works without them.
    });
  }

  /** The history goes on: the slider ends with now. */
  function extend() {
    if (!range || player.playing) return;
    range = { first: range.first, last: { ...range.last, time: Date.now() } };
    slider.setRange(range.first.time, range.last.time);
    controls.suit(range.last.time - range.first.time);
    showPosition();
  }

  function showPosition() {
    const { time, number } = journey;
    const past = view.get().asOf !== null;
    controls.update(range !== null);
    const text = time === null || !past
      ? t(past ? "time.loading" : "time.live")
      : t("time.at", { time: format.time(time), number });
    // While the history is played, each step would be said.
    label.setAttribute("aria-live", player.playing ? "off" : "polite");
    if (label.textContent !== text) label.textContent = text;
    const dragged = past && timeOfPoint(view.get().asOf ?? "");
    slider.set(past ? dragged || time : null, text);
  }

  /** Plays from the point that is shown or on its way; from the oldest one, if this is now. */
  function play() {
    if (!range) return;
    const isPast = view.get().asOf !== null;
    if (isPast && journey.time !== null) return player.play();
    if (!isPast) view.set({ asOf: new Date(range.first.time).toISOString() });
    // A point that could not be shown must not begin to play when the person goes to another one.
    const arrival = new AbortController();
    const { signal } = arrival;
    journey.addEventListener("failed", () => arrival.abort(), { signal });
    journey.addEventListener("moved", () => {
      arrival.abort();
      player.play();
    }, { signal });
  }

  function nameChanges() {
    const asOf = view.get().asOf;
    since.hidden = asOf === null && lastLook.previous === null;
    const text = asOf !== null
      ? t("time.changes.since.then")
      : t("time.changes.since", { time: format.relative(lastLook.previous?.at ?? Date.now()) });
    since.textContent = text;
  }

  function showChanges() {
    const token = view.get().asOf ?? lastLook.previous?.token;
    if (token) view.set({ since: token });
  }

  function openChanges() {
    const token = view.get().since;
    if (token === null) return panel.close();
    const look = lastLook.previous;
    const time = look?.token === token ? look.at : timeOfPoint(token);
    const number = isToken(token) ? t("time.number", { n: transactionNumber(token) }) : token;
    panel.open(token, Number.isNaN(time) ? number : format.time(time));
  }
}
