"""Data of arXiv 2412.12509: verdicts on five answers, public answers, and Head-to-Tail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.items.files import read_source
from judgestats.protocols.selection import best_response_letters

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
        ("benchmark", named, "benchmark of the study"),
        ("verdict", _VERDICTS, "verdict"),
    ):
        strange = sorted(set(frame[column].astype(str)) - set(known))
        if strange:
            there = BENCHMARKS.values() if column == "benchmark" else sorted(known)
            raise InputError(
                f"replicate: {where}: {strange[0]!r} is no {what}. There are: {', '.join(there)}."
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
        listed = entry.get("model_responses") if isinstance(entry, Mapping) else None
        if not isinstance(listed, Mapping) or not listed:
            raise InputError(f"replicate: {path.name}: {str(name)[:60]!r} names no answers.")
        texts[str(name)] = [str(text) for text in listed.values()]
    return texts


def read_questions(path: Path, *needed: str) -> list[Mapping[str, Any]]:
    """The rows of a sampled benchmark, each with the fields that are needed."""
    rows = [row.values for row in read_source(path).rows]
    whole = all(set(needed) <= set(row) for row in rows)
    if not rows or not whole or ("answers" in needed and not all(map(_is_answered, rows))):
        raise InputError(f"replicate: {path.name}: every row needs {' and '.join(needed)}.")
    return rows


def _is_answered(row: Mapping[str, Any]) -> bool:
    listed = row["answers"]
    return isinstance(listed, list) and bool(listed) and "text" in dict(listed[0])


def read_counts(path: Path) -> dict[str, int]:
    """The last row of the authors' table: how many answers are right, a question."""
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
        return dict(map(_application_texts, sorted(folder.rglob(
            "judge_full_*_by_lmsys_vicuna-7b-v1.5.json"
        ))))  # fmt: skip
    verdicts: dict[str, dict[int, list[float]]] = {}
    for row in read_source(files[0]).rows:
        judge, item, text = (str(row.values.get(k, "")) for k in ("judge", "item", "verdicts"))
        if not judge or not item.isdecimal() or not text or set(text) - set(_CODES):
            raise InputError(
                f"replicate: {row.where}: expected judge, item (a number) and verdicts of 1, 0 "
                "and _."
            )
        verdicts.setdefault(judge, {})[int(item)] = [_CODES[c] for c in text]
    items = sorted(next(iter(verdicts.values())))
    for judge, rows in verdicts.items():
        if sorted(rows) != items or len({len(v) for v in rows.values()}) > 1:
            raise InputError(f"replicate: {files[0].name}: the rows of {judge} are not complete.")
    return {judge: np.array([rows[i] for i in items]) for judge, rows in verdicts.items()}


def _application_texts(path: Path) -> tuple[str, Floats]:
    """A judge, and its texts by question read by the authors' rule."""
    document = read_source(path).document or {}
    listed = [texts for texts in document.values() if isinstance(texts, list)]
    if len(listed) != len(document) or len({len(texts) for texts in listed}) != 1:
        raise InputError(f"replicate: {path.name}: expected a list of texts for each question.")
    name = path.name.removeprefix("judge_full_").partition("_by_")[0]
    return name, np.array([[parse_application(text) for text in texts] for texts in listed])


def parse_application(text: object) -> float:
    """1 where a text holds correct and not incorrect; NaN where it is empty.

    Examples
    --------
    >>> [parse_application(t) for t in (" correct", "It is incorrect.", "")]
    [1.0, 0.0, nan]
    """
    words = text.lower() if isinstance(text, str) else ""
    return float("correct" in words and "incorrect" not in words) if words.strip() else float("nan")


def five_numbers(counts: Sequence[float]) -> list[float]:
    """Least, quartiles, most: numbers of the data, as the paper prints them.

    Examples
    --------
    >>> five_numbers([0, 0, 1, 1, 2])
    [0.0, 0.0, 1.0, 1.0, 2.0]
    """
    return [float(v) for v in np.quantile(np.asarray(counts, dtype=float), np.linspace(0, 1, 5))]
