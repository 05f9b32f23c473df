"""Coverage of a text by another one's cross-attention."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from judgestats.errors import InputError


def attention_coverage(
    attention: ArrayLike, *, threshold: float, counted: ArrayLike | None = None
) -> float:
    r"""Share of a target's tokens that another text attends to.

    Parameters
    ----------
    attention : array-like, shape (n_heads, n_reading, n_target) or (n_reading, n_target)
        Cross-attention of one layer: for every token of the reading text (the decoder's) its
        weights over the target's tokens (the encoder's), which sum to 1.
    threshold : float
        A target token is covered if some reading token gives it more than this; in 0-1.
    counted : array-like of bool, shape (n_target,), optional
        Which target tokens count (not padding, not special tokens); all by default.

    Returns
    -------
    float
        NaN where no token counts or nothing is read.

    Raises
    ------
    InputError
        If the shape, the weights or the threshold are unusable.

    Notes
    -----
    Heads are averaged first; then :math:`c = \frac1n \sum_j [\max_i \bar a_{ij} > t]`. Coverage
    falls with the threshold and with the length of the target, over which weights are spread:
    compare it at one threshold and with the coverage of unrelated texts.

    References
    ----------
    arXiv 2502.12501 names the layer, the average over heads and a threshold; it does not say how
    reading tokens are joined. The maximum is the convention here.

    Examples
    --------
    >>> attention_coverage([[[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]], threshold=0.5)
    0.6666666666666666
    """
    where = "attention_coverage"
    a = np.asarray(attention, dtype=float)
    if a.ndim == 3 and a.shape[0]:
        a = a.mean(axis=0)
    if a.ndim != 2:
        raise InputError(
            f"{where}: attention must be heads x reading x target tokens, got shape "
            f"{np.shape(attention)}. Give the weights of one layer."
        )
    if not 0 <= threshold < 1:
        raise InputError(f"{where}: threshold must lie in 0-1, got {threshold}. Try 0.1.")
    if a.size and not (np.isfinite(a).all() and a.min() >= 0 and a.max() <= 1 + 1e-4):
        raise InputError(f"{where}: attention holds values outside 0-1. Give weights, not logits.")
    use = np.ones(a.shape[1], dtype=bool) if counted is None else np.asarray(counted, dtype=bool)
    if use.shape != (a.shape[1],):
        raise InputError(
            f"{where}: counted must have one entry for each of the {a.shape[1]} target tokens, got "
            f"shape {use.shape}."
        )
    if not use.any() or a.shape[0] == 0:
        return math.nan
    return float(np.mean(a.max(axis=0)[use] > threshold))
