"""judgestats: how consistent, reliable, fair and human-like is an LLM judge?

>>> import judgestats as js
>>> dir(js)
['audit', 'check', 'compare', 'drift', 'endpoint', 'mlflow', 'read_judgments', 'run', 'score_array',
 'stats']

Names are imported when they are first used, so that ``import judgestats`` itself costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from judgestats.version import __version__ as __version__

if TYPE_CHECKING:
    from judgestats import mlflow, stats
    from judgestats.api import audit, check, compare, drift, endpoint, read_judgments, run
    from judgestats.data.parse import score_array

__all__ = [
    "audit",
    "check",
    "compare",
    "drift",
    "endpoint",
    "mlflow",
    "read_judgments",
    "run",
    "score_array",
    "stats",
]

_HOME = {
    **dict.fromkeys(
        ("audit", "check", "compare", "drift", "endpoint", "read_judgments", "run"),
        "judgestats.api",
    ),
    "score_array": "judgestats.data.parse",
}


def __getattr__(name: str) -> Any:
    if name in {"mlflow", "stats"}:
        return importlib.import_module(f"judgestats.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'judgestats' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
