"""Waits with an end: other programs, signals, and scratch folders that outlive a process."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from judgestats.errors import RenderError, printable
from judgestats.terminal import emit

if TYPE_CHECKING:  # heavy ones are imported where they are used: a command answers --help at once
    import socket
    import subprocess

PROGRAM_SECONDS = 60.0
"""Of another program, for one document."""
END_SECONDS = 10.0
"""From the first signal to the end of the process, whatever it is doing."""
AGAIN_SECONDS = 0.8
"""From a second signal to the end."""
SAY_SECONDS = 5.0
"""Seconds inside one call after which a message says what it waits for."""
_programs: set[int] = set()
"""Process groups of the programs that run now."""


def run_program(
    argv: Sequence[str],
    seconds: float,
    what: str,
    *,
    given: bytes = b"",
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run another program to its end, or end it and everything that it started.

    Parameters
    ----------
    argv : sequence of str
    seconds : float
        Deadline.
    what : str
        The program's name in messages.
    given : bytes
        For its standard input.
    folder : Path, optional
        Its working folder.
    environment : mapping, optional
        All of it; by default this process's own.

    Returns
    -------
    subprocess.CompletedProcess
        Its exit code and what it printed.

    Raises
    ------
    RenderError
        It cannot be run, or did not end in time.
    """
    import subprocess

    try:
        program = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=folder, env=environment, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise RenderError(f"{what} cannot be run: {error}") from error
    _programs.add(program.pid)
    try:
        out, complaint = program.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise RenderError(f"{what} took longer than {seconds:g} seconds and was ended") from error
    finally:
        if program.poll() is None:
            _end(program.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.communicate(timeout=END_SECONDS)  # its pipes close with its group
            for pipe in (program.stdin, program.stdout, program.stderr):
                if pipe is not None:
                    pipe.close()
        _programs.discard(program.pid)
    return subprocess.CompletedProcess(argv, program.returncode, out, complaint)


def _end(group: int) -> None:
    with contextlib.suppress(OSError):  # it has ended
        if sys.platform == "win32":
            os.kill(group, signal.SIGTERM)
        else:
            os.killpg(group, signal.SIGKILL)


@contextlib.contextmanager
def announce_late(seconds: float, text: str) -> Iterator[None]:
    """Print a line on standard error if the block takes longer."""
    timer = threading.Timer(seconds, emit, [f"{text}\n"], {"error": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def announce_wait(what: str) -> contextlib.AbstractContextManager[None]:
    """Name the awaited resource on standard error if a call takes `SAY_SECONDS`."""
    said = f"Waiting for {printable(what, one_line=True)} ({SAY_SECONDS:.0f} s)."
    return announce_late(SAY_SECONDS, said)


class StopSignal(KeyboardInterrupt):
    """SIGINT, SIGTERM, or SIGHUP: all are handled as Ctrl-C is."""


_received: list[int] = []


def stop_code() -> int:
    """Exit code of a process that a signal stopped: 130, 143, or 129; 130 without one."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def _on_signal(number: int, frame: FrameType | None) -> None:
    del frame
    _received.append(number)
    raise StopSignal


@contextlib.contextmanager
def handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Hand the signals that stop a process to a function; those that are ignored stay so."""
    before = {number: signal.getsignal(number) for number in _stops()}
    handled = {n: b for n, b in before.items() if b is not None and b is not signal.SIG_IGN}
    for number in handled:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, own in handled.items():
            signal.signal(number, own)


def _stops() -> list[int]:
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


def note_signal(number: int) -> None:
    """Remember a signal that other code handles, for `stop_code`."""
    _received.append(number)


def handle_signals() -> None:
    """Stop in order at a signal; a thread sees to it that the process ends.

    One that was ignored when the process started (``nohup``) stays ignored.
    """
    import socket

    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    for number in _stops():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _on_signal)
    signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    threading.Thread(
        target=_watch, args=(ours, theirs), name="judgestats-watchdog", daemon=True
    ).start()


def _watch(ours: socket.socket, theirs: socket.socket) -> None:
    """End the process where its main thread does not, e.g. inside a call on a frozen drive."""
    del theirs  # held open here
    stops = _stops()
    first = 0
    while True:
        try:
            number = ours.recv(1)[0]
        except TimeoutError:
            break
        if number not in stops:
            continue
        if first:
            ours.settimeout(AGAIN_SECONDS)
            with contextlib.suppress(TimeoutError):
                ours.recv(1)
            break
        first = number
        ours.settimeout(END_SECONDS)
    for group in tuple(_programs):
        _end(group)
    os._exit(128 + first)


@contextlib.contextmanager
def set_environment(**values: str) -> Iterator[None]:
    """Set variables of the environment within the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def scratch_folder(what: str = "files") -> Iterator[Path]:
    """A folder that is removed at the end; after a kill, by the next process that makes one."""
    import shutil

    folder = make_scratch_folder(what)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_scratch_folder(what: str) -> Path:
    """A folder for the caller to remove, named after this machine and process."""
    import tempfile

    start = f"judgestats-{_machine()}-"
    if not _swept:
        _swept.append(start)
        _remove_stale(Path(tempfile.gettempdir()), start)
    return Path(tempfile.mkdtemp(prefix=f"{start}{os.getpid()}-{what}-"))


_swept: list[str] = []
"""What was looked for, once per process."""


def _machine() -> str:
    """Containers that share a folder have their own process ids."""
    import platform
    import zlib

    return f"{zlib.crc32(platform.node().encode()):08x}"


def _remove_stale(place: Path, start: str) -> None:
    """Remove scratch folders whose process is gone."""
    import shutil

    with contextlib.suppress(OSError):
        for folder in place.glob(f"{start}*-*"):
            pid = folder.name.removeprefix(start).partition("-")[0]
            if pid.isdigit() and _is_own_folder(folder) and not _is_running(int(pid)):
                shutil.rmtree(folder, ignore_errors=True)


def _is_own_folder(path: Path) -> bool:
    if path.is_symlink() or not path.is_dir():
        return False
    return sys.platform == "win32" or path.stat().st_uid == os.getuid()


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
