"""One pair given as (A, B) and as (B, A), and conditions in the order in which people read them."""

from __future__ import annotations

import pandas as pd
import pytest

import judgestats as js
from judgestats.errors import InputError


def _pairs(letters: bool = False) -> pd.DataFrame:
    """Every pair in both orders: x wins against y, whichever is named first, and y against z."""
    better = {("x", "y"): "x", ("y", "z"): "y"}
    words = ("A", "B") if letters else ("model_a", "model_b")
    rows = []
    for q in range(25):
        for (one, two), wins in better.items():
            for a, b in ((one, two), (two, one)):
                said = words[0] if a == wins else words[1]
                rows.append(
                    {"question_id": q, "model_a": a, "model_b": b, "winner": said, "label": said}
                )
    return pd.DataFrame(rows)


def test_a_pair_in_both_orders_is_one_item() -> None:
    frame = js.read_judgments(_pairs())
    assert "50 pairs of model_a and model_b stand in both orders" in frame.attrs["understood"][1]
    assert frame["item_id"].nunique() == 50
    assert frame.groupby(["item_id", "order"]).size().eq(1).all()
    assert set(frame["choice"]) == {"a"}  # the first row of each pair names its winner first
    assert set(frame["label"]) == {"a"}
    assert frame["replicate"].max() == 0
    found = js.audit(frame, n_resamples=99)
    assert found.conditions["swap_consistency"].tolist() == [1.0]
    same = js.read_judgments(_pairs(letters=True))
    assert same["choice"].tolist() == frame["choice"].tolist()


def test_a_judge_that_follows_the_place_shows() -> None:
    rows = _pairs().drop(columns="label").assign(winner="model_a")
    found = js.audit(rows, n_resamples=99)
    assert found.conditions["swap_consistency"].tolist() == [0.0]


def test_pairs_in_one_order_stay_as_they_are() -> None:
    rows = _pairs().iloc[::2]
    frame = js.read_judgments(rows)
    assert "both orders" not in frame.attrs["understood"][1]
    assert frame["item_id"].nunique() == 50
    codes = _pairs().drop(columns="label").replace({"winner": {"model_a": 0, "model_b": 1}})
    frame = js.read_judgments(codes, codes={"0": "a", "1": "b"})
    assert set(frame["choice"]) == {"a"}


def test_conditions_stand_as_people_read_them(tmp_path) -> None:
    """In memory and in a stream, whatever the order of the rows."""
    named = [("b", 1.0), ("b", 0.3), ("A10", 2.0), ("A9", 2.0), ("A9", 1.5)]
    rows = [
        {"item": f"i{i}", "trial": t, "judge": j, "temperature": k, "score": 1 + (i * t) % 7}
        for j, k in named for t in range(2) for i in range(8)
    ]  # fmt: skip
    wanted = ["A9, T=1.5", "A9, T=2", "A10, T=2", "b, T=0.3", "b, T=1"]
    frame = js.read_judgments(rows)
    assert frame["condition"].iloc[0] == "b, T=1"  # rows stay where they were
    assert js.audit(frame, n_resamples=99).conditions["condition"].tolist() == wanted
    pd.DataFrame(rows).to_parquet(tmp_path / "rows.parquet")
    streamed = js.read_judgments(tmp_path / "rows.parquet", stream="yes")
    assert js.audit(streamed, n_resamples=99).conditions["condition"].tolist() == wanted


def test_a_row_that_stands_twice_is_named() -> None:
    rows = [{"item": f"i{i}", "score": 1 + i % 7} for i in range(30)]
    (note,) = js.read_judgments([*rows, *rows[:8]]).attrs["notes"]
    assert note.startswith("8 rows judge an item again (the first is row 31), each a copy")
    twice = [r | {"trial": t} for r in rows for t in (0, 1)]
    assert not js.read_judgments(twice).attrs["notes"]


@pytest.mark.parametrize("said", ["same", "other"])
def test_few_duplicated_rows_are_no_repetitions(said: str) -> None:
    """Five of them turned single verdicts into a reliability of -1.01."""
    rows = [
        {"item": f"i{i}", "verdict": "pass" if i % 3 else "fail", "judge": j, "label": "pass"}
        for i in range(60) for j in "ab"
    ]  # fmt: skip
    turned = {"pass": "fail", "fail": "pass"}
    more = [r | ({"verdict": turned[r["verdict"]]} if said == "other" else {}) for r in rows[:10:2]]
    frame = js.read_judgments([*rows[:7], *more[:2], *rows[7:], *more[2:]])
    assert len(frame) == len(rows)
    assert frame["replicate"].eq(0).all()
    unread = set(frame.loc[frame["status"] != "ok", "item_id"])
    assert unread == ({r["item"] for r in more} if said == "other" else set())
    (note,) = frame.attrs["notes"]
    assert note.startswith("5 rows judge an item again (the first is row 8), few of them")
    found = js.audit(frame, n_resamples=99)
    assert not found.results["id"].str.startswith("reliability.").any()
    assert note in list(map(str, found.limitations))
    numbered = [r | {"replicate": int(i >= len(rows))} for i, r in enumerate([*rows, *more])]
    assert len(js.read_judgments(numbered)) == len(rows) + 5


def test_a_second_try_stands_for_a_failed_one() -> None:
    rows = [{"item": f"i{i}", "score": 1 + i % 7} for i in range(30)]
    frame = js.read_judgments([rows[0] | {"score": "error"}, *rows])
    assert len(frame) == 30
    assert (frame["status"] == "ok").all()


def test_words_for_no_verdict_are_a_status_alone_too() -> None:
    frame = js.read_judgments([{"item": i, "score": "error"} for i in range(9)])
    assert set(frame["status"]) == {"failed"}
    assert frame.attrs["understood"][0] == "verdict = `score`: no verdict in any row."


def test_options_a_b_c_hold_no_tie() -> None:
    """A choice of three in memory: c was a tie, so that its labels and judgments were halved."""
    rows = [
        {"id": i, "trial": t, "verdict": "abc"[(i + t % 2) % 3], "label": "abc"[i % 3]}
        for i in range(30)
        for t in range(3)
    ]
    frame = js.read_judgments(rows, kind="choice")
    found = js.audit(frame, n_resamples=99)
    assert found.conditions["accuracy"].iloc[0] == 2 / 3
    assert "One order only" not in " ".join(found.limitations)
    with_tie = js.read_judgments(rows)
    assert set(with_tie["choice"]) == {"a", "b", "tie"}


def test_infinite_scores_are_unread_and_named(tmp_path) -> None:
    rows = [{"id": i, "score": float("inf") if i == 3 else 1.0 + i % 5} for i in range(30)]
    frame = js.read_judgments(rows)
    assert "1 infinite score (the first in row 4)" in frame.attrs["notes"][0]
    assert frame["score"].notna().sum() == 29
    pd.DataFrame(rows).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=r"holds an infinite score.*--stream no"):
        js.read_judgments(tmp_path / "rows.parquet", stream="yes")
