// The verdict header: the record of the run, as on the screen and in the report. Numbers come as
// text from the record; nothing is computed.

import { byId, el, replace, svg } from "./dom.js";
import { DASH, count } from "./format.js";

// The four outcomes of the verdict record: sign, words, class of style.
const SIGNS = {
  USE: ["\u2713", "Use", "use"],
  USE_WITH_CARE: ["\u25b3", "Use with care", "care"],
  DO_NOT_USE: ["\u2715", "Do not use", "no"],
  CANNOT_TELL: ["?", "Cannot tell", "open"],
};
const MOST_VERDICTS = 8; // verdicts shown before "more"

/** Ends of an axis: set by estimate and thresholds, not by one wide interval. */
function axisOf(r) {
  const known = [r.estimate, r.threshold, r.top].filter((v) => v !== null);
  const low = Math.min(...known), high = Math.max(...known);
  const room = Math.max((high - low) * 0.8, 0.2 * Math.abs(low), 0.2 * Math.abs(high), 0.05);
  const inside = r.bounded && low >= 0 && high <= 1;
  return inside ? [Math.max(0, low - room), Math.min(1, high + room)] : [low - room, high + room];
}

/** One interval on its axis; the zone that fails the threshold is shaded. An end beyond the axis is an arrow. */
function interval(r) {
  const width = 88, height = 16;
  const [from, to] = axisOf(r);
  const x = (v) => 3 + ((Math.min(to, Math.max(from, v)) - from) / (to - from || 1)) * (width - 6);
  const g = svg("svg", { class: "interval", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const zone = (p, q) => g.append(svg("rect", { x: x(p), y: 0, width: Math.max(0, x(q) - x(p)), height, class: "fails" }));
  const line = (v) => g.append(svg("line", { x1: x(v), x2: x(v), y1: 0, y2: height, class: "threshold" }));
  if (r.threshold !== null) {
    if (r.direction === "max") zone(r.threshold, to); else zone(from, r.threshold);
    line(r.threshold);
  }
  if (r.direction === "within" && r.top !== null) { zone(r.top, to); line(r.top); }
  g.append(svg("line", { x1: 3, x2: width - 3, y1: 8, y2: 8, class: "axis" }));
  if (r.estimate === null) return g;
  if (r.low !== null && r.high !== null) {
    for (const [v, side] of [[r.low, 1], [r.high, -1]]) {
      if (v < from || v > to) g.append(svg("path", { d: `M${x(v) + 4 * side} 4L${x(v)} 8L${x(v) + 4 * side} 12`, class: "range" }));
    }
    g.append(svg("line", { x1: x(r.low), x2: x(r.high), y1: 8, y2: 8, class: "range" }),
      svg("circle", { cx: x(r.estimate), cy: 8, r: 3.2, class: "point" }));
  } else { // no interval: an open mark
    g.append(svg("circle", { cx: x(r.estimate), cy: 8, r: 3, class: "point open" }));
  }
  return g;
}

function cell(r, label) {
  if (!r) return el("td", { class: "num", "data-label": label }, DASH);
  if (r.estimate === null) {
    return el("td", { class: "num", "data-label": label }, el("span", { class: "ci" }, r.reason || "not measured"));
  }
  const bounds = r.text[1] || "interval not estimable";
  return el("td", { class: "num", "data-label": label, "data-record": r.record, "data-status": r.status },
    el("span", { class: "est" }, r.text[0]), " ", el("span", { class: r.text[1] ? "ci" : "ci none" }, bounds), interval(r));
}

/** Cut a sentence at whole words out of a list; plain string search, as names are foreign text. */
function splitAt(text, words) {
  const out = [];
  for (let i = 0, from = 0; i <= text.length; i++) {
    const found = i < text.length && words.find((w) => text.startsWith(w, i));
    if (found) { out.push(text.slice(from, i), el("span", { class: "whole" }, found)); from = i += found.length; i--; }
    else if (i === text.length) out.push(text.slice(from));
  }
  return out;
}

/** At most eight verdicts: the first of each outcome, worst outcome first, then in file order. */
function shownFirst(verdicts) {
  if (verdicts.length <= MOST_VERDICTS) return new Set(verdicts);
  const worst = ["DO_NOT_USE", "CANNOT_TELL", "USE_WITH_CARE", "USE"];
  return new Set(worst.map((o) => verdicts.find((v) => v.outcome === o)).filter(Boolean));
}

export function showHeader(record) {
  replace(byId("run-title"), record.title);
  const names = record.verdicts.map((v) => v.name).filter((n) => n && n.length < 30)
    .sort((p, q) => q.length - p.length);
  replace(byId("finding"), splitAt(record.finding, names));
  replace(byId("advice"), record.advice.map(([word, text]) => el("p", {}, el("b", {}, word), " ", splitAt(text, text.match(/--[\w-]+/g) || []))));
  if (!record.verdicts.length) { byId("verdict-table").hidden = true; return; }
  const measures = record.groups.flatMap((g) => g.measures);
  const top = el("tr", {}, el("th", { rowspan: 2, scope: "col" }, "Judge"),
    el("th", { rowspan: 2, scope: "col" }, "Verdict"),
    record.groups.map((g) => el("th",
      { colspan: g.measures.length, scope: "colgroup", class: "spanner" }, el("span", {}, g.title))));
  const second = el("tr", {}, measures.map((m) => el("th", { scope: "col", class: "num" }, m.label,
    m.needed ? el("span", { class: "bar-note" }, ` ${m.needed}`) : null)));
  const first = shownFirst(record.verdicts);
  const rows = record.verdicts.map((v) => {
    const [sign, word, kind] = SIGNS[v.outcome] || ["", v.outcome, "open"];
    return el("tr", { class: first.has(v) ? "" : "more", hidden: !first.has(v) },
      el("th", { scope: "row" }, el("span", {}, v.name)),
      el("td", { class: "verdict" }, el("span", { class: `chip ${kind}` },
        el("span", { "aria-hidden": "true" }, sign), ` ${word}`),
      el("span", { class: "why" }, v.why.replace(/([\u2264\u2265]) /g, "$1\u00a0"))),
      measures.map((m) => cell(v.requirements.find((r) => r.key === m.id), m.label)));
  });
  const left = record.verdicts.length - first.size;
  const more = el("button", { type: "button", on: { click: () => {
    for (const r of rows) r.hidden = false;
    more.remove();
  } } }, `${count(left)} more`);
  replace(byId("verdict-table"), el("table", { class: "verdicts" },
    el("thead", {}, top, second), el("tbody", {}, rows)), left ? more : null);
  // The short form, seen while the table is folded.
  replace(byId("chips"), record.verdicts.filter((v) => first.has(v)).map((v) => {
    const [sign, word, kind] = SIGNS[v.outcome] || ["", v.outcome, "open"];
    return el("li", {}, v.name, " ", el("span", { class: `chip ${kind}` }, `${sign} ${word}`));
  }), left ? el("li", {}, `${count(left)} more`) : null);
}
