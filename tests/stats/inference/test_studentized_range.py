"""The studentised range against forty-digit values, and its own laws."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats.inference import studentized_range_isf, studentized_range_sf

REFERENCE = Path(__file__).resolve().parents[2] / "reference"
EXACT = json.loads((REFERENCE / "tukey_exact_mpmath.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("table", "function"),
    [("upper_tail", studentized_range_sf), ("quantile", studentized_range_isf)],
)
def test_it_is_right_to_twelve_digits(table: str, function: Callable[..., float]) -> None:
    exact = {key: float(value) for key, value in EXACT[table].items()}
    assert len(exact) > 50
    asked = {key: re.fullmatch(r"\w+=([\d.]+),k=(\d+)", key).groups() for key in exact}  # type: ignore[union-attr]
    found = {key: float(function(float(x), k=int(k))) for key, (x, k) in asked.items()}
    assert found == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("df", [1, 5, 20, 59, 500])
def test_far_tails_of_two_are_those_of_student_s_t(df: int) -> None:
    for q in (3.0, 30.0, 60.0, 100.0, 431.5, 1e4):
        exact = 2 * stats.t.sf(q / math.sqrt(2), df)
        found = float(studentized_range_sf(q, k=2, df=df))
        assert found == pytest.approx(exact, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("df", [3.0, 17.0, 200.0])
def test_finite_df_agree_with_scipy_and_t(df: float) -> None:
    q = np.array([0.8, 3.0, 6.0])
    t = 2 * stats.t.sf(q / math.sqrt(2), df)
    assert np.allclose(studentized_range_sf(q, k=2, df=df) / t, 1, rtol=1e-9)
    assert np.allclose(
        studentized_range_sf(q, k=5, df=df), stats.studentized_range.sf(q, 5, df), rtol=1e-6
    )


def test_edges() -> None:
    got = studentized_range_sf([-1.0, 0.0, math.inf, math.nan], k=3)
    assert got[:3].tolist() == [1.0, 1.0, 0.0]
    assert math.isnan(got[3])
    for bad in ({"k": 1}, {"k": 3, "df": 0}):
        with pytest.raises(InputError, match="must be"):
            studentized_range_sf(1.0, **bad)
    with pytest.raises(InputError, match="between 0 and 1"):
        studentized_range_isf(1.0, k=3)
