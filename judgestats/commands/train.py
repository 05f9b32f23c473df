"""``judgestats train`` and ``judgestats coverage``: models of one's own, behind extras."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path

from judgestats.commands.table import Given
from judgestats.errors import InputError, guard_output
from judgestats.experiment import console


def train_command(arguments: Given) -> int:
    """Fine-tune a judge on exported judgments.

    Parameters
    ----------
    arguments : Given
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
    console.say(
        str(trained),
        "Serve it with any OpenAI-compatible server (vLLM serve FOLDER), then judge with it:",
        "  judgestats run crowd --strategies vanilla --reply text --judges NAME --base-url ADDRESS",
    )
    return 0


def coverage_command(arguments: Given) -> int:
    """Coverage of responses by the explanations of a run's judgments.

    Parameters
    ----------
    arguments : Given
        ``run``, ``model``, ``threshold``, ``seed`` and ``out``.

    Returns
    -------
    int
        0.
    """
    from judgestats.commands.export import run_source
    from judgestats.training.coverage import CoverageModel, coverage_table, covered

    source, _ = run_source(arguments.run)
    model = CoverageModel(arguments.model, threshold=arguments.threshold)
    table = coverage_table(source.frame, source.items, model, seed=arguments.seed)
    if arguments.out:
        out = Path(arguments.out)
        if out.exists():
            raise InputError(f"coverage: {out} is there already. Give another name.")
        with guard_output(out):
            table.to_csv(out, index=False)
    for condition, (own, unrelated) in covered(table).items():
        console.say(f"{condition}:", f"  {own.sentence()}", f"  {unrelated.sentence()}")
    if model.cut:
        console.say(f"{model.cut} texts were longer than the model reads, and were cut.")
    return 0
