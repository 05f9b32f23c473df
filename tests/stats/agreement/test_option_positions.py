import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import (
    first_position_preference,
    grade_score,
    option_win_rate,
    position_and_noise,
    position_test,
    swap_consistency,
)
from judgestats.stats.agreement import (
    chance_grade_score,
    clopper_pearson,
    exceeds_grade_score_bound,
    grade_score_items,
)

NAN = float("nan")
PUBLISHED = Path(__file__).resolve().parents[4] / "shared" / "published"


def consistent(n: int, option: int = 0) -> list[int]:
    """Positions of one option round the n cyclic rotations."""
    return [(option - s) % n for s in range(n)]


# --- Grade Score -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "chance"), [(2, 0.5), (3, 0.58), (4, 0.571), (5, 0.5395), (6, 0.5054)]
)
def test_chance_reference_by_enumeration(n: int, chance: float) -> None:
    assert chance_grade_score(n) == pytest.approx(chance, abs=5e-5)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_always_first_is_0_and_consistent_is_1(n: int) -> None:
    first = grade_score([[0] * n] * 5)
    same = grade_score([consistent(n, k % n) for k in range(5)])
    assert (first.estimate, same.estimate) == (0.0, 1.0)
    assert same.details["corrected"] == pytest.approx(1.0)
    assert first.interval.high < 1
    assert same.interval.low > 0


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 4), st.data())
def test_bounds_are_reached_by_some_completion(n: int, data: st.DataObject) -> None:
    row = data.draw(st.lists(st.integers(-1, n - 1), min_size=n, max_size=n))
    out = grade_score_items([row])
    choices = [range(n) if p < 0 else [p] for p in row]
    every = grade_score_items(list(itertools.product(*choices)))["grade_score"]
    assert out["low"][0] == pytest.approx(every.min(), abs=1e-12)
    assert out["high"][0] == pytest.approx(every.max(), abs=1e-12)


def test_items_with_different_numbers_of_options() -> None:
    positions = [[*consistent(3), NAN], consistent(4), [1, 1, 1, NAN]]
    out = grade_score(positions, n_options=[3, 4, 3])
    assert out.estimate == pytest.approx(2 / 3)
    chances = [chance_grade_score(3), chance_grade_score(4), chance_grade_score(3)]
    assert out.details["chance"] == pytest.approx(np.mean(chances))
    with pytest.raises(InputError, match="later columns"):
        grade_score([[0, 2, 1, 0]], n_options=3)


def test_grade_score_bad_input() -> None:
    for bad in ([0, 1], [[0.5, 1]], [[0, 5]], [[0, -3]]):
        with pytest.raises(InputError):
            grade_score(bad)
    with pytest.raises(InputError, match="score must be"):
        grade_score([[0, 1]], score="f1")
    with pytest.raises(InputError, match="at least 2"):
        chance_grade_score(1)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the shared published tables are not here")
def test_nine_published_cells_exceed_the_bound() -> None:
    table = pd.read_csv(PUBLISHED / "grade_score_tables_1_3.csv").pivot_table(
        index=["prompt", "random_option", "judge"], columns="metric", values="value"
    )
    above = [
        exceeds_grade_score_bound(r.grade_score, r.llm_score, r.choice_score, slack=1e-4)
        for r in table.itertuples()
    ]
    assert (sum(above), len(above)) == (9, 80)


# --- positions -------------------------------------------------------------------------------


def test_position_test_keeps_its_size_where_options_differ_strongly() -> None:
    """A judge that follows the options, noisily: position counts vary, position does not matter."""
    rng = np.random.default_rng(2)
    rejected = 0
    for b in range(100):
        liked = rng.dirichlet([0.3] * 3, size=15)
        options = np.array([[rng.choice(3, p=p) for _ in range(3)] for p in liked])
        positions = (options - np.arange(3)) % 3
        rejected += position_test(positions, n_permutations=99, seed=b).p_value <= 0.05
    assert rejected <= 11  # binomial 99th percentile at .05


def test_position_test_takes_other_orders_missing_and_clusters() -> None:
    orders = np.tile([[0, 1], [1, 0]], (10, 1, 1))
    positions = np.zeros((10, 2))
    positions[0, 1] = NAN
    out = position_test(positions, orders=orders, cluster=np.repeat(range(5), 2), n_permutations=99)
    assert out.sample.n_clusters == 5
    assert out.notes[0].code == "unread_orders"
    assert out.estimates["position 1"] == 1.0
    nothing = position_test([[NAN, NAN]])
    assert math.isnan(nothing.p_value)
    assert nothing.reason
    with pytest.raises(InputError, match="orders must give"):
        position_test(positions, orders=orders[:, :, :1])
    with pytest.raises(InputError, match="n_options"):
        position_test([[0, 5]])


def test_option_win_rate_by_item_and_missing_option() -> None:
    out = option_win_rate([["r1", "A"], ["B", "r2"], [None, None]], option=["r1", "r2", "r3"])
    assert (out.estimate, out.sample.n_excluded) == (0.5, 1)
    assert option_win_rate(["A", "B"], option="never").estimate == 0.0
    with pytest.raises(InputError, match="one per item"):
        option_win_rate(["A", "B"], option=["A"])


# --- two options -----------------------------------------------------------------------------


def test_clopper_pearson_is_scipys() -> None:
    for x, n in ((0, 12), (12, 12), (3, 17), (0, 0)):
        ours = clopper_pearson(x, n)
        if n:
            theirs = stats.binomtest(x, n).proportion_ci(method="exact")
            assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
        else:
            assert (ours.low, ours.high) == (0.0, 1.0)
    with pytest.raises(InputError):
        clopper_pearson(3, 2)


def test_swap_consistency_ties_missing_and_repetitions() -> None:
    first, second = ["a", "tie", "b", None, "tie"], ["a", "tie", "a", "a", "b"]
    assert swap_consistency(first, second).estimate == pytest.approx(2 / 4)
    assert swap_consistency(first, second).sample.n_excluded == 1
    repeated = swap_consistency([["a", "a"], ["a", "b"]] * 10, [["a", "b"], ["b", "b"]] * 10)
    assert repeated.estimate == pytest.approx(0.5)
    assert "jackknife" in (repeated.interval.method if repeated.interval else "jackknife")
    with pytest.raises(InputError, match="categories"):
        swap_consistency(["A"], ["B"])
    with pytest.raises(InputError, match="same items"):
        swap_consistency(["a"], ["a", "b"])


def test_first_position_preference_is_mcnemar_exact() -> None:
    first = ["a"] * 14 + ["b"] * 11 + ["a"] * 30
    second = ["b"] * 14 + ["a"] * 11 + ["a"] * 30
    out = first_position_preference(first, second)
    assert out.p_value == pytest.approx(0.690037965774536, abs=1e-12)  # binom.test(14, 25)
    assert out.effect.interval.low == pytest.approx(0.349281633991336, abs=1e-12)
    assert out.details["no_lean"] == 30


def _repeated(rng: np.random.Generator, pa: np.ndarray, reps: int) -> np.ndarray:
    return np.where(rng.random((pa.size, reps)) < pa[:, None], "a", "b").astype(object)


def test_position_effect_is_estimated_without_bias() -> None:
    rng = np.random.default_rng(5)
    p1, p2 = np.full(4000, 0.8), np.full(4000, 0.5)
    out = position_and_noise(_repeated(rng, p1, 2), _repeated(rng, p2, 2), n_permutations=0)
    assert out["position_effect"].estimate == pytest.approx((0.8 - 0.5) ** 2, abs=0.03)


def test_position_and_noise_needs_two_in_each_order() -> None:
    out = position_and_noise([["a", None], ["a", "a"]], [["a", "b"], ["a", "b"]], n_permutations=9)
    assert (out.sample.n_items, out.sample.n_excluded) == (1, 1)
    none = position_and_noise(["a"], ["b"])
    assert math.isnan(none["position_effect"].estimate)
    assert "undefined (no item has two verdicts in each order)" in none.sentence()


def test_the_grade_score_stands_beside_a_judge_that_selects_at_random():
    rng = np.random.default_rng(5)
    p = []
    for _ in range(200):
        drawn = rng.integers(0, 4, (12, 4))
        out = grade_score(drawn, n_draws=99, seed=1)
        p.append(out.null.p_value)
        assert out.null.mean == pytest.approx(chance_grade_score(4), abs=0.05)
    assert 0.02 < np.mean(np.array(p) <= 0.1) < 0.18  # exact at .10, up to 200 judges' scatter
    options = np.arange(20) % 4
    consistent = (options[:, None] - np.arange(4)) % 4
    out = grade_score(consistent, n_draws=199)
    assert out.null.p_value == pytest.approx(1 / 200)
    assert "draws of a uniform judge" in str(out)
    first = grade_score(np.zeros((20, 4)), n_draws=199)
    assert first.null.p_value == 1.0
    mixed = np.full((20, 4), np.nan)
    mixed[:10, :3] = rng.integers(0, 3, (10, 3))
    mixed[10:] = rng.integers(0, 4, (10, 4))
    sizes = np.r_[np.full(10, 3), np.full(10, 4)]
    corrected = grade_score(mixed, n_options=sizes, score="corrected", n_draws=499)
    assert corrected.null.mean == pytest.approx(0, abs=0.02)
    assert grade_score(drawn).null is None


def test_a_corrected_score_has_the_interval_of_the_score_it_corrects():
    rng = np.random.default_rng(8)
    drawn = rng.integers(0, 4, (20, 4))
    plain, corrected = grade_score(drawn), grade_score(drawn, score="corrected")
    chance = chance_grade_score(4)
    for before, after in (
        (plain.estimate, corrected.estimate),
        (plain.interval.low, corrected.interval.low),
        (plain.interval.high, corrected.interval.high),
    ):
        assert after == pytest.approx((before - chance) / (1 - chance), abs=1e-12)
    assert corrected.std_error == pytest.approx(plain.std_error / (1 - chance))
    # A perfect judge has one too, also where items have different numbers of options.
    perfect = np.full((20, 5), np.nan)
    perfect[:12, :4] = -np.arange(4) % 4
    perfect[12:] = -np.arange(5) % 5
    sizes = np.r_[np.full(12, 4), np.full(8, 5)]
    out = grade_score(perfect, n_options=sizes, score="corrected")
    assert out.estimate == out.interval.high == 1
    assert out.interval.low < 1
    assert np.min(out.details["items"]) == 1


def test_two_options_and_nothing_read_are_defined() -> None:
    items = grade_score_items([[0, 1], [0, 0], [NAN, NAN], [0, NAN]])
    assert items["grade_score"][:2].tolist() == [1.0, 0.0]
    assert math.isnan(items["grade_score"][2])
    assert (items["low"][2:].tolist(), items["high"][2:].tolist()) == ([0.0, 0.0], [1.0, 1.0])
    out = grade_score([[NAN, NAN]] * 4)
    assert math.isnan(out.estimate)
    assert out.sample.n_excluded == 4
    assert (out.details["low"], out.details["high"]) == (0.0, 1.0)
