"""A run written by a process of its own, which imports MLflow while this one reads and asks.

Importing MLflow and opening its store take two seconds, in which nothing is read, asked or analysed
if one process does all. What is told to a run here goes to the other process as it comes; this one
waits only for what it must know.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

from judgestats.errors import StoreError
from judgestats.terminal import own_streams
from judgestats.tracking.runs import RunWriter
from judgestats.tracking.store import Place, Store, beside, keep_missing, make_blank, quiet_mlflow

T = TypeVar("T")

_SERVES = "from judgestats.tracking.writer_process import serve; serve()"
_SIZE = struct.Struct("!Q")
_begun: list[_Process] = []
"""The process that waits to write, while there is one."""


@contextmanager
def writing_apart(*, wanted: bool = True) -> Iterator[None]:
    """Start the process that will write, where MLflow is not imported here already.

    Within the block `open_apart` takes it; at its end it is gone.
    """
    process = _Process() if wanted and "mlflow" not in sys.modules else None
    if process is None:
        yield
        return
    _begun.append(process)
    try:
        yield
    finally:
        _begun.clear()
        process.close()


def open_apart(experiment_id: str = "", *, here: bool = False) -> Store | StoreApart:
    """The store of the process that `writing_apart` started, else one opened in this process.

    Parameters
    ----------
    experiment_id : str
        Of what is audited, as `judgestats.tracking.store.beside` takes it.
    here : bool
        The caller needs MLflow's client in this process.

    Raises
    ------
    StoreError
        The store cannot be reached or written to; of a store apart when it is first asked.
    """
    process = _begun.pop() if _begun else None
    if process is not None and not here and "mlflow" not in sys.modules:
        return StoreApart(process, experiment_id)
    return beside(experiment_id)


def write_run(
    store: Store | StoreApart, *, name: str, tags: Mapping[str, str], run_id: str = ""
) -> RunWriter:
    """A run to write, in this process or in the one that has the store."""
    if isinstance(store, StoreApart):
        return RunApart(store, name=name, tags=tags, run_id=run_id)
    return RunWriter(store, name=name, tags=tags, run_id=run_id)


def asked(store: Place, function: Callable[..., T], *args: Any) -> T:
    """``function(store, *args)`` where the store is; nothing but plain values may come and go."""
    if isinstance(store, StoreApart):
        answer: T = store.process.ask("call", function, *args)
        return answer
    return function(store, *args)


class StoreApart:
    """A store that another process opens; whoever asks it for more than the adopted run waits.

    Attributes
    ----------
    process : _Process
    adopted_run : str
        As of `judgestats.tracking.store.Store`, as are the others.
    """

    def __init__(self, process: _Process, experiment_id: str) -> None:
        self.process = process
        self.adopted_run = os.environ.get("MLFLOW_RUN_ID", "")
        process.tell("open", experiment_id)

    @cached_property
    def _opened(self) -> tuple[str, str, str]:
        opened: tuple[str, str, str] = self.process.ask("opened")
        return opened

    @property
    def uri(self) -> str:
        """As of `Store`."""
        return self._opened[0]

    @property
    def experiment_id(self) -> str:
        """As of `Store`."""
        return self._opened[1]

    @property
    def experiment_name(self) -> str:
        """As of `Store`."""
        return self._opened[2]

    @property
    def is_open(self) -> bool:
        """Whether the store has been heard of."""
        return "_opened" in self.__dict__


class RunApart(RunWriter):
    """A run that the other process writes: told in order, and waited for where it must be known.

    Parameters
    ----------
    store : StoreApart
    name, tags, run_id
        As `RunWriter` takes them.
    parent : RunApart, optional
    """

    def __init__(
        self,
        store: StoreApart,
        *,
        name: str,
        tags: Mapping[str, str] | None = None,
        parent: RunApart | None = None,
        run_id: str = "",
    ) -> None:
        self.store, self.name, self._parent = store, name, parent
        self._ended = False
        self._handle = store.process.handle()
        above = parent._handle if parent is not None else None
        store.process.tell("start", self._handle, above, name, dict(tags or {}), run_id)

    @cached_property
    def run_id(self) -> str:  # type: ignore[override]
        """The id, known when the other process has started the run."""
        return str(self._ask("run_id"))

    @property
    def children(self) -> list[str]:  # type: ignore[override]
        """Ids of the child runs made so far."""
        return list(self._ask("children"))

    def child(self, *, name: str, tags: Mapping[str, str]) -> RunApart:
        """A run below this one."""
        return RunApart(self._apart, name=name, tags=tags, parent=self)

    def finish(self, status: str) -> None:
        """End the run; the outermost is waited for, and with it all that was told before."""
        process = self._apart.process
        self._ended = True
        if self._parent is not None:
            process.tell("finish", self._handle, status)
            return
        if status == "FINISHED":
            _ = self.run_id, self._apart.uri  # asked for when the process is gone
        process.ask("finish", self._handle, status)

    def tags(self, tags: Mapping[str, str]) -> None:
        """Set tags in one call."""
        self._tell("tags", dict(tags))

    def numbers(
        self,
        values: Mapping[str, float | None],
        *,
        params: Mapping[str, Any] | None = None,
        curves: Mapping[str, list[tuple[int, float]]] | None = None,
    ) -> None:
        """Log numbers and parameters, as `RunWriter.numbers` does."""
        texts = {k: v if v is None else str(v) for k, v in (params or {}).items()}
        self._tell("numbers", dict(values), params=texts, curves=dict(curves or {}))

    def artifacts(self, folder: Path, into: str = "") -> None:
        """Log everything below a folder, as it is now."""
        if self._apart.is_open:
            self._ask("artifacts", folder.absolute(), into)
            return
        self._tell("artifacts", self._apart.process.copied(folder), into)

    def link(self, traces: Sequence[str]) -> str:
        """Link traces to the run; gives why that cannot be, if so."""
        return str(self._ask("link", tuple(traces)))

    def dataset(self, frame: Any, **named: str) -> None:
        """Log the head of a table as the run's dataset."""
        self._tell("dataset", frame.head(100), **named)

    @property
    def _apart(self) -> StoreApart:
        assert isinstance(self.store, StoreApart)
        return self.store

    def _tell(self, method: str, *args: Any, **kwargs: Any) -> None:
        self._apart.process.tell("run", self._handle, method, *args, **kwargs)

    def _ask(self, method: str, *args: Any) -> Any:
        return self._apart.process.ask("run", self._handle, method, *args)


class _Process:
    """The other process, and the messages to it: none has an answer but those that ask for one."""

    def __init__(self) -> None:
        # its own group: Ctrl-C is this process's to hear, and it has the run ended
        group = {"process_group": 0} if os.name == "posix" else {}
        self._scratch = tempfile.TemporaryDirectory(prefix="judgestats-told-")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVES, self._scratch.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **group,  # type: ignore[call-overload]
        )
        self._handles = 0
        self._told = False
        self._interrupted = False

    def handle(self) -> int:
        """A number for a new run."""
        self._handles += 1
        return self._handles

    def tell(self, kind: str, *args: Any, **kwargs: Any) -> None:
        """Send a message that has no answer; the next `ask` raises what goes wrong with it."""
        self._send((False, kind, args, kwargs))

    def ask(self, kind: str, *args: Any, **kwargs: Any) -> Any:
        """Send a message, wait until it and all before it are done, and return its answer.

        Raises
        ------
        StoreError
            Whatever of these went wrong first.
        """
        self._send((not self._interrupted, kind, args, kwargs))
        if self._interrupted:  # an answer may be half read: `close` waits for what is told now
            return None
        try:
            frame = _read(self._process.stdout)
        except KeyboardInterrupt:
            self._interrupted = True
            raise
        if frame is None:
            raise _gone()
        answer, fault = pickle.loads(frame)  # noqa: S301 - of our own process
        if fault is not None:
            raise fault
        return answer

    def copied(self, folder: Path) -> Path:
        """A copy of a folder, there until the process has ended."""
        copy = Path(tempfile.mkdtemp(dir=self._scratch.name))
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        return copy

    def close(self) -> None:
        """Let the process end what it was told."""
        if not self._told:
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # it has ended already
                    pipe.close()
        self._process.wait()
        self._scratch.cleanup()

    def _send(self, message: object) -> None:
        self._told = True
        try:
            _write(self._process.stdin, message)
        except (BrokenPipeError, ValueError):  # ValueError: it was closed
            raise _gone() from None


def _gone() -> StoreError:
    return StoreError(
        "the process that writes to the tracking store has ended. If memory was short, use less "
        "of it; the same command records the run and asks nothing again."
    )


def serve() -> None:
    """Be the other process: import MLflow, then do what is told until nobody is there to tell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tempfile.tempdir = sys.argv[1]  # removed by the process that started this one, however it ends
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints here must not stand among the answers
    own_streams()
    frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    served = _Served(answers)
    threading.Thread(target=_receive, args=(frames, served), daemon=True).start()
    with contextlib.suppress(Exception):  # what fails here fails in `open_store`, which says it
        _get_ready()
    served.all(iter(frames.get, None))
    os._exit(0)  # nothing is left to be done, and taking MLflow down takes time


def _get_ready() -> None:
    """Import what a run's writing needs, and let SQLAlchemy learn the tables of a store."""
    import mlflow.data.pandas_dataset
    import mlflow.store.tracking.sqlalchemy_store

    quiet_mlflow()
    keep_missing()
    with tempfile.TemporaryDirectory(prefix="judgestats-") as folder:
        make_blank(file := Path(folder) / "mlflow.db")
        mlflow.MlflowClient(f"sqlite:///{file}").search_experiments()


def _receive(frames: queue.SimpleQueue[bytes | None], served: _Served) -> None:
    """Take messages from the pipe while MLflow is imported, so that nobody waits to send them."""
    while (frame := _read(sys.stdin.buffer)) is not None:
        frames.put(frame)
    frames.put(None)
    if served.store is None:  # no run to end; MLflow may try to reach a server for minutes
        os._exit(0)


class _Served:
    """What the other process holds: the store, and the runs by their numbers."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers
        self.store: Store | None = None
        self._runs: dict[int, RunWriter] = {}
        self._unended: dict[int, RunWriter] = {}
        self._fault: Exception | None = None
        self._does: dict[str, Callable[..., Any]] = {
            "open": self._open,
            "opened": self._opened,
            "call": lambda function, *args: function(self._place(), *args),
            "start": self._start,
            "run": self._run,
            "finish": self._finish,
        }

    def all(self, frames: Iterator[bytes]) -> None:
        """Do what is told until there is no more; a run that nobody ended was killed.

        After a fault nothing is done but to end runs, and whoever asks is given the fault.
        """
        for frame in frames:
            wanted, kind, args, kwargs = pickle.loads(frame)  # noqa: S301 - of our own process
            answer = None
            if kind == "open":
                self._fault = None
            if self._fault is None or kind == "finish":
                try:
                    answer = self._does[kind](*args, **kwargs)
                except Exception as fault:
                    self._fault = self._fault or fault
            if wanted:
                _write(self._answers, (answer, self._fault))
        for handle in list(self._unended):
            with contextlib.suppress(StoreError):  # nobody is left to be told
                self._finish(handle, "KILLED")

    def _place(self) -> Store:
        assert self.store is not None
        return self.store

    def _open(self, experiment_id: str) -> None:
        self.store = None
        self.store = beside(experiment_id)

    def _opened(self) -> tuple[str, str, str]:
        store = self._place()
        return store.uri, store.experiment_id, store.experiment_name

    def _start(
        self, handle: int, above: int | None, name: str, tags: dict[str, str], run_id: str
    ) -> None:
        parent = None if above is None else self._runs[above]
        run = RunWriter(self._place(), name=name, tags=tags, parent=parent, run_id=run_id)
        self._runs[handle] = self._unended[handle] = run

    def _run(self, handle: int, what: str, *args: Any, **kwargs: Any) -> Any:
        of_run = getattr(self._runs[handle], what)
        return of_run(*args, **kwargs) if callable(of_run) else of_run

    def _finish(self, handle: int, status: str) -> None:
        run = self._unended.pop(handle, None)  # None: it could not be started
        if run is not None:
            run.finish("FAILED" if self._fault and status == "FINISHED" else status)


def _write(pipe: IO[bytes] | None, message: object) -> None:
    assert pipe is not None
    frame = pickle.dumps(message)
    pipe.write(_SIZE.pack(len(frame)) + frame)
    pipe.flush()


def _read(pipe: IO[bytes] | None) -> bytes | None:
    assert pipe is not None
    head = pipe.read(_SIZE.size)
    if len(head) < _SIZE.size:
        return None
    return pipe.read(_SIZE.unpack(head)[0])
