// The item x judge matrix: an ARIA grid whose rows exist only while they are near the window.

import { announce, breakable, el, replace, setAttributes, svg } from "./dom.js";
import { DASH, count, fixed, longest, plainNumber } from "./format.js";
import { OF_COLUMN } from "./select.js";
import { NONE } from "./store.js";

const MARGIN = 8; // rows kept above and below the window

export class Matrix {
  /** @param open called with (item, column) when a row or cell is chosen */
  constructor(host, store, open) {
    this.host = host;
    this.store = store;
    this.open = open;
    this.live = new Map(); // position -> row element
    this.active = 0; // position that has the focus
    this.activeColumn = -1;
    this.head = el("div", { class: "mx-head", role: "rowgroup" });
    this.body = el("div", { class: "mx-body", role: "rowgroup" });
    this.grid = el("div", { class: "mx-grid", role: "grid", "aria-label": "Items by judge" },
      this.head, this.body);
    this.scroller = el("div", { class: "mx-scroll", tabindex: "-1" }, this.grid);
    host.append(this.scroller);
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  show(selection) {
    this.selection = selection;
    this.columns = this.store.columns
      .map((c, k) => ({ ...c, k })).filter((c) => selection.keepColumn[c.k]);
    const focused = this.body.contains(document.activeElement);
    this.live.clear();
    this.labelled = this.store.labelled;
    setAttributes(this.grid, { "aria-colcount": this.columns.length + 1 + this.labelled });
    this.grid.style.setProperty("--n", this.columns.length);
    this.grid.classList.toggle("words", !this.store.scored);
    this.grid.style.setProperty("--word", `${0.5 * Math.min(12, longest(this.store.short))}rem`);
    this.grid.classList.toggle("bare", !this.labelled);
    this.header();
    setAttributes(this.grid, { "aria-rowcount": selection.items.length + this.headRows });
    this.rowHeight = parseFloat(getComputedStyle(this.grid).getPropertyValue("--row")) || 46;
    this.body.style.height = `${Math.max(selection.items.length, 1) * this.rowHeight}px`;
    replace(this.body);
    const stay = selection.items.indexOf(this.openItem);
    this.active = Math.max(0, stay);
    this.scroller.scrollTop = stay < 0 ? 0 : stay * this.rowHeight;
    if (!selection.items.length) {
      this.body.append(el("p", { class: "empty" },
        "No item matches. Remove a filter or choose All."));
    }
    this.draw();
    if (focused && selection.items.length) this.focus(this.active);
    else if (focused) this.host.focus();
  }

  /** One header row per role of a column; a name spans the columns that share it and all above it. */
  header() {
    const roles = OF_COLUMN.filter((n) => n === "judge" || this.columns.some((c) => c[n]));
    const cell = (text, props) => el("div", { role: "columnheader", ...props }, text);
    const human = ["Human", this.store.prefix].filter(Boolean).join(": ");
    replace(this.head, roles.map((role, depth) => {
      const spans = [];
      for (const c of this.columns) {
        const path = JSON.stringify([c.rater, ...roles.slice(0, depth + 1).map((n) => c[n])]);
        if (spans.at(-1)?.path === path) spans.at(-1).n++;
        else spans.push({ path, name: role === "condition" ? this.store.heads[c.k] : c[role], n: 1 });
      }
      return el("div", { role: "row", class: "mx-row", "aria-rowindex": depth + 1 },
        cell(depth ? "" : "Item", { class: "mx-item" }),
        spans.map((s) => {
          const node = cell(el("span", { class: "brief", title: s.name }, breakable(s.name)), { class: depth + 1 < roles.length || !depth ? "mx-judge" : "", "aria-colspan": s.n });
          node.style.gridColumn = `span ${s.n}`;
          return node;
        }),
        this.labelled ? cell(depth ? "" : human, { class: "mx-human" }) : null);
    }));
    this.headRows = roles.length;
  }

  draw() {
    if (!this.selection) return;
    const { items } = this.selection;
    const top = Math.max(0, this.scroller.scrollTop - this.head.offsetHeight);
    const first = Math.max(0, Math.floor(top / this.rowHeight) - MARGIN);
    const last = Math.min(items.length,
      Math.ceil((top + this.scroller.clientHeight) / this.rowHeight) + MARGIN);
    for (const [at, row] of this.live) {
      const focused = row.contains(document.activeElement);
      if ((at < first || at >= last) && !focused) { row.remove(); this.live.delete(at); }
    }
    for (let at = first; at < last; at++) {
      if (this.live.has(at)) continue;
      const row = this.row(at);
      this.live.set(at, row);
      // Rows stay in document order, so that screen readers read them in order.
      let next = null;
      for (let n = at + 1; n < last && !next; n++) next = this.live.get(n) || null;
      this.body.insertBefore(row, next);
    }
  }

  row(at) {
    const { store, selection } = this;
    const item = selection.items[at];
    const row = el("div", {
      role: "row", class: "mx-row", "data-at": at, "aria-rowindex": at + 1 + this.headRows,
      "aria-selected": item === this.openItem,
    });
    row.style.transform = `translateY(${at * this.rowHeight}px)`;
    const id = store.items.id[item], title = store.text(store.items.title[item]).slice(0, 160);
    const below = [store.items.slice[item], store.systems && store.systems[item], title && id]
      .filter(Boolean).join(" \u00b7 ");
    row.append(el("div", {
      role: "rowheader", class: "mx-item", tabindex: at === this.active ? 0 : -1, "data-c": -1,
    }, el("span", { class: "mx-title" }, title || id), el("span", { class: "mx-sub" }, below)));
    for (const c of this.columns) row.append(this.cell(item, c));
    const label = store.labelWord(item, true) || DASH;
    if (this.labelled) {
      row.append(el("div", { role: "gridcell", class: "mx-human", tabindex: -1, "data-c": -2,
        "aria-label": `human label ${label}` }, label));
    }
    return row;
  }

  cell(item, column) {
    const { store, selection } = this;
    const a = selection.cells;
    const c = item * store.nColumns + column.k;
    const wrong = a.wrong[c] === 1;
    const classes = ["mx-cell"];
    if (wrong) classes.push("is-wrong");
    if (a.flip[c]) classes.push("is-flip");
    const word = a.major[c] === NONE ? "" : store.short[a.major[c]];
    const none = Array.from(store.rows(c)).some((r) => store.status[r] === 1) ? "n/a" : DASH;
    const points = store.points[column.k];
    const main = !a.n[c] ? none : !points ? word || "split"
      : a.n[c] > 1 ? fixed(a.mean[c], 1) : plainNumber(a.mean[c]);
    const said = [
      column.name,
      !points || a.n[c] < 2 ? `${main}${a.n[c] > 1 ? ` of ${a.n[c]}` : ""}` : `mean ${main} of ${a.n[c]}`,
      points && a.n[c] > 1 ? `from ${a.low[c]} to ${a.high[c]}` : "",
      a.flip[c] ? "repeats give different verdicts" : "",
      wrong ? "differs from the human label" : "",
      a.unread[c] ? `${a.unread[c]} unparsed` : "",
    ].filter(Boolean).join(", ");
    const node = el("div", {
      role: "gridcell", class: classes.join(" "), tabindex: -1, "data-c": column.k,
      "aria-label": said, title: said,
    }, el("span", { class: "mx-value", "aria-hidden": "true" }, main),
    this.strip(c, points),
    el("span", { class: "mx-marks", "aria-hidden": "true" },
      [wrong && "\u2260", a.flip[c] && "\u21c5", a.unread[c] && "\u00d7"].filter(Boolean)
        .map((mark) => el("span", {}, mark))));
    if (points && a.n[c]) {
      const [from, to] = store.meta.scale;
      const heat = Math.round(((a.mean[c] - from) / (to - from || 1)) * 100);
      node.style.setProperty("--heat", `${Math.min(100, Math.max(0, heat))}%`);
    }
    return node;
  }

  /** Repeats as dots: stacked on the scale for scores, one mark per repeat for categories. */
  strip(cell, points) {
    const { store, selection } = this;
    const rows = Array.from(store.rows(cell)).filter((r) => selection.keepRow[r]);
    const height = 18;
    const width = points ? 58 : Math.min(58, 4 + rows.length * 10);
    const g = svg("svg", { class: "strip", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    if (points) {
      const [from, to] = store.meta.scale;
      const x = (v) => 3 + Math.min(1, Math.max(0, (v - from) / (to - from || 1))) * (width - 6);
      g.append(svg("line", { x1: 3, x2: width - 3, y1: 15, y2: 15, class: "axis" }));
      if (store.meta.cut !== null) {
        const cut = x(store.meta.cut - (store.meta.step || 1) / 2);
        g.append(svg("line", { x1: cut, x2: cut, y1: 1, y2: 17, class: "cut" }));
      }
      const piles = new Map();
      for (const r of rows) piles.set(store.value[r], (piles.get(store.value[r]) || 0) + 1);
      for (const [v, n] of piles) {
        if (v !== v) continue;
        const h = Math.max(2.2, (n / rows.length) * 13);
        g.append(svg("rect", { x: x(v) - 2, y: 15 - h, width: 4, height: h, rx: 1, class: "bar" }));
      }
    } else {
      g.style.width = `${width}px`;
      const label = store.label[cell] === NONE ? selection.cells.major[cell] : store.label[cell];
      const step = Math.min(10, (width - 4) / Math.max(rows.length, 1));
      rows.forEach((r, i) => {
        const unread = Number.isNaN(store.value[r]);
        const right = label === NONE || store.called[r] === label;
        const box = { x: 2 + i * step, y: 5, width: step - 2, height: 9, rx: 1.5 };
        g.append(svg("rect", { ...box, class: unread ? "unread" : right ? "bar" : "hollow" }));
      });
    }
    return g;
  }

  click(event) {
    const row = event.target.closest("[data-at]");
    if (!row) return;
    const cell = event.target.closest("[data-c]");
    this.focus(Number(row.dataset.at), cell ? Number(cell.dataset.c) : -1);
    this.choose();
  }

  choose() {
    this.open(this.selection.items[this.active], Math.max(this.activeColumn, -1));
  }

  /** Arrow keys move by cell, Home and End within a row, Page keys by window. */
  key(event) {
    const cells = [-1, ...this.columns.map((c) => c.k), ...(this.labelled ? [-2] : [])];
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight) - 2);
    const along = cells.indexOf(this.activeColumn);
    const side = (n) => cells[Math.min(cells.length - 1, Math.max(0, n))];
    const moves = {
      ArrowDown: [1, 0], ArrowUp: [-1, 0], PageDown: [page, 0], PageUp: [-page, 0],
    };
    if (moves[event.key]) this.focus(this.active + moves[event.key][0], this.activeColumn);
    else if (event.key === "ArrowRight") this.focus(this.active, side(along + 1));
    else if (event.key === "ArrowLeft") this.focus(this.active, side(along - 1));
    else if (event.key === "Home") this.focus(event.ctrlKey ? 0 : this.active, -1);
    else if (event.key === "End") {
      this.focus(event.ctrlKey ? this.selection.items.length - 1 : this.active, cells.at(-1));
    } else if (event.key === "Enter" || event.key === " ") this.choose();
    else return;
    event.preventDefault();
  }

  focus(at, column = this.activeColumn) {
    const last = this.selection.items.length - 1;
    if (last < 0) return;
    this.active = Math.min(last, Math.max(0, at));
    this.activeColumn = column;
    const top = this.active * this.rowHeight;
    const room = this.scroller.clientHeight - this.head.offsetHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + this.rowHeight > this.scroller.scrollTop + room) {
      this.scroller.scrollTop = top + this.rowHeight - room;
    }
    this.draw();
    for (const n of this.body.querySelectorAll('[tabindex="0"]')) setAttributes(n, { tabindex: -1 });
    const row = this.live.get(this.active);
    if (!row) return; // the matrix is hidden behind the wide view of an item
    const cell = row.querySelector(`[data-c="${this.activeColumn}"]`) || row.firstChild;
    setAttributes(cell, { tabindex: 0 });
    cell.focus({ preventScroll: true });
  }

  /** Mark the open item; used by j and k and by the figure. */
  mark(item) {
    this.openItem = item;
    for (const [at, row] of this.live) {
      setAttributes(row, { "aria-selected": String(this.selection.items[at] === item) });
    }
  }

  step(by) {
    if (!this.selection.items.length) return;
    const at = this.selection.items.indexOf(this.openItem);
    this.focus(at < 0 ? 0 : at + by, this.activeColumn);
    this.choose();
    announce(`Item ${count(this.active + 1)} of ${count(this.selection.items.length)}`);
  }
}
