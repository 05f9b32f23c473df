"""Looking into a journal that another process may be writing, without locking it."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from judgestats.errors import StoreError
from judgestats.judges.journal import Journal
from judgestats.judges.journal_file import check_file

_LOOKS = 5
_LOG_HEADER = 32
"""Bytes of a write-ahead log that change when it begins anew."""


@contextlib.contextmanager
def journal_view(journal: Journal | Path | str | None) -> Iterator[Journal]:
    """A copy of a journal as it stands, answers committed a moment ago included.

    Parameters
    ----------
    journal : Journal, path or None
        None, a rehearsal's, or a file that is not there gives an empty journal in memory.

    Raises
    ------
    StoreError
        It is no journal, or changes faster than it can be copied.
    """
    path = journal.path if isinstance(journal, Journal) else journal
    if path is None or not Path(path).exists():
        with Journal(None) as empty:
            yield empty
        return
    check_file(Path(path))
    with tempfile.TemporaryDirectory(prefix="judgestats-") as folder:
        copy = Path(folder) / "journal.sqlite"
        _copy(Path(path), copy)
        with Journal(copy) as copied:
            yield copied


def _copy(path: Path, copy: Path) -> None:
    """Copy file, then log; again where the log began anew between: pages may have moved."""
    log, log_copy = (p.with_name(p.name + "-wal") for p in (path, copy))
    for _ in range(_LOOKS):
        try:
            before = _head(log)
            shutil.copyfile(path, copy)
            log_copy.unlink(missing_ok=True)
            if log.exists():
                shutil.copyfile(log, log_copy)
            if _head(log) == before:
                return
        except FileNotFoundError:
            continue  # the other process has just folded its log in
        except OSError as error:
            raise StoreError(f"journal {path}: cannot be read ({error.strerror}).") from None
    raise StoreError(
        f"journal {path}: another process writes it faster than it can be read. Try again."
    )


def _head(log: Path) -> bytes:
    try:
        with log.open("rb") as file:
            return file.read(_LOG_HEADER)
    except FileNotFoundError:
        return b""
