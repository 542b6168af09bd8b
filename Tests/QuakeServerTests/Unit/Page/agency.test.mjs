import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./page.mjs";

const { agency } = await load("detail/agency.js");
const nameOf = (/** @type {string} */ host) => agency({ url: `https://${host}/event/1` })?.name;

test("a link is called after the institution whose host it leads to", () => {
  for (const [host, name] of [
    ["earthquake.usgs.gov", "USGS"], ["usgs.gov", "USGS"], ["www.seismicportal.eu", "EMSC"], ["seismicportal.eu", "EMSC"],
    ["www.emsc-csem.org", "EMSC"], ["geofon.gfz.de", "GFZ GEOFON"], ["geofon.gfz-potsdam.de", "GFZ GEOFON"],
    ["ds.iris.edu", "EarthScope"], ["earthscope.org", "EarthScope"], ["www.isc.ac.uk", "ISC"],
  ]) assert.equal(nameOf(host), name);
});

test("a host that only ends or begins like that of an institution is called by its own name", () => {
  for (const host of [
    "evilseismicportal.eu", "notearthscope.org", "geofon.example.org", "evilusgs.gov", "usgs.gov.example.org",
    "gfz.de.example.org", "emsc-csem.org.evil.eu",
  ]) assert.equal(nameOf(host), host);
  assert.equal(agency({ url: "javascript:alert(1)", source: "unknown", code: "x" }), null);
});
