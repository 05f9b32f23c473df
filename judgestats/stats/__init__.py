"""The numbers: pure functions over arrays, and the frozen result objects they return.

>>> from judgestats import stats
>>> round(stats.fleiss_kappa([["a", "a"], ["b", "b"], ["a", "b"]]).estimate, 3)
0.333

Subpackages group the functions by question: `inference`, `designs`, `comparison`, `models`,
`reliability`, `dispersion`, `agreement`, `validity`, `robustness`. All functions are available
here. A function and its dependencies are imported on first use. The stub ``__init__.pyi`` lists
the public names.
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
