import { equalQuakes } from "../api/answers.js";
import { duration, view } from "../state/view.js";
import { order, SortedList, sortInParts } from "./order.js";

/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Box} Box */
/** @typedef {import("../types.js").Circle} Circle */
/** @typedef {import("../types.js").Changes} Changes */

/** The mean radius of the earth, in km. */
export const earthRadius = 6371.0088;
/** In radians. */
const degree = Math.PI / 180;

/** @typedef {{ longitude: number, latitude: number }} Position */

/**
 * Computed as the server does, operation by operation, so that both find the same events within a circle.
 * @param {Position} a
 * @param {Position} b
 * @returns {number} kilometres along the great circle
 */
export function distance(a, b) {
  const [latitude, toLatitude] = [whole(a.latitude), whole(b.latitude)];
  const north = Math.sin(((toLatitude - latitude) * degree) / 2);
  const east = Math.sin(((whole(b.longitude) - whole(a.longitude)) * degree) / 2);
  const share = north * north + Math.cos(latitude * degree) * Math.cos(toLatitude * degree) * east * east;
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(share)));
}

/** @param {number} degrees @returns {number} without the digits that a sum with 1 cannot hold */
function whole(degrees) {
  return degrees + 1 - 1;
}

const directions = /** @type {const} */ (["n", "ne", "e", "se", "s", "sw", "w", "nw"]);

/**
 * @param {Position} a
 * @param {Position} b
 * @returns {typeof directions[number]} in which of eight directions b lies from a
 */
export function direction(a, b) {
  const east = (b.longitude - a.longitude) * degree;
  const y = Math.sin(east) * Math.cos(b.latitude * degree);
  const x = Math.cos(a.latitude * degree) * Math.sin(b.latitude * degree)
    - Math.sin(a.latitude * degree) * Math.cos(b.latitude * degree) * Math.cos(east);
  return directions[Math.round((Math.atan2(y, x) / degree + 360) / 45) % 8];
}

/** @param {string} text @returns {string} in small letters and without accents: "pahala" finds Pāhala */
function folded(text) {
  const small = text.toLowerCase();
  return /[^ -~]/.test(small) ? small.normalize("NFD").replace(/\p{M}+/gu, "") : small;
}

/**
 * @param {Readonly<View>} view
 * @param {Box|null} bounds the part of the earth that the map shows
 * @param {number} now ms: the present, or the point that is looked back to
 * @returns {(quake: Quake) => boolean} whether the view includes an event; events without a value that is
 *   limited are not included
 */
export function filter(view, bounds, now) {
  const oldest = Math.max(view.from ?? -Infinity, now - duration(view.period));
  const end = view.to ?? Infinity;
  const { minMagnitude, maxMagnitude, minDepth, maxDepth } = view;
  const isWanted = isOfType(view.types);
  const networks = view.networks.length > 0 ? new Set(view.networks) : null;
  const words = folded(view.text).split(/\s+/).filter(Boolean);
  const areas = [isIn(view.box), isIn(view.mapOnly ? bounds : null), isNear(view.within)]
    .flatMap((area) => area ?? []);
  return (quake) => {
    if (quake.time < oldest || quake.time >= end) return false;
    if (minMagnitude !== null && !(quake.magnitude !== null && quake.magnitude >= minMagnitude)) return false;
    if (maxMagnitude !== null && !(quake.magnitude !== null && quake.magnitude <= maxMagnitude)) return false;
    if (minDepth !== null && !(quake.depth !== null && quake.depth >= minDepth)) return false;
    if (maxDepth !== null && !(quake.depth !== null && quake.depth <= maxDepth)) return false;
    if (isWanted && !isWanted(quake.type)) return false;
    if (networks && !networks.has(quake.network)) return false;
    for (const area of areas) if (!area(quake)) return false;
    if (words.length === 0) return true;
    const text = folded(`${quake.place} ${quake.code}`);
    return words.every((word) => text.includes(word));
  };
}

/**
 * Other words for types of events, as the server reads them (`EventTypes.swift`).
 * @type {Record<string, string>}
 */
const synonyms = {
  eq: "earthquake", quarry: "quarry blast", blast: "explosion", icequake: "ice quake", other: "other event",
  "mine blast": "mining explosion", mining: "mining explosion", unknown: "not reported",
  anthropogenic: "anthropogenic event", chemical: "chemical explosion", nuclear: "nuclear explosion",
  induced: "induced or triggered event", "induced earthquake": "induced or triggered event",
  rockburst: "rock burst", sonicboom: "sonic boom", acoustic: "acoustic noise", "rock slide": "rockslide",
  meteor: "meteorite", "meteor impact": "meteorite", volcano: "volcanic eruption",
  volcanic: "volcanic eruption",
};

/** @param {string} type in any spelling, such as Quarry_Blast @returns {string} one word for all of them */
function typeWord(type) {
  const plain = type.toLowerCase().split(/[ _-]/).filter(Boolean).join(" ");
  return Object.hasOwn(synonyms, plain) ? synonyms[plain] : plain;
}

/** @param {readonly string[]} types @returns {((type: string) => boolean)|null} null: every type passes */
function isOfType(types) {
  if (types.length === 0 || types.includes("any")) return null;
  const words = new Set(types.map(typeWord));
  // Most events have one of a few types.
  /** @type {Map<string, boolean>} */
  const known = new Map();
  return (type) => {
    let passes = known.get(type);
    if (passes === undefined) known.set(type, passes = type !== "" && words.has(typeWord(type)));
    return passes;
  };
}

/** @param {Box|null} box @returns {((quake: Quake) => boolean)|null} */
function isIn(box) {
  if (!box) return null;
  const [west, south, east, north] = box;
  if (west <= east) {
    return ({ longitude, latitude }) => latitude !== null && longitude !== null &&
      latitude >= south && latitude <= north && longitude >= west && longitude <= east;
  }
  return ({ longitude, latitude }) => latitude !== null && longitude !== null &&
    latitude >= south && latitude <= north && (longitude >= west || longitude <= east);
}

/** @param {Circle|null} circle @returns {((quake: Quake) => boolean)|null} */
function isNear(circle) {
  if (!circle) return null;
  const [km, latitude, longitude] = circle;
  const centre = { latitude, longitude };
  return (quake) => quake.latitude !== null && quake.longitude !== null &&
    distance(centre, { latitude: quake.latitude, longitude: quake.longitude }) <= km;
}

/** More events than this are sorted in parts. */
const many = 3000;

/** A set of events, and those of it that the view shows, in its order. A change costs no sort of all. */
export class QuakeSet {
  /** @type {Map<string, Quake>} */
  #quakes = new Map();
  /** @type {Quake[]|null} */
  #all = null;
  /** All events in the order of the view, so that another filter needs one pass. */
  #sorted = new SortedList();
  #shown = new SortedList();
  #compare = order(view.get());
  /** @type {AbortController|null} */
  #sorting = null;
  /** @type {{removed: Quake[], added: Quake[]}[]} changes since the sort began */
  #meanwhile = [];
  /** Fulfilled when the events are in order. @type {Promise<void>} */
  ordered = Promise.resolve();

  /**
   * @param {() => number} now
   * @param {() => void} shownChanged
   */
  constructor(now, shownChanged) {
    this.now = now;
    this.shownChanged = shownChanged;
  }

  get size() {
    return this.#quakes.size;
  }

  /** @param {string} code */
  get(code) {
    return this.#quakes.get(code);
  }

  /** @returns {IterableIterator<string>} */
  codes() {
    return this.#quakes.keys();
  }

  /** @returns {readonly Quake[]} */
  all() {
    this.#all ??= [...this.#quakes.values()];
    return this.#all;
  }

  /** @returns {readonly Quake[]} */
  shown() {
    return this.#shown.items;
  }

  /**
   * @param {ReadonlyMap<string, Quake|null>} batch events by code; null: it is gone
   * @param {boolean} live
   * @returns {Changes|null} what is different now
   */
  apply(batch, live) {
    /** @type {Changes} */
    const changes = { kind: "changes", inserted: [], updated: [], deleted: [], live };
    for (const [code, after] of batch) {
      const before = this.#quakes.get(code);
      if (after === null) {
        if (!before) continue;
        this.#quakes.delete(code);
        changes.deleted.push(before);
      } else {
        if (before && equalQuakes(before, after)) continue;
        this.#quakes.set(code, after);
        if (before) changes.updated.push({ before, after });
        else changes.inserted.push(after);
      }
    }
    const { inserted, updated, deleted } = changes;
    if (inserted.length + updated.length + deleted.length === 0) return null;
    this.#all = null;
    const removed = [...deleted, ...updated.map(({ before }) => before)];
    const added = [...inserted, ...updated.map(({ after }) => after)];
    if (added.length > many) this.#sort();
    else this.#place(removed, added);
    return changes;
  }

  /** The order of the view changed. */
  reorder() {
    this.#sort();
  }

  /** The filter of the view changed, or time has passed. */
  refilter() {
    this.#shown.items = this.#sorted.items.filter(this.#filter());
    this.shownChanged();
  }

  /** Removes events that are older than the period of the view by now. */
  age() {
    const passes = this.#filter();
    if (this.#shown.items.every(passes)) return;
    this.#shown.items = this.#shown.items.filter(passes);
    this.shownChanged();
  }

  /** @param {Quake[]} removed @param {Quake[]} added */
  #place(removed, added) {
    if (this.#sorting) this.#meanwhile.push({ removed, added });
    this.#sorted.change(removed, added, this.#compare);
    if (this.#shown.change(removed, added.filter(this.#filter()), this.#compare)) this.shownChanged();
  }

  #sort() {
    this.#sorting?.abort();
    this.#meanwhile = [];
    const compare = order(view.get());
    if (this.size <= many) {
      this.#sorting = null;
      this.#ordered([...this.all()].sort(compare), compare);
      return;
    }
    const sorting = new AbortController();
    this.#sorting = sorting;
    this.ordered = sortInParts(this.all(), compare, sorting.signal).then((sorted) => {
      if (sorted === null || sorting.signal.aborted) return;
      this.#sorting = null;
      this.#ordered(sorted, compare);
    });
  }

  /** @param {Quake[]} sorted @param {(a: Quake, b: Quake) => number} compare */
  #ordered(sorted, compare) {
    this.#compare = compare;
    this.#sorted.items = sorted;
    for (const { removed, added } of this.#meanwhile) this.#sorted.change(removed, added, compare);
    this.#meanwhile = [];
    this.refilter();
  }

  #filter() {
    return filter(view.get(), view.bounds(), this.now());
  }
}
