"""Judgments through files: what is missing as requests of a batch runner, answers into the journal.

A request's id says which judgment it is and what it carried, with a check sum: the answers can be
read on another machine, in any order and any number of times, and nothing waits anywhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

from judgestats.collection.account import Collected, Stop
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.batches.client import MAX_LINE, read_line, request_line
from judgestats.collection.collector import StagedCollection
from judgestats.collection.journal import Journal
from judgestats.collection.journal_file import Answer
from judgestats.collection.request import draw_header, request_body
from judgestats.collection.retry import Kind
from judgestats.collection.rows import FrameWriter, Row
from judgestats.collection.sending import answers_of
from judgestats.data.columns import Task
from judgestats.errors import InputError
from judgestats.protocols.base import ReplyMode
from judgestats.results.numbers import count_noun

_MARK = "jsq"
_LONGEST_SENT = 300


class Queued(NamedTuple):
    """A request that is missing: whose judge, of which question, and its line."""

    judge: str
    cluster: str
    line: bytes


class _NoRows(FrameWriter):
    """Discards the rows, where only missing requests are wanted."""

    def add(self, place: tuple[int, ...], row: Row) -> None:
        """Discard a row."""


def _check_choices(ask: CollectionRequest) -> None:
    if ask.choices_per_request > 1:
        why = "in files every judgment is a separate request. Leave it out."
        raise InputError(f"samples_per_request={ask.choices_per_request}: {why}")


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
    _check_choices(ask)
    with ask.opened_journal() as journal:
        collection = StagedCollection(ask, journal, _NoRows())
        async for task, ready in collection.missing(tasks):
            endpoint = collection.endpoint(task.condition.judge)
            sent = endpoint.build_request([task], ready, ask.sampling)
            custom_id = request_id(ready.keys[task.replicate], sent.mode, sent.settings_json)
            if endpoint.spec.simulated:
                custom_id += f"|{draw_header([task], ask.sampling)}"
            body = request_body(endpoint.spec, ready.encoded, sent)
            yield Queued(task.condition.judge, task.cluster, request_line(custom_id, body))


async def collect_offline(tasks: Iterable[Task], ask: CollectionRequest) -> Collected:
    """What the journal holds of a plan; no call is made."""
    _check_choices(ask)
    with ask.opened_journal() as journal:
        collection = StagedCollection(ask, journal)
        missing = 0
        async for _ in collection.missing(tasks):
            missing += 1
        collected = collection.collected()
    if not missing:
        return collected
    count = count_noun(missing, "judgment is", "judgments are")
    message = (
        f"{count} not in {journal.path}: `judgestats requests export` with the same words writes "
        "them for a batch runner, `judgestats requests import RESULTS` reads its answers."
    )
    return replace(collected, stopped_because=Stop.OFFLINE, message=message)


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
    sent = sent if len(sent) <= _LONGEST_SENT else ""
    settings = base64.urlsafe_b64encode(sent.encode()).decode()
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
                ingested.new += 1
                if len(waiting) >= _COMMITTED:
                    journal.keep(waiting.items())
                    waiting.clear()
    journal.keep(waiting.items())
    return ingested


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
