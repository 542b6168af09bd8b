import { view } from "../state/view.js";

/** @typedef {import("../types.js").Change} Change */
/** @typedef {import("../marks/trail.js").Revision} Revision */

/** The history of an event has no limit of its own; the newest revisions count. */
const most = 200;

/**
 * Tells the map where the open event is, which the list need not have.
 * @param {import("../types.js").Quake|null} quake
 */
export function tellOpened(quake) {
  view.dispatchEvent(new CustomEvent("opened", { detail: quake }));
}

/**
 * Tells the map where the revisions of the open event had its epicentre.
 * @param {Change[]} versions oldest first; empty: no event is open
 */
export function tellTrail(versions) {
  /** @type {Revision[]} */
  const trail = [];
  for (const version of versions) {
    const event = version.new;
    if (!event || event.longitude === null || event.latitude === null) continue;
    const last = trail.at(-1);
    if (last && last.longitude === event.longitude && last.latitude === event.latitude) continue;
    trail.push({ longitude: event.longitude, latitude: event.latitude, magnitude: event.magnitude });
  }
  view.dispatchEvent(new CustomEvent("trail", { detail: trail.slice(-most) }));
}
