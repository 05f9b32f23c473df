"""Figures of conditions compared: ranks, ratios of variances, equivalence."""

from __future__ import annotations

import math

from judgestats.reporting import plots
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.show import Captioned

__all__ = ["critical_differences", "equivalence", "variance_ratios"]

_MOST_ROWS = 36


def critical_differences(run: Run) -> list[Captioned]:
    """Mean ranks of spread with Nemenyi's critical difference, a diagram a judge."""
    results = {str(r["id"]): r for r in run.results.get("results") or []}
    shown: list[Captioned] = []
    for identity, result in results.items():
        if not identity.startswith("posthoc.nemenyi."):
            continue
        judge = identity.removeprefix("posthoc.nemenyi.")
        ranks = _mean_ranks(results.get(f"ranks.{judge}", {}).get("print", ""))
        rows = result.get("tidy") or []
        if len(ranks) < 2:
            continue
        apart = tuple((str(r["a"]), str(r["b"])) for r in rows if number_of(r["p_adjusted"]) < 0.05)
        number = len(shown) + 1
        shown.append(
            Captioned(
                figure=plots.CriticalDifference(
                    labels=tuple(ranks), mean_ranks=tuple(ranks.values()), told_apart=apart,
                    from_pairs=True, low_label="steadier", high_label="more spread",
                ),
                label=f"fig-ranks-{number}",
                caption=(
                    f"Mean ranks of spread, {judge}. A bar joins conditions that Nemenyi's "
                    "comparisons do not tell apart; that does not show that they are equal."
                ),
            )
        )  # fmt: skip
    return shown


def _mean_ranks(text: str) -> dict[str, float]:
    """Mean ranks out of a printed Friedman test (``mean rank T=0.5    3.14``)."""
    ranks: dict[str, float] = {}
    for line in text.splitlines():
        head, _, tail = line.strip().rpartition(" ")
        if head.startswith("mean rank "):
            try:
                ranks[head.removeprefix("mean rank ").strip()] = float(tail)
            except ValueError:
                continue
    return ranks


def variance_ratios(run: Run) -> Captioned | None:
    """Ratios of within-item variances with intervals, by judge."""
    rows = []
    for result in run.with_prefix("ratio"):
        group = str(result.get("title", ""))
        for line in result.get("tidy") or []:
            estimate = number_of(line.get("estimate"))
            if not estimate > 0:
                continue
            rows.append(
                plots.EffectRow(
                    label=f"{line['a']} / {line['b']}", estimate=estimate,
                    low=number_of(line.get("conf_low")), high=number_of(line.get("conf_high")),
                    group=group,
                )
            )  # fmt: skip
    if not rows:
        return None
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows[:_MOST_ROWS]), reference=1.0, log=True, level=run.level,
            x_label="Ratio of within-item variances",
        ),
        label="fig-ratios",
        caption=(
            "Ratios of pooled within-item variances with intervals over questions, on a log axis. "
            "Filled squares: the interval leaves out 1. Pairs with a variance of 0 have no ratio "
            "and are not shown."
        ),
    )  # fmt: skip


def equivalence(run: Run) -> list[Captioned]:
    """Ratios, and differences, against the margin declared beforehand: a figure for each."""
    kinds: dict[tuple[float, float], list[plots.EffectRow]] = {}
    for result in run.with_prefix("equivalence"):
        _, comma, judge = str(result.get("title", "")).rpartition(", ")
        place = f"{judge}: " if comma else ""  # the rows of a family say it themselves
        for line in result.get("tidy") or []:
            margin = (number_of(line.get("margin_low")), number_of(line.get("margin_high")))
            estimate = number_of(line.get("estimate"))
            ratio = margin[0] > 0  # a margin of differences lies around 0, one of ratios around 1
            if not margin[0] < margin[1] or math.isnan(estimate) or (ratio and not estimate > 0):
                continue
            kinds.setdefault(margin, []).append(
                plots.EffectRow(
                    label=f"{place}{line['a']} {'/' if ratio else '-'} {line['b']}",
                    estimate=estimate,
                    low=number_of(line.get("conf_low")), high=number_of(line.get("conf_high")),
                )
            )  # fmt: skip
    shown: list[Captioned] = []
    for margin, rows in kinds.items():
        ratio = margin[0] > 0
        number = f"-{len(shown) + 1}" if shown else ""
        neutral, what = (1, "Ratio of within-item variances") if ratio else (0, "Difference")
        shown.append(
            Captioned(
                figure=plots.Equivalence(
                    rows=tuple(rows[:_MOST_ROWS]), margin=margin, log=ratio, x_label=what
                ),
                label=f"fig-equivalence{number}",
                caption=(
                    "Is a difference shown to be small? Only an interval that lies inside the "
                    f"declared margin says so; one that merely includes {neutral} does not."
                ),
            )
        )
    return shown
