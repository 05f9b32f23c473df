"""Quarto documents: header, text, and cells, whose outputs become Markdown."""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TextIO

from judgestats.deadlines import set_environment
from judgestats.errors import RenderError
from judgestats.sinks import breakable, clean, escape_html, typst_string
from judgestats.yaml_text import YamlTextError, read_yaml, read_yaml_file

SHARED_HEADER = "_metadata.yml"
"""The file next to documents with what their headers share, as Quarto reads it."""
INLINE = re.compile(r"(?<![`\\])`\{python\}\s+([^`]+?)\s*`(?!`)")
"""An inline expression: `{python} expr` between single backticks."""
_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*(.*?)\s*$")
_PYTHON = re.compile(r"^\{python\b[^}]*\}$")


@dataclass(frozen=True, kw_only=True)
class OutputFolder:
    """Folder that receives the files of a document's cells: figures, tables, results.

    Attributes
    ----------
    folder : Path
        The document's own folder by default, where Quarto runs the cells.
    pictures : frozenset of str
        Kinds of pictures to write, of ``svg``, ``png`` and ``summary``.
    has_fallbacks : bool
        Whether Word, LaTeX and Markdown are made of the same cells, as `fallback` says.
    evidence : function or None
        Fragment of the interactive page next to the report that shows the data of an address; None
        where there is no such page.
    """

    folder: Path = Path()
    pictures: frozenset[str] = frozenset({"svg"})
    has_fallbacks: bool = False
    evidence: Callable[[str], str] | None = None

    def path(self, name: str) -> Path:
        """The path of a file to write, such as ``tables/pairs.csv``; its folder is made."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


_SINK: ContextVar[OutputFolder | None] = ContextVar("sink", default=None)


def current_output() -> OutputFolder:
    """The sink of the document whose cells run; the current folder where none does."""
    return _SINK.get() or OutputFolder()


@contextmanager
def use_output(sink: OutputFolder) -> Iterator[None]:
    """Send the files of all cells that run within the block to `sink`."""
    token = _SINK.set(sink)
    try:
        yield
    finally:
        _SINK.reset(token)


_SOURCES = re.compile(r"^#+ [^\n]*\n+(:{3,}) *\{#refs\}\n+\1\n", re.MULTILINE)
_CITED = re.compile(r"(?<![\w\\])@(?!(?:fig|tbl|sec|eq|lst)-)\w")


def drop_empty_references(markdown: str) -> str:
    """A text without the heading of its sources where it cites none.

    Examples
    --------
    >>> text = "One.\\n\\n# References\\n\\n::: {#refs}\\n:::\\n"
    >>> drop_empty_references(text)
    'One.\\n\\n'
    >>> cited = f"As @holm1979 says. {text}"
    >>> drop_empty_references(cited) == cited
    True
    """
    return markdown if _CITED.search(markdown) else _SOURCES.sub("", markdown)


@dataclass(frozen=True, kw_only=True)
class Text:
    """A stretch of Markdown; `verbatim` marks a fenced block in which nothing is evaluated."""

    text: str
    line: int
    verbatim: bool = False

    @property
    def expressions(self) -> list[str]:
        """The inline expressions, in order."""
        return [] if self.verbatim else [m.group(1) for m in INLINE.finditer(self.text)]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A Python cell: its source without the option lines, its options, its first line's number."""

    source: str
    line: int
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The cell's label, empty where it has none."""
        return str(self.options.get("label", ""))

    @property
    def is_parameters(self) -> bool:
        """Whether the cell is tagged ``parameters``."""
        tags = self.options.get("tags", [])
        return "parameters" in ([tags] if isinstance(tags, str) else list(tags))


Block = Text | Cell


@dataclass(frozen=True, kw_only=True)
class Document:
    """A parsed document."""

    path: Path
    header: Mapping[str, Any]
    blocks: tuple[Block, ...]

    def execute_option(self, cell: Cell, name: str) -> Any:
        """A cell's option, else the header's ``execute:`` option, else True."""
        shared = self.header.get("execute") or {}
        return cell.options.get(name, shared.get(name, True))

    def parameter_names(self) -> frozenset[str]:
        """The names assigned in the cell tagged ``parameters``."""
        for block in self.blocks:
            if isinstance(block, Cell) and block.is_parameters:
                names: set[str] = set()
                for node in ast.walk(ast.parse(block.source)):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        names.add(node.id)
                return frozenset(names)
        return frozenset()


def read_document(path: Path) -> Document:
    """Read and parse a ``.qmd`` file; its header overrides the ``_metadata.yml`` of its folder.

    Raises
    ------
    RenderError
        When the file cannot be read or its header, a cell's options or a fence are malformed.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RenderError(f"{path}: the document cannot be read ({error})") from error
    document = parse_document(text, path=Path(path))
    shared = Path(path).parent / SHARED_HEADER
    if not shared.is_file():
        return document
    common = _yaml_pairs(partial(read_yaml_file, shared), f"{shared.name}: its pairs")
    return replace(document, header=_merge_headers(common, document.header))


def _merge_headers(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Two headers, mappings inside them merged too; values of `over` win.

    Examples
    --------
    >>> _merge_headers({"format": {"html": {"toc": True}}}, {"format": {"typst": {}}, "title": "T"})
    {'format': {'html': {'toc': True}, 'typst': {}}, 'title': 'T'}
    """
    out = dict(under)
    for key, value in over.items():
        below = out.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        out[key] = _merge_headers(below, value) if both else value  # type: ignore[arg-type]
    return out


def parse_document(text: str, *, path: Path = Path("document.qmd")) -> Document:
    r"""Parse a document's text.

    Examples
    --------
    >>> d = parse_document("---\ntitle: T\n---\nOne `{python} 1 + 1`.\n\n```{python}\nx = 1\n```\n")
    >>> d.header["title"], [type(b).__name__ for b in d.blocks], d.blocks[0].expressions
    ('T', ['Text', 'Cell'], ['1 + 1'])
    """
    lines = text.replace("\r\n", "\n").split("\n")
    header, start = _header(lines, path)
    blocks: list[Block] = []
    pending: list[str] = []
    pending_line = start + 1

    def flush(next_line: int) -> None:
        nonlocal pending, pending_line
        if any(line.strip() for line in pending):
            blocks.append(Text(text="\n".join(pending), line=pending_line))
        pending, pending_line = [], next_line

    i = start
    while i < len(lines):
        fence = _FENCE.match(lines[i])
        if fence is None:
            pending.append(lines[i])
            i += 1
            continue
        end = _fence_end(lines, i, fence.group(2))
        if end is None:
            raise RenderError(f"{path.name}, line {i + 1}: this code block is never closed")
        flush(end + 2)
        body = lines[i + 1 : end]
        if _PYTHON.match(fence.group(3)):
            blocks.append(_cell(body, line=i + 1, path=path))
        else:
            block = "\n".join(lines[i : end + 1])
            blocks.append(Text(text=block, line=i + 1, verbatim=True))
        i = end + 1
    flush(len(lines) + 1)
    return Document(path=path, header=header, blocks=tuple(blocks))


def _yaml_pairs(read: Callable[[], Any], what: str) -> dict[str, Any]:
    """The pairs of some YAML, which `what` names in the plural."""
    try:
        pairs = read() or {}
    except (OSError, YamlTextError) as error:
        raise RenderError(f"{what} are malformed: {error}") from error
    if not isinstance(pairs, dict):
        raise RenderError(f"{what} must be written as key: value")
    return pairs


def _header(lines: list[str], path: Path) -> tuple[dict[str, Any], int]:
    if not lines or lines[0].strip() != "---":
        return {}, 0
    end = next((i for i in range(1, len(lines)) if lines[i].strip() in {"---", "..."}), 0)
    if not end:
        raise RenderError(f"{path.name}: the YAML header is never closed with ---")
    read = partial(read_yaml, "\n".join(lines[1:end]))
    return _yaml_pairs(read, f"{path.name}: pairs of the YAML header"), end + 1


def _fence_end(lines: list[str], start: int, fence: str) -> int | None:
    close = re.compile(rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}\s*$")
    return next((i for i in range(start + 1, len(lines)) if close.match(lines[i])), None)


def _cell(body: list[str], *, line: int, path: Path) -> Cell:
    count = 0
    while count < len(body) and body[count].lstrip().startswith("#|"):
        count += 1
    text = "\n".join(part.lstrip()[2:].removeprefix(" ") for part in body[:count])
    options = _yaml_pairs(partial(read_yaml, text), f"{path.name}, line {line}: #| options")
    return Cell(source="\n".join(body[count:]), line=line + 1 + count, options=options)


_PAGE_WIDTH = 80


def verbatim(text: object) -> str:
    """Untrusted text of several lines as Markdown that shows it as it stands, in every format.

    Parameters
    ----------
    text : object
        The text.

    Returns
    -------
    str
        Raw blocks for HTML and typst, and `fallback` for other formats.
    """
    plain = clean(text).strip("\n") or " "
    html = f'<pre class="wrapped" data-kind=""><code>{escape_html(plain)}</code></pre>'
    # what is copied from the page must hold no sign that was not there: as few breaks as will do
    lines = "\n".join(breakable(line, longest=_PAGE_WIDTH) for line in plain.split("\n"))
    typst = f"#raw(block: true, {typst_string(lines)})"
    indented = "\n".join(f"    {line}" for line in plain.expandtabs(4).split("\n"))
    return f"```{{=html}}\n{html}\n```\n\n```{{=typst}}\n{typst}\n```\n\n" + fallback(indented)


def fallback(markdown: str) -> str:
    """Markdown for Word, LaTeX and Markdown, where HTML and typst have their own raw blocks.

    Only the built-in renderer writes those formats and runs the cells once for all of them; under
    Quarto, and elsewhere, there is no fallback.
    """
    if not current_output().has_fallbacks:
        return ""
    return f"::::: {{.js-fallback}}\n\n{markdown}\n\n:::::\n"


_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MARKUP = re.compile(r"([!-/:-@\[-`{-~])")


def execute_document(
    document: Document, *, params: Mapping[str, Any], sink: OutputFolder, epoch: int = 0
) -> str:
    """Execute every cell and inline expression and return the document's Markdown.

    The cells run in this process, with its rights.

    Parameters
    ----------
    document : Document
    params : mapping
        Values for names assigned in the cell tagged ``parameters``.
    sink : OutputFolder
        Receives the files of the cells and the pictures that they display.
    epoch : int
        The fixed time (seconds since 1970) that tools honouring ``SOURCE_DATE_EPOCH`` see.

    Raises
    ------
    RenderError
        Naming the cell and its line, when a cell fails.
    """
    name = document.path.name
    names = document.parameter_names()
    unknown = sorted(set(params) - names)
    if unknown:
        has = ", ".join(sorted(names)) or "none: no cell is tagged `parameters`"
        raise RenderError(f"{name}: unknown parameter {unknown[0]!r}; the document has: {has}")
    runner = _Runner(document)
    parts: list[str] = []
    # MPLBACKEND matters where matplotlib is not imported yet: no window opens
    with use_output(sink), set_environment(MPLBACKEND="Agg", SOURCE_DATE_EPOCH=str(epoch)):
        for block in document.blocks:
            if isinstance(block, Text):
                parts.append(_fill(block, runner))
                continue
            outputs = None
            if document.execute_option(block, "eval"):
                outputs = runner.run(block)
            if block.is_parameters:
                runner.namespace.update(params)
            parts.append(_cell_markdown(document, block, outputs, sink))
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


@dataclass
class _Output:
    """What a cell printed or displayed: text of a stream, Markdown, or a picture."""

    kind: Literal["stdout", "stderr", "markdown", "plain", "svg", "png"]
    data: str | bytes


class _Stream(io.TextIOBase):
    """Standard output or error of a cell; other threads keep the stream that was there."""

    def __init__(
        self, kind: Literal["stdout", "stderr"], outputs: list[_Output], other: TextIO | None
    ) -> None:
        self._kind, self._outputs, self._other = kind, outputs, other
        self._thread = threading.get_ident()

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        if threading.get_ident() != self._thread:
            return self._other.write(text) if self._other is not None else len(text)
        last = self._outputs[-1] if self._outputs else None
        if last is not None and last.kind == self._kind:
            last.data = str(last.data) + text
        else:
            self._outputs.append(_Output(self._kind, text))
        return len(text)


class _Runner:
    """Runs the cells of a document in one namespace, in order."""

    def __init__(self, document: Document) -> None:
        self._name = document.path.name
        self._file = f"<{self._name}>"
        self._outputs: list[_Output] = []
        self.namespace: dict[str, Any] = {
            "__name__": "__main__",
            "display": self._display,
        }

    def run(self, cell: Cell) -> list[_Output]:
        """Execute a cell; the value of its last expression is displayed."""
        outputs: list[_Output] = []
        self._outputs = outputs
        where = f"cell {cell.label!r}, line" if cell.label else "line"
        before = _figures()
        try:
            with _captured(outputs):
                self._execute(cell)
                outputs += [_Output("svg", _figure_svg(n)) for n in _figures() if n not in before]
        except (Exception, SystemExit) as error:
            line = self._line(error) or cell.line
            raise RenderError(f"{self._name}, {where} {line}: {_error_name(error)}") from error
        return outputs

    def evaluate(self, text: Text) -> Iterator[str]:
        """The values of a text's inline expressions as Markdown."""
        for expression in text.expressions:
            try:
                with _captured([]):
                    value = eval(expression, self.namespace)  # noqa: S307 - the author's own code
                    markdown = _markdown(value)
            except Exception as error:
                raise RenderError(
                    f"{self._name}, text from line {text.line}: inline expression "
                    f"{expression!r}: {_error_name(error)}"
                ) from error
            yield _MARKUP.sub(r"\\\1", str(value)) if markdown is None else markdown

    def _execute(self, cell: Cell) -> None:
        source = "\n" * (cell.line - 1) + cell.source  # a traceback has the document's lines
        tree = ast.parse(source, self._file)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, self._file, "exec", dont_inherit=True), self.namespace)  # noqa: S102
        if not isinstance(last, ast.Expr):
            return
        code = compile(ast.Expression(last.value), self._file, "eval", dont_inherit=True)
        value = eval(code, self.namespace)  # noqa: S307 - the author's own code
        if value is not None and not cell.source.rstrip().endswith(";"):
            self._display(value)

    def _display(self, *values: Any) -> None:
        self._outputs += [_display(value) for value in values]

    def _line(self, error: BaseException) -> int | None:
        """The line of the document at which an error left its code."""
        if isinstance(error, SyntaxError) and error.filename == self._file:
            return error.lineno
        frames = traceback.extract_tb(error.__traceback__)
        return next((f.lineno for f in reversed(frames) if f.filename == self._file), None)


def _error_name(error: BaseException) -> str:
    """A cell's error, and the way on where a document calls what reports no longer have."""
    said = f"{type(error).__name__}: {_ANSI.sub('', str(error))}"
    part = getattr(error, "obj", None)
    if isinstance(part, ModuleType) and part.__name__.startswith("judgestats.reporting"):
        said += ". Write the document anew: judgestats report RUN --document NEW.qmd."
    return said


def _markdown(value: Any) -> str | None:
    """A value as it shows itself in Markdown, if it does."""
    own = getattr(value, "_repr_markdown_", None)
    return str(own()) if callable(own) and not isinstance(value, type) else None


def _display(value: Any) -> _Output:
    markdown = _markdown(value)
    if markdown is not None:
        return _Output("markdown", markdown)
    for kind in ("svg", "png"):
        own = getattr(value, f"_repr_{kind}_", None)
        if callable(own) and not isinstance(value, type) and (data := own()):
            return _Output(kind, data)
    # HTML is left aside: under Quarto it brings scripts from a remote address
    return _Output("plain", repr(value))


@contextmanager
def _captured(outputs: list[_Output]) -> Iterator[None]:
    """Collect what this thread prints within the block."""
    with (
        redirect_stdout(_Stream("stdout", outputs, sys.stdout)),
        redirect_stderr(_Stream("stderr", outputs, sys.stderr)),
    ):
        yield


def _figures() -> list[int]:
    """The numbers of pyplot's open figures."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return sorted(pyplot.get_fignums()) if pyplot is not None else []


def _figure_svg(number: int) -> bytes:
    """A figure of pyplot as SVG; it is closed."""
    from matplotlib import pyplot, rc_context

    figure, out = pyplot.figure(number), io.BytesIO()
    with rc_context({"svg.hashsalt": "judgestats", "svg.fonttype": "path"}):
        undated = {"Date": None, "Creator": None}
        figure.savefig(out, format="svg", bbox_inches="tight", metadata=undated)
    pyplot.close(figure)
    return out.getvalue()


def _fill(block: Text, runner: _Runner) -> str:
    if not block.expressions:
        return block.text
    values = runner.evaluate(block)
    return INLINE.sub(lambda _: next(values), block.text)


def _cell_markdown(
    document: Document, cell: Cell, outputs: list[_Output] | None, sink: OutputFolder
) -> str:
    if document.execute_option(cell, "include") is False:
        return ""
    parts: list[str] = []
    if document.execute_option(cell, "echo") and cell.source.strip():
        parts.append(_fenced(cell.source, classes=".python .cell-code"))
    output = document.execute_option(cell, "output")
    if outputs is None or output is False or cell.is_parameters:
        return "\n\n".join(parts)
    warnings = document.execute_option(cell, "warning")
    asis = output == "asis"
    shown = [_output_markdown(o, sink, asis=asis, warnings=warnings) for o in outputs]
    shown = [text for text in shown if text]
    kind = cell.label.split("-", 1)[0]
    if kind in {"fig", "tbl"} and shown:
        caption = cell.options.get(f"{kind}-cap", "")
        alt = cell.options.get("fig-alt")
        attributes = f" fig-alt={json.dumps(str(alt))}" if alt else ""
        body = "\n\n".join([*shown, *([str(caption)] if caption else [])])
        parts.append(f":::: {{#{cell.label}{attributes}}}\n\n{body}\n\n::::")
    else:
        parts += shown
    return "\n\n".join(parts)


def _output_markdown(output: _Output, sink: OutputFolder, *, asis: bool, warnings: bool) -> str:
    data = output.data
    if output.kind in {"svg", "png"}:
        folder = sink.path("cell-pictures/1").parent
        picture = f"{folder.name}/picture-{len(list(folder.iterdir())) + 1}.{output.kind}"
        (sink.folder / picture).write_bytes(data.encode() if isinstance(data, str) else data)
        return f"![]({picture})"
    text = str(data)
    if output.kind == "markdown" or (output.kind == "stdout" and asis):
        return text
    if not text or (output.kind == "stderr" and not warnings):
        return ""
    plain = _ANSI.sub("", text).rstrip("\n") if output.kind != "plain" else text
    return _fenced(plain, classes=".cell-output")


def _fenced(text: str, *, classes: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence} {{{classes}}}\n{text}\n{fence}"
