// The main figure. Scores: mean against spread of repeats, one panel per judge, on canvas.
// Categories: verdict against label, one table per judge. Both filter the matrix.

import { countTable, fillCounts, tableWidth } from "./counts.js";
import { breakable, el, replace, token } from "./dom.js";
import { count, fixed, ticks } from "./format.js";
import { outcomeOf } from "./select.js";

const PAD = { left: 34, right: 8, top: 8, bottom: 26 };

export class Figure {
  /** @param brush called with a brush or null; @param open called with (item, column) */
  constructor(host, store, brush, open) {
    Object.assign(this, { host, store, brush, open });
    this.panels = [];
    new ResizeObserver(() => this.paint()).observe(host);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
  }

  show(selection, filters) {
    this.selection = selection;
    this.current = filters.brush;
    const { store } = this;
    const columns = store.columns.map((c, k) => ({ ...c, k })).filter((c) => selection.keepColumn[c.k] && !store.human[c.k]);
    const names = columns.map((c) => c.k).join();
    if (names !== this.names) {
      this.names = names;
      this.panels = columns.map((c) => (store.points[c.k] ? this.scatter(c) : countTable(c, store)));
      replace(this.host, this.panels.map((p) => p.node));
      if (this.panels.some((p) => p.body)) this.host.style.setProperty("--wide", `${tableWidth(store)}px`);
    }
    this.limits();
    this.paint();
  }

  limits() {
    const a = this.selection.cells;
    let top = 0;
    if (this.store.single) {
      for (const p of this.panels.filter((q) => q.canvas)) {
        p.bins = this.bins(p.column);
        for (const b of p.bins.values()) top = Math.max(top, b[0] + b[1] + b[2]);
      }
      this.top = Math.max(1, top);
      return;
    }
    for (let c = 0; c < a.sd.length; c++) if (a.sd[c] > top) top = a.sd[c];
    this.top = Math.max(1, Math.ceil(top * 2) / 2);
  }

  /** One repeat: items per score, as [agrees, differs, no label]; at most 40 bins. */
  bins(column) {
    const { store } = this, [from, to] = store.meta.scale;
    const wide = Math.max(store.meta.step || 1, (to - from) / 40);
    const bins = new Map();
    for (const item of this.selection.base) {
      for (const r of store.rows(item * store.nColumns + column.k)) {
        const v = store.value[r];
        if (v !== v || !this.selection.keepRow[r]) continue;
        const at = from + Math.round((v - from) / wide) * wide;
        if (!bins.has(at)) bins.set(at, [0, 0, 0]);
        const outcome = outcomeOf(store, r);
        bins.get(at)[outcome === "agrees" ? 0 : outcome === "differs" ? 1 : 2]++;
      }
    }
    return Object.assign(bins, { wide });
  }

  scatter(column) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const tip = el("p", { class: "fig-tip", "aria-hidden": "true" });
    // The same brush by keyboard: two pairs of numbers.
    const field = (name) => el("input", { type: "number", step: "0.1", "aria-label": name });
    const { single } = this.store;
    const fields = (single ? ["Score from", "Score to"] : ["Mean from", "Mean to", "SD from", "SD to"])
      .map((n) => field(`${column.name}: ${n}`));
    const form = el("details", { class: "fig-range" }, el("summary", {}, "Range"),
      el("div", {}, single ? "Score " : "Mean ", fields[0], "\u2013", fields[1],
        single ? null : [" SD ", fields[2], "\u2013", fields[3]]));
    const node = el("section", { class: "panel" },
      el("h3", { class: "brief", title: column.name }, breakable(this.store.names[column.k])), canvas, tip, form);
    const panel = { column, canvas, node, tip, fields };
    for (const input of fields) {
      input.addEventListener("change", () => {
        const v = fields.map((f) => parseFloat(f.value));
        if (v.every(Number.isNaN)) { this.brush(null); return; }
        const or = (n, other) => (Number.isFinite(v[n]) ? v[n] : other);
        this.brush({ column: column.k,
          x: [or(0, -1e9), or(1, 1e9)], y: [or(2, -1e9), or(3, 1e9)] });
      });
    }
    this.pointer(panel);
    return panel;
  }

  /** Drag to brush, click to open the nearest point, double click to clear. */
  pointer(panel) {
    const { canvas } = panel;
    let from = null;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch") return; // a finger scrolls; see click
      from = at(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from) {
        panel.drag = [from, at(event)];
        this.paintPanel(panel);
      } else this.hover(panel, at(event));
    });
    canvas.addEventListener("pointerleave", () => { panel.tip.textContent = ""; });
    canvas.addEventListener("pointerup", (event) => {
      if (!from) return;
      const to = at(event);
      const dragged = Math.hypot(to[0] - from[0], to[1] - from[1]) > 5;
      panel.drag = null;
      if (dragged) {
        const s = this.scales(panel);
        const sort = (p, q) => (p < q ? [p, q] : [q, p]);
        this.brush({
          column: panel.column.k,
          x: sort(s.vx(from[0]), s.vx(to[0])),
          y: this.store.single ? [-1e9, 1e9] : sort(s.vy(from[1]), s.vy(to[1])),
        });
      }
      panel.dragged = dragged;
      from = null;
    });
    canvas.addEventListener("click", (event) => {
      if (panel.dragged) { panel.dragged = false; return; }
      if (this.store.single) { // a bar filters to its score, and again to all
        const v = this.scales(panel).vx(at(event)[0]), { wide } = panel.bins;
        const bar = [...panel.bins.keys()].find((b) => Math.abs(b - v) <= wide / 2);
        const on = this.current && this.current.column === panel.column.k && this.current.x[0] <= bar && bar <= this.current.x[1];
        this.brush(bar === undefined || on ? null
          : { column: panel.column.k, x: [bar - wide / 2, bar + wide / 2], y: [-1e9, 1e9] });
        return;
      }
      const item = this.nearest(panel, at(event));
      if (item >= 0) this.open(item, panel.column.k);
      else if (this.current) this.brush(null);
    });
  }

  scales(panel) {
    const width = panel.canvas.clientWidth, height = panel.canvas.clientHeight;
    const [from, to] = this.store.meta.scale;
    const w = width - PAD.left - PAD.right, h = height - PAD.top - PAD.bottom;
    const edge = (to - from) * 0.033 + (this.store.single ? (this.store.meta.step || 1) / 2 : 0);
    const x0 = from - edge, span = to - from + 2 * edge, top = this.top * 1.05;
    return {
      width, height,
      x: (v) => PAD.left + ((v - x0) / span) * w,
      y: (v) => PAD.top + h - (v / top) * h,
      vx: (p) => x0 + ((p - PAD.left) / w) * span,
      vy: (p) => ((PAD.top + h - p) / h) * top,
    };
  }

  nearest(panel, [px, py]) {
    const s = this.scales(panel), a = this.selection.cells;
    let best = -1, distance = 12 * 12;
    if (this.store.single) return best;
    for (const item of this.selection.base) {
      const c = item * this.store.nColumns + panel.column.k;
      const d = (s.x(a.mean[c]) - px) ** 2 + (s.y(a.sd[c] || 0) - py) ** 2;
      if (d < distance) { distance = d; best = item; }
    }
    return best;
  }

  hover(panel, at) {
    const item = this.nearest(panel, at);
    const c = item * this.store.nColumns + panel.column.k;
    const a = this.selection.cells;
    panel.tip.textContent = item < 0 ? ""
      : `${this.store.items.id[item]}: mean ${fixed(a.mean[c], 2)}, SD ${fixed(a.sd[c], 2)}`;
  }

  paint() {
    if (!this.selection) return;
    for (const p of this.panels) if (p.canvas) this.paintPanel(p); else fillCounts(this, p);
  }

  paintPanel(panel) {
    const { canvas, column } = panel;
    const s = this.scales(panel);
    if (!s.width) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(s.width * ratio);
    canvas.height = Math.round(s.height * ratio);
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    const ink = token("--quiet"), line = token("--line");
    const [from, to] = this.store.meta.scale;
    g.font = "11px system-ui, sans-serif";
    g.fillStyle = ink;
    g.strokeStyle = line;
    g.textAlign = "center";
    for (const v of ticks(from, to)) {
      g.fillText(String(v), s.x(v), s.height - 12);
      g.beginPath(); g.moveTo(s.x(v), s.y(0)); g.lineTo(s.x(v), PAD.top); g.stroke();
    }
    g.textAlign = "right";
    const most = Math.min(5, (s.height - PAD.top - PAD.bottom) / 16);
    for (const v of ticks(0, this.top, this.store.single ? Math.min(most, this.top) : most)) {
      g.fillText(count(v), PAD.left - 6, s.y(v) + 4);
      g.beginPath(); g.moveTo(PAD.left, s.y(v)); g.lineTo(s.width - PAD.right, s.y(v)); g.stroke();
    }
    const { cut } = this.store.meta;
    if (cut !== null) {
      g.setLineDash([4, 3]);
      g.strokeStyle = token("--ink");
      g.beginPath();
      const edge = cut - (this.store.meta.step || 1) / 2;
      g.moveTo(s.x(edge), PAD.top); g.lineTo(s.x(edge), s.y(0)); g.stroke();
      g.setLineDash([]);
    }
    if (this.store.single) this.bars(g, s, panel.bins); else this.points(g, s, column);
    const box = panel.drag ? [...panel.drag[0], ...panel.drag[1]] : this.box(s, column);
    if (box) {
      g.fillStyle = token("--brush");
      g.strokeStyle = token("--accent");
      g.fillRect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
      g.strokeRect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
    }
  }

  /** Scores of single judgments: agrees, above it differs (hatched), above it no label. */
  bars(g, s, bins) {
    const fills = [token("--good"), token("--bad"), token("--quiet")];
    for (const [v, parts] of bins) {
      const half = Math.max(1, (s.x(v + bins.wide) - s.x(v)) * 0.4);
      let at = 0;
      parts.forEach((n, k) => {
        if (!n) return;
        const y = s.y(at + n), h = s.y(at) - y;
        g.fillStyle = fills[k];
        g.fillRect(s.x(v) - half, y, 2 * half, h);
        if (k === 1) { // a line in the bar: colour does not tell alone
          g.fillStyle = token("--paper");
          for (let p = y + 3; p < y + h; p += 5) g.fillRect(s.x(v) - half, p, 2 * half, 1);
        }
        at += n;
      });
    }
  }

  /** Correct items as circles, wrong ones as crosses: shape and colour both tell. */
  points(g, s, column) {
    const { store, selection } = this, a = selection.cells;
    const many = selection.base.length > 4000;
    const quiet = token("--quiet");
    g.globalAlpha = many ? 0.25 : 0.55;
    const good = token("--good"), bad = token("--bad");
    const wrong = [];
    let inside = -1;
    for (const item of selection.base) {
      const c = item * store.nColumns + column.k;
      if (!a.n[c]) continue;
      // Setting the colour is slow: only where it changes.
      if (selection.brushed[item] !== inside) {
        inside = selection.brushed[item];
        g.fillStyle = inside ? good : quiet;
      }
      if (selection.brushed[item] && a.wrong[c]) { wrong.push(c); continue; }
      // Ties on the grid of a short scale are spread a little, the same way each time.
      const shift = ((item * 7919) % 13) / 13 - 0.5;
      const x = s.x(a.mean[c]) + shift * 4, y = s.y(a.sd[c] || 0) + shift * 2;
      if (many) g.fillRect(x - 1.5, y - 1.5, 3, 3);
      else { g.beginPath(); g.arc(x, y, 2.6, 0, 7); g.fill(); }
    }
    g.strokeStyle = bad;
    g.globalAlpha = many ? 0.45 : 0.8;
    g.lineWidth = 1.3;
    g.beginPath();
    for (const c of wrong) {
      const x = s.x(a.mean[c]), y = s.y(a.sd[c] || 0);
      g.moveTo(x - 2.5, y - 2.5); g.lineTo(x + 2.5, y + 2.5);
      g.moveTo(x + 2.5, y - 2.5); g.lineTo(x - 2.5, y + 2.5);
    }
    g.stroke();
    g.globalAlpha = 1;
    g.lineWidth = 1;
  }

  box(s, column) {
    const b = this.current;
    if (!b || b.column !== column.k || b.cell) return null;
    const clamp = (v, low, high) => Math.min(high, Math.max(low, v));
    const [from, to] = this.store.meta.scale;
    const out = (to - from) * 0.03 + (this.store.single ? (this.store.meta.step || 1) / 2 : 0);
    return [s.x(clamp(b.x[0], from - out, to + out)), s.y(clamp(b.y[1], 0, this.top * 1.05)),
      s.x(clamp(b.x[1], from - out, to + out)), s.y(clamp(b.y[0], 0, this.top * 1.05))];
  }
}
