"""What people agree on among themselves, beside the judge."""

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import agreement_ceiling


def test_the_ceiling_of_the_design():
    """Item pass probabilities Beta(.8, .4): two people agree on .757, no judge beyond .823."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.8, 0.4, 40_000)
    people = (rng.random((p.size, 2)) < p[:, None]).astype(int)
    out = agreement_ceiling((p > 0.5).astype(int), people)
    assert out["people"].estimate == pytest.approx(0.757, abs=0.006)
    assert out["judge"].estimate == pytest.approx(0.823, abs=0.006)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="two human raters"):
        agreement_ceiling(["a", "b"], [["a", None], [None, "b"]])
    with pytest.raises(InputError, match="shapes"):
        agreement_ceiling(["a"], [["a"]])


def test_clusters_widen_and_scores_are_distances():
    rng = np.random.default_rng(1)
    own = np.repeat(rng.normal(0, 2, 20), 6)  # what the judge adds to a whole question
    people = rng.normal(size=(120, 3))
    judge = people.mean(axis=1) + own
    alone = agreement_ceiling(judge, people, scores=True)["judge"]
    whole = agreement_ceiling(judge, people, scores=True, cluster=np.repeat(range(20), 6))["judge"]
    assert whole.estimate == alone.estimate > 1
    assert whole.std_error > 1.3 * alone.std_error
    assert whole.sample.n_clusters == 20
