import { t } from "../text/text.js";
import { button } from "../ui/button.js";
import { fill, h } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { player } from "./player.js";

/** @typedef {import("./player.js").Unit} Unit */
/** @typedef {import("../text/text.js").Key} Key */

/** @type {Record<Unit, {speed: number, key: Key, n: number}[]>} */
const speeds = {
  time: [
    { speed: 1, key: "time.speed.seconds", n: 1 },
    { speed: 10, key: "time.speed.seconds", n: 10 },
    { speed: 60, key: "time.speed.minutes", n: 1 },
    { speed: 600, key: "time.speed.minutes", n: 10 },
    { speed: 3600, key: "time.speed.hours", n: 1 },
    { speed: 21_600, key: "time.speed.hours", n: 6 },
    { speed: 86_400, key: "time.speed.days", n: 1 },
    { speed: 604_800, key: "time.speed.days", n: 7 },
  ],
  transaction: [
    { speed: 1, key: "time.speed.transactions", n: 1 },
    { speed: 5, key: "time.speed.transactions", n: 5 },
    { speed: 25, key: "time.speed.transactions", n: 25 },
    { speed: 100, key: "time.speed.transactions", n: 100 },
  ],
};

/** The whole history is played in about this many seconds, unless the person chooses. */
const wholeDuration = 45;

/** Play, its speed, and whether the slider goes by time or by transaction. */
export class PlayControls {
  #play;
  #speed = h("select", { class: "field", "aria-label": t("time.speed") });
  #unit = h(
    "select", { class: "field", "aria-label": t("time.unit") },
    h("option", { value: "time", text: t("time.unit.time") }),
    h("option", { value: "transaction", text: t("time.unit.transaction") }),
  );
  #chosen = false;
  element;

  /** @param {(unit: Unit) => void} unitChanged @param {() => void} play */
  constructor(unitChanged, play) {
    this.#play = button({
      text: "", kind: "outlined time-play", action: () => (player.playing ? player.pause() : play()),
    });
    this.element = h("div", { class: "time-controls" }, this.#play, this.#speed, this.#unit);
    this.#speed.addEventListener("change", () => {
      this.#chosen = true;
      player.speed = Number(this.#speed.value);
    });
    this.#unit.addEventListener("change", () => {
      player.pause();
      player.unit = /** @type {Unit} */ (this.#unit.value);
      this.#list();
      player.speed = speeds[player.unit][1].speed;
      this.#speed.value = String(player.speed);
      unitChanged(player.unit);
    });
    player.addEventListener("change", () => this.#name());
    this.#list();
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
    if (this.#chosen || player.unit !== "time") return;
    const suitable = speeds.time.find(({ speed }) => speed * wholeDuration * 1000 >= length);
    player.speed = (suitable ?? speeds.time[speeds.time.length - 1]).speed;
    this.#speed.value = String(player.speed);
  }

  #list() {
    const options = speeds[player.unit].map(({ speed, key, n }) =>
      h("option", { value: speed, text: t(key, { n }) }));
    fill(this.#speed, ...options);
    this.#speed.value = String(player.speed);
  }

  #name() {
    fill(this.#play, icon(player.playing ? "pause" : "play"), t(player.playing ? "time.pause" : "time.play"));
  }
}
