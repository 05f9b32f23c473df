"""A p at the floor of its permutations is told as a bound, wherever it is told."""

import inspect
import math
from dataclasses import replace

import pytest

from judgestats import results
from tests.null_judge.designs import NULL, SPREAD, seeded
from tests.null_judge.worlds import World

DRAWS = 96
"""So that p of so many permutations (a 97th and its multiples) is nobody else's by chance."""
WORLD = World(sizes=(2,) * 12, replications=10, unread=0.0, constant=0.0)


@pytest.mark.parametrize("name", sorted(set(NULL) - {"check", "compare"})[::3])
def test_what_comes_from_permutations_knows_its_floor(name):
    design = NULL[name].func
    effect = {"effect": 3.0} if "effect" in inspect.signature(design).parameters else {}
    world = replace(WORLD, sizes=(2,) * 6, replications=3)
    found = design(seeded(1), world, resamples=DRAWS, **effect).records()
    for record in found.results:
        held = record.null if isinstance(record, results.Estimate) else record
        if (
            not isinstance(record, (results.Estimate, results.Test, results.Comparison))
            or held is None
        ):
            continue
        steps = held.p * (DRAWS + 1)
        drawn = 0 < held.p < 0.99 and abs(steps - round(steps)) < 1e-9
        assert not drawn or held.p >= held.p_floor, record.id  # NaN fails


def test_equality_is_no_bound():
    """It rests on t tests, whatever the permutations of the difference gave."""
    found = SPREAD["reasoning"](seeded(1), WORLD, resamples=DRAWS, effect=3.0).records()
    equal = [h for h in found.headlines if h.claim == "equivalent"]
    assert equal
    assert not any(h.p_bound for h in equal)
    assert all(isinstance(h, results.Headline) and math.isfinite(h.p_adjusted) for h in equal)
