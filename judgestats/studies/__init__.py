"""Published studies re-examined: every claim with its own test reproduced, and a sound one.

A study is a `Study`, its claims one row each. It is found by name::

    >>> load_study("llmasjudge").name
    'llmasjudge'
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from judgestats.errors import InputError
from judgestats.studies.claims import VERDICTS, Claim, Options, Replication, Study

__all__ = [
    "STUDIES",
    "VERDICTS",
    "Claim",
    "Options",
    "Replication",
    "Study",
    "load_study",
    "study_names",
]

STUDIES: Mapping[str, str] = {
    "llmasjudge": "llmasjudge",
    "schroeder2024": "schroeder2024",
    "grade_score": "printed",
    "crowd_comparative": "printed",
    "rewardbench2_k8": "rewardbench2",
    "llmbar": "swap_sets",
    "position_bias": "swap_sets",
    "pandalm": "people_sets",
    "alt_test": "alt_test",
    "arena_pairs": "people_sets",
}
"""The studies that can be re-examined, and the module of this package that declares each."""


def study_names() -> tuple[str, ...]:
    """The studies that can be re-examined.

    Examples
    --------
    >>> "llmasjudge" in study_names()
    True
    """
    return tuple(STUDIES)


def load_study(name: str) -> Study:
    """A study by name.

    Raises
    ------
    InputError
        If there is no study of that name.
    """
    if name not in STUDIES:
        raise InputError(
            f"study: there is no study {name!r}. There are: {', '.join(study_names())}."
        )
    declared = vars(importlib.import_module(f"{__name__}.{STUDIES[name]}")).values()
    return next(own for own in declared if isinstance(own, Study) and own.name == name)
