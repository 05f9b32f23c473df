"""Claims on the spread of scores under two wordings: the study's prompts and paraphrases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from judgestats.analysis.families import Stratum, strata_of
from judgestats.analysis.records import NamedResult
from judgestats.analysis.spread_experiments import WITHOUT
from judgestats.data.matrices import ScoreArray
from judgestats.results.numbers import with_bounds
from judgestats.stats.dispersion.ratios import ratio_of_ratios, variance_ratio
from judgestats.stats.inference.result import Comparison
from judgestats.studies.paper_tables import PaperTable

MARGIN = 1.5
"""Declared with the claims on spread: a ratio from 1/1.5 to 1.5 matters little."""

REWORDED: Mapping[str, str] = {
    "temperature": "temperature",
    "judges": "judge",
    "guidelines": "factor_guideline",
    "reasoning": "factor_reasoning",
}
"""Experiments whose claims are on spread, and what they vary."""

_WORDINGS = ("original", "paraphrase")


def rewording_results(experiment: str, cells: pd.DataFrame, array: ScoreArray) -> list[NamedResult]:
    """Whether the contrasts of a study's claim are the same under its prompts and paraphrases.

    Parameters
    ----------
    experiment : str
        Others than temperature, judges, guidelines, and reasoning have no such table.
    cells : DataFrame
        One row per condition, with ``factor_wording``.
    array : ScoreArray

    Returns
    -------
    list of NamedResult
        One table with a row per contrast: the ratio of variances under each wording, their ratio
        with its 95% interval over items, and the verdict.

    Notes
    -----
    A contrast is a level over the first one (temperatures: the lowest above 0). The wordings are
    equivalent where the 90% interval of the ratio of ratios lies within 1/1.5 to 1.5: two
    one-sided tests at .05.
    """
    pairs = _pairs(experiment, cells) if experiment in REWORDED else ()
    rows = [row for pair in pairs for row in _rows(pair, array)]
    if not rows:
        return []
    counts = pd.Series([row["verdict"] for row in rows]).value_counts(sort=False)
    said = "; ".join(f"{verdict}: {n}" for verdict, n in counts.items())
    table = PaperTable(
        source="Original and paraphrased prompts",
        table=pd.DataFrame(rows),
        caption=f"Rewording, {len(rows)} contrasts of the claim, {said} (margin: ratio of ratios "
        f"within 1/{MARGIN} to {MARGIN}).",
        how="on this run",
    )
    title = "Does the claim survive rewording?"
    return [NamedResult(id="rewording", title=title, role="secondary", result=table)]


def _pairs(experiment: str, cells: pd.DataFrame) -> Iterator[Mapping[str, Stratum]]:
    """Strata that differ in the wording alone."""
    found: dict[tuple[tuple[str, object], ...], dict[str, Stratum]] = {}
    for stratum in strata_of(cells, vary=REWORDED[experiment]):
        shared = {k: v for k, v in stratum.factors.items() if k != "wording"}
        found.setdefault(tuple(shared.items()), {})[str(stratum.factors["wording"])] = stratum
    yield from (pair for pair in found.values() if set(pair) == set(_WORDINGS))


def _rows(pair: Mapping[str, Stratum], array: ScoreArray) -> Iterator[dict[str, str]]:
    first = pair[_WORDINGS[0]]
    labels = [label for label in first.labels if all(label in s.labels for s in pair.values())]
    if first.at is not None:
        warm = {label for label, t in zip(first.labels, first.at, strict=True) if t > 0}
        labels = [label for label in labels if label in warm]
    base = WITHOUT if WITHOUT in labels else labels[0] if labels else ""
    where = first.name.removesuffix(f" and {_WORDINGS[0]}").removesuffix(f" at {_WORDINGS[0]}")
    for level in labels:
        if level == base:
            continue
        scores = {
            (wording, name): array.condition(stratum.levels[name])
            for wording, stratum in pair.items()
            for name in (base, level)
        }
        treated, control = (
            np.stack([scores[wording, name] for wording in _WORDINGS], axis=1)
            for name in (level, base)
        )
        single = {
            wording: variance_ratio(
                np.stack([scores[wording, base], scores[wording, level]], axis=1),
                conditions=[base, level],
                reference=base,
                cluster=array.clusters,
            ).rows[0]
            for wording in _WORDINGS
        }
        [both] = ratio_of_ratios(treated, control, groups=_WORDINGS, cluster=array.clusters).rows
        [narrow] = ratio_of_ratios(
            treated, control, groups=_WORDINGS, cluster=array.clusters, level=0.9
        ).rows
        ratios = single["original"].estimate, single["paraphrase"].estimate
        yield {
            "contrast": f"{level} over {base}, {where}",
            **{wording: _text(row) for wording, row in single.items()},
            f"{both.a} over {both.b}": _text(both),
            "verdict": rewording_verdict(*ratios, narrow),
        }


def _text(row: Comparison) -> str:
    if row.interval is None:
        return "not estimable"
    return with_bounds(row.estimate, row.interval.low, row.interval.high)


def rewording_verdict(original: float, paraphrase: float, narrow: Comparison) -> str:
    """What becomes of a contrast under two wordings.

    Parameters
    ----------
    original, paraphrase : float
        Ratios of variances.
    narrow : Comparison
        Their ratio, with its 90 % interval.

    Returns
    -------
    str
        ``same direction and equivalent within the margin``, ``same direction``, ``opposite`` or
        ``not estimable``. Two contrasts that are equivalent count as of one direction: a
        difference within the margin decides none.
    """
    at = narrow.interval
    if at is None or not all(map(math.isfinite, (original, paraphrase, at.low, at.high))):
        return "not estimable"
    if at.low > 1 / MARGIN and at.high < MARGIN:
        return "same direction and equivalent within the margin"
    return "same direction" if (original > 1) == (paraphrase > 1) else "opposite"
