"""The permutation engine: each scheme moves what its null exchanges, and nothing else."""

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats.inference import permutation_distribution, permutations_needed

GRID = np.arange(24.0).reshape(6, 4)


def permutation_null(x, statistic, **options):
    return permutation_distribution(x, statistic, **options).null


def capture(x, **options):
    """The permuted arrays that the statistic sees."""
    seen = []

    def statistic(a, *rest):
        seen.append(np.array(a))
        return 0.0

    permutation_distribution(x, statistic, n_permutations=30, **options)
    return seen[1:]


def test_replications_shuffles_each_column_over_items():
    for a in capture(GRID, scheme="replications"):
        np.testing.assert_array_equal(np.sort(a, axis=0), GRID)
    assert any(
        not np.array_equal(np.argsort(a[:, 0]), np.argsort(a[:, 1]))
        for a in capture(GRID, scheme="replications")
    )


def test_replications_stay_within_strata():
    strata = np.array([0, 0, 0, 1, 1, 1])
    for a in capture(GRID, scheme="replications", strata=strata):
        np.testing.assert_array_equal(np.sort(a[:3], axis=0), GRID[:3])
        np.testing.assert_array_equal(np.sort(a[3:], axis=0), GRID[3:])


def test_cells_of_a_cluster_share_their_permutation():
    x = np.tile(np.arange(3.0), (6, 1))
    for a in capture(x, scheme="cells", cluster=["a", "a", "b", "b", "b", "c"]):
        np.testing.assert_array_equal(a[0], a[1])
        np.testing.assert_array_equal(a[2], a[3])
        np.testing.assert_array_equal(a[2], a[4])


def test_labels_move_over_items_within_strata_and_leave_the_other_array():
    labels = np.array(["a", "b", "c", "d", "e", "f"])
    strata = np.array([0, 1, 0, 1, 0, 1])
    other = np.arange(6)
    seen = []

    def statistic(a, b):
        seen.append((list(a), list(b)))
        return 0.0

    permutation_distribution(
        (labels, other), statistic, scheme="labels", strata=strata, n_permutations=20
    )
    for a, b in seen:
        assert sorted(a[::2]) == ["a", "c", "e"]
        assert sorted(a[1::2]) == ["b", "d", "f"]
        assert b == list(range(6))


def test_a_shuffle_of_labels_that_changes_nothing_gives_no_p():
    def spread(drawn, fixed):
        return float(np.var(drawn) + np.var(fixed))

    values = np.arange(6.0)
    out = permutation_distribution((values, values), spread, scheme="labels", n_permutations=99)
    assert np.isnan(out.null.p_value)
    assert "every shuffle of the labels over items gives the same value" in out.null.reason
    assert [n.code for n in out.notes] == ["uninformative_null"]
    assert "says nothing" in str(out.null)


def test_labels_of_clustered_items_are_refused_with_the_way_out():
    with pytest.raises(InputError, match="relation_null"):
        permutation_distribution(np.arange(4.0), np.sum, scheme="labels", cluster=[0, 0, 1, 1])


def test_p_counts_the_observed_arrangement():
    x = np.arange(10.0)[:, None] + np.array([0.0, 0.1])
    out = permutation_distribution(
        x, lambda a: np.corrcoef(a.T)[0, 1], scheme="replications", n_permutations=99
    )
    assert out.null.p_value == 1 / 100
    assert out.observed == pytest.approx(1.0)
    less = permutation_null(
        x,
        lambda a: np.corrcoef(a.T)[0, 1],
        scheme="replications",
        n_permutations=99,
        alternative="less",
    )
    assert less.p_value == 1.0


def test_an_undefined_statistic_has_no_p():
    out = permutation_distribution(GRID, lambda a: np.nan, scheme="questions", n_permutations=9)
    assert np.isnan(out.null.p_value)


def test_workers_and_vectorisation_change_nothing():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 3))

    def one(a):
        return float(a.mean(axis=1).var())

    def many(stack):
        return stack.mean(axis=2).var(axis=1)

    a = permutation_distribution(x, one, scheme="replications", n_permutations=120)
    b = permutation_distribution(x, one, scheme="replications", n_permutations=120, n_jobs=2)
    c = permutation_distribution(
        x, many, scheme="replications", n_permutations=120, vectorized=True
    )
    np.testing.assert_array_equal(a.distribution, b.distribution)
    np.testing.assert_allclose(a.distribution, c.distribution, rtol=1e-12)


def test_the_size_of_the_test_is_its_level():
    rng = np.random.default_rng(7)
    small = [
        permutation_null(
            rng.normal(size=(8, 3)),
            lambda s: s.mean(axis=2).var(axis=1),
            scheme="replications",
            n_permutations=19,
            seed=i,
            vectorized=True,
        ).p_value
        <= 0.05
        for i in range(600)
    ]
    # Exactly .05 in theory: 30 of 600 expected, 99.9 % of outcomes lie in 14..48.
    assert 14 <= sum(small) <= 48


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scheme": "columns"}, "scheme must be one of"),
        ({"scheme": "cells", "strata": [1] * 6}, "strata has no meaning"),
        ({"scheme": "replications", "cluster": [1] * 6}, "cluster has no meaning"),
        ({"scheme": "cells", "alternative": "both"}, "alternative must be"),
        ({"scheme": "cells", "n_permutations": 0}, "n_permutations must be"),
    ],
)
def test_unusable_options_are_refused_by_name(change, words):
    with pytest.raises(InputError, match=words):
        permutation_null(GRID, np.sum, **change)


def test_enough_permutations_for_the_adjusted_level():
    for alpha, m in ((0.05, 1), (0.05, 28), (0.01, 3), (0.1, 7)):
        b = permutations_needed(alpha, m)
        assert 20 / (b + 1) <= alpha / m * (1 + 1e-9) < 20 / b
    with pytest.raises(InputError, match="alpha must lie"):
        permutations_needed(0.0, 1)


def test_a_vector_is_no_matrix():
    with pytest.raises(InputError, match="at least 2 axes"):
        permutation_null(np.arange(4.0), np.sum, scheme="replications")


def test_undefined_permutations_keep_p_valid_and_are_noted():
    def statistic(a):
        return np.nan if a[0, 0] != 0 else 1.0

    out = permutation_distribution(GRID, statistic, scheme="replications", n_permutations=99)
    assert out.n_failed > 50
    assert out.null.p_value == 1.0
    assert [n.code for n in out.notes] == ["undefined_permutations"]


def test_the_labels_scheme_agrees_with_an_exact_test():
    x, y = np.array([1.0, 2, 3, 4, 5, 6, 7]), np.array([2.0, 1, 4, 3, 6, 5, 7])
    exact = stats.permutation_test(
        (x,), lambda a: np.corrcoef(a, y)[0, 1], permutation_type="pairings", alternative="greater"
    ).pvalue
    ours = permutation_null(
        (x, y), lambda a, b: np.corrcoef(a, b)[0, 1], scheme="labels", n_permutations=4999
    ).p_value
    assert ours == pytest.approx(exact, abs=0.004)
