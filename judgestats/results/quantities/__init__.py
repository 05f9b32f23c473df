"""Declared quantities: what each number is, how it is written, where it is computed.

One declaration per quantity. Audits, metrics, `check`, screens and the glossary follow from it; no
key is made from its wording.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

from judgestats.errors import InputError
from judgestats.results.quantities import comparison, reliability, validity
from judgestats.results.quantities.entry import UNITS, Quantity, TestKind

__all__ = [
    "QUANTITIES",
    "PUBLIC_NAMES",
    "TESTS",
    "UNITS",
    "Quantity",
    "TestKind",
    "quantity_of",
    "kind_of_test",
    "name_of",
    "symbol_of",
    "omits_zero",
]

Entry = TypeVar("Entry", Quantity, TestKind)


def _index_keys(*parts: Sequence[Entry]) -> dict[str, Entry]:
    entries = [entry for part in parts for entry in part]
    table = {entry.key: entry for entry in entries}
    if len(table) < len(entries):
        keys = [entry.key for entry in entries]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        raise ValueError(f"registry: duplicate entries: {', '.join(twice)}")
    return table


QUANTITIES: Mapping[str, Quantity] = _index_keys(
    reliability.ENTRIES,
    validity.ENTRIES,
    comparison.ENTRIES,
)
"""All quantities by key."""

TESTS: Mapping[str, TestKind] = _index_keys(comparison.TESTS_ENTRIES)
"""All tests by key."""


PUBLIC_NAMES: Mapping[str, str] = {
    "accuracy_include_ties": "agreement",
    "cohen_kappa": "kappa",
    "sensitivity": "tpr",
    "specificity": "tnr",
    "swap_consistency": "order_consistency",
    "pearson_with_human": "pearson_r",
    "poststratified": "corrected_pass_rate",
    "vote_share_reliability": "kappa_repeat",
}
"""Names of quantities in lists for programs and in requirements, where they differ from keys."""


@cache
def quantity_of(key: str) -> Quantity:
    """The declaration of a quantity.

    Parameters
    ----------
    key : str
        Its machine name, numbers and words filled in.

    Returns
    -------
    Quantity
        With the key and label of this name.

    Raises
    ------
    InputError
        It is not registered.

    Examples
    --------
    >>> quantity_of("icc_1_1").heading, quantity_of("icc_1_1").bounded
    ('ICC(1,1)', True)
    >>> quantity_of("position_3_share").heading
    'share of position 3'
    """
    return _entry(key, QUANTITIES, "quantity")


@cache
def kind_of_test(key: str) -> TestKind:
    """The entry of a test.

    Examples
    --------
    >>> kind_of_test("friedman_test").heading
    "Friedman's test"
    """
    return _entry(key, TESTS, "test")


def _entry(key: str, table: Mapping[str, Entry], what: str) -> Entry:
    if key in table:
        return table[key]
    for pattern, entry in table.items():
        if "{" not in pattern:
            continue
        names = re.findall(r"\{(\w+)\}", pattern)
        match = re.fullmatch(re.sub(r"\\\{\w+\\\}", r"(\\w+?)", re.escape(pattern)), key)
        if match:
            words = {n: v.replace("_", " ") for n, v in zip(names, match.groups(), strict=True)}
            return replace(entry, key=key, heading=entry.heading.format(**words))
    raise InputError(
        f"{what}: {key!r} is not in the registry. Add one entry to judgestats/results/quantities."
    )


def omits_zero(name: str) -> bool:
    """Whether a number of this estimand is written without a leading zero: it cannot exceed 1.

    An estimand of the user's own, which no entry describes, may exceed it.

    Examples
    --------
    >>> omits_zero("icc_1_1"), omits_zero("mean_difference"), omits_zero("my_own")
    (True, False, False)
    """
    try:
        return quantity_of(name).bounded
    except InputError:
        return False


def symbol_of(name: str, label: str) -> str:
    """The symbol of an estimand, or the label given where it has none.

    Examples
    --------
    >>> symbol_of("partial_eta_squared", "x"), symbol_of("icc_1_1", "ICC(1,1)")
    ('ηp²', 'ICC(1,1)')
    """
    try:
        return quantity_of(name).symbol or label
    except InputError:
        return label


def name_of(name: str) -> str:
    """The label of an estimand for a table's reader; words of its key where none is registered.

    Examples
    --------
    >>> name_of("kendalls_w"), name_of("position_1_share"), name_of("my_own")
    ("Kendall's W", 'share of position 1', 'my own')
    """
    try:
        return quantity_of(name).heading
    except InputError:
        return name.replace("_", " ")
