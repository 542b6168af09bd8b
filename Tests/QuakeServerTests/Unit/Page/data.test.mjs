import assert from "node:assert/strict";
import test from "node:test";
import { load, quake } from "./page.mjs";

const { columns, isListed, milliseconds, quakeOfRow, rowOfRecord, transactionNumber } = await load("api/answers.js");
const { order, SortedList, sortInParts } = await load("data/order.js");
const projection = await load("painter/projection.js");

/** Numbers that are the same in each run. */
function* numbers(seed) {
  for (let state = seed; ;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state;
  }
}

const some = (count) => {
  const next = numbers(count);
  return Array.from({ length: count }, (_, index) => quake({
    code: `us${index}`, time: next.next().value % 1000, magnitude: index % 7 === 0 ? null : next.next().value % 70 / 10,
    depth: null, updated: index % 5 === 0 ? null : next.next().value % 1000, place: ["b", "a", "", "C"][index % 4],
  }));
};

test("a row of the table and a record of a change are the same event", () => {
  const record = {
    code: "us7", time: "2026-11-18T12:00:00.123456Z", updated: "2026-11-18T12:01:00.000Z", latitude: 1, longitude: 2,
    depth: 3, magnitude: 4, magnitude_type: "mb", place: null, type: "earthquake", status: "automatic",
    tsunami: false, alert: null, felt: 5, sig: 6, net: "us", withdrawn_at: null, superseded_by: null,
  };
  const row = rowOfRecord(record);
  assert.equal(row.length, columns.length);
  assert.equal(row[1], Date.UTC(2026, 10, 18, 12) + 123.456);
  const event = quakeOfRow(row);
  assert.equal(event.time, Date.UTC(2026, 10, 18, 12) + 123);
  assert.deepEqual([event.place, event.significance, event.network], ["", 6, "us"]);
  assert.equal(quakeOfRow(rowOfRecord({ ...record, updated: null })).updated, null);
  assert.ok(isListed(record) && !isListed(null) && !isListed({ ...record, superseded_by: "ci7" }));
  assert.equal(milliseconds(null), null);
  assert.equal(transactionNumber("1042.9f3ac2d1-7"), 1042);
});

test("an order is total, with events that lack the value last", () => {
  for (const sort of ["time", "magnitude", "depth", "place", "updated"]) {
    for (const descending of [true, false]) {
      const compare = order({ sort, descending });
      const sorted = some(100).sort(compare);
      for (let i = 1; i < sorted.length; i += 1) assert.ok(compare(sorted[i - 1], sorted[i]) < 0);
      const lacks = sorted.map((event) => [null, ""].includes(event[sort]));
      assert.deepEqual(lacks, [...lacks].sort(), `${sort} ${descending}`);
    }
  }
});

test("a list that changes is the sorted list", () => {
  const compare = order({ sort: "magnitude", descending: true });
  const list = new SortedList();
  const events = some(400);
  let held = [];
  for (const [remove, add] of [[0, 300], [3, 2], [150, 98], [1, 0], [246, 0]]) {
    const removed = held.slice(0, remove);
    const added = events.splice(0, add);
    held = [...held.slice(remove), ...added];
    assert.equal(list.change(removed, added, compare), remove + add > 0);
    assert.deepEqual(list.items, [...held].sort(compare));
  }
  assert.deepEqual(list.items, []);
});

test("a sort in parts is a sort, and can be given up", async () => {
  const compare = order({ sort: "time", descending: false });
  const events = some(9_000);
  assert.deepEqual(await sortInParts(events, compare, new AbortController().signal), [...events].sort(compare));
  assert.equal(await sortInParts(events, compare, AbortSignal.abort()), null);
  assert.deepEqual(await sortInParts([], compare, new AbortController().signal), []);
});

test("the projection and its inverse", () => {
  const { latitudeOf, longitudeOf, worldX, worldY } = projection;
  for (const latitude of [-85, -60, 0, 12.5, 85]) assert.ok(Math.abs(latitudeOf(worldY(latitude)) - latitude) < 1e-9);
  for (const longitude of [-180, -0.5, 0, 179.5]) {
    assert.ok(Math.abs(longitudeOf(worldX(longitude) + 3) - longitude) < 1e-9);
  }
  assert.equal(worldY(90), worldY(85.0511287798066));
  assert.ok(Math.abs(worldY(85.0511287798066)) < 1e-9);
});

test("sizes grow with the magnitude, in steps that a byte holds", () => {
  const { hiddenStep, radius, sizes, sizeStep, stepMagnitude } = projection;
  let last = 0;
  for (let magnitude = 1; magnitude <= 9; magnitude += 1) {
    assert.ok(radius(magnitude, 3) > last);
    last = radius(magnitude, 3);
    assert.equal(stepMagnitude(sizeStep(magnitude)), magnitude);
  }
  assert.equal(sizeStep(-3), 0);
  assert.equal(sizeStep(99), sizes - 1);
  assert.ok(sizes <= hiddenStep);
});

test("the lines of the graticule are a few at each zoom", () => {
  const { graticuleStep, worldPixels } = projection;
  for (let zoom = 0; zoom <= 12; zoom += 0.5) {
    const pixels = graticuleStep(zoom) / 360 * worldPixels(zoom);
    assert.ok(pixels >= 60 || graticuleStep(zoom) === 90, `${zoom}: ${pixels}`);
  }
});
