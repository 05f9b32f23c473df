"""Results as APA-style strings, for one's own paper."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from judgestats.errors import InputError


@runtime_checkable
class Citable(Protocol):
    """What can be put as the APA manual asks: every result of a statistic."""

    def apa(self, *, digits: int = 2) -> str:
        """The result as a string for one's own paper."""


def apa(result: Citable, *, digits: int = 2) -> str:
    """A result in the style of the APA manual (7th edition): the same as ``result.apa()``.

    Parameters
    ----------
    result : Citable
        An estimate, a test, or a family of either.
    digits : int
        Decimals of estimates and statistics. p-values have three.

    Returns
    -------
    str
        Plain text: statistic with degrees of freedom, exact p (``< .001``), effect with interval in
        brackets. Numbers that cannot exceed 1 have no leading zero.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> from judgestats.stats.inference.result import Estimate, Interval, Sample
    >>> e = Estimate(name="icc_1_1", label="ICC(1,1)", estimate=0.8134, sample=Sample(n_items=40),
    ...              interval=Interval(low=0.751, high=0.866))
    >>> apa(e)
    'ICC(1,1) = .81, 95% CI [.75, .87]'
    """
    if not isinstance(result, Citable):
        raise InputError(
            f"apa: result must be an estimate, a test or comparisons, but is "
            f"{type(result).__name__}. Give what a function of judgestats.stats returned."
        )
    try:
        return result.apa(digits=digits)
    except TypeError as error:
        raise InputError(f"apa: {error}.") from error
