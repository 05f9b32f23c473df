"""Verdicts of pass or fail: how many pass, and how often the judge is wrong in either direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.validity import verdict_validity
from judgestats.analysis.validity_elsewhere import by_rates
from judgestats.arrays import Floats
from judgestats.judgments.kinds import Kind
from judgestats.judgments.readers.labels import coded_labels
from judgestats.judgments.readers.verdicts import coded_choices
from judgestats.judgments.words import FAIL, PASS
from judgestats.stats.agreement.mean_share import mean_share
from judgestats.stats.inference.result import Estimate, Result

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
    """The frame with the words for pass and fail, of the judge and of people, as these two.

    A frame with any other verdict is returned as it is. Labels may be in words of their own.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        A word among them is not understood.

    Examples
    --------
    >>> f = pd.DataFrame({"choice": ["Yes", "no", ""], "label": ["P", "F", ""], "status": "ok"})
    >>> found = in_pass_and_fail(f)
    >>> found["choice"].tolist(), found["label"].tolist()
    (['pass', 'fail', ''], ['pass', 'fail', ''])
    """
    frame = coded_choices(frame)
    people = [str(c) for c in frame if c == "label" or str(c).startswith("label_")]
    if not people or not is_pass_fail(frame):
        return frame
    labels, _ = coded_labels("audit", frame[people], Kind(name="pass-fail"))
    return frame.assign(**{c: labels[c] for c in people})


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
