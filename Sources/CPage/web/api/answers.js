/** @typedef {import("../types.js").Quake} Quake */
/** @typedef {import("../types.js").EventRecord} EventRecord */

/** A request that failed, as the server (RFC 9457) or the browser says. */
export class ApiError extends Error {
  /**
   * @param {number} status of HTTP; 0 if the server could not be reached
   * @param {string} title
   * @param {string} detail what to do
   * @param {number|null} [retryAfter] seconds
   */
  constructor(status, title, detail, retryAfter = null) {
    super(detail || title);
    this.name = "ApiError";
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }

  /** @param {unknown} error whatever was thrown @returns {ApiError} itself, or one without an answer */
  static from(error) {
    if (error instanceof ApiError) return error;
    return new ApiError(0, error instanceof Error ? error.message : String(error), "");
  }

  /** @param {Response} response one that is not ok @returns {Promise<ApiError>} */
  static async of(response) {
    let title = response.statusText || `HTTP ${response.status}`;
    let detail = "";
    try {
      const text = (await response.text()).slice(0, 10_000);
      const problem = JSON.parse(text);
      if (typeof problem.title === "string") title = problem.title;
      if (typeof problem.detail === "string") detail = problem.detail;
    } catch {
      // A proxy's answer need not be JSON; the status tells enough.
    }
    return new ApiError(response.status, title, detail, retryAfter(response));
  }
}

/** @param {Response} response @returns {number|null} seconds */
function retryAfter(response) {
  const text = response.headers.get("Retry-After");
  if (text === null) return null;
  const seconds = /^\d+$/.test(text.trim()) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

/**
 * A row of `/v1/table`: the form in which events travel between the server, the worker and the tabs. Rows
 * stay JSON text until a tab needs the event: parsing text is faster than copying objects between threads.
 */

/** @typedef {any[]} Row the values of `columns`, in their order */

/** The columns of a row, in their order. */
export const columns = Object.freeze([
  "code", "time", "updated", "latitude", "longitude", "depth", "magnitude", "magnitude_type", "place", "type",
  "status", "tsunami", "alert", "felt", "sig", "net",
]);

/**
 * The largest number of events that the page holds: the newest ones, and as many of the view if those are
 * others. The address of the worker can have a lower one, so that tests need few events.
 */
export const rowLimit = Number(new URLSearchParams(globalThis.location?.search).get("limit")) || 100_000;

/** Rows of a period are read from this many ms before it, since the clocks of server and browser differ. */
export const slack = 3_600_000;

/** The number of rows in a message to a tab, so that it is never busy with one for long. */
export const pieceSize = 250;

/** @param {Row} row @returns {Quake} */
export function quakeOfRow(row) {
  return {
    code: row[0],
    time: Math.floor(row[1]),
    updated: row[2] === null ? null : Math.floor(row[2]),
    latitude: row[3],
    longitude: row[4],
    depth: row[5],
    magnitude: row[6],
    magnitudeType: row[7],
    place: row[8] ?? "",
    type: row[9] ?? "",
    status: row[10] ?? "",
    tsunami: Boolean(row[11]),
    alert: row[12],
    felt: row[13],
    significance: row[14],
    network: row[15] ?? "",
  };
}

/** @param {EventRecord} record @returns {Row} */
export function rowOfRecord(record) {
  return [
    record.code, milliseconds(record.time), milliseconds(record.updated), record.latitude, record.longitude,
    record.depth, record.magnitude, record.magnitude_type, record.place, record.type, record.status,
    record.tsunami, record.alert, record.felt, record.sig, record.net,
  ];
}

/**
 * @param {EventRecord|null} record
 * @returns {boolean} whether the list of events has it: superseded and withdrawn ones are not in it
 */
export function isListed(record) {
  return record !== null && record.withdrawn_at === null && record.superseded_by === null;
}

/** @param {Quake} a @param {Quake} b @returns {boolean} */
export function equalQuakes(a, b) {
  for (const name of /** @type {(keyof Quake)[]} */ (Object.keys(a))) if (a[name] !== b[name]) return false;
  return true;
}

/**
 * @param {string} cursor such as `1042.9f3ac2d1-7`
 * @returns {number} the number of its transaction
 */
export function transactionNumber(cursor) {
  return Number.parseInt(cursor, 10);
}

/** @param {string|null} time @returns {number|null} with microseconds, as in a table */
export function milliseconds(time) {
  if (time === null) return null;
  const microseconds = /\.\d{3}(\d{3})/.exec(time);
  return Date.parse(time) + (microseconds ? Number(microseconds[1]) / 1000 : 0);
}
