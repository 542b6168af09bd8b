import assert from "node:assert/strict";
import test from "node:test";
import { load, quake } from "./page.mjs";

/** What the module finds of its page. @type {any} */
const scope = globalThis;
scope.document = Object.assign(new EventTarget(), { hidden: false });
scope.location = { search: "?as-of=2026-11-18T12:00:00Z", pathname: "/", hash: "" };
scope.matchMedia = () => new EventTarget();

/** @type {string[]} */
const shown = [];
scope.Notification = class extends EventTarget {
  static permission = "granted";

  /** @param {string} title */
  constructor(title) {
    super();
    shown.push(title);
  }
};

const { settings } = await load("state/settings.js");
const { store } = await load("data/store.js");
const { start } = await load("header/settings.js");

test("the strongest event of a pause is notified at its end, also while the past is shown", (context) => {
  /** @type {(() => void)[]} */
  const waiting = [];
  context.mock.method(scope, "setTimeout", (/** @type {() => void} */ action) => waiting.push(action));
  const insert = (/** @type {any[]} */ ...magnitudes) => store.apply(new Map(magnitudes.map((magnitude) => {
    const code = `us${magnitude}`;
    return [code, quake({ code, magnitude, place: "", time: Date.now() })];
  })), true);
  const pass = () => waiting.splice(0).forEach((action) => action());
  settings.set({ notifyAbove: 5 });
  start();
  insert(4.9);
  assert.equal(waiting.length, 0);
  insert(5.1, 5.3);
  pass();
  insert(5.2);
  insert(7.9, null);
  insert(6);
  assert.equal(waiting.length, 1);
  pass();
  pass();
  assert.deepEqual(shown.map((title) => title.slice(0, 5)), ["M 5.3", "M 7.9"]);
});
