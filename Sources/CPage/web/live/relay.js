import { Clients } from "./clients.js";
import { Replica } from "./replica.js";

/** @typedef {import("../data/messages.js").TabMessage} TabMessage */
/** @typedef {import("../data/messages.js").WorkerMessage} WorkerMessage */
/** @typedef {import("../data/messages.js").Hello} Hello */
/**
 * What goes through the channel: to the leader, or from it to one worker or to all ("").
 * @typedef {{toLeader: true, from: string, message: TabMessage}
 *   | {toLeader: false, from: string, to: string, message: WorkerMessage}
 *   | {leader: string, continues: boolean}} Letter
 */

/** The folder of this version of the page: another version is another group of tabs. */
const group = new URL("..", import.meta.url).pathname;

/** The leader is heard from at least this often; one that is not is frozen with its tab. */
const beat = 10_000;
const deaf = 45_000;

/** Lets the workers of several tabs share the engine of one of them, the leader. */
export class Relay {
  #id = Math.random().toString(36).slice(2);
  #replica = new Replica();
  /** @type {Hello|null} */
  #hello = null;
  /**
   * The last request of the tab for events that the set does not hold.
   * @type {TabMessage|null}
   */
  #select = null;
  /** @type {BroadcastChannel|null} */
  #channel = null;
  /** @type {Clients|null} */
  #clients = null;
  /** @type {Map<string, ReturnType<Clients["add"]>>} */
  #members = new Map();
  #heard = Date.now();
  #leader = "";
  #continues = false;

  /** @param {(message: WorkerMessage) => void} toTab */
  constructor(toTab) {
    this.toTab = toTab;
    if (!navigator.locks) {
      this.#lead();
    } else {
      this.#channel = new BroadcastChannel(`quake ${group}`);
      this.#channel.onmessage = ({ data }) => this.#letter(data);
      this.#stand({});
      setInterval(() => this.#check(), beat);
    }
  }

  /** @param {TabMessage} message of the tab of this worker */
  receive(message) {
    if (message.type === "hello") this.#hello = { ...message, seedFollows: false };
    if (message.type === "need" && this.#hello) this.#hello.period = message.period;
    if (message.type === "select") this.#select = message;
    if (message.type === "unselect") this.#select = null;
    this.#toLeader(message);
  }

  /** @param {LockOptions} options */
  #stand(options) {
    const name = `quake leader ${group}`;
    navigator.locks.request(name, options, () => {
      this.#lead();
      return new Promise(() => {});
    }).catch(() => {
      // Another worker took the lock away, because this one was frozen; or the browser refuses locks.
      const hadLock = this.#clients !== null;
      this.#clients?.stop();
      this.#clients = null;
      this.#members.clear();
      this.#leader = "";
      this.#heard = Date.now();
      setTimeout(() => this.#stand({}), hadLock ? 0 : beat);
    });
  }

  #lead() {
    this.#clients = new Clients((message) => this.#deliver("", message));
    const { cursor, from, horizon, complete } = this.#replica;
    this.#continues = complete && cursor !== null;
    if (complete && cursor !== null) {
      this.#clients.engine.adopt(this.#replica.take(), cursor, from, horizon);
    }
    this.#leader = this.#id;
    this.#announce();
    this.#greet(this.#continues);
  }

  #announce() {
    const letter = { leader: this.#id, continues: this.#continues };
    this.#channel?.postMessage(/** @type {Letter} */ (letter));
  }

  /**
   * Tells a new leader of this worker's tab.
   * @param {boolean} continues whether the leader goes on where the last one ended
   */
  #greet(continues) {
    if (this.#hello) this.#toLeader({ ...this.#hello, continues: continues && this.#replica.complete });
    if (this.#select) this.#toLeader(this.#select);
  }

  /** @param {TabMessage} message */
  #toLeader(message) {
    if (this.#clients) this.#member(this.#id).receive(message);
    else this.#channel?.postMessage(/** @type {Letter} */ ({ toLeader: true, from: this.#id, message }));
  }

  /** @param {Letter} letter */
  #letter(letter) {
    if ("leader" in letter) {
      this.#heard = Date.now();
      if (letter.leader === this.#leader || this.#clients) return;
      this.#leader = letter.leader;
      this.#greet(letter.continues);
    } else if (letter.toLeader) {
      if (this.#clients) this.#member(letter.from).receive(letter.message);
    } else if (letter.to === "" || letter.to === this.#id) {
      this.#heard = Date.now();
      if (letter.to === this.#id) this.#leader = letter.from;
      this.#accept(letter.message);
    }
  }

  /** @param {string} id */
  #member(id) {
    let member = this.#members.get(id);
    if (!member) {
      member = /** @type {Clients} */ (this.#clients).add((message) => this.#deliver(id, message));
      this.#members.set(id, member);
    }
    return member;
  }

  /** @param {string} to @param {WorkerMessage} message */
  #deliver(to, message) {
    /** @type {Letter} */
    const letter = { toLeader: false, from: this.#id, to, message };
    if (to !== this.#id) this.#channel?.postMessage(letter);
    if (to === "" || to === this.#id) this.#accept(message);
  }

  /** @param {WorkerMessage} message */
  #accept(message) {
    this.#replica.apply(message);
    this.toTab(message);
  }

  #check() {
    if (this.#clients) this.#announce();
    else if (Date.now() - this.#heard > deaf) this.#stand({ steal: true });
  }
}
