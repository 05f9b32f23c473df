"""Cochran's Q: do several yes / no verdicts on the same items differ in rate?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import counted
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.mcnemar import McNemarP, mcnemar_test
from judgestats.stats.inference import distributions
from judgestats.stats.inference.adjust import Adjustment, with_adjusted
from judgestats.stats.inference.keywords import Permuted, with_keywords
from judgestats.stats.inference.result import Comparison, Comparisons, Note, TestResult
from judgestats.stats.layouts.blocks import read_blocks
from judgestats.stats.layouts.formula import Missing

Distribution = Literal["chi2", "exact", "permutation"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class CochranResult(TestResult):
    """Cochran's Q with what its post hoc tests need.

    Attributes
    ----------
    verdicts : ndarray, shape (N, k)
        0 / 1.
    conditions : tuple of str
    cluster : ndarray of int, or None
    """

    verdicts: Floats = dataclasses.field(repr=False, compare=False)
    conditions: tuple[str, ...]
    cluster: Ints | None = dataclasses.field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values without the verdicts (they are the data)."""
        slim = dataclasses.replace(self, verdicts=np.empty((0, 0)), cluster=None)
        plain = super(CochranResult, slim).to_dict()
        return {k: v for k, v in plain.items() if k not in {"verdicts", "cluster"}}

    def mcnemar(
        self,
        *,
        adjust: Adjustment = "holm",
        distribution: McNemarP = "exact",
        level: float = 0.95,
    ) -> Comparisons:
        """All pairs by McNemar's test (exact over sign changes of clusters where there are any).

        With clusters the statistic is the number of items with 1 in the first only, less those
        with 1 in the second only, and the interval Student's t over clusters.
        """
        a, b = np.triu_indices(len(self.conditions), 1)
        results = [
            mcnemar_test(
                self.verdicts[:, i],
                self.verdicts[:, j],
                distribution=distribution,
                cluster=self.cluster,
                level=level,
            )
            for i, j in zip(a, b, strict=True)
        ]
        rates = self.verdicts.sum(axis=0) / (len(self.verdicts) or math.nan)
        rows = []
        for i, j, test in zip(a, b, results, strict=True):
            interval = test.effects[1].interval
            if interval is not None:
                # mcnemar_test counts the smaller label (0); the rates here are those of 1.
                interval = dataclasses.replace(interval, low=-interval.high, high=-interval.low)
            rows.append(
                Comparison(
                    a=self.conditions[int(i)],
                    b=self.conditions[int(j)],
                    estimate=float(rates[i] - rates[j]),
                    estimate_name="difference of rates",
                    statistic=test.statistic if self.cluster is None else -test.statistic,
                    # No evidence at all where a pair never differs: p is 1, as in R's loop.
                    p_value=1.0 if test.reason else test.p_value,
                    interval=interval,
                    n=self.sample.n_items,
                )
            )
        return Comparisons(
            name="pairwise_mcnemar",
            symbol="b - c",
            method="Pairwise McNemar tests after Cochran's Q"
            + ("" if self.cluster is None else ", exact over sign changes of clusters"),
            adjust=adjust,
            family=f"pairs of {len(self.conditions)} conditions",
            rows=with_adjusted(rows, adjust),
            sample=self.sample,
            notes=self.notes,
        )


@with_keywords()
def cochran_q_test(
    verdicts: object,
    data: object = None,
    *,
    names: Sequence[Any] | None = None,
    distribution: Distribution | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Permuted],
) -> CochranResult:
    r"""Cochran's Q test of several yes / no verdicts on the same items.

    Parameters
    ----------
    verdicts : array-like of shape (N, k), DataFrame, or str
        0 / 1 (or booleans), items in rows; or ``"correct ~ judge | item"``.
    data, names, missing
        See `friedman_test`.
    distribution : {"chi2", "exact", "permutation"}, optional
        Chi-squared (default), the exact distribution (at most 7 conditions, few items), or
        permutation within items (default with `cluster`, jointly in a cluster).

    Returns
    -------
    CochranResult
        With `.mcnemar()`. Effect: Q / (N' (k - 1)), Kendall's W of the verdicts.

    Raises
    ------
    InputError
        If a verdict is neither 0 nor 1.

    Notes
    -----
    :math:`Q = (k-1)\,[k \sum C_j^2 - T^2] / [k T - \sum R_i^2]`; it is Friedman's tie-corrected
    chi-squared of the verdicts, and McNemar's without correction for k = 2.

    References
    ----------
    Cochran (1950), Biometrika 37, 256-266.

    Examples
    --------
    >>> right = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]
    >>> result = cochran_q_test(right, names=["a", "b", "c"])
    >>> round(result.statistic, 4), round(result.p_value, 4)
    (6.4, 0.0408)
    """
    where = "cochran_q_test"
    one_of(where, "distribution", distribution, (None, "chi2", "exact", "permutation"))
    blocks = read_blocks(
        verdicts, data, where=where, names=names, cluster=inference["cluster"], missing=missing
    )
    matrix = blocks.scores
    strange = matrix[~np.isin(matrix, (0.0, 1.0))]
    if strange.size:
        raise InputError(
            f"{where}: verdicts must be 0 or 1, got {strange[0]:g}. Code the verdict that counts "
            "as 1 and every other as 0."
        )
    ranked = friedman_test(
        matrix,
        names=blocks.conditions,
        cluster=blocks.cluster,
        distribution=distribution,
        level=inference["level"],
        n_permutations=inference["n_permutations"],
        seed=inference["seed"],
    )
    reason = ranked.reason
    if reason.startswith("all scores"):
        reason = "every item has the same verdict under all conditions"
    q = ranked.statistic
    p = ranked.p_value
    if not math.isnan(q) and blocks.cluster is None and distribution is None:
        p = float(distributions.chi2.sf(q, matrix.shape[1] - 1))
    informative = int(np.sum(np.ptp(matrix, axis=1) > 0)) if matrix.size else 0
    notes = list(blocks.notes)
    if not reason and informative * matrix.shape[1] < 24:
        message = (
            f"Only {counted(informative, 'item tells', 'items tell')} the conditions apart: "
            "chi-squared is rough there; ask "
            "for distribution='exact' or 'permutation'."
        )
        notes.append(Note(code="few_informative_items", message=message))
    suffix = ranked.method.removeprefix("Friedman rank sum test").removeprefix("Exact ")
    prefix = "Exact " if ranked.method.startswith("Exact") else ""
    return CochranResult(
        name=where,
        method=f"{prefix}Cochran's Q test" + (suffix if "permutation" in suffix else ""),
        statistic=q,
        statistic_name="Cochran's Q",
        df=ranked.df,
        p_value=p,
        sample=blocks.sample,
        null_hypothesis="the conditions have the same rate",
        why="Cochran's Q was used because several yes / no verdicts are about the same items.",
        effects=ranked.effects,
        estimates=MappingProxyType(
            {
                f"rate {c}": float(m)
                for c, m in zip(
                    blocks.conditions,
                    matrix.mean(axis=0) if matrix.size else [],
                    strict=bool(matrix.size),
                )
            }
        ),
        data_name=blocks.data_name,
        notes=tuple(notes),
        reason=reason,
        details=MappingProxyType({"informative_items": informative}),
        verdicts=matrix,
        conditions=blocks.conditions,
        cluster=blocks.cluster,
    )
