import { view } from "../state/view.js";
import { journey } from "./journey.js";

/** So often the list moves on while the history is played. */
const interval = 200;

/** Plays the history. Its event "change" tells that it began or ended. */
class Player extends EventTarget {
  playing = false;
  /** Seconds of the history in a second. */
  speed = 3600;
  #position = 0;
  #last = 0;
  #timer = 0;

  constructor() {
    super();
    journey.addEventListener("failed", () => this.pause());
    view.addEventListener("change", () => {
      if (view.get().asOf === null) this.pause();
    });
  }

  /** Plays on from the point that is shown. */
  play() {
    if (this.playing || journey.time === null) return;
    this.playing = true;
    this.#position = journey.time;
    this.#last = performance.now();
    this.#timer = window.setInterval(() => this.#step(), interval);
    this.dispatchEvent(new CustomEvent("change"));
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    clearInterval(this.#timer);
    this.dispatchEvent(new CustomEvent("change"));
  }

  async #step() {
    const now = performance.now();
    if (journey.busy) return;
    // A page that was hidden, or a slow answer, must not make the history leap.
    const elapsed = Math.min(1, (now - this.#last) / 1000);
    this.#last = now;
    this.#position += elapsed * this.speed * 1000;
    if (journey.atEnd && this.#position >= Date.now()) {
      this.pause();
      view.set({ asOf: null });
      return;
    }
    await journey.advance(this.#position);
  }
}

/** The player of this page. */
export const player = new Player();
