"""The study of arXiv 2412.12509 (McDonald's omega of LLM judgments), claim by claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from judgestats.analysis.summary_rows import factor_curve
from judgestats.studies.claims import Options, Replication, Study
from judgestats.studies.paper_tables import omega_tables
from judgestats.studies.schroeder2024 import tables
from judgestats.studies.schroeder2024.answers import answers, application, read_schroeder2024

__all__ = ["STUDY", "examine"]


def examine(folder: Path, options: Options) -> Replication:
    """Every claim of the study, on the verdicts of a folder.

    Parameters
    ----------
    folder : Path
        A table of verdicts, or the authors' files.
    options : Options

    Returns
    -------
    Replication
    """
    frame, source = read_schroeder2024(folder)
    cells = tables.cells_of_study(frame, options)
    claims = (
        tables.table_2(cells),
        tables.zero_temperature_claim(cells),
        tables.temperatures(cells, options),
        tables.judges_ranked(cells, options),
        tables.benchmarks_compared(cells),
        tables.table_1(frame, options),
        application(folder, options),
        answers(folder, options),
    )
    return Replication(
        study="schroeder2024",
        title="McDonald's omega of LLM judgments (arXiv 2412.12509), re-examined",
        question="Do the published omegas say how reliable the judges are, and what does a "
        "reliability that needs no order of the letters say of the same verdicts?",
        claims=claims,
        conditions=tables.conditions_of(cells),
        drawing=factor_curve(
            "temperature",
            "published_omega",
            "published_omega_null_mean",
            "vote_share",
            only={"benchmark": ("BBH",)},
            caption="On BBH: omega recomputed as the study did; what the same computation gives on "
            "average once each question's replications are shuffled; and the reliability of one "
            "verdict, which gives letters no order.",
        ),
        data_source=source,
        limitations=_limitations(cells),
    )


def _limitations(cells: Sequence[tables.Cell]) -> tuple[str, ...]:
    absent = _absent(cells)
    unread = max((float((c.read == "").mean()) for c in cells), default=0.0)
    absent += [
        (
            f"Up to {100 * unread:.3g} % of the verdicts of a cell could not be read. They are one "
            "category here, as in the paper; the reliability with them left out stands beside."
        ),
        "One order of answers for every question: a judge that follows place is reliable here.",
        "Comparisons by p-value are unadjusted and exploratory: the study declared no test.",
    ]
    return tuple(absent)


def _absent(cells: Sequence[tables.Cell]) -> list[str]:
    """Which printed cells the folder does not have: whole judges, and single cells of others."""
    printed = omega_tables().query("table == 2")
    names = list(dict.fromkeys(printed["judge"]))
    there = {c.judge for c in cells}
    absent = [j for j in names if j not in there]
    parts = []
    if absent:
        whose = "its cells" if len(absent) == 1 else "their cells"
        parts.append(
            f"Verdicts of {', '.join(absent)} are not in the folder: {whose} of Table 2, and "
            "Table 1, cannot be examined."
        )
    expected = int(printed["judge"].isin(there).sum())
    n_printed = sum(not math.isnan(c.printed) for c in cells)
    if there & set(names) and n_printed < expected:
        parts.append(
            f"Of the {expected} printed cells of the judges that are there, the folder has "
            f"{n_printed}."
        )
    others = sorted(there - set(names))
    if others:
        parts.append(f"{', '.join(others)}: not judges of the paper; nothing is printed of them.")
    return parts


STUDY = Study(
    name="schroeder2024",
    title="McDonald's omega of LLM judgments",
    source="arXiv 2412.12509",
    layout="`verdicts.csv.gz`, or the authors' JSON files",
    examine=examine,
)
