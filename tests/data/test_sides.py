"""Verdicts that name a model, and scores of two scales within one judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import judgestats as js

MODELS = ("gpt-4", "claude", "llama")


def _named(seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for q in range(60):
        a, b = rng.choice(MODELS, 2, replace=False)
        rows.append({"id": q, "model_a": a, "model_b": b, "winner": rng.choice([a, b, "tie"])})
    return pd.DataFrame(rows)


@pytest.mark.parametrize("column", ["winner", "preference"])
def test_a_model_s_name_is_the_place_where_it_stands(column: str) -> None:
    rows = _named().rename(columns={"winner": column})
    frame = js.read_judgments(rows)
    verdict, how = frame.attrs["understood"]
    assert verdict == f"verdict = `{column}`: a preference."
    assert f"{column} names models: a is the one of model_a, b the one of model_b" in how
    expected = [
        "a" if w == a else "b" if w == b else "tie"
        for a, b, w in rows[["model_a", "model_b", column]].itertuples(index=False)
    ]
    assert frame["choice"].tolist() == expected


def test_labels_that_name_models_are_read_so_and_pairs_in_both_orders_are_one() -> None:
    rows = _named().assign(label=lambda t: t["winner"])
    turned = rows.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    frame = js.read_judgments(pd.concat([rows, turned], ignore_index=True))
    assert (frame["label"] == frame["choice"]).all()
    assert frame["order"].value_counts().tolist() == [60, 60]
    assert frame.groupby("item_id")["choice"].nunique().eq(1).all()


def test_a_model_of_another_row_is_unread_and_said() -> None:
    rows = _named()
    rows.loc[4, "winner"] = "gemini"
    frame = js.read_judgments(rows)
    assert frame.loc[4, "status"] == "unparseable"
    assert "(1 name neither: unparsed)" in frame.attrs["understood"][1]


def test_letters_and_stated_kinds_stay_as_they_are() -> None:
    letters = _named().assign(winner="A")
    assert "names models" not in js.read_judgments(letters).attrs["understood"][1]
    stated = js.read_judgments(_named(), kind="category")
    assert set(stated["choice"]) == {*MODELS, "tie"}


def _scores(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    small, large = rng.integers(1, 11, 60), rng.integers(10, 101, 60)
    rows = {"id": np.arange(60), "judge": "j"}
    if kind == "run":
        parts = [pd.DataFrame({**rows, "run": r, "score": s}) for r, s in enumerate((small, large))]
        return pd.concat(parts).sort_values(["id", "run"], ignore_index=True)
    if kind == "block":
        return pd.DataFrame({**rows, "score": [*small[:30], *large[30:]]})
    even = np.arange(60) % 2 == 0
    if kind == "shares":
        return pd.DataFrame({**rows, "score": np.where(even, small / 11, small)})
    return pd.DataFrame({**rows, "score": np.where(even, 4 + small % 5, 10 * (4 + small % 5) + 9)})


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("run", "repetition 0 goes up to 10, repetition 1 up to"),
        ("block", "the first 30 go up to 10, the others up to"),
        ("shares", "30 are shares"),
        ("apart", "50% are 8 or less, the others 49 or more"),
    ],
)
def test_two_scales_within_one_judge_are_named(kind: str, words: str) -> None:
    (note,) = js.read_judgments(_scores(kind)).attrs["notes"]
    assert note.startswith("The scores of j seem to be of two scales: ")
    assert words in note
    assert not js.read_judgments(_scores(kind), scale=(0, 100)).attrs["notes"]


@pytest.mark.parametrize("high", [1.0, 5, 10, 100])
def test_one_scale_is_not_called_two(high: float) -> None:
    rng = np.random.default_rng(2)
    scores = rng.beta(0.6, 0.6, 400) * high
    scores = scores if high == 1 else np.ceil(scores)
    rows = pd.DataFrame({"id": np.arange(400) // 2, "judge": "j", "score": scores})
    assert not js.read_judgments(rows).attrs["notes"]
    assert not js.read_judgments(rows.sort_values("score")).attrs["notes"]


def test_the_screen_of_verdicts_asked_once_shows_the_share_of_each() -> None:
    rows = pd.DataFrame({"id": range(40), "verdict": ["mild", "severe", "odd", "mild"] * 10})
    found = js.audit(rows, n_resamples=99)
    shown = {r.ask: r.cells["judge"] for r in found.analysis.rows if r.cells}
    assert shown["Share of 'mild'"] == "verdicts.share of 'mild'.judge"
    values = {r.id: r.result for r in found.analysis.results}
    assert values[shown["Share of 'mild'"]].estimate == 0.5


def test_models_left_and_right_are_sides_too():
    rows = [{"pair_id": i, "left_model": "x", "right_model": "y", "winner": "xy"[i % 2]}
            for i in range(20)]  # fmt: skip
    found = js.read_judgments(rows)
    assert found["choice"].tolist() == ["a", "b"] * 10
    assert "a is the one of left_model" in found.attrs["understood"][1]
    arrows = [{"pair": i, "verdict": v} for i, v in enumerate(["A>B", "[[B>>A]]", "A=B"])]
    assert js.read_judgments(arrows)["choice"].tolist() == ["a", "b", "tie"]


def test_a_row_without_a_model_s_name_is_no_fault_of_the_file() -> None:
    rows = _named().assign(winner=lambda t: np.where(t["winner"] == t["model_a"], "A", "B"))
    rows.loc[:3, "model_a"] = None
    frame = js.read_judgments(rows)
    assert len(frame) == 60
    assert frame.attrs["roles"]["system"] == ["model_a", "model_b"]
