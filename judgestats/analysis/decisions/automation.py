"""Automation certificate: verdicts that need no human, by confidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from judgestats.analysis.decisions import record
from judgestats.analysis.decisions.operating_point import UNDEFINED, Bounded, bounded
from judgestats.analysis.decisions.record import Decision, Labelled, Source
from judgestats.arrays import Bools, Floats
from judgestats.errors import InputError
from judgestats.results.records import Number, Part
from judgestats.results.verdict import Measure, NextStep, Subject
from judgestats.stats.validity.calibration import clustering, joint_share, least_trials, separation
from judgestats.stats.validity.inputs import verdict_values
from judgestats.stats.validity.sequential import (
    Candidate,
    Certificate,
    candidates,
    certify,
    least_losses,
)

SOURCES: Mapping[Source, str] = {
    "mapped": "confidence column",
    "words": "confidence column of words",
    "votes": "vote share of repeats",
    "logprob": "log-probability of the verdict token",
    "cutoff": "distance to the cut-off, as rank",
    "stated": "stated confidence",
}
Loss = Literal["error", "score"]
NO_CONFIDENCE = (
    "no confidence. Map a column (--map confidence=COLUMN), or judge each item three times or more "
    "with pass / fail verdicts."
)
LEAST_ERROR = 1e-6
"""Smallest error rate, or mean score error as a share of the scale."""
RARE = 0.2
"""Share of the rarer verdict below which each class gets its own certificate."""


@dataclass(frozen=True, kw_only=True)
class ClassPart(Part):
    """What is certified among some verdicts.

    Attributes
    ----------
    certified : bool
    threshold : float
        Confidence from which a verdict is decided alone; NaN: none is.
    share : float
        Of the items with these verdicts; 0 if nothing is certified.
    decided, wrong : int
        Labelled items at or above it, and errors among them.
    upper : float
        Upper limit of their error rate, as description.
    candidates : tuple of Candidate
    n_labels : int
    reason : str
    """

    certified: bool = False
    threshold: Number = math.nan
    share: Number = 0.0
    decided: int = 0
    wrong: Number = 0
    upper: Number = math.nan
    candidates: tuple[Candidate, ...] = ()
    n_labels: int = 0
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Routed(Decision):
    """Items that may be decided without a person, with their error rate bounded.

    Attributes
    ----------
    error : float
        Largest error rate allowed among what is decided alone, or at every stage.
    share : float
        Of all items; 0 if nothing is certified.
    confidence_source : str
    routes : tuple of str
        Who decides, one per item.
    verdicts, confidence : tuple of float
        Of each item: 1 pass, 0 fail, NaN where unparsed or tied.
    """

    kind: ClassVar[str] = "automation"
    required: ClassVar[tuple[str, ...]] = ("automation_share",)
    error: Number
    share: Number = 0.0
    confidence_source: Source = ""
    routes: tuple[str, ...] = ()
    verdicts: tuple[Number, ...] = ()
    confidence: tuple[Number, ...] = ()

    def measures(self, subject: Subject) -> Iterator[Measure]:
        """The share decided alone, which is a lower limit."""
        yield Measure(
            key="automation_share", subject=subject, estimate=self.share, low=self.share, high=1.0,
            n=self.n_labels, n_clusters=self.n_clusters or self.n_labels,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the lists that have an entry per item."""
        made = super().to_dict()
        return {k: v for k, v in made.items() if k not in {"routes", "verdicts", "confidence"}}

    @property
    def bound(self) -> str:
        """What is claimed of the error rate."""
        return (
            f"error <= {record.percent(self.error)} with {record.level_text(self.level)} confidence"
        )


@dataclass(frozen=True, kw_only=True)
class Automation(Routed, ClassPart):
    """Share of items whose verdict may count alone, with its error rate bounded.

    Attributes
    ----------
    threshold : float
        Confidence from which items are decided; NaN where classes have their own.
    loss : {"error", "score"}
        What `error` bounds: the error rate, or the mean score error as a share of the scale.
    unit : float
        Largest loss: 1, or the range of the scale.
    decided, wrong : int
        Labelled items decided, and errors among them; of scores their sum over the largest.
    upper : float
        Upper limit of what `error` bounds, as description.
    candidates : tuple of Candidate
    by_class : bool
        Whether passes and fails are certified apart.
    per_class : mapping
        ``pass`` and ``fail``.
    error_rates : mapping
        Errors among all labelled verdicts: ``false_pass`` and ``false_fail``.
    auroc : Bounded
        Of confidence, for right against wrong verdicts.
    routes : tuple of str
        ``automatic`` or ``human``, one per item.
    """

    word: ClassVar[str] = "AUTOMATE"
    loss: Loss = "error"
    unit: Number = 1.0
    by_class: bool = False
    per_class: Mapping[str, ClassPart]
    error_rates: Mapping[str, Number]
    auroc: Bounded = UNDEFINED

    @property
    def bound(self) -> str:
        """What is claimed of the error rate, or of the mean score error."""
        surely = f"with {record.level_text(self.level)} confidence"
        share, points = record.percent(self.error), record.plain_number(self.error * self.unit)
        of_scores = f"mean error <= {share} of the scale ({points} points) {surely}"
        return of_scores if self.loss == "score" else super().bound

    def sentences(self) -> list[str]:
        """Share, error, and threshold, by class too, or why no share is certified."""
        bound, source = self.bound, self.confidence_source
        classes = " ".join(
            _class_text(name, part, self.error, source) for name, part in self.per_class.items()
        )
        if not self.certified:
            first = f"No verdict can be automated at {bound}: {self.reason}."
            return [line for line in (first, classes, self._more()) if line]
        where = "" if self.by_class else f" ({_part_text(self, source)})"
        rates = ", ".join(
            f"false {name} {record.percent(self.error_rates[f'false_{name}'])}"
            for name in ("pass", "fail")
            if not math.isnan(self.error_rates.get(f"false_{name}", math.nan))
        )
        rest = "The rest goes to humans." if self.share < 1 else ""
        judged = "Majority verdicts of labelled items" if source == "votes" else (
            "All labelled verdicts"
        )  # fmt: skip
        rates = f"{judged}: {rates}." if rates else ""
        area = self.auroc  # an interval of half the range or more informs nobody
        unknown = math.isnan(area.estimate) or area.high - area.low > 0.5
        auroc = "" if unknown else f"AUROC of confidence {_auroc_text(area)}."
        first = f"{record.percent(self.share)} of verdicts can be automated: {bound}{where}."
        second = " ".join(filter(None, (classes, rest, rates, auroc)))
        return [line for line in (first, second, self._more()) if line]

    def _more(self) -> str:
        if not self.next:
            return ""
        if (more := self.next[0].if_true) is None:
            return "No practical number of labels would certify half of what seems possible."
        return f"About {more:,} more labels would certify half of what seems possible."


def _auroc_text(made: Bounded) -> str:
    limits = f" [{record.number(made.low)}, {record.number(made.high)}]"
    return record.number(made.estimate) + (limits if math.isfinite(made.low) else "")


def _part_text(part: ClassPart | Automation, source: Source) -> str:
    """Threshold and errors of what is decided."""
    top = ""
    if math.isfinite(part.threshold):
        top = f"confidence >= {record.confidence_text(part.threshold, source)}; "
    if isinstance(part, Automation) and part.loss != "error":
        mean = record.plain_number(part.wrong / part.decided * part.unit)
        return f"{top}mean error {mean} of {part.decided}"
    return f"{top}{part.wrong} wrong of {part.decided}"


def _class_text(name: str, part: ClassPart, error: float, source: Source) -> str:
    many = {"pass": "passes", "fail": "fails"}[name]
    if part.certified:
        return f"{record.percent(part.share)} of {many} ({_part_text(part, source)})."
    limit = f"false {many} <= {record.percent(error)}"
    return f"No {many} ({part.n_labels:,} labelled {many} do not show {limit})."


def automation_certificate(
    verdicts: ArrayLike,
    confidence: ArrayLike | None,
    labels: ArrayLike,
    *,
    error: float = 0.05,
    per_class: bool | None = None,
    cluster: ArrayLike | None = None,
    level: float = 0.95,
    labels_drawn: str = "",
    tuned: bool = False,
    source: Source = "mapped",
    human_disagreement: float | None = None,
    thresholds: ArrayLike | None = None,
    seed: int = 0,
    advice: bool = True,
    scale: tuple[float, float] | None = None,
) -> Automation:
    """Certify the largest confident share of verdicts whose errors are bounded.

    Parameters
    ----------
    verdicts : array-like, shape (N,) or (N, repeats)
        Pass and fail as words, booleans or 1 and 0; None where unparsed. Three or more repeats and
        no `confidence`: the majority, with its vote share as confidence.
    confidence : array-like, shape (N,), or None
        The higher the surer; NaN: never decided alone.
    labels : array-like, shape (N,) or (N, raters)
        None without a label.
    error : float
        Largest error rate among what is decided alone.
    per_class : bool, optional
        Certify passes and fails separately; by default where the rarer verdict is below 20% or
        labels were drawn by verdict.
    cluster : array-like, shape (N,), optional
    level : float
        Confidence of the claim.
    labels_drawn : {"", "random", "stratified", "by-verdict", "convenience"}
    tuned : bool
        Whether the judge was tuned on these labels.
    source : str
        Where the confidence is from, as the record states it.
    human_disagreement : float, optional
        Share of items on which two human raters differ; by default computed from `labels`. A caveat
        follows if `error` is not above it.
    thresholds : array-like, optional
        Candidates fixed beforehand; by default from the confidences of unlabelled items.
    seed : int
        Of the search for a number of labels.
    advice : bool
        Whether to search how many labels would certify half of what seems possible.
    scale : (float, float), optional
        Ends of the scale: verdicts and labels are scores, and `error` bounds their mean absolute
        difference as a share of the scale.

    Returns
    -------
    Automation
        ``certified`` is false, with a reason, if nothing is shown.

    Raises
    ------
    InputError
        Labels were picked by hand, or there are too few for any claim.

    Notes
    -----
    Candidates come from confidences alone, never from labels. Nested sets are tested from the
    strictest on by exact binomial tests in a fallback procedure with three starts
    (`judgestats.stats.validity.sequential`). The last set that passes gives the threshold. With
    clusters counts are divided by the design effect of the errors. Score errors are tested by
    betting instead.

    References
    ----------
    Wiens & Dmitrienko (2005), J. Biopharm. Stat. 15, 929-942; Angelopoulos et al. (2021),
    arXiv:2110.01052; Jung, Brahman & Choi (2024), arXiv:2407.18370; Waudby-Smith & Ramdas (2024),
    JRSS B 86, 1-27.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> c = rng.random(3000)
    >>> y = rng.random(3000) < .6
    >>> v = np.where(rng.random(3000) < np.where(c > .5, .01, .4), ~y, y)
    >>> labels = np.where(np.arange(3000) < 900, y.astype(float), np.nan)
    >>> found = automation_certificate(v, c, labels, labels_drawn="random")
    >>> found.certified, round(found.share, 2)
    (True, 0.46)
    """
    where = "decide automate"
    is_scored = scale is not None
    loss: Loss = "score" if is_scored else "error"
    unit = 1.0 if scale is None else float(scale[1] - scale[0])
    if not unit > 0:
        raise InputError(f"{where}: score errors need a scale, e.g. --scale 1-10.")
    record.check_level(where, error=error, level=level)
    if error < LEAST_ERROR:
        raise InputError(
            f"{where}: no number of labels shows so small an error. State at least {LEAST_ERROR:g}."
        )
    judged = record.labelled(labels, cluster, where=where, is_scored=is_scored)
    n = judged.human.size
    every = verdicts if is_scored else verdict_values(verdicts, where=where, name="verdicts")
    votes = record.aligned(every, n, where=where, name="verdicts")
    known: Floats = np.array([])
    if confidence is None:
        read = np.asarray(every, dtype=float)
        if read.ndim != 2 or read.shape[1] < 3:
            raise InputError(f"{where}: {NO_CONFIDENCE}")
        repeats = (~np.isnan(read)).sum(axis=1)
        verdict, sure = record.vote_confidence(votes, repeats)
        source = "votes"
        if np.unique(repeats).size == 1:
            k = int(repeats[0])
            known = np.arange(k // 2 + 1, k + 1) / k
    else:
        verdict = votes if is_scored else np.where(votes == 0.5, np.nan, np.round(votes))
        sure = record.aligned(confidence, n, where=where, name="confidence")
    caveats = record.check_draw(where, labels_drawn, items=n)
    sure = np.where(np.isnan(verdict), np.nan, sure)
    # Unparsed items are never decided alone, and are not errors.
    kept = judged.used & ~np.isnan(verdict)
    wrong = kept & (verdict != judged.human)
    losses: Bools | Floats = wrong
    if scale is not None:
        losses = np.where(kept, np.abs(verdict - judged.human), 0.0) / unit
        both = np.concatenate([verdict[kept], judged.human[kept]])
        if np.any((both < scale[0]) | (both > scale[1])):
            raise InputError(f"{where}: a score or label is outside the scale. State the scale, "
                             "e.g. --scale 1-10.")  # fmt: skip
    least = (least_losses if is_scored else least_trials)(error, 1 - level)
    if int((kept & ~np.isnan(sure)).sum()) < least:
        raise InputError(
            f"{where}: {int(kept.sum())} labelled items are too few. An error of at most "
            f"{record.percent(error)} needs at least {least:,}, none of them wrong. "
            f"{record.label_more(300, n, int(judged.used.sum()))}"
        )
    counts = [int(np.sum(verdict[~np.isnan(verdict)] == k)) for k in (0, 1)]
    by_verdict = labels_drawn == "by-verdict"
    if is_scored and (per_class or by_verdict):
        raise InputError(
            f"{where}: score errors are certified for all scores together, from random labels."
        )
    apart = by_verdict or 0 < min(counts) < RARE * sum(counts) if per_class is None else per_class
    apart = apart and not is_scored
    if by_verdict and not apart:
        raise InputError(
            f"{where}: labels drawn by verdict allow claims per class only. Add --per-class."
        )
    apart_share = judged.disagreement if human_disagreement is None else human_disagreement
    if not is_scored:
        caveats = (*caveats, *record.people_caveat(error, apart_share))
    made = CheckedItems(
        sure=sure, wrong=losses, verdict=verdict, judged=judged, error=error,
        known=known if thresholds is None else np.asarray(thresholds, float),
    )  # fmt: skip
    used = kept & ~np.isnan(sure)
    auroc = UNDEFINED if is_scored else bounded(separation(
        sure[used], (~wrong[used]).astype(float), level=level,
        cluster=judged.codes[used] if judged.clustered else None,
    ))  # fmt: skip
    base = Automation(
        error=error, level=level, n_labels=int(kept.sum()), n_items=n,
        n_clusters=judged.cluster_count(kept, where=where), n_ties=judged.n_ties,
        n_unparsed=int(np.isnan(votes).sum()), confidence_source=source, auroc=auroc,
        per_class={}, by_class=bool(apart), loss=loss, unit=unit,
        caveats=(*caveats, *record.tuned_caveat(tuned)),
        error_rates={} if is_scored else {
            "false_pass": _share(wrong, kept & (verdict == 1)),
            "false_fail": _share(wrong, kept & (verdict == 0)),
        },
        verdicts=tuple(verdict.tolist()), confidence=tuple(sure.tolist()), routes=("human",) * n,
        assumptions=(
            record.RANDOM_LABELS,
            "Judge, system and traffic stay as they are: check with judgestats monitor --anchors.",
        ),
        method=f"{'betting' if is_scored else 'exact'} tests in fixed order with three "
        f"starts; confidence: {SOURCES[source]}",
    )  # fmt: skip
    useless = auroc.low <= 0.5
    if useless:
        why = "confidence is not shown to separate correct from wrong verdicts"
        base = replace(base, reason=f"{why} (AUROC {_auroc_text(auroc)})")
    delta = 1 - level
    if apart:
        each = joint_share(delta, 2, independent=not judged.clustered)
        return _class_certificates(base, made, each, useless)
    whole = made.certificate(np.ones(n, dtype=bool), delta, only_all=useless)
    found = _whole(base, made, whole)
    if not found.certified and base.reason:
        found = replace(found, reason=base.reason)
    if advice and not useless:
        found = replace(found, next=_advice(made, found, delta, seed))
    return found


def _share(wrong: Bools, among: Bools) -> float:
    return float(wrong[among].mean()) if among.any() else math.nan


@dataclass(frozen=True, kw_only=True)
class CheckedItems:
    """Verdicts of one judge, how sure each is, and what labels say of them.

    Attributes
    ----------
    sure : ndarray
        Confidence; NaN: never decided alone.
    wrong : ndarray of bool, or of losses
    verdict : ndarray
    judged : Labelled
    error : float
    known : ndarray
        Thresholds fixed beforehand; empty: from items without a label.
    """

    sure: Floats
    wrong: Bools | Floats
    verdict: Floats
    judged: Labelled
    error: float
    known: Floats

    @property
    def kept(self) -> Bools:
        """Items with a label and a verdict."""
        return np.asarray(self.judged.used & ~np.isnan(self.verdict))

    def thresholds(self, own: Bools) -> Floats:
        """Candidates from the confidences of some items, of those without a label."""
        pool = own & ~np.isnan(self.verdict) & ~self.judged.used
        return candidates(self.sure[pool], self.known, self.sure)

    def certificate(self, own: Bools, delta: float, *, only_all: bool = False) -> Certificate:
        """Test thresholds among some items; `only_all`: the set of all of them alone."""
        used = own & self.kept & ~np.isnan(self.sure)
        codes = self.judged.codes if self.judged.clustered else None
        icc = None
        if codes is not None:
            icc = clustering(self.wrong[self.kept].astype(float), codes[self.kept]).icc
        return certify(
            self.sure[used], self.wrong[used],
            np.array([-math.inf]) if only_all else self.thresholds(own), error=self.error,
            delta=delta, codes=None if codes is None else codes[used], correlation=icc,
        )  # fmt: skip


def _part(made: CheckedItems, found: Certificate, own: Bools) -> ClassPart:
    """What a certificate says of the items with some verdicts."""
    base = ClassPart(candidates=found.candidates, n_labels=int((made.kept & own).sum()))
    top = found.passed
    if top is None:
        most = max((c.m for c in found.candidates), default=0)
        why = f"{most} labelled items; {found.least} without an error are the least"
        return replace(base, reason=why if most < found.least else "the error rate is too high")
    decided = own & (made.sure >= top.threshold)
    return replace(
        base, certified=True, threshold=top.threshold, share=float(decided.sum() / own.sum()),
        decided=top.m, wrong=top.x, upper=found.upper,
    )  # fmt: skip


def _whole(base: Automation, made: CheckedItems, found: Certificate) -> Automation:
    part = _part(made, found, np.ones(made.sure.size, dtype=bool))
    decided = made.sure >= part.threshold
    return replace(
        base, **{f.name: getattr(part, f.name) for f in fields(part)},
        routes=tuple(np.where(decided, "automatic", "human").tolist()),
    )  # fmt: skip


def _class_certificates(
    base: Automation, made: CheckedItems, delta: float, useless: bool
) -> Automation:
    """Certificates of passes and of fails, each with its own threshold."""
    parts: dict[str, ClassPart] = {}
    decided = np.zeros(made.sure.size, dtype=bool)
    for name, value in (("pass", 1.0), ("fail", 0.0)):
        own = made.verdict == value
        if not (own & made.kept).any():
            parts[name] = ClassPart(reason="no labelled item has this verdict")
            continue
        found = made.certificate(own, delta, only_all=useless)
        parts[name] = _part(made, found, own)
        if parts[name].certified:
            decided |= own & (made.sure >= parts[name].threshold)
    any_ = any(part.certified for part in parts.values())
    reason = base.reason or "neither class reaches the bound"
    return replace(
        base, per_class=parts, certified=any_, share=float(decided.mean()),
        decided=int((decided & made.kept).sum()), wrong=int(made.wrong[decided].sum()),
        routes=tuple(np.where(decided, "automatic", "human").tolist()),
        reason="" if any_ else reason,
    )  # fmt: skip


_DRAWS, _MOST = 100, 20_000


def _advice(made: CheckedItems, found: Automation, delta: float, seed: int) -> tuple[NextStep, ...]:
    """Labels that would certify half of what seems possible, in four of five redraws."""
    used = made.kept & ~np.isnan(made.sure)
    thresholds = np.array([c.threshold for c in found.candidates])
    sure, wrong = made.sure[used], made.wrong[used]
    rates = [float(wrong[sure >= t].mean()) if (sure >= t).any() else 1.0 for t in thresholds]
    shares = [float(np.nanmean(made.sure >= t)) for t in thresholds]
    possible = max((s for s, r in zip(shares, rates, strict=True) if r <= made.error), default=0.0)
    if possible == 0 or found.share >= possible / 2:
        return ()
    n = int(used.sum())

    def reached(size: int) -> bool:
        rng = np.random.default_rng([seed, size])
        good = 0
        for _ in range(_DRAWS):
            i = rng.integers(0, n, size)
            place = certify(sure[i], wrong[i], thresholds, error=made.error, delta=delta).place
            good += place >= 0 and shares[place] >= possible / 2
        return good >= 0.8 * _DRAWS

    step, size = NextStep(key="automation_share", unit="labels", have=n, if_true=None), n
    while size < _MOST:
        size = math.ceil(1.4 * size / 20) * 20
        if reached(size):
            command = record.plan_command(size - n, found.n_items, found.n_labels)
            return (replace(step, if_true=size - n, command=command),)
    return (step,)
