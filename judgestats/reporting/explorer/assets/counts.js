// The figure of categories: human label against majority, one table of counts per column.

import { breakable, el, replace } from "./dom.js";
import { DASH, count } from "./format.js";
import { NONE } from "./store.js";

/** A table of labels by majorities for one column. */
export function countTable(column, store) {
  const body = el("tbody");
  const node = el("section", { class: "panel" }, el("h3", {}, breakable(store.names[column.k])),
    el("table", { class: "confusion" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: store.prefix ? "" : "sr" }, store.prefix || "Human label")),
        store.short.map((l) => el("th", { scope: "col" }, l)),
        el("th", { scope: "col" }, "split"))), body));
  return { column, node, body };
}

/** Counts of items of the current selection: human label in rows, majority in columns. */
export function fillCounts(figure, panel) {
  const { store, selection } = figure, k = store.labels.length;
  const focused = panel.body.contains(document.activeElement) && document.activeElement.dataset.code;
  const counts = new Uint32Array((k + 1) * (k + 1)); // the last row: no label
  for (const item of selection.base) {
    const c = item * store.nColumns + panel.column.k;
    if (!selection.cells.n[c]) continue;
    counts[Math.min(store.label[c], k) * (k + 1) + Math.min(selection.cells.major[c], k)]++;
  }
  const most = counts.reduce((p, q) => Math.max(p, q), 1);
  const words = [...store.short, store.labelled ? "no label" : "all"];
  const used = words.map((_, row) => (row < k ? store.labelled : counts.subarray(k * (k + 1)).some((n) => n)));
  replace(panel.body, words.map((word, row) => used[row] && el("tr", {},
    el("th", { scope: "row" }, word),
    Array.from({ length: k + 1 }, (_, col) => {
      const n = counts[row * (k + 1) + col];
      const code = [row, col].map((v) => (v === k ? NONE : v));
      const on = figure.current && figure.current.column === panel.column.k && figure.current.cell
        && figure.current.cell[0] === code[0] && figure.current.cell[1] === code[1];
      const button = el("button", {
        type: "button", "data-code": `${row} ${col}`, "aria-pressed": String(Boolean(on)),
        "aria-label": `${panel.column.name}: label ${word}, verdict ${col < k ? store.labels[col] : "split"}, ${n}`,
        class: row === k ? "" : row === col ? "agree" : "disagree",
        on: { click: () => figure.brush(on ? null : { column: panel.column.k, cell: code }) },
      }, n ? count(n) : DASH);
      button.style.setProperty("--heat", `${Math.round((n / most) * 100)}%`);
      return el("td", {}, button);
    }))));
  if (focused) panel.body.querySelector(`[data-code="${focused}"]`)?.focus();
}
