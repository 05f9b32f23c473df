"""Grade Score (arXiv 2406.12043): what its printed tables say of its claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.summary_rows import ranked
from judgestats.errors import InputError
from judgestats.results.numbers import apa_p
from judgestats.stats.agreement.grade_score import chance_grade_score
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference.result import Comparison, Comparisons
from judgestats.studies.claims import (
    Claim,
    Options,
    Replication,
    Study,
    bounded,
    file_of,
    now,
    table_of,
)
from judgestats.studies.paper_tables import grade_score_cells

_COLUMNS = ("metric", "prompt", "random_option", "judge", "value")
_FILES = ("grade_score_tables_1_3.csv", "arxiv_2406_12043_tables_1_3.csv")
_ROWS = 3482
"""Rows that the study judged."""
_REPEATS = (0.05, 0.12)
"""How far repeats of a whole run lie apart, as the study says."""
_SCRIPT = (
    "The author's public script averages by item, as described (grade_score.py; read, not run "
    "here): such cells cannot have come from it as one run. A copied or mistyped part is the "
    "simplest reading."
)
_NOW = "difference of the printed scores with its interval, paired by judge, judges as the sample"


def read_cells(folder: Path) -> pd.DataFrame:
    """The printed cells of a folder, one row a judge, prompt and option.

    Raises
    ------
    InputError
        If the table is not there, or damaged.
    """
    frame = table_of(file_of(folder, *_FILES, study="Grade Score"), _COLUMNS)
    frame["value"] = pd.to_numeric(frame["value"], errors="coerce")
    frame["prompt"] = pd.to_numeric(frame["prompt"], errors="coerce")
    frame["random_option"] = frame["random_option"].map({"True": True, "False": False})
    twice = frame.duplicated(["metric", "prompt", "random_option", "judge"]).any()
    if frame.isna().any(axis=None) or twice or frame["value"].between(0, 1).eq(False).any():
        raise InputError(
            "replicate: a table of Grade Scores needs one value from 0 to 1 for every metric, "
            "prompt (a number), random_option (True or False) and judge."
        )
    cells = grade_score_cells(frame)
    if cells.isna().any(axis=None) or cells["judge"].nunique() < 3:
        raise InputError(
            "replicate: the table of Grade Scores lacks cells, or has fewer than three judges."
        )
    return cells


def _wide(cells: pd.DataFrame, what: str = "grade_score") -> Any:
    """One row a judge, one column a prompt and option."""
    return cells.pivot(index="judge", columns=["prompt", "random_option"], values=what)


def _format_row(row: Comparison) -> str:
    p = row.p_value if np.isnan(row.p_adjusted) else row.p_adjusted
    return f"{'+' if row.estimate > 0 else ''}{row.with_bounds(digits=3)}, {apa_p(p)}"


def _paired(
    without: pd.Series, with_it: pd.Series, names: tuple[str, str], options: Options
) -> Comparisons:
    both = np.column_stack([without.to_numpy(), with_it.to_numpy()])
    return mean_shift(both, conditions=names, level=options.level)


def _option(cells: pd.DataFrame, options: Options) -> Claim:
    shifts: dict[str, Comparisons] = {}
    means: dict[str, Any] = {}
    for what in ("grade_score", "llm_score", "choice_score"):
        wide = _wide(cells, what)
        both = {r: wide.xs(r, axis=1, level="random_option") for r in (False, True)}
        means[what] = both[True] - both[False]
        shifts[what] = _paired(
            both[False].mean(axis=1), both[True].mean(axis=1), ("without", "with"), options
        )
    grade, entropy, choice = (f.rows[0] for f in shifts.values())
    up = int((means["grade_score"] > 0).to_numpy().sum())
    all_up = int((means["grade_score"] > 0).all(axis=1).sum())
    chances = [chance_grade_score(n) for n in (2, 3)]
    rises = grade.interval is not None and grade.interval.low > 0
    count = means["grade_score"].size
    consistent = up == count
    return Claim(
        id="option",
        claim="A random option among the options consistently raises the Grade Score.",
        published="read off Tables 1-3; no test",
        test_then="scores with and without the option, side by side",
        reproduced=f"higher in {up} of {count} cells",
        test_now=f"{_NOW}, prompts averaged; the same of its two parts; beside it what one more "
        "option gives a judge that chooses at random",
        verdict="stands" if rises and consistent else "stands in part" if rises else "open",
        because=f"On average {_format_row(grade)} ({len(means['grade_score'])} judges), and under "
        f"all prompts for {all_up} of them. The part that rises is the spread over places (LLM "
        f"score {_format_row(entropy)}); the choice of the same option does not (choice score "
        f"{_format_row(choice)}). One more option lifts the score of a judge that chooses at "
        f"random from {bounded(chances[0])} to {bounded(chances[1])} where there were two: the "
        "printed scores are not corrected for that, and how many options a prompt had is not "
        "printed.",
        results=tuple(
            now(f"option.now.{what}", f"{what.replace('_', ' ')}, with and without", f,
                primary=what == "grade_score")
            for what, f in shifts.items()
        ),
    )  # fmt: skip


def _prompts(cells: pd.DataFrame, options: Options) -> Claim:
    wide = _wide(cells).T.groupby(level="prompt").mean().T
    names = [f"prompt {p}" for p in wide.columns]
    shift = mean_shift(wide.to_numpy(), conditions=names, reference=names[-1], level=options.level)
    first = [r for r in shift.rows if r.a in names[:2]]
    clear = [r.p_adjusted < 1 - options.level and r.estimate > 0 for r in first]
    return Claim(
        id="prompts",
        claim="Prompts 1 and 2 give better Grade Scores than prompt 4.",
        published="read off Tables 1-3; no test",
        test_then="scores by prompt, side by side",
        reproduced=", ".join(
            f"{n} {bounded(float(wide[p].mean()))}" for n, p in zip(names, wide, strict=True)
        ),
        test_now=f"{_NOW}, with and without the option averaged, Holm",
        verdict="stands" if all(clear) else "stands in part" if any(clear) else "open",
        because=f"Against {names[-1]}: " + "; ".join(f"{r.a} {_format_row(r)}" for r in shift.rows)
        + f" ({len(wide)} judges). Single judges move by up to "
        f"{bounded(float((wide.max(axis=1) - wide.min(axis=1)).max()))} between prompts, in "
        "different directions.",
        results=(now("prompts.now", "Grade Score by prompt", shift, primary=True),),
    )  # fmt: skip


def _best(cells: pd.DataFrame) -> Claim:
    wide = _wide(cells)
    mean = wide.mean(axis=1).sort_values(ascending=False)
    best, second = mean.index[:2]
    first = int((wide.idxmax() == best).sum())
    choice = _wide(cells, "choice_score")
    most = int((choice.idxmax() == best).sum())
    gap = float(mean.iloc[0] - mean.iloc[1])
    leads = gap > _REPEATS[1]
    return Claim(
        id="best",
        claim="Claude-3-opus is the most consistent judge.",
        published="the highest scores of Tables 1-3; no interval",
        test_then="scores by judge, side by side",
        reproduced=f"{best} first in {first} of {wide.shape[1]} columns by Grade Score, in {most} "
        "by choice score",
        test_now="the lead over the next judge beside what repeats of the whole run move, as the "
        "study says (.05 to .12)",
        verdict="does not stand" if "opus" not in best else "stands" if leads else "open",
        because=f"{best} averages {bounded(float(mean.iloc[0]))} and {second} "
        f"{bounded(float(mean.iloc[1]))}: the lead of {bounded(gap)} is "
        f"{'more' if leads else 'less'} than what the study says that repeats of a run differ by. "
        "Columns share items and judge, so that they are no independent wins.",
        results=(),
    )  # fmt: skip


def _repeats(cells: pd.DataFrame) -> Claim:
    most = [0.5 * (1.96 / r) ** 2 for r in _REPEATS]
    at_size = 1.96 * float(np.sqrt(0.5 / _ROWS))
    effect = _wide(cells).T.groupby(level="random_option").mean().T
    moved = float((effect[True] - effect[False]).mean())
    return Claim(
        id="repeats",
        claim="Repeats of a whole run differ by .05 to .12.",
        published=".05 to .12, a remark",
        test_then="none is described",
        test_now="the largest difference that repeats of a mean over so many rows can show in 95 "
        "of 100, if every row's score were drawn anew as 0 or 1",
        verdict="open",
        because=f"No repeats are printed. Means of {_ROWS:,} scores between 0 and 1 differ by less "
        f"than {bounded(at_size)} in 95 of 100 repeats, whatever the judge does, if rows vary "
        f"independently; differences of .05 to .12 are those of means of at most {most[0]:,.0f} to "
        f"{most[1]:,.0f} rows. So the scores rest on fewer rows than are named, or something else "
        "was changed between the runs. If they are as uncertain as the remark says, the random "
        f"option's average effect ({bounded(moved)}) is of the size of a repeat.",
    )  # fmt: skip


def _bound(cells: pd.DataFrame) -> Claim:
    bad = cells[cells["impossible"]]
    worst = (bad["grade_score"] - bad["harmonic_of_means"]).max() if len(bad) else 0.0
    listed = "; ".join(
        f"{r['judge']}, prompt {r['prompt']:g}, {'with' if r['random_option'] else 'without'} the "
        f"option: {r['grade_score']:.4f} printed, at most {r['harmonic_of_means']:.4f}"
        for r in bad.to_dict("records")
    )
    return Claim(
        id="bound",
        claim="The printed Grade Score is the average of the items' harmonic means of both parts.",
        published="Tables 1-3, with both parts beside every score",
        test_then="none",
        reproduced=f"possible in {len(cells) - len(bad)} of {len(cells)} cells",
        test_now="the harmonic mean of the printed averages, which no average of harmonic means "
        "can exceed (the harmonic mean is concave), rounding allowed for",
        verdict="stands" if bad.empty else "stands in part",
        because=f"{len(bad)} of {len(cells)} cells exceed it, by up to {bounded(worst)}"
        + (f": {listed}. {_SCRIPT}" if listed else "."),
    )  # fmt: skip


def examine(folder: Path, options: Options) -> Replication:
    """Every claim of the study, on its printed tables.

    Parameters
    ----------
    folder : Path
        With ``grade_score_tables_1_3.csv``: metric, prompt, random_option, judge, value.
    options : Options

    Returns
    -------
    Replication
    """
    cells = read_cells(folder)
    rows = cells.rename(columns={"harmonic_of_means": "grade_score_bound"})
    rows.insert(0, "condition", [
        f"{r.judge}, prompt {r.prompt:g}, {'with' if r.random_option else 'without'} random option"
        for r in rows.itertuples()
    ])  # fmt: skip
    return Replication(
        study="grade_score",
        title="Grade Score: selection apart from position (arXiv 2406.12043), re-examined",
        question="What do the printed tables say of the random option, the prompts, the judges and "
        "of themselves?",
        claims=(
            _option(cells, options),
            _prompts(cells, options),
            _best(cells),
            _repeats(cells),
            _bound(cells),
        ),
        conditions=rows,
        drawing=ranked("grade_score", caption="Printed Grade Scores; no interval is printed."),
        data_source=f"{len(cells)} printed cells",
        limitations=(
            "Only printed averages are re-examined: the verdicts are not public.",
            "Ten judges are a small sample of judges, and all saw the same rows.",
        ),
    )


STUDY = Study(
    name="grade_score",
    title="Grade Score: what its printed tables say",
    source="arXiv 2406.12043, Tables 1-3; github.com/IoDmitri/GradeLab",
    layout="`grade_score_tables_1_3.csv`: metric, prompt, random_option, judge, value",
    examine=examine,
    from_print=True,
)
