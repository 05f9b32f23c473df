"""Printed results of the replicated studies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
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
from judgestats.stats.agreement.position import agreement_across_judges
from judgestats.stats.comparison.groups import kruskal_test, pairwise_mann_whitney
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.comparison.rank_correlation import spearman_correlation
from judgestats.stats.designs.cells import Cells, cell_statistics
from judgestats.stats.dispersion.published import levene_of_variances, spread_published
from judgestats.stats.inference.multiplicity import p_adjust
from judgestats.stats.inference.result import Comparison, Comparisons, Note, Result, TestResult
from judgestats.stats.reliability.published_omega import published_omega_2412_12509
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

FloatArray = np.ndarray[tuple[int, int], np.dtype[np.float64]]

_UNPAIRED = Note(
    code="unpaired",
    message="This is the replicated study's test. Every group has the same items, but the test "
    "ignores the pairing. The paired tests answer the question.",
)


def published_tests(array: ScoreArray, cells: pd.DataFrame) -> list[NamedResult]:
    """The tests of the replicated study on the same judgments; none of them uses the pairing.

    Spearman of within-item variance and temperature (all cells of a judge), Levene on scores
    centred by item and condition, and at each temperature Kruskal-Wallis and Mann-Whitney of the
    judges' within-item variances.

    Parameters
    ----------
    array : ScoreArray
    cells : DataFrame
        One row per condition, with judge and temperature.

    Returns
    -------
    list of NamedResult
        All of role ``replicated``.
    """
    cell_table = cell_statistics(array.scores, conditions=array.conditions, cluster=array.clusters)
    results: list[NamedResult] = []
    for stratum in strata_of(cells, vary="temperature"):
        judge, trend = stratum.name, _trend(cell_table, stratum)
        test = _marked(spread_published(stratum.scores(array), conditions=stratum.labels))
        results += [
            _name_result(f"spearman.{judge}", f"Variance and temperature, {judge}", trend),
            _name_result(f"levene.{judge}", f"Levene on centred scores, {judge}", test),
        ]
    return [*results, *published_groups(array, strata_of(cells, vary="judge"), what="judges")]


def published_groups(
    array: ScoreArray, strata: Sequence[Stratum], *, what: str
) -> list[NamedResult]:
    """Kruskal-Wallis and Mann-Whitney on the within-item variances of every stratum, unpaired.

    Parameters
    ----------
    array : ScoreArray
    strata : sequence of Stratum
    what : str
        What is compared, in the plural.

    Returns
    -------
    list of NamedResult
        All of role ``replicated``.
    """
    cells = cell_statistics(array.scores, conditions=array.conditions, cluster=array.clusters)
    results: list[NamedResult] = []
    for stratum in strata:
        groups = [_variances(cells, c) for c in stratum.conditions]
        if any(g.size < 2 for g in groups):
            continue
        titles = f"Variances of the {what}", f"Variances of pairs of {what}"
        results += _of_groups(groups, stratum.labels, stratum.name, titles)
    return results


def _of_groups(
    groups: Sequence[Any], names: Sequence[str], where: str, titles: tuple[str, str],
    *notes: Note, begun: str = "",
) -> list[NamedResult]:  # fmt: skip
    """Kruskal-Wallis, and Mann-Whitney of pairs with Vargha and Delaney's A: (1 + delta) / 2."""
    test = _marked(kruskal_test(groups, names=names, ties="exact"))  # as the study counted ties
    pairs = pairwise_mann_whitney(groups, names=list(names), adjust="none")
    rows = (
        dataclasses.replace(r, effect=(1 + r.effect) / 2, effect_name="probability_of_superiority")
        for r in pairs.rows
    )
    pairs = pairs.replace(rows=tuple(rows), notes=(*pairs.notes, _UNPAIRED, *notes))
    test = dataclasses.replace(test, notes=(*test.notes, *notes))
    return [
        _name_result(f"{begun}kruskal.{where}", f"{titles[0]}, {where}", test),
        _name_result(f"{begun}mann_whitney.{where}", f"{titles[1]}, not adjusted, {where}", pairs),
    ]


def _blocked_pairs(array: ScoreArray, strata: Sequence[Stratum]) -> list[NamedResult]:
    """Wilcoxon tests of within-item variances, pairs of judges, items as blocks, Holm."""
    cells = cell_statistics(array.scores, conditions=array.conditions, cluster=array.clusters)
    results = []
    for stratum in strata:
        places = [cells.conditions.index(c) for c in stratum.conditions]
        tests = {
            (a, b): wilcoxon_signed_rank(
                cells.variance[:, i], cells.variance[:, j], names=[a, b], cluster=array.clusters
            )
            for (a, i), (b, j) in combinations(zip(stratum.labels, places, strict=True), 2)
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
        first = next(iter(tests.values()))
        pairs = Comparisons(
            symbol="V", name="wilcoxon_pairs",
            method="Wilcoxon tests of all pairs, items as blocks",
            adjust="holm", family="pairs of judges", rows=rows, sample=first.sample,
        )  # fmt: skip
        title = f"Variances of pairs of judges within items, {stratum.name}"
        results.append(NamedResult(f"wilcoxon.{stratum.name}", title, "secondary", pairs))
    return results


def published_levene_of_variances(
    array: ScoreArray, strata: Sequence[Stratum], *, reference: str
) -> list[NamedResult]:
    """Levene on vectors of variances, each level against one, as in a published claim.

    Parameters
    ----------
    array : ScoreArray
    strata : sequence of Stratum
    reference : str
        The level that all others are compared with.

    Returns
    -------
    list of NamedResult
        All of role ``replicated``.
    """
    cells = cell_statistics(array.scores, conditions=array.conditions, cluster=array.clusters)
    results: list[NamedResult] = []
    for stratum in strata:
        variances = dict(
            zip(stratum.labels, (_variances(cells, c) for c in stratum.conditions), strict=True)
        )
        base = variances.pop(reference, None)
        for label, values in variances.items():
            if base is None or min(base.size, values.size) < 2:
                continue
            test = levene_of_variances([base, values], conditions=[reference, label])
            results.append(
                _name_result(
                    f"levene_of_variances.{label}.{stratum.name}",
                    f"Levene on variances, {label} against {reference}, {stratum.name}",
                    _marked(test),
                )
            )
    return results


def published_ratios(
    treated: FloatArray, control: FloatArray, *, names: Sequence[str], where: str
) -> list[NamedResult]:
    """Kruskal-Wallis and Mann-Whitney on ratios of variances, item by item, between judges.

    A ratio with a variance of 0 in the denominator is undefined. It is left out and counted.

    Parameters
    ----------
    treated, control : ndarray, shape (n_items, n_judges)
        Within-item variances.
    names : sequence of str
    where : str
        For ids and titles.

    Returns
    -------
    list of NamedResult
        All of role ``replicated``.
    """
    groups = []
    lost = 0
    for j in range(len(names)):
        defined = (control[:, j] > 0) & ~np.isnan(treated[:, j])
        lost += int(np.sum(~defined))
        groups.append(treated[defined, j] / control[defined, j])
    if len(groups) < 2 or min(g.size for g in groups) < 2:
        return []
    undefined = Note(
        code="ratio_undefined",
        message=f"{lost} ratios are left out: the variance they divide by is 0 or missing.",
    )
    whose = "Item-wise ratios of variances"
    titles = f"{whose} between judges", f"{whose} of pairs of judges"
    return _of_groups(groups, names, where, titles, undefined, begun="ratio_")


def _variances(cells: Cells, condition: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = cells.variance[:, cells.conditions.index(condition)]
    return values[~np.isnan(values)]


def _trend(cells: Cells, stratum: Stratum) -> TestResult:
    values = [_variances(cells, c) for c in stratum.conditions]
    at = [np.full(v.size, t) for v, t in zip(values, stratum.at or (), strict=True)]
    return _marked(spearman_correlation(np.concatenate(at), np.concatenate(values)))


def _marked(test: TestResult) -> TestResult:
    why = "The replicated study used this test. It ignores that every group has the same items."
    return dataclasses.replace(test, why=why, notes=(*test.notes, _UNPAIRED))


def _name_result(identity: str, title: str, result: Result) -> NamedResult:
    return NamedResult(id=f"published.{identity}", title=title, role="replicated", result=result)


_FEWEST = 3
"""Questions, and replications, that a factor model takes."""
_SHUFFLINGS = 99
_FIVE = ("least", "lower quartile", "median", "upper quartile", "most")


def _table(identity: str, title: str, source: str, rows: pd.DataFrame, text: str) -> NamedResult:
    table = PaperTable(source=source, table=rows, caption=text, how="on this run")
    return _name_result(identity, title, table)


def centred_distances(array: ScoreArray) -> NamedResult:
    """Count the distances from the item means per condition (study A's figure).

    Parameters
    ----------
    array : ScoreArray

    Returns
    -------
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
    return _table(
        "centred", "Scores centred by item", "LLMasJudge, experiment 1c", _frame(rows), text
    )


def omega_results(frame: pd.DataFrame) -> list[NamedResult]:
    """Tables 1, 2 and 4 of arXiv 2412.12509 on a run's choices of the best of five answers.

    Letters are coded by their position, and unparsed replies are a category, as in the paper.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.

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
    return [*_omegas(coded), *_agreement(coded), *_right_answers(asked)]


def _wide(own: pd.DataFrame) -> pd.DataFrame:
    return own.pivot(index="item_id", columns="replicate", values="letter").fillna("no_answer")


def _omegas(rows: pd.DataFrame) -> list[NamedResult]:
    results = []
    for (condition, benchmark), own in rows.groupby(["condition", "category"], sort=False):
        wide = _wide(own)
        if min(wide.shape) < _FEWEST:
            continue
        omega = published_omega_2412_12509(
            wide.to_numpy(object), n_permutations=_SHUFFLINGS, seed=0
        )
        title = f"Omega as the study computed it, {condition}, {benchmark}"
        results.append(_name_result(f"omega.{condition}.{benchmark}", title, omega))
    return results


def _agreement(frame: pd.DataFrame) -> list[NamedResult]:
    """Table 1: judges' agreement in five numbers, over replications and over questions."""
    rows: list[dict[str, object]] = []
    for (benchmark, temperature, *wording), own in by_levels(frame, "category", "temperature"):
        wide = [_wide(of_judge) for _, of_judge in own.groupby("judge", sort=False)]
        items = sorted(set.intersection(*(set(w.index) for w in wide)))
        width = min(w.shape[1] for w in wide)
        if len(wide) < 2 or not items:
            continue
        agreement = agreement_across_judges(
            np.stack([w.loc[items].to_numpy(object)[:, :width] for w in wide])
        )
        for over, key in (
            (f"{width} replications", "five_numbers"),
            (f"{len(items)} questions", "five_numbers_items"),
        ):
            numbers = dict(zip(_FIVE, agreement.details[key].values(), strict=True))
            about = {"benchmark": " at ".join([benchmark, *wording]), "temperature": temperature}
            rows.append({**about, "over": over} | numbers)
    if not rows:
        return []
    printed = [omega_tables().query("table == 1")["value"].to_list()]
    rows.append(
        {"benchmark": "BBH", "temperature": 0.25, "over": "as printed"}
        | dict(zip(_FIVE, printed[0], strict=True))
    )
    text = (
        "Share of pairs of judges that agree. The paper does not say what its five numbers "
        "summarise. Unparsed replies are a category."
    )
    source = "arXiv 2412.12509, Table 1"
    return [_table("agreement", "Agreement of judges in five numbers", source, _frame(rows), text)]


def _right_answers(asked: pd.DataFrame) -> list[NamedResult]:
    """Table 4: correct answers per question in five numbers."""
    if "options_right" not in asked:
        return []
    labelled = asked[asked["options_judged"] != ""].drop_duplicates("item_id")
    rows: list[dict[str, object]] = [
        {"benchmark": benchmark, "questions": len(own), "whose": "this run"}
        | _five(pd.to_numeric(own["options_right"]).to_list())
        for benchmark, own in labelled.groupby("category", sort=False)
    ]
    if not rows:
        return []
    for benchmark, own in omega_tables().query("table == 4").groupby("benchmark", sort=False):
        rows.append(
            {"benchmark": benchmark, "questions": None, "whose": "as printed"}
            | dict(zip(_FIVE, own["value"], strict=True))
        )
    text = (
        "Answers per question that name the true answer as words. The study's count for SQuAD is "
        "of answers that contain its first character (see `replicate`)."
    )
    source = "arXiv 2412.12509, Table 4"
    return [_table("right_answers", "Correct answers in five numbers", source, _frame(rows), text)]


def _five(values: Sequence[float]) -> dict[str, object]:
    return dict(zip(_FIVE, map(float, np.quantile(values, np.linspace(0, 1, 5))), strict=True))


def _frame(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(list(rows)).round(3)


def grade_score_results(cells: pd.DataFrame, frame: pd.DataFrame) -> list[NamedResult]:
    """Tables 1-3 of arXiv 2406.12043 on a run, next to the printed cells and what corrects them.

    Parameters
    ----------
    cells : DataFrame
        One row per condition, as the analysis describes it.
    frame : DataFrame
        The parsed judgments.

    Returns
    -------
    list of NamedResult
        The scores side by side, and the difference of repeats of a complete run, if any.
    """
    return [_side_by_side(cells), *_repeats(frame)]


def _side_by_side(cells: pd.DataFrame) -> NamedResult:
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
    source = "arXiv 2406.12043, Tables 1-3"
    return _table("own", "Grade Scores, printed and of this run", source, _frame(rows), text)


def _is(printed: str, judge: str) -> bool:
    """Whether a printed judge is the given one, whose name may lack its version.

    Examples
    --------
    >>> _is("gpt-4o-2024-05-13", "gpt-4o"), _is("gpt-4o-2024-05-13", "gpt-4")
    (True, False)
    """
    return printed == judge or printed.startswith(f"{judge}-")


def _repeats(frame: pd.DataFrame) -> list[NamedResult]:
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
    if not rows:
        return []
    most = max(float(row["apart"]) for row in rows)
    text = (
        "Grade Scores of repeats of the complete run, on the same items in the same orders. They "
        f"differ by up to {apa_number(most, digits=3, bounded=True)}. The study reports "
        "differences of .05 to .12."
    )
    source = "arXiv 2406.12043, repeats of a run"
    return [_table("repeats", "Repeats of the complete run", source, _frame(rows), text)]


Procedure = Callable[[pd.DataFrame, ScoreArray], list[NamedResult]]
"""Of the conditions and their scores."""


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
    results = [
        NamedResult(id=identity, title=title, role="replicated", result=table())
        for identity, (title, table) in _PRINTED.get(analysis.experiment, {}).items()
    ]
    if procedure := _COMPUTED.get(analysis.experiment):
        asked = frame[frame["status"] != "invalid_condition"]  # refused conditions have no scores
        results += procedure(analysis.conditions, score_array(asked))
    if contrasts and "factor_wording" in analysis.conditions:
        rewording = rewording_results(
            analysis.experiment, contrasts, analysis.conditions, frame, extras or {}
        )
        results += rewording
        metrics = {**analysis.metrics, **rewording_metrics(rewording)}
        analysis = dataclasses.replace(analysis, metrics=metrics)
    if analysis.experiment == "omega" and preset in {"paper", "same_answers"}:
        results += omega_results(frame)
    if analysis.experiment == "grade_score":
        results += grade_score_results(analysis.conditions, frame)
    if analysis.experiment == "temperature" and preset == "distribution":
        centred = centred_distances(score_array(frame))
        results.append(centred)
        rows = csv_text(centred.result.tidy())
        files = {**analysis.files, "tables/centred_scores.csv": rows}
        analysis = dataclasses.replace(analysis, files=files)
    return dataclasses.replace(analysis, results=(*analysis.results, *results))


def _temperatures(cells: pd.DataFrame, array: ScoreArray) -> list[NamedResult]:
    return published_tests(array, cells)


def _judges(cells: pd.DataFrame, array: ScoreArray) -> list[NamedResult]:
    strata = strata_of(cells, vary="judge")
    return [*published_groups(array, strata, what="judges"), *_blocked_pairs(array, strata)]


def _guidelines(cells: pd.DataFrame, array: ScoreArray) -> list[NamedResult]:
    return published_groups(array, strata_of(cells, vary="factor_guideline"), what="guidelines")


def _reasoning(cells: pd.DataFrame, array: ScoreArray) -> list[NamedResult]:
    strata = strata_of(cells, vary="factor_reasoning")
    results = published_levene_of_variances(array, strata, reference=WITHOUT)
    for where, (treated, control) in judges_with_and_without(cells).items():
        more, less = (cell_statistics(s.scores(array)).variance for s in (treated, control))
        results += published_ratios(more, less, names=treated.labels, where=where)
    return results


_COMPUTED: Mapping[str, Procedure] = {
    "temperature": _temperatures,
    "judges": _judges,
    "guidelines": _guidelines,
    "reasoning": _reasoning,
}
_PRINTED: Mapping[str, Mapping[str, tuple[str, Callable[[], PaperTable]]]] = {
    "grade_score": {"published": ("Tables 1-3 of arXiv 2406.12043", grade_score_table)},
    "head_to_tail": {"published": ("Tables 5 and 6 of arXiv 2412.12509", head_to_tail_table)},
    "crowd": {
        f"published.table_{n}": (f"Table {n} as printed", partial(crowd_table, n))
        for n in (1, 2, 4)
    },
    "rejection_sampling": {"published": ("Table 3 as printed", rejection_table)},
}
