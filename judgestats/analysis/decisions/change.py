"""Judge or system: a monitor that attributes a change, with its state in one SQLite file."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from judgestats.analysis.decisions.operating_point import UNDEFINED, Bounded
from judgestats.analysis.decisions.record import Decision, level_text, number
from judgestats.arrays import Bools, Floats
from judgestats.errors import InputError
from judgestats.files import monitor_state
from judgestats.files.monitor_state import Look, MonitorState, Observation, Reference, Terms
from judgestats.results.numbers import count_noun
from judgestats.results.records import Number, Part
from judgestats.results.verdict import Measure, Subject
from judgestats.stats.validity import sequential
from judgestats.stats.validity.sequential import ChangeLook, ChangeProcess

Who = Literal["judge", "system", "both", "not_yet"]
ANCHOR, NEW, OLD, LABEL = "anchor", "new", "old", "label"
"""Kinds of observations: re-judged anchors, new answers, old answers of the reference, and human
labels of anchors."""
PLANNED = (0.1, 0.2, 0.3)
"""Shifts whose delay a plan reports."""


@dataclass(frozen=True, kw_only=True)
class Shift(Part):
    """A shift since the reference, its e-process, and whether it is an alarm.

    Attributes
    ----------
    shift, low, high : float
        Mean over all periods, in units of the score, with an interval that holds at every update.
    log_e, threshold : float
        An alarm is raised where the first reaches the second and the shift the tolerance.
    raised : int
        Period of the alarm; 0: none. A raised alarm stays raised.
    since, until : int
        Period from which a change fits best, and the last one that raises the alarm.
    change : Bounded
        Mean shift in these periods. After an alarm the limits exclude 0: they invert its e-process,
        for a change in one step; NaN where none fits. In simulations they also hold the mean of a
        gradual change.
    """

    shift: Number = math.nan
    low: Number = math.nan
    high: Number = math.nan
    log_e: Number = 0.0
    threshold: Number = math.nan
    raised: int = 0
    since: int = 0
    until: int = 0
    change: Bounded = UNDEFINED


@dataclass(frozen=True, kw_only=True)
class Delay(Part):
    """Anchors until a judge shift of this size is shown; infinite where it cannot be."""

    shift: Number = math.nan
    anchors: Number = math.inf


@dataclass(frozen=True, kw_only=True)
class Change(Decision):
    """What changed since the reference: judge, system, both, or nothing that is shown.

    Attributes
    ----------
    verdict : {"judge", "system", "both", "not_yet"}
    period : int
        Periods so far.
    judge, system : Shift
    tpr, tnr : Shift
        Of today's judge against the old one, on labelled anchors; NaN without labels.
    anchors_used, new_used : int
        Judgments of anchors and of new answers so far.
    reference : mapping
        ``anchors``, ``repeats`` and ``n_old``.
    alpha : float
        Of both alarms at every update together.
    delay : Delay
        The smallest planned shift that can be shown.
    delays : tuple of Delay
        Of all planned shifts.
    floor : float
        Smallest judge shift that can ever raise an alarm.
    per_period : float
        Anchors per period so far.
    series : tuple of (int, float, float)
        Log e of judge and system after each period.
    earlier : tuple of str
        Verdicts under earlier references, before `ChangeMonitor.reopen`.
    """

    kind: ClassVar[str] = "change"
    word: ClassVar[str] = "CHANGED"
    required: ClassVar[tuple[str, ...]] = ("judge_changed", "system_changed")
    verdict: Who = "not_yet"
    period: int = 0
    judge: Shift = Shift()
    system: Shift = Shift()
    tpr: Shift = Shift()
    tnr: Shift = Shift()
    anchors_used: int = 0
    new_used: int = 0
    reference: Mapping[str, Number]
    alpha: Number = 0.05
    delay: Delay = Delay()
    delays: tuple[Delay, ...] = ()
    floor: Number = math.nan
    per_period: Number = math.nan
    series: tuple[tuple[int, Number, Number], ...] = ()
    earlier: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """As of every decision; without an alarm NOT YET."""
        return self.word if self.certified else "NOT YET"

    def sentences(self) -> list[str]:
        """Who changed, by how much; or what would show within how many periods."""
        periods = "all periods of this reference" if self.earlier else "all periods"
        surely = f"false alarm at most {level_text(self.alpha)} over {periods}"
        seen = f"(period {self.period}, {self.anchors_used:,} anchor judgments; {surely})"
        level = f"{level_text(self.level)} CI"
        judge, system = (_shift_text(one, self.period, level) for one in (self.judge, self.system))
        judge = f"The judge changed: {judge}, on unchanged answers."
        system = f"The system changed: {system}, in judgments of today's judge."
        after = count_noun(self.period, "period", "periods")
        text = {
            "judge": f"{judge} No change of the system is detected. {seen}",
            "system": f"{system} No change of the judge is detected. {seen}",
            "both": f"{judge} {system} {seen}",
            "not_yet": f"No change of judge or system is detected after {after}. {self._delay()}",
        }[self.verdict]
        harm = self._harm() if self.verdict in {"judge", "both"} else []
        under = [f"Under earlier references: {', '.join(self.earlier)}."] if self.earlier else []
        return [text, *harm, *under]

    def _harm(self) -> list[str]:
        """Whether the change hurts, where anchors are labelled."""
        rates = {"TPR": self.tpr, "TNR": self.tnr}
        known = {name: one for name, one in rates.items() if not math.isnan(one.shift)}
        if not known:
            return []
        shown = ", ".join(f"{name} {_shift_text(one, self.period)}" for name, one in known.items())
        raised = [one for one in known.values() if one.raised]
        what = "is better" if raised else "is not significantly worse"
        if any(one.change.estimate < 0 for one in raised):
            what = "hurts"
        return [f"On labelled anchors it {what}: {shown}."]

    def _delay(self) -> str:
        if not self.per_period > 0:
            return "No anchor has been repeated yet."
        first = self.delay
        if not math.isfinite(first.anchors):
            shift = f"No judge shift below {number(self.floor)} of the range can be detected"
            return f"{shift}: the reference needs more judgments."
        periods = count_noun(math.ceil(first.anchors / self.per_period), "period", "periods")
        shift = f"A judge shift of {number(first.shift)} of the range is detected"
        return f"{shift} within about {periods} of {self.per_period:.0f} anchors."

    def measures(self, subject: Subject) -> Iterator[Measure]:
        """Whether judge and system changed; what is not shown counts as no."""
        for who, shift in (("judge", self.judge), ("system", self.system)):
            said = float(shift.raised > 0)
            yield Measure(
                key=f"{who}_changed", subject=subject, estimate=said, low=said, high=said,
                n=self.anchors_used, n_clusters=self.anchors_used,
            )  # fmt: skip


def _shift_text(made: Shift, period: int, interval: str = "") -> str:
    """The shift, or after an alarm the change with the limits that decide, and its periods."""
    if not made.raised:
        return f"{number(made.shift)} [{number(made.low)}, {number(made.high)}]"
    ends = (number(v, 5 if abs(v) < 0.0005 else 2) for v in (made.change.low, made.change.high))
    limits = f" [{', '.join(ends)}]"
    if math.isnan(made.change.low):
        limits = " (no CI: several changes)"
    elif interval:
        limits = f", {interval}{limits},"
    when = f"since period {made.since}"
    if made.until < period:
        when = f"in periods {made.since} to {made.until}"
    if made.until > 1:
        when = f"on average {when}"
    return f"{number(made.change.estimate)}{limits} {when}"


class ChangeMonitor:
    """A stream of judgments whose changes are attributed to the judge or to the system.

    Parameters
    ----------
    path : str or Path
        SQLite file that keeps every judgment.

    Notes
    -----
    Each period a random sample of anchors (old answers) is rejudged together with the new answers.
    One e-process is on the change of unchanged answers, one on new minus old minus that change.
    Both are mixtures over shifts and over the period in which a change began. An alarm at 2 / alpha
    errs with probability alpha at most over all updates, asymptotically. One period is one
    transaction, and every update recomputes the processes from all judgments.

    References
    ----------
    Robbins (1970), Ann. Math. Stat. 41, 1397-1409. Shin, Ramdas & Rinaldo (2024), NEJSDS 2.
    Li (2026), arXiv:2606.15474.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> monitor = ChangeMonitor(Path(folder.name) / "monitor.db")
    >>> monitor.open({f"a{i}": [1, 1, i % 2] for i in range(60)}, old=[1] * 400 + [0] * 100)
    >>> for day in range(3):
    ...     made = monitor.add_period([(f"a{i}", 0) for i in range(40)], [0] * 40)
    >>> made.verdict, made.judge.raised
    ('judge', 1)
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def open(
        self,
        reference: Mapping[str, Sequence[float | None]],
        *,
        old: Sequence[float | None] = (),
        clusters: Mapping[str, str] | None = None,
        labels: Mapping[str, float] | None = None,
        alpha: float = 0.05,
        tolerance: float = 0.02,
        scale: tuple[float, float] = (0.0, 1.0),
        judge: str = "",
    ) -> None:
        """Begin a state with its reference.

        Parameters
        ----------
        reference : mapping of anchor to sequence of float
            Judgments of each anchor by the judge of then, three or more each; None is unparsed.
        old : sequence of float
            Judgments of old answers; by default the anchors stand for them.
        clusters : mapping of anchor to str, optional
        labels : mapping of anchor to 0 or 1, optional
            Human labels of pass / fail anchors: they show whether a change hurts.
        alpha : float
            Of both alarms over all looks.
        tolerance : float
            Smallest change that raises an alarm, as a share of the range.
        scale : (float, float)
            Lowest and highest value.
        judge : str
            Fingerprint of the judge, which must stay the same.

        Raises
        ------
        InputError
            The state is open already, or there are fewer than 20 anchors.
        """
        terms = Terms(
            alpha=alpha, tolerance=tolerance, low=scale[0], high=scale[1], judge_fingerprint=judge
        )
        with monitor_state.changed_state(self.path) as state:
            if state.periods():
                _terms(state)
                raise InputError(
                    f"{self.path}: the state is open. Add a period, or start a new reference: "
                    "--reopen."
                )
            state.open(terms)
            _store_reference(state, reference, old, clusters or {}, labels or {})

    def reopen(
        self,
        reference: Mapping[str, Sequence[float | None]],
        *,
        old: Sequence[float | None] = (),
        clusters: Mapping[str, str] | None = None,
        labels: Mapping[str, float] | None = None,
    ) -> None:
        """Start a new reference with today's judge; what was said before stays in the record.

        Parameters
        ----------
        reference, old, clusters, labels
            As `open` takes them.
        """
        with monitor_state.changed_state(self.path, create=False) as state:
            made = _change(state)
            state.add_look(Look(state.periods()[-1], None, None, f"reopened: {made.verdict}"))
            state.rows("DELETE FROM reference")
            _store_reference(state, reference, old, clusters or {}, labels or {})

    def add_period(
        self,
        anchors: Iterable[tuple[str, float | None]],
        new: Iterable[float | None],
        *,
        digest: str = "",
    ) -> Change:
        """Add one period's judgments by today's judge, and look.

        Parameters
        ----------
        anchors : iterable of (anchor, value)
            Anchors rejudged; None is unparsed.
        new : iterable of float or None
            Judgments of new answers.
        digest : str
            Identifies the period, which is refused a second time. Empty: a digest of its values.

        Returns
        -------
        Change

        Raises
        ------
        InputError
            An anchor is unknown, a value outside the range, or the period was added before.
        StoreError
            Another process holds the state.
        """
        again, fresh = [(str(a), _value(v)) for a, v in anchors], [_value(v) for v in new]
        with monitor_state.changed_state(self.path, create=False) as state:
            _terms(state)
            known = {row.item for row in state.reference()}
            strange = sorted({a for a, _ in again} - known)
            if strange:
                raise InputError(
                    f"monitor: no anchor is called {strange[0][:60]!r}. Anchors are those of the "
                    "reference; others are new answers."
                )
            period = state.add_period(digest or _digest(state, again, fresh))
            state.add_observations(_numbered(period, ANCHOR, again))
            state.add_observations(
                Observation(period, NEW, str(i), 0, v) for i, v in enumerate(fresh)
            )
            made = _change(state)
            last = made.series[-1]
            state.add_look(Look(period, last[1], last[2], made.verdict))
            return made

    def anchors(self) -> set[str]:
        """Names of the anchors."""
        with monitor_state.changed_state(self.path, create=False) as state:
            return {row.item for row in state.reference()}

    def check_terms(self, terms: Terms) -> None:
        """Hold terms against those under which the state was opened.

        Parameters
        ----------
        terms : Terms
            Without a fingerprint of the judge that of the state is taken.

        Raises
        ------
        InputError
            They differ.
        """
        with monitor_state.changed_state(self.path, create=False) as state:
            held = _terms(state)
            state.open(
                replace(terms, judge_fingerprint=terms.judge_fingerprint or held.judge_fingerprint)
            )

    def verdict(self) -> Change:
        """What the state says now, computed from its judgments."""
        with monitor_state.changed_state(self.path, create=False) as state:
            return _change(state)


def _value(value: float | None) -> float | None:
    """A number, None where it is missing or NaN."""
    return None if value is None or math.isnan(value) else float(value)


def _terms(state: MonitorState) -> Terms:
    terms = state.terms()
    if terms is None or not state.reference():
        raise InputError(
            f"{state.path}: the state has no anchors. Open it with a reference: judgestats monitor "
            "FILE --state NEW.db --anchors REFERENCE."
        )
    state.open(terms)
    return terms


def _numbered(
    period: int, kind: str, rows: Iterable[tuple[str, float | None]]
) -> Iterator[Observation]:
    seen: Counter[str] = Counter()
    for item, value in rows:
        yield Observation(period, kind, item, seen[item], value)
        seen[item] += 1


def _digest(state: MonitorState, again: object, fresh: object) -> str:
    """Identifier of a period whose judgments are not from a file."""
    text = f"{len(state.periods())} {again!r} {fresh!r}"
    return hashlib.sha256(text.encode()).hexdigest()


def _store_reference(
    state: MonitorState,
    reference: Mapping[str, Sequence[float | None]],
    old: Sequence[float | None],
    clusters: Mapping[str, str],
    labels: Mapping[str, float],
) -> None:
    read = {str(a): [v for v in map(_value, values) if v is not None]
            for a, values in reference.items()}  # fmt: skip
    held = {a: values for a, values in read.items() if values}
    if len(held) < sequential.LEAST:
        raise InputError(
            f"monitor: a reference needs at least {sequential.LEAST} anchors with a "
            f"judgment, got {len(held)}."
        )
    period = state.add_period(_digest(state, read, list(old)))
    if set(labels.values()) - {0.0, 1.0}:
        raise InputError("monitor: labels of anchors are 0 or 1, as are pass / fail verdicts.")
    observed = Observation
    state.add_observations([
        *(observed(period, "reference", a, k, v)
          for a, values in held.items() for k, v in enumerate(values)),
        *(observed(period, OLD, str(i), 0, _value(v)) for i, v in enumerate(old)),
        *(observed(period, LABEL, a, 0, float(v))
          for a, v in labels.items() if a in held),
    ])  # fmt: skip
    state.add_reference(
        Reference(a, str(clusters.get(a, "")), len(v), math.fsum(v), math.fsum(x * x for x in v))
        for a, v in held.items()
    )


@dataclass(frozen=True, kw_only=True)
class StateData:
    """A state's judgments since its last reference, scaled to 0-1."""

    n: Floats
    total: Floats
    base: Floats
    repeats: Floats
    within: float
    new_n: Floats
    new_sum: Floats
    new_squares: Floats | None
    old: tuple[float, float]
    n_old: int
    members: Floats | None
    labels: Floats


def _state_data(state: MonitorState, terms: Terms) -> StateData:
    """What a state holds since its last reference, scaled by the range of the terms."""
    opened = max(
        n for (n,) in state.rows("SELECT DISTINCT period FROM observation WHERE kind = 'reference'")
    )
    periods = [p for p in state.periods() if p > opened]
    place = {p: i for i, p in enumerate(periods)}
    raw: dict[str, list[float]] = {}
    olds: list[float] = []
    anchors = [row.item for row in state.reference()]
    index = {a: i for i, a in enumerate(anchors)}
    shape = (len(periods), len(anchors))
    n, total = np.zeros(shape), np.zeros(shape)
    labels = np.full(len(anchors), np.nan)
    z = [np.zeros(len(periods)) for _ in range(3)]
    binary = True
    for row in state.observations():
        if row.period < opened or row.value is None:
            continue
        value = (row.value - terms.low) / (terms.high - terms.low)
        binary = binary and value in {0.0, 1.0}
        if row.kind == "reference":
            raw.setdefault(row.item, []).append(value)
        elif row.kind == OLD:
            olds.append(value)
        elif row.kind == LABEL:
            labels[index[row.item]] = value
        elif row.kind == ANCHOR:
            n[place[row.period], index[row.item]] += 1
            total[place[row.period], index[row.item]] += value
        elif row.kind == NEW:
            for kept, part in zip(z, (1.0, value, value * value), strict=True):
                kept[place[row.period]] += part
    base = np.array([np.mean(raw[a]) for a in anchors])
    repeats = np.array([float(len(raw[a])) for a in anchors])
    spreads = [float(np.var(raw[a], ddof=1)) for a in anchors if len(raw[a]) > 1]
    known = olds or base.tolist()
    mean = float(np.mean(known))
    spread = mean * (1 - mean) if binary else float(np.var(known, ddof=1))
    names = [row.cluster for row in state.reference()]
    members = None
    if any(names) and len(set(names)) < len(names):
        codes = np.unique(names, return_inverse=True)[1]
        members = np.eye(int(codes.max()) + 1)[codes]
    return StateData(
        n=n, total=total, base=base, repeats=repeats,
        within=float(np.mean(spreads)) if spreads else mean * (1 - mean) / 2,
        new_n=z[0], new_sum=z[1], new_squares=None if binary else z[2],
        old=(mean, spread / len(known)), n_old=len(known), members=members, labels=labels,
    )  # fmt: skip


def _look_at(data: StateData, until: int, own: Bools) -> ChangeLook:
    """Both e-processes after the first `until` periods, from some anchors."""
    squares = None if data.new_squares is None else data.new_squares[:until]
    members = None
    if data.members is not None:
        members = data.members[own][:, data.members[own].any(axis=0)]
    return sequential.change_look(
        data.n[:until, own], data.total[:until, own], data.base[own], data.repeats[own],
        data.new_n[:until], data.new_sum[:until], squares, data.old, members,
    )  # fmt: skip


def _change(state: MonitorState) -> Change:
    """Evaluate all periods since the reference, and each prefix of them."""
    data = _state_data(state, terms := _terms(state))
    earlier = tuple(
        look.verdict.removeprefix("reopened: ")
        for look in state.looks() if look.verdict.startswith("reopened: ")
    )  # fmt: skip
    alpha = terms.alpha / 2 ** len(earlier)
    threshold = math.log(2 / alpha)
    every = np.ones(data.base.size, dtype=bool)
    looks = [_look_at(data, t, every) for t in range(1, len(data.n) + 1)]
    delays, floor = _plan(data, threshold)
    used = int(data.n.sum())
    base = Change(
        level=1 - alpha, alpha=alpha, period=len(looks), n_items=data.base.size,
        reference={"anchors": data.base.size, "repeats": float(data.repeats.mean()),
                   "n_old": data.n_old},
        anchors_used=used, new_used=int(data.new_n.sum()), delays=delays, floor=floor,
        delay=next((one for one in delays if math.isfinite(one.anchors)), Delay()),
        per_period=used / len(looks) if looks else math.nan, earlier=earlier,
        series=tuple((i, m.judge.log_e, m.system.log_e) for i, m in enumerate(looks, start=1)),
        n_clusters=0 if data.members is None else data.members.shape[1],
        assumptions=(
            "Anchors are drawn at random, and judged in mixed order with new answers.",
            "The interval of a change, not its alarm, assumes one step or a gradual change.",
        ),
        method="mixture e-processes, summed over start periods (Robbins 1970; Shin et al. 2024)",
        reason="no change is shown",
    )  # fmt: skip
    if not looks:
        return base
    judge = _shift([one.judge for one in looks], threshold, terms)
    system = _shift([one.system for one in looks], threshold, terms)
    said: Who = "system" if system.raised else "not_yet"
    if judge.raised:
        said = "both" if system.raised else "judge"
    certified = said != "not_yet"
    tpr, tnr = (_rate(data, label, alpha, terms) for label in (1.0, 0.0))
    return replace(
        base, judge=judge, system=system, tpr=tpr, tnr=tnr, verdict=said, certified=certified,
        reason="" if certified else base.reason,
    )  # fmt: skip


def _shift(looks: Sequence[ChangeProcess], threshold: float, terms: Terms) -> Shift:
    last, span = looks[-1], terms.high - terms.low
    shift = float(last.shift[0])
    alarms = [
        i for i, one in enumerate(looks, start=1)
        if one.log_e >= threshold and abs(one.shift[0]) >= terms.tolerance
    ]  # fmt: skip
    until = alarms[-1] if alarms else len(looks)
    shown = looks[until - 1]
    sizes = [
        *sequential.mixture_limits(shift, float(last.variance[0]), threshold),
        *shown.step(threshold),
    ]
    low, high, *change = (span * min(max(v, -1.0), 1.0) for v in sizes)
    return Shift(
        shift=span * shift, low=low, high=high, log_e=last.log_e, threshold=threshold,
        raised=alarms[0] if alarms else 0, since=shown.since, until=until,
        change=Bounded(estimate=change[0], low=change[1], high=change[2]),
    )  # fmt: skip


def _rate(data: StateData, label: float, alpha: float, terms: Terms) -> Shift:
    """Change of the TPR (label 1) or TNR (label 0) on labelled anchors, at a quarter of alpha."""
    own = data.labels == label
    if own.sum() < sequential.LEAST:
        return Shift()
    known = [_look_at(data, t, own).judge for t in range(1, len(data.n) + 1)]
    made = _shift(known, math.log(4 / alpha), terms)
    if label:
        return made
    change = made.change
    return replace(
        made, shift=-made.shift, low=-made.high, high=-made.low,
        change=Bounded(estimate=-change.estimate, low=-change.high, high=-change.low),
    )  # fmt: skip


def _plan(data: StateData, threshold: float) -> tuple[tuple[Delay, ...], float]:
    """Delays of planned shifts, and the smallest that can be shown."""
    judgments = float(data.repeats.sum())
    floor = sequential.detection_floor(data.within, judgments)
    return tuple(
        Delay(
            shift=shift,
            anchors=sequential.detection_delay(
                shift, within=data.within, reference=judgments, log_threshold=threshold,
                start=len(data.n) + 1,
            ),
        )
        for shift in PLANNED
    ), floor  # fmt: skip
