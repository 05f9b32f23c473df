"""The report of a run, in the formats asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgestats.errors import InputError, RenderError
from judgestats.reporting.escape import escape_markdown
from judgestats.reporting.render import render
from judgestats.reporting.runs import Run, load_run

DOCUMENTS = ("brief", "experiment", "audit", "compare", "replication")
"""The documents that come with judgestats."""


def document_path(name: str) -> Path:
    """Where a document is: by its name, or the path of one's own ``.qmd``.

    Raises
    ------
    RenderError
        There is no such document.
    """
    if name.endswith(".qmd") and Path(name).is_file():
        return Path(name)
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_project" / "reports", package.parent / "reports"):
        if (folder / f"{name}.qmd").is_file():
            return folder / f"{name}.qmd"
    raise RenderError(
        f"there is no document {name!r}. Give one of {', '.join(DOCUMENTS)}, or the path of your "
        "own .qmd file."
    )


def render_report(
    run: str | os.PathLike[str] | Run | Sequence[str | os.PathLike[str] | Run],
    *,
    to: Sequence[str] = ("html", "pdf"),
    out_dir: str | os.PathLike[str] = ".",
    document: str = "",
    name: str = "report",
    renderer: str = "auto",
    figures: bool = False,
    detail: str = "brief",
) -> dict[str, Path]:
    """Render the report of a run, or of several compared.

    Parameters
    ----------
    run : path, str or Run, or a sequence of these
        A folder with a run's files, or an MLflow run id. Several are compared with the first.
    to : sequence of str
        Any of ``html``, ``pdf``, ``docx``, ``tex``, ``md``.
    out_dir : path
        Folder of the results.
    document : str
        A document's name (``experiment``, ``audit``, ...) or the path of one's own ``.qmd``; by
        default ``brief``, with `detail` the one that belongs to the run's kind, and ``compare``
        for several.
    name : str
        Name of the results without suffix.
    renderer : {"auto", "quarto", "builtin"}
    figures : bool
        Also write the figures of the document, as ``figures/*.svg``, and the main one as
        ``summary.png``.
    detail : {"brief", "full"}
        All results, or the answer and what it rests on.

    Returns
    -------
    dict of str to Path
        The written file of each format.

    Raises
    ------
    InputError
        There is no such run, or nothing to compare.
    RenderError
        Where a document, a program or a cell fails; nothing is written then.
    """
    several = isinstance(run, (list, tuple))
    loaded = [r if isinstance(r, Run) else load_run(r) for r in _as_list(run)]
    if several and len(loaded) < 2 and not document:
        raise InputError(
            f"render_report: run must name at least two runs to compare, but names {len(loaded)}. "
            "Give one run by itself for its own report."
        )
    first = loaded[0]
    moments = [r.moment for r in loaded if r.moment is not None]
    metadata = {"title": escape_markdown(first.title), "subtitle": escape_markdown(first.question)}
    if several:
        metadata = {"title": f"{len(loaded)} runs compared"}
    if moments:
        metadata["date"] = f"{max(moments):%Y-%m-%d %H:%M} UTC"
    if detail not in {"brief", "full"}:
        raise InputError(f"render_report: detail must be brief or full, but is {detail!r}.")
    kind = "compare" if several else "brief" if detail == "brief" else first.records.kind
    made = render(
        document_path(document or kind),
        to=to,
        params={"runs": [str(r.folder) for r in loaded]} if several else {"run": str(first.folder)},
        out_dir=out_dir,
        name=name,
        metadata=metadata,
        timestamp=max(moments) if moments else None,
        renderer=renderer,
        keep=("figures", "tables") if figures else ("tables",),
    )
    if figures:
        _summary_picture(first, Path(out_dir))
    return made


def _as_list(run: object) -> list[Any]:
    return list(run) if isinstance(run, (list, tuple)) else [run]


def _summary_picture(run: Run, out_dir: Path) -> None:
    """The figure that answers, as a picture for lists of runs."""
    drawn_beside = out_dir / "figures" / "summary.png"
    if drawn_beside.is_file():  # by the document's own cells
        drawn_beside.replace(out_dir / "summary.png")
        return
    from judgestats.reporting.sections.answer_figure import answer_figure

    drawn = answer_figure(run)
    if drawn is not None:
        drawn.figure.save(out_dir / "summary.png", dpi=110)
