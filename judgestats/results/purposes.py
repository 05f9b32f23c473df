"""Purposes of a judge: what each requires, how users state it, and its sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from judgestats.errors import InputError, nearest, printable
from judgestats.results.metric_names import is_called, metric_called, quantities_of, quantity_of_row
from judgestats.results.numbers import apa_number
from judgestats.results.quantities import PUBLIC_NAMES, quantity_of
from judgestats.results.records import Row
from judgestats.results.results import Results
from judgestats.results.verdict import Demand, Requirement, Side, State


@dataclass(frozen=True)
class Decided:
    """A quantity that verdicts rest on.

    Attributes
    ----------
    label : str
        Its label on screens.
    direction : {"min", "max", "within"} or None
        Which limit speaks for a judge; None: none does by itself.
    low, high : float
        Its range.
    sentences : mapping of status to (str, str)
        Why one subject gets its outcome, and the same of several; ``{estimate}``, ``{limit}``,
        ``{rest}`` (1 - estimate, in percent), ``{percent}`` and ``{needed}`` are filled in.
    missing : str
        Why it is not measured.
    unit : str
        What must be added to decide it; ``{}`` for nothing.
    bounded : bool
        Whether it cannot exceed 1, and so is written without a leading zero.
    is_known : bool
        Whether anything declares it.
    nothing : float
        Of one that is best within bounds: the value from which either side is away.
    """

    label: str
    direction: Side | None
    low: float
    high: float
    sentences: Mapping[State, tuple[str, str]]
    missing: str
    unit: str
    bounded: bool = True
    is_known: bool = True
    nothing: float = 0.0


def _texts(
    one_holds: str, holds: str, one_fails: str, fails: str, name: str, opened: str = ""
) -> Mapping[State, tuple[str, str]]:
    return {
        "holds": (one_holds, holds),
        "fails": (one_fails, fails),
        "open": (
            opened or f"{name} {{estimate}} is too close to {{needed}}.",
            f"{name} is too close to {{needed}}.",
        ),
    }


_NO_LABELS = "no human labels"
_ONCE = "no item has repeats"

QUANTITIES: Mapping[str, Decided] = {
    "tpr": Decided("TPR", "min", 0, 1, _texts(
        "it passes at least {limit} of the answers that people pass.",
        "their TPR and TNR are high enough.",
        "it fails {rest} of the answers that people pass.",
        "they fail too many answers that people pass.", "TPR"), _NO_LABELS, "labelled passes"),
    "tnr": Decided("TNR", "min", 0, 1, _texts(
        "it fails at least {limit} of the answers that people fail.",
        "their TPR and TNR are high enough.",
        "it passes {rest} of the answers that people fail.",
        "they pass too many answers that people fail.", "TNR"), _NO_LABELS, "labelled fails"),
    "flip_rate": Decided("Flip rate", "max", 0, 1, _texts(
        "a second run flips at most {limit} of its verdicts.", "their verdicts repeat.",
        "a second run flips {percent} of its verdicts.", "a second run flips too many verdicts.",
        "Flip rate"), _ONCE, "items judged {repeats} times"),
    "half_width": Decided("Half-width of the corrected rate", "max", 0, 1, _texts(
        "the corrected rate is known to within {percentage_points} points.",
        "the corrected rates are known well enough.",
        "", "", "Half-width",
        "the corrected rate is known to within {percentage_points} points only."),
        _NO_LABELS, "labels"),
    "labels_saved": Decided("Labels saved", "min", 0, 1, _texts(
        "it explains {percent} of the variance of human labels.",
        "they explain enough of the variance of human labels.",
        "human labels alone do as well: it explains {percent} of their variance.",
        "human labels alone do as well.", "Labels saved"), _NO_LABELS, "labels"),
    "order_consistency": Decided("Order consistency", "min", 0, 1, _texts(
        "swapping the order changes at most {limit_rest} of its verdicts.",
        "swapping the order changes few verdicts.",
        "swapping the order changes {rest} of its verdicts.",
        "swapping the order changes too many verdicts.", "Order consistency"),
        "no pair was shown in both orders", "items in both orders"),
    "position_bias": Decided("Position bias", "within", -1, 1, _texts(
        "its choices do not follow position.", "position changes few choices.",
        "its choices follow position: bias {estimate}.", "their choices follow position.",
        "Position bias"), "no order is recorded", "items in both orders"),
    "agreement_human": Decided("Agreement vs. humans", "min", -1, 1, _texts(
        "it agrees with a person about as often as another person does.",
        "they agree with a person about as often as another person does.",
        "it agrees with a person less often than another person does: {estimate}.",
        "they agree with a person less often than another person does.",
        "Agreement vs. humans"), "fewer than 10 items have labels of two humans", "labels"),
    "mdd": Decided("Minimum detectable difference", "max", 0, math.inf, _texts(
        "it detects differences of {estimate} between systems.",
        "they detect the difference that matters.", "", "", "MDD",
        "it detects differences from {estimate} only; {needed} is needed."),
        "the verdicts name no two systems", "items", False),
    "separability": Decided("Separability", "min", 0, 1, _texts(
        "it separates {percent} of the pairs of systems.", "they separate most systems.",
        "", "", "Separability", "it separates only {percent} of the pairs of systems."),
        "the verdicts name no three systems", "items"),
    "kendall_tau_b": Decided("Kendall's tau-b", "min", -1, 1, _texts(
        "it ranks systems like humans.", "they rank systems like humans.",
        "its ranking has tau-b {estimate} with the human ranking.",
        "their rankings differ from the human ranking.", "tau-b"),
        "no five systems have human labels", "systems"),
    "icc_1_1": Decided("ICC(1,1)", "min", -1, 1, _texts(
        "it repeats its scores.", "they repeat their scores.",
        "{rest} of its score variance is noise.", "too much of their score variance is noise.",
        "ICC(1,1)"), _ONCE, "items"),
    **{key: Decided(label, "min", -1, 1, _texts(
        "the judges agree on single scores.", "the judges agree on single scores.",
        "{label} is {estimate}.", "{label} is too low.", label),
        "no items are scored once by several judges", "items")
       for key, label in (("icc_a_1", "ICC(A,1)"), ("icc_2_1", "ICC(2,1)"))},
    "sem": Decided("SEM", "max", 0, math.inf, _texts(
        "its SEM is at most {limit} points.", "their SEM is small enough.",
        "its SEM is {estimate} points.", "their SEM is too large.", "SEM"), _ONCE, "items", False),
    "sdc": Decided("Smallest detectable change", "max", 0, math.inf, _texts(
        "it detects changes of {limit} points or more.",
        "their scores detect small changes.",
        "it detects only changes of {estimate} points or more.",
        "they detect only large changes.", "SDC"), _ONCE, "items", False),
    "kappa_repeat": Decided("Kappa (repeats)", "min", -1, 1, _texts(
        "it repeats its verdicts.", "they repeat their verdicts.",
        "repeats change {flips} of its verdicts.", "repeats change too many verdicts.",
        "kappa (repeats)"), _ONCE, "items"),
    "kappa": Decided("Cohen's kappa", "min", -1, 1, _texts(
        "its kappa with human labels is at least {limit}.",
        "their kappa with human labels is high enough.",
        "its kappa with human labels is {estimate}.", "their kappa with human labels is too low.",
        "kappa with labels"), _NO_LABELS, "labels"),
    "kappa_weighted": Decided("Weighted kappa", "min", -1, 1, _texts(
        "its scores agree with human scores.", "their scores agree with human scores.",
        "its weighted kappa with human scores is {estimate}.",
        "their weighted kappa with human scores is too low.", "weighted kappa"),
        _NO_LABELS, "labels"),
    "accuracy": Decided("Accuracy", "min", 0, 1, _texts(
        "at least {limit} of its verdicts equal the label.", "their verdicts equal the labels.",
        "{rest} of its verdicts differ from the label.",
        "too many verdicts differ from the labels.",
        "Accuracy"), _NO_LABELS, "labels"),
    "unparsed_share": Decided("Unparsed rate", "max", 0, 1, _texts(
        "at most {limit} of its replies have no verdict.", "few replies have no verdict.",
        "{percent} of its replies have no verdict.", "too many replies have no verdict.",
        "Unparsed rate"), "no reply is recorded", "items"),
    "cutoff_exists": Decided("Certified cut-off", "min", 0, 1, _texts(
        "a cut-off is certified to reach the required TPR and TNR.",
        "cut-offs are certified to reach the required TPR and TNR.",
        "a cut-off is certified.", "cut-offs are certified.", "Certified cut-off"),
        "there are no scores with pass / fail labels", "labels"),
    "cost": Decided("Cost per item", "max", 0, math.inf, _texts(
        "an item costs at most {limit}.", "an item costs little enough.",
        "an item costs {estimate}.", "an item costs too much.", "Cost per item"),
        "no cost of a miss and of a false pass is stated", "labels", False),
    "automation_share": Decided("Automation share", "min", 0, 1, _texts(
        "at least {limit} of the items are certified to need no human.",
        "enough items are certified to need no human.",
        "{percent} of the items are certified to need no human.",
        "too few items are certified to need no human.", "Automation share"),
        "there is no confidence, or labels allow no certificate", "labels"),
    "n_eff": Decided("Effective votes", "min", 0, math.inf, _texts(
        "the panel has at least {limit} effective votes.",
        "the panel has enough effective votes.",
        "the panel has {estimate} effective votes.",
        "the panel has too few effective votes.", "Effective votes"),
        "items of several judges have no labels, or these allow no claim", "labels", False),
    **{f"{who}_changed": Decided(f"{who.capitalize()} changed", "max", 0, 1, _texts(
        f"no change of the {who} is shown.", f"no change of the {who} is shown.",
        f"the {who} has changed.", f"the {who} has changed.", f"{who.capitalize()} changed"),
        "there are no anchors", "anchors") for who in ("judge", "system")},
    "pass_rate": Decided("Pass rate", None, 0, 1, _texts(
        "its pass rate is {estimate}.", "their pass rates are in range.",
        "its pass rate is {estimate}.", "their pass rates are out of range.", "Pass rate"),
        "no pass / fail verdicts", "items"),
}  # fmt: skip
"""Quantities that verdicts rest on, by key."""

FLAGS: Mapping[str, str] = {
    "cutoff_exists": "no cut-off is shown to keep the required TPR and TNR.",
    "judge_changed": "no change of the judge is shown.",
    "system_changed": "no change of the system is shown.",
}  # fmt: skip
"""Quantities that are yes or no, with the sentence of what is not shown."""

ALIASES: Mapping[str, str] = {
    "sensitivity": "tpr", "recall": "tpr", "specificity": "tnr", "reliability": "icc_1_1",
    "icc": "icc_1_1", "icc1": "icc_1_1", "cohen_kappa": "kappa", "unread": "unparsed_share",
    "unparsed": "unparsed_share", "flips": "flip_rate", "swap_consistency": "order_consistency",
    "fleiss_kappa": "kappa_repeat", "passes": "pass_rate",
}  # fmt: skip
"""Further names that a requirement may have."""


@dataclass(frozen=True)
class Purpose:
    """Purpose of a judge: its question, its wording after the subject, and its requirements."""

    name: str
    question: str
    phrase: str
    demands: tuple[Demand, ...]
    phrases: str = ""
    of_scores: tuple[Demand, ...] = ()


def _required(key: str, threshold: float, direction: Side = "min", **more: Any) -> Demand:
    return Demand(key=key, threshold=threshold, direction=direction, **more)


_ORDERED = (
    _required("order_consistency", 0.8),
    _required("position_bias", -0.1, "within", top=0.1),
)
_HUMAN = _required("agreement_human", -0.1, kind="expected")
PRECISIONS = frozenset({"half_width", "mdd", "separability"})
"""Quantities that test nothing: they hold or are open."""

PURPOSES: Mapping[str, Purpose] = {
    purpose.name: purpose
    for purpose in (
        Purpose("gate", "May its pass / fail verdicts decide single answers?", "as a gate", (
            _required("tpr", 0.8), _required("tnr", 0.8),
            _required("flip_rate", 0.1, "max", kind="expected"),
        ), phrases="as gates"),
        Purpose("cutoff", "From which score on may an answer pass?", "as a gate", (
            _required("cutoff_exists", 1.0),
        ), phrases="as gates"),
        Purpose("estimate", "May a pass rate be reported from it?", "to estimate a pass rate", (
            _required("half_width", 0.05, "max", is_precision=True),
            _required("labels_saved", 0.1, kind="expected"),
        )),
        Purpose("compare", "May it compare two systems?", "to compare systems",
            (*_ORDERED, _HUMAN)),
        Purpose("rank", "May it rank three or more systems?", "to rank systems", _ORDERED,
            of_scores=(_required("separability", 0.8, is_precision=True),
                       _required("kendall_tau_b", 0.8, kind="expected"))),
        Purpose("score", "May single scores be used?", "to score single answers", (
            _required("icc_1_1", 0.75), _required("kappa_weighted", 0.6, kind="expected"),
        )),
        Purpose("classify", "May single categories be used?", "to classify single answers", (
            _required("kappa_repeat", 0.6), _required("kappa", 0.6, kind="expected"),
        )),
        Purpose("choose", "May it choose among options?", "to choose among options", (
            _required("position_bias", -0.1, "within", top=0.1),
        )),
        Purpose("robust", "Does anything but quality move it?", "", ()),
        Purpose("contrast", "Which condition is better?", "", ()),
        Purpose("stated", "Does it keep what is required?", "", ()),
        Purpose("panel", "May any judge stand for another?", "interchangeably", (
            _required("icc_a_1", 0.75),
        )),
    )
}  # fmt: skip
"""Purposes by name; ``classify`` is ``score`` for categories."""

_FORM = re.compile(r"^\s*(?P<name>[^<>=]+?)\s*(?P<sign>>=|<=|=)\s*(?P<value>[^<>=]+?)\s*$")
_SIDES: Mapping[str, Side | None] = {
    "higher": "min", "lower": "max", "nothing": "within", "none": None
}  # fmt: skip


def decided_of(key: str, results: Results | None = None) -> Decided:
    """A quantity that a requirement names: one that verdicts rest on, a row, or any declared one.

    Parameters
    ----------
    key : str
        As `read_requirements` returns it.
    results : Results, optional
        Whose rows can be named.
    """
    if key in QUANTITIES:
        return QUANTITIES[key]
    row = _row(key, results)
    found = [quantity_of_row(row)] if row else quantities_of(key)
    if not found:
        texts = _texts(*_ANY, key)
        return Decided(
            key, None, -math.inf, math.inf, texts, "not in this run", "items", is_known=False
        )  # fmt: skip
    entry = quantity_of(found[0].estimand)
    label = row.ask if row else entry.heading[0].upper() + entry.heading[1:]
    texts = _texts(*(_OF_ROWS.get(entry.key, _ANY)), label)
    if row and row.key.startswith("right_"):
        texts = _texts(*_OF_CONTROLS, label)
    return Decided(
        label, _SIDES[found[0].better], entry.low, entry.high, texts,
        "not in this run", "items", entry.bounded,
        nothing=0.0 if math.isnan(entry.nothing) else entry.nothing,
    )  # fmt: skip


_ANY = (
    "{label} is at least or at most {needed}, as required.", "all reach {needed}.",
    "{label} is {estimate}, {needed} is required.", "{label} misses {needed}.",
)  # fmt: skip


_KEPT = "no perturbation moves it by more than the margin."
_OF_ROWS: Mapping[str, tuple[str, str, str, str]] = {
    "probe_shift": (_KEPT, _KEPT, "{cause} shifts its scores by {estimate} points.",
        "{cause} shifts their scores."),
    "preference_shift": (_KEPT, _KEPT, "{cause} shifts its preferences by {estimate}.",
        "{cause} shifts their preferences."),
    "attack_success": (_KEPT, _KEPT, "{cause} succeeds on {percent} of the items.",
        "{cause} succeeds."),
    "rank_loss": (_KEPT, _KEPT, "{cause} changes the order of answers by {estimate}.",
        "{cause} changes the order of answers."),
}  # fmt: skip
_OF_CONTROLS = (_KEPT, _KEPT, "{label} does not lower its scores.", "{label} lowers no score.")


def _row(name: str, results: Results | None) -> Row | None:
    rows = results.rows if results else ()
    return next((row for row in rows if is_called(row, name)), None)


def read_requirements(
    texts: Iterable[str], results: Results | None = None
) -> dict[str, Demand | None]:
    """Parse ``NAME=VALUE,...`` as requirements; ``name=none`` removes one.

    Parameters
    ----------
    texts : iterable of str
        As ``--require`` takes them, each with one or several, separated by commas.
    results : Results, optional
        Whose rows and metrics can be named. Without them a name that nothing declares passes,
        since a row may bear it.

    Returns
    -------
    dict
        Requirement by key, None for a removed one.

    Raises
    ------
    InputError
        A name is unknown, or a value outside its range or on the side of the worst judge.

    Examples
    --------
    >>> read = read_requirements(["tpr=90%,sem=.5"])
    >>> [(d.key, d.direction, d.threshold) for d in read.values()]
    [('tpr', 'min', 0.9), ('sem', 'max', 0.5)]
    >>> read_requirements(["sem>=.5"])
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: --require: sem: lower is better, so sem>=.5 would pass the worst
    judge. Write sem=.5 (at most .5).
    """
    demands: dict[str, Demand | None] = {}
    for part in (part for text in texts for part in text.split(",") if part.strip()):
        written = f"{part.strip()}=yes" if part.strip() in FLAGS else part
        match = _FORM.match(written)
        if not match:
            raise InputError(f"--require expects NAME=VALUE, e.g. tpr=.9; got {part.strip()!r}.")
        name, sign, value = match["name"], match["sign"], match["value"]
        key = _key(name, results)
        quantity = decided_of(key, results)
        one = None if value == "none" else _stated(key, name, sign, value, quantity)
        demands[key] = _both(key, demands.get(key), one)
    return demands


def _both(key: str, before: Demand | None, now: Demand | None) -> Demand | None:
    """Two bounds on one quantity, from below and from above, as one."""
    if before is None or now is None or before == now:
        return now
    if before.direction == now.direction:
        raise InputError(f"--require: {key} is given twice. State one bound.")
    if "within" in {before.direction, now.direction}:
        return now
    low, high = sorted((before.threshold, now.threshold))
    return replace(now, direction="within", threshold=low, top=high)


def _key(name: str, results: Results | None) -> str:
    """The key of a name: of a quantity that verdicts rest on, of a row, or of a metric."""
    row = _row(name, results)
    if row is not None:
        key = PUBLIC_NAMES.get(row.estimand, row.estimand)
        return key if key in QUANTITIES else row.key
    key = ALIASES.get(name.casefold(), name)
    if key in QUANTITIES or results is None:
        return key
    metrics = {*results.metrics, *(m for own in results.condition_metrics.values() for m in own)}
    if metric := metric_called(name, metrics):
        return metric
    shown = printable(name, one_line=True)
    measured = [m.key for m in results.measures if not m.key.startswith("_")]
    named = [*dict.fromkeys([*measured, *(row.key for row in results.rows)])]
    raise InputError(
        f"--require: no quantity {shown!r}.{nearest(name, [*named, *QUANTITIES, *ALIASES])} There "
        f"are: {', '.join(named)}."
    )


def _stated(key: str, name: str, sign: str, value: str, quantity: Decided) -> Demand:
    """One stated requirement."""
    demand = partial(Demand, key=key, origin="user")
    if "..." in value:
        low, _, high = value.partition("...")
        high = high if high.startswith((".", "-", "0", "1")) else f".{high}"
        bottom, top = (_value(end, name, quantity) for end in (low, high))
        return demand(threshold=bottom, top=top, direction="within")
    if key in FLAGS:
        if sign != "=" or value not in {"yes", "no"}:
            raise InputError(f"--require: {name} is yes or no. Write {name}=yes or {name}=no.")
        yes = value == "yes"
        return demand(threshold=float(yes), direction="min" if yes else "max")
    number = _value(value, name, quantity)
    if quantity.direction == "within":
        zero = quantity.nothing
        if number > zero if sign == ">=" else number < zero:
            raise InputError(
                f"--require: {name}: {zero:g} is best and either side counts against a judge, so "
                f"{name}{sign}{value} would pass the worst judge. "
                f"Write {name}={value.lstrip('+-')}."
            )
        if zero != 0 or (sign == ">=" and number <= 0) or number == 0:  # one side alone
            return demand(threshold=number, direction="min" if sign == ">=" else "max")
        return demand(threshold=-abs(number), top=abs(number), direction="within")
    if quantity.direction is None and sign == "=" and quantity.is_known:
        raise InputError(
            f"--require: {name} has no better direction. Write {name}>={value}, {name}<={value} "
            f"or {name}={value}...1."
        )
    side: Side = quantity.direction or ("min" if sign == ">=" else "max")
    if sign != "=" and (side == "min") != (sign == ">="):
        better, kept = ("higher", "at least") if side == "min" else ("lower", "at most")
        raise InputError(
            f"--require: {name}: {better} is better, so {name}{sign}{value} would pass the worst "
            f"judge. Write {name}={value} ({kept} {value})."
        )
    return demand(threshold=number, direction=side, is_precision=key in PRECISIONS)


def _value(text: str, name: str, quantity: Decided) -> float:
    """A number, or a percentage as a share, within the quantity's range."""
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"--require: {name}: {text!r} is not a number. Write {name}=.9.")
    if quantity.low <= number <= quantity.high:
        return number
    share = ""
    if quantity.high == 1 and 2 < number < 100:
        part = f"{number / 100:g}".removeprefix("0")
        share = f" Write {name}={part} or {name}={number:g}%."
    within = f"is at least {quantity.low:g}"
    if math.isfinite(quantity.high):
        within = f"is between {quantity.low:g} and {quantity.high:g}"
    raise InputError(f"--require: {name} {within}; {text} is outside.{share}")


def demands_of(
    purpose: str, stated: Mapping[str, Demand | None], *, chosen: bool, scored: bool = False
) -> tuple[Demand, ...]:
    """The requirements: a purpose's defaults, replaced where stated, or only the stated ones.

    Parameters
    ----------
    purpose : str
    stated : mapping of key to Demand or None
    chosen : bool
        Whether the user named the purpose; if not, only stated requirements count.
    scored : bool
        Whether systems are compared by their scores, not in pairs.
    """
    if stated and not chosen:
        return tuple(d for d in stated.values() if d is not None)
    own = PURPOSES[purpose].of_scores if scored else PURPOSES[purpose].demands
    out = [stated.get(d.key, d) for d in own]
    kinds = {d.key: d.kind for d in own}
    kept = [replace(d, kind=kinds[d.key]) for d in out if d is not None]
    new = [d for key, d in stated.items() if d is not None and key not in kinds]
    return tuple(kept + new)


def threshold_text(demand: Demand | Requirement) -> str:
    """A threshold as tables show it.

    Examples
    --------
    >>> threshold_text(Demand(key="tpr", threshold=.8, direction="min"))
    '≥ .80'
    >>> threshold_text(Demand(key="position_bias", threshold=-.1, top=.1, direction="within"))
    'within ±.10'
    """
    named = demand if isinstance(demand, Requirement) else decided_of(demand.key)
    bounded = named.bounded
    if demand.key in FLAGS:
        return "yes" if demand.threshold else "no"
    low = apa_number(demand.threshold, bounded=bounded)
    if demand.direction == "within":
        high = apa_number(demand.top, bounded=bounded)
        return f"within ±{high}" if demand.top == -demand.threshold else f"{low} to {high}"
    return f"{'≥' if demand.direction == 'min' else '≤'} {low}"


def reason_of(
    requirement: Requirement | None,
    results: Results | None = None,
    *,
    several: bool = False,
    flips: float = math.nan,
) -> str:
    """Why a subject, or several, get their outcome, as one clause.

    Parameters
    ----------
    requirement : Requirement or None
        The one that decides.
    results : Results, optional
        Whose rows a requirement may name.
    several : bool
    flips : float
        The flip rate, for the sentence on repeated verdicts.
    """
    if requirement is None:
        return "nothing was required."
    quantity = decided_of(requirement.key, results)
    written = partial(apa_number, bounded=quantity.bounded)
    if requirement.status == "not_measured" or math.isnan(requirement.estimate):
        return f"{requirement.reason or quantity.missing}."
    estimate, limit = requirement.estimate, requirement.limit
    if requirement.status == "open" and math.isnan(limit):
        refused = "does not cover" in requirement.reason
        if several and refused:  # each has its own numbers
            return "most scores are alike, so an ICC interval does not cover; see flip rate."
        if several:
            return f"{quantity.label} has no interval."
        if refused:
            return f"{requirement.reason}."
        why = f": {requirement.reason}" if requirement.reason else ""
        return f"{quantity.label} {written(estimate)} has no interval{why}."
    if requirement.status == "open" and requirement.key in FLAGS:
        return FLAGS[requirement.key]
    if requirement.key == "automation_share" and requirement.status == "open":
        return f"only {100 * estimate:.0f}% of the items are shown to need no person."
    text = quantity.sentences[requirement.status][several]
    if not several and is_imprecise(requirement):
        text = f"{quantity.label} {{estimate}} {too_few(requirement)}."
    cause = quantity.label.removeprefix("Shift of ")
    if requirement.status == "open" and requirement.apart:  # although the 95% interval decides
        shown = "limits" if several else f"limit {written(limit, digits=3)}"
        text = f"{text.removesuffix('.')} ({100 * (1 - requirement.level):.4g}% {shown})."
    needed = threshold_text(requirement).removeprefix("within ").lstrip("≥≤ ")
    number = written(estimate)
    if number == needed:  # as many digits as set it apart
        number = written(estimate, digits=3)
    return text.format(
        label=quantity.label,
        cause=cause[:1].upper() + cause[1:],
        estimate=number,
        limit=_limit(limit, quantity),
        limit_rest=f"{math.ceil(100 * (1 - limit))}%" if math.isfinite(limit) else "",
        rest=f"{min(100 * (1 - estimate), 100):.0f}%",
        percent=f"{100 * estimate:.0f}%",
        percentage_points=f"{100 * estimate:.0f}",
        needed=needed,
        flips=f"{100 * flips:.0f}%" if math.isfinite(flips) else "too many",
    )


_CLOSE = 0.1


def is_imprecise(r: Requirement) -> bool:
    """Whether an open share or coefficient is not close to its threshold: its data are few.

    Examples
    --------
    >>> few = Requirement(key="tnr", kind="required", direction="min", threshold=.8,
    ...     threshold_from="default", status="open", estimate=1.0, limit=.48)
    >>> is_imprecise(few), too_few(few)
    (True, 'rests on too few labelled fails')
    """
    ends = [end for end in (r.threshold, r.top) if math.isfinite(end)]
    away = min(abs(r.estimate - end) for end in ends)
    tested = r.status == "open" and r.bounded and r.key not in PRECISIONS
    return tested and round(away, 9) >= _CLOSE


def too_few(r: Requirement) -> str:
    """What an imprecise requirement lacks."""
    return f"rests on too few {decided_of(r.key).unit.partition(' judged')[0]}"


def not_shown(r: Requirement) -> str:
    """What is open of several estimates, of which some are not close to the threshold."""
    verb = {"min": "reach", "max": "be at most", "within": "be within"}[r.direction]
    return f"is not shown to {verb} {threshold_text(r).removeprefix('within ').lstrip('≥≤ ')}"


def _limit(limit: float, quantity: Decided) -> str:
    if not math.isfinite(limit):
        return "-"
    if quantity.bounded and quantity.low == 0:
        return f"{100 * limit:.0f}%"
    return apa_number(limit, bounded=quantity.bounded)
