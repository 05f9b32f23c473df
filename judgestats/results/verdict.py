"""Verdict on a judge: measures, requirements, and the rule that decides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from judgestats.arrays import Floats
from judgestats.results.records import Number, Part, Plain

SCHEMA = "judgestats.verdict/1"

Outcome = Literal["USE", "USE_WITH_CARE", "DO_NOT_USE", "CANNOT_TELL"]
Side = Literal["min", "max", "within"]
Kind = Literal["required", "expected"]
State = Literal["holds", "fails", "open", "not_measured"]
Severity = Literal["blocker", "major", "minor"]
Shape = Literal["share", "log", "variance_ratio", "correlation", "plain"]

ORDER: tuple[Outcome, ...] = ("DO_NOT_USE", "CANNOT_TELL", "USE_WITH_CARE", "USE")
"""Outcomes, the worst first."""
CODES: Mapping[Outcome, float] = {
    "USE": 1.0, "USE_WITH_CARE": 0.5, "CANNOT_TELL": 0.0, "DO_NOT_USE": -1.0
}  # fmt: skip
"""Value of the metric ``verdict``."""
_LEVEL = 0.025


@dataclass(frozen=True, kw_only=True)
class Subject(Part):
    """Whom a verdict is on: a judge, and the condition, criterion and system where several are."""

    judge: str = ""
    condition: Mapping[str, str | float | None] = field(default_factory=dict)
    criterion: str = ""
    system: str = ""
    label: str = ""

    @property
    def name(self) -> str:
        """The condition's label, which names the judge where it has no other factor."""
        return self.label or self.judge


@dataclass(frozen=True, kw_only=True)
class Measure(Part):
    """A quantity measured for one subject, with that from which its limits at any level follow.

    Attributes
    ----------
    key : str
    subject : Subject
    estimate, low, high : float
        With the ends of the 95% interval; NaN where it has none.
    shape : {"share", "log", "variance_ratio", "correlation", "plain"}
        Scale on which limits of other levels are taken. A share has Clopper and Pearson's limits
        at the effective sample size. For others the distance to the estimate is proportional to
        the quantile of t with `df`. The scale is the logarithm, log F of `parts` repeats (an ICC),
        Fisher's z, or the number itself.
    df : float
    variance : float
        Of a share, over clusters.
    n, n_clusters : int
    most : int
        Verdicts per item, which the effective size of a share cannot exceed.
    parts : int
    record : str
        Id of the estimate.
    reason : str
        Why there is none, or no interval.
    """

    key: str
    subject: Subject = field(default_factory=Subject)
    estimate: Number = math.nan
    low: Number = math.nan
    high: Number = math.nan
    shape: Shape = "plain"
    df: Number = math.inf
    variance: Number = math.nan
    n: int = 0
    n_clusters: int = 0
    most: int = 1
    parts: int = 2
    record: str = ""
    reason: str = ""

    def n_effective(self, level: float) -> float:
        """Effective sample size of a share at a one-sided level (Korn and Graubard 1998).

        Examples
        --------
        >>> m = Measure(key="tpr", estimate=25 / 29, variance=0.0119, n=29, n_clusters=8)
        >>> round(m.n_effective(.025), 1)
        7.5
        """
        p, n, groups = self.estimate, self.n, self.n_clusters
        if math.isnan(p) or groups < 2:
            return math.nan
        if not 0 < p < 1:
            return float(groups)
        if not self.variance > 0:
            return float(n)
        ratio = _t(level, n - 1) / _t(level, groups - 1)
        return float(min(p * (1 - p) / self.variance * ratio**2, n * self.most))

    def limits(self, level: float) -> tuple[float, float]:
        """Lower and upper limit, each with this one-sided error.

        Examples
        --------
        >>> m = Measure(key="tpr", estimate=57 / 60, n=60, n_clusters=60, shape="share")
        >>> [round(limit, 6) for limit in m.limits(.025)]
        [0.860757, 0.989568]
        """
        if self.shape == "share":
            return self._share_limits(level)
        if math.isnan(self.estimate):
            return math.nan, math.nan
        if level == _LEVEL:
            return self.low, self.high
        ratio = _t(level, self.df) / _t(_LEVEL, self.df)
        centre = self._scaled(self.estimate)
        low, high = (
            self._unscaled(centre + (self._scaled(end) - centre) * ratio)
            for end in (self.low, self.high)
        )
        return low, high

    def _share_limits(self, level: float) -> tuple[float, float]:
        from scipy.special import betaincinv

        n = self.n_effective(level)
        if math.isnan(n):
            return math.nan, math.nan
        x = self.estimate * n
        low = 0.0 if x <= 0 else float(betaincinv(x, n - x + 1, level))
        high = 1.0 if x >= n else float(betaincinv(x + 1, n - x, 1 - level))
        return low, high

    def _scaled(self, value: float) -> float:
        if self.shape == "log":
            return math.log(value) if value > 0 else -math.inf
        if self.shape == "variance_ratio":
            top = 1 + (self.parts - 1) * value
            return math.log(top / (1 - value)) if value < 1 and top > 0 else value * math.inf
        if self.shape == "correlation":
            return math.atanh(value) if abs(value) < 1 else value * math.inf
        return value

    def _unscaled(self, value: float) -> float:
        if self.shape == "log":
            return math.exp(value)
        if self.shape == "variance_ratio":
            f = math.exp(min(value, 700.0))
            return (f - 1) / (f + self.parts - 1)
        return math.tanh(value) if self.shape == "correlation" else value


def share_measure(
    key: str, values: Sequence[float] | Floats, clusters: Iterable[object], **more: object
) -> Measure:
    """A share as the mean of items' values between 0 and 1, with its variance over clusters.

    Parameters
    ----------
    key : str
    values : sequence or ndarray of float
        One value per item.
    clusters : sequence or Series
        The cluster of each item.
    **more
        Further fields of `Measure`.

    Returns
    -------
    Measure
        v = C/(C-1) sum over clusters of (sum of x - p)^2 / n^2.

    Examples
    --------
    >>> passes, sizes = (4, 3, 4, 3, 1, 4, 2, 4), (4, 4, 4, 3, 4, 4, 2, 4)
    >>> x = [float(i < p) for p, n in zip(passes, sizes) for i in range(n)]
    >>> c = [k for k, n in enumerate(sizes) for _ in range(n)]
    >>> m = share_measure("tpr", x, c)
    >>> round(m.estimate, 6), round(m.n_effective(.025), 6)
    (0.862069, 8.572187)
    >>> [round(limit, 6) for limit in m.limits(.05 / 3)]
    [0.436526, 0.996485]
    """
    import pandas as pd

    x = np.asarray(values, dtype=float)
    codes, names = pd.factorize(pd.Series(clusters, dtype=None), use_na_sentinel=False)
    n, groups = x.size, len(names)
    p = math.fsum(x) / n if n else math.nan
    variance = math.nan
    exact = groups == n and bool(np.isin(x, (0.0, 1.0)).all())
    if groups > 1 and not exact:
        sums = np.bincount(codes, weights=x - p)
        variance = groups / (groups - 1) * math.fsum(sums**2) / n**2
    made = Measure(
        key=key, estimate=p, shape="share", variance=variance, n=n, n_clusters=groups,
        reason="" if groups > 1 else "fewer than two clusters have a value",
    )  # fmt: skip
    made = replace(made, **more)  # type: ignore[arg-type]
    low, high = made.limits(_LEVEL)
    return replace(made, low=low, high=high)


def _t(level: float, df: float) -> float:
    from scipy.special import ndtri, stdtrit

    return float(-ndtri(level) if math.isinf(df) else -stdtrit(max(df, 1.0), level))


@dataclass(frozen=True, kw_only=True)
class Demand(Part):
    """What a purpose or a user asks of a quantity.

    Attributes
    ----------
    key : str
    threshold : float
        The limit that it must keep; of ``within`` the lower one.
    top : float
        The upper limit of ``within``.
    direction : {"min", "max", "within"}
    kind : {"required", "expected"}
        What is expected and not measured is a caveat; what is required and not measured leaves the
        verdict open.
    origin : {"user", "default"}
    is_precision : bool
        A half-width or the like, which tests nothing: it holds or is open.
    """

    key: str
    threshold: Number
    direction: Side
    top: Number = math.nan
    kind: Kind = "required"
    origin: Literal["user", "default"] = "default"
    is_precision: bool = False


@dataclass(frozen=True, kw_only=True)
class Requirement(Part):
    """A requirement, its measure, and whether it holds.

    Attributes
    ----------
    key, kind, direction, threshold, top, threshold_from
        Of the stated requirement.
    estimate, low, high : float
        With the 95% interval.
    limit, limit_side, level
        The limit that decides, which end of an interval it is, and its one-sided level.
    status : {"holds", "fails", "open", "not_measured"}
    n, n_eff, n_clusters : number
    record, reason : str
    label : str
        As screens call it.
    bounded : bool
        Whether it cannot exceed 1, and so is written without a leading zero.
    """

    key: str
    kind: Kind
    direction: Side
    threshold: Number
    threshold_from: Literal["user", "default"]
    status: State
    top: Number = math.nan
    estimate: Number = math.nan
    low: Number = math.nan
    high: Number = math.nan
    limit: Number = math.nan
    limit_side: Literal["", "lower", "upper"] = ""
    level: Number = math.nan
    n: int = 0
    n_eff: Number = math.nan
    n_clusters: int = 0
    record: str = ""
    reason: str = ""
    label: str = ""
    bounded: bool = True

    @property
    def ends(self) -> tuple[float, float]:
        """Between which its quantity is required to be."""
        bottom = -math.inf if self.direction == "max" else self.threshold
        top = {"min": math.inf, "max": self.threshold, "within": self.top}[self.direction]
        return bottom, top

    @property
    def apart(self) -> bool:
        """Whether the limit that decides gives another status than the 95% interval alone."""
        if self.status == "not_measured" or not math.isfinite(self.level):
            return False
        bottom, top = self.ends
        holds = self.low >= bottom and self.high <= top
        fails = self.low > top or self.high < bottom
        return self.status != ("holds" if holds else "fails" if fails else "open")

    @property
    def slack(self) -> float:
        """Distance of the deciding limit from the threshold, in standard errors; NaN unknown."""
        error = (self.high - self.low) / (2 * 1.96)
        edge = (
            self.top
            if self.direction == "within" and self.limit_side == "upper"
            else self.threshold
        )
        return abs(self.limit - edge) / error if error > 0 else math.nan


@dataclass(frozen=True, kw_only=True)
class Caveat(Part):
    """What limits a verdict, and what to do about it."""

    code: str
    severity: Severity
    text: str
    about: str = ""
    action: str = ""
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class NextStep(Part):
    """How much more data would decide a requirement.

    Attributes
    ----------
    key : str
        The requirement.
    unit : str
        What must be added: ``labelled fails``.
    have : int
    if_true : int or None
        To add so that it decides with `probability` if the estimate is the truth; None: no
        practical number.
    assured : int or None
        The same, over what the data leave possible.
    probability : float
    command : str
    """

    key: str
    unit: str
    have: int
    if_true: int | None = None
    assured: int | None = None
    probability: float = 0.8
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class Levels(Part):
    """One-sided levels of the rule, with the numbers that they are divided by."""

    use: float
    do_not_use: float
    m: int
    judges: int = 1
    looks: int = 1

    @classmethod
    def from_counts(cls, m: int, judges: int = 1, looks: int = 1, error: float = 0.05) -> Levels:
        """Levels for m measured requirements, this many verdicts and looks, and a shared error.

        Examples
        --------
        >>> Levels.from_counts(3).do_not_use, Levels.from_counts(2, judges=5).use
        (0.016666666666666666, 0.01)
        """
        shared = error / (max(judges, 1) * max(looks, 1))
        return cls(
            use=min(_LEVEL, shared), do_not_use=min(_LEVEL, shared / max(m, 1)), m=m,
            judges=judges, looks=looks,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Verdict(Part):
    """The decision on one subject, and everything that it rests on."""

    outcome: Outcome
    subject: Subject
    purpose: str
    purpose_from: Literal["user", "experiment", "data"] = "data"
    sentence: str = ""
    deciding: str = ""
    requirements: tuple[Requirement, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    next: tuple[NextStep, ...] = ()
    levels: Levels = field(default_factory=lambda: Levels.from_counts(1))
    facts: Mapping[str, Plain] = field(default_factory=dict)
    simulated: bool = False

    @property
    def decisive(self) -> Requirement | None:
        """The requirement that decides; None where none is stated."""
        return next((r for r in self.requirements if r.key == self.deciding), None)

    @property
    def blocker(self) -> str:
        """What forbids a decision although the requirements hold; else empty."""
        if self.decisive is None or self.decisive.status != "holds":
            return ""
        return next((c.text for c in self.caveats if c.severity == "blocker"), "")


def decide(
    demands: Sequence[tuple[Demand, Measure | None]],
    caveats: Sequence[Caveat] = (),
    *,
    judges: int = 1,
    looks: int = 1,
    error: float = 0.05,
    subject: Subject | None = None,
    purpose: str = "",
) -> Verdict:
    """Apply the rule: each requirement at its level, then the caveats.

    Parameters
    ----------
    demands : sequence of (Demand, Measure or None)
        Requirements and their measures; None where there is no measure.
    caveats : sequence of Caveat
    judges : int
        Verdicts that the command issues (J).
    looks : int
        Planned looks at growing data (K).
    error : float
        Of all verdicts at this look; a part of .05 where looks spend it.
    subject : Subject, optional
    purpose : str

    Returns
    -------
    Verdict
        Without its sentence.

    Notes
    -----
    USE is an intersection-union test: each requirement at its own level. DO NOT USE is a union:
    Bonferroni over the m measured requirements. Both are divided over judges and looks.

    References
    ----------
    Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling.
    *Technometrics, 24*(4), 295-300.

    Examples
    --------
    >>> tpr = share_measure("tpr", [1.0] * 57 + [0.0] * 3, range(60))
    >>> demand = Demand(key="tpr", threshold=.8, direction="min")
    >>> decide([(demand, tpr)]).outcome, decide([(demand, None)]).outcome
    ('USE', 'CANNOT_TELL')
    """
    m = sum(made is not None and not d.is_precision for d, made in demands)
    levels = Levels.from_counts(m, judges, looks, error)
    requirements = tuple(requirement(d, made, levels) for d, made in demands)
    return Verdict(
        outcome=outcome_of(requirements, caveats),
        subject=subject or Subject(),
        purpose=purpose,
        deciding=_deciding(requirements),
        requirements=requirements,
        caveats=tuple(caveats),
        levels=levels,
    )


def outcome_of(requirements: Sequence[Requirement], caveats: Sequence[Caveat]) -> Outcome:
    """The outcome that follows from statuses and severities."""
    states = [r.status for r in requirements]
    severities = {c.severity for c in caveats}
    if "fails" in states:
        return "DO_NOT_USE"
    required = [r.status for r in requirements if r.kind == "required"]
    missing = "open" in states or "not_measured" in required or "holds" not in states
    if missing or "blocker" in severities:
        return "CANNOT_TELL"
    return "USE_WITH_CARE" if "major" in severities else "USE"


def requirement(demand: Demand, made: Measure | None, levels: Levels) -> Requirement:
    """Whether a measure meets a requirement at these levels."""
    base = Requirement(
        key=demand.key, kind=demand.kind, direction=demand.direction, threshold=demand.threshold,
        top=demand.top, threshold_from=demand.origin, status="not_measured",
    )  # fmt: skip
    if made is None:
        return base
    base = replace(
        base, estimate=made.estimate, low=made.low, high=made.high, n=made.n,
        n_clusters=made.n_clusters, record=made.record, reason=made.reason,
        n_eff=made.n_effective(_LEVEL) if made.shape == "share" else float(made.n_clusters),
    )  # fmt: skip
    if math.isnan(made.estimate):
        return replace(base, status="open", reason=made.reason or "undefined")
    if demand.is_precision:
        sign = 1 if demand.direction == "min" else -1
        kept = sign * made.estimate >= sign * demand.threshold
        return replace(base, status="holds" if kept else "open", limit=made.estimate)
    return _tested(base, made, levels)


def _tested(base: Requirement, made: Measure, levels: Levels) -> Requirement:
    near, far = made.limits(levels.use), made.limits(levels.do_not_use)
    if any(map(math.isnan, near)):
        return replace(base, status="open")
    bottom, top = base.ends
    upper = base.direction == "max" or base.estimate - bottom > top - base.estimate
    status: State
    sides: tuple[Literal["lower", "upper"], ...] = ("lower", "upper")
    if near[0] >= bottom and near[1] <= top:
        status, limit, side, level = "holds", near[upper], sides[upper], levels.use
    elif far[0] > top or far[1] < bottom:
        above = far[0] > top
        status, limit, side, level = "fails", far[not above], sides[not above], levels.do_not_use
    elif base.direction == "within" or bottom <= base.estimate <= top:
        status, limit, side, level = "open", near[upper], sides[upper], levels.use
    else:  # the limit that is nearer to a decision
        status, limit, side, level = "open", far[not upper], sides[not upper], levels.do_not_use
    return replace(base, status=status, limit=limit, limit_side=side, level=level)


def _deciding(requirements: Sequence[Requirement]) -> str:
    """The requirement that the reason names; ties go to the first."""

    def pick(state: State, sign: float) -> str:
        rooms = [
            (sign * (r.slack if not math.isnan(r.slack) else math.inf), i)
            for i, r in enumerate(requirements)
            if r.status == state
        ]
        return requirements[min(rooms)[1]].key if rooms else ""

    missing = [r for r in requirements if r.status == "not_measured"]
    required = next((r.key for r in missing if r.kind == "required"), "")
    return (
        pick("fails", -1.0) or required or pick("open", -1.0) or pick("holds", 1.0)
        or next((r.key for r in missing), "")
    )  # fmt: skip


def summary_of(verdicts: Sequence[Verdict], finding: str = "") -> dict[str, Plain]:
    """Worst outcome, best subjects, and finding."""
    if not verdicts:
        return {}
    ranks = [ORDER.index(v.outcome) for v in verdicts]
    best = [v.subject.name for v, rank in zip(verdicts, ranks, strict=True) if rank == max(ranks)]
    return {"outcome": ORDER[min(ranks)], "best": best, "finding": finding}
