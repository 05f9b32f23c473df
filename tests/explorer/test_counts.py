"""Counts of the page against a separate count with pandas."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgestats.data.demo import demo_judgments
from judgestats.reporting.explorer import page as script
from judgestats.reporting.explorer import view_payload
from tests.explorer.browser import Browser
from tests.explorer.conftest import NOTHING, judgments

EXAMPLES = Path(__file__).resolve().parents[3] / "shared" / "design" / "examples"
MODES = ("all", "differ", "flips", "wrong", "unparsed")
COUNT = """(payload) => { const J = judgestats, s = new J.store.constructor(payload), out = {};
  const empty = Object.fromEntries(Object.entries(J.state.filters).map(
    ([k, v]) => [k, v instanceof Set ? new Set() : v]));
  for (const sort of ['differ', 'flips', 'wrong']) {
    const got = J.select(s, { mode: 'all', sort, filters: { ...empty, q: '', brush: null } });
    out.modes = got.modes; const i = got.items[0];
    out[sort] = [s.items.id[i], Number(got.keys[sort][i].toFixed(6))]; }
  return out; }"""


def counted(frame: pd.DataFrame, cutoff: float | None) -> dict[str, object]:
    """The definitions of the modes and sorts, written once more."""
    scored = frame["score"].notna().any()
    points = scored and cutoff is None
    step = 1.0
    items = frame["item_id"].unique()
    modes = {name: set() for name in MODES[1:]}
    keys = {name: dict.fromkeys(items, 0.0) for name in ("differ", "flips", "wrong")}
    for item, rows in frame.groupby("item_id", sort=False):
        label = rows["label"].iloc[0]
        means, majorities, spreads, misses = [], [], [0.0], [0.0]
        if rows["status"].ne("ok").any():
            modes["unparsed"].add(item)
        for _, cell in rows[rows["status"].eq("ok")].groupby("condition", sort=False):
            values = cell["score"].to_numpy() if scored else None
            if scored:
                means.append(values.mean())
                spreads.append(values.std(ddof=1) if len(values) > 1 else 0.0)
                votes = None if points else np.where(values >= cutoff, "pass", "fail")
            else:
                votes = cell["choice"].to_numpy()
            if votes is None:
                if np.ptp(values) > step:
                    modes["flips"].add(item)
                if label:
                    misses.append(np.mean(np.abs(values - float(label)) > step))
                    if abs(values.mean() - float(label)) > step:
                        modes["wrong"].add(item)
                continue
            words, n = np.unique(votes, return_counts=True)
            best = words[n == n.max()]
            majority = best[0] if len(best) == 1 else "split"
            majorities.append(majority)
            if len(words) > 1:
                modes["flips"].add(item)
            if not scored:
                spreads.append(1 - n.max() / n.sum())
            if label:
                misses.append(np.mean(votes != label))
                if majority not in {"split", label}:
                    modes["wrong"].add(item)
        known = {m for m in majorities if m != "split"}
        if len(known) > 1 or (points and means and np.ptp(means) > step):
            modes["differ"].add(item)
        if scored:
            keys["differ"][item] = np.ptp(means) if means else 0.0
        elif majorities:
            _, n = np.unique(majorities, return_counts=True)
            keys["differ"][item] = 1 - ((n / n.sum()) ** 2).sum()
        keys["flips"][item] = max(spreads)
        keys["wrong"][item] = max(misses) + 1e-3 * keys["differ"][item]
    firsts = {}
    for name, key in keys.items():
        first = max(items, key=lambda i, k=key: round(k[i], 7))
        firsts[name] = [first, round(float(key[first]), 6)]
    return {"modes": {"all": len(items), **{m: len(v) for m, v in modes.items()}}, **firsts}


CASES = [
    {"kind": kind, "labels": labels, "repeats": repeats, "judges": judges, "unparsed": unparsed}
    for kind, labels in (("score", "words"), ("score", "points"), ("score", "none"),
                         ("choice", "words"), ("choice", "none"))
    for repeats, judges, unparsed in ((4, ("ann", "bob", "cy"), 0.05), (1, ("ann", "bob"), 0.1),
                                      (2, ("ann", "bob", "cy", "dee"), 0.02), (8, ("ann",), 0.0),
                                      (3, ("ann", "bob"), 1.0))
]  # fmt: skip


def counts_of(tab: Browser, seed: int, case: dict[str, Any]) -> object:
    """Counts of the page, where they are not those of a separate count."""
    frame = judgments(seed, n_items=24, **case)
    cutoff = 6.0 if case["kind"] == "score" and case["labels"] != "points" else None
    if case["labels"] == "points":  # a step of one point, whatever scores occur
        frame.loc[frame.index[:2], "score"] = [4.0, 5.0]
        frame.loc[frame.index[:2], "status"] = "ok"
    payload, _ = view_payload(NOTHING, frame, cutoff=cutoff)
    found = json.loads(tab.js(f"JSON.stringify(({COUNT})({json.dumps(payload)}))"))
    return None if found == counted(frame, cutoff) else (seed, case, found)


def test_modes_and_sorts_are_those_of_a_separate_count(opened: Callable[..., Browser]) -> None:
    """50 payloads: ties, missing cells, one judge, one repeat, no labels, all unparsed."""
    page = opened(judgments())
    assert [found for seed in (1, 2) for c in CASES if (found := counts_of(page, seed, c))] == []


WRONG = (
    ("if (!tie) a.major[c] = best;", "a.major[c] = best;"),
    ("(square[c] - (sum * sum) / n) / (n - 1)", "(square[c] - (sum * sum) / n) / n"),
    ("a.high[c] - a.low[c] > step", "a.high[c] - a.low[c] >= step"),
    ("Math.abs(a.mean[c] - store.truth[c]) > step", "Math.abs(a.mean[c] - store.truth[c]) >= step"),
    ("< total ? 1 : 0", "<= total ? 1 : 0"),
    ("!tie && best !== label", "best !== label"),
    ("if (a.unread[c]) mode |= 8;\nif (!a.n[c]) continue;",
     "if (!a.n[c]) continue;\nif (a.unread[c]) mode |= 8;"),
    ("seen !== NONE && seen !== a.major[c]", "seen !== a.major[c]"),
    ("1 - tally.reduce((sum, n) => sum + (n / judged) ** 2, 0)",
     "1 - tally.reduce((max, n) => Math.max(max, n / judged), 0)"),
    ("miss + keys.differ[i] * 1e-3", "miss"),
    ("packed[i] = Math.round((max - key[i]) * scale)", "packed[i] = Math.round(key[i] * scale)"),
)  # fmt: skip


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_a_page_that_counts_otherwise_is_seen(
    opened: Callable[..., Browser], monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    own = script.bundle()
    assert own.count(old) == 1
    monkeypatch.setattr(script, "bundle", lambda: own.replace(old, new))
    tab = opened(judgments())
    assert any(counts_of(tab, seed, case) for seed in (1, 2) for case in CASES)


def test_recorded_scores_are_counted_as_by_pandas(opened: Callable[..., Browser]) -> None:
    frame = demo_judgments()
    frame["label"] = np.where(frame["item_id"].str.endswith("0"), "pass", "fail")
    page = opened(frame)
    assert page.js("judgestats.selection.modes") == counted(frame, 6.0)["modes"]
    assert not page.faults()


def example(name: str) -> dict[str, Any]:
    """The data of an example page of the design."""
    path = EXAMPLES / f"{name}.html"
    if not path.is_file():
        pytest.skip(f"needs {path}")
    packed = re.search(r'octet-stream">\s*([^<]+?)\s*<', path.read_text(encoding="utf-8"))
    assert packed is not None
    return dict(json.loads(gzip.decompress(base64.b64decode(packed[1]))))


def test_a_real_reply_takes_the_bytes_that_the_design_measured() -> None:
    """142 bytes in the page for one of 505 characters, of 1,066 real ones; within 10%."""
    files = sorted((EXAMPLES.parents[1] / "data" / "llmbar" / "raw").glob("*_CoT.json.gz"))
    if not files:
        pytest.skip("needs the raw replies of LLMBar")
    said = [
        row["results"][0][order]["completion"]
        for path in files for row in json.loads(gzip.decompress(path.read_bytes()))
        for order in ("swap = False", "swap = True")
    ]  # fmt: skip
    replies = [text for reply in said if (text := reply[0] if isinstance(reply, list) else reply)]
    assert (len(replies), round(float(np.mean([*map(len, replies)])))) == (1066, 505)
    frame = judgments(1, n_items=len(replies), judges=("ann",), repeats=1, missing=0.0)
    frame = frame.assign(raw_text="", explanation="", question_text="", answer_text="")
    bare, whole = (
        len(script.html_page(view_payload(NOTHING, frame.assign(raw_text=texts), cutoff=6.0)[1]))
        for texts in ("", replies)
    )
    assert (whole - bare) / len(replies) == pytest.approx(142, rel=0.1)


@pytest.mark.parametrize(
    ("name", "modes", "first"),
    [
        ("explore", (600, 133, 297, 227, 5), (("Math/775/2", 6.5), ("Factuality/15/0", 3.741657))),
        ("explore_pairs", (100, 9, 92, 13, 2), (("natural-058", 0.666667), ("natural-000", 0.5))),
    ],
)
def test_examples_of_the_design_have_their_reference_values(
    opened: Callable[..., Browser], name: str, modes: tuple[int, ...], first: tuple[object, ...]
) -> None:
    """The payloads of the two examples, with the fields that they lack."""
    payload = example(name)
    payload["schema"] = "judgestats.view/1"
    payload["meta"]["step"] = 1
    payload["items"]["cluster"] = payload["items"]["id"]
    values = payload["judgments"]["value"]
    payload["judgments"]["status"] = [2 if v is None else 0 for v in values]
    for column in payload["columns"]:
        column.update(criterion="", system="", rater="judge", kind=payload["meta"]["kind"])
    got = opened(judgments(1)).js(f"({COUNT})({json.dumps(payload)})")
    assert tuple(got["modes"][m] for m in MODES) == modes
    assert (tuple(got["differ"]), tuple(got["flips"])) == first


@pytest.mark.parametrize(
    ("fragment", "keep"),
    [
        ("#judge=ann", lambda f: f[f["judge"] == "ann"]),
        ("#repeat=1&repeat=2", lambda f: f[f["replicate"] <= 2]),
        ("#judge=ann&judge=bob&repeat=3", lambda f: f[f["judge"].ne("cy") & f["replicate"].eq(3)]),
    ],
)
def test_filters_count_what_is_left(
    opened: Callable[..., Browser], fragment: str, keep: Callable[[pd.DataFrame], pd.DataFrame]
) -> None:
    frame = judgments(5)
    page = opened(frame, fragment)
    expected = counted(keep(frame), 6.0)["modes"]
    assert page.js("judgestats.selection.modes") == expected


def test_filters_of_items_keep_those_with_a_matching_judgment(
    opened: Callable[..., Browser],
) -> None:
    frame = judgments(6)
    page = opened(frame, "#slice=A&label=fail&outcome=differs")
    wrong = frame["status"].eq("ok") & frame["score"].ge(6) & frame["label"].eq("fail")
    rows = frame[wrong & frame["category"].eq("A")]
    assert page.js("judgestats.selection.items.length") == rows["item_id"].nunique() > 0


def test_columns_of_a_judge_stand_together_and_criteria_do_not_disagree(
    opened: Callable[..., Browser],
) -> None:
    """Criteria are asked one after the other; the second verdict is the opposite of the first."""
    one = judgments(4, judges=("ann", "bob"), repeats=2, missing=0.0)
    asked = (("accuracy", one["score"]), ("style", 11 - one["score"]))
    frame = pd.concat([
        one.assign(criterion=name, condition=one["condition"] + f", criterion={name}", score=score)
        for name, score in asked
    ])  # fmt: skip
    page = opened(frame)
    modes, alone = page.js("judgestats.selection.modes"), counted(one, 6.0)["modes"]
    assert {m: modes[m] for m in ("all", "differ", "flips")} == {
        m: alone[m]
        for m in ("all", "differ", "flips")  # type: ignore[index]
    }
    heads = page.js("""[...document.querySelectorAll('.mx-head .mx-row')].map((row) =>
      [...row.querySelectorAll('[aria-colspan]')].map((c) => [c.textContent, c.ariaColSpan]))""")
    assert heads == [[["ann", "2"], ["bob", "2"]],
                     [[name, "1"] for name in ("accuracy", "style") * 2]]  # fmt: skip


def test_labels_and_conditions_are_shown_without_what_all_share(
    opened: Callable[..., Browser],
) -> None:
    frame = judgments(9, n_items=8, judges=("ann",), kind="choice", labels="none")
    frame["choice"] = frame["choice"].map({"pass": "author-a", "fail": "author-b"}).fillna("")
    other = frame.assign(condition="ann, T=1, prompt=2")
    frame = pd.concat([frame.assign(condition="ann, T=1, prompt=1"), other], ignore_index=True)
    tab = opened(frame)
    heads = "[...document.querySelectorAll('[role=columnheader]')].map((e) => e.textContent)"
    assert tab.js(heads) == ["Item", "ann", "", "prompt=1", "prompt=2"]
    assert tab.js("document.querySelector('.panel h3').textContent") == "prompt=1"
    shown = set(tab.js("[...document.querySelectorAll('.mx-value')].map((e) => e.textContent)"))
    assert shown <= {"a", "b", "split", "\u2013"}
    assert tab.js("judgestats.store.columns[1].condition") == "T=1, prompt=2"  # links keep it
    signed = frame.assign(choice=frame["choice"].replace({"author-a": "-1", "author-b": "-2"}))
    shown = "[...document.querySelectorAll('.mx-value')].map((e) => e.textContent)"
    assert set(opened(signed).js(shown)) <= {"-1", "-2", "split", "\u2013"}


def test_human_raters_are_columns_with_every_word_that_they_gave(
    opened: Callable[..., Browser],
) -> None:
    """A word that no label and no judge uses is shown, and is no category of the figure."""
    frame = judgments(4, n_items=8, judges=("ann",), kind="choice", repeats=1, unparsed=0.0,
                      missing=0.0)  # fmt: skip
    frame["label_eve"] = [*["cannot say"] * 2, *frame["label"][2:]]
    frame["label_joe"] = [*frame["label"][:7], None]
    tab = opened(frame)
    heads = "[...document.querySelectorAll('[role=columnheader]')].map((e) => e.textContent)"
    assert tab.js(heads) == ["Item", "ann", "human eve", "human joe", "Human"]
    cells = """(c) => [...document.querySelectorAll(`[data-c="${c}"] .mx-value`)]
      .map((e) => e.textContent)"""
    assert tab.js(f"({cells})(1)").count("cannot say") == 2
    assert tab.js(f"({cells})(2)").count("\u2013") == 1
    table = "[...document.querySelectorAll('.confusion th')].map((e) => e.textContent)"
    assert tab.js(table) == ["Human label", "pass", "fail", "pass", "fail"]  # one repeat: no split
    assert tab.js("judgestats.selection.modes") == counted(frame, None)["modes"]
    assert tab.js("judgestats.exportRows().length") == 1 + 8  # those of judges


@pytest.mark.parametrize("repeats", [1, 3])
def test_no_word_of_a_verdict_or_a_label_is_cut(
    opened: Callable[..., Browser], repeats: int
) -> None:
    words = {"pass": "supported", "fail": "unsupported"}
    judges = ("ann", "bob", "cy", "dee")
    frame = judgments(4, judges=judges, kind="choice", repeats=repeats, missing=0.0)
    for column in ("choice", "label"):
        frame[column] = frame[column].map(words).fillna("")
    tab = opened(frame)
    for width in (390, 514, 1280):
        tab.size(width)
        cut = """[...document.querySelectorAll('.mx-value, .panel')]
          .filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"""
        assert tab.js(cut) == []


@pytest.mark.parametrize(
    ("case", "cutoff", "said", "mode"),
    [
        ({}, 6.0, "Repeats give different verdicts on", "flips"),
        ({"labels": "points"}, None, "Repeats differ by more than a step on", "flips"),
        ({"repeats": 1}, 6.0, "A judge differs from the human label on", "wrong"),
        ({"repeats": 1, "labels": "none"}, None, "Judges disagree on", "differ"),
        ({"kind": "choice"}, None, "A judge differs from the human label on", "wrong"),
        ({"kind": "choice", "labels": "none"}, None, "Repeats give different verdicts on", "flips"),
    ],
)
def test_the_figure_is_titled_by_a_finding_on_the_selection(
    opened: Callable[..., Browser], case: dict[str, Any], cutoff: float | None, said: str, mode: str
) -> None:
    frame = judgments(3, **case)
    frame.loc[frame["item_id"].isin(frame["item_id"].unique()[:4]), "label"] = ""
    tab = opened(frame, "#slice=A", cutoff=cutoff)
    own = frame[frame["category"].eq("A")]
    labelled = own[own["label"].ne("") & own["status"].eq("ok")]["item_id"].nunique()
    modes = tab.js("judgestats.selection.modes")
    assert modes["all"] == own["item_id"].nunique()
    title = tab.js("document.getElementById('fig-title').textContent")
    of = f"{labelled} labelled items" if mode == "wrong" else f"{modes['all']} items"
    assert title == f"{said} {modes[mode]} of {of}"


def test_systems_filter_their_items(opened: Callable[..., Browser]) -> None:
    frame = judgments(5, missing=0.0)
    frame["author"] = ["model-a" if i.endswith(("0", "2")) else "model-b" for i in frame["item_id"]]
    page = opened(frame, "#system=model-b")
    own = frame[frame["author"].eq("model-b")]
    assert page.js("judgestats.selection.modes") == counted(own, 6.0)["modes"]
    rows = page.js("[...document.querySelectorAll('.mx-sub')].map((n) => n.textContent)")
    assert all("model-b" in row for row in rows)


def test_a_mean_of_labels_is_shown_short_and_named_whole(opened: Callable[..., Browser]) -> None:
    frame = judgments(5, n_items=6, labels="points")
    frame["label"] = frame["label"].map(lambda v: f"{int(v) + 1 / 3:.9f}")
    frame["cluster"] = frame["question_text"]
    first = float(frame["label"].iloc[0])
    tab = opened(frame, f"#label={first}&item={frame['item_id'].iloc[0]}", cutoff=None)
    assert tab.js("document.getElementById('detail-sub').textContent").endswith(f"{first:.5f}")
    assert "Question" not in tab.js("document.getElementById('detail-sub').textContent")
    assert tab.js("document.getElementById('active').textContent").startswith(
        f"Human label: {first:.5f} "
    )
    assert tab.js("location.hash").startswith(f"#label={first}&")


def test_scores_and_categories_of_one_run_have_columns_of_their_kind(
    opened: Callable[..., Browser],
) -> None:
    scores, pairs = judgments(3), judgments(4, kind="choice")
    pairs = pairs.assign(condition=pairs["condition"] + ", pair", item_id="p/" + pairs["item_id"])
    page = opened(pd.concat([scores, pairs]), "#condition=pair")
    alone = counted(pairs, None)["modes"]
    assert page.js("judgestats.selection.modes") == alone
    assert page.js("judgestats.exportRows()[0]").count("verdict") == 1
    assert "score" not in page.js("judgestats.exportRows()[0]")
    page.js("document.getElementById('reset').click()")
    both = counted(scores, 6.0)["modes"]
    assert page.js("judgestats.selection.modes") == {m: both[m] + alone[m] for m in MODES}  # type: ignore[index]
