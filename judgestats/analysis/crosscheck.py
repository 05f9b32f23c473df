"""The primary numbers of a run recomputed by independent packages: ours, theirs, the difference.

A fault of either side shows on the user's own data. Packages want complete tables: a condition in
which every item has the same number of read judgments. Others are named as not compared.
"""

from __future__ import annotations

import gc
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import StringIO

import numpy as np
import pandas as pd

from judgestats.analysis.crosscheck_blocks import blocked_numbers, credit_numbers
from judgestats.analysis.crosscheck_labels import labelled_numbers
from judgestats.analysis.crosscheck_selections import selection_numbers
from judgestats.analysis.crowd_data import gold_labels
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.supplements import Rows
from judgestats.data.matrices import score_array
from judgestats.items.records import Item
from judgestats.results import Comparison, Estimate, Family, Results, Test
from judgestats.stats.inference.keywords import one_blas_thread

TOLERANCE = 1e-6
"""Of closed forms; a fit that iterates has its own."""
_FITTED = 1e-3
OPINIONS_FILE = "tables/second-opinion.csv"
"""Where a run keeps them."""


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """One number, computed twice.

    Attributes
    ----------
    result : str
        Id of our record.
    what : str
    ours, theirs : float
    package : str
        And its function.
    tolerance : float
        Of the difference, relative to numbers above 1.
    convention : str
        What both do alike, or how they differ.
    """

    result: str
    what: str
    ours: float
    theirs: float
    package: str
    tolerance: float = TOLERANCE
    convention: str = ""

    @property
    def difference(self) -> float:
        """Theirs less ours."""
        return self.theirs - self.ours

    @property
    def agrees(self) -> bool:
        """Whether both are the same number, or both undefined."""
        if math.isnan(self.ours) or math.isnan(self.theirs):
            return math.isnan(self.ours) and math.isnan(self.theirs)
        return abs(self.difference) <= self.tolerance * max(1.0, abs(self.ours))


def second_opinion(
    frame: pd.DataFrame,
    results: Results,
    *,
    items: Sequence[Item] = (),
    standings: pd.DataFrame | None = None,
    own: Mapping[str, str] | None = None,
) -> tuple[Opinion, ...]:
    """Recompute the records of a run that other packages can compute.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments of the run.
    results : Results
        Its records.
    items : sequence of Item, optional
        What was judged: labels, authors and texts are theirs.
    standings : DataFrame, optional
        ``chosen/standings.csv`` of a run that chooses answers.
    own : mapping of judge to author, optional
        As a run was given it, in place of the authors that bear a judge's name.

    Returns
    -------
    tuple of Opinion
        ICC(1,1) and Cronbach's alpha (pingouin), congeneric omega (factor_analyzer), the
        within-item variance (statsmodels' mixed model), the blocked F of spread and of agreement
        with people (statsmodels), Friedman's statistic over the spread of items (pingouin), signed
        ranks (scipy), differences of alignment scores (statsmodels), Fleiss' kappa (statsmodels),
        correlations with ratings (scipy), kappa with labels (statsmodels), Holm's adjustment
        of every family (statsmodels), and what `selection_numbers` and `labelled_numbers` list.
    """
    with warnings.catch_warnings(), one_blas_thread(), _few_objects_to_collect():
        warnings.simplefilter("ignore")  # theirs, on data that are checked above
        opinions = (
            *_scores(frame, results),
            *_verdicts(frame, results),
            *(_blocked(one) for one in credit_numbers(results)),
            *(_blocked(one) for one in selection_numbers(frame, results, gold_labels(items))),
            *(
                _blocked(one)
                for one in labelled_numbers(
                    frame, results, items=items, standings=standings, own=own
                )
            ),
            *_families(results),
        )
    # The spread of two runs is met as theirs and as that of two conditions.
    return tuple({(o.result, o.what): o for o in opinions}.values())


@contextmanager
def _few_objects_to_collect() -> Iterator[None]:
    """Spare what exists from garbage collection: multipletests collects at every call.

    With MLflow and pandas imported that took up to a second a family.
    """
    before = gc.get_freeze_count()
    gc.freeze()
    try:
        yield
    finally:
        if not before:  # what somebody else froze stays frozen
            gc.unfreeze()


def with_second_opinion(
    analysis: Analysis,
    frame: pd.DataFrame,
    *,
    items: Sequence[Item] = (),
    own: Mapping[str, str] | None = None,
) -> Analysis:
    """An analysis with its numbers recomputed, as a full report shows them.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        The parsed judgments that it is of.
    items, own
        As of `second_opinion`.

    Returns
    -------
    Analysis
        With the table among its records (``second_opinion``) and its files.
    """
    standings = analysis.files.get("chosen/standings.csv")
    opinions = second_opinion(
        frame, analysis.records(), items=items, own=own,
        standings=pd.read_csv(StringIO(standings)) if standings else None,
    )  # fmt: skip
    if not opinions:
        return analysis
    table = opinions_table(opinions)
    return replace(
        analysis,
        files={**analysis.files, OPINIONS_FILE: table.to_csv(index=False)},
        described=(
            *analysis.described,
            NamedResult(
                id="second_opinion", title="Numbers recomputed by other packages",
                role="descriptive", result=Rows(table=table),
            ),
        ),
    )  # fmt: skip


def opinions_table(opinions: tuple[Opinion, ...]) -> pd.DataFrame:
    """One row a number.

    Examples
    --------
    >>> one = Opinion(result="r", what="alpha", ours=0.5, theirs=0.5, package="p")
    >>> opinions_table((one,))[["ours", "theirs", "difference", "agrees"]].values.tolist()
    [[0.5, 0.5, 0.0, True]]
    """
    return pd.DataFrame(
        [
            {
                "result": o.result,
                "what": o.what,
                "ours": o.ours,
                "theirs": o.theirs,
                "difference": o.difference,
                "tolerance": o.tolerance,
                "agrees": o.agrees,
                "package": o.package,
                "convention": o.convention,
            }
            for o in opinions
        ]
    )


def disagreeing(opinions: tuple[Opinion, ...]) -> tuple[Opinion, ...]:
    """Those beyond their tolerance."""
    return tuple(o for o in opinions if not o.agrees)


def _ours(results: Results, result_id: str) -> float | None:
    if result_id not in results:
        return None
    record = results[result_id]
    return float(record.estimate) if isinstance(record, Estimate) else None


def _scores(frame: pd.DataFrame, results: Results) -> Iterator[Opinion]:
    if "score" not in frame or not frame["score"].notna().any():
        return
    array = score_array(frame)
    whole = {}
    for name in array.conditions:
        x = array.condition(name)
        x = x[:, np.isfinite(x).any(axis=0)]
        if len(x) < 3 or x.shape[1] < 2 or not np.isfinite(x).all():
            continue
        whole[name] = x
        if x.var(axis=1).any():
            yield from _of_table(name, x, results)
    yield from _ranks(whole, results)
    for one in blocked_numbers(whole, array.clusters, results):
        yield _blocked(one)


def _blocked(number: tuple[str, str, float, float, str, str]) -> Opinion:
    result, what, ours, theirs, package, convention = number
    return Opinion(
        result=result, what=what, ours=ours, theirs=theirs, package=package, convention=convention
    )


def _ranks(whole: Mapping[str, np.ndarray], results: Results) -> Iterator[Opinion]:
    """Friedman's statistic over each item's mean distance from its cell's mean."""
    import pingouin

    for record in results.results:
        if not (isinstance(record, Test) and record.test == "friedman_test"):
            continue
        named = record.about.conditions
        if not record.id.startswith("ranks.") or not named or not set(named) <= set(whole):
            continue
        cells = np.column_stack(
            [
                np.abs(x - x.mean(axis=1, keepdims=True)).mean(axis=1)
                for x in (whole[name] for name in named)
            ]
        )
        n, k = cells.shape
        long = pd.DataFrame(
            {
                "item": np.repeat(np.arange(n), k),
                "condition": np.tile(np.arange(k), n),
                # Equal spreads differ in their last bits, which are no rank.
                "spread": cells.ravel().round(12),
            }
        )
        table = pingouin.friedman(long, dv="spread", within="condition", subject="item")
        yield Opinion(
            result=record.id, what="Friedman's chi-squared", ours=float(record.statistic.value),
            theirs=float(table["Q"].iloc[0]), package="pingouin.friedman",
            convention="corrected for ties; each item's mean distance from its mean",
        )  # fmt: skip


def _of_table(name: str, x: np.ndarray, results: Results) -> Iterator[Opinion]:
    """Of complete scores, items x replications."""
    import pingouin
    from statsmodels.regression.mixed_linear_model import MixedLM

    n, r = x.shape
    long = pd.DataFrame(
        {"item": np.repeat(np.arange(n), r), "rater": np.tile(np.arange(r), n), "score": x.ravel()}
    )
    icc_id, alpha_id = f"reliability.icc1.{name}", f"reliability.alpha.{name}"
    ours = _ours(results, icc_id)
    if ours is not None:
        table = pingouin.intraclass_corr(long, targets="item", raters="rater", ratings="score")
        yield Opinion(
            result=icc_id, what="ICC(1,1)", ours=ours, theirs=float(table["ICC"].iloc[0]),
            package="pingouin.intraclass_corr", convention="one-way random effects",
        )  # fmt: skip
    ours = _ours(results, alpha_id)
    if ours is not None:
        theirs = float(pingouin.cronbach_alpha(data=pd.DataFrame(x))[0])
        yield Opinion(
            result=alpha_id, what="Cronbach's alpha", ours=ours, theirs=theirs,
            package="pingouin.cronbach_alpha",
        )  # fmt: skip
    congeneric_id = f"reliability.omega_congeneric.{name}"
    ours = _ours(results, congeneric_id)
    if ours is not None and not math.isnan(ours):  # ours refuses what theirs fits all the same
        yield Opinion(
            result=congeneric_id, what="congeneric omega", ours=ours, theirs=_congeneric(x),
            package="factor_analyzer.FactorAnalyzer", tolerance=_FITTED,
            convention="one factor by maximum likelihood, iterated; loadings in score points",
        )  # fmt: skip
    variance_id = f"condition.pooled_within_variance.{name}"
    ours = _ours(results, variance_id)
    between = x.mean(axis=1).var(ddof=1) > x.var(axis=1, ddof=1).mean() / r
    if ours is not None and between:
        fit = MixedLM(long["score"], np.ones((len(long), 1)), groups=long["item"]).fit(reml=True)
        yield Opinion(
            result=variance_id, what="within-item variance", ours=ours, theirs=float(fit.scale),
            package="statsmodels.MixedLM", tolerance=_FITTED,
            convention="REML with random items, iterated; ours is the mean square",
        )  # fmt: skip


def _congeneric(x: np.ndarray) -> float:
    """Omega from the loadings that factor_analyzer finds in the correlations of replications."""
    from judgestats.stats.reliability import published_omega as _factor_analyzer

    correlations = np.corrcoef(x, rowvar=False)
    loadings, _, _ = _factor_analyzer.factor_analysis(correlations, n_factors=1, method="ml")
    points = loadings[:, 0] * x.std(axis=0, ddof=1)
    own = (1 - loadings[:, 0] ** 2) * x.var(axis=0, ddof=1)
    return float(points.sum() ** 2 / (points.sum() ** 2 + own.sum()))


def _verdicts(frame: pd.DataFrame, results: Results) -> Iterator[Opinion]:
    from scipy import stats
    from statsmodels.stats import inter_rater

    for condition, own in frame.groupby("condition", sort=False):
        name = str(condition)
        read = own[own["choice"].astype(str) != ""] if "choice" in own else own[:0]
        ours = _ours(results, f"reliability.fleiss_kappa.{name}")
        if ours is not None and len(read) == len(own) and _alike(own["order"]):
            table = pd.crosstab(read["item_id"], read["choice"]).to_numpy()
            if len(set(table.sum(axis=1))) == 1:
                yield Opinion(
                    result=f"reliability.fleiss_kappa.{name}", what="Fleiss' kappa", ours=ours,
                    theirs=float(inter_rater.fleiss_kappa(table)),
                    package="statsmodels.fleiss_kappa", convention="repetitions as raters",
                )  # fmt: skip
        if "label" not in own:
            continue
        ours = _ours(results, f"people.kappa.{name}")
        both = read[read["label"].astype(str) != ""]
        if ours is not None and len(both) and "score" in own and own["score"].isna().all():
            words = sorted({*both["choice"], *both["label"]})
            square = pd.crosstab(both["choice"], both["label"]).reindex(
                index=words, columns=words, fill_value=0
            )
            yield Opinion(
                result=f"people.kappa.{name}", what="Cohen's kappa with labels", ours=ours,
                theirs=float(inter_rater.cohens_kappa(square.to_numpy(), return_results=False)),
                package="statsmodels.cohens_kappa", convention="one row a judgment",
            )  # fmt: skip
        ratings = pd.to_numeric(own["label"], errors="coerce")
        scored = own.assign(rating=ratings).dropna(subset=["score", "rating"])
        means = scored.groupby("item_id")[["score", "rating"]].mean()
        for kind, function in (
            ("pearson", stats.pearsonr),
            ("spearman", stats.spearmanr),
            ("kendall", stats.kendalltau),
        ):
            ours = _ours(results, f"people.{kind}.{name}")
            if ours is not None and len(means) > 2:
                theirs = float(function(means["score"], means["rating"])[0])
                yield Opinion(
                    result=f"people.{kind}.{name}", what=f"{kind.capitalize()}'s correlation",
                    ours=ours, theirs=theirs, package=f"scipy.stats.{function.__name__}",
                    convention="means of items",
                )  # fmt: skip


def _alike(values: pd.Series) -> bool:
    return bool((values == values.iloc[0]).all())


def _families(results: Results) -> Iterator[Opinion]:
    """Every family by itself; one that is adjusted with others bears their label."""
    together: dict[tuple[str, bool], list[Test | Comparison]] = {}
    alone: dict[str, list[Test | Comparison]] = {}
    for family in results.families:
        if family.method == "holm":
            records = [r for r in results.members(family) if isinstance(r, (Test, Comparison))]
            defined = [r for r in records if not math.isnan(r.p)]
            alone[family.id] = defined
            together.setdefault(_pool(family), []).extend(defined)
    for family in results.families:
        members = alone.get(family.id, [])
        if len(members) < 2:
            continue
        least = {
            r.id: results.claimed_p(r.held_to)
            for r in members
            if isinstance(r, Comparison) and r.held_to
        }
        held = ", not below its claim's p" if least else ""
        own = _adjusted(members, members, f"Holm{held}", least)
        pool = together[_pool(family)]
        pooled = _adjusted(members, pool, f"Holm, with all families of its label{held}", least)
        yield own if own.agrees or not pooled.agrees else pooled


def _pool(family: Family) -> tuple[str, bool]:
    """What is adjusted together: tests of a difference never with tests of its absence."""
    return family.label, family.id.startswith("equivalence.")


def _adjusted(
    members: Sequence[Test | Comparison],
    of: Sequence[Test | Comparison],
    convention: str,
    least: Mapping[str, float],
) -> Opinion:
    """The member of a family whose adjusted p lies furthest from theirs.

    `least` is the p of the claim that a pair is held to, by the pair's id.
    """
    from statsmodels.stats.multitest import multipletests

    adjusted = multipletests([r.p for r in of], method="holm")[1]
    p = {r.id: max(float(own), least.get(r.id, 0.0)) for r, own in zip(of, adjusted, strict=True)}
    worst = max(members, key=lambda r: abs(p[r.id] - r.p_adjusted))
    return Opinion(
        result=worst.id, what=f"adjusted p, furthest apart of {len(members)}",
        ours=worst.p_adjusted, theirs=float(p[worst.id]), package="statsmodels.multipletests",
        convention=convention,
    )  # fmt: skip
