"""Systems compared with correction by labels, and differences of paired shares."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats, as_numbers, check_lengths
from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.multiplicity import with_adjusted
from judgestats.stats.inference.result import (
    Comparison,
    Comparisons,
    Estimate,
    Interval,
    Note,
    Sample,
)
from judgestats.stats.validity.inputs import (
    PICKED_BY_HAND,
    LabelledItems,
    critical_value,
    labelled_items,
    policy_notes,
)
from judgestats.stats.validity.label_draws import LabelsDrawn
from judgestats.stats.validity.poststratified import poststratified_rate
from judgestats.stats.validity.regression import greg_mean, people_mean


def tango_limits(b: int, c: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    r"""Tango's score limits of (b - c) / n, from b and c discordant pairs of n.

    Parameters
    ----------
    b, c : int
        Pairs in which only the first, only the second passes.
    n : int
        All pairs.
    level : float

    Returns
    -------
    tuple of float

    Raises
    ------
    InputError
        If the counts are not counts of n pairs.

    Notes
    -----
    The limits :math:`\delta` solve :math:`(b - c - n\delta) = \pm z \sqrt{n (2 \hat q_{21} +
    \delta (1 - \delta))}` with :math:`\hat q_{21}` the constrained maximum likelihood estimate in
    closed form. Without a discordant pair the width is not 0: none of 20 gives +-.161.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> [round(v, 4) for v in tango_limits(36, 12, 120)], round(tango_limits(0, 0, 20)[1], 3)
    ([0.0903, 0.3068], 0.161)
    """
    if min(b, c) < 0 or b + c > n or n < 1 or not 0 < level < 1:
        raise InputError(
            f"tango_limits: b and c must be counts among n pairs, got b={b}, c={c}, n={n}."
        )
    z = float(distributions.norm.isf((1 - level) / 2))

    def score(delta: float) -> float:
        linear = (2 * n - b + c) * delta - b - c
        root = math.sqrt(max(linear**2 + 8 * n * c * delta * (1 - delta), 0.0))
        q = max((root - linear) / (4 * n), 0.0)
        variance = n * (2 * q + delta * (1 - delta))
        return (b - c - n * delta) / math.sqrt(max(variance, 1e-300))

    observed = (b - c) / n
    edge = 1 - 1e-12
    low = (
        -1.0
        if score(-edge) < z
        else float(scipy.optimize.brentq(lambda d: score(d) - z, -edge, observed))
    )
    high = (
        1.0
        if score(edge) > -z
        else float(scipy.optimize.brentq(lambda d: score(d) + z, observed, edge))
    )
    return low, high


def paired_share_difference(
    one: ArrayLike, two: ArrayLike, *, level: float = 0.95
) -> Estimate:  # fmt: skip
    """Difference of two pass shares on the same independent items, with Tango's interval.

    Parameters
    ----------
    one, two : array-like, shape (N,)
        0 and 1 of each item; items with a NaN on either side are left out and counted.
    level : float

    Returns
    -------
    Estimate
        Undefined where no item has both.

    Raises
    ------
    InputError
        If shapes differ or a value is neither 0 nor 1.

    Notes
    -----
    Items of one question are not independent: with clusters use `corrected_differences`.

    Examples
    --------
    >>> out = paired_share_difference([1, 1, 1, 0] * 10, [1, 0, 1, 0] * 10)
    >>> round(out.estimate, 2), round(out.interval.low, 3)
    (0.25, 0.14)
    """
    where = "paired_share_difference"
    x, y = (as_numbers(v, n, where) for v, n in ((one, "one"), (two, "two")))
    check_lengths(where, one=x, two=y)
    present = ~(np.isnan(x) | np.isnan(y))
    if not set(np.unique(np.r_[x[present], y[present]])) <= {0.0, 1.0}:
        raise InputError(f"{where}: values must be 0 or 1. Scores have mean_shift.")
    n, lost = int(present.sum()), int(np.sum(~present))
    sample = Sample(n_items=n, excluded={"not known on both sides": lost})
    common: dict[str, Any] = {
        "name": "rate_difference",
        "label": "Difference of shares",
        "sample": sample,
    }
    if not n:
        return Estimate(**common, estimate=math.nan, reason="no item is known on both sides")
    b, c = int(np.sum(present & (x > y))), int(np.sum(present & (x < y)))
    low, high = tango_limits(b, c, n, level=level)
    return Estimate(
        **common,
        estimate=(b - c) / n,
        estimator="difference of shares, paired by item",
        interval=Interval(low=low, high=high, level=level, method="score (Tango)"),
        details={"only_first": b, "only_second": c},
    )


NAME = "corrected_difference"
OUTCOME = {"win": 1.0, "tie": 0.5, "loss": 0.0}


@with_keywords()
def corrected_differences(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    names: Sequence[str],
    labels_drawn: LabelsDrawn | None = None,
    **inference: Unpack[Clustered],
) -> Comparisons:
    r"""Differences of systems as human raters would see them, every pair on the same items.

    Parameters
    ----------
    judge : array-like, shape (N, systems)
        Score, or 1 for pass and 0 for fail, of each system's answer to each item.
    human : array-like, shape (N, systems)
        Labels; a pair is compared on the items that have a label for both.
    names : sequence of str
        Of the systems.
    labels_drawn : {"random", "convenience"}, optional
        How the labelled items were chosen; only labels drawn at random are corrected.

    Returns
    -------
    Comparisons
        Estimates are a - b, p adjusted by Holm over the pairs. ``details``:
        ``rank_ranges`` (best and worst rank that the adjusted comparisons leave to each system),
        ``judge_differences`` (what the judge alone says), ``win_rates`` (probability of
        superiority, corrected, a tie counting half).

    Raises
    ------
    InputError
        If shapes differ or there are fewer than two systems.

    Notes
    -----
    The difference of the labels is regressed on the difference of the judge's outputs (GREG), each
    pair with its own slope, so that a judge that favours one system is corrected for it. The
    judge's gap is (se + sp - 1) times the true one, and where specificity differs between systems
    their order can turn: the judge alone makes most of the false claims.

    References
    ----------
    Saerndal, Swensson & Wretman (1992), chapter 6; Holm (1979), Scand. J. Statist. 6, 65-70.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = np.column_stack([rng.random(800) < 0.8, rng.random(800) < 0.5])
    >>> judge = np.where(rng.random((800, 2)) < 0.85, truth, ~truth)
    >>> labels = np.where(np.arange(800)[:, None] < 150, truth, np.nan)
    >>> out = corrected_differences(judge, labels, names=["a", "b"], labels_drawn="random")
    >>> out.rows[0].p_adjusted < 0.001, out.details["rank_ranges"]
    (True, {'a': (1, 1), 'b': (2, 2)})
    """
    where = "corrected_differences"
    f = as_numbers(judge, "judge", where)
    y = as_numbers(human, "human", where)
    if f.ndim != 2 or f.shape != y.shape or f.shape[1] != len(names) or f.shape[1] < 2:
        raise InputError(
            f"{where}: judge and human must have one row for each item and one column for each of "
            f"at least two systems, got shapes {f.shape} and {y.shape} for {len(names)} names."
        )
    if labels_drawn in {"by-verdict", "stratified"}:
        raise InputError(
            f"{where}: differences are corrected for labels drawn at random, got "
            f"labels_drawn={labels_drawn!r}. Draw items at random for comparing systems."
        )
    notes = list(policy_notes(labels_drawn, where=where))
    pairs = list(itertools.combinations(range(len(names)), 2))
    compared, beside, wins = [], {}, {}
    for a, b in pairs:
        both = ~np.isnan(f[:, a]) & ~np.isnan(f[:, b])
        label = f"{names[a]} - {names[b]}"
        items = _pair(f[:, a] - f[:, b], y[:, a] - y[:, b], inference["cluster"], both, where)
        beside[label] = float(items.judge.mean()) if items.n_items else math.nan
        compared.append(_row(names[a], names[b], items, labels_drawn, inference["level"]))
        superior = _pair(
            np.sign(f[:, a] - f[:, b]) / 2 + 0.5,
            np.sign(y[:, a] - y[:, b]) / 2 + 0.5,
            inference["cluster"],
            both,
            where,
        )
        if items.n and labels_drawn != "convenience":
            wins[label] = poststratified_rate(
                superior, join=False, level=inference["level"]
            ).replace(
                name="probability_of_superiority", label=f"P({names[a]} better than {names[b]})"
            )
    rows = with_adjusted(compared, "holm")
    unread = int(np.sum(np.isnan(f)))
    if unread:
        message = (
            f"{unread} outputs have no verdict of the judge; a pair is compared on the items "
            "that have one for both."
        )
        notes.append(Note(code="unread_left_out", message=message))
    return Comparisons(
        symbol="t",
        name=where,
        method="Differences of systems, the judge corrected by human labels",
        adjust="holm",
        family="pairs of systems",
        rows=rows,
        sample=Sample(n_items=f.shape[0]),
        notes=tuple(notes),
        details={
            "rank_ranges": _rank_ranges(names, rows),
            "judge_differences": beside,
            "win_rates": wins,
        },
    )


def _pair(
    f: Floats, y: Floats, cluster: ArrayLike | None, keep: Bools, where: str
) -> LabelledItems:
    """The items on which both outputs were read, as labelled items."""
    if not keep.any():
        keep = np.ones_like(keep)
    of = None if cluster is None else np.asarray(cluster)[keep]
    return labelled_items(f[keep], y[keep], kind="score", cluster=of, where=where)


def _row(a: str, b: str, items: LabelledItems, drawn: str | None, level: float) -> Comparison:
    def none(estimate: float, reason: str) -> Comparison:
        return Comparison(a=a, b=b, estimate=estimate, n=items.n, reason=reason, estimate_name=NAME)

    if drawn == "convenience":
        return none(math.nan, PICKED_BY_HAND)
    if np.isnan(items.judge).any() or items.n == 0:
        why = "no item was read for both" if items.n else "no item has a label for both"
        return none(math.nan, why)
    out = greg_mean(items, level=level)
    if math.isnan(out.estimate):
        out = people_mean(items, level=level)
    labels = items.human[items.labelled]
    if out.interval is None and not items.clustered and set(labels) <= {-1.0, 0.0, 1.0}:
        # Without a discordant pair the width is not 0.
        return _score_row(a, b, labels, level)
    if out.interval is None:
        return none(out.estimate, out.reason or "the labels do not vary")
    t, df = out.estimate / out.std_error, float(out.details["df"])
    half = critical_value(level, df) * out.std_error  # the interval of the test: one verdict a pair
    interval = Interval(low=out.estimate - half, high=out.estimate + half, level=level, method="t")
    p = float(2 * distributions.t.sf(abs(t), df))
    return Comparison(
        a=a, b=b, estimate=out.estimate, statistic=t, df=df, p_value=p, interval=interval,
        n=items.n, estimate_name=NAME,
    )  # fmt: skip


def _score_row(a: str, b: str, labels: Floats, level: float) -> Comparison:
    """Tango's limits of the labels' difference, where it does not vary."""
    first, second, n = int(np.sum(labels > 0)), int(np.sum(labels < 0)), int(labels.size)
    low, high = tango_limits(first, second, n, level=level)
    p = distributions.sign_test(first, second)
    return Comparison(
        a=a, b=b, estimate=(first - second) / n, statistic=float(first - second), p_value=p,
        interval=Interval(low=low, high=high, level=level), n=n, estimate_name=NAME,
    )  # fmt: skip


def _rank_ranges(names: Sequence[str], rows: Sequence[Comparison]) -> Mapping[str, tuple[int, int]]:
    """Best and worst rank of each system that the adjusted comparisons leave open."""
    better = dict.fromkeys(names, 0)
    worse = dict.fromkeys(names, 0)
    for r in rows:
        if r.p_adjusted < 0.05:
            first, second = (r.a, r.b) if r.estimate > 0 else (r.b, r.a)
            better[second] += 1
            worse[first] += 1
    return {n: (1 + better[n], len(names) - worse[n]) for n in names}


@with_keywords()
def corrected_win_rate(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    labels_drawn: LabelsDrawn | None = None,
    **inference: Unpack[Clustered],
) -> Estimate:
    r"""Corrected human win rate of one system over another; a tie counts half.

    Parameters
    ----------
    judge : array-like, shape (N,) or (N, 2)
        ``win``, ``tie``, ``loss`` of the first system, None where unparsed. Two columns (both
        orders of the answers) are averaged first: win and loss make a tie.
    human : array-like, shape (N,)
        Human outcome, None where there is none.
    labels_drawn : {"random", "by-verdict", "convenience"}, optional

    Returns
    -------
    Estimate
        Post-stratified by the judge's outcome (win, tie, loss, unparsed). ``details``: ``judge``,
        the judge's own win rate.

    Raises
    ------
    InputError
        If an outcome is not one of the three, shapes differ or nothing is labelled.

    Notes
    -----
    Wilson's limits take a mean of 0, .5 and 1 for a share of the same value, whose variance is at
    least as large: the interval is on the safe side where people tie often.

    Examples
    --------
    >>> judge = ["win"] * 60 + ["tie"] * 20 + ["loss"] * 20
    >>> human = (["win"] * 8 + ["loss"] * 2 + [None] * 50 + ["tie"] * 6 + [None] * 14
    ...          + ["loss"] * 6 + [None] * 14)
    >>> out = corrected_win_rate(judge, human, labels_drawn="random")
    >>> round(out.estimate, 2), round(out.details["judge"], 2)
    (0.58, 0.7)
    """
    where = "corrected_win_rate"
    f, y = _outcomes(judge, "judge", where), _outcomes(human, "human", where)
    items = labelled_items(f, y, kind="score", cluster=inference["cluster"], where=where)
    if items.n == 0:
        raise InputError(f"{where}: no item has a label. Label some of the items judged first.")
    notes = [*items.notes, *policy_notes(labels_drawn, where=where)]
    out = poststratified_rate(items, join=labels_drawn != "by-verdict", level=inference["level"])
    if labels_drawn == "convenience":
        out = out.replace(estimate=math.nan, interval=None, reason=PICKED_BY_HAND)
    read = ~np.isnan(items.judge)
    return out.replace(
        name="win_rate",
        label="Corrected win rate",
        notes=(*notes, *out.notes),
        details={
            **out.details,
            "judge": float(items.judge[read].mean()) if read.any() else math.nan,
        },
    )


def _outcomes(values: ArrayLike, name: str, where: str) -> Floats:
    array = np.asarray(values, dtype=object)
    out = np.full(array.size, np.nan)
    for i, v in enumerate(array.reshape(-1)):
        if v is None or v == "" or v != v:  # noqa: PLR0124 (NaN)
            continue
        if v not in OUTCOME:
            raise InputError(
                f"{where}: {name} holds {str(v)!r}, which is not one of win, tie and loss. "
                "Recode it."
            )
        out[i] = OUTCOME[v]
    return out.reshape(array.shape)
