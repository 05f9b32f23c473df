"""``judgestats analyze FILE``: an audit of judgments that people already have, as an MLflow run."""

from __future__ import annotations

from pathlib import Path

from judgestats.commands.table import Given
from judgestats.errors import InputError
from judgestats.tracking.apart import writing_apart


def analyze_command(arguments: Given) -> int:
    """Check the words, and audit the file.

    Parameters
    ----------
    arguments : Given
        As `judgestats.cli` parses them.

    Returns
    -------
    int
        0.
    """
    with writing_apart(wanted=arguments.track != "none"):
        # they bring pandas, beside which the other process imports MLflow
        from judgestats.commands.audited import audit_file, from_store
        from judgestats.commands.table_words import table_words
        from judgestats.experiment import console
        from judgestats.experiment.common_parameters import FORMATS

        formats = FORMATS("report", arguments.report)
        if arguments.resamples < 99:
            raise InputError(
                f"analyze: --resamples must be at least 99, got {arguments.resamples}."
            )
        words = table_words(arguments)
        path = Path(arguments.file)
        if arguments.further and not from_store(arguments, path):
            raise InputError(
                f"analyze: several files ({arguments.file}, {arguments.further[0]} ...): name "
                "one, or the folder that holds one tool's logs. Several MLflow runs may be named."
            )
        with console.showing(console.asked_for(arguments)):
            return audit_file(arguments, path, words, formats)
