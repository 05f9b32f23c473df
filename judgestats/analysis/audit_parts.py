"""Judgments of which some conditions hold scores and others verdicts in words, as one audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from judgestats.analysis.outcome import Analysis
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.single_shot import NOT_REPEATED, not_repeated_in
from judgestats.errors import InputError

__all__ = ["both_audits", "both_plans", "kinds"]

Part = Callable[[pd.DataFrame], Analysis]


def kinds(frame: pd.DataFrame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The conditions with scores, and those with verdicts in words only.

    A condition in which nothing was read goes with the scores if there are any.

    Examples
    --------
    >>> kinds(pd.DataFrame({"condition": ["x", "y"], "score": [7.0, None], "choice": ["", "C"]}))
    (('x',), ('y',))
    """
    told = frame.groupby("condition", sort=False).agg(
        score=("score", lambda s: bool(s.notna().any())),
        choice=("choice", lambda c: bool((c != "").any())),
    )
    words = told.index[told["choice"] & ~told["score"]]
    scored = bool(told["score"].any())
    numbers = told.index.difference(words, sort=False) if scored else told.index[:0]
    return tuple(map(str, numbers)), tuple(
        map(str, words if scored or not len(words) else told.index)
    )


def both_plans(scores: AnalysisPlan, verdicts: AnalysisPlan) -> AnalysisPlan:
    """One plan with the hypotheses of both."""
    own = {h.id for h in scores.hypotheses}
    later = tuple(
        replace(h, id=f"{h.id}_verdicts") if h.id in own else h for h in verdicts.hypotheses
    )
    return replace(
        scores,
        question=f"{scores.question} {verdicts.question}",
        blocks=f"Scores: {scores.blocks} Verdicts: {verdicts.blocks}",
        missing=f"{scores.missing} {verdicts.missing}",
        hypotheses=(*scores.hypotheses, *later),
    )


def both_audits(
    frame: pd.DataFrame, in_words: tuple[str, ...], *, scores: Part, verdicts: Part
) -> Analysis:
    """Audit the conditions with scores and those with verdicts, and tell both.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame.
    in_words : tuple of str
        The conditions with verdicts in words.
    scores, verdicts : callable
        The audits of the two parts.

    Returns
    -------
    Analysis
        Where one part cannot be audited, the limitations say why.

    Raises
    ------
    InputError
        Neither part can be audited.
    """
    words = frame["condition"].isin(in_words)
    found, refused = [], []
    for part, analyse in ((frame[~words], scores), (frame[words], verdicts)):
        try:
            found.append(analyse(part.reset_index(drop=True)))
        except InputError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    first = found[0]
    later = found[1:]
    found = _said_once(found)
    return replace(
        first,
        question=" ".join(a.question for a in found),
        sentence=" ".join(a.sentence for a in found),
        conditions=pd.concat([a.conditions for a in found], ignore_index=True),
        results=tuple(r for a in found for r in a.results),
        headlines=tuple(h for a in found for h in a.headlines),
        limitations=tuple(
            dict.fromkeys([*(x for a in found for x in a.limitations), *map(str, refused)])
        ),
        metrics={k: v for a in [*later, first] for k, v in a.metrics.items()},
        condition_metrics={k: v for a in found for k, v in a.condition_metrics.items()},
    )


def _said_once(found: list[Analysis]) -> list[Analysis]:
    """The parts with what holds for one of them under its conditions' names, for all said once."""
    whole = [NOT_REPEATED in a.limitations for a in found]
    if all(whole):
        return [
            replace(a, sentence=a.sentence.replace(f" {NOT_REPEATED}", "")) for a in found[:-1]
        ] + found[-1:]
    out = []
    for part, all_of_it in zip(found, whole, strict=True):
        if not all_of_it:
            out.append(part)
            continue
        named = not_repeated_in([str(name) for name in part.conditions["condition"]])
        out.append(
            replace(
                part,
                sentence=part.sentence.replace(NOT_REPEATED, named),
                limitations=tuple(named if x == NOT_REPEATED else x for x in part.limitations),
            )
        )
    return out
