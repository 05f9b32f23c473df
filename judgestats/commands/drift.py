"""``judgestats drift RUN_A RUN_B``: the same judge and items, at two dates or versions."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import pandas as pd

from judgestats.analysis.outcome import summary
from judgestats.errors import InputError
from judgestats.experiment import console
from judgestats.experiment.folder import write_json

__all__ = ["drift_command", "judgments_of"]


def judgments_of(run: str) -> pd.DataFrame:
    """The parsed judgments of a run.

    Parameters
    ----------
    run : str
        An MLflow run id, or a run's folder.

    Returns
    -------
    DataFrame
    """
    from judgestats.judgments.schemas import validate_parsed
    from judgestats.tracking.fetch import run_folder

    with tempfile.TemporaryDirectory(prefix="judgestats-") as scratch:
        folder, _ = run_folder(run, Path(scratch))
        file = folder / "data" / "judgments.parquet"
        if not file.is_file():
            raise InputError(f"{run}: the run holds no data/judgments.parquet.")
        return validate_parsed(pd.read_parquet(file), what=f"judgments of run {run}")


def drift_command(arguments: argparse.Namespace) -> int:
    """Compare two runs and print what has changed.

    Parameters
    ----------
    arguments : Namespace
        ``first``, ``second``, ``pair``, ``resamples``, ``seed`` and ``out``.

    Returns
    -------
    int
        0.
    """
    from judgestats.analysis.drift import drift

    pairs = {}
    for text in arguments.pair:
        # Conditions hold '=' themselves (T=0.5), so that a pair is split at ' -> '.
        one, sign, two = text.partition("->")
        if not sign or not one.strip() or not two.strip():
            raise InputError(f"drift: --pair expects 'FIRST -> SECOND', got {text!r}.")
        pairs[one.strip()] = two.strip()
    found = drift(
        judgments_of(arguments.first),
        judgments_of(arguments.second),
        pairs=pairs or None,
        n_resamples=arguments.resamples,
        seed=arguments.seed,
    )
    written = f"stand in {arguments.out}" if arguments.out else "are written by --out FILE"
    console.say(summary(found, elsewhere=written))
    if arguments.out:
        write_json(Path(arguments.out), found.to_dict())
        console.say(f"Results: {arguments.out}")
    return 0
