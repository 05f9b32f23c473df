"""The tests of the probes: every judge at every temperature against itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.families import one_family
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.selections import named
from judgestats.judgments.pairs import scores_of
from judgestats.judgments.settings import heat
from judgestats.protocols.probes import ORIGINAL, Kind, Probe
from judgestats.stats.agreement.run_change import run_change
from judgestats.stats.inference.adjust import adjust_family
from judgestats.stats.inference.result import Comparisons, TestResult
from judgestats.stats.instrument.attack_success import attack_success
from judgestats.stats.spread.equivalence import equivalence_of_means
from judgestats.stats.spread.mean_shift import mean_shift
from judgestats.stats.spread.variance_ratio import with_adjusted

__all__ = [
    "FAMILY",
    "MARGIN",
    "ProbedJudge",
    "attack_results",
    "described_results",
    "flip_results",
    "probed_judges",
    "shift_results",
]

MARGIN = 0.25
"""A quarter point of a 1-10 scale: a smaller effect is called none."""
FAMILY = "probes: all changes and attacks, judges and temperatures"
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ProbedJudge:
    """One judge at one temperature.

    Attributes
    ----------
    where, judge : str
    names : tuple of str
        The answers as they are.
    cluster : ndarray
        Their questions.
    scores : mapping of variant to ndarray, shape (n_answers, n_replications)
        NaN where not asked or not read.
    conditions : mapping of variant to condition
    counts : mapping of variant to int
        Answers that were asked about.
    """

    where: str
    judge: str
    names: tuple[str, ...]
    cluster: NDArray[np.object_]
    scores: Mapping[str, Floats]
    conditions: Mapping[str, str]
    counts: Mapping[str, int]

    def asked(self, probe: Probe) -> int:
        """Of how many answers a probe could be built."""
        return self.counts.get(probe.changed.name, 0)

    def pair(self, probe: Probe) -> tuple[Floats, NDArray[np.object_]] | None:
        """Scores with the baseline first, answers x 2 x replications, and their questions."""
        if probe.baseline not in self.scores or not self.asked(probe):
            return None
        both = np.stack([self.scores[probe.baseline], self.scores[probe.changed.name]], axis=1)
        used = np.all(np.any(~np.isnan(both), axis=2), axis=1)
        return (both[used], self.cluster[used]) if used.sum() > 1 else None


def probed_judges(frame: pd.DataFrame) -> list[ProbedJudge]:
    """Every judge at every temperature with its scores under each variant.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with ``factor_probe``.

    Returns
    -------
    list of ProbedJudge
    """
    plain = frame[frame["factor_probe"] == ORIGINAL].drop_duplicates("item_id")
    names = tuple(plain["item_id"].astype(str))
    cluster = plain["cluster"].to_numpy(object)
    out = []
    for (judge, temperature), asked in frame.groupby(
        ["judge", "temperature"], sort=False, dropna=False
    ):
        parts = {str(k): part for k, part in asked.groupby("factor_probe", sort=False)}
        out.append(
            ProbedJudge(
                where=f"{judge} at {heat(float(str(temperature)))}",
                judge=str(judge),
                names=names,
                cluster=cluster,
                scores={k: scores_of(part, names) for k, part in parts.items()},
                conditions={k: str(part["condition"].iloc[0]) for k, part in parts.items()},
                counts={k: part["item_id"].nunique() for k, part in parts.items()},
            )
        )
    return out


Pairs = dict[tuple[Probe, str], tuple[Floats, NDArray[np.object_]]]
SomeComparisons = TypeVar("SomeComparisons", bound=Comparisons)


def _together(
    pairs: Pairs, compare: Callable[[Floats, list[str], Any], SomeComparisons]
) -> SomeComparisons:
    """The comparisons of all probes and judges as one set, a row each: ``tone (judge at T=1)``."""
    parts = [
        one_family(
            {where: compare(x, [probe.baseline, probe.changed.name], clusters)}, family=FAMILY
        )
        for (probe, where), (x, clusters) in pairs.items()
    ]
    whole = max(parts, key=lambda part: part.sample.n_items)
    return dataclasses.replace(
        whole,
        rows=tuple(with_adjusted([r for part in parts for r in part.rows], "holm")),
        notes=tuple(n for part in parts for n in part.notes),
    )


def _pairs(judges: Sequence[ProbedJudge], probes: Sequence[Probe], kind: Kind) -> Pairs:
    """What is compared, by probe and judge."""
    found = {(p, j.where): j.pair(p) for p in probes if p.kind == kind for j in judges}
    return {label: pair for label, pair in found.items() if pair is not None}


def shift_results(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], declared: AnalysisPlan
) -> list[NamedResult]:
    """Shifts of the mean by what must not move a judge and by what must."""
    results = []
    kinds: tuple[tuple[str, Kind, str], ...] = (
        ("moved", "fair", "What should not matter adds to a score"),
        ("control", "control", "What makes an answer worse adds to its score"),
    )
    for identity, kind, title in kinds:
        pairs = _pairs(judges, probes, kind)
        if not pairs:
            continue
        shifts = _together(
            pairs,
            lambda x, names, clusters: mean_shift(
                x, conditions=names, cluster=clusters, level=declared.level
            ),
        )
        results.append(named(identity, title, "primary", shifts, headline=True))
        if kind == "fair":
            small = _together(
                pairs,
                lambda x, names, clusters: equivalence_of_means(
                    x, conditions=names, cluster=clusters, margin=declared.margins["points"]
                ),
            )
            results.append(
                named("equivalence.fair", "Is the effect shown to be small", "secondary", small,
                      headline=True)
            )  # fmt: skip
    return results


def attack_results(
    judges: Sequence[ProbedJudge],
    probes: Sequence[Probe],
    declared: AnalysisPlan,
    *,
    middle: float,
    highest: float,
) -> list[NamedResult]:
    """How often attacks succeed.

    Parameters
    ----------
    judges : sequence of ProbedJudge
    probes : sequence of Probe
    declared : AnalysisPlan
    middle, highest : float
        Of the scale.
    """
    tests: dict[str, TestResult] = {}
    for p in (p for p in probes if p.kind == "attack"):
        for j in judges:
            if not j.asked(p):
                continue
            attacked = j.scores[p.changed.name]
            clean = None if p.against is None else j.scores.get(p.baseline)
            tests[f"{p.name}.{j.where}"] = attack_success(
                attacked,
                clean,
                success_from=highest if p.success == "highest" else middle,
                tolerance=declared.margins["attack"],
                cluster=j.cluster,
                level=declared.level,
            )
    results = [
        named(f"attack.{label}", f"Success of {label.replace('.', ', ', 1)}", "primary", test)
        for label, test in tests.items()
    ]
    if tests:
        results.append(
            named("attack", "Success of attacks, adjusted", "primary",
                  adjust_family(tests, family=FAMILY), headline=True)
        )  # fmt: skip
    return results


def flip_results(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], declared: AnalysisPlan
) -> list[NamedResult]:
    """Verdicts that change beyond those that asking again changes."""
    tests = {
        f"{p.name}.{where}": run_change(
            x[:, 0], x[:, 1], kind="verdicts", cluster=g, level=declared.level,
            n_permutations=declared.n_resamples, seed=declared.seed,
        )
        for (p, where), (x, g) in _pairs(judges, probes, "fair").items()
        if x.shape[2] > 1
    }  # fmt: skip
    return [
        named(
            f"flips.{label}",
            f"Verdicts changed beyond repetition, {label.replace('.', ', ', 1)}",
            "secondary",
            test,
        )
        for label, test in tests.items()
    ]


def described_results(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], declared: AnalysisPlan
) -> list[NamedResult]:
    """What another question's reference does."""
    pairs = _pairs(judges, probes, "reference")
    if not pairs:
        return []
    shifts = _together(
        pairs,
        lambda x, names, clusters: mean_shift(
            x, conditions=names, cluster=clusters, level=declared.level
        ),
    )
    return [
        named("reference", "Another question's reference minus its own", "descriptive",
              dataclasses.replace(shifts, family="wrong reference: judges and temperatures"))
    ]  # fmt: skip
