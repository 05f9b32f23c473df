"""Two runs brought together: conditions that belong together, on the items both judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from judgestats.analysis.limits import Limit
from judgestats.analysis.outcome import Analysis
from judgestats.analysis.verdict_words import outcomes
from judgestats.errors import InputError
from judgestats.results.side_by_side import parameters_apart


def match_conditions(
    before: pd.DataFrame, after: pd.DataFrame, *, pairs: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Which condition of the first run is compared with which of the second.

    Parameters
    ----------
    before, after : DataFrame
        Parsed frames.
    pairs : mapping, optional
        Named by the user. By default conditions of the same label; where there is none, the only
        condition of each run.

    Returns
    -------
    dict
        Condition of the first run to condition of the second.

    Raises
    ------
    InputError
        Nothing matches, or a named condition is not there.

    Examples
    --------
    >>> a = pd.DataFrame({"condition": ["x, T=0", "x, T=1"]})
    >>> match_conditions(a, a)
    {'x, T=0': 'x, T=0', 'x, T=1': 'x, T=1'}
    """
    one, two = (list(dict.fromkeys(f["condition"])) for f in (before, after))
    if pairs:
        for name, labels, which in (
            *((a, one, "first") for a in pairs),
            *((b, two, "second") for b in pairs.values()),
        ):
            if name not in labels:
                raise InputError(
                    f"drift: the {which} run has no condition {name!r}. It has: "
                    f"{'; '.join(labels)}."
                )
        return dict(pairs)
    same = {c: c for c in one if c in set(two)}
    if same:
        return same
    if len(one) == len(two) == 1:
        return {one[0]: two[0]}
    raise InputError(
        f"drift: the runs share no condition (first: {'; '.join(one)}; second: {'; '.join(two)}). "
        "Say which belong together with --pair 'FIRST -> SECOND'."
    )


def called(first: str, second: str, *, joint: str = "\u00a0") -> str:
    """What a condition of the first run with one of the second is called: one name if alike.

    Parameters
    ----------
    first, second : str
    joint : str
        Beside the arrow; a line does not break there. In ids it is a space.

    Examples
    --------
    >>> called("a", "a"), called("a", "b", joint=" ")
    ('a', 'a -> b')
    """
    return first if first == second else f"{first}{joint}->{joint}{second}"


def both_runs(
    before: pd.DataFrame, after: pd.DataFrame, chosen: Mapping[str, str]
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Both runs on the items they share, and how many items were matched and left out.

    Parameters
    ----------
    before, after : DataFrame
        Parsed frames.
    chosen : mapping of condition to condition
        See `match_conditions`.

    Returns
    -------
    frame : DataFrame
        Conditions are called ``first: NAME`` and ``second: NAME``.
    counts : dict
        ``matched``, ``only_first`` and ``only_second``.
    """
    one = before[before["condition"].isin(chosen)]
    two = after[after["condition"].isin(chosen.values())]
    one = one.assign(condition="first: " + one["condition"])
    two = two.assign(condition="second: " + two["condition"])
    names = [set(f["item_id"]) for f in (one, two)]
    shared = names[0] & names[1]
    if len(shared) < 3:
        raise InputError(
            f"drift: the runs share {len(shared)} items; at least 3 are needed. Judge the same "
            "items in both runs (the same items file, limit and seed)."
        )
    joined = pd.concat([one, two], ignore_index=True)
    counts = {
        "matched": len(shared),
        "only_first": len(names[0] - shared),
        "only_second": len(names[1] - shared),
    }
    return joined[joined["item_id"].isin(shared)].reset_index(drop=True), counts


def rerun_of(baseline: pd.DataFrame, chosen: Mapping[str, str], *, scored: bool) -> pd.DataFrame:
    """The unchanged re-run, which holds every condition that is compared."""
    absent = [c for c in chosen if c not in set(baseline["condition"])]
    if absent:
        raise InputError(
            f"drift: the baseline has no condition {absent[0]!r}. It is the first run done again: "
            "give a run of the same conditions."
        )
    return baseline if scored else baseline.assign(choice=outcomes(baseline["choice"]))


def with_parameters(
    analysis: Analysis, first: Mapping[str, Any], second: Mapping[str, Any]
) -> Analysis:
    """A comparison of two runs that names the parameters in which they differ.

    Parameters
    ----------
    analysis : Analysis
    first, second : mapping
        What the runs recorded (`judgestats.results.Results.facts`).

    Returns
    -------
    Analysis
    """
    text, short = parameters_apart(first, second)
    if not text:
        return analysis
    limit = Limit(text, code="other_parameters", short=short)
    return replace(analysis, limitations=(limit, *analysis.limitations))
