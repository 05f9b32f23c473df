"""Claims under several wordings: the study's prompts and paraphrases of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from judgestats.analysis import NamedResult, best_of_n, crowd, head_to_tail, pair_methods
from judgestats.analysis.families import Stratum, strata_of
from judgestats.analysis.selections import choices_of, rotations_of
from judgestats.arrays import Floats
from judgestats.data import Contrast, score_array
from judgestats.results.numbers import bounds_of, count_noun, with_bounds
from judgestats.stats import mean_shift, ratio_of_ratios, variance_ratio
from judgestats.stats.inference.result import Comparison
from judgestats.studies.paper_tables import PaperTable

ORIGINAL, PARAPHRASE = "original", "paraphrase"
EQUIVALENT = "same direction and equivalent within the margin"
VERDICTS = (EQUIVALENT, "same direction", "opposite", "not estimable")


_MEASURED = {
    "alignment": "credit of a pair",
    "omega": "share of pairs of repeats that agree",
    "head_to_tail": "share called correct",
    "grade_score": "Grade Score, corrected for chance",
    "crowd": "accuracy",
}


class Bounded(NamedTuple):
    """An estimate with its limits."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        """The estimate with its interval, as a table prints it."""
        if not all(map(math.isfinite, self)):
            return "not estimable"
        return with_bounds(*self, bounded=abs(self.low) < 1 and abs(self.high) < 1)


NOTHING = Bounded(math.nan, math.nan, math.nan)
_LEVELS = (0.95, 0.95, 0.95, 0.9)
"""Of the contrast in both wordings, and of their ratio or difference twice."""


def _bounded(row: Comparison) -> Bounded:
    return Bounded(row.estimate, *bounds_of(row.interval))


def rewording_results(
    experiment: str,
    contrasts: Sequence[Contrast],
    cells: pd.DataFrame,
    frame: pd.DataFrame,
    extras: Mapping[str, Any],
) -> list[NamedResult]:
    """Whether the contrasts of a study's claim are the same under its prompts and paraphrases.

    Parameters
    ----------
    experiment : str
        What is averaged over items follows from it.
    contrasts : sequence of Contrast
        Of the study's claim, as the experiment declares them.
    cells : DataFrame
        One row per condition, with ``factor_wording``.
    frame : DataFrame
        The parsed judgments.
    extras : mapping
        What the experiment's analysis takes besides: ``items``, ``pipelines``.

    Returns
    -------
    list of NamedResult
        One table, a row per contrast and other wording: the contrast under both, their difference
        with its 95% interval over items, and the verdict.

    Notes
    -----
    A contrast is a ratio of variances or a difference of means, each level against one. Two
    wordings are equivalent where the 90% interval of their ratio or difference is within the
    margin: two one-sided tests at .05.
    """
    compare = _Compared(experiment, frame, extras)
    rows = [
        row
        for contrast in contrasts
        for pair in _pairs(contrast, cells)
        for row in compare.rows(contrast, pair)
    ]
    if not rows:
        return []
    counts = pd.Series([row["verdict"] for row in rows]).value_counts(sort=False)
    said = ", ".join(f"{verdict} in {n}" for verdict, n in counts.items())
    limits = {
        f"1/{c.margin:g} to {c.margin:g}" if c.is_ratio else f"±{c.margin:g}" for c in contrasts
    }
    compared = count_noun(len(rows), "comparison", "comparisons")
    table = PaperTable(
        source="Original and paraphrased prompts",
        table=pd.DataFrame(rows),
        caption=f"The claim under other wordings, {compared}: {said}. The margin is "
        f"{' or '.join(limits)} ({_MEASURED.get(experiment, 'ratio of variances')}).",
        how="on this run",
    )
    title = "Does the claim survive rewording?"
    return [NamedResult(id="rewording", title=title, role="secondary", result=table)]


def rewording_metrics(results: Sequence[NamedResult]) -> dict[str, float]:
    """Number of contrasts by verdict, as metrics.

    Examples
    --------
    >>> rewording_metrics([])
    {}
    """
    return {
        f"rewording/{verdict.split(' and ')[-1].split(' within')[0].replace(' ', '_')}": float(
            named.result.tidy()["verdict"].eq(verdict).sum()
        )
        for named in results
        for verdict in VERDICTS
    }


def _pairs(contrast: Contrast, cells: pd.DataFrame) -> Iterator[dict[str, Stratum]]:
    """Strata by wording that differ in the wording alone."""
    found: dict[tuple[tuple[str, object], ...], dict[str, Stratum]] = {}
    if contrast.vary == "category":
        strata = tuple(
            Stratum(name=str(r["condition"]), conditions=(str(r["condition"]),) * 2,
                    labels=(contrast.base, *contrast.levels),
                    factors={c.removeprefix("factor_"): r[c] for c in cells
                             if c in {"judge", "temperature", "factor_wording"}})
            for r in cells.to_dict("records")
        )  # fmt: skip
    else:
        of = {"judge": "judge", "temperature": "temperature"}
        strata = strata_of(cells, vary=of.get(contrast.vary, f"factor_{contrast.vary}"))
    for stratum in strata:
        shared = {k: v for k, v in stratum.factors.items() if k != "wording"}
        found.setdefault(tuple(shared.items()), {})[str(stratum.factors["wording"])] = stratum
    yield from (pair for pair in found.values() if ORIGINAL in pair and len(pair) > 1)


class _Compared:
    """Contrasts of one run under its wordings, on scores or on values of items."""

    def __init__(self, experiment: str, frame: pd.DataFrame, extras: Mapping[str, Any]) -> None:
        asked = frame[frame["status"] != "invalid_condition"]
        self.by_item = experiment in _MEASURED
        self.categories = asked.drop_duplicates("item_id").set_index("item_id")["category"]
        if self.by_item:
            self.values, self.clusters = _item_values(experiment, asked, extras)
        else:
            self.array = score_array(asked)

    def rows(self, contrast: Contrast, pair: Mapping[str, Stratum]) -> Iterator[dict[str, str]]:
        """A row per level and wording other than the original."""
        first = pair[ORIGINAL]
        labels = [
            label
            for label, t in zip(first.labels, first.at or (1.0,) * len(first.labels), strict=True)
            if t > 0 and all(label in stratum.labels for stratum in pair.values())
        ]
        base, *others = contrast.chosen(labels) or [""]
        where = first.name
        for text in (f" and {ORIGINAL}", f" at {ORIGINAL}", f", wording={ORIGINAL}"):
            where = where.removesuffix(text)
        sign, change = ("over", "ratio") if contrast.is_ratio else ("minus", "difference")
        for level in others:
            alone = {w: s.levels[base] for w, s in pair.items()}
            treated = {w: s.conditions[s.labels.index(level)] for w, s in pair.items()}
            for wording in (w for w in pair if w != ORIGINAL):
                of = (ORIGINAL, wording)
                if contrast.vary == "category":
                    found = self._between(treated, of, (base, level))
                else:
                    how = self._differences if self.by_item else self._ratios
                    found = how(alone, treated, of)
                original, reworded, both, narrow = found
                yield {
                    "contrast": f"{level} {sign} {base}, {where}",
                    "wording": wording,
                    ORIGINAL: str(original),
                    "reworded": str(reworded),
                    f"{change} (reworded, original)": str(both),
                    "verdict": rewording_verdict(original, reworded, narrow, contrast.margin),
                }

    def _ratios(
        self, base: Mapping[str, str], level: Mapping[str, str], of: Sequence[str]
    ) -> list[Bounded]:
        clusters = self.array.clusters
        control, treated = (
            np.stack([self.array.condition(names[w]) for w in of], axis=1)
            for names in (base, level)
        )
        single = partial(
            variance_ratio, conditions=["base", "level"], reference="base", cluster=clusters
        )
        both = partial(ratio_of_ratios, treated, control, groups=of, cluster=clusters)
        return [
            *(_bounded(single(np.stack([control[:, k], treated[:, k]], axis=1)).rows[0])
              for k in range(2)),
            *(_turned(_bounded(r), r.a == ORIGINAL)
              for r in (both().rows[0], both(level=0.9).rows[0])),
        ]  # fmt: skip

    def _differences(
        self, base: Mapping[str, str], level: Mapping[str, str], of: Sequence[str]
    ) -> list[Bounded]:
        own = {w: self.values[level[w]] - self.values[base[w]] for w in of}
        wide = pd.DataFrame(own).dropna()
        if len(wide) < 2:
            return [NOTHING] * 4
        original, reworded = (wide[w].to_numpy() for w in of)
        zero = np.zeros(len(wide))
        pairs = (zero, original), (zero, reworded), (original, reworded), (original, reworded)
        clusters = self.clusters.reindex(wide.index).to_numpy(object)
        compared = partial(mean_shift, conditions=["a", "b"], reference="a", cluster=clusters)
        return [
            _bounded(compared(np.column_stack(pair), level=confidence).rows[0])
            for pair, confidence in zip(pairs, _LEVELS, strict=True)
        ]

    def _between(
        self, conditions: Mapping[str, str], of: Sequence[str], categories: Sequence[str]
    ) -> list[Bounded]:
        """Items of two categories, not paired: Welch's interval."""
        from scipy.stats import ttest_ind

        values = [self.values[conditions[w]] for w in of]
        values.append(values[1] - values[0])
        bounds = []
        for own, level in zip((*values, values[2]), _LEVELS, strict=True):
            one, two = (
                own[self.categories.reindex(own.index).eq(c)].dropna().to_numpy().round(9)
                for c in categories
            )
            if min(len(one), len(two)) < 2 or not np.ptp(one) + np.ptp(two):
                bounds.append(NOTHING)
                continue
            test = ttest_ind(two, one, equal_var=False).confidence_interval(level)
            bounds.append(Bounded(float(two.mean() - one.mean()), test.low, test.high))
        return bounds


def _turned(ratio: Bounded, turn: bool) -> Bounded:
    """The ratio, or its inverse."""
    return Bounded(1 / ratio.estimate, 1 / ratio.high, 1 / ratio.low) if turn else ratio


def _item_values(
    experiment: str, frame: pd.DataFrame, extras: Mapping[str, Any]
) -> tuple[dict[str, pd.Series], pd.Series]:
    """What is averaged over items, by condition; and the clusters of the items."""
    clusters = frame.drop_duplicates("item_id").set_index("item_id")["cluster"]
    if experiment == "crowd":
        gold = crowd.gold_labels(extras["items"])
        values = {}
        for judged in crowd.strategy_verdicts(extras["pipelines"], gold):
            means: Floats = judged.pair_means("right", judged.strategies)
            once = judged.rows.drop_duplicates("condition").set_index("factor_strategy")
            for k, name in enumerate(judged.strategies):
                values[str(once.loc[name, "condition"])] = pd.Series(means[:, k], judged.pairs)
            clusters = pd.Series(judged.cluster, judged.pairs)
        return values, clusters
    if experiment == "alignment":
        pairs = pair_methods.method_pairs(extras["items"])
        methods = pair_methods.methods_of(frame, pairs, rule="tie")
        clusters = pd.Series(pairs.table.clusters, pairs.names)
        own = {m.condition: m.credit for m in methods if not m.derived}
        return {c: pd.Series(credit, pairs.names) for c, credit in own.items()}, clusters
    if experiment == "grade_score":
        return {c: r.item_scores() for c, r in rotations_of(frame).items()}, clusters
    column = "choice" if experiment == "head_to_tail" else "position"
    measure = head_to_tail.correct_shares if experiment == "head_to_tail" else _agreement_of_repeats
    chosen = choices_of(frame, column=column)
    return {c: pd.Series(measure(own), own.items) for c, own in chosen.items()}, clusters


def _agreement_of_repeats(choices: Any) -> Floats:
    return 1 - best_of_n.disagreement(choices.values)


def rewording_verdict(original: Bounded, reworded: Bounded, narrow: Bounded, margin: float) -> str:
    """Compare a contrast under two wordings.

    Parameters
    ----------
    original, reworded : Bounded
        The contrast under both wordings.
    narrow : Bounded
        Their ratio or difference, with its 90% interval.
    margin : float
        Above 1 of a ratio, else of a difference.

    Returns
    -------
    str
        One of `VERDICTS`. Two contrasts that are equivalent count as of one direction: a
        difference within the margin decides none. Opposite are two that differ significantly.

    Examples
    --------
    >>> one, two = Bounded(0.1, 0.05, 0.15), Bounded(-0.1, -0.15, -0.05)
    >>> rewording_verdict(one, two, Bounded(-0.2, -0.25, -0.15), 0.05)
    'opposite'
    >>> one, two = Bounded(0.1, -0.1, 0.3), Bounded(-0.1, -0.3, 0.1)
    >>> rewording_verdict(one, two, Bounded(-0.2, -0.45, 0.05), 0.05)
    'not estimable'
    """
    if not all(map(math.isfinite, (original.estimate, reworded.estimate, *narrow[1:]))):
        return VERDICTS[3]
    nothing, least = (1.0, 1 / margin) if margin > 1 else (0.0, -margin)
    if narrow.low > least and narrow.high < margin:
        return EQUIVALENT
    if (original.estimate > nothing) == (reworded.estimate > nothing):
        return VERDICTS[1]
    return VERDICTS[3] if narrow.low <= nothing <= narrow.high else VERDICTS[2]
