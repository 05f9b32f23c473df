"""Studies of which only printed tables are public: Grade Score and crowd comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.coefficients import ranked
from judgestats.errors import InputError
from judgestats.results.numbers import apa_p
from judgestats.stats.agreement.grade_score import chance_grade_score
from judgestats.studies import claims
from judgestats.studies.claims import Claim, bounded, listed
from judgestats.studies.paper_tables import grade_score_cells

_GRADES = ("metric", "prompt", "random_option", "judge", "value")
_GRADE_FILES = ("grade_score_tables_1_3.csv", "arxiv_2406_12043_tables_1_3.csv")
_ROWS = 3482
"""Rows that the study judged."""
_REPEATS = (0.05, 0.12)
"""Difference between repeats of a complete run, as the study reports it."""
_SCRIPT = (
    "The author's public script averages by item, as described (grade_score.py; read, not run "
    "here). One run of it cannot give such cells. A copied or mistyped part is the simplest "
    "explanation."
)
_BY_JUDGE = (
    "difference of the printed scores with its interval, paired by judge, judges as the sample"
)
_READ_OFF = "values of Tables 1-3; no test"
_in_thousandths = partial(claims.signed, digits=3)


def read_cells(folder: Path, _: claims.Options) -> pd.DataFrame:
    """The printed cells of a folder, one row per judge, prompt, and option.

    Raises
    ------
    InputError
        If the table is not there, or damaged.
    """
    path = claims.file_of(folder, *_GRADE_FILES, study="Grade Score")
    frame = claims.table_of(path, _GRADES, numbers=("value", "prompt"))
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
    """One row per judge, one column per prompt and option."""
    return cells.pivot(index="judge", columns=["prompt", "random_option"], values=what)


def _option(cells: pd.DataFrame, _: claims.Options) -> claims.Finding:
    sides = {
        what: [_wide(cells, what).xs(r, axis=1, level="random_option") for r in (False, True)]
        for what in ("grade_score", "llm_score", "choice_score")
    }
    shifts = {
        what: claims.paired_shift({"without": old.mean(axis=1), "with": new.mean(axis=1)})
        for what, (old, new) in sides.items()
    }
    grade, entropy, choice = (_in_thousandths(f.rows[0]) for f in shifts.values())
    without, with_it = sides["grade_score"]
    up = with_it > without
    n_up = int(up.to_numpy().sum())
    chances = [bounded(chance_grade_score(n)) for n in (2, 3)]
    rises = claims.low_high(shifts["grade_score"].rows[0])[0] > 0
    return claims.Finding(
        reproduced=f"higher in {n_up} of {up.size} cells",
        verdict="stands" if rises and n_up == up.size else "stands in part" if rises else "open",
        because=f"On average {grade} ({len(up)} judges), and under all prompts "
        f"for {int(up.all(axis=1).sum())} of them. The position entropy rises "
        f"(LLM score {entropy}). The choice of the same option does not (choice "
        f"score {choice}). A third option raises the score of a random judge "
        f"from {' to '.join(chances)}. The printed scores are not "
        "corrected for that, and the numbers of options are not printed.",
        results=[
            result
            for what, shift in shifts.items()
            for result in claims.now(f"{what.replace('_', ' ')}, with and without", shift, what,
                              primary=what == "grade_score")
        ],
    )  # fmt: skip


def _prompts(cells: pd.DataFrame, _: claims.Options) -> claims.Finding:
    wide = _wide(cells).T.groupby(level="prompt").mean().T.rename(columns="prompt {}".format)
    shift = claims.paired_shift(wide, reference=wide.columns[-1])
    levels = claims.levels_of(shift)
    first = [levels[p].p_adjusted < 0.05 and levels[p].estimate > 0 for p in wide.columns[:2]]
    moved = float((wide.max(axis=1) - wide.min(axis=1)).max())
    return claims.Finding(
        reproduced=listed(wide.mean(), bounded, ", "),
        verdict=claims.joint_verdict(first),
        because=f"Against {wide.columns[-1]}: {listed(levels, _in_thousandths)} "
        f"({len(wide)} judges). Single judges differ by up to {bounded(moved)} between prompts, "
        "in different directions.",
        results=claims.now("Grade Score by prompt", shift, primary=True),
    )


def _best(cells: pd.DataFrame, _: claims.Options) -> claims.Finding:
    wide, choice = _wide(cells), _wide(cells, "choice_score")
    (best, most), (second, next_most) = wide.mean(axis=1).nlargest(2).items()
    first, chosen = (int((scores.idxmax() == best).sum()) for scores in (wide, choice))
    leads = most - next_most > _REPEATS[1]
    return claims.Finding(
        reproduced=f"{best} first in {first} of {wide.shape[1]} columns by Grade Score, in "
        f"{chosen} by choice score",
        verdict="does not stand" if "opus" not in best else "stands" if leads else "open",
        because=f"{best} averages {bounded(most)} and {second} {bounded(next_most)}. The "
        f"lead of {bounded(most - next_most)} is {'larger' if leads else 'smaller'} than the "
        "difference that the study reports between repeats of a run. Columns share items and "
        "judge, so they are not independent.",
    )


def _repeats(cells: pd.DataFrame, _: claims.Options) -> claims.Finding:
    most = [0.5 * (1.96 / r) ** 2 for r in _REPEATS]
    at_size = 1.96 * float(np.sqrt(0.5 / _ROWS))
    effect = _wide(cells).T.groupby(level="random_option").mean().T
    moved = float((effect[True] - effect[False]).mean())
    return claims.Finding(
        verdict="open",
        because=f"No repeats are printed. If rows vary independently, means of {_ROWS:,} scores "
        f"from 0 to 1 differ by less than {bounded(at_size)} in 95 of 100 repeats. Differences of "
        f".05 to .12 need means of at most {most[0]:,.0f} to {most[1]:,.0f} rows. So the scores "
        "are of fewer rows than stated, or something else changed between the runs. With such "
        f"repeats the option's mean effect ({bounded(moved)}) is as large as a repeat difference.",
    )


def _bound(cells: pd.DataFrame, _: claims.Options) -> claims.Finding:
    bad = cells[cells["impossible"]]
    worst = (bad["grade_score"] - bad["harmonic_of_means"]).max() if len(bad) else 0.0
    which = "; ".join(
        f"{r['judge']}, prompt {r['prompt']:g}, {'with' if r['random_option'] else 'without'} the "
        f"option: {r['grade_score']:.4f} printed, at most {r['harmonic_of_means']:.4f}"
        for r in bad.to_dict("records")
    )
    return claims.Finding(
        reproduced=f"possible in {len(cells) - len(bad)} of {len(cells)} cells",
        verdict="stands" if bad.empty else "stands in part",
        because=f"{len(bad)} of {len(cells)} cells exceed it, by up to {bounded(worst)}."
        + (f" Cells: {which}. {_SCRIPT}" if which else ""),
    )


def _grade_conditions(cells: pd.DataFrame, _: claims.Options) -> pd.DataFrame:
    rows = cells.rename(columns={"harmonic_of_means": "grade_score_bound"})
    option = rows["random_option"].map({True: "with", False: "without"})
    prompt = rows["prompt"].map("{:g}".format)
    rows.insert(0, "condition", rows["judge"] + ", prompt " + prompt + ", " + option
                + " random option")  # fmt: skip
    return rows


GRADE_SCORE = claims.Study(
    name="grade_score",
    title="Grade Score: its printed tables",
    source="arXiv 2406.12043, Tables 1-3; github.com/IoDmitri/GradeLab",
    layout="`grade_score_tables_1_3.csv`: metric, prompt, random_option, judge, value",
    heading="Grade Score: position and selection (arXiv 2406.12043), re-examined",
    question="Do the printed tables support the claims on the random option, the prompts, and the "
    "judges, and are they consistent?",
    read=read_cells,
    claims=(
        Claim("option", "A random option among the options consistently raises the Grade Score.",
            published=_READ_OFF, test_then="scores with and without the option, side by side",
            test_now=f"{_BY_JUDGE}, prompts averaged, for the score and its two parts. Also the "
            "effect of a third option on a judge that chooses at random", evaluate=_option),
        Claim("prompts", "Prompts 1 and 2 give better Grade Scores than prompt 4.",
            published=_READ_OFF, test_then="scores by prompt, side by side",
            test_now=f"{_BY_JUDGE}, with and without the option averaged, Holm", evaluate=_prompts),
        Claim("best", "Claude-3-opus is the most consistent judge.",
            published="the highest scores of Tables 1-3; no interval",
            test_then="scores by judge, side by side",
            test_now="the lead over the next judge, compared with the printed difference between "
                "repeats of a complete run (.05 to .12)", evaluate=_best),
        Claim("repeats", "Repeats of a complete run differ by .05 to .12.",
            published=".05 to .12, a remark", test_then="none is described",
            test_now="the largest difference between two means of that many rows in 95 of 100 "
                "repeats, if every row's score is a new draw of 0 or 1", evaluate=_repeats),
        Claim("bound",
            "The printed Grade Score is the average of the items' harmonic means of both parts.",
            published="Tables 1-3, with both parts next to every score", test_then="none",
            test_now="the harmonic mean of the printed averages, which no average of harmonic "
                "means can exceed (the harmonic mean is concave), within rounding",
            evaluate=_bound),
    ),
    conditions=_grade_conditions,
    drawing=ranked("grade_score", caption="Printed Grade Scores; no interval is printed."),
    data_source=lambda cells: f"{len(cells)} printed cells",
    limitations=lambda _: (
        "Only printed averages are re-examined: the verdicts are not public.",
        "Ten judges are a small sample of judges, and all saw the same rows.",
    ),
    from_print=True,
)  # fmt: skip

_ACCURACIES = ("table", "judge_or_base", "method", "samples", "set", "value")
_CROWD_FILES = ("crowd_tables_1_4.csv", "arxiv_2502_12501_tables_1_4.csv")
_GPT, _CCE, _VANILLA = "GPT-4o", "CCE@16", "Vanilla"
_BY_SET = (
    "difference of the printed accuracies with its interval, paired by set, sets as the sample"
)
_PRICED = {n: n for n in (_CCE, "Maj@16", "Agg@16", "16-Criteria", "CCE-random@16")}
_SELECTIONS = {
    "random": "Random-Selection",
    "praising": "Praising-Selection",
    "criticising": "Criticizing-Selection",
    "balanced": "Balanced-Selection",
    "random, verdicts removed": "Outcome-Removal Random-Selection",
    "criticising, verdicts removed": "Outcome-Removal Criticizing-Selection",
}
_HELPFUL = ("criticising", "random, verdicts removed", "criticising, verdicts removed")
_ONE_DIGIT, _SIGNED = "{:.1f}".format, "{:+.1f}".format
_in_points = partial(claims.signed, digits=1, unit=" points")
Outcome = Callable[[Mapping[str, bool]], str]
"""The verdict, of whether each method clearly differs as the claim says."""


def read_accuracies(folder: Path, _: claims.Options) -> pd.DataFrame:
    """The printed tables of a folder, one row per number.

    Raises
    ------
    InputError
        If the file is not there, or damaged.
    """
    path = claims.file_of(folder, *_CROWD_FILES, study="crowd comparative evaluation")
    frame = claims.table_of(path, _ACCURACIES, numbers=("table", "value", "samples"))
    frame["samples"] = frame["samples"].fillna(0).astype(int)
    frame["method"] = frame["method"].str.replace(r"\s*\(Sota\)", "", regex=True)
    keys = list(_ACCURACIES[:-1])
    if frame[["table", "value"]].isna().any(axis=None) or frame.duplicated(keys).any():
        raise InputError(
            "replicate: a table of accuracies needs one number for every table, judge or base, "
            "method, samples and set."
        )
    if set(frame["table"]) != {1, 2, 3, 4}:
        raise InputError("replicate: the file must hold Tables 1 to 4 of arXiv 2502.12501.")
    return frame


def _table(printed: pd.DataFrame, number: int, *, average: bool = False) -> Any:
    """A table, one row per judge, method and number of samples, one column per set."""
    rows = printed[printed["table"] == number].pivot(
        index=["judge_or_base", "method", "samples"], columns="set", values="value"
    )
    return rows if average else rows.drop(columns="average", errors="ignore")


def _all_clear(clear: Mapping[str, bool], otherwise: str = "open") -> str:
    return claims.joint_verdict(list(clear.values()), otherwise=otherwise)


def _mostly(difference: Any, least: float) -> Outcome:
    """Verdict in part where no interval shows it, but more than a share of cells is above 0."""
    otherwise = "stands in part" if float((difference > 0).to_numpy().mean()) > least else "open"
    return partial(_all_clear, otherwise=otherwise)


def _compared(
    title: str, columns: Mapping[str, Any], note: str, *, reproduced: str = "",
    verdict: Outcome = _all_clear, rises: bool = True,
) -> claims.Finding:  # fmt: skip
    """Each method minus the first, on the same sets; `rises`: where the claim says it is above."""
    reference, *_ = columns
    levels = claims.levels_of(shift := claims.paired_shift(columns, reference=reference))
    clear = {m: r.p_adjusted < 0.05 and (r.estimate > 0) == rises for m, r in levels.items()}
    if len(levels) == 1:
        clear = {m: claims.low_high(r)[0] > 0 for m, r in levels.items()}
    means = {name: of.mean() for name, of in columns.items()}
    return claims.Finding(
        reproduced=reproduced or listed(means, _ONE_DIGIT, ", "),
        verdict=verdict(clear),
        because=f"Against {reference}: {listed(levels, _in_points)} "
        f"({len(columns[reference])} sets). {note}",
        results=claims.now(title, shift, primary=True),
    )


def _above(difference: Any) -> str:
    """Number of the cells of a table that are above 0, among all."""
    return f"{int((difference > 0).to_numpy().sum())} of {difference.size} cells"


def _of_gpt(printed: pd.DataFrame, methods: Mapping[str, str]) -> dict[str, Any]:
    """Accuracies of GPT-4o by set, of methods by the names that are shown."""
    wide = pd.concat([_table(printed, n).loc[_GPT] for n in (1, 4)]).groupby("method").mean()
    return {name: wide.loc[method] for name, method in methods.items()}


def _gain(printed: pd.DataFrame, _: claims.Options) -> claims.Finding:
    wide = _table(printed, 1).droplevel("samples")
    cce, vanilla = (wide.xs(method, level="method") for method in (_CCE, _VANILLA))
    vanilla = vanilla.loc[cce.index]
    gains = cce - vanilla
    of_sets = gains.mean()
    most = of_sets.idxmax()
    return _compared(
        "CCE@16 against vanilla, judges averaged",
        {_VANILLA: vanilla.mean(), _CCE: cce.mean()},
        f"{len(cce)} judges are averaged. The smallest possible p of an exchange within sets is "
        f"{bounded(2 / 2 ** len(of_sets), digits=4)}. The gain is {of_sets[most]:.1f} points on "
        f"{most} and {gains.drop(columns=most).mean().mean():.1f} on average without it. By set: "
        f"{listed(of_sets, _SIGNED, ', ')}. The 6.7 is one judge's.",
        reproduced=f"{listed(gains.mean(axis=1), _SIGNED, ', ')}; above the vanilla judge in "
        f"{_above(gains)}",
        verdict=_mostly(gains, 0.9),
    )


def _scaling(printed: pd.DataFrame, _: claims.Options) -> claims.Finding:
    wide = _table(printed, 4).loc[_GPT]
    sizes = sorted(set(wide.index.get_level_values("samples")))
    few, many = (wide.xs(k, level="samples") for k in (sizes[0], sizes[-1]))
    return _compared(
        f"{sizes[-1]} against {sizes[0]} judgments",
        {f"k={sizes[0]}": few.mean(), f"k={sizes[-1]}": many.mean()},
        "GPT-4o only. A value is the mean of three samples of judgments, whose spread is not "
        "printed.",
        reproduced=f"higher at {sizes[-1]} than at {sizes[0]} in {_above(many - few)} of Table 4",
        verdict=_mostly(many - few, 0.5),
    )


def _distilled(printed: pd.DataFrame, _: claims.Options) -> claims.Finding:
    wide = _table(printed, 2)
    own = wide[wide.index.get_level_values(0).str.contains("Tuned")]
    cce, vanilla = (
        own.xs(f"Synthetic Judgment from {kind}", level="method").sort_index()
        for kind in ("CCE", _VANILLA)
    )
    difference, both = cce - vanilla, pd.concat([cce, vanilla])
    sizes = sorted(set(both.index.get_level_values("samples")))
    few, many = (
        pd.concat({k: of.xs(n, level="samples") for k, of in (("CCE", cce), (_VANILLA, vanilla))})
        for n in (sizes[0], sizes[-1])
    )
    worse, coin = (many < few).sum(), (both < 50).sum()
    partly = _mostly(difference, 0.5)
    by_base = {f"{base} {n:,}": of.mean() for (base, n), of in difference.iterrows()}
    return _compared(
        "Trained on either kind of judgments",
        {_VANILLA: vanilla.mean(), "CCE": cce.mean()},
        f"From {sizes[0]:,} to {sizes[-1]:,} examples accuracy falls on "
        + ", ".join(f"{s} in {n} of {len(few)}" for s, n in worse.items() if n)
        + ". Below 50% (chance) are "
        + ", ".join(f"{n} of {len(both)} on {s}" for s, n in coin.items() if n)
        + ". Each value is one training run, so the effect of the seed is unknown. The mixed judge "
        "has twice the examples, so size and mixture are confounded.",
        reproduced=f"above vanilla in {_above(difference)}, "
        + ", ".join(f"{name}: {mean:+.1f}" for name, mean in by_base.items()),
        verdict=lambda clear: partly({m: c and not worse.any() for m, c in clear.items()}),
    )


def _rejection(printed: pd.DataFrame, _: claims.Options) -> claims.Finding:
    from scipy.stats import binomtest

    own = printed[printed["table"] == 3]
    wide = own.pivot(index=["judge_or_base", "set"], columns="method", values="value")
    names = [f"{how} Sampling" for how in ("Crowd Rejection", "Vanilla Rejection", "Random")]
    crowd, vanilla, chance = (wide[n] for n in names)
    above = crowd > vanilla
    whole = above.groupby(level="judge_or_base").all()
    p = float(binomtest(int(whole.sum()), len(whole)).pvalue)
    return claims.Finding(
        reproduced=f"crowd above vanilla in {_above(crowd - vanilla)}, "
        f"vanilla above random in {int((vanilla > chance).sum())}",
        verdict="stands" if p < 0.05 else "stands in part" if above.mean() > 0.5 else "open",
        because=f"In {int(whole.sum())} of {len(whole)} pairs all three scores are higher "
        f"({apa_p(p)}; the smallest possible p of four pairs is .125). Each model is from one "
        "training run. Neither the spread over seeds nor intervals over MT-Bench's 80 questions "
        "are printed. "
        "Vanilla rejection sampling falls below random choice in "
        f"{int((vanilla < chance).sum())} of {len(wide)} cells.",
    )


def _averages(printed: pd.DataFrame, _: claims.Options) -> claims.Finding:
    rows = pd.concat({t: _table(printed, t, average=True) for t in (1, 2, 4)})
    mean = rows.drop(columns="average").mean(axis=1)
    wrong = [
        f"Table {table}, {judge}, {method}: {rows.loc[key, 'average']:.1f} printed, "
        f"{mean[key]:.1f} computed"
        for key in rows.index[(mean - rows["average"]).abs() > 0.1]
        for table, judge, method, _ in [key]
    ]
    same = _table(printed, 1).droplevel("samples").loc[_GPT]
    twin = _table(printed, 4).loc[_GPT].xs(16, level="samples")
    agree = [
        bool(np.allclose(same.loc[one], twin.loc[_SELECTIONS[other]]))
        for one, other in ((_CCE, "criticising, verdicts removed"), ("CCE-random@16", "random"))
    ]
    return claims.Finding(
        reproduced=f"{len(rows) - len(wrong)} of {len(rows)} rows",
        verdict="stands in part" if wrong else "stands",
        because=(f"Different: {'; '.join(wrong)}. " if wrong else "")
        + f"{sum(agree)} of {len(agree)} rows that are in two tables are equal. CCE@16 is Table "
        "4's criticising selection with verdicts removed. CCE-random@16 is its random selection "
        "without removal, so the two differ in two factors.",
    )


def _accuracies(printed: pd.DataFrame, _: claims.Options) -> pd.DataFrame:
    sets = _table(printed, 1).droplevel("samples")
    judge, method = (sets.index.get_level_values(i) for i in (0, 1))
    return pd.DataFrame(
        {
            "condition": judge + ", " + method,
            "judge": judge,
            "factor_strategy": method,
            "accuracy": sets.mean(axis=1).to_numpy() / 100,
        }
    )


CROWD_COMPARATIVE = claims.Study(
    name="crowd_comparative",
    title="Crowd comparative evaluation: its printed tables",
    source="arXiv 2502.12501, Tables 1-4",
    layout="`crowd_tables_1_4.csv`: table, judge_or_base, method, samples, set, value",
    heading="Crowd comparative evaluation (arXiv 2502.12501), re-examined",
    question="Do the printed tables support the crowd's gain and price, and are they consistent?",
    read=read_accuracies,
    claims=(
        Claim("gain", "Crowd comparison raises accuracy by 6.7 points on average over five sets.",
            published="6.7 points (GPT-4o: 73.6 to 80.3)", test_then="averages side by side",
            test_now=f"{_BY_SET}, judges averaged; the verdicts, which would pair by item, are not "
            "public", evaluate=_gain),
        Claim("price", "With equal numbers of judgments it beats majority and aggregated votes.",
            published="GPT-4o: CCE@16 80.3, Agg@16 76.9, Maj@16 76.7, 16 criteria 75.9",
            test_then="averages side by side", test_now=f"{_BY_SET}, Holm",
            evaluate=lambda printed, _: _compared(
                "GPT-4o: strategies against CCE@16", _of_gpt(printed, _PRICED),
                "The number of judgments is equal, the number of calls is not. 16 votes take 16 "
                "calls. 16 crowd judgments take 33 longer calls, removals included, and the "
                "crowd's answers.", rises=False)),
        Claim("selection",
            "Criticising judgments help, praising ones hurt, and removing verdicts helps.",
            published="Table 4 (GPT-4o): praising 75.4 and 76.5, random 78.1 and 78.6, criticising "
                "78.3 and 79.2, criticising with verdicts removed 78.8 and 80.3",
            test_then="averages side by side",
            test_now=f"{_BY_SET}, 8 and 16 judgments averaged, Holm",
            evaluate=lambda printed, _: _compared(
                "Selections against a random one", _of_gpt(printed, _SELECTIONS),
                "Selections of 8 and 16 judgments are averaged.",
                verdict=lambda clear: claims.joint_verdict([clear[m] for m in _HELPFUL]))),
        Claim("scaling", "Accuracy improves with the number of crowd judgments.",
            published="a figure; only its 8 and 16 judgments are in a table", test_then="a curve",
            test_now=f"{_BY_SET}, selections averaged", evaluate=_scaling),
        Claim("distilled",
            "Judgments with a crowd train smaller judges better than vanilla ones, and more "
                "judgments train better.",
            published="Table 2: 61.2 and 61.1 against 57.7 and 60.3 (Llama 3.1 8B), 57.4 and 63.0 "
                "against 56.6 and 61.1 (Qwen 2.5 7B); mixed, 60,000: 66.7",
            test_then="averages side by side", test_now=f"{_BY_SET}, bases and sizes averaged",
            evaluate=_distilled),
        Claim("rejection",
            "Responses chosen with a crowd train better models than those of a vanilla judge.",
            published="Table 3: MT-Bench 4.53 / 4.28, 7.63 / 7.56, 8.63 / 7.91, 8.41 / 8.46 (crowd "
                "/ vanilla)", test_then="scores side by side",
            test_now="sign test over pairs of base and instructions, since the three scores of one "
                "trained model are not independent", evaluate=_rejection),
        Claim("averages", "Every printed average is the mean of its row.",
            published="Tables 1, 2 and 4", test_then="none",
            test_now="the mean of the printed cells, within rounding (.1)", evaluate=_averages),
        Claim("points",
            "Explanations after a crowd name more key points and cover more of the responses.",
            published="figures", test_then="means side by side",
            test_now="key points and coverage paired by pair, with the length of the explanation "
                "and coverage by explanations of other questions",
            evaluate=lambda *_: "figures only; `judgestats run crowd` counts key points and "
                "`python -m judgestats.training coverage` measures coverage on your run"),
    ),
    conditions=_accuracies,
    drawing=ranked("accuracy", caption="Average of five printed accuracies (Table 1)."),
    data_source=lambda printed: f"{len(printed)} printed cells",
    limitations=lambda _: (
        "Only printed averages are re-examined: the verdicts are not public.",
        (
            "Five sets are five observations, so intervals over them are wide. They describe a "
            "sixth set. Neither the sizes of the sets nor intervals are printed. With 350 pairs an "
            "accuracy of 68% has a margin of error of 5 points."
        ),
    ),
    from_print=True,
)  # fmt: skip
