"""The effect of length: against statsmodels, known truth, and the exchange of a and b."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from judgestats.errors import InputError
from judgestats.stats.agreement.length_effect import length_effect


def data(seed, effect, n_clusters=40, each=3):
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), each)
    ratio = rng.normal(size=cluster.size)
    human = rng.choice([0.0, 0.5, 1.0], size=cluster.size)
    noise = rng.normal(scale=0.1, size=n_clusters)[cluster] * rng.choice([-1, 1], cluster.size)
    judge = 0.5 + 0.5 * (human - 0.5) + effect * ratio + noise
    return judge, human, ratio, cluster


def test_agrees_with_statsmodels():
    judge, human, ratio, cluster = data(0, 0.1)
    ours = length_effect(judge, human, ratio, cluster=cluster)
    design = np.column_stack([human - 0.5, ratio])
    theirs = sm.OLS(judge - 0.5, design).fit(
        cov_type="cluster",
        cov_kwds={"groups": cluster, "use_correction": False},
        use_t=True,
    )
    assert ours.estimate == pytest.approx(theirs.params[1] * np.log(2), rel=1e-10)
    factor = np.sqrt(40 / 39)
    assert ours.std_error == pytest.approx(theirs.bse[1] * np.log(2) * factor, rel=1e-10)


def test_coverage_and_size():
    covered = found = 0
    for seed in range(200):
        judge, human, ratio, cluster = data(seed, 0.0)
        out = length_effect(judge, human, ratio, cluster=cluster)
        covered += out.interval.low < 0 < out.interval.high
        judge, human, ratio, cluster = data(seed, 0.1)
        found += length_effect(judge, human, ratio, cluster=cluster).interval.low > 0
    assert covered >= 181
    assert found >= 190


def test_exchanging_a_and_b_changes_nothing():
    judge, human, ratio, cluster = data(1, 0.05)
    one = length_effect(judge, human, ratio, cluster=cluster)
    two = length_effect(1 - judge, 1 - human, -ratio, cluster=cluster)
    assert one.estimate == pytest.approx(two.estimate)


def test_undefined_and_refused():
    out = length_effect([0.5] * 6, [1.0] * 6, [0.0] * 6)
    assert np.isnan(out.estimate)
    assert out.reason
    with pytest.raises(InputError, match="one number a pair"):
        length_effect([0.5], [0.5, 1.0], [0.1])
