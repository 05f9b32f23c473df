"""Raw judgments to parsed ones; it can be run again on stored raw text without a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from judgestats.judgments.schemas import validate_parsed, validate_raw
from judgestats.protocols.base import JudgingProtocol, ReplyMode, Status, Unit, Verdict
from judgestats.protocols.correctness import PassFail
from judgestats.protocols.reading.weighted import LEAST_MASS, weighted_score, without_logprobs
from judgestats.protocols.reading.word_chances import word_chance
from judgestats.protocols.scale import Scale

WEIGHTED = ("scale_mass", "weighted_score")
"""Columns of numbers beside the score, where log-probabilities were told."""
CHANCES = ("verdict_mass", "pass_probability")
"""The same beside a verdict of two words: the probability on them, and the chance of the first."""


def parse_judgments(
    raw: pd.DataFrame,
    *,
    protocols: Mapping[str, JudgingProtocol],
    units: Mapping[tuple[str, str], Unit],
) -> pd.DataFrame:
    """Read every raw reply.

    Parameters
    ----------
    raw : DataFrame
        The raw frame (``RAW_COLUMNS``).
    protocols : mapping of condition label to protocol
        Who reads the replies of a condition; where it has stages, ``at_stage(stage)`` reads one.
    units : mapping of (item_id, order) to Unit

    Returns
    -------
    DataFrame
        The parsed frame. A call that was never answered has the status ``failed``; a condition
        that the judge could not run (a refused temperature) has ``invalid_condition``. What a
        protocol says beyond the verdict (``Verdict.extra``, as the position preferred) stands in
        text columns of its own; a score weighted by its tokens' probabilities, and the share of
        them that lies on the scale, in columns of numbers (`WEIGHTED`); so does the chance of a
        pass (`CHANCES`).
    """
    raw = validate_raw(raw)
    # Replies repeat a lot (a judge with ten possible answers): read each distinct text once.
    seen: dict[tuple[str, ...], Verdict] = {}
    verdicts: list[Verdict] = []
    kinds: dict[tuple[str, str], str] = {}
    columns = ("condition", "item_id", "order", "stage", "transport", "reply_mode", "raw_text")
    rest = ("finish_reason", "failure")
    for condition, item_id, order, stage, transport, mode, text, finish, failure in zip(
        *(raw[c] for c in (*columns, *rest)), strict=True
    ):
        key = (condition, item_id, order, stage, mode, finish, text)
        verdict = seen.get(key) if transport == "answered" else None
        if verdict is None:
            verdict = read_judgment(
                reader_of(protocols[condition], stage),
                units[item_id, order],
                transport=transport,
                mode=mode,
                text=text,
                finish_reason=finish,
                failure=failure,
            )
            if transport == "answered" and len(seen) < 100_000:  # bounded: a million distinct
                seen[key] = verdict  # explanations need no cache
        verdicts.append(verdict)
        if (condition, stage) not in kinds:
            kinds[condition, stage] = _kind(reader_of(protocols[condition], stage))
    parsed = raw.assign(
        status=[v.status.value for v in verdicts],
        verdict_kind=[kinds[c, s] for c, s in zip(raw["condition"], raw["stage"], strict=True)],
        score=pd.array([v.score for v in verdicts], dtype="Float64").to_numpy(
            dtype=float, na_value=float("nan")
        ),
        choice=[v.choice or "" for v in verdicts],
        explanation=[v.explanation for v in verdicts],
        reason=[v.reason for v in verdicts],
    )
    further = {key for v in verdicts for key in v.extra} - set(parsed.columns)
    for name in sorted(further):
        if name in {*WEIGHTED, *CHANCES}:
            parsed[name] = [float(v.extra.get(name, "nan")) for v in verdicts]
        else:
            parsed[name] = [str(v.extra.get(name, "")) for v in verdicts]
    return validate_parsed(parsed)


def read_judgment(
    reader: JudgingProtocol,
    unit: Unit,
    *,
    transport: str,
    mode: str,
    text: str,
    finish_reason: str = "",
    failure: str = "",
) -> Verdict:
    """Read one raw judgment: its verdict, or why there is none.

    Parameters
    ----------
    reader : JudgingProtocol
    unit : Unit
    transport : {"answered", "failed", "invalid_condition"}
    mode, text, finish_reason, failure : str
        As in the raw frame.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> from judgestats.protocols.pairwise import Pairwise
    >>> from judgestats.items.schema import Item
    >>> unit = Unit(item_id="q", cluster="q", item=Item(id="q", cluster="q", turns=("?",),
    ...     responses=()), shown=(0, 1), order="ab")
    >>> read_judgment(Pairwise(), unit, transport="failed", mode="text", text="").status.value
    'failed'
    """
    if transport == "failed":
        return Verdict(status=Status.FAILED, reason=failure or "no reply was received")
    if transport == "invalid_condition":
        return Verdict(status=Status.INVALID, reason=failure)
    if mode != ReplyMode.LOGPROBS:
        return reader.read(unit, ReplyMode(mode), text, finish_reason=finish_reason)
    reply, places = without_logprobs(text)
    verdict = reader.read(unit, ReplyMode.TEXT, reply, finish_reason=finish_reason)
    words = getattr(reader, "words", None)
    if verdict.choice and words == PassFail.words:
        chance = word_chance(places, verdict.choice, PassFail.words)
        if chance is None:
            return verdict
        details = {"verdict_mass": chance.mass}
        if chance.mass >= LEAST_MASS:
            details["pass_probability"] = chance.first
        return replace(verdict, extra={**verdict.extra, **details})
    scale = getattr(reader, "scale", None)
    if verdict.score is None or not isinstance(scale, Scale):
        return verdict
    weighted = weighted_score(places, verdict.score, scale.low, scale.high)
    if weighted is None:
        return verdict
    extras = {"scale_mass": weighted.mass}
    if weighted.mass >= LEAST_MASS:
        extras["weighted_score"] = weighted.score
    return replace(verdict, extra={**verdict.extra, **extras})


def _kind(reader: JudgingProtocol) -> str:
    """The kind of verdict that a protocol reads; a stage before the verdict writes a text."""
    otherwise = "preference" if hasattr(reader, "at_stage") else "text"
    return str(getattr(reader, "verdict_kind", otherwise))


def reader_of(protocol: JudgingProtocol, stage: str) -> JudgingProtocol:
    """Who reads the replies of a stage, for a protocol that may have several.

    Examples
    --------
    >>> from judgestats.protocols.pairwise import Pairwise
    >>> reader_of(Pairwise(), "final").name
    'pairwise'
    """
    at_stage = getattr(protocol, "at_stage", None)
    return protocol if at_stage is None or stage == "final" else at_stage(stage)
