"""Guarded reading of files and archives of unknown origin."""

from __future__ import annotations

import gzip
import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from judgestats.arrays import LARGEST
from judgestats.errors import InputError
from judgestats.json_text import clean, decode_json

MAX_BYTES = 2_000_000_000
"""Largest JSON lines file, after decompression; it is read line by line."""
MAX_DOCUMENT = 500_000_000
"""Largest JSON document (one value), after decompression: it is held in memory as a whole."""
MAX_LINE = 20_000_000
MAX_TEXT = 200_000
_HEAD = 65_536
_DEEPEST = 64
"""Levels of lists and objects in one another."""

Records = Iterator[tuple[str, dict[str, Any]]]
"""Where each record stands (``"line 3"``), and the record."""


class NoTableError(InputError):
    """The file can be read, but holds no table of judgments, or not under names that are known."""


def shorten_text(value: str, most: int = MAX_TEXT) -> str:
    """A text of bounded length, clean."""
    return clean(value[:most])


def short(value: object) -> str:
    """A value as it may stand in a message."""
    quoted = shorten_text(repr(value), 80)
    return quoted if len(quoted) < 80 else f"{quoted[:77]}..."


def text(value: object, most: int = MAX_TEXT) -> str:
    """A field as text: empty where it is missing, JSON where it is no text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return shorten_text(value, most)
    if type(value) is int:
        return str(value)
    if isinstance(value, float) and math.isnan(value):
        return ""
    try:
        return shorten_text(json.dumps(value, ensure_ascii=False, default=str), most)
    except (ValueError, RecursionError):
        return shorten_text(str(type(value).__name__))


def number(value: object) -> float:
    """A number that can be computed with, or NaN where the field holds none.

    Examples
    --------
    >>> number("0.5"), number(True), number(10**400), number(float("inf"))
    (0.5, nan, nan, nan)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return math.nan
    try:
        value_read = float(value)
    except (ValueError, OverflowError):
        return math.nan
    return value_read if abs(value_read) <= LARGEST else math.nan


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        seen: set[str] = set()
        twice = next(n for n, _ in pairs if n in seen or seen.add(n))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {short(twice)} stands twice in one object")
    return mapping


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def json_value(raw: str, where: str) -> Any:
    """Decode one JSON value; ``NaN`` and ``Infinity``, which Python's tools write, are let through.

    Raises
    ------
    InputError
        No JSON, a key twice, too deep, a number with too many digits.
    """
    try:
        value = decode_json(raw, _DECODER)
        deep = raw.count("[") + raw.count("{") > _DEEPEST and _is_deep(value)
    except RecursionError:
        deep = True
    except ValueError as error:
        raise InputError(
            f"{where} is no valid JSON ({shorten_text(str(error), 200)}). If the file was cut "
            "short, write "
            "or download it again."
        ) from None
    if deep:
        raise InputError(f"{where} is nested deeper than {_DEEPEST} levels. Nothing was read.")
    return value


def _is_deep(value: Any) -> bool:
    """Whether a value nests beyond what is read; looked at level by level, so that no stack ends.

    Examples
    --------
    >>> _is_deep([[[1]]]), _is_deep(json.loads("[" * 65 + "]" * 65))
    (False, True)
    """
    level = [value]
    for _ in range(_DEEPEST + 1):
        level = [v for v in level if isinstance(v, (list, dict))]
        if not level:
            return False
        level = [v for held in level for v in (held.values() if isinstance(held, dict) else held)]
    return True


def plain_file(path: Path) -> None:
    """Refuse what is no plain file (a pipe or a device would never end)."""
    try:
        is_file = path.is_file()
    except (OSError, ValueError) as error:
        raise InputError(
            f"{shorten_text(str(path), 200)!r} cannot be looked up ({error})."
        ) from None
    if not is_file:
        raise InputError(f"{path} is no plain file.")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file's bytes, decompressed where it is gzip; faults become one sentence."""
    plain_file(path)
    try:
        with path.open("rb") as plain:
            zipped = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            if zipped:
                with gzip.open(plain) as stream:
                    yield stream  # type: ignore[misc]
            else:
                yield plain
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is no complete gzip file ({error}). Write it again.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}).") from None


def head(path: Path, size: int = _HEAD) -> bytes:
    """The first bytes, decompressed where the file is gzip."""
    with opened(path) as stream:
        return stream.read(size)


def _decoded(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is not UTF-8 (byte {error.start}). Save it as UTF-8.") from None


def json_document(path: Path, *, most: int = MAX_DOCUMENT) -> Any:
    """The one JSON value of a file.

    Raises
    ------
    InputError
        Too large, not UTF-8, or no valid JSON.
    """
    with opened(path) as stream:
        raw = stream.read(most + 1)
    if len(raw) > most:
        raise InputError(
            f"{path} holds more than {most:,} bytes of JSON in one value. Export it as JSON lines."
        )
    return json_value(_decoded(raw, str(path)), str(path))


def records(path: Path) -> Records:
    """The objects of a JSON lines file, one at a time.

    Raises
    ------
    InputError
        A line that is too long, not UTF-8, no JSON or no object; the message names it.
    """
    read = 0
    with opened(path) as stream:
        for number_, raw in enumerate(iter(lambda: stream.readline(MAX_LINE + 1), b""), start=1):
            where = f"line {number_}"
            read += len(raw)
            if len(raw) > MAX_LINE or read > MAX_BYTES:
                raise InputError(
                    f"{path}, {where}: more than {MAX_LINE:,} bytes in a line or {MAX_BYTES:,} in "
                    "the file. Split the file."
                )
            if not raw.strip():
                continue
            value = json_value(_decoded(raw, f"{path}, {where}"), f"{path}, {where}")
            if not isinstance(value, dict):
                raise InputError(f"{path}, {where} holds {short(value)}, not a JSON object.")
            yield where, value


_ZSTD = 93
_LOCAL = struct.Struct("<4s22xHH")
MAX_MEMBERS = 200_000
MAX_MEMBER = 200_000_000
MAX_TOTAL = 20_000_000_000


class Archive:
    """An open zip archive."""

    def __init__(self, path: Path, file: IO[bytes], zip_file: zipfile.ZipFile) -> None:
        self.path, self._file, self._zip = path, file, zip_file
        self._infos = {i.filename: i for i in zip_file.infolist()}
        self._read = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The members' names, in order. Nothing is ever unpacked to a place of that name."""
        return tuple(self._infos)

    def json(self, name: str) -> Any:
        """One member as a JSON value."""
        where = f"{self.path}, member {short(name)}"
        raw = self._bytes(self._infos[name], where)
        try:
            return json_value(raw.decode("utf-8-sig"), where)
        except UnicodeDecodeError as error:
            raise InputError(f"{where} is not UTF-8 (byte {error.start}).") from None

    def _bytes(self, info: zipfile.ZipInfo, where: str) -> bytes:
        try:
            if info.compress_type == _ZSTD:
                with pa.input_stream(
                    io.BytesIO(self._compressed(info, where)), compression="zstd"
                ) as s:
                    raw = bytes(s.read(MAX_MEMBER + 1))
            else:
                with self._zip.open(info) as member:
                    raw = member.read(MAX_MEMBER + 1)
        except InputError:
            raise
        except (
            zipfile.BadZipFile,
            zlib.error,
            pa.ArrowException,
            NotImplementedError,
            RuntimeError,  # zipfile's word for an encrypted member
            EOFError,
            OSError,
            ValueError,
            OverflowError,
            struct.error,
        ) as error:
            raise InputError(
                f"{where} cannot be decompressed ({short(str(error))}). Write or download the log "
                "again."
            ) from None
        self._read += len(raw)
        if len(raw) > MAX_MEMBER or self._read > MAX_TOTAL:
            raise InputError(
                f"{where} holds more than {MAX_MEMBER:,} bytes after decompression (or the archive "
                f"more than {MAX_TOTAL:,}). That is no log of judgments."
            )
        return raw

    def _compressed(self, info: zipfile.ZipInfo, where: str) -> bytes:
        """The stored bytes of a member whose method zipfile does not know."""
        if info.compress_size > MAX_MEMBER:
            raise InputError(f"{where} is larger than {MAX_MEMBER:,} bytes.")
        if info.flag_bits & 1:
            raise InputError(f"{where} is encrypted.")
        self._file.seek(info.header_offset)
        mark, names, extra = _LOCAL.unpack(self._file.read(_LOCAL.size))
        if mark != b"PK\x03\x04":
            raise InputError(f"{where}: the archive is damaged. Write or download the log again.")
        self._file.seek(names + extra, io.SEEK_CUR)
        return self._file.read(info.compress_size)


@contextmanager
def archive(path: Path) -> Iterator[Archive]:
    """Open a zip archive.

    Raises
    ------
    InputError
        It is none, it is damaged, or it has too many members or one name twice.
    """
    with opened(path) as file:
        try:
            zip_file = zipfile.ZipFile(file)
        except (
            zipfile.BadZipFile,
            ValueError,
            OverflowError,
            struct.error,
            NotImplementedError,
        ) as error:
            raise InputError(
                f"{path} is no complete zip archive ({short(str(error))}). Write or download the "
                "log again; Inspect repairs an interrupted one with `inspect log recover`."
            ) from None
        with zip_file:
            names = [i.filename for i in zip_file.infolist()]
            if len(names) > MAX_MEMBERS or len(set(names)) < len(names):
                raise InputError(
                    f"{path} has more than {MAX_MEMBERS:,} members, or one name twice. That is no "
                    "log of judgments."
                )
            yield Archive(path, file, zip_file)
