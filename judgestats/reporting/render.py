"""Render a Quarto document to HTML, PDF, Word, LaTeX or Markdown.

The cells run once, with the interpreter that runs judgestats. HTML and PDF are then made by Quarto
where a recent one is on PATH, all else (and these where Quarto fails) by pandoc and typst.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgestats.errors import InputError, RenderError
from judgestats.reporting import pandoc, typst
from judgestats.reporting.document import (
    SHARED_HEADER,
    Document,
    read_document,
    without_empty_references,
)
from judgestats.reporting.quarto import (
    MINIMUM_VERSION,
    find_quarto,
    quarto_source,
    quarto_version,
    render_with_quarto,
)
from judgestats.terminal import emit

FORMATS = ("html", "pdf", "docx", "tex", "md")
"""What can be asked for in `to`."""

_NO_PARAMS: Mapping[str, Any] = {}


def _to_stderr(line: str) -> None:
    emit(f"{line}\n", error=True)


def render(
    qmd_path: str | os.PathLike[str],
    *,
    to: Sequence[str] = ("html", "pdf"),
    params: Mapping[str, Any] = _NO_PARAMS,
    out_dir: str | os.PathLike[str] = ".",
    name: str | None = None,
    metadata: Mapping[str, Any] = _NO_PARAMS,
    timestamp: datetime | None = None,
    renderer: str = "auto",
    timeout: float = 600.0,
    keep: Sequence[str] = (),
    notify: Callable[[str], None] = _to_stderr,
) -> dict[str, Path]:
    """Render a Quarto document; all formats are written, or none.

    Parameters
    ----------
    qmd_path : path
        The document. Files beside it (bibliography, style, Markdown) are available to it.
    to : sequence of str
        Any of ``html``, ``pdf``, ``docx``, ``tex``, ``md``.
    params : mapping
        Values for the names assigned in the cell tagged ``parameters``.
    out_dir : path
        Folder of the results; made where it does not exist.
    name : str, optional
        Name of the results without suffix, by default the document's.
    metadata : mapping
        Overrides the document's header (``title``, ``subtitle``, ``date``, ...).
    timestamp : datetime, optional
        The time written into the results, so that the same run gives the same bytes. By default
        ``SOURCE_DATE_EPOCH``, else the start of 2000.
    renderer : {"auto", "quarto", "builtin"}
        With ``auto`` the built-in renderer serves where Quarto is missing, too old or fails.
    timeout : float
        Seconds allowed for one cell (and for Quarto as a whole).
    keep : sequence of str
        Folders which the document's cells write beside it (``figures``) and that are kept in
        `out_dir`.
    notify : callable
        Is given one line where Quarto was set aside; written to standard error by default.

    Returns
    -------
    dict of str to Path
        The written file of each format. ``tex`` and ``md`` bring a folder ``<name>_files`` with the
        pictures.

    Raises
    ------
    InputError
        For an unknown format or renderer.
    RenderError
        Naming the cell and line, or the program, that failed. Nothing is written then.
    """
    from judgestats.reporting.code_cells import execute_document  # Jupyter, which no cell needs

    source = Path(qmd_path)
    formats = _formats(to)
    if renderer not in {"auto", "quarto", "builtin"}:
        raise InputError(
            f"render: renderer must be auto, quarto or builtin, but is {renderer!r}. "
            "Leave it out to use Quarto where it is installed."
        )
    if not source.is_file():
        raise RenderError(f"render: there is no document {source}. Give the path of a .qmd file.")
    quarto = _usable_quarto(renderer, notify)
    epoch = _epoch(timestamp)
    stem = name or source.stem
    with tempfile.TemporaryDirectory(prefix="judgestats-render-") as temporary:
        work = Path(temporary) / "work"
        done = Path(temporary) / "done"
        work.mkdir()
        done.mkdir()
        document = read_document(_copy_document(source, work))
        markdown = execute_document(
            document, params=params, work_dir=work, timeout=timeout, epoch=epoch,
            pictures=_pictures(formats, keep),
        )  # fmt: skip
        if "nocite" not in document.header:
            markdown = without_empty_references(markdown)
        rest = formats
        if quarto:
            try:
                rest = _by_quarto(
                    quarto, document, markdown, formats, metadata, work, done, stem, epoch,
                    timeout=max(timeout, 900.0),
                )  # fmt: skip
            except RenderError as error:
                if renderer == "quarto":
                    raise
                notify(f"The built-in renderer made the report: {' '.join(str(error).split())}")
        with ThreadPoolExecutor(len(FORMATS)) as programs:  # each format is another program's work
            written = [
                programs.submit(_write, document, markdown, kind, metadata, work, done, stem, epoch)
                for kind in rest
            ]
        for one in written:
            one.result()
        for folder in keep:
            if (work / folder).is_dir():
                shutil.copytree(work / folder, done / folder)
        return _publish(done, Path(out_dir), stem, formats)


def _pictures(formats: Sequence[str], keep: Sequence[str]) -> str:
    """The kinds of pictures that `judgestats.reporting.show` writes."""
    kinds = ["svg"]
    if {"docx", "tex", "md"} & set(formats):  # Word and LaTeX need both
        kinds.append("png")
    if "figures" in keep:
        kinds.append("summary")
    return " ".join(kinds)


def _usable_quarto(renderer: str, notify: Callable[[str], None]) -> str | None:
    """The Quarto to use, or None for the built-in renderer; `notify` is told why."""
    quarto = find_quarto() if renderer != "builtin" else None
    if quarto is None:
        if renderer == "quarto":
            raise RenderError(
                "render: quarto is not on PATH. Install it (pip install 'judgestats[quarto]'), or "
                "leave the renderer out to use the built-in one."
            )
        return None
    try:
        version = quarto_version(quarto)
        needed = ".".join(map(str, MINIMUM_VERSION))
        reason = f"quarto on PATH is {'.'.join(map(str, version))}, older than {needed}"
        too_old = version < MINIMUM_VERSION
    except RenderError as error:
        reason, too_old = str(error), True
    if not too_old:
        return quarto
    if renderer == "quarto":
        raise RenderError(f"render: {reason}.")
    notify(f"The built-in renderer makes the report: {reason}")
    return None


def _by_quarto(
    quarto: str,
    document: Document,
    markdown: str,
    formats: Sequence[str],
    metadata: Mapping[str, Any],
    work: Path,
    done: Path,
    stem: str,
    epoch: int,
    *,
    timeout: float,
) -> list[str]:
    """Let Quarto make what it can, all or nothing; returns the formats that are left."""
    copy = work / f"{stem}.qmd"
    copy.write_text(quarto_source(markdown, {**document.header, **metadata}), encoding="utf-8")
    kinds = [f for f in formats if f in {"html", "pdf"}]
    made: list[Path] = []
    try:
        for kind in kinds:
            output = done / f"{stem}.{kind}"
            render_with_quarto(quarto, copy, to=kind, output=output, epoch=epoch, timeout=timeout)
            made.append(output)
    except RenderError:
        for path in made:
            path.unlink()
        raise
    return [f for f in formats if f not in kinds]


def _formats(to: Sequence[str]) -> list[str]:
    wanted = [to] if isinstance(to, str) else list(to)
    unknown = [f for f in wanted if f not in FORMATS]
    if unknown or not wanted:
        raise InputError(
            f"render: to must name formats out of {', '.join(FORMATS)}, but is {unknown or wanted}."
        )
    return list(dict.fromkeys(wanted))


def _epoch(timestamp: datetime | None) -> int:
    if timestamp is not None:
        moment = timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)
        return max(0, int(moment.timestamp()))
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given.isdigit():
        return int(given)
    return int(datetime(2000, 1, 1, tzinfo=UTC).timestamp())


def _copy_document(source: Path, work: Path) -> Path:
    """Copy the document and the small files beside it, so that nothing is written there."""
    beside = {
        ".bib", ".csl", ".css", ".scss", ".typ", ".md", ".json", ".yml", ".yaml", ".svg", ".png",
        ".jpg",
    }  # fmt: skip
    for path in sorted(source.parent.iterdir()):
        small = path.is_file() and path.stat().st_size < 20_000_000
        hidden = path.name.startswith((".", "_")) and path.name != SHARED_HEADER
        if small and path.suffix in beside and not hidden:
            shutil.copyfile(path, work / path.name)
    copy = work / source.name
    shutil.copyfile(source, copy)
    return copy


def _merged(document: Document, kind: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The header with the options of one format, and the caller's overrides, merged in."""
    header = dict(document.header)
    formats = header.pop("format", None)
    if isinstance(formats, Mapping):
        own = formats.get({"pdf": "typst", "tex": "latex"}.get(kind, kind))
        if isinstance(own, Mapping):
            header.update(own)
    header.update(metadata)
    return header


def _write(
    document: Document,
    markdown: str,
    kind: str,
    metadata: Mapping[str, Any],
    work: Path,
    done: Path,
    stem: str,
    epoch: int,
) -> None:
    header = _merged(document, kind, metadata)
    output = done / f"{stem}.{kind}"
    if kind == "html":
        page = pandoc.to_html(markdown, header=header, work_dir=work)
        output.write_text(page, encoding="utf-8")
    elif kind == "pdf":
        source = pandoc.to_typst(markdown, header=header, work_dir=work)
        typst.compile_pdf(source, work_dir=work, output=output, epoch=epoch)
    else:
        pandoc.to_document(
            markdown, to=kind, header=header, work_dir=work, output=output, epoch=epoch
        )
        if kind in {"tex", "md"}:
            _bring_pictures(output, work, done / f"{stem}_files")


def _bring_pictures(output: Path, work: Path, folder: Path) -> None:
    """Copy the pictures that a text format names and point its paths at the copies."""
    text = output.read_text(encoding="utf-8")
    for picture in sorted(p for p in work.rglob("*") if p.suffix in {".png", ".svg", ".jpg"}):
        inside = picture.relative_to(work).as_posix()
        if inside in text:
            folder.mkdir(exist_ok=True)
            shutil.copyfile(picture, folder / picture.name)
            text = text.replace(inside, f"{folder.name}/{picture.name}")
    output.write_text(text, encoding="utf-8")


def _publish(done: Path, out_dir: Path, stem: str, formats: Sequence[str]) -> dict[str, Path]:
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        for folder in sorted(p for p in done.iterdir() if p.is_dir()):
            shutil.copytree(folder, out_dir / folder.name, dirs_exist_ok=True)
        written: dict[str, Path] = {}
        for kind in formats:
            final = out_dir / f"{stem}.{kind}"
            half = out_dir / f".{final.name}.part"
            shutil.copyfile(done / final.name, half)
            half.replace(final)
            written[kind] = final
    except OSError as error:
        raise RenderError(f"the report cannot be written to {out_dir}: {error}") from error
    return written
