"""The alternative annotator test against the values of the authors' code."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.errors import InputError
from judgestats.stats import alternative_annotator_test

ROOT = Path(__file__).resolve().parents[3]
WANT = json.loads((ROOT / "tests" / "reference" / "alt_test.json").read_text(encoding="utf-8"))
DATA = ROOT.parent / "shared" / "data" / "alt_test"


def load(name):
    if not DATA.is_dir():
        pytest.skip("../shared/data/alt_test is not there")
    items = pd.read_csv(DATA / f"{name}_items.csv.gz")
    human = pd.read_csv(DATA / f"{name}_human.csv.gz", keep_default_na=False)
    llm = pd.read_csv(DATA / f"{name}_simulated_llm.csv.gz", keep_default_na=False)
    wide = human.pivot(index="item", columns="annotator", values="label").reindex(items["item"])
    return items, wide, llm


def numbers(column, scoring):
    return pd.to_numeric(column) if scoring == "neg_rmse" else column


@pytest.mark.parametrize("name", ["mtbench", "cebab_stars", "cebab_aspects", "framing", "summeval"])
def test_the_published_test_is_reproduced(name):
    items, wide, llm = load(name)
    want = WANT[name]
    order = sorted(wide.columns, key=lambda c: int(c[1:]))
    if want["scoring"] == "neg_rmse":
        wide = wide.apply(pd.to_numeric)
    for judge, values in want["judges"].items():
        mine = llm[llm["llm"] == judge].set_index("item")["label"].reindex(items["item"])
        options = {
            "annotators": order, "scoring": want["scoring"], "epsilon": want["epsilon"],
            "n_resamples": 0,
        }  # fmt: skip
        labels = wide[order].to_numpy(dtype=object)
        judged = numbers(mine, want["scoring"]).to_numpy()
        out = alternative_annotator_test(judged, labels, **options)
        assert out.winning_rate == pytest.approx(values["omega"], abs=1e-12)
        assert out.advantage == pytest.approx(values["rho"], abs=1e-12)
        assert out.passed == values["passed"]
        assert {f"{k:g}": v for k, v in out.sweep.items()} == pytest.approx(values["eps_sweep"])
        for ours, theirs in zip(out.annotators, values["annotators"], strict=True):
            assert ours.annotator == theirs["annotator"]
            assert ours.n == theirs["n"]
            assert ours.mean_difference == pytest.approx(theirs["mean_d"], abs=1e-12)
            assert ours.sd_difference == pytest.approx(theirs["sd_d"], abs=1e-12)
            assert ours.p_value == pytest.approx(theirs["p"], rel=1e-6, abs=1e-300)
            assert ours.p_adjusted == pytest.approx(theirs["p_by"], rel=1e-6, abs=1e-300)


def test_a_constant_can_win_and_stands_beside():
    _, wide, llm = load("mtbench")
    mine = llm[llm["llm"] == "sim_middle"].set_index("item")["label"].reindex(wide.index)
    out = alternative_annotator_test(mine, wide.to_numpy(dtype=object), epsilon=0.2, n_resamples=10)
    constant, majority = "the best constant label", "the human majority"
    assert set(out.beside) == {constant, majority}
    assert out.beside[majority].advantage > out.beside[constant].advantage
    assert math.isnan(out.power)  # a third label stands on six items only
    assert "for comparison: the best constant label" in out.sentence()


def test_too_few_items_and_bad_input():
    few = alternative_annotator_test([1, 0] * 5, [[1, 0]] * 10)
    assert math.isnan(few.winning_rate)
    assert "30 items" in few.sentence()
    with pytest.raises(InputError, match="at least two annotators"):
        alternative_annotator_test([1], [[1]])
    with pytest.raises(InputError, match="needs scores"):
        alternative_annotator_test(["a"] * 2, [["a", "b"]] * 2, scoring="neg_rmse")


def test_power_grows_with_the_margin():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, 120)
    people = np.where(rng.random((120, 4)) < 0.3, rng.integers(0, 4, (120, 4)), truth[:, None])
    power = [
        alternative_annotator_test(truth, people, epsilon=e, n_resamples=40).power
        for e in (0.0, 0.1, 0.3)
    ]
    assert power[0] < power[1] <= power[2] <= 1


def test_a_constant_difference_has_a_defined_p():
    y = np.array([[1, 0], [0, 1]] * 20)
    out = alternative_annotator_test([1, 0] * 20, y, n_resamples=0)
    assert {a.p_value for a in out.annotators} <= {0.0, 1.0}
    assert "constant_difference" in {n.code for n in out.notes}
    assert "two_annotators" in {n.code for n in out.notes}
