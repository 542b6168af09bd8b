import { ApiError } from "../api/answers.js";
import { view } from "../state/view.js";
import { api, isEmpty, orderOf, partOf, queryOf, reasonText } from "./api.js";
import { connection } from "./connection.js";
import { Feed } from "./feed.js";
import { filter } from "./quake-set.js";
import { filters, store } from "./store.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */

/** @typedef {{ earthquakes: number, others: number }} Counts others: events that are no earthquakes */

/** While changes arrive all the time, the server is asked this often. In ms. */
const interval = 15_000;
const answerPause = 250;

/** @param {string|null} type @returns {boolean} as the statistics of the server say */
export function isEarthquake(type) {
  return type === "earthquake" || !type || type.toLowerCase() === "earthquake";
}

/** @param {readonly Quake[]} quakes @returns {Counts} */
export function countsOf(quakes) {
  let earthquakes = 0;
  for (const { type } of quakes) if (isEarthquake(type)) earthquakes += 1;
  return { earthquakes, others: quakes.length - earthquakes };
}

/**
 * How many events the view selects: counted here if all of them are loaded, else by the server. Its event
 * "change" tells of another number.
 */
class Totals extends EventTarget {
  /** @type {Counts|null} */
  #served = null;
  /** The view that the server has counted. */
  #asked = "";
  #last = -Infinity;
  #failed = false;
  #running = false;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;

  /** Begins to follow the store; call it once. */
  start() {
    for (const event of ["shown", "loaded"]) store.addEventListener(event, () => this.#changed());
    this.#changed();
  }

  /** @returns {Counts|null} null while it is not known */
  get counts() {
    if (store.partial) return this.#asked === keyOfView() ? this.#served : null;
    return countsOf(store.shown());
  }

  /** @returns {number} how many events of the view are not loaded */
  get missing() {
    const { counts } = this;
    if (!counts || !store.partial) return 0;
    return Math.max(0, counts.earthquakes + counts.others - store.shown().length);
  }

  #changed() {
    if (!store.partial || !store.complete || this.#running || this.#timer !== undefined) return;
    const isNew = keyOfView() !== this.#asked && !this.#failed;
    const wait = isNew ? answerPause : Math.max(answerPause, this.#last + interval - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (store.partial && store.complete) void this.#ask();
    }, wait);
  }

  async #ask() {
    const key = keyOfView();
    this.#last = performance.now();
    this.#running = true;
    try {
      const { groups } = await api.stats({ by: "type", ...queryOf(view.get(), view.bounds(), store.now()) });
      const counts = { earthquakes: 0, others: 0 };
      for (const { key: type, count } of /** @type {{ key: string|null, count: number }[]} */ (groups)) {
        counts[isEarthquake(type) ? "earthquakes" : "others"] += count;
      }
      this.#served = counts;
      this.#asked = key;
      this.#failed = false;
    } catch (error) {
      // The list says whether there is no connection; the server is asked again after the interval.
      this.#failed = true;
      console.warn("/v1/stats", error);
    }
    this.#running = false;
    this.dispatchEvent(new CustomEvent("change"));
    if (keyOfView() !== this.#asked) this.#changed();
  }
}

/** @returns {string} */
function keyOfView() {
  const { selected, since, map, color, sort, descending, ...now } = view.get();
  return JSON.stringify([now, now.mapOnly ? view.bounds() : null]);
}

/** The numbers of this page. */
export const totals = new Totals();

/** A view that goes on changing, such as the map that is dragged, is asked for when it rests. In ms. */
const rest = 200;

/**
 * Asks the server for the events of the view where the loaded ones are not all of them: beyond the newest
 * 100,000, or in a range of times that lies before them. Its event "failed" has an ApiError.
 */
class Selecting extends EventTarget {
  #id = 0;
  /** The view that was asked for; "" for none. */
  #asked = "";
  /** Whether the store shows the answer. */
  #arrived = false;
  /** @type {Map<string, Quake|null>} */
  #batch = new Map();
  #feed = new Feed((batch, live) => this.#take(batch, live));
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;

  /** Begins to follow the view and the store; call it once. */
  start() {
    connection.onAnswer((message) => this.#receive(message));
    store.addEventListener("loaded", () => this.#decide());
    view.addEventListener("change", (event) => {
      const { changed } = /** @type {CustomEvent<{changed: Set<string>}>} */ (event).detail;
      const names = [...filters, "sort", "descending", "asOf", ...(view.get().mapOnly ? ["bounds"] : [])];
      if (names.some((name) => changed.has(name))) this.#decide();
    });
    this.#decide();
  }

  #decide() {
    const wanted = this.#wanted();
    if (wanted === this.#asked) {
      clearTimeout(this.#timer);
      // The server was about to be asked when all that the view selects arrived: nothing is awaited any more.
      if (wanted === "") this.#leave();
      else if (this.#arrived && store.served.keep()) store.servedChanged(false);
      return;
    }
    clearTimeout(this.#timer);
    if (wanted === "") {
      this.#asked = "";
      this.#arrived = false;
      this.#id += 1;
      this.#feed.clear();
      connection.send({ type: "unselect" });
      this.#leave();
      return;
    }
    this.#timer = setTimeout(() => this.#ask(), this.#asked === "" ? 0 : rest);
    if (store.served.waits) return;
    store.served.waits = true;
    store.servedChanged(false);
  }

  /** @returns {string} the view that the server has to answer; "" for none */
  #wanted() {
    const now = view.get();
    if (now.asOf !== null || isEmpty(now) || store.covered) return "";
    const hasRange = now.from !== null || now.to !== null;
    // A longer period is on its way, or the newest events are what the view asks for.
    if (!hasRange && (!store.truncated || (isOrderOfTable() && !isFiltered()))) return "";
    const { selected, since, map, color, asOf, ...selecting } = now;
    return JSON.stringify([selecting, now.mapOnly ? view.bounds() : null]);
  }

  #ask() {
    const wanted = this.#wanted();
    if (wanted === "" || wanted === this.#asked) return;
    const now = view.get();
    this.#asked = wanted;
    this.#id += 1;
    this.#arrived = false;
    this.#feed.clear();
    this.#batch = new Map();
    const query = new URLSearchParams(queryOf(now, view.bounds(), Date.now()));
    if (now.text !== "") query.set("place", partOf(now.text));
    query.set("sort", orderOf(now));
    connection.send({ type: "select", id: this.#id, query: query.toString() });
  }

  /** @param {WorkerMessage} message */
  #receive(message) {
    if (!("id" in message) || message.id !== this.#id) return;
    if (message.type === "selection") {
      const inner = message.message;
      if (inner.type === "rows") this.#feed.push({ rows: inner.rows, gone: [], live: false });
      else if (inner.type === "gone") this.#feed.push({ rows: "[]", gone: inner.codes, live: false });
      else if (inner.type === "changes") this.#feed.push(inner);
    } else if (message.type === "selected") {
      this.#feed.after(() => void this.#arrive(message.truncated));
    } else if (message.type === "reselecting") {
      // What is shown stays until all of the new answer is here.
      this.#feed.clear();
      this.#arrived = false;
      this.#batch = new Map();
    } else if (message.type === "unselected") {
      const problem = new ApiError(message.status, reasonText(message.title), message.detail);
      this.dispatchEvent(new CustomEvent("failed", { detail: problem }));
    }
  }

  /** @param {ReadonlyMap<string, Quake|null>} batch @param {boolean} live */
  #take(batch, live) {
    if (this.#arrived) store.applyServed(batch, live);
    else for (const [code, quake] of batch) this.#batch.set(code, quake);
  }

  /** The loaded events are all that the view selects. */
  #leave() {
    const { set, waits } = store.served;
    if (!set && !waits) return;
    store.served.leave();
    store.servedChanged(set !== null);
  }

  /** @param {boolean} truncated */
  async #arrive(truncated) {
    const batch = this.#batch;
    this.#batch = new Map();
    // The server finds places only, and with their accents: what the page finds among its own is added.
    if (view.get().text !== "") {
      for (const quake of store.live().filter(filter(view.get(), view.bounds(), Date.now()))) {
        if (!batch.has(quake.code)) batch.set(quake.code, quake);
      }
    }
    this.#arrived = true;
    if (await store.served.show(batch, truncated)) store.servedChanged(true);
  }
}

/** @returns {boolean} whether the view has the order in which a table without one arrives */
function isOrderOfTable() {
  const { sort, descending } = view.get();
  return sort === "time" && descending;
}

/** @returns {boolean} */
function isFiltered() {
  const { period, from, to, ...now } = view.get();
  return Object.keys(queryOf({ ...now, period: "all", from: null, to: null }, view.bounds(), 0)).length > 0;
}

/** The selection of this page. */
export const selecting = new Selecting();
