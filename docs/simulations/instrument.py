"""Recovery: strengths, fairness and levels of simulated judges with known truth.

Writes instrument.csv next to this file; about three minutes on one core:

    python docs/simulations/instrument.py

Nominal level .95. Estimates are compared with the truth (bias, coverage of the interval), tests
with .05 under the null hypothesis (size) and where something differs (power).

- ``strength``: Bradley-Terry, strengths .6, .2, 0, -.8 that vary by question (SD .8).
- ``dif``: a source lifted by 0 or .8 logits, with known quality and a halo of SD .7 per question.
- ``levels``: five levels used unequally, 4 scores per item that resemble each other.
- ``crossed``: items x 3 judges x 4 prompts x 2 repeats, eight components; those that items carry.
- ``scales``: the same answers on 1-10 and 1-5; ``moved`` by 1 SD on the second scale.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from scipy.special import expit
from tables import write_rows

from judgestats.stats import (
    bradley_terry,
    crossed_components,
    dif_test,
    levels_used,
    scale_agreement,
)

SAMPLES = {"strength": 60}
"""Of the settings that begin so; 200 of the others."""
STRENGTH = np.array([0.6, 0.2, 0.0, -0.8])
Found = list[tuple[str, float, bool]]
"""Of one sample: what, its value, and whether the interval covers (or the test rejects)."""


def target() -> np.ndarray:
    """What Bradley-Terry estimates where strengths vary by question: their value in the mean."""
    rng = np.random.default_rng(99)
    found = _tournament(5_000, rng)
    return np.array([found[str(i)].estimate for i in range(4)])


def _tournament(questions: int, rng: np.random.Generator):
    """A round robin in both orders on every question."""
    i, j = np.array([(a, b) for a in range(4) for b in range(4) if a != b]).T
    q = np.repeat(np.arange(questions), i.size)
    s = STRENGTH + rng.normal(0, 0.8, (questions, 4))
    first, second = np.tile(i, questions), np.tile(j, questions)
    won = rng.random(q.size) < expit(s[q, first] - s[q, second] + 0.3)
    return bradley_terry(np.where(won, "a", "b"), system_a=first, system_b=second,
                         cluster=q)  # fmt: skip


def strength(questions: int, truth: np.ndarray, rng: np.random.Generator) -> Found:
    """Strength of the first system, and all intervals of ranks."""
    found = _tournament(questions, rng)
    ranks = dict(zip(found.systems, found.ranks, strict=True))
    right = all(ranks[str(k)][0] <= k + 1 <= ranks[str(k)][1] for k in range(4))
    first = found["0"]
    return [
        ("strength", first.estimate, _covers(first.interval, float(truth[0]))),
        ("ranks, all at once", float(right), right),
    ]


def dif(lift: float, rng: np.random.Generator) -> Found:
    """The lift of one source, and whether a test rejects."""
    question, source = np.repeat(np.arange(50), 4), np.tile([0, 0, 1, 1], 50)
    quality = rng.normal(size=200)
    halo = rng.normal(0, 0.7, 50)[question]
    said = np.digitize(quality + halo + lift * source + rng.logistic(size=200), [-2, -0.5, 0.5, 2])
    found = dif_test(said, source, quality=quality, cluster=question)
    ratio = found.details["uniform"]["p_likelihood_ratio"]
    return [
        ("dif, over clusters", found.effects[0].estimate, found.p_value < 0.05),
        ("dif, likelihood ratio", found.effects[0].estimate, ratio < 0.05),
    ]


def levels(n: int, rng: np.random.Generator) -> Found:
    """Effective levels minus their true number."""
    p = np.array([0.05, 0.1, 0.5, 0.25, 0.1])
    one = rng.choice(5, size=(n, 1), p=p)
    said = np.where(rng.random((n, 4)) < 0.6, one, rng.choice(5, size=(n, 4), p=p))
    truth = float(np.exp(-np.sum(p * np.log(p))))
    found = levels_used(1 + said, scale=(1, 5))["effective_levels"]
    return [("effective levels", found.estimate - truth, _covers(found.interval, truth))]


CARRIED = {"item_judge": 0.25, "item_prompt": 0.16, "item_judge_prompt": 0.16, "repeat": 0.49}


def crossed(n: int, rng: np.random.Generator) -> Found:
    """Components of answers, judges, prompts and repeats, less the truth."""
    shapes = ((n, 1, 1, 1), (1, 3, 1, 1), (1, 1, 4, 1), (n, 3, 1, 1), (n, 1, 4, 1), (1, 3, 4, 1),
              (n, 3, 4, 1), (n, 3, 4, 2))  # fmt: skip
    deviations = (1.5, 0.6, 0.4, 0.5, 0.4, 0.3, 0.4, 0.7)
    parts = [rng.normal(0, d, shape) for d, shape in zip(deviations, shapes, strict=True)]
    components = crossed_components(sum(parts))
    return [
        (f"variance of {name} less {value:g}", term.estimate - value, _covers(term.interval, value))
        for name, value in CARRIED.items()
        for term in [components[f"variance_of_{name}"]]
    ]


def scales(moved: float, rng: np.random.Generator) -> Found:
    """Loss of order, and whether it is claimed, or equivalent within the margin."""
    quality = rng.normal(size=(60, 1))
    own = quality + moved * rng.normal(size=(60, 1))
    ten = np.clip(np.round(6 + 2 * (quality + rng.normal(0, 0.4, (60, 3)))), 1, 10)
    five = np.clip(np.round(3 + own + rng.normal(0, 0.4, (60, 3))), 1, 5)
    found = scale_agreement(ten, five)
    loss = found.effect.estimate
    return [
        ("order lost", loss, found.p_value < 0.05),
        ("order shown to be kept", loss, found.details["p_small"] < 0.05),
    ]


def _covers(interval, truth: float) -> bool:
    return bool(interval.low <= truth <= interval.high)


def main() -> None:
    """Run the settings and write the table."""
    truth = target()
    settings: dict[str, tuple[Callable[[np.random.Generator], Found], float, str]] = {}
    for q in (20, 50):
        settings[f"strength, {q} questions"] = (
            lambda r, q=q: strength(q, truth, r), float(truth[0]), "coverage")  # fmt: skip
    for lift in (0.0, 0.8):
        kind = "power" if lift else "size"
        settings[f"dif, lift {lift:g}"] = (lambda r, lift=lift: dif(lift, r), lift, kind)
    for n in (50, 200):
        settings[f"levels, {n} items"] = (lambda r, n=n: levels(n, r), 0.0, "coverage")
    for n in (20, 60):
        settings[f"crossed, {n} answers"] = (lambda r, n=n: crossed(n, r), 0.0, "coverage")
    for moved in (0.0, 1.0):
        settings[f"scales, moved {moved:g}"] = (
            lambda r, moved=moved: scales(moved, r), float("nan"), "power" if moved else "size",
        )  # fmt: skip
    rows = []
    for name, (draw, value, kind) in settings.items():
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        samples = SAMPLES.get(name.partition(",")[0], 200)
        found = [draw(rng) for _ in range(samples)]
        for at, (what, _, _) in enumerate(found[0]):
            estimates = np.array([f[at][1] for f in found])
            share = float(np.mean([f[at][2] for f in found]))
            rows.append(
                {
                    "setting": name,
                    "what": what,
                    "true": "" if np.isnan(value) or "all" in what else f"{value:.3f}",
                    "mean": f"{estimates.mean():.3f}",
                    "sd": f"{estimates.std(ddof=1):.3f}",
                    "kind": kind,
                    "share": f"{share:.3f}",
                    "std_error": f"{np.sqrt(share * (1 - share) / samples):.3f}",
                    "samples": samples,
                }
            )
        print(name, "done", flush=True)
    write_rows("instrument.csv", rows)


if __name__ == "__main__":
    main()
