// Decisions of a reviewer, kept in the browser and written as a labels file.

import { byId, el } from "./dom.js";
import { count, fixed } from "./format.js";
import { NONE } from "./store.js";

export const RESOLVED = new Map([["judge", "judge right"], ["human", "human right"], ["unclear", "unclear"]]);
const LONGEST_COPY = 5e6; // characters that a dialog shows to be copied

/** A file that judgestats reads again: every field is quoted and keeps its value. */
export function csv(rows) {
  const field = (v) => `"${String(v ?? "").replaceAll('"', '""')}"`;
  return rows.map((r) => `${r.map(field).join(",")}\r\n`).join("");
}

export class Review {
  constructor(store) {
    this.store = store;
    this.key = `judgestats:review:${store.meta.id}`;
    this.kept = true; // false where the browser allows no storage (sandboxed frame)
    this.decisions = new Map();
    this.saved = true;
    try {
      this.decisions = new Map(JSON.parse(localStorage.getItem(this.key) || "[]"));
    } catch { this.kept = false; }
    addEventListener("beforeunload", (event) => {
      if (this.decisions.size && !this.kept && !this.saved) event.preventDefault();
    });
  }

  at(item, column) {
    return JSON.stringify([this.store.items.id[item], this.store.columns[column].name]);
  }

  get(item, column) {
    return this.decisions.get(this.at(item, column));
  }

  /** Decisions of a file that was opened with the page: rows as it saved them. */
  earlier(item, column) {
    const id = this.store.items.id[item], c = this.store.columns[column];
    return this.store.decisions.filter((d) => d.item_id === id && RESOLVED.has(d.resolution)
      && ["judge", "condition", "criterion"].every((n) => (d[n] || "") === c[n]));
  }

  set(item, column, decision) {
    const key = this.at(item, column);
    if (decision) this.decisions.set(key, decision); else this.decisions.delete(key);
    this.saved = false;
    try { localStorage.setItem(this.key, JSON.stringify([...this.decisions])); }
    catch { this.kept = false; }
  }

  /** How many items of the selection are decided, and how; empty before the first decision. */
  progress(selection) {
    if (!this.decisions.size) return "";
    const of = { judge: 0, human: 0, unclear: 0 }, items = new Set();
    const shown = selection ? new Set([...selection.items].map((i) => this.store.items.id[i])) : new Set();
    for (const [key, d] of this.decisions) {
      const [id] = JSON.parse(key);
      if (!shown.has(id)) continue;
      items.add(id);
      of[d.resolution]++;
    }
    return items.size ? `Reviewed ${count(items.size)} of ${count(shown.size)}: judge right ${count(of.judge)}, `
      + `human right ${count(of.human)}, unclear ${count(of.unclear)}` : "";
  }

  /** The judge's verdict on an item: the majority, or the mean where a score has no word. */
  verdict(cells, item, column) {
    const c = item * this.store.nColumns + column;
    if (cells.major[c] !== NONE) return this.store.labels[cells.major[c]];
    return this.store.points[column] && !this.store.voted[column] && cells.n[c] ? fixed(cells.mean[c], 2).replace("\u2212", "-") : "";
  }

  /** Rows of the labels file. `blind` is false: the reviewer saw the judge's verdict. */
  rows(annotator, cells, view) {
    const { store } = this;
    const columns = new Map(store.columns.map((c, k) => [c.name, k]));
    const out = [["item_id", "annotator", "label", "note", "resolution", "judge", "condition", "criterion",
      "judge_verdict", "human_label", "blind", "view"]];
    for (const [key, d] of this.decisions) {
      const [id, name] = JSON.parse(key);
      const item = store.places.get(id), column = columns.get(name);
      if (item === undefined || column === undefined) continue;
      const judge = this.verdict(cells, item, column);
      const human = store.cellLabel(item * store.nColumns + column);
      const label = d.resolution === "judge" ? judge : d.resolution === "human" ? human : "";
      const c = store.columns[column];
      out.push([id, annotator, label, d.note || "", d.resolution, c.judge, c.condition, c.criterion,
        judge, human, "false", view]);
    }
    return out;
  }
}

/** Offer a file. A sandboxed frame may not download: there the text can be copied. */
export function offer(name, text, view = "") {
  if (window.self !== window.top) {
    const short = text.length <= LONGEST_COPY;
    byId("save-name").textContent = name;
    byId("save-view").textContent = view;
    byId("save-text").value = short ? text : "This file is too large for a frame: open the page on its own.";
    byId("save").showModal();
    byId("save-text").select();
    byId("save-text").scrollTop = 0;
    return;
  }
  const link = el("a", { download: name });
  // The only address that the page sets: a blob that it made itself.
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
