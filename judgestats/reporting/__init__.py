"""Results to tables, figures and documents that one would submit."""

from __future__ import annotations

from judgestats.reporting import plots
from judgestats.reporting.numbers import apa
from judgestats.reporting.render import render
from judgestats.reporting.runs import Run, load_run
from judgestats.reporting.show import Captioned, Markdown, pointer, section, show
from judgestats.reporting.table_layout import Column
from judgestats.reporting.tables import Table

__all__ = [
    "Captioned",
    "Column",
    "Markdown",
    "Run",
    "Table",
    "apa",
    "load_run",
    "plots",
    "pointer",
    "render",
    "section",
    "show",
]
