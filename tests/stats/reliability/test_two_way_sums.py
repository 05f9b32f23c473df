"""Sums by cluster give what the coefficients in memory give, in blocks of any order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.errors import InputError
from judgestats.stats import icc, omega_total
from judgestats.stats.reliability import FORMS, TwoWaySums


def _scores(seed: int, n: int, k: int, *, missing: float = 0.0, step: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(6, 1.5, (n, 1)) + rng.normal(0, 1, (n, k)) + rng.normal(0, 0.2, k)
    x = np.round(x / step) * step
    x[rng.random((n, k)) < missing] = np.nan
    return x


def _sums(x: np.ndarray, codes: np.ndarray, *, clustered: bool, size: int = 7) -> TwoWaySums:
    out = TwoWaySums(k=x.shape[1], n_clusters=int(codes.max()) + 1, shift=5.0, clustered=clustered)
    for start in range(0, len(x), size):
        out.add(x[start : start + size], codes[start : start + size])
    return out


def _same_interval(ours, theirs) -> None:
    assert (ours is None) == (theirs is None)
    if ours is not None:
        assert ours.low == pytest.approx(theirs.low, abs=1e-10)
        assert ours.high == pytest.approx(theirs.high, abs=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.04])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("step", [1.0, 0.1])
def test_equal_to_the_coefficients_in_memory(missing: float, clustered: bool, step: float) -> None:
    x = _scores(1, 60, 6, missing=missing, step=step)
    codes = np.arange(60) // 3 if clustered else np.arange(60)
    sums = _sums(x, codes, clustered=clustered)
    cluster = codes if clustered else None
    for form in FORMS:
        ours = sums.icc(form)
        theirs = icc(x, form=form, cluster=cluster, missing="listwise", n_permutations=0)
        assert ours.estimate == pytest.approx(theirs.estimate, abs=1e-10)
        _same_interval(ours.interval, theirs.interval)
        assert (ours.sample.n_items, ours.sample.n_excluded) == (
            theirs.sample.n_items,
            theirs.sample.n_excluded,
        )
    alpha = sums.alpha()
    reference = omega_total(x, model="parallel", cluster=cluster)
    assert alpha.estimate == pytest.approx(reference.estimate, abs=1e-10)
    _same_interval(alpha.interval, reference.interval)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 40), shift=st.integers(-3, 9))
def test_blocks_their_order_and_the_shift_change_nothing(seed: int, size: int, shift: int) -> None:
    x = _scores(seed % 97, 24, 4, missing=0.05)
    codes = np.arange(24) // 2
    mixed = np.random.default_rng(seed).permutation(24)
    one = _sums(x, codes, clustered=True, size=24)
    other = TwoWaySums(k=4, n_clusters=12, shift=float(shift), clustered=True)
    for start in range(0, 24, size):
        here = mixed[start : start + size]
        other.add(x[here], codes[here])
    assert other.alpha().estimate == pytest.approx(one.alpha().estimate, abs=1e-12)
    assert other.icc("ICC(2,1)").estimate == pytest.approx(one.icc("ICC(2,1)").estimate, abs=1e-12)


def test_a_large_offset_loses_no_digit() -> None:
    """Scores far from zero: the shift keeps the digits that plain sums of squares would lose."""
    x = _scores(3, 50, 5, step=0.01)
    near = _sums(x, np.arange(50), clustered=False).alpha().estimate
    far = TwoWaySums(k=5, n_clusters=50, shift=1e8 + 5, clustered=False)
    far.add(x + 1e8, np.arange(50))
    assert far.alpha().estimate == pytest.approx(near, abs=1e-6)  # 1e8 itself has 8 digits left


def test_undefined_values_say_why() -> None:
    same = TwoWaySums(k=3, n_clusters=4, shift=0.0, clustered=False)
    same.add(np.full((4, 3), 7.0), np.arange(4))
    assert np.isnan(same.alpha().estimate)
    assert "no variance" in same.alpha().reason
    assert np.isnan(same.icc().estimate)
    few = TwoWaySums(k=3, n_clusters=2, shift=0.0, clustered=False)
    few.add([[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]], [0, 1])
    assert "2 complete items are needed, 1 given" in few.alpha().reason
    agree = TwoWaySums(k=2, n_clusters=3, shift=0.0, clustered=False)
    agree.add([[1.0, 1.0], [2.0, 2.0], [5.0, 5.0]], [0, 1, 2])
    assert agree.icc().estimate == 1.0
    assert agree.icc().interval is None


def test_wrong_input_is_refused_in_a_sentence() -> None:
    sums = TwoWaySums(k=2, n_clusters=2, shift=0.0, clustered=False)
    with pytest.raises(InputError, match="items x 2 replications"):
        sums.add([[1.0, 2.0, 3.0]], [0])
    with pytest.raises(InputError, match="codes from 0 to 1"):
        sums.add([[1.0, 2.0]], [2])
    with pytest.raises(InputError, match="k and n_clusters"):
        TwoWaySums(k=0, n_clusters=2, shift=0.0, clustered=False)
    with pytest.raises(InputError, match="form must be one of"):
        sums.icc("ICC(4,1)")
