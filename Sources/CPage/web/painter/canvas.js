/**
 * A canvas of a worker. Compilers that check the types of this page do not all know it.
 * @typedef {object} WorkerCanvas
 * @property {(kind: "2d", options?: object) => CanvasRenderingContext2D|null} getContext
 * @property {() => ImageBitmap} transferToImageBitmap
 */

/**
 * @param {number} width
 * @param {number} height
 * @returns {WorkerCanvas}
 */
export function workerCanvas(width, height) {
  const global = /** @type {{OffscreenCanvas: new (width: number, height: number) => WorkerCanvas}} */ (
    /** @type {unknown} */ (globalThis)
  );
  return new global.OffscreenCanvas(width, height);
}
