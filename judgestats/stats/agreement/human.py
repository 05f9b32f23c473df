"""Accuracy, alignment, and correlation with human labels and scores."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import (
    Bools,
    Floats,
    Ints,
    check_axes,
    check_finite,
    check_items,
    check_lengths,
    mean_of_present,
)
from judgestats.errors import InputError, one_of
from judgestats.stats.comparison.rank_correlation import kendall_interval, spearman_interval
from judgestats.stats.designs.count_table import encode_verdicts
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_bootstrap, cluster_codes
from judgestats.stats.inference.jackknife import interval_of_left_out
from judgestats.stats.inference.keywords import (
    ON_DEMAND,
    Clustered,
    Resampled,
    SumInference,
    SumResampled,
    with_keywords,
)
from judgestats.stats.inference.permutation import relation_null
from judgestats.stats.inference.result import Estimate, Estimates, Interval, Note, Sample
from judgestats.stats.inference.sum_statistics import share_estimate

OUTCOMES = ("a", "b", "tie")
TIE = 2


def outcome_codes(verdicts: ArrayLike, where: str, *, categories: Sequence[str] = OUTCOMES) -> Ints:
    """Outcome codes 0 = a, 1 = b, 2 = tie (or by `categories`), -1 = missing."""
    return encode_verdicts(verdicts, categories=categories, where=where)[0]


def pair_credit(judge: Ints, human: Ints) -> Floats:
    """1 for the same outcome, .5 when exactly one is a tie, 0 otherwise; NaN where missing."""
    one_tie = (judge == TIE) != (human == TIE)
    value = np.where(judge == human, 1.0, np.where(one_tie, 0.5, 0.0))
    return np.where((judge >= 0) & (human >= 0), value, np.nan)


def alignment_credit(judge: ArrayLike, human: ArrayLike) -> Floats:
    """Credit of each pair: 1 same outcome, .5 exactly one says tie, 0 opposite, NaN missing.

    Parameters
    ----------
    judge, human : array-like of the same shape
        ``"a"``, ``"b"`` or ``"tie"``; None, NaN or empty text where not read.

    Returns
    -------
    ndarray of float
        For tests paired by pair (two methods on the same pairs).

    Raises
    ------
    InputError
        If an outcome is not one of the three, or the shapes differ.

    Notes
    -----
    The score of the public study LLMasJudge.

    References
    ----------
    STATISTICS section 7 of the project's design.

    Examples
    --------
    >>> alignment_credit(["a", "a", "tie", None], ["a", "b", "b", "a"])
    array([1. , 0. , 0.5, nan])
    """
    a, b = outcome_codes(judge, "alignment_credit"), outcome_codes(human, "alignment_credit")
    if a.shape != b.shape:
        raise InputError(
            f"alignment_credit: judge and human must have the same shape, got {a.shape}, {b.shape}."
        )
    return pair_credit(a, b)


def labelled_pairs(
    judge: ArrayLike, human: ArrayLike, where: str, *, categories: Sequence[str] = OUTCOMES
) -> tuple[Ints, Ints, Bools, Sample]:
    """Codes of judge and human per pair, which pairs have both, and the sample."""
    a, b = (outcome_codes(v, where, categories=categories) for v in (judge, human))
    check_lengths(where, least=1, judge=a, human=b)
    used = (a >= 0) & (b >= 0)
    excluded = {
        "no verdict of the judge": int(np.sum((a < 0) & (b >= 0))),
        "no human label": int(np.sum(b < 0)),
    }
    return a, b, used, Sample.from_mask(used, excluded)


@with_keywords(permutations=ON_DEMAND)
def alignment_score(
    judge: ArrayLike,
    human: ArrayLike,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Alignment score of a judge with human labels, with baselines on the same pairs.

    Parameters
    ----------
    judge, human : array-like, shape (n_pairs,)
        ``"a"``, ``"b"`` or ``"tie"`` for the same two responses; None, NaN or empty text where
        not read.
    cluster : array-like, shape (n_pairs,), optional
        The question of each pair: pairs of one question share answers.
    n_permutations : int
        Permutations of the null (human labels over pairs); 0 for none.

    Returns
    -------
    Estimate
        ``details``: ``always_tie``, ``random_three`` (a, b, tie equally likely), ``random_two``
        (a, b), all on the same pairs, ``above_always_tie`` (difference with interval), and the
        3 x 3 ``table`` (rows judge, columns human; a, b, tie).

    Raises
    ------
    InputError
        If an outcome is not one of the three, or the lengths differ.

    Notes
    -----
    1 when judge and human say the same of {a, b, tie}, .5 when exactly one says tie, 0 otherwise;
    the mean over pairs. A judge that always says tie gets .5 on every decided pair and 1 on every
    tied one. The score of a set thus depends on its share of human ties: compare it with its
    baselines.

    References
    ----------
    The public study LLMasJudge (score and always-tie / random baselines).

    Examples
    --------
    >>> out = alignment_score(["a", "a", "tie", "b"], ["a", "b", "b", "b"])
    >>> out.estimate, out.details["always_tie"], out.details["random_two"]
    (0.625, 0.5, 0.5)
    """
    where = "alignment_score"
    n_permutations = inference.pop("n_permutations")
    a, b, used, sample = labelled_pairs(judge, human, where)
    credit = np.where(used, pair_credit(a, b), 0.0)
    tied = used & (b == TIE)
    table = np.zeros((3, 3))
    np.add.at(table, (a[used], b[used]), 1.0)
    share = float(tied.sum() / used.sum()) if used.any() else math.nan
    base = np.where(tied, 1.0, 0.5)

    def mean(name: str, label: str, values: Floats, *, signed: bool) -> Estimate:
        return share_estimate(
            used,
            np.where(used, values, 0.0),
            name=name,
            label=label,
            estimator="mean credit over pairs: 1 same, .5 exactly one tie, 0 otherwise",
            sample=sample,
            reason="no pair has both a verdict and a human label",
            where=where,
            signed=signed,
            **inference,
        )

    above = mean(
        "alignment_above_always_tie", "Alignment above always tie", credit - base, signed=True
    )
    details = {
        "always_tie": 0.5 + 0.5 * share,
        "random_three": 0.5 + share / 6,
        "random_two": 0.5,
        "human_tie_share": share,
        "above_always_tie": above,
        "table": table,
        "outcomes": OUTCOMES,
    }
    result = mean(where, "Alignment score", credit, signed=False).replace(details=details)
    if n_permutations and math.isfinite(result.estimate):
        cluster = inference["cluster"]
        null = relation_null(
            (b[used], a[used]),
            lambda labels, said: pair_credit(np.broadcast_to(said, labels.shape), labels).mean(-1),
            cluster=None if cluster is None else np.asarray(cluster)[used],
            n_permutations=n_permutations,
            seed=inference["seed"],
            vectorized=True,
        )
        result = result.replace(null=null)
    return result


@with_keywords()
def alignment_by_category(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    category: ArrayLike,
    **inference: Unpack[Clustered],
) -> dict[str, Estimate]:
    """Alignment score within each category of the pairs.

    Parameters
    ----------
    judge, human : array-like, shape (n_pairs,)
        See `alignment_score`.
    category : array-like, shape (n_pairs,)
        Label of each pair (writing, coding ...).

    Returns
    -------
    dict of str to Estimate
        In the order of the sorted labels; each with its own baselines.

    Raises
    ------
    InputError
        If the lengths differ.

    Notes
    -----
    Baselines differ between categories, because human ties do.

    References
    ----------
    STATISTICS section 7 of the project's design.

    Examples
    --------
    >>> out = alignment_by_category(["a", "b", "a"], ["a", "a", "a"], category=["x", "x", "y"])
    >>> {k: e.estimate for k, e in out.items()}
    {'x': 0.5, 'y': 1.0}
    """
    labels = np.asarray(category).astype(str)
    a, b = np.asarray(judge, dtype=object), np.asarray(human, dtype=object)
    check_lengths("alignment_by_category", judge=a, human=b, category=labels)
    groups = None if inference["cluster"] is None else np.asarray(inference["cluster"])
    out = {}
    for name in np.unique(labels):
        rows = labels == name
        out[str(name)] = alignment_score(
            a[rows],
            b[rows],
            cluster=None if groups is None else groups[rows],
            level=inference["level"],
        )
    return out


@with_keywords()
def accuracy(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    ties: Literal["include", "exclude", "half"] = "include",
    categories: Sequence[str] = OUTCOMES,
    **inference: Unpack[SumResampled],
) -> Estimate:
    """Share of pairs on which the judge says what the human said.

    Parameters
    ----------
    judge, human : array-like, shape (n_pairs,)
        See `alignment_score`.
    ties : {"include", "exclude", "half"}
        ``include``: a tie is an outcome like the others. ``exclude``: only pairs that both decide.
        ``half``: only pairs the human decides, a judge's tie earns .5.
    categories : sequence of str
        The outcomes; others than a, b, tie (as pass, fail) have no tie, so `ties` is ``include``.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If `ties` is unknown or has no meaning for the categories, an outcome is not one of them, or
        the lengths differ.

    Notes
    -----
    ``exclude`` favours a judge that says tie whenever it is unsure: ``details["decided"]`` is the
    share of the pairs it decides.

    References
    ----------
    STATISTICS section 7 of the project's design.

    Examples
    --------
    >>> judge, human = ["a", "a", "tie", "b"], ["a", "b", "b", "tie"]
    >>> [round(accuracy(judge, human, ties=t).estimate, 4) for t in ("include", "exclude", "half")]
    [0.25, 0.5, 0.5]
    """
    where = "accuracy"
    one_of(where, "ties", ties, ("include", "exclude", "half"))
    if tuple(categories) != OUTCOMES and ties != "include":
        raise InputError(f"{where}: ties={ties!r} needs the outcomes a, b and tie. Leave ties out.")
    a, b, used, sample = labelled_pairs(judge, human, where, categories=categories)
    decided = used & (b != TIE)
    kept = {"include": used, "exclude": decided & (a != TIE), "half": decided}[ties]
    right = np.where(a == b, 1.0, 0.0)
    if ties == "half":
        right = np.where(a == TIE, 0.5, right)
    label = {
        "include": "Accuracy (a tie is an outcome)",
        "exclude": "Accuracy on pairs that both decide",
        "half": "Accuracy on pairs the human decides (a judge's tie counts half)",
    }[ties]
    return share_estimate(
        kept,
        np.where(kept, right, 0.0),
        name=f"accuracy_{ties}_ties" if ties != "half" else "accuracy_ties_half",
        label=label if tuple(categories) == OUTCOMES else "Accuracy",
        estimator=f"ties: {ties}",
        sample=Sample.from_mask(kept, {**sample.excluded, "a tie": int(used.sum() - kept.sum())}),
        reason="no pair is left",
        where=where,
        **inference,
        details={
            "decided": float(np.mean(a[decided] != TIE)) if decided.any() else math.nan,
            "chance": 1 / len(categories) if ties == "include" else 0.5,
        },
    )


@with_keywords()
def human_ceiling(labels: ArrayLike, **inference: Unpack[SumResampled]) -> Estimate:
    """What one person scores against another on the same pairs: the ceiling for a judge.

    Parameters
    ----------
    labels : array-like, shape (n_pairs, n_annotators)
        ``"a"``, ``"b"`` or ``"tie"``; None, NaN or empty text where an annotator did not label.

    Returns
    -------
    Estimate
        Alignment score, the mean over pairs of the mean over pairs of annotators.
        ``details``: ``by_annotators``.

    Raises
    ------
    InputError
        If an outcome is not one of the three or there is one annotator only.

    Notes
    -----
    Compare it with the judge's mean score against *single* annotators; a judge compared with the
    annotators' majority has a higher ceiling than this.

    References
    ----------
    STATISTICS section 7 of the project's design.

    Examples
    --------
    >>> human_ceiling([["a", "a", "b"], ["tie", "a", "a"]]).estimate.__round__(4)
    0.5
    """
    where = "human_ceiling"
    codes = outcome_codes(labels, where)
    check_axes(where, "labels", codes, "pairs x annotators", (1, 2))
    both = list(itertools.combinations(range(codes.shape[1]), 2))
    credit = np.column_stack([pair_credit(codes[:, i], codes[:, j]) for i, j in both])
    n_read = np.sum(np.isfinite(credit), axis=1)
    used = n_read > 0
    value = np.where(used, np.nansum(credit, axis=1) / np.maximum(n_read, 1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        column = np.nansum(credit, axis=0) / np.sum(np.isfinite(credit), axis=0)
    return share_estimate(
        used,
        value,
        name=where,
        label="Human-human alignment",
        estimator="pairs of annotators, mean over pairs of responses",
        sample=Sample.from_mask(used, "fewer than two annotators", n_replications=codes.shape[1]),
        reason="no pair was labelled by two annotators",
        **inference,
        details={
            "by_annotators": {
                f"{i + 1}-{j + 1}": float(v) for (i, j), v in zip(both, column, strict=True)
            }
        },
    )


def attention_coverage(
    attention: ArrayLike, *, threshold: float, counted: ArrayLike | None = None
) -> float:
    r"""Share of a target's tokens that another text attends to.

    Parameters
    ----------
    attention : array-like, shape (n_heads, n_reading, n_target) or (n_reading, n_target)
        Cross-attention of one layer: for every token of the reading text (the decoder's) its
        weights over the target's tokens (the encoder's), which sum to 1.
    threshold : float
        A target token is covered if some reading token gives it more than this; in 0-1.
    counted : array-like of bool, shape (n_target,), optional
        Which target tokens count (not padding, not special tokens); all by default.

    Returns
    -------
    float
        NaN where no token counts or nothing is read.

    Raises
    ------
    InputError
        If the shape, the weights or the threshold are unusable.

    Notes
    -----
    Heads are averaged first; then :math:`c = \frac1n \sum_j [\max_i \bar a_{ij} > t]`. Coverage
    falls with the threshold and with the length of the target, over which weights are spread:
    compare it at one threshold and with the coverage of unrelated texts.

    References
    ----------
    arXiv 2502.12501 names the layer, the average over heads and a threshold; it does not say how
    reading tokens are joined. The maximum is the convention here.

    Examples
    --------
    >>> attention_coverage([[[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]], threshold=0.5)
    0.6666666666666666
    """
    where = "attention_coverage"
    a = np.asarray(attention, dtype=float)
    if a.ndim == 3 and a.shape[0]:
        a = a.mean(axis=0)
    check_axes(where, "attention", a, "reading tokens x target tokens")
    if not 0 <= threshold < 1:
        raise InputError(f"{where}: threshold must lie in 0-1, got {threshold}. Try 0.1.")
    if a.size and not (np.isfinite(a).all() and a.min() >= 0 and a.max() <= 1 + 1e-4):
        raise InputError(f"{where}: attention holds values outside 0-1. Give weights, not logits.")
    use = np.ones(a.shape[1], dtype=bool) if counted is None else np.asarray(counted, dtype=bool)
    if use.shape != (a.shape[1],):
        raise InputError(f"{where}: counted must have {a.shape[1]} entries, got shape {use.shape}.")
    if not use.any() or a.shape[0] == 0:
        return math.nan
    return float(np.mean(a.max(axis=0)[use] > threshold))


CorrelationName = Literal["pearson", "spearman", "kendall"]

_LABELS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}


def _scores(values: ArrayLike, name: str, where: str) -> Floats:
    """Scores as (items, replications)."""
    x = np.asarray(values, dtype=float)
    x = x[:, None] if x.ndim == 1 else x
    check_axes(where, name, x, "items x replications", (1,))
    check_finite(where, name, x)
    return x


def correlate(x: Floats, y: Floats, method: str) -> float:
    """Correlation, NaN where one side does not vary."""
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    if method == "kendall":
        from scipy import stats

        return float(stats.kendalltau(x, y).statistic)
    if method == "spearman":
        x, y = distributions.ranks(x), distributions.ranks(y)
    return float(np.corrcoef(x, y)[0, 1])


@with_keywords()
def human_correlation(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    method: CorrelationName = "pearson",
    **inference: Unpack[Resampled],
) -> Estimate:
    r"""Correlation of a judge's scores with human ratings, item by item.

    Parameters
    ----------
    judge : array-like, shape (n_items,) or (n_items, n_replications)
        Scores; replications are averaged (those read). NaN where not read.
    human : array-like, shape (n_items,) or (n_items, n_raters)
        Ratings, averaged likewise.
    method : {"pearson", "spearman", "kendall"}

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the shapes differ, or the method is unknown.

    Notes
    -----
    Kendall's tau is tau-b. The interval is Fisher's z with variance 1 / (n - 3) for Pearson, and
    (1 + r^2 / 2) / (n - 3) for Spearman (Bonett & Wright). For Kendall it has the asymptotic
    standard error of Brown and Benedetti (1977). With clusters it is the BCa
    cluster bootstrap. DescTools' interval for Spearman uses 1 / (n - 3), which is too short.

    References
    ----------
    Bonett & Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations. Psychometrika 65, 23-28.

    Examples
    --------
    >>> judge, human = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]
    >>> [round(human_correlation(judge, human, method=m).estimate, 4)
    ...  for m in ("pearson", "spearman", "kendall")]
    [0.8286, 0.8286, 0.6]
    """
    where = "human_correlation"
    one_of(where, "method", method, _LABELS)
    x_all, y_all = _scores(judge, "judge", where), _scores(human, "human", where)
    check_items(where, judge=x_all, human=y_all)
    x, y = mean_of_present(x_all, 1), mean_of_present(y_all, 1)
    used = np.isfinite(x) & np.isfinite(y)
    groups = None if inference["cluster"] is None else np.asarray(inference["cluster"])[used]
    x, y = x[used], y[used]
    n_clusters = None if groups is None else int(np.unique(groups.astype(str)).size)
    sample = Sample(
        n_items=x.size,
        n_clusters=n_clusters,
        n_replications=x_all.shape[1],
        excluded={"no score or no rating": int(np.sum(~used))},
    )
    estimate = correlate(x, y, method)
    result = Estimate(
        name=f"{method}_with_human",
        label=f"{_LABELS[method]} of judge and human",
        estimate=estimate,
        estimator=f"{method}, means of the replications read",
        sample=sample,
    )
    if math.isnan(estimate):
        why = "the scores of one side do not vary"
        return result.replace(reason="fewer than two items have both" if x.size < 2 else why)
    if groups is None:
        return _analytic(result, x, y, method, inference["level"])
    boot = cluster_bootstrap(
        (x, y),
        lambda a, b: correlate(a, b, method),
        cluster=groups,
        n_resamples=inference["n_resamples"],
        level=inference["level"],
        method="bca",
        transform="fisher",
        seed=inference["seed"],
    )
    ok = math.isfinite(boot.interval.low)
    return result.replace(
        interval=boot.interval if ok else None, std_error=boot.std_error, notes=boot.notes
    )


def _analytic(result: Estimate, x: Floats, y: Floats, method: str, level: float) -> Estimate:
    """The interval that the test of the same correlation prints; Fisher's z for Pearson."""
    if method != "pearson":
        limits = spearman_interval if method == "spearman" else kendall_interval
        interval, found = limits(x, y, level)
        if interval is not None and not (
            math.isfinite(interval.low) and math.isfinite(interval.high)
        ):
            interval = None
        notes = found if interval else (*found, *Note.no_interval("too few items"))
        return result.replace(interval=interval, notes=notes)
    r, n = result.estimate, x.size
    if n <= 3 or abs(r) >= 1 - 1e-12:
        why = "it needs more than three items" if n <= 3 else "the coefficient is at its limit"
        return result.replace(notes=Note.no_interval(why))
    half = float(distributions.norm.ppf((1 + level) / 2)) / math.sqrt(n - 3)
    low, high = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
    return result.replace(interval=Interval(low=low, high=high, level=level, method="Fisher's z"))


def correlation_by_level(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    source: ArrayLike,
    system: ArrayLike,
    level: float = 0.95,
) -> Estimates:
    r"""Correlation with human labels pooled, within questions, and between systems.

    Parameters
    ----------
    judge, human : array-like, shape (n_items,)
        Scores and ratings (means where repeated); NaN where missing.
    source : array-like, shape (n_items,)
        What each item answers (the question), the cluster of every interval.
    system : array-like, shape (n_items,)
        Who wrote each item.
    level : float

    Returns
    -------
    Estimates
        Pearson's r in three terms. ``pooled``: all items. ``within_source``: the mean over
        questions of the correlation of their items. ``between_systems``: the systems' mean score
        and mean rating.
        ``details``: ``n_sources_used``, ``n_systems``.

    Raises
    ------
    InputError
        If the lengths differ.

    Notes
    -----
    A judge can rank systems well and answers to one question badly, or the reverse. The
    pooled coefficient mixes both with differences between questions. Questions whose scores or
    ratings do not vary have no correlation. They are left out and counted. Intervals leave one
    question out at a time (the clustered engine; on Fisher's scale for pooled and between systems).
    The systems are treated as given: the interval says how the coefficient would vary over
    questions, not over systems.

    References
    ----------
    Deutsch, Dror & Roth (2021), A Statistical Analysis of Summarization Evaluation Metrics using
    Resampling Methods. TACL 9, 1132-1146 (system and input level).

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> question, system = np.repeat(np.arange(30), 5), np.tile(np.arange(5), 30)
    >>> people = system + rng.normal(size=150)
    >>> judge = system + rng.normal(size=150)
    >>> out = correlation_by_level(judge, people, source=question, system=system)
    >>> [round(t.estimate, 2) for t in out.terms]
    [0.68, 0.76, 0.99]
    """
    where = "correlation_by_level"
    x, y = np.asarray(judge, dtype=float), np.asarray(human, dtype=float)
    check_lengths(where, least=1, judge=x, human=y)
    check_finite(where, "scores", x, y)
    sources = cluster_codes(source, x.size, where=where)
    systems = cluster_codes(system, x.size, where=where)
    used = np.isfinite(x) & np.isfinite(y)
    sample = Sample.from_mask(used, "no score or no rating", sources)
    x, y, sources, systems = x[used], y[used], sources[used], systems[used]
    sources = np.unique(sources, return_inverse=True)[1]
    sizes = np.bincount(sources)

    def term(
        name: str,
        label: str,
        value: float,
        left_out: Floats,
        sizes: NDArray[np.number],
        transform: str = "fisher",
    ) -> Estimate:
        found = Estimate(name=name, label=label, estimate=value, estimator="pearson", sample=sample)
        if math.isnan(value):
            return found.replace(reason="scores or ratings do not vary at this level")
        interval, notes = interval_of_left_out(
            value, left_out, sizes=sizes, level=level, transform=transform
        )
        return found.replace(interval=interval, notes=notes)

    def over_all(name: str, label: str, value: Callable[[Bools], float]) -> Estimate:
        left_out = np.array([value(sources != g) for g in range(sizes.size)])
        return term(name, label, value(np.ones(x.size, dtype=bool)), left_out, sizes)

    def between_means(keep: Bools) -> float:
        codes = np.unique(systems[keep], return_inverse=True)[1]
        n = np.bincount(codes)
        first, second = (np.bincount(codes, v[keep]) / n for v in (x, y))
        return correlate(first, second, "pearson")

    pooled = over_all(
        "pooled",
        "Correlation with human labels, all items",
        lambda keep: correlate(x[keep], y[keep], "pearson"),
    )
    between = over_all(
        "between_systems", "Correlation with human labels between systems' means", between_means
    )
    inside = np.array(
        [correlate(x[sources == g], y[sources == g], "pearson") for g in range(sizes.size)]
    )
    inside = inside[np.isfinite(inside)]
    count = inside.size
    within = term(
        "within_source",
        "Correlation with human labels within questions (mean)",
        float(inside.mean()) if count else math.nan,
        (inside.sum() - inside) / (count - 1) if count > 1 else np.empty(0),
        np.ones(count),
        "identity",
    )
    return Estimates(
        name=where,
        label="Correlation with human labels by level",
        terms=(pooled, within, between),
        sample=sample,
        details={"n_sources_used": count, "n_systems": int(np.unique(systems).size)},
    )
