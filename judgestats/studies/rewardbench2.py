"""Eight scores per answer on RewardBench 2 (Composo, 2026): gain of repeats, by category."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.analysis.coefficients import factor_curve
from judgestats.arrays import Floats, mean_of_present
from judgestats.errors import InputError
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.multiplicity import p_adjust
from judgestats.stats.inference.result import Estimate
from judgestats.studies import claims
from judgestats.studies.claims import Claim, format_percent, levels_of, listed, shifted

FULL, MINI, NANO = "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano"
Cell = tuple[str, float]
"""A model and a temperature."""
_SCORES: Mapping[Cell, tuple[str, str]] = {
    (FULL, 1.0): ("base_both_k8.jsonl", "full_scores"),
    (MINI, 1.0): ("base_both_k8.jsonl", "mini_scores"),
    (NANO, 1.0): ("base_nano_k8.jsonl", "nano_scores"),
    (FULL, 0.7): ("base_full_k8_t0.7.jsonl", "full_scores"),
    (FULL, 0.0): ("base_full_k8_t0.0.jsonl", "full_scores"),
}
_MARGIN = 0.02
"""Declared margin: a difference of two points of accuracy matters little."""
_WIN = "share of questions where the correct answer alone has the highest score (a tie is an error)"
_SHARED = "credit shared among answers that tie for the highest score, paired by question"


@dataclass(frozen=True, kw_only=True)
class JudgeScores:
    """Scores of a judge at a temperature: questions x answers x repeats, correct answer first."""

    scores: Floats
    questions: tuple[tuple[str, str], ...]

    @property
    def most(self) -> int:
        """How many repeats there are."""
        return int(self.scores.shape[2])

    def credit(self, k: int, *, ties: bool = True) -> Floats:
        """Credit of the correct answer by the mean of k scores, per question; NaN if unparsed.

        Without `ties`, as the study counts: the first k scores, those that were read, and
        nothing for a tie. With them, the mean over successive sets of k repeats.
        """
        starts = range(0, self.most - k + 1, k) if ties else [0]
        earned = [self._earned(self.scores[:, :, i : i + k], ties=ties) for i in starts]
        return mean_of_present(earned, 0)

    def question_credit(self, k: int) -> pd.Series:
        """Credit with ties shared, by question."""
        return pd.Series(self.credit(k), index=pd.MultiIndex.from_tuples(self.questions))

    def tied(self, k: int) -> float:
        """Share of the questions whose correct answer shares the highest mean of the first k."""
        whole = self._earned(self.scores[:, :, :k], ties=True)
        return float(np.mean((whole > 0) & (whole < 1)))

    def strict_accuracy(self, k: int) -> Estimate:
        """Accuracy as the study counts: ties are errors."""
        label = f"Accuracy as counted, k = {k}"
        return mean_share(self.credit(k, ties=False), name="accuracy", label=label)

    def _earned(self, some: Floats, *, ties: bool) -> Floats:
        # Means of the same scores in another order can differ in the last bit.
        means = np.round(mean_of_present(some, 2), 9)
        best = means == means.max(axis=1, keepdims=True)
        shared = best[:, 0] / np.maximum(best.sum(axis=1), 1)
        earned = shared if ties else (shared == 1).astype(float)
        return np.where(np.isnan(means).any(axis=1), np.nan, earned)


Cells = Mapping[Cell, JudgeScores]


def read_scores(folder: Path, _: claims.Options) -> Cells:
    """The judges and temperatures that a folder holds.

    Raises
    ------
    InputError
        If there is none of the files, or one is damaged.
    """
    claims.file_of(
        folder, *dict.fromkeys(name for name, _ in _SCORES.values()), study="RewardBench 2 k=8"
    )
    data = {}
    for cell, (name, field) in _SCORES.items():
        for path in sorted(folder.glob(f"{name}*"))[:1]:
            rows = claims.records_of(path, ("id", "subset", field))
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


def _points(value: float) -> str:
    return f"{100 * value:.1f}"


def _of(evaluate: Callable[..., claims.Finding], *cells: Cell) -> claims.Evaluator:
    """An evaluator of the scores of cells that the folder must hold."""

    def checked(data: Cells, _: claims.Options) -> claims.Finding | str:
        lacking = [f"no file of {j} at T = {t:g}" for j, t in cells if (j, t) not in data]
        return lacking[0] if lacking else evaluate(*(data[cell] for cell in cells))

    return checked


def _repeats(where: str, asked: JudgeScores) -> claims.Finding:
    """One against all repeats: as the study counts, and with ties shared."""
    most = asked.most
    one, all_ = (asked.strict_accuracy(k) for k in (1, most))
    fair = claims.paired_shift({f"k = {k}": asked.credit(k) for k in (1, most)})
    gain = all_.estimate - one.estimate
    left = fair.rows[0].estimate / gain
    kept = "stands in part" if left < 0.8 else "stands"
    return claims.Finding(
        reproduced=f"{format_percent(one.estimate)} at k = 1, {format_percent(all_.estimate)} "
        f"at k = {most}: +{_points(gain)} points",
        verdict=kept if claims.low_high(fair.rows[0])[0] > 0 else "does not stand",
        because="The correct answer ties for the highest score in "
        f"{format_percent(asked.tied(1))} of the questions at k = 1 and in "
        f"{format_percent(asked.tied(most))} at k = {most}. Ties counted as errors penalise "
        "the coarse scale of the single score. With ties shared "
        f"({format_percent(float(np.nanmean(asked.credit(1))))} at k = 1) the gain is "
        f"{shifted(fair.rows[0])}: {100 * left:.0f}% of what was printed.",
        results=[
            *claims.then(f"{where}, one score, ties as errors", one, "one"),
            *claims.then(f"{where}, all scores, ties as errors", all_, "all"),
            *claims.now(
                f"{where}: mean of {most} minus one score, ties shared", fair, primary=True
            ),
        ],
    )


def _smaller(data: Cells, _: claims.Options) -> claims.Finding | str:
    """Whether smaller models gain more by repeats."""
    there = {judge: data[judge, 1.0] for judge in (FULL, MINI, NANO) if (judge, 1.0) in data}
    if FULL not in there or len(there) < 2:
        return "the folder lacks a file of the models"
    gains = {j: of.question_credit(of.most) - of.question_credit(1) for j, of in there.items()}
    shift = claims.paired_shift(gains, reference=FULL)
    shared = pd.DataFrame(gains).dropna()
    means = {judge: float(shared[judge].mean()) for judge in gains}
    counted = {j: [of.strict_accuracy(k) for k in (1, of.most)] for j, of in there.items()}
    named = {
        f"{j}.{k}": e for j, of in counted.items() for k, e in zip(("one", "all"), of, strict=True)
    }
    return claims.Finding(
        reproduced=listed(counted, lambda of: " to ".join(format_percent(e.estimate) for e in of)),
        verdict="stands" if all(claims.low_high(row)[0] > 0 for row in shift.rows) else "open",
        because="With ties shared the gains in points are "
        f"{listed(means, _points, ', ')}. Minus the gain of {FULL}: "
        f"{listed(levels_of(shift), shifted)}.",
        results=claims.then("Ties as errors", named)
        + claims.now("Gains by repeats, ties shared", shift, primary=True),
    )


def _nano(full: JudgeScores, nano: JudgeScores) -> claims.Finding:
    """Whether eight scores of the smallest model reach one of the largest."""
    counted = {"full": full.strict_accuracy(1), "nano": nano.strict_accuracy(nano.most)}
    one, mean = f"{FULL}, one score", f"{NANO}, mean of {nano.most}"
    fair = claims.paired_shift(
        {one: full.question_credit(1), mean: nano.question_credit(nano.most)}
    )
    low, high = claims.low_high(fair.rows[0])
    return claims.Finding(
        reproduced=" against ".join(format_percent(counted[k].estimate) for k in ("nano", "full")),
        verdict="stands" if low > -_MARGIN else "does not stand" if high < -_MARGIN else "open",
        because=f"With ties shared the difference is {shifted(fair.rows[0])}, and the declared "
        f"margin is {100 * _MARGIN:.0f} points. The printed accuracies are close because the "
        f"single score of the full model ties in {format_percent(full.tied(1))} of the questions.",
        results=claims.then("Ties as errors", counted)
        + claims.now(f"{mean}, minus {one}", fair, primary=True),
    )


def _three(asked: JudgeScores) -> claims.Finding:
    """Share of the gain that three repeats have."""
    ks = (1, 3, asked.most)
    counted = [asked.strict_accuracy(k) for k in ks]
    printed, share = (
        (three - one) / (all_ - one)
        for one, three, all_ in (
            [e.estimate for e in counted],
            [float(np.nanmean(asked.credit(k))) for k in ks],
        )
    )
    more = claims.paired_shift({f"k = {k}": asked.credit(k) for k in ks[1:]})
    title = f"Mean of {asked.most} minus mean of three, ties shared"
    return claims.Finding(
        reproduced=f"{100 * printed:.0f}% of the gain",
        verdict="stands" if share >= 0.6 else "does not stand",
        because=f"With ties shared three scores have {100 * share:.0f}% of the gain. The other "
        f"{asked.most - 3} scores add {shifted(more.rows[0])}.",
        results=claims.then("Mean of three scores, ties as errors", counted[1])
        + claims.now(title, more, primary=True),
    )


def _stable_at(data: Cells, _: claims.Options) -> claims.Finding | str:
    """Whether one score is as often correct at every temperature."""
    at = {t: data[FULL, t] for t in (0.0, 0.7, 1.0) if (FULL, t) in data}
    if len(at) < 2:
        return "fewer than two temperatures"
    coldest, *warmer = at
    pairs = {
        f"{t:g}": claims.paired_shift(
            {f"T = {u:g}": at[u].question_credit(1) for u in (coldest, t)}
        )
        for t in warmer
    }
    bounds = [claims.low_high(p.rows[0]) for p in pairs.values()]
    inside = all(low > -_MARGIN and high < _MARGIN for low, high in bounds)
    outside = any(low > _MARGIN or high < -_MARGIN for low, high in bounds)
    counted = {f"{t:g}": of.strict_accuracy(1) for t, of in at.items()}
    return claims.Finding(
        reproduced=", ".join(
            f"{format_percent(e.estimate)} at T = {t}" for t, e in counted.items()
        ),
        verdict="stands" if inside else "does not stand" if outside else "open",
        because="Against T = 0: "
        + listed({p.rows[0].a: p.rows[0] for p in pairs.values()}, shifted)
        + (". Every interval is inside the margin." if inside else "."),
        results=claims.then("One score, T", counted)
        + claims.now("One score minus that at T = 0, T", pairs, primary=True),
    )


def _subset_gains(asked: JudgeScores) -> claims.Finding:
    """Gain of repeats by subset."""
    ks = (1, asked.most)
    subsets = np.array([s for s, _ in asked.questions])
    inside = {str(s): subsets == s for s in dict.fromkeys(subsets)}
    own = {
        s: claims.paired_shift({f"k = {k}": asked.credit(k)[i] for k in ks})
        for s, i in inside.items()
    }
    counted = {
        s: " to ".join(format_percent(np.nanmean(asked.credit(k, ties=False)[i])) for k in ks)
        for s, i in inside.items()
    }
    gains = {s: f"{c.rows[0].with_bounds(digits=1, times=100)} points" for s, c in own.items()}
    p = p_adjust([c.rows[0].p_value for c in own.values()], method="holm")
    shown = [s for s, adjusted in zip(own, p, strict=True) if adjusted < 0.05]
    return claims.Finding(
        reproduced=listed(counted, between=", "),
        verdict=claims.joint_verdict([s in shown for s in own]),
        because=f"With ties shared: {listed(gains)}. "
        f"Significant after Holm: {', '.join(shown) or 'none'}.",
        results=claims.now(f"Mean of {asked.most} minus one score, ties shared", own),
    )


def _score_rows(data: Cells, _: claims.Options) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "condition": f"{judge}, T={t:g}, k={k}",
            "judge": judge,
            "temperature": t,
            "k": k,
            "n_items": int(np.sum(~np.isnan(asked.credit(k)))),
            "tied": asked.tied(k),
            "accuracy_as_counted": float(np.nanmean(asked.credit(k, ties=False))),
        }
        | claims.interval_cells("accuracy_shared", mean_share(asked.credit(k)))
        for (judge, t), asked in data.items()
        for k in dict.fromkeys((1, 3, asked.most))
    )


REWARDBENCH2 = claims.Study(
    name="rewardbench2_k8",
    title="Eight scores per answer on RewardBench 2",
    source="Composo, github.com/composo-ai/llm-judge-criteria-ensembling, 2026",
    layout="`base_both_k8.jsonl.gz`, `base_nano_k8.jsonl.gz`, `base_full_k8_t0.0.jsonl.gz`, "
    "`base_full_k8_t0.7.jsonl.gz`",
    heading="Eight scores per answer on RewardBench 2 (Composo), re-examined",
    question="How much does the mean of eight scores gain when ties are not counted as errors?",
    read=read_scores,
    claims=(
        Claim("full",
            "The mean of eight scores raises the full model's accuracy by 9.8 points.",
            published="71.7 to 81.5%", test_then=_WIN, test_now=_SHARED,
            evaluate=_of(partial(_repeats, f"{FULL}, T=1"), (FULL, 1.0))),
        Claim("smaller", "Smaller models gain more from repeats.",
            published="k = 1 to k = 8: nano 52.3 to 71.4% (+19.1 points), mini to 79.2%, full 71.7 "
                "to 81.5% (+9.8)", test_then=_WIN,
            test_now="differences of the gains with ties shared, paired by question, Holm",
            evaluate=_smaller),
        Claim("at_zero", "Even at T = 0 eight scores raise its accuracy by 4.6 points.",
            published="72.5 to 77.1%, intervals not overlapping", test_then=_WIN, test_now=_SHARED,
            evaluate=_of(partial(_repeats, f"{FULL}, T=0"), (FULL, 0.0))),
        Claim("nano", "Eight nano scores are nearly as accurate as one score of the full model.",
            published="71.4% against 71.7%", test_then=_WIN, test_now=_SHARED,
            evaluate=_of(_nano, (FULL, 1.0), (NANO, 1.0))),
        Claim("three", "Three scores capture about 70% of what eight gain.",
            published="k = 3 captures about 70% of the gain (full model)", test_then=_WIN,
            test_now="share of the gain with ties shared, and what k = 8 adds to k = 3, paired by "
                "question", evaluate=_of(_three, (FULL, 1.0))),
        Claim("temperature", "The accuracy of a single score is stable across temperatures.",
            published="71-73% at T = 0 to 1, intervals overlapping",
            test_then=f"{_WIN}; overlap of intervals",
            test_now="differences with ties shared, paired by question, within "
            f"{100 * _MARGIN:.0f} points (declared)", evaluate=_stable_at),
        Claim("where", "Repeats help in every category.",
            published="k = 1 to k = 8, full model: Factuality 76.4 to 86.7%, Focus 70.1 to 81.8, "
                "Math 61.2 to 74.9, Precise IF 34.0 to 44.7, Safety 87.3 to 92.1",
            test_then=f"{_WIN}, by category",
            test_now=f"{_SHARED}, by category, Holm over categories",
            evaluate=_of(_subset_gains, (FULL, 1.0))),
    ),
    conditions=_score_rows,
    drawing=factor_curve(
        "k",
        "accuracy_as_counted",
        "accuracy_shared",
        by=("temperature",),
        caption="Accuracy by number of scores averaged: with ties counted as errors, as "
        "printed, and with ties shared.",
    ),
    data_source="the study's scores (judgments in JSON lines)",
    limitations=lambda _: (
        "Only the plain prompt is examined, not the study's prompts with criteria.",
        "A tie is broken by a fair draw here; another rule gives another number.",
    ),
    margins={"accuracy": _MARGIN},
)  # fmt: skip
