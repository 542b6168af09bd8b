import { workerCanvas } from "./canvas.js";
import { paintGround } from "./ground.js";
import { decode } from "./land.js";
import { Points } from "./points.js";

/** @typedef {import("./types.js").ToPainter} ToPainter */
/** @typedef {import("./types.js").FromPainter} FromPainter */
/** @typedef {import("./types.js").PaintMessage} PaintMessage */

/**
 * What a worker has of its own; the types of a window lack it.
 * @typedef {object} WorkerScope
 * @property {(message: FromPainter, transfer: Transferable[]) => void} postMessage
 * @property {(name: "message", listener: (event: MessageEvent<ToPainter>) => void) => void} addEventListener
 */

const worker = /** @type {WorkerScope} */ (/** @type {unknown} */ (globalThis));
const points = new Points();
/** @type {import("./land.js").Land|null} */
let land = null;
/** @type {import("./types.js").EventsMessage|null} */
let events = null;
/** @type {import("./types.js").GroundColors|null} */
let groundColors = null;

/** @param {FromPainter} message @param {Transferable[]} [transfer] */
function tell(message, transfer = []) {
  worker.postMessage(message, transfer);
}

/** @param {PaintMessage} message */
async function paint({ layer, frame }) {
  const width = Math.round(frame.width * frame.ratio);
  const height = Math.round(frame.height * frame.ratio);
  const version = events?.version ?? 0;
  /** @type {ImageBitmap} */
  let picture;
  if (layer === "points") {
    picture = await createImageBitmap(points.paint(events, frame));
  } else {
    const canvas = workerCanvas(width, height);
    const context = canvas.getContext("2d", { alpha: false });
    if (context && groundColors) paintGround(context, frame, land, groundColors);
    picture = canvas.transferToImageBitmap();
  }
  tell({ kind: "painted", layer, frame, version, picture }, [picture]);
}

worker.addEventListener("message", ({ data: message }) => {
  if (message.kind === "paint") paint(message);
  else if (message.kind === "events") events = message;
  else if (message.kind === "palette") points.setPalette(message.colors, message.edge);
  else groundColors = message.colors;
});

/** The coarse coastlines are there at once; the fine ones replace them. */
async function loadLand() {
  for (const name of ["land-110m.bin", "land-50m.bin"]) {
    try {
      const response = await fetch(new URL(`./${name}`, import.meta.url));
      if (!response.ok) throw new Error(String(response.status));
      land = decode(await response.arrayBuffer());
      tell({ kind: "land" });
    } catch (error) {
      tell({ kind: "failed", file: name, reason: error instanceof Error ? error.message : String(error) });
    }
  }
}

// Not awaited here: events are drawn meanwhile.
void loadLand();
