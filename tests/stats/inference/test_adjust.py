"""Adjusted p-values and declared families."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.errors import InputError
from judgestats.stats import adjust_family, p_adjust, wilcoxon_signed_rank
from judgestats.stats.inference import ADJUSTMENTS

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(p=P_VALUES)
@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_adjusted_p_is_never_below_p_and_keeps_the_order(p: list[float], method: str) -> None:
    adjusted = p_adjust(p, method=method)
    assert np.all(adjusted >= np.array(p) - 1e-15)
    assert np.all(adjusted <= 1)
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(adjusted[order]) >= -1e-12)


@pytest.mark.parametrize(
    ("p", "method", "match"),
    [
        ([1.2], "holm", "between 0 and 1"),
        ([0.1], "sidak", "method must be one of"),
        ([[0.1]], "holm", "one-dimensional"),
    ],
)
def test_bad_input_is_named(p: object, method: str, match: str) -> None:
    with pytest.raises(InputError, match=match):
        p_adjust(p, method=method)  # type: ignore[arg-type]


def test_a_family_adjusts_what_was_computed() -> None:
    rng = np.random.default_rng(3)
    strong = wilcoxon_signed_rank(rng.normal(2, 1, 20), np.zeros(20))
    weak = wilcoxon_signed_rank(rng.normal(0, 1, 20), np.zeros(20))
    none = wilcoxon_signed_rank(np.ones(4), np.ones(4))
    family = adjust_family({"a": strong, "b": weak, "c": none}, family="order effect")
    assert family.p_adjusted["a"] == pytest.approx(2 * strong.p_value)
    assert math.isnan(family.p_adjusted["c"])
    assert list(family.tidy()["term"]) == ["a", "b", "c"]
    assert "order effect" in str(family)
    written = [f"{k}: {t.apa()}" for k, t in family.tests.items()]
    adjusted = [f", adjusted p {family.p_text(k)}" for k in "ab"]
    assert family.apa() == "; ".join(a + b for a, b in zip(written, [*adjusted, ""], strict=True))
    with pytest.raises(InputError, match="at least one test"):
        adjust_family({}, family="x")


@settings(max_examples=40, deadline=None)
@given(p=P_VALUES)
def test_the_familiar_order_of_the_methods(p: list[float]) -> None:
    got = {m: p_adjust(p, method=m) for m in ADJUSTMENTS}
    slack = 1e-12
    assert np.all(got["holm"] <= got["bonferroni"] + slack)
    assert np.all(got["BH"] <= got["holm"] + slack)
    assert np.all(got["BH"] <= got["BY"] + slack)
