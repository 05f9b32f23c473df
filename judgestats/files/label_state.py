"""Labels as they are given: SQLite next to the labels file, which stays the exchange format."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from judgestats.errors import InputError
from judgestats.files.guarded import file_sha256
from judgestats.files.shared_state import Layout, is_state, transaction
from judgestats.files.text import command_word, short

LAYOUT = Layout(
    "store of labels",
    0x4A534C31,  # "JSL1"
    (
        """CREATE TABLE label (
  item_id TEXT NOT NULL, annotator TEXT NOT NULL, label TEXT NOT NULL, note TEXT NOT NULL,
  created_at TEXT NOT NULL, PRIMARY KEY (item_id, annotator))""",
        """CREATE TABLE history (
  id INTEGER PRIMARY KEY, item_id TEXT NOT NULL, annotator TEXT NOT NULL, label TEXT NOT NULL,
  note TEXT NOT NULL, created_at TEXT NOT NULL)""",
        """CREATE TABLE exchange (
  file TEXT NOT NULL, sha256 TEXT NOT NULL, history INTEGER NOT NULL)""",
    ),
)
_REMOVED = ""
"""In the history: the label was taken out of the file by hand."""


class GivenLabel(NamedTuple):
    """Whose label of which item."""

    item_id: str
    annotator: str


def label_state_path(path: Path) -> Path:
    """The store of a labels file: ``labels.db`` next to ``labels.csv``."""
    return path.parent / f"{path.stem}.db"


class LabelState:
    """Labels of one file inside one transaction (see `changed_labels`).

    Parameters
    ----------
    db : sqlite3.Connection
    path : Path
        The labels file.
    """

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db, self.path = db, path

    def labels(self) -> dict[GivenLabel, str]:
        """All labels, in the order of their first giving."""
        return {given: label for given, (label, _) in self.answers().items() if label}

    def answers(self) -> dict[GivenLabel, tuple[str, str]]:
        """All labels with their notes, and answers of an unsure annotator, whose label is empty."""
        rows = self._db.execute("SELECT item_id, annotator, label, note FROM label ORDER BY rowid")
        return {GivenLabel(item, annotator): (label, note) for item, annotator, label, note in rows}

    def give(self, given: GivenLabel, label: str, *, note: str = "", unsure: bool = False) -> None:
        """Store a label; a second one of the same annotator replaces the first.

        Parameters
        ----------
        given : GivenLabel
        label : str
            Empty: the label is taken back, or the annotator is unsure.
        note : str
        unsure : bool
            The annotator saw the item and cannot tell.
        """
        row = (*given, label, note, datetime.now(UTC).isoformat(timespec="seconds"))
        self._db.execute(
            "INSERT INTO history (item_id, annotator, label, note, created_at) "
            "VALUES (?, ?, ?, ?, ?)", row,
        )  # fmt: skip
        if label == _REMOVED and not unsure:
            self._db.execute("DELETE FROM label WHERE item_id = ? AND annotator = ?", given)
        else:
            self._db.execute(
                "INSERT INTO label VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                "label = excluded.label, note = excluded.note, "
                "created_at = excluded.created_at", row,
            )  # fmt: skip

    def unexported(self) -> int:
        """Labels given since the file was last written or read."""
        (count,) = self._db.execute(
            "SELECT count(*) FROM history WHERE id > coalesce((SELECT history FROM exchange), 0)"
        ).fetchone()
        return int(count)

    def exchanged(self) -> tuple[str, str]:
        """Name and SHA-256 of the file when it last held the same labels; empty before."""
        row = self._db.execute("SELECT file, sha256 FROM exchange").fetchone()
        return (str(row[0]), str(row[1])) if row else ("", "")

    def mark_exchanged(self) -> None:
        """Note that the file and the store hold the same labels."""
        self._db.execute("DELETE FROM exchange")
        self._db.execute(
            "INSERT INTO exchange SELECT ?, ?, coalesce(max(id), 0) FROM history",
            (self.path.name, file_sha256(self.path)),
        )

    def read_file(self, held: Mapping[GivenLabel, str], items: Iterable[str]) -> None:
        """Take over the labels of a file that was edited since it was last seen.

        Parameters
        ----------
        held : mapping of GivenLabel to str
            Labels in the file.
        items : iterable of str
            All items of the file.

        Raises
        ------
        InputError
            The store is of another file, or both hold labels that the other one lacks.
        """
        file, digest = self.exchanged()
        if file not in {"", self.path.name}:
            raise InputError(
                f"{label_state_path(self.path)} holds the labels of {short(file)}, not of "
                f"{self.path.name}. Name the two files differently."
            )
        if digest == file_sha256(self.path):
            return
        own = self.labels()
        known = set(items)
        behind = self.unexported()
        if behind:
            other = [g for g, label in own.items() if held.get(g, label) != label]
            other += [g for g in own if g.item_id not in known]
            if other:
                raise InputError(
                    f"{self.path}: the file was edited, and {label_state_path(self.path).name} "
                    f"holds labels that it lacks (such as item {short(other[0].item_id)} by "
                    f"{short(other[0].annotator)}). Restore the file, or move one of them away."
                )
        else:
            for given in own.keys() - held.keys():
                self.give(given, _REMOVED)
        for given, label in held.items():
            if own.get(given) != label:
                self.give(given, label)
        if not behind:
            self.mark_exchanged()


@contextmanager
def changed_labels(path: Path) -> Iterator[LabelState]:
    """Change the labels of a file in one transaction; they are on the disk when it ends.

    Parameters
    ----------
    path : Path
        The labels file.

    Raises
    ------
    InputError
        The file at the store's path is not a store.
    StoreError
        Another process holds the store, or the disk refuses it.
    """
    with transaction(label_state_path(path), LAYOUT) as db:
        yield LabelState(db, path)


def check_exported(path: Path) -> None:
    """Refuse a labels file that lacks labels given on a page.

    Raises
    ------
    InputError
        Its store holds newer labels.
    """
    store = label_state_path(path)
    if store == path or not is_state(store, LAYOUT):
        return
    with changed_labels(path) as state:
        count = state.unexported() if state.exchanged()[0] == path.name else 0
    if count:
        raise InputError(
            f"{path}: {count:,} newer labels are in {store.name}. Write them to the file with: "
            f"judgestats labels export {command_word(path)}"
        )
