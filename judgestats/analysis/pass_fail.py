"""Verdicts of pass or fail: how many pass, and how often the judge is wrong in either direction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.validity import verdict_validity
from judgestats.analysis.validity_elsewhere import by_rates
from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.judgments.kinds import pass_fail, spelling
from judgestats.stats.agreement.mean_share import mean_share
from judgestats.stats.inference.result import Estimate, Result

PASS, FAIL = "pass", "fail"
Found = list[tuple[str, str, Result]]


def is_pass_fail(frame: pd.DataFrame) -> bool:
    """Whether all verdicts that were read are ``pass`` or ``fail``.

    Examples
    --------
    >>> is_pass_fail(pd.DataFrame({"choice": ["pass", ""]}))
    True
    """
    words = set(frame["choice"].unique()) - {""}
    return bool(words) and words <= {PASS, FAIL}


def in_pass_and_fail(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with yes and no, correct and incorrect, 1 and 0 as ``pass`` and ``fail``.

    A frame with any other verdict is returned as it is. Labels may be in words of their own.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> in_pass_and_fail(pd.DataFrame({"choice": ["Yes", "no", ""]}))["choice"].tolist()
    ['pass', 'fail', '']
    """
    choice = _coded(frame["choice"])
    if choice is None:
        return frame
    out = frame.assign(choice=choice)
    label = _coded(frame["label"]) if "label" in frame else None
    return out if label is None else out.assign(label=label)


def with_known_labels(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Labels of pass and fail verdicts as ``pass`` and ``fail``; others are left out and named.

    Parameters
    ----------
    frame : DataFrame
        With ``choice`` in pass and fail.

    Returns
    -------
    tuple of DataFrame and tuple of str

    Raises
    ------
    InputError
        There are labels, and none of them says pass or fail.

    Examples
    --------
    >>> f = pd.DataFrame({"choice": ["pass", "fail", "pass"], "label": ["Yes", "no", "maybe"]})
    >>> out, strange = with_known_labels(f)
    >>> out["label"].tolist(), strange
    (['pass', 'fail', ''], ('maybe',))
    """
    labels_text = frame["label"].astype(str).str.strip()
    words = {w: spelling(w) for w in dict.fromkeys(labels_text) if w}
    if not words or set(words) <= {PASS, FAIL}:
        return frame, ()
    spelled = list(dict.fromkeys(words.values()))
    pairs = [p for w in combinations(spelled, 2) if (p := pass_fail(w)) is not None]
    pairs += [p for w in spelled if (p := pass_fail([w])) is not None]
    if not pairs:
        raise InputError(
            f"audit: the verdicts are pass and fail, and no label is ({_named(words)}). Put the "
            "labels into the verdicts' words, or leave them out."
        )
    codes = {pairs[0][0]: PASS, pairs[0][1]: FAIL}
    strange = tuple(w for w, s in words.items() if s not in codes)
    by_name = {w: codes.get(s, "") for w, s in words.items()} | {"": ""}
    return frame.assign(label=labels_text.map(by_name).astype(object)), strange


def _named(words: Iterable[str]) -> str:
    listed = [repr(w[:30]) for w in words]
    return ", ".join(listed[:3]) + (" ..." if len(listed) > 3 else "")


def told_strange(strange: Sequence[str]) -> list[str]:
    """What is said of labels outside the verdicts' words; nothing where there are none."""
    if not strange:
        return []
    text = f"Labels outside the verdicts' words ({_named(strange)}) are left out"
    return [f"{text}: such items count as not labelled."]


def _coded(values: pd.Series) -> pd.Series | None:
    codes, distinct = pd.factorize(values)
    words = [spelling(v) for v in distinct]
    pair = pass_fail(words)
    if pair is None:
        return None
    code_of = {pair[0]: PASS, pair[1]: FAIL, "": ""}
    as_words = np.array([code_of[w] for w in words], dtype=object)
    return pd.Series(as_words[codes], index=values.index, dtype=object)


def pass_fail_results(asked: pd.DataFrame, declared: AnalysisPlan) -> Found:
    """The pass rate of one condition, and its error rates where people labelled items.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition, ``pass``, ``fail`` or empty.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty where nothing was read.
    """
    read = asked[asked["choice"] != ""]
    if read.empty:
        return []
    share = (read["choice"] == PASS).groupby(read["item_id"], sort=False).mean()
    clusters = read.groupby("item_id", sort=False)["cluster"].first()
    rate = pass_rate(np.asarray(share, dtype=np.float64), clusters.to_numpy(object), declared)
    results: Found = [("verdicts.pass_rate", "How many pass", rate)]
    results += by_rates(asked, declared)
    if "label" in read and set(read["label"].unique()) - {""} <= {PASS, FAIL}:
        results += verdict_validity(asked, declared)
    return results


def pass_rate(shares: Floats, cluster: NDArray[Any], declared: AnalysisPlan) -> Estimate:
    """How often one judgment passes: the mean over items, with intervals over clusters."""
    return mean_share(
        shares, cluster=cluster, level=declared.level, name="share", label="Pass rate"
    )
