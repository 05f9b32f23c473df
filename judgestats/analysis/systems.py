"""Systems as a judge scores them: estimates, comparisons, and measures for verdicts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from judgestats.analysis.coefficients import results_row
from judgestats.analysis.families import request_order
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.validity_raters import PERSON
from judgestats.arrays import Floats, Objects
from judgestats.results import About, Row
from judgestats.results.verdict import Measure, Subject, share_measure
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.dispersion.condition_summary import condition_summary, mean_shift
from judgestats.stats.inference.result import Estimate
from judgestats.stats.inference.runs import run_component

_MOST = 30
_SHOWN = 6
_LEAST = 5
"""Questions that two systems must share to be compared."""
_CODES = {"pass": 1.0, "fail": 0.0}
_MEAN, _PASS_RATE = "system.mean", "system.pass_rate"


def with_systems(analysis: Analysis, frame: pd.DataFrame, *, level: float = 0.95) -> Analysis:
    """An audit with what the judge says of each system, where several were judged.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        The parsed judgments; ``author`` names the system, ``cluster`` the question that several
        systems answered, ``weight`` the points of a rubric's item.
    level : float
        Of the intervals.

    Returns
    -------
    Analysis
        With the mean or pass rate of each system, their differences paired by question and adjusted
        by Holm, and the score of rubrics.
    """
    results: list[NamedResult] = []
    rows: list[Row] = []
    names = set(analysis.conditions["condition"])
    for condition, own in frame.groupby("condition", sort=False):
        if condition not in names:
            continue
        about = About(conditions=(str(condition),))
        results += _rubric_scores(own, about, level)
        systems = [s for s in dict.fromkeys(own.get("author", pd.Series(dtype=str))) if s]
        if 2 <= len(systems) <= _MOST:
            results += _system_results(own, systems, about, level)
    for key, ask in ((_MEAN, "Mean score"), (_PASS_RATE, "Pass rate")):
        found = [r for r in results if r.id.startswith(f"{key}.")]
        for system in list(dict.fromkeys(str(r.about.factors["system"]) for r in found))[:_SHOWN]:
            held = [r.about.conditions[0] for r in found if r.about.factors["system"] == system]
            estimand = "mean" if key == _MEAN else "share"
            row = results_row(
                f"{key}/{system}", f"{ask} of {system}", system, estimand,
                f"{key}.{system}.{{}}", held,
            )  # fmt: skip
            rows.append(row)
    rubrics = [r.about.conditions[0] for r in results if r.id.startswith("rubric_score.")]
    if rubrics:
        rows.append(
            results_row("rubric_score", "Rubric score", "Rubric", "rubric_score",
                        "rubric_score.{}", rubrics)
        )  # fmt: skip
    return replace(analysis, results=(*analysis.results, *results), rows=(*analysis.rows, *rows))


def _system_results(
    own: pd.DataFrame, systems: Sequence[str], about: About, level: float
) -> Iterator[NamedResult]:
    """Each system of one condition, and the differences of all pairs."""
    condition = about.conditions[0]
    verdicts = not own["score"].notna().any()
    value = own["choice"].map(_CODES) if verdicts else own["score"]
    read = own.assign(value=value.astype(float)).dropna(subset=["value"])
    items = read.groupby(["author", "cluster", "item_id"], sort=False)["value"].mean().reset_index()
    for system, part in items.groupby("author", sort=False):
        key, heading = (_PASS_RATE, "Pass rate") if verdicts else (_MEAN, "Mean score")
        cluster = part["cluster"].to_numpy(object)
        if verdicts:
            shares = part["value"].to_numpy(float)
            estimate = mean_share(shares, cluster=cluster, level=level, name="share", label=heading)
        else:
            estimate = _mean(part["value"], cluster, level)
        yield NamedResult(
            id=f"{key}.{system}.{condition}",
            title=f"{heading} of {system} ({condition})",
            role="descriptive",
            result=estimate,
            about=replace(about, factors={"system": str(system)}),
        )
    table = items.pivot_table(index="cluster", columns="author", values="value", sort=False)
    known = [s for s in systems if s in table]
    table = table[known].dropna(thresh=2)
    if len(known) >= 2 and len(table) >= _LEAST:
        shifts = mean_shift(table.to_numpy(float)[:, :, None], conditions=known, level=level)
        yield NamedResult(
            id=f"systems_judged.{condition}",
            title=f"Differences of systems by the judge alone, paired by question ({condition})",
            role="descriptive",
            result=shifts,
            about=about,
        )


def _mean(values: pd.Series, cluster: Objects | None, level: float) -> Estimate:
    scores = values.to_numpy(float)[:, None, None]
    return condition_summary(scores, conditions=("",), cluster=cluster, level=level)[""].mean


def _rubric_scores(own: pd.DataFrame, about: About, level: float) -> Iterator[NamedResult]:
    """Points that answers earned, as a share of the positive points of their rubrics."""
    if "weight" not in own or not own["choice"].isin(_CODES).any():
        return
    read = own[own["choice"].isin(_CODES)]
    points = read["weight"].fillna(0.0)
    table = pd.DataFrame({
        "answer": read["cluster"],
        "met": points.where(read["choice"] == "pass", 0.0),
        "positive": points.clip(lower=0.0),
    }).groupby("answer", sort=False).sum()  # fmt: skip
    table = table[table["positive"] > 0]
    if len(table) < 2:
        return
    estimate = _mean(table["met"] / table["positive"], None, level)
    interval = estimate.interval
    if interval is not None:
        low, high = np.clip([interval.low, interval.high], 0, 1).tolist()
        interval = replace(interval, low=low, high=high)
    yield NamedResult(
        id=f"rubric_score.{about.conditions[0]}",
        title=f"Rubric score ({about.conditions[0]})",
        role="descriptive",
        result=estimate.replace(
            name="rubric_score",
            label="Rubric score",
            estimate=float(np.clip(estimate.estimate, 0, 1)),
            interval=interval,
        ),
        about=about,
    )


_MOST_SYSTEMS, _LEAST_CLUSTERS, _LEAST_RANKED = 30, 5, 5
_LEAST_LABELS, _MOST_SLICES = 30, 12
_LONG_REPLY, _LEAST_REPEATED = 40, 5
_N_RESAMPLES = 499


def item_values(own: pd.DataFrame) -> pd.Series:
    """Scores, or 1 and 0 for pass and fail; NaN for other verdicts."""
    scored = own["score"].notna().any()
    values = own["score"] if scored else own["choice"].map(_CODES)
    return values.astype(float)


def system_measures(own: pd.DataFrame, subject: Subject) -> Iterator[Measure]:
    """Minimum detectable difference, separability, and rank correlation of systems.

    Parameters
    ----------
    own : DataFrame
        Judgments of one condition; ``author`` names the system, ``cluster`` what several answer.
    subject : Subject

    Yields
    ------
    Measure
        ``mdd``: (t_.975 + t_.80) times the largest standard error of a difference of two systems,
        paired by cluster. ``separability`` (three systems or more): share of pairs whose 95%
        interval, adjusted by Bonferroni, excludes 0. ``kendall_tau_b`` (five or more, labelled):
        of the systems' means by judge and by people, with a bootstrap interval over clusters.

    References
    ----------
    Li, T., et al. (2024). From crowdsourced data to high-quality benchmarks: Arena-Hard and
    BenchBuilder pipeline. arXiv:2406.11939.
    """
    if "author" not in own:
        return
    read = own.assign(value=item_values(own)).dropna(subset=["value"])
    read = read[read["author"].astype(str) != ""]
    n = read["author"].nunique()
    if not 2 <= n <= _MOST_SYSTEMS:
        return
    table = _cluster_means(read, "value")
    errors, separated = [], []
    for a, b in itertools.combinations(table, 2):
        d = (table[a] - table[b]).dropna().to_numpy(float)
        if len(d) < _LEAST_CLUSTERS:
            continue
        error = float(d.std(ddof=1) / math.sqrt(len(d)))
        errors.append((_power_factor(len(d) - 1) * error, len(d)))
        limit = t_quantile(1 - 0.025 / math.comb(n, 2), len(d) - 1) * error
        separated.append(abs(float(d.mean())) > limit)
    if not errors:
        return
    base = Measure(key="mdd", subject=subject, n=read["item_id"].nunique())
    smallest, clusters = max(errors)
    base = replace(base, estimate=smallest, n_clusters=clusters)
    yield base
    if n >= 3 and len(separated) == math.comb(n, 2):
        yield replace(base, key="separability", estimate=float(np.mean(separated)))
    human = pd.Series(dtype=float)
    if "label" in read:
        human = read["label"].map(_CODES).fillna(pd.to_numeric(read["label"], errors="coerce"))
    labelled = read.assign(human=human)
    labelled = labelled[labelled["human"].notna()]
    if n >= _LEAST_RANKED and labelled["author"].nunique() == n:
        yield from _rank_correlation(labelled, base)


def _cluster_means(read: pd.DataFrame, column: str) -> pd.DataFrame:
    """Clusters x systems: mean over items of their means over repeats."""
    items = read.groupby(["author", "cluster", "item_id"], sort=False)[column].mean()
    return items.groupby(level=["cluster", "author"], sort=False).mean().unstack("author")


def _rank_correlation(labelled: pd.DataFrame, base: Measure) -> Iterator[Measure]:
    from scipy.stats import kendalltau

    judge, human = _cluster_means(labelled, "value"), _cluster_means(labelled, "human")
    both = [judge.to_numpy(float), human[judge.columns].reindex(judge.index).to_numpy(float)]
    rng = np.random.default_rng(0)

    def tau(rows: Floats | slice) -> float:
        with np.errstate(all="ignore"):
            means = [np.nanmean(part[rows], axis=0) for part in both]
        return float(kendalltau(*means).statistic)

    if np.isnan(both[0]).all(axis=0).any() or len(judge) < _LEAST_CLUSTERS:
        return
    draws = rng.integers(0, len(judge), (_N_RESAMPLES, len(judge)))
    drawn = np.array([tau(rows) for rows in draws])
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < _N_RESAMPLES / 2:
        return
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    yield replace(
        base, key="kendall_tau_b", estimate=tau(slice(None)), low=low, high=high,
        n_clusters=len(judge),
    )  # fmt: skip


def _power_factor(df: float) -> float:
    return t_quantile(0.975, df) + t_quantile(0.8, df)


def t_quantile(p: float, df: float) -> float:
    """A quantile of Student's t; scipy.stats takes a second to import."""
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


def data_measures(own: pd.DataFrame, subject: Subject) -> Iterator[Measure]:
    """What limits a verdict in the judgments of one condition, under keys that begin with ``_``.

    Parameters
    ----------
    own : DataFrame
    subject : Subject

    Yields
    ------
    Measure
        ``_same_replies``: every repeat has the same long reply. ``_raters``: human raters.
    """
    if _replies_are_copies(own):
        yield Measure(key="_same_replies", subject=subject, estimate=1.0)
    if "label" in own and own["label"].astype(str).ne("").any():
        people = sum(str(c).startswith(PERSON) for c in own)
        yield Measure(key="_raters", subject=subject, estimate=float(max(people, 1)))


def run_measures(frame: pd.DataFrame, labels: Sequence[str]) -> Iterator[Measure]:
    """Whether the repeats of one run share a shift, over all judges.

    Parameters
    ----------
    frame : DataFrame
    labels : sequence of str
        Conditions above T = 0.

    Yields
    ------
    Measure
        ``_runs``: p of the test, with a `reason` where results hold for these runs only.
    """
    own = frame[frame["condition"].isin(labels)]
    values = own.assign(value=item_values(own)).dropna(subset=["value"])
    most = values["replicate"].nunique()
    if len(values["order"].unique()) > 1 or most < 2:
        return
    wide = values.pivot_table(
        index="item_id", columns=["condition", "replicate"], values="value", sort=False
    )
    names = wide.columns.get_level_values("condition").unique()
    scores = np.full((len(wide), len(names), most), np.nan)
    for k, name in enumerate(names):
        part = wide[name].to_numpy(float)
        scores[:, k, : part.shape[1]] = part
    clusters = values.drop_duplicates("item_id").set_index("item_id")["cluster"].loc[wide.index]
    found = run_component(
        scores, cluster=clusters.to_numpy(object), interleaved=request_order(own) != ""
    )
    if found.df > 0 and not found.interleaved:
        target = max(pair.target for pair in found.pairs)
        yield Measure(key="_runs", estimate=found.p_value, reason=target)


def _replies_are_copies(own: pd.DataFrame) -> bool:
    """Whether every repeat of every item has the same reply, of some length."""
    if "raw_text" not in own:
        return False
    texts = own[own["raw_text"].astype(str).str.len() >= _LONG_REPLY]
    each = texts.groupby(["item_id", "order"], sort=False)["raw_text"].agg(["size", "nunique"])
    repeated = each[each["size"] > 1]
    return len(repeated) >= _LEAST_REPEATED and bool(repeated["nunique"].eq(1).all())


def slice_measures(
    passed: pd.Series, human: pd.Series, own: pd.DataFrame, subject: Subject
) -> Iterator[Measure]:
    """TPR and TNR in the slices of category and system that have 30 labels of the class.

    Parameters
    ----------
    passed : Series
        Share of passes by item.
    human : Series
        1 and 0 by item, NaN without a label.
    own : DataFrame
    subject : Subject

    Yields
    ------
    Measure
        Keys are ``_slice.tpr.category=code``.
    """
    first = own.drop_duplicates("item_id").set_index("item_id").loc[passed.index]
    for column, kind in (("category", "category"), ("author", "system")):
        levels = first[column].astype(str) if column in first else pd.Series(dtype=str)
        if not 1 < levels.nunique() <= _MOST_SLICES:
            continue
        for key, value in (("tpr", 1.0), ("tnr", 0.0)):
            right = passed if value else 1 - passed
            for level, items in levels[human == value].groupby(levels, sort=False):
                if level and len(items) >= _LEAST_LABELS:
                    yield share_measure(
                        f"_slice.{key}.{kind}={level}", right.loc[items.index].tolist(),
                        first.loc[items.index, "cluster"].tolist(), subject=subject,
                    )  # fmt: skip
