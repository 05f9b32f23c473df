"""Printed results of the replicated studies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.families import Stratum, by_levels, strata_of
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.selections import rotations_of
from judgestats.analysis.spread_experiments import WITHOUT, judges_with_and_without
from judgestats.data.columns import Contrast
from judgestats.data.parse import ScoreArray, score_array
from judgestats.results.numbers import apa_number
from judgestats.sinks import csv_text
from judgestats.stats.agreement.grade_score import grade_score_items
from judgestats.stats.comparison.groups import kruskal_test, pairwise_mann_whitney
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.comparison.rank_correlation import spearman_correlation
from judgestats.stats.designs.cells import Cells, cell_statistics
from judgestats.stats.dispersion.published import levene_of_variances, spread_published
from judgestats.stats.inference.multiplicity import p_adjust
from judgestats.stats.inference.result import Comparison, Comparisons, Note, Result, TestResult
from judgestats.stats.reliability.published_omega import published_omega_2412_12509
from judgestats.studies.claims import five_numbers, judges_agreement
from judgestats.studies.paper_tables import (
    PaperTable,
    crowd_table,
    grade_score_table,
    head_to_tail_table,
    omega_tables,
    read_printed,
    rejection_table,
)
from judgestats.studies.rewording import rewording_metrics, rewording_results

_UNPAIRED = Note(
    code="unpaired",
    message="This is the replicated study's test. Every group has the same items, but the test "
    "ignores the pairing. The paired tests answer the question.",
)
Groups = Mapping[str, np.ndarray[tuple[int], np.dtype[np.float64]]]
"""Values of the items by level."""


Test = Callable[[ScoreArray, Cells, Stratum], Iterator[NamedResult]]
"""Tests of a run's scores, under one set of conditions that differ in one thing."""


def _variances(cells: Cells, stratum: Stratum) -> Groups:
    """Within-item variances by level, those that are defined."""
    columns = (cells.variance[:, cells.conditions.index(c)] for c in stratum.conditions)
    own = (values[~np.isnan(values)] for values in columns)
    return dict(zip(stratum.labels, own, strict=True))


def _trend(array: ScoreArray, cells: Cells, stratum: Stratum) -> Iterator[NamedResult]:
    """Spearman of within-item variance and temperature; Levene on centred scores."""
    judge, variances = stratum.name, list(_variances(cells, stratum).values())
    at = [np.full(v.size, t) for v, t in zip(variances, stratum.at or (), strict=True)]
    trend = spearman_correlation(np.concatenate(at), np.concatenate(variances))
    levene = spread_published(stratum.scores(array), conditions=stratum.labels)
    yield _replicated(f"spearman.{judge}", f"Variance and temperature, {judge}", _marked(trend))
    yield _replicated(f"levene.{judge}", f"Levene on centred scores, {judge}", _marked(levene))


def _variances_of(what: str) -> Test:
    """Kruskal-Wallis and Mann-Whitney on within-item variances, unpaired."""

    def test(_: ScoreArray, cells: Cells, stratum: Stratum) -> Iterator[NamedResult]:
        groups = _variances(cells, stratum)
        if all(g.size > 1 for g in groups.values()):
            titles = f"Variances of the {what}", f"Variances of pairs of {what}"
            yield from _of_groups(groups, stratum.name, titles)

    return test


def _of_groups(
    groups: Groups, where: str, titles: tuple[str, str], *notes: Note, begun: str = ""
) -> Iterator[NamedResult]:
    """Kruskal-Wallis, and Mann-Whitney of pairs with Vargha and Delaney's A: (1 + delta) / 2."""
    values, names = list(groups.values()), list(groups)
    test = _marked(kruskal_test(values, names=names, ties="exact"), *notes)  # ties as the study's
    pairs = pairwise_mann_whitney(values, names=names, adjust="none")
    rows = (
        dataclasses.replace(r, effect=(1 + r.effect) / 2, effect_name="probability_of_superiority")
        for r in pairs.rows
    )
    pairs = pairs.replace(rows=tuple(rows), notes=(*pairs.notes, _UNPAIRED, *notes))
    yield _replicated(f"{begun}kruskal.{where}", f"{titles[0]}, {where}", test)
    title = f"{titles[1]}, not adjusted, {where}"
    yield _replicated(f"{begun}mann_whitney.{where}", title, pairs)


def _blocked_pairs(array: ScoreArray, cells: Cells, stratum: Stratum) -> Iterator[NamedResult]:
    """Wilcoxon tests of within-item variances, pairs of judges, items as blocks, Holm."""
    columns = (cells.variance[:, cells.conditions.index(c)] for c in stratum.conditions)
    tests = {
        (a, b): wilcoxon_signed_rank(x, y, names=[a, b], cluster=array.clusters)
        for (a, x), (b, y) in combinations(zip(stratum.labels, columns, strict=True), 2)
    }
    adjusted = p_adjust([t.p_value for t in tests.values()], method="holm")
    rows = tuple(
        Comparison(
            a=a, b=b, estimate=t.effects[1].estimate, estimate_name="location_shift",
            statistic=t.statistic, p_value=t.p_value, p_adjusted=float(p), reason=t.reason,
            effect=t.effects[0].estimate, effect_name=t.effects[0].name,
            n=len(cells.variance),
        )
        for ((a, b), t), p in zip(tests.items(), adjusted, strict=True)
    )  # fmt: skip
    pairs = Comparisons(
        symbol="V", name="wilcoxon_pairs", method="Wilcoxon tests of all pairs, items as blocks",
        adjust="holm", family="pairs of judges", rows=rows,
        sample=next(iter(tests.values())).sample,
    )  # fmt: skip
    title = f"Variances of pairs of judges within items, {stratum.name}"
    yield NamedResult(f"wilcoxon.{stratum.name}", title, "secondary", pairs)


def _levene_of_variances(_: ScoreArray, cells: Cells, stratum: Stratum) -> Iterator[NamedResult]:
    """Levene on vectors of variances, each way of reasoning against none."""
    variances = dict(_variances(cells, stratum))
    base = variances.pop(WITHOUT, np.empty(0))
    for label, values in variances.items():
        if min(base.size, values.size) > 1:
            test = levene_of_variances([base, values], conditions=[WITHOUT, label])
            yield _replicated(
                f"levene_of_variances.{label}.{stratum.name}",
                f"Levene on variances, {label} against {WITHOUT}, {stratum.name}",
                _marked(test),
            )


def _ratios(conditions: pd.DataFrame, array: ScoreArray) -> Iterator[NamedResult]:
    """Kruskal-Wallis and Mann-Whitney on ratios of variances, item by item, between judges.

    A ratio with a variance of 0 in the denominator is undefined. It is left out and counted.
    """
    whose = "Item-wise ratios of variances"
    for where, strata in judges_with_and_without(conditions).items():
        treated, control = (cell_statistics(s.scores(array)).variance for s in strata)
        defined = (control > 0) & ~np.isnan(treated)
        groups = {
            name: treated[defined[:, j], j] / control[defined[:, j], j]
            for j, name in enumerate(strata[0].labels)
        }
        if len(groups) < 2 or min(g.size for g in groups.values()) < 2:
            continue
        undefined = Note(
            code="ratio_undefined",
            message=f"{int((~defined).sum())} ratios are left out: the variance they divide by is "
            "0 or missing.",
        )
        titles = f"{whose} between judges", f"{whose} of pairs of judges"
        yield from _of_groups(groups, where, titles, undefined, begun="ratio_")


def _marked(test: TestResult, *notes: Note) -> TestResult:
    why = "The replicated study used this test. It ignores that every group has the same items."
    return dataclasses.replace(test, why=why, notes=(*test.notes, _UNPAIRED, *notes))


def _replicated(identity: str, title: str, result: Result) -> NamedResult:
    return NamedResult(id=f"published.{identity}", title=title, role="replicated", result=result)


_FEWEST = 3
"""Questions, and replications, that a factor model takes."""
_SHUFFLINGS = 99
_FIVE = ("least", "lower quartile", "median", "upper quartile", "most")


def _table(
    identity: str, title: str, source: str, rows: Sequence[Mapping[str, object]], text: str
) -> Iterator[NamedResult]:
    """A table of this run, where it has rows."""
    if rows:
        frame = pd.DataFrame(list(rows)).round(3)
        table = PaperTable(source=source, table=frame, caption=text, how="on this run")
        yield _replicated(identity, title, table)


def centred_distances(array: ScoreArray) -> Iterator[NamedResult]:
    """Count the distances from the item means per condition (study A's figure).

    Parameters
    ----------
    array : ScoreArray

    Yields
    ------
    NamedResult
        ``condition``, ``score_less_item_mean``, ``count``.
    """
    rows: list[dict[str, object]] = []
    for k, condition in enumerate(array.conditions):
        cell = array.scores[:, k]
        away = (cell - np.nanmean(cell, axis=1, keepdims=True)).round(2) + 0.0
        values, counts = np.unique(away[np.isfinite(away)], return_counts=True)
        rows += [
            {"condition": str(condition), "score_less_item_mean": float(v), "count": int(n)}
            for v, n in zip(values, counts, strict=True)
        ]
    text = (
        "Counts of scores minus the mean of their item and condition. The study calls their "
        "shape normal and flatter at high temperature. Scores are whole numbers on few points."
    )
    source = "LLMasJudge, experiment 1c"
    yield from _table("centred", "Scores centred by item", source, rows, text)


def omega_results(frame: pd.DataFrame, *, with_tables: bool) -> list[NamedResult]:
    """Omega as arXiv 2412.12509 computes it, and its Tables 1 and 4, on a run's choices.

    Letters are coded by their position, and unparsed replies are a category, as in the paper.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    with_tables : bool
        Whether the run has the study's design, so that its tables can be compared.

    Returns
    -------
    list of NamedResult
        Omega with its permutation null, per condition and benchmark; the five numbers of judges'
        agreement, and of correct answers per question, where the run has them.
    """
    asked = frame[frame["status"] != "invalid_condition"]
    place = pd.to_numeric(asked["position"], errors="coerce")
    letter = place.map(lambda p: "" if math.isnan(p) else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[int(p) - 1])
    unread = asked["status"].map(lambda s: "multiple" if s == "ambiguous" else "no_answer")
    coded = asked.assign(letter=letter.where(asked["status"].eq("ok"), unread))
    tables = (*_agreement(coded), *_right_answers(asked)) if with_tables else ()
    return [*_omegas(coded), *tables]


def _wide(own: pd.DataFrame) -> pd.DataFrame:
    return own.pivot(index="item_id", columns="replicate", values="letter").fillna("no_answer")


def _omegas(rows: pd.DataFrame) -> Iterator[NamedResult]:
    for (condition, benchmark), own in rows.groupby(["condition", "category"], sort=False):
        letters = _wide(own).to_numpy(object)
        if min(letters.shape) >= _FEWEST:
            omega = published_omega_2412_12509(letters, n_permutations=_SHUFFLINGS, seed=0)
            title = f"Omega as the study computed it, {condition}, {benchmark}"
            yield _replicated(f"omega.{benchmark}.{condition}", title, omega)


def _agreement(frame: pd.DataFrame) -> Iterator[NamedResult]:
    """Table 1: judges' agreement in five numbers, over replications and over questions."""
    rows: list[dict[str, object]] = []
    for (benchmark, temperature, *wording), own in by_levels(frame, "category", "temperature"):
        wide = [_wide(of_judge) for _, of_judge in own.groupby("judge", sort=False)]
        if len(wide) < 2 or not set.intersection(*(set(w.index) for w in wide)):
            continue
        about = {"benchmark": " at ".join([benchmark, *wording]), "temperature": temperature}
        _, over = judges_agreement(wide)
        rows += [{**about, "over": what} | _five(values) for what, values in over.items()]
    if rows:
        about = {"benchmark": "BBH", "temperature": 0.25, "over": "as printed"}
        rows.append(about | _five(omega_tables().query("table == 1")["value"]))
    text = (
        "Share of pairs of judges that agree. The paper does not say what its five numbers "
        "summarise. Unparsed replies are a category."
    )
    title = "Agreement of judges in five numbers"
    yield from _table("agreement", title, "arXiv 2412.12509, Table 1", rows, text)


def _right_answers(asked: pd.DataFrame) -> Iterator[NamedResult]:
    """Table 4: correct answers per question in five numbers."""
    if "options_right" not in asked:
        return
    labelled = asked[asked["options_judged"] != ""].drop_duplicates("item_id")
    rows: list[dict[str, object]] = [
        {"benchmark": benchmark, "questions": len(own), "whose": "this run"}
        | _five(five_numbers(pd.to_numeric(own["options_right"])))
        for benchmark, own in labelled.groupby("category", sort=False)
    ]
    if rows:
        rows += [
            {"benchmark": benchmark, "questions": None, "whose": "as printed"} | _five(own["value"])
            for benchmark, own in omega_tables()
            .query("table == 4")
            .groupby("benchmark", sort=False)
        ]
    text = (
        "Answers per question that name the true answer as words. The study's count for SQuAD is "
        "of answers that contain its first character (see `replicate`)."
    )
    title = "Correct answers in five numbers"
    yield from _table("right_answers", title, "arXiv 2412.12509, Table 4", rows, text)


def _five(values: Iterable[float]) -> dict[str, object]:
    return dict(zip(_FIVE, values, strict=True))


def _side_by_side(cells: pd.DataFrame) -> Iterator[NamedResult]:
    """Tables 1-3 of arXiv 2406.12043 next to a run's Grade Scores and what corrects them."""
    printed = read_printed("arxiv_2406_12043_tables_1_3.csv").query("metric == 'grade_score'")
    rows: list[dict[str, object]] = []
    for cell in cells.to_dict("records"):
        own = printed[
            printed["judge"].map(lambda name, j=str(cell["judge"]): _is(name, j))
            & (printed["prompt"].astype(str) == str(cell.get("factor_prompt", "")))
            & (printed["random_option"] == (cell.get("factor_unrelated") == "yes"))
        ]
        rows.append(
            {
                "condition": cell["condition"],
                "printed": float(own["value"].iloc[0]) if len(own) == 1 else math.nan,
                "as the paper computes it": cell["grade_score"],
                "harmonic mean of its parts": cell["harmonic_of_means"],
                "by chance": cell["chance"],
                "corrected for chance": cell["corrected"],
            }
        )
    text = (
        "The printed Grade Score averages items. It cannot exceed the harmonic mean of its two "
        "parts. Its chance level depends on the number of options. So only corrected scores "
        "compare conditions with and without the unrelated option."
    )
    title = "Grade Scores, printed and of this run"
    yield from _table("own", title, "arXiv 2406.12043, Tables 1-3", rows, text)


def _is(printed: str, judge: str) -> bool:
    """Whether a printed judge is the given one, whose name may lack its version.

    Examples
    --------
    >>> _is("gpt-4o-2024-05-13", "gpt-4o"), _is("gpt-4o-2024-05-13", "gpt-4")
    (True, False)
    """
    return printed == judge or printed.startswith(f"{judge}-")


def _repeats(frame: pd.DataFrame) -> Iterator[NamedResult]:
    """The Grade Score of every repeat of the complete run, and their differences."""
    rows = []
    for condition, rotations in rotations_of(frame).items():
        scores = grade_score_items(rotations.positions, n_options=rotations.n_options)
        whole = np.asarray(scores["complete"], dtype=bool)
        replicate = rotations.index.get_level_values("replicate").to_numpy()
        own = pd.Series(np.asarray(scores["grade_score"])[whole]).groupby(replicate[whole]).mean()
        if len(own) > 1:
            rows.append(
                {
                    "condition": condition,
                    "repeats": len(own),
                    "least": own.min(),
                    "most": own.max(),
                    "apart": own.max() - own.min(),
                    "standard deviation": own.std(ddof=1),
                }
            )
    most = max((float(row["apart"]) for row in rows), default=math.nan)
    text = (
        "Grade Scores of repeats of the complete run, on the same items in the same orders. They "
        f"differ by up to {apa_number(most, digits=3, bounded=True)}. The study reports "
        "differences of .05 to .12."
    )
    source = "arXiv 2406.12043, repeats of a run"
    yield from _table("repeats", "Repeats of the complete run", source, rows, text)


def with_published(
    analysis: Analysis,
    frame: pd.DataFrame,
    *,
    preset: str = "",
    contrasts: Sequence[Contrast] = (),
    extras: Mapping[str, Any] | None = None,
) -> Analysis:
    """An analysis with the results that the replicated study would have printed.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        The parsed judgments that it is of.
    preset : str
        Of the run: numbers that mislead are computed only where the study itself is repeated.
    contrasts : sequence of Contrast
        Of the study's claim, which another wording may change.
    extras : mapping, optional
        What the experiment's analysis takes besides: ``items``, ``pipelines``.

    Returns
    -------
    Analysis
        With results of role ``replicated`` after its own; unchanged where the experiment
        replicates no study.
    """
    name, metrics, files = analysis.experiment, analysis.metrics, analysis.files
    results = [
        NamedResult(id=identity, title=title, role="replicated", result=table())
        for identity, (title, table) in _PRINTED.get(name, {}).items()
    ]
    if name in _COMPUTED:
        asked = frame[frame["status"] != "invalid_condition"]  # refused conditions have no scores
        results += _tests_of(name, analysis.conditions, score_array(asked))
    if contrasts and "factor_wording" in analysis.conditions:
        rewording = rewording_results(name, contrasts, analysis.conditions, frame, extras or {})
        results += rewording
        metrics = {**metrics, **rewording_metrics(rewording)}
    if name == "omega":
        results += omega_results(frame, with_tables=bool(preset))
    if name == "grade_score":
        results += (*_side_by_side(analysis.conditions), *_repeats(frame))
    if name == "temperature" and preset == "distribution":
        centred = [*centred_distances(score_array(frame))]
        results += centred
        files = {**files, "tables/centred_scores.csv": csv_text(centred[0].result.tidy())}
    return dataclasses.replace(
        analysis, results=(*analysis.results, *results), metrics=metrics, files=files
    )


def _tests_of(
    experiment: str, conditions: pd.DataFrame, array: ScoreArray
) -> Iterator[NamedResult]:
    """The tests of the replicated study on the same judgments, as `_COMPUTED` declares them."""
    cells = cell_statistics(array.scores, conditions=array.conditions, cluster=array.clusters)
    for vary, test in _COMPUTED[experiment]:
        for stratum in strata_of(conditions, vary=vary):
            yield from test(array, cells, stratum)
    if experiment == "reasoning":
        yield from _ratios(conditions, array)


_COMPUTED: Mapping[str, Sequence[tuple[str, Test]]] = {
    "temperature": (("temperature", _trend), ("judge", _variances_of("judges"))),
    "judges": (("judge", _variances_of("judges")), ("judge", _blocked_pairs)),
    "guidelines": (("factor_guideline", _variances_of("guidelines")),),
    "reasoning": (("factor_reasoning", _levene_of_variances),),
}
"""What varies between the conditions that a test compares, and the test."""
_PRINTED: Mapping[str, Mapping[str, tuple[str, Callable[[], PaperTable]]]] = {
    "grade_score": {"published": ("Tables 1-3 of arXiv 2406.12043", grade_score_table)},
    "head_to_tail": {"published": ("Tables 5 and 6 of arXiv 2412.12509", head_to_tail_table)},
    "crowd": {
        f"published.table_{n}": (f"Table {n} as printed", partial(crowd_table, n))
        for n in (1, 2, 4)
    },
    "rejection_sampling": {"published": ("Table 3 as printed", rejection_table)},
}
