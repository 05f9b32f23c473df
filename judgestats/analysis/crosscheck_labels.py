"""What people's labels, probes and chosen answers give, recomputed by other packages.

Scores, verdicts and labels are taken from the judgments and items anew, not from the analysis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.agreement import own_authors
from judgestats.analysis.crosscheck_blocks import Numbers
from judgestats.analysis.pair_methods import JudgedPairs, judged_pairs
from judgestats.analysis.self_consistency import SIZES
from judgestats.arrays import Floats
from judgestats.data.request_fields import heat
from judgestats.items.records import Item
from judgestats.protocols.probes import PAIRS, PROBES, Probe
from judgestats.results import Comparison, Estimate, Results, Test

_SHARE = {"a": 1.0, "b": 0.0, "tie": 0.5}


def labelled_numbers(
    frame: pd.DataFrame,
    results: Results,
    *,
    items: Sequence[Item] = (),
    standings: pd.DataFrame | None = None,
    own: Mapping[str, str] | None = None,
) -> Numbers:
    """Primary numbers of `self_consistency`, `probe`, `bias` and `rejection_sampling`.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    results : Results
    items : sequence of Item
        What was judged, with labels, authors and texts.
    standings : DataFrame, optional
        Every candidate with its labelled share and whether it was chosen: among equal points
        the choice is drawn, so that judgments alone do not give it.
    own : mapping of judge to author, optional
        As the run was given it.

    Yields
    ------
    tuple
        Agreement with people and reliability of means of several scores and what they gain; shifts
        by probes and padding; effects of length and authorship by least squares; attacks' exact
        tests and intervals; shares of best candidates chosen, gains, and McNemar's exact p.
    """
    frame = frame[frame["status"] != "invalid_condition"]
    pairs = judged_pairs(items) if any(item.labels for item in items) else None
    authors = own_authors(frame, items, own or {})
    for (judge, temperature), rows in frame.groupby(["judge", "temperature"], dropna=False):
        where = f"{judge} at {heat(temperature)}"
        if "factor_probe" in rows:
            yield from _probes(rows, where, results)
            if pairs is not None:
                author = authors.get(str(judge), "")
                yield from _effects(rows, where, results, pairs, items, author)
        elif pairs is not None and results.experiment == "self_consistency":
            yield from _averages(rows, where, results, pairs)
    if standings is not None:
        yield from _chosen(frame, results, standings)


def _mean(values: Any) -> float:
    from statsmodels.stats.weightstats import DescrStatsW

    kept = np.asarray(values, dtype=float)
    return float(DescrStatsW(kept[np.isfinite(kept)]).mean)


def _estimate(results: Results, result_id: str) -> float | None:
    if result_id not in results:
        return None
    record = results[result_id]
    return float(record.estimate) if isinstance(record, Estimate | Comparison) else None


def _scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Things judged x repetitions."""
    return rows.pivot(index="item_id", columns="replicate", values="score")


def _preference(rows: pd.DataFrame) -> pd.Series:
    """The share of verdicts for the earlier answer, over both orders, which weigh alike."""
    sides = rows["choice"].map(_SHARE).groupby([rows["item_id"], rows["order"]]).mean().unstack()
    return sides.mean(axis=1, skipna=False)


def _leaning(rows: pd.DataFrame) -> pd.Series:
    """The share of the answer shown first less that of the second, over both orders."""
    share = rows["choice"].map(_SHARE)
    first = (2 * share - 1).where(rows["order"] == "ab", 1 - 2 * share)
    sides = first.groupby([rows["item_id"], rows["order"]]).mean().unstack()
    return sides.mean(axis=1, skipna=False)


def _probes(rows: pd.DataFrame, where: str, results: Results) -> Numbers:
    of = {str(variant): own for variant, own in rows.groupby("factor_probe", sort=False)}
    for probe in PROBES.values():
        identity = f"instrument.{probe.name}.{where}"
        if probe.kind == "attack":
            yield from _attack(identity, results)
        elif identity in results:
            yield from _shift(identity, probe, of, results)


def _shift(
    identity: str, probe: Probe, of: Mapping[str, pd.DataFrame], results: Results
) -> Numbers:
    """How far a probe moves the mean score, or the share of verdicts."""
    from scipy import stats

    kind = "probe_shift" if probe.asks == "scores" else "preference_shift"
    ours = _estimate(results, f"{identity}/{kind}")
    compared = {probe.baseline, probe.changed.name}
    if ours is None or math.isnan(ours) or not compared <= set(of):
        return
    if probe.measured == "first place":
        gap = _leaning(of[probe.baseline]).dropna()
        yield (
            f"{identity}/{kind}", "first place's share less the second's", ours, _mean(gap),
            "statsmodels.DescrStatsW", "mean over pairs, both orders weigh alike",
        )  # fmt: skip
    if probe.measured != "shift":
        return
    means = (lambda s: _scores(s).mean(axis=1)) if probe.asks == "scores" else _preference
    original = of[probe.baseline]
    before, after = means(original), means(of[probe.changed.name])
    gap = (after - before).dropna()
    yield (
        f"{identity}/{kind}", f"shift by {probe.name}", ours, _mean(gap),
        "statsmodels.DescrStatsW", "mean over what is judged of changed less original",
    )  # fmt: skip
    test = results[identity]
    cluster = original.drop_duplicates("item_id").set_index("item_id")["cluster"].reindex(gap.index)
    if isinstance(test, Test) and cluster.is_unique and np.ptp(gap.round(12)) > 0:
        yield (
            identity, f"p of the shift by {probe.name}", test.p,
            max(float(stats.ttest_1samp(gap, 0).pvalue), 2.0 ** (1 - len(gap))),
            "scipy.stats.ttest_1samp",
            "every thing judged its own question; never below what signs can show",
        )  # fmt: skip


def _attack(identity: str, results: Results) -> Numbers:
    """Exact tests and intervals of an attack, from how often it succeeded."""
    from statsmodels.stats.proportion import binom_test, proportion_confint

    if identity not in results:
        return
    test, share = results[identity], results[f"{identity}/attack_success"]
    if not isinstance(test, Test) or not isinstance(share, Estimate) or share.interval is None:
        return
    more, less, n = (int(float(str(test.details[k]))) for k in ("more", "less", "n_units"))
    if f"{identity}/clean_success" in results and more + less:
        yield (
            identity, "p of an attack's success", test.p, float(binom_test(more, more + less)),
            "statsmodels.binom_test", "clusters that succeed more often with than without it",
        )  # fmt: skip
    high = proportion_confint(
        round(share.estimate * n), n, alpha=1 - share.interval.level, method="beta"
    )[1]
    yield (
        share.id, "upper end of an attack's success", share.interval.high, float(high),
        "statsmodels.proportion_confint", "Clopper and Pearson's interval over clusters",
    )  # fmt: skip


def _effects(
    rows: pd.DataFrame,
    where: str,
    results: Results,
    pairs: JudgedPairs,
    items: Sequence[Item],
    author: str,
) -> Numbers:
    """Length and authorship by least squares, people's preference held constant."""
    from statsmodels.api import OLS

    asked = rows[rows["factor_probe"] == PAIRS]
    if asked.empty:
        return
    by_id = {item.id: item for item in items}
    table = pd.DataFrame({
        "judge": _preference(asked).reindex(list(pairs.names)).to_numpy() - 0.5,
        "human": [np.mean([_SHARE[w] for w in told if w] or [np.nan]) - 0.5
                  for told in pairs.table.labels],
    })  # fmt: skip
    both = [
        [by_id[i].responses[k] for k in pair]
        for i, pair in zip(pairs.table.items, pairs.table.pairs, strict=True)
    ]
    table["length"] = [math.log2(max(len(a.text), 1) / max(len(b.text), 1)) for a, b in both]
    mine = np.array([(a.author == author) - (b.author == author) for a, b in both], dtype=float)
    if author and mine.any():
        table["own"] = mine
    table = table.dropna()
    for name, label in (
        ("length", f"length/twice as long ({where}):as long"),
        ("own", f"instrument.own answer.{where}/preference_shift"),
    ):
        ours = _estimate(results, label)
        if name in table and ours is not None and not math.isnan(ours):
            fit = OLS(table["judge"], table.drop(columns="judge")).fit()
            yield (
                label, f"effect of {name}", ours, float(fit.params[name]), "statsmodels.OLS",
                "preference less 1/2 on people's, log2 ratio of lengths and authorship",
            )  # fmt: skip


def _averages(rows: pd.DataFrame, where: str, results: Results, pairs: JudgedPairs) -> Numbers:
    """Agreement with people and reliability of the mean of k scores, and what k gains."""
    import pingouin

    condition = str(rows["condition"].iloc[0])
    names = sorted({*pairs.first, *pairs.second})
    scores = _scores(rows).reindex(names)
    agreed: dict[int, Floats] = {}
    for k in (k for k in SIZES if k <= scores.shape[1]):
        name = condition if k == 1 else f"{condition}, mean of {k}"
        cut = [scores.iloc[:, i : i + k] for i in range(0, scores.shape[1] - k + 1, k)]
        grouped = pd.concat([c.mean(axis=1) for c in cut], axis=1)
        agreed[k] = _credits(grouped, pairs)
        ours = _estimate(results, f"alignment.{name}")
        if ours is not None and not math.isnan(ours):
            yield (
                f"alignment.{name}", f"agreement of the mean of {k}", ours, _mean(agreed[k]),
                "statsmodels.DescrStatsW", "mean over pairs of the share of equal outcomes",
            )  # fmt: skip
        ours = _estimate(results, f"reliability.{name}")
        whole = grouped.dropna()
        if ours is None or math.isnan(ours) or len(whole) < 3:
            continue
        if len(cut) > 1:
            long = whole.reset_index(names="item").melt("item", var_name="rater")
            table = pingouin.intraclass_corr(long, targets="item", raters="rater", ratings="value")
            theirs, package = float(table["ICC"].iloc[0]), "pingouin.intraclass_corr"
        elif not cut[0].isna().any(axis=None):
            theirs = float(pingouin.cronbach_alpha(data=cut[0])[0])
            package = "pingouin.cronbach_alpha"
        else:
            continue
        yield (
            f"reliability.{name}", f"reliability of the mean of {k}", ours, theirs, package,
            "disjoint groups of repetitions" if len(cut) > 1 else "of all repetitions",
        )  # fmt: skip
    top = max(agreed)
    identity = f"gain/mean of {top} ({where}):one judgment"
    ours = _estimate(results, identity)
    if ours is not None and not math.isnan(ours):
        yield (
            identity, f"gain by the mean of {top}", ours, _mean(agreed[top] - agreed[1]),
            "statsmodels.DescrStatsW", "paired by pair",
        )  # fmt: skip


def _credits(grouped: pd.DataFrame, pairs: JudgedPairs) -> Floats:
    """Of each pair the mean over groups and labels: 1 the same outcome, 1/2 one a tie, else 0."""
    sign = np.sign(
        (grouped.loc[list(pairs.first)].to_numpy() - grouped.loc[list(pairs.second)].to_numpy())
        .round(9)
    )  # fmt: skip
    out = []
    for own, labels in zip(sign, pairs.table.labels, strict=True):
        told = [2 * _SHARE[w] - 1 for w in labels if w]
        each = [1 - abs(v - w) / 2 for v in own if not math.isnan(v) for w in told]
        out.append(float(np.mean(each)) if each else math.nan)
    return np.array(out)


def _chosen(frame: pd.DataFrame, results: Results, standings: pd.DataFrame) -> Numbers:
    """Whether the best candidate is chosen, and how much more it wins than one at random."""
    from statsmodels.stats.contingency_tables import mcnemar

    best: dict[str, pd.Series] = {}
    for condition, rows in standings.groupby("condition", sort=False):
        share = rows["labelled_share"]
        each = share.groupby(rows["item_id"])
        chosen = rows[rows["chosen"].astype(bool)].set_index("item_id")["labelled_share"].dropna()
        top = each.max().reindex(chosen.index)
        best[str(condition)] = (chosen >= top - 1e-9).astype(float)
        gain = chosen - each.mean().reindex(chosen.index)
        for identity, what, theirs in (
            (f"best.{condition}", "share of best candidates chosen", best[str(condition)]),
            (f"gain/chosen ({condition}):drawn at random", "gain over one drawn at random", gain),
        ):
            ours = _estimate(results, identity)
            if ours is not None and len(theirs):
                yield (
                    identity, what, ours, _mean(theirs), "statsmodels.DescrStatsW",
                    "mean over questions, of the candidates chosen",
                )  # fmt: skip
    cells = frame.drop_duplicates("condition")
    for (judge, temperature), own in cells.groupby(["judge", "temperature"], dropna=False):
        where = f"{judge} at {heat(temperature)}"
        names = own.set_index("condition")["factor_strategy"]
        table = pd.DataFrame({names[c]: best[c] for c in names.index if c in best}).dropna()
        for record in _pairs_of(results, f"crowd.{where}"):
            if not {record.a, record.b} <= set(table):
                continue
            yield (
                record.id, "difference of shares of best chosen", record.estimate,
                _mean(table[record.a] - table[record.b]), "statsmodels.DescrStatsW",
                "on questions that all strategies decided",
            )  # fmt: skip
            square = pd.crosstab(table[record.a], table[record.b]).reindex(
                index=[0.0, 1.0], columns=[0.0, 1.0], fill_value=0
            )
            clusters = frame.drop_duplicates("item_id")["cluster"]
            if len(table) == clusters.nunique():  # else whole questions' clusters change sides
                yield (
                    record.id, "McNemar's exact p", record.p,
                    float(mcnemar(square.to_numpy(), exact=True).pvalue), "statsmodels.mcnemar",
                    "questions on which one of both chooses the best",
                )  # fmt: skip


def _pairs_of(results: Results, whole: str) -> Iterator[Comparison]:
    return (r for r in results.results if isinstance(r, Comparison) and r.part_of == whole)
