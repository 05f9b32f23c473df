"""Tables as papers print them: reference rows, never a result."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from importlib import resources

import pandas as pd

from judgestats.files.tables import read_csv
from judgestats.stats.agreement.grade_score import exceeds_grade_score_bound
from judgestats.stats.inference.result import Result

__all__ = [
    "PaperTable",
    "crowd_table",
    "grade_score_cells",
    "grade_score_table",
    "head_to_tail_table",
    "omega_tables",
    "read_printed",
    "rejection_table",
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PaperTable(Result):
    """A published table, with what can be said of it.

    Attributes
    ----------
    source : str
        The paper and its tables.
    table : DataFrame
        As printed, with columns of ours after those of the paper.
    caption : str
        One sentence.
    how : str
        Whose numbers: those printed, or a run's own by the paper's procedure.
    """

    source: str
    table: pd.DataFrame
    caption: str
    how: str = "as printed"

    def tidy(self) -> pd.DataFrame:
        """The table."""
        return self.table

    def glance(self) -> pd.DataFrame:
        """Source and size."""
        return pd.DataFrame([{"method": self.source, "n": len(self.table)}])

    def sentence(self) -> str:
        """What can be said of it."""
        return self.caption

    def __str__(self) -> str:
        table = self.table.to_string(index=False)
        return f"\n\t{self.source}, {self.how}\n\n{table}\n\n{self.caption}"


def read_printed(name: str) -> pd.DataFrame:
    """A table of this folder, as it was copied from print."""
    file = resources.files("judgestats.studies.paper_tables").joinpath(name)
    with resources.as_file(file) as path:
        return read_csv(path)


def _wide(rows: pd.DataFrame, index: Sequence[str], columns: str) -> pd.DataFrame:
    """The values, one column for each of some column's."""
    wide = rows.pivot(index=index, columns=columns, values="value").reset_index()
    wide.columns.name = None
    return wide


def omega_tables() -> pd.DataFrame:
    """Tables 1, 2, 4, 5 and 6 of arXiv 2412.12509, as printed.

    Examples
    --------
    >>> table = omega_tables()
    >>> int((table["table"] == "2").sum() + (table["table"] == 2).sum())
    45
    """
    return read_printed("arxiv_2412_12509_tables.csv")


def head_to_tail_table() -> PaperTable:
    """Tables 5 and 6 of arXiv 2412.12509: shares a judge calls correct, and their omegas.

    Returns
    -------
    PaperTable

    Examples
    --------
    >>> len(head_to_tail_table().table), head_to_tail_table().table["omega"][0]
    (4, '.9901')
    """
    printed = omega_tables()
    own = _wide(printed[printed["table"].isin([5, 6])], ["benchmark", "judge"], "statistic")
    own = own[["benchmark", "judge", "A_LM", "A_LM_se", "omega"]]
    for column in ("A_LM", "A_LM_se", "omega"):  # with the digits that the paper prints
        own[column] = [None if math.isnan(v) else f"{v:g}".removeprefix("0") for v in own[column]]
    own = own.rename(columns={"A_LM": "accuracy as judged (A_LM)", "A_LM_se": "its standard error"})
    return PaperTable(
        source="arXiv 2412.12509, Tables 5 and 6",
        table=own,
        caption="The paper prints an accuracy as judged of .0395 to .0396 with standard errors "
        "across replications of .0003 to .0004, and omegas of about .99; the experiment "
        "replicate (study=schroeder2024) tells what such an omega is worth.",
    )


def grade_score_cells(printed: pd.DataFrame) -> pd.DataFrame:
    """Printed Grade Scores one row per cell: both parts, their harmonic mean, what exceeds it.

    Parameters
    ----------
    printed : DataFrame
        ``metric`` (grade_score, llm_score, choice_score), ``prompt``, ``random_option``, ``judge``,
        ``value``.

    Returns
    -------
    DataFrame
    """
    wide = _wide(printed, ["judge", "prompt", "random_option"], "metric")
    grade, llm, choice = (wide[c] for c in ("grade_score", "llm_score", "choice_score"))
    wide["harmonic_of_means"] = 2 * llm * choice / (llm + choice)
    wide["impossible"] = [
        exceeds_grade_score_bound(g, a, c, slack=5e-5)
        for g, a, c in zip(grade, llm, choice, strict=True)
    ]
    return wide.sort_values(["prompt", "random_option", "judge"], ignore_index=True)


def grade_score_table() -> PaperTable:
    """Tables 1-3 of arXiv 2406.12043, one row per cell, with the impossible cells flagged.

    The paper averages per-item harmonic means. Such an average cannot exceed the harmonic mean of
    the two averages; where the printed Grade Score does by more than rounding (5e-5 in each
    number), ``impossible`` is true.

    Returns
    -------
    PaperTable

    Examples
    --------
    >>> rows = grade_score_table().table
    >>> len(rows), int(rows["impossible"].sum())
    (80, 9)
    """
    wide = grade_score_cells(read_printed("arxiv_2406_12043_tables_1_3.csv"))
    by_option = wide.pivot(index=["judge", "prompt"], columns="random_option", values="grade_score")
    raised = int((by_option[True] > by_option[False]).sum())
    bad = int(wide["impossible"].sum())
    return PaperTable(
        source="arXiv 2406.12043, Tables 1-3",
        table=wide,
        caption=f"Of {len(wide)} printed cells {bad} exceed the harmonic mean of their printed "
        "parts, so they cannot be averages of per-item Grade Scores. The printed Grade Score is "
        f"higher with the random option in {raised} of {len(by_option)} cells; an option more "
        "changes what chance alone scores, and these scores are not corrected for chance.",
    )


_CROWD_SAID = {
    1: "Accuracy in percent by judge, strategy and set.",
    2: "Accuracy in percent of judges trained on judgments, by the number of these (samples).",
    4: "Accuracy in percent of GPT-4o by selection of crowd judgments, with and without their "
    "verdicts (outcome removal), at 8 and 16 judgments.",
}


def crowd_table(number: int) -> PaperTable:
    """Table 1, 2 or 4 of arXiv 2502.12501, one row per judge and method, one column per set.

    ``mean_of_row`` is ours: the mean of the printed cells. Where it differs from the printed
    average by more than rounding allows (.1), ``differs`` is true. Both stand only in a table in
    which some row differs.

    Parameters
    ----------
    number : {1, 2, 4}

    Returns
    -------
    PaperTable

    Examples
    --------
    >>> table = crowd_table(1).table
    >>> table.loc[table["differs"], ["judge_or_base", "method"]].to_numpy().tolist()
    [['Qwen 2.5 72B-Instruct', 'CCE@16'], ['Qwen 2.5 72B-Instruct', 'Vanilla']]
    """
    rows = read_printed("arxiv_2502_12501_tables_1_4.csv")
    rows = rows[rows["table"] == number]
    rows = rows.assign(samples=rows["samples"].fillna(0).astype(int))
    about = ["judge_or_base", "method", "samples"]
    wide = _wide(rows, about, "set")
    sets = [c for c in wide.columns if c not in {*about, "average"}]
    wide = wide[[*about, *sets, "average"]]
    if not wide["samples"].any():
        wide = wide.drop(columns="samples")
    wide["mean_of_row"] = wide[sets].mean(axis=1).round(2)
    wide["differs"] = (wide["mean_of_row"] - wide["average"]).abs() > 0.1
    wrong = wide.loc[wide["differs"]]
    if wrong.empty:
        wide = wide.drop(columns=["mean_of_row", "differs"])
    text = "; ".join(
        f"{r['judge_or_base']} {r['method']}: {r['average']:.1f} printed, "
        f"{r['mean_of_row']:.2f} computed"
        for r in wrong.to_dict("records")
    )
    note = f" The printed average is not the mean of its row for {text}." if text else ""
    return PaperTable(
        source=f"arXiv 2502.12501, Table {number}",
        table=wide,
        caption=f"Table {number}: {_CROWD_SAID[number]}{note}",
    )


def rejection_table() -> PaperTable:
    """Table 3 of arXiv 2502.12501: models trained on responses chosen at random or by a judge.

    Returns
    -------
    PaperTable

    Examples
    --------
    >>> len(rejection_table().table)
    12
    """
    rows = read_printed("arxiv_2502_12501_tables_1_4.csv")
    wide = _wide(rows[rows["table"].eq(3)], ["judge_or_base", "set"], "method")
    names = [f"{how} Sampling" for how in ("Random", "Vanilla Rejection", "Crowd Rejection")]
    wide = wide[["judge_or_base", "set", *names]]
    chance, vanilla, crowd = (wide[name] for name in names)
    return PaperTable(
        source="arXiv 2502.12501, Table 3",
        table=wide,
        caption="The paper trains two base models on responses chosen in three ways and prints "
        "scores of the trained models: crowd rejection sampling stands above vanilla in "
        f"{int((crowd > vanilla).sum())} and vanilla above random in "
        f"{int((vanilla > chance).sum())} of {len(wide)} cells. It prints neither intervals "
        "nor how often the chosen response was the better one, which is what is measured here.",
    )
