// Start: read the data, build the views, and connect them. Every change goes through `update`.

import { Blind } from "./blind.js";
import { figureTitle } from "./counts.js";
import { Detail } from "./detail.js";
import { announce, byId, el, replace, setAttributes } from "./dom.js";
import { Figure } from "./figure.js";
import { makeFilters, showActive } from "./filters.js";
import { count, digest, fixed, plural } from "./format.js";
import { showHeader } from "./header.js";
import { Matrix } from "./matrix.js";
import { readState, writeState } from "./permalink.js";
import { Review, csv, offer } from "./review.js";
import { MODES, MODE_HELP, SORTS, emptyFilters, modesOf, select, sortsOf } from "./select.js";
import { STATUS_READ, Store, readPayload } from "./store.js";

const framed = window.self !== window.top;

function explore(payload) {
  const store = new Store(payload);
  const state = { mode: "all", sort: "differ", filters: emptyFilters() };
  const review = new Review(store);
  const modes = modesOf(store);
  let selection;
  const opened = readState(store, state, location.hash);

  showHeader(store.record);
  const narrow = matchMedia("(max-width: 43.99rem)");
  if (narrow.matches) document.querySelector(".summary").open = false;
  replace(byId("fig-note"), store.record.figure.note);
  replace(byId("provenance"), store.meta.provenance);
  replace(byId("left-out"), store.meta.left_out.why);
  byId("app").hidden = false;

  const detail = new Detail(store, review, () => reviewed());
  const matrix = new Matrix(byId("matrix"), store, (item, column) => open(item, column));
  const figure = new Figure(byId("figure"), store,
    (brush) => { state.filters.brush = brush; update(); },
    (item, column) => open(item, column));

  function link() {
    const text = writeState(store, state, detail.item, detail.column);
    // A fragment may change on file: and blob: pages too; a locked-down frame may refuse.
    try { history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search); }
    catch { /* the view works without its address */ }
    return text;
  }

  /** On a phone an open item covers the page: what is under it takes no key and is not read out. */
  function cover() {
    const covered = narrow.matches && detail.item !== undefined;
    for (const part of document.querySelectorAll(".skip, #app > :not(#detail)")) part.inert = covered;
    if (covered) byId("detail-body").focus();
  }
  narrow.addEventListener("change", cover);

  function open(item, column) {
    detail.show(item, column, selection);
    cover();
    matrix.mark(item);
    link();
  }

  function close() {
    detail.hide();
    cover();
    document.body.classList.remove("wide-detail");
    setAttributes(byId("expand"), { "aria-expanded": "false" });
    matrix.mark(undefined);
    link();
    matrix.focus(matrix.active);
  }

  function reviewed() {
    byId("save-labels").textContent = `Save decisions (${count(review.decisions.size)})`;
    byId("save-labels").disabled = !review.decisions.size;
    byId("review-kept").hidden = review.kept;
    byId("review-progress").textContent = review.progress(selection);
  }

  function update(redrawFilters, onlyOrder) {
    const from = performance.now();
    selection = select(store, state);
    matrix.show(selection);
    if (!onlyOrder) { // else the same points in another order
      figure.show(selection, state.filters);
      byId("fig-title").textContent = figureTitle(store, selection.modes, selection.labelled);
    }
    if (redrawFilters) makeFilters(store, state, update);
    showActive(store, state, update);
    if (detail.item !== undefined) detail.show(detail.item, detail.column, selection);
    reviewed();
    const total = selection.items.length;
    const what = `${plural(total, "item")} of ${count(store.nItems)}${store.meta.left_out.items ? " shown items" : ""}`;
    byId("count").textContent = what;
    announce(what);
    for (const button of byId("modes").children) {
      const name = button.dataset.mode;
      setAttributes(button, { "aria-pressed": String(name === state.mode) });
      button.querySelector(".n").textContent = count(selection.modes[name]);
    }
    byId("sort").value = state.sort;
    byId("n-filters").textContent = byId("active").children.length || "";
    link();
    // Kept for the tests of speed.
    performance.measure("judgestats-update", { start: from, end: performance.now() });
  }

  replace(byId("modes"), modes.map((name, i) => el("button", {
    type: "button", "data-mode": name, title: `${MODE_HELP[name]} (key ${i + 1})`,
    on: { click: () => { state.mode = name; update(); } },
  }, MODES[name], " ", el("span", { class: "n" }))));
  replace(byId("sort"), sortsOf(store).map((v) => el("option", { value: v }, SORTS[v])));
  byId("sort").addEventListener("change", () => { state.sort = byId("sort").value; update(false, true); });

  let wait;
  const fill = () => { byId("q").value = state.filters.q; byId("q-replies").checked = state.filters.replies; };
  fill();
  byId("q").addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(() => { state.filters.q = byId("q").value; update(); }, 120);
  });
  byId("q-replies").addEventListener("change", () => { state.filters.replies = byId("q-replies").checked; update(); });
  byId("reset").addEventListener("click", () => {
    state.filters = emptyFilters();
    state.mode = "all";
    fill();
    update(true);
  });
  const toggle = (id, name) => byId(id).addEventListener("click", () => {
    const on = document.body.classList.toggle(name);
    setAttributes(byId(id), { "aria-expanded": String(on) });
  });
  toggle("show-filters", "has-filters");
  // The filters are above the button, maybe out of sight.
  byId("show-filters").addEventListener("click", () => { if (document.body.matches(".has-filters")) byId("reset").focus(); });
  toggle("expand", "wide-detail");
  // The wide view hides what may have had the focus.
  byId("expand").addEventListener("click", () => { if (!byId("detail").contains(document.activeElement)) byId("detail-body").focus(); });
  byId("close").addEventListener("click", close);
  for (const [name, by] of [["prev", -1], ["next", 1]]) {
    byId(name).addEventListener("click", () => { matrix.step(by); byId(name).focus(); });
  }
  byId("plain").addEventListener("click", () => {
    detail.plain = !detail.plain;
    setAttributes(byId("plain"), { "aria-pressed": String(detail.plain) });
    if (detail.item !== undefined) detail.show(detail.item, detail.column, selection);
  });
  byId("copy-link").addEventListener("click", async () => {
    const text = link();
    const whole = framed ? `#${text}` : location.href;
    try { await navigator.clipboard.writeText(whole); announce("Link copied"); }
    catch { offer("link.txt", whole); }
  });
  byId("export").addEventListener("click", () => {
    const view = `#${link()}`;
    offer(`selection-${digest(view)}.csv`, csv(exportRows()), view);
  });
  byId("save-labels").addEventListener("click", () => {
    const name = byId("annotator").value.trim() || "reviewer";
    const cells = select(store, { mode: "all", sort: "item", filters: emptyFilters() }).cells;
    review.saved = true;
    const view = `#${link()}`;
    offer(`decisions-${name.replace(/[^\w-]/g, "_")}.csv`, csv(review.rows(name, cells, view)), view);
  });
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  byId("help-close").addEventListener("click", () => byId("help").close());

  /** One row per judgment of the selection, in the columns that `judgestats analyze` reads. */
  function exportRows() {
    const used = (name) => store.columns.some((c) => c[name]);
    const names = ["condition", "criterion"].filter(used);
    const shown = [...store.columns.keys()].filter((k) => selection.keepColumn[k] && !store.human[k]);
    const kinds = ["score", "verdict"].filter((n) => shown.some((k) => store.points[k] === (n === "score")));
    const rows = [["item_id", "cluster", "category", "judge", ...names, ...(store.systems ? ["system"] : []), ...(store.order ? ["order"] : []),
      "repeat", ...kinds, "status", ...(store.labelled ? ["label"] : [])]];
    for (const item of selection.items) {
      for (const k of shown) {
        const c = store.columns[k], cell = item * store.nColumns + k;
        for (const r of store.rows(cell)) {
          if (!selection.keepRow[r]) continue;
          const v = store.value[r];
          rows.push([store.items.id[item], store.items.cluster[item], store.items.slice[item], c.judge,
            ...names.map((n) => c[n]), ...(store.systems ? [store.systems[item]] : []), ...(store.order ? [store.meta.orders[store.order[r]]] : []),
            store.repeat[r], ...kinds.map((n) => (v === v && store.points[k] === (n === "score") ? store.verdictWord(r) : "")), STATUS_READ[store.status[r]],
            ...(store.labelled ? [store.cellLabel(cell)] : [])]);
        }
      }
    }
    return rows;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      && event.target.type !== "checkbox";
    if (event.key === "Escape") {
      if (typing) byId(byId("detail").contains(event.target) ? "detail-body" : "matrix").focus();
      else if (detail.item !== undefined) close();
      return;
    }
    if (typing || !byId("keys-on").checked) return;
    const resolve = { r: "judge", h: "human", u: "unclear" }[event.key];
    if (event.key === "j") matrix.step(1);
    else if (event.key === "k") matrix.step(-1);
    else if (event.key === "/") { byId("q").focus(); event.preventDefault(); }
    else if (event.key === "?") byId("help").showModal();
    else if (event.key === "e") { if (detail.item !== undefined) byId("expand").click(); }
    else if (resolve) {
      if (detail.item !== undefined) detail.resolve(resolve, review.get(detail.item, detail.column)?.note || "");
    } else {
      const mode = modes[Number(event.key) - 1];
      if (mode) { state.mode = mode; update(); }
    }
  });
  addEventListener("hashchange", () => {
    const at = readState(store, state, location.hash);
    fill();
    update(true);
    if (at.item >= 0) open(at.item, at.column);
  });

  reviewed();
  update(true);
  if (opened.item >= 0) open(opened.item, opened.column);
  // For the tests in a browser; no data leave the page through it.
  window.judgestats = { store, state, update, select, readState, writeState, exportRows, get selection() { return selection; } };
}

function label(payload, save) {
  byId("blind").hidden = false;
  replace(byId("blind-title"), payload.meta.question);
  const blind = new Blind(payload, save);
  byId("blind-back").addEventListener("click", () => blind.back());
  byId("blind-skip").addEventListener("click", () => blind.skip());
  byId("blind-save").hidden = Boolean(save);
  byId("blind-save").addEventListener("click", () => blind.download());
  blind.show();
}

/** The data of a page that is served without them; the token is in the fragment only. */
async function served() {
  const token = new URLSearchParams(location.hash.slice(1)).get("t") || "";
  const ask = async (path, options = {}) => {
    let got;
    try { got = await fetch(path, { ...options, headers: { "X-Token": token } }); }
    catch { throw new Error("the command has ended. Start it again and open the address that it prints."); }
    if (!got.ok) throw new Error(await got.text());
    return got;
  };
  const save = (item, answer) => ask("/label", { method: "POST",
    body: JSON.stringify({ item, label: answer.label, note: answer.note || "", unsure: Boolean(answer.unsure) }) });
  return [await (await ask("/data")).json(), save];
}

async function start() {
  const from = performance.now();
  let old = true;
  try {
    const script = byId("data");
    const [payload, save] = script.textContent.trim() ? [await readPayload(script), null] : await served();
    script.remove();
    old = false;
    document.title = payload.meta.title;
    byId("save-close").addEventListener("click", () => byId("save").close());
    if (payload.meta.mode === "blind") label(payload, save); else explore(payload);
    document.documentElement.dataset.ready = fixed(performance.now() - from, 0);
  } catch (error) {
    const needs = old && typeof DecompressionStream === "undefined"
      ? " It needs a browser of 2023 or later (DecompressionStream)." : "";
    byId("fault").textContent = `This page cannot show its data: ${error.message}.${needs}`;
    console.error(error);
  } finally {
    byId("loading").hidden = true;
  }
}

start();
