"""Public names of a package, imported when they are first used."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def public_names(
    package: str, file: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package from its stub.

    The stub next to ``__init__.py`` lists each name with its module, so that a type checker and the
    package read the same list.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    file : str
        Its ``__file__``.

    Returns
    -------
    tuple of list, function and function

    Examples
    --------
    >>> from judgestats import items
    >>> items.load_bank.__module__
    'judgestats.items.bank'
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    home = {alias.name: str(node.module) for node in imports for alias in node.names}
    names = sorted(home)

    def getattribute(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home[name] == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return names, getattribute, lambda: list(names)
