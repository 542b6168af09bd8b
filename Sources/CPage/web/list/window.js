import { h, rem } from "../ui/dom.js";
import { Row } from "./row.js";

/** @typedef {import("../types.js").Quake} Quake */

/** Rows above and below what is seen, so that scrolling shows no gap. */
const overscan = 6;
/** However tall the window is, the page has no more rows than this. */
const mostRows = 90;
/** A frame that fills this many rows fills no more than are seen. */
const fewRows = 8;
/** A row of which only these pixels are seen counts as scrolled past. */
const sliver = 8;
/** The height of a row in style/tokens.css in rem, for a browser that has not loaded it yet. */
const usualHeight = 3.25;

/** The part of the list that is seen: a few rows that are used again and again while the list is scrolled. */
export class ListWindow {
  /** @type {Quake[]} */
  items = [];
  /** @type {Row[]} */
  #rows = [];
  #space = h("div", { class: "space", role: "presentation" });
  #rowHeight = rem(usualHeight);
  #frame = 0;
  // Asking the browser for these while rows change makes it lay out the page each time.
  #top = 0;
  #height = 0;
  /**
   * The first event that is seen. It is remembered, since the list of the store changes in place.
   * @type {string | null}
   */
  #anchor = null;
  #scroller;
  #mark;
  #state;

  /**
   * @param {HTMLElement} scroller
   * @param {(code: string) => import("./row.js").Mark | undefined} mark
   * @param {(row: Row) => { active: boolean, selected: boolean, checked: boolean | null }} state
   */
  constructor(scroller, mark, state) {
    this.#scroller = scroller;
    this.#mark = mark;
    this.#state = state;
    scroller.append(this.#space);
    scroller.addEventListener("scroll", () => {
      this.#top = scroller.scrollTop;
      this.schedule();
    }, { passive: true });
    this.#height = scroller.clientHeight;
    new ResizeObserver(() => {
      const height = getComputedStyle(scroller).getPropertyValue("--row");
      this.#rowHeight = rem(Number.parseFloat(height) || usualHeight);
      this.#height = scroller.clientHeight;
      this.schedule();
    }).observe(scroller);
  }

  /** The index of the first row that is seen. */
  get first() {
    return Math.max(0, Math.floor((this.#top + sliver) / this.#rowHeight));
  }

  /** How many rows are seen at once. */
  get page() {
    return Math.max(1, Math.floor(this.#height / this.#rowHeight));
  }

  /** Whether the beginning of the list is seen. */
  get atTop() {
    return this.#top < sliver;
  }

  /** @returns {Iterable<Row>} */
  rows() {
    return this.#rows;
  }

  /**
   * Shows another list. What the person reads stays where it is, unless the top is seen.
   * @param {Quake[]} items
   * @param {boolean} hold
   */
  setItems(items, hold) {
    const anchor = hold && !this.atTop ? this.#anchor : null;
    const near = this.first;
    const offset = this.#top - near * this.#rowHeight;
    const { length } = items;
    if (length !== this.items.length) this.#space.style.height = `calc(var(--row) * ${length})`;
    this.items = items;
    if (anchor !== null) {
      const index = this.indexOf(anchor, near);
      if (index >= 0) {
        const top = index * this.#rowHeight + offset;
        if (Math.abs(top - this.#top) >= 1) this.scrollTo(top);
      }
    }
    this.draw();
  }

  /**
   * @param {string} code
   * @param {number} [near] where it probably is: the search begins there and goes both ways
   * @returns {number} the index, or -1
   */
  indexOf(code, near = 0) {
    const { items } = this;
    let down = Math.min(near, items.length - 1);
    let up = down + 1;
    for (; down >= 0 || up < items.length; down -= 1, up += 1) {
      if (down >= 0 && items[down].code === code) return down;
      if (up < items.length && items[up].code === code) return up;
    }
    return -1;
  }

  /** @param {number} index the row is scrolled into view, no further than needed */
  reveal(index) {
    const top = index * this.#rowHeight;
    const bottom = top + this.#rowHeight;
    if (top < this.#top) this.scrollTo(top);
    else if (bottom > this.#top + this.#height) this.scrollTo(bottom - this.#height);
    this.draw();
  }

  /** @param {number} top in pixels */
  scrollTo(top) {
    this.#scroller.scrollTop = top;
    this.#top = this.#scroller.scrollTop;
  }

  /** Draws in the next frame. */
  schedule() {
    this.#frame ||= requestAnimationFrame(() => this.draw());
  }

  /**
   * Draws the rows that are seen. An event keeps its row while it is near, also when its index changes.
   * While the list is scrolled fast, the rows beyond what is seen wait for a frame that has less to do.
   */
  draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const top = Math.floor(this.#top / this.#rowHeight);
    const bottom = top + Math.ceil(this.#height / this.#rowHeight) + 1;
    this.#setRowCount(Math.min(mostRows, bottom - top + 2 * overscan));
    const from = Math.max(0, top - overscan);
    const to = Math.min(this.items.length, from + this.#rows.length);
    /** @type {Map<string, number>} */
    const missing = new Map();
    for (let index = from; index < to; index += 1) missing.set(this.items[index].code, index);
    const free = [];
    for (const row of this.#rows) {
      const code = row.quake?.code ?? "";
      const index = missing.get(code);
      if (index === undefined) free.push(row);
      else {
        missing.delete(code);
        this.#show(row, index);
      }
    }
    const indexes = [...missing.values()];
    const seen = indexes.filter((index) => index >= top && index < bottom);
    const beyond = indexes.filter((index) => index < top || index >= bottom);
    const now = seen.concat(beyond.slice(0, Math.max(0, fewRows - seen.length)));
    for (const index of now) this.#show(/** @type {Row} */ (free.pop()), index);
    const waits = now.length < missing.size;
    for (const row of free) {
      if (waits) row.moveAway();
      else row.clear();
    }
    if (waits) this.schedule();
    this.#anchor = this.items[this.first]?.code ?? null;
  }

  /**
   * @param {Row} row
   * @param {number} index
   */
  #show(row, index) {
    const quake = this.items[index];
    const place = { index, size: this.items.length, top: index * this.#rowHeight };
    row.show(quake, place, this.#mark(quake.code));
    row.setState(this.#state(row));
  }

  /**
   * @param {string} code
   * @returns {number} the index of an event that has a row, or -1
   */
  drawnAt(code) {
    return this.#rows.find(({ quake }) => quake?.code === code)?.index ?? -1;
  }

  /** @param {number} count */
  #setRowCount(count) {
    while (this.#rows.length < count) {
      const row = new Row(this.#rows.length);
      this.#rows.push(row);
      this.#space.append(row.element);
    }
    while (this.#rows.length > count) this.#rows.pop()?.element.remove();
  }
}
