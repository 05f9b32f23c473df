"""Judges that select, call correct, or compare candidates, without any difference between them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from judgestats.analysis import (
    Analysis,
    best_of_n,
    crowd,
    grade_score,
    head_to_tail,
    rejection_sampling,
)
from judgestats.items import HumanLabel, Item, Response
from judgestats.protocols import pair_name
from tests.null_judge.worlds import World


def _rows(condition: dict, item: str, cluster: str, **said) -> dict:
    label = ", ".join([f"{condition['judge']}, T={condition['temperature']:g}", *(
        f"{k.removeprefix('factor_')}={v}" for k, v in condition.items() if k.startswith("factor_")
    )])  # fmt: skip
    return {
        "condition": label, **condition, "item_id": item, "cluster": cluster, "category": "",
        "order": "", "replicate": 0, "status": "ok", "cost_usd": 0.0, **said,
    }  # fmt: skip


def _lost(rng, frame: pd.DataFrame, world: World, **empty) -> pd.DataFrame:
    """A share of the last condition's judgments could not be read."""
    last = frame["condition"] == frame["condition"].iloc[-1]
    lost = last & (rng.random(len(frame)) < world.unread)
    return frame.assign(
        status=frame["status"].mask(lost, "unparseable"),
        **{k: frame[k].mask(lost, v) for k, v in empty.items()},
    )


def rotated(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """Two prompts, with and without an unrelated option; with an effect the last follows place."""
    conditions = [
        {"judge": "j", "temperature": 1.0, "factor_prompt": p, "factor_unrelated": u}
        for u in ("no", "yes") for p in ("plain", "long")
    ]  # fmt: skip
    n = 4  # three responses and the unrelated one, or a fourth as seldom selected
    rows = []
    for i, cluster in enumerate(world.clusters):
        favourite, keep = rng.integers(0, 3), rng.beta(2, 1)
        for k, condition in enumerate(conditions):
            extra = "(unrelated)" if condition["factor_unrelated"] == "yes" else "r3"
            leaning = (1 - 1 / effect) if k == len(conditions) - 1 else 0.0
            for r in range(min(world.replications, 3)):
                for s in range(n):
                    said = favourite if rng.random() < keep else rng.integers(0, n)
                    place = 0 if rng.random() < leaning else (said - s) % n
                    said = (place + s) % n
                    rows.append(
                        _rows(condition, f"i{i}", cluster, order=f"{s + 1}/{n}", replicate=r,
                              choice=extra if said == 3 else f"r{said}", position=str(place + 1))
                    )  # fmt: skip
    frame = _lost(rng, pd.DataFrame(rows), world, choice="", position="")
    declared = grade_score.plan({"resamples": resamples, "seed": 0}, ())
    return grade_score.analyse(frame, declared)


def called_correct(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """Three judges that call answers correct; an effect makes the odds of the last so many."""
    rows = []
    for i, cluster in enumerate(world.clusters):
        p = rng.choice([0.0, 1.0]) if rng.random() < world.constant else rng.beta(1, 1)
        for k, judge in enumerate("abc"):
            odds = p / max(1 - p, 1e-9) * (effect if k == 2 else 1.0)
            for r in range(world.replications):
                said = "correct" if rng.random() < odds / (1 + odds) else "incorrect"
                rows.append(
                    _rows({"judge": judge, "temperature": 1.0}, f"i{i}", cluster, choice=said,
                          replicate=r)
                )  # fmt: skip
    frame = _lost(rng, pd.DataFrame(rows), world, choice="")
    declared = head_to_tail.plan({"resamples": resamples, "seed": 0}, ())
    return head_to_tail.analyse(frame, declared)


def best_of(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """Choices of two judges at three temperatures; with an effect the last repeats them less."""
    heats = [(judge, t) for judge in "ab" for t in (0.3, 0.7, 1.0)]
    rows = []
    for i, cluster in enumerate(world.clusters):
        best, keep = rng.integers(0, 5), 1.0 if rng.random() < world.constant else rng.beta(2, 1)
        for judge, t in heats:
            own = keep / effect if (judge, t) == heats[-1] else keep
            for r in range(world.replications):
                said = best if rng.random() < own else rng.integers(0, 5)
                rows.append(
                    _rows({"judge": judge, "temperature": t}, f"i{i}", cluster, replicate=r,
                          choice=f"m{said}", position=str(said + 1), options="m0|m1|m2|m3|m4",
                          preferred="", right="m0", options_right="1", options_judged="5",
                          chosen_right=str(int(said == 0)))
                )  # fmt: skip
    frame = _lost(rng, pd.DataFrame(rows), world, choice="", position="", chosen_right="")
    return best_of_n.analyse(frame, best_of_n.plan({"resamples": resamples, "seed": 0}, ()))


def _candidates(rng, world: World, m: int) -> tuple[Item, ...]:
    """Questions with m candidates and a label on every pair that says nothing of the judge."""
    made = []
    for i, cluster in enumerate(world.clusters):
        rank = rng.permutation(m)
        made.append(
            Item(
                id=f"q{i}", cluster=cluster, turns=("what?",),
                responses=tuple(Response(turns=(f"answer {k}",)) for k in range(m)),
                labels=tuple(
                    HumanLabel(annotator="p", a=a, b=b, winner="a" if rank[a] < rank[b] else "b")
                    for a, b in combinations(range(m), 2)
                ),
            )
        )  # fmt: skip
    return tuple(made)


def sampled(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """Three strategies that choose at random; with an effect the last follows the labels."""
    items = _candidates(rng, world, 3)
    rows = []
    for k, strategy in enumerate(("vanilla", "vote@3", "cce@4")):
        follows = (1 - 1 / effect) if k == 2 else 0.0
        for item in items:
            for label in item.labels:
                for order in ("ab", "ba"):
                    said = label.winner if rng.random() < follows else str(rng.choice(["a", "b"]))
                    rows.append(
                        _rows({"judge": "j", "temperature": 1.0, "factor_strategy": strategy},
                              pair_name(item, (label.a, label.b)), item.cluster, order=order,
                              choice=said, tokens_in=100.0, tokens_out=10.0)
                    )  # fmt: skip
    frame = pd.DataFrame(rows)
    given = {"equal_points": "judgments", "candidates": "all", "resamples": resamples, "seed": 0}
    declared = rejection_sampling.plan(given, ())
    return rejection_sampling.analyse(frame, declared, items=items)


_CROWD = ("vanilla", "cce-criticising@2", "cce-criticising@4")


def crowded(rng, world: World, *, resamples: int = 199, effect: float = 1.0) -> Analysis:
    """Two judges, strategies equally often right; an effect makes the odds of the last so many."""
    items = _candidates(rng, world, 2)
    hard = rng.normal(0, 1, len(items))
    rows = []
    for judge in "ab":
        for k, strategy in enumerate(_CROWD):
            more = np.log(effect) if (judge, k) == ("b", 2) else 0.0
            for item, h in zip(items, hard, strict=True):
                p = 1 / (1 + np.exp(-(0.8 + h + more)))
                for order in ("ab", "ba"):
                    winner = item.labels[0].winner
                    other = "b" if winner == "a" else "a"
                    rows.append(
                        _rows({"judge": judge, "temperature": 1.0, "factor_strategy": strategy},
                              pair_name(item, (0, 1)), item.cluster, order=order,
                              choice=winner if rng.random() < p else other, explanation="so",
                              k=2 * k, wanted=0, used=0, preferred=0, left_out=0, cut=0,
                              points=np.nan, calls=1, tokens_in=90.0, tokens_out=10.0,
                              final_tokens_out=10.0)
                    )  # fmt: skip
    frame = _lost(rng, pd.DataFrame(rows), world, choice="")
    given = {
        "strategies": ("vanilla", "cce"), "k": 4, "scaling": (0, 2, 4), "selections": (),
        "selections_at": (), "resamples": resamples, "seed": 0,
    }  # fmt: skip
    return crowd.analyse(
        frame.assign(stage="final"), crowd.plan(given, ()), items=items, pipelines=frame
    )


SELECTIONS = {
    "grade_score": rotated,
    "head_to_tail": called_correct,
    "omega": best_of,
    "rejection_sampling": sampled,
    "crowd": crowded,
}
