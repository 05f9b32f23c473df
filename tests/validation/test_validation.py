"""Every row of the validation table holds."""

from collections import Counter

import numpy as np
import pytest

from validation.base import Case, all_cases, run

ROWS = all_cases()


def fault_of(case: Case) -> str:
    """What is wrong with a row."""
    outcome = run(case)
    if outcome.r_error or case.undefined:
        number = not np.isnan(outcome.ours).all()
        return f"R refuses ({outcome.r_error}), ours is a number" if number else ""
    if not case.agrees:
        assert case.note, f"{case.id} does not agree and must say why"
    if case.agrees == (outcome.difference <= case.tolerance):
        return ""
    worst = outcome.worst
    return f"R {outcome.r[worst]:.15g}, ours {outcome.ours[worst]:.15g}, agrees={case.agrees}"


@pytest.mark.parametrize("area", sorted({module for module, _ in ROWS}))
def test_ours_is_what_r_says(area: str) -> None:
    found = {case.id: fault_of(case) for module, case in ROWS if module == area}
    assert {row: fault for row, fault in found.items() if fault} == {}


def test_rows_are_named_once() -> None:
    names = Counter((module, case.id) for module, case in ROWS)
    assert [name for name, count in names.items() if count > 1] == []
