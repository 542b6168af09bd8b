/** The page is free again after this long, in ms. */
const budget = 8;

/** Divides long work into parts, between which the page can draw and answer. */
export class Pace {
  #end = performance.now() + budget;

  /** Whether the part has taken long enough. */
  get isOver() {
    return performance.now() >= this.#end;
  }

  /** Lets the page do what is waiting, then begins the next part. */
  async pause() {
    await new Promise((resolve) => setTimeout(resolve));
    this.#end = performance.now() + budget;
  }
}
