"""The requests that a run still misses, as files for a batch runner."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from judgestats.errors import InputError, guard_output
from judgestats.experiment.design import Design
from judgestats.experiment.folder import file_name
from judgestats.experiment.prepare import Prepared, prepare
from judgestats.experiment.run import ask_of
from judgestats.judges.offline import missing_requests


@dataclass(frozen=True, kw_only=True)
class Written:
    """The files that were written.

    Attributes
    ----------
    files : mapping of path to int
        How many requests each holds.
    models : mapping of path to str
        The model that each asks.
    planned : int
        Judgments of the plan, as far as it is known.
    journal : str
    given : mapping of parameter to text
        With which the same run reads the answers.
    """

    files: Mapping[Path, int]
    models: Mapping[Path, str]
    planned: int
    journal: str
    given: Mapping[str, str]


def write_requests(
    design: Design[Any], given: Mapping[str, str], to: Path, *, parts: int = 1
) -> Written:
    """Write what the journal does not hold of a run: a file a judge, in as many parts as asked for.

    All requests of a question stand in one part, so that a runner's cache of prefixes pays.

    Parameters
    ----------
    design : Design
    given : mapping of parameter to text
    to : Path
        ``requests.jsonl``; several judges, or parts, add to its name.
    parts : int

    Returns
    -------
    Written

    Raises
    ------
    InputError
        A parameter or file cannot be used; judges are functions; models answer first.
    """
    if parts < 1:
        raise InputError(f"requests: --parts must be at least 1, got {parts}.")
    prepared = prepare(design, {**given, "mode": "offline"})
    with guard_output(to):
        written = asyncio.run(_write(prepared, to, parts))
    return Written(
        files=dict(sorted(written.items())),
        models={
            _path(to, prepared, name, part, parts): spec.model
            for name, spec in prepared.judging.items()
            for part in range(parts)
        },
        planned=len(prepared.tasks),
        journal=prepared.parameters.journal,
        given=given,
    )


async def _write(prepared: Prepared, to: Path, parts: int) -> Counter[Path]:
    ask = ask_of(prepared, prepared.parameters.journal)
    written: Counter[Path] = Counter()
    opened: dict[Path, BinaryIO] = {}
    questions: dict[str, int] = {}
    to.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        async for one in missing_requests(prepared.tasks, ask):
            part = questions.setdefault(one.cluster, len(questions)) % parts
            path = _path(to, prepared, one.judge, part, parts)
            if path not in opened:
                opened[path] = stack.enter_context(path.open("wb"))
            opened[path].write(one.line)
            written[path] += 1
    return written


def _path(to: Path, prepared: Prepared, judge: str, part: int, parts: int) -> Path:
    """``requests.jsonl``, or ``requests-JUDGE-1-of-4.jsonl``."""
    named = [file_name(judge)] if len(prepared.judging) > 1 else []
    numbered = [f"{part + 1}-of-{parts}"] if parts > 1 else []
    return to.with_stem("-".join([to.stem, *named, *numbered]))
