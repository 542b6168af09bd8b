import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./page.mjs";

/** What the modules of a tab need of its page. @type {any} */
const scope = globalThis;
scope.document = Object.assign(new EventTarget(), { hidden: false });
scope.location = { search: "?from=2026-11-01&to=2026-11-10", pathname: "/", hash: "" };
scope.requestAnimationFrame = (/** @type {() => void} */ action) => setTimeout(action);
scope.cancelAnimationFrame = clearTimeout;
scope.addEventListener = () => {};

/** The events of the server. @type {any[][]} */
let rows = [];
scope.fetch = async () => new Response(JSON.stringify({
  token: "7.9f3ac2d1", time: 0, columns: (await load("api/answers.js")).columns, rows: [],
}).replace("[]}", () => `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]}`));

const row = (/** @type {string} */ code, /** @type {number} */ magnitude) => [
  code, Date.UTC(2026, 10, 5), 0, 1, 2, 3, magnitude, "mb", "Fiji", "earthquake", "reviewed", false, null, null, 0, "us",
];

const { store } = await load("data/store.js");
const { connection } = await load("data/connection.js");
const { selecting } = await load("data/selecting.js");
const { Selection } = await load("live/selection.js");

/** Waits until the store shows these events. */
async function shows(/** @type {string[]} */ codes) {
  const shown = () => store.shown().map(({ code }) => code);
  for (const end = Date.now() + 10_000; String(shown()) !== String(codes) && Date.now() < end;) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.deepEqual(shown(), codes);
}

/** Begins a tab whose view the server answers. @returns {any} what the worker has for it */
function begin() {
  /** @type {(message: any) => void} */
  let receive = () => {};
  connection.onAnswer = (/** @type {(message: any) => void} */ taker) => {
    receive = taker;
  };
  const worker = new Selection((/** @type {any} */ message) => receive(structuredClone(message)));
  connection.send = (/** @type {any} */ message) => {
    if (message.type === "select") void worker.go(message.id, message.query, 100_000);
  };
  selecting.start();
  return worker;
}

test("a list that the server selected is read anew after the history was lost", async () => {
  rows = [row("us1", 5), row("us2", 6), row("us3", 4)];
  const worker = begin();
  await shows(["us1", "us2", "us3"]);
  rows = [row("us2", 6.5), row("us3", 4)];
  worker.again(100_000);
  await shows(["us2", "us3"]);
  assert.equal(store.get("us2").magnitude, 6.5);
});
