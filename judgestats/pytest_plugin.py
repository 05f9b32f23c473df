"""A pytest plugin: the fixture `assert_judge` decides on a judge in a test suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from judgestats.deprecated import warn_bounds


def held_judge(
    judgments: Any,
    *,
    min: Mapping[str, float] | None = None,  # noqa: A002
    max: Mapping[str, float] | None = None,  # noqa: A002
    condition: str = "",
    **options: Any,
) -> Any:
    """Fail unless a judge passes, decided on confidence limits.

    Parameters
    ----------
    judgments : path, DataFrame, list of dict, run or Findings
        As `judgestats.check` takes them.
    min, max : mapping of name to float
        Former forms of ``require``.
    condition : str
        Former name of ``at``.
    **options
        For `judgestats.check`: ``require``, ``for_``, ``labels``, ``judge``, ``at``, ``strict``,
        and ``allow``; ``allow="cannot-tell"`` skips the test where it cannot be determined.

    Returns
    -------
    Gate
        The verdicts, for further questions.

    Raises
    ------
    AssertionError
        The judge does not pass; the message is the screen of ``judgestats check``.
    InputError
        No such quantity or condition, a requirement that would pass the worst judge, or unusable
        judgments.

    Examples
    --------
    >>> scores = [{"item": i, "repeat": r, "score": 2 + i % 7 + (i % 5 == r)}
    ...           for i in range(35) for r in (0, 1)]
    >>> held_judge(scores, require={"icc_1_1": 0.8}, n_resamples=99).passed
    True
    """
    __tracebackhide__ = True  # pytest shows the screen, not this code
    import judgestats as js
    from judgestats.results.screen import plain_text

    if min or max:
        options["require"] = warn_bounds(min or {}, max or {}, options.get("require", ()))
    if condition:
        options.setdefault("at", condition)
    allow = options.pop("allow", ())
    gate = js.check(judgments, **options)
    screen = plain_text(gate.lines())
    if gate.exit_code == 3 and "cannot-tell" in ((allow,) if isinstance(allow, str) else allow):
        pytest.skip(screen)
    if not gate.passed:
        raise AssertionError(screen)
    return gate


@pytest.fixture(scope="session")
def assert_judge() -> Callable[..., Any]:
    """`held_judge`, as a fixture: ``assert_judge("judgments.csv", require={"icc_1_1": 0.8})``."""
    return held_judge
