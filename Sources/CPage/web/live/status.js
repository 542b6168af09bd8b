/** @typedef {import("../api/api-error.js").ApiError} ApiError */
/** @typedef {import("../api/messages.js").LinkState} LinkState */

/** How the stream, the load of the list and the database are; a load that fails is said before all else. */
export class Status {
  #stream = of("connecting");
  /** @type {LinkState|null} */
  #load = null;
  /** @type {LinkState|null} */
  #database = null;

  /** @param {(state: LinkState) => void} changed */
  constructor(changed) {
    this.changed = changed;
  }

  /** @returns {LinkState} */
  get state() {
    return this.#load ?? (this.#stream.kind === "live" ? this.#database : null) ?? this.#stream;
  }

  /** The server answered; what was missed comes first. */
  opened() {
    if (this.#stream.kind !== "live") this.#set(of("catchingUp"), this.#load);
  }

  live() {
    this.#set(of("live"), this.#load);
  }

  loaded() {
    this.#set(this.#stream, null);
  }

  /** @param {ApiError} error @param {number} retryAt */
  streamFailed(error, retryAt) {
    this.#set(failed(error, retryAt), this.#load);
  }

  /** @param {ApiError} error @param {number} retryAt */
  loadFailed(error, retryAt) {
    this.#set(this.#stream, failed(error, retryAt));
  }

  /** @param {ApiError|null} problem why the server has no database @param {number} retryAt */
  database(problem, retryAt) {
    const lost = problem && failed(problem, retryAt);
    if (problem?.status === 503 && lost) lost.kind = "database";
    this.#set(this.#stream, this.#load, lost);
  }

  /** @param {LinkState} stream @param {LinkState|null} load @param {LinkState|null} database */
  #set(stream, load, database = this.#database) {
    const { kind, retryAt } = this.state;
    this.#stream = stream;
    this.#load = load;
    this.#database = database;
    if (this.state.kind !== kind || this.state.retryAt !== retryAt) this.changed(this.state);
  }
}

/** @param {LinkState["kind"]} kind @returns {LinkState} */
function of(kind) {
  return { kind, detail: null, retryAt: null };
}

/** @param {ApiError} error @param {number} retryAt @returns {LinkState} */
function failed(error, retryAt) {
  // A proxy answers like this for a server that is not there.
  const isAway = [0, 502, 503, 504].includes(error.status);
  return { kind: isAway ? "offline" : "error", detail: error.message, retryAt };
}
