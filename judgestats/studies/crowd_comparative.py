"""Crowd comparative evaluation (arXiv 2502.12501): what its printed tables say of its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.summary_rows import ranked
from judgestats.errors import InputError
from judgestats.results.numbers import apa_p
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference.result import Comparison, Comparisons
from judgestats.studies.claims import (
    Claim,
    Options,
    Replication,
    Study,
    file_of,
    now,
    table_of,
)

_COLUMNS = ("table", "judge_or_base", "method", "samples", "set", "value")
_FILES = ("crowd_tables_1_4.csv", "arxiv_2502_12501_tables_1_4.csv")
_GPT = "GPT-4o"
_ROUNDING = 0.1
_NOW = "difference of the printed accuracies with its interval, paired by set, sets as the sample"
_FEW_SETS = (
    "Five sets are five observations: intervals over them are wide, and say what a sixth set might "
    "show. Neither the sets' sizes as used nor intervals are printed: over 350 pairs an accuracy "
    "of 68 % is known to 5 points either way."
)
_CRITIC = "Outcome-Removal Criticizing-Selection"


class Printed:
    """The tables of a folder."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    def rows(self, table: int) -> pd.DataFrame:
        """A table, one row a judge, method and number, one column a set; the average apart."""
        own = self.frame[self.frame["table"] == table]
        return own.pivot(
            index=["judge_or_base", "method", "samples"], columns="set", values="value"
        )

    def sets(self, table: int) -> pd.DataFrame:
        """A table without its printed average."""
        return self.rows(table).drop(columns="average", errors="ignore")


def read_tables(folder: Path) -> Printed:
    """The printed tables of a folder.

    Raises
    ------
    InputError
        If the file is not there, or damaged.
    """
    frame = table_of(file_of(folder, *_FILES, study="crowd comparative evaluation"), _COLUMNS)
    for column in ("table", "value"):
        frame[column] = pd.to_numeric(frame[column], errors="coerce")
    frame["samples"] = pd.to_numeric(frame["samples"], errors="coerce").fillna(0).astype(int)
    frame["method"] = frame["method"].str.replace(r"\s*\(Sota\)", "", regex=True)
    keys = ["table", "judge_or_base", "method", "samples", "set"]
    if frame[["table", "value"]].isna().any(axis=None) or frame.duplicated(keys).any():
        raise InputError(
            "replicate: a table of accuracies needs one number for every table, judge or base, "
            "method, samples and set."
        )
    if set(frame["table"]) != {1, 2, 3, 4}:
        raise InputError("replicate: the file must hold Tables 1 to 4 of arXiv 2502.12501.")
    return Printed(frame)


def _format_row(row: Comparison) -> str:
    p = row.p_value if np.isnan(row.p_adjusted) else row.p_adjusted
    return f"{'+' if row.estimate > 0 else ''}{row.with_bounds(digits=1)} points, {apa_p(p)}"


def _shift(columns: Mapping[str, Any], options: Options, *, reference: str) -> Comparisons:
    """Methods compared on the same sets."""
    wide = pd.DataFrame(columns)
    return mean_shift(
        wide.to_numpy(float),
        conditions=list(wide.columns),
        reference=reference,
        level=options.level,
    )


def _gain(printed: Printed, options: Options) -> Claim:
    wide: Any = printed.sets(1).droplevel("samples")
    judges = [j for j in wide.index.unique(level=0) if (j, "CCE@16") in wide.index]
    gains: Any = pd.DataFrame(
        {j: wide.loc[(j, "CCE@16")] - wide.loc[(j, "Vanilla")] for j in judges}
    )
    of_sets = gains.mean(axis=1)
    shift = _shift(
        {
            "CCE@16": pd.concat([wide.loc[[(j, "CCE@16")]] for j in judges]).mean(),
            "Vanilla": pd.concat([wide.loc[[(j, "Vanilla")]] for j in judges]).mean(),
        },
        options,
        reference="Vanilla",
    )
    most = of_sets.idxmax()
    without = gains.drop(index=most).mean().mean()
    up, count = int((gains > 0).to_numpy().sum()), gains.size
    (row,) = shift.rows
    clear = row.interval is not None and row.interval.low > 0
    return Claim(
        id="gain",
        claim="Crowd comparison raises accuracy by 6.7 points on average over five sets.",
        published="6.7 points (GPT-4o: 73.6 to 80.3)",
        test_then="averages side by side",
        reproduced=", ".join(f"{j} {v:+.1f}" for j, v in gains.mean().items())
        + f"; above the vanilla judge in {up} of {count} cells",
        test_now=f"{_NOW}, judges averaged; the verdicts, which would pair by item, are not public",
        verdict="stands" if clear else "stands in part" if up > 0.9 * count else "open",
        because=f"Over {len(judges)} judges {_format_row(row)} ({len(of_sets)} sets: a test that "
        f"swaps the two within sets cannot come below p = {2 / 2 ** len(of_sets):.3g}). The gain "
        f"is {of_sets[most]:.1f} points on {most} and {without:.1f} on average without it: by set "
        + ", ".join(f"{s} {v:+.1f}" for s, v in of_sets.items())
        + ". The 6.7 is one judge's.",
        results=(now("gain.now", "CCE@16 against vanilla, judges averaged", shift, primary=True),),
    )


def _price(printed: Printed, options: Options) -> Claim:
    wide: Any = printed.sets(1).droplevel("samples").loc[_GPT]
    names = ["CCE@16", "Maj@16", "Agg@16", "16-Criteria", "CCE-random@16"]
    shift = _shift({n: wide.loc[n] for n in names}, options, reference=names[0])
    clear = [r.p_adjusted < 1 - options.level and r.estimate < 0 for r in shift.rows]
    return Claim(
        id="price",
        claim="At the same number of judgments it beats majority and aggregated votes.",
        published="GPT-4o: CCE@16 80.3, Agg@16 76.9, Maj@16 76.7, 16 criteria 75.9",
        test_then="averages side by side",
        reproduced=", ".join(f"{n} {wide.loc[n].mean():.1f}" for n in names),
        test_now=f"{_NOW}, Holm",
        verdict="stands" if all(clear) else "stands in part" if any(clear) else "open",
        because="Against CCE@16: "
        + "; ".join(f"{r.a} {_format_row(r)}" for r in shift.rows)
        + f" ({wide.shape[1]} sets). The number of judgments is the same, that of calls is not: 16 "
        "votes are 16 calls, 16 crowd judgments are 33 with the calls that remove their verdicts, "
        "and longer ones, beside the crowd's answers.",
        results=(now("price.now", "GPT-4o: strategies against CCE@16", shift, primary=True),),
    )


def _selection(printed: Printed, options: Options) -> Claim:
    wide: Any = printed.sets(4).loc[_GPT].groupby(level="method").mean()
    names = {
        "random": "Random-Selection",
        "praising": "Praising-Selection",
        "criticising": "Criticizing-Selection",
        "balanced": "Balanced-Selection",
        "random, verdicts removed": "Outcome-Removal Random-Selection",
        "criticising, verdicts removed": _CRITIC,
    }
    shift = _shift({n: wide.loc[m] for n, m in names.items()}, options, reference="random")
    by = {r.a: r for r in shift.rows}
    helps = [n for n in ("criticising", "random, verdicts removed", "criticising, verdicts removed")
             if by[n].p_adjusted < 1 - options.level and by[n].estimate > 0]  # fmt: skip
    return Claim(
        id="selection",
        claim="Criticising judgments help, praising ones hurt, and removing verdicts helps.",
        published="Table 4 (GPT-4o): praising 75.4 and 76.5, random 78.1 and 78.6, criticising "
        "78.3 and 79.2, criticising with verdicts removed 78.8 and 80.3",
        test_then="averages side by side",
        reproduced=", ".join(f"{n} {wide.loc[m].mean():.1f}" for n, m in names.items()),
        test_now=f"{_NOW}, 8 and 16 judgments averaged, Holm",
        verdict="stands" if len(helps) == 3 else "stands in part" if helps else "open",
        because="Against a random selection: "
        + "; ".join(f"{r.a} {_format_row(r)}" for r in shift.rows)
        + f" ({wide.shape[1]} sets).",
        results=(now("selection.now", "Selections against a random one", shift, primary=True),),
    )  # fmt: skip


def _scaling(printed: Printed, options: Options) -> Claim:
    wide: Any = printed.sets(4).loc[_GPT]
    by = {k: wide.xs(k, level="samples") for k in sorted(set(wide.index.get_level_values(1)))}
    few, many = min(by), max(by)
    change: Any = by[many] - by[few]
    shift = _shift(
        {f"k={many}": by[many].mean(), f"k={few}": by[few].mean()}, options, reference=f"k={few}"
    )
    (row,) = shift.rows
    up = int((change > 0).to_numpy().sum())
    clear = row.interval is not None and row.interval.low > 0
    return Claim(
        id="scaling",
        claim="Accuracy improves with the number of crowd judgments.",
        published="a figure; of it only 8 and 16 judgments are in a table",
        test_then="a curve",
        reproduced=f"higher at {many} than at {few} in {up} of {change.size} cells of Table 4",
        test_now=f"{_NOW}, selections averaged",
        verdict="stands" if clear else "stands in part" if up > 0.5 * change.size else "open",
        because=f"{_format_row(row)} from {few} to {many} ({wide.shape[1]} sets, GPT-4o only). "
        "Three samples of judgments stand behind a value; their spread is not printed.",
        results=(now("scaling.now", f"{many} against {few} judgments", shift, primary=True),),
    )


def _distilled(printed: Printed, options: Options) -> Claim:
    wide: Any = printed.sets(2)
    own: Any = wide[wide.index.get_level_values(0).str.contains("Tuned")]
    kinds = {
        kind: own[own.index.get_level_values("method") == f"Synthetic Judgment from {kind}"]
        .droplevel("method")
        .sort_index()
        for kind in ("CCE", "Vanilla")
    }
    difference: Any = kinds["CCE"] - kinds["Vanilla"]
    shift = _shift({k: v.mean() for k, v in kinds.items()}, options, reference="Vanilla")
    (row,) = shift.rows
    up = int((difference > 0).to_numpy().sum())
    sizes = sorted(set(difference.index.get_level_values("samples")))
    both: Any = pd.concat(kinds)
    falls = both.xs(sizes[-1], level="samples") - both.xs(sizes[0], level="samples")
    worse = {s: int((falls[s] < 0).sum()) for s in falls if (falls[s] < 0).any()}
    coin = {s: int((both[s] < 50).sum()) for s in both if (both[s] < 50).any()}
    clear = row.interval is not None and row.interval.low > 0
    return Claim(
        id="distilled",
        claim="Judgments with a crowd teach smaller judges better than vanilla ones, and more of "
        "them more.",
        published="Table 2: 61.2 and 61.1 against 57.7 and 60.3 (Llama 3.1 8B), 57.4 and 63.0 "
        "against 56.6 and 61.1 (Qwen 2.5 7B); mixed, 60,000: 66.7",
        test_then="averages side by side",
        reproduced=f"above vanilla in {up} of {difference.size} cells, "
        + ", ".join(f"{b} {n:,}: {v.mean():+.1f}" for (b, n), v in difference.iterrows()),
        test_now=f"{_NOW}, bases and sizes averaged",
        verdict="stands"
        if clear and not worse
        else "stands in part"
        if up > 0.5 * difference.size
        else "open",
        because=f"Crowd minus vanilla {_format_row(row)} ({len(difference.columns)} sets). From "
        f"{sizes[0]:,} to {sizes[-1]:,} examples accuracy falls on "
        + ", ".join(f"{s} in {n} of {len(falls)}" for s, n in worse.items())
        + "; below a coin's 50 % are "
        + ", ".join(f"{n} of {len(both)} on {s}" for s, n in coin.items())
        + ". One training run stands behind a value, so what another seed would change is not "
        "known; the mixed judge has twice the examples, which is not told apart from the mixture.",
        results=(now("distilled.now", "Trained on either kind of judgments", shift, primary=True),),
    )  # fmt: skip


def _rejection(printed: Printed) -> Claim:
    own = printed.frame[printed.frame["table"] == 3]
    wide = own.pivot(index=["judge_or_base", "set"], columns="method", values="value")
    names = [f"{how} Sampling" for how in ("Crowd Rejection", "Vanilla Rejection", "Random")]
    crowd, vanilla, chance = (wide[n] for n in names)
    bases = wide.index.get_level_values(0)
    whole = (crowd > vanilla).groupby(bases).all()
    p = _sign(int(whole.sum()), len(whole))
    return Claim(
        id="rejection",
        claim="Responses chosen with a crowd train better models than those of a vanilla judge.",
        published="Table 3: MT-Bench 4.53 / 4.28, 7.63 / 7.56, 8.63 / 7.91, 8.41 / 8.46 (crowd / "
        "vanilla)",
        test_then="scores side by side",
        reproduced=f"crowd above vanilla in {int((crowd > vanilla).sum())} of {len(wide)} cells, "
        f"vanilla above random in {int((vanilla > chance).sum())}",
        test_now="sign test over pairs of base and instructions, since the three scores of one "
        "trained model are not independent",
        verdict="stands"
        if p < 0.05
        else "stands in part"
        if (crowd > vanilla).mean() > 0.5
        else "open",
        because=f"In {int(whole.sum())} of {len(whole)} pairs all three scores are higher "
        f"({apa_p(p)}; four pairs cannot come below .125). One training run stands behind a model, "
        "and neither its seed's spread nor intervals over MT-Bench's 80 questions are printed. "
        "Vanilla rejection sampling falls below random choice in "
        f"{int((vanilla < chance).sum())} of {len(wide)} cells.",
    )  # fmt: skip


def _sign(wins: int, n: int) -> float:
    """Two-sided sign test.

    Examples
    --------
    >>> _sign(4, 4), _sign(3, 4)
    (0.125, 0.625)
    """
    most = max(wins, n - wins)
    return min(1.0, sum(comb(n, k) for k in range(most, n + 1)) / 2.0 ** (n - 1))


def _averages(printed: Printed) -> Claim:
    wrong, count = [], 0
    for table in (1, 2, 4):
        rows = printed.rows(table)
        mean = rows.drop(columns="average").mean(axis=1)
        count += len(rows)
        far = (mean - rows["average"]).abs() > _ROUNDING
        wrong += [
            f"Table {table}, {j}, {m}: {rows.loc[(j, m, n), 'average']:.1f} printed, "
            f"{mean[(j, m, n)]:.1f} computed"
            for j, m, n in rows.index[far]
        ]
    same = printed.sets(1).droplevel("samples").loc[_GPT]
    twin = printed.sets(4).loc[_GPT].xs(16, level="samples")
    agree = [
        bool(np.allclose(same.loc[a], twin.loc[b]))
        for a, b in (("CCE@16", _CRITIC), ("CCE-random@16", "Random-Selection"))
    ]
    return Claim(
        id="averages",
        claim="Every printed average is that of its row.",
        published="Tables 1, 2 and 4",
        test_then="none",
        reproduced=f"{count - len(wrong)} of {count} rows",
        test_now="the mean of the printed cells, within rounding (.1)",
        verdict="stands in part" if wrong else "stands",
        because=(f"Not: {'; '.join(wrong)}. " if wrong else "")
        + f"Rows that stand in two tables are the same in {sum(agree)} of {len(agree)}: CCE@16 is "
        "Table 4's criticising selection with verdicts removed, CCE-random@16 its random selection "
        "without removal, so that the two differ in two things.",
    )


def _points() -> Claim:
    about = Claim(
        id="points",
        claim="Explanations after a crowd name more key points and cover more of the responses.",
        published="figures",
        test_then="means side by side",
        test_now="key points and coverage paired by pair, beside the length of the explanation and "
        "coverage by explanations of other questions",
    )
    return about.not_examined(
        "figures only; `judgestats run crowd` counts key points and `python -m "
        "judgestats.training coverage` measures coverage on a run of your own"
    )


def examine(folder: Path, options: Options) -> Replication:
    """Every claim of the study, on its printed tables.

    Parameters
    ----------
    folder : Path
        With ``crowd_tables_1_4.csv``: table, judge_or_base, method, samples, set, value.
    options : Options

    Returns
    -------
    Replication
    """
    printed = read_tables(folder)
    claims: Sequence[Claim] = (
        _gain(printed, options),
        _price(printed, options),
        _selection(printed, options),
        _scaling(printed, options),
        _distilled(printed, options),
        _rejection(printed),
        _averages(printed),
        _points(),
    )
    rows = printed.rows(1).reset_index()
    conditions = pd.DataFrame(
        {
            "condition": [f"{r.judge_or_base}, {r.method}" for r in rows.itertuples()],
            "judge": rows["judge_or_base"],
            "factor_strategy": rows["method"],
            "accuracy": printed.sets(1).mean(axis=1).to_numpy() / 100,
        }
    )
    return Replication(
        study="crowd_comparative",
        title="Crowd comparative evaluation (arXiv 2502.12501), re-examined",
        question="What do the printed tables say of a crowd's help, of its price, and of "
        "themselves?",
        claims=tuple(claims),
        conditions=conditions,
        drawing=ranked("accuracy", caption="Average of five printed accuracies (Table 1)."),
        data_source=f"{len(printed.frame)} printed cells",
        limitations=(
            "Only printed averages are re-examined: the verdicts are not public.",
            _FEW_SETS,
        ),
    )


STUDY = Study(
    name="crowd_comparative",
    title="Crowd comparative evaluation: what its printed tables say",
    source="arXiv 2502.12501, Tables 1-4",
    layout="`crowd_tables_1_4.csv`: table, judge_or_base, method, samples, set, value",
    examine=examine,
    from_print=True,
)
