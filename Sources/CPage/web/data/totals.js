import { view } from "../state/view.js";
import { api } from "./api.js";
import { queryOf } from "./query.js";
import { store } from "./store.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {{ earthquakes: number, others: number }} Counts others: events that are no earthquakes */

/** While changes arrive all the time, the server is asked this often. In ms. */
const interval = 15_000;
const rest = 250;

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
    const other = keyOfView() !== this.#asked;
    const wait = other ? rest : Math.max(rest, this.#last + interval - performance.now());
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
    } catch (error) {
      // The list says that there is no connection; the number comes with it.
      console.warn("/v1/stats", error);
    }
    this.#running = false;
    this.dispatchEvent(new CustomEvent("change"));
    if (keyOfView() !== key) this.#changed();
  }
}

/** @returns {string} */
function keyOfView() {
  const { selected, since, map, color, sort, descending, ...now } = view.get();
  return JSON.stringify([now, now.mapOnly ? view.bounds() : null]);
}

/** The numbers of this page. */
export const totals = new Totals();
