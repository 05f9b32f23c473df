"""A run's own judgments as a study would print them, beside what it printed: never a headline."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.rotations import rotations_of
from judgestats.judgments.shapes import ScoreArray
from judgestats.results.numbers import apa_number
from judgestats.stats.agreement.between_judges import agreement_across_judges
from judgestats.stats.agreement.grade_score_items import grade_score_items
from judgestats.stats.reliability.published_omega import published_omega_2412_12509
from judgestats.studies.paper_tables import PaperTable, omega_tables, read_printed

_FEWEST = 3
"""Questions, and replications, that a factor model takes."""
_SHUFFLINGS = 99
_FIVE = ("least", "lower quartile", "median", "upper quartile", "most")


def _table(identity: str, title: str, source: str, rows: pd.DataFrame, text: str) -> NamedResult:
    table = PaperTable(source=source, table=rows, caption=text, how="on this run")
    return NamedResult(id=f"published.{identity}", title=title, role="replicated", result=table)


def centred_beside(array: ScoreArray) -> NamedResult:
    """How often each distance from its item's mean occurs, a condition: study A's figure.

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
        for value, count in zip(
            *np.unique(away[np.isfinite(away)], return_counts=True), strict=True
        ):
            rows.append(
                {
                    "condition": str(condition),
                    "score_less_item_mean": float(value),
                    "count": int(count),
                }
            )
    text = (
        "Scores less the mean of their item under their condition, counted. The study calls their "
        "shape normal and flatter at high temperature; scores are whole numbers on few points."
    )
    return _table(
        "centred", "Scores centred by item", "LLMasJudge, experiment 1c", _frame(rows), text
    )


def omegas_beside(frame: pd.DataFrame) -> list[NamedResult]:
    """Tables 1, 2 and 4 of arXiv 2412.12509 on a run's choices of the best of five answers.

    Letters are coded by their place, and what could not be read is a category, as there.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.

    Returns
    -------
    list of NamedResult
        Omega with its null by shuffling, a condition and benchmark; the five numbers of judges'
        agreement, and of right answers a question, where the run has them.
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
        results.append(
            NamedResult(
                id=f"published.omega.{condition}.{benchmark}",
                title=f"Omega as the study computed it, {condition}, {benchmark}",
                role="replicated",
                result=omega,
            )
        )
    return results


def _agreement(frame: pd.DataFrame) -> list[NamedResult]:
    """Table 1: judges' agreement in five numbers, over replications and over questions."""
    rows: list[dict[str, object]] = []
    for (benchmark, temperature), own in frame.groupby(["category", "temperature"], sort=False):
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
            rows.append(
                {"benchmark": benchmark, "temperature": temperature, "over": over} | numbers
            )
    if not rows:
        return []
    printed = [omega_tables().query("table == 1")["value"].to_list()]
    rows.append(
        {"benchmark": "BBH", "temperature": 0.25, "over": "as printed"}
        | dict(zip(_FIVE, printed[0], strict=True))
    )
    text = (
        "Share of pairs of judges that agree. The paper does not say over what its five numbers "
        "are; what is no verdict is a category."
    )
    source = "arXiv 2412.12509, Table 1"
    return [_table("agreement", "Agreement of judges in five numbers", source, _frame(rows), text)]


def _right_answers(asked: pd.DataFrame) -> list[NamedResult]:
    """Table 4: right answers of a question in five numbers."""
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
        "Answers of a question that name the true answer as words. The study's count for SQuAD is "
        "of answers that hold its first character (see `replicate`)."
    )
    source = "arXiv 2412.12509, Table 4"
    return [_table("right_answers", "Right answers in five numbers", source, _frame(rows), text)]


def _five(values: Sequence[float]) -> dict[str, object]:
    return dict(zip(_FIVE, map(float, np.quantile(values, np.linspace(0, 1, 5))), strict=True))


def _frame(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(list(rows)).round(3)


def grade_scores_beside(cells: pd.DataFrame, frame: pd.DataFrame) -> list[NamedResult]:
    """Tables 1-3 of arXiv 2406.12043 on a run, beside the printed cells and what corrects them.

    Parameters
    ----------
    cells : DataFrame
        One row a condition, as the analysis describes it.
    frame : DataFrame
        The parsed judgments.

    Returns
    -------
    list of NamedResult
        The scores side by side; and, where the whole run was repeated, how far repeats differ.
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
        "The printed Grade Score averages items; it cannot exceed the harmonic mean of its two "
        "parts. An option more lowers what chance scores, so that only corrected scores compare "
        "conditions with and without the unrelated option."
    )
    source = "arXiv 2406.12043, Tables 1-3"
    return _table("own", "Grade Scores, printed and of this run", source, _frame(rows), text)


def _is(printed: str, judge: str) -> bool:
    """Whether a printed judge is the one asked, whose name may lack its version.

    Examples
    --------
    >>> _is("gpt-4o-2024-05-13", "gpt-4o"), _is("gpt-4o-2024-05-13", "gpt-4")
    (True, False)
    """
    return printed == judge or printed.startswith(f"{judge}-")


def _repeats(frame: pd.DataFrame) -> list[NamedResult]:
    """The Grade Score of every repetition of the whole run, and how far they lie apart."""
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
        "Grade Scores of repetitions of the whole run, on the same items in the same orders: they "
        f"lie up to {apa_number(most, digits=3, bounded=True)} apart. The study says that repeats "
        "differ by .05 to .12."
    )
    source = "arXiv 2406.12043, repeats of a run"
    return [_table("repeats", "Repeats of the whole run", source, _frame(rows), text)]
