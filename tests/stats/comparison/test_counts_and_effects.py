"""Paired counts, Cochran's Q, proportions and standardised differences."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats import contingency_tables

from judgestats.errors import InputError
from judgestats.stats import (
    cochran_q_test,
    cohens_d,
    friedman_test,
    mcnemar_test,
)
from judgestats.stats.comparison import hedges_correction
from judgestats.stats.inference import proportion_limits


def verdicts(table: list[list[int]]) -> tuple[list[str], list[str]]:
    """The pairs behind a table."""
    pairs = [("ab"[i], "ab"[j]) for (i, j), n in np.ndenumerate(table) for _ in range(int(n))]
    return [a for a, _ in pairs], [b for _, b in pairs]


def test_mcnemar_exact_over_clusters() -> None:
    x, y = [1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0]
    assert mcnemar_test(x, y).p_value == pytest.approx(2 / 2**5)
    together = mcnemar_test(x, y, cluster=["a", "a", "b", "b", "c", "c"])
    assert together.p_value == pytest.approx(2 / 2**3)
    assert together.effects[0].interval is None
    rates = together.effects[1]
    # clusters' means 1, 1 and .5: the mean -5/6 (of category 0), t on two degrees of freedom
    half = stats.t.ppf(0.975, 2) * np.std([1, 1, 0.5], ddof=1) / np.sqrt(3)
    assert rates.estimate == pytest.approx(-5 / 6)
    assert (rates.interval.low, rates.interval.high) == pytest.approx(
        (-5 / 6 - half, -5 / 6 + half)
    )
    assert mcnemar_test(x, y, cluster=range(6)).p_value == pytest.approx(2 / 2**5)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: mcnemar_test(list("abc"), list("bca")), "two categories are required, got 3"),
        (lambda: mcnemar_test([1, 2], [1]), "equally long"),
        (lambda: cochran_q_test([[0, 2], [1, 0]]), "must be 0 or 1"),
        (lambda: proportion_limits(3, 2), "are no counts"),
        (lambda: proportion_limits(1, 2, method="x"), "method must be"),  # type: ignore[arg-type]
        (lambda: hedges_correction(1), "df must exceed 1"),
        (lambda: cohens_d([1.0], [math.nan]), "at least 2 groups"),
    ],
)
def test_bad_input_is_named(call: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        call()  # type: ignore[operator]


def test_mcnemar_agrees_with_statsmodels() -> None:
    table = [[22, 14], [11, 33]]
    found = mcnemar_test(*verdicts(table))
    theirs = contingency_tables.mcnemar(table, exact=True)
    assert found.statistic == 14
    assert found.p_value == pytest.approx(theirs.pvalue)
    assert mcnemar_test(*verdicts(table)[::-1]).p_value == pytest.approx(found.p_value)


def test_mcnemar_edges() -> None:
    never = mcnemar_test([1, 0, 1], [1, 0, 1])
    assert math.isnan(never.p_value)
    assert never.reason == "the two verdicts never differ"
    holes = mcnemar_test(["a", None, "b", "a", ""], ["b", "a", "b", "b", "a"])
    assert holes.sample.n_excluded == 2
    one_way = mcnemar_test(*verdicts([[5, 4], [0, 5]]))
    assert one_way.effects[0].estimate == math.inf
    assert one_way.effects[0].interval is not None
    assert one_way.effects[0].interval.high == math.inf
    assert one_way.effects[0].interval.low > 0
    assert math.isnan(mcnemar_test([], []).p_value)
    clustered = mcnemar_test([1, None, 0], [0, 1, 0], cluster=["a", "a", "b"])
    assert clustered.sample.n_clusters == 2
    assert clustered.sample.n_excluded == 1
    one = mcnemar_test([1, 1, 0], [0, 1, 0], cluster=["a"] * 3).effects[1]
    assert (one.interval, one.notes[0].code) == (None, "no_interval")


def test_cochran_is_friedman_of_verdicts() -> None:
    x = (np.random.default_rng(1).uniform(size=(30, 4)) < [0.4, 0.5, 0.6, 0.8]).astype(int)
    found = cochran_q_test(x)
    theirs = contingency_tables.cochrans_q(x)
    assert found.statistic == pytest.approx(theirs.statistic)
    assert found.statistic == pytest.approx(friedman_test(x).statistic)
    assert found.p_value == pytest.approx(theirs.pvalue)
    with_flat = np.vstack([x, np.ones((5, 4), dtype=int)])
    assert cochran_q_test(with_flat).statistic == pytest.approx(found.statistic)
    family = found.mcnemar()
    direct = mcnemar_test(x[:, 0], x[:, 3])
    row = next(r for r in family.rows if (r.a, r.b) == ("1", "4"))
    assert row.p_value == direct.p_value
    assert row.estimate == pytest.approx(x[:, 0].mean() - x[:, 3].mean())
    assert row.interval is not None
    assert row.interval.low < row.estimate < row.interval.high
    assert "verdicts" not in found.to_dict()
