"""Decisions that a frame of judgments allows: one per judge, for the screen and requirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from judgestats.analysis.decisions.automation import Automation, automation_certificate
from judgestats.analysis.decisions.next_labels import ChoiceGain, choice_gain
from judgestats.analysis.decisions.operating_point import operating_point, refused_point
from judgestats.analysis.decisions.panel import Panel, effective_votes
from judgestats.analysis.decisions.record import (
    Decision,
    ItemJudgments,
    item_judgments,
    joined_items,
)
from judgestats.errors import InputError
from judgestats.results.decisions import DecisionOptions
from judgestats.results.purposes import read_requirements

MIN_RATE = 0.8
"""Required TPR and TNR where none is stated."""


def needed_rates(required: tuple[str, ...]) -> tuple[float, float]:
    """TPR and TNR that requirements name, .80 each otherwise.

    Examples
    --------
    >>> needed_rates(("tpr=.9",))
    (0.9, 0.8)
    """
    stated = read_requirements(required)
    found = (stated.get(key) for key in ("tpr", "tnr"))
    tpr, tnr = (one.threshold if one else MIN_RATE for one in found)
    return tpr, tnr


def decisions_of(frame: pd.DataFrame, options: DecisionOptions) -> tuple[Decision, ...]:
    """What a frame with pass / fail labels certifies.

    Parameters
    ----------
    frame : DataFrame
        As `judgestats.read_judgments` returns it.
    options : DecisionOptions
        Whose requirements name TPR and TNR; whose looks share the level, as judges do.

    Returns
    -------
    tuple of Decision
    """
    if "label" not in frame or frame["condition"].nunique() > MOST_JUDGES:
        return ()
    every = item_judgments(frame)
    items = [one for one in every if one.has_labels]
    level = 1 - 0.05 / max(len(items) * options.looks, 1)
    alone = [made for one in items for made in _judge_decisions(one, options, level, len(items))]
    return (*alone, *_panel_decisions(every, options), *_choice_gain(items, options))


def _choice_gain(items: Sequence[ItemJudgments], options: DecisionOptions) -> list[ChoiceGain]:
    """What choosing items to label saves with the judge that saves most, if the gain is large."""
    if options.labels_drawn not in {"", "random"} or options.looks > 1:
        return []
    found: list[ChoiceGain] = []
    for one in items:
        if not (one.is_scored or one.drawn):
            verdicts, shares = one.majority
            sure = one.confidence if one.confident.any() else shares
            made = choice_gain(verdicts, sure, one.labels, cluster=one.cluster)
            found += [] if made is None else [
                replace(made, subject=one.name if len(items) > 1 else "")
            ]  # fmt: skip
    return sorted(found, key=lambda made: -made.adaptive_gain)[:1]


def _panel_decisions(
    items: Sequence[ItemJudgments], options: DecisionOptions
) -> Iterator[Decision]:
    """Effective votes of three or more judges, whose labels are of the kind of their output."""
    judges = [one for one in items if one.has_labels and not one.is_scored] or [
        one for one in items if one.is_scored and one.has_label_scores
    ]
    if len(judges) < LEAST_PANEL:
        return
    try:
        made = panel_of(judges, drawn=options.labels_drawn, level=1 - 0.05 / options.looks)
    except InputError:
        return
    if made.certified:
        yield replace(made, about=tuple(one.name for one in judges))


def panel_of(
    judges: Sequence[ItemJudgments],
    *,
    drawn: str,
    level: float = 0.95,
    margin: float = 0.01,
    prices: Mapping[str, float] | None = None,
) -> Panel:
    """Effective votes of several judges.

    Raises
    ------
    InputError
        See `effective_votes`.
    """
    joined = joined_items(judges)
    has_labels = bool(np.isfinite(joined.labels).any())
    return effective_votes(
        joined.verdicts, joined.labels if has_labels else None, scores=judges[0].is_scored,
        names=[one.name for one in judges], cluster=joined.cluster, level=level, margin=margin,
        prices=prices, labels_drawn=judges[0].drawn or drawn,
    )  # fmt: skip


MOST_JUDGES, LEAST_PANEL = 20, 3


def _judge_decisions(
    items: ItemJudgments, options: DecisionOptions, level: float, judges: int
) -> Iterator[Decision]:
    drawn = items.drawn or options.labels_drawn
    tpr, tnr = needed_rates(options.required)
    made: Decision | None = None
    try:
        made = operating_point(
            items.scores, items.labels, tpr=tpr, tnr=tnr, cluster=items.cluster, level=level,
            labels_drawn=drawn, tuned=items.tuned,
        ) if items.is_scored else automation_of(items, level=level, drawn=drawn)  # fmt: skip
    except InputError as refusal:
        if items.is_scored:
            made = refused_point(str(refusal).removeprefix("decide cutoff: "), tpr=tpr, tnr=tnr)
    if made is not None:
        yield replace(made, subject=items.name if judges > 1 else "", about=(items.name,))


def automation_of(
    items: ItemJudgments,
    *,
    error: float = 0.05,
    level: float = 0.95,
    drawn: str = "",
    per_class: bool | None = None,
    scale: tuple[float, float] | None = None,
) -> Automation | None:
    """The automation certificate of one judge; None where there is no confidence.

    With a scale it is of score errors.

    Raises
    ------
    InputError
        See `automation_certificate`.
    """
    if not items.confidence_source:
        return None
    verdicts, shares = items.majority
    certify = partial(
        automation_certificate, error=error, level=level, cluster=items.cluster,
        labels_drawn=drawn, tuned=items.tuned, per_class=per_class, scale=scale,
    )  # fmt: skip
    if scale:
        return certify(items.scores, items.confidence, items.label_scores, source=items.source)
    if items.confidence_source != "votes":
        return certify(verdicts, items.confidence, items.labels, source=items.source)
    return certify(verdicts, shares, items.labels, source="votes", thresholds=items.vote_shares)
