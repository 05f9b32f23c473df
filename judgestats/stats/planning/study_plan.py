"""How many items, replications and orders does the next study need, and what will it cost?

Power and interval width are simulated from a pilot's variance components, so that the answer holds
for the tests this package runs and not for a formula's simpler ones.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from judgestats.engine import map_blocks
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.result import Note, Result, format_number
from judgestats.stats.planning.pilot import PilotComponents, pilot_components
from judgestats.stats.planning.simulated_design import Design, simulate_design

__all__ = ["Goal", "PilotComponents", "StudyPlan", "pilot_components", "plan_study"]

Goal = Literal["mean", "spread", "reliability"]

_WIDTHS = {
    "mean": "width of the interval of the mean shift, score points",
    "spread": "upper over lower end of the interval of the variance ratio",
    "reliability": "width of the interval of ICC(1)",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class StudyPlan(Result):
    """Designs compared, and the cheapest that reaches the target.

    Attributes
    ----------
    table : DataFrame
        One row a design: items, replications, orders, calls, cost, power (with its Monte Carlo
        standard error), median width of the interval, and whether the target is reached.
    cheapest : dict or None
        The row of the cheapest design reaching the target; None where none does.
    goal, effect, target_power, target_width
        As asked for.
    components : PilotComponents
    n_simulations : int
    seed : int or None
    notes : tuple of Note
    """

    table: pd.DataFrame
    cheapest: dict[str, float] | None
    goal: str
    effect: float | None
    target_power: float | None
    target_width: float | None
    components: PilotComponents
    n_simulations: int
    seed: int | None
    notes: tuple[Note, ...] = ()

    def tidy(self) -> pd.DataFrame:
        """One row a design."""
        return self.table.copy()

    def glance(self) -> pd.DataFrame:
        """One row: the cheapest design (empty where none reaches the target)."""
        return pd.DataFrame([self.cheapest] if self.cheapest else [])

    def sentence(self) -> str:
        """What the cheapest sufficient design is, or that none of those tried is sufficient."""
        aim = (
            f"power {self.target_power:g}"
            if self.target_power is not None
            else f"a {_WIDTHS[self.goal]} of at most {self.target_width:g}"
        )
        if self.cheapest is None:
            return (
                f"None of the {len(self.table)} designs tried reaches {aim}: allow more items or "
                "replications, or expect less."
            )
        c = self.cheapest
        price = "" if math.isnan(c["cost"]) else f", cost {format_number(c['cost'])}"
        reached = (
            f"simulated power {c['power']:.3f} (Monte Carlo standard error {c['power_se']:.3f})"
            if self.target_power is not None
            else f"median {format_number(c['width'])}"
        )
        return (
            f"The cheapest of {len(self.table)} designs reaching {aim} for the {self.goal}: "
            f"{c['items']:g} items x {c['replications']:g} replications x {c['orders']:g} "
            f"order{'s' * (c['orders'] > 1)}, {c['calls']:g} calls{price}; {reached}, "
            f"{self.n_simulations} simulations."
        )

    def __str__(self) -> str:
        table = self.table.to_string(index=False, float_format=format_number)
        return "\n".join(
            [
                "",
                f"\tStudy plan: {self.goal}",
                "",
                table,
                self.sentence(),
                *(f"warning: {n.message}" for n in self.notes),
                "",
            ]
        )


def plan_study(
    components: PilotComponents,
    *,
    goal: Goal,
    effect: float | None = None,
    target_power: float | None = None,
    target_width: float | None = None,
    items: Sequence[int] = (20, 50, 100, 200),
    replications: Sequence[int] = (2, 3, 5, 10),
    orders: Sequence[int] = (1,),
    cost_per_call: float | Sequence[float] | None = None,
    alpha: float = 0.05,
    n_simulations: int = 400,
    seed: int | None = 0,
    n_jobs: int = 1,
) -> StudyPlan:
    r"""Simulate designs from a pilot's variance components and name the cheapest sufficient one.

    Parameters
    ----------
    components : PilotComponents
        From `pilot_components`, or declared.
    goal : {"mean", "spread", "reliability"}
        ``mean``: blocked F (paired t for two conditions) on cell means. ``spread``: blocked F on
        mean distances from the cell mean. ``reliability``: interval of ICC(1) of the first
        condition; no power.
    effect : float, optional
        Effect to detect between two conditions: a shift in score points (``mean``), or a ratio of
        variances (``spread``). None: the pilot's own conditions with the pilot's differences,
        which a small pilot estimates badly.
    target_power : float, optional
        Power to reach, in (0, 1).
    target_width : float, optional
        Median interval width to reach: score points (``mean``), upper over lower end
        (``spread``), ICC units (``reliability``). Give exactly one target.
    items, replications, orders : sequence of int
        Designs to try; replications are per item, condition and order.
    cost_per_call : float or sequence of float, optional
        Price of one call, or one for each condition. None: unknown, designs are ranked by calls.
    alpha : float
        Level of the tests; intervals have level 1 - alpha.
    n_simulations : int
        Simulated studies a design; power has standard error sqrt(p (1 - p) / n_simulations).
    seed : int or None
    n_jobs : int
        joblib workers; 1 leaves it to the active engine. The result does not depend on it.

    Returns
    -------
    StudyPlan

    Raises
    ------
    InputError

    Notes
    -----
    Scores are :math:`x = \mu_c + a_i + b_{ic} + d_{ico} + e`. With components from a pilot
    (`pilot_components`) the residuals of each simulated item are drawn from those of one pilot
    item, so that items that never vary stay so: a gamma-normal model promised a power of .94 for
    spread where .71 to .77 was reached because half of the items were constant
    (docs/simulations/planned_power.csv). With declared components they are normal, the variance of
    condition c multiplied by an item factor from a gamma distribution of mean 1 and the declared
    heterogeneity. Items are taken as independent: with clusters read "items" as
    clusters of one item.

    Examples
    --------
    >>> pilot = PilotComponents(item_variance=2.0, residual_variance=(0.5, 0.5))
    >>> plan = plan_study(pilot, goal="mean", effect=0.3, target_power=0.8, items=(20, 40, 80),
    ...                   replications=(2, 4), cost_per_call=0.001, n_simulations=200)
    >>> plan.cheapest["items"], plan.cheapest["replications"], plan.cheapest["cost"]
    (40, 4, 0.32)
    """
    function = "plan_study"
    _check(function, goal, effect, target_power, target_width, alpha, n_simulations)
    grids = {"items": items, "replications": replications, "orders": orders}
    for name, grid in grids.items():
        least = {"items": 3, "replications": 2, "orders": 1}[name]
        if not grid or any(int(v) != v or v < least for v in grid):
            raise InputError(
                f"{function}: {name} must be whole numbers of at least {least}, got {list(grid)}. "
                "Spread and reliability need two replications, tests three items."
            )
    model = _model(components, goal, effect)
    prices = _prices(cost_per_call, len(model.residual_variance), function=function)
    designs = [
        Design(n_items=int(n), n_replications=int(r), n_orders=int(o))
        for n, r, o in itertools.product(items, replications, orders)
    ]
    seeds = np.random.SeedSequence(seed).spawn(len(designs))
    jobs = [(model, d, goal, alpha, n_simulations, s) for d, s in zip(designs, seeds, strict=True)]
    simulated = map_blocks(simulate_design, jobs, n_jobs=n_jobs)
    rows = []
    for design, (power, width) in zip(designs, simulated, strict=True):
        per_condition = design.n_items * design.n_replications * design.n_orders
        se = math.sqrt(power * (1 - power) / n_simulations) if power == power else math.nan  # noqa: PLR0124 (NaN)
        reached = power >= target_power if target_power is not None else width <= target_width  # type: ignore[operator]
        rows.append(
            {
                "items": design.n_items,
                "replications": design.n_replications,
                "orders": design.n_orders,
                "calls": per_condition * len(model.residual_variance),
                "cost": per_condition * sum(prices) if prices else math.nan,
                "power": power,
                "power_se": se,
                "width": width,
                "reached": bool(reached),
            }
        )
    table = pd.DataFrame(rows)
    sufficient = [row for row in rows if row["reached"]]
    by = "cost" if prices else "calls"
    cheapest = min(sufficient, key=lambda row: (row[by], row["calls"]), default=None)
    return StudyPlan(
        table=table,
        cheapest=dict(cheapest) if cheapest else None,
        goal=goal,
        effect=effect,
        target_power=target_power,
        target_width=target_width,
        components=components,
        n_simulations=n_simulations,
        seed=seed,
        notes=components.notes,
    )


def _check(
    function: str,
    goal: str,
    effect: float | None,
    target_power: float | None,
    target_width: float | None,
    alpha: float,
    n_simulations: int,
) -> None:
    """Refuse goals, effects and targets that mean nothing."""
    one_of(function, "goal", goal, get_args(Goal))
    if (target_power is None) == (target_width is None):
        raise InputError(
            f"{function}: give either target_power or target_width, got "
            f"{'both' if target_power is not None else 'neither'}. Decide what the study is for."
        )
    if target_power is not None and (goal == "reliability" or not 0 < target_power < 1):
        raise InputError(
            f"{function}: target_power must lie in (0, 1) and has no meaning for the reliability, "
            f"got {target_power} for {goal!r}. Give target_width for reliability."
        )
    if target_width is not None and not target_width > (1 if goal == "spread" else 0):
        raise InputError(
            f"{function}: target_width must be positive (above 1 for spread, a ratio), got "
            f"{target_width}."
        )
    if effect is not None and (
        goal == "reliability" or not math.isfinite(effect) or (goal == "spread" and effect <= 0)
    ):
        raise InputError(
            f"{function}: effect must be a shift in score points (mean) or a positive ratio of "
            f"variances (spread), got {effect!r} for {goal!r}."
        )
    if not 0 < alpha < 1 or n_simulations < 20:
        raise InputError(
            f"{function}: alpha must lie in (0, 1) and n_simulations be at least 20, got {alpha} "
            f"and {n_simulations}."
        )


def _model(components: PilotComponents, goal: str, effect: float | None) -> PilotComponents:
    """The components the studies are drawn from: the pilot's, or two conditions an effect apart."""
    if goal == "reliability":
        return dataclasses.replace(
            components, residual_variance=components.residual_variance[:1], means=(0.0,)
        )
    if effect is None:
        if len(components.residual_variance) < 2:
            raise InputError(
                "plan_study: effect is needed where the pilot has one condition. Give the smallest "
                "effect that matters."
            )
        return components
    base = float(np.mean(components.residual_variance))
    if goal == "mean":
        return dataclasses.replace(
            components, residual_variance=(base, base), means=(0.0, float(effect))
        )
    return dataclasses.replace(
        components,
        residual_variance=(
            components.residual_variance[0],
            components.residual_variance[0] * float(effect),
        ),
        means=(0.0, 0.0),
    )


def _prices(
    cost: float | Sequence[float] | None, n_conditions: int, *, function: str
) -> tuple[float, ...]:
    """Price of one call under every condition; empty where unknown."""
    if cost is None:
        return ()
    prices = np.atleast_1d(np.asarray(cost, dtype=float))
    if prices.size == 1:
        prices = np.repeat(prices, n_conditions)
    if prices.size != n_conditions or not np.all(prices >= 0):
        raise InputError(
            f"{function}: cost_per_call must be one price, or one for each of the {n_conditions} "
            f"conditions, not negative, got {cost!r}. Leave it out where it is unknown."
        )
    return tuple(prices.tolist())
