"""Keywords that the statistics share, and the threads of their linear algebra."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, Literal, ParamSpec, TypedDict, TypeVar, cast

from numpy.typing import ArrayLike
from threadpoolctl import ThreadpoolController

from judgestats.arrays import check_between, check_least
from judgestats.errors import nearest

IntervalMethod = Literal["jackknife", "linearised", "bca", "percentile", "none"]
"""Intervals of a statistic of sums; other statistics name theirs in their own ``interval``."""

P_VALUE = 9999
"""Permutations where a p rests on them: at .05 its Monte Carlo error is .002."""
NULL = 999
"""Permutations of a null distribution that is reported with a coefficient. Its 95% point needs
fewer than a p, and tables of coefficients would take ten times as long with ten times as many."""
ON_DEMAND = 0
"""No permutations: the coefficient of noise is 0 by construction, or its null takes long."""


class Clustered(TypedDict, total=False):
    """Intervals over clusters."""

    cluster: ArrayLike | str | None
    level: float


class Seeded(Clustered, total=False):
    """And draws."""

    seed: int | None


class Resampled(Seeded, total=False):
    """A bootstrap over clusters."""

    n_resamples: int


class Permuted(Seeded, total=False):
    """A permutation of clusters."""

    n_permutations: int


class Inference(Resampled, Permuted, total=False):
    """Both."""


class SumResampled(Resampled, total=False):
    """Intervals of a statistic of sums."""

    interval: IntervalMethod


class SumInference(Inference, total=False):
    """Intervals and null of a statistic of sums."""

    interval: IntervalMethod


class Permutations(TypedDict, total=False):
    """A permutation, without an interval."""

    n_permutations: int
    seed: int | None


class ClusterPermutations(Permutations, total=False):
    """A permutation of clusters, without an interval."""

    cluster: ArrayLike | str | None


DEFAULTS: dict[str, Any] = {
    "cluster": None,
    "level": 0.95,
    "interval": "jackknife",
    "n_resamples": 2000,
    "n_permutations": P_VALUE,
    "seed": 0,
}
"""In the order in which signatures show them."""

_DOCUMENTATION = {
    "cluster": "cluster : array-like, shape (n_items,), optional\n"
    "    Cluster of each item (its question): items of one are resampled and permuted together.\n"
    "    None: every item is its own.",
    "level": "level : float\n    Confidence level of the intervals.",
    "interval": 'interval : {"jackknife", "linearised", "bca", "percentile", "none"}\n'
    "    Over clusters; see `judgestats.stats.fleiss_kappa`.",
    "n_resamples": "n_resamples : int\n    Resamples of the bootstrap intervals.",
    "n_permutations": "n_permutations : int\n"
    "    Permutations of the null distribution; 0 for none.",
    "seed": "seed : int or None\n    Seed of every draw; None draws new numbers each time.",
}

P = ParamSpec("P")
R = TypeVar("R")


def with_keywords(*, permutations: int = P_VALUE) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a function the defaults, checks, signature and documentation of its bundle.

    Parameters
    ----------
    permutations : {P_VALUE, NULL, ON_DEMAND}
        What its permutations are for, where it has any.

    Returns
    -------
    callable
        A decorator. The function behind it gets every key of its bundle.

    Examples
    --------
    >>> from typing import Unpack
    >>> @with_keywords()
    ... def margin(x: float, **inference: Unpack[Clustered]) -> float:
    ...     return x * (1 - inference["level"])
    >>> round(margin(2.0), 3), round(margin(2.0, level=0.9), 3)
    (0.1, 0.2)
    >>> {p.name: p.default for p in inspect.signature(margin).parameters.values() if p.name != "x"}
    {'cluster': None, 'level': 0.95}
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        given = cast("FunctionType", function)
        keys = _keys_of(given)
        defaults = {k: v for k, v in DEFAULTS.items() if k in keys}
        if "n_permutations" in defaults:
            defaults["n_permutations"] = permutations
        signature = _full_signature(given, defaults)
        names = [p.name for p in signature.parameters.values()]
        name = given.__name__

        def complete(keywords: dict[str, Any]) -> dict[str, Any]:
            for key in keywords:
                if key not in names:
                    hint = nearest(key, names)
                    raise TypeError(f"{name}() got an unexpected keyword argument {key!r}.{hint}")
            whole = {**defaults, **keywords}
            _check(whole, where=name)
            return whole

        def call(*args: Any, **keywords: Any) -> Any:
            return function(*args, **complete(keywords))

        # Doctest and tracebacks look for a function where its globals are.
        at_home = FunctionType(call.__code__, given.__globals__, name, None, call.__closure__)
        functools.update_wrapper(at_home, given)
        at_home.__signature__ = signature  # type: ignore[attr-defined]
        at_home.__doc__ = _documented(given.__doc__ or "", defaults)
        return cast("Callable[P, R]", at_home)

    return decorate


def _keys_of(function: FunctionType) -> tuple[str, ...]:
    """The keys of the bundle that a function's keywords are annotated with."""
    match = re.fullmatch(r"Unpack\[(\w+)\]", str(function.__annotations__["inference"]))
    if match is None:
        raise TypeError(f"{function.__name__}: **inference must be annotated Unpack[...].")
    bundle = function.__globals__.get(match[1]) or globals()[match[1]]
    return tuple(bundle.__annotations__)


def _full_signature(function: FunctionType, defaults: dict[str, Any]) -> inspect.Signature:
    """The signature with every key of the bundle instead of ``**inference``."""
    annotations = SumInference.__annotations__
    types = {k: getattr(t, "__forward_arg__", str(t)) for k, t in annotations.items()}
    own = inspect.signature(function)
    listed = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    shared = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=types[key])
        for key, value in defaults.items()
    ]
    return own.replace(parameters=[*listed, *shared])


def _check(keywords: dict[str, Any], *, where: str) -> None:
    check_between(where, "level", keywords.get("level", 0.5))
    check_least(where, "n_resamples", keywords.get("n_resamples", 2), 2)
    check_least(where, "n_permutations", keywords.get("n_permutations", 0), 0)


def _documented(text: str, defaults: dict[str, Any]) -> str:
    """A numpydoc text with the shared keywords that its parameters leave out."""
    text = inspect.cleandoc(text)
    head, mark, rest = text.partition("Parameters\n----------\n")
    if not mark:
        return text
    end = re.search(r"\n\n(?=\w[\w ]*\n-{3,}\n)", rest)
    listed, after = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    named = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", listed, re.MULTILINE)
    documented = {name.strip() for line in named for name in line.split(",")}
    added = [_DOCUMENTATION[key] for key in defaults if key not in documented]
    return head + mark + "\n".join([listed.rstrip("\n"), *added]) + after


@functools.cache
def _controller() -> ThreadpoolController:
    """The libraries loaded in this process; looking them up takes a millisecond, so once."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within the block (or the decorated function) BLAS and LAPACK use one thread.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     values = np.linalg.eigvalsh(np.eye(3))
    >>> values.tolist()
    [1.0, 1.0, 1.0]
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield
