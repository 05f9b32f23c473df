"""Files of unknown origin, opened under limits: bytes, lines, JSON, archives, databases."""

from __future__ import annotations

import gzip
import hashlib
import io
import logging
import math
import os
import re
import sqlite3
import stat
import struct
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from judgestats.errors import InputError
from judgestats.files.remote import refuse_remote
from judgestats.files.text import NestedError, clean, decode_json, short, shorten_text

_log = logging.getLogger(__name__)
_MIB = 1 << 20
_HEAD = 65_536
_READ = 1 << 18
_SIZE = re.compile(r"(\d{1,15})\s*([KMGT]?)(i?)B?", re.IGNORECASE)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_DENSEST = 1_100
"""Bytes that one byte of gzip can stand for, at most."""

Records = Iterator[tuple[str, dict[str, Any]]]
"""Where each record stands (``"line 3"``), and the record."""


class NoTableError(InputError):
    """The file can be read, but holds no table of judgments, or not under names that are known."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much of a file is read.

    Attributes
    ----------
    rows, columns, cells : int
        Of a table.
    line_bytes : int
        Of a line of text.
    cell_bytes : int
        Of a cell of a workbook or a database.
    expanded_bytes : int
        After decompression, texts that repeat counted as often as they stand. The environment's
        ``JUDGESTATS_MAX_BYTES`` (``8GiB``) replaces it and `ratio`.
    document_bytes : int
        Of one JSON value, which is held as a whole.
    ratio : int
        Times the file's own size that it may expand to, above 256 MiB.
    seconds : float
        Of CPU.
    members, member_bytes : int
        Of an archive.
    remedy : str
        What a refusal of too many rows, or of too slow a file, advises.
    """

    rows: int = 20_000_000
    columns: int = 2_000
    cells: int = 200_000_000
    line_bytes: int = 64 * _MIB
    cell_bytes: int = 10 * _MIB
    expanded_bytes: int = 2048 * _MIB
    document_bytes: int = 512 * _MIB
    ratio: int = 200
    seconds: float = 60.0
    members: int = 10_000
    member_bytes: int = 192 * _MIB
    remedy: str = "Split it, or convert it to Parquet and use --stream."

    def bytes_of(self, path: Path) -> int:
        """The bytes that a file may expand to."""
        if given := os.environ.get("JUDGESTATS_MAX_BYTES", ""):
            found = _SIZE.fullmatch(given.strip())
            if not found:
                raise InputError(f"JUDGESTATS_MAX_BYTES={given[:40]!r} is not a size such as 8GiB.")
            count, unit, binary = found.groups()
            step: int = (1024 if binary else 1000) ** " KMGT".index(unit.upper() or " ")
            return int(count) * step
        files = (f for f in path.rglob("*") if f.is_file()) if path.is_dir() else [path]
        own = sum(f.stat().st_size for f in files)
        return min(self.expanded_bytes, max(256 * _MIB, self.ratio * own))


LIMITS = Limits()
LOGS = Limits(members=200_000, expanded_bytes=20_000 * _MIB)
"""An archive of logs has a member a sample; one is held at a time."""
ONE_PASS = Limits(
    rows=2_000_000_000, cells=sys.maxsize, expanded_bytes=sys.maxsize, seconds=math.inf
)
"""A table that is counted batch by batch: what counts is how far the whole expands."""


def size_text(size: int) -> str:
    """A number of bytes in a unit.

    Examples
    --------
    >>> size_text(2 << 30), size_text(540_000_000), size_text(1_000)
    ('2 GiB', '515 MiB', '1,000 bytes')
    """
    if size >= 1 << 30:
        return f"{size / (1 << 30):.1f}".removesuffix(".0") + " GiB"
    return f"{round(size / _MIB)} MiB" if size >= _MIB else f"{size:,} bytes"


class Meter:
    """What was read of one file so far, held against its limits.

    Parameters
    ----------
    path : Path
    form : str
        What the file is, for messages; empty where it is not packed.
    limits : Limits
    """

    def __init__(self, path: Path, form: str, limits: Limits = LIMITS) -> None:
        self.path, self.form, self.limits = path, form, limits
        self.most = limits.bytes_of(path)
        self._bytes = self._rows = 0
        self._start = time.process_time()

    def expand(self, size: int) -> None:
        """Count bytes after decompression.

        Raises
        ------
        InputError
            They are too many.
        """
        self._bytes += size
        if self._bytes > self.most:
            does = f"expands to more than {size_text(self.most)} ({self.form})"
            if not self.form:
                does = f"holds more than {size_text(self.most)}"
            raise InputError(
                f"{self.path} {does}. Raise it with JUDGESTATS_MAX_BYTES=8GiB if you trust the "
                "file."
            )

    def columns(self, count: int, where: str = "first row") -> None:
        """Hold the columns of the first row, or of what was read, against the limit."""
        if count > self.limits.columns:
            raise InputError(
                f"{self.path} has {count:,} columns in its {where}; at most "
                f"{self.limits.columns:,} are read. Keep those with the item, the judge and the "
                "verdict."
            )

    def rows(self, count: int, columns: int = 1) -> None:
        """Count rows, and look at the clock."""
        self._rows += count
        if self._rows > self.limits.rows:
            raise InputError(
                f"{self.path} has more than {self.limits.rows:,} rows. {self.limits.remedy}"
            )
        self.cells(self._rows * columns)
        self.clock()

    def cells(self, count: int) -> None:
        """Hold the cells of the whole table against the limit."""
        if count > self.limits.cells:
            raise InputError(
                f"{self.path} ({self.form}) has {count:,} cells; at most {self.limits.cells:,} are "
                "read. Keep the columns with the item, the judge and the verdict, or split it."
            )

    def clock(self) -> None:
        """Refuse what takes too long."""
        if time.process_time() - self._start > self.limits.seconds:
            raise InputError(
                f"{self.path} ({self.form}) takes more than {self.limits.seconds:.0f} s to read. "
                f"{self.limits.remedy}"
            )


@contextmanager
def foreign(path: Path | str, form: str) -> Iterator[None]:
    """Run a library's code on a file: whatever it raises becomes one sentence.

    Parameters
    ----------
    path : Path or str
    form : str
        What the file should be: ``Parquet``.

    Raises
    ------
    InputError
        The library raised something, or memory ended.

    Examples
    --------
    >>> with foreign("a.parquet", "Parquet"):
    ...     raise IndexError
    Traceback (most recent call last):
    judgestats.errors.InputError: a.parquet: not readable as Parquet (IndexError).
    """
    try:
        yield
    except InputError:
        raise
    except MemoryError:
        raise InputError(f"{path} needs more memory than there is. Split it.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error.reason}). Save it as UTF-8.") from None
    except Exception as error:
        _log.debug("%s", path, exc_info=True)
        first = str(error).strip().partition("\n")[0]
        said = shorten_text(first.rpartition("Invalid: ")[2], 200)  # without Arrow's path
        why = f"{type(error).__name__}: {said}" if said else type(error).__name__
        raise InputError(f"{path}: not readable as {form} ({why}).") from error


def json_value(raw: str | bytes, where: str) -> Any:
    """Decode one JSON value; ``NaN`` and ``Infinity``, which Python's tools write, are let through.

    Raises
    ------
    InputError
        No JSON, a key twice, too deep, a number with too many digits.
    """
    if isinstance(raw, bytes):
        raw = decoded(raw, where)
    try:
        return decode_json(raw)
    except NestedError as error:
        raise InputError(f"{where} is {error}. Nothing was read.") from None
    except ValueError as error:
        raise InputError(
            f"{where} is not valid JSON ({shorten_text(str(error), 200)}). If the file was cut "
            "short, write or download it again."
        ) from None


def plain_file(path: Path) -> None:
    """Refuse what is not a plain file (a pipe or a device would never end)."""
    refuse_remote(path)
    try:
        is_file = path.is_file()
    except (OSError, ValueError) as error:
        raise InputError(
            f"{shorten_text(str(path), 200)!r} cannot be looked up ({error})."
        ) from None
    if not is_file:
        raise InputError(f"{path} is not a plain file.")


def file_sha256(path: Path) -> str:
    """SHA-256 of a plain file, read piece by piece."""
    plain_file(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unlike_names(path: Path, names: Iterable[str]) -> None:
    """Refuse columns of one name.

    Raises
    ------
    InputError
        It names the column.
    """
    [(twice, count)] = Counter(names).most_common(1) or [("", 1)]
    if count > 1:
        raise InputError(f"{path} has the column {short(twice)} twice. Rename one of them.")


class _Expanded(io.RawIOBase):
    """The bytes of a file after decompression, counted."""

    def __init__(self, stream: Any, meter: Meter) -> None:
        self._stream, self._meter = stream, meter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with foreign(self._meter.path, self._meter.form or "a file"):
            raw = self._stream.read(len(buffer))
        self._meter.expand(len(raw))
        self._meter.clock()
        buffer[: len(raw)] = raw
        return len(raw)


@contextmanager
def opened(path: Path, limits: Limits = LIMITS) -> Iterator[IO[bytes]]:
    """A file's bytes, decompressed where it is gzip or Zstandard; faults become one sentence."""
    plain_file(path)
    try:
        plain = path.open("rb")
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}).") from None
    with plain:
        with foreign(path, "a file"):
            start = plain.read(4)
            plain.seek(0)
        stream: Any = plain
        form = ""
        if start.startswith(_GZIP):
            form, stream = "gzip", gzip.GzipFile(fileobj=plain)
        elif start == _ZSTD:
            import pyarrow as pa

            form, stream = "Zstandard", pa.CompressedInputStream(plain, "zstd")
        meter = Meter(path, form, limits)
        with io.BufferedReader(_Expanded(stream, meter), _READ) as counted:
            yield counted


def weighed(path: Path, limits: Limits = LIMITS) -> None:
    """Decompress a file without keeping it, where it could expand to more than is read.

    Raises
    ------
    InputError
        It does.
    """
    with path.open("rb") as plain:
        start = plain.read(4)
    gzipped = start.startswith(_GZIP)
    if (gzipped and path.stat().st_size * _DENSEST > limits.bytes_of(path)) or start == _ZSTD:
        with opened(path, limits) as stream:
            while stream.read(_READ):
                pass


def base_name(path: Path) -> str:
    """The file's name in small letters, without the ending of a compression.

    Examples
    --------
    >>> base_name(Path("A/Scores.CSV.gz"))
    'scores.csv'
    """
    return path.name.lower().removesuffix(".gz").removesuffix(".zst")


def head(path: Path) -> bytes:
    """The first bytes, decompressed where the file is compressed."""
    with opened(path) as stream:
        return stream.read(_HEAD)


def decoded(raw: bytes, where: str) -> str:
    """Bytes as UTF-8.

    Raises
    ------
    InputError
        They are none; it says where.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is not UTF-8 (byte {error.start}). Save it as UTF-8.") from None


def json_document(path: Path, *, limits: Limits = LIMITS) -> Any:
    """The one JSON value of a file.

    Raises
    ------
    InputError
        Too large, not UTF-8, or no valid JSON.
    """
    with opened(path, limits) as stream:
        raw = stream.read(limits.document_bytes + 1)
    if len(raw) > limits.document_bytes:
        raise InputError(
            f"{path} holds more than {size_text(limits.document_bytes)} of JSON in one value. "
            "Export it as JSON lines."
        )
    return json_value(raw, str(path))


def lines(path: Path, limits: Limits = LIMITS) -> Iterator[tuple[str, bytes]]:
    """The lines of a file that hold something, and where each stands.

    Raises
    ------
    InputError
        A line is too long, or there are too many.
    """
    with opened(path, limits) as stream:
        numbered = enumerate(iter(lambda: stream.readline(limits.line_bytes + 1), b""), start=1)
        for number, raw in numbered:
            if len(raw) > limits.line_bytes or number > limits.rows:
                what = (
                    f"more than {limits.rows:,} lines"
                    if number > limits.rows
                    else f"a line longer than {size_text(limits.line_bytes)}"
                )
                raise InputError(f"{path}, line {number}: {what}. Split the file.")
            if raw.strip():
                yield f"line {number}", raw


def records(path: Path, limits: Limits = LIMITS) -> Records:
    """The objects of a JSON lines file, one at a time.

    Raises
    ------
    InputError
        A line that is too long, not UTF-8, no JSON or no object; the message names it.
    """
    for where, raw in lines(path, limits):
        value = json_value(raw, f"{path}, {where}")
        if not isinstance(value, dict):
            raise InputError(f"{path}, {where} holds {short(value)}, not a JSON object.")
        yield where, value


_ZSTD_METHOD = 93
_LOCAL = struct.Struct("<4s22xHH")


class Archive:
    """An open zip archive.

    Its members' names are only names: nothing is ever unpacked to a place of that name.
    """

    def __init__(
        self, path: Path, file: IO[bytes], zip_file: zipfile.ZipFile, limits: Limits
    ) -> None:
        self.path, self._file, self._zip, self._limits = path, file, zip_file, limits
        self._infos = {i.filename: i for i in zip_file.infolist()}
        self._meter = Meter(path, "zip archive", limits)

    @property
    def names(self) -> tuple[str, ...]:
        """The members' names, in order."""
        return tuple(self._infos)

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def json(self, name: str) -> Any:
        """One member as a JSON value."""
        return json_value(self.read(name), f"{self.path}, member {short(name)}")

    def read(self, name: str) -> bytes:
        """One member as a whole.

        Raises
        ------
        InputError
            It is damaged, encrypted or too large.
        """
        most = self._limits.member_bytes
        with self.stream(name) as member:
            raw = member.read(most + 1)
        if len(raw) > most:
            raise InputError(
                f"{self.path}, member {short(name)} holds more than {size_text(most)} after "
                "decompression. That is not a log of judgments."
            )
        return raw

    def stream(self, name: str) -> io.BufferedReader:
        """One member's bytes, decompressed and counted as they are read."""
        info = self._infos[name]
        where = f"{self.path}, member {short(name)}"
        with foreign(where, "part of a zip archive"):
            if info.compress_type == _ZSTD_METHOD:
                import pyarrow as pa

                stored = io.BytesIO(self._compressed(info, where))
                opened_: Any = pa.CompressedInputStream(stored, "zstd")
            else:
                opened_ = self._zip.open(info)
        return io.BufferedReader(_Expanded(opened_, self._meter), _READ)

    def _compressed(self, info: zipfile.ZipInfo, where: str) -> bytes:
        """The stored bytes of a member whose method zipfile does not know."""
        if info.compress_size > self._limits.member_bytes:
            raise InputError(f"{where} is larger than {size_text(self._limits.member_bytes)}.")
        if info.flag_bits & 1:
            raise InputError(f"{where} is encrypted.")
        self._file.seek(info.header_offset)
        mark, names, extra = _LOCAL.unpack(self._file.read(_LOCAL.size))
        if mark != b"PK\x03\x04":
            raise InputError(f"{where}: the archive is damaged. Write or download the log again.")
        self._file.seek(names + extra, io.SEEK_CUR)
        return self._file.read(info.compress_size)


@contextmanager
def archive(path: Path, limits: Limits = LOGS) -> Iterator[Archive]:
    """Open a zip archive.

    Raises
    ------
    InputError
        It is invalid or damaged, it has too many members, one name twice, or a name or link that
        leads out of it.
    """
    plain_file(path)
    with foreign(path, "file"):
        file = path.open("rb")
    with file:
        try:
            zip_file = zipfile.ZipFile(file)
        except Exception as error:
            raise InputError(
                f"{path} is not a complete zip archive ({short(str(error))}). Write or download it "
                "again; Inspect repairs an interrupted log with `inspect log recover`."
            ) from error
        with zip_file:
            infos = zip_file.infolist()
            if len(infos) > limits.members or len({i.filename for i in infos}) < len(infos):
                raise InputError(
                    f"{path} has more than {limits.members:,} members, or one name twice. It "
                    "cannot be a log of judgments."
                )
            astray = next(filter(_leads_out, infos), None)
            if astray:
                raise InputError(
                    f"{path}: the member {short(astray.filename)} leads out of the archive. "
                    "Nothing was read."
                )
            yield Archive(path, file, zip_file, limits)


def _leads_out(info: zipfile.ZipInfo) -> bool:
    name = PurePosixPath(info.filename.replace("\\", "/"))
    return name.is_absolute() or ".." in name.parts or stat.S_ISLNK(info.external_attr >> 16)


@contextmanager
def database(path: Path, limits: Limits = LIMITS) -> Iterator[sqlite3.Connection]:
    """An SQLite database of unknown origin, read only; nothing that it defines is run.

    Raises
    ------
    InputError
        It is damaged, holds text that is not UTF-8, or a query takes too long.
    """
    plain_file(path)
    meter = Meter(path, "SQLite", limits)
    late: list[InputError] = []

    def look() -> bool:
        try:
            meter.clock()
        except InputError as error:
            late.append(error)
        return bool(late)

    with foreign(path, "SQLite"):
        link = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    with closing(link):
        try:
            link.execute("PRAGMA trusted_schema=OFF")
            link.execute("PRAGMA query_only=ON")
            link.text_factory = lambda raw: clean(raw.decode("utf-8"))
            link.set_progress_handler(look, 100_000)
            link.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.cell_bytes)
            yield link
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if late:
                raise late[0] from None
            raise InputError(
                f"{path}: the database cannot be read ({short(str(error))})."
            ) from error
