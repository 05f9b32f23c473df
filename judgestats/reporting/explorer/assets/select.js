// What is selected and in which order: filters, modes, sort keys. Counts and means only.

import { NONE } from "./store.js";

export const MODES = {
  all: "All",
  differ: "Disagreements",
  flips: "Flips",
  wrong: "Wrong",
  unparsed: "Unparsed",
};
export const MODE_HELP = {
  all: "Every item",
  differ: "Items on which judges give different verdicts",
  flips: "Items on which a judge contradicts itself between repeats",
  wrong: "Items on which a judge\u2019s majority verdict differs from the human label",
  unparsed: "Items with a judgment without a verdict",
};
export const SORTS = {
  differ: "Sort: judges differ",
  flips: "Sort: repeats differ",
  wrong: "Sort: judge vs human",
  item: "Sort: file order",
};
/** Roles of a column; of a judgment; of an item if one of its visible judgments matches. */
export const OF_COLUMN = ["judge", "condition", "criterion", "system"];
export const SETS = [...OF_COLUMN, "slice", "label", "verdict", "outcome", "repeat", "order"];

export function emptyFilters() {
  return { ...Object.fromEntries(SETS.map((n) => [n, new Set()])), q: "", replies: false, brush: null };
}

/** Per cell: n, mean, SD, range, unread, majority verdict, share right. One pass over judgments. */
export function aggregate(store, keepRow, keepColumn) {
  const cells = store.nItems * store.nColumns;
  const nLabels = Math.max(store.labels.length, 1);
  const step = store.meta.step || 1;
  const a = {
    n: new Uint16Array(cells), unread: new Uint16Array(cells),
    mean: new Float64Array(cells), sd: new Float64Array(cells),
    low: new Float64Array(cells).fill(Infinity), high: new Float64Array(cells).fill(-Infinity),
    votes: new Uint16Array(cells * nLabels), // verdicts in the words of the label
    major: new Uint8Array(cells).fill(NONE), flip: new Uint8Array(cells), wrong: new Uint8Array(cells),
    miss: new Float64Array(cells), // share of votes that are not the label
  };
  const square = new Float64Array(cells);
  for (let r = 0; r < store.count; r++) {
    if (!keepColumn[store.column[r]] || !keepRow[r]) continue;
    const c = store.cellOf(r);
    const v = store.value[r];
    if (v !== v) { if (store.status[r] !== 1) a.unread[c]++; continue; } // NaN
    a.n[c]++;
    a.mean[c] += v;
    square[c] += v * v;
    if (v < a.low[c]) a.low[c] = v;
    if (v > a.high[c]) a.high[c] = v;
    if (store.called[r] !== NONE) a.votes[c * nLabels + store.called[r]]++;
    if (store.numeric && Math.abs(v - store.truth[c]) > step) a.miss[c]++;
  }
  for (let c = 0; c < cells; c++) {
    const n = a.n[c];
    if (!n) { a.mean[c] = a.sd[c] = NaN; continue; }
    const sum = a.mean[c];
    a.mean[c] = sum / n;
    a.sd[c] = n > 1 ? Math.sqrt(Math.max(0, (square[c] - (sum * sum) / n) / (n - 1))) : NaN;
    let best = -1, total = 0, tie = false;
    for (let k = 0; k < nLabels; k++) {
      const votes = a.votes[c * nLabels + k];
      total += votes;
      if (best < 0 || votes > a.votes[c * nLabels + best]) { best = k; tie = false; }
      else if (votes === a.votes[c * nLabels + best] && votes) tie = true;
    }
    if (!total) { // no votes: the range of the repeats, the distance from a numeric label
      a.flip[c] = a.high[c] - a.low[c] > step ? 1 : 0;
      if (store.numeric) {
        a.miss[c] /= n;
        a.wrong[c] = Math.abs(a.mean[c] - store.truth[c]) > step ? 1 : 0;
      }
      continue;
    }
    a.flip[c] = a.votes[c * nLabels + best] < total ? 1 : 0;
    // Of categories the spread is the share of repeats outside the majority.
    if (!store.points[c % store.nColumns]) a.sd[c] = 1 - a.votes[c * nLabels + best] / total;
    if (!tie) a.major[c] = best; // a split vote has no majority
    const label = store.label[c];
    if (label !== NONE) {
      a.miss[c] = 1 - a.votes[c * nLabels + label] / total;
      a.wrong[c] = !tie && best !== label ? 1 : 0;
    }
  }
  return a;
}

/** The sort keys of each item; larger comes first. Human raters are shown and count in none. */
export function keysOf(store, a, keepColumn) {
  const keys = {
    differ: new Float64Array(store.nItems), flips: new Float64Array(store.nItems),
    wrong: new Float64Array(store.nItems), mode: new Uint8Array(store.nItems),
  };
  const K = Math.max(store.labels.length, 1);
  const tally = new Uint16Array(K + 1); // majorities of an item; last: split
  for (let i = 0; i < store.nItems; i++) {
    let spread = 0, miss = 0, mode = 0, differ = 0;
    for (const group of store.groups) {
      let low = Infinity, high = -Infinity, seen = NONE, judged = 0, byMeans = false;
      tally.fill(0);
      for (const k of group) {
        const c = i * store.nColumns + k;
        if (!keepColumn[k]) continue;
        if (a.unread[c]) mode |= 8;
        if (!a.n[c]) continue;
        if (store.points[k]) {
          low = Math.min(low, a.mean[c]);
          high = Math.max(high, a.mean[c]);
          byMeans ||= !store.voted[k];
        }
        tally[Math.min(a.major[c], K)]++;
        judged++;
        if (a.sd[c] > spread) spread = a.sd[c];
        if (a.miss[c] > miss) miss = a.miss[c];
        if (a.flip[c]) mode |= 2;
        if (a.wrong[c]) mode |= 4;
        if (store.numeric ? store.truth[c] === store.truth[c] : store.label[c] !== NONE) mode |= LABELLED;
        if (a.major[c] !== NONE) {
          if (seen !== NONE && seen !== a.major[c]) mode |= 1;
          seen = a.major[c];
        }
      }
      if (byMeans && high - low > (store.meta.step || 1)) mode |= 1;
      // Scores: range of the means. Categories: 1 - sum of squared shares of the majorities.
      if (low <= high) differ = Math.max(differ, high - low);
      else if (judged) differ = Math.max(differ, 1 - tally.reduce((sum, n) => sum + (n / judged) ** 2, 0));
    }
    keys.differ[i] = differ;
    keys.flips[i] = spread;
    keys.wrong[i] = miss + keys.differ[i] * 1e-3;
    keys.mode[i] = mode;
  }
  return keys;
}

/**
 * Item numbers by falling key, ties in file order. Key and number are packed into one double
 * (31 + 21 bits), so that the native sort needs no comparator: ten times faster.
 */
export function orderBy(key) {
  const max = key.reduce((p, q) => Math.max(p, q), 0);
  const scale = max > 0 ? (2 ** 31 - 1) / max : 0;
  const packed = new Float64Array(key.length);
  for (let i = 0; i < key.length; i++) {
    packed[i] = Math.round((max - key[i]) * scale) * 2 ** 21 + i;
  }
  packed.sort();
  return Uint32Array.from(packed, (v) => v % 2 ** 21);
}

const LABELLED = 16;
const MODE_BIT = { all: 0, differ: 1, flips: 2, wrong: 4, unparsed: 8 };

/** Modes that these data have: without labels that a verdict can equal, none is wrong. */
export const modesOf = (store) => Object.keys(MODES).filter((n) => n !== "wrong" || store.decided);
export const sortsOf = (store) => Object.keys(SORTS).filter((n) => n !== "wrong" || store.decided);

/** Apply filters, mode and sort. Returns the selection that every view draws. */
export function select(store, state) {
  const f = state.filters;
  const ofColumn = OF_COLUMN.filter((n) => n !== "system" || !store.systems);
  const keepColumn = store.columns.map((c) => ofColumn.every((n) => !f[n].size || f[n].has(c[n])));
  const keepRow = new Uint8Array(store.count).fill(1);
  if (f.repeat.size || f.order.size) {
    for (let r = 0; r < store.count; r++) {
      if (f.repeat.size && !f.repeat.has(store.repeat[r])) keepRow[r] = 0;
      if (f.order.size && !(store.order && f.order.has(store.order[r]))) keepRow[r] = 0;
    }
  }
  // Aggregates depend on columns and repeats only: kept until one of these changes.
  const signature = `${keepColumn}|${[...f.repeat]}|${[...f.order]}`;
  if (state.signature !== signature) {
    state.signature = signature;
    state.cells = aggregate(store, keepRow, keepColumn);
    state.keys = keysOf(store, state.cells, keepColumn);
    state.orders = { item: Uint32Array.from({ length: store.nItems }, (_, i) => i) };
  }
  const { cells, keys, orders } = state;
  // The order of all items is kept; a filter then only leaves items out.
  orders[state.sort] ||= orderBy(keys[state.sort]);
  const keepItem = new Uint8Array(store.nItems).fill(1);
  const drop = (i) => { keepItem[i] = 0; };
  if (keepColumn.includes(false) || f.repeat.size || f.order.size || f.verdict.size || f.outcome.size) {
    keepItem.fill(0);
    const scores = new Set([...f.verdict].map(Number).filter((v) => v === v));
    const codes = new Set([...f.verdict].map((word) => store.labels.indexOf(word)));
    for (let r = 0; r < store.count; r++) {
      if (!keepRow[r] || !keepColumn[store.column[r]]) continue;
      if (f.verdict.size && !(store.points[store.column[r]] ? scores : codes).has(store.value[r])) continue;
      if (f.outcome.size && !f.outcome.has(outcomeOf(store, r))) continue;
      keepItem[store.item[r]] = 1;
    }
  }
  const needle = f.q.trim().toLowerCase();
  for (let i = 0; i < store.nItems; i++) {
    if (!keepItem[i]) continue;
    if (f.slice.size && !f.slice.has(store.items.slice[i])) drop(i);
    else if (store.systems && f.system.size && !f.system.has(store.systems[i])) drop(i);
    else if (f.label.size && !hasLabel(store, f.label, keepColumn, i)) drop(i);
    else if (needle && !store.haystack(i, f.replies).includes(needle)) drop(i);
  }
  const names = Object.keys(MODES);
  const modes = Object.fromEntries(names.map((name) => [name, 0]));
  const bit = MODE_BIT[state.mode];
  const order = new Uint32Array(store.nItems);
  const base = new Uint32Array(store.nItems); // before the brush: what the figure draws
  const brushed = new Uint8Array(store.nItems);
  let kept = 0, based = 0, labelled = 0;
  for (const i of orders[state.sort]) {
    if (!keepItem[i]) continue;
    const has = keys.mode[i];
    const inside = !f.brush || inBrush(store, cells, f.brush, i);
    if (inside && has & LABELLED) labelled++;
    if (inside) for (const name of names) modes[name] += (has & MODE_BIT[name]) === MODE_BIT[name];
    if ((has & bit) !== bit) continue;
    base[based++] = i;
    if (!inside) continue;
    brushed[i] = 1;
    order[kept++] = i;
  }
  return { items: order.subarray(0, kept), base: base.subarray(0, based), brushed, modes, labelled, cells, keys, keepRow, keepColumn };
}

function hasLabel(store, wanted, keepColumn, item) {
  for (let k = 0; k < store.nColumns; k++) {
    const c = item * store.nColumns + k;
    if (keepColumn[k] && wanted.has(store.numeric ? store.truth[c] : store.label[c])) return true;
  }
  return false;
}

export const OUTCOMES = ["agrees", "differs", "unparsed"];

export function outcomeOf(store, row) {
  const v = store.value[row];
  if (v !== v) return store.status[row] === 1 ? "not applicable" : "unparsed";
  const c = store.cellOf(row);
  if (store.numeric) {
    if (store.truth[c] !== store.truth[c]) return "no label";
    return Math.abs(v - store.truth[c]) > (store.meta.step || 1) ? "differs" : "agrees";
  }
  if (store.label[c] === NONE || store.called[row] === NONE) return "no label";
  return store.called[row] === store.label[c] ? "agrees" : "differs";
}

function inBrush(store, a, brush, item) {
  const c = item * store.nColumns + brush.column;
  if (brush.cell) return a.n[c] > 0 && store.label[c] === brush.cell[0] && a.major[c] === brush.cell[1];
  const sd = a.sd[c] === a.sd[c] ? a.sd[c] : 0; // one repeat has no spread
  return a.mean[c] >= brush.x[0] && a.mean[c] <= brush.x[1] && sd >= brush.y[0] && sd <= brush.y[1];
}
