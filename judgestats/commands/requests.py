"""Requests for batch runners and their answers, export of judgments, and training of judges."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats import training
from judgestats.collection.journal import Journal
from judgestats.collection.offline import Ingested, ingest
from judgestats.commands.arguments import Args, check_new
from judgestats.commands.run import given_parameters
from judgestats.data import KEY_COLUMNS, reread, unparsed_causes
from judgestats.data.schema import read_artifact
from judgestats.errors import InputError, printable
from judgestats.files.text import command_word
from judgestats.items.readers import read_items
from judgestats.protocols.base import Scale, Status
from judgestats.protocols.replies import READER_VERSION
from judgestats.reporting.runs import load_run
from judgestats.results.numbers import count_noun
from judgestats.runner import display as console
from judgestats.runner.design import Design, ReplicationDesign, experiment_names, load_design
from judgestats.sinks import write_csv_file
from judgestats.tracking.runs import facts_of_run, parameters_of_run, run_data


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
    journal = f" --journal {command_word(written.journal)}" if "journal" in given else ""
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
        f"  vllm run-batch -i {command_word(first)} -o {command_word(results)} "
        f"--model {shlex.quote(model)}",
        f"  judgestats requests import {command_word(results)}{journal}",
        f"  {command}",
    )
    return 0


def _requested_design(words: list[str]) -> tuple[Design[Any], Mapping[str, str]]:
    """The design and the parameters: of an experiment, or of a run and what is changed of it."""
    name, rest = words[0], words[1:]
    before: Mapping[str, str] = {}
    if name not in experiment_names():
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
    """The replies of raw.parquet with their verdicts, whatever became of the scores since."""
    frame = read_artifact(folder, "judgments", is_checked=False)
    if not (folder / "data" / "raw.parquet").is_file():
        return frame
    raw, keys = read_artifact(folder, "raw"), [*KEY_COLUMNS]
    read = [c for c in frame if c not in raw]
    whole = raw.merge(frame.drop_duplicates(keys)[[*keys, *read]], on=keys, how="left")
    lost = {"status": Status.MISSING.value, "verdict_kind": frame["verdict_kind"].iloc[0]}
    return whole.fillna({name: lost.get(str(name), "") for name in read if name != "score"})


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
        write_csv_file(Path(arguments.out), differences)
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


def export_judgments_command(arguments: Args) -> int:
    """Write the judgments of runs as training data.

    Parameters
    ----------
    arguments : Args
        ``runs``, ``out``, ``mode``, ``correct``, ``consistent``, ``condition``, ``balance``,
        ``validation``, ``seed`` and ``overwrite``.

    Returns
    -------
    int
        0.
    """
    filters = training.Filters(
        kind=arguments.mode,
        correct=arguments.correct,
        consistent=arguments.consistent,
        conditions=tuple(arguments.condition),
        balance=arguments.balance,
    )
    sources, about = [], []
    for run in dict.fromkeys(arguments.runs):
        source, facts = run_source(run)
        sources.append(source)
        about.append(facts)
    chosen = training.training_examples(sources, filters=filters)
    if filters.balance:
        chosen = training.balanced(chosen, seed=arguments.seed)
    split = training.split_by_question(
        chosen.examples, share=arguments.validation, seed=arguments.seed
    )
    written = training.write_training_data(
        arguments.out,
        chosen=chosen,
        split=split,
        filters=filters,
        seed=arguments.seed,
        runs=about,
        overwrite=arguments.overwrite,
    )
    console.print_result(
        f"{len(chosen.examples)} of {chosen.judgments} judgments became examples: "
        f"{len(split.train)} to train ({split.train_questions} questions), "
        f"{len(split.validation)} to validate ({split.validation_questions} questions).",
        *(f"  left out, {why}: {n}" for why, n in chosen.left_out.items()),
        f"Written to {arguments.out}: {', '.join(written)}. Read the card "
        "(README.md) before you train or share: it says what the licences ask of you.",
    )
    if any(facts["simulated"] == "true" for facts in about):
        console.print_result("The judges were SIMULATED: good for a rehearsal, not for training.")
    return 0


def run_source(run: str) -> tuple[training.Source, dict[str, str]]:
    """The judgments and items of a run, and what a card says of it.

    Parameters
    ----------
    run : str
        An MLflow run id, or a run's folder.

    Returns
    -------
    source : Source
    facts : dict
        ``name``, ``judges``, ``items`` and ``simulated``.
    """
    with run_data(run) as (folder, data):
        own_facts = facts_of_run(str(folder))
        try:
            frame = read_artifact(folder, "judgments")
        except InputError as error:
            raise InputError(
                f"export: run {run} has no readable data/judgments.parquet ({error}). Only a "
                "finished run of an experiment on a judge can be exported."
            ) from error
        items = read_items(data / "items.jsonl", layout="judgestats", empty_ok=True)
    name = run
    if Path(run).is_dir():
        own = Path(run).resolve()
        name = own.parent.name if own.name == "artifacts" else own.name  # as MLflow lays it out
    judges: list[dict[str, Any]] = own_facts.get("judges") or []
    facts = {
        "name": name,
        "judges": ", ".join(str(j.get("model")) for j in judges) or "unknown",
        "items": str((own_facts.get("design") or {}).get("item_source", "unknown")),
        "simulated": str(bool(own_facts.get("simulated"))).lower(),
    }
    return training.Source(name=name, frame=frame, items=items), facts


def train_command(arguments: Args) -> int:
    """Fine-tune a judge on exported judgments.

    Parameters
    ----------
    arguments : Args
        ``data``, ``model``, ``to`` and the settings.

    Returns
    -------
    int
        0.
    """
    from judgestats.training import TrainingSettings, train_judge

    names = [field.name for field in dataclasses.fields(TrainingSettings)]
    settings = TrainingSettings(**{name: getattr(arguments, name) for name in names})
    with redirect_stdout(sys.stderr):  # trl prints what it logs: progress, not the answer
        trained = train_judge(
            arguments.data, model=arguments.model, out=arguments.out, settings=settings
        )
    console.print_result(
        str(trained),
        "Serve it with any OpenAI-compatible server (vLLM serve FOLDER), then judge with it:",
        "  judgestats run crowd --strategies vanilla --reply text --judges NAME --base-url ADDRESS",
    )
    return 0


def coverage_command(arguments: Args) -> int:
    """Coverage of responses by the explanations of a run's judgments.

    Parameters
    ----------
    arguments : Args
        ``run``, ``model``, ``threshold``, ``seed`` and ``out``.

    Returns
    -------
    int
        0.
    """
    from judgestats.training.train import CoverageModel, coverage_table, covered

    if arguments.out:
        check_new(Path(arguments.out))
    source, _ = run_source(arguments.run)
    model = CoverageModel(arguments.model, threshold=arguments.threshold)
    table = coverage_table(source.frame, source.items, model, seed=arguments.seed)
    if arguments.out:
        write_csv_file(Path(arguments.out), table)
    for condition, (own, unrelated) in covered(table).items():
        console.print_result(f"{condition}:", f"  {own.sentence()}", f"  {unrelated.sentence()}")
    if model.cut:
        console.print_result(f"{model.cut} texts were longer than the model reads, and were cut.")
    return 0
