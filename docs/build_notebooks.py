"""Execute the notebooks of docs/notebooks, and write each as a page of the site.

    python docs/build_notebooks.py            # run them, keep what they print
    python docs/build_notebooks.py --check    # CI: they run, and print what is committed

A notebook is edited in Jupyter and run here: in an empty folder, with a limit of time. Kept are
results and what is printed; what goes to standard error is not. Pictures are not compared.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "notebooks"
SECONDS = 240
"""Limit for one notebook: they take a few seconds each, more on a machine with other work."""
PATHS = re.compile(r"(?:/(?:home|root|tmp|usr|var|work|Users|opt)/)[\w./-]+")


def executed(path: Path) -> nbformat.NotebookNode:
    """A notebook with its outputs as they are now."""
    book = nbformat.read(path, as_version=4)
    os.environ["PYTHONPATH"] = str(ROOT)  # the kernel imports this checkout
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(book, timeout=SECONDS, resources={"metadata": {"path": folder}}).execute()
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            kept = [o for o in cell.outputs if o.output_type != "stream" or o.name == "stdout"]
            cell.outputs = [_clean(output) for output in kept]
    return book


def _clean(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Text and one picture; a page within the page is left to those who run it."""
    data = output.get("data")
    if data:
        wanted = ("text/plain", "image/png")
        output["data"] = {kind: data[kind] for kind in wanted if kind in data}
        output["metadata"] = {}
    return output


def told(book: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """Code and text of what comes out, cell by cell."""
    return [
        (cell.source, "".join(_text(o) for o in cell.get("outputs", []))) for cell in book.cells
    ]


def _text(output: Any) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))


def page(name: str, book: nbformat.NotebookNode) -> tuple[str, dict[str, bytes]]:
    """The notebook as Markdown, and its pictures by file name."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in book.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source.replace(".ipynb)", ".md)"))
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            picture = output.get("data", {}).get("image/png")
            if picture:
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode(picture)
                parts.append(f"![{_alternative(_text(output))}]({file})")
            elif _text(output).strip():
                parts.append(f"```text\n{_text(output).rstrip()}\n```")
    note = f"*[{name}.ipynb]({name}.ipynb), run by `docs/build_notebooks.py`.*"
    return "\n\n".join([*parts, note]) + "\n", pictures


def _alternative(told: str) -> str:
    """What a picture shows, for those who do not see it: its kind, of the text of the object."""
    kind = re.match(r"\w+", told)
    return re.sub(r"(?<=[a-z])[A-Z]", lambda m: f" {m[0].lower()}", kind[0]) if kind else "Figure"


def wrong(path: Path, book: nbformat.NotebookNode) -> str:
    """What is amiss with a notebook that was run, or nothing."""
    before = nbformat.read(path, as_version=4)
    for old, new in zip(told(before), told(book), strict=True):
        if old != new:
            return f"prints {new[1][:200]!r}, committed is {old[1][:200]!r}"
    text, _ = page(path.stem, before)
    if path.with_suffix(".md").read_text(encoding="utf-8") != text:
        return "its page is not what the notebook holds"
    found = PATHS.search(text)
    return f"names a folder of a machine: {found[0]}" if found else ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for notebook in sorted(FOLDER.glob("*.ipynb")):
        fresh = executed(notebook)
        if check:
            if fault := wrong(notebook, fresh):
                sys.exit(f"{notebook.name}: {fault}: python docs/build_notebooks.py")
            continue
        nbformat.write(fresh, notebook)
        text, pictures = page(notebook.stem, fresh)
        notebook.with_suffix(".md").write_text(text, encoding="utf-8")
        for file, data in pictures.items():
            (FOLDER / file).write_bytes(data)
