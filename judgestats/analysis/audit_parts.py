"""Judgments of which some conditions hold scores and others verdicts in words, as one audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from judgestats.analysis.limits import Limit
from judgestats.analysis.outcome import Analysis
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.repetition_limits import NOT_REPEATED, not_repeated, not_repeated_in
from judgestats.errors import InputError

Part = Callable[[pd.DataFrame], Analysis]


def kinds(frame: pd.DataFrame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The conditions with scores, and those with verdicts in words only.

    A condition in which nothing was read goes with the scores if there are any.

    Examples
    --------
    >>> kinds(pd.DataFrame({"condition": ["x", "y"], "score": [7.0, None], "choice": ["", "C"]}))
    (('x',), ('y',))
    """
    has_verdicts = frame.groupby("condition", sort=False).agg(
        score=("score", lambda s: bool(s.notna().any())),
        choice=("choice", lambda c: bool((c != "").any())),
    )
    words = has_verdicts.index[has_verdicts["choice"] & ~has_verdicts["score"]]
    scored = bool(has_verdicts["score"].any())
    numbers = has_verdicts.index.difference(words, sort=False) if scored else has_verdicts.index[:0]
    return tuple(map(str, numbers)), tuple(
        map(str, words if scored or not len(words) else has_verdicts.index)
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
    parts, refused = [], []
    for part, analyse in ((frame[~words], scores), (frame[words], verdicts)):
        try:
            parts.append(analyse(part.reset_index(drop=True)))
        except InputError as error:
            refused.append(error)
    if not parts:
        raise refused[0]
    parts = [replace(a, condition_records=a.records().conditions) for a in parts]
    first = parts[0]
    later = [_apart(part, first) for part in parts[1:]]
    parts = _said_once([first, *later])
    return replace(
        first,
        question=" ".join(a.question for a in parts),
        sentence=" ".join(a.sentence for a in parts),
        conditions=pd.concat([a.conditions for a in parts], ignore_index=True),
        condition_records=tuple(c for a in parts for c in a.condition_records),
        described=tuple(r for a in parts for r in a.described),
        rows=tuple(row for a in parts for row in a.rows),
        figures=tuple(f for a in parts for f in a.figures),
        results=tuple(r for a in parts for r in a.results),
        headlines=tuple(h for a in parts for h in a.headlines),
        limitations=tuple(
            dict.fromkeys(
                [
                    *_never_repeated(frame, parts),
                    *(x for a in parts for x in a.limitations if not _of_repeats(x)),
                    *map(str, refused),
                ]
            )
        ),
        metrics={k: v for a in [*later, first] for k, v in a.metrics.items()},
        condition_metrics={k: v for a in parts for k, v in a.condition_metrics.items()},
    )


def _apart(part: Analysis, first: Analysis) -> Analysis:
    """A part whose results share no id with the first one's: both have several judges, perhaps."""
    taken = {r.id for r in first.results}
    ids = {r.id: r.id.replace(".", ".verdicts.", 1) for r in part.results if r.id in taken}
    return replace(
        part,
        results=tuple(replace(r, id=ids.get(r.id, r.id)) for r in part.results),
        headlines=tuple(
            replace(h, rests_on=tuple(ids.get(i, i) for i in h.rests_on)) for h in part.headlines
        ),
    )


def _of_repeats(limitation: str) -> bool:
    return isinstance(limitation, Limit) and limitation.code == NOT_REPEATED.code


def _never_repeated(frame: pd.DataFrame, parts: list[Analysis]) -> list[str]:
    """That conditions were not repeated, said once of all parts."""
    names = [str(name) for a in parts for name in a.conditions["condition"]]
    read = frame[
        (frame["score"].notna() | (frame["choice"] != "")) & frame["condition"].isin(names)
    ]
    most = read.groupby(["condition", "item_id", "order"]).size().groupby("condition").max()
    return not_repeated([n for n in names if most.get(n, 0) == 1], of=len(names))


def _said_once(analyses: list[Analysis]) -> list[Analysis]:
    """The parts with what holds for one of them under its conditions' names, for all said once."""
    whole = [NOT_REPEATED in a.limitations for a in analyses]
    if all(whole):
        return [
            replace(a, sentence=a.sentence.replace(f" {NOT_REPEATED}", "")) for a in analyses[:-1]
        ] + analyses[-1:]
    out = []
    for part, all_of_it in zip(analyses, whole, strict=True):
        if not all_of_it:
            out.append(part)
            continue
        named = not_repeated_in([str(name) for name in part.conditions["condition"]])
        out.append(replace(part, sentence=part.sentence.replace(NOT_REPEATED, named)))
    return out
