"""Cross-check of a run: its headline numbers recomputed by independent packages.

Every row of `CHECKS` takes one quantity's numbers from the records. It prepares the data of another
package from the judgments themselves, and calls that package. Packages are imported by the
calls only. They want complete tables: a record whose data are incomplete has no row.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module, metadata
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from judgestats.analysis.conversion import table_record
from judgestats.arrays import Floats
from judgestats.data.parse import final_rows
from judgestats.results import AnyRecord, Comparison, Estimate, Note, Results, Test
from judgestats.stats.inference.keywords import one_blas_thread

CROSSCHECK = "crosscheck"
"""Id of the record that holds the table, and name of its file."""
_MOST_BLOCKED = 300
"""Cells of a repeated-measures design, whose matrix grows with their square."""


@dataclass(frozen=True)
class RunData:
    """The judgments of a run, arranged as other packages take them.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.
    results : Results
    standings : DataFrame, optional
        Every candidate with its labelled share and whether it was chosen.
    tables : dict
        What `table` made so far.
    """

    frame: pd.DataFrame
    results: Results
    standings: pd.DataFrame | None = None
    tables: dict[tuple[str, str], pd.DataFrame] = field(default_factory=dict)

    @cached_property
    def rows(self) -> dict[str, pd.DataFrame]:
        """The judgments of every condition."""
        frame = self.frame[self.frame["status"] != "invalid_condition"]
        frame = final_rows(frame)
        return {str(name): own for name, own in frame.groupby("condition", sort=False)}

    @cached_property
    def _headlines(self) -> dict[str, tuple[str, ...]]:
        """The conditions of records that name none, by the headline that rests on them."""
        pairs = ((r, h.about.conditions) for h in self.results.headlines for r in h.rests_on)
        return {record: conditions for record, conditions in pairs if conditions}

    def conditions(self, record: AnyRecord) -> tuple[str, ...]:
        """The conditions a record is about, by the names of the judgments."""
        own = record.about.conditions or self._headlines.get(record.id, ())
        if isinstance(record, Comparison) and len(own) != 2:
            own = (record.a, record.b)
        if not own and isinstance(record, Estimate):
            own = tuple(c for c in self.rows if record.id.endswith(f".{c}"))
        if isinstance(record, Test) and len(own) < 2:
            of = f"spread.{record.id.partition('.')[2]}"
            groups = (self.results.get(of, Test) if of in self.results else record).groups
            own = tuple(name.removeprefix("mean rank ") for name in groups)
        return own if set(own) <= set(self.rows) else ()

    def clusters(self, condition: str, index: pd.Index) -> pd.Series:
        """The cluster of each (item, order)."""
        own = self.rows[condition].drop_duplicates("item_id").set_index("item_id")["cluster"]
        return own.reindex(index.get_level_values("item_id")).set_axis(index)

    def table(self, condition: str, column: str = "score") -> pd.DataFrame:
        """(Item, order) x repeats; repeats in which nothing was read are left out."""
        own, kept = self.rows[condition], self.tables
        if column in own and (condition, column) not in kept:
            read = own[column].where((own["status"] == "ok") & (own[column].astype(str) != ""))
            keys = ["item_id", "order"]
            wide = own.assign(read=read).pivot(index=keys, columns="replicate", values="read")
            kept[condition, column] = wide.dropna(axis="columns", how="all")
        return kept.get((condition, column), pd.DataFrame())

    def equal_clusters(self, condition: str, index: pd.Index) -> Any:
        """Codes of the clusters; None where there are fewer than three, or of unequal size."""
        clusters = self.clusters(condition, index)
        sizes = clusters.value_counts()
        return pd.factorize(clusters)[0] if len(sizes) > 2 and np.ptp(sizes) == 0 else None

    def distances(self, names: Sequence[str]) -> pd.DataFrame:
        """Mean distance of each item's scores from their mean, items x conditions.

        Empty where scores are incomplete, or there are fewer than two conditions.
        """
        tables = {name: self.table(name).astype(float) for name in names}
        lacking = [t for t in tables.values() if t.shape[1] < 2 or t.isna().any(axis=None)]
        if len(names) < 2 or lacking:
            return pd.DataFrame()
        return pd.DataFrame(
            {n: t.sub(t.mean(axis=1), axis=0).abs().mean(axis=1) for n, t in tables.items()}
        ).dropna()

    def best(self, judge: str) -> pd.DataFrame:
        """Whether each strategy of a judge chooses the best answer, questions x strategies.

        Empty where questions are not the clusters: whole clusters change sides there.
        """
        own = pd.concat(own for own in self.rows.values() if own["judge"].iloc[0] == judge)
        if self.standings is None or "factor_strategy" not in own or np.ptp(own["temperature"]) > 0:
            return pd.DataFrame()
        names = own.drop_duplicates("condition").set_index("condition")["factor_strategy"]
        made = self.standings.assign(strategy=self.standings["condition"].map(names))
        top = made.groupby(["condition", "item_id"])["labelled_share"].transform("max")
        made = made.assign(best=made["labelled_share"] >= top - 1e-9)
        made = made[made["chosen"].astype(bool)].dropna(subset=["strategy", "labelled_share"])
        wide = made.pivot(index="item_id", columns="strategy", values="best")
        return wide if len(wide) == len(own["cluster"].unique()) else pd.DataFrame()


class Check(NamedTuple):
    """One quantity that another package computes too.

    `records` matches a record's id and test, `number` names our number in it. `call` is
    ``module:function`` of `package`, or a function that calls it. `arguments` returns the arguments
    for a record and its conditions, or None if there is nothing to compare. `value` extracts the
    number from the return value. A difference is relative for numbers above 1.
    """

    quantity: str
    package: str
    records: str
    number: Literal["estimate", "statistic", "p", "low", "high"]
    call: str | Callable[..., Any]
    arguments: Callable[[Any, tuple[str, ...], RunData], tuple[Any, ...] | None]
    value: Callable[[Any], Any] = float
    tolerance: float = 1e-6


class Recomputed(NamedTuple):
    """One number, computed twice; `reason` says why the other package has none."""

    quantity: str
    condition: str
    ours: float
    theirs: float
    package: str
    tolerance: float
    result: str
    reason: str = ""

    @property
    def difference(self) -> float:
        """Theirs minus ours."""
        return self.theirs - self.ours

    @property
    def agrees(self) -> bool:
        """Whether the numbers are the same within the tolerance, or one was not computed."""
        if self.reason or (math.isnan(self.ours) and math.isnan(self.theirs)):
            return True
        return bool(abs(self.difference) <= self.tolerance * max(1.0, abs(self.ours)))


def crosscheck(
    frame: pd.DataFrame,
    results: Results,
    *,
    standings: pd.DataFrame | None = None,
    checks: Sequence[Check] | None = None,
) -> tuple[Recomputed, ...]:
    """Recompute the numbers of a run that other packages can compute.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments of the run.
    results : Results
        Its records.
    standings : DataFrame, optional
        ``chosen/standings.csv`` of a run that chooses answers.
    checks : sequence of Check, optional
        Default: `CHECKS`.

    Returns
    -------
    tuple of Recomputed
        A package that is missing or raises gives a row with the reason.
    """
    data = RunData(frame, results, standings)
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")  # theirs, on data that are checked before
        return tuple(
            row
            for check in (CHECKS if checks is None else checks)
            for record in results.results
            if re.fullmatch(check.records, f"{record.id} {getattr(record, 'test', '')}".strip())
            for row in _recompute(check, record, data)
        )


def _recompute(check: Check, record: AnyRecord, data: RunData) -> Iterator[Recomputed]:
    names, ours = data.conditions(record), _number(record, check.number)
    if math.isnan(ours):
        return
    theirs, reason, package = math.nan, "", check.package
    try:
        arguments = check.arguments(record, names, data)
        if arguments is None:
            return
        package = f"{package} {metadata.version(package)}"
        theirs = float(check.value(_function(check.call)(*arguments)))
    except Exception as error:  # a fault of another package, or of its data, ends no run
        reason = f"{type(error).__name__}: {error}"
    yield Recomputed(
        check.quantity, "; ".join(names), ours, theirs, package, check.tolerance, record.id, reason
    )


def _number(record: AnyRecord, name: str) -> float:
    """A number of a record; NaN where it has none of this name."""
    holder = getattr(record, "interval", None) if name in {"low", "high"} else record
    found = getattr(holder, name, math.nan)
    return float(getattr(found, "value", found))


def _function(call: str | Callable[..., Any]) -> Callable[..., Any]:
    if not isinstance(call, str):
        return call
    module, _, name = call.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def crosscheck_table(rows: Sequence[Recomputed]) -> pd.DataFrame:
    """One row per number; those that differ first.

    Examples
    --------
    >>> one = Recomputed("ICC(1,1)", "m1", 0.5, 0.5, "pingouin 0.7.0", 1e-6, "icc")
    >>> crosscheck_table([one])[["ours", "theirs", "difference"]].values.tolist()
    [[0.5, 0.5, 0.0]]
    """
    columns = ("quantity", "condition", "ours", "theirs", "package", "difference", "tolerance")
    return pd.DataFrame(
        [
            [*(getattr(row, name) for name in columns), row.agrees, row.result, row.reason]
            for row in sorted(rows, key=lambda r: r.agrees)
        ],
        columns=[*columns, "agrees", "result", "reason"],
    )


def with_crosscheck(results: Results, rows: Sequence[Recomputed]) -> Results:
    """The records with the table of the cross-check, and a blocker where numbers differ.

    Parameters
    ----------
    results : Results
    rows : sequence of Recomputed
        From `crosscheck`.

    Returns
    -------
    Results
    """
    if not rows:
        return results
    about = {"id": CROSSCHECK, "hypothesis": CROSSCHECK, "role": "descriptive"}
    table = table_record(crosscheck_table(rows), title="Cross-check by other packages", **about)
    differ = [row for row in rows if not row.agrees]
    notes = results.limitations
    if differ:
        first = differ[0]
        message = (
            f"{first.quantity} of {first.condition or 'the run'} is {first.ours:.6g} here and "
            f"{first.theirs:.6g} in {first.package}, so {len(differ)} of {len(rows)} recomputed "
            "numbers cannot be relied on. See tables/crosscheck.csv and report the difference."
        )
        short = f"another package finds other values for {len(differ)} of {len(rows)} numbers"
        notes = (
            Note(code=CROSSCHECK, message=message, severity="warning", values={"short": short}),
            *notes,
        )
    return replace(results, results=(*results.results, table), limitations=notes)


def _scores(_: Any, names: tuple[str, ...], data: RunData) -> tuple[pd.DataFrame] | None:
    """Complete scores of one condition, three items or more, items x repeats."""
    x = data.table(names[0]).astype(float).reset_index(drop=True) if names else pd.DataFrame()
    whole = len(x) > 2 and x.shape[1] > 1 and not x.isna().any(axis=None)
    return (x,) if whole and x.var(axis=1).any() else None


def _long_scores(record: Any, names: tuple[str, ...], data: RunData) -> tuple[Any, ...] | None:
    """The same in long form."""
    for x in _scores(record, names, data) or ():
        return x.reset_index(names="item").melt("item", var_name="rater"), "item", "rater", "value"
    return None


def _omega(scores: pd.DataFrame) -> float:
    """Omega from one factor's loadings by maximum likelihood, in score points."""
    from judgestats.stats.reliability.published_omega import factor_analysis

    x = scores.to_numpy()
    share = factor_analysis(np.corrcoef(x, rowvar=False), n_factors=1, method="ml")[0][:, 0]
    common = float((share * x.std(axis=0, ddof=1)).sum() ** 2)
    return common / (common + float(((1 - share**2) * x.var(axis=0, ddof=1)).sum()))


def _labelled(record: Any, names: tuple[str, ...], data: RunData) -> tuple[Any, ...] | None:
    """Verdicts x labels, one count per judgment that has a label."""
    own = data.rows[names[0]] if names else pd.DataFrame()
    if "label" not in own or ("score" in own and own["score"].notna().any()):
        return None
    if "table" not in record.details:  # weighted by how labels were drawn
        return None
    both = own[(own["choice"].astype(str) != "") & (own["label"].astype(str) != "")]
    words = sorted({*both["choice"], *both["label"]})
    square = pd.crosstab(both["choice"], both["label"])
    return (square.reindex(index=words, columns=words, fill_value=0).to_numpy(),)


def _repeated(_: Any, names: tuple[str, ...], data: RunData) -> tuple[Any, ...] | None:
    """Counts of verdicts, items x categories, where each item was judged equally often."""
    own = data.rows[names[0]] if names else pd.DataFrame()
    if "choice" not in own or len(own["order"].unique()) > 1:
        return None
    # Letters stand for options that were shown in an order drawn for each item.
    column = "position" if "position" in own and (own["position"] != "").any() else "choice"
    counts = pd.crosstab(own["item_id"], own[column].astype(str))
    return (counts.to_numpy(),) if "" not in counts and np.ptp(counts.sum(axis=1)) == 0 else None


def _shares(record: Any, names: tuple[str, ...], data: RunData) -> tuple[Any, ...] | None:
    """Shares of passes of items, and clusters of equal size."""
    verdicts = data.table(names[0], "choice") if len(names) == 1 else pd.DataFrame()
    passes = verdicts.isin(["pass", "correct"])
    read = passes | verdicts.isna() | verdicts.isin(["fail", "incorrect"])
    if verdicts.empty or not read.all(axis=None):
        return None
    share = passes.sum(axis=1) / verdicts.notna().sum(axis=1)
    codes = data.equal_clusters(names[0], share.dropna().index)
    return None if codes is None else (share.dropna().to_numpy(), codes, record.interval.level)


def _logit_limits(share: Floats, clusters: Floats, level: float) -> Floats:
    from scipy.special import expit
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.stats.proportion import proportion_confint

    if share.mean() in {0.0, 1.0}:
        n = int(clusters.max()) + 1
        return np.array(proportion_confint(n * share.mean(), n, 1 - level, method="beta"))
    model = GLM(share, np.ones(len(share)), family=Binomial())
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    return np.asarray(expit(fit.conf_int(alpha=1 - level)[0]))


def _gaps(record: Any, names: tuple[str, ...], data: RunData) -> tuple[pd.Series] | None:
    """Differences of item means of two conditions."""
    tables = [data.table(name) for name in names]
    baseline = getattr(record, "estimator", "") == "beyond an unchanged re-run"
    if len(tables) != 2 or any(table.empty for table in tables) or baseline:
        return None
    first, second = (table.astype(float).mean(axis=1) for table in tables)
    # A change between runs is second minus first; a comparison is a minus b.
    gap = (first - second if isinstance(record, Comparison) else second - first).dropna()
    return (gap,) if len(gap) > 2 else None


def _gaps_clustered(record: Any, names: tuple[str, ...], data: RunData) -> tuple[Any, ...] | None:
    """The same with clusters of equal size, where the interval holds no variation of runs."""
    if record.details.get("run_sd"):
        return None
    for gap in _gaps(record, names, data) or ():
        codes = data.equal_clusters(names[0], gap.index)
        if codes is not None and record.interval.method == "t over clusters" and np.ptp(gap) > 0:
            return gap.to_numpy(), codes, record.interval.level
    return None


def _low_of_mean(gap: Floats, clusters: Floats, level: float) -> float:
    from statsmodels.regression.linear_model import OLS

    model = OLS(gap, np.ones(len(gap)))
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    return float(fit.conf_int(alpha=1 - level)[0][0])


def _ranked(_: Any, names: tuple[str, ...], data: RunData) -> tuple[Any, ...] | None:
    """Distances of scores from their mean, in long form."""
    # Equal distances differ in their last bits, which are no rank.
    wide = data.distances(names).round(12).reset_index(drop=True).reset_index(names="item")
    long = wide.melt("item", var_name="condition")
    return (long, "value", "condition", "item") if len(wide) > 2 else None


def _signed(_: Any, names: tuple[str, ...], data: RunData) -> tuple[Any, ...] | None:
    """Differences of distances; zeros are ranked and left out."""
    cells = data.distances(names)
    gap = cells.diff(axis=1).iloc[:, -1].round(12) if len(cells) > 2 else cells
    return (gap, None, "pratt", False, "greater") if len(gap) else None


def _blocked(_: Any, names: tuple[str, ...], data: RunData) -> tuple[Any, ...] | None:
    """Means of clusters of distances, in long form."""
    cells = data.distances(names)
    if len(cells) < 3 or np.ptp(cells, axis=1).max() <= 1e-12:
        return None
    clusters = data.clusters(names[0], cells.index).to_numpy(dtype=str)
    wide = cells.groupby(clusters, sort=False).mean().rename_axis("block")
    long = wide.reset_index().melt("block", var_name="condition")
    return (long, "value", "block", ["condition"]) if len(long) <= _MOST_BLOCKED else None


def _paired_choices(record: Any, _: tuple[str, ...], data: RunData) -> tuple[Any, ...] | None:
    """2 x 2 counts of questions on which two strategies choose the best."""
    wide = data.best(record.part_of.removeprefix("crowd.").partition(" at ")[0])
    wide = wide.reindex(columns=[record.a, record.b])
    if wide.empty or wide.isna().any(axis=None):
        return None
    square = pd.crosstab(wide[record.a], wide[record.b])
    return (square.reindex(index=[False, True], columns=[False, True], fill_value=0),)


_SHIFT = r"shift\..*(:[^/]*|/change_of_scores)"
_PASSES = r"(verdicts\.pass_rate|accuracy)\..*"
CHECKS = (
    Check("ICC(1,1)", "pingouin", r"reliability\.icc1\..*", "estimate",
          "pingouin:intraclass_corr", _long_scores, lambda table: table["ICC"].iloc[0]),
    Check("Cronbach's alpha", "pingouin", r"reliability\.alpha\.[^/]*", "estimate",
          "pingouin:cronbach_alpha", _scores, lambda found: found[0]),
    Check("congeneric omega", "factor-analyzer", r"reliability\.omega_congeneric\.[^/]*",
          "estimate", _omega, _scores, tolerance=1e-3),
    Check("Cohen's kappa", "statsmodels", r"people\.kappa\..*", "estimate",
          "statsmodels.stats.inter_rater:cohens_kappa", _labelled, lambda found: found.kappa),
    Check("Fleiss' kappa", "statsmodels",
          r"(reliability\.fleiss_kappa|repetition\.kappa\.one)\..*", "estimate",
          "statsmodels.stats.inter_rater:fleiss_kappa", _repeated),
    Check("lower limit of the pass rate", "statsmodels", _PASSES, "low", _logit_limits, _shares,
          lambda limits: limits[0]),
    Check("upper limit of the pass rate", "statsmodels", _PASSES, "high", _logit_limits, _shares,
          lambda limits: limits[1]),
    Check("McNemar's exact p", "statsmodels", r"crowd\..*", "p",
          "statsmodels.stats.contingency_tables:mcnemar", _paired_choices, lambda t: t.pvalue),
    Check("signed-rank statistic", "scipy", r"ranks\..* wilcoxon_signed_rank", "statistic",
          "scipy.stats:wilcoxon", _signed, lambda found: found.statistic),
    Check("Friedman's statistic", "pingouin", r"ranks\..* friedman_test", "statistic",
          "pingouin:friedman", _ranked, lambda table: table["Q"].iloc[0]),
    Check("F of dispersion within items", "statsmodels",
          r"(spread|judges)\..* spread_blocked_f", "statistic", "statsmodels.stats.anova:AnovaRM",
          _blocked, lambda model: model.fit().anova_table["F Value"].iloc[0]),
    Check("mean difference", "statsmodels", _SHIFT, "estimate",
          "statsmodels.stats.weightstats:DescrStatsW", _gaps, lambda found: found.mean),
    Check("lower limit of a mean difference", "statsmodels", _SHIFT, "low", _low_of_mean,
          _gaps_clustered),
)  # fmt: skip
"""What is recomputed: the quantity, the package, our number, and how the package is called."""
