/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").View} View */

/**
 * @param {Readonly<View>} view
 * @returns {(a: Quake, b: Quake) => number} a total order: events without a value come last, equal ones are
 *   ordered by time, newest first, then by code
 */
export function order({ sort, descending }) {
  const sign = descending ? -1 : 1;
  if (sort === "place") {
    return (a, b) => sign * compare(a.place.toLowerCase(), b.place.toLowerCase()) || tie(a, b);
  }
  return (a, b) => {
    const x = a[sort];
    const y = b[sort];
    if (x === y) return tie(a, b);
    if (x === null) return 1;
    if (y === null) return -1;
    return sign * (x - y);
  };
}

/** @param {Quake} a @param {Quake} b */
function tie(a, b) {
  return b.time - a.time || compare(a.code, b.code);
}

/** @param {string} a @param {string} b */
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
