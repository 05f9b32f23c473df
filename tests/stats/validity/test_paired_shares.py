"""Tango's interval against its closed form elsewhere, and what is refused."""

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import corrected_differences, paired_share_difference, tango_limits


@pytest.mark.parametrize(
    ("counts", "name"),
    [((0, 0, 20), "tango_edge_b0"), ((5, 0, 30), "tango_edge_b5c0"),
     ((12, 2, 50), "tango_edge_all")],
)  # fmt: skip
def test_limits_are_those_of_the_closed_form(reference, counts, name):
    assert tango_limits(*counts) == pytest.approx(reference.value("two_systems", name), abs=1e-9)


def test_exchanging_the_sides_turns_the_sign_and_the_ends_are_within_one():
    for b, c, n in ((3, 9, 40), (0, 7, 7), (1, 0, 1), (20, 20, 40)):
        low, high = tango_limits(b, c, n)
        assert tango_limits(c, b, n) == pytest.approx((-high, -low), abs=1e-9)
        assert -1 <= low <= (b - c) / n <= high <= 1


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="counts among n pairs"):
        tango_limits(5, 6, 10)
    with pytest.raises(InputError, match="0 or 1"):
        paired_share_difference([2], [1])
    with pytest.raises(InputError, match="equally long"):
        paired_share_difference([1, 0], [1])
    nothing = paired_share_difference([np.nan], [1])
    assert nothing.reason == "no item is known on both sides"


def test_labels_without_a_difference_give_a_width_above_zero():
    labels = np.ones((40, 2))
    judge = np.ones((40, 2))
    [row] = corrected_differences(judge, labels, names=["a", "b"], labels_drawn="random").rows
    assert row.estimate == 0
    assert row.interval.high == pytest.approx(tango_limits(0, 0, 40)[1])
    assert row.p_value == 1


def test_the_data_set_of_two_systems_is_reproduced(reference):
    want = reference.value("two_systems", "tango_ci_closed_form")
    data = reference.data("two_systems")
    out = paired_share_difference(data["human_a"], data["human_b"])
    assert out.estimate == pytest.approx(want["difference"])
    assert (out.interval.low, out.interval.high) == pytest.approx(want["ci95"], abs=1e-9)
    assert out.details == {"only_first": 36, "only_second": 12}
