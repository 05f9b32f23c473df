"""One verdict a pair: none is told apart where the test of all conditions tells nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from judgestats.analysis import Analysis
from judgestats.results import Comparison, ResultSet, Test
from judgestats.stats import p_adjust
from tests.null_judge import doors
from tests.null_judge.designs import SPREAD, aligned
from tests.null_judge.selections import crowded
from tests.null_judge.worlds import World

LITTLE = World(sizes=(1,) * 30, replications=5)
DOUBTFUL: dict[str, tuple[Callable[..., Analysis], float, int]] = {
    "temperature": (SPREAD["temperature"], 1.4, 0),
    "audit": (doors.audited, 1.35, 0),
    "alignment": (aligned, 2.5, 7),
    "crowd": (crowded, 4.0, 0),
}
"""Designs with an effect and a seed at which pairs by themselves would be told apart."""


def held_pairs(found: Analysis) -> list[tuple[float, float, float]]:
    """Of every pair that stands under a test of all: own Holm p, p as held, and p of the test."""
    records = found.records({"kind": "experiment"})
    pairs = []
    for whole in records.select(ResultSet):
        kind, _, where = whole.id.partition(".")
        above = {
            "ratio": [f"spread.{where}"], "distance": [f"spread.{where}"],
            "gmd": [f"gmd.{where}"], "sd": [f"gmd.{where}"],
            "shift": [f"shift.{where}"], "difference": [f"methods.{where}"],
            "strategies": [f"strategies.{where.removeprefix('pairs.')}"],
            "interaction": [r.id for r in records.select(Test) if r.id.startswith("spread.")],
        }.get(kind, [])  # fmt: skip
        claims = [h for h in records.headlines if h.rests_on[0] in above]
        rows = [r for r in records.members(whole) if isinstance(r, Comparison)]
        rows = [r for r in rows if not {"random", "always tie"} & {r.a, r.b}]
        if not claims or not rows:
            continue
        tests = [records[h.rests_on[0]] for h in claims]
        p = min(
            (t.p_adjusted if t.family else t.p) if isinstance(t, Test) else h.p_adjusted
            for t, h in zip(tests, claims, strict=True)
        )
        pairs += [(own, r.p_adjusted, p)
                  for own, r in zip(p_adjust([r.p for r in rows]), rows, strict=True)]  # fmt: skip
    return pairs


@pytest.mark.parametrize("name", DOUBTFUL)
def test_no_pair_is_told_apart_alone(name):
    design, effect, seed = DOUBTFUL[name]
    rng = np.random.default_rng([5, seed])
    pairs = held_pairs(design(rng, LITTLE, resamples=99, effect=effect))
    assert any(own < 0.05 <= p for own, _, p in pairs)  # or nothing would have to be held
    assert all(held >= p for _, held, p in pairs if not np.isnan(held))
