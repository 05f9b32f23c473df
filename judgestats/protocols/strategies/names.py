"""Strategies by name: ``vanilla``, ``majority@16``, ``cce-random-raw@8``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judgestats.errors import InputError
from judgestats.protocols.strategies.base import ONE_CALL, OneCall, Strategy, Wording
from judgestats.protocols.strategies.crowd import SELECTIONS, CrowdComparison
from judgestats.protocols.strategies.votes import Aggregate, EvalPlan, Majority

STRATEGIES = (
    *ONE_CALL,
    "plan",
    "majority",
    "aggregate",
    *(f"cce-{s}{raw}" for s in SELECTIONS for raw in ("", "-raw")),
)
"""What may stand before ``@k``; ``cce`` is short for ``cce-criticising``."""

_NAME = re.compile(r"([a-z-]+?)(?:@(\d{1,4}))?")


def strategy(
    name: str, *, k: int | None = None, seed: int = 0, wording: Wording | None = None
) -> Strategy:
    """A strategy by name.

    Parameters
    ----------
    name : str
        One of `STRATEGIES`, with ``@k`` where it takes a number of judgments. ``cce@0`` is vanilla.
    k : int, optional
        Where the name says none.
    seed : int
        Of a crowd's draw.
    wording : Wording, optional
        How pairs are put to the judge.

    Returns
    -------
    Strategy

    Raises
    ------
    InputError
        If there is no such strategy, or k cannot be used.

    Examples
    --------
    >>> strategy("cce@8").name, strategy("cce-random-raw", k=4).name, strategy("cce@0").name
    ('cce-criticising@8', 'cce-random-raw@4', 'vanilla')
    """
    wording = wording or Wording()
    match = _NAME.fullmatch(name.strip())
    kind = match.group(1) if match else ""
    if kind in {"cce", "cce-raw"}:
        kind = kind.replace("cce", "cce-criticising")
    if match is None or kind not in STRATEGIES:
        raise InputError(
            f"strategy: there is none called {name!r}. There are: {', '.join(STRATEGIES)}; those "
            "from majority on take a number of judgments, as in majority@16."
        )
    if kind in ONE_CALL or kind == "plan":
        if match.group(2):
            raise InputError(f"strategy: {kind} is one verdict and takes no @k, got {name!r}.")
        return EvalPlan(wording=wording) if kind == "plan" else OneCall(name=kind, wording=wording)
    number = int(match.group(2)) if match.group(2) else k
    if number is None:
        raise InputError(f"strategy: {name!r} needs a number of judgments, as in {kind}@16.")
    if number > 1024:
        raise InputError(f"strategy: {name!r} asks for more than 1,024 judgments.")
    if number == 0:
        return OneCall(name="vanilla", wording=wording)
    if kind == "majority":
        return Majority(k=number, wording=wording)
    if kind == "aggregate":
        return Aggregate(k=number, wording=wording)
    _, selection, *raw = kind.split("-")
    return CrowdComparison(
        k=number, selection=selection, removal=not raw, seed=seed, wording=wording
    )


def requested_strategies(parameters: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The strategies that parameters ask for, in full, by what they are asked for.

    Parameters
    ----------
    parameters : mapping
        ``strategies``, ``scaling`` (numbers of the curve), ``selections`` and ``selections_at``,
        ``k`` and ``seed``.

    Returns
    -------
    dict of str to tuple of str
        ``strategies``, ``scaling`` and ``selections``.

    Examples
    --------
    >>> given = {"strategies": ("vanilla", "cce"), "scaling": (0, 2), "k": 4, "seed": 0,
    ...     "selections": ("random",), "selections_at": (2,)}
    >>> requested_strategies(given)["scaling"], requested_strategies(given)["selections"]
    (('vanilla', 'cce-criticising@2'), ('cce-random@2', 'cce-random-raw@2'))
    """
    listed = {
        "strategies": list(parameters["strategies"]),
        "scaling": [f"cce@{k}" for k in parameters["scaling"]],
        "selections": [
            f"cce-{selection}{raw}@{k}"
            for k in parameters["selections_at"]
            if k
            for selection in parameters["selections"]
            for raw in ("", "-raw")
        ],
    }
    k, seed = parameters["k"], parameters["seed"]
    return {
        purpose: tuple(dict.fromkeys(strategy(name, k=k, seed=seed).name for name in names))
        for purpose, names in listed.items()
    }
