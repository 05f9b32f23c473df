"""The study of arXiv 2412.12509: letters that judges chose, 55 questions x 100 replications.

Two layouts are understood: a table of verdicts (``verdicts.csv.gz``), and the authors' own JSON
with the judges' texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.errors import InputError
from judgestats.items.files import read_source
from judgestats.protocols.selection import best_response_letters

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
