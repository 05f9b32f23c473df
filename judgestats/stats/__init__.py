"""The numbers: pure functions over arrays, and the frozen result objects they return.

>>> from judgestats import stats
>>> round(stats.fleiss_kappa([["a", "a"], ["b", "b"], ["a", "b"]]).estimate, 3)
0.333

The functions live in rooms by question, and each room uses only those before it: `inference`,
`layouts`, `comparison`, `reliability`, `spread`, `agreement`, `validity`, `instrument`, `planning`.
All can be had from here; one is imported, with what it needs and nothing else, when it is first
used. The public list is the package's stub, ``__init__.pyi``: what a type checker reads is what
there is.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

from judgestats.deprecated import REMOVED_STATISTICS, warn_removed_statistic


def _public_list() -> dict[str, str]:
    """Every public name with the module that defines it, from the stub beside this file."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


_HOME = _public_list()

__all__ = sorted(_HOME)  # noqa: PLE0605  (mypy reads the stub)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        if name in REMOVED_STATISTICS:
            warn_removed_statistic(name)
        raise AttributeError(f"module 'judgestats.stats' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
