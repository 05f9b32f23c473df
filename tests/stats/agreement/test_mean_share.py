"""Mean of shares: exact at the ends, covers in the middle, refuses what is no share."""

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats.agreement import mean_of_groups, mean_share


def test_all_ones_have_a_bound_and_missing_ones_are_counted():
    found = mean_share([1.0] * 10 + [np.nan])
    assert found.interval.low < 1
    assert found.interval.high == 1
    assert found.sample.n_excluded == 1


@pytest.mark.parametrize("shares", [[], [1.5], [[0.5]]])
def test_no_shares_are_refused(shares):
    with pytest.raises(InputError, match="0-1"):
        mean_share(shares)


def test_mean_of_groups_counts_groups_alike_with_the_stratified_standard_error():
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.binomial(1, 0.8, 400), rng.binomial(1, 0.4, 100)]).astype(float)
    group = np.repeat(["large", "small"], [400, 100])
    out = mean_of_groups(x, group=group)
    parts = [x[:400], x[400:]]
    mean = np.mean([p.mean() for p in parts])
    assert out.estimate == pytest.approx(mean)
    # independent derivation: the variance of a mean of independent means, on the logit scale
    variance = sum(p.var(ddof=1) / p.size for p in parts) / 4
    half = 1.96 * np.sqrt(variance) / (mean * (1 - mean))
    logit = np.log(mean / (1 - mean))
    bounds = 1 / (1 + np.exp(-np.array([logit - half, logit + half])))
    assert [out.interval.low, out.interval.high] == pytest.approx(bounds, abs=0.002)


def test_mean_of_one_group_is_the_mean_share():
    x = np.array([1, 0.5, 0, 1, 1, 0.25])
    one, plain = mean_of_groups(x, group=["g"] * 6), mean_share(x)
    assert one.estimate == pytest.approx(plain.estimate)
    assert one.interval.low == pytest.approx(plain.interval.low)


def test_mean_of_groups_keeps_clusters_within_groups():
    with pytest.raises(InputError, match="two groups"):
        mean_of_groups([1, 0, 1], group=["x", "y", "y"], cluster=["q", "q", "r"])
    with pytest.raises(InputError, match="equally long"):
        mean_of_groups([1, 0, 1], group=["x", "y"])
    with pytest.raises(InputError, match="0-1"):
        mean_of_groups([1, 2], group=["x", "y"])


def test_intervals_of_mean_of_groups_cover():
    """Small groups of unequal size, questions of two items each."""
    rng = np.random.default_rng(11)
    truth, held, runs = (0.8 + 0.55) / 2, 0, 300
    for _ in range(runs):
        chances = [rng.beta(8, 2, 30), rng.beta(5.5, 4.5, 20)]
        x = np.concatenate([rng.binomial(2, p) / 2 for p in chances])
        out = mean_of_groups(x, group=np.repeat(["x", "y"], [30, 20]))
        held += out.interval.low <= truth <= out.interval.high
    assert 0.91 < held / runs < 0.985


def test_coverage_with_clusters():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(300):
        p = rng.beta(4, 2, size=25)
        shares = rng.binomial(5, np.repeat(p, 3)) / 5
        found = mean_share(shares, cluster=np.repeat(np.arange(25), 3))
        covered += found.interval.low < 4 / 6 < found.interval.high
    assert covered >= 273
