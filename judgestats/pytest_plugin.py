"""A pytest plugin: the fixture `assert_judge` holds a judge to bounds in a test suite."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest


def held_judge(
    judgments: Any,
    *,
    min: Mapping[str, float] | None = None,  # noqa: A002
    max: Mapping[str, float] | None = None,  # noqa: A002
    condition: str | Sequence[str] = (),
    **options: Any,
) -> Any:
    """Fail unless judgments keep their bounds, decided on the ends of the intervals.

    Parameters
    ----------
    judgments : path, DataFrame, list of dict, run or Findings
        As `judgestats.audit` takes them; of a finished run (`judgestats.run`) its own results.
    min, max : mapping of name to float
        Thresholds, as of ``judgestats check --require``: ``{"reliability": 0.8}``.
    condition : str or sequence of str
        Only these: a condition, a judge, or a factor with its level (``T=0``).
    **options
        For `judgestats.audit`.

    Returns
    -------
    Findings
        The audit, for further questions.

    Raises
    ------
    AssertionError
        A bound is not kept; it names each with estimate and end of the interval.
    InputError
        No such name or condition, a bound on the side that would pass the worst judge, or unusable
        judgments.

    Examples
    --------
    >>> scores = [{"item": i, "repeat": r, "score": 2 + i % 7} for i in range(21) for r in "ab"]
    >>> held_judge(scores, min={"reliability": 0.9}, n_resamples=99).conditions.shape[0]
    1
    >>> held_judge(scores, min={"mean score": 6}, n_resamples=99)
    Traceback (most recent call last):
    ...
    AssertionError: the judge does not keep its bounds:
      judge: mean score 5.000, lower bound 4.067 must be at least 6
    """
    import judgestats as js
    from judgestats.commands.check import evaluate_thresholds, read_demands

    demands = read_demands(
        [f"{k}>={v}" for k, v in (min or {}).items()]
        + [f"{k}<={v}" for k, v in (max or {}).items()]
    )
    analysis = judgments if hasattr(judgments, "analysis") else js.audit(judgments, **options)
    names = [condition] if isinstance(condition, str) else list(condition)
    held = evaluate_thresholds(
        analysis.run.records, demands, conditions=names, spelled=_as_argument
    )
    failed = [
        f"  {f.where}: {f.demand.metric} {f.estimate:.3f}, {f.basis}"
        f"{'' if math.isnan(f.decided_on) else f' {f.decided_on:.3f}'} must be "
        f"at {'least' if f.demand.side == 'min' else 'most'} {f.demand.bound:g}"
        for f in held.findings
        if not f.passed
    ]
    if failed:
        raise AssertionError("\n".join(["the judge does not keep its bounds:", *failed]))
    return analysis


def _as_argument(side: str, name: str, number: str) -> str:
    return f"{side}={{{name!r}: {number}}}"


@pytest.fixture(scope="session")
def assert_judge() -> Callable[..., Any]:
    """`held_judge`, as a fixture: ``assert_judge("judgments.csv", min={"reliability": 0.8})``."""
    return held_judge
