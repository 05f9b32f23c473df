"""A p at the floor of its permutations is told as a bound, wherever it is told."""

import inspect
import math
from dataclasses import replace
from pathlib import Path

import pytest

from judgestats import results
from judgestats.reporting import Run, results_tables
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


def test_a_bound_is_one_in_sentence_screen_table_print_and_file():
    found = SPREAD["temperature"](seeded(1), WORLD, resamples=DRAWS, effect=3.0).records()
    [headline] = [h for h in found.headlines if h.claim == "differs"]
    assert headline.p_bound
    assert headline.p_adjusted == 1 / (DRAWS + 1)
    test = found["spread.j"]
    assert "p ≤ .011" in results.words_of(test, found).numbers
    tables = results_tables(Run(Path(), found), [test], label="t", caption="Spread")
    assert "≤ .011" in " ".join(table.to_markdown() for table in tables).replace("\\", "")


def test_a_family_passes_its_bounds_on():
    found = NULL["omega"].func(seeded(1), WORLD, resamples=DRAWS, effect=3.0).records()
    bounds = [h for h in found.headlines if h.p_bound]
    assert bounds
    for headline in bounds:
        record = found[headline.rests_on[0]]
        assert isinstance(record, results.Test)
        assert record.p_bound
        others = [found[i] for i in found.family(record.family).members]
        assert any(t.p <= t.p_floor < t.p_adjusted for t in others if isinstance(t, results.Test))
