"""How much more data would decide an open requirement."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from judgestats.results.purposes import decided_of
from judgestats.results.verdict import Levels, Measure, NextStep, Requirement

_MOST, _SIZES = 4_000, 120
_POWER = 0.8


def next_step(open_one: Requirement, made: Measure, levels: Levels) -> NextStep | None:
    """What to add so that an open requirement holds or fails with probability .8.

    Parameters
    ----------
    open_one : Requirement
        One that is open.
    made : Measure
        What was measured for it.
    levels : Levels

    Returns
    -------
    NextStep or None
        None where nothing can be said. `if_true` counts on the estimate being the truth,
        `assured` averages over Beta(x + 1/2, n - x + 1/2) (shares) or a normal distribution about
        the estimate (others).

    Examples
    --------
    >>> from judgestats.results.verdict import Demand, requirement, share_measure
    >>> tnr = share_measure("tnr", [1.0] * 21 + [0.0] * 9, range(30))
    >>> levels = Levels.of(2)
    >>> r = requirement(Demand(key="tnr", threshold=.8, direction="min"), tnr, levels)
    >>> step = next_step(r, tnr, levels)
    >>> step.have, step.if_true < step.assured
    (30, True)
    """
    unit = decided_of(open_one.key).unit.format(repeats=made.parts)
    have = open_one.n
    if math.isnan(open_one.estimate) or not have:
        return None
    if open_one.key in {"half_width", "mdd"}:
        total = have * (open_one.estimate / open_one.threshold) ** 2
        more = math.ceil(total - have)
        return NextStep(key=open_one.key, unit=unit, have=have, if_true=more, assured=more)
    if made.shape == "share" and open_one.direction != "within":
        n = made.n_effective(0.025)
        if math.isnan(n):
            return None
        found = _for_share(
            round(made.estimate * n), round(n), open_one.threshold,
            levels.use, levels.do_not_use, open_one.direction == "min",
        )  # fmt: skip
        scale = have / n
        amounts = [None if k is None else math.ceil(k * scale) for k in found]
        return NextStep(
            key=open_one.key, unit=unit, have=have, if_true=amounts[0], assured=amounts[1]
        )
    return _for_normal(open_one, made, unit)


def _for_normal(open_one: Requirement, made: Measure, unit: str) -> NextStep | None:
    low, high = made.limits(0.025)
    edges = (
        (open_one.threshold, open_one.top)
        if open_one.direction == "within"
        else (open_one.threshold,)
    )
    spread = made._scaled(high) - made._scaled(low)
    distance = min(abs(made._scaled(made.estimate) - made._scaled(edge)) for edge in edges)
    if math.isnan(spread):
        return None
    if not math.isfinite(spread) or not distance > 0:
        return NextStep(key=open_one.key, unit=unit, have=open_one.n)
    from scipy.special import ndtri

    error = spread / (2 * 1.96)
    amounts: list[int | None] = []
    # Assured: the distance is itself known to within its error; its lower fifth is planned for.
    for planned in (distance, distance - 0.84 * error):
        if planned <= 0:
            amounts.append(None)
            continue
        ratio = ((-float(ndtri(open_one.level)) + 0.84) * error / planned) ** 2
        more = math.ceil(open_one.n * max(ratio - 1, 0))
        amounts.append(more if more <= _MOST else None)
    return NextStep(
        key=open_one.key, unit=unit, have=open_one.n, if_true=amounts[0], assured=amounts[1]
    )


@cache
def _for_share(
    x: int, n: int, threshold: float, level_use: float, level_far: float, is_min: bool
) -> tuple[int | None, int | None]:
    """Further trials after which a share decides, if x / n is true and over its posterior."""
    if not is_min:
        x, threshold = n - x, 1 - threshold
    for_true = for_all = None
    sizes = np.unique(np.geomspace(5, _MOST, _SIZES).round().astype(int))
    p = min(max(x / n, 1e-6), 1 - 1e-6)
    for more in map(int, sizes):
        total = n + more
        # Clopper-Pearson: the lower limit reaches the threshold where so many are improbable.
        holds = _binomial_quantile(level_use, total, threshold, upper=True) + 1
        fails = _binomial_quantile(level_far, total, threshold, upper=False) - 1
        need, most = holds - x, fails - x
        if for_true is None:
            above = _binomial_tail(need - 1, more, p, upper=True)
            decided = above + _binomial_tail(most, more, p, upper=False)
            for_true = more if decided >= _POWER else None
        decided = _predictive(need, most, more, x + 0.5, n - x + 0.5)
        if decided >= _POWER:
            for_all = more
            break
    return for_true, for_all


def _binomial_tail(k: int, n: int, p: float, *, upper: bool) -> float:
    """P(X > k), or P(X <= k), of n trials; scipy.stats takes a second to import."""
    from scipy.special import bdtr, bdtrc

    if k < 0 or k >= n:
        return float((k < 0) == upper)
    return float((bdtrc if upper else bdtr)(k, n, p))


def _binomial_quantile(q: float, n: int, p: float, *, upper: bool) -> int:
    """The least k with P(X > k) <= q, or with P(X <= k) >= q."""
    from scipy.special import bdtrik

    def reaches(k: int) -> bool:
        tail = _binomial_tail(k, n, p, upper=upper)
        return tail <= q if upper else tail >= q

    found = float(bdtrik(1 - q if upper else q, n, p))
    k = min(max(math.ceil(found), 0), n) if math.isfinite(found) else 0
    while k > 0 and reaches(k - 1):
        k -= 1
    while not reaches(k):
        k += 1
    return k


def _predictive(need: int, most: int, more: int, a: float, b: float) -> float:
    """P(Y >= need or Y <= most), Y beta-binomial."""
    from scipy.special import betaln, gammaln

    y = np.arange(more + 1)
    log = (
        gammaln(more + 1) - gammaln(y + 1) - gammaln(more - y + 1)
        + betaln(y + a, more - y + b) - betaln(a, b)
    )  # fmt: skip
    mass = np.exp(log)
    return float(mass[(y >= need) | (y <= most)].sum())
