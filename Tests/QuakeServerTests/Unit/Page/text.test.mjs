import assert from "node:assert/strict";
import test from "node:test";
import { load, quake } from "./page.mjs";

const { format, isolated, t } = await load("text/text.js");
const { momentOfWords, timeOfPoint, isToken } = await load("state/point.js");

test("numbers have a real minus, and no negative zero", () => {
  assert.equal(format.magnitude({ magnitude: -0.4 }), "−0.4");
  assert.equal(format.magnitude({ magnitude: -0.04 }), "0.0");
  assert.equal(format.preciseMagnitude(5.25), "5.25");
  assert.equal(format.magnitude({ magnitude: null }), t("unknown.short"));
});

test("depths of less than 10 km have a digit", () => {
  assert.equal(format.depth(9.46), "9.5 km");
  assert.equal(format.depth(12.4), "12 km");
  assert.equal(format.exactDepth(12.345), "12.345 km");
  assert.equal(format.depth(null), t("depth.unknown"));
});

test("a position names its directions", () => {
  assert.equal(format.position(-15, 170.5), "15.000° S, 170.500° E");
  assert.equal(format.place(35.7, -117.5), "35.7° N, 117.5° W");
});

test("a time is relative to now, and rounded down", () => {
  const now = Date.UTC(2026, 10, 18, 12);
  assert.equal(format.relative(now - 119_000, now), "1 min. ago");
  assert.equal(format.relative(now - 30_000, now), t("time.now"));
  assert.match(format.relative(now - 3 * 86_400_000, now), /^3 days? ago$/);
});

test("a text has its plural, and keeps places without a value", () => {
  assert.equal(t("list.count", { n: 1 }), "1 earthquake");
  assert.equal(t("list.count", { n: 12_345 }), "12,345 earthquakes");
  assert.match(t("list.count.others", {}), /\{words\}/);
});

test("a text from right to left is isolated", () => {
  assert.equal(isolated("مدينة"), "\u2068مدينة\u2069");
  assert.equal(isolated("a\u202eb"), "ab");
});

test("points of the history are tokens, times or words", () => {
  assert.ok(isToken("1042.9f3ac2d1-7"));
  assert.ok(!isToken("2026-11-18"));
  assert.ok(Number.isNaN(timeOfPoint("1042.9f3ac2d1")));
  assert.equal(timeOfPoint("2026-11-18T12:00"), Date.UTC(2026, 10, 18, 12));
  const now = Date.UTC(2026, 10, 18, 12);
  assert.equal(momentOfWords("yesterday 14:30", now), "2026-11-17T14:30:00.000Z");
  assert.equal(momentOfWords("1h30m", now), "2026-11-18T10:30:00.000Z");
  assert.equal(momentOfWords("2 h ago", now), "2026-11-18T10:00:00.000Z");
  assert.equal(momentOfWords("1.5d", now), "2026-11-17T00:00:00.000Z");
  // Tokens whose nonces look like ages.
  assert.equal(momentOfWords("1.5218d42d", now), null);
  assert.equal(momentOfWords("7.1234567d", now), null);
  assert.equal(momentOfWords("someday", now), null);
});

test("an event has a sign, words and a colour", async () => {
  const { badges, classOf, colorOf, isSimulated, magnitudeSize, sentence } = await load("ui/sign.js");
  const now = quake().time;
  assert.deepEqual(badges(quake({ tsunami: true, alert: "yellow", felt: 3, type: "quarry blast" }))
    .map(({ kind }) => kind), ["tsunami", "alert-yellow", "felt", "type", "reviewed"]);
  assert.equal(classOf(quake({ magnitude: 2 }), "magnitude", now), 1);
  assert.equal(classOf(quake({ magnitude: 1.9 }), "magnitude", now), 0);
  assert.equal(classOf(quake({ depth: null }), "depth", now), 6);
  assert.equal(colorOf(quake(), "age", now + 3_600_000), "var(--a1)");
  assert.ok(magnitudeSize(7) > magnitudeSize(6) && magnitudeSize(-1) === 6 && magnitudeSize(12) === 30);
  assert.ok(isSimulated({ net: "simx", code: "simx1" }) && !isSimulated({ net: "us", code: "sim1" }));
  assert.match(sentence(quake({ place: "" })), new RegExp(t("place.unknown")));
});
