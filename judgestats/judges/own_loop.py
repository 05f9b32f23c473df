"""An event loop in a thread of its own, for coroutines of others that may block."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable
from typing import Any

_RESPONSE_S = 1.0


class OwnLoop:
    """Awaits what may block without ever blocking the one who waits.

    All awaitables share one loop, so that a client that a module keeps stays usable; once that
    loop is found blocked, it is left to itself and later ones get a new one.

    Examples
    --------
    >>> async def gives_seven():
    ...     return 7
    >>> async def seven():
    ...     loop = OwnLoop()
    ...     try:
    ...         return await loop.run(gives_seven(), 5.0)
    ...     finally:
    ...         loop.close()
    >>> asyncio.run(seven())
    7
    """

    def __init__(self) -> None:
        self._threads: list[_LoopThread] = []

    async def run(self, awaitable: Awaitable[Any], timeout_s: float) -> Any:
        """Await it in the other thread.

        Raises
        ------
        TimeoutError
            It took longer, blocking or not.
        """
        if not self._threads:
            self._threads.append(_LoopThread())
        thread = self._threads[-1]
        try:
            return await asyncio.wait_for(thread.submit(awaitable), timeout_s)
        except TimeoutError:
            if thread is self._threads[-1] and not await thread.responds(timeout_s):
                self._threads.append(_LoopThread())
            raise

    def close(self) -> None:
        """End the loops, as soon as each of them lets itself be ended."""
        for thread in self._threads:
            thread.stop()
        self._threads.clear()


class _LoopThread:
    """A daemon thread: the process ends whatever blocks it."""

    def __init__(self) -> None:
        ready = threading.Event()
        threading.Thread(
            target=lambda: asyncio.run(self._serve(ready)), name="judge", daemon=True
        ).start()
        ready.wait()

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        ready.set()
        await self._stopped.wait()

    def submit(self, awaitable: Awaitable[Any]) -> asyncio.Future[Any]:
        running = asyncio.run_coroutine_threadsafe(_awaited(awaitable), self._loop)
        return asyncio.wrap_future(running)

    async def responds(self, timeout_s: float) -> bool:
        try:
            await asyncio.wait_for(self.submit(asyncio.sleep(0)), min(timeout_s, _RESPONSE_S))
        except TimeoutError:
            return False
        return True

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._stopped.set)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    try:
        return await awaitable
    except (SystemExit, KeyboardInterrupt) as error:  # would end the loop, and all that wait in it
        raise RuntimeError(f"{type(error).__name__}: {error}") from error
