"""Published studies re-examined: every claim with its own test reproduced and the right one beside.

A study is a module of this package with a `STUDY`. It is found by name::

    >>> load_study("llmasjudge").name
    'llmasjudge'
"""

from __future__ import annotations

import importlib
import importlib.util

from judgestats.errors import InputError
from judgestats.studies.claims import (
    VERDICTS,
    Claim,
    Options,
    Replication,
    Study,
)

__all__ = [
    "STUDIES",
    "VERDICTS",
    "Claim",
    "Options",
    "Replication",
    "Study",
    "load_study",
    "not_examined",
    "study_names",
]

STUDIES = (
    "llmasjudge",
    "schroeder2024",
    "grade_score",
    "crowd_comparative",
    "rewardbench2_k8",
    "llmbar",
    "position_bias",
    "pandalm",
    "alt_test",
    "arena_pairs",
)
"""Modules of this package that hold a study; those not in this version are passed over."""


def study_names() -> tuple[str, ...]:
    """The studies that can be re-examined.

    Examples
    --------
    >>> "llmasjudge" in study_names()
    True
    """
    return tuple(s for s in STUDIES if importlib.util.find_spec(f"{__name__}.{s}") is not None)


def load_study(name: str) -> Study:
    """A study by name.

    Raises
    ------
    InputError
        If there is no study of that name.
    """
    if name not in study_names():
        raise InputError(
            f"study: there is no study {name!r}. There are: {', '.join(study_names())}."
        )
    study = importlib.import_module(f"{__name__}.{name}").STUDY
    if not isinstance(study, Study):
        raise InputError(f"study: the module {name} does not declare a STUDY.")
    return study
