"""Execution of a document's cells, whose outputs become Markdown."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from judgestats.errors import RenderError
from judgestats.reporting.document import INLINE, Cell, Document, Sink, Text, use_sink

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MARKUP = re.compile(r"([!-/:-@\[-`{-~])")


def execute_document(
    document: Document, *, params: Mapping[str, Any], sink: Sink, epoch: int = 0
) -> str:
    """Execute every cell and inline expression and return the document's Markdown.

    The cells run in this process, with its rights.

    Parameters
    ----------
    document : Document
    params : mapping
        Values for names assigned in the cell tagged ``parameters``.
    sink : Sink
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
    with use_sink(sink), _environment(MPLBACKEND="Agg", SOURCE_DATE_EPOCH=str(epoch)):
        for block in document.blocks:
            if isinstance(block, Text):
                parts.append(_fill(block, runner))
                continue
            outputs = None
            if document.execute_option(block, "eval", default=True):
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
                outputs += [_Output("svg", _drawn(n)) for n in _figures() if n not in before]
        except (Exception, SystemExit) as error:
            line = self._line(error) or cell.line
            raise RenderError(f"{self._name}, {where} {line}: {_named(error)}") from error
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
                    f"{expression!r}: {_named(error)}"
                ) from error
            yield _MARKUP.sub(r"\\\1", str(value)) if markdown is None else markdown

    def _execute(self, cell: Cell) -> None:
        source = "\n" * (cell.line - 1) + cell.source  # a traceback has the document's lines
        tree = ast.parse(source, self._file)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self._exec(tree)
        if not isinstance(last, ast.Expr):
            return
        code = compile(ast.Expression(last.value), self._file, "eval", dont_inherit=True)
        value = eval(code, self.namespace)  # noqa: S307 - the author's own code
        if value is not None and not cell.source.rstrip().endswith(";"):
            self._display(value)

    def _exec(self, tree: ast.Module) -> None:
        exec(compile(tree, self._file, "exec", dont_inherit=True), self.namespace)  # noqa: S102

    def _display(self, *values: Any) -> None:
        self._outputs += [_shown(value) for value in values]

    def _line(self, error: BaseException) -> int | None:
        """The line of the document at which an error left its code."""
        if isinstance(error, SyntaxError) and error.filename == self._file:
            return error.lineno
        frames = traceback.extract_tb(error.__traceback__)
        return next((f.lineno for f in reversed(frames) if f.filename == self._file), None)


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {_ANSI.sub('', str(error))}"


def _markdown(value: Any) -> str | None:
    """A value as it shows itself in Markdown, if it does."""
    own = getattr(value, "_repr_markdown_", None)
    return str(own()) if callable(own) and not isinstance(value, type) else None


def _shown(value: Any) -> _Output:
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


def _drawn(number: int) -> bytes:
    """A figure of pyplot as SVG; it is closed."""
    from matplotlib import pyplot, rc_context

    figure, out = pyplot.figure(number), io.BytesIO()
    with rc_context({"svg.hashsalt": "judgestats", "svg.fonttype": "path"}):
        undated = {"Date": None, "Creator": None}
        figure.savefig(out, format="svg", bbox_inches="tight", metadata=undated)
    pyplot.close(figure)
    return out.getvalue()


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Set variables of the environment within the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _fill(block: Text, runner: _Runner) -> str:
    if not block.expressions:
        return block.text
    values = runner.evaluate(block)
    return INLINE.sub(lambda _: next(values), block.text)


def _cell_markdown(
    document: Document, cell: Cell, outputs: list[_Output] | None, sink: Sink
) -> str:
    if document.execute_option(cell, "include", default=True) is False:
        return ""
    parts: list[str] = []
    if document.execute_option(cell, "echo", default=True) and cell.source.strip():
        parts.append(_fenced(cell.source, classes=".python .cell-code"))
    output = document.execute_option(cell, "output", default=True)
    if outputs is None or output is False or cell.is_parameters:
        return "\n\n".join(parts)
    warnings = document.execute_option(cell, "warning", default=True)
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


def _output_markdown(output: _Output, sink: Sink, *, asis: bool, warnings: bool) -> str:
    data = output.data
    if output.kind in {"svg", "png"}:
        folder = sink.path("cell-pictures/1").parent
        name = f"{folder.name}/picture-{len(list(folder.iterdir())) + 1}.{output.kind}"
        (sink.folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return f"![]({name})"
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
