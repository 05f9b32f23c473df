"""Data of arXiv 2412.12509: verdicts on five answers, public answers, and Head-to-Tail."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.items import holds_target, read_source
from judgestats.protocols.pointwise import correct_as_counted
from judgestats.protocols.selection import best_response_letters
from judgestats.stats.agreement.raw_agreement import mean_share, vote_share_reliability
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.studies import claims
from judgestats.studies.claims import bounded, listed, low_high
from judgestats.studies.paper_tables import omega_tables

BENCHMARKS: Mapping[str, str] = {"bbh": "BBH", "squad": "SQuAD", "mtb": "MT-Bench"}
"""The authors' names of their benchmarks, and the paper's."""

_COLUMNS = ("judge", "temperature", "benchmark", "item", "replicate", "verdict")
_VERDICTS = {"A", "B", "C", "D", "E", "no_answer", "multiple"}
_TEMPERATURE = re.compile(r"^temperature:\s*([0-9.eE+-]+)$")
_COLDEST = 1e-6  # the authors write T = 0 as machine epsilon
_APPLICATION = "head_to_tail.csv"
_CODES = {"1": 1.0, "0": 0.0, "_": np.nan}


def authors_verdict(text: str) -> str:
    """The verdict that the authors' rule reads in a judge's text.

    Letters after ``Best Response:``; one distinct letter is the verdict, none is ``no_answer``,
    several are ``multiple``.

    Examples
    --------
    >>> [authors_verdict(t) for t in ("Best Response: [[b]]", "None.")]
    ['B', 'no_answer']
    >>> authors_verdict("Best Response: [[A]] ... Best Response: C")
    'multiple'
    """
    letters = best_response_letters(text)
    if not letters:
        return "no_answer"
    return next(iter(letters)) if len(letters) == 1 else "multiple"


def read_verdicts(folder: Path) -> tuple[pd.DataFrame, str]:
    """Read the verdicts of the study.

    Parameters
    ----------
    folder : path
        With ``verdicts.csv`` (``.gz``): judge, temperature, benchmark, item, replicate, verdict; or
        with the authors' JSON files ``{judge: {"temperature: T": {"bbh:item": [texts]}}}``.

    Returns
    -------
    frame : DataFrame
        One row per verdict.
    source : str
        Which layout was read.

    Raises
    ------
    InputError
        If the folder holds neither, or a file is damaged.
    """
    if not folder.is_dir():
        raise InputError(
            f"replicate: there is no folder {str(folder)!r}. Give data=FOLDER with verdicts.csv.gz "
            "or the authors' JSON files."
        )
    for path in sorted(folder.glob("verdicts.csv*"))[:1]:
        rows = read_source(path).rows
        missing = [c for c in _COLUMNS if c not in rows[0].values]
        if missing:
            raise InputError(f"replicate: {path.name} lacks the column {', '.join(missing)}.")
        frame = pd.DataFrame([{c: row.values.get(c) for c in _COLUMNS} for row in rows])
        return _checked(frame, path.name), "a table of verdicts"
    files = [path for path in sorted(folder.glob("*.json*")) if "_by_" not in path.name]
    authors = [row for path in files for row in _authors(path)]
    if not authors:
        raise InputError(
            f"replicate: {str(folder)!r} holds neither verdicts.csv.gz nor JSON files in the "
            'authors\' layout {judge: {"temperature: T": {"bbh:item": [texts]}}}.'
        )
    return _checked(pd.DataFrame(authors, columns=list(_COLUMNS)), "JSON"), "the authors' JSON"


def _checked(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    try:
        frame = frame.astype({"temperature": float, "replicate": int})
    except (TypeError, ValueError) as error:
        raise InputError(f"replicate: {where}: a number is expected ({error}).") from error
    named = {**BENCHMARKS, **{v: v for v in BENCHMARKS.values()}}
    for column, known, what in (
        ("benchmark", list(BENCHMARKS.values()), "benchmark of the study"),
        ("verdict", sorted(_VERDICTS), "verdict"),
    ):
        strange = sorted(set(frame[column].astype(str).replace(named)) - set(known))
        if strange:
            raise InputError(
                f"replicate: {where}: {strange[0]!r} is no {what}. There are: {', '.join(known)}."
            )
    if frame.duplicated(list(_COLUMNS[:-1])).any():
        raise InputError(f"replicate: {where}: a verdict of one cell stands in two rows.")
    return frame.assign(benchmark=frame["benchmark"].map(named), item=frame["item"].astype(str))


def _authors(path: Path) -> Iterator[tuple[Any, ...]]:
    """Rows of one JSON file; nothing where it has another layout."""
    document = read_source(path).document
    for judge, levels in (document or {}).items():
        for level, items in levels.items() if isinstance(levels, Mapping) else ():
            match = _TEMPERATURE.match(str(level))
            if not match or not isinstance(items, Mapping):
                continue
            try:
                temperature = float(match.group(1))
            except ValueError:
                raise InputError(f"replicate: {path.name}: {level!r} is no temperature.") from None
            temperature = 0.0 if temperature < _COLDEST else temperature
            for name, texts in items.items():
                benchmark, _, item = str(name).partition(":")
                if benchmark not in BENCHMARKS or not isinstance(texts, list):
                    raise InputError(
                        f"replicate: {path.name}: expected 'bbh:item', 'squad:item' or 'mtb:item' "
                        f"with a list of texts, got {str(name)[:60]!r}."
                    )
                for replicate, text in enumerate(texts):
                    verdict = authors_verdict(text if isinstance(text, str) else "")
                    yield judge, temperature, BENCHMARKS[benchmark], item, replicate, verdict


def read_answers(path: Path) -> dict[str, list[str]]:
    """The answers to every question, by the authors' name of it."""
    texts = {}
    for name, entry in (read_source(path).document or {}).items():
        given = entry.get("model_responses") if isinstance(entry, Mapping) else None
        if not isinstance(given, Mapping) or not given:
            raise InputError(f"replicate: {path.name}: {str(name)[:60]!r} names no answers.")
        texts[str(name)] = [str(text) for text in given.values()]
    return texts


def read_questions(path: Path, *needed: str) -> list[Mapping[str, Any]]:
    """The rows of a sampled benchmark, each with the fields that are needed."""
    rows = [row.values for row in read_source(path).rows]
    whole = all(set(needed) <= set(row) for row in rows)
    if not rows or not whole or ("answers" in needed and not all(map(_is_answered, rows))):
        raise InputError(f"replicate: {path.name}: every row needs {' and '.join(needed)}.")
    return rows


def _is_answered(row: Mapping[str, Any]) -> bool:
    given = row["answers"]
    return isinstance(given, list) and bool(given) and "text" in dict(given[0])


def read_counts(path: Path) -> dict[str, int]:
    """The last row of the authors' table: number of correct answers per question."""
    row = dict(read_source(path).rows[-1].values)
    counts = {str(q): str(v) for q, v in row.items() if re.match(r"(bbh|squad):", str(q))}
    if not counts or not all(v.isdecimal() for v in counts.values()):
        raise InputError(f"replicate: {path.name}: the last row must count the right answers.")
    return {q: int(v) for q, v in counts.items()}


def read_application(folder: Path) -> dict[str, Floats]:
    """The verdicts on Head-to-Tail by judge, questions x replications; nothing without the file.

    Parameters
    ----------
    folder : Path
        With ``head_to_tail.csv`` (``.gz``): judge, item, and the verdicts of its replications as
        one text (1 correct, 0 not, _ empty); or with the authors' files of a judge's texts.

    Returns
    -------
    dict of str to ndarray
        NaN where the reply was empty; questions in the order of their numbers.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    files = sorted(folder.glob(f"{_APPLICATION}*"))
    if not files:
        texts = sorted(folder.rglob("judge_full_*_by_lmsys_vicuna-7b-v1.5.json"))
        return dict(map(_application_texts, texts))
    verdicts: dict[str, dict[int, list[float]]] = defaultdict(dict)
    for row in read_source(files[0]).rows:
        judge, item, text = (str(row.values.get(k, "")) for k in ("judge", "item", "verdicts"))
        if not judge or not item.isdecimal() or not text or set(text) - set(_CODES):
            raise InputError(
                f"replicate: {row.where}: expected judge, item (a number) and verdicts of 1, 0 "
                "and _."
            )
        verdicts[judge][int(item)] = [_CODES[c] for c in text]
    items = sorted(next(iter(verdicts.values())))
    for judge, rows in verdicts.items():
        if sorted(rows) != items or len({len(v) for v in rows.values()}) > 1:
            raise InputError(f"replicate: {files[0].name}: the rows of {judge} are not complete.")
    return {judge: np.array([rows[i] for i in items]) for judge, rows in verdicts.items()}


def _application_texts(path: Path) -> tuple[str, Floats]:
    """A judge, and its texts by question read by the authors' rule."""
    document = read_source(path).document or {}
    given = [texts for texts in document.values() if isinstance(texts, list)]
    if len(given) != len(document) or len({len(texts) for texts in given}) != 1:
        raise InputError(f"replicate: {path.name}: expected a list of texts for each question.")
    name = path.name.removeprefix("judge_full_").partition("_by_")[0]
    return name, np.array([[correct_as_counted(text) for text in texts] for texts in given])


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


def is_above(first: Estimate, second: Estimate) -> bool:
    """Whether the first is above the second with intervals that do not overlap."""
    return low_high(first)[0] > low_high(second)[1]


def answers(folder: Path, _: claims.Options) -> claims.Finding | str:
    """Count the correct answers among the public answers.

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
    share, as_counted, five, lost = {}, {}, {}, 0
    for b, own in true.items():
        if set(own) != set(counted[b]) or not set(own) <= set(texts):
            raise InputError(f"replicate: the files on {b} are not about the same questions.")
        naming = [_naming(texts[q], target) for q, target in own.items()]
        kept = [v for v in naming if not math.isnan(v)]
        lost += len(naming) - len(kept)
        share[b] = _accuracy(kept, "Answers that name the true answer")
        rates = [counted[b][q] / len(texts[q]) for q in own]
        as_counted[b] = _accuracy(rates, "Correct answers as counted")
        five[b] = claims.five_numbers(list(counted[b].values()))
    same = sum(five[b] == _printed_counts(b) for b in five)
    first = all(
        counted[SQUAD][q] == sum(target[:1] in t for t in texts[q])
        for q, target in true[SQUAD].items()
    )
    ahead = is_above(share[SQUAD], share[BBH])
    n = len(squad)
    script = (
        f"In {n} of {n} SQuAD questions the count equals the number of answers that "
        "contain the first character of the true answer. The authors' public script "
        "(resp_accuracy.py) searches for that character only. "
    )
    left = f" {lost} questions whose true answer is a sentence or a sign are left out."
    named = " and ".join(f"{_share(e)} of the answers to {b}" for b, e in share.items())
    printed = {b: " / ".join(f"{v:g}" for v in numbers) for b, numbers in five.items()}
    return claims.Finding(
        reproduced=f"{listed(printed)} in the authors' counts: {same} of 2 as printed",
        verdict="stands in part" if ahead else "does not stand",
        because=f"{script if first else ''}The complete true answer is in {named}. SQuAD is "
        f"{'' if ahead else 'not '}significantly higher. An answer that names it in passing, or "
        f"names all options, counts.{left if lost else ''}",
        results=claims.then("Correct answers by the authors' counts", as_counted)
        + claims.now("Answers that name the true answer", share),
    )


def _accuracy(values: Sequence[float], label: str) -> Estimate:
    return mean_share(values, name="answer_accuracy", label=label)


def _naming(texts: Sequence[str], target: str) -> float:
    """Share of the answers that name the target; NaN where the target cannot be searched."""
    named = [holds_target(text, target) for text in texts]
    return math.nan if None in named else float(np.mean([bool(s) for s in named]))


def _share(estimate: Estimate) -> str:
    value, *limits = (bounded(v, digits=2) for v in (estimate.estimate, *low_high(estimate)))
    return f"{value} [{', '.join(limits)}]" if estimate.interval else value


def _printed_counts(benchmark: str) -> list[float]:
    values = printed_rows(4, benchmark=benchmark).set_index("statistic")["value"]
    return [float(values[f"correct_of_5_{n}"]) for n in FIVE]


def application(folder: Path, options: claims.Options) -> claims.Finding | str:
    """Estimate the application's accuracy and reliability from public Head-to-Tail verdicts.

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
    label = "Accuracy as judged"
    accuracy = {j: mean_share(x, name="accuracy", label=label) for j, x in shares.items()}
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
    because = (
        f"The accuracies are nearly equal: over {n:,} questions the 95% intervals reach from "
        f"{_range([v for e in accuracy.values() for v in low_high(e)])}. None is known to four "
        f"digits: the printed standard errors are those of {times} replications of the same "
        f"questions. Vote-share reliability: {_range([e.estimate for e in one.values()])}."
    )
    if copies:
        because += (
            " This does not show that three judges agree: their shares by question correlate "
            f"{_range(together)}. They are equal in "
            f"{min(alike):.0f} to {max(alike):.0f}% of the questions, as repeats of one judge "
            "would be, so three verdicts count as one. The authors' public script "
            "(application_judges.py; read, not run here) swaps two arguments. It passes the "
            "answering model as the judge, and the judge as the answering model. The files have "
            "the names of that order. The verdicts do not show which models were called."
        )
    printed = ", ".join(bounded(e.estimate, digits=4) for e in as_printed.values())
    return claims.Finding(
        reproduced=f"A_LM {printed}: {matches} of {len(verdicts)} as printed",
        verdict="stands in part" if copies else "stands",
        because=because,
        results=claims.then("A_LM", as_printed)
        + claims.now("Accuracy as judged", accuracy, "accuracy")
        + claims.now("Vote-share reliability", one, "one"),
    )


def _range(values: Sequence[float]) -> str:
    return f"{bounded(min(values))} to {bounded(max(values))}"


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
