"""Export of judgments, and training of judges."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from judgestats.commands.arguments import Args
from judgestats.data.schema import read_artifact
from judgestats.errors import InputError, guard_output
from judgestats.files.text import decode_json
from judgestats.items.readers import read_items
from judgestats.runner import display as console
from judgestats.sinks import csv_text
from judgestats.tracking.fetch import run_data
from judgestats.training import (
    Filters,
    Source,
    balanced,
    imbalance,
    prompt_sha_of,
    split_by_question,
    student_of,
    training_examples,
    write_training_data,
)


def export_command(arguments: Args) -> int:
    """Write the judgments of runs as training data.

    Parameters
    ----------
    arguments : Args
        ``runs``, ``out``, ``mode``, ``correct``, ``consistent``, ``verdict_only``, ``ties``,
        ``condition``, ``balance``, ``prompt``, ``validation``, ``seed`` and ``overwrite``.

    Returns
    -------
    int
        0.
    """
    filters = Filters(
        kind=arguments.mode,
        correct=arguments.correct,
        consistent=arguments.consistent,
        reasoning=not arguments.verdict_only,
        ties=arguments.ties == "keep",
        conditions=tuple(arguments.condition),
        balance=arguments.balance,
    )
    student = student_of(filters, prompt=arguments.prompt)
    sources, about = [], []
    for run in dict.fromkeys(arguments.runs):
        source, facts = run_source(run)
        sources.append(source)
        about.append(facts)
    chosen = training_examples(sources, filters=filters, student=student)
    if filters.balance:
        chosen = balanced(chosen, seed=arguments.seed)
    split = split_by_question(chosen.examples, share=arguments.validation, seed=arguments.seed)
    written = write_training_data(
        arguments.out,
        chosen=chosen,
        split=split,
        filters=filters,
        seed=arguments.seed,
        runs=about,
        prompt_sha=prompt_sha_of(student),
        overwrite=arguments.overwrite,
    )
    console.print_result(
        f"{len(chosen.examples)} of {chosen.judgments} judgments became examples: "
        f"{len(split.train)} to train ({split.train_questions} questions), "
        f"{len(split.validation)} to validate ({split.validation_questions} questions).",
        *(f"  left out, {why}: {n}" for why, n in chosen.left_out.items()),
        f"Written to {arguments.out}: {', '.join(sorted(written))}. Read the card "
        "(README.md) before you train or share: it says what the licences ask of you.",
    )
    if uneven := imbalance(chosen):
        console.print_result(uneven)
    if any(facts["simulated"] == "true" for facts in about):
        console.print_result("The judges were SIMULATED: good for a rehearsal, not for training.")
    return 0


def run_source(run: str) -> tuple[Source, dict[str, str]]:
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
        results = decode_json((folder / "results.json").read_text("utf-8"))
        own_facts = results.get("facts", results)  # 0.1.0 wrote them beside its results
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
    return Source(name=name, frame=frame, items=items), facts


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

    settings = TrainingSettings(
        epochs=arguments.epochs,
        learning_rate=arguments.learning_rate,
        batch_size=arguments.batch_size,
        accumulate=arguments.accumulate,
        max_length=arguments.max_length,
        seed=arguments.seed,
    )
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

    source, _ = run_source(arguments.run)
    model = CoverageModel(arguments.model, threshold=arguments.threshold)
    table = coverage_table(source.frame, source.items, model, seed=arguments.seed)
    if arguments.out:
        out = Path(arguments.out)
        if out.exists():
            raise InputError(f"coverage: {out} is there already. Give another name.")
        with guard_output(out):
            out.write_text(csv_text(table), encoding="utf-8", newline="")
    for condition, (own, unrelated) in covered(table).items():
        console.print_result(f"{condition}:", f"  {own.sentence()}", f"  {unrelated.sentence()}")
    if model.cut:
        console.print_result(f"{model.cut} texts were longer than the model reads, and were cut.")
    return 0
