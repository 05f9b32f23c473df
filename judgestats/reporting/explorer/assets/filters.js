// The filters on the left: one fieldset per role, with counts of judgments or items.

import { byId, el, replace } from "./dom.js";
import { count, plainNumber } from "./format.js";
import { wordOf } from "./permalink.js";
import { OF_COLUMN, OUTCOMES, SETS } from "./select.js";
import { NONE } from "./store.js";

const TITLES = {
  judge: "Judge", condition: "Condition", criterion: "Criterion", system: "System", slice: "Slice",
  label: "Human label", verdict: "Verdict", outcome: "Outcome", repeat: "Repeat", order: "Order",
};
const CHIPS = new Set(["label", "verdict", "outcome", "repeat", "order"]);
const MOST_OPTIONS = 200; // values of a role that are offered

/** The word of a value as it is shown: a number is shortened, in links it is whole. */
function shown(store, name, value) {
  const isNumber = name === "label" ? store.numeric : name === "verdict" && !store.labels.includes(value);
  return isNumber ? plainNumber(Number(value)) : wordOf(store, name, value);
}

/** The options that data hold, as [value, word, count]; a role with one option is not shown. */
function options(store) {
  const tally = (values) => {
    const n = new Map();
    for (const v of values) n.set(v, (n.get(v) || 0) + 1);
    return n;
  };
  const rows = (name, values, sorted) => {
    const n = tally(values);
    const keys = [...n.keys()];
    if (sorted) keys.sort((x, y) => x - y);
    return keys.map((k) => [k, shown(store, name, k), n.get(k)]);
  };
  const found = Object.fromEntries(OF_COLUMN.map(
    (name) => [name, rows(name, Array.from(store.column, (k) => store.columns[k][name]))]));
  if (store.systems) found.system = rows("system", store.systems);
  found.slice = rows("slice", store.items.slice);
  const labels = store.numeric ? Array.from(store.truth).filter((v) => v === v)
    : Array.from(store.label).filter((v) => v !== NONE);
  found.label = rows("label", labels, true);
  const rank = (word) => (store.labels.includes(word) ? 1e9 + store.labels.indexOf(word) : Number(word));
  found.verdict = [...store.verdicts].sort(([v], [w]) => rank(v) - rank(w))
    .map(([word, n]) => [word, shown(store, "verdict", word), n]);
  found.outcome = store.decided ? OUTCOMES.map((w) => [w, w]) : [];
  found.repeat = rows("repeat", store.repeat, true);
  found.order = store.order ? rows("order", store.order) : [];
  return SETS.map((name) => [name, found[name]]).filter(([, list]) => list.length > 1);
}

export function makeFilters(store, state, changed) {
  store.options ||= options(store);
  replace(byId("filter-sets"), store.options.map(([name, list]) => {
    const chips = CHIPS.has(name);
    return el("fieldset", { class: chips ? "chips" : "", "data-name": name },
      el("legend", {}, TITLES[name], list.length > MOST_OPTIONS
        ? ` (${MOST_OPTIONS} of ${count(list.length)})` : ""),
      list.slice(0, MOST_OPTIONS).map(([value, word, n]) => {
        const box = el("input", { type: "checkbox", on: { change: () => {
          const set = state.filters[name];
          if (box.checked) set.add(value); else set.delete(value);
          changed();
        } } });
        box.checked = state.filters[name].has(value);
        return el("label", {}, box, el("span", { class: "word" }, word || "(none)"),
          chips || n === undefined ? null : el("span", { class: "n" }, count(n)));
      }));
  }));
}

/** Active filters as removable chips above the matrix. */
export function showActive(store, state, changed) {
  const chips = [];
  const add = (text, remove) => chips.push(el("button",
    { type: "button", class: "active", on: { click: () => { remove(); changed(true); byId("q").focus(); } },
      "aria-label": `Remove filter ${text}` }, text, el("span", { "aria-hidden": "true" }, " \u00d7")));
  for (const name of SETS) {
    for (const v of state.filters[name]) {
      add(`${TITLES[name]}: ${shown(store, name, v) || "(none)"}`, () => state.filters[name].delete(v));
    }
  }
  if (state.filters.brush) add("Selected in the figure", () => { state.filters.brush = null; });
  replace(byId("active"), chips);
}
