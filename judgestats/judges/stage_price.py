"""From a part of a collection in stages to the whole: totals scaled up, and their margin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from judgestats.judges.priced import JudgePlan
from judgestats.judgments.stage_sample import Cell, Stratum
from judgestats.stats.inference import distributions


def scaled_up(
    strata: Sequence[Stratum], plans: Mapping[Cell, Mapping[str, JudgePlan]]
) -> dict[str, JudgePlan]:
    """What all cells take, by judge: every set by as many verdicts as it has more than its part.

    Parameters
    ----------
    strata : sequence of Stratum
    plans : mapping of Cell to mapping of judge to JudgePlan

    Returns
    -------
    dict of judge to JudgePlan

    Examples
    --------
    >>> strata = [Stratum(name="s", cells=10, verdicts=20, drawn={("q", 0): 1, ("r", 0): 3})]
    >>> plan = JudgePlan(judge="j", judgments=3, requests=2, tokens_in=(1.0, 2.0))
    >>> scaled_up(strata, {("q", 0): {"j": plan}})["j"].requests
    10
    """
    sums: dict[str, dict[str, float]] = {}
    for stratum in strata:
        times = stratum.verdicts / sum(stratum.drawn.values())
        for cell in stratum.drawn:
            for judge, plan in plans.get(cell, {}).items():
                own = sums.setdefault(judge, {})
                for name, value in _values(plan).items():
                    own[name] = own.get(name, 0.0) + value * times
    return {
        judge: JudgePlan(
            judge=judge,
            judgments=round(own["judgments"]),
            cached=round(own["cached"]),
            waiting=round(own["waiting"]),
            requests=round(own["requests"]),
            tokens_in=(own["in_low"], own["in_high"]),
            tokens_out=(own["out_low"], own["out_high"]),
        )
        for judge, own in sums.items()
    }


def _values(plan: JudgePlan) -> dict[str, float]:
    return {
        "judgments": plan.judgments,
        "cached": plan.cached,
        "waiting": plan.waiting,
        "requests": plan.requests,
        "in_low": plan.tokens_in[0],
        "in_high": plan.tokens_in[1],
        "out_low": plan.tokens_out[0],
        "out_high": plan.tokens_out[1],
    }


def relative_margin(
    strata: Sequence[Stratum], values: Mapping[Cell, float], *, level: float = 0.95
) -> float:
    r"""Half the width of the interval of a stratified total, as a share of the total.

    Parameters
    ----------
    strata : sequence of Stratum
    values : mapping of Cell to float
        Of the cells drawn; 0 where one is missing.
    level : float

    Returns
    -------
    float
        0 where every cell was drawn, or the total is 0.

    Notes
    -----
    The total of a set is its verdicts times what a verdict takes in the cells drawn (a separate
    ratio estimate), its variance :math:`N_h^2 (1 - n_h / N_h) s_h^2 / n_h` with the variance
    :math:`s_h^2` of the residuals, the degrees of freedom Satterthwaite's (Cochran, Sampling
    Techniques, 3rd ed., sec. 5.4 and 6.10). Cells drawn every n-th from a seeded start are taken
    as drawn at random.

    Examples
    --------
    >>> drawn = {("a", 0): 2, ("b", 0): 2, ("c", 0): 2}
    >>> strata = [Stratum(name="s", cells=100, verdicts=200, drawn=drawn)]
    >>> round(relative_margin(strata, {("a", 0): 9.0, ("b", 0): 10.0, ("c", 0): 11.0}), 3)
    0.245
    >>> one = Stratum(name="s", cells=1, verdicts=2, drawn={("a", 0): 2})
    >>> relative_margin([one], {("a", 0): 9.0})
    0.0
    """
    total = variance = spread = 0.0
    for stratum in strata:
        own = [(values.get(cell, 0.0), verdicts) for cell, verdicts in stratum.drawn.items()]
        n, size = len(own), stratum.cells
        ratio = sum(value for value, _ in own) / sum(verdicts for _, verdicts in own)
        total += stratum.verdicts * ratio
        if n == size or n < 2:
            continue
        s2 = sum((value - ratio * verdicts) ** 2 for value, verdicts in own) / (n - 1)
        part = size**2 * (1 - n / size) * s2 / n
        variance += part
        spread += part**2 / (n - 1)
    if not variance or not total:
        return 0.0
    t = float(distributions.t.ppf((1 + level) / 2, variance**2 / spread))
    return t * math.sqrt(variance) / total
