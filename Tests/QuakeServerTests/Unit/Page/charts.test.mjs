import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./page.mjs";

const { settings } = await load("state/settings.js");
const { timeTicks } = await load("charts/ticks.js");
settings.set({ utc: true });

test("a time axis has few ticks, however long its range is", () => {
  const to = Date.UTC(2026, 10, 29);
  for (const years of [0.001, 0.1, 1, 30, 90, 126, 426, 2025]) {
    for (const most of [4.1, 8, 20]) {
      const ticks = timeTicks(to - years * 366 * 86_400_000, to, most);
      assert.ok(ticks.length > 0 && ticks.length <= most + 1, `${years} years: ${ticks.length} ticks of ${most}`);
    }
  }
});

test("a tick with a month or a year is where it begins", () => {
  const to = Date.UTC(2026, 10, 29);
  const begins = (/** @type {number} */ days, /** @type {number} */ most) =>
    timeTicks(to - days * 86_400_000, to, most)
      .map(({ at, label }) => `${new Date(at).toISOString().slice(0, 16)} ${label}`);
  assert.deepEqual(begins(100, 4.3), ["2026-09-01T00:00 Sep 26", "2026-10-01T00:00 Oct 26", "2026-11-01T00:00 Nov 26"]);
  assert.deepEqual(begins(300, 4.3),
    ["2026-04-01T00:00 Apr 26", "2026-07-01T00:00 Jul 26", "2026-10-01T00:00 Oct 26"]);
  assert.deepEqual(begins(126 * 365, 4.3), ["1950-01-01T00:00 1950", "2000-01-01T00:00 2000"]);
  assert.deepEqual(begins(2000 * 365, 4.3).map((text) => text.slice(0, 10)),
    ["0500-01-01", "1000-01-01", "1500-01-01", "2000-01-01"]);
});
