"""One simulated design: power of the blocked F test and the width of the effect's interval."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from judgestats.arrays import Floats
from judgestats.stats.inference import distributions
from judgestats.stats.inference.estimable import BEYOND, NEARLY_ALL
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
        noise = _of_pilot_items(model.residuals, (size, n, k, o, r), rng) * residual
    else:
        noise = rng.normal(size=(size, n, k, o, r)) * residual
        if model.heterogeneity > 0:
            shape = 1 / model.heterogeneity
            noise = noise * np.sqrt(rng.gamma(shape, 1 / shape, (size, n, 1, 1, 1)))
    return np.asarray(means[:, None, None] + item + shift + order + noise)


def _of_pilot_items(residuals: Floats, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
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
        effective = error**2 / np.sum(inside**2, axis=1)
        rough = (of_between + of_error) ** 2 / (
            of_between**2 / (n - 1) + of_error**2 / np.maximum(effective - 1, 1)
        )
        half = distributions.t.ppf(1 - alpha / 2, np.clip(rough, 1, n - 1)) * se
        low, high = (
            -np.expm1(-v) / (1 + (r - 1) * np.exp(-v)) for v in (centre - half, centre + half)
        )
        useless = ((low <= 0) & (np.exp(half) > BEYOND**2)) | (
            np.minimum(high, 1) - np.maximum(low, 0) >= NEARLY_ALL
        )
    undefined = ~np.isfinite(half) | ~(se > 1e-12 * np.maximum(1, np.abs(centre)))
    return np.where(undefined | useless, np.inf, high - low)
