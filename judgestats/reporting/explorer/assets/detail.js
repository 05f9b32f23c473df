// One item: its texts, its labels, every reply side by side, the reviewer's decision.

import { byId, el, replace, setAttributes } from "./dom.js";
import { DASH, count, fixed } from "./format.js";
import { RESOLVED } from "./review.js";
import { outcomeOf } from "./select.js";
import { BY_CRITERION, NONE } from "./store.js";
import { judged } from "./text.js";

const SIGN = { agrees: "=", differs: "\u2260", unparsed: "\u00d7" };

export class Detail {
  constructor(store, review, changed) {
    Object.assign(this, { store, review, changed });
    this.plain = false;
  }

  show(item, column, selection) {
    const moved = item !== this.item;
    Object.assign(this, { item, column, selection });
    const { store } = this;
    const columns = store.columns.map((c, k) => ({ ...c, k }))
      .filter((c) => selection.keepColumn[c.k] && store.rows(item * store.nColumns + c.k).length);
    const judges = columns.filter((c) => !store.human[c.k]);
    if (!judges.some((c) => c.k === column)) { // the judge to decide on: the first that errs
      const { wrong } = selection.cells, errs = judges.find((c) => wrong[item * store.nColumns + c.k]);
      this.column = (errs || judges[0] || { k: -1 }).k;
    }
    replace(byId("detail-title"), store.items.id[item]);
    const { slice, cluster, id } = store.items, seen = [id[item], ...store.items.texts.map(([, list]) => store.text(list[item]))];
    const own = seen.some((text) => text.startsWith(cluster[item])) ? "" : cluster[item].slice(0, 160);
    const about = [slice[item], own, store.systems && store.systems[item], store.labelled && "human label: "];
    replace(byId("detail-sub"), about.filter(Boolean).join(" \u00b7 "),
      store.labelled ? el("b", {}, store.labelWord(item) || DASH) : null);
    const texts = store.items.texts.map(([name, list]) => {
      const text = store.text(list[item]);
      return text ? el("section", { class: "block" }, el("h3", {}, name), judged(text, this.plain)) : null;
    });
    replace(byId("detail-body"), el("div", { class: "texts" }, texts),
      el("h3", { class: "replies-head" }, "Replies"),
      el("div", { class: "replies" }, columns.map((c) => this.replies(c))));
    this.decide(judges);
    byId("detail").hidden = false;
    document.body.classList.add("has-detail");
    if (moved) byId("detail-body").scrollTop = 0;
  }

  hide() {
    byId("detail").hidden = true;
    document.body.classList.remove("has-detail");
    this.item = undefined;
  }

  replies(c) {
    const { store, selection } = this;
    const cell = this.item * store.nColumns + c.k;
    const rows = Array.from(store.rows(cell)).filter((r) => selection.keepRow[r]);
    const major = selection.cells.major[cell], byCriterion = store.labelWord(this.item) === BY_CRITERION;
    const parts = [store.points[c.k] && !store.human[c.k] ? `mean ${fixed(selection.cells.mean[cell], 2)}` : "",
      major !== NONE ? store.labels[major] : store.voted[c.k] ? "no majority" : "",
      byCriterion && store.cellLabel(cell) ? `human label ${store.cellLabel(cell)}` : ""];
    return el("section", { class: c.k === this.column ? "judge is-open" : "judge" },
      el("h4", {}, c.name, el("span", {}, parts.filter(Boolean).join(" \u00b7 "))),
      rows.map((r) => this.reply(r)));
  }

  reply(row) {
    const { store } = this;
    const outcome = outcomeOf(store, row);
    const o = store.optional;
    const facts = [];
    if (o.tokens && o.tokens[row] !== null) facts.push(`${count(o.tokens[row])} tokens`);
    if (o.cost && o.cost[row]) facts.push(`$${o.cost[row].toFixed(5)}`);
    const order = store.order ? store.meta.orders[store.order[row]] : "";
    const body = ["explanation", "raw", "request"].map((name) => {
      const text = store.optionalText(name, row);
      return text ? el("div", { class: `reply-${name}` },
        el("h5", {}, { explanation: "Explanation", raw: "Reply", request: "Request" }[name]),
        judged(text, this.plain || name !== "explanation")) : null;
    });
    const head = [el("span", { class: "rep" }, order || `#${store.repeat[row]}`),
      el("b", {}, store.verdictWord(row)),
      SIGN[outcome] ? el("span", { class: "out", title: outcome },
        el("span", { "aria-hidden": "true" }, SIGN[outcome]), el("span", { class: "sr" }, outcome)) : null,
      el("span", { class: "facts" }, facts.join(" \u00b7 "))];
    const kind = `reply ${outcome.replace(" ", "-")}`;
    if (!body.some(Boolean)) return el("div", { class: `${kind} bare` }, head);
    // The texts of a reply are made when it is opened.
    const host = el("details", { class: kind }, el("summary", {}, head));
    host.addEventListener("toggle", () => { if (host.open && host.children.length === 1) host.append(...body.filter(Boolean)); });
    return host;
  }

  /** Judge right, human right, unclear: for one judge at a time. */
  decide(judges) {
    const host = byId("decide");
    const { store, item } = this;
    const cell = item * store.nColumns + this.column;
    const human = this.column < 0 ? "" : store.cellLabel(cell);
    byId("detail-foot").hidden = !human;
    if (!human) { replace(host); return; }
    const own = this.review.get(item, this.column) || {};
    const split = !this.review.verdict(this.selection.cells, item, this.column);
    const pick = el("select", { "aria-label": "Judge under review",
      on: { change: () => { this.show(item, Number(pick.value), this.selection); byId("decide").firstChild.focus(); } } },
    judges.map((c) => el("option", { value: c.k }, c.name)));
    pick.value = String(this.column);
    const note = el("input", { type: "text", placeholder: "Note", "aria-label": "Note",
      maxlength: 1000, autocomplete: "off",
      on: { change: () => { // no button is made anew: it may be what is clicked next
        const resolution = own.resolution || "unclear";
        this.review.set(item, this.column, { resolution, note: note.value });
        setAttributes(host.querySelector(`[data-key="${resolution}"]`), { "aria-pressed": "true" });
        this.changed();
      } } });
    note.value = own.note || "";
    const button = (name, text, why) => el("button", { type: "button", "data-key": name, title: why || null,
      disabled: Boolean(why), "aria-pressed": own.resolution === name ? "true" : "false",
      on: { click: () => this.resolve(own.resolution === name ? null : name, note.value) } }, text);
    const earlier = this.review.earlier(item, this.column)
      .map((d) => `${d.annotator || "reviewer"}: ${RESOLVED.get(d.resolution)}${d.note ? ` (${d.note})` : ""}`);
    replace(host, pick, el("div", { class: "decide-row" },
      button("judge", "Judge right", split ? "The judge has no majority on this item" : ""),
      button("human", "Human right"), button("unclear", "Unclear")), note,
    split ? el("p", { class: "note" }, "The judge has no majority on this item, so it cannot be right.") : null,
    earlier.length ? el("p", { class: "note" }, `Earlier decisions: ${earlier.join("; ")}`) : null);
  }

  resolve(resolution, note) {
    if (this.item === undefined || this.column < 0) return;
    const cell = this.item * this.store.nColumns + this.column;
    if (!this.store.cellLabel(cell)) return;
    if (resolution === "judge" && !this.review.verdict(this.selection.cells, this.item, this.column)) return;
    this.review.set(this.item, this.column, resolution && { resolution, note });
    const key = document.activeElement?.dataset?.key;
    this.show(this.item, this.column, this.selection);
    if (key) document.querySelector(`#decide [data-key="${key}"]`)?.focus();
    this.changed();
  }
}
