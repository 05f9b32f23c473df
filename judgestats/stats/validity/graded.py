"""A judge's scores against people's: bias, limits of agreement, concordance, calibration."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Estimate, Interval, Note, Result, Sample
from judgestats.stats.inference.result_parts import notes_block
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums
from judgestats.stats.validity.clustered_share import (
    cluster_variance,
    critical_value,
    effective_clusters,
)
from judgestats.stats.validity.inputs import LabelledItems, labelled_items

MOST_LEVELS = 12


@dataclasses.dataclass(frozen=True, kw_only=True)
class GradedAgreement(Result):
    """A judge's scores against people's.

    Attributes
    ----------
    estimates : mapping of str to Estimate
        ``bias`` (judge minus people), ``lower_limit`` and ``upper_limit`` of agreement,
        ``concordance`` (Lin), ``pearson_correlation``, ``slope`` (of people's on the judge's).
    curve : DataFrame
        What people give where the judge gives a score: one row for each level, or tenth of items.
    sample : Sample
    notes : tuple of Note
    """

    estimates: Mapping[str, Estimate]
    curve: pd.DataFrame
    sample: Sample
    notes: tuple[Note, ...] = ()

    def tidy(self) -> pd.DataFrame:
        """One row per estimate."""
        return pd.DataFrame([e.row() for e in self.estimates.values()])

    def sentence(self) -> str:
        """Bias, limits of agreement and concordance."""
        bias, ccc = self.estimates["bias"], self.estimates["concordance"]
        low, high = self.estimates["lower_limit"], self.estimates["upper_limit"]
        if math.isnan(bias.estimate):
            return f"Judge and people cannot be compared: {bias.reason}."
        text = (
            f"The judge scores {bias.short()} above people on average; 95 % of its scores lie "
            f"within {low.estimate:.2f} to {high.estimate:.2f} of theirs"
        )
        if not math.isnan(ccc.estimate):
            text += f"; concordance {ccc.short()}"
        return f"{text} ({self.sample})."

    def __str__(self) -> str:
        lines = ["", "\tScores of judge and people", ""]
        lines += [
            f"{e.label}: {e.reason if math.isnan(e.estimate) else e.short()}"
            for e in self.estimates.values()
        ]
        lines += [f"({self.sample})", *notes_block(self.notes), ""]
        return "\n".join(lines)


@with_keywords()
def graded_agreement(
    judge: ArrayLike, human: ArrayLike, **inference: Unpack[Clustered]
) -> GradedAgreement:
    r"""Bias, limits of agreement, concordance and calibration of a judge's scores.

    Parameters
    ----------
    judge : array-like, shape (N,) or (N, repeats)
        Repeats are averaged first.
    human : array-like, shape (N,)
        People's scores on the same scale, NaN where there is none.

    Returns
    -------
    GradedAgreement

    Raises
    ------
    InputError
        If shapes differ, a score is no number or no item has both.

    Notes
    -----
    Limits of agreement are bias plus and minus 1.96 standard deviations of the differences, each
    with standard error :math:`s\sqrt{1/n + 1.96^2 / (2(n-1))}`, n the effective number of labels.
    Lin's concordance :math:`2 s_{xy} / (s_x^2 + s_y^2 + (\bar x - \bar y)^2)`, sums over n - 1 as
    epiR: a judge that is half of the people's score plus 3 correlates 1 and concords .10.

    References
    ----------
    Bland & Altman (1986), Lancet 327, 307-310; Lin (1989), Biometrics 45, 255-268.

    Examples
    --------
    >>> out = graded_agreement([5, 6, 8, 9, 7], [4, 6, 7, 8, 7])
    >>> round(out.estimates["bias"].estimate, 2), round(out.estimates["concordance"].estimate, 3)
    (0.6, 0.872)
    """
    where = "graded_agreement"
    items = labelled_items(judge, human, kind="score", cluster=inference["cluster"], where=where)
    used = items.labelled & ~np.isnan(items.judge)
    if not used.any():
        raise InputError(f"{where}: no item has both a score of the judge and one of people.")
    x, y, codes = items.judge[used], items.human[used], items.codes[used]
    n_out = int(np.sum(~used))
    sample = Sample(
        n_items=x.size,
        n_clusters=int(np.unique(codes).size) if items.clustered else None,
        excluded={"no score or no label": n_out},
    )
    out = _bias(x - y, codes, items, sample, inference["level"])
    for name, label, combine, reason in _COEFFICIENTS:
        estimate = estimate_from_sums(
            SumStatistic(per_item=_moments, combine=combine),
            np.column_stack([x, y]),
            name=name, label=label, estimator="moments over items", sample=sample, reason=reason,
            where=where, cluster=codes, level=inference["level"], scale="identity",
        )  # fmt: skip
        out[name] = estimate if name == "slope" else _within(estimate)
    notes = list(items.notes)
    ends = np.isin(y, (y.min(), y.max()))
    if np.ptp(y) > 0 and ends.mean() > 0.5:
        message = (
            "More than half of the people's scores stand at an end of their scale: correlations "
            "say little there, read the table."
        )
        notes.append(Note(code="scale_ends", message=message))
    return GradedAgreement(
        estimates=out,
        curve=_curve(x, y, codes, items.clustered, inference["level"]),
        sample=sample,
        notes=tuple(notes),
    )


def _bias(
    d: Floats, codes: Ints, items: LabelledItems, sample: Sample, level: float
) -> dict[str, Estimate]:
    mean = float(d.mean())
    out: dict[str, Estimate] = {}
    variance = cluster_variance((d - mean) / d.size, codes) if d.size > 1 else math.nan
    if not variance > 1e-18:
        reason = "" if d.size > 1 else "one label shows no variation"
        note = Note(code="no_interval", message="No interval: the difference does not vary.")
        out["bias"] = Estimate(
            name="bias", label="Bias (judge - people)", estimate=mean, sample=sample, notes=(note,)
        )
        for name, label in _LIMITS:
            out[name] = Estimate(
                name=name, label=label, sample=sample, notes=() if reason else (note,),
                estimate=math.nan if reason else mean, reason=reason,
            )  # fmt: skip
        return out
    sd = float(d.std(ddof=1))
    effective = min(sd**2 / variance, float(d.size))
    df = max(effective_clusters(codes) - 1, 1.0) if items.clustered else d.size - 1.0
    t = critical_value(level, df)
    se = math.sqrt(variance)
    half = t * sd * math.sqrt(1 / effective + 1.96**2 / (2 * max(effective - 1, 1.0)))
    method = "t over clusters, effective df" if items.clustered else "t"
    for name, label, value, reach in (
        ("bias", "Bias (judge - people)", mean, t * se),
        (*_LIMITS[0], mean - 1.96 * sd, half),
        (*_LIMITS[1], mean + 1.96 * sd, half),
    ):
        out[name] = Estimate(
            name=name,
            label=label,
            estimator="mean difference" if name == "bias" else "mean difference +- 1.96 sd",
            estimate=value,
            std_error=reach / t,
            interval=Interval(low=value - reach, high=value + reach, level=level, method=method),
            sample=sample,
        )
    return out


_LIMITS = (("lower_limit", "Lower limit of agreement"), ("upper_limit", "Upper limit of agreement"))


def _moments(data: NDArray[Any]) -> Floats:
    x, y = data[..., 0], data[..., 1]
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1)


def _centred(s: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    n, x, y, xx, yy, xy = (s[..., i] for i in range(6))
    return n, x / n, y / n, xx - x * x / n, yy - y * y / n, xy - x * y / n


def _concordance(s: NDArray[Any]) -> NDArray[Any]:
    n, mx, my, sxx, syy, sxy = _centred(s)
    return np.asarray(2 * sxy / (sxx + syy + (n - 1) * (mx - my) ** 2))


def _pearson(s: NDArray[Any]) -> NDArray[Any]:
    _, _, _, sxx, syy, sxy = _centred(s)
    return np.asarray(sxy / np.sqrt(sxx * syy))


def _slope(s: NDArray[Any]) -> NDArray[Any]:
    _, _, _, sxx, _, sxy = _centred(s)
    return np.asarray(sxy / sxx)


_COEFFICIENTS = (
    ("concordance", "Lin's concordance", _concordance, "all scores are one and the same"),
    ("pearson_correlation", "Pearson's r", _pearson, "judge or people give one score only"),
    ("slope", "Slope of people's score on the judge's", _slope, "the judge gives one score only"),
)


def _within(estimate: Estimate) -> Estimate:
    iv = estimate.interval
    if iv is None:
        return estimate
    return estimate.replace(
        interval=dataclasses.replace(iv, low=max(iv.low, -1.0), high=min(iv.high, 1.0))
    )


def _curve(x: Floats, y: Floats, codes: Ints, clustered: bool, level: float) -> pd.DataFrame:
    """People's mean where the judge gives a score."""
    levels = np.unique(x)
    if levels.size <= MOST_LEVELS:
        group = np.searchsorted(levels, x)
    else:
        cuts = np.unique(np.quantile(x, np.arange(1, 10) / 10))
        group = np.searchsorted(cuts, x, side="right")
    rows = []
    for k in np.unique(group):
        here = group == k
        v, c = y[here], codes[here]
        mean = float(v.mean())
        variance = cluster_variance((v - mean) / v.size, c) if v.size > 1 else math.nan
        df = max(effective_clusters(c) - 1, 1.0) if clustered else v.size - 1.0
        half = critical_value(level, df) * math.sqrt(variance) if variance > 0 else math.nan
        rows.append(
            {"judge": float(x[here].mean()), "n": int(here.sum()), "people": mean,
             "conf_low": mean - half, "conf_high": mean + half}
        )  # fmt: skip
    return pd.DataFrame(rows)
