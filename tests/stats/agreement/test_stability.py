import math

import pytest

from judgestats.errors import InputError
from judgestats.stats import agreement_across_judges


def test_agreement_across_judges_by_hand() -> None:
    a = [["A", "A"], ["B", None]]
    b = [["A", "B"], ["B", "B"]]
    c = [["A", "A"], ["A", "B"]]
    out = agreement_across_judges([a, b, c])
    # Replication 1: 3/3 and 1/3 pairs; replication 2: 1/3 and 1/1 (one judge missing).
    assert out.details["per_replication"] == pytest.approx([4 / 6, 2 / 4])
    assert out.estimate == pytest.approx(6 / 10)
    assert out.details["five_numbers"]["min"] == 0.5
    assert out.details["five_numbers_items"]["max"] == pytest.approx(4 / 6)


def test_agreement_across_judges_bad_input() -> None:
    with pytest.raises(InputError, match="at least 2 judges"):
        agreement_across_judges([[["A"]]])
    out = agreement_across_judges([[[None]], [["A"]]])
    assert math.isnan(out.estimate)
    assert out.reason
    assert math.isnan(out.details["five_numbers"]["median"])
