"""Sample sizes for the next study, by formula and by simulation."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from judgestats.arrays import Floats
from judgestats.engine import map_blocks
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import format_number
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import BEYOND, NEARLY_ALL
from judgestats.stats.inference.estimate import Note, Result, print_table
from judgestats.stats.planning.pilot import PilotComponents

BATCH_SCORES = 2_000_000
"""Scores drawn at once; bounds memory."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Design:
    """A study's size: replications are per item, condition and order."""

    n_items: int
    n_replications: int
    n_orders: int = 1


def simulate_design(
    model: PilotComponents,
    design: Design,
    goal: str,
    alpha: float,
    n_simulations: int,
    seed: np.random.SeedSequence,
) -> tuple[float, float]:
    """Share of simulated studies that reject, and the median width of the interval.

    Power is NaN for reliability. The width for spread is upper over lower end; where an interval
    is undefined it counts as infinite.
    """
    rng = np.random.default_rng(seed)
    size = design.n_items * len(model.residual_variance) * design.n_orders * design.n_replications
    batch = max(1, BATCH_SCORES // size)
    rejected, widths = [], []
    for start in range(0, n_simulations, batch):
        x = _draw(model, design, min(batch, n_simulations - start), rng)
        if goal == "reliability":
            widths.append(_icc_widths(x, alpha))
            continue
        spread = goal == "spread"
        cells = x.mean(axis=4)
        if spread:
            values = np.abs(x - cells[..., None]).mean(axis=4).mean(axis=3)
        else:
            values = cells.mean(axis=3)
        rejected.append(blocked_f_p(values) < alpha)
        if spread:
            variances = x.var(axis=4, ddof=1).mean(axis=3)
            widths.append(_ratio_widths(variances[:, :, -1], variances[:, :, 0], alpha))
        else:
            d = values[:, :, -1] - values[:, :, 0]
            t = distributions.t.ppf(1 - alpha / 2, design.n_items - 1)
            widths.append(2 * t * d.std(axis=1, ddof=1) / math.sqrt(design.n_items))
    power = float(np.mean(np.concatenate(rejected))) if rejected else math.nan
    return power, float(np.median(np.concatenate(widths)))


def _draw(model: PilotComponents, design: Design, size: int, rng: np.random.Generator) -> Floats:
    """Scores of `size` studies: studies x items x conditions x orders x replications."""
    n, r, o = design.n_items, design.n_replications, design.n_orders
    k = len(model.residual_variance)
    means = np.asarray(model.means or (0.0,) * k)
    item = rng.normal(0, math.sqrt(model.item_variance), (size, n, 1, 1, 1))
    shift = rng.normal(0, math.sqrt(model.item_condition_variance), (size, n, k, 1, 1))
    order = rng.normal(0, math.sqrt(model.item_order_variance), (size, n, k, o, 1))
    residual = np.sqrt(np.asarray(model.residual_variance))[None, None, :, None, None]
    if model.residuals is not None:
        noise = _resample_residuals(model.residuals, (size, n, k, o, r), rng) * residual
    else:
        noise = rng.normal(size=(size, n, k, o, r)) * residual
        if model.heterogeneity > 0:
            shape = 1 / model.heterogeneity
            noise = noise * np.sqrt(rng.gamma(shape, 1 / shape, (size, n, 1, 1, 1)))
    return np.asarray(means[:, None, None] + item + shift + order + noise)


def _resample_residuals(
    residuals: Floats, shape: tuple[int, ...], rng: np.random.Generator
) -> Floats:
    """Residuals of pilot items drawn with replacement, each from the item's own."""
    read = np.isfinite(residuals)
    # What was read stands first in each row, so that a place below the count is a residual.
    packed = np.take_along_axis(residuals, np.argsort(~read, axis=1, kind="stable"), axis=1)
    counts = read.sum(axis=1)
    usable = np.flatnonzero(counts > 0)
    item = usable[rng.integers(usable.size, size=(*shape[:2], 1, 1, 1))]
    place = np.floor(rng.random(shape) * counts[item]).astype(np.int64)
    return np.asarray(packed[item, place])


def blocked_f_p(y: Floats) -> Floats:
    """P of the blocked F test for a stack of tables, studies x items x conditions."""
    _, n, k = y.shape
    centred = y - y.mean(axis=2, keepdims=True)
    columns = centred.mean(axis=1)
    between = n * np.sum(columns**2, axis=1)
    residual = np.sum(centred**2, axis=(1, 2)) - between
    df1, df2 = k - 1, (n - 1) * (k - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        f = between / df1 / (residual / df2)
    p = np.asarray(distributions.f.sf(f, df1, df2))
    return np.where(np.isnan(p), 1.0, p)


def _ratio_widths(a: Floats, b: Floats, alpha: float) -> Floats:
    """Upper over lower end of the variance ratio's interval, as `variance_ratio` makes it."""
    n = a.shape[1]
    total_a, total_b = a.sum(axis=1, keepdims=True), b.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shifts = np.log1p(-a / total_a) - np.log1p(-b / total_b)
        se = np.sqrt((n - 1) / n * np.sum(shifts**2, axis=1))
        effective = np.minimum(
            total_a[:, 0] ** 2 / np.sum(a**2, axis=1), total_b[:, 0] ** 2 / np.sum(b**2, axis=1)
        )
        t = distributions.t.ppf(1 - alpha / 2, np.maximum(effective - 1, 1))
        half = t * se
        width = np.exp(2 * half)
        ratio = np.abs(np.log(total_a / total_b))[:, 0]
    lost = (half > 2 * math.log(BEYOND)) & ~(ratio > half)
    return np.where(np.isnan(width) | lost, np.inf, width)


def _icc_widths(x: Floats, alpha: float) -> Floats:
    """Width of the interval of ICC(1), as `MeanSquareRatio` makes it of each study.

    Orders are further replications; every item is a cluster, so leaving one out is arithmetic.
    """
    scores = x[:, :, 0].reshape(x.shape[0], x.shape[1], -1)
    n, r = scores.shape[1:]
    inside = r * scores.var(axis=2)
    means = scores.mean(axis=2)
    about = r * (means - means.mean(axis=1, keepdims=True)) ** 2
    between, error = about.sum(axis=1), inside.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        left = np.log(np.maximum(between[:, None] - about * n / (n - 1), 0) / (n - 2))
        left_error = np.log(np.maximum(error[:, None] - inside, 0) / ((n - 1) * (r - 1)))
        centre = np.log(between / (n - 1)) - np.log(error / (n * (r - 1)))
        parts = [math.sqrt(n - 1) * v.std(axis=1) for v in (left - left_error, left, left_error)]
        se, of_between, of_error = parts[0], parts[1] ** 2, parts[2] ** 2
        df_between, df_error = (
            np.maximum(v.sum(axis=1) ** 2 / np.sum(v**2, axis=1) - 1, 1) for v in (about, inside)
        )
        rough = (of_between + of_error) ** 2 / (of_between**2 / df_between + of_error**2 / df_error)
        half = distributions.t.ppf(1 - alpha / 2, np.maximum(rough, 1)) * se
        low, high = (
            -np.expm1(-v) / (1 + (r - 1) * np.exp(-v)) for v in (centre - half, centre + half)
        )
        useless = ((low <= 0) & (np.exp(half) > BEYOND**2)) | (
            np.minimum(high, 1) - np.maximum(low, 0) >= NEARLY_ALL
        )
    undefined = ~np.isfinite(half) | ~(se > 1e-12 * np.maximum(1, np.abs(centre)))
    return np.where(undefined | useless, np.inf, high - low)


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
        return print_table(f"Study plan: {self.goal}", self.table, [self.sentence()], self.notes)


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
