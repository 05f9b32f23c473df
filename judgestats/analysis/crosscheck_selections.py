"""Selections, verdicts and changes between runs, recomputed by scipy, statsmodels and pingouin.

What each package gets is drawn from the judgments anew, not from the analysis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from judgestats.analysis.crosscheck_blocks import Numbers, f_of_blocks
from judgestats.data.request_fields import heat
from judgestats.protocols.probes import PAIRS
from judgestats.results import AnyRecord, Comparison, Estimate, Results, Test

_SIGNS = 12
"""Clusters up to which scipy lists every change of signs (4,096)."""


def selection_numbers(
    frame: pd.DataFrame, results: Results, gold: Mapping[str, str] | None = None
) -> Numbers:
    """Primary numbers of what is chosen, called correct, or judged again.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments, or of a drift those of both runs.
    results : Results
    gold : mapping of pair to label, optional
        The labels of pairs by name, where there are any.

    Yields
    ------
    tuple
        Shares called correct, Fleiss' kappa and vote-share reliability of repetitions, signed
        ranks with their exact p over clusters, Friedman's and Page's statistics of disagreement,
        Grade Scores and the chi-squared of positions, exact sign tests of the first place,
        Cochran's Q, differences between wordings, and changes between two runs.
    """
    frame = frame[frame["status"] != "invalid_condition"]
    of = {str(c): own for c, own in frame.groupby("condition", sort=False)}
    named = {h.rests_on[0]: h.about.conditions for h in results.headlines if h.rests_on}
    for h in results.headlines:
        named |= {r: h.about.conditions for r in h.rests_on if r not in named}
    for name, own in of.items():  # a leaning to a place is of the pairs as they are
        if own["order"].isin(["ab", "ba"]).all() and _as_it_is(own):
            where = f"{own['judge'].iloc[0]} at {heat(own['temperature'].iloc[0])}"
            named.setdefault(f"position.{where}", (name,))
    for record in results.results:
        about = record.about.conditions or named.get(record.id, ())
        if not set(about) <= set(of):  # a drift calls its runs the first and the second
            about = tuple(c.removeprefix("first: ").removeprefix("second: ") for c in about)
        for numbers in (_conditions, _ranks, _grades, _places, _wordings, _runs):
            yield from numbers(record, about, of)
    yield from _temperatures(frame, results)
    yield from _strategies(frame, results, gold or {})


def _as_it_is(own: pd.DataFrame) -> bool:
    return "factor_probe" not in own or bool(own["factor_probe"].eq(PAIRS).all())


def _conditions(record: AnyRecord, _: Sequence[str], of: Mapping[str, pd.DataFrame]) -> Numbers:
    """Of one condition, which the record's id ends with."""
    from statsmodels.stats.inter_rater import fleiss_kappa
    from statsmodels.stats.weightstats import DescrStatsW

    if not isinstance(record, Estimate):
        return
    for kind in ("accuracy", "reliability.one", "repetition.kappa.one"):
        own = of.get(record.id.removeprefix(f"{kind}."))
        if own is None or "choice" not in own or not record.id.startswith(f"{kind}."):
            continue
        read = own[own["choice"] != ""]
        if kind == "accuracy" and set(read["choice"]) <= {"correct", "incorrect"} and len(read):
            yield (
                record.id, "share called correct", record.estimate,
                float(DescrStatsW((read["choice"] == "correct").astype(float)).mean),
                "statsmodels.DescrStatsW", "mean over verdicts that were read",
            )  # fmt: skip
        read = _chosen(own)
        counts = pd.crosstab(read["item_id"], read["choice"])
        r = counts.sum(axis=1)
        if kind == "accuracy" or len(read) < len(own) or len(set(r)) != 1 or r.iloc[0] < 2:
            continue
        if kind == "repetition.kappa.one":
            yield (
                record.id, "Fleiss' kappa of repetitions", record.estimate,
                float(fleiss_kappa(counts.to_numpy())), "statsmodels.fleiss_kappa",
                "repetitions as raters",
            )  # fmt: skip
        else:
            yield (
                record.id, "vote-share reliability", record.estimate, _vote_shares(read),
                "statsmodels.anova_lm",
                "variance between items over all variance, summed over indicators of options",
            )  # fmt: skip


def _chosen(own: pd.DataFrame) -> pd.DataFrame:
    """What was read; letters stand for options that were shown in an order drawn for each item."""
    if "position" in own and (own["position"] != "").any():
        own = own.assign(choice=own["position"])
    return own[own["choice"] != ""]


def _vote_shares(read: pd.DataFrame) -> float:
    """From a one-way analysis of variance of every option's indicator."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    r = len(read) / read["item_id"].nunique()
    between = within = 0.0
    for option in read["choice"].unique():
        long = pd.DataFrame({"hit": (read["choice"] == option) * 1.0, "item": read["item_id"]})
        squares = anova_lm(ols("hit ~ C(item)", long).fit())["mean_sq"]
        between += (squares.iloc[0] - squares.iloc[1]) / r
        within += squares.iloc[1]
    return float(between / (between + within)) if between + within else math.nan


def _ranks(record: AnyRecord, about: Sequence[str], of: Mapping[str, pd.DataFrame]) -> Numbers:
    """Signed ranks of items: shares called correct, or Grade Scores above chance."""
    if not (isinstance(record, Test) and record.test == "wilcoxon_signed_rank"):
        return
    if len(about) != 2 or not set(about) <= set(of) or "choice" not in of[about[0]]:
        return
    first, second = (of[c] for c in about)
    value: Callable[[pd.DataFrame], pd.Series]
    if "position" in first and first["order"].str.contains("/").all():
        what, value = "Grade Scores above chance", _grade_of_items(corrected=True)
    elif {"correct", "incorrect"} >= set(first["choice"]) - {""} != set():
        what, value = "shares called correct", _correct_of_items
    else:
        return
    both = pd.DataFrame({"a": value(first), "b": value(second)}).dropna()
    yield from _signed_ranks(record, both["a"] - both["b"], what, _clusters(first))


def _signed_ranks(record: Test, gap: pd.Series, what: str, cluster: pd.Series) -> Numbers:
    """Of differences by item: the statistic, and its p over sign changes of whole clusters."""
    from scipy import stats

    gap = gap.round(12)
    theirs = stats.wilcoxon(gap, zero_method="pratt", alternative="greater").statistic
    yield (
        record.id, "signed-rank statistic V", record.statistic.value, float(theirs),
        "scipy.stats.wilcoxon", f"of {what} by item; zeros ranked and left out",
    )  # fmt: skip
    ranks = np.sign(gap) * stats.rankdata(np.abs(gap))
    sums = ranks.groupby(cluster.reindex(gap.index)).sum().to_numpy(float)
    if 2 < len(sums) <= _SIGNS:
        signs = stats.permutation_test(
            (sums,), np.sum, permutation_type="samples", n_resamples=2**_SIGNS
        )
        yield (
            record.id, "p of signed ranks", record.p, float(signs.pvalue),
            "scipy.stats.permutation_test", "exact over sign changes of whole clusters",
        )  # fmt: skip


def _clusters(own: pd.DataFrame) -> pd.Series:
    return own.drop_duplicates("item_id").set_index("item_id")["cluster"]


def _correct_of_items(own: pd.DataFrame) -> pd.Series:
    read = own[own["choice"] != ""]
    return (read["choice"] == "correct").astype(float).groupby(read["item_id"]).mean()


def _complete(own: pd.DataFrame) -> Iterator[tuple[tuple[Hashable, ...], pd.DataFrame, int]]:
    """Every item and replicate whose rotations were all read, with the number of options."""
    for key, rows in own.groupby(["item_id", "replicate"], sort=False):
        n = int(rows["order"].iloc[0].partition("/")[2])
        if len(rows) == n and (rows["position"] != "").all():
            yield tuple(key), rows, n


def _grade(rows: pd.DataFrame, n: int) -> float:
    """Harmonic mean of the entropy of positions and the share of the modal option."""
    from scipy import stats

    spread = stats.entropy(rows["position"].value_counts(), base=2) / math.log2(n)
    # An option is known by its place in the first rotation.
    turned = rows["order"].str.partition("/")[0].astype(int) - 1
    option = (rows["position"].astype(int) - 1 + turned) % n
    return float(stats.hmean([spread, option.value_counts(normalize=True).max()]))


def _grade_of_items(*, corrected: bool) -> Callable[[pd.DataFrame], pd.Series]:
    """Mean Grade Score of each item's complete replicates, perhaps above chance."""
    from judgestats.stats.agreement.grade_score import chance_grade_score

    def scored(own: pd.DataFrame) -> pd.Series:
        keys, values = [], []
        for (item, _), rows, n in _complete(own):
            chance = chance_grade_score(n) if corrected else 0.0
            keys.append(item)
            values.append((_grade(rows, n) - chance) / (1 - chance))
        return pd.Series(values, index=keys, dtype=float).groupby(level=0, sort=False).mean()

    return scored


def _grades(record: AnyRecord, _: Sequence[str], of: Mapping[str, pd.DataFrame]) -> Numbers:
    from scipy import stats

    own = of.get(record.id.partition(".")[2])
    if own is None or "position" not in own or not own["order"].str.contains("/").all():
        return
    if isinstance(record, Estimate) and record.id.startswith("grade."):
        scores = [_grade(rows, n) for _, rows, n in _complete(own)]
        if scores:
            yield (
                record.id, "Grade Score", record.estimate, float(np.mean(scores)),
                "scipy.stats.entropy and hmean",
                "of each item and replicate whose rotations were all read",
            )  # fmt: skip
    if isinstance(record, Test) and record.test == "position_test":
        orders = own["order"].str.partition("/")[2].astype(int)
        counts = own["position"][own["position"] != ""].astype(int).value_counts()
        if len(set(orders)) == 1 and len(counts):
            whole = counts.reindex(range(1, int(orders.iloc[0]) + 1), fill_value=0)
            yield (
                record.id, "chi-squared of positions", record.statistic.value,
                float(stats.chisquare(whole).statistic), "scipy.stats.chisquare",
                "every position expected equally often",
            )  # fmt: skip


def _places(record: AnyRecord, about: Sequence[str], of: Mapping[str, pd.DataFrame]) -> Numbers:
    """Which place verdicts follow: exact sign test over clusters."""
    from scipy import stats

    if not isinstance(record, Test):
        return
    own = next((of[c] for c in about if c in of and of[c]["order"].isin(["ab", "ba"]).all()), None)
    if own is None or record.test != "first_position_preference":
        return
    read = own[own["choice"] != ""]
    first = read["choice"].eq("a") == read["order"].eq("ab")
    lean = (first * 2.0 - 1).where(read["choice"] != "tie", 0.0)
    sides = lean.groupby([read["item_id"], read["order"]]).mean().unstack().dropna()
    if sides.shape[1] < 2:
        return
    item = sides.mean(axis=1)
    cluster = _clusters(own).reindex(item.index)
    sums = item.groupby(cluster).sum().round(12)
    moved = int((sums != 0).sum())
    if moved:
        yield (
            record.id, "p of leaning to a place", record.p,
            float(stats.binomtest(int((sums > 0).sum()), moved).pvalue), "scipy.stats.binomtest",
            "clusters that lean to the first place, of those that lean",
        )  # fmt: skip


def _wordings(record: AnyRecord, about: Sequence[str], of: Mapping[str, pd.DataFrame]) -> Numbers:
    """F of wordings within items, over the variance of repetitions."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    if not (isinstance(record, Test) and record.test == "prompt_sensitivity"):
        return
    if not about or not set(about) <= set(of):
        return
    long = pd.concat([of[c] for c in about])
    cells = long.groupby(["item_id", "condition"])["score"].count()
    complete = len(cells) == long["item_id"].nunique() * len(about) and len(set(cells)) == 1
    if not complete or cells.iloc[0] < 2 or not record.statistic.value > 0:
        return
    squares = anova_lm(ols("score ~ C(item_id) + C(item_id):C(condition)", long).fit())["mean_sq"]
    yield (
        record.id, "F of wordings within items", record.statistic.value,
        float(squares.iloc[1] / squares.iloc[2]), "statsmodels.anova_lm",
        "wordings and their interaction with items, over repetitions",
    )  # fmt: skip


def _runs(record: AnyRecord, about: Sequence[str], of: Mapping[str, pd.DataFrame]) -> Numbers:
    """Changes between two runs of a judge."""
    from statsmodels.stats.weightstats import DescrStatsW

    if not isinstance(record, Test) or len(about) != 2:
        return
    if not set(about) <= set(of):
        return
    first, second = (_cells(of[c]) for c in about)
    second = second.reindex(first.index)
    scored = "score" in of[about[0]] and of[about[0]]["score"].notna().any()
    if record.id.startswith("shift.") and scored:
        gap = second.astype(float).mean(axis=1) - first.astype(float).mean(axis=1)
        yield (
            record.id, "change of the mean score", record.statistic.value,
            float(DescrStatsW(gap.dropna()).mean), "statsmodels.DescrStatsW",
            "mean over items of second less first",
        )  # fmt: skip
    if first.isna().any(axis=None) or second.isna().any(axis=None):
        return
    if record.id.startswith("flips."):
        yield (
            record.id, "change of verdicts beyond repetition", record.statistic.value,
            _apart(first, second), "scipy.spatial.distance.cdist and pdist",
            "Hamming distance between the runs' repetitions less that within runs",
        )  # fmt: skip
    if record.test == "spread_blocked_f" and record.statistic.value > 0:
        tables = [t.to_numpy(float) for t in (second, first)]
        far = [np.abs(x - x.mean(axis=1, keepdims=True)).mean(axis=1) for x in tables]
        clusters = _clusters(of[about[0]]).reindex(first.index.get_level_values("item_id"))
        yield (
            record.id, "F of spread within items", record.statistic.value,
            f_of_blocks(np.column_stack(far), clusters.to_numpy(object)), "statsmodels.AnovaRM",
            "each question's mean of its items' mean distances",
        )  # fmt: skip


def _cells(own: pd.DataFrame) -> pd.DataFrame:
    """What a run said: (item, order) x repetitions."""
    column = "score" if "score" in own and own["score"].notna().any() else "choice"
    read = own.assign(verdict_read=own[column].where(own["status"] == "ok"))
    return read.pivot(index=["item_id", "order"], columns="replicate", values="verdict_read")


def _apart(first: pd.DataFrame, second: pd.DataFrame) -> float:
    from scipy.spatial.distance import cdist, pdist

    codes = pd.factorize(np.concatenate([first.to_numpy().ravel(), second.to_numpy().ravel()]))[0]
    one = codes[: first.size].reshape(first.shape).T
    two = codes[first.size :].reshape(second.shape).T
    within = [float(pdist(x, "hamming").mean()) for x in (one, two) if len(x) > 1]
    return float(cdist(one, two, "hamming").mean()) - (float(np.mean(within)) if within else 0.0)


def _temperatures(frame: pd.DataFrame, results: Results) -> Numbers:
    """Friedman's and Page's statistics of the disagreement of repeated choices."""
    from scipy import stats

    for record in results.results:
        if not isinstance(record, Test) or record.test not in {"friedman_test", "page_trend_test"}:
            continue
        for judge, own in frame[frame["temperature"] > 0].groupby("judge", sort=False):
            if record.id not in {f"temperature.{judge}", f"temperature.rise.{judge}"}:
                continue
            columns = {}
            for degree, asked in _chosen(own).groupby("temperature"):
                counts = pd.crosstab(asked["item_id"], asked["choice"])
                n = counts.sum(axis=1)
                pairs = (counts * (counts - 1)).sum(axis=1)
                columns[degree] = (1 - pairs / (n * (n - 1))).where(n > 1)
            table = pd.DataFrame(columns).dropna().round(12)
            if table.shape[1] < 3 or len(table) < 3:
                continue
            if record.test == "friedman_test":
                theirs = stats.friedmanchisquare(*table.to_numpy().T).statistic
                what, package = "Friedman's chi-squared", "scipy.stats.friedmanchisquare"
            else:
                theirs = stats.page_trend_test(table.to_numpy()).statistic
                what, package = "Page's L", "scipy.stats.page_trend_test"
            yield (
                record.id, what, record.statistic.value, float(theirs), package,
                "share of each item's pairs of repetitions that differ",
            )  # fmt: skip


def _strategies(frame: pd.DataFrame, results: Results, gold: Mapping[str, str]) -> Numbers:
    """Cochran's Q of right verdicts, and differences of the share right."""
    from statsmodels.stats.contingency_tables import cochrans_q
    from statsmodels.stats.weightstats import DescrStatsW

    if "factor_strategy" not in frame or "stage" not in frame:
        return
    rows = frame[(frame["stage"] == "final") & frame["item_id"].isin(list(gold))]
    right = (rows["choice"] == rows["item_id"].map(dict(gold))).astype(float)
    rows = rows.assign(right=right.where(rows["choice"] != ""))
    pairs = [r for r in results.results if isinstance(r, Comparison)]
    for judge, own in rows.groupby("judge", sort=False):
        if len(own["temperature"].drop_duplicates()) > 1:
            continue
        wide = own.pivot(
            index=["item_id", "order", "replicate"], columns="factor_strategy", values="right"
        )
        for record in results.results:
            if isinstance(record, Test) and record.id == f"strategies.{judge}":
                names = list(dict.fromkeys(
                    n for p in pairs if p.part_of == f"strategies.pairs.{judge}"
                    for n in (p.a, p.b)
                ))  # fmt: skip
                table = wide[names].dropna() if set(names) <= set(wide) else wide[:0]
                if len(table) and len(names) > 1 and record.statistic.value > 0:
                    yield (
                        record.id, "Cochran's Q", record.statistic.value,
                        float(cochrans_q(table.to_numpy(float), return_object=True).statistic),
                        "statsmodels.cochrans_q", "every verdict of a pair, order and repetition",
                    )  # fmt: skip
        by_pair = own.pivot_table(index="item_id", columns="factor_strategy", values="right")
        for pair in pairs:
            if pair.part_of == f"gain.{judge}" and {pair.a, pair.b} <= set(by_pair):
                gap = (by_pair[pair.a] - by_pair[pair.b]).dropna()
                yield (
                    pair.id, "difference of shares right", pair.estimate,
                    float(DescrStatsW(gap).mean), "statsmodels.DescrStatsW",
                    "mean over pairs of the difference of their shares",
                )  # fmt: skip
