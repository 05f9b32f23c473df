"""PandaLM's test set (arXiv 2306.05087): a judge of seven billion parameters against people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.analysis.summary_rows import ranked
from judgestats.errors import InputError
from judgestats.results.numbers import apa_p
from judgestats.stats.agreement.kappa import cohen_kappa
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference.estimate import Estimate
from judgestats.stats.validity.annotators import alternative_annotator_test
from judgestats.studies.claims import (
    Claim,
    Options,
    Replication,
    Study,
    bounded,
    file_of,
    hundredths,
    now,
    records_of,
    shifted,
    table_of,
    then,
)

PANDALM, GPT = "PandaLM-7B", "GPT-3.5"
_PEOPLE = ("annotator1", "annotator2", "annotator3")
_OUTCOMES = ("0", "1", "2")
_CODES = {"1": "1", "2": "2", "0": "0", "tie": "0"}
_PRINTED = 0.9375
_EPSILON = 0.1
"""The smallest margin that the test's authors advise: for annotators of a crowd."""


@dataclass(frozen=True, kw_only=True)
class Labels:
    """People's labels, two judges' and whose pairs share an instruction; empty text: unread."""

    people: np.ndarray
    judges: Mapping[str, np.ndarray]
    question: np.ndarray | None

    @property
    def gold(self) -> np.ndarray:
        """What most of the three say; a tie where each says something else."""
        votes = np.stack([(self.people == o).sum(axis=1) for o in _OUTCOMES], axis=1)
        most = np.array(_OUTCOMES)[votes.argmax(axis=1)]
        return np.where(votes.max(axis=1) >= 2, most, "0")


def read_labels(folder: Path) -> Labels:
    """The labels of a folder: one table, or the three files that the authors publish.

    Raises
    ------
    InputError
        If it holds neither, or a file is damaged.
    """
    items = sorted(folder.glob("testset-v1.json*")) if folder.is_dir() else []
    question = None
    if items:
        asked = records_of(items[0], ("idx", "instruction", "input", *_PEOPLE))
        texts = [f"{r.values['instruction']}\n{r.values['input']}" for r in asked]
        question = pd.factorize(pd.Series(texts))[0]
    if sorted(folder.glob("labels.csv*")):
        columns = (*_PEOPLE, "gpt35", "pandalm7b")
        table = table_of(file_of(folder, "labels.csv", study="PandaLM"), columns)
    else:
        path = file_of(folder, "testset-v1.json", study="PandaLM")
        table = table_of(path, ("idx", *_PEOPLE)).set_index("idx")
        for column, name, field in (
            ("gpt35", "gpt-3.5-turbo-testset-v1.json", "gpt_result"),
            ("pandalm7b", "pandalm-7b-testset-v1.json", "pandalm_result"),
        ):
            own = table_of(file_of(folder, name, study="PandaLM"), ("idx", field))
            table[column] = own.set_index("idx")[field].reindex(table.index)
    if question is not None and len(question) != len(table):
        raise InputError(
            "replicate: testset-v1.json and the labels differ in their number of pairs."
        )
    coded = table.apply(lambda c: c.astype(str).str.lower().map(_CODES).fillna(""))
    people = coded[list(_PEOPLE)].to_numpy(dtype=object)
    if (people == "").any():
        raise InputError("replicate: PandaLM: an annotator's label is none of 0, 1, 2.")
    return Labels(
        people=people,
        judges={
            name: coded[column].to_numpy(dtype=object)
            for name, column in ((PANDALM, "pandalm7b"), (GPT, "gpt35"))
        },
        question=question,
    )


def macro_f1(gold: ArrayLike, judged: ArrayLike) -> float:
    """Mean of the three outcomes' F1, as the study counts.

    Examples
    --------
    >>> round(macro_f1(list("012"), list("011")), 3)
    0.556
    """
    y, x = np.asarray(gold, dtype=object), np.asarray(judged, dtype=object)
    parts = []
    for outcome in _OUTCOMES:
        both = float(np.sum((y == outcome) & (x == outcome)))
        either = float(np.sum(y == outcome) + np.sum(x == outcome))
        parts.append(2 * both / either if either else 0.0)
    return float(np.mean(parts))


def _right(labels: Labels, judge: str, options: Options) -> tuple[np.ndarray, Estimate]:
    hits = (labels.judges[judge] == labels.gold).astype(float)
    estimate = mean_share(
        hits,
        cluster=labels.question,
        level=options.level,
        name="accuracy",
        label=f"Accuracy, {judge}",
    )
    return hits, estimate


def _ratio(labels: Labels, options: Options) -> Claim:
    gold = labels.gold
    as_ties = {j: macro_f1(gold, np.where(x == "", "0", x)) for j, x in labels.judges.items()}
    as_errors = {j: macro_f1(gold, x) for j, x in labels.judges.items()}
    ratio = as_ties[PANDALM] / as_ties[GPT]
    unread = int(np.sum(labels.judges[GPT] == ""))
    right = {j: _right(labels, j, options) for j in labels.judges}
    met = abs(ratio - _PRINTED) < 5e-4
    return Claim(
        id="ratio",
        claim="PandaLM-7B reaches 93.75 % of GPT-3.5's evaluation ability.",
        published="93.75 % of GPT-3.5's F1",
        test_then="ratio of macro F1 over tie, 1 and 2, against the annotators' majority",
        test_now="the same ratio, with unread replies counted both ways",
        reproduced=f"{100 * ratio:.1f} % ({bounded(as_ties[PANDALM])} / {bounded(as_ties[GPT])})",
        verdict="stands" if met else "does not stand",
        because="The printed ratio could not be met from the judgments that the authors publish: "
        f"it is {100 * ratio:.1f} % where GPT-3.5's {unread} unreadable replies count as ties and "
        f"{100 * as_errors[PANDALM] / as_errors[GPT]:.1f} % where they count as errors. A third of "
        f"a macro F1 is the rare tie ({100 * np.mean(gold == '0'):.1f} % of the pairs).",
        results=tuple(then(f"ratio.then.{j}", f"Accuracy, {j}", e) for j, (_, e) in right.items()),
    )


def _rank_claim(labels: Labels, options: Options) -> Claim:
    right = {j: _right(labels, j, options) for j in (GPT, PANDALM)}
    hits = np.column_stack([h for h, _ in right.values()])
    shift = mean_shift(hits, conditions=list(right), cluster=labels.question, level=options.level)
    [row] = shift.rows
    high = row.interval.high if row.interval else np.nan
    return Claim(
        id="below",
        claim="PandaLM-7B evaluates nearly as well as GPT-3.5, and less well.",
        published="F1 .5456 against .5820",
        test_then="none: two numbers side by side",
        test_now="difference of accuracies on the same pairs, instructions as clusters",
        reproduced="accuracy " + ", ".join(f"{j} {hundredths(e)}" for j, (_, e) in right.items()),
        verdict="stands" if high < 0 else "open",
        because=f"PandaLM-7B less GPT-3.5: {shifted(row)}; an unreadable reply is wrong here.",
        results=(now("below.now", "Accuracy: PandaLM-7B less GPT-3.5", shift, primary=True),),
    )


def _people(labels: Labels, options: Options) -> Claim:
    pairs = {
        f"{a + 1} and {b + 1}": cohen_kappa(
            labels.people[:, a], labels.people[:, b], cluster=labels.question, level=options.level
        )
        for a, b in combinations(range(3), 2)
    }
    values = [e.estimate for e in pairs.values()]
    judged = [
        cohen_kappa(x, labels.gold, cluster=labels.question, level=options.level).estimate
        for x in labels.judges.values()
    ]
    return Claim(
        id="people",
        claim="The test set is reliable: its three annotators agree.",
        published="Cohen's kappa of every two annotators near .85",
        test_then="Cohen's kappa",
        test_now="the same, with intervals over instructions",
        reproduced=", ".join(f"{bounded(v)}" for v in values),
        verdict="stands in part",
        because=f"The kappas are {bounded(min(values))} to {bounded(max(values))}; but the authors "
        "dropped pairs on which annotators diverged much, keeping 1,000 of 2,500, until this was "
        "so. It is the agreement on pairs chosen for agreement, so that people's ceiling, and "
        f"every judge's accuracy, are those of easy pairs (the judges' own kappas: "
        f"{bounded(min(judged))} and {bounded(max(judged))}).",
        results=tuple(
            then(f"people.then.{i}", f"Cohen's kappa of annotators {k}", e)
            for i, (k, e) in enumerate(pairs.items())
        ),
    )


def _replaces(labels: Labels) -> Claim:
    tests = {
        judge: alternative_annotator_test(
            np.array([label or None for label in x], dtype=object),
            labels.people,
            annotators=list(_PEOPLE),
            epsilon=_EPSILON,
            cluster=labels.question,
            n_resamples=0,
        )
        for judge, x in labels.judges.items()
    }
    lenient = alternative_annotator_test(
        labels.judges[PANDALM], labels.people, epsilon=0.2, cluster=labels.question, n_resamples=0
    )
    wins = tests[PANDALM].winning_rate
    least = min(t.p_value for t in lenient.annotators)
    return Claim(
        id="replaces",
        claim="PandaLM can take the place of people in comparing models.",
        published="reliable and aligned with human preference; no test",
        test_then="none",
        test_now="alternative annotator test against all three, instructions as clusters",
        verdict="stands" if wins >= 0.5 else "does not stand",
        because="Share of the annotators whom it replaces at a margin of "
        f"{bounded(_EPSILON, digits=1)}: "
        + ", ".join(f"{j} {t.winning_rate:.2g}" for j, t in tests.items())
        + f"; even at .2, the margin for experts, PandaLM-7B replaces {lenient.winning_rate:.2g} "
        f"(least {apa_p(least)}): it is as close to the others as an annotator in "
        f"{100 * tests[PANDALM].advantage:.0f} % of the pairs, an annotator to them in "
        f"{100 * float(np.mean([t.annotator_share for t in tests[PANDALM].annotators])):.0f} %.",
        results=tuple(
            now(f"replaces.now.{j}", f"Alternative annotator test, {j}", t, primary=j == PANDALM)
            for j, t in tests.items()
        ),
    )  # fmt: skip


def examine(folder: Path, options: Options) -> Replication:
    """Every claim of the study, on the labels of a folder.

    Parameters
    ----------
    folder : Path
        With ``labels.csv`` (and ``testset-v1.json``, whose instructions are clusters), or the three
        files of the authors' ``data``.
    options : Options

    Returns
    -------
    Replication
    """
    labels = read_labels(folder)
    rows = []
    for judge, x in labels.judges.items():
        _, e = _right(labels, judge, options)
        rows.append(
            {
                "condition": judge,
                "judge": judge,
                "n_items": len(x),
                "accuracy": e.estimate,
                "accuracy_low": e.interval.low if e.interval else np.nan,
                "accuracy_high": e.interval.high if e.interval else np.nan,
                "unread_share": float(np.mean(x == "")),
                "tie_share": float(np.mean(x == "0")),
            }
        )
    clustering = "pairs of one instruction are clusters" if labels.question is not None else (
        "the instructions are not in the folder: every pair is taken as independent"
    )  # fmt: skip
    return Replication(
        study="pandalm",
        title="PandaLM-7B against three annotators (arXiv 2306.05087), re-examined",
        question="How near do two judges come to the people who labelled PandaLM's test set?",
        claims=(
            _ratio(labels, options),
            _rank_claim(labels, options),
            _people(labels, options),
            _replaces(labels),
        ),
        conditions=pd.DataFrame(rows),
        drawing=ranked(
            "accuracy", "unread_share", caption="Accuracy against the majority of three annotators."
        ),
        data_source=f"the authors' labels of {len(labels.people):,} pairs; {clustering}",
        limitations=(
            "One order of the answers: a preference for a place cannot be told from them.",
        ),
    )


STUDY = Study(
    name="pandalm",
    title="PandaLM-7B against people",
    source="arXiv 2306.05087; github.com/WeOpenML/PandaLM",
    layout="`labels.csv`, or the three files of the authors' `data` folder",
    examine=examine,
)
