import { api, queryOf } from "../data/api.js";
import { store } from "../data/store.js";
import { activeFilters } from "../filters/active.js";
import { selection } from "../list/selection.js";
import { view } from "../state/view.js";
import { format, isolated, t } from "../text/text.js";
import { ask, open } from "../ui/dialogs.js";
import { button, byId, h } from "../ui/dom.js";
import { fail, reason, toast } from "../ui/toasts.js";

/** The characters of the codes of one request: an address has a limit of 2.9 kB. */
const codesLength = 2000;
/** How many requests run at once: the server has few connections for queries. */
const lanes = 2;

/**
 * Does something with each item, a few at a time; a failure does not stop the others.
 * @template Item, Result
 * @param {Item[]} items
 * @param {(item: Item) => Promise<Result>} action
 * @returns {Promise<{ done: { item: Item, result: Result }[], failed: { item: Item, error: unknown }[] }>}
 */
async function each(items, action) {
  /** @type {{ item: Item, result: Result }[]} */
  const done = [];
  /** @type {{ item: Item, error: unknown }[]} */
  const failed = [];
  const rest = items.slice();
  const lane = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) {
      try {
        done.push({ item, result: await action(item) });
      } catch (error) {
        failed.push({ item, error });
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { done, failed };
}

/**
 * The first events by name, so that the person sees what is meant.
 * @param {string[]} codes
 */
function examples(codes) {
  const names = codes.slice(0, 3).map((code) => {
    const quake = store.get(code);
    return quake ? `M ${format.magnitude(quake)} ${isolated(quake.place || code)}` : code;
  });
  return names.join(" · ") + (codes.length > 3 ? " …" : "");
}

/**
 * Deletes events after asking.
 * @param {string[]} codes
 */
export async function remove(codes) {
  const n = codes.length;
  const yes = await ask({
    title: t("delete.title", { n }), text: [
      examples(codes), t("delete.text", { n }),
    ], action: t("delete"), danger: true,
  });
  if (yes && (await removeNow(codes))) selection.clear();
}

/**
 * Deletes events without asking: the person has agreed, or undoes a restoration.
 * @param {string[]} codes
 * @returns {Promise<boolean>} whether any of them was deleted
 */
async function removeNow(codes) {
  const { done, failed } = await each(codes, (code) => api.remove(code));
  if (failed.length > 0) {
    toast({ text: t("delete.failed", { n: failed.length, reason: reason(failed[0].error) }), error: true });
  }
  if (done.length === 0) return false;
  const deleted = done.map(({ item }) => item);
  toast({ text: t("delete.done", { n: deleted.length }), undo: () => void restoreNow(deleted) });
  return true;
}

/**
 * Restores deleted events without asking: the person has agreed, or undoes a deletion.
 * @param {string[]} codes
 */
async function restoreNow(codes) {
  const { done, failed } = await each(codes, (code) => api.restore(code));
  if (failed.length > 0) {
    toast({ text: t("restore.failed", { n: failed.length, reason: reason(failed[0].error) }), error: true });
  }
  if (done.length === 0) return;
  const restored = done.map(({ item }) => item);
  toast({ text: t("restore.done", { n: restored.length }), undo: () => void removeNow(restored) });
}

/**
 * Restores deleted events after asking.
 * @param {string[]} codes
 * @returns {Promise<boolean>} whether the person agreed
 */
export async function restore(codes) {
  const yes = await ask({
    title: t("restore.title", { n: codes.length }), text: [
      examples(codes), t("restore.text", { n: codes.length }),
    ], action: t("restore"),
  });
  if (yes) await restoreNow(codes);
  return yes;
}

/** @typedef {{ edit: number | null, count: number, changed: number, finished: boolean }} Outcome */

/** @returns {Record<string, any>} the filter of the view as conditions of an edit */
function conditions() {
  const parameters = queryOf(view.get(), view.bounds(), Date.now());
  return Object.keys(parameters).length === 0 ? { "every-event": true } : parameters;
}

/**
 * Whether only their codes select the events that are shown: the server searches no ids, has one box, and
 * edits what passes the filter now, not what passed it at a moment of the past.
 */
function needsCodes() {
  const { asOf, text, box, mapOnly } = view.get();
  return asOf !== null || text !== "" || (mapOnly && box !== null);
}

/**
 * @param {string[]} codes
 * @returns {Record<string, any>[]} the conditions of requests that name these events
 */
function conditionsOf(codes) {
  const requests = [];
  let left = 0;
  for (const code of codes) {
    const length = encodeURIComponent(`,${code}`).length;
    if (length > left || requests.length === 0) {
      requests.push({ code, all: true });
      left = codesLength;
    } else {
      requests[requests.length - 1].code += `,${code}`;
    }
    left -= length;
  }
  return requests;
}

/**
 * Marks events as checked by a person, after asking: those that are marked, else all that the filter selects.
 * @param {string[]} marked
 */
export async function validate(marked) {
  const codes = marked.length === 0 && needsCodes() ? store.shown().map(({ code }) => code) : marked;
  const requests = codes.length === 0 && !needsCodes() ? [conditions()] : conditionsOf(codes);
  const what = marked.length > 0
    ? examples(marked)
    : t("validate.filter", {
      filter: activeFilters(view.get()).map(({ text }) => text).join(", ") || t("validate.all"),
    });
  const plans = await each(requests, (request) => api.validate({ ...request, "dry-run": true }));
  if (plans.failed.length > 0) {
    fail(t("validate.failed"), plans.failed[0].error);
    return;
  }
  const n = plans.done.reduce((sum, { result }) => sum + /** @type {Outcome} */ (result).count, 0);
  if (n === 0) {
    toast({ text: t("validate.nothing") });
    return;
  }
  const yes = await ask({
    title: t("validate.title", { n }), text: [what, t("validate.text", { n })], action: t("validate"),
  });
  if (!yes) return;
  const { done, failed } = await each(requests, (request) => api.validate(request));
  if (failed.length > 0) fail(t("validate.failed"), failed[0].error);
  if (done.some(({ result }) => !(/** @type {Outcome} */ (result).finished))) {
    toast({ text: t("validate.unfinished"), error: true });
  }
  const outcomes = done
    .map(({ result }) => /** @type {Outcome} */ (result))
    .filter(({ changed }) => changed > 0);
  if (outcomes.length === 0) return;
  selection.clear();
  const edits = outcomes.flatMap(({ edit }) => (edit === null ? [] : [edit]));
  toast({
    text: t("validate.done", { n: outcomes.reduce((sum, { changed }) => sum + changed, 0) }),
    undo: () => void undo(edits),
  });
}

/** @param {number[]} edits */
async function undo(edits) {
  const { done, failed } = await each(edits, (edit) => api.undo(edit));
  if (failed.length > 0) fail(t("undo.failed"), failed[0].error);
  const n = done.reduce((sum, { result }) => sum + /** @type {Outcome} */ (result).changed, 0);
  if (done.length === 0) return;
  toast({ text: t("undo.done", { n }) });
}

/** At most this many of the last deletions are listed. */
const most = 50;

/** The events that were deleted last, each with Restore. */
async function showDeleted() {
  /** @type {import("../types.js").Change[]} */
  let changes;
  /** The codes of those that are there again, and of those that have a line. */
  const seen = new Set();
  try {
    ({ changes } = await api.history({ op: "delete", descending: true, limit: most }));
    const codes = [...new Set(changes.flatMap((change) => change.code ?? []))];
    for (const request of conditionsOf(codes)) {
      const { rows } = await api.table({ ...request, columns: "code" });
      for (const [there] of rows) seen.add(there);
    }
  } catch (error) {
    fail(t("restore.list.failed"), error);
    return;
  }
  const rows = changes.filter(({ code, old }) => {
    if (!code || !old || seen.has(code)) return false;
    seen.add(code);
    return true;
  });
  open(t("restore.list"), () => [
    h("p", { class: "quiet", text: rows.length === 0 ? t("restore.list.none") : t("restore.list.text") }),
    h("ul", { class: "deleted-list" }, ...rows.map((change) => {
      const code = String(change.code);
      const { magnitude, place } = /** @type {import("../types.js").EventRecord} */ (change.old);
      const item = h(
        "li", {},
        h(
          "div", {}, h("p", { dir: "auto", text: `M ${format.magnitude({ magnitude })} ${place ?? code}` }),
          h("p", {
            class: "quiet small", text: t("restore.list.when", {
              time: format.relative(Date.parse(change.transaction?.at ?? "")),
              author: change.transaction?.author ?? change.transaction?.application ?? t("author.unknown"),
            }),
          }),
        ),
        button({
          icon: "undo", text: t("restore"), kind: "outlined", action: async () => {
            if (await restore([code])) item.remove();
          },
        }),
      );
      return item;
    })),
  ]);
}

/** The line below the list while events are marked for an edit. */
export function startEditBar() {
  const count = h("p", { class: "count", role: "status" });
  const erase = button({
    icon: "trash", text: t("delete"), kind: "outlined", action: () => void remove(selection.codes()),
  });
  const check = button({
    icon: "check", text: t("validate"), kind: "outlined", action: () => void validate(selection.codes()),
  });
  const back = button(
    { icon: "undo", text: t("restore.open"), kind: "outlined", action: () => void showDeleted() },
  );
  const all = button({
    text: t("edit.all"), action: () => selection.add(store.shown().map(({ code }) => code)),
  });
  const none = button({ text: t("edit.none"), action: () => selection.clear() });
  const done = button({ icon: "close", label: t("edit.done"), action: () => selection.turn(false) });
  const bar = h(
    "div", { class: "edit-bar", role: "toolbar", "aria-label": t("edit.bar"), hidden: true },
    h("div", { class: "edit-line" }, count, all, none, done),
    h("div", { class: "edit-line" }, erase, check, back),
  );
  byId("list").append(bar);

  const update = () => {
    bar.hidden = !selection.on;
    if (bar.hidden) return;
    const n = selection.size;
    count.textContent = t("edit.count", { n });
    erase.disabled = n === 0;
    none.disabled = n === 0;
    // Without marked events, Validate is for all that the filter selects.
    check.lastChild?.replaceWith(n === 0 ? t("validate.shown") : t("validate"));
  };
  selection.addEventListener("change", update);
  store.addEventListener("change", (event) => {
    const { detail } = /** @type {CustomEvent<import("../types.js").StoreChange>} */ (event);
    if (detail.kind !== "changes") return;
    for (const { code } of detail.deleted) if (selection.has(code)) selection.toggle(code);
  });
  update();
}
