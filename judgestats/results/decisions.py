"""Decisions: verdicts on the subjects of results, with caveats and what would decide."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgestats.errors import InputError
from judgestats.results import purposes
from judgestats.results.caveats import FEW_SYSTEMS, KIND, caveats_of, missing_labels
from judgestats.results.contrasts import contrast_verdicts, perturbation_demands, perturbation_rows
from judgestats.results.metric_names import is_called, number_called
from judgestats.results.records import Comparison, Condition, Estimate, ResultSet
from judgestats.results.results import Results
from judgestats.results.screen import number_of
from judgestats.results.verdict import (
    Demand,
    Levels,
    Measure,
    NextStep,
    Requirement,
    Shape,
    Subject,
    Verdict,
    decide,
)

_MOST, _SIZES = 4_000, 120
_POWER = 0.8


def next_step(open_one: Requirement, made: Measure, levels: Levels) -> NextStep | None:
    """What to add so that an open requirement holds or fails with probability .8.

    Parameters
    ----------
    open_one : Requirement
        One that is open.
    made : Measure
        What was measured for it.
    levels : Levels

    Returns
    -------
    NextStep or None
        None if no number can be given. `if_true` assumes that the estimate is true. `assured`
        averages over Beta(x + 1/2, n - x + 1/2) for shares, else over a normal distribution about
        the estimate.

    Examples
    --------
    >>> from judgestats.results.verdict import Demand, requirement, share_measure
    >>> tnr = share_measure("tnr", [1.0] * 21 + [0.0] * 9, range(30))
    >>> levels = Levels.from_counts(2)
    >>> r = requirement(Demand(key="tnr", threshold=.8, direction="min"), tnr, levels)
    >>> step = next_step(r, tnr, levels)
    >>> step.have, step.if_true < step.assured
    (30, True)
    """
    unit = purposes.decided_of(open_one.key).unit.format(repeats=made.parts)
    have = open_one.n
    step = NextStep(key=open_one.key, unit=unit, have=have)
    if math.isnan(open_one.estimate) or not have:
        return None
    if open_one.key in {"half_width", "mdd"}:
        total = have * (open_one.estimate / open_one.threshold) ** 2
        more = math.ceil(total - have)
        return replace(step, if_true=more, assured=more)
    if made.shape != "share" or open_one.direction == "within":
        return _for_normal(open_one, made, step)
    n = made.n_effective(0.025)
    if not n > 0.5:  # unknown, or less than one trial tells
        return None
    found = _for_share(
        round(made.estimate * n), round(n), open_one.threshold,
        levels.use, levels.do_not_use, open_one.direction == "min",
    )  # fmt: skip
    scale = have / n
    amounts = [None if k is None else math.ceil(k * scale) for k in found]
    return replace(step, if_true=amounts[0], assured=amounts[1])


def _for_normal(open_one: Requirement, made: Measure, step: NextStep) -> NextStep | None:
    low, high = made.limits(0.025)
    edges = [open_one.threshold, open_one.top][: 2 if open_one.direction == "within" else 1]
    spread = made._scaled(high) - made._scaled(low)
    distance = min(abs(made._scaled(made.estimate) - made._scaled(edge)) for edge in edges)
    if math.isnan(spread):
        return None
    if not math.isfinite(spread) or not distance > 0:
        return step
    from scipy.special import ndtri

    error = spread / (2 * 1.96)
    amounts: list[int | None] = []
    # Assured: the distance is itself known to within its error; its lower fifth is planned for.
    for planned in (distance, distance - 0.84 * error):
        if planned <= 0:
            amounts.append(None)
            continue
        ratio = ((-float(ndtri(open_one.level)) + 0.84) * error / planned) ** 2
        more = math.ceil(open_one.n * max(ratio - 1, 0))
        amounts.append(more if more <= _MOST else None)
    return replace(step, if_true=amounts[0], assured=amounts[1])


def _separating_step(open_one: Requirement, results: Results, subject: Subject) -> NextStep | None:
    """Items after which enough pairs of systems are separated, if their differences are true.

    Errors shrink with the root of the number of items. As many pairs as are needed, those with the
    largest differences, are all separated with probability .8 at least (Bonferroni).
    """
    from scipy.special import ndtr, ndtri

    known = f"systems_judged.{subject.label}"
    if known not in results:
        return None
    pairs = results.members(results.get(known, ResultSet))
    found = np.nan_to_num([p.statistic.value for p in pairs if isinstance(p, Comparison)])
    apart = np.sort(np.abs(found))[::-1]
    needed = math.ceil(round(open_one.threshold * len(apart), 9))
    critical = -float(ndtri(0.025 / len(apart)))
    enough = (
        more
        for more in map(int, _sizes())
        if np.sum(ndtr(critical - apart[:needed] * math.sqrt(1 + more / open_one.n))) <= 1 - _POWER
    )
    return NextStep(key=open_one.key, unit="items", have=open_one.n, if_true=next(enough, None))


def _sizes() -> NDArray[np.int_]:
    return np.unique(np.geomspace(5, _MOST, _SIZES).round().astype(int))


@cache
def _for_share(
    x: int, n: int, threshold: float, level_use: float, level_far: float, is_min: bool
) -> tuple[int | None, int | None]:
    """Further trials after which a share decides, if x / n is true and over its posterior."""
    if not is_min:
        x, threshold = n - x, 1 - threshold
    for_true = for_all = None
    p = min(max(x / n, 1e-6), 1 - 1e-6)
    for more in map(int, _sizes()):
        total = n + more
        # Clopper-Pearson: the lower limit reaches the threshold where so many are improbable.
        holds = _binomial_quantile(level_use, total, threshold, upper=True) + 1
        fails = _binomial_quantile(level_far, total, threshold, upper=False) - 1
        need, most = holds - x, fails - x
        if for_true is None:
            above = _binomial_tail(need - 1, more, p, upper=True)
            decided = above + _binomial_tail(most, more, p, upper=False)
            for_true = more if decided >= _POWER else None
        decided = _predictive(need, most, more, x + 0.5, n - x + 0.5)
        if decided >= _POWER:
            for_all = more
            break
    return for_true, for_all


def _binomial_tail(k: int, n: int, p: float, *, upper: bool) -> float:
    """P(X > k), or P(X <= k), of n trials; scipy.stats takes a second to import."""
    from scipy.special import bdtr, bdtrc

    if k < 0 or k >= n:
        return float((k < 0) == upper)
    return float((bdtrc if upper else bdtr)(k, n, p))


def _binomial_quantile(q: float, n: int, p: float, *, upper: bool) -> int:
    """The least k with P(X > k) <= q, or with P(X <= k) >= q."""
    from scipy.special import bdtrik

    def reaches(k: int) -> bool:
        tail = _binomial_tail(k, n, p, upper=upper)
        return tail <= q if upper else tail >= q

    found = float(bdtrik(1 - q if upper else q, n, p))
    k = min(max(math.ceil(found), 0), n) if math.isfinite(found) else 0
    while k > 0 and reaches(k - 1):
        k -= 1
    while not reaches(k):
        k += 1
    return k


def _predictive(need: int, most: int, more: int, a: float, b: float) -> float:
    """P(Y >= need or Y <= most), Y beta-binomial."""
    from scipy.special import betaln, gammaln

    y = np.arange(more + 1)
    log = (
        gammaln(more + 1) - gammaln(y + 1) - gammaln(more - y + 1)
        + betaln(y + a, more - y + b) - betaln(a, b)
    )  # fmt: skip
    mass = np.exp(log)
    return float(mass[(y >= need) | (y <= most)].sum())


Origin = Literal["user", "experiment", "data"]

PANEL = "<panel>"
"""Label of the judges taken together."""
OF_PANEL = ("icc_a_1", "icc_2_1")
"""Quantities of them."""
REPEATED = frozenset({"icc_1_1", "sem", "sdc", "kappa_repeat", "flip_rate"})
"""Quantities of repetition, which are not measured where sampling is off."""
_UNMEASURED: Mapping[str, str] = {
    **dict.fromkeys(REPEATED, "items with 2 repeats each"),
    **dict.fromkeys(("tpr", "tnr"), "labels of each class"),
    **dict.fromkeys(("kappa", "kappa_weighted", "accuracy"), "labels"),
}
"""What to add to a quantity that is not measured: 100 of these."""


@dataclass(frozen=True, kw_only=True)
class DecisionOptions:
    """How verdicts are made.

    Attributes
    ----------
    purpose : str
        A key of `PURPOSES`; empty: from the data.
    required : tuple of str
        As ``--require`` takes them.
    looks : int
        Planned looks at growing data.
    error : float
        Error of all verdicts of this look together, of the .05 that looks spend.
    judge : str
        The one judge that is decided on; empty: all.
    criterion : str
    conditions : tuple of str
        Only these: a condition, a judge, or a factor with its level.
    labels_drawn : str
        How labels were drawn, as stated.
    origin : {"user", "experiment", "data"}
        Who named the purpose.
    tail : {"plain", "strict"}
        Whether the SEM and ICC(1,1) are decided by their tail bounds, which allow for far replies
        not seen.
    """

    purpose: str = ""
    required: tuple[str, ...] = ()
    looks: int = 1
    error: float = 0.05
    judge: str = ""
    criterion: str = ""
    conditions: tuple[str, ...] = ()
    labels_drawn: str = ""
    origin: Origin = "data"
    tail: Literal["plain", "strict"] = "plain"


def verdicts_of(results: Results, options: DecisionOptions | None = None) -> tuple[Verdict, ...]:
    """Verdicts from the measures that results hold.

    Parameters
    ----------
    results : Results
        With measures.
    options : DecisionOptions, optional

    Returns
    -------
    tuple of Verdict
        One per judge, condition above T = 0 and criterion; then one on judges that are used
        interchangeably, if there are no repeats.

    Raises
    ------
    InputError
        A purpose does not fit the verdicts, or no condition is of the judge that is named.
    """
    options = options or DecisionOptions()
    if not results.measures:
        return _experiment_verdicts(results, options)
    subjects = _subjects(results, options)
    stated = purposes.read_requirements(options.required, results)
    joint = [d for key in OF_PANEL if key in stated and (d := stated.pop(key)) is not None]
    only_joint = joint and not stated and not options.purpose
    made: list[tuple[str, Subject, Sequence[tuple[Demand, Measure | None]]]] = []
    by_label: dict[str, dict[str, Measure]] = {}
    for measure in results.measures:
        by_label.setdefault(measure.subject.label, {})[measure.key] = measure
    for subject, kind in () if only_joint else subjects:
        own = by_label.get(subject.label, {})
        if options.tail == "strict":
            own = {key: _with_tail(results, m) for key, m in own.items()}
        purpose = _purpose_for(kind, options, subject)
        if not (options.purpose or stated) and purpose == "score" and "separability" in own:
            purpose = "rank"  # scores of three systems or more
        asked = stated
        if "cutoff_exists" in stated or purpose == "cutoff":  # rates of the cut-off
            asked = {k: d for k, d in stated.items() if kind != "scores" or k not in {"tpr", "tnr"}}
        scored = purpose in {"compare", "rank"} and kind != "pairs"
        demands = purposes.demands_of(purpose, asked, chosen=bool(options.purpose), scored=scored)
        if FEW_SYSTEMS in own:
            demands = tuple(d for d in demands if d.key != "kendall_tau_b" or d.key in asked)
        if not any(d.kind == "required" for d in demands):
            raise InputError(_no_difference(own.get("mdd")))
        made.append((purpose, subject, [(d, _measured(results, subject, d, own)) for d in demands]))
    repeated = any(m.key in REPEATED for m in results.measures)
    panel = by_label.get(PANEL, {})
    if panel and not repeated and not options.required and not options.purpose:
        joint = list(purposes.PURPOSES["panel"].demands)
    if joint:
        subject = Subject(label=f"the {len(subjects)} judges" if len(subjects) > 1 else "the judge")
        made.insert(0, ("panel", subject, [(d, panel.get(d.key)) for d in joint]))
    origin: Origin = "user" if options.purpose else options.origin
    return tuple(
        _decided(results, purpose, subject, pairs, by_label, len(made), options, origin)
        for purpose, subject, pairs in made
    )


def _experiment_verdicts(results: Results, options: DecisionOptions) -> tuple[Verdict, ...]:
    """Verdicts on robustness, else on what an experiment contrasts, or on what is required."""
    stated = purposes.read_requirements(options.required, results)
    robust = perturbation_rows(results)
    if not stated and not robust:
        return contrast_verdicts(results) if results.kind == "experiment" else ()
    purpose, labels = "robust", list(dict.fromkeys(i for row in robust for i in row.cells))
    if stated or not robust:
        purpose, labels = "stated", _required_labels(results, options)
    judges = {c.label: c for c in results.conditions}
    made = []
    for label in labels:
        condition = judges.get(label)
        subject = subject_of(condition) if condition else Subject(label=label)
        demands = [d for d in stated.values() if d] or perturbation_demands(results, label)
        pairs = [(d, _measured(results, subject, d, {})) for d in demands]
        made.append((subject, [(d, m) for d, m in pairs if stated or m is not None]))
    return tuple(
        _decided(results, purpose, subject, pairs, {}, len(made), options, options.origin)
        for subject, pairs in made
    )


TAILS = {"sem": "sem_tail", "icc_1_1": "icc_tail"}
"""Quantities with a limit that allows for far replies not seen, and the estimand that has it."""


def _with_tail(results: Results, measure: Measure) -> Measure:
    """A measure with the tail bound for its limit; without one where there is none."""
    if measure.key not in TAILS:
        return measure
    bound = results.estimate(f"condition.{TAILS[measure.key]}.{measure.subject.label}")
    ends = bound.interval if bound is not None else None
    if ends is None:
        reason = (bound.reason if bound is not None else "") or "its tail bound is not known"
        return replace(measure, low=math.nan, high=math.nan, reason=reason)
    if measure.key == "sem":
        return replace(measure, high=ends.high)
    return replace(measure, low=ends.low)


_KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("sem", "sdc", *OF_PANEL, "kappa_weighted"), ("scores", ("scores",))),
    **dict.fromkeys(
        ("tpr", "tnr", "half_width", "labels_saved", "pass_rate"),
        ("pass / fail verdicts", ("pass_fail",)),
    ),
    "order_consistency": ("pairs in both orders", ("pairs",)),
    "cutoff_exists": ("scores", ("scores",)),
    "position_bias": ("pairs or options in several orders", ("pairs", "options")),
}
"""What a quantity needs: as text, and the kinds of verdicts that have it."""


def _missing(key: str, own: Mapping[str, Measure], otherwise: str) -> str:
    """Why a quantity is not measured: verdicts of this kind cannot have it, or data are missing."""
    return _kind_needed(key, own) or missing_labels(key, own, otherwise)


def _kind_needed(key: str, own: Mapping[str, Measure]) -> str:
    """What verdicts a quantity needs that these are not; empty where it can be measured."""
    needs, kinds = _KINDS.get(key, ("", ()))
    kind = own[KIND].reason if KIND in own else ""
    return f"it needs {needs}" if needs and kind and kind not in kinds else ""


def _required_labels(results: Results, options: DecisionOptions) -> list[str]:
    """Conditions above T = 0, and whatever else rows answer for; T = 0 if nothing else is."""
    conditions = [c for c in results.conditions if not c.derived]
    if options.conditions:
        return select_conditions(conditions, options.conditions)
    if options.judge:
        conditions = [c for c in conditions if c.judge == options.judge]
    named = {c.label for c in results.conditions}
    sampled = [c for c in conditions if c.factors.get("temperature") != 0] or conditions
    others = (label for row in results.rows for label in row.cells if label not in named)
    return list(dict.fromkeys([*(c.label for c in sampled), *others]))


def _measured(
    results: Results, subject: Subject, demand: Demand, own: Mapping[str, Measure]
) -> Measure | None:
    """The measure of a requirement: one of the subject, a cell of a row, or a metric."""
    key = demand.key
    if key == "icc_1_1" and key not in own and "kappa_repeat" in own:
        return own["kappa_repeat"]  # the reliability of one verdict
    if key == "sdc" and "sem" in own:
        sem, k = own["sem"], 1.96 * math.sqrt(2)
        return replace(
            sem, key=key, estimate=k * sem.estimate, low=k * sem.low, high=k * sem.high
        )  # fmt: skip
    if key in own or key in purposes.QUANTITIES:
        return own.get(key)
    still = subject.condition.get("temperature") == 0
    for row in results.rows:
        cell = row.cells.get(subject.label, "")
        if is_called(row, key) and cell in results:
            made = measure_of(key, number_of(results, cell), subject, "plain")
            return None if still and made.record.startswith("reliability.") else made
    own_metrics = results.condition_metrics.get(subject.label, {})
    number = number_called(own_metrics, key) or number_called(results.metrics, key)
    value = own_metrics.get(key, results.metrics.get(key, math.nan))
    if number is None and math.isfinite(value):  # of a metric that nothing declares
        return Measure(key=key, subject=subject, estimate=value, low=value, high=value)
    if number is None or (still and key.startswith(("reliability/", "spread/"))):
        return None
    made = measure_of(key, number, subject, "plain")
    if number.interval is None:  # a share that is counted, a cost
        made = replace(made, low=made.estimate, high=made.estimate)
    return made


_DF = re.compile(r"t with ([\d.,]+) (?:effective )?df")


def degrees_of_freedom(method: str) -> float:
    """Degrees of freedom that an interval's method names; infinite where it names none.

    Examples
    --------
    >>> degrees_of_freedom("jackknife over items, t with 23.4 effective df")
    23.4
    """
    stated = _DF.search(method)
    return float(stated[1].replace(",", "")) if stated else math.inf


def measure_of(key: str, record: Estimate | Comparison, subject: Subject, shape: Shape) -> Measure:
    """A number as a measure, with the degrees of freedom that its interval names.

    Parameters
    ----------
    key : str
    record : Estimate or Comparison
    subject : Subject
    shape : str
        See `Measure`.
    """
    interval, sample = record.interval, record.sample
    undefined = record.reason if math.isnan(record.estimate) else ""
    refused = undefined or str(record.details.get("refused", ""))
    df = record.details.get("df", degrees_of_freedom(interval.method if interval else ""))
    return Measure(
        key=key, subject=subject, estimate=record.estimate, shape=shape,
        low=interval.low if interval else math.nan, high=interval.high if interval else math.nan,
        df=float(df) if isinstance(df, (int, float)) else math.inf,
        parts=int(record.details.get("k") or 2), record=record.id,
        reason=refused or "not estimable at this size" * record.not_estimable,
        n=sample.n_items if sample else 0,
        n_clusters=(sample.n_clusters or sample.n_items) if sample else 0,
    )  # fmt: skip


def _subjects(results: Results, options: DecisionOptions) -> list[tuple[Subject, str]]:
    kinds = {m.subject.label: m.reason for m in results.measures if m.key == KIND}
    rows: list[tuple[Subject, str]] = []
    conditions = [c for c in results.conditions if not c.derived and c.label in kinds]
    if options.conditions:
        kept = select_conditions(conditions, options.conditions)
        conditions = [c for c in conditions if c.label in kept]
    sampled = [c for c in conditions if c.factors.get("temperature") != 0] or conditions
    for condition in sampled:
        named = options.judge in {"", condition.judge, condition.label}
        if named and options.criterion in {"", condition.criterion}:
            rows.append((subject_of(condition), kinds[condition.label]))
    if conditions and not rows:
        judges = ", ".join(dict.fromkeys(c.judge for c in conditions))
        what = f"judge {options.judge!r}" if options.judge else f"criterion {options.criterion!r}"
        raise InputError(f"no judgments are of {what}. Judges: {judges}.")
    return rows


def select_conditions(conditions: Sequence[Condition], names: Sequence[str]) -> list[str]:
    """The labels of the conditions that are named.

    Parameters
    ----------
    conditions : sequence of Condition
    names : sequence of str
        Each a whole label, a judge, or a factor with its level (``T=0``, ``reasoning=low``).

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        A name names none.

    Examples
    --------
    >>> cs = [Condition(label=f"a, T={t:g}", judge="a", factors={"temperature": t})
    ...       for t in (0.0, 0.3)]
    >>> select_conditions(cs, ["T=0"]), select_conditions(cs, ["a"]), select_conditions(cs,
    ...     ["a, T=0.3"])
    (['a, T=0'], ['a, T=0', 'a, T=0.3'], ['a, T=0.3'])
    """
    kept: set[str] = set()
    for name in names:
        named = {c.label for c in conditions if _is_called(c, name)}
        if not named:
            raise InputError(
                f"check: no condition is called {name!r}. Name a complete condition, a judge, or a "
                f"factor with its level, e.g. T=0. There are: "
                f"{'; '.join(c.label for c in conditions)}."
            )
        kept |= named
    return [c.label for c in conditions if c.label in kept]


def _is_called(condition: Condition, name: str) -> bool:
    if name in {condition.label, condition.judge}:
        return True
    factor, sign, level = name.partition("=")
    key = "temperature" if factor.strip() == "T" else factor.strip()
    if not sign or key not in condition.factors:
        return False
    held = condition.factors[key]
    if isinstance(held, (int, float)):
        try:
            return float(level) == held
        except ValueError:
            return False
    return level.strip() == ("default" if held is None else str(held))


def subject_of(condition: Condition) -> Subject:
    """A condition as the subject of a verdict."""
    fixed = {k: v for k, v in condition.factors.items() if v is not None and k != "criterion"}
    return Subject(
        judge=condition.judge, condition=fixed, criterion=condition.criterion, label=condition.label
    )  # fmt: skip


def _purpose_for(kind: str, options: DecisionOptions, subject: Subject) -> str:
    asked = options.purpose
    natural = {"pass_fail": "gate", "pairs": "compare", "scores": "score", "options": "choose"}.get(
        kind, "classify"
    )
    if not asked:
        return natural
    asked = "classify" if asked == "score" and natural == "classify" else asked
    if asked == "gate" and kind == "scores":
        return "cutoff"
    if asked not in _FITS:
        raise InputError(f"--for: no purpose {asked!r}. Choose from {', '.join(PURPOSE_NAMES)}.")
    needs, kinds = _FITS[asked]
    if kind not in kinds:
        holds = {"scores": "scores", "pairs": "preferences", "pass_fail": "pass / fail verdicts"}
        raise InputError(
            f"--for {asked} needs {needs}; {subject.name} gives {holds.get(kind, 'categories')}."
        )
    return asked


_OF_SYSTEMS = "preferences, or scores of systems"
_FITS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("gate", "estimate"), ("pass / fail verdicts", ("pass_fail",))),
    **dict.fromkeys(("compare", "rank"), (_OF_SYSTEMS, ("pairs", "scores", "pass_fail"))),
    "score": ("scores or categories", ("scores",)),
    "classify": (_OF_SYSTEMS, ("words", "pass_fail")),
}
"""What a purpose needs: as text, and the kinds of verdicts that fit it."""


def _no_difference(mdd: Measure | None) -> str:
    """Why scores are not decided on for a comparison without a difference that matters."""
    if mdd is None:
        return (
            "--for compare: the verdicts name no two systems. Name their column: --map "
            "system=COLUMN, or use --for score."
        )
    return (
        f"--for compare needs the smallest difference that matters, e.g. --require mdd="
        f"{mdd.estimate:.2g}: this design finds differences of {mdd.estimate:.2g} with "
        "probability .80."
    )


PURPOSE_NAMES = ("gate", "estimate", "compare", "rank", "score")
"""Purposes that a user can name."""


def _decided(
    results: Results,
    purpose: str,
    subject: Subject,
    pairs: Sequence[tuple[Demand, Measure | None]],
    by_label: Mapping[str, Mapping[str, Measure]],
    judges: int,
    options: DecisionOptions,
    origin: Origin,
) -> Verdict:
    own = by_label.get(subject.label, {})
    caveats = caveats_of(
        results, purpose, subject, pairs, {**by_label.get("", {}), **own},
        labels_drawn=options.labels_drawn, looks=options.looks,
    )  # fmt: skip
    verdict = decide(
        pairs, caveats, judges=judges, looks=options.looks, subject=subject, purpose=purpose,
        error=options.error,
    )  # fmt: skip
    requirements = tuple(_labelled_requirement(r, results, own) for r in verdict.requirements)
    verdict = replace(verdict, requirements=requirements)
    flips = own["flip_rate"].estimate if "flip_rate" in own else math.nan
    measured = {demand.key: made for demand, made in pairs if made is not None}
    steps = [
        _separating_step(r, results, subject)
        if r.key == "separability"
        else next_step(r, measured[r.key], verdict.levels)
        for r in requirements
        if r.status == "open" and r.key in measured
    ] + [
        NextStep(key=r.key, unit=_UNMEASURED[r.key], have=0, if_true=100)
        for r in requirements
        if r.status == "not_measured"
        and r.kind == "required"
        and r.key in _UNMEASURED
        and not _kind_needed(r.key, own)
    ]
    return replace(
        verdict,
        purpose_from=origin,
        sentence=_sentence(verdict, results, flips),
        next=tuple(step for step in steps if step is not None),
        simulated=subject.judge in results.simulated_judges,
    )


def _labelled_requirement(
    requirement: Requirement, results: Results, own: Mapping[str, Measure]
) -> Requirement:
    """The requirement with its label, and why it is not measured."""
    quantity, reason = purposes.decided_of(requirement.key, results), requirement.reason
    if requirement.status == "not_measured":
        reason = reason or _missing(requirement.key, own, quantity.missing)
    return replace(requirement, label=quantity.label, bounded=quantity.bounded, reason=reason)


def _sentence(verdict: Verdict, results: Results, flips: float) -> str:
    """The reason: a blocker, what is missing, or the requirement that decides."""
    decisive = verdict.decisive
    if decisive is None or decisive.status != "not_measured":
        return verdict.blocker or purposes.reason_of(decisive, results, flips=flips)
    missing = [r for r in verdict.requirements if r.status == "not_measured"]
    reasons = dict.fromkeys(r.reason for r in missing)
    return f"{', and '.join(reasons)}."
