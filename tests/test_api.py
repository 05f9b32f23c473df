"""What ``import judgestats as js`` offers, also where an event loop runs (Jupyter)."""

from __future__ import annotations

import asyncio

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.errors import InputError


def test_the_endpoint_is_asked_inside_a_running_loop() -> None:
    async def cell() -> object:
        asyncio.get_running_loop()
        return js.endpoint("sim-typical")

    inside = asyncio.run(cell())
    assert inside.model == "sim-typical"
    assert inside.features == js.endpoint("sim-typical").features


def _file(path, *, worse: bool) -> object:
    drawn = np.random.default_rng(worse).random((40, 4)) < (0.35 if worse else 0.75)
    rows = [
        {"item": f"i{i}", "judge": "J", "trial": t, "passed": int(drawn[i, t])}
        for i in range(40) for t in range(4)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_drift_takes_files(tmp_path) -> None:
    """The same file twice shows no change; a judge that passes half as many does."""
    before = _file(tmp_path / "before.csv", worse=False)
    again = _file(tmp_path / "again.csv", worse=False)
    after = _file(tmp_path / "after.csv", worse=True)
    same = js.drift(before, again, n_resamples=99)
    assert "differs" not in {h.claim for h in same.headlines}
    changed = js.drift(before, after, n_resamples=99)
    assert "differs" in {h.claim for h in changed.headlines}
    with pytest.raises(InputError, match="no file"):
        js.drift(before, tmp_path / "nowhere.csv")


SCORES = [
    {"item": f"i{i}", "judge": j, "trial": t, "score": 1 + (i + t * (i % 3) * (j == "B")) % 7}
    for i in range(20) for j in "AB" for t in range(3)
]  # fmt: skip


def inside_a_loop(work):
    """What some work gives in a coroutine, as in a cell of Jupyter."""

    async def cell():
        asyncio.get_running_loop()
        return work()

    return asyncio.run(cell())


def test_answers_are_short_tidy_and_drawn() -> None:
    """Inside a running loop: a line at the prompt, a tidy frame, a page that loads nothing."""
    hostile = [{**row, "judge": f"<b>{row['judge']}</b>"} for row in SCORES]
    found = inside_a_loop(lambda: js.audit(hostile, n_resamples=99))
    assert len(repr(found)) < 250
    assert "print it for all" in repr(found)
    assert str(found).startswith(("USE", "DO NOT USE", "CANNOT TELL"))
    assert set(found.results["kind"]) == {"estimate", "test", "comparison"}
    assert found.results["id"].is_unique
    assert {"scores", "null", "mean-spread"} <= set(found.figures)
    assert found.figures["scores"]._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(KeyError, match="There are: scores"):
        found.figures["nothing"]
    page = found._repr_html_()
    assert page.count("<img") == 4
    assert "<b>" not in page
    assert "<script" not in page
    assert 'src="data:image/png;base64' in page
    assert not [n for n in (*dir(js), *dir(found)) if n.startswith("_")]
    assert "judgements" not in dir(js)


def test_results_are_those_of_results_csv(workplace) -> None:
    """The tidy frame of a file's audit holds the rows that ``analyze`` writes of it."""
    from judgestats.cli import main

    pd.DataFrame(SCORES).to_csv("j.csv", index=False)
    assert main(["analyze", "j.csv", "--report", "none", "--resamples", "99"]) == 0
    [written] = workplace.glob("mlruns/*/*/artifacts/results.csv")
    there = pd.read_csv(written)
    here = js.audit("j.csv", n_resamples=99).results
    here.to_csv("here.csv", index=False)
    pd.testing.assert_frame_equal(pd.read_csv("here.csv"), there)


def test_compare_holds_each_to_the_first() -> None:
    moved = [{**row, "score": row["score"] + 2} for row in SCORES]
    other = [{**row, "item": f"other {row['item']}"} for row in SCORES]
    found = inside_a_loop(lambda: js.compare(SCORES, moved, other, n_resamples=99))
    assert set(found.results["run"]) == {"data 2"}
    shift = found.results[found.results["id"].str.contains("shift.A/")]
    assert shift["estimate"].tolist() == [2.0]
    assert "CHANGED. A: the mean rose by 2.00" in found.sentence
    assert "they share no items" in found.sentence
    assert found.conditions["run"].tolist() == [f"data {i}" for i in (1, 1, 2, 2, 3, 3)]
    assert list(found.figures) == []  # two points are no figure
    more = js.compare(
        SCORES, moved, [{**r, "score": r["score"] + 1} for r in SCORES], n_resamples=99
    )
    assert list(more.figures) == ["shifts"]
    assert "Run 2 against Run 1" in found._repr_html_()
    assert str(found).startswith("CHANGED  data 2, A: the mean rose by 2.00")
    assert len(repr(found)) < 250
    with pytest.raises(InputError, match="at least two"):
        js.compare(SCORES)


def test_a_run_inside_a_loop_is_compared_and_drawn(workplace) -> None:
    small = {"repeats": 2, "temperatures": [0.3, 1], "resamples": 99, "report": "none"}
    found = inside_a_loop(lambda: js.run("temperature", judges="sim-typical", **small))
    assert found.run_id
    assert len(found.results) > 5
    assert "mean-spread" in found.figures
    again = js.compare(found, found.run_id, n_resamples=99)
    assert again.differences.empty
    assert "the same judgments in both runs: nothing has changed" in again.sentence.lower()
    moved = js.drift(found, found.run_id, n_resamples=99)
    assert moved.headlines
    assert moved.run.all_simulated
    assert moved.run.simulated_judges == ["sim-typical"]


def test_a_frame_that_lacks_something_says_which() -> None:
    with pytest.raises(InputError, match=r"no column names items\. The file has: height, score"):
        js.audit([{"height": 1.5, "score": 1}])
    with pytest.raises(
        InputError, match=r"item = prompt: .*\n +js\.audit\(data, item=\('prompt',\)\)"
    ):
        js.audit([{"prompt": p, "score": 1 + i} for i, p in enumerate("aabb")])
    with pytest.raises(InputError, match=r"js\.audit\(data, mapping=\{'verdict': 'mark_given'\}\)"):
        js.audit([{"item": f"i{i}", "mark_given": i % 4} for i in range(20)])
    with pytest.raises(InputError, match="not int"):
        js.audit(3)
