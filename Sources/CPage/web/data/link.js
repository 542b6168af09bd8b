/** @typedef {import("../api/messages.js").TabMessage} TabMessage */
/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */

const address = new URL("../live/worker.js", import.meta.url);
const limit = stored("quake-row-limit");
if (limit !== null) address.searchParams.set("limit", limit);

/** The connection of this tab to the worker, which all tabs share where the browser has shared workers. */
export class Link {
  /** @type {MessagePort|Worker} */
  #port;
  /**
   * @param {(message: WorkerMessage) => void} receive
   * @param {(reason: string) => void} failed the worker cannot be started
   */
  constructor(receive, failed) {
    const worker = sharedWorker() ?? new Worker(address, { type: "module" });
    worker.onerror = (event) => failed(message(event));
    this.#port = worker instanceof Worker ? worker : worker.port;
    this.#port.onmessage = (/** @type {MessageEvent} */ { data }) => receive(data);
    // Nothing tells a worker that a tab was closed, but that the tab's lock is free again.
    const lock = `quake tab ${Math.random().toString(36).slice(2)}`;
    navigator.locks?.request(lock, () => {
      this.send({ type: "lock", lock });
      return new Promise(() => {});
    }).catch(() => {});
  }

  /** @param {TabMessage} message */
  send(message) {
    this.#port.postMessage(message);
  }
}

/** @param {Event} event */
function message(event) {
  return event instanceof ErrorEvent && event.message ? event.message : "worker";
}

/** @returns {SharedWorker|null} null in a browser that has none, or does not allow it */
function sharedWorker() {
  // So the way of browsers without it can be tried in one that has it.
  if (stored("quake-no-shared-worker") !== null) return null;
  try {
    return new SharedWorker(address, { type: "module", name: "quake" });
  } catch {
    return null;
  }
}

/** @param {string} key @returns {string|null} null also in a browser that stores nothing */
function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
