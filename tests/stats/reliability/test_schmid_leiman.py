"""Schmid-Leiman against published worked examples and an exact hierarchical population."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.errors import InputError
from judgestats.stats import omega_hierarchical, schmid_leiman
from judgestats.stats.reliability import factor_analysis, minres_factors, oblimin


def symmetric(lower):
    rows = [[float(v) for v in line.split()] for line in lower.strip().splitlines()]
    R = np.eye(len(rows))
    for i, row in enumerate(rows):
        R[i, : i + 1] = R[: i + 1, i] = row
    return R


#: Thurstone's nine abilities, the example of ?psych::omega and of Revelle's omega tutorial
THURSTONE = symmetric("""
1
.828 1
.776 .779 1
.439 .493 .460 1
.432 .464 .425 .674 1
.447 .489 .443 .590 .541 1
.447 .432 .401 .381 .402 .288 1
.541 .537 .534 .350 .367 .320 .555 1
.380 .358 .359 .424 .446 .325 .598 .452 1
""")

#: Moser et al. (2002) as analysed by Wolff & Preising (2005), Behavior Research Methods 37, 48-58
WOLFF_PREISING = symmetric("""
1
.483 1
.340 .624 1
.180 .260 .240 1
.277 .433 .376 .534 1
.257 .301 .244 .654 .609 1
-.074 -.028 .233 .165 .041 .133 1
.212 .362 .577 .411 .300 .399 .346 1
.226 .236 .352 .306 .239 .320 .206 .457 1
""")


def revelle_table_7_5():
    R = np.full((12, 12), 0.2)
    for rows, r in ((slice(0, 6), 0.5), (slice(6, 10), 0.6), (slice(10, 12), 0.7)):
        R[rows, rows] = r
    np.fill_diagonal(R, 1.0)
    return R


def test_thurstone_as_psych_prints_it():
    found = schmid_leiman(THURSTONE)
    assert round(found.omega_hierarchical, 2) == 0.74
    assert round(found.omega_asymptotic, 2) == 0.79
    assert round(found.omega_total, 2) == 0.93
    assert round(found.alpha, 2) == 0.89
    general = [0.71, 0.73, 0.68, 0.65, 0.62, 0.56, 0.59, 0.58, 0.54]
    assert found.general == pytest.approx(general, abs=0.006)
    assert found.group.max(axis=1) == pytest.approx(
        [0.56, 0.55, 0.52, 0.56, 0.49, 0.41, 0.62, 0.34, 0.46], abs=0.015
    )
    assert found.uniquenesses == pytest.approx(
        [0.18, 0.16, 0.26, 0.27, 0.37, 0.50, 0.27, 0.49, 0.48], abs=0.01
    )


def test_revelle_table_7_5_is_known_exactly():
    """The general factor is sqrt(.2) everywhere the communalities the block correlations."""
    R = revelle_table_7_5()
    found = schmid_leiman(R)
    total = R.sum()
    assert found.omega_hierarchical == pytest.approx(144 * 0.2 / total, abs=1e-6)
    assert found.omega_total == pytest.approx(1 - (6 * 0.5 + 4 * 0.4 + 2 * 0.3) / total, abs=1e-6)
    assert found.general == pytest.approx(np.full(12, np.sqrt(0.2)), abs=1e-5)


def test_wolff_preising_hierarchical():
    """Omega hierarchical .545, asymptotic by reliabiliPy .635 from squared pattern loadings."""
    found = schmid_leiman(WOLFF_PREISING)
    assert found.omega_hierarchical == pytest.approx(0.54515, abs=5e-4)
    loadings, phi, _ = factor_analysis(WOLFF_PREISING, n_factors=3, rotation="oblimin")
    pattern = 1 - (1 - (loadings**2).sum(1)).sum() / WOLFF_PREISING.sum()
    assert pattern == pytest.approx(0.857975, abs=5e-5)  # reliabiliPy's documented omega total
    right = np.diag(loadings @ phi @ loadings.T)
    assert found.omega_total == pytest.approx(
        1 - (1 - right).sum() / WOLFF_PREISING.sum(), abs=1e-4
    )


def test_the_solution_reproduces_the_oblique_one():
    found = schmid_leiman(THURSTONE)
    hierarchical = np.column_stack([found.general, found.group])
    model = found.oblique @ np.outer(found.second_order, found.second_order) @ found.oblique.T
    model += found.group @ found.group.T
    assert hierarchical @ hierarchical.T == pytest.approx(model, abs=1e-10)
    assert np.diag(found.oblique @ found.phi @ found.oblique.T) == pytest.approx(
        1 - found.uniquenesses, abs=1e-10
    )


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(9)))
def test_order_of_columns_does_not_matter(order):
    one, two = schmid_leiman(THURSTONE), schmid_leiman(THURSTONE[np.ix_(order, order)])
    assert two.omega_hierarchical == pytest.approx(one.omega_hierarchical, abs=1e-6)


def test_columns_are_reversed_and_that_is_said():
    rng = np.random.default_rng(0)
    g, f = rng.normal(size=(300, 1)), rng.normal(size=(300, 3))
    X = g + 0.7 * np.repeat(f, 3, axis=1) + rng.normal(size=(300, 9))
    turned = X.copy()
    turned[:, [1, 6]] *= -1
    plain = omega_hierarchical(X, interval=None)
    flipped = omega_hierarchical(turned, interval=None)
    assert flipped.estimate == pytest.approx(plain.estimate, abs=1e-6)
    assert "columns 2, 7 were reversed" in flipped.notes[0].message


def test_extraction_and_rotation_agree_with_factor_analyzer():
    theirs, phi, _ = factor_analysis(THURSTONE, n_factors=3, rotation="oblimin")
    ours = oblimin(minres_factors(THURSTONE, n_factors=3).loadings)
    assert np.abs(ours.loadings) == pytest.approx(np.abs(theirs), abs=1e-4)
    assert np.abs(ours.phi) == pytest.approx(np.abs(phi), abs=1e-4)


def test_interval_notes_and_print():
    rng = np.random.default_rng(1)
    g, f = rng.normal(size=(80, 1)), rng.normal(size=(80, 2))
    X = g + 0.7 * np.repeat(f, 3, axis=1) + rng.normal(size=(80, 6))
    X[3, 2] = np.nan
    result = omega_hierarchical(X, n_factors=2, n_resamples=40)
    assert result.interval.low < result.estimate < result.interval.high
    assert result.sample.n_excluded == 1
    assert "two_factors" in [n.code for n in result.notes]
    assert "omega total =" in str(result)
    assert result.row()["omega_total"] == result.omega_total


def test_what_cannot_be_done_says_why():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 6))
    assert "cannot carry" in omega_hierarchical(X[:, :3]).reason
    X[:, 2] = 1
    assert "hold the same score" in omega_hierarchical(X).reason
    assert "at least three" in omega_hierarchical(X[:2]).reason
    with pytest.raises(InputError, match="n_factors"):
        omega_hierarchical(X, n_factors=0)
    with pytest.raises(InputError, match="interval must be"):
        omega_hierarchical(X, interval="feldt")
    with pytest.raises(InputError, match="finite"):
        omega_hierarchical(np.array([[np.inf, 1.0]]))
