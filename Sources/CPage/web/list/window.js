import { store } from "../data/store.js";
import { view } from "../state/view.js";
import { format, t } from "../text/text.js";
import { h, rem, setText } from "../ui/dom.js";
import { badges, colorOf, magnitudeSize, sentence } from "../ui/sign.js";

/** @typedef {import("../types.js").Quake} Quake */

/** @typedef {{ kind: "new" | "changed" | "deleted", text: string, started: number }} Mark */

/** A relative time of more than a week tells less than the date. */
const relativeUpTo = 7 * 86_400_000;

/** A row of the list. It is made once and shows one event after the other while the list is scrolled. */
class Row {
  /** @type {Quake | null} */
  quake = null;
  index = -1;
  /** @type {Mark | undefined} */
  #mark;
  #size = -1;
  #top = -1;
  #state = "";
  #color = "";
  #dot = h("i", { class: "dot" });
  #magnitude = h("span", { class: "magnitude" });
  #type = h("span", { class: "magnitude-type" });
  #place = h("span", { class: "place", dir: "auto" });
  #time = h("time", {});
  #notes = h("span", { class: "notes" });
  #tick = h("span", { class: "tick", "aria-hidden": "true" });

  /** @param {number} number of the row within the list */
  constructor(number) {
    this.element = h(
      "div", { class: "row", role: "option", id: `row-${number}`, hidden: true },
      this.#tick, this.#dot, h("span", { class: "measure" }, this.#magnitude, this.#type), this.#place,
      h("span", { class: "facts" }, this.#notes, this.#time),
    );
  }

  /** @returns {HTMLTimeElement} */
  get time() {
    return this.#time;
  }

  /**
   * @param {Quake} quake
   * @param {{ index: number, size: number, top: number }} place in a list of this size; the top is in pixels
   * @param {Mark | undefined} mark what just happened to the event
   */
  show(quake, { index, size, top }, mark) {
    if (index !== this.index) this.element.setAttribute("aria-posinset", String(index + 1));
    if (size !== this.#size) this.element.setAttribute("aria-setsize", String(size));
    if (top !== this.#top) this.element.style.transform = `translateY(${top}px)`;
    this.index = index;
    this.#size = size;
    this.#top = top;
    if (quake === this.quake && mark === this.#mark) return;
    this.element.hidden = false;
    this.quake = quake;
    this.#mark = mark;
    this.element.dataset.code = quake.code;
    this.#fill(quake, mark);
    this.#writeTime(quake);
  }

  /** Shows nothing. */
  clear() {
    this.quake = null;
    this.element.hidden = true;
    delete this.element.dataset.code;
  }

  /** Shows nothing for a moment: to hide and to show it again would take longer than to fill it. */
  moveAway() {
    this.quake = null;
    this.#top = -1;
    this.element.style.transform = "translateY(-100px)";
    delete this.element.dataset.code;
  }

  /**
   * @param {Quake} quake
   * @param {Mark | undefined} mark
   */
  #fill(quake, mark) {
    const size = `${Math.round(magnitudeSize(quake.magnitude))}px`;
    this.#dot.style.width = size;
    this.#dot.style.height = size;
    this.#color = "";
    this.updateColor();
    setText(this.#magnitude, format.magnitude(quake));
    this.#magnitude.classList.toggle("strong", (quake.magnitude ?? 0) >= 5);
    setText(this.#type, quake.magnitude === null ? "" : quake.magnitudeType ?? "");
    setText(this.#place, quake.place || t("place.unknown"));
    this.#state = "";
    this.element.className = mark ? `row ${mark.kind}` : "row";
    if (mark) this.element.style.setProperty("--age", `${mark.started - performance.now()}ms`);
    const notes = badges(quake).map(({ text, kind }) => ({ text, kind: `badge ${kind}` }));
    notes.unshift({ text: format.depth(quake.depth), kind: "depth" });
    if (mark) notes.unshift({ text: mark.text, kind: "badge mark" });
    this.#setNotes(notes);
  }

  /**
   * Uses the elements that are there again: making one takes longer than changing it.
   * @param {{ text: string, kind: string }[]} notes
   */
  #setNotes(notes) {
    const { children } = this.#notes;
    while (children.length > notes.length) children[notes.length].remove();
    while (children.length < notes.length) this.#notes.append(h("span"));
    for (const [number, { text, kind }] of notes.entries()) {
      const note = children[number];
      if (note.className !== kind) note.className = kind;
      setText(note, text);
    }
  }

  /** Shows the colour of the event on the scale of the view: its age grows. */
  updateColor() {
    if (!this.quake) return;
    const color = colorOf(this.quake, view.get().color, store.now());
    if (color !== this.#color) this.#dot.style.backgroundColor = color;
    this.#color = color;
  }

  /** Writes the relative time, which grows. */
  updateTime() {
    this.updateColor();
    if (this.quake && this.#time.textContent !== timeText(this.quake)) this.#writeTime(this.quake);
  }

  /** @param {Quake} quake */
  #writeTime(quake) {
    setText(this.#time, timeText(quake));
    this.#time.dateTime = new Date(quake.time).toISOString();
    const mark = this.#mark ? `${this.#mark.text}: ` : "";
    this.element.setAttribute("aria-label", mark + sentence(quake));
  }

  /**
   * @param {{ active: boolean, selected: boolean, checked: boolean | null }} state `checked` is null when
   *   nothing can be marked for an edit
   */
  setState({ active, selected, checked }) {
    const state = `${active} ${selected} ${checked}`;
    if (state === this.#state) return;
    this.#state = state;
    const { classList } = this.element;
    classList.toggle("active", active);
    classList.toggle("selected", selected);
    classList.toggle("checked", checked === true);
    this.element.setAttribute("aria-selected", String(checked ?? selected));
  }
}

/** @param {Quake} quake */
function timeText({ time }) {
  const now = store.now();
  return now - time < relativeUpTo ? format.relative(time, now) : format.date(time);
}

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
   * @param {(code: string) => Mark | undefined} mark
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
   */
  setItems(items) {
    const anchor = !this.atTop ? this.#anchor : null;
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
    /** @type {Set<Element>} */
    const kept = new Set();
    for (const row of this.#rows) {
      const code = row.quake?.code ?? "";
      const index = missing.get(code);
      if (index === undefined) free.push(row);
      else {
        missing.delete(code);
        this.#show(row, index);
        kept.add(row.element);
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
    this.#arrange(kept);
    if (waits) this.schedule();
    this.#anchor = this.items[this.first]?.code ?? null;
  }

  /**
   * Gives the elements the order of the list, in which a reader of the screen goes through them.
   * @param {ReadonlySet<Element>} kept those of rows that show the same events as before: they stay in place
   */
  #arrange(kept) {
    const shown = this.#rows.filter(({ quake }) => quake !== null).sort((a, b) => a.index - b.index);
    let next = this.#space.firstElementChild;
    for (const { element } of shown) {
      while (next && !kept.has(next)) next = next.nextElementSibling;
      if (element === next) next = next.nextElementSibling;
      else if (element.nextElementSibling !== next) this.#space.insertBefore(element, next);
    }
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
