"""Judgments through files: what is missing as requests of a batch runner, answers into the journal.

A request's id says which judgment it is and what it carried, with a check sum: the answers can be
read on another machine, in any order and any number of times, and nothing waits anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from judgestats.collection.account import Account, Collected, Stop
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.batches.client import MAX_LINE, read_line, request_line
from judgestats.collection.client import JudgeClient
from judgestats.collection.endpoint import Endpoint
from judgestats.collection.journal import Journal
from judgestats.collection.journal_file import Answer
from judgestats.collection.progress import reader_notes
from judgestats.collection.request import Ready, draw_header, request_body
from judgestats.collection.retry import Kind
from judgestats.collection.rows import FrameWriter, answer_row, invalid_row
from judgestats.collection.sending import answers_of
from judgestats.data.columns import Task
from judgestats.errors import InputError
from judgestats.protocols.base import ReplyMode, prompted_in
from judgestats.protocols.replies import READER_VERSION
from judgestats.results.numbers import count_noun

_MARK = "jsq"
_LONGEST_SENT = 300


class Queued(NamedTuple):
    """A request that is missing: whose judge, of which question, and its line."""

    judge: str
    cluster: str
    line: bytes


class _PlannedCall(NamedTuple):
    place: tuple[int, ...]
    task: Task
    endpoint: Endpoint
    ready: Ready
    answer: Answer | None
    refused: str


async def _surveyed(
    tasks: Iterable[Task], ask: CollectionRequest, journal: Journal
) -> AsyncIterator[_PlannedCall]:
    """Every judgment of a plan with its answer, if there is one, and what follows from those."""
    if ask.choices_per_request > 1:
        raise InputError(
            f"samples_per_request={ask.choices_per_request}: in files every judgment is a "
            "separate request. Leave it out."
        )
    endpoints: dict[tuple[str, str], Endpoint] = {}
    async with AsyncExitStack() as stack:
        stage: list[tuple[tuple[int, ...], Task]] = [((i,), task) for i, task in enumerate(tasks)]
        while stage:
            following: list[tuple[tuple[int, ...], Task]] = []
            for place, task in stage:
                spec = ask.judge(task.condition.judge)
                if spec.capability_key not in endpoints:
                    client = await stack.enter_async_context(JudgeClient(spec))
                    endpoints[spec.capability_key] = ask.endpoint(
                        spec, client=client, journal=journal
                    )
                endpoint = endpoints[spec.capability_key]
                prompted = prompted_in(endpoint.abilities.mode, task.build)
                ready = Ready(spec, [task], prompted, ask.sampling)
                answer = journal.get(ready.keys[task.replicate])
                refused = "" if answer else endpoint.abilities.refuses(task.condition)
                yield _PlannedCall(place, task, endpoint, ready, answer, refused)
                if answer is not None and ask.follow_up is not None:
                    row = answer_row(task, ready, answer, cached=True, experiment=ask.experiment)
                    more = ask.follow_up(row)
                    more = await more if inspect.isawaitable(more) else more
                    following += [((*place, n), each) for n, each in enumerate(more)]
            stage = following


async def missing_requests(tasks: Iterable[Task], ask: CollectionRequest) -> AsyncIterator[Queued]:
    """The requests for all judgments of a plan that the journal does not hold.

    Of judges that work in stages, those that can be written now: a later stage's follow from the
    answers.

    Parameters
    ----------
    tasks : iterable of Task
    ask : CollectionRequest
        Its journal is only read.

    Yields
    ------
    Queued
    """
    with ask.opened_journal() as journal:
        async for seen in _surveyed(tasks, ask, journal):
            if seen.answer is not None or seen.refused:
                continue
            spec, task = seen.endpoint.spec, seen.task
            sent = seen.endpoint.build_request([task], seen.ready, ask.sampling)
            custom_id = request_id(seen.ready.keys[task.replicate], sent.mode, sent.settings_json)
            if spec.simulated:
                custom_id += f"|{draw_header([task], ask.sampling)}"
            body = request_body(spec, seen.ready.encoded, sent)
            yield Queued(task.condition.judge, task.cluster, request_line(custom_id, body))


async def collect_offline(tasks: Iterable[Task], ask: CollectionRequest) -> Collected:
    """What the journal holds of a plan; no call is made."""
    sink, account, missing = FrameWriter(), Account(), 0
    modes: dict[str, str] = {}
    with ask.opened_journal() as journal:
        before = journal.read_by(READER_VERSION)
        async for seen in _surveyed(tasks, ask, journal):
            task, ready = seen.task, seen.ready
            modes[task.condition.judge] = ready.prompted.mode.value
            if seen.answer is not None:
                account.cached += 1
                row = answer_row(task, ready, seen.answer, cached=True, experiment=ask.experiment)
            elif seen.refused:
                account.invalid += 1
                row = invalid_row(task, ready, seen.refused, experiment=ask.experiment)
            else:
                missing += 1
                continue
            sink.add(seen.place, row)
        where = journal.path
    frame, _ = sink.finish()
    return Collected(
        frame=frame,
        account=account,
        stopped_because=Stop.OFFLINE if missing else Stop.COMPLETE,
        message=(
            f"{count_noun(missing, 'judgment is', 'judgments are')} not in {where}: `judgestats "
            "requests export` with the same words writes them for a batch runner, `judgestats "
            "requests import RESULTS` reads its answers."
            if missing
            else ""
        ),
        reply_modes=modes,
        notes=tuple(reader_notes(before, account)),
    )


# ------------------------------------------------------------------ ids


def request_id(key: bytes, mode: ReplyMode, sent: str) -> str:
    """The id of a judgment's request; settings that are too long for it are left out.

    Examples
    --------
    >>> own = request_id(bytes(32), ReplyMode.TEXT, '{"temperature":0.5}')
    >>> own[:8], read_id(own) == (bytes(32), "text", '{"temperature":0.5}')
    ('jsq-0000', True)
    >>> read_id(own.replace("jsq-00", "jsq-01")) is None
    True
    """
    settings = (
        base64.urlsafe_b64encode(sent.encode()).decode() if len(sent) <= _LONGEST_SENT else ""
    )
    words = f"{_MARK}-{key.hex()}.{mode.value}.{settings}"
    return f"{words}.{_check(words)}"


def read_id(custom_id: str) -> tuple[bytes, str, str] | None:
    """Key, reply mode and settings of a request of ours; None of any other."""
    words, _, check = custom_id.partition("|")[0].rpartition(".")
    if not words.startswith(f"{_MARK}-") or check != _check(words):
        return None
    key, mode, parts = words.removeprefix(f"{_MARK}-").split(".")
    return bytes.fromhex(key), mode, base64.urlsafe_b64decode(parts).decode()


def _check(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:8]


# ------------------------------------------------------------------ answers


@dataclass(kw_only=True)
class Ingested:
    """What files of answers held.

    Attributes
    ----------
    new, duplicates : int
        Answers that the journal did not hold, and those that it did.
    failed : Counter of str
        Requests that ended without an answer, by kind; they are written again.
    words : mapping of str to str
        What the runner first said of each kind.
    foreign, unreadable, cut : int
        Lines of other requests, lines that are not a result, files that end within a line.
    """

    new: int = 0
    duplicates: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    words: dict[str, str] = field(default_factory=dict)
    foreign: int = 0
    unreadable: int = 0
    cut: int = 0


_COMMITTED = 500
"""Answers of one commit: what was read before an interrupt is kept."""


def ingest(files: Iterable[Path], journal: Journal) -> Ingested:
    """Read a batch runner's files of answers into a journal, a few hundred at a time.

    Parameters
    ----------
    files : iterable of Path
        In OpenAI's form: a line per request, with ``custom_id`` and ``response`` or ``error``.
    journal : Journal

    Returns
    -------
    Ingested
    """
    ingested = Ingested()
    waiting: dict[bytes, Answer] = {}
    for file in files:
        with file.open("rb") as lines:
            for key, answer in _answers(lines, ingested):
                if key in waiting or journal.get(key) is not None:
                    ingested.duplicates += 1
                    continue
                waiting[key] = answer
                if len(waiting) >= _COMMITTED:
                    _keep(waiting, journal, ingested)
    _keep(waiting, journal, ingested)
    return ingested


def _keep(waiting: dict[bytes, Answer], journal: Journal, ingested: Ingested) -> None:
    journal.keep(waiting.items())
    ingested.new += len(waiting)
    waiting.clear()


def _answers(lines: BinaryIO, ingested: Ingested) -> Iterator[tuple[bytes, Answer]]:
    """The answers of a file; other lines are counted."""
    while line := lines.readline(MAX_LINE + 1):
        whole = line.endswith(b"\n")
        if len(line) > MAX_LINE and not whole:
            ingested.unreadable += 1
            while (rest := lines.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            continue
        if not line.strip():
            continue
        read = read_line(line)
        if read is None:
            ingested.unreadable += whole
            ingested.cut += not whole
            continue
        custom_id, outcome = read
        own = read_id(custom_id)
        if own is None:
            ingested.foreign += 1
        elif outcome.kind is not Kind.ANSWERED:
            ingested.failed[outcome.kind.value] += 1
            ingested.words.setdefault(outcome.kind.value, outcome.detail)
        else:
            [answer] = answers_of(outcome, 1, mode=ReplyMode(own[1]), sent=own[2])
            yield own[0], answer
