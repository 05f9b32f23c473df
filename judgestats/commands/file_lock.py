"""Files that several processes change: one at a time, and each write whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from judgestats.errors import InputError, guard_output

WAIT_SECONDS = 30.0
"""How long a process waits for a file that another one is changing."""
_POLL_SECONDS = 0.005

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def lock_file(path: Path, *, wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Keep other processes from a file while it is read, changed and written back.

    Parameters
    ----------
    path : Path
        The file, which need not exist; its folder must.
    wait : float
        Seconds to wait for another process. The system frees the lock of a process that ended.

    Raises
    ------
    InputError
        Another process holds the lock all this time, or the folder takes no file.
    """
    real = Path(os.path.realpath(path))
    beside = real.with_name(f".{real.name}.lock")
    until = time.monotonic() + wait
    with guard_output(path):
        while (lock := _open_locked(beside)) is None:
            if time.monotonic() >= until:
                raise InputError(
                    f"{path}: nothing was written, because another process has held {beside.name} "
                    f"for {wait:g} s. End that process, then repeat this step."
                )
            time.sleep(_POLL_SECONDS)
    with lock:
        try:
            yield
        finally:
            if sys.platform != "win32":  # where an open file cannot be removed
                beside.unlink(missing_ok=True)


def _open_locked(beside: Path) -> BinaryIO | None:
    """The lock, held; None where another process has it, or had it and removed the file."""
    with ExitStack() as opened:
        # read only, so that another user's lock file can be opened and waited for
        handle = os.open(beside, os.O_RDONLY | os.O_CREAT, 0o666)
        lock = opened.enter_context(os.fdopen(handle, "rb"))
        if _take(lock.fileno()) and _is_named(lock, beside):
            opened.pop_all()
            return lock
    return None


def _is_named(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


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
