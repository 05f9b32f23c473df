"""Run a document's cells once, in order, and put their outputs back as Markdown."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from judgestats.errors import RenderError
from judgestats.reporting.document import INLINE, Block, Cell, Document, Text
from judgestats.warm_kernel import become_kernel, kernel_environment, taken

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

# Runs before the document's first cell; it does not import judgestats, so any document works.
_SETUP = r"""
import json as _js_json, re as _js_re
from IPython import get_ipython as _js_shell
def _js_inline(expressions):
    found = []
    for text in expressions:
        try:
            value = eval(text, _js_shell().user_ns)
        except Exception as error:
            what = f"inline expression {text!r}: {type(error).__name__}: {error}"
            raise RuntimeError(what) from None
        markdown = getattr(value, "_repr_markdown_", None)
        if callable(markdown) and not isinstance(value, type):
            found.append(str(markdown()))
        else:
            found.append(_js_re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", str(value)))
    print(_js_json.dumps(found))
try:
    import matplotlib as _js_mpl
    _js_mpl.rcParams.update({"svg.hashsalt": "judgestats", "svg.fonttype": "path"})
    import matplotlib_inline.backend_inline as _js_backend
    _js_shell().run_line_magic("matplotlib", "inline")
    _js_backend.set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})
except ImportError:
    pass
"""


def execute_document(
    document: Document,
    *,
    params: Mapping[str, Any],
    work_dir: Path,
    timeout: float = 600.0,
    epoch: int = 0,
    pictures: str = "svg",
) -> str:
    """Execute every cell and inline expression and return the document's Markdown.

    Parameters
    ----------
    document : Document
    params : mapping
        Values for names assigned in the cell tagged ``parameters``.
    work_dir : Path
        Folder in which the cells run and where their pictures are written.
    timeout : float
        Seconds allowed for one cell.
    epoch : int
        The fixed time (seconds since 1970) that tools honouring ``SOURCE_DATE_EPOCH`` see.
    pictures : str
        Which kinds `judgestats.reporting.show` writes, of ``svg``, ``png`` and ``summary``.

    Raises
    ------
    RenderError
        Naming the cell and its line, when a cell fails or takes too long.
    """
    name = document.path.name
    names = document.parameter_names()
    unknown = sorted(set(params) - names)
    if unknown:
        has = ", ".join(sorted(names)) or "none: no cell is tagged `parameters`"
        raise RenderError(f"{name}: unknown parameter {unknown[0]!r}; the document has: {has}")
    plan = _plan(document, params)
    if len(plan) == 1:  # nothing but the renderer's own preparation: no kernel is needed
        return _assemble(document, {}, work_dir)
    for index, (cell, _) in enumerate(plan):
        cell.id = f"c{index}"
    notebook: Any = nbformat.from_dict(  # type: ignore[no-untyped-call]
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell for cell, _ in plan]}
    )
    with tempfile.TemporaryDirectory(prefix="js-") as sockets:  # short: socket paths are limited
        environment = kernel_environment(Path(sockets), epoch) | {"JUDGESTATS_PICTURES": pictures}
        done = _run(plan, notebook, document, Path(sockets), work_dir, timeout, environment)
    return _assemble(document, done, work_dir)


def _run(
    plan: list[tuple[Any, Block | None]],
    notebook: Any,
    document: Document,
    sockets: Path,
    work_dir: Path,
    timeout: float,
    environment: Mapping[str, str],
) -> dict[int, Any]:
    """Run the planned cells; the cells that ran, by the id of the block each came from."""
    name = document.path.name
    asked = {cell.id for cell, origin in plan if origin is not None}
    manager = _kernel_manager(sockets)
    client = NotebookClient(
        notebook,
        km=manager,
        # the renderer's own cells import matplotlib, which takes long on a busy machine
        timeout_func=lambda cell: max(1, round(timeout)) if cell.id in asked else 180,
        shutdown_kernel="immediate",
        resources={"metadata": {"path": str(work_dir)}},
    )
    done: dict[int, Any] = {}
    with client.setup_kernel(env=dict(environment), cwd=str(work_dir), cleanup_kc=True):
        for index, (cell, origin) in enumerate(plan):
            place = _place(origin)
            try:
                ran = client.execute_cell(cell, index)
            except CellTimeoutError as error:
                raise RenderError(
                    f"{name}, {place}: took longer than {timeout:g} seconds"
                ) from error
            except DeadKernelError as error:
                raise RenderError(f"{name}, {place}: Python died while running it") from error
            except CellExecutionError as error:
                raise RenderError(_failure(name, origin, error, cell)) from error
            if origin is not None:
                done[id(origin)] = ran
    return done


def _plan(document: Document, params: Mapping[str, Any]) -> list[tuple[Any, Block | None]]:
    """The cells to run, each with the block it came from (None for the renderer's own)."""
    new = _code_cell
    plan: list[tuple[Any, Block | None]] = [(new(_SETUP), None)]
    for block in document.blocks:
        if isinstance(block, Text):
            if block.expressions:
                plan.append((new(f"_js_inline({block.expressions!r})"), block))
            continue
        if document.execute_option(block, "eval", default=True):
            plan.append((new(block.source), block))
        if block.is_parameters and params:
            values = "\n".join(f"{key} = {value!r}" for key, value in params.items())
            plan.append((new(values), None))
    return plan


def _code_cell(source: str) -> Any:
    """A cell as `nbformat` makes it, without compiling its schema to check what we wrote."""
    return nbformat.from_dict(  # type: ignore[no-untyped-call]
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "id": "",
         "execution_count": None}
    )  # fmt: skip


def _place(origin: Block | None) -> str:
    if isinstance(origin, Cell):
        return origin.place
    return f"text from line {origin.line}" if origin is not None else "before the first cell"


def _failure(name: str, origin: Block | None, error: CellExecutionError, cell: Any) -> str:
    what = f"{error.ename}: {_ANSI.sub('', str(error.evalue))}"
    if isinstance(origin, Cell):
        # the last frame inside the cell gives the line of the document
        frames = re.findall(r"Cell In\[\d+\], line (\d+)", _traceback(cell))
        if frames:
            line = origin.line + int(frames[0]) - 1
            where = f"cell {origin.label!r}, line {line}" if origin.label else f"line {line}"
            return f"{name}, {where}: {what}"
    return f"{name}, {_place(origin)}: {what}"


def _traceback(cell: Any) -> str:
    lines = [
        line
        for output in cell.get("outputs", [])
        if output.output_type == "error"
        for line in output.traceback
    ]
    return _ANSI.sub("", "\n".join(lines))


def _kernel_manager(folder: Path) -> AsyncKernelManager:
    """A manager that knows one kernel: the interpreter which runs this code."""
    kernels = folder / "kernels"
    spec_dir = kernels / "judgestats"
    spec_dir.mkdir(parents=True)
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "judgestats",
        "language": "python",
    }
    (spec_dir / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    specs = KernelSpecManager(kernel_dirs=[str(kernels)], ensure_native_kernel=False)
    manager = AsyncKernelManager(
        kernel_name="judgestats",
        kernel_spec_manager=specs,
        transport="tcp" if sys.platform == "win32" else "ipc",  # no port, nothing to eavesdrop
        connection_file=str(folder / "k.json"),
    )
    if (process := taken()) is not None:
        manager.provisioner = _Warm(process, kernel_spec=manager.kernel_spec, parent=manager)
    return manager


class _Warm(LocalProvisioner):
    """Has a Python that waits become the kernel, rather than start one."""

    def __init__(self, waiting: subprocess.Popen[bytes], **more: Any) -> None:
        super().__init__(**more)
        self._waiting = waiting

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Tell it the words after ``-m``, environment and folder; start one if it has gone."""
        folder = str(kwargs["cwd"])
        environment = {**kwargs["env"], "JPY_PARENT_PID": str(os.getpid())}  # it ends with us
        try:
            become_kernel(self._waiting, argv=cmd[2:], env=environment, cwd=folder)
        except BrokenPipeError:
            return await super().launch_kernel(cmd, **kwargs)
        self.process, self.pid, self.cwd = self._waiting, self._waiting.pid, folder
        if hasattr(os, "getpgid"):
            self.pgid = os.getpgid(self._waiting.pid)
        return self.connection_info


def _assemble(document: Document, done: Mapping[int, Any], work_dir: Path) -> str:
    parts: list[str] = []
    pictures = _Pictures(work_dir)
    for block in document.blocks:
        ran = done.get(id(block))
        if isinstance(block, Text):
            parts.append(_fill(block, ran))
        else:
            parts.append(_cell_markdown(document, block, ran, pictures))
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _fill(block: Text, ran: Any) -> str:
    if ran is None:
        return block.text
    text = "".join(o.text for o in ran.outputs if o.get("name") == "stdout")
    values = iter(json.loads(text.strip().splitlines()[-1]))
    return INLINE.sub(lambda _: str(next(values)), block.text)


def _cell_markdown(document: Document, cell: Cell, ran: Any, pictures: _Pictures) -> str:
    if document.execute_option(cell, "include", default=True) is False:
        return ""
    parts: list[str] = []
    if document.execute_option(cell, "echo", default=True) and cell.source.strip():
        parts.append(_fenced(cell.source, classes=".python .cell-code"))
    output = document.execute_option(cell, "output", default=True)
    if ran is None or output is False or cell.is_parameters:
        return "\n\n".join(parts)
    warnings = document.execute_option(cell, "warning", default=True)
    asis = output == "asis"
    shown = [_output_markdown(o, pictures, asis=asis, warnings=warnings) for o in ran.outputs]
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


def _output_markdown(output: Any, pictures: _Pictures, *, asis: bool, warnings: bool) -> str:
    if output.output_type == "stream":
        if output.name == "stderr" and not warnings:
            return ""
        if asis and output.name == "stdout":
            return str(output.text)
        return _fenced(_ANSI.sub("", output.text).rstrip("\n"), classes=".cell-output")
    if output.output_type not in {"display_data", "execute_result"}:
        return ""
    data = output.data
    if "text/markdown" in data:
        return str(data["text/markdown"])
    if "image/svg+xml" in data:
        return f"![]({pictures.write(data['image/svg+xml'].encode(), 'svg')})"
    if "image/png" in data:
        return f"![]({pictures.write(base64.b64decode(data['image/png']), 'png')})"
    # text/html is left aside: under Quarto it brings scripts from a remote address
    text = str(data.get("text/plain", ""))
    return _fenced(text, classes=".cell-output") if text else ""


def _fenced(text: str, *, classes: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence} {{{classes}}}\n{text}\n{fence}"


class _Pictures:
    """Numbers and writes the pictures that cells display."""

    def __init__(self, work_dir: Path) -> None:
        self.work_dir = work_dir
        self.count = 0

    def write(self, data: bytes, suffix: str) -> str:
        folder = self.work_dir / "cell-pictures"
        folder.mkdir(exist_ok=True)
        self.count += 1
        path = folder / f"picture-{self.count}.{suffix}"
        path.write_bytes(data)
        return f"{folder.name}/{path.name}"
