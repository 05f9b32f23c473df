"""Parts of a report: each function takes a run and gives tables, figures or sentences.

They are named after what a reader looks for: `summary`, `design`, `data`, `results`,
`checks`, `people`, `studies`, `figures`, `answer`, `closing`; `compare` shows several runs.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from judgestats.deprecated import REPORT_PARTS, warn_renamed_part

__all__ = [
    "answer",
    "checks",
    "closing",
    "compare",
    "conditions",
    "data",
    "design",
    "figures",
    "people",
    "results",
    "studies",
    "summary",
]


def __getattr__(name: str) -> ModuleType:
    """A part, imported when it is first used: a brief report needs half of them."""
    if name in REPORT_PARTS:
        warn_renamed_part(name)
    elif name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{REPORT_PARTS.get(name, name)}")
