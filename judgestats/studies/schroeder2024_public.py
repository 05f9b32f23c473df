"""arXiv 2412.12509: its public answers, and its application to Head-to-Tail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.items.answers import holds_target
from judgestats.stats.agreement.raw_agreement import mean_share, vote_share_reliability
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.studies.claims import (
    Finding,
    Options,
    bounded,
    each,
    low_high,
    now,
    then,
)
from judgestats.studies.paper_tables import omega_tables
from judgestats.studies.schroeder2024_data import (
    five_numbers,
    read_answers,
    read_application,
    read_counts,
    read_questions,
)

SQUAD, BBH = "SQuAD", "BBH"
FIVE = ("min", "q1", "median", "q3", "max")
_COPIES = 0.99
"""Correlation of item means from which judges are called near copies of one another."""
_FILES = (
    "prompt_responses.json",
    "squad_sampled_q.json",
    "bbh_sampled_q.json",
    "accuracy_resp_squad.csv",
    "accuracy_resp_bbh.csv",
)


def printed_rows(table: int, **where: Any) -> pd.DataFrame:
    """Printed rows of a table of the paper."""
    rows = omega_tables()
    kept = rows["table"].eq(table)
    for column, value in where.items():
        kept &= rows[column].eq(value)
    return rows[kept]


def short_name(judge: str) -> str:
    """A judge without its maker."""
    return judge.replace("_", "/", 1).split("/")[-1]


def three_digits(value: float) -> str:
    """A coefficient as the paper prints it."""
    return bounded(float(value))


def is_above(first: Estimate, second: Estimate) -> bool:
    """Whether the first lies above the second with intervals that do not overlap."""
    return low_high(first)[0] > low_high(second)[1]


def answers(folder: Path, _: Options) -> Finding | str:
    """What the public answers say of how many are right.

    Parameters
    ----------
    folder : Path
        With the authors' questions, answers and counts.
    options : Options

    Returns
    -------
    Finding, or str where a file is missing

    Raises
    ------
    InputError
        If a file is damaged.
    """
    paths = {name: path for name in _FILES for path in sorted(folder.rglob(name))[:1]}
    if absent := [name for name in _FILES if name not in paths]:
        return f"the folder lacks {absent[0]} of the authors' repository"
    texts = read_answers(paths["prompt_responses.json"])
    squad = read_questions(paths["squad_sampled_q.json"], "id", "answers")
    bbh = read_questions(paths["bbh_sampled_q.json"], "category", "target")
    true = {
        SQUAD: {f"squad:{row['id']}": str(row["answers"][0]["text"]) for row in squad},
        BBH: {f"bbh:{row['category']}": str(row["target"]) for row in bbh},
    }
    counted = {b: read_counts(paths[f"accuracy_resp_{b.lower()}.csv"]) for b in true}
    for benchmark, targets in true.items():
        if set(targets) != set(counted[benchmark]) or not set(targets) <= set(texts):
            raise InputError(
                f"replicate: the files on {benchmark} are not about the same questions."
            )
    naming = {b: [_naming(texts[q], target) for q, target in own.items()]
              for b, own in true.items()}  # fmt: skip
    share, as_counted = (
        {b: mean_share(values, name="answer_accuracy", label=label) for b, values in of.items()}
        for label, of in (
            ("Answers that name the true answer", {b: [v for v in own if not np.isnan(v)]
                                                   for b, own in naming.items()}),
            ("Right answers as counted", {b: [counted[b][q] / len(texts[q]) for q in own]
                                          for b, own in true.items()}),
        )
    )  # fmt: skip
    five = {b: five_numbers(list(counted[b].values())) for b in (SQUAD, BBH)}
    same = sum(five[b] == _printed_counts(b) for b in five)
    first = sum(
        counted[SQUAD][q] == sum(target[:1] in t for t in texts[q])
        for q, target in true[SQUAD].items()
    )
    lost = int(sum(np.isnan(v) for own in naming.values() for v in own))
    ahead = is_above(share[SQUAD], share[BBH])
    script = (
        f"In {first} of {first} SQuAD questions the count is that of the answers which hold the "
        "first character of the true answer, and the authors' public script (resp_accuracy.py) "
        "looks for that character alone. "
        if first == len(true[SQUAD])
        else ""
    )
    named = " and ".join(f"{_share(e)} of the answers to {b}" for b, e in share.items())
    return Finding(
        reproduced=f"{'; '.join(f'{b} {_joined(v)}' for b, v in five.items())} in the authors' "
        f"counts: {same} of 2 as printed",
        verdict="stands in part" if ahead else "does not stand",
        because=f"{script}The whole true answer is named by {named}: SQuAD is "
        f"{'ahead' if ahead else 'not shown to be ahead'}. An answer that names it in passing, or "
        "all options, counts"
        + (
            f"; {lost} questions whose true answer is a sentence or a sign do not." if lost else "."
        ),
        results=[
            *each(then, "answers.then", "Right answers by the authors' counts", as_counted),
            *each(now, "answers.now", "Answers that name the truth", share),
        ],
    )


def _naming(texts: Sequence[str], target: str) -> float:
    """Share of the answers that name the target; NaN where it is no name to be looked for."""
    named = [holds_target(text, target) for text in texts]
    return math.nan if None in named else float(np.mean([bool(s) for s in named]))


def _share(estimate: Estimate) -> str:
    value, *limits = (bounded(v, digits=2) for v in (estimate.estimate, *low_high(estimate)))
    return f"{value} [{', '.join(limits)}]" if estimate.interval else value


def _joined(numbers: Sequence[float]) -> str:
    return " / ".join(f"{v:g}" for v in numbers)


def _printed_counts(benchmark: str) -> list[float]:
    values = printed_rows(4, benchmark=benchmark).set_index("statistic")["value"]
    return [float(values[f"correct_of_5_{n}"]) for n in FIVE]


def application(folder: Path, options: Options) -> Finding | str:
    """What the public verdicts on Head-to-Tail say of the application's accuracy and reliability.

    Parameters
    ----------
    folder : Path
    options : Options

    Returns
    -------
    Finding, or str where the file is missing
    """
    verdicts = read_application(folder)
    if not verdicts:
        return (
            "the folder has no head_to_tail.csv.gz; the authors' repository holds the "
            "verdicts in application_data/judgment_results"
        )
    as_printed = {j: _replication_mean(np.nan_to_num(x)) for j, x in verdicts.items()}
    matches = sum(
        abs(round(e.estimate, 4) - _printed_accuracy(j)) < 5e-5 + 1e-9
        for j, e in as_printed.items()
    )
    shares = {j: np.nanmean(x, axis=1) for j, x in verdicts.items()}
    pairs = list(combinations(shares.values(), 2))
    together = [float(np.corrcoef(a, b)[0, 1]) for a, b in pairs]
    alike = [100 * float(np.mean(a == b)) for a, b in pairs]
    accuracy = {
        j: mean_share(share, name="accuracy", label="Accuracy as judged")
        for j, share in shares.items()
    }
    one = {
        j: vote_share_reliability(
            np.where(np.isnan(x), "", np.where(x > 0, "correct", "incorrect")).astype(object),
            n_permutations=options.n_resamples,
            seed=options.seed,
        )
        for j, x in verdicts.items()
    }
    copies = bool(pairs) and min(together) >= _COPIES
    n, times = next(iter(verdicts.values())).shape
    lows, highs = zip(*map(low_high, accuracy.values()), strict=True)
    because = (
        f"The accuracies are alike, and none is known to four digits: over {n:,} questions the "
        f"95% intervals reach from {three_digits(min(lows))} to {three_digits(max(highs))}; the "
        f"printed standard errors are those of {times} replications of the same questions. One "
        f"verdict's reliability is {three_digits(min(e.estimate for e in one.values()))} to "
        f"{three_digits(max(e.estimate for e in one.values()))}."
    )
    if copies:
        because += (
            f" That judges agree is not shown by it: their shares by question correlate "
            f"{three_digits(min(together))} to {three_digits(max(together))} and are the very same "
            f"in {min(alike):.0f} to {max(alike):.0f}% of the questions, as repeats of one judge "
            "would be: three verdicts here count as one. In the authors' public script "
            "(application_judges.py; read, not run here) the call hands the answering model over "
            "as the judge and the judge as the answering model, and the files carry the names that "
            "this order gives. Which models were asked cannot be told from the verdicts."
        )
    printed = ", ".join(bounded(e.estimate, digits=4) for e in as_printed.values())
    return Finding(
        reproduced=f"A_LM {printed}: {matches} of {len(verdicts)} as printed",
        verdict="stands in part" if copies else "stands",
        because=because,
        results=[
            *each(then, "head_to_tail.then", "A_LM", as_printed),
            *each(now, "head_to_tail.now.accuracy", "Accuracy as judged", accuracy),
            *each(now, "head_to_tail.now.one", "Reliability of one verdict", one),
        ],
    )


def _replication_mean(verdicts: Floats) -> Estimate:
    """The mean as printed; its standard error is over replications, for the same questions."""
    means = verdicts.mean(axis=0)
    return Estimate(
        name="accuracy",
        label="A_LM as printed",
        estimate=float(means.mean()),
        std_error=float(means.std(ddof=1) / np.sqrt(len(means))),
        sample=Sample(n_items=len(verdicts)),
    )


def _printed_accuracy(judge: str) -> float:
    own = printed_rows(5, statistic="A_LM", judge=judge.replace("_", "/", 1))["value"]
    return float(own.iloc[0]) if len(own) else math.nan
