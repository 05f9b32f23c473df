"""Facets, terms and cells of a generalizability study: who is crossed with whom."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError

Term = frozenset[str]

DESIGNS: dict[str, tuple[str, ...]] = {
    "replicate in item": ("item",),
    "item x replicate": ("item", "replicate"),
    "item x judge": ("item", "judge"),
    "replicate in item x judge": ("item", "judge", "item:judge"),
    "item x judge x replicate": (
        "item",
        "judge",
        "replicate",
        "item:judge",
        "item:replicate",
        "judge:replicate",
    ),
    "item x judge x prompt": (
        "item",
        "judge",
        "prompt",
        "item:judge",
        "item:prompt",
        "judge:prompt",
    ),
    "replicate in item x judge x prompt": (
        "item",
        "judge",
        "prompt",
        "item:judge",
        "item:prompt",
        "judge:prompt",
        "item:judge:prompt",
    ),
}
"""Named designs and their random terms; what is left over is the residual."""


def terms_of(design: str | tuple[str, ...], *, where: str) -> tuple[str, ...]:
    """The terms of a named design, or of a tuple of terms, checked.

    Examples
    --------
    >>> terms_of("item x replicate", where="f")
    ('item', 'replicate')
    """
    if isinstance(design, str):
        if design not in DESIGNS:
            raise InputError(
                f"{where}: design must be one of {'; '.join(DESIGNS)}, or a tuple of terms such as "
                f"('item', 'judge', 'item:judge'), got {design!r}. Choose the layout of the study."
            )
        return DESIGNS[design]
    terms = tuple(design)
    keys = [frozenset(t.split(":")) for t in terms]
    if "item" not in terms or len(set(keys)) < len(keys):
        raise InputError(
            f"{where}: design must hold the term 'item' and each term once, got {terms}. "
            "Write interactions as 'item:judge'."
        )
    return terms


def factors_of(terms: tuple[str, ...]) -> tuple[str, ...]:
    """The facets that terms are made of, item first, then in order of appearance.

    Examples
    --------
    >>> factors_of(("judge", "item", "item:judge"))
    ('item', 'judge')
    """
    seen = dict.fromkeys(["item"])
    for term in terms:
        seen |= dict.fromkeys(term.split(":"))
    return tuple(seen)


@dataclasses.dataclass(frozen=True)
class Layout:
    """Scores with the level of every facet: one entry per judgment that was made.

    Attributes
    ----------
    y : ndarray, shape (n,)
        Scores, none missing.
    codes : mapping of facet to ndarray of int, shape (n,)
        Level of each judgment, 0 .. levels - 1, every level used.
    levels : mapping of facet to int
    cells : ndarray or None
        Scores by facet (axes in the order of `levels`) and judgments within the cell, where every
        cell holds the same number of judgments; else None.
    """

    y: Floats
    codes: Mapping[str, Ints]
    levels: Mapping[str, int]
    cells: Floats | None

    @cached_property
    def balanced(self) -> bool:
        """Whether every combination of levels was judged equally often."""
        return self.cells is not None


def array_layout(scores: Floats, factors: tuple[str, ...]) -> Layout:
    """Layout of an array with one axis per facet (a last, further axis: judgments in the cell).

    Examples
    --------
    >>> import numpy as np
    >>> layout = array_layout(np.arange(6.0).reshape(3, 2), ("item", "judge"))
    >>> dict(layout.levels), layout.balanced
    ({'item': 3, 'judge': 2}, True)
    """
    cells = scores if scores.ndim > len(factors) else scores[..., None]
    present = ~np.isnan(cells)
    index = np.nonzero(present)
    if present.all():
        codes = {f: index[a].astype(np.int64) for a, f in enumerate(factors)}
        levels = dict(zip(factors, cells.shape, strict=False))
        return Layout(cells.reshape(-1), codes, levels, cells)
    return long_layout(cells[present], {f: index[a] for a, f in enumerate(factors)}, factors)


def long_layout(y: Floats, facets: Mapping[str, ArrayLike], factors: tuple[str, ...]) -> Layout:
    """Layout of one score per judgment with the labels of its facets.

    Examples
    --------
    >>> import numpy as np
    >>> facets = {"item": ["a", "a", "b"], "judge": ["x", "y", "x"]}
    >>> long_layout(np.array([1.0, 2.0, 3.0]), facets, ("item", "judge")).balanced
    False
    """
    present = ~np.isnan(y)
    codes: dict[str, Ints] = {}
    levels: dict[str, int] = {}
    for factor in factors:
        labels = np.asarray(facets[factor])[present]
        labels = labels.astype(str) if labels.dtype.kind == "O" else labels
        level_names, code = np.unique(labels, return_inverse=True)
        codes[factor], levels[factor] = code.reshape(-1).astype(np.int64), level_names.size
    values = y[present]
    shape = tuple(levels.values())
    n_cells = int(np.prod(shape))
    cells: Floats | None = None
    if values.size and values.size % n_cells == 0:
        flat = np.ravel_multi_index(tuple(codes.values()), shape)
        per_cell = values.size // n_cells
        if np.all(np.bincount(flat, minlength=n_cells) == per_cell):
            order = np.argsort(flat, kind="stable")
            cells = values[order].reshape(*shape, per_cell)
    return Layout(values, codes, levels, cells)


@dataclasses.dataclass(frozen=True)
class Stratum:
    """A balanced design's stratum: sum of squares, degrees of freedom, and what it estimates.

    `coefficients` holds, for each term and (last) the residual, how often its variance enters the
    expected mean square.
    """

    term: Term
    sum_of_squares: float
    df: float
    coefficients: Floats

    @property
    def mean_square(self) -> float:
        """Sum of squares by degrees of freedom."""
        return self.sum_of_squares / self.df


def strata_of(layout: Layout, terms: tuple[str, ...]) -> tuple[list[Stratum], Floats]:
    """Strata of a balanced layout with the same expectation merged, and the mean's coefficients.

    Returns
    -------
    strata : list of Stratum
        With distinct expected mean squares, the residual last.
    of_mean : ndarray
        Coefficients of the variance of the grand mean, times the number of judgments.
    """
    cells = layout.cells
    if cells is None:
        raise InputError("strata_of: the layout must be balanced. Use method='reml'.")
    factors = tuple(layout.levels)
    shape = cells.shape
    n = cells.size
    grand = float(cells.mean())
    centred = cells - grand
    keys = [frozenset(t.split(":")) for t in terms]

    def coefficients(part: Term) -> Floats:
        row = [n / np.prod([layout.levels[f] for f in key]) if part <= key else 0.0 for key in keys]
        return np.array([*row, 1.0])

    merged: dict[tuple[float, ...], list[float]] = {}
    used_ss, used_df = 0.0, 0
    effects: dict[Term, Floats] = {}
    for size in range(1, len(factors) + 1):
        for names in combinations(factors, size):
            part = frozenset(names)
            away = tuple(
                a for a in range(len(shape)) if a >= len(factors) or factors[a] not in part
            )
            effect = centred.mean(axis=away, keepdims=True)
            for smaller, components in effects.items():
                if smaller < part:
                    effect = effect - components
            effects[part] = effect
            ss = float((effect**2).sum()) * n / effect.size
            df = int(np.prod([layout.levels[f] - 1 for f in names]))
            used_ss, used_df = used_ss + ss, used_df + df
            if df:
                entry = merged.setdefault(tuple(coefficients(part)), [0.0, 0.0])
                entry[0], entry[1] = entry[0] + ss, entry[1] + df
    within = cells.shape[-1]
    if within > 1:
        inside = cells - cells.mean(axis=-1, keepdims=True)
        row = tuple(np.append(np.zeros(len(terms)), 1.0))
        entry = merged.setdefault(row, [0.0, 0.0])
        entry[0] += float((inside**2).sum())
        entry[1] += n - n // within
    floor = 1e-26 * float((cells**2).sum())
    strata = [
        Stratum(frozenset(), ss if ss > floor else 0.0, df, np.array(row))
        for row, (ss, df) in merged.items()
    ]
    strata.sort(key=lambda s: -float(s.coefficients.sum()))
    return strata, coefficients(frozenset())
