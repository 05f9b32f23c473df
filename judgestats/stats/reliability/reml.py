"""Restricted (and full) maximum likelihood of variance components: criteria, gradients, optimum.

Two criteria with the same interface: `BalancedCriterion` needs only the strata's sums of squares;
`UnbalancedCriterion` inverts one small block per pattern of judgments and item (terms that hold the
item are block diagonal) and carries the other terms by Woodbury's identity. `minimise` finds the
optimum on the boundary or inside it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy import optimize

from judgestats.arrays import Floats, Ints
from judgestats.stats.designs.crossed_layout import Layout, Stratum

LOG_2PI = math.log(2 * math.pi)


class Criterion(Protocol):
    """-2 log likelihood (restricted, or full) of the variances of all terms and the residual."""

    n_components: int
    scale: float

    def __call__(self, variances: Floats) -> tuple[float, Floats]:
        """The criterion and its gradient."""
        ...


class BalancedCriterion:
    """The criterion of a balanced layout from its strata: exact, in microseconds."""

    def __init__(
        self, strata: list[Stratum], of_mean: Floats, n: int, *, restricted: bool = True
    ) -> None:
        self.rows = np.array([s.coefficients for s in strata])
        self.df = np.array([s.df for s in strata], dtype=float)
        self.ss = np.array([s.sum_of_squares for s in strata])
        self.of_mean = of_mean
        self.n = n
        self.restricted = restricted
        self.n_components = of_mean.size
        self.scale = float(self.ss.sum() / max(self.df.sum(), 1.0))

    def __call__(self, variances: Floats) -> tuple[float, Floats]:
        """The criterion and its gradient."""
        expected = self.rows @ variances
        if np.any(expected <= 0):
            return math.inf, np.zeros(self.n_components)
        value = float((self.df * np.log(expected) + self.ss / expected).sum())
        slope = self.rows.T @ (self.df / expected - self.ss / expected**2)
        if self.restricted:
            # log|V0| of the mean's stratum and log|X'V^-1X| = log(n / it) leave log n.
            return value + (self.n - 1) * LOG_2PI + math.log(self.n), slope
        mean = float(self.of_mean @ variances)
        return value + self.n * LOG_2PI + math.log(mean), slope + self.of_mean / mean


class UnbalancedCriterion:
    """The criterion of any layout: blocks of items, and Woodbury for what items share.

    Use `unbalanced_criterion`, which picks the faster form where the item is the only term that
    holds the item.
    """

    def __init__(self, layout: Layout, terms: tuple[str, ...], *, restricted: bool = True) -> None:
        self.restricted = restricted
        self.n = layout.y.size
        self.n_components = len(terms) + 1
        self.scale = float(np.var(layout.y))
        keys = [frozenset(t.split(":")) for t in terms]
        self.inside = [t for t, key in enumerate(keys) if "item" in key]
        self.shared = [t for t, key in enumerate(keys) if "item" not in key]
        labels = [_combined(layout, key - {"item"}) for key in keys]
        designs = []
        for t in self.shared:
            levels, code = np.unique(labels[t], return_inverse=True)
            designs.append((code.reshape(-1), levels.size))
        sizes = [size for _, size in designs]
        # Column 0 of B is the mean; the others belong to the levels of the shared terms.
        self.owner = np.repeat([-1, *range(len(self.shared))], [1, *sizes])
        offsets = np.cumsum([1, *sizes])[: len(self.shared)].astype(np.int64)
        columns = [code + start for (code, _), start in zip(designs, offsets, strict=True)]
        columns = [np.zeros(self.n, dtype=np.int64), *columns]
        self._prepare(layout, labels, np.column_stack(columns).astype(np.int64))

    def _prepare(self, layout: Layout, labels: list[Ints], columns: Ints) -> None:
        """Items with the same pattern of judgments share their covariance block."""
        order = np.lexsort((*columns.T, *(labels[t] for t in self.inside), layout.codes["item"]))
        item = layout.codes["item"][order]
        starts = np.flatnonzero(np.r_[True, np.diff(item) > 0])
        sizes = np.diff(np.r_[starts, item.size])
        widest = int(sizes.max())
        patterns: dict[bytes, list[int]] = {}
        keys = np.column_stack([columns[order], *(labels[t][order] for t in self.inside)])
        for begin, size in zip(starts, sizes, strict=True):
            patterns.setdefault(keys[begin : begin + size].tobytes(), []).append(int(begin))
        count, width = len(patterns), self.owner.size
        # Padding: rows beyond an item's judgments are an identity block with nothing in it.
        self.present = np.zeros((count, widest), dtype=bool)
        self.B = np.zeros((count, widest, width))
        self.same = np.zeros((len(self.inside), count, widest, widest))
        self.members = np.zeros(count)
        self.sums: Floats = np.zeros((count, widest))
        self.products = np.zeros((count, widest, widest))
        centre = layout.y.mean()
        for p, begins in enumerate(patterns.values()):
            size = int(sizes[np.searchsorted(starts, begins[0])])
            rows = order[begins[0] : begins[0] + size]
            self.present[p, :size] = True
            for column in columns[rows].T:
                self.B[p, np.arange(size), column] = 1.0
            for j, t in enumerate(self.inside):
                code = labels[t][rows]
                self.same[j, p, :size, :size] = code[:, None] == code[None, :]
            data = np.array([layout.y[order[b : b + size]] - centre for b in begins])
            self.members[p] = len(begins)
            self.sums[p, :size] = data.sum(axis=0)
            self.products[p, :size, :size] = data.T @ data

    def __call__(self, variances: Floats) -> tuple[float, Floats]:
        """The criterion and its gradient."""
        if variances[-1] <= 0:
            return math.inf, np.zeros(self.n_components)
        log_det, crossed, b_y, y_y = self._blocks(variances)
        # B = [1, Z]; with Z scaled by standard deviations a component of 0 needs no special case.
        spread = np.ones(self.owner.size)
        for s, t in enumerate(self.shared):
            spread[self.owner == s] = math.sqrt(variances[t])
        system = spread[:, None] * crossed * spread + np.diag((self.owner >= 0).astype(float))
        # Effects of the mean and the shared facets, and the quadratic form y'Py.
        effects = spread * np.linalg.solve(system, spread * b_y)
        quadratic = y_y - float(b_y @ effects)
        keep = slice(0, None) if self.restricted else slice(1, None)
        value = log_det + quadratic + float(np.linalg.slogdet(system[keep, keep])[1])
        value += LOG_2PI * (self.n - 1 if self.restricted else self.n)

        trace_inverse = np.zeros_like(system)
        trace_inverse[keep, keep] = np.linalg.inv(system[keep, keep])
        trace_inverse = spread[:, None] * trace_inverse * spread
        gradient = self._inside_gradient(trace_inverse, effects)
        left = crossed - crossed @ trace_inverse @ crossed
        score = b_y - crossed @ effects
        for s, t in enumerate(self.shared):
            mine = self.owner == s
            gradient[t] = float(np.diag(left)[mine].sum() - (score[mine] ** 2).sum())
        return value, gradient

    def _blocks(self, variances: Floats) -> tuple[float, Floats, Floats, float]:
        """Log det V0, B'V0^-1 B, B'V0^-1 y and y'V0^-1 y, V0 without the shared terms."""
        widest = self.present.shape[1]
        block = np.einsum("t,tpij->pij", variances[self.inside], self.same)
        block += np.eye(widest) * np.where(self.present, variances[-1], 1.0)[:, :, None]
        self._inverse = np.linalg.inv(block)
        self._solved = self._inverse @ self.B
        self._weighted = self.members[:, None, None] * self._solved
        return (
            float(self.members @ np.linalg.slogdet(block)[1]),
            np.einsum("pij,pik->jk", self.B, self._weighted),
            np.einsum("pij,pi->j", self._solved, self.sums),
            float(np.einsum("pij,pij->", self._inverse, self.products)),
        )

    def _inside_gradient(self, trace_inverse: Floats, effects: Floats) -> Floats:
        """Gradient of the terms that hold the item and of the residual; zeros elsewhere."""
        # For each pattern: sum over its items of r r' with r = V0^-1 (y - B effects).
        fitted = self.B @ effects
        outer = self.products - self.sums[:, :, None] * fitted[:, None, :]
        outer -= fitted[:, :, None] * self.sums[:, None, :]
        outer += self.members[:, None, None] * fitted[:, :, None] * fitted[:, None, :]
        shrunk = self._weighted @ trace_inverse @ np.swapaxes(self._solved, 1, 2)
        influence = self.members[:, None, None] * self._inverse - shrunk
        influence -= self._inverse @ outer @ self._inverse
        gradient = np.zeros(self.n_components)
        for j, t in enumerate(self.inside):
            gradient[t] = np.einsum("pij,pij->", self.same[j], influence)
        gradient[-1] = np.einsum("pii,pi->", influence, self.present)
        return gradient


class ItemOnlyCriterion(UnbalancedCriterion):
    """The same where ``item`` is the only term that holds the item: no block need be inverted.

    An item's block is then residual I + item J, whose inverse is (I - shrink J) / residual, so that
    all that is needed of an item is its counts and sum: time linear in judgments.
    """

    def _prepare(
        self,
        layout: Layout,
        labels: list[Ints],  # noqa: ARG002 (the general form's signature)
        columns: Ints,
    ) -> None:
        """Counts by item and column, sums by item, and the cross-products over all judgments."""
        item = layout.codes["item"]
        n_items, width = int(item.max()) + 1, self.owner.size
        y = layout.y - layout.y.mean()
        self.counts = np.zeros((n_items, width))
        self._b_b = np.zeros((width, width))
        self._b_y = np.zeros(width)
        for a in columns.T:
            self._b_y += np.bincount(a, weights=y, minlength=width)
            cells = np.bincount(item * width + a, minlength=n_items * width)
            self.counts += cells.reshape(n_items, width)
            for b in columns.T:
                pairs = np.bincount(a * width + b, minlength=width * width)
                self._b_b += pairs.reshape(width, width)
        self.judged: Floats = np.bincount(item, minlength=n_items).astype(float)
        self.sums = np.bincount(item, weights=y, minlength=n_items).astype(float)
        self._y_y = float(y @ y)
        # Items that lost all their judgments are no items.
        used = self.judged > 0
        self.counts, self.judged = self.counts[used], self.judged[used]
        self.sums = self.sums[used]

    def _blocks(self, variances: Floats) -> tuple[float, Floats, Floats, float]:
        self._error, item = float(variances[-1]), float(variances[self.inside[0]])
        total = self._error + self.judged * item
        self._shrink, self._per_item = item / total, 1.0 / total
        weighted = self._shrink[:, None] * self.counts
        log_det = float(((self.judged - 1) * math.log(self._error) + np.log(total)).sum())
        return (
            log_det,
            (self._b_b - self.counts.T @ weighted) / self._error,
            (self._b_y - weighted.T @ self.sums) / self._error,
            (self._y_y - float(self._shrink @ self.sums**2)) / self._error,
        )

    def _inside_gradient(self, trace_inverse: Floats, effects: Floats) -> Floats:
        per, error = self._per_item, self._error
        left = self.sums - self.counts @ effects
        on_item = per[:, None] * self.counts
        square = 2 * self._shrink - self._shrink**2 * self.judged  # of V0^-1 squared
        second = self._b_b - self.counts.T @ (square[:, None] * self.counts)
        inside = self._y_y - 2 * effects @ self._b_y + effects @ self._b_b @ effects
        gradient = np.zeros(self.n_components)
        gradient[self.inside[0]] = (
            (self.judged * per).sum()
            - ((on_item @ trace_inverse) * on_item).sum()
            - ((per * left) ** 2).sum()
        )
        gradient[-1] = (
            ((self.judged - 1) / error + per).sum()
            - (trace_inverse * second).sum() / error**2
            - (inside - square @ left**2) / error**2
        )
        return gradient


def unbalanced_criterion(
    layout: Layout, terms: tuple[str, ...], *, restricted: bool = True
) -> UnbalancedCriterion:
    """The criterion of any layout, in its faster form where there is one."""
    inside = [t for t in terms if "item" in t.split(":")]
    kind = ItemOnlyCriterion if inside == ["item"] else UnbalancedCriterion
    return kind(layout, terms, restricted=restricted)


def _combined(layout: Layout, facets: frozenset[str]) -> Ints:
    """One label per combination of the levels of `facets` (0 for none)."""
    out = np.zeros(layout.y.size, dtype=np.int64)
    for factor in sorted(facets):
        out = out * layout.levels[factor] + layout.codes[factor]
    return out


@dataclasses.dataclass(frozen=True)
class Optimum:
    """Where the criterion is smallest, and whether the search says so."""

    variances: Floats
    criterion: float
    converged: bool


def minimise(
    criterion: Criterion,
    start: Floats,
    *,
    fixed: dict[int, float] | None = None,
    polish: bool = True,
) -> Optimum:
    """Smallest criterion over non-negative variances (some of them `fixed`).

    A bounded quasi-Newton search, then Newton steps on the components that are not 0, so that
    variances are good to about 1e-9 of the total (without `polish` only the criterion is precise).
    """
    held = fixed or {}
    free = np.array([c for c in range(criterion.n_components) if c not in held])
    scale = criterion.scale
    full = np.array(start, dtype=float)
    for index, value in held.items():
        full[index] = value

    def scaled(part: Floats) -> tuple[float, Floats]:
        point = full.copy()
        point[free] = part * scale
        value, slope = criterion(point)
        return value, slope[free] * scale

    floor = np.where(free == criterion.n_components - 1, 1e-10, 0.0)
    first = np.maximum(full[free] / scale, np.maximum(floor, 1e-4))
    bounds = [(float(low), None) for low in floor]
    optimum = optimize.minimize(
        scaled,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-11, "gtol": 1e-6, "maxiter": 500, "maxcor": 20},
    )
    point, slope_left = np.asarray(optimum.x, dtype=float), 0.0
    if polish:
        point, slope_left = _polish(scaled, point, floor)
    full[free] = point * scale
    value = criterion(full)[0]
    return Optimum(full, value, bool(slope_left < 1e-4))


def _polish(
    scaled: Callable[[Floats], tuple[float, Floats]], point: Floats, floor: Floats
) -> tuple[Floats, float]:
    """Newton steps on the components off their bound, and the largest slope that is left."""
    slope = scaled(point)[1]
    at_bound = (point <= floor + 1e-7) & (slope > 0)
    point = np.where(at_bound, floor, point)
    value, slope = scaled(point)
    for _ in range(8):
        at_bound = (point <= floor) & (slope > 0)
        inner = np.flatnonzero(~at_bound)
        if not inner.size or np.max(np.abs(slope[inner])) < 1e-10:
            break
        hessian = np.empty((inner.size, inner.size))
        for column, index in enumerate(inner):
            step = 1e-5 * max(point[index], 1e-3)
            up, down = point.copy(), point.copy()
            up[index] += step
            down[index] = max(down[index] - step, floor[index])
            width = up[index] - down[index]
            hessian[:, column] = (scaled(up)[1] - scaled(down)[1])[inner] / width
        move = np.linalg.lstsq((hessian + hessian.T) / 2, -slope[inner], rcond=None)[0]
        trial = point.copy()
        trial[inner] = np.maximum(point[inner] + move, floor[inner])
        new_value, new_slope = scaled(trial)
        if not np.max(np.abs(new_slope[inner])) < np.max(np.abs(slope[inner])):
            break
        if new_value > value + 1e-6:
            break
        point, value, slope = trial, new_value, new_slope
    off_bound = (point > floor) | (slope <= 0)
    return point, float(np.max(np.abs(slope[off_bound]), initial=0.0))
