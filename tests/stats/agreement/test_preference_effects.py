"""Length and authorship recover what was put in; the null is left, and shown to be small."""

import numpy as np
import pytest
import statsmodels.api as sm

from judgestats.errors import InputError
from judgestats.stats.agreement import equivalence_of_effects, preference_effects


def made(seed=3, n=400, *, length=0.05, own=0.1):
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n // 4), 4)
    ratio, human = rng.normal(size=n), rng.choice([0, 0.5, 1], size=n)
    mine = rng.choice([-1.0, 0.0, 1.0], size=n)
    noise = 0.1 * rng.normal(size=n) + np.repeat(0.05 * rng.normal(size=n // 4), 4)
    judge = 0.5 + 0.5 * (human - 0.5) + length * ratio / np.log(2) + own * mine + noise
    return judge, human, ratio, mine, cluster


def test_numbers_are_those_of_a_clustered_regression():
    judge, human, ratio, mine, cluster = made()
    columns = np.column_stack([human - 0.5, ratio / np.log(2), mine])
    fit = sm.OLS(judge - 0.5, columns).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}, use_t=True
    )
    g = len(set(cluster))
    row = preference_effects(judge, human, log_length_ratio=ratio, own=mine, cluster=cluster)[
        "own"
    ].rows[0]
    assert row.estimate == pytest.approx(fit.params[2], rel=1e-10)
    error = fit.bse[2] * np.sqrt(g / (g - 1))
    assert row.statistic == pytest.approx(fit.params[2] / error, rel=1e-10)
    assert row.df == g - 1


def test_what_cannot_be_fitted_is_said():
    same = preference_effects([0.5] * 8, [0.5] * 8, log_length_ratio=[0.0] * 8)["length"].rows[0]
    assert np.isnan(same.estimate)
    assert "do" in same.reason
    assert np.isnan(equivalence_of_effects(
        preference_effects([0.5] * 8, [0.5] * 8, log_length_ratio=[0.0] * 8)["length"], margin=1
    ).rows[0].p_value)  # fmt: skip
    with pytest.raises(InputError, match="one number per pair"):
        preference_effects([0.5], [0.5, 1], log_length_ratio=[0.0])
    with pytest.raises(InputError, match="-1, 0 and 1"):
        preference_effects([0.5, 1], [0.5, 1], log_length_ratio=[0.0, 1], own=[2, 0])


def test_a_null_is_not_found_and_is_shown_to_be_small():
    judge, human, ratio, mine, cluster = made(length=0, own=0)
    found = preference_effects(judge, human, log_length_ratio=ratio, own=mine, cluster=cluster)
    assert found["own"].rows[0].p_value > 0.05
    equal = equivalence_of_effects(found["own"], margin=0.1)
    assert equal.all_shown
    assert not equivalence_of_effects(found["own"], margin=1e-4).all_shown
