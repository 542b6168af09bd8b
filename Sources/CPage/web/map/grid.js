/** The number of cells from west to east, and from north to south. */
const across = 512;

/**
 * Finds points near a place without looking at all of them: points by the cell of a grid over the world, made
 * with one counting sort.
 */
export class Grid {
  #first = new Uint32Array(across * across + 1);
  /** @type {Uint32Array} */
  #points;

  /** @param {Float32Array} xs @param {Float32Array} ys world coordinates from 0 to 1 */
  constructor(xs, ys) {
    const cells = new Uint32Array(xs.length);
    for (let i = 0; i < xs.length; i += 1) {
      const cell = cellOf(ys[i]) * across + cellOf(xs[i]);
      cells[i] = cell;
      this.#first[cell + 1] += 1;
    }
    for (let cell = 0; cell < across * across; cell += 1) this.#first[cell + 1] += this.#first[cell];
    const next = this.#first.slice();
    this.#points = new Uint32Array(xs.length);
    for (let i = 0; i < xs.length; i += 1) this.#points[next[cells[i]]++] = i;
  }

  /**
   * Calls back with each point of the cells that a square touches; the world wraps.
   * @param {number} x @param {number} y the middle @param {number} reach half the square's side
   * @param {(point: number) => void} found
   */
  near(x, y, reach, found) {
    const wrapped = x - Math.floor(x);
    const left = Math.floor((wrapped - reach) * across);
    const right = Math.min(left + across - 1, Math.floor((wrapped + reach) * across));
    const top = cellOf(y - reach);
    const bottom = cellOf(y + reach);
    for (let row = top; row <= bottom; row += 1) {
      for (let column = left; column <= right; column += 1) {
        const cell = row * across + ((column % across) + across) % across;
        for (let at = this.#first[cell]; at < this.#first[cell + 1]; at += 1) found(this.#points[at]);
      }
    }
  }
}

/** @param {number} value @returns {number} */
function cellOf(value) {
  return Math.max(0, Math.min(across - 1, Math.floor(value * across)));
}
