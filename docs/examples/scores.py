"""Worked examples on public judgments: reliability and spread of repeated scores.

Run ``python docs/examples/scores.py --data ../shared/data``: it writes scores.md next to itself
(about two minutes on one core). Every figure there is computed by this script.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd
from repeated_scores import repeated_section, temperature_section
from tables import cell, interval_text, markdown, p_text, pair

from judgestats import read_judgments, score_array
from judgestats.data.parse import ScoreArray, status_table
from judgestats.stats.dispersion.condition_summary import condition_summary
from judgestats.stats.dispersion.dispersion_test import SpreadResult, spread_test
from judgestats.stats.inference.bootstrap import cluster_bootstrap
from judgestats.stats.reliability.intraclass import icc, replications_needed
from judgestats.stats.reliability.omega import omega_total

HERE = Path(__file__).resolve().parent
FILES = {
    "both": "base_both_k8.jsonl.gz",
    "nano": "base_nano_k8.jsonl.gz",
    "t0.7": "base_full_k8_t0.7.jsonl.gz",
    "t0.0": "base_full_k8_t0.0.jsonl.gz",
}
RESPONSES = 4

# --- RewardBench 2, eight scores a response -----------------------------------------------------


def rewardbench(data: Path) -> pd.DataFrame:
    """All four files as one judgments frame."""
    folder = data / "rewardbench2_k8"
    frames = [read_judgments(folder / f, reader="rewardbench2-k8") for f in FILES.values()]
    return pd.concat(frames, ignore_index=True)


def one_condition(frame: pd.DataFrame, name: str) -> ScoreArray:
    """The items of one condition."""
    return score_array(frame[frame.condition == name])


def credit_of_first(scores: np.ndarray, clusters: np.ndarray) -> pd.DataFrame:
    """For each question, does response 0 come first: by one judgment, and by the mean of all?

    Credit is 1 when response 0 alone is highest, 1/m when m responses share the top, else 0.
    `scores` has the four responses of a question in consecutive rows; a question with a missing
    score is left out.
    """
    table = scores.reshape(-1, RESPONSES, scores.shape[1])
    by_question = clusters.reshape(-1, RESPONSES)
    if not np.all(by_question == by_question[:, :1]):
        raise ValueError("the responses of a question must be in consecutive rows")
    questions = by_question[:, 0]
    complete = ~np.isnan(table).any(axis=(1, 2))
    table, questions = table[complete], questions[complete]

    def credit(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Sums of eight whole numbers are exact, so that equal means are equal here.
        top = x == x.max(axis=1, keepdims=True)
        return top[:, 0] / top.sum(axis=1), top[:, 0] & (top.sum(axis=1) > 1)

    one, tied = credit(table)
    many, tied_many = credit(table.sum(axis=2))
    return pd.DataFrame(
        {
            "question": questions,
            "one": one.mean(axis=1),
            "one tied": tied.mean(axis=1),
            "many": many,
            "many tied": tied_many,
        }
    )


def mean_cell(values: pd.Series, *, digits: int = 3) -> str:
    """Mean over questions with a bootstrap interval."""
    x = values.to_numpy(dtype=float)
    boot = cluster_bootstrap(x, lambda rows: float(np.mean(rows)), n_resamples=999)
    return interval_text(float(x.mean()), boot.intervals[0], digits=digits)


def reliability_table(frame: pd.DataFrame, *, n_permutations: int = 99) -> list[dict[str, object]]:
    """One judgment, the mean of eight, and the error in points, by condition."""
    rows: list[dict[str, object]] = []
    for name in frame.condition.unique():
        array = one_condition(frame, name)
        x, cluster = array.condition(name), array.clusters
        one = icc(x, cluster=cluster, n_permutations=n_permutations)
        many = omega_total(x, cluster=cluster, null=True, n_permutations=n_permutations)
        sem = (
            condition_summary(array.scores, conditions=array.conditions, cluster=cluster)
            .rows[0]
            .sem
        )
        needed = [replications_needed(one.estimate, target=t) for t in (0.8, 0.9)]
        rows.append(
            {
                "judge": name,
                "items (questions)": f"{one.sample.n_items} ({one.sample.n_clusters})",
                "one judgment, ICC(1,1)": cell(one),
                "mean of 8, omega": cell(many),
                "null of one: mean, 95th percentile": f"{one.null.mean:.3f}, {one.null.q95:.3f}"
                if one.null
                else "",
                "SEM of one": cell(sem),
                "SEM of the mean": f"{sem.estimate / math.sqrt(x.shape[1]):.3f}",
                "k for .80, .90": ", ".join(f"{max(1, math.ceil(k))}" for k in needed),
            }
        )
    return rows


def question_table(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Reliability of the differences between the answers to one question."""
    rows: list[dict[str, object]] = []
    for name in frame.condition.unique():
        array = one_condition(frame, name)
        x = array.condition(name)
        whole = ~np.isnan(x.reshape(-1, RESPONSES, x.shape[1])).any(axis=(1, 2))
        row: dict[str, object] = {"judge": name}
        subset = np.array([str(c).split("/")[0] for c in array.clusters[::RESPONSES]])
        table = x.reshape(-1, RESPONSES, x.shape[1])
        for label in ("all", *dict.fromkeys(subset)):
            chosen = table[whole & ((subset == label) | (label == "all"))]
            row[label] = f"{contrast_reliability(chosen):.3f}"
        rows.append(row)
    return rows


def contrast_reliability(table: np.ndarray) -> float:
    """ICC(1) of score differences within a question, pooled over its three contrasts.

    Deviations of a question's answers from their mean have n - 1 = 3 independent contrasts. The
    mean squares of items and of error therefore have 3 degrees of freedom per question.
    """
    n, m, r = table.shape
    means = table.mean(axis=2)
    deviation = means - means.mean(axis=1, keepdims=True)
    between_items = r * float(np.sum(deviation**2)) / (n * (m - 1))
    within = float(np.mean(table.var(axis=2, ddof=1)))
    return (between_items - within) / (between_items + (r - 1) * within)


def accuracy_table(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Is the correct response scored highest?"""
    rows: list[dict[str, object]] = []
    for name in frame.condition.unique():
        array = one_condition(frame, name)
        found = credit_of_first(array.condition(name), array.clusters)
        rows.append(
            {
                "judge": name,
                "questions": len(found),
                "one judgment": mean_cell(found["one"]),
                "of these tied at the top": f"{found['one tied'].mean():.3f}",
                "mean of 8": mean_cell(found["many"]),
                "tied at the top": f"{found['many tied'].mean():.3f}",
                "gain": mean_cell(found["many"] - found["one"]),
            }
        )
    return rows


def spread_cells(out: SpreadResult, a: str, b: str) -> dict[str, object]:
    """The blocked F test, both ratios and the mean shift of one pair of conditions."""
    variance, gmd = pair(out.ratios, a, b), pair(out.gmd_ratios, a, b)
    shift = pair(out.shifts, a, b)
    return {
        "compared": f"{a} / {b}",
        "items": out.sample.n_items,
        "blocked F": f"{out.blocked_f.statistic:.1f}",
        "p": p_text(out.p_value),
        "ratio of variances": interval_text(variance.estimate, variance.interval, digits=2),
        "GMD ratio": interval_text(gmd.estimate, gmd.interval, digits=2),
        "mean shift": interval_text(shift.estimate, shift.interval, digits=2),
    }


def compare(frame: pd.DataFrame, a: str, b: str) -> SpreadResult:
    """Spread of `a` against `b` on the items that both judged."""
    part = frame[frame.condition.isin([a, b])]
    array = score_array(part, conditions=(b, a))
    return spread_test(
        array.scores,
        conditions=array.conditions,
        cluster=array.clusters,
        n_permutations=999,
        reference=b,
    )


def paired_accuracy(frame: pd.DataFrame, a: str, b: str, column: str) -> str:
    """Difference of accuracies on common questions, with interval."""
    found = []
    for name in (a, b):
        array = one_condition(frame, name)
        table = credit_of_first(array.condition(name), array.clusters)
        found.append(table.set_index("question")[column])
    both = pd.concat(found, axis=1, join="inner")
    return mean_cell(both.iloc[:, 0] - both.iloc[:, 1])


def temperature_rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """How often do eight scores of the full model agree entirely?"""
    rows: list[dict[str, object]] = []
    for name in ("gpt-5.4, T=0", "gpt-5.4, T=0.7", "gpt-5.4, T=1"):
        array = one_condition(frame, name)
        line = condition_summary(
            array.scores, conditions=array.conditions, cluster=array.clusters
        ).rows[0]
        x = array.condition(name)
        apart = np.nanmax(x, axis=1) - np.nanmin(x, axis=1)
        rows.append(
            {
                "condition": name,
                "all eight alike": f"{line.constant_share:.3f}",
                "two points apart or more": f"{np.mean(apart >= 2):.3f}",
                "largest range": f"{apart.max():g}",
                "variance within items": cell(line.variance),
                "ICC(1)": cell(line.icc),
            }
        )
    return rows


def rewardbench_section(data: Path) -> str:
    """Four files, one frame."""
    frame = rewardbench(data)
    full, mini, nano = (f"gpt-5.4{n}, T=1" for n in ("", "-mini", "-nano"))
    counts = status_table(frame).reset_index()
    for share in ("unread_share", "unanswered_share"):
        counts[share] = counts[share].map("{:.5f}".format)
    why = frame.loc[frame.status != "ok", "reason"].str.slice(0, 60).value_counts()
    reasons = "; ".join(f"{reason}: {count}" for reason, count in why.items())
    pairs = [(mini, full), (nano, full), (nano, mini)]
    warmth = [("gpt-5.4, T=0.7", "gpt-5.4, T=0"), (full, "gpt-5.4, T=0")]
    spread = [spread_cells(compare(frame, a, b), a, b) for a, b in pairs]
    spread_t = [spread_cells(compare(frame, a, b), a, b) for a, b in warmth]
    gaps: list[dict[str, object]] = [
        {
            "compared": f"{a} - {b}",
            "one judgment": paired_accuracy(frame, a, b, "one"),
            "mean of 8": paired_accuracy(frame, a, b, "many"),
        }
        for a, b in [(full, mini), (full, nano), (full, "gpt-5.4, T=0")]
    ]
    return f"""## RewardBench 2: four responses a question, eight scores each (1-10)

A failed call is a status, never a number:

{markdown(counts.to_dict("records"))}

What the files give as reason: {reasons}.
These judgments are left out and counted; ICC(1) takes items with fewer than eight scores as they
are, omega leaves such items out.

### How reliable is one score, and the mean of eight?

Intervals are over questions, and each of a question's four responses is an item. ICC(1,1) is the
single-rating reliability. Omega (parallel model, the one that exchangeable replications imply) is
the reliability of the mean of eight. The standard error of measurement is in points of the scale.
It says more than the coefficients, as these judges' scores differ by several points between items.

{markdown(reliability_table(frame))}

These coefficients are high because the items differ clearly: good and bad answers, easy and
hard questions. A ranking of answers to *one* question needs the reliability of differences within
the question, which is lower. It is the ICC(1) of a response's deviation from its question's mean
(questions with all scores):

{markdown(question_table(frame))}

### Which judge is more consistent?

The items have scores by both judges. A ratio above 1 means that the first varies more. p: 999
exchanges of cells within questions; the smallest possible p is .001:

{markdown(spread)}

### Is T = 0 deterministic?

No:

{markdown(temperature_rows(frame))}

{markdown(spread_t)}

Reliability at T = 0 says how often one draw is repeated. It does not say that the judge would give
the same score to the same content in another wording.

### Does the judge find the correct response?

Response 0 of the four is correct. Guessing earns .250, and a judgment earns 1 when the correct
response alone has the highest score and 1/m when m responses share it. "One judgment" is the mean
over the eight replications; "mean of 8" ranks the mean scores:

{markdown(accuracy_table(frame))}

Averaging gains in two ways: noise is averaged out, and ties of whole numbers are broken. It gains
least at T = 0, where the eight draws differ least. Paired by question, the judges differ by

{markdown(gaps)}
"""


def main() -> None:
    """Write scores.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data = parser.parse_args().data
    sections = [rewardbench_section(data), repeated_section(data), temperature_section(data)]
    head = (
        "<!-- generated by docs/examples/scores.py -->\n\n"
        "# Repeated scores: worked examples\n\n"
        "Generated by `docs/examples/scores.py` from public judgments. Every interval is 95%; "
        "`[low, high]`.\n\n"
    )
    (HERE / "scores.md").write_text(head + "\n".join(sections), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
