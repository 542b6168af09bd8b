import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./page.mjs";

const { timeTicks } = await load("charts/ticks.js");

test("a time axis has few ticks, however long its range is", () => {
  const to = Date.UTC(2026, 10, 29);
  for (const years of [0.001, 0.1, 1, 30, 90, 126, 426, 2025]) {
    for (const most of [4.1, 8, 20]) {
      const ticks = timeTicks(to - years * 366 * 86_400_000, to, most);
      assert.ok(ticks.length > 0 && ticks.length <= most + 1, `${years} years: ${ticks.length} ticks of ${most}`);
    }
  }
});
