"""The judge as an instrument, in an audit: levels used, leniency, fairness between sources."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd

from judgestats.analysis.coefficients import declared_row, metric_values, results_row
from judgestats.analysis.families import AnalysisPlan, Hypothesis, request_order, shared_clusters
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import NamedResult, condition_result
from judgestats.data.parse import ScoreArray, score_array
from judgestats.data.readers.frame import condition_labels
from judgestats.engine import WORTH_THREADS, run_threads
from judgestats.errors import InputError
from judgestats.results import About, Row
from judgestats.stats import dif_test, leniency, levels_used, p_adjust, recoding_loss, run_component
from judgestats.stats.inference.result import Comparisons, Estimate, Result, TestResult
from judgestats.stats.robustness.levels import BETWEEN, NO_LEVELS, SHORTER

SOURCES = ("factor_source", "factor_system", "factor_author", "author")
"""Columns that say whose answer was judged (``--factor source``, or the author of the answer)."""
_OF_TWO = 2
"""Effects of a test of two sources: the log odds, and the change of R²."""
_TERMS = ("effective_levels", "mode_share", "ceiling_share", "heaping")


def instrument_questions(frame: pd.DataFrame) -> list[Hypothesis]:
    """What the frame lets an audit ask of the judge as an instrument."""
    asked = ["levels in use"]
    tests = ["effective levels, ceiling and heaping, intervals over clusters"]
    if len(_raters(frame).unique()) > 1:
        asked.append("leniency of each judge on the same answers")
        tests.append("mean of a judge minus the mean of all, on the answers that they share")
    if _source(frame):
        asked.append("the same scores for every source at equal quality")
        tests.append("proportional odds given the human label, Wald's test over clusters")
    question = f"The judge as a measuring instrument: {'; '.join(asked)}."
    return [Hypothesis("instrument", question, "; ".join(tests))]


def instrument_results(
    frame: pd.DataFrame, array: ScoreArray, declared: AnalysisPlan
) -> list[NamedResult]:
    """Levels used by every condition; leniency and differential scoring where data allow.

    Parameters
    ----------
    frame : DataFrame
    array : ScoreArray
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Ids ``instrument.WHAT.CONDITION``.
    """
    jobs = [(array, name, declared.level) for name in array.conditions]
    large = array.scores.size > WORTH_THREADS
    results = [*chain(*run_threads(_level_results, jobs, large=large, most=2))]
    results += _leniencies(frame, array, declared)
    title = "Scores of sources at equal quality"
    results += [
        _name_result("dif_test", rater, title, result)
        for rater, result in _tried(frame, declared)
        if not isinstance(result, str)
    ]
    conditions = set(array.conditions)
    return [
        n if set(n.about.conditions) <= conditions else replace(n, about=About()) for n in results
    ]


def _level_results(array: ScoreArray, name: str, level: float) -> list[NamedResult]:
    """Levels used under one condition, and what fewer levels would lose."""
    scores = array.condition(name)
    read = ~np.isnan(scores).all(axis=1)
    if not read.any():
        return []
    if not read.all():
        scores = scores[read]
    cluster = array.clusters[read]
    results = []
    used = levels_used(scores, cluster=cluster, level=level)
    about_levels = tuple(n for n in used.notes if n.code in {BETWEEN, NO_LEVELS})
    for key in _TERMS:
        term = used[key]
        if key == _TERMS[0]:
            again = {k: v for k, v in used.details.items() if k == "differ_again"}
            term = term.replace(notes=(*term.notes, *about_levels), details=again)
        if not math.isnan(term.estimate):
            results.append(_name_result(key, name, term.label, term))
    loss = recoding_loss(scores, cluster=cluster, level=level)
    if loss.interval is not None:
        results.append(_name_result(loss.name, name, f"{loss.label}, pairs of levels", loss))
    return results


def leniency_limits(results: Iterable[NamedResult], level: float) -> list[Limit]:
    """Limits for judges that score significantly higher or lower than human raters.

    Parameters
    ----------
    results : iterable of NamedResult
        Of an audit; the p-values of ``people.shift.CONDITION`` are one family (Holm).
    level : float
        The family's error rate is at most 1 - `level`.
    """
    shifts = {
        named.id.removeprefix("people.shift."): named.result.rows[0]
        for named in results
        if named.id.startswith("people.shift.") and isinstance(named.result, Comparisons)
    }
    adjusted = p_adjust([shift.p_value for shift in shifts.values()]) <= 1 - level
    limits = []
    for high, word, what in ((True, "higher", "leniency"), (False, "lower", "severity")):
        names = ", ".join(
            name
            for (name, shift), shown in zip(shifts.items(), adjusted, strict=True)
            if shown and (shift.estimate > 0) == high
        )
        if names:
            text = (
                f"{names}: scores are {word} than human scores of the same answers. "
                "Subtract the difference before you compare a score with a human limit."
            )
            limits.append(Limit(text, code=what, short=f"mind the {what} of {names}"))
    return limits


def instrument_limits(
    frame: pd.DataFrame, declared: AnalysisPlan, results: list[NamedResult]
) -> list[str]:
    """Why leniencies or differences between sources are not among the results."""
    out: list[str] = []
    kinds = {n.id.split(".")[1] for n in results if n.id.startswith("instrument.")}
    if len(_raters(frame).unique()) > 1 and "leniency" not in kinds:
        text = (
            "Leniency was not estimated: too few answers were scored by several judges. Until then "
            "mean scores do not distinguish a strict judge from poor answers."
        )
        out.append(Limit(text, code="no_leniency", short="leniency not estimated"))
    if _source(frame) and "dif_test" not in kinds:
        tried = [r for _, r in _tried(frame, declared) if isinstance(r, str)]
        text = f"Fairness between sources was not tested: {tried[0] if tried else 'no labels.'}"
        out.append(Limit(text, code="no_dif", short="fairness between sources not tested"))
    noted: dict[str, list[str]] = {SHORTER: [], NO_LEVELS: [], BETWEEN: []}
    again: list[float] = []
    for named in results:
        kind, _, name = named.id.removeprefix("instrument.").partition(".")
        used = named.result
        if not named.id.startswith("instrument.") or not isinstance(used, Estimate):
            continue
        for note in used.notes:
            code = SHORTER if kind == "recoding_loss" else note.code if kind == _TERMS[0] else ""
            if code in noted:
                noted[code].append(f"{name}: {note.message}")
        if kind == _TERMS[0] and (share := used.details.get("differ_again")) is not None:
            again.append(share)
    for code in (SHORTER, NO_LEVELS):
        out += [Limit(text, code=code, short=text.rstrip(".")) for text in noted[code]]
    if noted[BETWEEN]:
        short = "what half points are worth is not known"
        if again:
            low, high = (f"{100 * share:.0f}" for share in (min(again), max(again)))
            of = low if low == high else f"{low} to {high}"
            short = f"half points: {of}% of repeated scores differ by one or more"
        out.append(Limit("Half points. " + " ".join(noted[BETWEEN]), code=BETWEEN, short=short))
    return out


def instrument_metrics(results: list[NamedResult], condition: str) -> dict[str, float]:
    """Metrics of a condition, ``instrument/...``, with the ends of their intervals.

    Examples
    --------
    >>> from judgestats.stats.inference.result import Sample
    >>> e = Estimate(name="effective_levels", label="", estimate=2.5, sample=Sample(n_items=9))
    >>> instrument_metrics([_name_result("effective_levels", "gpt", "", e)], "gpt")
    {'instrument/effective_levels': 2.5}
    """
    out: dict[str, float] = {}
    for named in results:
        kind, _, rest = named.id.partition(".")
        if kind != "instrument" or named.about.conditions != (condition,):
            continue
        result = named.result
        if isinstance(result, Estimate):
            out |= metric_values(f"instrument/{rest.partition('.')[0]}", result)
        elif isinstance(result, TestResult) and len(result.effects) == _OF_TWO:
            for estimate in result.effects:  # of two sources: how far one is favoured
                out |= metric_values(f"instrument/{estimate.name}", estimate)
    return out


def instrument_rows(frame: pd.DataFrame, results: list[NamedResult]) -> tuple[Row, ...]:
    """Leniency and fairness between sources, where known.

    Parameters
    ----------
    frame : DataFrame
    results : list of NamedResult
        Of `instrument_results`.

    Returns
    -------
    tuple of Row
        Judges that were asked of several sources have one result for all their conditions.
    """
    by_id = {n.id: n.result for n in results if n.id.startswith("instrument.")}
    if not any(i.split(".")[1] in {"leniency", "dif_test"} for i in by_id):
        return ()
    one_each = frame.drop_duplicates("condition")
    rater = _raters(frame).loc[one_each.index]
    raters = dict(zip(one_each["condition"].astype(str), rater.astype(str), strict=True))
    rows = [declared_row("leniency", raters, ids="instrument.leniency.{}")]
    sources = {
        tuple(r.details["sources"])
        for i, r in by_id.items()
        if ".dif_test." in i and isinstance(r, TestResult)
    }
    if len(sources) == 1 and len(pair := next(iter(sources))) == 2:
        rows.append(
            results_row(
                "fair_source", f"DIF, {pair[1]} over {pair[0]}", "DIF",
                "dif_log_odds", "instrument.dif_test.{}/dif_log_odds", raters,
                note="(log odds, equal quality)",
            )
        )  # fmt: skip
    elif sources:
        rows.append(declared_row("r2_change", raters, ids="instrument.dif_test.{}/r2_change"))
    return tuple(rows)


def _name_result(key: str, condition: str, title: str, result: Result) -> NamedResult:
    return condition_result(f"instrument.{key}", title, condition, result, role="secondary")


def _source(frame: pd.DataFrame) -> str:
    """The column that says whose answer was judged, where it varies; else empty."""
    for name in SOURCES:
        if name in frame and len({str(v) for v in frame[name].dropna().unique()} - {""}) > 1:
            return name
    return ""


def _raters(frame: pd.DataFrame) -> pd.Series:
    """The judge with its settings: the condition without the source of the answer."""
    source = _source(frame)
    if not source:
        return frame["condition"]
    others = [c for c in frame.columns if str(c).startswith("factor_") and c != source]
    return condition_labels(frame, others)


def _rated(frame: pd.DataFrame) -> pd.DataFrame:
    """The read scores with rater and answer."""
    source = _source(frame)
    columns = ("item_id", "cluster", "score", "label", "replicate", source)
    used = [c for c in columns if c and c in frame]
    read = frame.loc[frame["score"].notna() & (frame["stage"] == "final"), used]
    answer = read["item_id"]
    if source:
        present = read[source].notna() & (read[source].astype(str) != "")
        read = read[present]
        answer = read["item_id"].astype(str) + " / " + read[source].astype(str)
    return read.assign(_rater=_raters(frame).loc[read.index], _answer=answer)


def _by_rater(frame: pd.DataFrame, array: ScoreArray) -> ScoreArray:
    """The scores of raters x answers; a rater with answers of several sources is one."""
    if not _source(frame):
        return array
    rated = _rated(frame)
    cells = ["item_id", "condition"]
    rated = rated.assign(item_id=rated["_answer"], condition=rated["_rater"])
    if rated.duplicated([*cells, "replicate"]).any():  # of several conditions
        rated = rated.sort_values("replicate", kind="stable")
        rated = rated.assign(replicate=rated.groupby(cells, sort=False).cumcount())
    return score_array(rated)


def _leniencies(
    frame: pd.DataFrame, array: ScoreArray, declared: AnalysisPlan
) -> list[NamedResult]:
    """Each judge's leniency against all of them, from all repeats of the items they share."""
    array = _by_rater(frame, array)
    read = np.isfinite(array.scores)
    items, judges = read.any(axis=(1, 2)), read.any(axis=(0, 2))
    if judges.sum() < 2:
        return []
    names = np.array(array.conditions)[judges].tolist()
    scores, cluster = array.scores[items][:, judges], array.clusters[items]
    try:
        found = leniency(
            scores, judges=names, cluster=shared_clusters(cluster),
            runs=run_component(scores, cluster=cluster, interleaved=request_order(frame) != ""),
            level=declared.level,
        )  # fmt: skip
    except InputError:  # no item in common: a limitation says so
        return []
    return [
        _name_result("leniency", name, "Leniency vs. panel", term)
        for name, term in zip(names, found.terms, strict=True)
    ]


def _tried(frame: pd.DataFrame, declared: AnalysisPlan) -> Iterator[tuple[str, Result | str]]:
    """Each rater's scores of sources given the human numeric label, or why they are not tested."""
    source = _source(frame)
    if not source or "label" not in frame:
        return
    rated = _rated(frame).sort_values("replicate", kind="stable")
    rated = rated.drop_duplicates(["_rater", "_answer"]).sort_index()
    rated = rated.assign(_quality=pd.to_numeric(rated["label"], errors="coerce"))
    for rater, part in rated.groupby("_rater", sort=False):
        try:
            yield str(rater), dif_test(
                part["score"].to_numpy(float), part[source].to_numpy(str),
                quality=part["_quality"].to_numpy(float), cluster=part["cluster"].to_numpy(str),
                level=declared.level,
            )  # fmt: skip
        except InputError as refusal:
            yield str(rater), str(refusal)
