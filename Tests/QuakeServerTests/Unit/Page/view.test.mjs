import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { load, quake } from "./page.mjs";

const { defaultView, duration, formatView, parseAddress, view } = await load("state/view.js");
const { direction, distance, filter } = await load("data/quake-set.js");

const now = quake().time + 60_000;
/** Whether a view with these values includes an event. */
const passes = (values, event) => filter({ ...defaultView, period: "all", ...values }, null, now)(quake(event));

test("an address and the view that it stands for are each other's opposite", () => {
  for (const query of [
    "min-magnitude=4.5&max-depth=20", "bbox=100,-60,-100,0", "within=3000:-15,170", "type=explosion,quarry+blast",
    "last=30d&sort=magnitude:desc", "search=fiji&color=depth", "from=2026-11-10T00:00:00Z&to=2026-11-12T06:00:00Z",
    "selected=us12&as-of=1042.9f3ac2d1", "from=1970-01-01&to=2024-02-29",
  ]) {
    const { view, ignored } = parseAddress(`?${query}`);
    assert.deepEqual(ignored, [], query);
    assert.deepEqual(parseAddress(`?${formatView(view)}`).view, view, query);
  }
  assert.equal(formatView(defaultView), "");
});

test("what is not valid in an address is named and left out", () => {
  const { view, ignored } = parseAddress(
    "?min-magnitude=abc&max-depth=1e999&bbox=1,2,3&within=5&from=never&sort=__proto__&color=none&last=0d&what=1");
  assert.deepEqual(ignored.sort(), [
    "bbox", "color", "from", "last", "max-depth", "min-magnitude", "sort", "what", "within",
  ]);
  assert.deepEqual(view, defaultView);
  for (const query of [
    "from=2026-02-30", "to=2025-02-29T10:00", "sort=magnitude:sideways", "sort=magnitude:desc,time:asc", "map-only=maybe",
  ]) {
    const [name] = query.split("=");
    assert.deepEqual(parseAddress(`?${query}`), { view: defaultView, ignored: [name] }, query);
  }
  for (const query of ["map-only", "map-only=true", "map-only=1"]) assert.ok(parseAddress(`?${query}`).view.mapOnly);
  for (const query of ["map-only=false", "map-only=0"]) assert.deepEqual(parseAddress(`?${query}`).view, defaultView);
});

test("a view has one address", () => {
  for (const [query, address] of [
    // Half of a character at the limit of a search.
    [`search=${"a".repeat(199)}🌋`, `search=${"a".repeat(199)}`],
    ["last=24h", "last=1d"],
    ["last=48000m&min_magnitude=3", "last=48000m&min-magnitude=3"],
    ["within=3000:-15,170&last=all", "within=3000:-15,170"],
    ["type=explosion&type=quarry+blast", "type=explosion,quarry+blast"],
  ]) {
    assert.equal(formatView(parseAddress(`?${query}`).view), address, query);
  }
});

test("the first view has a week, and a question is about all times", () => {
  assert.equal(parseAddress("").view.period, "7d");
  assert.equal(parseAddress("?min-magnitude=6").view.period, "all");
  assert.equal(duration("90m"), 90 * 60_000);
  assert.equal(duration("all"), Infinity);
});

test("limits include their values, and no event that lacks the value", () => {
  assert.ok(passes({ minMagnitude: 5, maxMagnitude: 5 }));
  assert.ok(!passes({ minMagnitude: 5.1 }));
  assert.ok(!passes({ maxMagnitude: 9 }, { magnitude: null }));
  assert.ok(!passes({ minDepth: -10 }, { depth: null }));
  assert.ok(passes({ period: "1h" }) && !passes({ period: "1h" }, { time: now - 3_600_001 }));
  assert.ok(!passes({ to: quake().time }) && passes({ from: quake().time }));
});

test("a type is found in any spelling, as the server finds it", () => {
  for (const type of ["quarry blast", "Quarry_Blast", "QUARRY BLAST"]) {
    for (const asked of ["quarry blast", "Quarry_Blast", "quarry-blast", "quarry"]) {
      assert.ok(passes({ types: ["explosion", asked] }, { type }), `${asked}: ${type}`);
    }
    assert.ok(!passes({ types: ["explosion"] }, { type }));
  }
  assert.ok(passes({ types: ["any"] }, { type: "" }) && !passes({ types: ["earthquake"] }, { type: "" }));
  const server = new URL("../../../../Sources/QuakeModel/Event/EventTypes.swift", import.meta.url);
  const synonyms = [...readFileSync(server, "utf8").matchAll(/\("([a-z ]+)", "([a-z ]+)"\)/g)];
  assert.ok(synonyms.length > 20);
  for (const [, asked, type] of synonyms) assert.ok(passes({ types: [asked] }, { type }), `${asked}: ${type}`);
});

test("a box may cross the antimeridian", () => {
  const box = [170, -60, -170, 60];
  assert.ok(passes({ box }, { longitude: 175, latitude: 0 }));
  assert.ok(passes({ box }, { longitude: -175, latitude: 0 }));
  assert.ok(!passes({ box }, { longitude: 0, latitude: 0 }));
  assert.ok(!passes({ box }, { longitude: null, latitude: null }));
});

test("a circle has the distance of the server", () => {
  const [tokyo, osaka] = [{ latitude: 35.68, longitude: 139.69 }, { latitude: 34.69, longitude: 135.5 }];
  assert.ok(Math.abs(distance(tokyo, osaka) - 396.6) < 2, `${distance(tokyo, osaka)}`);
  assert.equal(direction(tokyo, osaka), "w");
  assert.equal(distance(tokyo, tokyo), 0);
  assert.ok(passes({ within: [10, 35.7, 139.7] }) && !passes({ within: [10, -35.7, 139.7] }));
});

test("a search finds words in any order, without accents", () => {
  const place = { place: "6 km SSW of Pāhala, Hawaii" };
  assert.ok(passes({ text: "hawaii pahala" }, place));
  assert.ok(passes({ text: "us1" }, place));
  assert.ok(!passes({ text: "fiji" }, place));
});

test("Back from an event leads to the filters that were set just before it was opened", () => {
  const addresses = ["/"];
  Object.assign(globalThis, {
    location: { pathname: "/", hash: "" },
    history: {
      pushState: (_, __, address) => addresses.push(address),
      replaceState: (_, __, address) => addresses.splice(-1, 1, address),
    },
  });
  view.set({ minMagnitude: 4 });
  view.set({ selected: "us1" });
  assert.deepEqual(addresses, ["/?last=7d&min-magnitude=4", "/?last=7d&min-magnitude=4&selected=us1"]);
  view.set({ selected: "us2" });
  assert.equal(addresses.length, 2);
});
