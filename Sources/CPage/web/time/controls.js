import { t } from "../text/text.js";
import { button } from "../ui/button.js";
import { fill, h } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { player } from "./player.js";

/** @typedef {import("../text/text.js").Key} Key */

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
export class PlayControls {
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
