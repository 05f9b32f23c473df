"""Size and shape of Python code: lines without docstrings, comments, and blank lines.

    python .ci/shape.py judgestats             # code lines and files, by folder and in total
    python .ci/shape.py judgestats --sizes     # largest file, and files below 80 lines
    python .ci/shape.py judgestats --imports   # share of lines that are imports

A line counts as code when a token stands on it that is no comment, by ``tokenize``; lines of
docstrings, by ``ast``, do not count. Files named ``__init__.py`` are left out of ``--sizes``.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
SMALL = 80


class Shape(NamedTuple):
    """Code lines of a file, and how many of them are imports."""

    path: Path
    code: int
    imports: int


def _lines(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def shape_of(source: str, path: Path = Path()) -> Shape:
    """Count the lines of a module.

    >>> shape_of('import os  # why\\n\\n# why\\ndef f():\\n    "Doc."\\n    return os\\n')[1:]
    (3, 1)
    """
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            code |= set(range(token.start[0], token.end[0] + 1))
    imports: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            code -= _lines(node.body[0])
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports |= _lines(node)
    return Shape(path, len(code), len(imports & code))


def shapes(folder: Path) -> Iterator[Shape]:
    """The shape of each Python file of a folder, in the order of its path."""
    for path in sorted(folder.rglob("*.py")):
        if "__pycache__" not in path.parts:
            yield shape_of(path.read_text(encoding="utf-8"), path)


def largest_and_small(found: list[Shape]) -> tuple[Shape, int]:
    """The largest file, and the number of files below 80 lines; no ``__init__.py`` counts."""
    own = [s for s in found if s.path.name != "__init__.py"]
    return max(own, key=lambda s: s.code), sum(s.code < SMALL for s in own)


def import_share(found: list[Shape]) -> float:
    """Share of code lines that are imports."""
    return sum(s.imports for s in found) / sum(s.code for s in found)


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of Python files, e.g. judgestats")
    parser.add_argument("--sizes", action="store_true", help="largest file and small files")
    parser.add_argument("--imports", action="store_true", help="share of import lines")
    args = parser.parse_args()
    found = list(shapes(args.folder))
    if not found:
        parser.error(f"{args.folder}: no Python file found")
    if args.sizes:
        largest, small = largest_and_small(found)
        print(f"largest file      {largest.code:>7,}  {largest.path}")
        print(f"below {SMALL} lines    {small:>7,}  files")
    if args.imports:
        print(f"import lines      {sum(s.imports for s in found):>7,}  {import_share(found):.1%}")
    if not (args.sizes or args.imports):
        folders = sorted({s.path.parent for s in found})
        for folder in folders:
            own = [s for s in found if s.path.parent == folder]
            print(f"{sum(s.code for s in own):>7,}  {len(own):>4} files  {folder}")
        print(f"{sum(s.code for s in found):>7,}  {len(found):>4} files")


if __name__ == "__main__":
    main()
