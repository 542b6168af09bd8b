/**
 * The worker of the page: it holds the events and the one stream of changes, so that the tabs neither parse
 * nor connect. Where there is a SharedWorker, this file is one: all tabs talk to the same engine, which ends
 * with the last tab. Else each tab has this file as a worker, and an engine, of its own.
 *
 * Selection: the server selects by age only, and the engine holds the longest period that any tab asked for;
 * every other filter is applied by the tabs, so that different views share one set and a filter acts at once.
 * A longer period reads the table anew into the same set, while the stream goes on.
 *
 * Exactness: the table names the transaction whose state it shows. The stream begins after it, and
 * `Load` reconciles a table that is read while the stream runs: nothing is lost, and an event that
 * comes by both ways is one. Tabs receive what differs from what they have, in the order of the commits.
 */
import { rowLimit } from "../api/answers.js";
import { Engine } from "./engine.js";
import { failureMessage, Past, readDifferences } from "./past.js";
import { Selection } from "./selection.js";

/** @typedef {import("../api/messages.js").TabMessage} TabMessage */
/** @typedef {import("../api/messages.js").WorkerMessage} WorkerMessage */

/** @typedef {(message: WorkerMessage) => void} Send */

/** A tab sends its first rows within this time, or the worker loads without them. */
const seedDelay = 4000;

/** A pause of the worker's clock that is longer than this means that the machine slept. */
const tick = 5000;
const nap = 15_000;

/** An engine without tabs is stopped after this long: the tab may only be loaded anew. */
const rest = 3000;

/** The tabs of one engine. */
class Clients {
  /** @type {Set<Client>} */
  #clients = new Set();
  /** @type {Send} */
  #broadcast = (message) => {
    for (const client of this.#clients) client.send(message);
  };
  engine = new Engine(this.#broadcast);
  #lastTick = Date.now();
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #rest;

  constructor() {
    setInterval(() => this.#tick(), tick);
  }

  /** @param {Send} send @returns {Client} */
  add(send) {
    return new Client(this, send);
  }

  /** @param {Client} client that said hello */
  join(client) {
    clearTimeout(this.#rest);
    this.#clients.add(client);
  }

  /** @param {Client} client whose tab was closed */
  leave(client) {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    // A browser may keep a worker for a while after its last tab.
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      this.engine.stop();
      this.engine = new Engine(this.#broadcast);
    }, rest);
  }

  #tick() {
    const now = Date.now();
    if (Math.abs(now - this.#lastTick) > nap) this.engine.wake();
    this.#lastTick = now;
  }
}

/** One tab. */
class Client {
  /** @type {Past|null} */
  #past = null;
  /** @type {Selection|null} */
  #selection = null;
  #period = 0;
  #differences = new AbortController();
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #seedTimer;

  /** @param {Clients} clients @param {Send} send */
  constructor(clients, send) {
    this.clients = clients;
    this.send = send;
  }

  stop() {
    clearTimeout(this.#seedTimer);
    this.#differences.abort();
    this.#past?.stop();
    this.#past = null;
    this.#unselect();
  }

  #unselect() {
    if (!this.#selection) return;
    this.#selection.stop();
    this.clients.engine.selections.delete(this.#selection);
    this.#selection = null;
  }

  /** @param {TabMessage} message */
  receive(message) {
    switch (message.type) {
      case "hello":
        this.#period = message.period;
        this.clients.join(this);
        this.clients.engine.attach(this.send);
        if (message.seedFollows && !this.clients.engine.begun) {
          this.#seedTimer = setTimeout(() => this.#load(), seedDelay);
        } else {
          this.#load();
        }
        break;
      case "lock":
        this.#watch(message.lock);
        break;
      case "seed":
        this.clients.engine.seed(message.token, JSON.parse(message.rows));
        break;
      case "load":
        this.#load();
        break;
      case "need":
        this.#period = message.period;
        this.#load();
        break;
      case "wake":
        this.clients.engine.wake();
        break;
      case "past":
        this.#past ??= new Past(this.send);
        this.#past.go(message.id, message.asOf, message.from, message.query);
        break;
      case "advance":
        this.#past?.advance(message.id, message.until);
        break;
      case "present":
        this.#past?.stop();
        this.#past = null;
        break;
      case "select":
        this.#selection ??= new Selection(this.send);
        this.clients.engine.selections.add(this.#selection);
        void this.#selection.go(message.id, message.query, rowLimit);
        break;
      case "unselect":
        this.#unselect();
        break;
      case "differences":
        this.#differ(message);
        break;
      case "bye":
        this.stop();
        this.clients.leave(this);
    }
  }

  /** @param {{id: number, from: string, to: string|null}} request */
  async #differ({ id, from, to }) {
    this.#differences.abort();
    const { signal } = (this.#differences = new AbortController());
    try {
      this.send(await readDifferences(id, from, to, signal));
    } catch (error) {
      if (!signal.aborted) this.send(failureMessage(id, error));
    }
  }

  #load() {
    clearTimeout(this.#seedTimer);
    this.clients.engine.need(this.#period);
  }

  /**
   * @param {string} lock held by the tab until it is closed, or crashes
   */
  #watch(lock) {
    navigator.locks?.request(lock, { mode: "shared" }, () => {
      this.stop();
      this.clients.leave(this);
    });
  }
}

/** @type {any} */
const scope = globalThis;

const clients = new Clients();
if ("onconnect" in scope) {
  scope.onconnect = (/** @type {MessageEvent} */ { ports: [port] }) => {
    const client = clients.add((message) => port.postMessage(message));
    port.onmessage = ({ data }) => client.receive(/** @type {TabMessage} */ (data));
  };
} else {
  const client = clients.add((message) => scope.postMessage(message));
  scope.onmessage = (/** @type {MessageEvent} */ { data }) => {
    client.receive(/** @type {TabMessage} */ (data));
  };
}
