"""Parsed judgments, and the matrices of their scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.arrays import Floats, Ints, Objects
from judgestats.data.codes import first_rows, places_of, tallied
from judgestats.data.columns import RULES
from judgestats.data.schema import validate_parsed, validate_raw
from judgestats.errors import InputError, one_of
from judgestats.protocols import PassFail, Scale, Unit, base, replies, weighted_score, word_chance
from judgestats.protocols.replies import unpack_reply as replies_without_logprobs
from judgestats.protocols.replies.decision import Form
from judgestats.protocols.replies.weighted import LEAST_MASS, unpack_reply

WEIGHTED = ("scale_mass", "weighted_score")
"""Columns of numbers next to the score, where log-probabilities were reported."""
CHANCES = ("verdict_mass", "pass_probability")
"""The same next to a verdict of two words: the probability on them, and the chance of the first."""


def parse_judgments(
    raw: pd.DataFrame,
    *,
    protocols: Mapping[str, base.JudgingProtocol],
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
    seen: dict[tuple[str, ...], base.Verdict] = {}
    verdicts: list[base.Verdict] = []
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
    reader: base.JudgingProtocol,
    unit: Unit,
    *,
    transport: str,
    mode: str,
    text: str,
    finish_reason: str = "",
    failure: str = "",
) -> base.Verdict:
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
        return base.Verdict(status=base.Status.FAILED, reason=failure or "no reply was received")
    if transport == "invalid_condition":
        return base.Verdict(status=base.Status.INVALID, reason=failure)
    if mode != base.ReplyMode.LOGPROBS:
        return reader.read(unit, base.ReplyMode(mode), text, finish_reason=finish_reason)
    reply, places = unpack_reply(text)
    verdict = reader.read(unit, base.ReplyMode.TEXT, reply, finish_reason=finish_reason)
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


def _kind(reader: base.JudgingProtocol) -> str:
    """The kind of verdict that a protocol reads; a stage before the verdict writes a text."""
    otherwise = "preference" if hasattr(reader, "stage_protocol") else "text"
    return str(getattr(reader, "verdict_kind", otherwise))


def reader_of(protocol: base.JudgingProtocol, stage: str) -> base.JudgingProtocol:
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
_TOOLS = {replies.ScoreForm: "submit_score", replies.WordForm: "submit_verdict"}


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
        return replies.PairForm(ties=True)
    if places and all(p.isdecimal() for p in places) and "options" in frame:
        count = int(frame["options"].astype(str).str.count(r"\|").max()) + 1
        numbers = frame["raw_text"].str.contains(r"Option \d", regex=True).any()
        return replies.OptionForm(count, "numbers" if numbers else "letters")
    words = set(frame["choice"].astype(str)) - {""}
    if words and words <= {"correct", "incorrect"}:
        return replies.WordForm(("correct", "incorrect"))
    if scale is not None and not words:
        return replies.ScoreForm(scale)
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
        verdict = replies.read_reply(text, form, tool=tool, finish_reason=str(row["finish_reason"]))
        now = verdict.status.value
        if verdict.status is base.Status.OK:
            now = verdict.choice or f"{verdict.score:g}"
        before = _recorded_verdict(row, form)
        if now != before:
            which = {k: row[k] for k in _KEY}
            rows.append({**which, "before": before, "now": now, "reason": verdict.reason})
    return rows


def _recorded_verdict(row: Mapping[Any, Any], form: Form) -> str:
    """What the run read: the score, the place or the word; else its status."""
    if row["status"] != base.Status.OK.value:
        return str(row["status"])
    if isinstance(form, replies.ScoreForm):
        return f"{row['score']:g}"
    if isinstance(form, replies.WordForm):
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
        base.Status.REFUSED: "refused",
        base.Status.AMBIGUOUS: "ambiguous",
        base.Status.OUT_OF_SCALE: "off the scale",
        base.Status.UNPARSEABLE: "without a verdict",
    }
    ends = frame["finish_reason"].astype(str).map(replies.is_cut)
    cut = (statuses == base.Status.TRUNCATED.value) & ends
    counts = {f"cut at max_tokens={max_tokens}" if max_tokens else "cut": int(cut.sum())}
    counts |= {word: int((statuses == status.value).sum()) for status, word in words.items()}
    return ", ".join(f"{n} of {len(frame)} {word}" for word, n in counts.items() if n)


@dataclass(frozen=True, kw_only=True)
class ScoreArray:
    """Scores as items x conditions x replications, NaN where there is none.

    `items`, `clusters` and `categories` have one entry per item; `conditions` one per condition.
    """

    scores: NDArray[np.float64]
    items: tuple[str, ...]
    clusters: NDArray[np.object_]
    conditions: tuple[str, ...]

    def condition(self, name: str) -> NDArray[np.float64]:
        """Items x replications of one condition."""
        return self.scores[:, self.conditions.index(name), :]


def score_array(frame: pd.DataFrame, *, conditions: tuple[str, ...] | None = None) -> ScoreArray:
    """Spread a parsed frame out as items x conditions x replications.

    Parameters
    ----------
    frame : DataFrame
        A parsed judgments frame.
    conditions : tuple of str, optional
        Which conditions, in which order; all by default, in order of appearance.

    Returns
    -------
    ScoreArray
        The last axis is as long as the largest number of replications. Replications keep their
        index: a failed call leaves a gap, and the others do not move up.

    Raises
    ------
    InputError
        A condition is not in the frame, or two judgments have the same index. Either an item was
        scored in several orders, or a replicate occurs twice. A position effect is not
        inconsistency, so orders are a factor, and not replications.

    Examples
    --------
    >>> f = pd.DataFrame({"condition": ["a", "a"], "item_id": ["x", "x"], "cluster": ["q", "q"],
    ...                   "stage": "final", "replicate": [0, 1], "score": [7.0, np.nan]})
    >>> score_array(f).scores.tolist()
    [[[7.0, nan]]]
    """
    frame = final_rows(frame)
    present = tuple(frame["condition"].unique())
    chosen = present if conditions is None else conditions
    unknown = [c for c in chosen if c not in present]
    if unknown:
        raise InputError(
            f"score_array: no judgment has the condition {', '.join(unknown)}. There are: "
            f"{', '.join(present)}."
        )
    frame = kept_rows(frame, frame["condition"].isin(chosen))
    # Conditions without any score (verdicts in words, often in both orders) are all missing here.
    with_scores = frame.loc[frame["score"].notna(), "condition"].unique()
    _check_orders(kept_rows(frame, frame["condition"].isin(with_scores)))
    place, shape, (items, labels, replicates) = places_of(
        frame["item_id"], frame["condition"], frame["replicate"]
    )
    score = frame["score"].to_numpy(float)
    filled, n_scores = tallied(place[~np.isnan(score)], math.prod(shape))
    twice = filled[n_scores > 1]
    if len(twice):
        row = frame.iloc[int(np.flatnonzero(np.isin(place, twice))[0])]
        raise InputError(
            f"score_array: several scores claim one place, {len(twice)} times; the first is "
            f"replicate {row['replicate']} of item {str(row['item_id'])[:60]!r} under "
            f"{row['condition']!r}. Number the repetitions in the replicate column, or drop the "
            "repeated rows."
        )
    scores = np.full(shape, np.nan)
    scores.reshape(-1)[place] = score
    if chosen != tuple(labels):
        scores = scores[:, labels.get_indexer(pd.Index(chosen))]
    if not replicates.is_monotonic_increasing:
        scores = scores[..., np.argsort(replicates)]
    return ScoreArray(
        scores=scores,
        items=tuple(map(str, items)),
        clusters=frame["cluster"].iloc[first_rows(frame["item_id"])].to_numpy(object),
        conditions=chosen,
    )


def score_counts(frame: pd.DataFrame) -> dict[str, Ints]:
    """Of each condition, how many readable scores each scored item has.

    Examples
    --------
    >>> f = pd.DataFrame({"condition": ["a", "a", "b"], "item_id": "x", "score": [1.0, 2.0, None]})
    >>> {name: counts.tolist() for name, counts in score_counts(f).items()}
    {'a': [2], 'b': []}
    """
    rows = final_rows(frame[[c for c in ("condition", "item_id", "score", "stage") if c in frame]])
    place, (n_conditions, n_items), (conditions, _) = places_of(rows["condition"], rows["item_id"])
    filled, counts = tallied(place[rows["score"].notna()], n_conditions * n_items)
    ends = np.searchsorted(filled, np.arange(n_conditions + 1) * n_items)
    found = {str(c): counts[ends[i] : ends[i + 1]] for i, c in enumerate(conditions)}
    return {str(c): found.get(str(c), counts[:0]) for c in frame["condition"].unique()}


def several_orders(condition: str, n_items: int) -> str:
    """What is wrong with scores of one condition in several orders, and what to do.

    Parameters
    ----------
    condition : str
    n_items : int
        Items that were scored in more than one order.

    Returns
    -------
    str

    Examples
    --------
    >>> several_orders("A", 1)[:60]
    "1 item of 'A' was scored in several orders of presentation, "
    """
    counted = f"{n_items:,} items of {condition!r} were" if n_items != 1 else (
        f"1 item of {condition!r} was"
    )  # fmt: skip
    return (
        f"{counted} scored in several orders of presentation, which are not repetitions of one "
        "judgment. Make the order a factor, so that every order is a condition "
        "(--factor order, read_judgments(..., factors=('order',))), or keep one order"
    )


def _check_orders(scored: pd.DataFrame) -> None:
    """Refuse scores of one item and condition in several orders of presentation."""
    if "order" not in scored or len(scored["order"].unique()) < 2:
        return
    orders = scored.groupby(["condition", "item_id"], sort=False, observed=True)["order"]
    several = orders.nunique().gt(1).groupby(level="condition", sort=False).sum()
    for condition, count in several[several > 0].items():
        raise InputError(f"score_array: {several_orders(str(condition), int(count))}.")


def final_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """The judgments that are verdicts: the frame itself where it holds no earlier stage.

    Examples
    --------
    >>> final_rows(pd.DataFrame({"stage": ["crowd", "final"], "score": [1, 2]}))["score"].tolist()
    [2]
    """
    return kept_rows(frame, frame["stage"].eq("final")) if "stage" in frame else frame


def kept_rows(frame: pd.DataFrame, kept: pd.Series) -> pd.DataFrame:
    """The rows on which a condition holds: the frame itself where it holds on all.

    Examples
    --------
    >>> frame = pd.DataFrame({"score": [1, 2]})
    >>> kept_rows(frame, frame["score"] > 0) is frame, kept_rows(frame, frame["score"] > 1).index[0]
    (True, 1)
    """
    return frame if kept.all() else frame[kept]


def status_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Counts of each status by condition, with the shares that were not read and not answered.

    Examples
    --------
    >>> f = pd.DataFrame({"condition": ["a"] * 4, "status": ["ok", "ok", "refused", "failed"]})
    >>> status_table(f).loc["a", ["unread_share", "unanswered_share"]].round(3).tolist()
    [0.333, 0.25]
    """
    table = frame.groupby(["condition", "status"], observed=True).size().unstack(fill_value=0)
    table = table.reindex(list(frame["condition"].unique()), columns=sorted(table.columns))
    shares = [lost_shares(counts) for counts in table.to_dict("records")]
    return table.assign(n=table.sum(axis=1), **pd.DataFrame(shares, index=table.index))


def lost_shares(counts: Mapping[Any, int]) -> dict[str, float]:
    """Of counts by status: the share of replies not read, and of judgments without a reply.

    There are two kinds of failure. An unparsed reply is the judge's. A failed call is the
    server's, also if it is never made because the model refuses the condition. Without any reply
    the unparsed share is not known (NaN). "Not applicable" counts as parsed.

    Examples
    --------
    >>> lost_shares({"ok": 3, "refused": 1, "failed": 1})
    {'unread_share': 0.25, 'unanswered_share': 0.2}
    >>> lost_shares({"failed": 1})
    {'unread_share': nan, 'unanswered_share': 1.0}
    """
    total = sum(counts.values())
    answered = total - sum(counts.get(status.value, 0) for status in base.NO_REPLY)
    read = counts.get(base.Status.OK.value, 0) + counts.get(base.Status.NOT_APPLICABLE.value, 0)
    return {
        "unread_share": (answered - read) / answered if answered else math.nan,
        "unanswered_share": (total - answered) / total if total else math.nan,
    }


def both_orders(asked: pd.DataFrame, pairs: Sequence[str]) -> tuple[Objects, Objects]:
    """Verdicts of one condition in both orders, pairs x replications; empty text where unparsed.

    Parameters
    ----------
    asked : DataFrame
        Parsed judgments of a pairwise condition; `choice` names the response (a, b, tie).
    pairs : sequence of str
        The pairs' ids, in the order wanted.

    Returns
    -------
    tuple of ndarray of object
        Orders ``ab`` and ``ba``.
    """
    replicates = sorted(set(asked["replicate"].unique()))
    tables = []
    for order in ("ab", "ba"):
        own = asked[asked["order"] == order]
        wide = own.pivot(index="item_id", columns="replicate", values="choice")
        wide = wide.reindex(index=list(pairs), columns=replicates).astype(object)
        tables.append(wide.where(wide.notna(), "").to_numpy(object))
    return tables[0], tables[1]


def combined(ab: Objects, ba: Objects, *, rule: str) -> Objects:
    """One verdict from both orders, by the declared rule; empty text where there is none.

    Parameters
    ----------
    ab, ba : ndarray of object
        ``"a"``, ``"b"``, ``"tie"`` or empty.
    rule : {"tie", "first", "drop"}

    Returns
    -------
    ndarray of object
        Where an order could not be read there is no verdict, except that ``first`` asks for the
        first order only.

    Examples
    --------
    >>> ab, ba = np.array(["a", "a", "b", ""]), np.array(["a", "b", "tie", "a"])
    >>> [combined(ab, ba, rule=r).tolist() for r in RULES]
    [['a', 'tie', 'tie', ''], ['a', 'a', 'b', ''], ['a', '', '', '']]
    """
    one_of("combined", "rule", rule, RULES)
    if rule == "first":
        return ab.astype(object)
    otherwise = "tie" if rule == "tie" else ""
    read = (ab != "") & (ba != "")
    return np.where(read, np.where(ab == ba, ab, otherwise), "").astype(object)


def scores_of(asked: pd.DataFrame, items: Sequence[str], *, values: str = "score") -> Floats:
    """Scores of one condition, things judged x replications; NaN where unparsed.

    Parameters
    ----------
    asked : DataFrame
    items : sequence of str
        Rows wanted, in this order; one may be in it several times, as an answer in several pairs
        does.
    values : str

    Raises
    ------
    InputError
        An item has several in one replicate.
    """
    place = {item: i for i, item in enumerate(dict.fromkeys(items))}
    row = np.array([place.get(item, -1) for item in asked["item_id"].to_numpy(object)], dtype=int)
    replicates, column = np.unique(asked["replicate"].to_numpy(), return_inverse=True)
    wide = np.full((len(place), replicates.size), np.nan)
    held = row >= 0
    cells = row[held] * replicates.size + column[held]
    if np.unique(cells).size < cells.size:
        raise InputError(
            "scores_of: an item has several scores in one replicate. Number the repetitions, or "
            "take one order at a time."
        )
    wide[row[held], column[held]] = asked[values].to_numpy(dtype=float)[held]
    return wide[[place[item] for item in items]]
