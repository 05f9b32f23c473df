"""Audit, drift and check on a world, as `tests.null_judge.designs` has the experiments."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from judgestats.analysis import Analysis, measured_results
from judgestats.analysis.audit import audit
from judgestats.analysis.drift import drift
from judgestats.data import Condition
from judgestats.reporting import MemoryRun, pairs
from judgestats.results import DecisionOptions, verdicts_of
from tests.null_judge.worlds import World, compared, labelled_items, scored

JUDGES = [Condition(judge=j, temperature=1.0) for j in ("one", "two", "three")]
RUNS = [Condition(judge=f"judge, run {n}", temperature=1.0) for n in (1, 2)]
SAME = {RUNS[0].label: RUNS[1].label}


def audited(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """Scores of three judges; an effect is a factor on the last one's standard deviation."""
    frame = scored(rng, world, JUDGES, spread={JUDGES[-1].label: effect})
    return audit(frame, n_resamples=resamples)


def labelled(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """Verdicts of three judges on labelled pairs; an effect makes the odds of the last so many."""
    items = labelled_items(rng, world)
    odds = effect * 0.7 / 0.3
    frame = compared(rng, world, JUDGES, items, right={JUDGES[-1].label: odds / (1 + odds)})
    labels = {i.id: i.labels[0].winner for i in items}
    frame["label"] = frame["item_id"].str.partition("/")[0].map(labels)
    if frame["label"].isna().any():
        raise ValueError(f"no label fits {frame['item_id'].iloc[0]}")
    return audit(frame, n_resamples=resamples)


def _rerun(frame: pd.DataFrame, resamples: int) -> Analysis:
    first = frame["condition"] == RUNS[0].label
    return drift(frame[first], frame[~first], pairs=SAME, n_resamples=resamples)


def drifted(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """One judge's scores twice, as `drift` and `compare` see them; an effect lowers the second."""
    shift = {RUNS[1].label: -0.2 * (effect - 1)}
    return _rerun(scored(rng, world, RUNS, shift=shift), resamples)


def drifted_verdicts(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """One judge's verdicts twice; with an effect the second leans to the first place."""
    items = labelled_items(rng, world)
    lean = {RUNS[1].label: 1 - 1 / effect}
    return _rerun(compared(rng, world, RUNS, items, lean=lean), resamples)


def unlabelled(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """Verdicts of three judges on pairs without labels; an effect leans the last to one place."""
    lean = {JUDGES[-1].label: 1 - 1 / effect}
    return audit(compared(rng, world, JUDGES, labelled_items(rng, world), lean=lean),
                 n_resamples=resamples)  # fmt: skip


def compared_runs(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> bool:
    """Whether `compare` tells four runs of one judge apart; an effect lowers the last one's scores.

    As a page or a notebook has it: later runs held to the first, without store or report.
    """
    runs = [Condition(judge=f"run {n}", temperature=1.0) for n in range(4)]
    frame = scored(rng, world, runs, shift={runs[-1].label: -0.2 * (effect - 1)})
    parts = [part for _, part in frame.groupby("judge", sort=False)]
    records = audit(parts[0], n_resamples=19).records({"kind": "audit"})
    held = pairs([MemoryRun(records=records, held=_one_judge(part)) for part in parts],
                 n_resamples=resamples)  # fmt: skip
    changes = [pair.comparison for pair in held]
    if None in changes:
        raise ValueError(held[changes.index(None)].refused)
    return any(h.claim == "differs" for c in changes if c for h in c.headlines)


def _one_judge(part: pd.DataFrame) -> pd.DataFrame:
    return part.assign(judge="judge", condition="judge, T=1").reset_index(drop=True)


@cache
def true_icc(world: World) -> float:
    """ICC(1,1) of the world, from many questions like its own."""
    rng = np.random.default_rng(11)
    many = World(**{**vars(world), "sizes": world.sizes * 200, "unread": 0.0})
    frame = scored(rng, many, JUDGES[:1])
    x = frame["score"].to_numpy(float).reshape(-1, world.replications)
    within = x.var(axis=1, ddof=1).mean()
    between = x.mean(axis=1).var(ddof=1) - within / world.replications
    return float(between / (between + within))


def passes(rng, world: World, *, resamples: int = 199) -> bool:
    """Whether `check` lets a judge pass that only just has the reliability demanded."""
    frame = scored(rng, world, JUDGES[:1])
    found = measured_results(audit(frame, n_resamples=resamples).records(), frame)
    asked = DecisionOptions(required=(f"icc_1_1={true_icc(world)}",))
    return all(v.outcome in {"USE", "USE_WITH_CARE"} for v in verdicts_of(found, asked))
