// The state of the view in the fragment of the address, so that a link shows the same selection.
// Everything is named: a link survives a file in another order.

import { OUTCOMES, SETS, modesOf, sortsOf } from "./select.js";

const LONGEST_SEARCH = 500; // characters of a search that a link may hold

/** The word of a filter's value, and back. Unknown words are undefined. */
export function wordOf(store, name, value) {
  if (name === "label") return store.numeric ? String(value) : store.labels[value];
  if (name === "order") return store.meta.orders[value];
  return String(value);
}

function valueOf(store, name, word) {
  const place = (list) => { const i = (list || []).indexOf(word); return i < 0 ? undefined : i; };
  const number = () => (word.trim() !== "" && Number.isFinite(Number(word)) ? Number(word) : undefined);
  if (name === "label") return store.numeric ? number() : place(store.labels);
  if (name === "verdict") return store.verdicts.has(word) ? word : undefined;
  if (name === "order") return place(store.meta.orders);
  if (name === "repeat") return number();
  if (name === "outcome") return OUTCOMES.includes(word) ? word : undefined;
  if (name === "slice") return store.items.slice.includes(word) ? word : undefined;
  if (name === "system" && store.systems) return store.systems.includes(word) ? word : undefined;
  return store.columns.some((c) => c[name] === word) ? word : undefined;
}

export function writeState(store, state, item, column) {
  const p = new URLSearchParams();
  const f = state.filters;
  if (state.mode !== "all") p.set("mode", state.mode);
  if (state.sort !== "differ") p.set("sort", state.sort);
  if (f.q) p.set("q", f.q.slice(0, LONGEST_SEARCH));
  if (f.replies) p.set("replies", "1");
  for (const name of SETS) for (const v of f[name]) p.append(name, wordOf(store, name, v));
  if (f.brush) p.set("brush", brushText(store, f.brush));
  if (item !== undefined) p.set("item", store.items.id[item]);
  if (item !== undefined && column >= 0) p.set("column", store.columns[column].name);
  return p.toString();
}

/** Read a fragment. Unknown names and values are ignored: a link is foreign input. */
export function readState(store, state, fragment) {
  const p = new URLSearchParams(fragment.replace(/^#/, ""));
  state.mode = modesOf(store).includes(p.get("mode")) ? p.get("mode") : "all";
  state.sort = sortsOf(store).includes(p.get("sort")) ? p.get("sort") : "differ";
  const f = state.filters;
  f.q = (p.get("q") || "").slice(0, LONGEST_SEARCH);
  f.replies = p.get("replies") === "1";
  for (const name of SETS) {
    const values = p.getAll(name).slice(0, 1000).map((w) => valueOf(store, name, w));
    f[name] = new Set(values.filter((v) => v !== undefined));
  }
  f.brush = brushOf(p.get("brush"), store);
  const item = store.places.get(p.get("item")) ?? -1;
  return { item, column: columnOf(store, p.get("column")) };
}

const columnOf = (store, name) => store.columns.findIndex((c) => c.name === name);

function brushText(store, b) {
  const column = store.columns[b.column].name;
  if (!b.cell) return JSON.stringify({ column, x: b.x, y: b.y });
  const word = (k) => store.labels[k] ?? null; // null: split, or no label
  return JSON.stringify({ column, cell: b.cell.map(word) });
}

function brushOf(text, store) {
  let b;
  try { b = JSON.parse(text); } catch { return null; }
  const column = b ? columnOf(store, b.column) : -1;
  if (column < 0) return null;
  const pair = (v) => Array.isArray(v) && v.length === 2 && v.every(Number.isFinite);
  if (pair(b.x) && pair(b.y)) return { column, x: b.x, y: b.y };
  if (!Array.isArray(b.cell) || b.cell.length !== 2) return null;
  const cell = b.cell.map((w) => (w === null ? 255 : store.labels.indexOf(w)));
  return cell.includes(-1) ? null : { column, cell };
}
