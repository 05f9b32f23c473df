"""A shard of a plan, judged by one worker: its own journal, its share of the budget.

What travels to a worker is prompts, names and limits. A key never does: the worker reads it from
its own environment (and a `Secret` refuses to be pickled).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from judgestats.errors import InputError
from judgestats.judges.account import Account, Stop
from judgestats.judges.ask import Ask
from judgestats.judges.budget import Budget
from judgestats.judges.collect import collect_judgments
from judgestats.judges.journal import Answer, Journal
from judgestats.judges.ledger import LedgerLine
from judgestats.judges.negotiation import Abilities
from judgestats.judgments.design import Task

MARK = "folder-of-shards"
"""A file by which a worker sees that it shares the folder with the others."""


@dataclass(frozen=True, kw_only=True)
class Shard:
    """Tasks for one worker; whole clusters, so that their intervals could be made there."""

    name: str
    folder: str
    tasks: tuple[Task, ...]
    abilities: tuple[tuple[str, str, Abilities], ...]
    ask: Ask

    @property
    def file(self) -> Path:
        """The shard's journal, where the folder is shared."""
        return Path(self.folder) / f"{self.name}.sqlite"

    @property
    def claim(self) -> Path:
        """Made by the first worker that takes the shard."""
        return Path(self.folder) / f"{self.name}.claim"


@dataclass(frozen=True, kw_only=True)
class ShardResult:
    """What came of a shard. `lost`: an earlier worker died over it, and nothing was asked now."""

    name: str
    lost: bool = False
    frame: pd.DataFrame | None = None
    account: Account = field(default_factory=Account)
    stopped: Stop = Stop.COMPLETE
    message: str = ""
    notes: tuple[str, ...] = ()
    reply_modes: dict[str, str] = field(default_factory=dict)
    answers: tuple[tuple[bytes, Answer], ...] = ()
    abilities: tuple[tuple[str, str, Abilities], ...] = ()
    ledger: tuple[LedgerLine, ...] = ()


def shards_of(tasks: Sequence[Task], *, workers: int, most: int = 256) -> list[tuple[Task, ...]]:
    """Cut a plan into shards of whole clusters, some four for every worker.

    Parameters
    ----------
    tasks : sequence of Task
    workers : int
    most : int
        Judgments of a shard: what is asked again, at most, where a worker dies whose disk nobody
        else sees.

    Returns
    -------
    list of tuple of Task

    Examples
    --------
    >>> shards_of([], workers=2)
    []
    """
    clusters: dict[str, list[Task]] = {}
    for task in tasks:
        clusters.setdefault(task.cluster, []).append(task)
    size = max(1, min(most, -(-len(tasks) // (4 * max(1, workers)))))
    out: list[tuple[Task, ...]] = []
    waiting: list[Task] = []
    for group in clusters.values():
        waiting += group
        if len(waiting) >= size:
            out.append(tuple(waiting))
            waiting = []
    return [*out, tuple(waiting)] if waiting else out


def work_off(shard: Shard) -> ShardResult:
    """Judge a shard; runs on a worker.

    A cluster gives the shard of a worker that died to another one by itself. That one finds the
    claim and asks nothing: how much of the share is spent only the collecting process can decide.

    Raises
    ------
    InputError
        There is a budget, and this worker does not see the folder of the shards.
    """
    folder = Path(shard.folder)
    shared = (folder / MARK).is_file()
    limited = shard.ask.budget != Budget()
    if limited and not shared:
        raise InputError(
            f"engine: a worker does not see the folder {folder}, which max_cost and max_requests "
            "need to hold when a worker dies. Put the journal on a disk that all machines share, "
            "or leave the limits out."
        )
    if shared:
        try:
            shard.claim.touch(exist_ok=False)
        except FileExistsError:
            return ShardResult(name=shard.name, lost=True)
    with Journal(shard.file if shared else None) as journal:
        for url, model, abilities in shard.abilities:
            journal.learn(url, model, abilities)
        collected = collect_judgments(shard.tasks, shard.ask, journal=journal)
        answers, learned = tuple(journal.entries()), tuple(journal.all_abilities())
        ledger = tuple(journal.ledger.lines())
    return ShardResult(
        name=shard.name,
        frame=collected.read(),
        account=collected.account,
        stopped=collected.stopped_because,
        message=collected.message,
        notes=collected.notes,
        reply_modes=collected.reply_modes,
        answers=answers,
        abilities=learned,
        ledger=ledger,
    )


def added(accounts: Iterable[Account]) -> Account:
    """One account of several.

    Examples
    --------
    >>> added([Account(asked=2, answered=2), Account(asked=1, failed=1, failures={"x": 1})]).asked
    3
    """
    total = Account()
    for account in accounts:
        for name, value in vars(account).items():
            if name == "failures":
                for kind, count in value.items():
                    total.failures[kind] = total.failures.get(kind, 0) + count
            else:
                setattr(total, name, getattr(total, name) + value)
    return total
