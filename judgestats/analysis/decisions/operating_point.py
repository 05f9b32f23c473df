"""Operating point: cut-offs of a score that are shown to keep both error rates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from judgestats.analysis.decisions import record
from judgestats.analysis.decisions.record import Decision
from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError
from judgestats.results.numbers import estimate_parts
from judgestats.results.records import Number, Part
from judgestats.results.verdict import Caveat, Measure, NextStep, Subject, share_measure
from judgestats.stats.inference.result import Estimate
from judgestats.stats.validity import calibration
from judgestats.stats.validity.calibration import Cost, ErrorCounts

Rule = Literal["", "cost", "youden", "user"]
ROC_POINTS = 200


@dataclass(frozen=True, kw_only=True)
class Rate(Part):
    """An error rate's complement at a cut-off: estimate, lower limit, upper where two-sided."""

    estimate: Number = math.nan
    lower: Number = math.nan
    upper: Number = math.nan


@dataclass(frozen=True, kw_only=True)
class Bounded(Part):
    """An estimate with its confidence limits and how they were made."""

    estimate: Number = math.nan
    low: Number = math.nan
    high: Number = math.nan
    method: str = ""


NO_RATE, UNDEFINED = Rate(), Bounded()


def bounded(made: Estimate) -> Bounded:
    """An estimate with its limits, NaN where there are none, and the method or the reason."""
    ends = made.interval
    if ends is None:
        return Bounded(estimate=made.estimate, method=made.reason)
    return Bounded(estimate=made.estimate, low=ends.low, high=ends.high, method=ends.method)


@dataclass(frozen=True, kw_only=True)
class Tried(Part):
    """A cut-off that is described but not certified, with its rates."""

    cutoff: Number
    tpr: Rate
    tnr: Rate


@dataclass(frozen=True, kw_only=True)
class OperatingPoint(Decision):
    """Cut-offs from which "pass" keeps a required TPR and TNR.

    Attributes
    ----------
    requirement : mapping
        ``tpr`` and ``tnr``.
    window : tuple of float or None
        Lowest and highest certified cut-off; every one between them keeps both.
    limits : tuple of float
        Lowest cut-off that keeps one rate and highest that keeps the other, window or not. Where
        high scores pass, the first keeps the TNR.
    cutoff : float
        The one chosen inside the window.
    cutoff_rule : {"", "cost", "youden", "user"}
    lower_is_better : bool
        Whether an item passes at or below the cut-off.
    tpr, tnr : Rate
        At the cut-off. Of a searched one the claim is the requirement, limits are description.
    tried : Tried or None
        Rates at the best cut-off where none is certified.
    auc, cost : Bounded
        Cost per item of the cheapest cut-off, cross-fitted or of a split.
    cost_cutoff : float
    is_split : bool
        Whether half of the labels chose the cheapest cut-off and the others measured its cost.
    design_effect : mapping
        ``pass`` and ``fail``.
    roc : tuple of (float, float, float)
        Cut-off, TPR and TNR in the sample.
    """

    kind: ClassVar[str] = "operating_point"
    word: ClassVar[str] = "CUTOFF"
    required: ClassVar[tuple[str, ...]] = ("cutoff_exists", "cost")
    requirement: Mapping[str, float]
    window: tuple[Number, Number] | None = None
    limits: tuple[Number, Number] = (math.nan, math.nan)
    cutoff: Number = math.nan
    cutoff_rule: Rule = ""
    lower_is_better: bool = False
    tpr: Rate = NO_RATE
    tnr: Rate = NO_RATE
    tried: Tried | None = None
    auc: Bounded = UNDEFINED
    cost: Bounded | None = None
    cost_cutoff: Number = math.nan
    is_split: bool = False
    design_effect: Mapping[str, float]
    roc: tuple[tuple[Number, Number, Number], ...] = ()

    def measures(self, subject: Subject) -> Iterator[Measure]:
        """Whether a cut-off is certified, open where it is not; and the cost, of a split."""
        yield Measure(
            key="cutoff_exists", subject=subject, estimate=float(self.certified),
            low=float(self.certified), high=1.0, n=self.n_labels,
            n_clusters=self.n_clusters or self.n_labels, reason=self.reason,
        )  # fmt: skip
        if self.cost is not None and self.is_split:
            yield Measure(
                key="cost", subject=subject, estimate=self.cost.estimate, low=self.cost.low,
                high=self.cost.high, n=self.n_labels // 2,
                n_clusters=(self.n_clusters or self.n_labels) // 2,
            )  # fmt: skip

    def _size(self) -> str:
        clusters = f", {self.n_clusters:,} clusters" if self.n_clusters else ""
        return f"({self.n_labels:,} labels{clusters})"

    def sentences(self) -> list[str]:
        """Claim, window, and AUC; or why there is no claim."""
        sign = "<=" if self.lower_is_better else ">="
        tpr, tnr = (record.number(self.requirement[name]) for name in ("tpr", "tnr"))
        needs = f"TPR >= {tpr} and TNR >= {tnr}"
        if self.cutoff_rule == "user":
            rates = f"TPR {_two_sided(self.tpr)}, TNR {_two_sided(self.tnr)}"
            size = f"{self._size()[:-1]}, {record.level_text(self.level)} CI)"
            return [f"At score {sign} {record.plain_number(self.cutoff)}: {rates} {size}."]
        if self.certified and self.window:
            low, high = self.window
            ends = f"{record.plain_number(low)} to {record.plain_number(high)}"
            span = f"Every cut-off from {ends} meets"
            if low == high:
                span = "Only this cut-off meets"
            claim = f"Pass at score {sign} {record.plain_number(self.cutoff)}: {needs}"
            out = [
                f"{claim} with {record.level_text(self.level)} confidence.",
                f"{span} both {self._size()}. AUC {_two_sided(self.auc)}.",
            ]
        elif math.isnan(self.auc.estimate):
            return [f"No cut-off is certified for {needs}: {self.reason}"]
        else:
            more = self.reason
            if tried := self.tried:
                tpr, tnr = (record.floored(rate.lower) for rate in (tried.tpr, tried.tnr))
                at = f"At {record.plain_number(tried.cutoff)}: TPR >= {tpr}, TNR >= {tnr}."
                more = f"{at} {record.steps_text(self.next)}"
            out = [f"No cut-off is certified for {needs} {self._size()}. {more}".rstrip()]
        if self.cost is not None:
            half = " of the other half of the labels" if self.is_split else ""
            at = f"at {record.plain_number(self.cost_cutoff)}"
            at = at if math.isfinite(self.cost_cutoff) else "if no item passes"
            out.append(f"Cost per item {cost_text(self.cost)} {at}, the cheapest cut-off{half}.")
        return out


def _two_sided(rate: Rate | Bounded) -> str:
    low, high = (rate.lower, rate.upper) if isinstance(rate, Rate) else (rate.low, rate.high)
    if math.isnan(rate.estimate):
        return "undefined"
    return f"{record.number(rate.estimate, 3)} [{record.number(low, 3)}, {record.number(high, 3)}]"


def cost_text(made: Bounded) -> str:
    """A cost with its interval, if it has one."""
    if math.isnan(made.low):
        return record.plain_number(made.estimate)
    return " ".join(estimate_parts(made.estimate, max(made.low, 0), made.high))


def operating_point(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    tpr: float = 0.8,
    tnr: float = 0.8,
    cost: Mapping[str, float] | None = None,
    cutoff: float | None = None,
    cluster: ArrayLike | None = None,
    level: float = 0.95,
    lower_is_better: bool = False,
    prevalence: float | None = None,
    labels_drawn: str = "",
    tuned: bool = False,
    subject: str = "",
    seed: int = 0,
    full_roc: bool = False,
    split: bool = False,
) -> OperatingPoint:
    r"""Certify the cut-offs of a score that keep a required TPR and TNR.

    Parameters
    ----------
    scores : array-like, shape (N,) or (N, repeats)
        Repeats are averaged; NaN where unparsed.
    labels : array-like, shape (N,) or (N, raters)
        Pass and fail as words, booleans or 1 and 0; None without a label. Raters: the majority.
    tpr, tnr : float
        Required rates.
    cost : mapping, optional
        Cost of a missed pass (``fn``) and of a false pass (``fp``). The cheapest cut-off inside
        the window is chosen; without a cost, that of largest TPR + TNR.
    cutoff : float, optional
        A stated cut-off: its TPR and TNR with two-sided Clopper-Pearson limits, no search.
    cluster : array-like, shape (N,), optional
    level : float
        Confidence that both requirements hold.
    lower_is_better : bool
        Whether a low score is good.
    prevalence : float, optional
        Share of passes that the cost is for; by default that of the labels.
    labels_drawn : {"", "random", "stratified", "by-verdict", "convenience"}
    tuned : bool
        Whether the judge was tuned on these labels.
    subject : str
        Name of the judge.
    seed : int
        Of folds and of the search for a number of labels.
    full_roc : bool
        Whether `roc` holds every cut-off instead of at most 200.
    split : bool
        Whether half of the labels choose the cheapest cut-off and the others measure its cost, for
        a requirement on it; else it is cross-fitted.

    Returns
    -------
    OperatingPoint
        ``certified`` is false, with a reason, where no cut-off is shown to keep both.

    Raises
    ------
    InputError
        Labels were picked by hand or drawn by verdict. Or a class has too few labels for any
        claim, or the score runs against the labels.

    Notes
    -----
    TPR falls and TNR rises in the cut-off. So two cut-offs are one-sided tolerance limits: the
    largest whose upper limit of misses is at most 1 - tpr, and the smallest whose upper limit of
    false passes is at most 1 - tnr. Each has level :math:`1 - \sqrt{1 - \delta}`; with clusters,
    which hold both classes, :math:`\delta / 2`, and counts are divided by the design effect of
    scores in the class. On one event of probability at least 1 - delta every cut-off between them
    keeps both, so any rule may choose among them.

    References
    ----------
    Wilks (1941), Ann. Math. Statist. 12, 91-96. Tong, Feng & Li (2018), Science Advances 4.
    Korn & Graubard (1998), Survey Methodology 24, 193-201.

    Examples
    --------
    >>> s, y = np.arange(400.0), np.arange(400) >= 200
    >>> found = operating_point(s, y, tpr=.9, tnr=.8, labels_drawn="random")
    >>> found.certified, found.window, found.cutoff
    (True, (172.0, 211.0), 200.0)
    >>> print(found)
    CUTOFF  Pass at score >= 200: TPR >= .90 and TNR >= .80 with 95% confidence.
            Every cut-off from 172 to 211 meets both (400 labels). AUC 1.000 [.990, 1.000].
    """
    where = "decide cutoff"
    record.check_level(where, tpr=tpr, tnr=tnr, level=level)
    if prevalence is not None:
        record.check_level(where, prevalence=prevalence)
    if cost and cutoff is not None:
        raise InputError(f"{where}: a stated cut-off needs no cost. Leave out --cost or --cutoff.")
    if prevalence is not None and not cost:
        raise InputError(f"{where}: --prevalence is of a cost. Add --cost fn=3,fp=1.")
    judged = record.labelled(labels, cluster, where=where)
    x = record.aligned(scores, judged.human.size, where=where, name="scores")
    caveats = record.check_draw(
        where, labels_drawn, items=int(x.size), by_verdict="bias TPR and TNR"
    )
    kept = judged.used & ~np.isnan(x)
    sign = -1.0 if lower_is_better else 1.0
    s, y, codes = sign * x[kept], judged.human[kept] == 1, judged.codes[kept]
    delta = calibration.joint_share(1 - level, 2, independent=not judged.clustered)
    n1, n0 = int(y.sum()), int((~y).sum())
    clusters = codes if judged.clustered else None
    counts = calibration.error_counts(s, y, clusters, delta=delta)
    groups = judged.cluster_count(kept, where=where)
    base = OperatingPoint(
        subject=subject, requirement={"tpr": tpr, "tnr": tnr}, level=level, n_labels=n1 + n0,
        n_items=int(x.size), n_clusters=groups, n_ties=judged.n_ties,
        n_unparsed=int(np.isnan(x).sum()), lower_is_better=lower_is_better,
        design_effect=dict(zip(("pass", "fail"), counts.effects, strict=True)),
        caveats=(*caveats, *record.tuned_caveat(tuned), *record.few_caveats(n1, n0)),
        method="nonparametric tolerance limits (Clopper-Pearson on counts over design effects)",
        roc=_roc(counts, sign, full=full_roc),
    )  # fmt: skip
    base = _with_auc(base, s, y, clusters)
    if cutoff is not None:
        return _stated(base, s, y, codes, sign * cutoff, sign)
    _check_size(where, n1, n0, tpr, tnr, delta, items=int(x.size))
    found = _searched(base, counts, s, y, sign, seed)
    if cost is None or not (n1 and n0):
        return found
    prices = weights = _prices(where, cost)
    if prevalence is not None:  # classes are reweighted
        weights = (prices[0] * prevalence * y.size / n1, prices[1] * (1 - prevalence) * y.size / n0)
    fitted = calibration.expected_cost(
        s, y, codes, miss=weights[0], false_pass=weights[1], seed=seed, split=split
    )
    return _with_cost(replace(found, is_split=split), counts, fitted, prices, prevalence, sign)


def _check_size(
    where: str, n1: int, n0: int, tpr: float, tnr: float, delta: float, *, items: int
) -> None:
    least1, least0 = (calibration.least_trials(1 - rate, delta) for rate in (tpr, tnr))
    if n1 and n0 and (n1 < least1 or n0 < least0):
        wanted = math.ceil((n1 + n0) * max(least1 / n1, least0 / n0)) - n1 - n0
        raise InputError(
            f"{where}: {n1} labelled passes and {n0} labelled fails are too few. TPR >= "
            f"{record.number(tpr)} needs at least {least1} passes, TNR >= {record.number(tnr)} at "
            f"least {least0} fails. {record.label_more(max(wanted, 200), items, n1 + n0)}"
        )
    if not (n1 or n0):
        raise InputError(f"{where}: no item has both a score and a label. Add --labels FILE.")


def _with_auc(base: OperatingPoint, s: Floats, y: Bools, codes: Ints | None) -> OperatingPoint:
    """With the AUC, or a refusal where the score runs against the labels."""
    if not y.any() or y.all():
        return base
    made = bounded(calibration.separation(s, y.astype(float), cluster=codes, level=base.level))
    if made.high <= 0.5:
        other = "Is a low score good? Then add --lower-is-better."
        if base.lower_is_better:
            other = "Is a high score good? Then leave out --lower-is-better."
        raise InputError(
            f"decide cutoff: the score runs against the labels: AUC {record.number(made.estimate)} "
            f"[{record.number(made.low)}, {record.number(made.high)}]. {other}"
        )
    return replace(base, auc=made)


def _rates(counts: ErrorCounts, cutoff: float) -> tuple[Rate, Rate]:
    """TPR and TNR at a cut-off with their one-sided limits."""
    miss, false = counts.counts_at(cutoff)
    sizes = (counts.n_pass, counts.n_fail)
    made = []
    for errors, n, effect in zip((miss, false), sizes, counts.effects, strict=True):
        limit = calibration.error_limit(errors / effect, n / effect, counts.delta)
        lower = 1 - float(limit) if n else math.nan
        made.append(Rate(estimate=1 - errors / n if n else math.nan, lower=lower))
    return made[0], made[1]


def _stated(
    base: OperatingPoint, s: Floats, y: Bools, codes: Ints, t: float, sign: float
) -> OperatingPoint:
    """TPR and TNR of a cut-off that the user states: no search, two-sided limits."""
    made = []
    for key, kind, right in (("tpr", y, s >= t), ("tnr", ~y, s < t)):
        share = share_measure(key, right[kind].astype(float).tolist(), codes[kind].tolist())
        low, high = share.limits((1 - base.level) / 2)
        made.append(Rate(estimate=share.estimate, lower=low, upper=high))
    kept = made[0].lower >= base.requirement["tpr"] and made[1].lower >= base.requirement["tnr"]
    reason = "" if kept else "the limits at this cut-off do not reach both requirements"
    return replace(
        base, certified=bool(kept), cutoff=sign * t, cutoff_rule="user", tpr=made[0], tnr=made[1],
        reason=reason, method="two-sided Clopper-Pearson at the effective sample size",
    )  # fmt: skip


def _searched(
    base: OperatingPoint, counts: ErrorCounts, s: Floats, y: Bools, sign: float, seed: int
) -> OperatingPoint:
    low, high = counts.window(**base.requirement)
    if not (counts.n_pass and counts.n_fail):
        missing = "fails" if counts.n_pass else "passes"
        only = f"there are no labelled {missing}, so one rate is not measured."
        limit = high if counts.n_pass else low
        side = "TPR holds up to" if counts.n_pass else "TNR holds from"
        shown = f" {side} {record.plain_number(sign * limit)}." if math.isfinite(limit) else ""
        return replace(base, reason=only + shown, limits=(sign * low, sign * high))
    best = counts.youden
    if low > high:
        rates = _rates(counts, best)
        more = calibration.labels_for_window(s, y, counts, **base.requirement, seed=seed)
        step = NextStep(key="cutoff_exists", unit="labels", have=base.n_labels, if_true=None)
        if more is not None:
            more = max(more - base.n_labels, 20)
            command = record.plan_command(more, base.n_items, base.n_labels)
            step = replace(step, if_true=more, command=command)
        return replace(
            base, reason="no cut-off keeps both limits", limits=(sign * low, sign * high),
            tried=Tried(cutoff=sign * best, tpr=rates[0], tnr=rates[1]), next=(step,),
        )  # fmt: skip
    chosen = min(max(best, low), high)
    rates = _rates(counts, chosen)
    ends = (low, high) if sign > 0 else (-high, -low)
    return replace(
        base, certified=True, window=ends, limits=ends, cutoff=sign * chosen,
        cutoff_rule="youden", tpr=rates[0], tnr=rates[1],
    )  # fmt: skip


def _prices(where: str, cost: Mapping[str, float]) -> tuple[float, float]:
    if set(cost) != {"fn", "fp"} or min(cost.values()) <= 0 or not record.are_costs(cost.values()):
        raise InputError(
            f"{where}: cost needs the price of a missed pass and of a false pass, both above 0 and "
            "at most 1e12, e.g. fn=3,fp=1."
        )
    return float(cost["fn"]), float(cost["fp"])


def _with_cost(
    found: OperatingPoint,
    counts: ErrorCounts,
    cost: Cost,
    prices: tuple[float, float],
    prevalence: float | None,
    sign: float,
) -> OperatingPoint:
    half, how = math.nan, "of a split" if found.is_split else "cross-fitted in 5 folds"
    if prevalence is None:
        groups = (found.n_clusters or found.n_labels) // (2 if found.is_split else 1)
        half = float(special.stdtrit(groups - 1, (1 + found.level) / 2)) * cost.std_error
    method = f"{how}, t over clusters; a miss costs {prices[0]:g}, a false pass {prices[1]:g}"
    mean = cost.estimate
    made = Bounded(estimate=mean, low=mean - half, high=mean + half, method=method)
    found = replace(found, cost=made, cost_cutoff=sign * cost.cutoff)
    if not (found.certified and found.window):
        return found
    low, high = sorted(sign * end for end in found.window)
    chosen = min(max(cost.cutoff, low), high)
    rates = _rates(counts, chosen)
    return replace(found, cutoff=sign * chosen, cutoff_rule="cost", tpr=rates[0], tnr=rates[1])


def _roc(counts: ErrorCounts, sign: float, *, full: bool) -> tuple[tuple[float, float, float], ...]:
    n = counts.cutoffs.size
    places = np.arange(n)
    if n > ROC_POINTS and not full:
        places = np.unique(np.linspace(0, n - 1, ROC_POINTS).astype(int))
    tpr = 1 - counts.misses / counts.n_pass if counts.n_pass else np.full(n, math.nan)
    tnr = 1 - counts.false_passes / counts.n_fail if counts.n_fail else np.full(n, math.nan)
    return tuple(
        (sign * float(counts.cutoffs[i]), float(tpr[i]), float(tnr[i])) for i in places.tolist()
    )


def refused_point(reason: str, *, tpr: float, tnr: float) -> OperatingPoint:
    """A record of why no operating point is sought.

    Parameters
    ----------
    reason : str
    tpr, tnr : float
    """
    caveat = Caveat(code="refused", severity="major", about="labels", text=reason)
    return OperatingPoint(
        requirement={"tpr": tpr, "tnr": tnr}, reason=reason, caveats=(caveat,),
        design_effect={"pass": math.nan, "fail": math.nan},
    )  # fmt: skip
