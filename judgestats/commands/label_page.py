"""Local page of labels, and the files they are exchanged in."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.readers.labels import LABEL_ENDINGS
from judgestats.data.readers.logs import table_of
from judgestats.errors import InputError, guard_output
from judgestats.files.guarded import plain_file
from judgestats.files.label_state import GivenLabel, LabelState, changed_labels
from judgestats.files.remote import local_file
from judgestats.files.text import command_word, short
from judgestats.reporting.explorer.labels_page import Answer, blind_payload, label_server
from judgestats.reporting.explorer.page import html_page, packed, write_page
from judgestats.runner import display as console

OWN_COLUMNS = ("item_id", "chance", "annotator", "label", "note")
"""Columns of a file of labels next to the texts."""
_OTHER_STARTS = (b"SQLite format 3\x00", b"PK\x03\x04", b"\x1f\x8b")
"""First bytes of a database, a workbook and a gzip file."""


def check_writable(path: Path) -> None:
    """Refuse a file that `write_table` would turn into another format.

    Parameters
    ----------
    path : Path
        It need not exist.

    Raises
    ------
    InputError
        Its name, or what it holds, is of a format in which labels are not written.
    """
    suffix = path.suffix.lower()
    if suffix not in LABEL_ENDINGS:
        raise InputError(
            f"{path}: labels are kept in CSV, TSV, JSON lines, JSON or Parquet. Name such a file, "
            f"e.g. {path.name.partition('.')[0] or 'labels'}.csv."
        )
    if not path.is_file():
        return
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(_OTHER_STARTS) or (start[:4] == b"PAR1" and suffix != ".parquet"):
        raise InputError(
            f"{path}: the file is not in the format of its name, in which labels would be written. "
            "Save its table as CSV under another name."
        )


def read_table(path: Path) -> pd.DataFrame:
    """A table with every value as text, empty where there is none.

    Parameters
    ----------
    path : Path
        As `judgestats.data.readers.logs.table_of` reads it.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        The file is not there, or is not a table.
    """
    path = local_file(path)
    if not path.is_file():
        if path.exists():
            plain_file(path)
        raise InputError(f"{path}: there is no such file.")
    frame = table_of(path, lambda header: list(header.columns))
    filled = frame.astype(object).where(frame.notna(), "")
    return filled.map(lambda v: json.dumps(v) if isinstance(v, (dict, list)) else str(v))


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table, in the format of its name, whole or not at all."""
    check_writable(path)
    suffix = path.suffix.lower()
    if suffix in {".jsonl", ".ndjson"}:
        write = partial(frame.to_json, orient="records", lines=True, force_ascii=False)
    elif suffix == ".json":
        write = partial(frame.to_json, orient="records", force_ascii=False)
    elif suffix == ".parquet":
        write = partial(frame.to_parquet, index=False)
    else:
        write = partial(frame.to_csv, index=False, sep="\t" if suffix == ".tsv" else ",")
    replace_file(path, write)


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file whole or not at all, with the mode that it had; it is on the disk on return.

    Parameters
    ----------
    path : Path
    write : function of a path
        Writes the contents to the path that it is given.
    """
    real = Path(os.path.realpath(path))
    beside = real.with_name(f".{real.name}.{os.getpid()}")
    with guard_output(path):
        try:
            if real.exists():
                beside.touch(mode=0o600)
            write(beside)
            _flush(beside, os.O_RDWR)
            if real.exists():
                shutil.copymode(real, beside)
            beside.replace(real)
        finally:
            beside.unlink(missing_ok=True)
    if sys.platform != "win32":  # where a folder cannot be opened
        _flush(real.parent, os.O_RDONLY)


def _flush(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class LabelFile:
    """A file of items to label, and the store of the labels given.

    Parameters
    ----------
    path : Path
        Items, texts next to them, and the available labels: the exchange format.
    annotator : str
        Pseudonym under which labels are given.
    choices : sequence of str
        The words of a label.
    """

    def __init__(self, path: Path, *, annotator: str, choices: Sequence[str]) -> None:
        self.path, self.annotator, self.choices = path, annotator, list(choices)
        frame = read_table(path)
        check_writable(path)
        missing = [c for c in ("item_id", "annotator", "label") if c not in frame]
        if missing:
            raise InputError(
                f"{path}: there is no column {', '.join(missing)}. Make the file by "
                "judgestats labels plan FILE --labels N --text COLUMN."
            )
        if len(self.choices) < 2 or len(set(self.choices)) < len(self.choices):
            raise InputError("labels collect: --choices needs at least two different words.")
        if not annotator:
            raise InputError("labels collect: --annotator needs a pseudonym.")
        items = frame.drop_duplicates("item_id").set_index("item_id")
        texts = [c for c in items if c not in OWN_COLUMNS]
        self._texts = {
            str(item): [(str(c), str(v)) for c, v in zip(texts, row, strict=True)]
            for item, row in zip(items.index, items[texts].to_numpy(object), strict=True)
        }
        with changed_labels(path) as state:
            state.read_file(_stored_labels(path, frame), self._texts)

    def payload(self) -> dict[str, Any]:
        """The data of the page: items, choices, and the answers of this annotator."""
        with changed_labels(self.path) as store:
            given = store.answers()
        own = {
            g.item_id: Answer(label, note, unsure=not label)
            for g, (label, note) in given.items()
            if g.annotator == self.annotator and (not label or label in self.choices)
        }
        return blind_payload(
            self._texts, choices=self.choices, annotator=self.annotator, answers=own
        )

    def save(self, item: str, answer: Answer) -> None:
        """Store one answer; on return it is on the disk."""
        known = answer.label == "" if answer.unsure else answer.label in self.choices
        if not known or item not in self._texts:
            raise InputError("labels collect: no such item or label.")
        with changed_labels(self.path) as state:
            given = GivenLabel(item, self.annotator)
            state.give(given, answer.label, note=answer.note, unsure=answer.unsure)


def _stored_labels(path: Path, frame: pd.DataFrame) -> dict[GivenLabel, str]:
    """The labels in a file."""
    rows = frame[(frame["annotator"] != "") & (frame["label"] != "")]
    held: dict[GivenLabel, str] = {}
    for item, annotator, label in zip(
        rows["item_id"], rows["annotator"], rows["label"], strict=True
    ):
        given = GivenLabel(item, annotator)
        if held.setdefault(given, label) != label:
            raise InputError(
                f"{path}: item {short(item)} has the labels {short(held[given])} and "
                f"{short(label)} of {short(annotator)}. Keep one."
            )
    return held


def export_labels(path: Path) -> int:
    """Write the labels given on pages into their file, whole or not at all.

    Parameters
    ----------
    path : Path

    Returns
    -------
    int
        Labels in the file.
    """
    frame = read_table(path)
    check_writable(path)
    with changed_labels(path) as state:
        if state.unexported():
            state.read_file(_stored_labels(path, frame), frame["item_id"])
            write_table(_filled(frame, state), path)
            state.mark_exchanged()
        return len(state.labels())


def _filled(frame: pd.DataFrame, state: LabelState) -> pd.DataFrame:
    """The rows of a file, each label in its annotator's row, else a free one, else a new one."""
    rows: list[dict[str, Any]] = [
        {str(column): value for column, value in row.items()} for row in frame.to_dict("records")
    ]
    place: dict[GivenLabel, dict[str, Any]] = {}
    free: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["annotator"] != "":
            place.setdefault(GivenLabel(row["item_id"], row["annotator"]), row)
        elif row["label"] == "":
            free.setdefault(row["item_id"], []).append(row)
    first = {row["item_id"]: dict(row) for row in reversed(rows)}
    answers = state.answers()
    noted = "note" in frame or any(note for _, note in answers.values())
    for given, label in state.labels().items():
        if given not in place:
            if open_rows := free.get(given.item_id):
                place[given] = open_rows.pop(0)
            else:
                rows.append(dict(first[given.item_id]))
                place[given] = rows[-1]
        place[given] |= {"annotator": given.annotator, "label": label}
        if noted and answers[given][1]:
            place[given]["note"] = answers[given][1]
    columns = [*frame.columns, *(["note"] if noted and "note" not in frame else [])]
    return pd.DataFrame(rows, columns=columns).fillna("")


def serve_page(path: Path, *, annotator: str, choices: Sequence[str], port: int) -> int:
    """Serve the page until stopped; each label is stored at once, and in the file at the end."""
    file = LabelFile(path, annotator=annotator, choices=choices)
    server, address = label_server(file.payload, file.save, port=port)
    made = file.payload()
    labelled = sum(bool(a["label"]) for _, a in made["given"])
    console.print_result(
        f"READY  {labelled} of {len(made['items']['id'])} items labelled by {annotator}. "
        "Open on this machine:",
        f"  {address}",
        "Next  Ctrl-C ends; the same command goes on where it stopped.",
    )
    try:
        server.serve_forever()
    finally:
        server.server_close()
        export_labels(path)
    return 0


def send_page(path: Path, out: Path, *, annotator: str, choices: Sequence[str]) -> int:
    """Write the page as a file to send; its labels are saved from the browser."""
    made = LabelFile(path, annotator=annotator, choices=choices).payload()
    write_page(html_page(packed(made)), out)
    console.print_outcome(
        "READY",
        f"{len(made['items']['id'])} items to label: {out}. "
        "Its button Save file writes the labels.",
        following=[f"judgestats analyze my.csv --labels {command_word(path)}"],
    )
    return 0
