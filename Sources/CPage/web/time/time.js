import { transactionNumber } from "../api/answers.js";
import { connection, lastLook } from "../data/connection.js";
import { store } from "../data/store.js";
import { isToken, timeOfPoint } from "../state/point.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { button, fill, h, icon } from "../ui/dom.js";
import { fail, reason } from "../ui/toasts.js";
import { ChangesPanel } from "./changes.js";
import { journey, player, readActivity, readRange } from "./journey.js";

/** @typedef {import("../text/text.js").Key} Key */
/** @typedef {import("./journey.js").Point} Point */

/** @type {{speed: number, key: Key, n: number}[]} */
const speeds = [
  { speed: 1, key: "time.speed.seconds", n: 1 },
  { speed: 10, key: "time.speed.seconds", n: 10 },
  { speed: 60, key: "time.speed.minutes", n: 1 },
  { speed: 600, key: "time.speed.minutes", n: 10 },
  { speed: 3600, key: "time.speed.hours", n: 1 },
  { speed: 21_600, key: "time.speed.hours", n: 6 },
  { speed: 86_400, key: "time.speed.days", n: 1 },
  { speed: 604_800, key: "time.speed.days", n: 7 },
];

/** The whole history is played in about this many seconds, unless the person chooses. */
const wholeDuration = 45;

/** Play, and its speed. */
class PlayControls {
  #play;
  #speed = h(
    "select", { class: "field", "aria-label": t("time.speed") },
    ...speeds.map(({ speed, key, n }) => h("option", { value: speed, text: t(key, { n }) })),
  );
  #chosen = false;
  element;

  /** @param {() => void} play */
  constructor(play) {
    this.#play = button({
      text: "", kind: "outlined time-play", action: () => (player.playing ? player.pause() : play()),
    });
    this.element = h("div", { class: "time-controls" }, this.#play, this.#speed);
    this.#speed.addEventListener("change", () => {
      this.#chosen = true;
      player.speed = Number(this.#speed.value);
    });
    player.addEventListener("change", () => this.#name());
    this.#speed.value = String(player.speed);
    this.#name();
  }

  /** @param {boolean} enabled */
  update(enabled) {
    this.#play.disabled = !enabled;
  }

  /**
   * Chooses a speed that suits the length of the history.
   * @param {number} length ms
   */
  suit(length) {
    if (this.#chosen) return;
    const suitable = speeds.find(({ speed }) => speed * wholeDuration * 1000 >= length);
    player.speed = (suitable ?? speeds[speeds.length - 1]).speed;
    this.#speed.value = String(player.speed);
  }

  #name() {
    fill(this.#play, icon(player.playing ? "pause" : "play"), t(player.playing ? "time.pause" : "time.play"));
  }
}

/** The keys move by a part of the history. */
const step = 1 / 500;
const page = 1 / 20;

/** @type {Record<string, number|undefined>} */
const keys = {
  ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageDown: -page, PageUp: page,
};

/** The slider over the history, with marks where much was committed. */
class Slider {
  #input = h("input", {
    type: "range", class: "time-input", step: "any", "aria-label": t("time.slider"),
  });
  #marks = h("canvas", { class: "time-marks", "aria-hidden": "true" });
  #from = h("span", {});
  #to = h("span", { text: t("time.end") });
  element = h(
    "div", { class: "time-track" },
    h("div", { class: "time-rail" }, this.#marks, this.#input),
    h("div", { class: "time-ends quiet small", "aria-hidden": "true" }, this.#from, this.#to),
  );
  /** @type {{from: number, to: number, count: number}[]} */
  #spans = [];
  #least = 0;
  #most = 1;

  /** @param {(value: number|null) => void} moved a time; null is now */
  constructor(moved) {
    const input = this.#input;
    input.addEventListener("input", () => {
      const value = Number(input.value);
      moved(value >= this.#most ? null : value);
    });
    input.addEventListener("keydown", (event) => {
      const by = keys[event.key];
      if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      const distance = by * (this.#most - this.#least);
      const value = Math.min(this.#most, Math.max(this.#least, Number(input.value) + distance));
      input.value = String(value);
      moved(value >= this.#most ? null : value);
    });
    new ResizeObserver(() => this.#draw()).observe(this.#marks);
  }

  /** @param {number} first @param {number} last the times at its ends, in ms */
  setRange(first, last) {
    this.#least = first;
    this.#most = Math.max(first + 1, last);
    this.#input.min = String(this.#least);
    this.#input.max = String(this.#most);
    this.#from.textContent = format.time(first);
    this.#draw();
  }

  /**
   * @param {number|null} value null is now
   * @param {string} text what it means, for readers of the screen
   */
  set(value, text) {
    this.#input.value = String(value ?? this.#most);
    this.#input.setAttribute("aria-valuetext", text);
    const part = ((value ?? this.#most) - this.#least) / (this.#most - this.#least);
    this.#input.style.setProperty("--part", `${Math.min(1, Math.max(0, part)) * 100}%`);
  }

  /** @param {number} from @param {number} to @param {number} count of transactions */
  mark(from, to, count) {
    this.#spans.push({ from, to, count });
    this.#draw();
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.#marks;
    const context = this.#marks.getContext("2d");
    if (!context || width === 0) return;
    const scale = devicePixelRatio;
    this.#marks.width = width * scale;
    this.#marks.height = height * scale;
    context.scale(scale, scale);
    context.fillStyle = getComputedStyle(this.#marks).color;
    const most = Math.max(1, ...this.#spans.map(({ count }) => count));
    const span = this.#most - this.#least;
    for (const { from, to, count } of this.#spans) {
      const tall = Math.max(2, Math.sqrt(count / most) * height);
      const left = ((from - this.#least) / span) * width;
      const wide = Math.max(1.5, ((to - from) / span) * width - 0.5);
      context.fillRect(left, height - tall, wide, tall);
    }
  }
}

/** The newest point of the slider is brought up to date this often. */
const interval = 10_000;

/** The slider over the history, along the bottom of the page. */
class TimeTravel {
  #label = h("p", { class: "time-label", role: "status" });
  #since = button({ text: "", kind: "outlined", action: () => showChanges() });
  #panel = new ChangesPanel();
  #controls = new PlayControls(() => this.#play());
  #slider = new Slider((value) => {
    player.pause();
    view.set({ asOf: value === null ? null : new Date(value).toISOString() });
  });
  #note = h("p", { class: "quiet", text: t("time.loading") });
  /** @type {{first: Point, last: Point}|null} */
  #range = null;

  /** @param {HTMLElement} element */
  constructor(element) {
    connection.onAnswer((message) => this.#panel.receive(message));
    element.classList.add("time");
    element.append(
      h(
        "div", { class: "time-bar" }, this.#controls.element, this.#label, h("span", { class: "time-space" }),
        this.#since,
      ),
      this.#note, this.#slider.element, this.#panel.element,
    );
    this.#slider.element.hidden = true;
    journey.addEventListener("moved", () => this.#showPosition());
    journey.addEventListener("failed", (event) => {
      this.#showPosition();
      // The list has the text of such a problem.
      if (store.problem === null) fail(t("time.failed"), /** @type {CustomEvent} */ (event).detail);
    });
    lastLook.addEventListener("change", () => this.#nameChanges());
    view.addEventListener("change", (event) => {
      const { changed } = /** @type {CustomEvent<{changed: Set<string>}>} */ (event).detail;
      if (changed.has("since")) this.#openChanges();
      if (changed.has("asOf")) {
        this.#showPosition();
        this.#nameChanges();
      }
    });
    this.#showPosition();
    this.#nameChanges();
    this.#openChanges();
  }

  async load() {
    try {
      this.#range = await readRange();
    } catch (error) {
      const retry = () => void this.load();
      return fill(
        this.#note, t("time.range.failed", { reason: reason(error) }), " ",
        button({ icon: "refresh", text: t("retry"), kind: "outlined", action: retry }),
      );
    }
    if (!this.#range) return fill(this.#note, t("time.none"));
    this.#note.remove();
    this.#slider.element.hidden = false;
    this.#extend();
    setInterval(() => this.#extend(), interval);
    const { first, last } = this.#range;
    readActivity(first, last, (from, to, count) => this.#slider.mark(from, to, count)).catch(() => {
      // The marks are an extra: the slider works without them.
    });
  }

  /** The history goes on: the slider ends with now. */
  #extend() {
    if (!this.#range || player.playing) return;
    const { first, last } = this.#range;
    this.#range = { first, last: { ...last, time: Date.now() } };
    this.#slider.setRange(first.time, this.#range.last.time);
    this.#controls.suit(this.#range.last.time - first.time);
    this.#showPosition();
  }

  #showPosition() {
    const { time, number } = journey;
    const past = view.get().asOf !== null;
    this.#controls.update(this.#range !== null);
    const without = past ? (store.problem === null ? "time.loading" : "time.failed") : "time.live";
    const text = time === null || !past
      ? t(without)
      : t("time.at", { time: format.time(time), number });
    // While the history is played, each step would be said.
    this.#label.setAttribute("aria-live", player.playing ? "off" : "polite");
    if (this.#label.textContent !== text) this.#label.textContent = text;
    const dragged = past && timeOfPoint(view.get().asOf ?? "");
    this.#slider.set(past ? dragged || time : null, text);
  }

  /** Plays from the point that is shown or on its way; from the oldest one, if this is now. */
  #play() {
    if (!this.#range) return;
    const isPast = view.get().asOf !== null;
    if (isPast && journey.time !== null) return player.play();
    if (!isPast) view.set({ asOf: new Date(this.#range.first.time).toISOString() });
    // A point that could not be shown must not begin to play when the person goes to another one.
    const arrival = new AbortController();
    const { signal } = arrival;
    journey.addEventListener("failed", () => arrival.abort(), { signal });
    journey.addEventListener("moved", () => {
      arrival.abort();
      player.play();
    }, { signal });
  }

  #nameChanges() {
    const asOf = view.get().asOf;
    this.#since.hidden = asOf === null && lastLook.previous === null;
    this.#since.textContent = asOf !== null
      ? t("time.changes.since.then")
      : t("time.changes.since", { time: format.relative(lastLook.previous?.at ?? Date.now()) });
  }

  #openChanges() {
    const token = view.get().since;
    if (token === null) return this.#panel.close();
    const look = lastLook.previous;
    const time = look?.token === token ? look.at : timeOfPoint(token);
    const number = isToken(token) ? t("time.number", { n: transactionNumber(token) }) : token;
    this.#panel.open(token, Number.isNaN(time) ? number : format.time(time));
  }
}

function showChanges() {
  const token = view.get().asOf ?? lastLook.previous?.token;
  if (token) view.set({ since: token });
}

/** @param {HTMLElement} element */
export async function start(element) {
  journey.start();
  await new TimeTravel(element).load();
}
