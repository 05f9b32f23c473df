"""Pass rates by poststratification, and from error rates measured elsewhere."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample
from judgestats.stats.validity import inputs

FAIL, PASS, UNREAD, TIE = 0, 1, 2, 3
N_CLASSES = 4
FEW_OF_ONE_LABEL = 8
"""Labels of the rarer human verdict below which the interval is joined with that of the labels
alone. Unjoined it covers .914 at 50 labels, prevalence .05 and a judge that guesses; joined at
least .935."""
FEW_IN_CLASS = 5
MATTERS = 0.2
"""A verdict class with few labels is warned of where it holds at least this share of the items: a
smaller one hardly moves the rate, whose interval keeps its level (docs/simulations/validity.md)."""


def mover_limits(
    weights: Floats,
    shares: Floats,
    lows: Floats,
    highs: Floats,
    between: float = 0.0,
) -> tuple[float, float]:
    r"""Limits of :math:`\sum w_c p_c` from the limits of the shares (MOVER).

    Parameters
    ----------
    weights, shares, lows, highs : ndarray, shape (classes,)
    between : float
        Squared half-width due to the weights being estimated.

    Returns
    -------
    low, high : float

    Notes
    -----
    :math:`L = \theta - \sqrt{\sum w_c^2 (p_c - l_c)^2 + b}`, U likewise.

    References
    ----------
    Zou, Huang & Zhang (2009), Comput. Stat. Data Anal. 53, 1080-1085.

    Examples
    --------
    >>> low, high = mover_limits(np.array([0.5, 0.5]), np.array([0.9, 0.2]),
    ...                          np.array([0.8, 0.1]), np.array([0.95, 0.35]))
    >>> round(low, 4), round(high, 4)
    (0.4793, 0.6291)
    """
    centre = float(weights @ shares)
    low = centre - math.sqrt(float(np.sum((weights * (shares - lows)) ** 2)) + between)
    high = centre + math.sqrt(float(np.sum((weights * (highs - shares)) ** 2)) + between)
    return low, high


@dataclasses.dataclass(frozen=True)
class _Classes:
    code: Ints
    """Class of each item."""
    notes: tuple[Note, ...]
    people_only: bool
    """Whether some stratum has no use of the judge."""
    reason: str = ""


def verdict_codes(items: inputs.LabelledItems) -> Ints:
    """0 fail, 1 pass, 2 unparsed, 3 a tie (of the repeats, or as an outcome)."""
    f = items.judge
    decided = np.where(f == 0.5, TIE, (f > 0.5).astype(int))
    return np.where(np.isnan(f), UNREAD, decided).astype(np.int64)


def _classes(items: inputs.LabelledItems, verdict: Ints) -> _Classes:
    """Stratum by verdict, joined where a class has no label."""
    code = verdict.copy()
    notes: list[Note] = []
    people_only = False
    for h, name in enumerate(items.strata):
        here = items.stratum == h
        lab = here & items.labelled
        within = f" of stratum {name!r}" if name else ""
        if not lab.any():
            return _Classes(code, (), True, reason=f"no item{within} has a label")
        present = [v for v in (FAIL, PASS, TIE, UNREAD) if np.any(here & (verdict == v))]
        n = {v: int(np.sum(lab & (verdict == v))) for v in present}
        for v in (UNREAD, TIE):
            if n.get(v) != 0 or not any(n.values()):
                continue
            into = min((u for u in present if n[u]), key=lambda u: n[u])
            code[here & (verdict == v)] = into
            message = (
                f"No item{within} of the class {_WORDS[v]!r} has a label: it counts with the class "
                f"{_WORDS[into]!r}. Label a few of them."
            )
            notes.append(Note(code="class_joined", message=message))
        empty = [v for v in present if v in {FAIL, PASS} and n[v] == 0]
        if empty:
            code[here] = PASS
            people_only = True
            message = (
                f"No item{within} with the judge's verdict {_WORDS[empty[0]]} has a label: there "
                "the human labels alone are used."
            )
            # Labels drawn at random speak for all items without the judge: a rare class that none
            # of them met is no sign of anything wrong, a common one is.
            rare = np.isin(verdict[here], empty).mean() < MATTERS
            notes.append(Note(code="people_only" if rare else "class_unlabelled", message=message))
    code += N_CLASSES * items.stratum
    return _Classes(code, tuple(notes), people_only)


def poststratified_rate(
    items: inputs.LabelledItems,
    *,
    use_judge: bool = True,
    mix: Mapping[str, float] | None = None,
    weight: Floats | None = None,
    join: bool = True,
    level: float = 0.95,
) -> Estimate:
    r"""Human pass rate over all items judged, post-stratified by the judge's verdict.

    Parameters
    ----------
    items : LabelledItems
    use_judge : bool
        False: people only (strata alone are the classes).
    mix : mapping of str to float, optional
        Share of each stratum in the traffic the rate is for; as in the items otherwise.
    weight : ndarray, shape (N,), optional
        1 / chance of being labelled.
    join : bool
        Join the interval with that of the labels alone if one label is rare (fewer than 8).
    level : float

    Returns
    -------
    Estimate
        ``details``: ``classes`` with weight, labels and share of each, ``design_effect``.

    Notes
    -----
    :math:`\theta = \sum_c w_c p_c` with the classes' shares :math:`w_c` over all N items and
    :math:`p_c` of the labelled ones; Wilson's limits of each :math:`p_c` combined by MOVER, with
    :math:`z^2 \sum_c w_c (p_c - \theta)^2 / N` for the sampling of the items. Over clusters each
    number of labels is divided by the design effect (variance of the sums of influence over the
    clusters, relative to independent items, at least 1) and by :math:`(t/z)^2`, t having Kish's
    effective number of labelled clusters minus 1 degrees of freedom, or fewer where the influence
    of few clusters makes the variance (`df_of_influence`).
    """
    verdict = verdict_codes(items)
    classes = _classes(items, verdict) if use_judge else _strata_only(items)
    lab = items.labelled
    sample = items.sample()
    name, label = ("poststratified", "Corrected pass rate") if use_judge else _PEOPLE
    if classes.reason or items.n == 0:
        return Estimate(
            name=name, label=label, sample=sample,
            reason=classes.reason or "no item has a label",
        )  # fmt: skip
    parts = np.unique(classes.code)
    share_of = stratum_shares(items, mix)
    w, p, n_eff, rows = [], [], [], []
    each = np.ones(items.n_items) if weight is None else weight
    influence = np.zeros(items.n_items)
    stratum = []
    for c in parts:
        here = classes.code == c
        h = int(items.stratum[here][0])
        within = share_of[h] / float(np.sum(items.stratum == h))
        chosen = here & lab
        v = each[chosen]
        y = items.human[chosen]
        w_c, p_c = float(here.sum()) * within, float(v @ y / v.sum())
        w.append(w_c)
        p.append(p_c)
        n_eff.append(float(v.sum()) ** 2 / float(v @ v))
        influence[chosen] += w_c * v * (y - p_c) / v.sum()
        stratum.append(h)
        rows.append(
            {"stratum": items.strata[h], "class": _WORDS[int(c) % N_CLASSES], "weight": w_c,
             "labels": int(chosen.sum()), "share": p_c}
        )  # fmt: skip
    weights, shares, numbers = np.array(w), np.array(p), np.array(n_eff)
    theta = float(weights @ shares)
    place = np.array(stratum)
    inside = np.bincount(place, weights * shares) / np.bincount(place, weights)
    # A stated mix fixes the strata's shares; otherwise they are as random as the items.
    centre = np.full(parts.size, theta) if mix is None else inside[place]
    within = (share_of / np.bincount(items.stratum, minlength=share_of.size))[place]
    spread = float(np.sum(within * weights * (shares - centre) ** 2))
    influence += (within * (shares - centre))[np.searchsorted(parts, classes.code)]
    binomial = float(np.sum(weights**2 * shares * (1 - shares) / numbers)) + spread
    inflation, df, deff, kish = _inflation(
        items, influence, binomial, level, weighted=weight is not None
    )
    z = inputs.critical_value(level, math.inf)
    limits = np.array(
        [
            inputs.wilson_limits(q, m, level=level, inflation=inflation)
            for q, m in zip(shares, numbers, strict=True)
        ]
    )
    low, high = mover_limits(weights, shares, limits[:, 0], limits[:, 1], z**2 * inflation * spread)
    notes = list(classes.notes)
    method = "MOVER of Wilson limits" if len(parts) > 1 else "Wilson"
    if items.clustered:
        method += " on effective numbers of labels"
    if use_judge:
        few = [r for r in rows if r["labels"] < FEW_IN_CLASS and r["weight"] >= MATTERS]
        message = (
            f"{len(few)} of the judge's verdict classes have fewer than {FEW_IN_CLASS} labels: "
            "their human pass rate is imprecise."
        )
        notes += Note.where(few and not classes.people_only, "few_in_class", message)
        ones = float(np.sum(items.human[lab]))
        if join and min(ones, items.n - ones) < FEW_OF_ONE_LABEL and weight is None:
            people = poststratified_rate(items, use_judge=False, mix=mix, level=level).interval
            if people is not None:
                low, high = min(low, people.low), max(high, people.high)
                method += ", joined with that of the labels alone (one label is rare)"
    return Estimate(
        name=name,
        label=label,
        estimator=("post-stratified by the judge's verdict" if use_judge else "share of the labels")
        + (", within strata" if len(items.strata) > 1 else ""),
        estimate=theta,
        interval=Interval(low=max(low, 0.0), high=min(high, 1.0), level=level, method=method),
        sample=sample,
        notes=tuple(notes),
        details={
            "classes": rows,
            "design_effect": deff,
            "df": df,
            "effective_clusters": kish,
            "people_only": classes.people_only,
        },
    )


_PEOPLE = ("people_only", "Human labels alone")
_WORDS = {FAIL: "fail", PASS: "pass", UNREAD: "unread", TIE: "tie"}


def _strata_only(items: inputs.LabelledItems) -> _Classes:
    for h, name in enumerate(items.strata):
        if not np.any(items.labelled & (items.stratum == h)):
            within = f" of stratum {name!r}" if name else ""
            return _Classes(items.stratum, (), True, reason=f"no item{within} has a label")
    return _Classes(N_CLASSES * items.stratum + PASS, (), False)


def stratum_shares(items: inputs.LabelledItems, mix: Mapping[str, float] | None) -> Floats:
    """Share of each stratum: in the items, or as stated."""
    if mix is None:
        return np.bincount(items.stratum, minlength=len(items.strata)) / items.n_items
    names: Sequence[str] = items.strata
    if set(map(str, mix)) != set(names) or any(v < 0 for v in mix.values()):
        raise InputError(
            f"mix must name a share of every stratum ({', '.join(names)}), got "
            f"{', '.join(map(str, mix)) or 'none'}."
        )
    total = float(sum(mix.values()))
    return np.array([float(mix[n]) / total for n in names])


def _inflation(
    items: inputs.LabelledItems, influence: Floats, binomial: float, level: float, *, weighted: bool
) -> tuple[float, float, float, float]:
    """Factor of the binomial variances: inflation, df, design effect, Kish."""
    of_labels = items.codes[items.labelled]
    kish = inputs.effective_clusters(of_labels)
    if not items.clustered and not weighted:
        return 1.0, math.inf, 1.0, kish
    whole = inputs.cluster_variance(
        influence, items.codes if items.clustered else np.arange(items.n_items)
    )
    deff = max(whole / binomial, 1.0) if binomial > 1e-15 and whole > 0 else of_labels.size / kish
    df = inputs.df_of_influence(influence, items.codes, kish) if items.clustered else math.inf
    t, z = inputs.critical_value(level, df), inputs.critical_value(level, math.inf)
    return deff * (t / z) ** 2, df, deff, kish


def effective_passes(
    passed: NDArray[np.float64], codes: NDArray[np.int64], *, level: float = 0.95
) -> tuple[float, float]:
    """Passes and items for `corrected_by_rates` where the items judged come in clusters.

    Parameters
    ----------
    passed : ndarray, shape (N,)
        Pass verdict of each item, or the share of its repeats.
    codes : ndarray of int, shape (N,)
        Cluster of each item.
    level : float

    Returns
    -------
    passes, n : float
        The independent items that would have the variance over clusters, fewer by the square of
        the normal over Student's critical value.

    Examples
    --------
    >>> passed = np.repeat([1.0, 0.0], 20)
    >>> effective_passes(passed, np.arange(40))
    (20.0, 40.0)
    >>> [round(v, 1) for v in effective_passes(passed, np.arange(40) // 4)]
    [3.4, 6.8]
    """
    clustered = np.unique(codes).size < codes.size
    share = inputs.share_over_clusters(passed, np.ones(passed.size), codes, clustered=clustered)
    z, t = inputs.critical_value(level, math.inf), inputs.critical_value(level, share.df)
    n = share.effective_n * (z / t) ** 2
    return share.share * n, n


def lang_reiczigel_limits(
    passes: float, n: float, tp: float, positives: float, tn: float, negatives: float, *,
    level: float = 0.95,
) -> tuple[float, float]:  # fmt: skip
    """Lang and Reiczigel's limits of a prevalence with estimated sensitivity and specificity.

    Parameters
    ----------
    passes, n : float
        Pass verdicts of the judge, and items judged.
    tp, positives, tn, negatives : float
        Counts of the calibration study.
    level : float

    Returns
    -------
    low, high : float
        Within 0-1, in order wherever the sensitivity and specificity exceed 1 together.

    References
    ----------
    Lang & Reiczigel (2014), Prev. Vet. Med. 113, 13-22. The function published by Lee et al. (2026)
    gives the same digits.

    Examples
    --------
    >>> low, high = lang_reiczigel_limits(555, 800, 137, 149, 43, 51)
    >>> round(low, 4), round(high, 4)
    (0.6272, 0.7721)
    """
    z = inputs.critical_value(level, math.inf)
    p = (passes + z * z / 2) / (n + z * z)
    se, sp = (tp + 1) / (positives + 2), (tn + 1) / (negatives + 2)
    youden = se + sp - 1
    t = (p + sp - 1) / youden
    of_se, of_sp = se * (1 - se) / (positives + 2), sp * (1 - sp) / (negatives + 2)
    centre = t + 2 * z * z * (t * of_se - (1 - t) * of_sp)
    half = z * math.sqrt(p * (1 - p) / (n + z * z) + t * t * of_se + (1 - t) ** 2 * of_sp)
    half /= abs(youden)
    return min(max(centre - half, 0.0), 1.0), min(max(centre + half, 0.0), 1.0)


def corrected_by_rates(
    passes: float,
    n: float,
    *,
    tp: float,
    positives: float,
    tn: float,
    negatives: float,
    level: float = 0.95,
) -> Estimate:
    r"""Human pass rate from the judge's, with error rates measured on *other* items.

    Parameters
    ----------
    passes, n : float
        Pass verdicts of the judge, and items judged.
    tp, positives : float
        Of the items that people passed in the other study, how many the judge passed.
    tn, negatives : float
        Of those that people failed, how many the judge failed.
    level : float

    Returns
    -------
    Estimate
        NaN with the reason where sensitivity + specificity - 1 may be 0. ``details``: ``raw``, the
        value before it is cut to 0-1, ``youden`` with its limits.

    Raises
    ------
    InputError
        If the counts cannot be.

    Notes
    -----
    :math:`(p + sp - 1) / (se + sp - 1)`, Lang and Reiczigel's interval, which takes the rates as
    estimated (``epi.prev`` takes them as known). Both rates move with the difficulty of the items:
    labels of the items judged are better used by `corrected_rate` (standard deviation .034 against
    .050 with 100 labels, prevalence .7, rates .9 and .8).

    References
    ----------
    Rogan & Gladen (1978), Am. J. Epidemiol. 107, 71-76; Lang & Reiczigel (2014), Prev. Vet. Med.
    113, 13-22.

    Examples
    --------
    >>> out = corrected_by_rates(555, 800, tp=137, positives=149, tn=43, negatives=51)
    >>> round(out.estimate, 4), round(out.interval.low, 4)
    (0.704, 0.6272)
    """
    where = "corrected_by_rates"
    if not (n > 0 and 0 <= passes <= n and 0 <= tp <= positives and 0 <= tn <= negatives):
        raise InputError(
            f"{where}: counts must be within their numbers, got {passes} of {n}, {tp} of "
            f"{positives}, {tn} of {negatives}."
        )
    sample = Sample(n_items=int(n))
    message = "Assumes that the judge errs on these items as in the other study."
    notes = Note.where(True, "assumes_equal_rates", message)
    estimate = Estimate(
        name="rogan_gladen", label="Corrected pass rate (rates measured elsewhere)", sample=sample
    )
    if not (positives and negatives):
        return estimate.replace(reason="one of the human verdicts never occurs in the study")
    se, sp = tp / positives, tn / negatives
    youden = se + sp - 1
    (l1, u1), (l0, u0) = (
        inputs.wilson_limits(se, positives, level=level),
        inputs.wilson_limits(sp, negatives, level=level),
    )
    low = youden - math.hypot(se - l1, sp - l0)
    high = youden + math.hypot(u1 - se, u0 - sp)
    details = {"youden": youden, "youden_low": low, "youden_high": high}
    if low <= 0:
        reason = (
            f"sensitivity + specificity - 1 is {youden:.2f} [{low:.2f}, {high:.2f}]: a judge that "
            "may say pass as often of failures as of passes cannot be corrected"
        )
        return estimate.replace(notes=notes, details=details, reason=reason)
    raw = (passes / n + sp - 1) / youden
    limits = lang_reiczigel_limits(passes, n, tp, positives, tn, negatives, level=level)
    message = f"The estimate before it is cut to 0-1 is {raw:.3f}: the rates do not fit."
    return estimate.replace(
        estimator="(p + sp - 1) / (se + sp - 1)",
        estimate=min(max(raw, 0.0), 1.0),
        interval=Interval(low=limits[0], high=limits[1], level=level, method="Lang-Reiczigel"),
        notes=(*notes, *Note.where(not 0 <= raw <= 1, "outside", message)),
        details={"raw": raw, **details},
    )
