"""The methods and the checklist as a document: Markdown, LaTeX or Word."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from judgestats.errors import InputError, guard_output
from judgestats.reporting.escape import escape_markdown
from judgestats.reporting.pandoc import to_document
from judgestats.reporting.runs import Run
from judgestats.reporting.writing_up.checklist import checklist
from judgestats.reporting.writing_up.paragraph import methods_text

FORMATS = ("md", "tex", "docx")
_SOURCES = (
    "GRRAS: the guidelines for reporting reliability and agreement studies [@kottner2011]; LLM: "
    "the guidelines for empirical studies that use LLMs [@baltes2025]. An entry is reported where "
    "the run says it; whether the paper does is the author's part."
)


def methods_document(run: Run) -> str:
    """Methods and checklist as one Markdown text with citations.

    Parameters
    ----------
    run : Run

    Returns
    -------
    str
    """
    entries = checklist(run)
    rows = [
        f"| {'reported' if e.reported else '**missing**'} | {escape_markdown(e.what)} "
        f"| {escape_markdown(e.where.removeprefix('missing: '))} | {e.source} |"
        for e in entries
    ]
    n_reported = sum(e.reported for e in entries)
    return "\n".join(
        [
            "# Methods {.unnumbered}",
            "",
            methods_text(run, escape_markdown),
            "# Reporting checklist {.unnumbered}",
            "",
            f"{n_reported} of {len(entries)} entries are in the run. {_SOURCES}",
            "",
            "| | what | where, or what to add | source |",
            "|:---|:-------------|:------------------------|:------|",
            *rows,
            "",
            "# References {.unnumbered}",
            "",
        ]
    )


def write_methods(run: Run, output: Path, *, bibliography: Path) -> None:
    """Write methods and checklist with their references.

    Parameters
    ----------
    run : Run
    output : path
        Its suffix names the format: ``.md``, ``.tex`` or ``.docx``.
    bibliography : path
        A file with the sources (BibTeX).

    Raises
    ------
    InputError
        Another suffix, or a folder that is not there.
    """
    kind = output.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        listed = ", ".join(f".{f}" for f in FORMATS)
        raise InputError(f"methods: --out {output.name}: expected a file that ends in {listed}.")
    if not output.parent.is_dir():
        raise InputError(f"methods: --out: there is no folder {output.parent}.")
    with tempfile.TemporaryDirectory(prefix="judgestats-") as scratch:
        work = Path(scratch)
        shutil.copyfile(bibliography, work / "references.bib")
        made = work / f"methods.{kind}"
        to_document(
            methods_document(run), to=kind, header={"bibliography": "references.bib"},
            work_dir=work, output=made, epoch=0,
        )  # fmt: skip
        with guard_output(output):
            shutil.copyfile(made, output)
