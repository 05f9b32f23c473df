// Blind mode: one item at a time, no verdict of a judge in the data. The page of `labels collect`.

import { announce, byId, el, replace } from "./dom.js";
import { count } from "./format.js";
import { csv, offer } from "./review.js";
import { judged } from "./text.js";

/**
 * The key of each choice. Where every choice is one digit, a choice answers to its own digit; where
 * none is, choices are numbered 1, 2, ... in the order shown. Never a mixture of the two.
 */
export function keysOfChoices(choices) {
  const digits = choices.filter((c) => /^\d$/.test(c)).length;
  if (choices.length > 10 || (digits && digits < choices.length)) return choices.map(() => "");
  return digits ? [...choices] : choices.map((_, i) => String((i + 1) % 10));
}

const painted = () => new Promise((done) => { requestAnimationFrame(() => setTimeout(done, 0)); });

export class Blind {
  /** @param save called with (item id, answer); null where answers are kept in the browser */
  constructor(payload, save) {
    Object.assign(this, { payload, save });
    this.keys = keysOfChoices(payload.meta.choices);
    this.key = `judgestats:blind:${payload.meta.id}:${payload.meta.annotator}`;
    this.answers = new Map(payload.given || []); // item index -> {label, note, unsure}
    this.kept = true;
    this.unsaved = false;
    if (!save) {
      try {
        for (const [k, v] of JSON.parse(localStorage.getItem(this.key) || "[]")) {
          if (payload.meta.choices.includes(v.label) || v.unsure) this.answers.set(k, v);
        }
      } catch { this.kept = false; }
    }
    this.been = []; // items shown before this one
    this.drafts = new Map(); // notes on items without an answer
    this.at = Math.max(0, this.next(-1));
    document.addEventListener("keydown", (event) => this.keydown(event));
    byId("blind-note").addEventListener("change", () => this.note());
    addEventListener("beforeunload", (event) => { if (this.unsaved && !this.kept) event.preventDefault(); });
  }

  get total() { return this.payload.items.id.length; }

  /** The first item without an answer after `from`, then from the beginning; else `from`. */
  next(from) {
    for (let n = 1; n <= this.total; n++) {
      const i = (from + n + this.total) % this.total;
      if (!this.answers.has(i)) return i;
    }
    return from;
  }

  show() {
    const { payload } = this;
    const given = this.answers.get(this.at) || {};
    const done = [...this.answers.values()].filter((a) => a.label).length;
    const unsure = this.answers.size - done;
    const all = this.answers.size === this.total;
    const place = `Item ${count(this.at + 1)} of ${count(this.total)}`;
    byId("blind-head").textContent = all ? `All ${count(this.total)} items are answered: ${this.save ? "close this page" : "save the file"}. ${place}` : place;
    byId("blind-done").textContent = `${count(done)} labelled${unsure ? `, ${count(unsure)} unsure` : ""}`;
    byId("blind-bar").style.inlineSize = `${(100 * this.answers.size) / this.total}%`;
    replace(byId("blind-texts"), payload.items.texts.map(([name, list]) => {
      const text = payload.texts[list[this.at]] ?? "";
      return text ? el("section", { class: "block" }, el("h3", {}, name), judged(text, false)) : null;
    }));
    const button = (kind, key, word, pressed, answer) => el("button", {
      type: "button", class: kind, "aria-pressed": pressed ? "true" : "false",
      "aria-keyshortcuts": key || null, on: { click: () => this.give(answer) },
    }, key ? el("kbd", { "aria-hidden": "true" }, key) : null,
    el("span", { class: key === word ? "sr" : "" }, word));
    replace(byId("blind-choices"), payload.meta.choices.map((word, i) =>
      button("choice", this.keys[i], word, given.label === word, { label: word })),
    button("choice quiet", "u", "Unsure", given.unsure, { label: "", unsure: true }));
    byId("blind-note").value = given.note ?? this.drafts.get(this.at) ?? "";
    byId("blind-back").disabled = !this.been.length && this.at === 0;
    byId("blind-skip").disabled = this.next(this.at) === this.at;
    byId("blind-kept").hidden = this.kept;
    scrollTo(0, 0);
    byId("blind-texts").focus({ preventScroll: true });
    announce(byId("blind-head").textContent);
  }

  async give(answer) {
    if (this.busy) return; // a key pressed twice must not label the next, unseen item
    this.busy = true;
    const at = this.at;
    try {
      const note = byId("blind-note").value;
      if (await this.keep(at, { ...answer, note })) {
        this.at = this.next(at);
        if (this.at !== at) this.been.push(at);
        this.show();
      }
      await painted();
    } finally { this.busy = false; }
  }

  /** Save an answer; false, with the reason on the page, where that failed. */
  async keep(at, answer) {
    try {
      if (this.save) await this.save(this.payload.items.id[at], answer);
    } catch (error) {
      byId("blind-fault").textContent = `Not saved: ${error.message}`;
      return false;
    }
    byId("blind-fault").textContent = "";
    this.answers.set(at, answer);
    this.unsaved = !this.save;
    if (!this.save) {
      try { localStorage.setItem(this.key, JSON.stringify([...this.answers])); } catch { this.kept = false; }
    }
    return true;
  }

  note() {
    const given = this.answers.get(this.at);
    const note = byId("blind-note").value;
    if (!given) this.drafts.set(this.at, note);
    else if ((given.note || "") !== note) this.keep(this.at, { ...given, note });
  }

  back() {
    if (this.busy) return;
    const before = this.been.pop();
    this.at = before ?? Math.max(0, this.at - 1);
    this.show();
  }

  /** The item comes again after all others. */
  skip() {
    if (this.busy) return;
    const to = this.next(this.at);
    if (to === this.at) return;
    this.been.push(this.at);
    this.at = to;
    this.show();
  }

  keydown(event) {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.target.id === "blind-note") {
      if (event.key === "Escape" || event.key === "Enter") byId("blind-texts").focus();
      return;
    }
    if (!byId("blind-keys").checked) return;
    const choice = this.keys.indexOf(event.key);
    if (choice >= 0) this.give({ label: this.payload.meta.choices[choice] });
    else if (event.key === "u") this.give({ label: "", unsure: true });
    else if (event.key === "b") this.back();
    else if (event.key === "s") this.skip();
    else if (event.key === "n") { byId("blind-note").focus(); event.preventDefault(); }
  }

  download() {
    const { annotator } = this.payload.meta;
    const rows = [["item_id", "annotator", "label", "note", "unsure", "blind"]];
    for (const [i, a] of this.answers) {
      rows.push([this.payload.items.id[i], annotator, a.label, a.note || "", a.unsure ? "true" : "false", "true"]);
    }
    offer(`labels-${annotator.replace(/[^\w-]/g, "_")}.csv`, csv(rows));
    this.unsaved = false;
  }
}
