"""Do the labelled items look like the rest, as far as the judge can tell?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from judgestats.stats.inference import distributions
from judgestats.stats.inference.result import Sample, TestResult
from judgestats.stats.validity.clustered_share import cluster_variance, effective_clusters
from judgestats.stats.validity.inputs import LabelledItems


def representativeness_test(items: LabelledItems, *, verdicts: bool) -> TestResult:
    """Does the judge's output differ between the labelled items and the rest?

    Parameters
    ----------
    items : LabelledItems
    verdicts : bool
        Fisher's exact test of pass or not (without clusters); otherwise Student's t of the
        difference of the means, over clusters with effective degrees of freedom.

    Returns
    -------
    TestResult
        Not computed where every item is labelled or none.
    """
    from scipy import stats

    f, lab = items.judge, items.labelled
    present = ~np.isnan(f)
    inside, rest = present & lab, present & ~lab
    sample = Sample(n_items=int(present.sum()))
    common: dict[str, Any] = {
        "name": "representativeness",
        "null_hypothesis": "the labelled items are like the others in the judge's eyes",
        "alternative": "the judge's output differs between labelled and other items",
        "sample": sample,
    }
    if inside.sum() < 2 or rest.sum() < 2:
        return TestResult(
            method="Labelled items against the rest", statistic=math.nan, statistic_name="t",
            p_value=math.nan, reason="fewer than two items are on one side", **common,
        )  # fmt: skip
    estimates = {"labelled": float(f[inside].mean()), "the rest": float(f[rest].mean())}
    whole = np.isin(f[present], (0.0, 1.0)).all()
    if verdicts and whole and not items.clustered:
        table = np.array([[np.sum(f[g] == v) for v in (1, 0)] for g in (inside, rest)])
        odds, p = stats.fisher_exact(table)
        return TestResult(
            method="Fisher's exact test: labelled items against the rest",
            statistic=float(odds), statistic_name="odds ratio", p_value=float(p),
            estimates=estimates, **common,
        )  # fmt: skip
    difference = estimates["labelled"] - estimates["the rest"]
    influence = np.zeros(f.size)
    influence[inside] = (f[inside] - estimates["labelled"]) / inside.sum()
    influence[rest] = -(f[rest] - estimates["the rest"]) / rest.sum()
    variance = cluster_variance(influence, items.codes)
    if not variance > 1e-18:
        return TestResult(
            method="Labelled items against the rest", statistic=math.nan, statistic_name="t",
            p_value=math.nan, reason="the judge's output does not vary", **common,
        )  # fmt: skip
    df = max(min(effective_clusters(items.codes[g]) for g in (inside, rest)) - 1.0, 1.0)
    t = difference / math.sqrt(variance)
    return TestResult(
        method="Labelled items against the rest", statistic=t, statistic_name="t", df={"df": df},
        p_value=float(2 * distributions.t.sf(abs(t), df)), estimates=estimates, **common,
    )  # fmt: skip
