"""Where work is done: in this process, in several, or on the machines of a Dask cluster.

What is computed does not depend on it: random numbers are spawned by block of work, not by worker.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from judgestats.errors import InputError, JudgestatsError

T = TypeVar("T")

MAX_WORKERS = 1024
WORTH_SENDING_S = 1.0
"""Work that would take less here is not sent anywhere."""

WORTH_THREADS = 2_000_000
"""Numbers that numpy must go through for a block's work to be worth sharing among threads."""

_CONNECT_S = 15


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A place to work.

    Attributes
    ----------
    kind : {"local", "loky", "dask"}
    workers : int
        Processes of ``loky``; 0 where the cluster decides.
    address : str
        Of the Dask scheduler, ``host:port``.
    """

    kind: str = "local"
    workers: int = 1
    address: str = ""

    def __str__(self) -> str:
        if self.kind == "loky":
            return f"loky:{self.workers}"
        return f"dask://{self.address}" if self.kind == "dask" else "local"

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within the block, blocks of work are sent to this engine.

        Raises
        ------
        InputError
            Dask is not installed, or no scheduler answers.
        """
        if self.kind == "local":
            yield
            return
        from joblib import parallel_config

        token = _ACTIVE.set(self)
        try:
            if self.kind == "loky":
                with parallel_config(backend="loky", n_jobs=self.workers, inner_max_num_threads=1):
                    yield
                return
            with _client(self.address) as client, parallel_config(backend="dask", client=client):
                yield
        finally:
            _ACTIVE.reset(token)

    def size(self) -> int:
        """Number of workers, inside `running`."""
        if self.kind != "dask":
            return self.workers
        from distributed import get_client

        return max(1, len(get_client().scheduler_info()["workers"]))


_ACTIVE: ContextVar[Engine | None] = ContextVar("judgestats_engine", default=None)

_DASK = re.compile(r"^dask://(?P<address>[A-Za-z0-9.\-_\[\]:]+:\d{1,5})$")


def parse_engine(text: str) -> Engine:
    """Read ``local``, ``loky``, ``loky:4`` or ``dask://host:8786``.

    Parameters
    ----------
    text : str

    Returns
    -------
    Engine

    Raises
    ------
    InputError

    Examples
    --------
    >>> parse_engine("loky:4").workers, str(parse_engine("dask://10.0.0.1:8786"))
    (4, 'dask://10.0.0.1:8786')
    """
    words = text.strip()
    if words in {"", "local"}:
        return Engine()
    kind, _, count = words.partition(":")
    if kind == "loky":
        workers = int(count) if count.isdecimal() and len(count) < 6 else 0
        workers = workers if count else os.cpu_count() or 1
        if 1 <= workers <= MAX_WORKERS:
            return Engine(kind="loky", workers=workers)
    match = _DASK.match(words)
    if match:
        return Engine(kind="dask", workers=0, address=match["address"])
    raise InputError(
        f"engine: expected local, loky:WORKERS (1 to {MAX_WORKERS}) or dask://HOST:PORT, got "
        f"{words[:80]!r}."
    )


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "engine: Dask is not installed. Run: pip install 'judgestats[distributed]' (here and "
            "on the workers)."
        ) from None
    try:
        connect: Any = Client  # untyped where Dask is installed, unknown where it is not
        client = connect(f"tcp://{address}", timeout=_CONNECT_S, set_as_default=True)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"engine: no Dask scheduler answers at {address} ({type(error).__name__}). Start one "
            "with `dask scheduler`, and workers with `dask worker HOST:PORT`."
        ) from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise InputError(
                f"engine: the Dask scheduler at {address} has no workers. Start some with "
                f"`dask worker {address}`."
            )
        yield client


def n_workers() -> int:
    """Workers of the active engine."""
    engine = _ACTIVE.get()
    return 1 if engine is None else engine.size()


def map_blocks(
    function: Callable[..., T],
    jobs: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int = 1,
    threads: bool = False,
) -> list[T]:
    """``[function(*job) for job in jobs]``, on the active engine where that is worth it.

    Parameters
    ----------
    function : callable
        Gives the same for the same job wherever it runs.
    jobs : sequence of tuple
    n_jobs : int
        joblib workers; 1 leaves it to the active engine (by default this process).
    threads : bool
        The function is numpy's work on large arrays (`WORTH_THREADS`), which lets other threads go
        on: without an engine the blocks share this machine's cores.

    Returns
    -------
    list
        In the order of the jobs.

    Examples
    --------
    >>> map_blocks(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    engine = _ACTIVE.get()
    if n_jobs == 1 and (len(jobs) < 2 or engine is None):
        return run_threads(function, jobs, large=threads)
    done: list[T] = []
    left = list(jobs)
    if n_jobs == 1:
        # The first block tells what the others cost; most statistics take milliseconds.
        begun = time.perf_counter()
        done.append(function(*left.pop(0)))
        if (time.perf_counter() - begun) * len(left) < WORTH_SENDING_S:
            return done + [function(*job) for job in left]
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    parallel = Parallel() if n_jobs == 1 else Parallel(n_jobs=n_jobs)
    try:
        done += parallel(delayed(function)(*job) for job in left)
    except TerminatedWorkerError:
        raise JudgestatsError(
            "engine: a worker process was killed, most often for lack of memory. Use fewer "
            "workers (engine=loky:2), or engine=local."
        ) from None
    return done


def run_threads(
    function: Callable[..., T], jobs: Sequence[tuple[Any, ...]], *, large: bool, most: int = 8
) -> list[T]:
    """``[function(*job) for job in jobs]`` in several threads, where the arrays are large.

    Parameters
    ----------
    function : callable
        Called in the context (numpy's error state) of the caller.
    jobs : sequence of tuple
    large : bool
        Whether each job goes through enough numbers (`WORTH_THREADS`).
    most : int
        Threads at most; each holds copies of its part.

    Returns
    -------
    list
        In the order of the jobs.
    """
    workers = min(most, os.cpu_count() or 1, len(jobs)) if large else 1
    if workers < 2:
        return [function(*job) for job in jobs]
    with ThreadPoolExecutor(workers) as pool:
        begun = [pool.submit(copy_context().run, function, *job) for job in jobs]
        return [one.result() for one in begun]
