import { view } from "../state/view.js";
import { t } from "../text/text.js";
import { byId, phone, rem } from "../ui/dom.js";

/** A shorter movement is a tremble of the finger: the handle was pressed. In pixels. */
const tremble = 6;
/** The handle and the search field remain: the height of a low sheet in style/layout.css. In rem. */
const leastHeight = 4.75;
/** The parts of the window below which a dragged sheet becomes low, or middle. */
const lowUpTo = 0.25;
const middleUpTo = 0.68;

const heights = /** @type {const} */ (["low", "middle", "high"]);
/** @typedef {typeof heights[number]} Height */

/**
 * The list as a sheet over the map, on a phone: its handle is dragged or pressed.
 * @param {HTMLElement} side
 */
export function start(side) {
  const handle = byId("sheet-handle");

  // Elements that the sheet covers cannot be reached with the keyboard.
  const cover = () => {
    const covered = phone.matches && side.dataset.height === "high";
    for (const id of ["map", "dock"]) byId(id).inert = covered;
  };
  phone.addEventListener("change", cover);

  /** @param {Height} height */
  const set = (height) => {
    side.dataset.height = height;
    side.style.height = "";
    cover();
    handle.setAttribute("aria-label", t(height === "high" ? "sheet.smaller" : "sheet.larger"));
  };
  const step = (/** @type {number} */ by) => {
    const index = heights.indexOf(/** @type {Height} */ (side.dataset.height ?? "middle"));
    set(heights[Math.min(heights.length - 1, Math.max(0, index + by))]);
  };
  set("middle");

  let shown = view.get().selected;
  let from = 0;
  let height = 0;
  let moved = false;
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    from = event.clientY;
    height = side.getBoundingClientRect().height;
    moved = false;
  });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId) || !phone.matches) return;
    if (Math.abs(event.clientY - from) > tremble) moved = true;
    if (!moved) return;
    side.classList.add("dragged");
    side.style.height = `${Math.max(rem(leastHeight), height + from - event.clientY)}px`;
  });
  const drop = () => {
    side.classList.remove("dragged");
    if (!moved) return;
    const share = side.getBoundingClientRect().height / innerHeight;
    set(share < lowUpTo ? "low" : share < middleUpTo ? "middle" : "high");
  };
  handle.addEventListener("pointerup", drop);
  handle.addEventListener("pointercancel", drop);
  handle.addEventListener("click", () => {
    if (moved) return;
    if (side.dataset.height === "high") set("low");
    else step(1);
  });
  // The sheet is raised if it hides the element that a person opens or types in.
  const raise = () => {
    if (phone.matches && side.dataset.height === "low") set("middle");
  };
  side.addEventListener("focusin", ({ target }) => {
    if (target !== handle) raise();
  });
  view.addEventListener("change", () => {
    if (view.get().selected !== shown && view.get().selected !== null) raise();
    shown = view.get().selected;
  });
  handle.addEventListener("keydown", (event) => {
    if (event.key === "ArrowUp") step(1);
    else if (event.key === "ArrowDown") step(-1);
    else return;
    event.preventDefault();
  });
}
