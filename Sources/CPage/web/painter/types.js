/**
 * The messages between the map and its painter. The painter is a worker: it draws the ground and up to
 * 100,000 events beside the main thread, which only copies the finished pictures to the screen.
 */

/**
 * Which part of the world a picture shows: its middle in world coordinates, its size in CSS pixels, and the
 * device's pixels in one of them.
 * @typedef {{x: number, y: number, zoom: number, width: number, height: number, ratio: number}} Frame
 */

/** @typedef {"ground"|"points"} Layer */

/** @typedef {{sea: string, land: string, coast: string, border: string, graticule: string}} GroundColors */

/** @typedef {{kind: "ground", colors: GroundColors}} GroundMessage */
/** @typedef {{kind: "palette", colors: string[], edge: string}} PaletteMessage */
/** @typedef {{kind: "paint", layer: Layer, frame: Frame}} PaintMessage */

/**
 * @typedef {object} EventsMessage
 * @property {"events"} kind
 * @property {number} version counts up, so that the map knows which events a picture shows
 * @property {Float32Array} xs
 * @property {Float32Array} ys
 * @property {Uint8Array} steps sizes
 * @property {Uint8Array} classes colours
 */

/** @typedef {GroundMessage|PaletteMessage|EventsMessage|PaintMessage} ToPainter */

/** @typedef {{kind: "painted", layer: Layer, frame: Frame, version: number, picture: ImageBitmap}} Painted */
/** @typedef {{kind: "land"}} LandArrived the ground should be painted again */
/** @typedef {{kind: "failed", file: string, reason: string}} LandFailed */
/** @typedef {Painted|LandArrived|LandFailed} FromPainter */

export {};
