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
CORRECTED = ("fleiss", "krippendorff", "ac1", "vote_share_anova")

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


@quick
@given(codes=arrays(np.int8, (8, 1), elements=st.integers(0, 2)))
def test_a_duplicated_judge_agrees_perfectly_with_itself(codes: np.ndarray) -> None:
    twice = labels(np.hstack([codes, codes]))
    assert value(percent_agreement, twice) == 1.0
    kappa = fleiss_kappa(twice, interval="none")
    if len(set(codes.ravel().tolist())) > 1:
        assert kappa.estimate == pytest.approx(1.0)
    else:
        assert math.isnan(kappa.estimate)
        assert "raw agreement is 1" in kappa.reason


def test_duplicating_a_judge_raises_agreement() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(3, size=(60, 3))
    more = np.hstack([codes, codes[:, :1]])
    for name in CORRECTED:
        assert value(COEFFICIENTS[name], labels(more)) > value(COEFFICIENTS[name], labels(codes)), (
            name
        )


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


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_one_item_never_crashes_and_has_no_interval(name: str) -> None:
    out = COEFFICIENTS[name]([["A", "B", "A"]])
    assert math.isnan(out.estimate) == bool(out.reason)
    assert out.interval is None or out.interval.high > out.interval.low


@pytest.mark.parametrize("name", ["fleiss", "krippendorff", "vote_share_anova"])
def test_unanimous_judge_is_nan_with_agreement_named(name: str) -> None:
    verdicts = [["A", "A", "A"]] * 12
    out = COEFFICIENTS[name](verdicts)
    assert math.isnan(out.estimate)
    assert "every verdict is A" in out.reason
    assert "raw agreement is 1" in out.reason
    assert percent_agreement(verdicts).estimate == 1.0


def test_unanimous_judge_has_ac1_1_when_categories_are_known() -> None:
    verdicts = [["A", "A", "A"]] * 12
    assert gwet_ac1(verdicts, categories=["A", "B"]).estimate == 1.0
    assert math.isnan(gwet_ac1(verdicts).estimate)


def test_unknown_category_is_refused() -> None:
    with pytest.raises(InputError, match="one of the categories"):
        gwet_ac1([["A", "Z"]], categories=["A", "B"])
    with pytest.raises(InputError, match="one of the categories"):
        cohen_kappa(["A"], ["Z"], categories=["A", "B"])


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


def test_null_of_kappa_is_centred_and_finds_real_agreement() -> None:
    rng = np.random.default_rng(10)
    real = fleiss_kappa(_judge(rng), n_permutations=199)
    assert real.null is not None
    assert real.null.p_value == pytest.approx(1 / 200)
    assert abs(real.null.mean) < 0.05
    noise = fleiss_kappa(rng.integers(3, size=(40, 4)), n_permutations=199)
    assert noise.null is not None
    assert noise.null.p_value > 0.01


def test_the_same_seed_gives_the_same_bits() -> None:
    codes = _judge(np.random.default_rng(11))
    runs = [fleiss_kappa(codes, interval="bca", n_permutations=99, seed=4) for _ in range(2)]
    assert runs[0].to_dict() == runs[1].to_dict()


def test_missing_verdicts_are_counted_in_the_sample() -> None:
    out = fleiss_kappa([["A", "B", "A"], ["A", None, "A"], [None, None, None], ["B", "B", None]])
    assert (out.sample.n_items, out.sample.n_excluded) == (3, 1)
    assert (out.sample.n_replications, out.sample.n_replications_max) == (2, 3)


def test_krippendorff_counts_items_it_can_pair() -> None:
    out = krippendorff_alpha([["A", "B"], ["A", None], ["B", "B"]])
    assert (out.sample.n_items, out.sample.n_excluded) == (2, 1)


def test_few_minority_verdicts_are_noted() -> None:
    verdicts = [["A", "A", "A"]] * 48 + [["A", "B", "B"]] * 2
    for function in (fleiss_kappa, krippendorff_alpha, vote_share_reliability):
        assert "rare_categories" in {n.code for n in function(verdicts).notes}
    assert "rare_categories" not in {n.code for n in gwet_ac1(verdicts).notes}


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


def test_kappa_vote_share_is_fleiss_and_each_steps_up_from_itself() -> None:
    codes = _judge(np.random.default_rng(13), n=30, r=4)
    kappa = value(fleiss_kappa, codes)
    out = vote_share_reliability(codes, estimator="kappa", k=4)
    assert out.details["rho_1"] == pytest.approx(kappa, abs=1e-12)
    assert out.estimate == pytest.approx(4 * kappa / (1 + 3 * kappa), abs=1e-12)
    anova = vote_share_reliability(codes, k=4)
    assert anova.estimate > out.estimate
    assert anova.interval.low < anova.estimate < anova.interval.high


def test_anova_is_unbiased_where_kappa_is_low() -> None:
    """Design page: N = 8, R = 20, truth .286 gives about .255 (kappa) and .284 (ANOVA)."""
    rng = np.random.default_rng(14)
    found = {"kappa": [], "anova": []}
    for _ in range(400):
        pi = rng.dirichlet([1.0, 1.0, 0.5], size=8)  # concentration 2.5: rho = 1 / 3.5 = .286
        table = CountTable(counts=rng.multinomial(20, pi).astype(float), categories=tuple("abc"))
        for name, estimates in found.items():
            estimates.append(value(vote_share_reliability, table, estimator=name))
    assert np.mean(found["kappa"]) == pytest.approx(0.25, abs=0.02)
    assert np.mean(found["anova"]) == pytest.approx(0.28, abs=0.02)


def test_unequal_replications_weigh_pairs() -> None:
    verdicts = [["A"] * 4, ["A", "B", None, None], ["B"] * 4, ["A", "A", None, None]]
    out = vote_share_reliability(verdicts)
    # 2 * 12 + 2 * 2 ordered pairs within items, 2 of them differ.
    within = 2 / 28
    counts = np.array([[4, 0], [1, 1], [0, 4], [2, 0]])
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    same = sum(counts[i] @ counts[j] for i, j in pairs)
    every = sum(counts[i].sum() * counts[j].sum() for i, j in pairs)
    assert out.estimate == pytest.approx(1 - within / (1 - same / every), abs=1e-12)


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


def test_null_of_stepped_up_reliability_is_of_the_stepped_value() -> None:
    noise = np.random.default_rng(16).integers(2, size=(40, 5))
    one = vote_share_reliability(noise, n_permutations=199)
    many = vote_share_reliability(noise, k=5, n_permutations=199)
    assert many.null.q95 == pytest.approx(5 * one.null.q95 / (1 + 4 * one.null.q95), abs=0.02)
    assert many.null.p_value == pytest.approx(one.null.p_value)


def test_cohen_with_missing_values_and_one_table() -> None:
    out = cohen_kappa(["a", None, "b", "a"], ["a", "b", "b", "b"])
    assert out.sample.n_items == 3
    assert out.sample.n_excluded == 1
    assert out.details["table"].sum() == 3
    assert math.isnan(cohen_kappa([None], ["a"]).estimate)
    assert "every verdict is a" in cohen_kappa(["a", "a"], ["a", "a"]).reason


def test_count_table_is_shared() -> None:
    table = count_table(_judge(np.random.default_rng(17)))
    assert fleiss_kappa(table).estimate == fleiss_kappa(table.codes).estimate
