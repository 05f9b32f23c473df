"""The cheapest design that is good enough, from the price of a call."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Literal

import pandas as pd

from judgestats.errors import InputError, one_of
from judgestats.stats.inference import distributions
from judgestats.stats.inference.result import Note, format_number
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
