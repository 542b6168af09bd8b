import { ApiError } from "../api/api-error.js";

/**
 * The fields of one Server-Sent Event.
 * @typedef {{id: string|null, event: string, data: string}} ServerSentEvent
 */

/** An event longer than this is none of our server. */
const longest = 16_000_000;

/** Splits a stream of Server-Sent Events; EventSource itself ends for good at answers such as 429 and 503. */
export class EventSplitter {
  #rest = "";
  /** @type {string|null} */
  #id = null;
  #event = "";
  /** @type {string[]} */
  #data = [];

  /** @param {string} text @returns {ServerSentEvent[]} the events that end in it */
  feed(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > longest) throw new ApiError(0, "eventLength", "");
    /** @type {ServerSentEvent[]} */
    const events = [];
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line !== "") {
        this.#field(line);
      } else {
        if (this.#data.length > 0 || this.#id !== null) {
          events.push({ id: this.#id, event: this.#event, data: this.#data.join("\n") });
        }
        this.#id = null;
        this.#event = "";
        this.#data = [];
      }
    }
    return events;
  }

  /** @param {string} line */
  #field(line) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "data") this.#data.push(value);
    else if (name === "id") this.#id = value;
    else if (name === "event") this.#event = value;
  }
}
