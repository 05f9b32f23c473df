// The figure's title; the figure of categories: human label against majority, one table of counts
// per column.

import { breakable, el, replace } from "./dom.js";
import { DASH, count, longest, plural } from "./format.js";
import { NONE } from "./store.js";

/** What the figure shows, as counts of the selection. */
export function figureTitle(store, { all, differ, flips, wrong }, labelled) {
  const of = (n) => `${count(n)} of ${plural(all, "item")}`;
  if (store.scored ? !store.single : store.splits && !store.decided) {
    return `Repeats ${store.voted.includes(1) ? "give different verdicts" : "differ by more than a step"} on ${of(flips)}`;
  }
  return store.decided ? `A judge differs from the human label on ${count(wrong)} of ${plural(labelled, "labelled item")}` : `Judges disagree on ${of(differ)}`;
}

const verdictWords = (store) => [...store.counted.map((k) => store.short[k]), ...(store.splits ? ["split"] : [])];

/** Pixels that such a table needs, by the characters of its words. */
export function tableWidth(store) {
  const words = verdictWords(store).map((word) => longest(word.split(" "))); // lines break at spaces
  const wide = (n) => Math.max(24, 8 + 6.6 * Math.min(n, 14));
  return words.reduce((sum, n) => sum + wide(n), wide(Math.max(...words, "label".length)));
}

/** A table of labels by majorities for one column. */
export function countTable(column, store) {
  const body = el("tbody");
  const node = el("section", { class: "panel" }, el("h3", { class: "brief", title: column.name }, breakable(store.names[column.k])),
    el("table", { class: "confusion" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: store.prefix ? "" : "sr" }, store.prefix || "Human label")),
        verdictWords(store).map((word) => el("th", { scope: "col" }, word)))), body));
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
  const shown = [...store.counted, k], words = [...store.short, store.labelled ? "no label" : "all"];
  const used = (row) => (row < k ? store.labelled : counts.subarray(k * (k + 1)).some((n) => n));
  replace(panel.body, shown.map((row) => used(row) && el("tr", {},
    el("th", { scope: "row" }, words[row]),
    shown.slice(0, verdictWords(store).length).map((col) => {
      const n = counts[row * (k + 1) + col];
      const code = [row, col].map((v) => (v === k ? NONE : v));
      const on = figure.current && figure.current.column === panel.column.k && figure.current.cell
        && figure.current.cell[0] === code[0] && figure.current.cell[1] === code[1];
      const button = el("button", {
        type: "button", "data-code": `${row} ${col}`, "aria-pressed": String(Boolean(on)),
        "aria-label": `${panel.column.name}: label ${words[row]}, verdict ${col < k ? store.labels[col] : "split"}, ${n}`,
        class: row === k ? "" : row === col ? "agree" : "disagree",
        on: { click: () => figure.brush(on ? null : { column: panel.column.k, cell: code }) },
      }, n ? count(n) : DASH);
      button.style.setProperty("--heat", `${Math.round((n / most) * 100)}%`);
      return el("td", {}, button);
    }))));
  if (focused) panel.body.querySelector(`[data-code="${focused}"]`)?.focus();
}
