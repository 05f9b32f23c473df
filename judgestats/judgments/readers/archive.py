"""Zip archives of unknown origin, read member by member with a bound on every size.

Inspect compresses its logs with zstandard (method 93), which Python's zipfile does not know before
3.14; pyarrow, a dependency already, decompresses it.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from judgestats.errors import InputError
from judgestats.judgments.readers.untrusted import json_value, opened, short

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
