"""The numbers: pure functions over arrays, and the frozen result objects they return.

>>> from judgestats import stats
>>> round(stats.fleiss_kappa([["a", "a"], ["b", "b"], ["a", "b"]]).estimate, 3)
0.333

The functions live in rooms by question, and each room uses only those before it: `inference`,
`layouts`, `comparison`, `reliability`, `spread`, `agreement`, `validity`, `instrument`. All is
available from here; one is imported, with what it needs and nothing else, when it is first used.
The public list is the package's stub, ``__init__.pyi``: what a type checker reads is what there is.
"""

from __future__ import annotations

from typing import Any

from judgestats.deprecated import REMOVED_STATISTICS, warn_removed_statistic
from judgestats.lazy import public_names

__all__, _lookup, __dir__ = public_names(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in REMOVED_STATISTICS:
        warn_removed_statistic(name)
    return _lookup(name)
