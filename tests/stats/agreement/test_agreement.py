"""Properties every agreement coefficient has, bad input, intervals and nulls."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgestats.errors import InputError
from judgestats.stats import (
    cohen_kappa,
    fleiss_kappa,
    flip_rate,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    unanimous_agreement,
    vote_share_reliability,
)
from judgestats.stats.designs import CountTable
from judgestats.stats.designs.count_table import count_table
from judgestats.stats.inference import Estimate

Coefficient = Callable[..., Estimate]

COEFFICIENTS: dict[str, Coefficient] = {
    "fleiss": fleiss_kappa,
    "krippendorff": krippendorff_alpha,
    "ac1": gwet_ac1,
    "pairs": percent_agreement,
    "unanimous": unanimous_agreement,
    "flips": flip_rate,
    "vote_share_anova": vote_share_reliability,
    "vote_share_kappa": lambda v, **k: vote_share_reliability(v, estimator="kappa", **k),
}

tables = arrays(
    np.int8, st.tuples(st.integers(2, 12), st.integers(2, 6)), elements=st.integers(-1, 3)
)
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def value(function: Coefficient, verdicts: Any, **options: Any) -> float:
    return function(verdicts, interval="none", **options).estimate


def labels(codes: np.ndarray) -> np.ndarray:
    return np.array([*"ABCD", None], dtype=object)[codes]


def named(codes: np.ndarray) -> CountTable:
    """The codes as verdicts of four known categories."""
    return count_table(labels(codes), categories=list("ABCD"))


@quick
@given(codes=tables, order=st.permutations(range(4)), seed=st.integers(0, 99))
def test_names_order_of_replications_and_items_without_a_verdict_change_nothing(
    codes: np.ndarray, order: list[int], seed: int
) -> None:
    shuffled = np.random.default_rng(seed).permuted(np.array([*order, -1])[codes], axis=1)
    other = np.vstack([shuffled, np.full((2, codes.shape[1]), -1)])
    for name, function in COEFFICIENTS.items():
        before = value(function, named(codes))
        after = value(function, named(other))
        assert after == pytest.approx(before, abs=1e-12, nan_ok=True), name


# --- bad input and limits -------------------------------------------------------------------


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_all_missing_is_nan_with_a_reason(name: str) -> None:
    out = COEFFICIENTS[name]([[None, None], [None, None]])
    assert math.isnan(out.estimate)
    assert out.reason
    assert out.interval is None
    assert "undefined" in out.sentence()


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_one_replication_is_nan_with_a_reason(name: str) -> None:
    out = COEFFICIENTS[name]([["A"], ["B"], ["A"]])
    assert math.isnan(out.estimate)
    assert "two" in out.reason


@pytest.mark.parametrize("name", ["fleiss", "krippendorff", "vote_share_anova"])
def test_unanimous_judge_is_nan_with_agreement_named(name: str) -> None:
    verdicts = [["A", "A", "A"]] * 12
    out = COEFFICIENTS[name](verdicts)
    assert math.isnan(out.estimate)
    assert "every verdict is A" in out.reason
    assert "raw agreement is 1" in out.reason
    assert percent_agreement(verdicts).estimate == 1.0


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="interval must be"):
        fleiss_kappa([["A", "B"]] * 5, interval="wald")
    with pytest.raises(InputError, match="level"):
        fleiss_kappa([["A", "B"]] * 5, level=95)
    with pytest.raises(InputError, match="metric"):
        krippendorff_alpha([["A", "B"]], metric="circular")
    with pytest.raises(InputError, match="numeric"):
        krippendorff_alpha([["A", "B"]], metric="interval")
    with pytest.raises(InputError, match="counts alone"):
        fleiss_kappa(
            CountTable(counts=np.array([[2.0, 1], [0, 3]]), categories=("a", "b")), n_permutations=9
        )
    with pytest.raises(InputError, match="equally long"):
        cohen_kappa(["a", "b"], ["a"])
    with pytest.raises(InputError, match="cluster"):
        fleiss_kappa([["A", "B"]] * 5, cluster=["q"])


# --- intervals, clusters, nulls --------------------------------------------------------------


def _judge(rng: np.random.Generator, n: int = 60, r: int = 5) -> np.ndarray:
    return (rng.random((n, r)) < rng.beta(0.6, 0.6, size=(n, 1))).astype(int)


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("method", ["jackknife", "linearised", "bca", "percentile"])
def test_every_interval_method_holds_the_estimate(name: str, method: str) -> None:
    out = COEFFICIENTS[name](_judge(np.random.default_rng(8)), interval=method, n_resamples=200)
    assert out.interval is not None
    assert out.interval.low < out.estimate < out.interval.high
    assert out.std_error > 0


def test_the_same_seed_gives_the_same_bits() -> None:
    codes = _judge(np.random.default_rng(11))
    runs = [fleiss_kappa(codes, interval="bca", n_permutations=99, seed=4) for _ in range(2)]
    assert runs[0].to_dict() == runs[1].to_dict()


# --- vote shares ---------------------------------------------------------------------------


def test_anova_vote_share_is_the_icc_of_the_indicators() -> None:
    counts = np.random.default_rng(12).multinomial(6, [0.4, 0.4, 0.2], size=30).astype(float)
    counts[:10] = [6, 0, 0]
    n, r = 30, 6
    p = counts / r
    msb = r * np.sum((p - p.mean(axis=0)) ** 2) / (n - 1)
    msw = np.sum(p * (1 - p)) * r / (n * (r - 1))
    table = CountTable(counts=np.asarray(counts, float), categories=tuple("abc"), given=True)
    one = vote_share_reliability(table)
    assert one.estimate == pytest.approx((msb - msw) / (msb + (r - 1) * msw), abs=1e-12)
    assert vote_share_reliability(table, k=None).estimate == pytest.approx(1 - msw / msb, abs=1e-12)


def test_number_of_judgments_needed() -> None:
    codes = _judge(np.random.default_rng(15), n=80)
    out = vote_share_reliability(codes)
    for target, key in ((0.8, "k_for_80"), (0.9, "k_for_90")):
        k = int(out.details[key])
        assert vote_share_reliability(codes, k=k, interval="none").estimate >= target
        if k > 1:
            assert vote_share_reliability(codes, k=k - 1, interval="none").estimate < target
    # Fewer identical verdicts within items than between: one judgment has no reliability.
    assert vote_share_reliability([["A", "B"]] * 8).details["k_for_80"] == math.inf


def test_vote_share_options() -> None:
    with pytest.raises(InputError, match="estimator"):
        vote_share_reliability([["A", "B"]], estimator="mle")
    with pytest.raises(InputError, match="k must"):
        vote_share_reliability([["A", "B"]], k=0)
    assert "one" in vote_share_reliability([["A", "B"]]).reason


def test_perfect_agreement_has_no_zero_width_interval() -> None:
    verdicts = [["A", "A"], ["B", "B"]] * 10
    for name, function in COEFFICIENTS.items():
        out = function(verdicts)
        if out.interval is not None:
            assert out.interval.high > out.interval.low, name
        else:
            assert out.notes, name
    assert percent_agreement(verdicts).interval.low == pytest.approx(0.025 ** (1 / 20))
    assert flip_rate(verdicts).interval.high == pytest.approx(1 - 0.025 ** (1 / 20))


def test_duplicated_items_in_clusters_do_not_narrow_the_interval() -> None:
    codes = _judge(np.random.default_rng(9))
    question = np.arange(60)
    once = fleiss_kappa(codes).interval
    twice = np.vstack([codes, codes])
    clustered = fleiss_kappa(twice, cluster=np.tile(question, 2))
    naive = fleiss_kappa(twice).interval
    assert clustered.interval.low == pytest.approx(once.low, abs=1e-10)
    assert clustered.sample.n_clusters == 60
    assert naive.low > once.low
