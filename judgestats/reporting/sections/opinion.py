"""A run's numbers recomputed by independent packages, as `judgestats second-opinion` kept them."""

from __future__ import annotations

from judgestats.reporting.runs import Run
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table

__all__ = ["second_opinion", "warned"]


def warned(run: Run) -> Markdown | None:
    """A warning where another package finds another number; None where none does."""
    table = run.second_opinion
    apart = int((~table["agrees"].astype(bool)).sum()) if len(table) else 0
    if not apart:
        return None
    return Markdown(
        "::: {.callout-warning}\n\n"
        f"Another package finds another value for {apart} of {len(table)} numbers of this run that "
        "were computed twice (`tables/second-opinion.csv`): do not rely on them before it is known "
        "which side is right.\n\n:::"
    )


def second_opinion(run: Run) -> Table | None:
    """Ours, theirs and the difference; what differs first."""
    table = run.second_opinion
    if not len(table):
        return None
    rows = table.sort_values("agrees", kind="stable").to_dict("records")
    return Table(
        columns=(
            Column(key="what", label="Number"),
            Column(key="result", label="Result"),
            Column(key="ours", format="number:4"),
            Column(key="theirs", format="number:4"),
            Column(key="same"),
            Column(key="package", label="Computed again by"),
        ),
        rows=tuple(
            {str(k): v for k, v in row.items()} | {"same": "yes" if row["agrees"] else "NO"}
            for row in rows
        ),
        caption="Numbers of this run, computed again by independent packages.",
        note="Same: within 1e-6, fits that iterate within 1e-3. Conventions and differences stand "
        "in tables/second-opinion.csv.",
        label="tbl-second-opinion",
    )
