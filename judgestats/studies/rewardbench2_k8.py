"""Eight scores an answer on RewardBench 2 (Composo, 2026): what asking again buys, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.analysis.summary_rows import factor_curve
from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference.multiplicity import p_adjust
from judgestats.stats.inference.result import Comparison, Comparisons, Estimate
from judgestats.studies.claims import (
    Claim,
    Options,
    Replication,
    Study,
    file_of,
    format_percent,
    now,
    records_of,
    shifted,
    then,
)

FULL, MINI, NANO = "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano"
_FILES: Mapping[tuple[str, float], tuple[str, str]] = {
    (FULL, 1.0): ("base_both_k8.jsonl", "full_scores"),
    (MINI, 1.0): ("base_both_k8.jsonl", "mini_scores"),
    (NANO, 1.0): ("base_nano_k8.jsonl", "nano_scores"),
    (FULL, 0.7): ("base_full_k8_t0.7.jsonl", "full_scores"),
    (FULL, 0.0): ("base_full_k8_t0.0.jsonl", "full_scores"),
}


@dataclass(frozen=True, kw_only=True)
class JudgeScores:
    """A judge at a temperature: its scores, questions x answers x repeats, the right one first."""

    scores: Floats
    questions: tuple[tuple[str, str], ...]

    def credit(self, k: int, *, ties: bool = True) -> Floats:
        """What the right answer earns by the mean of k scores, a question; NaN where unread.

        Without `ties`, as the study counts: the first k scores, those that were read, and
        nothing for a tie. With them, the mean over successive sets of k repeats.
        """
        starts = range(0, self.scores.shape[2] - k + 1, k) if ties else [0]
        parts = [self._earned(self.scores[:, :, s : s + k], ties=ties) for s in starts]
        read = ~np.isnan(parts)
        counts = read.sum(axis=0)
        total = np.where(read, parts, 0.0).sum(axis=0)
        return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)

    def tied(self, k: int) -> float:
        """Share of the questions whose right answer shares the highest mean of the first k."""
        whole = self._earned(self.scores[:, :, :k], ties=True)
        return float(np.mean((whole > 0) & (whole < 1)))

    def _earned(self, some: Floats, *, ties: bool) -> Floats:
        read = ~np.isnan(some)
        counts = read.sum(axis=2)
        means = np.where(read, some, 0.0).sum(axis=2) / np.where(counts > 0, counts, np.nan)
        means = np.round(means, 9)  # 1/8ths of sums in another order are the same mean
        best = means == means.max(axis=1, keepdims=True)
        shared = best[:, 0] / np.maximum(best.sum(axis=1), 1)
        earned = shared if ties else (shared == 1).astype(float)
        return np.where(np.isnan(means).any(axis=1), np.nan, earned)


Data = Mapping[tuple[str, float], JudgeScores]


def read_scores(folder: Path) -> Data:
    """The judges and temperatures that a folder holds.

    Raises
    ------
    InputError
        If there is none of the files, or one is damaged.
    """
    file_of(folder, *dict.fromkeys(name for name, _ in _FILES.values()), study="RewardBench 2 k=8")
    data = {}
    for cell, (name, field) in _FILES.items():
        for path in sorted(folder.glob(f"{name}*"))[:1]:
            rows = records_of(path, ("id", "subset", field))
            try:
                scores = np.array([row.values[field] for row in rows], dtype=float)
            except (TypeError, ValueError) as error:
                raise InputError(f"replicate: {name}: {field} is no table of scores.") from error
            if scores.ndim != 3 or scores.shape[1] < 2:
                raise InputError(
                    f"replicate: {name}: {field} must be answers x repeats a question."
                )
            questions = tuple((str(r.values["subset"]), str(r.values["id"])) for r in rows)
            data[cell] = JudgeScores(scores=scores, questions=questions)
    return data


_MARGIN = 0.02
"""Declared margin: a difference of two points of accuracy matters little."""
_WIN = "share of questions whose right answer has the highest score alone: a tie counts as an error"
_SHARED = "credit shared among answers that tie for the highest score, paired by question"


def _paired(
    one: tuple[JudgeScores, int], two: tuple[JudgeScores, int], names: tuple[str, str]
) -> Comparisons:
    """Two less one, on the questions that both have."""
    columns = [
        pd.Series(asked.credit(k), index=pd.MultiIndex.from_tuples(asked.questions))
        for asked, k in (one, two)
    ]
    both = pd.concat(columns, axis=1, join="inner").dropna()
    return mean_shift(both.to_numpy(), conditions=list(names))


def _row(comparisons: Comparisons) -> Comparison:
    return comparisons.rows[0]


def _low_high(row: Comparison) -> tuple[float, float]:
    return (row.interval.low, row.interval.high) if row.interval else (np.nan, np.nan)


def _strict(asked: JudgeScores, k: int, label: str, options: Options) -> Estimate:
    return mean_share(
        asked.credit(k, ties=False), level=options.level, name="accuracy", label=label
    )


def _gain(
    data: Data, cell: tuple[str, float], options: Options, *, identity: str, claim: str,
    published: str
) -> Claim:  # fmt: skip
    """One against all repeats: as counted by the study, and with ties shared."""
    judge, t = cell
    about = Claim(
        id=identity,
        claim=claim,
        published=published,
        test_then=_WIN,
        test_now=_SHARED,
    )
    if cell not in data:
        return about.not_examined(f"no file of {judge} at T = {t:g}")
    asked = data[cell]
    most = asked.scores.shape[2]
    one, all_ = (_strict(asked, k, f"Accuracy as counted, k = {k}", options) for k in (1, most))
    fair = _paired((asked, 1), (asked, most), ("k = 1", f"k = {most}"))
    row = _row(fair)
    low, _ = _low_high(row)
    then_gain = all_.estimate - one.estimate
    left = row.estimate / then_gain
    verdict = "does not stand" if low <= 0 else "stands in part" if left < 0.8 else "stands"
    return about.examined(
reproduced=f"{format_percent(one.estimate)} at k = 1, {format_percent(all_.estimate)} at k = "
        f"{most}: +{100 * then_gain:.1f} points",
verdict=verdict,
because=f"The right answer shares the highest score in {format_percent(asked.tied(1))} of the "
        f"questions at k = 1 and in {format_percent(asked.tied(most))} at k = {most}; counted as "
        "errors, ties charge the single score for its coarse scale. With ties shared "
        f"({format_percent(float(np.nanmean(asked.credit(1))))} at k = 1) the gain is "
        f"{shifted(row)}: {100 * left:.0f} % of what was printed.",
results=(
            then(f"{identity}.then.one", f"{judge}, T={t:g}, one score, ties as errors", one),
            then(f"{identity}.then.all", f"{judge}, T={t:g}, mean of {most}, ties as errors", all_),
            now(f"{identity}.now", f"{judge}, T={t:g}: mean of {most} less one score, ties shared",
                fair, primary=True),
        ),
)  # fmt: skip


def _smaller(data: Data, options: Options) -> Claim:
    """Whether smaller models gain more by repeats."""
    about = Claim(
        id="smaller",
        claim="Smaller models gain more from repeats.",
        published="k = 1 to k = 8: nano 52.3 to 71.4 % (+19.1 points), mini to 79.2 %, full "
        "71.7 to 81.5 % (+9.8)",
        test_then=_WIN,
        test_now="differences of the gains with ties shared, paired by question, Holm",
    )
    there = [judge for judge in (FULL, MINI, NANO) if (judge, 1.0) in data]
    if FULL not in there or len(there) < 2:
        return about.not_examined("the folder lacks a file of the models")
    gains, counted = [], []
    for judge in there:
        asked = data[judge, 1.0]
        most = asked.scores.shape[2]
        own = asked.credit(most) - asked.credit(1)
        gains.append(pd.Series(own, index=pd.MultiIndex.from_tuples(asked.questions)))
        one, all_ = (_strict(asked, k, f"{judge}, k = {k}", options) for k in (1, most))
        counted.append((one, all_))
    table = pd.concat(gains, axis=1, join="inner").dropna().to_numpy()
    shift = mean_shift(table, conditions=there, reference=FULL)
    clear = all(_low_high(row)[0] > 0 for row in shift.rows)
    return about.examined(
        reproduced="; ".join(
            f"{judge} {format_percent(one.estimate)} to {format_percent(all_.estimate)}"
            for judge, (one, all_) in zip(there, counted, strict=True)
        ),
        verdict="stands" if clear else "open",
        because="With ties shared the gains are "
        + ", ".join(f"{j} {100 * g:.1f}" for j, g in zip(there, table.mean(axis=0), strict=True))
        + f" points; beyond {FULL}'s: "
        + "; ".join(f"{row.a} {shifted(row)}" for row in shift.rows)
        + ".",
        results=(
            *(
                then(f"smaller.then.{j}.{k}", f"{j}, k = {k}, ties as errors", e)
                for j, pair in zip(there, counted, strict=True)
                for k, e in zip(("one", "all"), pair, strict=True)
            ),
            now("smaller.now", "Gains by repeats, ties shared", shift, primary=True),
        ),
    )


def _nano(data: Data, options: Options) -> Claim:
    """Whether eight scores of the smallest model reach one of the largest."""
    about = Claim(
        id="nano",
        claim="Eight scores of the nano model come near one of the full model.",
        published="71.4 % against 71.7 %",
        test_then=_WIN,
        test_now=_SHARED,
    )
    if not {(FULL, 1.0), (NANO, 1.0)} <= set(data):
        return about.not_examined("the folder lacks a file of the two models")
    full, nano = data[FULL, 1.0], data[NANO, 1.0]
    most = nano.scores.shape[2]
    counted = [_strict(full, 1, f"{FULL}, k = 1", options), _strict(nano, most, NANO, options)]
    fair = _paired((full, 1), (nano, most), (f"{FULL}, one score", f"{NANO}, mean of {most}"))
    row = _row(fair)
    low, high = _low_high(row)
    return about.examined(
        reproduced=f"{format_percent(counted[1].estimate)} against "
        f"{format_percent(counted[0].estimate)}",
        verdict="stands" if low > -_MARGIN else "does not stand" if high < -_MARGIN else "open",
        because=f"With ties shared it is {shifted(row)}, against a declared margin of "
        f"{100 * _MARGIN:.0f} points: the two printed accuracies meet because the single score of "
        f"the full model ties in {format_percent(full.tied(1))} of the questions.",
        results=(
            then("nano.then.full", f"{FULL}, one score, ties as errors", counted[0]),
            then("nano.then.nano", f"{NANO}, mean of {most}, ties as errors", counted[1]),
            now("nano.now", f"{NANO}, mean of {most}, less {FULL}, one score", fair, primary=True),
        ),
    )


def _three(data: Data, options: Options) -> Claim:
    """How much of the gain three repeats have."""
    about = Claim(
        id="three",
        claim="Three scores capture about 70 % of what eight gain.",
        published="k = 3 captures about 70 % of the gain (full model)",
        test_then=_WIN,
        test_now="share of the gain with ties shared, and what k = 8 adds to k = 3, paired by "
        "question",
    )
    if (FULL, 1.0) not in data:
        return about.not_examined(f"no file of {FULL} at T = 1")
    asked = data[FULL, 1.0]
    most = asked.scores.shape[2]
    one, three, all_ = (_strict(asked, k, f"k = {k}", options) for k in (1, 3, most))
    counted = (three.estimate - one.estimate) / (all_.estimate - one.estimate)
    means = [float(np.nanmean(asked.credit(k))) for k in (1, 3, most)]
    share = (means[1] - means[0]) / (means[2] - means[0])
    more = _paired((asked, 3), (asked, most), ("k = 3", f"k = {most}"))
    return about.examined(
        reproduced=f"{100 * counted:.0f} % of the gain",
        verdict="stands" if share >= 0.6 else "does not stand",
        because=f"With ties shared three scores have {100 * share:.0f} % of the gain; the other "
        f"{most - 3} add {shifted(_row(more))}.",
        results=(
            then("three.then", "Mean of three scores, ties as errors", three),
            now("three.now", f"Mean of {most} less mean of three, ties shared", more, primary=True),
        ),
    )


def _temperature(data: Data, options: Options) -> Claim:
    """Whether one score is as often right at every temperature."""
    about = Claim(
        id="temperature",
        claim="The accuracy of a single score is stable across temperatures.",
        published="71-73 % at T = 0 to 1, intervals overlapping",
        test_then=f"{_WIN}; overlap of intervals",
        test_now=f"differences with ties shared, paired by question, within "
        f"{100 * _MARGIN:.0f} points (declared)",
    )
    cells = [(FULL, t) for t in (0.0, 0.7, 1.0) if (FULL, t) in data]
    if len(cells) < 2:
        return about.not_examined("fewer than two temperatures")
    counted = {t: _strict(data[j, t], 1, f"T = {t:g}", options) for j, t in cells}
    pairs = [
        _paired((data[cells[0]], 1), (data[c], 1), (f"T = {cells[0][1]:g}", f"T = {c[1]:g}"))
        for c in cells[1:]
    ]
    bounds = [_low_high(_row(p)) for p in pairs]
    inside = all(low > -_MARGIN and high < _MARGIN for low, high in bounds)
    outside = any(low > _MARGIN or high < -_MARGIN for low, high in bounds)
    return about.examined(
        reproduced=", ".join(
            f"{format_percent(e.estimate)} at T = {t:g}" for t, e in counted.items()
        ),
        verdict="stands" if inside else "does not stand" if outside else "open",
        because="Against T = 0: "
        + "; ".join(f"{_row(p).a} {shifted(_row(p))}" for p in pairs)
        + (". Every interval lies inside the margin." if inside else "."),
        results=(
            *(
                then(f"temperature.then.{t:g}", f"One score, T = {t:g}", e)
                for t, e in counted.items()
            ),
            *(
                now(f"temperature.now.{t:g}", f"One score: T = {t:g} less T = 0", p, primary=True)
                for (_, t), p in zip(cells[1:], pairs, strict=True)
            ),
        ),
    )


def _subset_claim(data: Data) -> Claim:
    """In which subsets repeats help."""
    about = Claim(
        id="where",
        claim="Repeats help in every category.",
        published="k = 1 to k = 8, full model: Factuality 76.4 to 86.7 %, Focus 70.1 to 81.8, "
        "Math 61.2 to 74.9, Precise IF 34.0 to 44.7, Safety 87.3 to 92.1",
        test_then=f"{_WIN}, by category",
        test_now=f"{_SHARED}, a category at a time, Holm over categories",
    )
    if (FULL, 1.0) not in data:
        return about.not_examined(f"no file of {FULL} at T = 1")
    asked = data[FULL, 1.0]
    most = asked.scores.shape[2]
    subsets = np.array([s for s, _ in asked.questions])
    one, all_ = asked.credit(1), asked.credit(most)
    counted = [asked.credit(k, ties=False) for k in (1, most)]
    names = [str(s) for s in dict.fromkeys(subsets)]
    own = {
        s: mean_shift(
            np.column_stack([one, all_])[(subsets == s) & ~np.isnan(one) & ~np.isnan(all_)],
            conditions=["k = 1", f"k = {most}"],
        )
        for s in names
    }
    p = p_adjust([_row(c).p_value for c in own.values()], method="holm")
    shown = [s for s, adjusted in zip(names, p, strict=True) if adjusted < 0.05]
    verdict = "stands" if len(shown) == len(names) else "stands in part" if shown else "open"
    return about.examined(
        reproduced=", ".join(
            f"{s} {format_percent(float(np.nanmean(counted[0][subsets == s])))} to "
            f"{format_percent(float(np.nanmean(counted[1][subsets == s])))}"
            for s in names
        ),
        verdict=verdict,
        because="With ties shared: "
        + "; ".join(f"{s} {_row(own[s]).with_bounds(digits=1, times=100)} points" for s in names)
        + f". Shown after Holm: {', '.join(shown) or 'none'}.",
        results=tuple(
            now(f"where.now.{s}", f"{s}: mean of {most} less one score, ties shared", c)
            for s, c in own.items()
        ),
    )


def examine(folder: Path, options: Options) -> Replication:
    """Every claim of the study, on the scores of a folder.

    Parameters
    ----------
    folder : Path
        With the study's files: ``base_both_k8.jsonl`` and its siblings, packed or not.
    options : Options

    Returns
    -------
    Replication
    """
    data = read_scores(folder)
    claims = (
        _gain(data, (FULL, 1.0), options, identity="full",
              claim="The mean of eight scores makes the full model 9.8 points more often right.",
              published="71.7 to 81.5 %"),
        _smaller(data, options),
        _gain(data, (FULL, 0.0), options, identity="at_zero",
              claim="Even at T = 0 eight scores make it 4.6 points more often right.",
              published="72.5 to 77.1 %, intervals not overlapping"),
        _nano(data, options),
        _three(data, options),
        _temperature(data, options),
        _subset_claim(data),
    )  # fmt: skip
    return Replication(
        study="rewardbench2_k8",
        title="Eight scores an answer on RewardBench 2 (Composo), re-examined",
        question="What does the mean of eight scores buy, once ties are not counted as errors?",
        claims=claims,
        conditions=_conditions(data, options),
        drawing=factor_curve(
            "k",
            "accuracy_as_counted",
            "accuracy_shared",
            by=("temperature",),
            caption="Accuracy by number of scores averaged: with ties counted as errors, as "
            "printed, and with ties shared.",
        ),
        data_source="the study's scores (judgments in JSON lines)",
        limitations=(
            "Only the plain prompt is examined, not the study's prompts with criteria.",
            "A tie is broken by a fair draw here; who breaks ties otherwise gets another number.",
        ),
        margins={"accuracy": _MARGIN},
    )


def _conditions(data: Data, options: Options) -> pd.DataFrame:
    rows = []
    for (judge, t), asked in data.items():
        for k in dict.fromkeys((1, 3, asked.scores.shape[2])):
            fair = mean_share(asked.credit(k), level=options.level)
            rows.append(
                {
                    "condition": f"{judge}, T={t:g}, k={k}",
                    "judge": judge,
                    "temperature": t,
                    "k": k,
                    "n_items": int(np.sum(~np.isnan(asked.credit(k)))),
                    "tied": asked.tied(k),
                    "accuracy_as_counted": float(np.nanmean(asked.credit(k, ties=False))),
                    "accuracy_shared": fair.estimate,
                    "accuracy_shared_low": fair.interval.low if fair.interval else np.nan,
                    "accuracy_shared_high": fair.interval.high if fair.interval else np.nan,
                }
            )
    return pd.DataFrame(rows)


STUDY = Study(
    name="rewardbench2_k8",
    title="Eight scores an answer on RewardBench 2",
    source="Composo, github.com/composo-ai/llm-judge-criteria-ensembling, 2026",
    layout="`base_both_k8.jsonl.gz`, `base_nano_k8.jsonl.gz`, `base_full_k8_t0.0.jsonl.gz`, "
    "`base_full_k8_t0.7.jsonl.gz`",
    examine=examine,
)
