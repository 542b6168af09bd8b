/** @typedef {import("../types.js").EventRecord} EventRecord */

/**
 * Institutions by the hosts of their pages. Each pattern is of a whole host, or of its end after a dot.
 * @type {[RegExp, string][]}
 */
const hosts = [
  [/(^|\.)usgs\.gov$/, "USGS"], [/(^|\.)(emsc-csem\.org|seismicportal\.eu)$/, "EMSC"],
  [/(^|\.)ingv\.it$/, "INGV"],
  [/(^|\.)gfz(-potsdam)?\.de$/, "GFZ GEOFON"], [/(^|\.)geonet\.org\.nz$/, "GeoNet"],
  [/(^|\.)seismo\.ethz\.ch$/, "SED"], [/(^|\.)ncedc\.org$/, "NCEDC"],
  [/(^|\.)scedc\.(caltech\.edu|org)$/, "SCEDC"],
  [/(^|\.)isc\.ac\.uk$/, "ISC"], [/(^|\.)(iris\.edu|earthscope\.org)$/, "EarthScope"],
];

/** @param {string | null} text @returns {URL | null} only addresses of the web: a feed could name any */
function webAddress(text) {
  try {
    const url = new URL(String(text));
    return url.protocol === "https:" || url.protocol === "http:" ? url : null;
  } catch {
    return null;
  }
}

/**
 * The page of the event at the agency that published it.
 * @param {EventRecord} event
 * @returns {{ name: string, address: string } | null}
 */
export function agency(event) {
  const url = webAddress(event.url);
  if (url) {
    const known = hosts.find(([pattern]) => pattern.test(url.hostname))?.[1];
    return { name: known ?? url.host, address: url.href };
  }
  const number = encodeURIComponent(event.net_code || event.code);
  const code = encodeURIComponent(event.code);
  switch (event.source) {
    case "usgs": return {
      name: "USGS", address: `https://earthquake.usgs.gov/earthquakes/eventpage/${code}`,
    };
    case "emsc": return {
      name: "EMSC", address: `https://www.seismicportal.eu/eventdetails.html?unid=${number}`,
    };
    case "ingv": return { name: "INGV", address: `https://terremoti.ingv.it/event/${number}` };
    case "gfz": case "geofon":
      return { name: "GFZ GEOFON", address: `https://geofon.gfz.de/eqinfo/event.php?id=${number}` };
    case "geonet": return { name: "GeoNet", address: `https://www.geonet.org.nz/earthquake/${number}` };
    default: return null;
  }
}
