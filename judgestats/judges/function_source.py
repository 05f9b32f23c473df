"""What a function that judges is written in: its file, and those of the user's own it imports."""

from __future__ import annotations

import ast
import hashlib
import sysconfig
from collections.abc import Iterator
from pathlib import Path

_MOST_FILES = 500
_INSTALLED = tuple(
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib")
)


def source_digest(module: str, file: Path | None) -> str:
    """Twelve digits of a module's file and of all it imports from beside it.

    What is installed, what is imported by other means than a statement, and files that are only
    read (a prompt, weights) are not seen.

    Parameters
    ----------
    module : str
        Its dotted name.
    file : Path or None
        None where the module has no file.

    Returns
    -------
    str
        Of the file alone where it imports nothing from beside it.

    Examples
    --------
    >>> source_digest("nothing", None)
    'e3b0c44298fc'
    """
    if file is None or not file.is_file():
        return hashlib.sha256(b"").hexdigest()[:12]
    file = file.resolve()
    root = file.parents[module.count(".") + (file.name == "__init__.py")]
    texts = {module: file.read_bytes()}
    if not any(root.is_relative_to(place) for place in _INSTALLED):
        _gather(root, module, file, texts)
    whole = texts.pop(module)
    for name in sorted(texts):
        whole += b"\0" + name.encode() + b"\0" + texts[name]
    return hashlib.sha256(whole).hexdigest()[:12]


def _gather(root: Path, module: str, file: Path, texts: dict[str, bytes]) -> None:
    """Read what is imported from below `root`, each module once."""
    left = [(module, file)]
    while left and len(texts) < _MOST_FILES:
        name, place = left.pop()
        package = name if place.name == "__init__.py" else name.rpartition(".")[0]
        for wanted in _imports(texts[name], package):
            path = root.joinpath(*wanted.split("."))
            for one in (path / "__init__.py", path.with_suffix(".py")):
                if wanted not in texts and one.is_file():
                    texts[wanted] = one.read_bytes()
                    left.append((wanted, one))


def _imports(text: bytes, package: str) -> Iterator[str]:
    """The modules that a file's statements may mean, packages above them included.

    Examples
    --------
    >>> sorted(_imports(b"import a.b\\nfrom . import c", "p"))
    ['a', 'a.b', 'p', 'p.c']
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # told when it is imported
        return
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = [*above, node.module] if node.level else [node.module]
            names = [".".join(p for p in (*base, alias.name) if p) for alias in node.names]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[: i + 1]) for i in range(len(parts)))
