import { server } from "../data/api.js";
import { store } from "../data/store.js";
import { Camera } from "../marks/camera.js";
import { boxBetween } from "../marks/lines.js";
import { isLocated, radius } from "../painter/projection.js";
import { view } from "../state/view.js";
import { t } from "../text/text.js";
import { button, h } from "../ui/dom.js";
import { Events, followStore } from "./events.js";
import { listen } from "./gestures.js";
import { startLegend, Tooltip } from "./legend.js";
import { Screen } from "./screen.js";

/** @typedef {import("../painter/projection.js").Located} Located */
/** @typedef {import("../marks/lines.js").Revision} Revision */

/**
 * The buttons for those who have neither wheel nor keys.
 * @param {HTMLElement} parent
 * @param {{in: () => void, out: () => void, home: () => void}} actions
 */
function startControls(parent, actions) {
  parent.append(h(
    "div", { class: "map-controls", role: "group", "aria-label": t("map.controls") },
    button({ icon: "plus", label: t("map.zoom.in"), key: "+", action: actions.in }),
    button({ icon: "minus", label: t("map.zoom.out"), key: "-", action: actions.out }),
    button({ icon: "home", label: t("map.zoom.home"), key: "Home", action: actions.home }),
  ));
}

const most = 256;
/** Tiles at a time: a fast zoom must not ask for hundreds that are never seen. */
const mostLoading = 12;

/** Optional pictures of the ground from a server that the operator names, drawn over the coastlines. */
export class Tiles {
  /** @type {Map<string, HTMLImageElement>} */
  #images = new Map();
  #loading = 0;
  #template;
  #arrived;

  /**
   * @param {string} template with {z}, {x} and {y}
   * @param {() => void} arrived called when a tile can be drawn
   */
  constructor(template, arrived) {
    this.#template = template;
    this.#arrived = arrived;
  }

  /**
   * @param {CanvasRenderingContext2D} context in device pixels
   * @param {Camera} camera
   */
  draw(context, camera) {
    const zoom = Math.max(0, Math.min(19, Math.round(camera.zoom + Math.log2(devicePixelRatio))));
    const count = 2 ** zoom;
    const side = camera.pixels / count * devicePixelRatio;
    const [left, top] = camera.toWorld(0, 0);
    const [right, bottom] = camera.toWorld(camera.width, camera.height);
    const last = Math.min(count - 1, bottom * count);
    for (let row = Math.max(0, Math.floor(top * count)); row <= last; row += 1) {
      for (let column = Math.floor(left * count); column <= right * count; column += 1) {
        const image = this.#get(zoom, ((column % count) + count) % count, row);
        if (!image) continue;
        const x = Math.floor((column / count - left) * camera.pixels * devicePixelRatio);
        const y = Math.floor((row / count - top) * camera.pixels * devicePixelRatio);
        context.drawImage(image, x, y, Math.ceil(side) + 1, Math.ceil(side) + 1);
      }
    }
  }

  /** @param {number} z @param {number} x @param {number} y @returns {HTMLImageElement|null} a loaded tile */
  #get(z, x, y) {
    const key = `${z}/${x}/${y}`;
    const known = this.#images.get(key);
    if (known) {
      // The one that was used last is the last to be dropped.
      this.#images.delete(key);
      this.#images.set(key, known);
      return known.complete && known.naturalWidth > 0 ? known : null;
    }
    if (this.#loading >= mostLoading) return null;
    this.#loading += 1;
    const image = new Image();
    const done = () => {
      this.#loading -= 1;
      this.#arrived();
    };
    image.addEventListener("load", done, { once: true });
    image.addEventListener("error", done, { once: true });
    image.src = this.#template.replace("{z}", String(z)).replace("{x}", String(x)).replace("{y}", String(y));
    this.#images.set(key, image);
    for (const old of this.#images.keys()) {
      if (this.#images.size <= most) break;
      this.#images.delete(old);
    }
    return null;
  }
}

/**
 * @param {() => void} arrived
 * @returns {Promise<Tiles|null>} null where the operator names no tiles
 */
async function tilesOfServer(arrived) {
  const { tiles } = await server();
  return tiles === null ? null : new Tiles(tiles, arrived);
}

/** After the last motion, before the list follows what the map shows. */
const stillDelay = 150;
/** Pixels of height that the buttons need, and below which what covers the map no longer moves its middle. */
const leastForControls = 210;
const leastSeen = 80;
/** A fingertip covers more than a pointer. */
const slackOfPointer = 3;
const slackOfFinger = 12;
const slackOfKeys = 80;

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const still = () => reducedMotion.matches;

/**
 * Draws the map of the store's events and follows the view.
 * @param {HTMLElement} element
 */
export function start(element) {
  const camera = new Camera();
  const events = new Events();
  const screen = new Screen(element, camera, events, still);
  startControls(element, {
    in: () => camera.flyZoom(...middle(camera), 1, still()),
    out: () => camera.flyZoom(...middle(camera), -1, still()),
    home: () => camera.fly(camera.home(), still()),
  });
  startLegend(element, camera);
  const tooltip = new Tooltip(element);
  element.append(h("p", { id: "map-help", class: "visually-hidden", text: t("map.help") }));
  place(element, camera);
  followCamera(camera);
  followStore(events, screen);
  followView(camera, screen);
  screen.followTheme();

  const hover = (/** @type {Located|null} */ quake, /** @type {number} */ x, /** @type {number} */ y) => {
    screen.overlay.hovered = quake;
    screen.surface.classList.toggle("pointed", quake !== null);
    tooltip.show(quake, x, y, quake ? radius(quake.magnitude, camera.zoom) : 0);
    screen.refresh();
  };
  listen(screen.surface, camera, {
    click: (x, y, touch) => {
      const quake = events.at(camera, x, y, touch ? slackOfFinger : slackOfPointer);
      view.set({ selected: quake?.code ?? null });
    },
    box: (from, to, done) => {
      const box = boxBetween(camera, from, to);
      if (done && box) view.set({ box, mapOnly: false });
      screen.overlay.box = done ? view.get().box : box;
      screen.refresh();
    },
    hover: (x, y) => hover(events.at(camera, x, y, slackOfPointer), x, y),
    leave: () => {
      if (screen.overlay.hovered) hover(null, 0, 0);
    },
    middle: () => {
      const quake = events.at(camera, ...middle(camera), slackOfKeys);
      if (quake) view.set({ selected: quake.code });
    },
    escape: () => view.set({ selected: null }),
    still,
  });
  void tilesOfServer(() => screen.refresh()).then((tiles) => {
    screen.tiles = tiles;
    screen.refresh();
  });
}

/** @param {Camera} camera @returns {[number, number]} the middle of what is not covered */
function middle({ width, height, padding }) {
  return [(width + padding.left - padding.right) / 2, (height + padding.top - padding.bottom) / 2];
}

/**
 * Gives the camera the size of the element and where other parts of the page cover it, as on a phone.
 * @param {HTMLElement} element
 * @param {Camera} camera
 */
function place(element, camera) {
  const others = ["side", "dock"].map((id) => document.getElementById(id)).filter((other) => other !== null);
  const { map } = view.get();
  let home = map === null;
  let first = true;
  const measure = () => {
    const rect = element.getBoundingClientRect();
    if (rect.width === 0) return;
    const padding = { top: 0, right: 0, bottom: 0, left: 0 };
    for (const other of others) {
      const { top, bottom, left, right, height } = /** @type {HTMLElement} */ (other).getBoundingClientRect();
      const wide = Math.min(right, rect.right) - Math.max(left, rect.left) >= rect.width * 0.9;
      if (!wide || height === 0 || top >= rect.bottom || bottom <= rect.top) continue;
      if (top <= rect.top + 1) padding.top = bottom - rect.top;
      else padding.bottom = rect.bottom - top;
    }
    const seen = rect.height - padding.top - padding.bottom;
    element.style.setProperty("--map-top", `${padding.top}px`);
    element.style.setProperty("--map-bottom", `${padding.bottom}px`);
    // Half a button would only be in the way.
    element.classList.toggle("map-cramped", seen < leastForControls);
    if (seen < leastSeen) padding.top = padding.bottom = 0;
    camera.resize(rect.width, rect.height, padding);
    if (first && map) camera.fly(camera.placeOf(map), true);
    else if (home) camera.fly(camera.home(), true);
    first = false;
  };
  const observer = new ResizeObserver(measure);
  for (const other of [element, ...others]) observer.observe(/** @type {HTMLElement} */ (other));
  measure();
  // Whoever has moved the map keeps the place when the window changes its size.
  view.addEventListener("change", () => {
    home = view.get().map === null;
  });
}

/**
 * Tells the view what the map shows, once it rests.
 * @param {Camera} camera
 */
function followCamera(camera) {
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  camera.addEventListener("move", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      view.setBounds(camera.bounds());
      const home = camera.home();
      const goal = camera.goal;
      const near = Math.abs(goal.zoom - home.zoom) < 0.01
        && Math.hypot(goal.x - home.x - Math.round(goal.x - home.x), goal.y - home.y) * camera.pixels < 2;
      view.set({ map: near ? null : rounded(camera.middle) });
    }, stillDelay);
  });
}

/** @param {{longitude: number, latitude: number, zoom: number}} place as exact as the address */
function rounded({ longitude, latitude, zoom }) {
  return { longitude: +longitude.toFixed(3), latitude: +latitude.toFixed(3), zoom: +zoom.toFixed(2) };
}

/**
 * Shows what the view selects, and follows it when it changes.
 * @param {Camera} camera
 * @param {Screen} screen
 */
function followView(camera, screen) {
  screen.overlay.box = view.get().box;
  screen.overlay.circle = view.get().within;
  let first = true;
  /** @type {import("../types.js").Quake|null} */
  let opened = null;
  const select = () => {
    const { selected } = view.get();
    const other = opened?.code === selected ? opened : null;
    const found = selected === null ? null : store.get(selected) ?? other;
    const quake = found && isLocated(found) ? found : null;
    const isOther = quake?.code !== screen.overlay.selected?.code;
    screen.overlay.selected = quake;
    if (isOther) screen.overlay.trail = [];
    if (isOther && quake) screen.reveal(quake, first && view.get().map === null);
    if (quake || selected === null) first = false;
    screen.refresh();
  };
  select();
  // An event that is open need not be in the list.
  view.addEventListener("opened", (event) => {
    opened = /** @type {CustomEvent<import("../types.js").Quake|null>} */ (event).detail;
    select();
  });
  view.addEventListener("trail", (event) => {
    screen.overlay.trail = /** @type {CustomEvent<Revision[]>} */ (event).detail;
    screen.refresh();
  });
  store.addEventListener("change", select);
  view.addEventListener("change", (event) => {
    const { changed } = /** @type {CustomEvent} */ (event).detail;
    if (changed.has("selected")) select();
    if (changed.has("box") || changed.has("within")) {
      screen.overlay.box = view.get().box;
      screen.overlay.circle = view.get().within;
      screen.refresh();
    }
    const { map } = view.get();
    if (!changed.has("map") || JSON.stringify(map) === JSON.stringify(rounded(camera.middle))) return;
    // The browser's "back", or a link: the camera itself has set what it shows already.
    camera.fly(map ? camera.placeOf(map) : camera.home(), still());
  });
}
