"""Counts of the page against a separate count with pandas."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from judgestats.data.demo import demo_judgments
from judgestats.reporting.explorer import view_payload
from tests.explorer.browser import Browser
from tests.explorer.conftest import NOTHING, judgments

MODES = ("all", "differ", "flips", "wrong", "unparsed")
COUNT = """(payload) => { const J = judgestats, s = new J.store.constructor(payload), out = {};
  const empty = Object.fromEntries(Object.entries(J.state.filters).map(
    ([k, v]) => [k, v instanceof Set ? new Set() : v]));
  for (const sort of ['differ', 'flips', 'wrong']) {
    const got = J.select(s, { mode: 'all', sort, filters: { ...empty, q: '', brush: null } });
    out.modes = got.modes; out[sort] = s.items.id[got.items[0]]; }
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
    firsts = {name: max(items, key=lambda i, k=key: round(k[i], 7)) for name, key in keys.items()}
    return {"modes": {"all": len(items), **{m: len(v) for m, v in modes.items()}}, **firsts}


CASES = [
    {"kind": kind, "labels": labels, "repeats": repeats, "judges": judges, "unparsed": unparsed}
    for kind, labels in (("score", "words"), ("score", "points"), ("score", "none"),
                         ("choice", "words"), ("choice", "none"))
    for repeats, judges, unparsed in ((4, ("ann", "bob", "cy"), 0.05), (1, ("ann", "bob"), 0.1),
                                      (2, ("ann", "bob", "cy", "dee"), 0.02), (8, ("ann",), 0.0),
                                      (3, ("ann", "bob"), 1.0))
]  # fmt: skip


def test_modes_and_sorts_are_those_of_a_separate_count(opened: Callable[..., Browser]) -> None:
    """50 payloads: ties, missing cells, one judge, one repeat, no labels, all unparsed."""
    page = opened(judgments())
    for seed in (1, 2):
        for case in CASES:
            frame = judgments(seed, n_items=24, **case)
            words = case["kind"] == "score" and case["labels"] != "points"
            cutoff = 6.0 if words else None
            if case["labels"] == "points":  # a step of one point, whatever scores occur
                frame.loc[frame.index[:2], "score"] = [4.0, 5.0]
                frame.loc[frame.index[:2], "status"] = "ok"
            payload, _ = view_payload(NOTHING, frame, cutoff=cutoff)
            found = page.js(f"JSON.stringify(({COUNT})({json.dumps(payload)}))")
            assert json.loads(found) == counted(frame, cutoff), (seed, case)


def test_recorded_scores_are_counted_as_by_pandas(opened: Callable[..., Browser]) -> None:
    frame = demo_judgments()
    frame["label"] = np.where(frame["item_id"].str.endswith("0"), "pass", "fail")
    page = opened(frame)
    assert page.js("judgestats.selection.modes") == counted(frame, 6.0)["modes"]
    assert not page.faults()


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
    expected = dict(counted(keep(frame), 6.0)["modes"])  # type: ignore[call-overload]
    expected["all"] = frame["item_id"].nunique()
    assert page.js("judgestats.selection.modes") == expected


def test_filters_of_items_keep_those_with_a_matching_judgment(
    opened: Callable[..., Browser],
) -> None:
    frame = judgments(6)
    page = opened(frame, "#slice=A&label=fail&outcome=differs")
    wrong = frame["status"].eq("ok") & frame["score"].ge(6) & frame["label"].eq("fail")
    rows = frame[wrong & frame["category"].eq("A")]
    assert page.js("judgestats.selection.items.length") == rows["item_id"].nunique() > 0
