"""Cheapest sufficient design, from a pilot's variance components."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import count_noun, format_number
from judgestats.stats.designs.cells import cell_statistics
from judgestats.stats.inference import distributions
from judgestats.stats.inference.estimate import Note, Result
from judgestats.stats.reliability.generalizability import (
    Components,
    DStudy,
    error_variances,
    facet_counts,
    residual_facets,
    truncation_notes,
)
from judgestats.stats.reliability.variance_components import VarianceComponents


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


@dataclasses.dataclass(frozen=True, kw_only=True)
class PricedPlan(DStudy):
    """All designs tried, cheapest first, and the cheapest that reaches the target.

    Attributes
    ----------
    best : mapping of str to number
        The row of `table` that reaches the target at the least cost; empty where none does.
    target : float
    criterion : str
    reason : str
        Why there is no best design.
    """

    best: Mapping[str, float]
    target: float
    criterion: str
    reason: str = ""

    def glance(self) -> pd.DataFrame:
        """The best design as one row."""
        head = {"term": "priced_plan", "criterion": self.criterion, "target": self.target}
        return pd.DataFrame([head | dict(self.best) | {"reason": self.reason}])

    def sentence(self) -> str:
        """The plan in words."""
        if not self.best:
            return f"No design tried reaches {self.criterion} {self.target:g}: {self.reason}."
        numbers = ", ".join(
            f"{int(v)} {k.removeprefix('n_')}{'s' if v != 1 else ''}"
            for k, v in self.best.items()
            if k.startswith("n_")
        )
        each, total = (format_number(self.best[k]) for k in ("cost_per_item", "cost"))
        return (
            f"The cheapest design that reaches {self.criterion} {self.target:g} takes {numbers} "
            f"per item: {int(self.best['judgments'])} calls, {each} per item, {total} in all."
        )

    def __str__(self) -> str:
        shown = self.table.head(12).to_string(index=False, float_format=format_number)
        lines = ["", "\tPriced plan", "", self.sentence(), "", shown]
        return "\n".join([*lines, *(f"warning: {n.message}" for n in self.notes), ""])


def priced_plan(
    components: Components,
    *,
    cost_per_call: float | Mapping[str, float],
    target: float,
    criterion: Literal["g_relative", "phi_absolute", "interval_width"] = "phi_absolute",
    n_items: int = 1,
    at_most: Mapping[str, int] | None = None,
    fixed: Sequence[str] = (),
    level: float = 0.95,
) -> PricedPlan:
    r"""Cheapest numbers of judges, prompts and replicates that reach a target.

    Parameters
    ----------
    components : VarianceComponents or mapping of term to variance
    cost_per_call : float or mapping of judge to float
        Measured cost of one judgment (tokens in and out at the judge's price), any currency. With a
        mapping the judge facet takes the cheapest judges first, and at most as many as are priced.
    target : float
        Least coefficient, or for ``interval_width`` the greatest width in score points.
    criterion : {"g_relative", "phi_absolute", "interval_width"}
        ``interval_width`` is the full width of the interval of one item's mean score,
        2 z SEM(absolute).
    n_items : int
        Items to be judged: multiplies the cost.
    at_most : mapping of facet to int, optional
        Largest number to try for each facet (default: 30 replicates, 10 of another facet).
    fixed : sequence of str
        Facets that stay the same next time; their number stays as observed.
    level : float
        Level of the interval.

    Returns
    -------
    PricedPlan
        Cheapest design first; ties go to the better one.

    Raises
    ------
    InputError
        If costs are not positive, or facets are unknown.

    Notes
    -----
    Cost per item = prompts x replicates x the sum of the judges' costs of a call. The components
    are taken as known: with few items they are not, so read the plan beside their intervals.
    Judges of different price count as exchangeable.

    Examples
    --------
    >>> parts = {"item": 0.8, "judge": 0.1, "item:judge": 0.2, "residual": 0.6}
    >>> plan = priced_plan(parts, cost_per_call={"small": 0.001, "large": 0.01}, target=0.8)
    >>> plan.best["n_judge"], plan.best["n_replicate"], plan.best["cost_per_item"]
    (2, 6, 0.066)
    """
    where = "priced_plan"
    prices = dict(cost_per_call) if isinstance(cost_per_call, Mapping) else {"": cost_per_call}
    bad = [v for v in prices.values() if not (v > 0 and math.isfinite(v))]
    if bad or not prices:
        raise InputError(
            f"{where}: cost_per_call must be positive, got {cost_per_call}. Measure it on a few "
            "calls or take it from the judge's price list."
        )
    one_of(where, "criterion", criterion, ("g_relative", "phi_absolute", "interval_width"))
    if not target > 0 or (criterion != "interval_width" and target >= 1):
        raise InputError(
            f"{where}: target must be a coefficient in (0, 1) or a positive width, got {target}. "
            "Use .80."
        )
    limits = _limits(components, at_most, fixed, prices, isinstance(cost_per_call, Mapping))
    z = float(distributions.norm.ppf((1 + level) / 2))
    cheapest = sorted(prices.values())
    rows: list[dict[str, Any]] = []
    notes: tuple[Note, ...] = ()
    for numbers in product(*limits.values()):
        counts = dict(zip(limits, numbers, strict=True))
        errors = error_variances(components, n=counts, fixed=fixed)
        notes = truncation_notes(errors)
        judges = counts.get("judge", 1)
        per_round = sum(cheapest[:judges]) if len(cheapest) > 1 else judges * cheapest[0]
        per_item = per_round * math.prod(c for f, c in counts.items() if f != "judge")
        rows.append(
            {f"n_{facet}": count for facet, count in counts.items()}
            | {
                "g_relative": errors.g,
                "phi_absolute": errors.phi,
                "sem_relative": math.sqrt(errors.relative),
                "sem_absolute": math.sqrt(errors.absolute),
                "interval_width": 2 * z * math.sqrt(errors.absolute),
                "judgments": math.prod(counts.values()),
                "cost_per_item": per_item,
                "cost": per_item * n_items,
            }
        )
    table = pd.DataFrame(rows).sort_values(
        ["cost_per_item", "sem_absolute"], kind="stable", ignore_index=True
    )
    # A little slack, so that a design that reaches the target exactly is not lost to rounding.
    reached = (
        table[criterion] <= target * (1 + 1e-12)
        if criterion == "interval_width"
        else table[criterion] >= target * (1 - 1e-12)
    )
    best: dict[str, float] = {}
    if reached.any():
        row = table[reached].iloc[0]
        whole = [c for c in table.columns if c.startswith("n_") or c == "judgments"]
        best = {str(c): int(row[c]) if c in whole else float(row[c]) for c in table.columns}
    reason = ""
    if not best:
        values = table[criterion]
        nearest = float(values.min() if criterion == "interval_width" else values.max())
        reason = (
            "a variance component is undefined"
            if math.isnan(nearest)
            else f"the best of {len(table)} designs reaches {format_number(nearest)}"
        )
    return PricedPlan(
        table=table,
        fixed=tuple(fixed),
        notes=notes,
        best=best,
        target=target,
        criterion=criterion,
        reason=reason,
    )


def _limits(
    components: Components,
    at_most: Mapping[str, int] | None,
    fixed: Sequence[str],
    prices: Mapping[str, float],
    priced_by_judge: bool,
) -> dict[str, range]:
    """The numbers to try for every facet."""
    where = "priced_plan"
    ceilings = dict(at_most or {})
    if isinstance(components, VarianceComponents):
        facets = facet_counts(components, None, fixed, where)
    else:
        ones = dict.fromkeys(residual_facets(components), 1)
        facets = facet_counts(components, ones, fixed, where)
    unknown = [f for f in ceilings if f not in facets]
    if unknown:
        raise InputError(
            f"{where}: at_most must name facets of the design ({', '.join(facets)}), got "
            f"{', '.join(unknown)}. Leave out what the design does not have."
        )
    limits: dict[str, range] = {}
    for facet, observed in facets.items():
        if facet in fixed:
            count = ceilings.get(facet, observed)
            limits[facet] = range(count, count + 1)
            continue
        top = ceilings.get(facet, 30 if facet == "replicate" else 10)
        if facet == "judge" and priced_by_judge:
            top = min(top, len(prices))
        limits[facet] = range(1, max(top, 1) + 1)
    return limits
