"""Power of the probe of place: a judge that leans to the first position, found over questions.

Writes power_position.csv next to this file; about two minutes on one core:

    python docs/simulations/power_position.py

Pairs differ in quality by 1.2 logits (SD). The first position adds a lean, which varies by question
(SD .5), and each pair is asked about twice in each order. The effect is the share of verdicts for
the first position minus that for the second.

- ``found``: p < .05 of the test, a t over questions: size where the effect is 0, else power.
- ``over_pairs``: the same of a t over pairs, which the blocked F of earlier versions was.
- ``small``: established to be below the margin of .1; at an effect of .1 a false claim.
- ``detectable``: the effect that the test says to find in four of five cases, on average.
"""

from __future__ import annotations

import zlib

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit
from tables import write_rows

from judgestats.stats import probe_shift

SAMPLES, REPEATS, MARGIN = 1000, 2, 0.1
GAP, BETWEEN = 1.2, 0.5
EFFECTS = (0.0, 0.05, 0.1, 0.2)


def lean_of(effect: float) -> float:
    """The mean lean, in logits, that gives an effect."""
    x, w = np.polynomial.hermite_e.hermegauss(41)
    spread, weight = np.hypot(GAP, BETWEEN) * x, w / w.sum()

    def off(lean: float) -> float:
        return 2 * float(weight @ expit(lean + spread)) - 1 - effect

    return float(brentq(off, -3, 3))


def shares(questions: int, pairs: int, lean: float, rng: np.random.Generator) -> np.ndarray:
    """The share of the first position, one row per question and one column per pair."""
    gap = rng.normal(0, GAP, (questions, pairs))
    leans = lean + BETWEEN * rng.normal(size=(questions, 1))
    first = [rng.binomial(REPEATS, expit(leans + sign * gap)) for sign in (1, -1)]
    return sum(first) / (2 * REPEATS)


def setting(questions: int, pairs: int, effect: float) -> dict[str, object]:
    """One row of the table."""
    name = f"{questions} questions, {pairs} pairs, {effect:g}"
    rng, lean = np.random.default_rng(zlib.crc32(name.encode())), lean_of(effect)
    cluster = np.repeat(np.arange(questions), pairs)
    out = []
    for _ in range(SAMPLES):
        first = shares(questions, pairs, lean, rng).ravel()
        test = probe_shift(
            1 - first, first, margin=MARGIN, reach=1.0, of="verdicts", cluster=cluster
        )
        blocked = stats.ttest_1samp(2 * first - 1, 0.0).pvalue
        shift, detectable = (e.estimate for e in test.effects)
        small = test.details["p_small"] < 0.05
        out.append((shift, test.p_value < 0.05, blocked < 0.05, small, detectable))
    mean = np.mean(out, axis=0)
    return {
        "questions": questions, "pairs": pairs, "effect": f"{effect:.2f}", "mean": f"{mean[0]:.3f}",
        "found": f"{mean[1]:.3f}", "over_pairs": f"{mean[2]:.3f}", "small": f"{mean[3]:.3f}",
        "detectable": f"{mean[4]:.3f}", "samples": SAMPLES,
    }  # fmt: skip


def main() -> None:
    """Run the settings and write the table."""
    rows = [setting(q, p, e) for q in (20, 40, 80) for p in (1, 4) for e in EFFECTS]
    write_rows("power_position.csv", rows)


if __name__ == "__main__":
    main()
