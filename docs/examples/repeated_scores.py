"""Spread of repeated scores by temperature: two sections of scores.md (run scores.py)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy import stats
from tables import cell, interval_text, markdown, p_text, pair

from judgestats.stats.dispersion.condition_summary import normality_test
from judgestats.stats.dispersion.dispersion_test import spread_test, spread_trend
from judgestats.studies.llmasjudge_data import read_llmasjudge

# --- repeated scores of three judges ------------------------------------------------------------


def repeated_scores(data: Path) -> Mapping[str, tuple[np.ndarray, tuple[float, ...]]]:
    """Judge -> items x temperatures x replications, and the temperatures."""
    cells = read_llmasjudge(data / "llmasjudge").raw["none"]
    out = {}
    for judge in dict.fromkeys(j for _, j in cells):
        at = tuple(sorted(t for t, j in cells if j == judge))
        out[judge] = (np.stack([cells[t, judge] for t in at], axis=1), at)
    return out


def repeated_section(data: Path) -> str:
    """Reliability, spread, its confounding with the mean, and shapes."""
    lines: list[dict[str, object]] = []
    shapes: list[dict[str, object]] = []
    tests: list[dict[str, object]] = []
    ratios: list[dict[str, object]] = []
    for judge, (x, at) in repeated_scores(data).items():
        names = [f"T={t:g}" for t in at]
        out = spread_test(
            x, conditions=names, ordered=list(at), n_permutations=999, n_resamples=199
        )
        if out.summary is None:
            raise ValueError(f"{judge}: spread_test was given scores and returned no summary")
        for c, line in enumerate(out.summary.rows):
            lines.append(
                {
                    "judge": judge,
                    "condition": names[c],
                    "mean": cell(line.mean),
                    "variance between items": f"{line.between_item_variance.estimate:.2f}",
                    "variance within": f"{line.variance.estimate:.3f}",
                    "SEM": f"{line.sem.estimate:.3f}",
                    "ICC(1)": cell(line.icc),
                    "rho of mean and variance": f"{line.mean_spread_correlation:.2f}",
                }
            )
            shapes.append(shape_row(judge, names[c], x[:, c]))
        page = out.trend[0]
        tests.append(
            {
                "judge": judge,
                "blocked F": f"{out.blocked_f.statistic:.2f}",
                "p, cells exchanged": p_text(out.p_value),
                "Friedman p": p_text(out.rank_test.p_value),
                "Page's trend p": p_text(page.p_value),
                "trend within items": cell(page.effects[0]),
                "Nemenyi": ", ".join(
                    f"{r.a} and {r.b} {p_text(r.p_adjusted)}" for r in out.post_hoc[0].rows
                ),
            }
        )
        for a, b in ((names[1], names[0]), (names[2], names[0])):
            variance, gmd = pair(out.ratios, a, b), pair(out.gmd_ratios, a, b)
            ratios.append(
                {
                    "judge": judge,
                    "compared": f"{a} / {b}",
                    "ratio of variances": interval_text(
                        variance.estimate, variance.interval, digits=2
                    ),
                    "largest item's share": largest_share(x),
                    "GMD ratio": interval_text(gmd.estimate, gmd.interval, digits=2),
                }
            )
    return f"""## Three judges, 30 items, 100 scores each at three temperatures

{markdown(lines)}

Every rank correlation of an item's mean and variance is negative: items near the top of the scale
cannot vary (ceiling effect). A condition that raises means thereby lowers spread, so that mean,
SEM, and ICC accompany every comparison of spread.

### Does the spread grow with temperature?

The unit is the item's cell of 100 scores, the block is the item:

{markdown(tests)}

A ratio of pooled variances weighs each item by its variance, a ratio of mean differences of two
repeats (GMD) does not square. Where one item holds most of the variance, the first says little,
and has no interval:

{markdown(ratios)}

### What the scores look like

The figures describe the deviation of scores from their item's mean. Whole numbers are never normal:
the moments describe them, and a test of normality always rejects. A mixture of quiet and noisy
items has a positive excess kurtosis even if each item alone is flat.

{markdown(shapes)}
"""


def largest_share(x: np.ndarray) -> str:
    """Share of the variance within cells that one item holds, over all conditions."""
    variance = x.var(axis=2, ddof=1).sum(axis=1)
    return f"{variance.max() / variance.sum():.2f}"


def shape_row(judge: str, name: str, x: np.ndarray) -> dict[str, object]:
    """Which scores are used, and the moments of the deviations."""
    values, counts = np.unique(x, return_counts=True)
    order = np.argsort(-counts)[:3]
    out = normality_test(x)
    return {
        "judge": judge,
        "condition": name,
        "different scores": len(values),
        "most frequent (share)": ", ".join(
            f"{values[i]:g} ({counts[i] / counts.sum():.2f})" for i in order
        ),
        "items all alike": f"{np.mean(np.ptp(x, axis=1) == 0):.2f}",
        "skewness": cell(out.effects[1]),
        "excess kurtosis": cell(out.effects[0]),
    }


# --- eleven temperatures ------------------------------------------------------------------------


def temperature_section(data: Path) -> str:
    """The published trend, item by item."""
    cells = read_llmasjudge(data / "llmasjudge").plain
    rows: list[dict[str, object]] = []
    means: list[dict[str, object]] = []
    unpaired = []
    for judge in dict.fromkeys(j for _, j in cells):
        at = sorted(t for t, j in cells if j == judge)
        vectors = [cells[t, judge] for t in at]
        sizes = [v.size for v in vectors]
        pooled = stats.spearmanr(np.repeat(at, sizes), np.concatenate(vectors))
        row: dict[str, object] = {
            "judge": judge,
            "as published: rho over all cells": f"{pooled.statistic:.3f}",
            "its p": f"{pooled.pvalue:.1e}",
        }
        means.append(
            {
                "judge": judge,
                **{f"{t:g}": f"{v.mean():.3f}" for t, v in zip(at, vectors, strict=True)},
            }
        )
        used = [i for i, size in enumerate(sizes) if size == max(sizes)]
        if len(used) < len(at):
            short = [f"T = {at[i]:g} has {sizes[i]}" for i in range(len(at)) if i not in used]
            unpaired.append(f"{judge}: {', '.join(short)}")
        table = np.stack([vectors[i] for i in used], axis=1)
        out = spread_test(table, ordered=[at[i] for i in used], n_permutations=999, n_resamples=199)
        page, spearman, _ = out.trend
        warm = spread_trend(table[:, 1:], n_permutations=0, n_resamples=199)
        row |= {
            "temperatures": len(used),
            "rho, interval over items": cell(spearman.effects[0]),
            "p, cells exchanged": p_text(spearman.p_value),
            "Page's L": f"{page.statistic:.0f}",
            "p ": p_text(page.p_value),
            "trend within items": cell(page.effects[0]),
            "without T = 0": cell(warm[0].effects[0]),
        }
        rows.append(row)
    return f"""## Eleven temperatures, 80 items: the published trend

The study's claim is that spread grows with temperature (Spearman over all cells, p < .0001), from
population variances of about ten scores per item. Its test treats the eleven cells of an item as
independent. With the item as block (Page's L within items; Spearman with cells exchanged within
items) the claim stands for every judge, also without T = 0, where the published variances are 0
throughout. "Trend within items" is the mean over items of Spearman's rho of temperature and
variance:

{markdown(rows)}

Arrays of unequal length cannot be aligned by item and are left out of the tests within items, not
of the published one: {"; ".join(unpaired)}.
Where rho differs in the third decimal, variances that are equal but for rounding noise count as
ties here.

Mean of the items' variances by temperature:

{markdown(means)}
"""
