"""Declared quantities of an analysis: coefficients of a condition, rows of the summary."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast, get_args

import pandas as pd

from judgestats import stats
from judgestats.analysis.records import Found, NamedResult, condition_result
from judgestats.data.codes import first_rows
from judgestats.results import QUANTITIES, About, Drawing, Quantity, Results, quantity_of
from judgestats.results import Row as ResultsRow
from judgestats.results.quantities import PUBLIC_NAMES
from judgestats.results.quantities.entry import Kind
from judgestats.results.records import Estimate as EstimateRecord
from judgestats.stats.agreement.position import Repetition, repetition_over_orders
from judgestats.stats.inference.result import Estimate, Result


def declared_for(
    *kinds: Kind, repeats: int = 2, options: Mapping[str, str] | None = None
) -> Iterator[Quantity]:
    """The quantities that an audit computes from data of these kinds, in the declared order.

    Parameters
    ----------
    *kinds : str
        What the data are.
    repeats : int
        Judgments of an item in one order.
    options : mapping
        Of the plan.

    Examples
    --------
    >>> [quantity.key for quantity in declared_for("pairs", repeats=1)]
    ['swap_consistency', 'first_position_preference']
    """
    given = options or {}
    for quantity in QUANTITIES.values():
        needs = quantity.needs
        if needs is None or needs.kind not in kinds or repeats < needs.repeats:
            continue
        if not needs.option:
            yield quantity
        elif needs.option in given:
            named = {k: v.format(**given) if isinstance(v, str) else v
                     for k, v in quantity.options.items()}  # fmt: skip
            texts = {k: getattr(quantity, k).format(**given) for k in ("record", "title")}
            yield replace(quantity, options=named, **texts)


@cache
def function_of(path: str) -> Callable[..., Any]:
    """The function or method that a declaration names.

    Examples
    --------
    >>> function_of("fleiss_kappa").__name__, function_of("agreement.kappa:fleiss_kappa").__name__
    ('fleiss_kappa', 'fleiss_kappa')
    """
    module, _, name = path.rpartition(":")
    found: Any = importlib.import_module(f"judgestats.stats.{module}") if module else stats
    for part in name.split("."):
        found = getattr(found, part)
    function: Callable[..., Any] = found
    return function


@cache
def _parameters(path: str) -> frozenset[str]:
    return frozenset(inspect.signature(function_of(path)).parameters)


def computed(quantity: Quantity, *data: object, **keywords: Any) -> Any:
    """What the function of a quantity gives for the data.

    Parameters
    ----------
    quantity : Quantity
        As `declared_for` yields it.
    *data : object
        First arguments of the function.
    **keywords
        Handed on where the function has such a parameter.
    """
    path = quantity.audited or quantity.function
    if quantity.draws:
        keywords["n_resamples"] = quantity.draws
        keywords["n_permutations"] = min(keywords.get("n_permutations", 0), quantity.draws)
    known = _parameters(path)
    taken = {k: v for k, v in {**keywords, **quantity.options}.items() if k in known}
    if taken.get("null") and not taken.get("n_permutations", 1):
        taken["null"] = False
    value = function_of(path)(*data, **taken)
    if path == quantity.audited:  # raw alpha is the omega of parallel replications
        value = value.replace(name=quantity.key, label=quantity.heading)
    return value


def named_result(quantity: Quantity, value: Result, about: About) -> NamedResult:
    """What an audit found of one condition, under the record of the quantity.

    Parameters
    ----------
    quantity : Quantity
        As `declared_for` yields it.
    value : Result
    about : About
    """
    return condition_result(
        quantity.record, quantity.title or quantity.heading, about.conditions[0], value,
        role="primary" if quantity.primary else "secondary", about=about,
    )  # fmt: skip


def is_primary(record: str) -> bool:
    """Whether an audit claims the results whose ids begin so: all except secondary quantities.

    Examples
    --------
    >>> is_primary("reliability.flip_rate"), is_primary("reliability.unanimous_agreement")
    (True, False)
    """
    return all(q.primary for q in QUANTITIES.values() if q.needs and q.record == record)


def repetition_results(tables: Sequence[Any], *, only: str = "", **inference: Any) -> Found:
    """Repeated verdicts of the same order compared, over every order that was repeated.

    Parameters
    ----------
    tables : sequence of array-like or CountTable
        The verdicts of each order that was repeated.
    only : str
        Key of the one quantity that is computed; empty: all.
    **inference
        cluster, level, n_permutations, seed.

    Returns
    -------
    list of (str, str, Result)
        Record, title and result. A coefficient that is not defined over several orders is left
        out where there are several.
    """
    if not tables:
        return []
    several = len(tables) > 1
    where = ", within orders" if several else ""
    return [
        (
            q.record,
            f"{q.title or q.heading}{where}",
            repetition_over_orders(tables, coefficient=cast("Repetition", q.key), **inference)
            if several
            else computed(q, tables[0], **inference),
        )
        for q in declared_for("verdicts")
        if only in {"", q.key} and (not several or q.key in get_args(Repetition))
    ]


def described(value: Estimate, about: About) -> NamedResult:
    """A number of one condition under the id of its quantity, which claims nothing."""
    quantity = quantity_of(value.name)
    identity, title = f"{quantity.record}.{about.conditions[0]}", quantity.title or value.label
    return NamedResult(identity, title, "descriptive", value, about=about)


def columns_of(key: str, value: Estimate) -> dict[str, float]:
    """An estimate and the ends of its interval, as columns of a table.

    Examples
    --------
    >>> from judgestats.stats.inference.result import Sample
    >>> mean = Estimate(name="mean", label="", estimate=7.0, sample=Sample(n_items=3))
    >>> columns_of("mean", mean), metric_values("score/mean", mean)
    ({'mean': 7.0}, {'score/mean': 7.0})
    """
    ends = value.interval
    bounds = {} if ends is None else {f"{key}_low": ends.low, f"{key}_high": ends.high}
    return {key: value.estimate, **bounds}


def metric_values(metric: str, value: Estimate) -> dict[str, float]:
    """An estimate and the ends of its interval, as metrics."""
    ends = value.interval
    bounds = {} if ends is None else {f"ci/{metric}.lo": ends.low, f"ci/{metric}.hi": ends.high}
    return {metric: value.estimate, **bounds}


def condition_metrics(
    row: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> dict[str, float]:
    """Metrics of a condition, as MLflow shows them, from its row of the table of conditions.

    Parameters
    ----------
    row : mapping
    names : mapping of column to metric, optional
        By default those that quantities declare, and their nulls.

    Examples
    --------
    >>> condition_metrics({"icc1": 0.8, "icc1_low": 0.7, "icc1_high": 0.9, "n": 12})
    {'reliability/icc1': 0.8, 'ci/reliability/icc1.lo': 0.7, 'ci/reliability/icc1.hi': 0.9}
    """
    out: dict[str, float] = {}
    declared = {q.name: q.metric for q in QUANTITIES.values() if q.metric}
    for column, metric in (declared if names is None else {**_LOST, **names}).items():
        ends = {"": metric, "_low": f"ci/{metric}.lo", "_high": f"ci/{metric}.hi"}
        if names is None:
            ends["_null_q95"] = f"null/{metric}.q95"
        if column in row:
            found = {name: f"{column}{end}" for end, name in ends.items()}
            out |= {name: float(row[key]) for name, key in found.items() if key in row}
    return out


def metrics_of_conditions(
    rows: Iterable[Mapping[str, Any]], names: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Metrics of every row of a table of conditions, by condition."""
    return {str(row["condition"]): condition_metrics(row, names) for row in rows}


_LOST = {f"{name}_share": f"quality/{name}_share" for name in ("unread", "unanswered")}
_LEFT_OUT = ("people.always_same.", "verdicts.share of ")
"""What begins the ids of records whose quantity stands for another record."""


def statistics_of(results: Results, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Every estimate of one condition: its quantity, coordinates, value and bounds.

    Parameters
    ----------
    results : Results
        Of an audit.
    frame : DataFrame
        The judgments that were audited.

    Returns
    -------
    list of dict
        ``name``, ``criterion``, ``judge``, ``system``, ``condition``, ``value``, ``low``, ``high``,
        ``n`` (items).
    """
    named = [c for c in ("condition", "criterion", "judge") if c in frame]
    first = frame[named].iloc[first_rows(frame["condition"])].astype(str)
    placed = {
        row["condition"]: {"criterion": row.get("criterion", ""), "judge": row["judge"]}
        for row in first.to_dict("records")
    }
    side = f"system_{frame.attrs.get('tested', 'a')}"
    by_condition = frame.groupby("condition")[side] if side in frame else ()
    tested = {str(c): str(own.mode().iloc[0]) for c, own in by_condition}
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for record in results.results:
        if not isinstance(record, EstimateRecord) or len(record.about.conditions) != 1:
            continue
        if record.id.startswith(_LEFT_OUT) or record.about.slice:
            continue
        condition = record.about.conditions[0]
        name = "pass_rate" if record.estimand == "share" else record.estimand
        name = PUBLIC_NAMES.get(name, name)
        system = str(record.about.factors.get("system", ""))
        if record.id.startswith("wins."):
            name, system = "win_rate", record.label.removeprefix("Win rate of ")
            if system != tested.get(condition):
                continue
        ends, sample = record.interval, record.sample
        row = {
            "name": name,
            "criterion": "",
            "judge": "",
            **placed.get(condition, {}),
            "system": system,
            "condition": condition,
            "value": record.estimate,
            "low": ends.low if ends else None,
            "high": ends.high if ends else None,
            "n": sample.n_items if sample else None,
        }
        found.setdefault((name, condition, system), row)
    return list(found.values())


_ALL = "{}"


def results_row(
    key: str,
    ask: str,
    short: str,
    estimand: str,
    ids: str,
    names: Iterable[str] | Mapping[str, str],
    *,
    note: str = "",
    beside: Mapping[str, str] | None = None,
) -> ResultsRow:
    """A row whose results bear the name of their condition.

    Parameters
    ----------
    key, ask, short, estimand : str
        See `Row`.
    ids : str
        The results' ids, ``{}`` where the name stands.
    names : sequence of str, or mapping
        Conditions; or each condition with what its ids call it.
    note : str
    beside : mapping of words to str

    Returns
    -------
    Row

    Examples
    --------
    >>> dict(results_row("mean", "mean score", "mean", "mean", "condition.mean.{}",
    ...     ["a, T=1"]).cells)
    {'a, T=1': 'condition.mean.a, T=1'}
    """
    called = names if isinstance(names, Mapping) else {name: name for name in names}
    cells = {label: ids.replace(_ALL, name) for label, name in called.items()}
    return ResultsRow(
        key=key, ask=ask, short=short, estimand=estimand, cells=cells, note=note,
        beside=beside or {},
    )  # fmt: skip


def declared_row(
    key: str,
    names: Iterable[str] | Mapping[str, str],
    *,
    ids: str = "",
    note: str | None = None,
    beside: Mapping[str, str] | None = None,
) -> ResultsRow:
    """The row that a quantity declares; see `results_row`.

    Parameters
    ----------
    key : str
        Of a quantity with a screen.
    names : sequence of str, or mapping
    ids : str
        Empty: its record's.
    note : str, optional
        Instead of the declared one.
    beside : mapping of words to str

    Returns
    -------
    Row

    Examples
    --------
    >>> declared_row("mean", ["a"]).ask
    'Mean score'
    """
    quantity = quantity_of(key)
    screen = quantity.screen
    if screen is None:
        raise ValueError(f"quantity {key!r} has no row on a screen")
    return results_row(
        screen.key, screen.ask, screen.short, key, ids or f"{quantity.record}.{_ALL}", names,
        note=screen.note if note is None else note, beside=beside,
    )  # fmt: skip


def declared_rows(keys: Iterable[str], names: Iterable[str]) -> tuple[ResultsRow, ...]:
    """The rows of those of these quantities that declare one, of all conditions."""
    names = list(names)
    return tuple(declared_row(key, names) for key in keys if quantity_of(key).screen)


def _computed(*kinds: str) -> list[str]:
    return [q.key for q in QUANTITIES.values() if q.needs and q.needs.kind in kinds]


def score_rows(names: Iterable[str]) -> tuple[ResultsRow, ...]:
    """Rows of repeated scores: consistency, gain by repeats, and mean."""
    names = list(names)
    rows = declared_rows(["sem", *_computed("scores"), "k_needed", "mean"], names)
    at = [row.key for row in rows].index("reliability") + 1
    of_runs = results_row(
        "icc_3_1", "ICC(3,1)", "ICC(3,1)", "icc_3_1", "condition.icc_3_1.{}", names,
        note="without shifts of runs",
    )  # fmt: skip
    return (*rows[:at], of_runs, *rows[at:])


def verdict_rows(names: Iterable[str]) -> tuple[ResultsRow, ...]:
    """Rows of verdicts: consistency over repeats and over orders."""
    return declared_rows(
        [*_computed("verdicts"), "k_needed", *_computed("pairs"), "proportion"], names
    )


def share_rows(words: Mapping[str, Iterable[str]]) -> tuple[ResultsRow, ...]:
    """Rows of verdicts without repeats: the share of each verdict; `words` by condition.

    Parameters
    ----------
    words : mapping of condition to the verdicts whose shares it has

    Returns
    -------
    tuple of Row

    Examples
    --------
    >>> [r.ask for r in share_rows({"a": ["good", "bad"], "b": ["bad"]})]
    ["Share of 'bad'", "Share of 'good'"]
    """
    named: dict[str, list[str]] = {}
    for name, own in words.items():
        for word in own:
            named.setdefault(word, []).append(name)
    return tuple(
        results_row(
            f"share of '{word}'", f"Share of '{word}'", f"'{word}'", "share",
            f"verdicts.share of '{word}'.{{}}", names,
        )
        for word, names in sorted(named.items())
    )  # fmt: skip


def choice_rows(names: Iterable[str], *, one: str = "choice") -> tuple[ResultsRow, ...]:
    """Rows of choices among several options: consistency over repeats."""
    names, heading, key = list(names), "Kappa (repeats)", "vote_share_reliability"
    return (
        results_row("reliability", heading, heading, key, "reliability.one.{}", names),
        declared_row("k_needed", names),
        declared_row("flip_rate", names, ids="repetition.flips.{}", note=f"(share of {one}s)"),
    )


def people_rows(
    names: Iterable[str],
    *truth: ResultsRow,
    corrected: str = "",
    labels_drawn: str = "",
    repeats: int = 1,
) -> tuple[ResultsRow, ...]:
    """Agreement with human labels, of scores and of verdicts, followed by `truth`.

    Rows that do not fit on a screen are dropped from the end. Accuracy and the corrected estimate
    come first, because users ask for them first. References are a judge that always says the same,
    and two human raters. Rates on labels that were picked by hand (`labels_drawn`) are marked,
    since they hold for those items only. So are rates of the majority of several verdicts
    (`repeats`), since agreement is that of one verdict. `corrected` names the mean for which
    `true_rows` replace `truth`.
    """
    names = list(names)
    first = names[0] if names else ""
    if corrected:
        truth = true_rows(names, corrected, labels_drawn=labels_drawn)
    voted = "of the majority" if repeats > 1 else ""
    picked = "of items picked by hand" if labels_drawn == "convenience" else ""
    alone = f"({picked})" if picked else ""

    def row(key: str, record: str, note: str = alone, **beside: str) -> ResultsRow:
        named = {words.replace("_", " "): f"people.{i}.{first}" for words, i in beside.items()}
        return declared_row(key, names, ids=f"people.{record}.{{}}", note=note, beside=named)

    rates = f"({', '.join(filter(None, (voted, picked)))})" if voted else alone
    between = f", {picked}" if picked else ""
    return (
        row("pearson_with_human", "pearson", f"r{between}"),
        row("accuracy", "accuracy", majority_baseline="always_same",
            human_ceiling="among_themselves"),
        row("separation", "separation", f"(of pairs{between})"),
        row("chosen_answers_that_are_right", "best_scored", "(of questions)",
            random_choice="random_choice"),
        *truth,
        row("bias", "bias"),
        row("cohen_kappa", "kappa", f"(kappa{between})", human_ceiling="among_kappa"),
        row("sensitivity", "sensitivity", rates),
        row("specificity", "specificity", rates),
        row("judge_person_agreement", "with_one", human_ceiling="among_themselves"),
        row("judge_person_distance", "apart", human_ceiling="among_themselves"),
        row("winning_rate", "replaces", "(of annotators; .50 passes)",
            best_constant_label="constant_replaces"),
    )  # fmt: skip


_ALIGNED = {"human ceiling": "alignment.people", "always tie": "alignment.always_tie"}


def aligned_rows(names: Iterable[str] | Mapping[str, str]) -> tuple[ResultsRow, ResultsRow]:
    """Agreement with human labels of pairs, where a tie counts half and where neither ties."""
    return (
        declared_row("alignment_score", names, ids="alignment.{}", beside=_ALIGNED),
        results_row("accuracy", "Accuracy without ties", "Accuracy", "accuracy",
                    "agreement.accuracy.{}", names),
    )  # fmt: skip


def true_rows(
    names: Iterable[str], estimand: str, *, labels_drawn: str = ""
) -> tuple[ResultsRow, ResultsRow]:
    """Corrected pass rate or mean score of all judged items, and labels saved by the judge.

    The estimate from the labels alone is the reference.
    """
    names = list(names)
    ask, note = ("mean", "(mean score)") if estimand == "greg" else ("rate", "(pass rate)")
    words = "the picked alone" if labels_drawn == "convenience" else "labels alone"
    alone = {words: f"people.labels_alone.{names[0]}"} if names else {}
    return (
        results_row("truth", f"Corrected {ask}", "Corrected", estimand, "people.corrected.{}",
                    names, note=note, beside=alone),
        declared_row("labels_extra", names, ids="people.labels_extra.{}"),
    )  # fmt: skip


DRAWN_SCORES = ("icc1", "pearson", "accuracy_all", "unread_share", "sem")
DRAWN_VERDICTS = ("vote_share", "accuracy", "flip_rate", "unread_share")
"""The panels of an audit, the most telling first; those without numbers fall out."""


def factor_curve(
    over: str, *estimands: str, caption: str, by: Sequence[str] = (), **more: object
) -> Drawing:
    """Estimands against a factor, a line per judge.

    Examples
    --------
    >>> factor_curve("temperature", "sem", caption="SEM by temperature.").kind
    'curve'
    """
    fields: dict[str, Any] = {"kind": "curve", "over": over, "by": tuple(by), **more}
    return Drawing(estimands=estimands, caption=caption, **fields)


def contrast_drawing(rows: Sequence[ResultsRow], otherwise: Drawing) -> Drawing:
    """The comparisons that decide as dots with intervals, by the value of no difference.

    Parameters
    ----------
    rows : sequence of Row
        Of the screen; the first one of comparisons is drawn.
    otherwise : Drawing
        What is drawn where there is none.

    Examples
    --------
    >>> row = results_row("gain", "Gain", "Gain", "rate_difference", "gain.{}", ["a"])
    >>> contrast_drawing([row], Drawing(kind="dots")).rows
    ('gain.a',)
    """
    row = next((row for row in rows if row.key in _CONTRASTS and row.cells), None)
    if row is None:
        return otherwise
    return Drawing(
        kind="dots", rows=tuple(row.cells.values()),
        caption=f"{row.ask}, with 95% intervals. The line marks equality.",
    )  # fmt: skip


_CONTRASTS = frozenset({"gmd_ratio", "gain"})
"""Rows of the screen whose comparisons decide an experiment."""


def ranked(
    *estimands: str,
    caption: str = "",
    results: Iterable[NamedResult] = (),
    compared: str = "",
    lines: Sequence[str] = (),
) -> Drawing:
    """Rows of dots, the best first; rows without a significant difference are joined.

    Parameters
    ----------
    estimands : str
        A panel each.
    caption : str
        Empty: the page names what it draws.
    results : iterable of NamedResult
        Of the analysis.
    compared : str
        What the ids of the sets begin with whose pairs join rows.
    lines : sequence of str
        Ids of references.

    Examples
    --------
    >>> ranked("icc1", caption="Reliability.").estimands
    ('icc1',)
    """
    sets = tuple(r.id for r in results if compared and r.id.startswith(compared))
    return Drawing(
        kind="dots", estimands=estimands, compared=sets, lines=tuple(lines), caption=caption
    )
