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
    "delta",
    "delta-logit",
    "robust",
    "robust-logit",
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
    if interval in {"delta", "delta-logit", "robust", "robust-logit"}:
        if estimator != "ml" or model == "parallel":
            msg = (
                f"omega_total: interval {interval!r} belongs to estimator='ml' with a "
                f"tau-equivalent or congeneric model, got {estimator!r} with {model!r}. "
                "Use interval='auto'."
            )
            raise InputError(msg)
        if denominator != "model":
            msg = (
                f"omega_total: interval {interval!r} is defined for denominator='model', got "
                f"{denominator!r}. Use interval='bootstrap-logit'."
            )
            raise InputError(msg)


def check_missing(
    missing: str,
    estimator: str,
    denominator: str,
    interval: str | None,
    *,
    standardize: bool,
    null: bool,
) -> None:
    """Refuse what full-information ML does not offer."""
    one_of("omega_total", "missing", missing, ("listwise", "fiml"))
    fits = (
        estimator == "ml"
        and denominator == "model"
        and interval in {"auto", "robust", "robust-logit", None}
        and not standardize
        and not null
    )
    if missing == "fiml" and not fits:
        msg = (
            "omega_total: missing='fiml' needs estimator='ml', denominator='model', raw scores, no "
            f"null, and interval auto, robust, robust-logit or None; got {estimator!r}, "
            f"{denominator!r}, {interval!r}. Use missing='listwise' for the others."
        )
        raise InputError(msg)


def prepare(
    X: ArrayLike, cluster: ArrayLike | None, *, keep_incomplete: bool = False
) -> tuple[Floats, Sample, Ints | None]:
    """Usable rows as floats, what was left out, and the cluster codes of what is left.

    Rows with a missing score are left out, or with `keep_incomplete` only those without any score.
    """
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
    seen = ~np.isnan(data)
    complete = seen.any(axis=1) if keep_incomplete else seen.all(axis=1)
    codes = None
    if cluster is not None:
        codes = cluster_codes(cluster, data.shape[0], where="omega_total")[complete]
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    lost = int((~complete).sum())
    n = int(complete.sum())
    counts = seen[complete].sum(axis=1) if keep_incomplete and n else np.array([data.shape[1]])
    reason = "no readable replication" if keep_incomplete else "a missing replication"
    sample = Sample(
        n_items=n,
        n_clusters=n if codes is None else int(np.unique(codes).size),
        n_replications=int(counts.min()),
        n_replications_max=int(counts.max()),
        excluded={reason: lost},
    )
    return data[complete], sample, codes


def too_little(n: int, p: int) -> str:
    """Why so few items or replications have no reliability, or an empty string."""
    if n < 2:
        return f"{n} complete item{'' if n == 1 else 's'}: at least two are needed"
    if p < 2:
        return f"{p} replication{'' if p == 1 else 's'}: at least two are needed"
    return ""
