import { Clients } from "./clients.js";

/** @typedef {import("../api/messages.js").TabMessage} TabMessage */

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
 * `live/load.js` reconciles a table that is read while the stream runs: nothing is lost, and an event that
 * comes by both ways is one. Tabs receive what differs from what they have, in the order of the commits.
 */

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
