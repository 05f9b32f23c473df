"""What Spearman's and Kendall's correlations share: reading pairs, clustered p, bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.results.numbers import counted
from judgestats.stats.comparison.wilcoxon import Alternative
from judgestats.stats.inference import distributions
from judgestats.stats.inference.cluster_jackknife import jackknife_error
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.resampling import cluster_bootstrap
from judgestats.stats.inference.result import Interval, Note
from judgestats.stats.inference.rounding_noise import level_ranks
from judgestats.stats.layouts.blocks import as_paired
from judgestats.stats.layouts.formula import Missing, parse_formula

SIDE = {"two-sided": "not equal to", "greater": "greater than", "less": "less than"}


def read_pairs(
    x: ArrayLike | str, y: object, cluster: object, missing: Missing, where: str
) -> tuple[Floats, Floats, Ints | None, Any, tuple[Note, ...], str]:
    """Complete pairs from arrays or ``"y ~ x"`` and a frame."""
    if isinstance(x, str):
        terms = parse_formula(x, where=where)
        if not isinstance(y, pd.DataFrame):
            raise InputError(
                f"{where}: a formula needs a pandas DataFrame as second argument, got "
                f"{type(y).__name__}. Call {where}('variance ~ temperature', frame)."
            )
        names = [terms.response, terms.factor] + ([cluster] if isinstance(cluster, str) else [])
        names += [terms.block] if terms.block else []
        lacking = [n for n in names if n not in y.columns]
        if lacking:
            raise InputError(
                f"{where}: the frame has no column {', '.join(map(repr, lacking))}; it has: "
                f"{', '.join(map(str, y.columns))}. Correct the formula or the frame."
            )
        labels = y[cluster].to_numpy() if isinstance(cluster, str) else cluster
        if terms.block and cluster is None:
            # In 'variance ~ temperature | item' the bar names the cluster.
            labels = y[terms.block].to_numpy()
        blocks = as_paired(
            y[terms.factor].to_numpy(dtype=float),
            y[terms.response].to_numpy(dtype=float),
            where=where,
            cluster=labels,
            missing=missing,
        )
        data_name = f"{terms.factor} and {terms.response}"
    else:
        blocks = as_paired(x, y, where=where, cluster=cluster, missing=missing)
        data_name = "x and y"
    notes = blocks.notes
    if blocks.sample.n_excluded:
        what = ("pair has a missing value and is", "pairs have a missing value and are")
        message = f"{counted(blocks.sample.n_excluded, *what)} left out."
        notes = (Note(code="missing_values", message=message),)
    first, second = blocks.scores[:, 0], blocks.scores[:, 1]
    return first, second, blocks.cluster, blocks.sample, notes, data_name


def refusal(x: Floats, y: Floats, least: int) -> str:
    """Why no rank correlation can be computed, or nothing."""
    if x.size < least:
        return f"at least {least} complete pairs are required, got {x.size}"
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return f"{'x' if np.ptp(x) == 0 else 'y'} does not vary"
    return ""


def is_untied(x: Floats) -> bool:
    """Whether no two values are equal (to 12 digits)."""
    return bool(np.unique(level_ranks(x)).size == x.size)


def clustered_p(
    x: Floats,
    y: Floats,
    cluster: Ints,
    coefficient: Callable[[Floats, Floats], float],
    batch: Callable[[Floats], Floats] | None,
    alternative: Alternative,
    n_permutations: int,
    seed: int | None,
) -> tuple[float, str, list[Note], float]:
    """P-value: y exchanged within clusters where x varies there, else a jackknife t.

    With how it was had, notes, and the smallest that it can be.
    """
    order = np.argsort(cluster, kind="stable")
    spans = np.split(x[order], np.flatnonzero(np.diff(cluster[order])) + 1)
    varies = np.array([np.ptp(s) > 0 for s in spans])
    if varies.mean() > 0.5:
        null = permutation_distribution(
            y,
            batch if batch is not None else (lambda rows: coefficient(x, rows)),
            scheme="labels",
            strata=cluster,
            n_permutations=n_permutations,
            seed=seed,
            alternative=alternative,
            vectorized=batch is not None,
        )
        how = f"{n_permutations} permutations within clusters"
        return null.null.p_value, how, [], null.null.p_smallest
    n_clusters = int(cluster.max()) + 1
    left_out = np.array([coefficient(x[cluster != g], y[cluster != g]) for g in range(n_clusters)])
    if n_clusters < 3 or not np.isfinite(left_out).all():
        message = "No p-value: the jackknife over clusters is undefined."
        return math.nan, _JACKKNIFE, [Note(code="no_p_value", message=message)], math.nan
    spread, df = jackknife_error(left_out, np.bincount(cluster))
    t = coefficient(x, y) / spread if spread > 0 else math.nan
    p = 2 * distributions.t.sf(abs(t), df)
    if alternative != "two-sided":
        p = distributions.t.sf(t if alternative == "greater" else -t, df)
    message = "x does not vary within most clusters: p is from a jackknife over clusters."
    return float(p), _JACKKNIFE, [Note(code="cluster_jackknife", message=message)], math.nan


_JACKKNIFE = "jackknife over clusters"


def bootstrap_interval(
    x: Floats,
    y: Floats,
    cluster: Ints | None,
    coefficient: Callable[[Floats, Floats], float],
    level: float,
    n_resamples: int,
    seed: int | None,
    label: str,
) -> tuple[Interval | None, list[Note]]:
    """BCa interval of a coefficient of (x, y), whole clusters resampled."""
    boot = cluster_bootstrap(
        (x, y),
        coefficient,
        cluster=cluster,
        n_resamples=n_resamples,
        level=level,
        seed=seed,
        names=(label,),
    )
    interval = boot.interval if math.isfinite(boot.interval.low) else None
    return interval, list(boot.notes)
