"""Several judges under several wordings: one model of answers, judges, wordings and repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.limits import Limit
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.judgments.pairs import scores_of
from judgestats.judgments.settings import heat
from judgestats.results import About
from judgestats.results.numbers import apa_number
from judgestats.stats.inference.estimate_set import Estimates
from judgestats.stats.instrument.crossed_components import crossed_components

CROSSED = Hypothesis(
    id="crossed",
    role="secondary",
    question="How much of the scatter of scores is the answers', the judges', the wording's and "
    "asking again's, and on what are two judgments best spent?",
    test="one random-effects model, answer x judge x wording x repeat: components by expected "
    "mean squares, intervals by the jackknife over questions; D-study of two judgments "
    "(with two judges or more)",
)
FEW_JUDGES = 5
_PARTS = {
    "answers": "over all judges, the answers",
    "judges": "the judges",
    "wording": "the wording",
    "repeats": "asking again",
}


def crossed_results(
    frame: pd.DataFrame, items: Sequence[str], cluster: NDArray[np.object_], declared: AnalysisPlan
) -> list[NamedResult]:
    """The model of each temperature at which several judges were asked.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with ``factor_wording``.
    items : sequence of str
    cluster : ndarray
        The question of each item.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Empty with one judge, or where the judges were not asked in the same wordings.
    """
    results = []
    for temperature, asked in frame.groupby("temperature", sort=False, dropna=False):
        parts = {
            str(judge): {str(w): p for w, p in own.groupby("factor_wording", sort=False)}
            for judge, own in asked.groupby("judge", sort=False)
        }
        wordings = [list(own) for own in parts.values()]
        if len(parts) < 2 or any(set(w) != set(wordings[0]) for w in wordings):
            continue
        tables = [[scores_of(own[w], items) for w in wordings[0]] for own in parts.values()]
        depth = max(t.shape[1] for row in tables for t in row)
        scores = np.stack([np.stack([_padded(t, depth) for t in row], 1) for row in tables], 1)
        where = heat(float(str(temperature)))
        results.append(
            NamedResult(
                id=f"crossed.{where}", title=f"Answers, judges, wordings and repeats, {where}",
                role="secondary", about=About(stratum=where, varied="wording"),
                result=crossed_components(scores, cluster=cluster, level=declared.level),
            )
        )  # fmt: skip
    return results


def _padded(table: NDArray[np.float64], depth: int) -> NDArray[np.float64]:
    return np.pad(table, ((0, 0), (0, depth - table.shape[1])), constant_values=np.nan)


def crossed_shares(results: Sequence[NamedResult]) -> dict[str, str]:
    """Words, and the result that tells it: what each of the four has of all scatter.

    Examples
    --------
    >>> list(crossed_shares([]))
    []
    """
    several = len(results) > 1
    return {
        f"{words} ({r.about.stratum})" if several else words: f"{r.id}/variance_share_{part}"
        for r in results
        for part, words in _PARTS.items()
    }


def crossed_sentence(results: Sequence[NamedResult], *, pairs: bool) -> tuple[str, ...]:
    """On what two judgments of an answer are best spent, over the judges of each temperature."""
    said = []
    for named in results:
        terms = named.result
        if not isinstance(terms, Estimates) or terms.terms[0].reason:
            continue
        errors: Mapping[str, float] = {
            words: terms[f"error_of_{plan}"].estimate
            for plan, words in (
                ("prompt_twice", "one judge asked twice in one wording errs"),
                ("two_prompts", "one judge asked in two wordings errs"),
                ("two_judges", "two judges asked in one wording err"),
            )
        }
        unit = "of a verdict" if pairs else "points"
        best, *rest = sorted(errors, key=lambda w: errors[w])
        others = ", ".join(f"{w} by {apa_number(errors[w])}" for w in rest)
        said.append(
            f"Where the mean of all these judges and wordings is wanted ({named.about.stratum}), "
            f"{best} by {apa_number(errors[best])} {unit}, {others}."
        )
    return tuple(said)


def few_judges(results: Sequence[NamedResult]) -> list[Limit]:
    """What intervals over questions do not tell, where few judges were asked."""
    counts = [int(r.result.details["n_judges"]) for r in results if isinstance(r.result, Estimates)]
    if not counts or min(counts) >= FEW_JUDGES:
        return []
    return [
        Limit(
            f"Only {min(counts)} judges: the variance between judges is of these, its interval is "
            "over questions, and what other judges would do is hardly known.",
            code="few_judges",
            short=f"{min(counts)} judges: what others would do is hardly known",
        )
    ]
