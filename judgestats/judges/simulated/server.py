"""The simulated server on a port: ``judgestats simulate --port 8000``."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn

from judgestats.errors import InputError, JudgeError
from judgestats.judges.simulated.app import SimulatedServer
from judgestats.judges.simulated.faults import Faults
from judgestats.terminal import emit

_START_S = 20.0


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InputError(f"simulate: expected a port of 0-65535 (0 = any free one), got {port}.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InputError(
            f"simulate: {host}:{port} cannot be used ({error.strerror}). Name another port, or 0 "
            "for any free one."
        ) from None
    listener.listen(2048)
    return listener


def _config(app: SimulatedServer) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        backlog=2048,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )


def serve(port: int = 0, *, host: str = "127.0.0.1", faults: Faults | None = None) -> None:
    """Serve the simulated judges until interrupted; prints the base URL.

    Parameters
    ----------
    port : int
        0 = any free one.
    host : str
        Loopback unless told otherwise: the server asks for no key.
    faults : Faults, optional

    Raises
    ------
    InputError
        Where the port cannot be used.
    """
    with _bound(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listener.getsockname()[1]}/v1"
        emit(f"Simulated judges at {url} (Ctrl-C ends).\n")
        server = uvicorn.Server(_config(SimulatedServer(faults)))
        asyncio.run(server.serve(sockets=[listener]))


@contextmanager
def serving(app: SimulatedServer | None = None, *, port: int = 0) -> Iterator[str]:
    """A simulated server on loopback in a thread of this process, as a context manager.

    Yields
    ------
    str
        Its base URL.

    Examples
    --------
    >>> with serving() as url:
    ...     url.startswith("http://127.0.0.1:")
    True
    """
    with _bound("127.0.0.1", port) as listener:
        server = uvicorn.Server(_config(app or SimulatedServer()))
        thread = Thread(
            target=server.run,
            kwargs={"sockets": [listener]},
            name="judgestats-simulated",
            daemon=True,
        )
        thread.start()
        waited = 0.0
        while not server.started:
            if not thread.is_alive() or waited > _START_S:
                raise JudgeError("simulate: the server did not start.")
            thread.join(0.005)
            waited += 0.005
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            thread.join(_START_S)
