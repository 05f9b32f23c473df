"""Rendering of reports, built in or by Quarto."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from judgestats.deadlines import PROGRAM_SECONDS, run_program, scratch_folder
from judgestats.errors import InputError, RenderError
from judgestats.reporting import pandoc
from judgestats.reporting.document import (
    SHARED_HEADER,
    Document,
    OutputFolder,
    drop_empty_references,
    execute_document,
    read_document,
)
from judgestats.reporting.explorer.page import PAGE
from judgestats.reporting.runs import Run, load_run
from judgestats.sinks import escape_html, escape_markdown
from judgestats.terminal import emit

if TYPE_CHECKING:
    import subprocess

MINIMUM_VERSION = (1, 7)
"""The first Quarto whose typst knows the page's rules (sticky blocks, page numbering)."""
_FORMATS = {"html": "html", "pdf": "typst"}
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# Quarto ends with code 0 after these, with a hole in the page.
_SILENT = re.compile(
    r"[^\n]*(?:Unable to resolve crossref|Citeproc: citation|Could not fetch resource"
    r"|Could not convert image)[^\n]*"
)
_FALLBACK = re.compile(r"^::::: \{\.js-fallback\}\n.*?^:::::$\n?", re.MULTILINE | re.DOTALL)
_NARROW = re.compile(
    r"^(?P<float>:{3,} \{#fig-[a-z0-9-]+\}\n\n)?!\[\]\((?P<wide>[^)\s]+)\)"
    r'\{(?P<alt>fig-alt="[^"]*") narrow="(?P<narrow>[^"]+)"\}$',
    re.MULTILINE,
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^(?P<marks>#{1,6}) (?P<title>.*?)(?: \{(?P<attributes>[^{}]*)\})?\s*$")
_SECTION = re.compile(r"(?<![\w\\@])@(sec-[a-z0-9-]*[a-z0-9])")


def find_quarto() -> str | None:
    """The path of ``quarto``, or None; ``JUDGESTATS_RENDERER=builtin`` sets it aside."""
    if os.environ.get("JUDGESTATS_RENDERER", "") == "builtin":
        return None
    return shutil.which("quarto")


def quarto_version(quarto: str) -> tuple[int, ...]:
    """Quarto's version as numbers.

    Raises
    ------
    RenderError
        It does not answer ``--version`` with one.
    """
    done = run_program([quarto, "--version"], PROGRAM_SECONDS, "quarto --version")
    text = done.stdout.decode(errors="replace").strip()
    numbers = re.match(r"\d+(?:\.\d+)+", text)
    if done.returncode != 0 or numbers is None:
        raise RenderError(f"quarto --version gave no version: {_quarto_message(done)}")
    return tuple(int(part) for part in numbers.group(0).split("."))


def quarto_source(markdown: str, header: Mapping[str, Any]) -> str:
    r"""The document that Quarto is given: header and Markdown, nothing left to run.

    Parameters
    ----------
    markdown : str
        The body after its cells ran.
    header : mapping
        Title, subtitle, date, bibliography, and ``format`` with the options of each format.

    Returns
    -------
    str
        Blocks that only Word, LaTeX and Markdown need are left out. Appendices carry their letter
        in the heading, and references to sections without a number are links: Quarto letters no
        appendix itself, and its typst stops at a reference to an unnumbered heading.

    Examples
    --------
    >>> text = "See @sec-more.\n\n# One\n\n# More {#sec-more .appendix}\n"
    >>> print(quarto_source(text, {"title": "T"}))
    ---
    title: T
    engine: markdown
    ---
    <BLANKLINE>
    See [Appendix A](#sec-more).
    <BLANKLINE>
    # One
    <BLANKLINE>
    # Appendix A. More {#sec-more .unnumbered}
    <BLANKLINE>
    """
    words = {name: str(value) for name, value in header.items() if isinstance(value, str)}
    plain = {**header, **words, "engine": "markdown"}  # YAML has no text but str itself
    for name in ("execute", "jupyter", "params"):
        plain.pop(name, None)
    head = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    return f"---\n{head}---\n\n{_lettered(_NARROW.sub(_both, _FALLBACK.sub('', markdown)))}"


def _both(picture: re.Match[str]) -> str:
    """A figure, and in HTML its narrow variant: `report.css` shows one of them by the screen.

    The variant precedes the float, of which Quarto keeps one picture.
    """
    begin, wide, alt, narrow = picture.group("float", "wide", "alt", "narrow")
    small = f"![]({narrow}){{{alt} .js-narrow}}"
    return (
        f'::: {{.content-visible when-format="html"}}\n\n{small}\n\n:::\n\n'
        f"{begin or ''}![]({wide}){{{alt} .js-wide}}"
    )


def _lettered(markdown: str) -> str:
    """Headings of appendices with their letters, references to unnumbered sections as links."""
    lines: list[str] = []
    outside: list[bool] = []
    links: dict[str, str] = {}
    fence, appendices = "", 0
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        inside = bool(fence)
        if mark and not fence:
            fence, inside = mark.group(1), True
        elif mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1):
            fence = ""
        shown = line
        heading = None if inside else _HEADING.match(line)
        if heading:
            words = (heading["attributes"] or "").split()
            title, top = heading["title"], len(heading["marks"]) == 1
            if ".appendix" in words:
                appendices += 1
                letter = f"Appendix {chr(64 + appendices)}"
                title, name = f"{letter}. {title}", letter
                words = [".unnumbered" if w == ".appendix" else w for w in words]
            else:
                name = title
                if appendices and not top and ".unnumbered" not in words:
                    words.append(".unnumbered")
            if ".unnumbered" in words:
                links |= {w[1:]: f"[{name}](#{w[1:]})" for w in words if w.startswith("#sec-")}
            tail = f" {{{' '.join(words)}}}" if words else ""
            shown = f"{heading['marks']} {title}{tail}"
        lines.append(shown)
        outside.append(not inside)

    def linked(match: re.Match[str]) -> str:
        return links.get(match.group(1), match.group(0))

    return "\n".join(
        _SECTION.sub(linked, line) if free else line
        for line, free in zip(lines, outside, strict=True)
    )


def render_with_quarto(quarto: str, source: Path, *, to: str, output: Path, epoch: int) -> None:
    """Run ``quarto render`` on a document in its own folder and move the result to `output`.

    Parameters
    ----------
    quarto : str
        The program.
    source : Path
        What `quarto_source` made, next to its pictures, bibliography and styles.
    to : {"html", "pdf"}
    output : Path
    epoch : int
        The time written into the result, seconds since 1970.

    Raises
    ------
    RenderError
        With the end of what Quarto printed: when it fails, takes too long, or ends well although a
        reference, a citation or a resource is missing.
    """
    command = [quarto, "render", source.name, "--to", _FORMATS[to], "--output", output.name]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
    environment.pop("JUDGESTATS_RENDERER", None)
    done = run_program(
        command, PROGRAM_SECONDS, "quarto", folder=source.parent, environment=environment
    )
    made = source.parent / output.name
    if done.returncode != 0 or not made.is_file():
        raise RenderError(f"quarto could not render {source.name}: {_quarto_message(done)}")
    missing = _SILENT.search(_ANSI.sub("", done.stderr.decode(errors="replace")))
    if missing:
        raise RenderError(f"quarto rendered {source.name} with a hole: {missing.group(0).strip()}")
    shutil.move(made, output)


def _quarto_message(done: subprocess.CompletedProcess[bytes]) -> str:
    """What Quarto printed, from its error on where it names one, without its own stack."""
    printed = _ANSI.sub("", (done.stdout + done.stderr).decode(errors="replace"))
    told = re.search(r"^ERROR: .*?(?=^Stack trace:|\Z)", printed, re.MULTILINE | re.DOTALL)
    return (told.group(0)[:2000] if told else printed[-2000:]).strip()


FORMATS = ("html", "pdf", "docx", "tex", "md")
"""What can be asked for in `to`."""
_NO_PARAMS: Mapping[str, Any] = {}


def _to_stderr(line: str) -> None:
    emit(f"{line}\n", error=True)


Publish = Callable[[], dict[str, Path]]
"""Waits for a report and puts its files in place: the written file of each format."""


@contextmanager
def begin_render(
    qmd_path: str | os.PathLike[str],
    *,
    to: Sequence[str] = ("html", "pdf"),
    params: Mapping[str, Any] = _NO_PARAMS,
    out_dir: str | os.PathLike[str] = ".",
    name: str | None = None,
    metadata: Mapping[str, Any] = _NO_PARAMS,
    timestamp: datetime | None = None,
    renderer: str = "auto",
    keep: Sequence[str] = (),
    evidence: Callable[[str], str] | None = None,
) -> Iterator[Publish]:
    """Run a document's cells; pandoc, typst and Quarto work on while the block does.

    The cells run in this process, with its rights, and without a time limit.

    Parameters
    ----------
    qmd_path : path
        The document. Files next to it (bibliography, style, Markdown) are available to its text.
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
        With ``auto`` the built-in renderer serves where Quarto is missing, too old or fails; a line
        on standard error says so.
    keep : sequence of str
        Folders of the document's `OutputFolder` (``figures``, ``tables``) to keep in `out_dir`.
    evidence : function, optional
        As `OutputFolder` has it.

    Yields
    ------
    Publish
        Writes all formats or none: the written file of each. ``tex`` and ``md`` bring a folder
        ``<name>_files`` with the pictures. Raises what failed since.

    Raises
    ------
    InputError
        For an unknown format or renderer.
    RenderError
        Naming the cell and line, or the program, that failed. Nothing is written then.
    """
    source = Path(qmd_path)
    formats = _formats(to)
    if renderer not in {"auto", "quarto", "builtin"}:
        raise InputError(
            f"render: renderer must be auto, quarto or builtin, but is {renderer!r}. "
            "Leave it out to use Quarto where it is installed."
        )
    if not source.is_file():
        raise RenderError(f"render: there is no document {source}. Give the path of a .qmd file.")
    quarto = _usable_quarto(renderer)
    epoch = _epoch(timestamp)
    stem = name or source.stem
    with scratch_folder("render") as temporary:
        work = temporary / "work"
        done = temporary / "done"
        work.mkdir()
        done.mkdir()
        document = read_document(_copy_document(source, work))
        sink = OutputFolder(
            folder=work, pictures=_pictures(formats, keep), has_fallbacks=True, evidence=evidence
        )
        markdown = execute_document(document, params=params, sink=sink, epoch=epoch)
        if "nocite" not in document.header:
            markdown = drop_empty_references(markdown)
        for folder in keep:
            if (work / folder).is_dir():
                shutil.copytree(work / folder, done / folder)

        job = _Job(document, markdown, metadata, work, done, stem, epoch)

        def render_quarto(program: str) -> None:
            rest = formats
            try:
                rest = _run_quarto(program, job, formats)
            except RenderError as error:
                if renderer == "quarto":
                    raise
                _to_stderr(f"The built-in renderer made the report: {' '.join(str(error).split())}")
            for kind in rest:
                _write(job, kind)

        with ThreadPoolExecutor(len(FORMATS)) as programs:  # each format is another program's work
            written = (
                [programs.submit(render_quarto, quarto)]
                if quarto
                else [programs.submit(_write, job, kind) for kind in formats]
            )

            def publish() -> dict[str, Path]:
                for one in written:
                    one.result()
                if evidence is not None and "html" in formats:
                    page = done / f"{stem}.html"
                    page.write_text(link_intervals(page.read_text("utf-8"), evidence), "utf-8")
                return _publish(done, Path(out_dir), stem, formats)

            yield publish


_NUMBER = r"[\u2212-]?[\d,]*\.?\d+%?"
_INTERVAL = re.compile(
    r"<(?P<left>head|a|svg|pre|code)\b.*?</(?P=left)>"
    r'|<span data-record="(?P<item>[^"]+\.item_id)">[^<]*</span>'
    r'|\[<span data-record="(?P<ends>[^"]+)">[^\]]*\]'
    r'|<span[^>]* data-record="(?P<within>[^"]+)"[^>]*>'
    rf"|<[^>]*>|(?<=[\d%I]\s)\[{_NUMBER},\s+{_NUMBER}\]",
    re.DOTALL,
)
"""An item, or an interval in marked-up ends or in a text, and the tags that are between them."""


def link_intervals(page: str, evidence: Callable[[str], str]) -> str:
    """Return a report with its intervals and items as links to the judgments behind them.

    Parameters
    ----------
    page : str
        HTML, in which numbers and sentences have the address of their record.
    evidence : function
        As `OutputFolder` has it; also of a sentence.

    Examples
    --------
    >>> link_intervals("Of j-1 ICC = .9 [.8, .95]", lambda where: "judge=j-1" * ("j-1" in where))
    'Of j-1 ICC = .9 <a class="evidence" href="explore.html#judge=j-1">[.8, .95]</a>'
    """
    where = ""

    def behind(found: re.Match[str]) -> str:
        """The judgments behind an address, else those that its sentence names."""
        told = page[page.rfind(">", 0, found.start()) + 1 : found.start()]
        sentence = unescape(told.rpartition(". ")[2]).replace("#", " ")
        own = found["item"] or found["ends"]
        return (evidence(own or where) if own or where else "") or evidence(sentence)

    def link(found: re.Match[str]) -> str:
        nonlocal where
        text, own = found[0], found["item"] or found["ends"]
        if text.startswith("<") and not own:
            where = found["within"] or ("" if text == "</span>" else where)
            return text
        fragment = behind(found)
        address = f"{PAGE}#{escape_html(fragment)}" if fragment else PAGE
        return f'<a class="evidence" href="{address}">{text}</a>'

    return _INTERVAL.sub(link, page)


def _pictures(formats: Sequence[str], keep: Sequence[str]) -> frozenset[str]:
    """The kinds of pictures that a document of these formats holds."""
    kinds = {"svg"}
    if {"docx", "tex", "md"} & set(formats):  # Word and LaTeX need both
        kinds.add("png")
    if "figures" in keep:
        kinds.add("summary")
    return frozenset(kinds)


def _usable_quarto(renderer: str) -> str | None:
    """The Quarto to use, or None for the built-in renderer; a line says why."""
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
    _to_stderr(f"The built-in renderer makes the report: {reason}")
    return None


class _Job(NamedTuple):
    """Inputs of all formats, and the folders of the work and of finished files."""

    document: Document
    markdown: str
    metadata: Mapping[str, Any]
    work: Path
    done: Path
    stem: str
    epoch: int


def _run_quarto(quarto: str, job: _Job, formats: Sequence[str]) -> list[str]:
    """Let Quarto make what it can, all or nothing; returns the formats that are left."""
    copy = job.work / f"{job.stem}.qmd"
    header = {**job.document.header, **job.metadata}
    copy.write_text(quarto_source(job.markdown, header), encoding="utf-8")
    kinds = [f for f in formats if f in {"html", "pdf"}]
    made: list[Path] = []
    try:
        for kind in kinds:
            output = job.done / f"{job.stem}.{kind}"
            render_with_quarto(quarto, copy, to=kind, output=output, epoch=job.epoch)
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
    """Copy the document and the small files next to it, so that nothing is written there."""
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


def _merge_header(document: Document, kind: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The header with the options of one format, and the caller's overrides, merged in."""
    header = dict(document.header)
    formats = header.pop("format", None)
    if isinstance(formats, Mapping):
        own = formats.get({"pdf": "typst", "tex": "latex"}.get(kind, kind))
        if isinstance(own, Mapping):
            header.update(own)
    header.update(metadata)
    return header


def _write(job: _Job, kind: str) -> None:
    """Make one format by pandoc and typst."""
    header = _merge_header(job.document, kind, job.metadata)
    output = job.done / f"{job.stem}.{kind}"
    if kind == "html":
        page = pandoc.to_html(job.markdown, header=header, work_dir=job.work)
        output.write_text(page, encoding="utf-8")
    elif kind == "pdf":
        source = pandoc.to_typst(job.markdown, header=header, work_dir=job.work)
        pandoc.compile_pdf(source, work_dir=job.work, output=output, epoch=job.epoch)
    else:
        pandoc.to_document(
            job.markdown, to=kind, header=header, work_dir=job.work, output=output, epoch=job.epoch
        )
        if kind in {"tex", "md"}:
            _bring_pictures(output, job.work, job.done / f"{job.stem}_files")


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


DOCUMENTS = ("brief", "experiment", "audit", "compare", "replication")
"""The documents that come with judgestats."""


def document_path(name: str) -> Path:
    """Path of a document, by its name or the path of a custom ``.qmd``.

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
        f"there is no document {name!r}. Give one of {', '.join(DOCUMENTS)}, or the path of a "
        ".qmd file."
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
        A document's name (``experiment``, ``audit``, ...) or the path of a custom ``.qmd``. The
        default is ``brief``, with `detail` the document of the run's kind, and ``compare`` for
        several runs.
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
    with begin_report(
        run, to=to, out_dir=out_dir, document=document, name=name, renderer=renderer,
        figures=figures, detail=detail,
    ) as publish:  # fmt: skip
        return publish()


@contextmanager
def begin_report(
    run: str | os.PathLike[str] | Run | Sequence[str | os.PathLike[str] | Run],
    *,
    to: Sequence[str],
    out_dir: str | os.PathLike[str],
    document: str = "",
    name: str = "report",
    renderer: str = "auto",
    figures: bool = False,
    detail: str = "brief",
) -> Iterator[Publish]:
    """Run the cells of a report; pandoc, typst and Quarto work on while the block does.

    Parameters
    ----------
    run, to, out_dir, document, name, renderer, figures, detail
        As `render_report` takes them.

    Yields
    ------
    Publish

    Raises
    ------
    InputError, RenderError
        As `render_report` does.
    """
    several = isinstance(run, (list, tuple))
    listed: list[Any] = list(run) if isinstance(run, (list, tuple)) else [run]
    loaded = [r if isinstance(r, Run) else load_run(r) for r in listed]
    if several and len(loaded) < 2 and not document:
        raise InputError(
            f"render_report: run must name at least two runs to compare, but names {len(loaded)}. "
            "Give one run by itself for its own report."
        )
    first = loaded[0]
    moments = [r.moment for r in loaded if r.moment is not None]
    metadata: dict[str, str] = {
        "title": escape_markdown(first.title),
        "subtitle": escape_markdown(first.question),
    }
    if several:
        metadata = {"title": f"{len(loaded)} runs compared"}
    if moments:
        metadata["date"] = f"{max(moments):%Y-%m-%d %H:%M} UTC"
    if detail not in {"brief", "full"}:
        raise InputError(f"render_report: detail must be brief or full, but is {detail!r}.")
    # the files of a run stand together in its folder, where they are logged from
    beside = (Path(first.folder if figures else out_dir) / PAGE).is_file()
    kind = "compare" if several else "brief" if detail == "brief" else first.records.kind
    with begin_render(
        document_path(document or kind),
        to=to,
        params={"runs": [str(r.folder) for r in loaded]} if several else {"run": str(first.folder)},
        out_dir=out_dir,
        name=name,
        metadata=metadata,
        timestamp=max(moments) if moments else None,
        renderer=renderer,
        keep=("figures", "tables") if figures else ("tables",),
        evidence=first.evidence if beside and not several else None,
    ) as publish_files:

        def publish() -> dict[str, Path]:
            made = publish_files()
            if figures:
                _summary_picture(first, Path(out_dir))
            return made

        yield publish


def _summary_picture(run: Run, out_dir: Path) -> None:
    """The figure that answers, as a picture for lists of runs."""
    drawn_beside = out_dir / "figures" / "summary.png"
    if drawn_beside.is_file():  # by the document's own cells
        drawn_beside.replace(out_dir / "summary.png")
        return
    from judgestats.reporting.sections.answer import answer_figure

    drawn = answer_figure(run)
    if drawn is not None:
        drawn.figure.save(out_dir / "summary.png", dpi=110)
