"""What `omega_total` accepts: its options checked, its scores made a complete table."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints, too_large
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Sample
from judgestats.stats.reliability.one_factor import Denominator, Estimator, Model

IntervalMethod = Literal[
    "auto",
    "feldt",
    "jackknife",
    "bca",
    "percentile",
    "bootstrap-logit",
]


def check_options(
    model: str,
    estimator: str,
    denominator: str,
    interval: str | None,
    lower: float | str | None,
) -> None:
    """Refuse options that do not exist or do not go together."""
    one_of("omega_total", "model", model, get_args(Model))
    one_of("omega_total", "estimator", estimator, get_args(Estimator))
    one_of("omega_total", "denominator", denominator, get_args(Denominator))
    one_of("omega_total", "interval", interval, (*get_args(IntervalMethod), None))
    if isinstance(lower, str) and lower != "default":
        msg = (
            f"omega_total: lower must be a share of variance, None or 'default', got {lower!r}. "
            "Give a number in [0, 1)."
        )
        raise InputError(msg)
    if isinstance(lower, (int, float)) and not 0 <= lower < 1:
        msg = (
            f"omega_total: lower must lie in [0, 1), got {lower}. It is the smallest share of a "
            "column's variance that is its own; None sets no bound."
        )
        raise InputError(msg)
    if interval == "feldt" and model != "parallel":
        msg = (
            f"omega_total: interval 'feldt' is exact for model='parallel' only, got "
            f"model={model!r}. Use interval='auto'."
        )
        raise InputError(msg)


def prepare(X: ArrayLike, cluster: ArrayLike | None) -> tuple[Floats, Sample, Ints | None]:
    """Complete rows as floats, how many were left out, and the cluster codes of the rest."""
    try:
        data = np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        msg = (
            f"omega_total: scores must be a table of numbers, got values that are not ({error}). "
            "Give scores with items in rows and replications in columns."
        )
        raise InputError(msg) from error
    if data.ndim != 2:
        msg = (
            f"omega_total: scores must have two dimensions (items x replications), got "
            f"{data.ndim}. Reshape the scores to one row per item."
        )
        raise InputError(msg)
    if too_large(data).any():
        msg = (
            f"omega_total: scores must be finite, got {int(too_large(data).sum())} infinite "
            "scores (or beyond 1e50). Mark an unread judgment as NaN."
        )
        raise InputError(msg)
    complete = ~np.isnan(data).any(axis=1)
    codes = None
    if cluster is not None:
        codes = cluster_codes(cluster, data.shape[0], where="omega_total")[complete]
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    lost = int((~complete).sum())
    n = int(complete.sum())
    sample = Sample(
        n_items=n,
        n_clusters=n if codes is None else int(np.unique(codes).size),
        n_replications=data.shape[1],
        n_replications_max=data.shape[1],
        excluded={"a missing replication": lost},
    )
    return data[complete], sample, codes


def too_little(n: int, p: int) -> str:
    """Why so few items or replications have no reliability, or an empty string."""
    if n < 2:
        return f"{n} complete item{'' if n == 1 else 's'}: at least two are needed"
    if p < 2:
        return f"{p} replication{'' if p == 1 else 's'}: at least two are needed"
    return ""
