import { api } from "../data/api.js";

/** Its event "change" says that a token was entered or forgotten. */
export const tokenChanged = new EventTarget();

let allowed = false;

/** Says that the server allows edits. Until then the page offers none, even with a token. */
export function allowEdits() {
  allowed = true;
  tokenChanged.dispatchEvent(new CustomEvent("change"));
}

/** Whether the page offers edits now. */
export function canEdit() {
  return allowed && api.token() !== null;
}

/** @param {string | null} token null: none */
export function useToken(token) {
  api.setToken(token);
  tokenChanged.dispatchEvent(new CustomEvent("change"));
}

/** The events that are marked for an edit, by code. Its event "change" says that they or the mode changed. */
class Selection extends EventTarget {
  /** @type {Set<string>} */
  #codes = new Set();
  #on = false;

  /** Whether rows are marked instead of opened. */
  get on() {
    return this.#on;
  }

  get size() {
    return this.#codes.size;
  }

  /** @returns {string[]} */
  codes() {
    return [...this.#codes];
  }

  /** @param {string} code */
  has(code) {
    return this.#codes.has(code);
  }

  /** @param {boolean} on turning it off forgets the marks */
  turn(on) {
    if (on === this.#on) return;
    this.#on = on;
    this.#codes.clear();
    this.#tell();
  }

  /** @param {string} code */
  toggle(code) {
    if (!this.#codes.delete(code)) this.#codes.add(code);
    this.#tell();
  }

  /** @param {Iterable<string>} codes */
  add(codes) {
    for (const code of codes) this.#codes.add(code);
    this.#tell();
  }

  clear() {
    if (this.#codes.size === 0) return;
    this.#codes.clear();
    this.#tell();
  }

  #tell() {
    this.dispatchEvent(new CustomEvent("change"));
  }
}

/** The selection of this page. */
export const selection = new Selection();
