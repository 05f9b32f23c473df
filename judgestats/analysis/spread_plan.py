"""What experiments on spread declare beforehand, and the sentence that answers them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from judgestats.analysis.plan import Hypothesis
from judgestats.analysis.spread_comparison import spread_family
from judgestats.stats.inference.result import format_p
from judgestats.stats.spread.equivalence import EquivalenceResult
from judgestats.stats.spread.spread_between_conditions import SpreadResult

__all__ = ["BLOCKS", "MARGIN", "MISSING", "spread_hypotheses", "spread_sentence"]

MARGIN = 1.5
"""Declared margin of equivalence: a ratio of variances between 1/1.5 and 1.5 matters little."""

BLOCKS = (
    "The item is the block: every condition judges the same items. The cell is an item under a "
    "condition; its statistic is the mean distance of its repeated scores from their mean. "
    "Intervals and permutations keep the items of a question together."
)
MISSING = (
    "A judgment that could not be read has a status and no score; the rates are reported by "
    "condition. A cell with fewer than two scores is left out of tests of spread, and so is its "
    "item; both are counted."
)


def spread_hypotheses(
    *, across: str, each: str, ratio: str, margin: float = MARGIN
) -> tuple[Hypothesis, ...]:
    """The hypotheses that every comparison of spread declares.

    Parameters
    ----------
    across : str
        What is compared, in the plural.
    each : str
        What a stratum is: ``judge``, or ``judge and temperature``.
    ratio : str
        The question that ratios of variances answer.
    margin : float
        Of equivalence.

    Returns
    -------
    tuple of Hypothesis
        spread, ratio, equivalence, shift, reliability.
    """
    pairs = f"pairs of {across}, within a {each}"
    return (
        Hypothesis(
            id="spread",
            role="primary",
            question=f"Does the spread of repeated scores differ between {across}?",
            test="blocked F test on the cell statistic, p by exchanging cells within items",
            family=f"one test per {each}",
            adjustment="holm",
        ),
        Hypothesis(
            id="ratio",
            role="secondary",
            question=ratio,
            test="ratio of pooled within-cell variances, interval over clusters, log scale",
            family=pairs,
            adjustment="holm",
        ),
        Hypothesis(
            id="equivalence",
            role="secondary",
            question="Where no difference is seen: is it shown to be small?",
            test=f"two one-sided tests, ratio of variances within 1/{margin} to {margin}",
            family=pairs,
            adjustment="holm",
        ),
        Hypothesis(
            id="shift",
            role="secondary",
            question=f"Do mean scores differ between {across}?",
            test="paired difference of means, interval over clusters",
            family=pairs,
            adjustment="holm",
        ),
        Hypothesis(
            id="reliability",
            role="descriptive",
            question="How reliable is one judgment, and the mean of all replications?",
            test="ICC(1) with F interval and parallel omega, each beside its null",
        ),
    )


def spread_sentence(
    found: Mapping[str, SpreadResult],
    equivalence: Mapping[str, EquivalenceResult],
    *,
    across: str,
    each: str,
) -> str:
    """The answer in one plain sentence: differs, shown to be about the same, or left open.

    Parameters
    ----------
    found : mapping of stratum to SpreadResult
    equivalence : mapping of stratum to EquivalenceResult
        Of every pair, since equality is claimed of all.
    across, each : str
        As in `spread_results`.

    Returns
    -------
    str
    """
    if not found:
        return f"Fewer than two {across} could be compared, so differences are not known."
    family = spread_family(found, across=across, each=each)
    differs, same, unclear = [], [], []
    for name, p in family.p_adjusted.items():
        within = name in equivalence and equivalence[name].all_shown
        if p < 0.05:
            differs.append(
                f"{name} (adjusted p {format_p(p)}{_widest(found[name])}"
                f"{'; all ratios are shown to lie within the declared margin' if within else ''})"
            )
        elif within:
            same.append(name)
        else:
            unclear.append(f"{name} (adjusted p {format_p(p)})" if not math.isnan(p) else name)
    parts = []
    if differs:
        parts.append(
            f"the scatter of repeated scores differs between {across} for {'; '.join(differs)}"
        )
    if same:
        parts.append(
            f"all {across} are shown to scatter about alike (within the declared margin) for "
            f"{'; '.join(same)}"
        )
    if unclear:
        parts.append(
            f"neither a difference between {across} nor equality was shown for {'; '.join(unclear)}"
        )
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _widest(found: SpreadResult) -> str:
    """The largest ratio in words, of what the test compares (of variances where it is these)."""
    family = found.distance_ratios or found.ratios
    what = "variance" if family is found.ratios else "mean distance from the item's mean"
    known = [r for r in family.rows if r.estimate > 0 and math.isfinite(r.estimate)]
    if not known:
        return ""
    row = max(known, key=lambda r: abs(math.log(r.estimate)))
    return f"; {what} of {row.a} {row.told()} times that of {row.b}"
