import { columns } from "../api/answers.js";
import { defaultView, duration, view } from "../state/view.js";
import { reasonText } from "./api.js";
import { Feed } from "./feed.js";
import { firstRows } from "./first.js";
import { store } from "./store.js";

/** @typedef {import("../api/messages.js").TabMessage} TabMessage */
/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */
/** @typedef {import("../types.js").ConnectionState} ConnectionState */

const address = new URL("../live/worker.js", import.meta.url);
const limit = storedText("quake-row-limit");
if (limit !== null) address.searchParams.set("limit", limit);

/** The connection of this tab to the worker, which all tabs share where the browser has shared workers. */
class Link {
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
  if (storedText("quake-no-shared-worker") !== null) return null;
  try {
    return new SharedWorker(address, { type: "module", name: "quake" });
  } catch {
    return null;
  }
}

/** @param {string} key @returns {string|null} null also in a browser that stores nothing */
function storedText(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** When the person looked at the page last, so that the page can tell what changed since. */

const storageKey = "quake-last-look";

/** How often a look that goes on is noted. */
const interval = 30_000;

/** A person who was away for less than this has missed nothing worth a line. */
export const glance = 120_000;

/**
 * @typedef {object} Look
 * @property {string} token the cursor of then
 * @property {number} at ms since 1970
 */

class LastLook extends EventTarget {
  /**
   * The look before this one; null at a first visit. Its event "change" tells that there is another one.
   * @type {Look|null}
   */
  previous = null;
  /** @type {() => string|null} */
  #cursor = () => null;

  /** @param {() => string|null} cursor of now */
  start(cursor) {
    this.#cursor = cursor;
    this.#begin();
    setInterval(() => {
      if (!document.hidden) this.#note();
    }, interval);
    addEventListener("pagehide", () => this.#note());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#note();
      else this.#begin();
    });
  }

  #begin() {
    const look = storedLook();
    if (!look || (this.previous && Date.now() - look.at < glance)) return;
    this.previous = look;
    this.dispatchEvent(new CustomEvent("change"));
  }

  #note() {
    const token = this.#cursor()?.split("-")[0];
    if (!token) return;
    try {
      localStorage.setItem(storageKey, JSON.stringify({ token, at: Date.now() }));
    } catch {
      // Without storage each visit is a first one.
    }
  }
}

/** @returns {Look|null} */
function storedLook() {
  try {
    const look = JSON.parse(localStorage.getItem(storageKey) ?? "null");
    return typeof look?.token === "string" && typeof look.at === "number" ? look : null;
  } catch {
    return null;
  }
}

/** The last looks of this browser. */
export const lastLook = new LastLook();

/** A page that was hidden for longer than this asks whether the stream is still alive. */
const away = 20_000;

/** The worker is started after the first rows, or after this long. */
const seedDelay = 1500;

/** The whole list is loaded after the page, or this long after its start. */
const loadDelay = 3000;

/** The connection to the server; its event "state" tells of a new state. */
class Connection extends EventTarget {
  /** @type {ConnectionState} */
  #state = { kind: "connecting", since: Date.now(), detail: null, lastChange: null, retryAt: null };
  /** @type {Link|null} */
  #link = null;
  /**
   * What is sent once the worker is there.
   * @type {TabMessage[]}
   */
  #waiting = [];
  #feed = new Feed((batch, live) => this.#apply(batch, live));
  /**
   * The codes that the worker sent since this tab joined; null when the list is complete.
   * @type {Set<string>|null}
   */
  #seen = null;
  /** @type {((message: WorkerMessage) => void)[]} */
  #answered = [];
  #hiddenAt = 0;

  /**
   * The cursor after the newest change that was received.
   * @type {string|null}
   */
  cursor = null;

  /** @returns {Readonly<ConnectionState>} */
  get state() {
    const looksBack = view.get().asOf !== null && this.#state.kind === "live";
    return looksBack ? { ...this.#state, kind: "past" } : this.#state;
  }

  /** Begins; call it once, as early as possible. */
  start() {
    lastLook.start(() => this.cursor);
    this.#begin().catch((error) => this.#set({ kind: "error", detail: String(error), retryAt: null }));
    view.addEventListener("change", (event) => {
      const { changed } = /** @type {CustomEvent<{changed: Set<string>}>} */ (event).detail;
      if (["period", "from", "to"].some((name) => changed.has(name))) {
        this.send({ type: "need", period: periodOfView() });
      }
      if (changed.has("asOf")) this.dispatchEvent(new CustomEvent("state"));
    });
    addEventListener("online", () => this.retry());
    addEventListener("pagehide", () => this.send({ type: "bye" }));
    addEventListener("pageshow", (event) => {
      if (event.persisted) this.#hello(false);
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#hiddenAt = Date.now();
      else if (Date.now() - this.#hiddenAt > away) this.retry();
    });
  }

  /** Tries again now instead of waiting. */
  retry() {
    this.send({ type: "wake" });
  }

  /** @param {TabMessage} message */
  send(message) {
    if (this.#link) this.#link.send(message);
    else this.#waiting.push(message);
  }

  /** @param {(message: WorkerMessage) => void} receive gets the messages that are for parts of the page */
  onAnswer(receive) {
    this.#answered.push(receive);
  }

  /** @param {boolean} seedFollows */
  #hello(seedFollows) {
    this.send({ type: "hello", period: periodOfView(), seedFollows });
  }

  async #begin() {
    const seed = firstRows.then((table) => {
      if (!table || !columns.every((column, index) => table.columns[index] === column)) return null;
      const rows = JSON.stringify(table.rows);
      this.#feed.push({ rows, gone: [], live: false });
      this.#set({ lastChange: Math.floor(table.time) });
      return { token: table.token, rows };
    });
    // On a slow line the files of the worker would compete with the first rows.
    const late = new Promise((resolve) => setTimeout(resolve, seedDelay));
    const hasNone = (await Promise.race([seed, late])) === null;
    this.#link = new Link(
      (message) => this.#receive(message),
      (reason) => this.#set({ kind: "error", detail: reasonText(reason), retryAt: null }),
    );
    this.#hello(!hasNone);
    for (const message of this.#waiting) this.#link.send(message);
    this.#waiting = [];
    setTimeout(() => this.send({ type: "load" }), loadDelay);
    const found = await seed;
    if (found) this.send({ type: "seed", ...found });
    if (document.readyState !== "complete") await new Promise((resolve) => addEventListener("load", resolve));
    this.send({ type: "load" });
  }

  /** @param {WorkerMessage} message */
  #receive(message) {
    switch (message.type) {
      case "attached":
        this.#feed.after(() => {
          this.#seen = new Set();
        });
        break;
      case "rows":
        this.#feed.push({ rows: message.rows, gone: [], live: false });
        break;
      case "gone":
        this.#feed.push({ rows: "[]", gone: message.codes, live: false });
        break;
      case "changes":
        this.cursor = message.cursor;
        this.#feed.push(message);
        this.#set({ ...this.#state, lastChange: message.at });
        break;
      case "loaded":
        this.cursor ??= message.cursor;
        this.#feed.after(() => this.#loaded(message.from, message.horizon));
        break;
      case "loading":
        this.#feed.after(() => store.setLoaded(false));
        break;
      case "state":
        this.#set({ ...message.state, detail: message.state.detail && reasonText(message.state.detail) });
        break;
      default:
        for (const receive of this.#answered) receive(message);
    }
  }

  /** @param {number|null} from @param {number|null} horizon */
  #loaded(from, horizon) {
    const seen = this.#seen;
    this.#seen = null;
    if (seen) {
      const gone = [...store.liveCodes()].filter((code) => !seen.has(code));
      if (gone.length > 0) store.apply(new Map(gone.map((code) => [code, null])), false);
    }
    store.setLoaded(true, from, horizon);
  }

  /** @param {ReadonlyMap<string, import("../types.js").Quake|null>} batch @param {boolean} live */
  #apply(batch, live) {
    if (this.#seen) for (const code of batch.keys()) this.#seen.add(code);
    store.apply(batch, live);
  }

  /** @param {Partial<ConnectionState>} partial */
  #set(partial) {
    const since = partial.kind === this.#state.kind ? this.#state.since : Date.now();
    this.#state = { ...this.#state, ...partial, since };
    this.dispatchEvent(new CustomEvent("state"));
  }
}

/** @returns {number} ms: the period of the set that all tabs share; a range of times is read by itself */
function periodOfView() {
  const { period, from, to } = view.get();
  return duration(from === null && to === null ? period : defaultView.period);
}

/**
 * @param {ConnectionState["kind"]} kind
 * @returns {boolean} whether what is shown may be out of date
 */
export function isLost(kind) {
  return kind === "offline" || kind === "error" || kind === "database";
}

/** The connection of this page. */
export const connection = new Connection();
