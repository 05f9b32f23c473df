"""Whether a file is a journal, and what to say of it when it is not or cannot be used."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from judgestats.errors import StoreError

APPLICATION_ID = 0x4A535431  # "JST1"
VERSION = 6
"""2: batches; 3: settings as a mapping; 4: what was spent; 5: checksums."""

SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What a call may raise: of a schema with flipped bits, a message that is no UTF-8."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_ASIDE = "Nothing was changed. Move the file aside to begin a new journal, or name another one."


def check_file(path: Path) -> None:
    """Raise StoreError unless `path` is absent or a whole journal of a version known here.

    Only the file's header is read: what SQLite itself would quietly repair, truncate or delete (a
    file of 0 bytes with a write-ahead log beside it, say) is named and left alone.
    """
    log = path.with_name(path.name + "-wal")
    if not path.exists():
        if log.exists() and log.stat().st_size:
            raise StoreError(
                f"journal {path}: the file is gone but its write-ahead log {log.name} is there. "
                f"Restore the file, or move the log aside. Nothing was changed."
            )
        _check_folder(path)
        return
    if path.is_dir():
        raise StoreError(
            f"journal {path}: this is a folder. Name a file in it, such as journal.db."
        )
    if not path.is_file():
        raise StoreError(
            f"journal {path}: this is no ordinary file (a device or a pipe). Name another journal."
        )
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as error:
        raise StoreError(f"journal {path}: cannot be read ({error.strerror}).") from None
    if size == 0:
        raise StoreError(f"journal {path}: the file is empty (0 bytes): truncated? {_ASIDE}")
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        short = size < _HEADER_BYTES and _MAGIC.startswith(header[: len(_MAGIC)])
        what = "is truncated" if short else "is no journal (not a SQLite file)"
        raise StoreError(f"journal {path}: the file {what}. {_ASIDE}")
    _check_header(path, header, size, log_exists=log.exists() and log.stat().st_size > 0)
    if not os.access(path, os.W_OK):
        raise StoreError(
            f"journal {path}: the file is read-only. Make it writable, or name another journal."
        )


def _check_header(path: Path, header: bytes, size: int, *, log_exists: bool) -> None:
    def number(start: int, length: int = 4) -> int:
        return int.from_bytes(header[start : start + length], "big")

    application, version = number(68), number(60)
    if application != APPLICATION_ID:
        # A process that ended before its first checkpoint leaves no mark in the file itself.
        empty = size <= 4096 and number(28) <= 1 and version == 0
        if application == 0 and (_begun_in_log(path) if log_exists else empty):
            return
        raise StoreError(
            f"journal {path}: this is a SQLite file of another program (no journal of judgestats). "
            f"{_ASIDE}"
        )
    if version > VERSION:
        raise StoreError(
            f"journal {path}: it was written by a newer judgestats (journal version {version}, "
            f"known here: {VERSION}). Upgrade judgestats, or name another journal."
        )
    page = number(16, 2)
    page = 65536 if page == 1 else page
    if number(24) == number(92) and size < page * number(28):
        raise StoreError(
            f"journal {path}: the file is truncated ({size} bytes of {page * number(28)}). "
            "Nothing was changed. Rescue what is left with `sqlite3 FILE .recover`, or move the "
            "file aside to begin a new journal."
        )


def _begun_in_log(path: Path) -> bool:
    """Whether file and log together are a journal, or nothing yet; looked at without writing."""
    name = quote(str(path.absolute()))
    try:
        with contextlib.closing(sqlite3.connect(f"file:{name}?mode=ro", uri=True)) as db:
            application = db.execute("PRAGMA application_id").fetchone()[0]
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.Error as error:
        return is_busy(error)  # in use: opening it will say by whom
    return bool(application == APPLICATION_ID or (application == 0 and tables == 0))


def _check_folder(path: Path) -> None:
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"journal {path}: its folder cannot be made ({error.strerror}). Name a journal in a "
            "folder where you may write."
        ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(
            f"journal {path}: the folder is read-only. Name a journal in a folder where you may "
            "write."
        )


def is_laid_out(path: Path) -> bool:
    """Whether a file says in its own header that it is a journal (False: absent, or half made)."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return False
    return int.from_bytes(header[68:72], "big") == APPLICATION_ID


def is_busy(error: Exception) -> bool:
    """Whether an SQLite error says that somebody else holds the file."""
    text = str(error).lower()
    return "locked" in text or "busy" in text


def store_error(error: Exception, path: Path | None) -> StoreError:
    """What to say of an SQLite error: what happened, what is kept, what to do."""
    name = "journal (in memory)" if path is None else f"journal {path}"
    text = "malformed text" if isinstance(error, UnicodeDecodeError) else str(error)
    lower = text.lower()
    kept = "Everything stored before is kept; the same command goes on from there."
    if is_busy(error):
        owner = "" if path is None else _owner(path)
        sentence = f"{name}: in use by another process{owner}. "
        return StoreError(sentence + "Wait for it to end, or name another journal.")
    if "full" in lower:
        return StoreError(f"{name}: the disk is full. {kept} Free some space first.")
    if "readonly" in lower or "read-only" in lower:
        return StoreError(f"{name}: the disk or file is read-only. {kept}")
    if "unable to open" in lower:
        return StoreError(
            f"{name}: cannot be opened or made. Name a journal in a folder where you may write."
        )
    if "malformed" in lower or "not a database" in lower or "corrupt" in lower:
        return StoreError(
            f"{name}: the file is damaged ({text}). Nothing was deleted. Rescue what is left with "
            "`sqlite3 FILE .recover`, or move the file aside to begin a new journal."
        )
    return StoreError(f"{name}: {text}. {kept}")


def _owner(path: Path) -> str:
    try:
        text = path.with_name(path.name + ".owner").read_text(encoding="utf-8")[:80]
    except OSError:
        return ""
    return f" ({text.strip()})"
