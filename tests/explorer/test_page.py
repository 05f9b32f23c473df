"""The page in a browser: hostile texts, links, keys, a sandboxed frame, widths, sizes."""

from __future__ import annotations

import base64
import csv
import functools
import gzip
import io
import json
import random
import re
import runpy
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgestats
from judgestats.cli import main
from judgestats.data.demo import demo_judgments
from judgestats.errors import InputError
from judgestats.redaction import keep_secret
from judgestats.reporting.explorer import blind_payload, html_page, page, view_payload, write_page
from judgestats.results import Demand, decide, share_measure
from tests.explorer.browser import SMALL, Browser
from tests.explorer.conftest import NOTHING, judgments

HOSTILE = (
    "<script>window.pwned=1</script>", "<img src=x onerror=window.pwned=1>",
    '"><svg onload=window.pwned=1>', "</script><script>window.pwned=1</script>", "<!-- <script>",
    "javascript:window.pwned=1", "${window.pwned=1}",
    '{{constructor.constructor("window.pwned=1")()}}', "\u202etxt.exe\u202c\u200b\U000e0041",
    '=cmd|"/c calc"!A1', "__proto__", "constructor", "\x00\x07\x1b[31m",
    "](javascript:window.pwned=1) **<b>x</b>** `<i>`", "DATA STYLE SCRIPT POLICY",
    "\U0001f600e\u0301", "a" * 300, "&lt;script&gt;&#x3c;", "\ufeff\u2028\u2029",
    "```\n<script>window.pwned=1</script>",
)  # fmt: skip
CLICK_ALL = """(async () => { const all = (s) => [...document.querySelectorAll(s)];
  for (let i = 0; i < CELLS; i++) {
    const cell = document.querySelector(`[data-at="${i}"] [data-c="1"]`);
    if (!cell) break; cell.click(); all('details.reply').forEach((d) => { d.open = true; });
    all('#detail-body button').forEach((b) => b.click());
    await new Promise((r) => setTimeout(r, 5)); }
  all('fieldset input').forEach((b) => { b.click(); b.click(); });
  all('#plain,#expand,.choice,.confusion button').forEach((b) => b.click());
  await new Promise((r) => setTimeout(r, 50));
  return [document.scripts.length, document.images.length,
    document.querySelectorAll('a[href]').length, typeof window.pwned].join(); })()"""
pytestmark = pytest.mark.browser


def hostile(payload: dict[str, Any], longest: int = 3_000) -> dict[str, Any]:
    """A payload with a hostile string wherever a string is shown."""
    n = 0
    kept = {"schema", "mode", "kind", "rater", "outcome", "direction", "resolution", "key", "id"}

    def fill(value: Any, name: str = "") -> Any:
        nonlocal n
        if isinstance(value, dict):
            return {
                k: v if k in kept and isinstance(v, str) else fill(v, k) for k, v in value.items()
            }
        if isinstance(value, list):
            return [fill(v, name) for v in value]
        if not isinstance(value, str):
            return value
        n += 1
        return f"{HOSTILE[n % len(HOSTILE)]}{n}"

    made = fill(payload)
    made["texts"][0] = "x" * longest + HOSTILE[0]
    return dict(made)


def packed_page(payload: dict[str, Any]) -> str:
    raw = json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return html_page(gzip.compress(raw, mtime=0))


def faults_of(tab: Browser, path: Path, cells: int = 20) -> list[str]:
    """What went wrong on a page of hostile strings: none is run, each is a text that is seen."""
    tab.size(1280)
    tab.open(path.as_uri())
    out = [tab.js("document.getElementById('fault').textContent")]
    clicked = tab.js(CLICK_ALL.replace("CELLS", str(cells)))
    out += ["" if clicked == "1,0,1,undefined" else clicked]  # the link is "Skip to the items"
    out += tab.faults()
    for code in (
        "document.body.innerHTML = '<b>'", "document.createElement('script').text = '1'",
        "fetch('http://127.0.0.1:9/')", "fetch('data:,1')",
    ):  # fmt: skip
        body = f"try {{ await ({code}); return 'runs' }} catch (e) {{ return e.name }}"
        tried = tab.js(f"(async () => {{ {body} }})()")
        out.append("" if tried == "TypeError" else f"{code}: {tried}")
    shown = tab.js("document.body.textContent")
    out += [f"U+{ord(c):04X}" for c in "\u202e\u200b\x1b" if c in shown]
    out += [w for w in ("unsafe-inline", "unsafe-eval") if w in path.read_text("utf-8")]
    return list(filter(None, out))


@functools.cache
def hostile_payload(kind: str) -> dict[str, Any]:
    """A payload with hostile strings wherever a string is shown."""
    if kind == "blind":
        texts = {f"i{k}": [("answer", f"text {k}")] for k in range(25)}
        return hostile(blind_payload(texts, choices=["good", "bad"], annotator="ann"))
    found = judgestats.audit(judgments(3, kind=kind), n_resamples=99)
    payload, _ = view_payload(found.run.records, judgments(3, kind=kind), cutoff=6.0)
    return hostile(payload, 300_000 if kind == "score" else 3_000)


def hostile_page(kind: str, path: Path) -> Path:
    path.write_text(packed_page(hostile_payload(kind)), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["score", "choice", "blind"])
def test_hostile_strings_are_texts_in_every_place(
    browser: Browser, tmp_path: Path, kind: str
) -> None:
    assert faults_of(browser, hostile_page(kind, tmp_path / "hostile.html")) == []


UNSAFE = (
    ("bundle", 'replace(byId("detail-title"), store.items.id[item]);',
     'byId("detail-title").innerHTML = store.items.id[item];'),
    ("bundle", "const out = [];\nlet from = 0;\nfor (const m of text.matchAll(HIDDEN))",
     "const out = [];\nlet from = 0;\nfor (const m of [])"),
    ("policy", "script-src 'sha256-", "script-src 'unsafe-inline' 'sha256-"),
    ("policy", "; require-trusted-types-for 'script'; trusted-types 'none'", ""),
    ("policy", "default-src 'none'", "default-src * data:"),
)  # fmt: skip


@pytest.mark.parametrize(("place", "old", "new"), UNSAFE)
def test_a_page_that_is_less_safe_is_seen(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, old: str,
    new: str,
) -> None:  # fmt: skip
    own = getattr(page, place)
    monkeypatch.setattr(page, place, lambda **k: own(**k).replace(old, new))
    assert old in own()
    assert faults_of(browser, hostile_page("choice", tmp_path / "hostile.html"), cells=4) != []


def test_only_one_module_makes_elements_and_sets_attributes() -> None:
    """As ESLint tells in CI, here by the words alone."""
    unsafe = re.compile(
        r"\b(?:(?:inner|outer)HTML|insertAdjacentHTML|document\.write|eval|Function|setAttribute"
        r"|createElement\w*)\b"
    )
    found = {
        name: set(unsafe.findall((page.ASSETS / f"{name}.js").read_text("utf-8")))
        for name in page.MODULES
    }
    assert found.pop("dom") == {"createElement", "createElementNS", "setAttribute"}
    assert set().union(*found.values()) == set()


def test_hostile_names_of_a_file_are_shown_as_texts(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [bad.replace("\0", "") for bad in HOSTILE[:16]]  # a file with zero bytes is refused
    browser.size(1280)
    for k in range(0, 16, 2):  # each is the name of a file, of a column, or a text
        name, bad, column = names[k], names[k - 1], names[k - 2]
        rows = [
            {"item": f"{judge}{i}", "judge": judge, "trial": t, "score": (i * 7 + t) % 10 + 1,
             "answer": bad * 3, column: f"{bad}{i}"}
            for judge in (names if k == 0 else (bad,)) for i in range(2) for t in range(2)
        ]  # fmt: skip
        file = name.replace("/", "") + ".csv"
        pd.DataFrame(rows).to_csv(file, index=False)
        assert main(["view", file, "--factor", column, "--no-open"]) == 0
        browser.open(Path("explore.html").resolve().as_uri())
        assert browser.js(CLICK_ALL.replace("CELLS", "20")) == "1,0,1,undefined"
        assert browser.faults() == []
        shown = browser.js("document.getElementById('app').textContent")
        assert "U+202E" in shown or k > 0
        assert "\u202e" not in shown


def test_links_name_the_same_view(opened: Callable[..., Browser]) -> None:
    """State to fragment to state is the identity for 200 states; 200 fragments never throw."""
    frame = judgments(7, n_items=30)
    frame["order"] = ["ab" if r % 2 else "ba" for r in frame["replicate"]]
    tab = opened(frame)
    rng = random.Random(1)
    ids = frame["item_id"].unique().tolist()
    for _ in range(200):
        state: list[tuple[str, str]] = [
            ("mode", rng.choice(["differ", "flips", "wrong", "unparsed"]))
        ]
        state += [("sort", rng.choice(["flips", "wrong", "item"]))]
        state += [("q", rng.choice(["answer 1", "#?&=%", "ü \U0001f600", "x" * 500]))]
        for name, values in (("judge", ["ann", "bob"]), ("slice", "ABC"),
                             ("label", ["pass", "fail"]), ("verdict", "2356"),
                             ("outcome", ["agrees", "differs"]),
                             ("repeat", "1234"), ("order", ["ab", "ba"])):  # fmt: skip
            state += [(name, v) for v in rng.sample(list(values), rng.randint(0, 2))]
        if rng.random() < 0.5:
            box = {"column": "bob", "x": [rng.random(), 9], "y": [0, 2.5]}
            state += [("brush", json.dumps(box, separators=(",", ":")))]
        state += [("item", rng.choice(ids)), ("column", "ann")]
        text = json.dumps(state)
        same = tab.js(f"""(() => {{ const J = judgestats;
          const one = new URLSearchParams({text}).toString();
          const at = J.readState(J.store, J.state, one);
          const two = J.writeState(J.store, J.state, at.item, at.column);
          const again = J.readState(J.store, J.state, two);
          const sorted = (t) => [...new URLSearchParams(t)].map(String).sort().join('&');
          return sorted(one) === sorted(two)
            && JSON.stringify(again) === JSON.stringify(at); }})()""")
        assert same, state
    keys = [
        "mode",
        "sort",
        "q",
        "judge",
        "slice",
        "label",
        "repeat",
        "brush",
        "item",
        "column",
        "x",
    ]
    bad = ["__proto__", "constructor", "NaN", "-1", "1e999", "{", "null",
           '{"column":"ann","x":[1]}', '{"column":"ann","cell":["__proto__",{}]}', "%",
           "x" * 9000, *HOSTILE]  # fmt: skip
    for _ in range(200):
        pairs = [[rng.choice(keys), rng.choice(bad)] for _ in range(rng.randint(1, 6))]
        tab.js(f"""(() => {{ const J = judgestats;
          J.readState(J.store, J.state, new URLSearchParams({json.dumps(pairs)}).toString());
          if (J.state.filters.q.length > 500) throw new Error('long'); J.update(true); }})()""")
    assert tab.faults() == []


def test_a_decision_is_made_with_keys_alone(opened: Callable[..., Browser]) -> None:
    tab = opened(judgments(8, unparsed=0.0), "#mode=flips")
    third = tab.js("judgestats.store.items.id[judgestats.selection.items[2]]")
    tab.js('document.querySelector(\'[data-at="0"] [data-c="-1"]\').focus()')
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
        tab.key(key)
    assert tab.js("document.getElementById('detail-title').textContent") == third
    assert tab.js("decodeURIComponent(location.hash)") == f"#mode=flips&item={third}&column=bob"
    tab.key("h")
    assert tab.js("document.getElementById('save-labels').textContent") == "Save decisions (1)"
    of = tab.js("judgestats.selection.items.length")
    told = f"Reviewed 1 of {of}: judge right 0, human right 1, unclear 0"
    assert tab.js("document.getElementById('review-progress').textContent") == told
    tab.js(KEEP_FILES)
    name = "document.activeElement.getAttribute('aria-label') || document.activeElement.id"
    for field, typed in (("Note", "jk 1"), ("Your pseudonym", "eve")):  # letters are letters there
        for _ in range(40):
            if tab.js(name) != field:
                tab.key("Tab")
        for letter in typed:
            tab.key(letter)
    assert tab.js("document.getElementById('detail-title').textContent") == third
    tab.key("Tab")
    assert tab.js(name) == "save-labels"
    tab.key("Enter")
    [(file, text)] = tab.js("Promise.all(window.kept.map(async ([n, b]) => [n, await b.text()]))")
    [row] = csv.DictReader(io.StringIO(text))
    assert file == "decisions-eve.csv"
    assert (row["item_id"], row["resolution"], row["note"]) == (third, "human", "jk 1")
    tab.key("Escape")
    assert tab.js("document.getElementById('detail').hidden") is True
    assert tab.js("document.activeElement.getAttribute('role')") == "gridcell"
    for key in ("3", "5", "1"):
        tab.key(key)
        n = tab.js("judgestats.selection.items.length")
        assert (
            int(tab.js("document.querySelector('[role=grid]').getAttribute('aria-rowcount')")) >= n
        )
        assert tab.js("document.activeElement !== document.body"), key
    kinds = {"button", "textbox", "checkbox", "combobox", "searchbox", "gridcell", "grid"}
    nodes = tab.ask("Accessibility.getFullAXTree")["nodes"]
    named = [n for n in nodes if n.get("role", {}).get("value") in kinds and not n.get("ignored")]
    assert len(named) > 60
    assert [n["role"] for n in named if not n.get("name", {}).get("value")] == []


AT = """(() => { const e = document.activeElement;
  const part = e.closest('nav, .bar, .sub, .figure, #matrix, aside, header, .skip');
  return e === document.body ? 'body' : part.id === 'matrix' ? 'matrix' : part.tagName; })()"""
"""The part of the page that has the focus."""


def test_tab_goes_through_every_control_and_the_focus_is_never_lost(
    opened: Callable[..., Browser],
) -> None:
    frame = judgments(8, unparsed=0.0, missing=0.0, judges=("ann", "bob"))
    for fragment, part in (("", "SECTION"), ("#item=q0/a1", "ASIDE")):
        tab = opened(frame, fragment)
        seen = []
        while "body" not in seen:  # past the last one
            tab.key("Tab")
            seen.append(tab.js(AT))
            assert len(seen) < 99
        order = list(dict.fromkeys(seen))
        assert [p for p in order if p != part] == ["A", "HEADER", "NAV", "DIV", "matrix", "body"]
        assert order.index(part) == {"SECTION": 3, "ASIDE": 5}[part]
        assert seen.count("matrix") == 1  # the grid is one stop
    head = """judgestats.selection.items.length
      + document.querySelectorAll('.mx-head .mx-row').length"""
    rows = "Number(document.querySelector('[role=grid]').ariaRowCount)"
    for box in ("judge", "slice", "label", "verdict", "outcome", "repeat"):
        tab.js(f"document.querySelector('fieldset[data-name={box}] input').click()")
        assert tab.js(f"{rows} === {head}")
        assert tab.js("document.getElementById('live').textContent").startswith(
            tab.js("String(judgestats.selection.items.length)")
        )
    tab.js("document.getElementById('keys-on').click()")  # single keys are switched off
    mode = tab.js("judgestats.state.mode")
    tab.key("2")
    assert tab.js("judgestats.state.mode") == mode


def test_an_item_on_a_phone_hides_the_page_under_it_from_keys_and_readers(
    opened: Callable[..., Browser],
) -> None:
    tab = opened(judgments(8, unparsed=0.0, missing=0.0), "#mode=flips")
    tab.size(390, 844)
    tab.js('document.querySelector(\'[data-at="1"] [data-c="1"]\').click()')
    seen = set()
    for _ in range(60):
        tab.key("Tab")
        seen.add(tab.js(AT))
    assert seen == {"ASIDE", "body"}  # the body: past the last control, the browser's own
    nodes = tab.ask("Accessibility.getFullAXTree")["nodes"]
    roles = [n["role"]["value"] for n in nodes if not n.get("ignored")]
    assert not {"grid", "gridcell", "searchbox", "navigation"} & set(roles)
    assert "complementary" in roles
    title = tab.js("document.getElementById('detail-title').textContent")
    tab.js("document.getElementById('next').focus()")
    tab.key("Enter")
    assert tab.js("document.activeElement.id") == "next"
    assert tab.js("document.getElementById('detail-title').textContent") != title
    tab.size(1280)  # next to the matrix both are within reach
    assert tab.js("document.querySelectorAll('[inert]').length") == 0
    tab.size(390, 844)
    assert tab.js("document.activeElement.id") == "detail-body"
    tab.key("Escape")
    assert tab.js("document.activeElement.dataset.c") == "1"
    assert tab.js("document.querySelectorAll('[inert]').length") == 0
    tab.size(1280)


def test_the_wide_view_of_an_item_keeps_its_decision_in_sight(
    opened: Callable[..., Browser],
) -> None:
    frame = judgments(8, unparsed=0.0, missing=0.0)
    results = judgestats.audit(frame, n_resamples=99).run.records  # a header of several lines
    tab = opened(frame, "#item=q0/a1", results=results)
    tab.key("e")
    foot = "document.getElementById('detail-foot').getBoundingClientRect()"
    assert tab.js(f"[{foot}.width, {foot}.bottom].join()") == "1279,900"
    tab.key("h")
    assert tab.js("document.getElementById('save-labels').textContent") == "Save decisions (1)"
    tab.key("Escape")
    assert tab.js("document.activeElement.closest('[role=grid]') !== null") is True


def test_filters_that_a_button_opens_get_the_focus_and_are_seen(
    opened: Callable[..., Browser],
) -> None:
    tab = opened(judgments(8))
    tab.size(390, 600)
    tab.js("document.getElementById('show-filters').scrollIntoView({ block: 'start' })")
    tab.js("document.getElementById('show-filters').click()")
    assert tab.js("document.activeElement.id") == "reset"
    box = "document.getElementById('reset').getBoundingClientRect()"
    assert tab.js(f"{box}.top >= 0 && {box}.bottom <= innerHeight") is True
    tab.size(1280)


def test_a_finger_hits_every_control_and_print_shows_header_and_figure(
    opened: Callable[..., Browser],
) -> None:
    tab = opened(judgments(8), "#item=q0/a1")
    tab.size(390)
    assert tab.js(f"({SMALL})(40)") == []
    tab.js("document.getElementById('close').click()")
    tab.js("document.getElementById('show-filters').click()")
    assert tab.js(f"({SMALL})(40)") == []
    tab.size(1280)
    tab.ask("Emulation.setEmulatedMedia", media="print")
    shown = "(s) => document.querySelector(s).checkVisibility()"
    places = ("header.top", ".figure", ".filters", ".bar", "#matrix", "#detail")
    assert [tab.js(f"({shown})('{p}')") for p in places] == [True, True, False, False, False, False]
    tab.ask("Emulation.setEmulatedMedia", media="")


KEEP_FILES = """(() => { window.kept = []; let made; const own = URL.createObjectURL;
  URL.createObjectURL = (b) => { made = b; return own.call(URL, b); };
  HTMLAnchorElement.prototype.click = function () { kept.push([this.download, made]); }; })()"""
"""Keeps the files that the page saves: name and blob."""


def saved(tab: Browser, button: str) -> tuple[str, str]:
    """Name and text of the file that a button saves."""
    tab.js(f"{KEEP_FILES}; document.getElementById('{button}').click()")
    return tuple(tab.js("(async () => [kept[0][0], await kept[0][1].text()])()"))


def test_decisions_are_a_labels_file_that_opens_again(
    opened: Callable[..., Browser],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame = judgments(9, unparsed=0.0, missing=0.0, repeats=2)
    tab = opened(frame, "#mode=flips")
    tab.js('document.querySelector(\'[data-at="0"] [data-c="0"]\').click()')
    split = tab.js("judgestats.selection.cells.major[judgestats.selection.items[0] * 3] === 255")
    assert tab.js("document.querySelector('[data-key=judge]').disabled") is split
    tab.js("document.querySelector('[data-key=human]').click()")
    tab.js("(() => { const n = document.querySelector('#decide input'); n.value = '=1+1, \"x\"';"
           "n.dispatchEvent(new Event('change')); })()")  # fmt: skip
    name, text = saved(tab, "save-labels")
    [row] = csv.DictReader(io.StringIO(text))
    assert name == "decisions-reviewer.csv"
    assert (row["resolution"], row["blind"], row["note"]) == ("human", "false", '=1+1, "x"')
    assert row["label"] == row["human_label"]
    assert row["view"].startswith("#mode=flips&item=")
    decisions = pd.DataFrame([row])
    blind = pd.DataFrame({"item_id": frame["item_id"].unique()[:9], "label": "pass"})
    both = pd.concat([blind.assign(blind="true"), decisions], ignore_index=True).fillna("")
    choices = judgments(9, kind="choice", unparsed=0.0, missing=0.0)
    kept = {"item_id": "item", "judge": "judge", "replicate": "trial", "choice": "verdict"}
    choices[list(kept)].rename(columns=kept).to_csv(tmp_path / "judged.csv", index=False)
    words = ["--for", "gate", "--track", "none", "--resamples", "99", "--json"]
    monkeypatch.chdir(tmp_path)
    for labels, n in ((decisions, 0), (both, 9)):  # a decision enters no rate, and blocks a gate
        labels.to_csv("labels.csv", index=False)
        capsys.readouterr()
        assert main(["analyze", "judged.csv", "--labels", "labels.csv", *words]) == 0
        printed = capsys.readouterr().out
        assert "Reviewed 1 verdict: judge right 0, human right 1, unclear 0." in printed
        for verdict in json.loads(printed)["verdicts"]:
            caveats = {c["code"]: c["severity"] for c in verdict["caveats"]}
            assert caveats["labels_handpicked"] == "blocker"
            assert verdict["outcome"] not in {"USE", "USE_WITH_CARE"}
            counted = [r["n"] for r in verdict["requirements"] if r["key"] in {"tpr", "tnr"}]
            assert max(counted) <= n
    again = opened(frame, row["view"], decisions=decisions)
    shown = again.js("document.getElementById('decide').textContent")
    assert 'Earlier decisions: reviewer: human right (=1+1, "x")' in shown


def test_an_exported_selection_is_read_with_the_same_counts(
    opened: Callable[..., Browser], tmp_path: Path
) -> None:
    tab = opened(judgments(10, unparsed=0.05), "#slice=A&judge=ann&judge=bob")
    modes = tab.js("judgestats.selection.modes")
    name, text = saved(tab, "export")
    assert re.fullmatch(r"selection-[0-9a-f]{8}\.csv", name)
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    again = judgestats.read_judgments(path)
    payload, data = view_payload(NOTHING, again, cutoff=6.0)
    page_again = tmp_path / "again.html"
    page_again.write_text(html_page(data), encoding="utf-8")
    tab.open(page_again.as_uri())
    assert tab.js("judgestats.selection.modes") == modes
    assert payload["meta"]["labels"] == ["pass", "fail"]


def test_in_a_sandboxed_frame_files_are_texts_to_copy(
    opened: Callable[..., Browser], tmp_path: Path
) -> None:
    """As MLflow 3.17 shows it: a blob in an iframe that may run scripts and nothing else."""
    tab = opened(judgments(11))
    (tmp_path / "outer.html").write_text("<!doctype html><body>", encoding="utf-8")

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Quiet."""

    handler = partial(Handler, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        tab.ask("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        tab.events.clear()
        tab.ask("Page.navigate", url=f"http://127.0.0.1:{server.server_address[1]}/outer.html")
        tab.until("document.readyState === 'complete' && location.pathname === '/outer.html'")
        tab.js("""(async () => { const text = await (await fetch('/page0.html')).text();
          const f = document.createElement('iframe'); f.setAttribute('sandbox', 'allow-scripts');
          f.src = URL.createObjectURL(new Blob([text], { type: 'text/html' }));
          f.style = 'width:514px;height:668px'; document.body.append(f);
          await new Promise((r) => { f.onload = r; }); })()""")
        inside = [e["params"]["sessionId"] for e in tab.events
                  if e.get("method") == "Target.attachedToTarget"][-1]  # fmt: skip
        tab.until("document.documentElement.dataset.ready", inside)
        for domain in ("Runtime", "Log"):  # what happened before is reported again
            tab.ask(f"{domain}.enable", inside)
        assert tab.js("document.querySelectorAll('[data-at]').length", inside) > 5
        assert tab.js("document.documentElement.scrollWidth", inside) <= 514
        refused = "try { localStorage; } catch (e) { e.name }"
        assert tab.js(refused, inside) == "SecurityError"
        tab.js('document.querySelector(\'[data-at="0"] [data-c="0"]\').click()', inside)
        tab.js("document.querySelector('[data-key=human]').click()", inside)
        assert tab.js("document.getElementById('save-labels').textContent", inside).endswith("(1)")
        written = "try { document.body.innerHTML = '<b>'; } catch (e) { e.name }"
        assert tab.js(written, inside) == "TypeError"  # Trusted Types hold in the frame too
        tab.js("document.getElementById('close').click()", inside)
        tab.js("document.getElementById('export').click()", inside)
        assert tab.js("document.getElementById('save').open", inside) is True
        assert tab.js("document.getElementById('save-text').value", inside).startswith('"item_id"')
        assert tab.js("document.getElementById('review-kept').hidden", inside) is False
        tab.events = [e for e in tab.events if e.get("sessionId") == inside]
        assert [f for f in tab.faults() if "TrustedHTML" not in f] == []
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("n_judges", [1, 3, 12])
def test_no_width_makes_the_page_scroll_sideways(
    opened: Callable[..., Browser], n_judges: int
) -> None:
    names = tuple(f"judge-{'x' * 80 if k == 1 else k}" for k in range(n_judges))
    frame = judgments(12, n_items=30, judges=names, repeats=3)
    frame["answer_text"] = (
        "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd " + frame["answer_text"]
    )
    tab = opened(frame)
    for dark in (False, True):
        for width in (390, 514, 768, 1088, 1280, 1600):
            tab.size(width, dark=dark)
            tab.js("new Promise((r) => requestAnimationFrame(() => setTimeout(r, 40)))")
            assert tab.js("document.documentElement.scrollWidth") <= width
            if width < 704:
                small = tab.js("""[...document.querySelectorAll('#modes button, .bar > button')]
                  .filter((b) => b.offsetHeight && b.offsetHeight < 40).length""")
                assert small == 0
    if n_judges == 3:
        tab.size(1280)
        tab.js(
            "[...document.querySelectorAll('#modes .n')].map((n) => { n.textContent = '6,920'; })"
        )
        assert tab.js("document.querySelector('.bar').offsetHeight") < 60  # one line
        rows = tab.js("""[...document.querySelectorAll('[data-at]')].filter((r) => {
          const b = r.getBoundingClientRect();
          return b.top >= 0 && b.bottom <= innerHeight; }).length""")
        assert rows >= 6


def test_numbers_of_the_header_are_those_of_the_record(opened: Callable[..., Browser]) -> None:
    from judgestats.results import number_text

    frame = demo_judgments()
    found = judgestats.audit(frame, n_resamples=99).run
    tab = opened(frame, results=found.records, cutoff=None)
    shown = tab.js("""[...document.querySelectorAll('[data-record]')].map((c) => [c.dataset.record,
      c.querySelector('.est').textContent + ' ' + c.querySelector('.ci').textContent])""")
    want = [[r.record, number_text(r)] for v in found.records.verdicts for r in v.requirements
            if r.estimate == r.estimate]  # fmt: skip
    assert shown == want
    assert len(want) >= 3
    bare = "document.getElementById('app').innerText"
    intervals = re.findall(r"\[[\d.,\u2212 ]+\]", tab.js(bare))
    finding = re.findall(r"\[[\d.,\u2212 ]+\]", found.records.finding)
    assert sorted(intervals) == sorted([t.partition(" ")[2] for _, t in want] + finding)


def test_without_labels_a_repeat_outside_the_majority_is_hollow(
    opened: Callable[..., Browser],
) -> None:
    verdicts = ["pass", "fail", "pass", "pass"]
    frame = judgments(n_items=3, judges=("ann",), kind="choice", labels="none", missing=0)
    frame = frame.assign(choice=verdicts * 3, status="ok")
    marks = """[...document.querySelectorAll('.mx-body .strip')].map(
      (s) => [...s.querySelectorAll('rect')].map((r) => r.getAttribute('class')))"""
    assert opened(frame).js(marks) == [["bar", "hollow", "bar", "bar"]] * 3


@pytest.mark.parametrize(
    ("threshold", "passes", "said"),
    [
        (0.8, 12, "TNR at most .47, needs ≥ .80"),
        (0.8, 30, "TNR may still be .87, needs ≥ .80"),
        (0.8, 34, "TNR may be .70, needs ≥ .80"),
        (0.7, 34, "TNR holds."),
        (0.705, 34, "TNR may be .702, needs ≥ .70"),  # .70 would be the threshold again
    ],
)
def test_the_header_names_the_limit_that_decides(threshold: float, passes: int, said: str) -> None:
    verdicts = [1.0] * passes + [0.0] * (40 - passes)
    demand = Demand(key="tnr", threshold=threshold, direction="min")
    made = decide([(demand, share_measure("tnr", verdicts, range(40)))])
    named = tuple(replace(r, label="TNR") for r in made.requirements)
    results = replace(NOTHING, verdicts=(replace(made, requirements=named, sentence="TNR holds."),))
    record = view_payload(results, judgments(1, n_items=4))[0]["record"]
    assert record["verdicts"][0]["why"] == said


def test_the_page_keeps_its_budget_of_code() -> None:
    shape_of = runpy.run_path(str(page.ASSETS.parents[3] / ".ci" / "shape.py"))["shape_of"]
    folder = page.ASSETS.parent
    files = [*folder.glob("*.py"), folder.parents[1] / "commands" / "view.py"]
    assert sum(shape_of(path.read_text("utf-8")).code for path in files) <= 700
    assert all(len((page.ASSETS / f"{m}.js").read_text("utf-8").splitlines()) <= 300
               for m in page.MODULES)  # fmt: skip


def test_sizes_bytes_and_secrets() -> None:
    assert len(page.bundle().encode()) <= 90_000
    assert "</script" not in page.bundle().lower()
    assert "<!--" not in page.bundle()


def test_no_two_modules_declare_one_name_at_their_top_level():
    declared = re.findall(
        r"^(?:const|class|(?:async )?function) (\w+)",
        "".join((page.ASSETS / f"{name}.js").read_text("utf-8").replace("export ", "")
                for name in page.MODULES),
        flags=re.MULTILINE,
    )  # fmt: skip
    assert len(declared) > 50
    assert len(set(declared)) == len(declared)
    assert len(page.style().encode()) <= 24_000
    frame = judgments(13)
    keep_secret("sk-made-up-0815")
    frame.loc[frame.index[0], ["raw_text", "answer_text", "item_id"]] = "key sk-made-up-0815 here"
    _, one = view_payload(NOTHING, frame, cutoff=6.0)
    assert one == view_payload(NOTHING, frame.copy(), cutoff=6.0)[1]
    assert html_page(one) == html_page(one)
    assert b"0815" not in gzip.decompress(one)
    packed = re.search(r'octet-stream">([^<]+)<', html_page(one))
    assert packed is not None
    assert base64.b64decode(packed[1]) == one
    none = gzip.decompress(view_payload(NOTHING, frame, keep_texts=False)[1]).decode()
    assert "Question" not in none
    assert "Reason" not in none


def test_above_its_size_a_page_leaves_out_texts_then_items() -> None:
    frame = judgments(14, n_items=400, repeats=3)
    rng = random.Random(2)
    frame["raw_text"] = ["".join(rng.choices("abcdefgh ", k=300)) for _ in range(len(frame))]
    whole, data = view_payload(NOTHING, frame, cutoff=6.0)
    size = len(html_page(data)) / 1e6
    assert whole["meta"]["left_out"] == {"texts": 0, "items": 0, "why": "", "seed": 0}
    cut, data = view_payload(NOTHING, frame, cutoff=6.0, max_mb=size * 0.7)
    assert len(html_page(data)) / 1e6 <= size * 0.7
    assert cut["meta"]["left_out"]["texts"] > 0
    assert "texts of replies are left out" in cut["meta"]["left_out"]["why"]
    small, data = view_payload(NOTHING, frame, cutoff=6.0, max_mb=0.12)
    assert len(html_page(data)) / 1e6 <= 0.12
    left = small["meta"]["left_out"]
    assert left["items"] > 0
    assert len(small["items"]["id"]) == 400 - left["items"]
    assert f"Shown: {400 - left['items']:,} of 400 items" in left["why"]
    assert small["record"]["verdicts"] == whole["record"]["verdicts"]


def test_scores_and_categories_of_an_item_are_no_disagreement() -> None:
    frame = judgments(14, n_items=2000, repeats=1, judges=("ann", "bob"), labels="none",
                      unparsed=0, missing=0)  # fmt: skip
    frame["score"] = frame["judge"].map({"ann": 7.0})
    frame["choice"] = frame["judge"].map({"ann": "", "bob": "pass"})
    small, _ = view_payload(NOTHING, frame, max_mb=0.1)
    assert small["meta"]["left_out"]["items"] > 0
    assert "(all 0 with a disagreement" in small["meta"]["left_out"]["why"]


def test_only_a_page_of_judgestats_is_overwritten(tmp_path: Path) -> None:
    text = html_page(view_payload(NOTHING, judgments())[1])
    write_page(text, tmp_path / "a.html")
    write_page(text, tmp_path / "a.html")
    (tmp_path / "b.html").write_text("my own", encoding="utf-8")
    with pytest.raises(InputError, match="was not written by judgestats"):
        write_page(text, tmp_path / "b.html")
    assert (tmp_path / "b.html").read_text(encoding="utf-8") == "my own"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["score", "choice"])
def test_every_text_stands_out_from_its_ground(
    opened: Callable[..., Browser], scheme: str, kind: str
) -> None:
    tab = opened(judgments(3, kind=kind), "#mode=wrong&judge=ann")
    tab.js("document.querySelector('[role=gridcell][data-c=\"0\"]').click()")
    assert tab.pale_texts(scheme) == []
    tab.js("document.getElementById('help').showModal()")
    assert tab.pale_texts(scheme) == []
