"""A folder of logs of one tool, as one frame."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.frame import condition_labels
from judgestats.judgments.readers.logs import Log, Reader, open_log
from judgestats.results.numbers import counted

_MOST_FILES = 5_000
_DEPTH = 3
_WORDS = ("label", "task", "answerer", "scorer")


def read_folder(
    folder: Path, readers: Mapping[str, Reader], *, reader: str = "auto", judge: str = ""
) -> tuple[str, pd.DataFrame]:
    """Read every log in a folder (and three levels below) that one tool wrote.

    Links are not followed: what lies outside the folder was not meant.

    Parameters
    ----------
    folder : Path
    readers : mapping of name to Reader
    reader : str
        ``auto``, or one of the names: only its files are read then.
    judge : str

    Returns
    -------
    tuple of str and DataFrame
        The reader's name, and the parsed frame.

    Raises
    ------
    InputError
        No file, or files of several tools, are recognised; or one of them cannot be read.
    """
    by_reader: dict[str, list[Log]] = {}
    unknown = 0
    for path in files_in(folder):
        log, name = _look(path, readers, judge)
        if log is None or not name or (reader not in {"auto", name}):
            unknown += 1
        else:
            by_reader.setdefault(name, []).append(log)
    if not by_reader:
        raise InputError(
            f"{folder} is a folder, and none of its {unknown} files is a log that is recognised"
            + (f" as {reader}" if reader != "auto" else "")
            + ". Name the file; a table needs --map item_id=COLUMN,score=COLUMN."
        )
    if len(by_reader) > 1:
        text = ", ".join(
            f"{name} ({counted(len(logs), 'file', 'files')})" for name, logs in by_reader.items()
        )
        raise InputError(
            f"{folder} holds logs of several tools: {text}. Choose one with --reader NAME, or name "
            "a file."
        )
    name, logs = next(iter(by_reader.items()))
    frames: dict[str, pd.DataFrame] = {}
    notes: list[str] = []
    for log in logs:
        frame = readers[name].read(log)
        own = _content(frame)
        if own in frames:
            notes.append(f"{log.path.name} holds the same judgments as another file: left out.")
        else:
            frames[own] = frame
    return name, _together(list(frames.values()), notes, unknown)


def _content(frame: pd.DataFrame) -> str:
    """What a log says, in whatever form: an export beside its source is no repetition."""
    content = frame[["condition", "item_id", "order", "status", "score", "choice", "raw_text"]]
    hashed = pd.util.hash_pandas_object(content.astype(str), index=False).sort_values()
    return hashlib.sha256(hashed.to_numpy().tobytes()).hexdigest()


def files_in(folder: Path) -> list[Path]:
    """The plain files of a folder and of three levels below, in order; no links, nothing hidden."""
    paths: list[Path] = []
    for place, folders, names in os.walk(folder, followlinks=False):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(n for n in folders if not n.startswith(".")) if depth < _DEPTH else []
        paths += [
            Path(place) / n
            for n in sorted(names)
            if not n.startswith(".") and not (Path(place) / n).is_symlink()
        ]
        if len(paths) > _MOST_FILES:
            raise InputError(
                f"{folder} holds more than {_MOST_FILES:,} files. Name a smaller folder."
            )
    return [p for p in paths if p.is_file()]


def _look(path: Path, readers: Mapping[str, Reader], judge: str) -> tuple[Log | None, str]:
    """What a file is; a file that is no log at all (a picture, a broken JSON) is just unknown."""
    try:
        log = open_log(path, judge=judge)
        return log, next((name for name, reader in readers.items() if reader.fits(log)), "")
    except InputError:
        return None, ""


def _together(frames: list[pd.DataFrame], text: list[str], unknown: int) -> pd.DataFrame:
    """Several logs as one: repetitions are numbered on where two logs hold the same judgment."""
    notes = list(dict.fromkeys(n for f in frames for n in f.attrs.get("notes", [])))
    notes += text
    scales = {f.attrs.get("scale") for f in frames}
    if len({t for f in frames if "task" in f for t in f["task"].unique()}) > 1:
        frames = [_named_by_task(f) for f in frames]
    frame = pd.concat(frames, ignore_index=True)
    for column in frame.columns.intersection(list(_WORDS)):
        frame[column] = frame[column].fillna("")
    factors = []
    for name in ("scorer", "task"):
        if name in frame and len(set(frame[name])) > 1:
            frame[f"factor_{name}"] = frame[name]
            factors.append(f"factor_{name}")
    frame["condition"] = condition_labels(frame, factors)
    key = ["condition", "item_id", "order", "stage"]
    if frame.duplicated([*key, "replicate"]).any():
        frame["replicate"] = frame.groupby(key, sort=False).cumcount()
    if unknown:
        notes.append(f"Not read: {counted(unknown, 'other file', 'other files')} of the folder.")
    frame.attrs = {"notes": notes, "scale": scales.pop() if len(scales) == 1 else None}
    return frame


def _named_by_task(frame: pd.DataFrame) -> pd.DataFrame:
    if "task" not in frame:
        return frame
    own = {c: frame["task"] + ": " + frame[c] for c in ("item_id", "cluster")}
    return frame.assign(**own)
