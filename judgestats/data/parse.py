"""Parsing of raw judgments, also of stored replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from judgestats.data.schema import validate_parsed, validate_raw
from judgestats.errors import InputError
from judgestats.protocols.base import JudgingProtocol, ReplyMode, Scale, Status, Unit, Verdict
from judgestats.protocols.pointwise import PassFail
from judgestats.protocols.replies import (
    OptionForm,
    PairForm,
    ScoreForm,
    WordForm,
    is_cut,
    read_reply,
)
from judgestats.protocols.replies import unpack_reply as replies_without_logprobs
from judgestats.protocols.replies.decision import Form
from judgestats.protocols.replies.weighted import (
    LEAST_MASS,
    unpack_reply,
    weighted_score,
    word_chance,
)

WEIGHTED = ("scale_mass", "weighted_score")
"""Columns of numbers next to the score, where log-probabilities were reported."""
CHANCES = ("verdict_mass", "pass_probability")
"""The same next to a verdict of two words: the probability on them, and the chance of the first."""


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
        The parsed frame. A call that was never answered has the status ``failed``; a condition that
        the judge could not run (a refused temperature) has ``invalid_condition``. Further
        results of a protocol (``Verdict.extra``, e.g. the position preferred) are in separate text
        columns. Columns of numbers hold a score weighted by its tokens' probabilities and the share
        of them that is on the scale (`WEIGHTED`), and the chance of a pass (`CHANCES`).
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
    return validate_parsed(parsed, is_run=True)


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
    >>> from judgestats.items.records import Item
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
    reply, places = unpack_reply(text)
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
    otherwise = "preference" if hasattr(reader, "stage_protocol") else "text"
    return str(getattr(reader, "verdict_kind", otherwise))


def reader_of(protocol: JudgingProtocol, stage: str) -> JudgingProtocol:
    """Who reads the replies of a stage, for a protocol that may have several.

    Examples
    --------
    >>> from judgestats.protocols.pairwise import Pairwise
    >>> reader_of(Pairwise(), "final").name
    'pairwise'
    """
    at_stage = getattr(protocol, "stage_protocol", None)
    return protocol if at_stage is None or stage == "final" else at_stage(stage)


_PLACES = {"first": "A", "second": "B", "tie": "tie"}
_KEY = ("condition", "item_id", "order", "replicate")
_TOOLS = {ScoreForm: "submit_score", WordForm: "submit_verdict"}


def form_of(frame: pd.DataFrame, scale: Scale | None) -> Form:
    """What the replies of a run were asked for, by what was read of them.

    Parameters
    ----------
    frame : DataFrame
        Final judgments, parsed.
    scale : Scale or None

    Returns
    -------
    Form

    Raises
    ------
    InputError
        Nothing was read, or what was read is not one of the forms that replies are asked in.
    """
    places = set(frame["position"].astype(str)) - {""} if "position" in frame else set()
    if places and places <= set(_PLACES):
        return PairForm(ties=True)
    if places and all(p.isdecimal() for p in places) and "options" in frame:
        count = int(frame["options"].astype(str).str.count(r"\|").max()) + 1
        numbers = frame["raw_text"].str.contains(r"Option \d", regex=True).any()
        return OptionForm(count, "numbers" if numbers else "letters")
    words = set(frame["choice"].astype(str)) - {""}
    if words and words <= {"correct", "incorrect"}:
        return WordForm(("correct", "incorrect"))
    if scale is not None and not words:
        return ScoreForm(scale)
    raise InputError(
        "reread: what this run's judges were asked for cannot be inferred from its judgments; a "
        "run with one verdict per reply (a score, a pair, a selection, correct or incorrect) can "
        "be reread."
    )


def reread(frame: pd.DataFrame, scale: Scale | None) -> pd.DataFrame:
    """The final judgments that this reader reads otherwise than the run's did.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with the text of every reply.
    scale : Scale or None
        Of a run of scores.

    Returns
    -------
    DataFrame
        One row a difference: which judgment, what was read before, what is read now and why.

    Examples
    --------
    >>> row = {"condition": "c", "item_id": "q", "order": "", "replicate": 0, "stage": "final",
    ...     "transport": "answered", "raw_text": "Score: -7", "finish_reason": "stop",
    ...     "status": "ok", "score": 7.0, "choice": ""}
    >>> found = reread(pd.DataFrame([row]), Scale(1, 10))
    >>> found[["before", "now"]].values.tolist()
    [['7', 'out_of_scale']]
    """
    finals = frame[(frame["stage"] == "final") & (frame["transport"] == "answered")]
    if finals.empty:
        return pd.DataFrame(columns=[*_KEY, "before", "now", "reason"])
    kinds = finals["verdict_kind"].astype(str) if "verdict_kind" in finals else finals["stage"]
    rows = [
        row
        for _, ones in finals.groupby(kinds, sort=False)  # scores and pairs may stand in one run
        for row in _differences(ones, form_of(ones, scale))
    ]
    return pd.DataFrame(rows, columns=[*_KEY, "before", "now", "reason"])


def _differences(finals: pd.DataFrame, form: Form) -> list[dict[str, Any]]:
    """What is read otherwise in replies that were asked for in one form."""
    tool = _TOOLS.get(type(form), "submit_choice")
    rows = []
    for row in finals.to_dict("records"):
        text, _ = replies_without_logprobs(str(row["raw_text"]))
        verdict = read_reply(text, form, tool=tool, finish_reason=str(row["finish_reason"]))
        now = verdict.status.value
        if verdict.status is Status.OK:
            now = verdict.choice or f"{verdict.score:g}"
        before = _recorded_verdict(row, form)
        if now != before:
            which = {k: row[k] for k in _KEY}
            rows.append({**which, "before": before, "now": now, "reason": verdict.reason})
    return rows


def _recorded_verdict(row: Mapping[Any, Any], form: Form) -> str:
    """What the run read: the score, the place or the word; else its status."""
    if row["status"] != Status.OK.value:
        return str(row["status"])
    if isinstance(form, ScoreForm):
        return f"{row['score']:g}"
    if isinstance(form, WordForm):
        return str(row["choice"])
    position = str(row["position"])
    return _PLACES.get(position, position)


def unparsed_causes(frame: pd.DataFrame, max_tokens: int | None = None) -> str:
    """Why replies are unparsed, as text; empty where all were read.

    Examples
    --------
    >>> cut = pd.DataFrame({"status": ["truncated"] * 18, "finish_reason": ["length"] * 18})
    >>> unparsed_causes(cut, 30)
    '18 of 18 cut at max_tokens=30'
    """
    statuses = frame["status"].astype(str)
    words = {
        Status.REFUSED: "refused",
        Status.AMBIGUOUS: "ambiguous",
        Status.OUT_OF_SCALE: "off the scale",
        Status.UNPARSEABLE: "without a verdict",
    }
    ends = frame["finish_reason"].astype(str).map(is_cut)
    cut = (statuses == Status.TRUNCATED.value) & ends
    counts = {f"cut at max_tokens={max_tokens}" if max_tokens else "cut": int(cut.sum())}
    counts |= {word: int((statuses == status.value).sum()) for status, word in words.items()}
    return ", ".join(f"{n} of {len(frame)} {word}" for word, n in counts.items() if n)
