"""Collection by several workers."""

from __future__ import annotations

import contextlib
import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.collection.account import Account, Collected, Stop
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.journal import Journal
from judgestats.collection.journal_file import Answer
from judgestats.collection.ledger import Budget, LedgerLine
from judgestats.collection.progress import reader_notes
from judgestats.collection.response import Abilities
from judgestats.collection.single_answers import collect_judgments
from judgestats.data.columns import Task
from judgestats.engine import Engine
from judgestats.errors import InputError
from judgestats.protocols.replies import READER_VERSION

MARK = "folder-of-shards"
"""A file by which a worker sees that it shares the folder with the others."""


@dataclass(frozen=True, kw_only=True)
class Shard:
    """Tasks for one worker; whole clusters, so that their intervals could be made there."""

    name: str
    folder: str
    tasks: tuple[Task, ...]
    abilities: tuple[tuple[str, str, Abilities], ...]
    ask: CollectionRequest

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
    """What came of a shard. `lost`: an earlier worker died over it, and no call was made now."""

    name: str
    lost: bool = False
    collected: Collected | None = None
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
        Judgments per shard. At most this many are repeated if a worker dies whose disk no other
        worker sees.

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
            "need. Put the journal on a disk that all machines share, or leave the limits out."
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
        return ShardResult(
            name=shard.name,
            collected=replace(collected, frame=collected.read()),
            answers=tuple(journal.entries()),
            abilities=tuple(journal.all_abilities()),
            ledger=tuple(journal.ledger.lines()),
        )


_LIMITS = (Stop.MAX_COST, Stop.MAX_REQUESTS)
_SUMS = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "cost_usd")
_KEY = ["condition", "item_id", "order", "stage", "replicate"]


def collect_distributed(
    tasks: Sequence[Task],
    ask: CollectionRequest | None = None,
    *,
    engine: Engine,
    most: int = 256,
    **options: Any,
) -> Collected:
    """`collect_judgments` by the workers of an engine.

    Parameters
    ----------
    tasks : sequence of Task
    ask : CollectionRequest, optional
        Its journal is a file: shards' journals are in a folder next to it while they are worked
        off. Workers read the judges' names again, with the keys of their environment. Progress
        is not shown, and a follow-up is ignored.
    engine : Engine
        Entered here (`Engine.running`).
    most : int
        Judgments of a shard, at most.
    **options
        Fields of `judgestats.collection.ask.CollectionRequest` that replace those of `ask`.

    Returns
    -------
    Collected
        In the order of the plan. Answers that a dead worker left in its journal are counted once,
        as answers of this run; what was in flight there may have been billed twice, and is counted
        as that.

    Raises
    ------
    InputError
        The journal is not a file, or a worker does not share its folder although there is a budget.
    JudgestatsError
        As `collect_judgments`, from whichever worker.
    """
    ask = CollectionRequest.from_options(ask, **options)
    journal = ask.journal
    if not isinstance(journal, Journal) or journal.path is None:
        raise InputError("engine: several workers need a journal file. Name one (journal=FILE).")
    if given := [name for name, spec in ask.judges.items() if spec.from_file]:
        why = "come from a file of judges, which workers do not read"
        raise InputError(f"engine: {', '.join(given)} {why}. Leave the engine out.")
    job = _Job(tasks, journal, ask)
    with engine.running():
        job.run(engine.size(), most)
    return job.collected()


class _Job:
    """One distributed collection."""

    def __init__(self, tasks: Sequence[Task], journal: Journal, ask: CollectionRequest) -> None:
        path = Path(str(journal.path)).absolute()
        self.folder = path.with_name(path.name + ".shards")
        self.tasks = tasks
        self.journal = journal
        self.ask = ask
        self.left = ask.budget
        self.frames: list[pd.DataFrame] = []
        self.accounts: list[Account] = []
        self.notes: dict[str, None] = {}
        self.reply_modes: dict[str, str] = {}
        self.lost: set[bytes] = set()
        self.earlier_cost, self.earlier_twice = 0.0, 0
        self.stopped, self.message = Stop.COMPLETE, ""
        self.reader = journal.read_by(READER_VERSION)

    # ------------------------------------------------------------------ rounds

    def run(self, workers: int, most: int) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / MARK).write_text("judgestats\n", encoding="utf-8")
        for file in sorted(self.folder.glob("*.sqlite")):  # of a run that was killed
            self.absorb(file)
        for claim in self.folder.glob("*.claim"):
            claim.unlink()
        self.left = self.ask.budget.less(requests=0, cost=self.earlier())
        pending = self.from_journal(self.tasks)
        single = False
        while pending:
            shards = self.shares(
                [tuple(pending)] if single else shards_of(pending, workers=workers, most=most)
            )
            before = len(pending)
            for shard, result in self.results(shards):
                done = self.take(shard, result)
                pending = [t for t in pending if t.key not in done]
            if self.stopped not in {Stop.COMPLETE, *_LIMITS}:
                break
            if len(pending) == before and (single or not shards or self.ask.budget == Budget()):
                break
            # A share too small for one request stops a shard though others left something over.
            single = len(pending) == before
        if pending and self.stopped is Stop.COMPLETE:
            self.stopped = Stop.MAX_REQUESTS if self.left.max_requests == 0 else Stop.MAX_COST
        if not pending:
            self.stopped, self.message = Stop.COMPLETE, ""
        with contextlib.suppress(OSError):  # not empty: a worker still holds its journal
            (self.folder / MARK).unlink()
            self.folder.rmdir()

    def earlier(self) -> float:
        """Dollars spent by earlier runs on these judges."""
        judges = {t.condition.judge for t in self.tasks}
        spent = [
            self.journal.ledger.total_spend(self.ask.experiment, *address)
            for address in {self.ask.judge(name).address for name in judges}
        ]
        self.earlier_cost = sum(s.total for s in spent)
        self.earlier_twice = sum(s.asked_again for s in spent)
        return self.earlier_cost

    def shares(self, parts: list[tuple[Task, ...]]) -> list[Shard]:
        """Shards with their shares of what is left of the budget; those without one stay here."""
        total = sum(map(len, parts))
        left, cost = self.left, self.left.max_cost
        learned, out = tuple(self.journal.all_abilities()), []
        for part in parts:
            own = None
            if self.left.max_requests is not None and left.max_requests is not None:
                wanted = math.ceil(self.left.max_requests * len(part) / total)
                own = min(left.max_requests, wanted)
                left = left.less(requests=own, cost=0.0)
            if own == 0:
                continue
            share = None if cost is None else cost * len(part) / total
            budget = Budget(max_requests=own, max_cost=share)
            ask = self.ask.for_worker(budget)
            name, folder = uuid.uuid4().hex, str(self.folder)
            out.append(Shard(name=name, folder=folder, tasks=part, abilities=learned, ask=ask))
        return out

    def results(self, shards: list[Shard]) -> Iterator[tuple[Shard, ShardResult]]:
        """Results as they come; shards whose worker took the whole pool with it come as lost."""
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        by_name = {s.name: s for s in shards}
        try:
            parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="all")
            for result in parallel(delayed(work_off)(s) for s in shards):
                yield by_name.pop(result.name), result
        except TerminatedWorkerError:
            for shard in by_name.values():
                # Without a claim no worker had begun: nothing is spent, nothing is lost.
                yield shard, ShardResult(name=shard.name, lost=shard.claim.exists())
        except KeyboardInterrupt:
            kept = f"Finished shards are kept in {self.journal.path}, the others next to it"
            raise KeyboardInterrupt(
                f"Stopped: it was interrupted. {kept}. Run the same command again to go on."
            ) from None

    def take(self, shard: Shard, result: ShardResult) -> set[tuple[Any, ...]]:
        """Book a result; returns the keys of the tasks that have their row."""
        if result.lost:
            share = shard.ask.budget
            self.spend(share.max_requests or 0, share.max_cost or 0.0)
            held = self.absorb(shard.file)
            shard.claim.unlink(missing_ok=True)
            return self.recovered(shard, held)
        if result.collected is None:
            return set()
        self.keep(shard.file, result.answers, result.abilities, result.ledger)
        shard.claim.unlink(missing_ok=True)
        own = result.collected
        self.spend(own.account.requests, own.account.charged_usd)
        self.accounts.append(own.account)
        self.frames.append(own.read())
        self.notes |= dict.fromkeys(own.notes)
        self.reply_modes |= own.reply_modes
        if own.stopped_because is not Stop.COMPLETE:
            self.stopped, self.message = own.stopped_because, own.message
        again = self.lost.intersection(key for key, _ in result.answers)
        own.account.possibly_billed_twice += len(again)
        self.lost -= again
        return set(self.frames[-1][_KEY].itertuples(index=False, name=None))

    def spend(self, requests: int, cost: float) -> None:
        self.left = self.left.less(requests=requests, cost=cost)

    # ------------------------------------------------------------------ what is kept already

    def absorb(self, file: Path) -> dict[bytes, Answer]:
        """Take over a shard's journal and remove it."""
        if not file.exists():
            return {}
        with Journal(file) as journal:
            held = dict(journal.entries())
            self.lost |= journal.lost_judgments()
            abilities, ledger = journal.all_abilities(), tuple(journal.ledger.lines())
        self.keep(file, held.items(), abilities, ledger)
        return held

    def keep(
        self,
        file: Path,
        answers: Iterable[tuple[bytes, Answer]],
        abilities: Iterable[tuple[str, str, Abilities]],
        ledger: Iterable[LedgerLine],
    ) -> None:
        """Store what a shard's journal holds, and remove its file."""
        for learned in abilities:
            self.journal.learn(*learned)
        self.journal.keep(answers)
        self.journal.ledger.keep(ledger)
        for ending in ("", "-wal", "-shm", ".owner"):
            file.with_name(file.name + ending).unlink(missing_ok=True)

    def recovered(self, shard: Shard, held: Mapping[bytes, Answer]) -> set[tuple[Any, ...]]:
        """Rows of what a dead worker had stored, counted as answers of this run."""
        if not held:
            return set()
        before = len(self.frames)
        left = self.from_journal(shard.tasks)
        done = {t.key for t in shard.tasks} - {t.key for t in left}
        for place in range(before, len(self.frames)):
            frame, account = self.frames[place], self.accounts[place]
            self.frames[place] = frame.assign(cached=False)
            account.answered = account.asked = account.cached
            account.cached = 0
            requests = float((frame["attempts"] / frame["choices_in_request"]).sum())
            account.requests = math.ceil(requests)
            for name in _SUMS:
                setattr(account, name, float(frame[name].sum()))
            account.cost_unknown = int(frame["cost_usd"].isna().sum())
        return done

    def from_journal(self, tasks: Sequence[Task]) -> list[Task]:
        """Emit the rows that the journal holds; returns the tasks that it does not."""
        nothing = Budget(max_requests=0)  # what is there needs no request
        local = collect_judgments(tasks, self.ask, budget=nothing, progress=False)
        frame = local.read()
        if not len(frame):
            return list(tasks)
        self.frames.append(frame)
        self.accounts.append(local.account)
        held = set(frame[_KEY].itertuples(index=False, name=None))
        return [task for task in tasks if task.key not in held]

    # ------------------------------------------------------------------ the end

    def collected(self) -> Collected:
        account = Account()
        for own in self.accounts:
            account.add(own)
        self.notes |= dict.fromkeys(reader_notes(self.reader, account))
        account.earlier_cost_usd = self.earlier_cost
        account.earlier_billed_twice = self.earlier_twice
        places = {task.key: i for i, task in enumerate(self.tasks)}
        filled = [f for f in self.frames if len(f)]
        frame = (
            pd.concat(filled, ignore_index=True)
            if filled
            else collect_judgments([], journal=self.journal).read()
        )
        order = [places[key] for key in frame[_KEY].itertuples(index=False, name=None)]
        frame = frame.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)
        if frame.duplicated(_KEY).any():
            raise RuntimeError("a judgment has two rows; this is a fault of judgestats")
        message = self.message
        if self.stopped in _LIMITS:
            name = "max_cost" if self.stopped is Stop.MAX_COST else "max_requests"
            message = (
                f"Stopped: {name} ({getattr(self.ask.budget, name)}) is reached. "
                f"{account.answered:,} answers came in this run; all are kept in "
                f"{self.journal.path}. Run the same command again with a larger "
                f"{name} to go on: only what is missing is asked."
            )
        return Collected(
            frame=frame, account=account, stopped_because=self.stopped, message=message,
            reply_modes=self.reply_modes, notes=tuple(self.notes),
        )  # fmt: skip
