"""Answers and application of arXiv 2412.12509: 55 questions, 100 replications.

Two layouts are understood: a table of verdicts (``verdicts.csv.gz``), and the authors' own JSON
with the judges' texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.items.answers import holds_target
from judgestats.items.files import read_source
from judgestats.protocols.selection import best_response_letters
from judgestats.results.numbers import apa_number
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.agreement.vote_share import vote_share_reliability
from judgestats.stats.inference.estimate import Estimate, Sample
from judgestats.studies.claims import Claim, Options, now, then
from judgestats.studies.paper_tables import omega_tables

BENCHMARKS: Mapping[str, str] = {"bbh": "BBH", "squad": "SQuAD", "mtb": "MT-Bench"}
"""The authors' names of their benchmarks, and the paper's."""

_COLUMNS = ("judge", "temperature", "benchmark", "item", "replicate", "verdict")
_VERDICTS = {"A", "B", "C", "D", "E", "no_answer", "multiple"}
_TEMPERATURE = re.compile(r"^temperature:\s*([0-9.eE+-]+)$")
_COLDEST = 1e-6  # the authors write T = 0 as machine epsilon


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


def read_schroeder2024(folder: str | Path) -> tuple[pd.DataFrame, str]:
    """Read the verdicts of the study.

    Parameters
    ----------
    folder : path
        With ``verdicts.csv`` (``.gz``): judge, temperature, benchmark, item, replicate, verdict; or
        with the authors' JSON files ``{judge: {"temperature: T": {"bbh:item": [texts]}}}``.

    Returns
    -------
    frame : DataFrame
        One row a verdict.
    source : str
        Which layout was read.

    Raises
    ------
    InputError
        If the folder holds neither, or a file is damaged.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            f"replicate: there is no folder {str(folder)!r}. Give data=FOLDER with verdicts.csv.gz "
            "or the authors' JSON files."
        )
    tables = sorted(folder.glob("verdicts.csv*"))
    if tables:
        return _table(tables[0]), "a table of verdicts"
    files = [path for path in sorted(folder.glob("*.json*")) if "_by_" not in path.name]
    rows = [row for path in files for row in _authors(path)]
    if not rows:
        raise InputError(
            f"replicate: {str(folder)!r} holds neither verdicts.csv.gz nor JSON files in the "
            'authors\' layout {judge: {"temperature: T": {"bbh:item": [texts]}}}.'
        )
    return _checked(pd.DataFrame(rows, columns=list(_COLUMNS)), "JSON"), "the authors' JSON"


def _table(path: Path) -> pd.DataFrame:
    rows = read_source(path).rows
    missing = [c for c in _COLUMNS if c not in rows[0].values]
    if missing:
        raise InputError(f"replicate: {path.name} lacks the column {', '.join(missing)}.")
    frame = pd.DataFrame([{c: row.values.get(c) for c in _COLUMNS} for row in rows])
    return _checked(frame, path.name)


def _checked(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    try:
        frame = frame.astype({"temperature": float, "replicate": int})
    except (TypeError, ValueError) as error:
        raise InputError(f"replicate: {where}: a number is expected ({error}).") from error
    named = {**BENCHMARKS, **{v: v for v in BENCHMARKS.values()}}
    strange = sorted(set(frame["benchmark"].astype(str)) - set(named))
    if strange:
        raise InputError(
            f"replicate: {where}: {strange[0]!r} is no benchmark of the study. There are: "
            f"{', '.join(BENCHMARKS.values())}."
        )
    frame["benchmark"] = frame["benchmark"].map(named)
    unknown = sorted(set(frame["verdict"].astype(str)) - _VERDICTS)
    if unknown:
        raise InputError(
            f"replicate: {where}: {unknown[0]!r} is no verdict. There are: "
            f"{', '.join(sorted(_VERDICTS))}."
        )
    if frame.duplicated(list(_COLUMNS[:-1])).any():
        raise InputError(f"replicate: {where}: a verdict of one cell stands in two rows.")
    return frame


def _authors(path: Path) -> Iterator[tuple[Any, ...]]:
    """Rows of one JSON file; nothing where it has another layout."""
    document = read_source(path).document
    for judge, levels in (document or {}).items():
        if not isinstance(levels, Mapping):
            continue
        for level, items in levels.items():
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


def cell_of(
    frame: pd.DataFrame, judge: str, temperature: float, benchmark: str
) -> NDArray[np.object_]:
    """Verdicts of one cell of the study, questions x replications; empty text where there is none.

    Parameters
    ----------
    frame : DataFrame
    judge : str
    temperature : float
    benchmark : str

    Returns
    -------
    ndarray of object
        Questions in alphabetical order.
    """
    own = _cell_rows(frame, judge, temperature, benchmark)
    own = own.assign(item=own["item"].astype(str))
    wide = own.pivot(index="item", columns="replicate", values="verdict").sort_index()
    return wide.fillna("").to_numpy(object)


def items_of(
    frame: pd.DataFrame, judge: str, temperature: float, benchmark: str
) -> tuple[str, ...]:
    """The questions of a cell, in the order of the rows of `cell_of`."""
    own = _cell_rows(frame, judge, temperature, benchmark)
    return tuple(sorted(set(own["item"].astype(str))))


def _cell_rows(frame: pd.DataFrame, judge: str, temperature: float, benchmark: str) -> pd.DataFrame:
    return frame[
        (frame["judge"] == judge)
        & (frame["temperature"] == temperature)
        & (frame["benchmark"] == benchmark)
    ]


_FILES = (
    "prompt_responses.json",
    "squad_sampled_q.json",
    "bbh_sampled_q.json",
    "accuracy_resp_squad.csv",
    "accuracy_resp_bbh.csv",
)
_SQUAD, _BBH = "SQuAD", "BBH"


def five_numbers(counts: Sequence[float]) -> list[float]:
    """Least, quartiles, most: numbers of the data, as the paper prints them.

    Examples
    --------
    >>> five_numbers([0, 0, 1, 1, 2])
    [0.0, 0.0, 1.0, 1.0, 2.0]
    """
    return [float(v) for v in np.quantile(np.asarray(counts, dtype=float), np.linspace(0, 1, 5))]


def answers(folder: Path, options: Options) -> Claim:
    """What the public answers say of how many are right.

    Parameters
    ----------
    folder : Path
        With the authors' questions, answers and counts.
    options : Options

    Returns
    -------
    Claim

    Raises
    ------
    InputError
        If a file is damaged.
    """
    printed = {b: _printed(b) for b in (_BBH, _SQUAD)}
    about = Claim(
        id="answers",
        claim="Of five answers to SQuAD nearly all are right, of BBH hardly any.",
        published="Table 4: " + "; ".join(f"{b} {_join_numbers(v)}" for b, v in printed.items()),
        test_then="right answers of five a question, counted by a script; five numbers",
        test_now="answers that name the whole true answer as words: share with an interval over "
        "questions",
    )
    files = {name: next(iter(sorted(folder.rglob(name))), None) for name in _FILES}
    paths = {name: path for name, path in files.items() if path is not None}
    if absent := [name for name in _FILES if name not in paths]:
        return about.not_examined(f"the folder lacks {absent[0]} of the authors' repository")
    texts = _texts(paths["prompt_responses.json"])
    true = {
        _SQUAD: {
            f"squad:{row['id']}": str(row["answers"][0]["text"])
            for row in _rows(paths["squad_sampled_q.json"], "id", "answers")
        },
        _BBH: {
            f"bbh:{row['category']}": str(row["target"])
            for row in _rows(paths["bbh_sampled_q.json"], "category", "target")
        },
    }
    counted = {
        _SQUAD: _counts(paths["accuracy_resp_squad.csv"]),
        _BBH: _counts(paths["accuracy_resp_bbh.csv"]),
    }
    for benchmark, targets in true.items():
        if set(targets) != set(counted[benchmark]) or not set(targets) <= set(texts):
            raise InputError(
                f"replicate: the files on {benchmark} are not about the same questions."
            )
    whole = {
        b: {q: _naming(texts[q], target) for q, target in own.items()} for b, own in true.items()
    }
    lost = sum(np.isnan(v) for own in whole.values() for v in own.values())
    share = {
        b: mean_share(
            [v for v in own.values() if not np.isnan(v)],
            level=options.level,
            name="answer_accuracy",
            label="Answers that name the true answer",
        )
        for b, own in whole.items()
    }
    five = {b: five_numbers(list(own.values())) for b, own in counted.items()}
    same = sum(five[b] == printed[b] for b in printed)
    first = sum(
        counted[_SQUAD][q] == sum(target[:1] in t for t in texts[q])
        for q, target in true[_SQUAD].items()
    )
    return about.examined(
        reproduced=f"{'; '.join(f'{b} {_join_numbers(v)}' for b, v in five.items())} in the "
        f"authors' counts: {same} of 2 as printed",
        verdict="stands in part" if _is_higher(share[_SQUAD], share[_BBH]) else "does not stand",
        because=_because(share, first=first, n=len(true[_SQUAD]), lost=int(lost)),
        results=(
            *(
                then(
                    f"answers.then.{b}",
                    f"Right answers by the authors' counts, {b}",
                    mean_share(
                        [counted[b][q] / len(texts[q]) for q in own],
                        level=options.level,
                        name="answer_accuracy",
                        label="Right answers as counted",
                    ),
                )
                for b, own in true.items()
            ),
            *(now(f"answers.now.{b}", f"Answers that name the truth, {b}", share[b]) for b in true),
        ),
    )


def _naming(texts: Sequence[str], target: str) -> float:
    """Share of the answers that name the target; NaN where it is no name to be looked for."""
    named = [holds_target(text, target) for text in texts]
    return (
        float(np.mean([s for s in named if s is not None])) if None not in named else float("nan")
    )


def _because(share: Mapping[str, Estimate], *, first: int, n: int, lost: int) -> str:
    sentences = []
    if first == n:
        sentences.append(
            f"In {first} of {n} SQuAD questions the count is that of the answers which hold the "
            "first character of the true answer, and the authors' public script (resp_accuracy.py) "
            "looks for that character alone."
        )
    text = " and ".join(f"{_share(e)} of the answers to {b}" for b, e in share.items())
    ahead = "ahead" if _is_higher(share[_SQUAD], share[_BBH]) else "not shown to be ahead"
    sentences.append(
        f"The whole true answer is named by {text}: SQuAD is {ahead}. An answer that names it in "
        "passing, or all options, counts"
        + (f"; {lost} questions whose true answer is a sentence or a sign do not." if lost else ".")
    )
    return " ".join(sentences)


def _is_higher(first: Estimate, second: Estimate) -> bool:
    a, b = first.interval, second.interval
    return a is not None and b is not None and a.low > b.high


def _share(estimate: Estimate) -> str:
    value = apa_number(estimate.estimate, digits=2, bounded=True)
    if estimate.interval is None:
        return value
    low, high = (
        apa_number(v, digits=2, bounded=True)
        for v in (estimate.interval.low, estimate.interval.high)
    )
    return f"{value} [{low}, {high}]"


def _join_numbers(numbers: Sequence[float]) -> str:
    return " / ".join(f"{v:g}" for v in numbers)


def _printed(benchmark: str) -> list[float]:
    table = omega_tables()
    own = table[(table["table"] == 4) & (table["benchmark"] == benchmark)]
    values = own.set_index("statistic")["value"]
    return [float(values[f"correct_of_5_{n}"]) for n in ("min", "q1", "median", "q3", "max")]


def _texts(path: Path) -> dict[str, list[str]]:
    document = read_source(path).document or {}
    texts = {}
    for name, entry in document.items():
        listed = entry.get("model_responses") if isinstance(entry, Mapping) else None
        if not isinstance(listed, Mapping) or not listed:
            raise InputError(f"replicate: {path.name}: {str(name)[:60]!r} names no answers.")
        texts[str(name)] = [str(text) for text in listed.values()]
    return texts


def _rows(path: Path, *needed: str) -> list[Mapping[str, Any]]:
    rows = [row.values for row in read_source(path).rows]
    whole = all(set(needed) <= set(row) for row in rows)
    if not rows or not whole or ("answers" in needed and not all(_answered(r) for r in rows)):
        raise InputError(f"replicate: {path.name}: every row needs {' and '.join(needed)}.")
    return rows


def _answered(row: Mapping[str, Any]) -> bool:
    listed = row["answers"]
    return isinstance(listed, list) and bool(listed) and "text" in dict(listed[0])


def _counts(path: Path) -> dict[str, int]:
    """The last row of the authors' table: how many answers are right, a question."""
    row = dict(read_source(path).rows[-1].values)
    counts = {str(q): str(v) for q, v in row.items() if re.match(r"(bbh|squad):", str(q))}
    if not counts or not all(v.isdecimal() for v in counts.values()):
        raise InputError(f"replicate: {path.name}: the last row must count the right answers.")
    return {q: int(v) for q, v in counts.items()}


_FILE = "head_to_tail.csv"
_CODES = {"1": 1.0, "0": 0.0, "_": np.nan}
_HALF_DIGIT = 5e-5 + 1e-9
_COPIES = 0.99
"""Correlation of item means from which judges are called near copies of one another."""

_APPLICATION = Claim(
    id="head_to_tail",
    claim="Accuracy on Head-to-Tail as judged hardly varies between judges.",
    published="Tables 5 and 6: A_LM .0395-.0396 (standard error .0003-.0004), omega about .99",
    test_then="mean over questions and replications, an empty reply counted as incorrect; its "
    "standard error over replications",
    test_now="accuracy as judged with an interval over questions, empty replies left out; "
    "reliability of one verdict; correlation of the judges' shares by question",
)


def read_application(folder: Path) -> dict[str, Floats]:
    """The verdicts on Head-to-Tail by judge, questions x replications; nothing without the file.

    Parameters
    ----------
    folder : Path
        With ``head_to_tail.csv`` (``.gz``): judge, item, and the verdicts of its replications as
        one text (1 correct, 0 not, _ empty).

    Returns
    -------
    dict of str to ndarray
        NaN where the reply was empty; questions in the order of their numbers.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    files = sorted(folder.glob(f"{_FILE}*"))
    if not files:
        return _authors_answers(folder)
    verdicts: dict[str, dict[int, list[float]]] = {}
    for row in read_source(files[0]).rows:
        judge, item, text = (str(row.values.get(k, "")) for k in ("judge", "item", "verdicts"))
        if not judge or not item.isdecimal() or not text or set(text) - set(_CODES):
            raise InputError(
                f"replicate: {row.where}: expected judge, item (a number) and verdicts of 1, 0 "
                "and _."
            )
        verdicts.setdefault(judge, {})[int(item)] = [_CODES[c] for c in text]
    arrays = {}
    for judge, rows in verdicts.items():
        if len({len(v) for v in rows.values()}) > 1 or set(rows) != set(
            next(iter(verdicts.values()))
        ):
            raise InputError(f"replicate: {files[0].name}: the rows of {judge} are not complete.")
        arrays[judge] = np.array([rows[item] for item in sorted(rows)])
    return arrays


def _authors_answers(folder: Path) -> dict[str, Floats]:
    """The same from the authors' files, a judge's texts by question, read by their rule."""
    own = sorted(folder.rglob("judge_full_*_by_lmsys_vicuna-7b-v1.5.json"))
    arrays = {}
    for path in own:
        document = read_source(path).document or {}
        listed = [texts for texts in document.values() if isinstance(texts, list)]
        if len(listed) != len(document) or len({len(texts) for texts in listed}) != 1:
            raise InputError(f"replicate: {path.name}: expected a list of texts for each question.")
        name = path.name.removeprefix("judge_full_").partition("_by_")[0]
        arrays[name] = np.array([[_parse_application(text) for text in texts] for texts in listed])
    return arrays


def _parse_application(text: object) -> float:
    """1 where a text holds correct and not incorrect; NaN where it is empty.

    Examples
    --------
    >>> [_parse_application(t) for t in (" correct", "It is incorrect.", "")]
    [1.0, 0.0, nan]
    """
    words = text.lower() if isinstance(text, str) else ""
    return float("correct" in words and "incorrect" not in words) if words.strip() else float("nan")


def application(folder: Path, options: Options) -> Claim:
    """What the public verdicts on Head-to-Tail say of the application's accuracy and reliability.

    Parameters
    ----------
    folder : Path
    options : Options

    Returns
    -------
    Claim
    """
    verdicts = read_application(folder)
    if not verdicts:
        return _APPLICATION.not_examined(
            "the folder has no head_to_tail.csv.gz; the authors' repository holds the "
            "verdicts in application_data/judgment_results"
        )
    as_printed = {judge: np.nan_to_num(x) for judge, x in verdicts.items()}
    printed = {judge: _application_printed(judge) for judge in verdicts}
    matches = sum(
        abs(round(float(x.mean()), 4) - printed[judge]) < _HALF_DIGIT
        for judge, x in as_printed.items()
    )
    shares = {judge: np.nanmean(x, axis=1) for judge, x in verdicts.items()}
    same = [_pair(shares[a], shares[b]) for a, b in combinations(verdicts, 2)]
    accuracy = {
        judge: mean_share(share, level=options.level, name="accuracy", label="Accuracy as judged")
        for judge, share in shares.items()
    }
    one = {
        judge: vote_share_reliability(
            np.where(np.isnan(x), "", np.where(x > 0, "correct", "incorrect")).astype(object),
            level=options.level,
            n_permutations=options.n_resamples,
            seed=options.seed,
        )
        for judge, x in verdicts.items()
    }
    low = min(r for r, _ in same) if same else np.nan
    copies = bool(same) and low >= _COPIES
    text = ", ".join(
        apa_number(float(x.mean()), digits=4, bounded=True) for x in as_printed.values()
    )
    return _APPLICATION.examined(
        reproduced=f"A_LM {text}: {matches} of {len(verdicts)} as printed",
        verdict="stands in part" if copies else "stands",
        because=_application_because(as_printed, accuracy, one, same, copies=copies),
        results=(
            *(
                then(f"head_to_tail.then.{j}", f"A_LM, {_short(j)}", _replication_mean(x))
                for j, x in as_printed.items()
            ),
            *(
                now(f"head_to_tail.now.accuracy.{j}", f"Accuracy as judged, {_short(j)}", e)
                for j, e in accuracy.items()
            ),
            *(
                now(f"head_to_tail.now.one.{j}", f"Reliability of one verdict, {_short(j)}", e)
                for j, e in one.items()
            ),
        ),
    )


def _application_because(
    as_printed: Mapping[str, Floats],
    accuracy: Mapping[str, Estimate],
    one: Mapping[str, Estimate],
    same: list[tuple[float, float]],
    *,
    copies: bool,
) -> str:
    first = next(iter(accuracy))
    n, times = as_printed[first].shape
    bounds = [e.interval for e in accuracy.values() if e.interval is not None]
    sentences = []
    if bounds:
        low, high = min(b.low for b in bounds), max(b.high for b in bounds)
        sentences.append(
            f"The accuracies are alike, and none is known to four digits: over {n:,} questions the "
            f"95 % intervals reach from {_three(low)} to {_three(high)}; the printed standard "
            f"errors are those of {times} replications of the same questions."
        )
    values = [e.estimate for e in one.values()]
    sentences.append(
        f"One verdict's reliability is {_three(min(values))} to {_three(max(values))}."
    )
    if copies:
        sentences.append(
            f"That judges agree is not shown by it: their shares by question correlate "
            f"{_three(min(r for r, _ in same))} to {_three(max(r for r, _ in same))} and are the "
            f"very same in {100 * min(s for _, s in same):.0f} to "
            f"{100 * max(s for _, s in same):.0f} % of the questions, as one judge asked again "
            "would give: three verdicts here weigh as one. In the authors' public script "
            "(application_judges.py; read, not run here) the call hands the answering model over "
            "as the judge and the judge as the answering model, and the files carry the names that "
            "this order gives. Which models were asked cannot be told from the verdicts."
        )
    return " ".join(sentences)


def _three(value: float) -> str:
    return apa_number(value, digits=3, bounded=True)


def _pair(first: Floats, second: Floats) -> tuple[float, float]:
    """Correlation of two judges' shares, and how often they are the very same."""
    return float(np.corrcoef(first, second)[0, 1]), float(np.mean(first == second))


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


def _short(judge: str) -> str:
    return judge.replace("_", "/", 1).split("/")[-1]


def _application_printed(judge: str) -> float:
    table = omega_tables()
    own = table[
        (table["table"] == 5)
        & (table["statistic"] == "A_LM")
        & (table["judge"] == judge.replace("_", "/", 1))
    ]
    return float(own["value"].iloc[0]) if len(own) else float("nan")
