"""Words for effect sizes, by named rules. No result uses them of itself: ask, and cite the rule.

The rules are conventions of other fields. What is a large effect of a temperature on a judge is a
question about what the scores are used for, not about a table of 1988.
"""

from __future__ import annotations

import bisect
import dataclasses
import math
from types import MappingProxyType

from judgestats.errors import InputError, one_of


@dataclasses.dataclass(frozen=True, kw_only=True)
class Label:
    """A word for a size, with the rule it comes from."""

    word: str
    rule: str
    source: str

    def __str__(self) -> str:
        return f"{self.word} ({self.source})"


@dataclasses.dataclass(frozen=True)
class _Rule:
    cuts: tuple[float, ...]
    words: tuple[str, ...]
    source: str


_FOUR = ("very small", "small", "medium", "large")
_COHEN = "Cohen 1988"

_RULES = MappingProxyType(
    {
        "cohens_d": {
            "cohen1988": _Rule((0.2, 0.5, 0.8), _FOUR, _COHEN),
            "sawilowsky2009": _Rule(
                (0.1, 0.2, 0.5, 0.8, 1.2, 2.0),
                ("tiny", "very small", "small", "medium", "large", "very large", "huge"),
                "Sawilowsky 2009",
            ),
        },
        "cohens_h": {"cohen1988": _Rule((0.2, 0.5, 0.8), _FOUR, _COHEN)},
        "rank_biserial": {
            "funder2019": _Rule(
                (0.05, 0.1, 0.2, 0.3, 0.4),
                ("tiny", "very small", "small", "medium", "large", "very large"),
                "Funder & Ozer 2019",
            ),
            "cohen1988": _Rule((0.1, 0.3, 0.5), _FOUR, _COHEN),
        },
        "cliffs_delta": {
            "romano2006": _Rule(
                (0.147, 0.33, 0.474),
                ("negligible", "small", "medium", "large"),
                "Romano et al. 2006",
            ),
        },
        "vargha_delaney_a": {
            "vargha2000": _Rule(
                (0.06, 0.14, 0.21),
                ("negligible", "small", "medium", "large"),
                "Vargha & Delaney 2000",
            ),
        },
        "epsilon_squared": {
            "field2013": _Rule((0.01, 0.06, 0.14), _FOUR, "Field 2013"),
        },
        "kendalls_w": {
            "landis1977": _Rule(
                (0.0, 0.2, 0.4, 0.6, 0.8),
                (
                    "poor",
                    "slight agreement",
                    "fair agreement",
                    "moderate agreement",
                    "substantial agreement",
                    "almost perfect agreement",
                ),
                "Landis & Koch 1977",
            ),
        },
        "odds_ratio": {
            "chen2010": _Rule((1.68, 3.47, 6.71), _FOUR, "Chen, Cohen & Chen 2010"),
        },
    }
)


def _label(effect: str, size: float, rule: str) -> Label:
    rules = _RULES[effect]
    one_of(f"interpret_{effect}", "rule", rule, rules)
    if math.isnan(size):
        return Label(word="undefined", rule=rule, source=rules[rule].source)
    chosen = rules[rule]
    word = chosen.words[bisect.bisect_right(chosen.cuts, size)]
    return Label(word=word, rule=rule, source=chosen.source)


def interpret_cohens_d(d: float, *, rule: str = "cohen1988") -> Label:
    """Word for a standardised mean difference.

    Parameters
    ----------
    d : float
        The sign does not matter.
    rule : {"cohen1988", "sawilowsky2009"}

    Returns
    -------
    Label

    Raises
    ------
    InputError
        If the rule is unknown.

    Examples
    --------
    >>> print(interpret_cohens_d(-0.6))
    medium (Cohen 1988)
    """
    return _label("cohens_d", abs(d), rule)


def interpret_cohens_h(h: float, *, rule: str = "cohen1988") -> Label:
    """Word for Cohen's h.

    Parameters
    ----------
    h : float
    rule : {"cohen1988"}

    Returns
    -------
    Label

    Raises
    ------
    InputError
        If the rule is unknown.

    Examples
    --------
    >>> print(interpret_cohens_h(0.1))
    very small (Cohen 1988)
    """
    return _label("cohens_h", abs(h), rule)


def interpret_rank_biserial(r: float, *, rule: str = "funder2019") -> Label:
    """Word for a rank-biserial correlation.

    Parameters
    ----------
    r : float
    rule : {"funder2019", "cohen1988"}

    Returns
    -------
    Label

    Raises
    ------
    InputError
        If the rule is unknown.

    Examples
    --------
    >>> print(interpret_rank_biserial(-0.36))
    large (Funder & Ozer 2019)
    """
    return _label("rank_biserial", abs(r), rule)


def interpret_cliffs_delta(delta: float, *, rule: str = "romano2006") -> Label:
    """Word for Cliff's delta.

    Parameters
    ----------
    delta : float
    rule : {"romano2006"}

    Returns
    -------
    Label

    Raises
    ------
    InputError
        If the rule is unknown.

    Examples
    --------
    >>> print(interpret_cliffs_delta(0.36))
    medium (Romano et al. 2006)
    """
    return _label("cliffs_delta", abs(delta), rule)


def interpret_vargha_delaney_a(a: float, *, rule: str = "vargha2000") -> Label:
    """Word for Vargha and Delaney's A, by its distance from 1/2.

    Parameters
    ----------
    a : float
    rule : {"vargha2000"}

    Returns
    -------
    Label

    Raises
    ------
    InputError
        If the rule is unknown.

    Examples
    --------
    >>> print(interpret_vargha_delaney_a(0.32))
    medium (Vargha & Delaney 2000)
    """
    return _label("vargha_delaney_a", abs(a - 0.5), rule)


def interpret_epsilon_squared(share: float, *, rule: str = "field2013") -> Label:
    """Word for a share of variance (epsilon squared, eta squared).

    Parameters
    ----------
    share : float
    rule : {"field2013"}

    Returns
    -------
    Label

    Raises
    ------
    InputError
        If the rule is unknown.

    Examples
    --------
    >>> print(interpret_epsilon_squared(0.08))
    medium (Field 2013)
    """
    return _label("epsilon_squared", share, rule)


def interpret_kendalls_w(w: float, *, rule: str = "landis1977") -> Label:
    """Word for Kendall's W as agreement of items on the order of conditions.

    Parameters
    ----------
    w : float
    rule : {"landis1977"}

    Returns
    -------
    Label

    Raises
    ------
    InputError
        If the rule is unknown.

    Examples
    --------
    >>> print(interpret_kendalls_w(0.38))
    fair agreement (Landis & Koch 1977)
    """
    return _label("kendalls_w", w, rule)


def interpret_odds_ratio(ratio: float, *, rule: str = "chen2010") -> Label:
    """Word for an odds ratio; below 1 its inverse is judged.

    Parameters
    ----------
    ratio : float
        Positive.
    rule : {"chen2010"}

    Returns
    -------
    Label

    Raises
    ------
    InputError
        If the rule is unknown, or the ratio is not positive.

    Examples
    --------
    >>> print(interpret_odds_ratio(0.5))
    small (Chen, Cohen & Chen 2010)
    """
    if ratio <= 0:
        raise InputError(
            f"interpret_odds_ratio: ratio must be positive, got {ratio}. Give an odds ratio."
        )
    return _label("odds_ratio", max(ratio, 1 / ratio), rule)
