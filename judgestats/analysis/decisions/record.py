"""Record of a decision, what every decision shares, and items as decisions take them."""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.analysis import validity
from judgestats.analysis.agreement import passes_of_items
from judgestats.analysis.validity_raters import PERSON
from judgestats.arrays import Bools, Floats, Ints, as_numbers, mean_of_present
from judgestats.data.readers.tables import GRADES
from judgestats.errors import InputError
from judgestats.results.numbers import apa_number
from judgestats.results.records import Part, plain
from judgestats.results.verdict import Caveat, Measure, NextStep, Subject
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.validity.inputs import verdict_values
from judgestats.stats.validity.label_draws import LABELS_DRAWN

SCHEMA = "judgestats.decision/1"
FEW_LABELS = 30
WIDTH = 100
Source = Literal["mapped", "words", "votes", "logprob", "cutoff", "stated", ""]
UNEQUAL = "unequal"
"""Draw of labels whose chances differ within a verdict, as `labels next` chooses them."""
RANDOM_LABELS = "Labels are a random sample of the items."


@dataclass(frozen=True, kw_only=True)
class Decision(Part):
    """What a decision rests on; its numbers are NaN where it cannot be made.

    Attributes
    ----------
    subject : str
        Judge, or judges.
    certified : bool
        Whether the claim is made.
    level : float
        Confidence of everything that is claimed at once.
    n_labels, n_items, n_clusters : int
        Clusters of labelled items; 0: items are their own clusters.
    n_ties, n_unparsed : int
        Items whose raters tie, which have no label; items without a verdict or score.
    method : str
    assumptions : tuple of str
    caveats : tuple of Caveat
    next : tuple of NextStep
    reason : str
        Why the claim is not made.
    about : tuple of str
        Conditions that it is about.
    """

    kind: ClassVar[str] = ""
    word: ClassVar[str] = ""
    required: ClassVar[tuple[str, ...]] = ()
    subject: str = ""
    certified: bool = False
    level: float = 0.95
    n_labels: int = 0
    n_items: int = 0
    n_clusters: int = 0
    n_ties: int = 0
    n_unparsed: int = 0
    method: str = ""
    assumptions: tuple[str, ...] = (RANDOM_LABELS,)
    caveats: tuple[Caveat, ...] = ()
    next: tuple[NextStep, ...] = ()
    reason: str = ""
    about: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """What the decision says, one paragraph of the screen each."""
        return [self.reason]

    def measures(self, subject: Subject) -> Iterator[Measure]:  # noqa: ARG002 (of subclasses)
        """What requirements can name; nothing by default."""
        return iter(())

    @property
    def heading(self) -> str:
        """First word of the screen."""
        return self.word

    def screen(self) -> list[str]:
        """Lines of a screen: the decision's word, and its sentences."""
        out: list[str] = []
        wide = len(self.word) + 2
        name = f"{self.subject}: " if self.subject else ""
        for i, text in enumerate(self.sentences()):
            for line in textwrap.wrap(f"{name if i == 0 else ''}{text}", WIDTH - wide):
                out.append(f"{'' if out else self.heading:<{wide}}{line}")
        return out

    def care(self) -> list[str]:
        """Caveats, each in lines of a screen's width."""
        said = (f"Care  {c.text} {c.action}".rstrip() for c in self.caveats)
        return [
            line for one in said
            for line in textwrap.wrap(one, WIDTH, subsequent_indent=" " * 6, break_on_hyphens=False)
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the screen's lines."""
        own = {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}
        return {"schema": SCHEMA, "kind": self.kind, **own, "screen": self.screen()}

    def __str__(self) -> str:
        return "\n".join([*self.screen(), *self.care()])


def percent(share: float) -> str:
    """A share in whole percent, with a decimal near either end.

    Examples
    --------
    >>> percent(.3605), percent(.004), percent(.9973), percent(1)
    ('36%', '0.4%', '99.7%', '100%')
    """
    if 0 < share < 0.01:
        return f"{100 * share:.1g}%"
    return f"{100 * min(share, 0.999):.1f}%" if 0.995 <= share < 1 else f"{100 * share:.0f}%"


def level_text(level: float) -> str:
    """A confidence level in percent.

    Examples
    --------
    >>> level_text(.95), level_text(1 - .05 / 3), level_text(.999999999)
    ('95%', '98.33%', '99.9999999%')
    """
    return f"{100 * level:.{4 if level < 0.9999 else 12}g}%"


def number(value: float, digits: int = 2) -> str:
    """A share without a leading zero.

    Examples
    --------
    >>> number(.9), number(.8583, 3)
    ('.90', '.858')
    """
    return apa_number(value, digits=digits, bounded=True)


def plain_number(value: float) -> str:
    """A score or threshold as short as it can be.

    Examples
    --------
    >>> plain_number(5.1), plain_number(-2.25), plain_number(123456.7)
    ('5.1', '−2.25', '123,457')
    """
    return f"{value:{'.4g' if abs(value) < 10_000 else ',.0f'}}".replace("-", "−")


def confidence_text(value: float, source: Source) -> str:
    """A confidence as it was given: a word or a number.

    Examples
    --------
    >>> confidence_text(3, "words"), confidence_text(2.5, "words"), confidence_text(.9, "mapped")
    ('high', '2.5 (medium is 2, high 3)', '.900')
    """
    if source != "words":
        return number(value, 3) if abs(value) <= 1 else plain_number(value)
    words = list(GRADES)
    low = math.floor(value)
    if low == value:
        return words[low]
    return f"{plain_number(value)} ({words[low]} is {low}, {words[low + 1]} {low + 1})"


def floored(limit: float) -> str:
    """A lower limit of a share, rounded down.

    Examples
    --------
    >>> floored(.8699), floored(.7)
    ('.86', '.70')
    """
    return number(math.floor(100 * limit + 1e-9) / 100) if math.isfinite(limit) else "-"


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Items as a decision takes them.

    Attributes
    ----------
    human : ndarray
        1 pass, 0 fail, NaN without a label.
    codes : ndarray of int
    clustered : bool
        Whether any cluster holds several items.
    tied : ndarray of bool
        Items whose raters tie, which have no label.
    disagreement : float
        Share of items on which two raters differ; NaN where no item has two.
    """

    human: Floats
    codes: Ints
    clustered: bool
    tied: Bools
    disagreement: float = math.nan

    @property
    def n_ties(self) -> int:
        """Items whose raters tie."""
        return int(self.tied.sum())

    @property
    def used(self) -> Any:
        """Which items have a label."""
        return ~np.isnan(self.human)

    def cluster_count(self, kept: Any, *, where: str) -> int:
        """Clusters among some items; 0 where items are their own.

        Raises
        ------
        InputError
            Several items are all in one cluster.
        """
        if not self.clustered:
            return 0
        count = int(np.unique(self.codes[kept]).size)
        if count == 1 and np.sum(kept) > 1:
            raise InputError(
                f"{where}: all labelled items are in one cluster, so no limit can be given. Label "
                "items of other clusters, or map another column: --map cluster=COLUMN."
            )
        return count


def labelled(
    labels: ArrayLike, cluster: ArrayLike | None, *, where: str, is_scored: bool = False
) -> Labelled:
    """One label per item: the majority of its raters, none where they tie; of scores the mean.

    Parameters
    ----------
    labels : array-like, shape (N,) or (N, raters)
        Pass and fail as words, booleans or 1 and 0; None where there is none.
    cluster : array-like, shape (N,), optional
    where : str
        Name of the calling function, for messages.
    is_scored : bool
        Whether labels are scores.

    Returns
    -------
    Labelled

    Raises
    ------
    InputError
        A label is not understood.

    Examples
    --------
    >>> made = labelled([["pass", "pass"], ["pass", "fail"]], None, where="f")
    >>> made.human.tolist(), made.n_ties
    ([1.0, nan], 1)
    """
    read = as_numbers(labels, "labels", where) if is_scored else verdict_values(
        labels, where=where, name="labels")  # fmt: skip
    if read.ndim > 2 or read.size == 0:
        raise InputError(f"{where}: labels must have one row per item, got shape {read.shape}.")
    share, disagreement = read, math.nan
    if read.ndim == 2:
        n, passes = (~np.isnan(read)).sum(axis=1), np.nansum(read, axis=1)
        share = np.divide(passes, n, out=np.full(len(read), np.nan), where=n > 0)
        k, x = n[n > 1], passes[n > 1]
        disagreement = float(np.mean(2 * x * (k - x) / (k * (k - 1)))) if k.size else math.nan
    tied = (share == 0.5) & (not is_scored)
    human = share if is_scored else np.where(tied, np.nan, np.round(share))
    codes = cluster_codes(cluster, human.size, where=where)
    several = cluster is not None and np.unique(codes).size < codes.size
    return Labelled(
        human=human, codes=codes, clustered=several, tied=tied,
        disagreement=math.nan if is_scored else disagreement,
    )  # fmt: skip


def aligned(values: ArrayLike, n: int, *, where: str, name: str) -> Floats:
    """Numbers per item, means over repeats.

    Raises
    ------
    InputError
        There is not one row per item.
    """
    read = as_numbers(values, name, where)
    if read.shape[:1] != (n,) or read.ndim > 2:
        raise InputError(
            f"{where}: {name} must hold one entry per item ({n} labels), got shape {read.shape}."
        )
    return read if read.ndim == 1 else mean_of_present(read, 1)


def plan_command(wanted: int, items: int, labels: int = 0) -> str:
    """The command that draws items to label, at most those without a label; empty if none is left.

    Examples
    --------
    >>> plan_command(200, 120), plan_command(200, 120, 120)
    ('judgestats labels plan my.csv --labels 120', '')
    """
    drawn = min(wanted, items - labels)
    return f"judgestats labels plan my.csv --labels {drawn}" if drawn > 0 else ""


def label_more(wanted: int, items: int, labels: int) -> str:
    """How to get more labels, as a sentence.

    Examples
    --------
    >>> label_more(200, 120, 120)
    'Every item has a label. Judge and label more items.'
    """
    command = plan_command(wanted, items, labels)
    every = "Every item has a label. Judge and label more items."
    return f"Label more: {command}" if command else every


def check_draw(
    where: str, labels_drawn: str, *, items: int, by_verdict: str = ""
) -> tuple[Caveat, ...]:
    """Refuse labels that allow no claim; a caveat where it is not said how they were drawn.

    Certificates weigh no label: of stratified labels only those with equal chances serve.

    Parameters
    ----------
    where : str
    labels_drawn : str
        ``random``, ``stratified``, ``by-verdict``, ``convenience``, or empty.
    items : int
        Items that can be labelled.
    by_verdict : str
        Effect of labels drawn by verdict; empty if such labels are valid.

    Raises
    ------
    InputError
        Labels were picked by hand, drawn by stratum, or by verdict where that biases the rates.
    """
    refused = {
        UNEQUAL: "labels have other chances within a verdict (column chance), so their errors are "
        "not those of the items. Draw them at random: ",
        "stratified": "stratified labels may have other chances in each stratum, so their errors "
        "are not those of the items. If all chances were equal: --labels-drawn random. Else draw "
        "them at random: ",
        "convenience": "labels were picked by hand, so no error rate carries over. Draw them: ",
        "by-verdict": f"labels drawn by verdict {by_verdict}. Draw them at random: ",
    }
    if labels_drawn in refused and (by_verdict or labels_drawn != "by-verdict"):
        raise InputError(f"{where}: {refused[labels_drawn]}{plan_command(200, items)}")
    if labels_drawn and labels_drawn not in LABELS_DRAWN:
        raise InputError(
            f"{where}: labels_drawn must be one of {', '.join(LABELS_DRAWN)}, got {labels_drawn!r}."
        )
    unknown = Caveat(
        code="labels_drawn_unknown",
        severity="minor",
        about="labels",
        text="Labels are assumed to be a random sample.",
        action="State how they were drawn: --labels-drawn.",
    )
    return () if labels_drawn else (unknown,)


def tuned_caveat(tuned: bool) -> tuple[Caveat, ...]:
    """That the judge was tuned on these labels."""
    if not tuned:
        return ()
    return (Caveat(
        code="tuned_on_labels", severity="major", about="labels",
        text="The judge was tuned on these labels, so its errors look too few.",
        action="Split labels first: judgestats labels split labels.csv.",
    ),)  # fmt: skip


def people_caveat(error: float, disagreement: float) -> tuple[Caveat, ...]:
    """That an error rate is not above the share of items on which two human raters differ."""
    if not error <= disagreement:
        return ()
    return (Caveat(
        code="people_differ", severity="major", about="error",
        text=f"Two human raters differ in {number(disagreement)} of items, so an error of "
        f"{number(error)} against one person cannot be reached.",
    ),)  # fmt: skip


def few_caveats(n_pass: int, n_fail: int) -> tuple[Caveat, ...]:
    """Classes with fewer than 30 labels."""
    return tuple(
        Caveat(
            code="few_labels", severity="major", about=word, action="Label more answers.",
            text=f"{f'Only {n}' if n else 'No'} labelled {word}.",
        )
        for n, word in ((n_pass, "passes"), (n_fail, "fails"))
        if n < FEW_LABELS
    )  # fmt: skip


def check_level(where: str, **shares: float) -> None:
    """Refuse shares outside 0 to 1.

    Raises
    ------
    InputError
    """
    for name, value in shares.items():
        if not 0 < value < 1:
            raise InputError(f"{where}: {name} must be between 0 and 1, got {value:g}.")


MOST_COST = 1e12
"""Largest cost of an item: sums of squares stay finite."""


def are_costs(values: Iterable[float]) -> bool:
    """Whether all are costs: numbers from 0 to 1e12.

    Examples
    --------
    >>> are_costs([0, 3.5]), are_costs([-1]), are_costs([1e300]), are_costs([math.nan])
    (True, False, False, False)
    """
    return all(0 <= value <= MOST_COST for value in values)


def vote_confidence(passes: Floats, repeats: Ints) -> tuple[Floats, Floats]:
    """Majority verdict of repeats and its vote share; a tie is never decided.

    Parameters
    ----------
    passes : ndarray
        Share of passes among the verdicts of an item.
    repeats : ndarray of int

    Returns
    -------
    verdict, confidence : ndarray
        NaN where the votes tie or there are none.

    Examples
    --------
    >>> v, c = vote_confidence(np.array([.75, .5, 0.0]), np.array([4, 4, 4]))
    >>> v.tolist(), c.tolist()
    ([1.0, nan, 0.0], [0.75, nan, 1.0])
    """
    tie = (np.round(2 * passes * repeats) == repeats) | (repeats == 0)
    verdict = np.where(tie, np.nan, (passes > 0.5).astype(float))
    return verdict, np.where(tie, np.nan, np.maximum(passes, 1 - passes))


@dataclass(frozen=True, kw_only=True)
class ItemJudgments:
    """Judgments of one condition, one row per item.

    Attributes
    ----------
    name : str
        The condition.
    items : Index
    scores, verdicts : ndarray, shape (N,)
        Mean score; share of passes among its verdicts (NaN: unparsed).
    repeats : ndarray of int
        Verdicts parsed per item.
    confidence : ndarray
        Mean of the confidence column; NaN where there is none.
    labels, label_scores : ndarray, shape (N, raters)
        1 pass, 0 fail, NaN; human scores, where labels are scores.
    cluster : ndarray
    drawn : str
        How labels were drawn, where the data say.
    tuned : bool
        Whether the judge was tuned on these labels.
    source : {"mapped", "words", "votes", "logprob", "cutoff", "stated"}
        Where the confidence is from.
    """

    name: str
    items: pd.Index
    scores: Floats
    verdicts: Floats
    repeats: Ints
    confidence: Floats
    labels: Floats
    label_scores: Floats
    cluster: Any
    drawn: str = ""
    tuned: bool = False
    source: Source = "mapped"

    @property
    def has_labels(self) -> bool:
        """Whether any item has a label."""
        return bool(np.isfinite(self.labels).any())

    @property
    def has_label_scores(self) -> bool:
        """Whether any item has a human score."""
        return bool(np.isfinite(self.label_scores).any())

    @property
    def confident(self) -> Bools:
        """Which items have a stated confidence."""
        return np.isfinite(self.confidence)

    @property
    def confidence_source(self) -> Source:
        """Where the confidence of verdicts is from: stated, or the votes of three repeats."""
        if self.confident.any():
            return self.source
        return "votes" if self.repeats.size and int(self.repeats.max()) >= 3 else ""

    @property
    def majority(self) -> tuple[Floats, Floats]:
        """Majority verdict of repeats and its vote share."""
        return vote_confidence(self.verdicts, self.repeats)

    @property
    def vote_shares(self) -> Floats | None:
        """Possible vote shares of the majority; None if the number of repeats differs."""
        k = int(self.repeats.max())
        return np.arange(k // 2 + 1, k + 1)[::-1] / k if np.all(self.repeats == k) else None

    @property
    def is_scored(self) -> bool:
        """Whether the judge gives numbers."""
        return bool(np.isfinite(self.scores).any())


_CODES: Mapping[str, float] = {"pass": 1.0, "fail": 0.0}


def item_judgments(frame: pd.DataFrame) -> list[ItemJudgments]:
    """Items of each condition of a frame of judgments, with labels as pass and fail.

    Parameters
    ----------
    frame : DataFrame
        As `judgestats.read_judgments` returns it.

    Returns
    -------
    list of ItemJudgments
    """
    out = []
    tuned = bool(validity.tuning_digest([frame]))
    for name, own in frame.groupby("condition", sort=False):
        read = validity.to_pass_fail(own)
        each = read.groupby("item_id", sort=False)
        items = pd.Index(each.size().index)
        coded = read["choice"].map(_CODES).groupby(read["item_id"], sort=False)
        nothing = pd.Series(math.nan, index=read.index)
        raters = [str(c) for c in read if str(c).startswith(PERSON)]
        raters = raters or [c for c in ("label",) if c in read]
        coded_labels = [_label_codes(read, c) for c in raters] or [nothing]
        numbers = [
            nothing if np.isfinite(code).any() else pd.to_numeric(read[c], errors="coerce")
            for c, code in zip(raters, coded_labels, strict=False)
        ] or [nothing]
        labels, label_scores = (
            np.column_stack([v.groupby(read["item_id"], sort=False).mean() for v in columns])
            for columns in (coded_labels, numbers)
        )
        repeats = np.asarray(coded.count(), dtype=np.int64)
        stated, source = _stated_confidence(read)
        confident = stated.groupby(read["item_id"], sort=False).mean().to_numpy(float)
        if source != "mapped" and (own["experiment"] != "read").any() and repeats.max() >= 3:
            confident = np.full(len(items), np.nan)  # votes of repeats go first
        out.append(ItemJudgments(
            name=str(name), items=items, scores=each["score"].mean().to_numpy(float),
            verdicts=np.asarray(coded.mean(), dtype=np.float64),
            repeats=repeats, confidence=confident, labels=labels, label_scores=label_scores,
            cluster=each["cluster"].first().to_numpy(object),
            drawn=_drawn(read),
            tuned=tuned, source=source,
        ))  # fmt: skip
    return out


def _label_codes(read: pd.DataFrame, column: str) -> pd.Series:
    """1 and 0 for labels that say pass and fail, NaN else."""
    beside_scores = passes_of_items(read.assign(label=read[column]))
    return read[column].map(_CODES) if beside_scores is None else beside_scores


def _stated_confidence(read: pd.DataFrame) -> tuple[pd.Series, Source]:
    """Confidence of each judgment in its own verdict, and where it is from."""
    of_file = (read["experiment"] == "read").all()
    for column in (validity.CONFIDENCE, "confidence_rank", validity.CHANCE_OF_PASSING):
        if column not in read or not read[column].notna().any():
            continue
        sure = pd.to_numeric(read[column], errors="coerce")
        of_passing = column == validity.CHANCE_OF_PASSING
        if of_passing and not validity.is_of_verdict(read):
            sure = (1 - sure).where(read["choice"] == "fail", sure).where(read["choice"] != "")
        if "logprob" in read or "logprob_pass" in read or (of_passing and not of_file):
            return sure, "logprob"
        if column == "confidence_rank":
            return sure, "words"
        return sure, "mapped" if of_file else "stated"
    return pd.Series(math.nan, index=read.index), ""


@dataclass(frozen=True, kw_only=True)
class JoinedItems:
    """Items of several judges side by side, one column per judge.

    Attributes
    ----------
    items : Index
    verdicts, confidence : ndarray, shape (N, judges)
        Majority verdict, or mean score, of each judge, and its confidence; NaN where it gave none.
    sources : tuple of str
        Where the confidence of each judge is from; empty: it has none.
    labels : ndarray, shape (N, raters)
    cluster : ndarray
    """

    items: pd.Index
    verdicts: Floats
    confidence: Floats
    sources: tuple[Source, ...]
    labels: Floats
    cluster: Any


def joined_items(judged: Sequence[ItemJudgments]) -> JoinedItems:
    """Align the items of several judges.

    Parameters
    ----------
    judged : sequence of ItemJudgments

    Returns
    -------
    JoinedItems
    """
    items = judged[0].items
    for one in judged[1:]:
        items = items.union(one.items, sort=False)
    verdicts, confidence = (np.full((len(items), len(judged)), np.nan) for _ in range(2))
    given = [one.label_scores if one.is_scored else one.labels for one in judged]
    labels = np.full((len(items), max(one.shape[1] for one in given)), np.nan)
    clusters = np.empty(len(items), dtype=object)
    for j, one in enumerate(judged):
        place = items.get_indexer(one.items)
        majority, share = one.majority
        verdicts[place, j] = one.scores if one.is_scored else majority
        confidence[place, j] = one.confidence if one.confident.any() else share
        known = np.isfinite(given[j]).any(axis=1)
        labels[place[known], : given[j].shape[1]] = given[j][known]
        clusters[place] = one.cluster
    return JoinedItems(
        items=items, verdicts=verdicts, confidence=confidence, labels=labels, cluster=clusters,
        sources=tuple(one.confidence_source for one in judged),
    )  # fmt: skip


def _drawn(read: pd.DataFrame) -> str:
    """What the chances next to labels say of their draw; empty without chances, or if all equal."""
    if "chance" not in read:
        return ""
    chance = pd.to_numeric(read["chance"], errors="coerce").astype(float)
    inside = chance.groupby(read["choice"])
    if (inside.max() - inside.min()).max() > 1e-9:
        return UNEQUAL
    return "by-verdict" if chance.max() - chance.min() > 1e-9 else ""


def steps_text(steps: Sequence[NextStep]) -> str:
    """How much more data would decide, as one sentence.

    Examples
    --------
    >>> steps_text([NextStep(key="cutoff_exists", unit="labels", have=300, if_true=420)])
    'About 420 more labels would decide.'
    """
    for step in steps[:1]:
        if step.if_true is None:
            return f"No practical number of {step.unit} would decide."
        return f"About {step.if_true:,} more {step.unit} would decide."
    return ""
