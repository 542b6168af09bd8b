import { api } from "../data/api.js";

/** @typedef {import("../data/api.js").PageSettings} PageSettings */

/** Between attempts, in ms. */
const shortest = 1_000;
const longest = 30_000;

/** @returns {Promise<PageSettings>} */
async function ask() {
  for (let wait = shortest; ; wait = Math.min(longest, 2 * wait)) {
    try {
      return await api.settings();
    } catch (error) {
      console.warn("/page/settings", error);
      const { status } = /** @type {import("../api/api-error.js").ApiError} */ (error);
      // A proxy that does not serve it will not do so later.
      if (status === 404) return { readOnly: true, edits: false, tiles: null, version: "" };
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/**
 * What the server allows, asked for until it answers. The page only reads meanwhile.
 * @type {Promise<PageSettings>}
 */
export const server = ask();
