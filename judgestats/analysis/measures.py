"""Measures of an analysis and its systems: what verdicts on judges rest on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.agreement import passes_of_items
from judgestats.analysis.coefficients import results_row
from judgestats.analysis.decisions.frame_decisions import decisions_of
from judgestats.analysis.families import request_order
from judgestats.analysis.records import Analysis, NamedResult, condition_result
from judgestats.analysis.selections import Rotations, is_rotated
from judgestats.analysis.text_checks import DUPLICATES, LINKED
from judgestats.analysis.validity import is_pass_fail, people_verdicts, to_pass_fail
from judgestats.analysis.validity_raters import PERSON
from judgestats.arrays import Floats, Objects
from judgestats.data.parse import kept_rows, score_array
from judgestats.data.verdict_kinds import PREFERENCES
from judgestats.protocols.base import NOT_UNPARSED
from judgestats.results import About, Condition, Results, Row, decisions
from judgestats.results import Estimate as EstimateRecord
from judgestats.results.caveats import DIFFER, FEW_SYSTEMS, KIND, ORDERS
from judgestats.results.verdict import Measure, Shape, Subject, share_measure
from judgestats.stats import condition_summary, icc, mean_shift, run_component
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference import Estimate, jackknife_error

_MOST = 30
_SHOWN = 6
_LEAST = 5
"""Questions that two systems must share to be compared."""
_CODES = {"pass": 1.0, "fail": 0.0}
_MEAN, _PASS_RATE = "system.mean", "system.pass_rate"


def with_systems(analysis: Analysis, frame: pd.DataFrame, *, level: float) -> Analysis:
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
    if not {"author", "weight"} & set(frame):
        return analysis
    results: list[NamedResult] = []
    rows: list[Row] = []
    judged = set(analysis.conditions["condition"])
    for condition, own in frame.groupby("condition", sort=False):
        if condition not in judged:
            continue
        about = About(conditions=(str(condition),))
        results += _rubric_scores(own, about, level)
        systems = sorted({*own["author"].unique()} - {""}) if "author" in own else []
        if 2 <= len(systems) <= _MOST:
            results += _system_results(own, systems, about, level)
    for key, ask, estimand in (
        (_MEAN, "Mean score", "mean"), (_PASS_RATE, "Pass rate", "share"),
    ):  # fmt: skip
        by_system: dict[str, list[str]] = {}
        for r in results:
            if r.id.startswith(f"{key}."):
                system = str(r.about.factors["system"])
                by_system.setdefault(system, []).append(r.about.conditions[0])
        rows += [
            results_row(f"{key}/{system}", f"{ask} of {system}", system, estimand,
                        f"{key}.{system}.{{}}", own)
            for system, own in list(by_system.items())[:_SHOWN]
        ]  # fmt: skip
    rubric = "rubric_score"
    if names := [r.about.conditions[0] for r in results if r.id.startswith(f"{rubric}.")]:
        rows.append(results_row(rubric, "Rubric score", "Rubric", rubric, f"{rubric}.{{}}", names))
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
    for system, part in items.groupby("author", sort=True):
        key, heading = (_PASS_RATE, "Pass rate") if verdicts else (_MEAN, "Mean score")
        cluster = part["cluster"].to_numpy(object)
        if verdicts:
            shares = part["value"].to_numpy(float)
            estimate = mean_share(shares, cluster=cluster, level=level, name="share", label=heading)
        else:
            estimate = _mean(part["value"], cluster, level)
        yield condition_result(
            f"{key}.{system}", f"{heading} of {system}", condition, estimate, role="descriptive",
            about=replace(about, factors={"system": str(system)}),
        )  # fmt: skip
    table = items.pivot_table(index="cluster", columns="author", values="value", sort=False)
    known = [s for s in systems if s in table]
    table = table[known].dropna(thresh=2)
    if len(known) >= 2 and len(table) >= _LEAST:
        shifts = mean_shift(table.to_numpy(float)[:, :, None], conditions=known, level=level)
        title = "Differences of systems by the judge alone, paired by question"
        yield condition_result("systems_judged", title, condition, shifts, role="descriptive")


def _mean(values: pd.Series, cluster: Objects | None, level: float) -> Estimate:
    scores = values.to_numpy(float)[:, None, None]
    return condition_summary(scores, conditions=("",), cluster=cluster, level=level)[""].mean


def _rubric_scores(own: pd.DataFrame, about: About, level: float) -> Iterator[NamedResult]:
    """Points that answers earned, as a share of the positive points of their rubrics."""
    if "weight" not in own or not own["choice"].isin(_CODES).any():
        return
    read = own[own["choice"].isin(_CODES)]
    points = read["weight"].fillna(0.0)
    met = points.where(read["choice"] == "pass", 0.0)
    parts = pd.DataFrame({"met": met, "positive": points.clip(lower=0.0)})
    table = parts.groupby(read["cluster"], sort=False).sum()
    table = table[table["positive"] > 0]
    if len(table) < 2:
        return
    estimate = _mean(table["met"] / table["positive"], None, level)
    interval, share = estimate.interval, float(np.clip(estimate.estimate, 0, 1))
    if interval is not None:
        low, high = np.clip([interval.low, interval.high], 0, 1).tolist()
        interval = replace(interval, low=low, high=high)
    name, label = "rubric_score", "Rubric score"
    score = estimate.replace(name=name, label=label, interval=interval, estimate=share)
    yield condition_result(name, label, about.conditions[0], score, role="descriptive")


_MOST_SYSTEMS, _LEAST_CLUSTERS, _LEAST_RANKED = 30, 5, 5
_LEAST_LABELS, _MOST_SLICES = 30, 12
_LONG_REPLY, _LEAST_REPEATS = 40, 5
_N_RESAMPLES = 499


def item_values(own: pd.DataFrame) -> pd.Series:
    """Scores, or 1 and 0 for pass and fail; NaN for other verdicts."""
    if own["score"].notna().any():
        return own["score"].astype(float)
    codes, words = pd.factorize(own["choice"])
    values = np.array([*(_CODES.get(word, math.nan) for word in words), math.nan])
    return pd.Series(values[codes], index=own.index)


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
        error, df = float(d.std(ddof=1) / math.sqrt(len(d))), len(d) - 1
        errors.append(((t_quantile(0.975, df) + t_quantile(0.8, df)) * error, len(d)))
        limit = t_quantile(1 - 0.025 / math.comb(n, 2), df) * error
        separated.append(abs(float(d.mean())) > limit)
    if not errors:
        return
    smallest, clusters = max(errors)
    n_items = read["item_id"].nunique()
    base = Measure(key="mdd", subject=subject, n=n_items, estimate=smallest, n_clusters=clusters)
    yield base
    if n >= 3 and len(separated) == math.comb(n, 2):
        yield replace(base, key="separability", estimate=float(np.mean(separated)))
    if n < _LEAST_RANKED:
        yield replace(base, key=FEW_SYSTEMS, estimate=float(n))
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
    whole = replace(base, key="kendall_tau_b", estimate=tau(slice(None)), n_clusters=len(judge))
    yield replace(whole, low=low, high=high)


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
    texts = own[own["raw_text"].astype(str).str.len() >= _LONG_REPLY] if "raw_text" in own else None
    if texts is not None:
        each = texts.groupby(["item_id", "order"], sort=False)["raw_text"].agg(["size", "nunique"])
        repeated = each.loc[each["size"] > 1, "nunique"]
        if len(repeated) >= _LEAST_REPEATS and repeated.eq(1).all():
            yield Measure(key="_same_replies", subject=subject, estimate=1.0)
    if "label" in own and own["label"].astype(str).ne("").any():
        people = sum(str(c).startswith(PERSON) for c in own)
        yield Measure(key="_raters", subject=subject, estimate=float(max(people, 1)))


_REPEATS = ["condition", "item_id", "cluster", "order", "replicate"]


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
        ``_runs``: p of the test, with `reason` where the errors of means include what runs differ
        by. ``_these_runs``, where results hold for these only: the shift that cannot be excluded.
        One judge with one run has none.
    """
    own = kept_rows(frame, frame["condition"].isin(labels))
    values = own[_REPEATS].assign(score=item_values(own))
    read = values["score"].notna()
    orders, repeats, conditions = (
        values.loc[read, c].unique() for c in ("order", "replicate", "condition")
    )
    most = len(repeats)
    if len(orders) > 1 or (most < 2 and len(conditions) < 2):
        return
    array = score_array(values, conditions=tuple(conditions))
    interleaved = request_order(own) != ""
    found = run_component(array.scores, cluster=array.clusters, interleaved=interleaved)
    if (found.df > 0 or most < 2) and not found.interleaved:
        known = max(found.pairs, key=lambda pair: (pair.target, pair.is_random, pair.nu))
        included = known.is_random and known.variance > 0
        yield Measure(key="_runs", estimate=found.p_value, reason=known.note * included)
        if known.target:
            yield Measure(key="_these_runs", reason=known.text)


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
                    name, shares = f"_slice.{key}.{kind}={level}", right.loc[items.index]
                    yield _share(name, shares, first["cluster"], subject)


def _share(
    key: str, shares: pd.Series, clusters: pd.Series, subject: Subject, **fields: Any
) -> Measure:
    """A mean of shares of items; `clusters` are by item."""
    own = clusters.loc[shares.index].tolist()
    return share_measure(key, shares.tolist(), own, subject=subject, **fields)


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


def with_measures(
    analysis: Analysis,
    frame: pd.DataFrame | None,
    decision: decisions.DecisionOptions | None = None,
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
    decision = decision or decisions.DecisionOptions()
    made = measured_results(analysis.records(), frame, decision)
    return replace(analysis, measures=made.measures, decision=decision, decisions=made.decisions)


def measured_results(
    results: Results, frame: pd.DataFrame | None, decision: decisions.DecisionOptions | None = None
) -> Results:
    """Results with what verdicts rest on, and what the data certify."""
    made = () if frame is None else decisions_of(frame, decision or decisions.DecisionOptions())
    subjects = {c.label: decisions.subject_of(c) for c in results.conditions if not c.derived}
    certified = (
        m for one in made for label in one.about for m in one.measures(subjects[label])
        if label in subjects
    )  # fmt: skip
    return replace(
        results, measures=(*_measures(results, frame), *certified),
        decisions=tuple(one.to_dict() for one in made),
    )  # fmt: skip


def _rows_at(frame: pd.DataFrame | None, places: Any) -> pd.DataFrame | None:
    if frame is None or places is None:
        return None
    return frame if len(places) == len(frame) else frame.iloc[places]


def _measures(results: Results, frame: pd.DataFrame | None) -> Iterator[Measure]:
    places = {} if frame is None else frame.groupby("condition", sort=False).indices
    sampled: list[str] = []
    for condition in results.conditions:
        if condition.derived:
            continue
        subject = decisions.subject_of(condition)
        own = _rows_at(frame, places.get(condition.label))
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
            if not (still and measure.key in decisions.REPEATED):
                yield measure
    if frame is not None and sampled:
        yield from run_measures(frame, sampled)
    if frame is not None and frame.attrs.get(LINKED):
        yield Measure(key=f"_{DUPLICATES}", estimate=frame.attrs[LINKED])
    for note in () if frame is None else frame.attrs.get("notes", ()):
        if getattr(note, "code", "") == DIFFER:
            yield Measure(key=DIFFER, n=note.n)
    yield from _panel_measures(results)


def _kind_of(results: Results, condition: Condition, own: pd.DataFrame | None) -> str:
    if own is None:
        ids = {r.id for r in results.results}
        return "scores" if f"condition.mean.{condition.label}" in ids else ""
    if own["score"].notna().any():
        return "scores"
    words = set(own["choice"].unique()) - {""}
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
            yield decisions.measure_of(key, record, subject, shape)
    for key, begun in (("pass_rate", "verdicts.pass_rate"), ("agreement_human", "people.gap")):
        one = results.estimate(f"{begun}.{subject.label}")
        if one is not None and one.estimand != "distance_gap":
            yield decisions.measure_of(key, one, subject, "plain")
    share = results.estimate(f"order.first_position.{subject.label}/first_position_share")
    if share is not None:
        yield _minus(decisions.measure_of("position_bias", share, subject, "plain"), 0.5)


def _estimates_of(results: Results, label: str) -> dict[str, EstimateRecord]:
    """Estimates of a condition by their estimand: those that name it alone, or a row has of it."""
    own = [
        r for r in results.select(EstimateRecord, condition=label)
        if r.about.conditions == (label,) and not r.about.slice and "always_same" not in r.id
    ]  # fmt: skip
    cells = (results.estimate(row.cells.get(label, "")) for row in results.rows)
    found: dict[str, EstimateRecord] = {}
    for record in (*(cell for cell in cells if cell is not None), *own):
        found.setdefault(record.estimand, record)
    return found


def _condition_measures(
    own: pd.DataFrame, subject: Subject, kind: str, results: Results
) -> Iterator[Measure]:
    """What is measured from the judgments of one condition."""
    answered = own.loc[~own["status"].isin(NOT_UNPARSED), ["status", "cluster"]]
    if len(answered):
        lost = np.asarray(answered["status"].ne("ok"), dtype=float)
        yield share_measure("unparsed_share", lost, answered["cluster"], subject=subject)
    if kind in {"scores", "pass_fail"}:
        yield from _label_measures(own, subject, results)
    if kind == "scores":
        return
    verdicts = to_pass_fail(own) if kind == "pass_fail" else own
    read = verdicts[verdicts["choice"] != ""]
    clusters = _clusters(own)
    if kind == "options":
        yield from _position_of_options(own, subject)
    yield from _verdict_measures(given_verdicts(read), clusters, subject, kind, results)
    if kind == "words" and "label" in read:
        labelled = read[read["label"] != ""]
        equal = labelled["choice"].eq(labelled["label"]).groupby(labelled["item_id"], sort=False)
        if len(equal):
            yield _share(
                "accuracy",
                equal.mean(),
                clusters,
                subject,
                most=int(equal.size().max()),
                record=_record_id(results, subject, _RECORDS["accuracy"][0]),
            )


def _record_id(results: Results, subject: Subject, estimand: str) -> str:
    """Id of the record of an estimand; empty without one."""
    record = _estimates_of(results, subject.label).get(estimand)
    return record.id if record is not None else ""


def given_verdicts(read: pd.DataFrame) -> pd.Series:
    """How often each verdict was given, by item, order and verdict."""
    return read.groupby(["item_id", "order", "choice"], sort=False).size()


def _verdict_measures(
    given: pd.Series, clusters: pd.Series, subject: Subject, kind: str, results: Results
) -> Iterator[Measure]:
    """What is measured from how often each verdict was given, by item and order."""
    flips, repeats = _flips(given)
    if len(flips):
        record = _record_id(results, subject, "flip_rate")
        yield _share(
            "flip_rate", flips, clusters, subject, most=max(repeats - 1, 1), parts=repeats,
            record=record,
        )  # fmt: skip
    if kind == "pairs":
        orders = given.index.unique("order").size
        yield Measure(key=ORDERS, subject=subject, estimate=float(orders))
        same = same_over_orders(given)
        if len(same):
            yield _share("order_consistency", same, clusters, subject)


def _position_of_options(own: pd.DataFrame, subject: Subject) -> Iterator[Measure]:
    """Share of the position chosen most, minus the share expected by chance."""
    turned = Rotations(own)
    n = int(np.bincount(turned.n_options).argmax())
    chosen = turned.positions[turned.n_options == n, :n]
    items = pd.Series(turned.items[turned.n_options == n])
    shares = [pd.Series((chosen == k).mean(axis=1)).groupby(items, sort=False).mean()
              for k in range(n)]  # fmt: skip
    most = max(shares, key=lambda share: float(share.mean()))
    each = int(np.isfinite(chosen).sum() / max(len(most), 1))
    made = _share("position_bias", most, _clusters(own), subject, most=each)
    yield replace(_minus(made, 1 / n), shape="plain")


def _minus(made: Measure, number: float) -> Measure:
    ends = {name: getattr(made, name) - number for name in ("estimate", "low", "high")}
    return replace(made, **ends)


def _flips(counts: pd.Series) -> tuple[pd.Series, int]:
    """Share of pairs of repeats in one order that differ, by item; and repeats per item."""
    cells = counts.groupby(level=["item_id", "order"], sort=False)
    n = cells.sum()
    same = (counts * (counts - 1)).groupby(level=["item_id", "order"], sort=False).sum()
    repeated = n >= 2
    rates = 1 - same[repeated] / (n[repeated] * (n[repeated] - 1))
    if rates.empty:
        return rates, 1
    return rates.groupby(level="item_id", sort=False).mean(), int(n[repeated].max())


def same_over_orders(given: pd.Series) -> pd.Series:
    """Share of pairs of judgments in different orders that prefer the same response, by item."""
    counts = given.unstack("order").fillna(0.0)
    if counts.shape[1] != 2:
        return pd.Series(dtype=float)
    first, second = counts.columns
    total = counts.groupby(level="item_id", sort=False).sum()
    same = (counts[first] * counts[second]).groupby(level="item_id", sort=False).sum()
    both = (total[first] > 0) & (total[second] > 0)
    return same[both] / (total[first] * total[second])[both]


def _clusters(own: pd.DataFrame) -> pd.Series:
    return own.drop_duplicates("item_id").set_index("item_id")["cluster"]


def _label_measures(own: pd.DataFrame, subject: Subject, results: Results) -> Iterator[Measure]:
    """What the labelled judgments of one condition measure."""
    if own["score"].notna().any():
        yield from _score_kappa(own, subject)
    if "label" not in own or own["score"].notna().any() or not is_pass_fail(own):
        return
    verdicts, clusters = to_pass_fail(own), _clusters(own)
    read = verdicts[verdicts["choice"] != ""]
    passed = read["choice"].map(_CODES).groupby(read["item_id"], sort=False).mean()
    human = pd.Series(people_verdicts(verdicts, passed.index), index=passed.index)
    most = int(read.groupby("item_id").size().max()) if len(read) else 1
    correct = passed.where(human == 1, 1 - passed)
    for key, name, of in (
        ("tpr", "sensitivity", human == 1), ("tnr", "specificity", human == 0),
        ("accuracy", "accuracy", human.notna()),
    ):  # fmt: skip
        right = correct[of]
        record = results.estimate(f"people.{name}.{subject.label}")
        if record is not None and (math.isnan(record.estimate) or "weighted" in record.estimator):
            # Labels drawn with unequal chances: the weighted rate at its effective sample size.
            n = float(record.details.get("effective_n") or len(right))
            made = decisions.measure_of(key, record, subject, "share")
            p = record.estimate
            yield replace(made, variance=p * (1 - p) / n if n else math.nan, n=len(right))
        elif len(right):
            made = _share(key, right, clusters, subject, most=most)
            yield replace(made, record=record.id if record is not None else "")
    labelled = human.dropna()
    if len(labelled):
        yield from _labels_saved(passed.loc[labelled.index], labelled, clusters, subject)
        if "chance" not in verdicts and "stratum" not in verdicts:
            yield from slice_measures(passed, human, verdicts, subject)
    corrected = results.estimate(f"people.corrected.{subject.label}")
    if corrected is not None:
        made = decisions.measure_of("corrected", corrected, subject, "plain")
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
        shape="variance_ratio", df=decisions.degrees_of_freedom(ends.method if ends else ""),
        parts=wide.shape[1], n=len(wide), n_clusters=int(sizes),
    )  # fmt: skip


def _score_kappa(own: pd.DataFrame, subject: Subject) -> Iterator[Measure]:
    """Weighted kappa of one score with the human score: quadratic weights."""
    if "label" not in own or passes_of_items(own) is not None:
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
    """Agreement of single scores, of these judges and, where none repeats, of judges like them."""
    beside = [r for r in results.results if r.id.startswith("between_judges.")]
    own = beside[0].id if len(beside) == 1 else ""
    panel = Subject(label=decisions.PANEL)
    for key, begun in (("icc_a_1", "judges.icca"), ("icc_a_1", own), ("icc_2_1", "judges.icc2")):
        record = results.estimate(begun)
        if record is not None and record.estimand == key:
            yield decisions.measure_of(key, record, panel, "variance_ratio")
