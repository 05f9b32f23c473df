"""Measures of an analysis: what verdicts on judges rest on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from judgestats.analysis.decisions.frame_decisions import decisions_of
from judgestats.analysis.records import Analysis
from judgestats.analysis.selections import Rotations, is_rotated
from judgestats.analysis.systems import (
    data_measures,
    run_measures,
    slice_measures,
    system_measures,
    t_quantile,
)
from judgestats.analysis.text_checks import DUPLICATES, LINKED
from judgestats.analysis.validity import is_pass_fail, people_verdicts, to_pass_fail
from judgestats.arrays import Floats
from judgestats.data.verdict_kinds import PREFERENCES
from judgestats.protocols.base import NOT_UNPARSED
from judgestats.results import Condition, Estimate, Results
from judgestats.results.caveats import KIND, ORDERS
from judgestats.results.decisions import (
    PANEL,
    REPEATED,
    DecisionOptions,
    degrees_of_freedom,
    measure_of,
    subject_of,
)
from judgestats.results.verdict import Measure, Shape, Subject, share_measure
from judgestats.stats.inference.jackknife import jackknife_error
from judgestats.stats.reliability.intraclass import icc

_RECORDS: Mapping[str, tuple[str, Shape]] = {
    "icc_1_1": ("icc_1_1", "variance_ratio"),
    "sem": ("sem", "log"),
    "flip_rate": ("flip_rate", "plain"),
    "kappa_repeat": ("vote_share_reliability", "plain"),
    "kappa": ("cohen_kappa", "plain"),
    "accuracy": ("accuracy_include_ties", "plain"),
    "tpr": ("sensitivity", "plain"),
    "tnr": ("specificity", "plain"),
    "order_consistency": ("swap_consistency", "plain"),
    "unparsed_share": ("unread_share", "plain"),
}
"""Estimand of the record that measures a quantity, and its scale; what `_counted` measures from
judgments takes precedence over it."""
_CODES = {"pass": 1.0, "fail": 0.0}


def with_measures(
    analysis: Analysis, frame: pd.DataFrame | None, decision: DecisionOptions | None = None
) -> Analysis:
    """The analysis with what verdicts rest on, and how they are made.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame or None
        The judgments. Without them shares have the limits of their records.
    decision : DecisionOptions, optional

    Returns
    -------
    Analysis
    """
    decision = decision or DecisionOptions()
    made = measured_results(analysis.records(), frame, decision)
    return replace(analysis, measures=made.measures, decision=decision, decisions=made.decisions)


def measured_results(
    results: Results, frame: pd.DataFrame | None, decision: DecisionOptions | None = None
) -> Results:
    """Results with what verdicts rest on, and what the data certify."""
    made = () if frame is None else decisions_of(frame, decision or DecisionOptions())
    subjects = {c.label: subject_of(c) for c in results.conditions if not c.derived}
    certified = (
        m for one in made for label in one.about for m in one.measures(subjects[label])
        if label in subjects
    )  # fmt: skip
    return replace(
        results, measures=(*_measures(results, frame), *certified),
        decisions=tuple(one.to_dict() for one in made),
    )  # fmt: skip


def _measures(results: Results, frame: pd.DataFrame | None) -> Iterator[Measure]:
    by_condition = {} if frame is None else dict(list(frame.groupby("condition", sort=False)))
    sampled: list[str] = []
    for condition in results.conditions:
        if condition.derived:
            continue
        subject = subject_of(condition)
        own = by_condition.get(condition.label)
        still = condition.factors.get("temperature") == 0
        kind = _kind_of(results, condition, own)
        if not kind:
            continue
        yield Measure(key=KIND, subject=subject, reason=kind)
        sampled += [] if still else [condition.label]
        found = {m.key: m for m in _recorded(results, subject)}
        if own is not None:
            found |= {m.key: m for m in _condition_measures(own, subject, kind, results)}
            if kind == "scores" and "icc_1_1" not in found:
                found |= {m.key: m for m in _repeated_scores(own, subject)}
            found |= {m.key: m for m in system_measures(own, subject)}
            if not still:
                found |= {m.key: m for m in data_measures(own, subject)}
        for measure in found.values():
            if not (still and measure.key in REPEATED):
                yield measure
    if frame is not None and sampled:
        yield from run_measures(frame, sampled)
    if frame is not None and frame.attrs.get(LINKED):
        yield Measure(key=f"_{DUPLICATES}", estimate=frame.attrs[LINKED])
    yield from _panel_measures(results)


def _kind_of(results: Results, condition: Condition, own: pd.DataFrame | None) -> str:
    if own is None:
        ids = {r.id for r in results.results}
        begun = {"verdicts.pass_rate": "pass_fail", "order.swap_consistency": "pairs",
                 "condition.mean": "scores", "reliability.vote_share": "words"}  # fmt: skip
        return next((k for b, k in begun.items() if f"{b}.{condition.label}" in ids), "")
    if own["score"].notna().any():
        return "scores"
    words = set(own["choice"]) - {""}
    if not words:
        return "words" if len(own) else ""
    if is_pass_fail(own):
        return "pass_fail"
    if is_rotated(own):
        return "options"
    return "pairs" if words <= set(PREFERENCES) else "words"


def _recorded(results: Results, subject: Subject) -> Iterator[Measure]:
    """What estimates of one condition measure."""
    found = _estimates_of(results, subject.label)
    for key, (estimand, shape) in _RECORDS.items():
        record = found.get(estimand)
        if record is not None:
            yield measure_of(key, record, subject, shape)
    for key, begun in (("pass_rate", "verdicts.pass_rate"), ("agreement_human", "people.gap")):
        one = results.estimate(f"{begun}.{subject.label}")
        if one is not None and one.estimand != "distance_gap":
            yield measure_of(key, one, subject, "plain")
    share = results.estimate(f"order.first_position.{subject.label}/first_position_share")
    if share is not None:
        made = measure_of("position_bias", share, subject, "plain")
        yield replace(made, estimate=made.estimate - 0.5, low=made.low - 0.5, high=made.high - 0.5)


def _estimates_of(results: Results, label: str) -> dict[str, Estimate]:
    """Estimates of a condition by their estimand: those that name it alone, or a row has of it."""
    own = [
        r for r in results.select(Estimate, condition=label)
        if r.about.conditions == (label,) and not r.about.slice and "always_same" not in r.id
    ]  # fmt: skip
    cells = (results.estimate(row.cells.get(label, "")) for row in results.rows)
    found: dict[str, Estimate] = {}
    for record in (*(cell for cell in cells if cell is not None), *own):
        found.setdefault(record.estimand, record)
    return found


def _condition_measures(
    own: pd.DataFrame, subject: Subject, kind: str, results: Results
) -> Iterator[Measure]:
    """What is measured from the judgments of one condition."""
    answered = own[~own["status"].isin(NOT_UNPARSED)]
    if len(answered):
        lost = answered["status"].ne("ok").astype(float)
        places = answered["cluster"].tolist()
        yield share_measure("unparsed_share", lost.tolist(), places, subject=subject)
    if kind == "scores":
        yield from _score_kappa(own, subject)
        return
    verdicts = to_pass_fail(own) if kind == "pass_fail" else own
    read = verdicts[verdicts["choice"] != ""]
    clusters = own.drop_duplicates("item_id").set_index("item_id")["cluster"]
    more = {"subject": subject}
    flips, repeats = _flips(read)
    if len(flips):
        yield share_measure(
            "flip_rate", flips.tolist(), clusters.loc[flips.index].tolist(),
            most=max(repeats - 1, 1), parts=repeats, **more,
        )  # fmt: skip
    if kind == "options":
        yield from _position_of_options(own, subject)
    if kind == "pass_fail":
        yield from _label_measures(verdicts, read, clusters, subject, results)
    if kind == "pairs":
        orders = read["order"].nunique()
        yield Measure(key=ORDERS, subject=subject, estimate=float(orders))
        same = same_over_orders(read)
        if len(same):
            yield share_measure(
                "order_consistency", same.tolist(), clusters.loc[same.index].tolist(), **more
            )  # fmt: skip


def _position_of_options(own: pd.DataFrame, subject: Subject) -> Iterator[Measure]:
    """Share of the position chosen most, minus the share expected by chance."""
    turned = Rotations(own)
    n = int(np.bincount(turned.n_options).argmax())
    chosen = turned.positions[turned.n_options == n, :n]
    items = pd.Series(turned.items[turned.n_options == n])
    shares = [pd.Series((chosen == k).mean(axis=1)).groupby(items, sort=False).mean()
              for k in range(n)]  # fmt: skip
    most = max(shares, key=lambda share: float(share.mean()))
    clusters = own.drop_duplicates("item_id").set_index("item_id")["cluster"]
    made = share_measure(
        "position_bias",
        most.tolist(),
        clusters.loc[most.index].tolist(),
        subject=subject,
        most=int(np.isfinite(chosen).sum() / max(len(most), 1)),
    )
    yield replace(
        made, shape="plain", estimate=made.estimate - 1 / n, low=made.low - 1 / n,
        high=made.high - 1 / n,
    )  # fmt: skip


def _flips(read: pd.DataFrame) -> tuple[pd.Series, int]:
    """Share of pairs of repeats in one order that differ, by item; and repeats per item."""
    counts = read.groupby(["item_id", "order", "choice"], sort=False).size()
    cells = counts.groupby(level=["item_id", "order"], sort=False)
    n = cells.sum()
    same = (counts * (counts - 1)).groupby(level=["item_id", "order"], sort=False).sum()
    repeated = n >= 2
    rates = 1 - same[repeated] / (n[repeated] * (n[repeated] - 1))
    if rates.empty:
        return rates, 1
    return rates.groupby(level="item_id", sort=False).mean(), int(n[repeated].max())


def same_over_orders(read: pd.DataFrame) -> pd.Series:
    """Share of pairs of judgments in different orders that prefer the same response, by item."""
    counts = read.groupby(["item_id", "choice", "order"], sort=False).size().unstack("order")
    counts = counts.fillna(0.0)
    if counts.shape[1] != 2:
        return pd.Series(dtype=float)
    first, second = counts.columns
    total = counts.groupby(level="item_id", sort=False).sum()
    same = (counts[first] * counts[second]).groupby(level="item_id", sort=False).sum()
    both = (total[first] > 0) & (total[second] > 0)
    return same[both] / (total[first] * total[second])[both]


def _label_measures(
    verdicts: pd.DataFrame,
    read: pd.DataFrame,
    clusters: pd.Series,
    subject: Subject,
    results: Results,
) -> Iterator[Measure]:
    if "label" not in verdicts:
        return
    passed = read["choice"].map(_CODES).groupby(read["item_id"], sort=False).mean()
    human = pd.Series(people_verdicts(verdicts, passed.index), index=passed.index)
    most = int(read.groupby("item_id").size().max()) if len(read) else 1
    for key, name, value in (("tpr", "sensitivity", 1.0), ("tnr", "specificity", 0.0)):
        items = human.index[human == value]
        right = passed.loc[items] if value else 1 - passed.loc[items]
        record = results.estimate(f"people.{name}.{subject.label}")
        weighted = "chance" in verdicts or "stratum" in verdicts
        if weighted and record is not None:
            # Labels drawn with unequal chances: the weighted rate at its effective sample size.
            n = float(record.details.get("effective_n") or len(items))
            made = measure_of(key, record, subject, "share")
            p = record.estimate
            yield replace(made, variance=p * (1 - p) / n if n else math.nan, n=len(items))
        elif len(items):
            made = share_measure(
                key, right.tolist(), clusters.loc[items].tolist(), most=most, subject=subject
            )
            yield replace(made, record=record.id if record is not None else "")
    labelled = human.dropna()
    if len(labelled):
        yield from _labels_saved(passed.loc[labelled.index], labelled, clusters, subject)
        if "chance" not in verdicts and "stratum" not in verdicts:
            yield from slice_measures(passed, human, verdicts, subject)
    corrected = results.estimate(f"people.corrected.{subject.label}")
    if corrected is not None:
        made = measure_of("corrected", corrected, subject, "plain")
        half = (made.high - made.low) / 2
        yield replace(made, key="half_width", estimate=half, low=math.nan, high=math.nan)


def _labels_saved(
    judge: pd.Series, human: pd.Series, clusters: pd.Series, subject: Subject
) -> Iterator[Measure]:
    """Squared correlation of verdict and label, limits by Fisher's z (INFERENCE section 10)."""
    x, y = judge.to_numpy(float), human.to_numpy(float)
    n = len(x)
    if n < 20 or np.ptp(x) == 0 or np.ptp(y) == 0:
        why = "both classes are needed" if n >= 20 else f"{n} labels are too few"
        yield Measure(key="labels_saved", subject=subject, n=n, reason=why)
        return
    sums = np.column_stack([np.ones(n), x, y, x * x, y * y, x * y])
    z, error, _ = _fisher(sums, clusters.loc[judge.index], _correlation)
    error = max(error, 1 / math.sqrt(n - 3))
    t = t_quantile(0.975, n - 1)
    ends = sorted((math.tanh(z - t * error), math.tanh(z + t * error)))
    low = 0.0 if ends[0] <= 0 <= ends[1] else min(ends[0] ** 2, ends[1] ** 2)
    yield Measure(
        key="labels_saved", subject=subject, estimate=math.tanh(z) ** 2, low=low,
        high=max(ends[0] ** 2, ends[1] ** 2), df=float(n - 1), n=n,
        n_clusters=int(clusters.loc[judge.index].nunique()),
    )  # fmt: skip


def _correlation(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(all="ignore"):
        r = (n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y))
    return np.asarray(np.clip(r, -1 + 1e-12, 1 - 1e-12))


def _fisher(
    sums: Floats, clusters: pd.Series, statistic: Callable[[Floats], Floats]
) -> tuple[float, float, float]:
    """Fisher's z of a function of sums over items; error and df by leaving out clusters."""
    codes, _ = pd.factorize(clusters)
    by_cluster = np.zeros((codes.max() + 1, sums.shape[1]))  # size: clusters
    np.add.at(by_cluster, codes, sums)
    whole = by_cluster.sum(axis=0)
    left_out = np.arctanh(statistic(whole - by_cluster))
    return float(np.arctanh(statistic(whole))), *jackknife_error(left_out, np.bincount(codes))


def _repeated_scores(own: pd.DataFrame, subject: Subject) -> Iterator[Measure]:
    """ICC(1,1) of repeated scores, where the analysis has no record of it."""
    read = own[own["score"].notna()]
    wide = read.pivot_table(index="item_id", columns="replicate", values="score", sort=False)
    if min(wide.shape) < 2:
        return
    clusters = read.groupby("item_id", sort=False)["cluster"].first().loc[wide.index]
    found = icc(wide.to_numpy(float), cluster=clusters.to_numpy(object), n_permutations=0)
    ends, sizes = found.interval, clusters.nunique()
    yield Measure(
        key="icc_1_1", subject=subject, estimate=found.estimate, reason=found.reason,
        low=ends.low if ends else math.nan, high=ends.high if ends else math.nan,
        shape="variance_ratio", df=degrees_of_freedom(ends.method if ends else ""),
        parts=wide.shape[1], n=len(wide), n_clusters=int(sizes),
    )  # fmt: skip


def _score_kappa(own: pd.DataFrame, subject: Subject) -> Iterator[Measure]:
    """Weighted kappa of one score with the human score: quadratic weights."""
    if "label" not in own:
        return
    human = pd.to_numeric(own["label"], errors="coerce")
    pairs = own.assign(human=human)[own["score"].notna() & human.notna()]
    if pairs["item_id"].nunique() < 5:
        return
    each = pairs.groupby("item_id", sort=False)
    x, y = each["score"].mean(), each["human"].mean()
    xx = (pairs["score"] ** 2).groupby(pairs["item_id"], sort=False).mean()
    sums = np.column_stack([np.ones(len(x)), x, y, xx, y * y, x * y])
    clusters = each["cluster"].first()
    if clusters.nunique() < 2:
        return
    z, error, df = _fisher(sums, clusters, _quadratic_kappa)
    if math.isnan(z):
        return
    half = t_quantile(0.975, df) * error
    yield Measure(
        key="kappa_weighted", subject=subject, estimate=math.tanh(z), low=math.tanh(z - half),
        high=math.tanh(z + half), shape="correlation", df=df, n=len(x),
        n_clusters=int(clusters.nunique()),
    )  # fmt: skip


def _quadratic_kappa(sums: Floats) -> Floats:
    """1 - mean squared difference / that of independent scores, each item's repeats alike."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(all="ignore"):
        observed = (xx - 2 * xy + yy) / n
        expected = xx / n - 2 * (x / n) * (y / n) + yy / n
        kappa = 1 - observed / expected
    return np.asarray(np.clip(kappa, -1 + 1e-12, 1 - 1e-12))


def _panel_measures(results: Results) -> Iterator[Measure]:
    """Agreement of single scores, of these judges and of judges like them, where none repeats."""
    for key, begun in (("icc_a_1", "judges.icca"), ("icc_2_1", "judges.icc2")):
        record = results.estimate(begun)
        if record is not None:
            yield measure_of(key, record, Subject(label=PANEL), "variance_ratio")
