"""Corrected rates, means, and differences of systems from a judge's output and labels."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

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
    TestResult,
)
from judgestats.stats.validity import inputs, regression
from judgestats.stats.validity.label_draws import LabelsDrawn
from judgestats.stats.validity.label_plan import gain_phrase, labels_gained
from judgestats.stats.validity.poststratified import (
    poststratified_rate,
    stratum_shares,
    verdict_codes,
)


def representativeness_test(items: inputs.LabelledItems, *, verdicts: bool) -> TestResult:
    """Does the judge's output differ between the labelled items and the rest?

    Parameters
    ----------
    items : LabelledItems
    verdicts : bool
        Fisher's exact test of pass or not (without clusters); otherwise Student's t of the
        difference of the means, over clusters with effective degrees of freedom.

    Returns
    -------
    TestResult
        Not computed where every item is labelled or none.
    """
    f, lab = items.judge, items.labelled
    present = ~np.isnan(f)
    inside, rest = present & lab, present & ~lab
    method = "Labelled items against the rest"
    test = TestResult(
        name="representativeness", method=method, statistic_name="t",
        sample=Sample(n_items=int(present.sum())),
        null_hypothesis="the labelled items are like the others in the judge's eyes",
        alternative="the judge's output differs between labelled and other items",
    )  # fmt: skip
    if inside.sum() < 2 or rest.sum() < 2:
        return test.replace(reason="fewer than two items are on one side")
    exact = verdicts and not items.clustered and bool(np.isin(f[present], (0.0, 1.0)).all())
    statistic, p, df = inputs.two_group_test(f, inside, rest, items.codes, exact=exact)
    if math.isnan(p):
        return test.replace(reason="the judge's output does not vary")
    return test.replace(
        method="Fisher's exact test: labelled items against the rest" if exact else method,
        statistic=statistic,
        statistic_name="odds ratio" if exact else "t",
        p_value=p,
        df={} if exact else {"df": df},
        estimates={"labelled": float(f[inside].mean()), "the rest": float(f[rest].mean())},
    )


_BY_VERDICT = "the labels were chosen by the judge's verdict: as they stand they favour one"


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorrectedScore(inputs.Report):
    """Corrected human rate or mean, with the estimates that it is compared with.

    Attributes
    ----------
    corrected : Estimate
        The number to report; NaN with the reason where it is not estimable.
    judge_only : Estimate
        The judge's own average: its interval is about the judge, not about people.
    people_only : Estimate
        The labelled items alone.
    others : mapping of str to Estimate
        Further estimators by name.
    labels_extra : Estimate
        Labels that people alone would need beyond those given for the same error.
    representative : TestResult
        Labelled items against the rest, in the judge's eyes.
    labels_drawn : str
        How the labels were chosen; empty where it is not said.
    unread : int
        Items whose verdict could not be read.
    notes : tuple of Note
    """

    corrected: Estimate
    judge_only: Estimate
    people_only: Estimate
    others: Mapping[str, Estimate]
    labels_extra: Estimate
    representative: TestResult
    labels_drawn: str
    unread: int
    TITLE = "Corrected rate or mean"

    def tidy(self) -> pd.DataFrame:
        """One row per estimator, the reported one first."""
        rows = [self.corrected, self.judge_only, self.people_only, *self.others.values()]
        frame = pd.DataFrame([e.row() for e in rows])
        return frame.assign(
            labels_extra=[self.labels_extra.estimate, *[math.nan] * (len(rows) - 1)]
        )

    def sentence(self) -> str:
        """The corrected number, the raw one, and the labels saved by the judge."""
        c = self.corrected
        if math.isnan(c.estimate):
            return f"The average of human raters is not estimated: {c.reason}."
        text = f"Human raters would give {c.short()}"
        if not self.labels_drawn:
            text += " (assumes random)"
        if not math.isnan(self.judge_only.estimate):
            text += f"; the judge alone says {self.judge_only.estimate:.2f}"
        if not math.isnan(self.people_only.estimate):
            text += f", the labels alone {self.people_only.short()}"
        text += f" ({c.sample})."
        gained = gain_phrase(self.labels_extra)
        return text if self.labels_extra.interval is None else f"{text} {gained}."

    def lines(self) -> list[str]:
        """The estimators, and the effective extra labels of the judge."""
        every = (self.corrected, self.judge_only, self.people_only, *self.others.values())
        lines = [f"{e.label}: {e.reason if math.isnan(e.estimate) else e.short()}" for e in every]
        if self.labels_extra.interval is not None:
            lines.append(gain_phrase(self.labels_extra))
        return [*lines, f"({self.corrected.sample})"]


@with_keywords()
def corrected_rate(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    mix: Mapping[str, float] | None = None,
    chance: ArrayLike | None = None,
    labels_drawn: LabelsDrawn | None = None,
    **inference: Unpack[Clustered],
) -> CorrectedScore:
    r"""Human pass rate, estimated from verdicts on all items and human labels of some.

    Parameters
    ----------
    judge : array-like, shape (N,) or (N, repeats)
        Verdicts of all items; unparsed ones are a separate class, or left out and counted where
        none of them has a label. Repeats are averaged first: the majority counts, a tie is a class.
    human : array-like, shape (N,)
        Labels, None or NaN where there is none.
    stratum : array-like, shape (N,), optional
        Correct within each stratum and weight by its share.
    mix : mapping of str to float, optional
        Share of each stratum in the traffic that the rate is for.
    chance : array-like, shape (N,), optional
        Known probability of the label of each item, where it is unequal.
    labels_drawn : {"random", "stratified", "by-verdict", "convenience"}, optional
        How the labelled items were chosen. Unstated: tested as far as possible, and the result says
        "assumes random". ``convenience`` is not corrected.

    Returns
    -------
    CorrectedScore
        `others`: ``ppi``, ``ppi++``, ``difference`` (for random labels and a judge read on every
        item).

    Raises
    ------
    InputError
        If a value is not one of the verdicts' words, shapes differ or a chance is impossible.

    Notes
    -----
    Post-stratified by the judge's verdict with MOVER-Wilson limits (see
    `judgestats.stats.validity.poststratified`): mean coverage .956 to .961 in 168 settings of
    independent items, where PPI++ as its package computes it covers .795 to .937.

    References
    ----------
    Holt & Smith (1979), JRSS A 142, 33-46; Zou, Huang & Zhang (2009), Comput. Stat. Data Anal. 53,
    1080-1085.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> people = rng.random(2000) < 0.7
    >>> judge = np.where(people, rng.random(2000) < 0.9, rng.random(2000) < 0.2)
    >>> labels = np.where(np.arange(2000) < 200, people, np.nan)
    >>> out = corrected_rate(judge, labels, labels_drawn="random")
    >>> low, high = out.corrected.interval.low, out.corrected.interval.high
    >>> round(float(judge.mean()), 2), bool(low < people.mean() < high)
    (0.68, True)
    """
    where = "corrected_rate"
    items = inputs.labelled_items(
        judge, human, kind="verdict", cluster=inference["cluster"], stratum=stratum, where=where
    )
    _check(items, labels_drawn, mix, stratum is not None, where)
    weight = inputs.chance_weights(items, chance, where)
    read = ~np.isnan(items.judge)
    unread, n_items = int(np.sum(~read)), items.n_items
    # Without a label nothing is known of what people say of unread items.
    unlabelled = 0 < unread < n_items and not (items.labelled & ~read).any()
    if unlabelled:
        items = items.only(read)
        weight = None if weight is None else weight[read]
    verdict = verdict_codes(items)
    notes = [*items.notes, *inputs.policy_notes(labels_drawn, where=where)]
    test = representativeness_test(items, verdicts=True)
    if chance is None and stratum is None:
        notes += _unlike(test, labels_drawn)
    message = f"{unread} of {n_items} items have neither a verdict nor a label, and are left out."
    notes += Note.where(unlabelled, "unread_left_out", message)
    message = (
        f"{unread} of {n_items} items have no verdict of the judge: they form a separate class."
    )
    notes += Note.where(unread and not unlabelled, "unread_class", message)
    people = poststratified_rate(
        items, use_judge=False, mix=mix, weight=weight, level=inference["level"]
    )
    others: dict[str, Estimate] = {}
    if labels_drawn == "convenience":
        corrected = _undefined_estimate(
            poststratified_rate(items, mix=mix, level=inference["level"]), inputs.PICKED_BY_HAND
        )
    else:
        corrected = poststratified_rate(
            items, mix=mix, weight=weight, level=inference["level"],
            join=labels_drawn != "by-verdict",
        )  # fmt: skip
        if labels_drawn in {None, "random"} and not unread and stratum is None and weight is None:
            others = {
                n: regression.ppi_mean(items, estimator=n, level=inference["level"]) for n in _PPI
            }
    if labels_drawn == "by-verdict":
        people = _undefined_estimate(people, _BY_VERDICT)
    notes += corrected.notes
    return CorrectedScore(
        corrected=corrected,
        judge_only=_judge_rate(items, verdict, inference["level"]),
        people_only=people,
        others=others,
        labels_extra=_gain(items, labels_drawn, inference["level"], unequal=chance is not None),
        representative=test,
        labels_drawn=labels_drawn or "",
        unread=unread,
        notes=tuple(notes),
    )


_PPI: tuple[Literal["ppi", "ppi++", "difference"], ...] = ("ppi", "ppi++", "difference")


@with_keywords()
def corrected_mean(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    mix: Mapping[str, float] | None = None,
    labels_drawn: LabelsDrawn | None = None,
    **inference: Unpack[Clustered],
) -> CorrectedScore:
    r"""Corrected mean score, from a judge of all items and labels of few.

    Parameters
    ----------
    judge : array-like, shape (N,) or (N, repeats)
        Scores of all items; repeats are averaged first. Items without a score are left out and
        counted.
    human : array-like, shape (N,)
        Human scores, NaN where there is none.
    stratum, mix, labels_drawn
        See `corrected_rate`.

    Returns
    -------
    CorrectedScore
        Corrected by regression (GREG); people only where there are fewer than 20 labels or the
        judge says the same of every labelled item. `others`: ``ppi``, ``ppi++``, ``difference``.

    Raises
    ------
    InputError
        If a score is not a number or shapes differ.

    References
    ----------
    Saerndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(2)
    >>> people = rng.normal(6, 1, 600)
    >>> judge = 2 + 0.8 * people + rng.normal(0, 0.5, 600)
    >>> labels = np.where(np.arange(600) < 60, people, np.nan)
    >>> out = corrected_mean(judge, labels, labels_drawn="random")
    >>> out.corrected.name, out.labels_extra.interval.low > 30
    ('greg', True)
    """
    where = "corrected_mean"
    items = inputs.labelled_items(
        judge, human, kind="score", cluster=inference["cluster"], stratum=stratum, where=where
    )
    _check(items, labels_drawn, mix, stratum is not None, where)
    present = ~np.isnan(items.judge)
    unread = int(np.sum(~present))
    notes = [*items.notes, *inputs.policy_notes(labels_drawn, where=where)]
    if unread:
        message = f"{unread} of {items.n_items} items have no score of the judge and are left out."
        notes += Note.where(True, "unread_left_out", message)
        items = items.only(present)
    test = representativeness_test(items, verdicts=False)
    if stratum is None:
        notes += _unlike(test, labels_drawn)
    notes += regression.skew_notes(items.human[items.labelled])
    others: dict[str, Estimate] = {}
    if stratum is not None:
        shares = stratum_shares(items, mix)
        of: Callable[..., Estimate] = lambda **k: regression.stratified_mean(  # noqa: E731
            items, shares, level=inference["level"], **k
        )
        people, corrected = of(use_judge=False), of()
        others = {"difference": of(slope=1.0)}
    else:
        people = regression.people_mean(items, level=inference["level"])
        corrected = regression.greg_mean(items, level=inference["level"])
        others = {
            n: regression.ppi_mean(items, estimator=n, level=inference["level"]) for n in _PPI
        }
    if labels_drawn in {"convenience", "by-verdict"}:
        reason = inputs.PICKED_BY_HAND if labels_drawn == "convenience" else _BY_VERDICT
        corrected, others = _undefined_estimate(corrected, reason), {}
        if labels_drawn == "by-verdict":
            people = _undefined_estimate(people, reason)
    elif items.n < inputs.FEW_LABELS or math.isnan(corrected.estimate):
        why = corrected.reason or f"there are fewer than {inputs.FEW_LABELS} labels"
        notes += Note.where(True, "people_only", f"The human labels alone are used: {why}.")
        if not math.isnan(corrected.estimate):
            others["greg"] = corrected
        corrected = people
    return CorrectedScore(
        corrected=corrected,
        judge_only=_judge_mean(items, inference["level"]),
        people_only=people,
        others=others,
        labels_extra=_gain(items, labels_drawn, inference["level"]),
        representative=test,
        labels_drawn=labels_drawn or "",
        unread=unread,
        notes=tuple(notes),
    )


def _check(
    items: inputs.LabelledItems,
    labels_drawn: str | None,
    mix: Mapping[str, float] | None,
    strata: bool,
    where: str,
) -> None:
    if items.n == 0:
        raise InputError(f"{where}: no item has a label. Label some of the items judged first.")
    if (labels_drawn == "stratified" or mix is not None) and not strata:
        what = "a mix" if mix is not None else "stratified labels"
        raise InputError(f"{where}: {what} needs the stratum of every item. Give stratum=.")


def _unlike(test: TestResult, labels_drawn: str | None) -> tuple[Note, ...]:
    if not test.p_value < 0.05 or labels_drawn in {"by-verdict", "stratified", "convenience"}:
        return ()
    message = (
        f"The judge gives the labelled items {test.estimates['labelled']:.2f} and the rest "
        f"{test.estimates['the rest']:.2f} on average (p {test.p_value:.2g}): they do not look "
        "drawn at random."
    )
    return Note.where(True, "unrepresentative", message)


def _undefined_estimate(estimate: Estimate, reason: str) -> Estimate:
    return estimate.replace(estimate=math.nan, interval=None, std_error=math.nan, reason=reason)


def _gain(
    items: inputs.LabelledItems, labels_drawn: str | None, level: float, *, unequal: bool = False
) -> Estimate:
    """`labels_gained`, refused where the labels are not a random draw."""
    gain = labels_gained(
        items.judge, items.human, stratum=items.stratum, level=level,
        cluster=items.codes if items.clustered else None,
    )  # fmt: skip
    if labels_drawn == "convenience":
        return _undefined_estimate(gain, inputs.PICKED_BY_HAND)
    if labels_drawn == "by-verdict" or unequal:
        return _undefined_estimate(gain, "labels of unequal chances misstate the correlation")
    return gain


def _judge_rate(items: inputs.LabelledItems, verdict: NDArray[np.int64], level: float) -> Estimate:
    read = verdict < 2
    share = inputs.share_over_clusters(
        (verdict == 1).astype(float)[read],
        np.ones(int(read.sum())),
        items.codes[read],
        clustered=items.clustered,
        level=level,
    )
    return share.estimate(
        name="judge_only",
        label="Judge alone",
        estimator="share of pass verdicts",
        sample=Sample.from_mask(read, "unparsed or tied"),
        reason="" if read.any() else "no verdict could be read",
    )


def _judge_mean(items: inputs.LabelledItems, level: float) -> Estimate:
    alone = dataclasses.replace(items, human=items.judge)
    return regression.people_mean(alone, level=level).replace(
        name="judge_only", label="Judge alone", estimator="mean of the judge's scores"
    )


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
        raise InputError(f"tango_limits: b and c must be counts among n pairs, got {b}, {c}, {n}.")
    z = float(distributions.norm.isf((1 - level) / 2))

    def score(delta: float) -> float:
        linear = (2 * n - b + c) * delta - b - c
        root = math.sqrt(max(linear**2 + 8 * n * c * delta * (1 - delta), 0.0))
        q = max((root - linear) / (4 * n), 0.0)
        variance = n * (2 * q + delta * (1 - delta))
        return (b - c - n * delta) / math.sqrt(max(variance, 1e-300))

    observed = (b - c) / n
    edge = 1 - 1e-12
    low, high = -1.0, 1.0
    if score(-edge) >= z:
        low = float(scipy.optimize.brentq(lambda d: score(d) - z, -edge, observed))
    if score(edge) <= -z:
        high = float(scipy.optimize.brentq(lambda d: score(d) + z, observed, edge))
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
        return Estimate(**common, reason="no item is known on both sides")
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
        Estimates are a - b, p adjusted by Holm over the pairs. ``details``: ``rank_ranges`` (best
        and worst rank by the adjusted comparisons), ``judge_differences`` (no labels used), and
        ``win_rates`` (corrected probability of superiority, a tie counting half).

    Raises
    ------
    InputError
        If shapes differ or there are fewer than two systems.

    Notes
    -----
    The difference of the labels is regressed on the difference of the judge's outputs (GREG). Each
    pair has its own slope, which corrects a judge that favours one system. The judge's gap is
    (se + sp - 1) times the true one. Where specificity differs between systems their order can
    reverse: most false claims are those of the uncorrected judge.

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
        raise InputError(f"{where}: labels must be drawn at random, got {labels_drawn!r}.")
    notes = list(inputs.policy_notes(labels_drawn, where=where))
    pairs = list(itertools.combinations(range(len(names)), 2))
    compared, beside, wins = [], {}, {}
    for a, b in pairs:
        both = ~np.isnan(f[:, a]) & ~np.isnan(f[:, b])
        label = f"{names[a]} - {names[b]}"
        d, of_people = f[:, a] - f[:, b], y[:, a] - y[:, b]
        items = _pair(d, of_people, inference["cluster"], both, where)
        beside[label] = float(items.judge.mean()) if items.n_items else math.nan
        compared.append(_row(names[a], names[b], items, labels_drawn, inference["level"]))
        halves = np.sign(d) / 2 + 0.5, np.sign(of_people) / 2 + 0.5
        superior = _pair(*halves, inference["cluster"], both, where)
        if items.n and labels_drawn != "convenience":
            better = poststratified_rate(superior, join=False, level=inference["level"])
            wins[label] = better.replace(
                name="probability_of_superiority", label=f"P({names[a]} better than {names[b]})"
            )
    rows = with_adjusted(compared, "holm")
    unread = int(np.sum(np.isnan(f)))
    message = f"{unread} outputs have no verdict of the judge; a pair is compared without these."
    notes += Note.where(unread, "unread_left_out", message)
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
) -> inputs.LabelledItems:
    """The items on which both outputs were read, as labelled items."""
    if not keep.any():
        keep = np.ones_like(keep)
    of = None if cluster is None else np.asarray(cluster)[keep]
    return inputs.labelled_items(f[keep], y[keep], kind="score", cluster=of, where=where)


def _row(
    a: str, b: str, items: inputs.LabelledItems, drawn: str | None, level: float
) -> Comparison:
    def none(estimate: float, reason: str) -> Comparison:
        return Comparison(a=a, b=b, estimate=estimate, n=items.n, reason=reason, estimate_name=NAME)

    if drawn == "convenience":
        return none(math.nan, inputs.PICKED_BY_HAND)
    if np.isnan(items.judge).any() or items.n == 0:
        why = "no item has a parsed verdict for both" if items.n else "no item has a label for both"
        return none(math.nan, why)
    out = regression.greg_mean(items, level=level)
    if math.isnan(out.estimate):
        out = regression.people_mean(items, level=level)
    labels = items.human[items.labelled]
    if out.interval is None and not items.clustered and set(labels) <= {-1.0, 0.0, 1.0}:
        # Without a discordant pair the width is not 0.
        return _score_row(a, b, labels, level)
    if out.interval is None:
        return none(out.estimate, out.reason or "the labels do not vary")
    t, df = out.estimate / out.std_error, float(out.details["df"])
    # The interval of the test: one verdict a pair.
    half = inputs.critical_value(level, df) * out.std_error
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
    Wilson's limits treat a mean of 0, .5, and 1 as a share of the same value. The variance of a
    share is at least as large, so the interval is conservative where human labels often tie.

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
    items = inputs.labelled_items(f, y, kind="score", cluster=inference["cluster"], where=where)
    if items.n == 0:
        raise InputError(f"{where}: no item has a label. Label some of the items judged first.")
    notes = [*items.notes, *inputs.policy_notes(labels_drawn, where=where)]
    out = poststratified_rate(items, join=labels_drawn != "by-verdict", level=inference["level"])
    if labels_drawn == "convenience":
        out = out.replace(estimate=math.nan, interval=None, reason=inputs.PICKED_BY_HAND)
    read = ~np.isnan(items.judge)
    judged = float(items.judge[read].mean()) if read.any() else math.nan
    return out.replace(
        name="win_rate",
        label="Corrected win rate",
        notes=(*notes, *out.notes),
        details={**out.details, "judge": judged},
    )


def _outcomes(values: ArrayLike, name: str, where: str) -> Floats:
    array = np.asarray(values, dtype=object)
    out = np.full(array.size, np.nan)
    for i, v in enumerate(array.reshape(-1)):
        if v is None or v == "" or v != v:  # noqa: PLR0124 (NaN)
            continue
        if v not in OUTCOME:
            raise InputError(f"{where}: {name} holds {v!r}, which is not one of win, tie and loss.")
        out[i] = OUTCOME[v]
    return out.reshape(array.shape)
