"""Where the variance of a pilot's judgments comes from."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.results.numbers import count_noun, format_number
from judgestats.stats.designs.cells import cell_statistics
from judgestats.stats.inference.estimate import Note, Result


@dataclasses.dataclass(frozen=True, kw_only=True)
class PilotComponents(Result):
    """Where the variance of single judgments comes from, in squared score points.

    Attributes
    ----------
    item_variance : float
        Between items.
    residual_variance : tuple of float
        Within item x condition cells, one for each condition.
    item_condition_variance : float
        Item x condition interaction: how far conditions shift items differently.
    item_order_variance : float
        Item x condition x order: what averaging over orders of presentation removes.
    heterogeneity : float
        Squared coefficient of variation over items of the residual variance; 0: all items alike.
    means : tuple of float
        Mean of each condition; zeros where not given.
    notes : tuple of Note
    residuals : ndarray, shape (n_items, m), or None
        The pilot's own residuals by item, in units of their condition's standard deviation, NaN
        where missing: studies are then drawn from the pilot's items, so that items which never
        vary, or vary by whole points, do so in the plan too. None draws normal residuals.
    """

    item_variance: float
    residual_variance: tuple[float, ...]
    item_condition_variance: float = 0.0
    item_order_variance: float = 0.0
    heterogeneity: float = 0.0
    means: tuple[float, ...] = ()
    notes: tuple[Note, ...] = ()
    residuals: Floats | None = dataclasses.field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = (
            self.item_variance,
            self.item_condition_variance,
            self.item_order_variance,
            self.heterogeneity,
            *self.residual_variance,
        )
        if not self.residual_variance or not all(math.isfinite(v) and v >= 0 for v in values):
            raise InputError(
                "PilotComponents: components must be finite, not negative, with a residual "
                f"variance for every condition, got {values}. Set negative estimates to 0."
            )
        if not any(self.residual_variance):
            raise InputError(
                "PilotComponents: residual_variance is 0 under every condition, so that nothing "
                "can be planned from it. Pilot at a temperature at which judgments vary."
            )
        if self.means and len(self.means) != len(self.residual_variance):
            raise InputError(
                f"PilotComponents: means must be one for each of the {len(self.residual_variance)} "
                f"conditions, got {len(self.means)}."
            )

    def tidy(self) -> pd.DataFrame:
        """One row a component."""
        rows = [
            ("item", self.item_variance),
            ("item x condition", self.item_condition_variance),
            ("item x condition x order", self.item_order_variance),
            *((f"residual {j + 1}", v) for j, v in enumerate(self.residual_variance)),
        ]
        return pd.DataFrame(rows, columns=["term", "estimate"])

    def sentence(self) -> str:
        """The components in one sentence."""
        parts = [f"{t} {format_number(v)}" for t, v in self.tidy().itertuples(index=False)]
        return "Variance components: " + ", ".join(parts) + "."

    def __str__(self) -> str:
        return "\n".join([self.sentence(), *(f"warning: {n.message}" for n in self.notes)])


def pilot_components(
    X: ArrayLike, *, conditions: Sequence[object] | None = None, item_order_variance: float = 0.0
) -> PilotComponents:
    r"""Estimate a pilot's variance components by analysis of variance.

    Parameters
    ----------
    X : array-like, shape (N, k, R)
        Pilot scores: items x conditions x replications, NaN = missing. Items with fewer than two
        scores in some condition are left out.
    conditions : sequence, optional
    item_order_variance : float
        Variance of the item x condition x order effect, where orders are planned.

    Returns
    -------
    PilotComponents

    Raises
    ------
    InputError
        If fewer than 3 items are complete.

    Notes
    -----
    Residual: mean of the cell variances. From the two-way table of cell means,
    :math:`\hat\sigma^2_{ic} = MS_{ic} - \overline{\hat\sigma^2_e / n}`,
    :math:`\hat\sigma^2_i = (MS_i - MS_{ic})/k`; negative estimates become 0, with a note. With one
    condition the interaction stays in the item component. Heterogeneity by moments:
    :math:`E s^4 = E\sigma^4 (1 + 2/(n-1))` for normal scores. The residuals themselves are kept,
    and `plan_study` draws from them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = 6 + rng.normal(0, 1.5, (40, 1, 1)) + rng.normal(0, [[0.5], [1.0]], (40, 2, 8))
    >>> c = pilot_components(X)
    >>> round(c.item_variance, 2), [round(v, 2) for v in c.residual_variance]
    (1.42, [0.29, 0.87])
    """
    scores = np.asarray(X, dtype=float)
    cells = cell_statistics(scores, conditions=conditions)
    complete = np.all(cells.n_scores >= 2, axis=1)
    n_items, k = int(complete.sum()), len(cells.conditions)
    if n_items < 3:
        raise InputError(
            f"pilot_components: needs 3 items with at least 2 scores under every condition, got "
            f"{n_items} of {complete.size}. Judge more items, or repeat judgments."
        )
    mean, variance = cells.mean[complete], cells.variance[complete]
    n = cells.n_scores[complete].astype(float)
    residual = variance.mean(axis=0)
    error = float(np.mean(variance / n))
    row = mean.mean(axis=1)
    rest = mean - row[:, None] - mean.mean(axis=0) + mean.mean()
    ms_item = k * float(np.var(row, ddof=1))
    notes = []
    if k > 1:
        ms_rest = float(np.sum(rest**2)) / ((n_items - 1) * (k - 1))
        interaction, item = ms_rest - error, (ms_item - ms_rest) / k
    else:
        interaction, item = 0.0, ms_item - error
    for name, value in (("item x condition", interaction), ("item", item)):
        if value < 0:
            message = f"The {name} variance is estimated at {value:.3g}; it is taken as 0."
            notes.append(Note(code="negative_component", message=message))
    if n_items < 20:
        message = (
            f"Components of {count_noun(n_items, 'item', 'items')} are rough: plan with a margin."
        )
        notes.append(Note(code="small_pilot", message=message))
    fourth = variance**2 / (1 + 2 / (n - 1))
    shares = [fourth[:, j].mean() / residual[j] ** 2 - 1 for j in range(k) if residual[j] > 0]
    return PilotComponents(
        item_variance=max(item, 0.0),
        residual_variance=tuple(residual.tolist()),
        item_condition_variance=max(interaction, 0.0),
        item_order_variance=item_order_variance,
        heterogeneity=max(float(np.mean(shares)), 0.0) if shares else 0.0,
        means=tuple(mean.mean(axis=0).tolist()),
        notes=tuple(notes),
        residuals=_residuals(scores[complete], mean, n, residual),
    )


def _residuals(scores: Floats, mean: Floats, n: Floats, residual: Floats) -> Floats:
    """Each item's residuals under all conditions, inflated to the cells' unbiased variance."""
    size = np.sqrt(n / (n - 1) / np.where(residual > 0, residual, np.nan))
    centred = (scores - mean[:, :, None]) * size[:, :, None]
    return centred.reshape(centred.shape[0], -1)
