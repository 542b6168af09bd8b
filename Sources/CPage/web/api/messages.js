/**
 * A tab begins. `seedFollows`: it is reading the first rows.
 * @typedef {object} Hello
 * @property {"hello"} type
 * @property {number} period ms
 * @property {boolean} seedFollows
 */

/**
 * A part of what changed in the list as of another point.
 * @typedef {object} PastMessage
 * @property {"past"} type
 * @property {number} id of the request
 * @property {string} rows
 * @property {string[]} gone
 * @property {string} token
 * @property {boolean} more another part follows
 * @property {boolean} end the history has nothing after this point
 * @property {boolean} isLarge the list has only what the view selects, because all is too much for a page
 * @property {boolean} isPart there is more than that
 */

/**
 * A net difference of an event between two points: its rows before and after as JSON; null: was not listed.
 * @typedef {object} Difference
 * @property {"added"|"changed"|"gone"} kind
 * @property {string|null} before
 * @property {string|null} after
 * @property {number} weight the larger magnitude
 */

/**
 * The differences of the largest earthquakes, and the number of all.
 * @typedef {object} DifferencesMessage
 * @property {"differences"} type
 * @property {number} id of the request
 * @property {{added: number, changed: number, gone: number}} counts
 * @property {Difference[]} added
 * @property {Difference[]} changed
 * @property {Difference[]} gone
 */

/**
 * Rows and changes of the events that the server selects for the view of one tab.
 * @typedef {object} SelectionMessage
 * @property {"selection"} type
 * @property {number} id of the request
 * @property {WorkerMessage} message
 */

/**
 * A request that failed.
 * @typedef {object} FailureMessage
 * @property {"failure"} type
 * @property {number} id
 * @property {number} status
 * @property {string} title
 * @property {string} detail
 */

/**
 * The messages between a tab and the worker.
 *
 * @typedef {object} LinkState
 * @property {"connecting"|"live"|"catchingUp"|"offline"|"database"|"error"} kind
 * @property {string|null} detail what failed
 * @property {number|null} retryAt
 *
 * From a tab:
 * @typedef {Hello
 *   | {type: "lock", lock: string}
 *   | {type: "seed", token: string, rows: string}
 *   | {type: "load"}
 *   | {type: "need", period: number}
 *   | {type: "wake"}
 *   | {type: "past", id: number, asOf: string, from: number|null, query: string}
 *   | {type: "advance", id: number, until: number}
 *   | {type: "present"}
 *   | {type: "select", id: number, query: string}
 *   | {type: "unselect"}
 *   | {type: "differences", id: number, from: string, to: string|null}
 *   | {type: "bye"}} TabMessage
 *
 * From the worker:
 * @typedef {{type: "attached"}
 *   | {type: "rows", rows: string}
 *   | {type: "loading"}
 *   | {type: "gone", codes: string[]}
 *   | {type: "changes", rows: string, gone: string[], live: boolean, at: number, cursor: string|null}
 *   | {type: "touched", codes: string[]}
 *   | {type: "loaded", horizon: number|null, from: number|null, cursor: string|null}
 *   | SelectionMessage
 *   | {type: "selected", id: number, truncated: boolean}
 *   | {type: "reselecting", id: number}
 *   | {type: "unselected", id: number, status: number, title: string, detail: string}
 *   | {type: "state", state: LinkState}
 *   | PastMessage
 *   | DifferencesMessage
 *   | FailureMessage} WorkerMessage
 */

export {};
