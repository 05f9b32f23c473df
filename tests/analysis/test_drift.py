"""Two runs of a judge compared: what has changed is found, and what has not is not claimed."""

import json

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis.drift import drift
from judgestats.cli import main
from judgestats.errors import InputError
from judgestats.judgments.readers.frame import parsed_frame


def run(*, seed, bump=0.0, spread=1.0, judge="J", items=40, replications=6):
    rng = np.random.default_rng(seed)
    quality = np.linspace(2, 8, items)
    rows = [
        {
            "judge": judge,
            "temperature": 1.0,
            "item_id": f"i{i}",
            "cluster": f"i{i}",
            "replicate": r,
            "score": quality[i] + bump + spread * rng.normal(),
            "status": "ok",
        }
        for i in range(items)
        for r in range(replications)
    ]
    return parsed_frame(pd.DataFrame(rows))


def test_a_shift_of_the_mean_and_nothing_else():
    found = drift(run(seed=1), run(seed=2, bump=0.5), n_resamples=199)
    [shift] = found["shift.J, T=1"].rows
    assert shift.interval.low < 0.5 < shift.interval.high
    assert shift.interval.low > 0
    assert shift.p_value < 0.05
    [ratio] = found["ratio.J, T=1"].rows
    assert ratio.interval.low < 1 < ratio.interval.high
    for word in ("mean moved by", "variance multiplied by", "reliability of one score .", "then ."):
        assert word in found.sentence
    assert "of items changed their verdict" in found.sentence


def test_a_wider_spread_lowers_reliability():
    found = drift(run(seed=1), run(seed=2, spread=2.0), n_resamples=199)
    [ratio] = found["ratio.J, T=1"].rows
    assert ratio.interval.low < 4 < ratio.interval.high
    assert found["spread.J, T=1"].p_value < 0.05
    first, second = found.conditions["icc1"]
    assert second < first
    [shift] = found["shift.J, T=1"].rows
    assert shift.interval.low < 0 < shift.interval.high


def test_verdicts_that_flip_are_counted_by_item():
    before = run(seed=1).assign(score=np.nan)
    before["choice"] = np.where(before["item_id"].str[1:].astype(int) < 20, "a", "b")
    after = before.copy()
    moved = after["item_id"].isin([f"i{i}" for i in range(10)])
    after.loc[moved, "choice"] = "b"
    found = drift(before, after, n_resamples=99)
    flips = found["flips.J, T=1"]
    assert flips.estimate == pytest.approx(10 / 40)
    assert flips.interval.low < 0.25 < flips.interval.high
    assert "40 items" in str(flips)
    assert "replications" not in str(flips)


def test_another_version_is_named_and_the_same_items_are_needed():
    both = pd.concat([run(seed=2, judge="K"), run(seed=3, judge="L")], ignore_index=True)
    with pytest.raises(InputError, match="--pair 'FIRST -> SECOND'"):
        drift(run(seed=1), both)
    pair = drift(run(seed=1), both, pairs={"J, T=1": "L, T=1"}, n_resamples=99)
    assert "J, T=1 -> L, T=1: mean moved by" in pair.sentence
    with pytest.raises(InputError, match="no condition 'M'"):
        drift(run(seed=1), both, pairs={"J, T=1": "M"})
    other = run(seed=2).assign(item_id=lambda f: "other " + f["item_id"])
    with pytest.raises(InputError, match="share 0 items"):
        drift(run(seed=1), other)


def test_the_command(workplace, capsys):
    folders = []
    for name, frame in (("a", run(seed=1, items=8)), ("b", run(seed=2, items=8, bump=1.0))):
        data = workplace / name / "data"
        data.mkdir(parents=True)
        frame.to_parquet(data / "judgments.parquet", index=False)
        (workplace / name / "results.json").write_text("{}")
        folders.append(str(workplace / name))
    words = ["drift", *folders, "--resamples", "99", "--out", "drift.json"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "Second run against first, paired by item" in said
    assert "further results stand in drift.json" in said
    assert json.loads((workplace / "drift.json").read_text())["sentence"]
    assert main(["drift", folders[0], "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert main(["drift", *folders, "--pair", "J"]) == 2
    assert "--pair expects" in capsys.readouterr().err
