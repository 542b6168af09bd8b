/**
 * An event as the page holds it. What is not known is null.
 * @typedef {object} Quake
 * @property {string} code
 * @property {number} time origin time, ms since 1970
 * @property {number|null} updated ms since 1970
 * @property {number|null} latitude null together with the longitude
 * @property {number|null} longitude
 * @property {number|null} depth km
 * @property {number|null} magnitude
 * @property {string|null} magnitudeType
 * @property {string} place
 * @property {string} type
 * @property {string} status
 * @property {boolean} tsunami
 * @property {string|null} alert
 * @property {number|null} felt number of reports
 * @property {number|null} significance
 * @property {string} network
 */

/**
 * What happened to the events of the store, as the detail of its event "change".
 * @typedef {{kind: "reset"} | Changes} StoreChange
 */

/**
 * @typedef {object} Changes
 * @property {"changes"} kind
 * @property {Quake[]} inserted
 * @property {{before: Quake, after: Quake}[]} updated
 * @property {Quake[]} deleted
 * @property {boolean} live committed just now; false for events that are only being loaded
 */

/**
 * What the person looks at. It is kept in the address of the page, so that a view can be shared.
 * @typedef {object} View
 * @property {Period} period age of the events, from now or from `asOf`; "all" with a range of times
 * @property {number|null} from origin times at or after it, ms since 1970
 * @property {number|null} to origin times before it
 * @property {number|null} minMagnitude
 * @property {number|null} maxMagnitude
 * @property {number|null} minDepth
 * @property {number|null} maxDepth
 * @property {string[]} types empty: all
 * @property {string[]} networks empty: all
 * @property {Box|null} box
 * @property {Circle|null} within
 * @property {boolean} mapOnly only what the map shows
 * @property {string} text search in place and code
 * @property {Sort} sort
 * @property {boolean} descending
 * @property {string|null} selected code of the event
 * @property {string|null} asOf a time (ISO 8601) or a token; null is live
 * @property {"age"|"depth"|"magnitude"} color
 * @property {{longitude: number, latitude: number, zoom: number}|null} map
 * @property {string|null} since token to compare with, for the panel "what changed"
 */

/** @typedef {string} Period such as 7d, or "all" */
/** @typedef {"time"|"magnitude"|"depth"|"place"|"updated"} Sort */

/**
 * West, south, east, north in degrees; west lies east of east where the box crosses the antimeridian.
 * @typedef {[number, number, number, number]} Box
 */

/**
 * A radius in km, and the latitude and longitude of the centre.
 * @typedef {[number, number, number]} Circle
 */

/**
 * @typedef {object} ConnectionState
 * @property {"connecting"|"live"|"catchingUp"|"offline"|"database"|"past"|"error"} kind "database":
 *   the server has lost its database
 * @property {number} since ms since 1970
 * @property {string|null} detail what failed, in the words of the server or the browser
 * @property {number|null} lastChange time of the newest change that was received
 * @property {number|null} retryAt when the next attempt is made
 */

/**
 * A change of the history as the API sends it.
 * @typedef {object} Change
 * @property {string} token
 * @property {number|null} position
 * @property {"insert"|"update"|"delete"|"truncate"} op
 * @property {string|null} code
 * @property {string[]} changed
 * @property {EventRecord|null} old
 * @property {EventRecord|null} new
 * @property {ChangeTransaction|null} transaction
 */

/**
 * All columns of an event, as the API writes them.
 * @typedef {Record<string, any> & {code: string}} EventRecord
 */

/**
 * @typedef {object} ChangeTransaction
 * @property {string|null} author
 * @property {string|null} context
 * @property {string|null} application
 * @property {string} at
 */

export {};
