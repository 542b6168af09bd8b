// What modules of the page find of a browser when they are loaded here, and a short way to their addresses.

/** @type {any} */
const scope = globalThis;
Object.defineProperty(scope, "navigator", { value: { languages: ["en-US"] }, configurable: true });

// A clock of the page does not keep the tests from ending.
const { setInterval } = scope;
scope.setInterval = (/** @type {any[]} */ ...parameters) => setInterval(...parameters).unref();

/** @param {string} path of a module, such as state/view.js */
export const load = (path) => import(new URL(`../../../../Sources/CPage/web/${path}`, import.meta.url).href);

/** An event as the page holds it. */
export const quake = (values = {}) => ({
  code: "us1", time: Date.UTC(2026, 10, 18, 12), updated: 0, latitude: 35.7, longitude: 139.7, depth: 10,
  magnitude: 5, magnitudeType: "mw", place: "Near Tokyo", type: "earthquake", status: "reviewed", tsunami: false,
  alert: null, felt: null, significance: null, network: "us", ...values,
});
