// Decode the embedded data, check them, and hold them as typed arrays, one entry per judgment.

import { plainNumber } from "./format.js";

export const STATUS = ["ok", "not_applicable", "unparsed", "error", "missing"];
/** Words of a status that `judgestats analyze` reads. */
export const STATUS_READ = ["ok", "not_applicable", "unparseable", "failed", "missing"];
export const NONE = 255; // no verdict, no label, no majority
export const BY_CRITERION = "by criterion"; // the label of an item whose criteria have different ones
const TEXT_PARTS = ["explanation", "raw", "request"];

/** Decode base64, gunzip, parse. The three steps take about 0.3 s for 100,000 judgments. */
export async function readPayload(script) {
  return unpack(Uint8Array.from(atob(script.textContent.trim()), (c) => c.charCodeAt(0)));
}

export async function unpack(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function check(good, what) {
  if (!good) throw new Error(`the data are not of this page (${what})`);
}

/** Labels that begin alike lose it: "output 1", "output 2" become "1", "2" under "output". */
export function shortened(words) {
  if (words.length < 2) return { prefix: "", short: words };
  const parts = words.map((w) => w.split(/(?<=[ _:/-])/)), first = parts[0];
  let n = 0;
  while (n < first.length - 1 && parts.every((p) => p.length > n + 1 && p[n] === first[n])) n++;
  const prefix = first.slice(0, n).join("").replace(/[ _:/-]+$/, "");
  return { prefix, short: prefix ? parts.map((p) => p.slice(n).join("")) : words };
}

/** Conditions without the parts that all columns share; as they are where nothing else is left. */
function heads(columns) {
  const parts = columns.map((c) => c.condition.split(", "));
  const own = parts.map((p) => p.filter((w) => !parts.every((q) => q.includes(w))).join(", "));
  return columns.map((c, k) => (own.every((w, i) => w || columns[i].rater === "human") ? own[k] : c.condition));
}

/**
 * Judgments by cell. A cell is one item x one column (judge, condition, criterion, system, or a
 * human rater). `rows(cell)` are the judgments of a cell in order of repeat.
 */
export class Store {
  constructor(payload) {
    check(payload.schema === "judgestats.view/1", "schema");
    const j = payload.judgments, items = payload.items;
    Object.assign(this, { record: payload.record, meta: payload.meta, columns: payload.columns,
      items, texts: payload.texts, optional: j, decisions: payload.decisions || [] });
    this.points = payload.columns.map((c) => c.kind === "score");
    this.scored = this.points.includes(true);
    this.labels = payload.meta.labels || []; // the words of verdicts and human labels
    Object.assign(this, shortened(this.labels));
    this.count = j.item.length;
    this.nItems = items.id.length;
    this.nColumns = payload.columns.length;
    check(this.nItems < 2 ** 21 && this.nColumns < 65536, "size");
    check(["column", "repeat", "value", "called", "status"].every((n) => j[n].length === this.count), "length");
    check(j.item.every((v) => v >= 0 && v < this.nItems), "item");
    check(j.column.every((v) => v >= 0 && v < this.nColumns), "column");
    check(j.value.every((v, r) => v === null || this.points[j.column[r]] || v in this.labels), "value");
    check(j.value.every((v) => v === null || Number.isFinite(v)), "number");
    check(j.status.every((v) => v in STATUS), "status");
    check(this.labels.length < NONE && j.called.every((v) => v === null || v in this.labels), "called");
    check(["cluster", "slice", "title"].every((n) => items[n].length === this.nItems), "items");
    this.item = Uint32Array.from(j.item);
    this.column = Uint16Array.from(j.column);
    this.repeat = Uint16Array.from(j.repeat);
    this.order = j.order ? Uint8Array.from(j.order) : null;
    this.status = Uint8Array.from(j.status);
    // NaN: no verdict was read. Categories are codes 0 .. K-1.
    this.value = Float64Array.from(j.value, (v) => (v === null ? NaN : v));
    // The verdict in the words of the label (through the recorded cut-off).
    this.called = Uint8Array.from(j.called, (v) => (v === null ? NONE : v));
    this.systems = items.system && items.system.some(Boolean) ? items.system : null; // an item is of one
    const several = new Set(payload.columns.map((c) => c.judge)).size > 1;
    this.heads = heads(payload.columns);
    this.names = payload.columns.map((c, k) =>
      [several && c.judge, this.heads[k], c.criterion].filter(Boolean).join(", ") || c.name);
    this.human = payload.columns.map((c) => c.rater === "human");
    // Judges by criterion: verdicts on different criteria do not disagree.
    this.groups = [...new Set(payload.columns.map((c) => c.criterion))].map((name) =>
      payload.columns.flatMap((c, k) => (c.criterion === name && !this.human[k] ? [k] : [])));
    this.setLabels(items);
    this.index();
    this.places = new Map(items.id.map((id, i) => [id, i]));
    const twice = (points) => this.start.some((s, c) =>
      c && this.points[(c - 1) % this.nColumns] === points && s - this.start[c - 1] > 1);
    this.single = this.scored && !twice(true);
    this.splits = twice(false); // verdicts of one judge can be split
    this.voted = new Uint8Array(this.nColumns); // columns with verdicts in the words of the label
    this.verdicts = new Map(); // judgments by word of the verdict
    const seen = [new Map(), new Map()]; // categories, scores: [judgments, one of them] by value
    const judged = new Set(this.label); // labels, and verdicts of judges
    for (let r = 0; r < this.count; r++) {
      if (this.called[r] !== NONE) this.voted[this.column[r]] = 1;
      if (!this.human[this.column[r]]) judged.add(this.called[r]);
      const of = seen[Number(this.points[this.column[r]])], v = this.value[r];
      if (v === v) of.set(v, [(of.get(v)?.[0] || 0) + 1, r]);
    }
    this.counted = [...this.labels.keys()].filter((k) => judged.has(k));
    for (const [n, r] of seen.flatMap((of) => [...of.values()])) {
      const word = this.verdictWord(r);
      this.verdicts.set(word, (this.verdicts.get(word) || 0) + n);
    }
  }

  /** Labels by cell: of the item, or of the item under the criterion of the column. */
  setLabels(items) {
    const cells = this.nItems * this.nColumns;
    this.numeric = this.scored && this.meta.numeric === true; // labels are points of the scale
    this.label = new Uint8Array(cells).fill(NONE);
    this.truth = this.numeric ? new Float64Array(cells).fill(NaN) : null;
    const by = new Map(items.labels || []);
    for (let k = 0; k < this.nColumns; k++) {
      const list = by.get(this.columns[k].criterion) || items.label;
      for (let i = 0; i < this.nItems; i++) {
        const v = list[i];
        if (v === null || v === undefined) continue;
        if (this.numeric) { if (this.points[k]) this.truth[i * this.nColumns + k] = v; }
        else { check(v in this.labels, "label"); this.label[i * this.nColumns + k] = v; }
      }
    }
    this.labelled = this.numeric ? this.truth.some((v) => v === v) : this.label.some((v) => v !== NONE);
    this.decided = this.labelled && (this.numeric || this.called.some((v) => v !== NONE));
  }

  index() {
    const cells = this.nItems * this.nColumns;
    this.start = new Uint32Array(cells + 1);
    for (let r = 0; r < this.count; r++) this.start[this.cellOf(r) + 1]++;
    for (let c = 0; c < cells; c++) this.start[c + 1] += this.start[c];
    this.sorted = new Uint32Array(this.count);
    const next = this.start.slice(0, cells);
    for (let r = 0; r < this.count; r++) this.sorted[next[this.cellOf(r)]++] = r;
  }

  cellOf(row) {
    return this.item[row] * this.nColumns + this.column[row];
  }

  rows(cell) {
    return this.sorted.subarray(this.start[cell], this.start[cell + 1]);
  }

  /** The label of an item as a word: of all columns, or that criteria differ. */
  labelWord(item, short = false) {
    const seen = new Set();
    for (let k = 0; k < this.nColumns; k++) {
      const c = item * this.nColumns + k, w = this.cellLabel(c, short);
      if (w) seen.add(this.numeric ? plainNumber(this.truth[c]) : w);
    }
    return seen.size > 1 ? BY_CRITERION : [...seen][0] || "";
  }

  cellLabel(cell, short = false) {
    if (this.numeric) return this.truth[cell] === this.truth[cell] ? String(this.truth[cell]) : "";
    return this.label[cell] === NONE ? "" : (short ? this.short : this.labels)[this.label[cell]];
  }

  /** The verdict of a judgment as a word. */
  verdictWord(row) {
    const v = this.value[row];
    if (v !== v) return STATUS[this.status[row]].replace("_", " ");
    return this.points[this.column[row]] ? String(v) : this.labels[v];
  }

  /** A text by its number in the list of texts; "" where there is none. */
  text(number) {
    return number === null || number === undefined || number < 0 ? "" : this.texts[number] ?? "";
  }

  optionalText(name, row) {
    const list = this.optional[name];
    return list ? this.text(list[row]) : "";
  }

  /** Folded text of an item for the search; made on the first search, then kept. */
  haystack(item, replies) {
    const kept = replies ? (this.deep ||= new Array(this.nItems)) : (this.lower ||= new Array(this.nItems));
    if (kept[item] === undefined) {
      const parts = [this.items.id[item]];
      for (const [, list] of this.items.texts) parts.push(this.text(list[item]));
      const from = this.start[item * this.nColumns], to = this.start[(item + 1) * this.nColumns];
      const seen = new Set();
      for (let n = from; replies && n < to; n++) {
        for (const name of TEXT_PARTS) seen.add(this.optionalText(name, this.sorted[n]));
      }
      kept[item] = [...parts, ...seen].join("\n").toLowerCase();
    }
    return kept[item];
  }
}
