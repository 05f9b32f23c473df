"""Where the next judgment to ask comes from: the plan, lazily, and what follows from answers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from judgestats.judgments.design import Task


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks that differ only in their replicate, with their places in the plan's order."""

    tasks: tuple[Task, ...]
    places: tuple[tuple[int, ...], ...]


def grouped(tasks: Iterable[tuple[int, Task]], size: int, *, together: bool) -> Iterator[Group]:
    """Bundle numbered tasks for requests of `size` choices.

    With `together`, all tasks that differ only in their replicate are brought together wherever
    they stand (the plan is read to its end first); without, those that follow one another.
    """
    if size == 1:
        for place, task in tasks:
            yield Group((task,), ((place,),))
        return
    if together:
        bundles: dict[tuple[str, str, str, str], list[tuple[int, Task]]] = {}
        for place, task in tasks:
            bundles.setdefault(task.key[:4], []).append((place, task))
        for bundle in bundles.values():
            for start in range(0, len(bundle), size):
                yield _group(bundle[start : start + size])
        return
    waiting: list[tuple[int, Task]] = []
    for place, task in tasks:
        if waiting and (len(waiting) == size or task.key[:4] != waiting[0][1].key[:4]):
            yield _group(waiting)
            waiting = []
        waiting.append((place, task))
    if waiting:
        yield _group(waiting)


def _group(bundle: list[tuple[int, Task]]) -> Group:
    return Group(tuple(t for _, t in bundle), tuple((p,) for p, _ in bundle))


class Source:
    """The groups of one endpoint: what follows from answers first, then the plan."""

    def __init__(self, planned: Iterator[Group]) -> None:
        self._planned: Iterator[Group] | None = planned
        self._added: deque[Group] = deque()
        self._changed = asyncio.Event()

    def add(self, group: Group) -> None:
        """A group that follows from an answer; it goes before the plan."""
        self._added.append(group)
        self.wake()

    def wake(self) -> None:
        """Let waiting workers look again."""
        self._changed.set()

    def take(self) -> Group | None:
        """The next group, or None if there is none at the moment."""
        if self._added:
            return self._added.popleft()
        if self._planned is not None:
            group = next(self._planned, None)
            if group is not None:
                return group
            self._planned = None
        return None

    async def change(self) -> None:
        """Wait until something may have changed."""
        self._changed.clear()
        await self._changed.wait()
