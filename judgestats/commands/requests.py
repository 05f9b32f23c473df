"""Requests for batch runners, and their answers."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.collection.journal import Journal
from judgestats.collection.offline import Ingested, ingest
from judgestats.commands.arguments import Args
from judgestats.commands.run import given_parameters
from judgestats.data.columns import KEY_COLUMNS
from judgestats.data.parse import reread, unparsed_causes
from judgestats.data.schema import read_artifact
from judgestats.errors import InputError, guard_output, printable
from judgestats.protocols.base import Scale
from judgestats.protocols.replies import READER_VERSION
from judgestats.reporting.runs import load_run
from judgestats.results.numbers import count_noun
from judgestats.runner import display as console
from judgestats.runner.design import Design, ReplicationDesign, experiment_names, load_design
from judgestats.sinks import csv_text


def export_command(arguments: Args) -> int:
    """Write the requests, and say how to go on.

    Parameters
    ----------
    arguments : Args
        ``to``, ``parts``, and ``words``: an experiment or a run, and parameters.

    Returns
    -------
    int
        0.
    """
    from judgestats.runner.run import write_requests

    if not arguments.words or arguments.words[0].startswith("-"):
        raise InputError(
            "requests export: name an experiment with its parameters, or a run: "
            f"{', '.join(experiment_names())}."
        )
    design, given = _requested_design(arguments.words)
    written = write_requests(design, given, Path(arguments.to), parts=arguments.parts)
    journal = f" --journal {shlex.quote(written.journal)}" if "journal" in given else ""
    command = console.repeat_command(design.name, {**given, "mode": "offline"}, mlflow=False)
    if not written.files:
        console.print_result(
            f"The journal {written.journal} holds all that can be asked now.", command
        )
        return 0
    console.print_result(
        f"{sum(written.files.values()):,} of {written.planned:,} judgments are not in "
        f"{written.journal}:"
    )
    for path, count in written.files.items():
        console.print_result(f"  {path}  {count:,} requests of {written.models[path]}")
    first, model = next((p, written.models[p]) for p in written.files)
    results = first.with_stem(f"{first.stem}-results")
    console.print_result(
        "Then, with any runner of OpenAI's batch files:",
        f"  vllm run-batch -i {shlex.quote(str(first))} -o {shlex.quote(str(results))} "
        f"--model {shlex.quote(model)}",
        f"  judgestats requests import {shlex.quote(str(results))}{journal}",
        f"  {command}",
    )
    return 0


def _requested_design(words: list[str]) -> tuple[Design[Any], Mapping[str, str]]:
    """The design and the parameters: of an experiment, or of a run and what is changed of it."""
    name, rest = words[0], words[1:]
    before: Mapping[str, str] = {}
    if name not in experiment_names():
        from judgestats.tracking.fetch import parameters_of_run

        name, before = parameters_of_run(name)
    design = load_design(name)
    if isinstance(design, ReplicationDesign):
        raise InputError(f"requests export: {name} reads published judgments and asks nobody.")
    return design, {**before, **given_parameters(design, rest)}


def import_command(arguments: Args) -> int:
    """Read the answers, and say what became of every line.

    Parameters
    ----------
    arguments : Args
        ``results`` (files or folders) and ``journal``.

    Returns
    -------
    int
        0 where a request of ours was among the lines, else 1.
    """
    files = [file for word in arguments.results for file in _files(Path(word))]
    path = Path(arguments.journal)
    with Journal(path) as journal:
        ingested = ingest(files, journal)
        kept = len(journal)
    console.print_result(*_lines(ingested, files, f"{path} ({kept:,} answers)"))
    return 0 if ingested.new or ingested.duplicates or ingested.failed else 1


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        parts = sorted(path.glob("*.jsonl"))
        if not parts:
            raise InputError(f"requests import: the folder {path} holds no *.jsonl.")
        return parts
    if not path.is_file():
        raise InputError(f"requests import: file {path} not found.")
    return [path]


def _lines(ingested: Ingested, files: list[Path], where: str) -> list[str]:
    """What was read, and what was not."""
    new, read = (
        count_noun(ingested.new, "answer", "answers"),
        count_noun(len(files), "file", "files"),
    )
    lines = [f"{new} of {read} read into {where}."]
    if ingested.duplicates:
        lines.append(
            f"  {count_noun(ingested.duplicates, 'answer was', 'answers were')} there already"
        )
    lines += [
        f"  {count_noun(n, 'request', 'requests')} not answered: {kind} "
        f"({ingested.words[kind] or 'no words'})"
        for kind, n in ingested.failed.most_common()
    ]
    if ingested.cut:
        ends = count_noun(ingested.cut, "file ends", "files end")
        lines.append(f"  {ends} within a line: the runner was stopped, or still writes")
    if ingested.unreadable:
        lines.append(f"  {count_noun(ingested.unreadable, 'line is', 'lines are')} no result")
    if ingested.foreign:
        lines.append(
            f"  {count_noun(ingested.foreign, 'line is', 'lines are')} of requests that "
            "`judgestats requests export` did not write"
        )
    if ingested.failed or ingested.cut or ingested.unreadable:
        lines.append(
            "  `judgestats requests export` with the same words writes what is missing again."
        )
    return lines


_SHOWN = 20


def _judgments(folder: Path) -> pd.DataFrame:
    """The judgments with the replies of raw.parquet, whatever became of the scores since."""
    frame = read_artifact(folder, "judgments", is_checked=False)
    if (folder / "data" / "raw.parquet").is_file():
        raw = read_artifact(folder, "raw")
        keys = [*KEY_COLUMNS]
        texts = raw.set_index(keys)["raw_text"].to_dict()
        frame["raw_text"] = [
            texts.get(key) for key in frame[keys].itertuples(index=False, name=None)
        ]
        frame = frame[frame["raw_text"].notna()]
    return frame


def reparse_command(arguments: Args) -> int:
    """Read the replies of a run again and print the differences; no judge is asked.

    Parameters
    ----------
    arguments : Args
        ``run`` and ``out``.

    Returns
    -------
    int
        0.
    """
    run = load_run(arguments.run)
    scale = Scale(int(run.scale[0]), int(run.scale[1])) if run.scale else None
    frame = _judgments(run.folder)
    finals = frame[frame["stage"] == "final"]
    differences = reread(frame, scale)
    if arguments.out:
        with guard_output(arguments.out):
            out = Path(arguments.out)
            out.write_text(csv_text(differences), encoding="utf-8", newline="")
    version = run.session.get("reader", "1")
    console.print_result(
        f"{len(finals)} judgments, read by version {version} of the reader, read again by "
        f"version {READER_VERSION}: {len(differences)} differ. No call was made."
    )
    if causes := unparsed_causes(finals):
        console.print_result(f"Unparsed in the run: {causes}.")
    for row in differences.head(_SHOWN).to_dict("records"):
        why = f" ({row['reason']})" if row["reason"] else ""
        order = f" {row['order']}" if row["order"] else ""
        which = f"{row['condition']}: {row['item_id']}{order}, replicate {row['replicate']}"
        line = f"  {which}: {row['before']} -> {row['now']}{why}"
        console.print_result(printable(line, one_line=True))
    if len(differences) > _SHOWN and not arguments.out:
        console.print_result(
            f"  ... and {len(differences) - _SHOWN} more; --out FILE writes all of them."
        )
    if arguments.out:
        console.print_result(f"Differences: {arguments.out}")
    return 0
