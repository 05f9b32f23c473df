"""Recommendation: condition, number of repeats, and cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.conversion import icc_by_item, vote_share_by_item
from judgestats.analysis.families import LEVEL
from judgestats.analysis.records import NamedResult, Recommendation
from judgestats.analysis.selections import choices_of
from judgestats.analysis.summary_rows import format_coefficient, format_reliability
from judgestats.arrays import Floats
from judgestats.data.matrices import ScoreArray
from judgestats.results.numbers import AVERAGED, TARGETS, apa_number, apa_p, count_noun
from judgestats.results.records import plain
from judgestats.stats.comparison.best import BestConditions, comparisons_with_best
from judgestats.stats.designs.cells import Cells
from judgestats.stats.inference.estimate import Estimate
from judgestats.stats.inference.multiplicity import p_adjust
from judgestats.stats.reliability.intraclass import exact_replications, replications_needed

TARGET = 0.90
"""Reliability of the mean that the recommendation aims at."""

MARGIN_ICC = 0.05
"""Declared margin: reliabilities of one judgment that differ by less than .05."""

_MOST_NAMED = 6
_ABOVE_ZERO = " above T = 0"
"""Where conditions at T = 0, which repeat one draw, were no candidates."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What each condition spends: money, else tokens, else judgments.

    Attributes
    ----------
    amounts : tuple of float
    unit : str
        ``"USD"``, ``"tokens"`` or ``"judgments"``.
    """

    amounts: tuple[float, ...]
    unit: str

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]], **columns: str) -> Costs:
        """The first of some columns that is known, and above 0, of every row.

        Parameters
        ----------
        rows : sequence of mapping
        **columns : str
            Unit to column, the preferred first; the last is taken in any case.

        Examples
        --------
        >>> rows = [{"usd": math.nan, "tokens": 290.0}, {"usd": math.nan, "tokens": 732.0}]
        >>> Costs.from_rows(rows, USD="usd", tokens="tokens").format_cost(0)
        '290 tokens'
        """
        known_costs = [
            cls(amounts=tuple(float(row.get(column) or math.nan) for row in rows), unit=unit)
            for unit, column in columns.items()
        ]
        usable = (s for s in known_costs if all(math.isfinite(v) and v > 0 for v in s.amounts))
        return next(usable, known_costs[-1])

    def format_cost(self, i: int) -> str:
        """What one condition spends, with its unit."""
        amount = self.amounts[i]
        if self.unit == "USD":
            return f"${amount:.4f}"
        return f"{amount:,.0f} {self.unit}" if amount >= 100 else f"{amount:.3g} {self.unit}"

    def usd(self, i: int) -> float | None:
        """Money, where it is known."""
        return self.amounts[i] if self.unit == "USD" else None


def recommend_best(
    values: Mapping[str, Floats],
    clusters: Any,
    *,
    spent: Costs,
    margin: float,
    level: float,
    what: str,
    each: str,
    null: Floats | None = None,
) -> tuple[Recommendation, NamedResult] | None:
    """The cheapest condition that is shown to lie within the margin of the best, if one is.

    Parameters
    ----------
    values : mapping of condition to ndarray
        One number an item; larger is better.
    clusters : sequence
    spent : Costs
        In the order of `values`.
    margin, level : float
    what : str
        What is compared: ``agreement with people``.
    each : str
        What is spent on: ``a pair``.
    null : ndarray, optional
        See `judgestats.stats.comparisons_with_best`.

    Returns
    -------
    tuple of Recommendation and NamedResult, or None
        None where there is nothing to choose from.
    """
    names, table = list(values), np.column_stack(list(values.values()))
    if len(names) < 2 or np.isfinite(table).all(axis=1).sum() < 2:
        return None
    best = comparisons_with_best(
        table, conditions=names, cost=spent.amounts, margin=margin, cluster=clusters, level=level,
        null=null,
    )  # fmt: skip
    result = NamedResult(
        "best", f"Which may be the best in {what}", "secondary", best,
        levels={name: name for name in names},
    )  # fmt: skip
    tied = best.candidates
    among = f"The best in {what} {_tied_phrase(tied, names)}" if len(tied) > 1 else (
        f"{tied[0]} is the best in {what}"
    )  # fmt: skip
    if best.recommended is None:
        by = f"by comparisons with the best over {len(names)} conditions"
        reason = f"not told apart at this size {by}; {_would_decide(best)}"
        text = f"{among}: these are {reason}." if len(tied) > 1 else f"{among}."
        if len(tied) == len(names):
            text = f"No condition is told from the best in {what} {by}; {_would_decide(best)}."
        return Recommendation(
            sentences=(text,), tied=tied, reason=reason, rests_on=("best",)
        ), result  # fmt: skip
    i = names.index(best.recommended)
    dearest = max(spent.amounts[names.index(name)] for name in best.non_inferior)
    alike = not spent.amounts[i] < dearest
    cheapest = "" if alike else f"the cheapest ({spent.format_cost(i)} {each}) that is "
    if len(tied) == len(names) > _MOST_NAMED:
        among = f"No condition is told from the best in {what}"
    reason = f"{cheapest}shown to lie at most {apa_number(margin, bounded=True)} below the best"
    sentences: tuple[str, ...] = (f"{best.recommended} is {reason}.", f"{among}.")
    if tied == (best.recommended,):  # what is the best lies below nothing
        reason = f"the best in {what}"
        sentences = (f"{best.recommended} is {reason}.",)
    return Recommendation(
        sentences=sentences,
        cost_usd=spent.usd(i),
        chosen=best.recommended,
        tied=tied,
        reason=reason,
        rests_on=("best",),
    ), result


def _tied_phrase(tied: Sequence[str], names: Sequence[str]) -> str:
    """Which conditions the best is one of: those, or all but those that it is not.

    Examples
    --------
    >>> _tied_phrase(["a", "b"], ["a", "b", "c"]), _tied_phrase(list("abcdefg"), list("abcdefgh"))
    ('is among a; b', 'may be any but h')
    """
    others = [name for name in names if name not in tied]
    if len(tied) > _MOST_NAMED and len(others) <= _MOST_NAMED:
        return f"may be any but {'; '.join(others)}"
    listed = "; ".join(tied[:_MOST_NAMED])
    more = len(tied) - _MOST_NAMED
    return f"is among {listed}" + (f"; and {more} more of {len(names)}" if more > 0 else "")


def _would_decide(best: BestConditions) -> str:
    """How many questions with as many items each would show one close to the best."""
    sample, items = best.sample, best.n_items_needed
    if items is None or not sample.n_clusters:
        return "no number of questions like these would decide"
    needed = math.ceil(items * sample.n_clusters / sample.n_items)
    return f"{count_noun(needed, 'question', 'questions')} would decide"


def recommend_replicates(cells: pd.DataFrame) -> Recommendation | None:
    """The condition whose single judgment is estimated most reliable, and the repeats it needs.

    Conditions at T = 0, or whose scores hardly vary within any item, are not candidates: where one
    draw is repeated the reliability says that sampling was off.

    Parameters
    ----------
    cells : DataFrame
        One row a condition.

    Returns
    -------
    Recommendation or None
        None where no condition has a positive reliability.
    """
    usable = cells[_varies(cells) & (cells["icc1"] > 0)]
    return None if usable.empty else _repeats(usable.sort_values("icc1", ascending=False).iloc[0])


def _chance(usable: pd.DataFrame, column: str) -> Recommendation | None:
    """That none is advised: no reliability is shown to lie above what chance gives.

    Examples
    --------
    >>> noise = pd.DataFrame({"icc1_null_p": [0.04, 0.3, 0.02]})
    >>> _chance(noise, "icc1").reason
    'no reliability is shown to be better than chance (3 conditions, Holm: p = .060)'
    >>> _chance(pd.DataFrame({"icc1_null_p": [0.3, 0.01]}), "icc1") is None
    True
    >>> _chance(noise.assign(icc1_null_p_smallest=0.02), "icc1") is None
    True
    """
    key = f"{column}_null_p"
    if usable.empty or key not in usable or usable[key].isna().any():
        return None
    floors = usable.get(f"{key}_smallest", pd.Series(0.0, index=usable.index))
    least = float(np.min(p_adjust(usable[key].tolist())))
    if least <= LEVEL or (usable[key] <= floors).any():  # too few permutations for a smaller p
        return None
    of = f"{len(usable)} conditions, Holm: " if len(usable) > 1 else ""
    reason = f"no reliability is shown to be better than chance ({of}{apa_p(least)})"
    return Recommendation(sentences=(f"None is recommended: {reason}.",), reason=reason)


def _varies(cells: pd.DataFrame) -> pd.Series:
    """The conditions in which a judgment is a new draw."""
    return (cells["constant_share"] < 0.95) & (cells["temperature"] != 0)


def recommend_reliable(
    cells: pd.DataFrame, scores: ScoreArray | Cells
) -> tuple[Recommendation | None, tuple[NamedResult, ...]]:
    """As `recommend_replicates`, of the conditions that are shown to be as reliable as the best.

    Parameters
    ----------
    cells : DataFrame
        One row a condition.
    scores : ScoreArray or Cells

    Returns
    -------
    Recommendation or None
    tuple of NamedResult
        What it rests on.
    """
    usable = cells[_varies(cells) & cells["icc1"].notna()]
    above = _ABOVE_ZERO if (cells["temperature"] == 0).any() else ""
    if len(usable) < 2:
        return _chance(usable, "icc1") or recommend_replicates(cells), ()
    each = [
        {
            "usd": row["cost_usd"] / max(row["n"], 1),
            "tokens": row["tokens_in_mean"] + row["tokens_out_mean"],
            "judgments": 1.0,
        }
        for row in usable.to_dict("records")
    ]
    by_item = icc_by_item(scores, list(usable["condition"]))
    if by_item is None:
        return None, ()
    units = {"USD": "usd", "tokens": "tokens", "judgments": "judgments"}
    given = recommend_best(
        by_item.values, by_item.clusters, spent=Costs.from_rows(each, **units), margin=MARGIN_ICC,
        level=0.95, what=f"reliability of one judgment{above}", each="a judgment",
        null=by_item.null,
    )  # fmt: skip
    if given is None:
        return None, ()
    best, result = given
    if chance := _chance(usable, "icc1"):
        return chance, (result,)
    if not best.chosen:
        return best, (result,)
    repeats = _repeats(usable[usable["condition"] == best.chosen].iloc[0])
    if repeats is None:
        return replace(best, chosen=""), (result,)
    return replace(
        best,
        sentences=best.sentences + repeats.sentences,
        chosen=repeats.chosen,
        replicates=repeats.replicates,
        cost_usd=repeats.cost_usd,
    ), (result,)


def _repeats(best: pd.Series) -> Recommendation | None:
    """How many judgments under one condition reach the target, where that can be said."""
    icc, low = float(best["icc1"]), float(best.get("icc1_low", math.nan))
    shown = f"ICC(1,1) {format_reliability(best)}"
    if low <= 0:
        reason = "the interval of its reliability reaches 0, so no number of repeats may suffice"
        return Recommendation(
            sentences=(
                (
                    f"No number of judgments can be advised for {best['condition']} ({shown}): "
                    f"{reason}."
                ),
            ),
            tied=(str(best["condition"]),),
            reason=reason,
        )
    exact = float(exact_replications(icc, target=TARGET))
    if not math.isfinite(exact):
        return None
    need = max(1, math.ceil(exact - 1e-9))
    cost = None
    if not math.isnan(float(best["cost_usd"])) and float(best["n"]):
        cost = float(best["cost_usd"]) / float(best["n"]) * need
    price = f", at ${cost:.4f} an item" if cost else ""
    most = _lower_limit_note(low, need) if math.isfinite(low) else ""
    unit = "one judgment already reaches" if need == 1 else f"the mean of {need} judgments reaches"
    return Recommendation(
        sentences=(
            (
                f"{best['condition']} ({shown}): {unit} "
                f"{apa_number(TARGET, bounded=True)}{price}{most}."
            ),
            f"Reliability is not validity: {_validity(best)}.",
        ),
        replicates=need,
        cost_usd=cost,
        chosen=str(best["condition"]),
        tied=(str(best["condition"]),),
        reason=shown,
    )


def recommend_votes(
    table: pd.DataFrame,
    verdicts: Mapping[str, NDArray[Any]],
    clusters: Any,
    *,
    one: str,
    reaches: Callable[[Mapping[str, Any]], str],
    validity: str,
) -> tuple[Recommendation | None, tuple[NamedResult, ...]]:
    """As `recommend_reliable`, of verdicts and choices, by their vote-share reliability.

    Parameters
    ----------
    table : DataFrame
        One row a condition, with ``vote_share`` and ``judgments_for_90``.
    verdicts : mapping of condition to ndarray of object, shape (n_items, n_replications)
        Of the same items.
    clusters : sequence
        Question of each item.
    one : str
        What is repeated: ``verdict``.
    reaches : callable
        What a condition reaches with how many of them, from its row.
    validity : str
        The sentence that reliability is not enough.
    """
    usable = table[(table["temperature"] != 0) & table["vote_share"].notna()]
    above = _ABOVE_ZERO if (table["temperature"] == 0).any() else ""
    if usable.empty:
        return None, ()
    rows: dict[str, dict[Any, Any]] = {
        str(row["condition"]): row for row in usable.to_dict("records")
    }
    each = {name: float(row["cost_usd"]) / float(row["n"]) for name, row in rows.items()}
    given = None
    if len(rows) > 1:
        by_item = vote_share_by_item({name: verdicts[name] for name in rows}, clusters)
        spent = [{"usd": each[name], "judgments": 1.0} for name in rows]
        given = None if by_item is None else recommend_best(
            by_item.values, by_item.clusters,
            spent=Costs.from_rows(spent, USD="usd", judgments="judgments"), margin=MARGIN_ICC,
                level=0.95,
            what=f"reliability of one {one}{above}", each=f"a {one}", null=by_item.null,
        )  # fmt: skip
        if given is None:
            return None, ()
    best, result = given or (Recommendation(sentences=(), chosen=next(iter(rows))), None)
    results = (result,) if result else ()
    if chance := _chance(usable, "vote_share"):
        return chance, results
    row = rows.get(best.chosen or "", {})
    need = float(row.get("judgments_for_90", math.nan))
    if not math.isfinite(need):
        # The only condition, of which no number of repeats would do, is no advice.
        told = replace(best, sentences=(*best.sentences, validity)) if best.sentences else None
        return told, results
    spent_on_one = each[str(row["condition"])]
    return replace(
        best,
        sentences=(
            *best.sentences,
            f"{row['condition']} ({format_coefficient(row, 'vote_share')}): {reaches(row)}.",
            validity,
        ),
        replicates=int(need),
        counted=f"{one}s",
        cost_usd=None if math.isnan(spent_on_one) else spent_on_one * need,
    ), results


def verdicts_reach(row: Mapping[str, Any]) -> str:
    """How many verdicts of a condition reach the target, from its row."""
    need = float(row["judgments_for_90"])
    return "one verdict reaches .90" if need <= 1 else f"{need:.0f} verdicts reach .90"


def _validity(best: pd.Series) -> str:
    """What is known of its agreement with people, or that it is to be looked for."""
    if math.isnan(best.get("pearson", math.nan)):
        return "check agreement with people too"
    return f"its correlation with people's ratings is {format_coefficient(best, 'pearson')}"


def _lower_limit_note(low: float, need: int) -> str:
    """How many judgments the target takes if the reliability is as low as its interval allows."""
    most = int(replications_needed(low, target=TARGET))
    return f" ({most} at the interval's lower end)" if most > need else ""


_Z = 1.959963984540054


def repeat_gains(conditions: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """What repeats of each condition buy, and what a judgment takes.

    Parameters
    ----------
    conditions : DataFrame
        The table of conditions.
    frame : DataFrame
        The parsed judgments; their tokens are averaged.

    Returns
    -------
    DataFrame
        By condition: the reliability of a ``single`` judgment or verdict, the judgments ``needed``
        for `TARGETS` (inf: no number of them reaches it), the reliability of the mean and the
        smallest difference it tells apart for `AVERAGED`, the mean ``tokens`` and ``calls`` an
        item.

    Examples
    --------
    >>> table = pd.DataFrame({"condition": ["a"], "icc1": [0.5], "sem": [1.0]})
    >>> row = repeat_gains(table, pd.DataFrame()).iloc[0]
    >>> print(int(row["needed_90"]), round(row["reliability_3"], 2), round(row["difference_1"], 2))
    9 0.75 2.77
    """
    name = next((c for c in ("icc1", "vote_share") if c in conditions), "")
    rows = []
    for row in conditions.to_dict("records"):
        single, sem = _number(row.get(name)), _number(row.get("sem"))
        line: dict[str, Any] = {"condition": str(row["condition"]), "single": single}
        for target in TARGETS:
            line[f"needed_{round(100 * target)}"] = _needed(single, target)
        for k in AVERAGED:
            is_known = single > 0
            line[f"reliability_{k}"] = k * single / (1 + (k - 1) * single) if is_known else math.nan
            line[f"difference_{k}"] = _Z * math.sqrt(2.0 / k) * sem
        rows.append(line | _mean_usage(row, frame))
    return pd.DataFrame(rows)


def repeats_needed(single: Estimate) -> Estimate:
    """How many judgments reach a reliability, by the reliability of one.

    Parameters
    ----------
    single : Estimate
        Reliability of one judgment.

    Returns
    -------
    Estimate
        The judgments; its interval holds those that the ends of the reliability's ask for, the
        larger number at its lower end, infinite where that reaches 0.

    Examples
    --------
    >>> from judgestats.stats.inference.result import Interval, Sample
    >>> one = Estimate(name="icc_1_1", label="", estimate=0.76, sample=Sample(n_items=30),
    ...                interval=Interval(low=0.64, high=0.86, level=0.95, method="F"))
    >>> needed = repeats_needed(one)
    >>> needed.estimate, needed.interval.low, needed.interval.high
    (3.0, 2.0, 6.0)
    """
    interval, target = single.interval, TARGETS[-1]
    if interval is not None and not math.isnan(interval.low + interval.high):
        low, high = _needed(interval.high, target), _needed(interval.low, target)
        interval = replace(interval, low=low, high=high)
    return Estimate(
        name="k_needed",
        label=f"Judgments for a reliability of {target:g}",
        estimate=_needed(single.estimate, target),
        interval=None if math.isnan(single.estimate) else interval,
        sample=single.sample,
        reason=single.reason,
    )


def _number(value: Any) -> float:
    number = plain(value)
    return float(number) if isinstance(number, (int, float)) else math.nan


def _needed(single: float, target: float) -> float:
    if not single > 0:
        return math.inf if single <= 0 else math.nan
    return replications_needed(single, target=target)


def _mean_usage(row: dict[Any, Any], frame: pd.DataFrame) -> dict[str, float]:
    """Mean tokens of a judgment, and judgments an item."""
    used = [c for c in ("item_id", "tokens_in", "tokens_out") if c in frame]
    mine = frame.loc[frame["condition"] == row["condition"], used] if len(frame) else frame
    tokens = math.nan
    if len(mine) and {"tokens_in", "tokens_out"} <= set(mine.columns):
        tokens = float((mine["tokens_in"] + mine["tokens_out"]).mean())
    return {
        "tokens": tokens if tokens > 0 else math.nan,
        "calls": len(mine) / mine["item_id"].nunique() if len(mine) else math.nan,
    }


def recommend_verdicts(
    frame: pd.DataFrame, table: pd.DataFrame
) -> tuple[Recommendation | None, tuple[NamedResult, ...]]:
    """As `recommend_votes`, of verdicts that nobody labelled.

    Where people labelled items it is they who tell what to take; where items were shown in several
    orders, repeating one order is not asking again.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.
    table : DataFrame
        One row a condition.

    Returns
    -------
    Recommendation or None
    tuple of NamedResult
        What it rests on.
    """
    labelled = "label" in frame and bool(frame["label"].astype(str).str.strip().ne("").any())
    ordered = len(frame[["item_id", "order"]].drop_duplicates()) > frame["item_id"].nunique()
    if labelled or ordered or "vote_share" not in table or "vote_share_low" not in table:
        return None, ()
    choices = choices_of(frame, column="choice")
    cost = frame.groupby("condition", sort=False)["cost_usd"].sum(min_count=1)
    needed = [
        _verdict_advice_needed(float(share), float(low))
        for share, low in zip(table["vote_share"], table["vote_share_low"], strict=True)
    ]
    return recommend_votes(
        table.assign(
            judgments_for_90=needed, cost_usd=table["condition"].map(cost).astype(float)
        ),
        {name: own.values for name, own in choices.items()},
        next(iter(choices.values())).cluster,
        one="verdict", reaches=verdicts_reach,
        validity="Check a sample of its verdicts by hand: reliability is not validity.",
    )  # fmt: skip


def _verdict_advice_needed(share: float, low: float) -> float:
    """How many verdicts reach the target; NaN where perhaps no number does."""
    if not low > 0:
        return math.nan
    exact = float(exact_replications(share, target=TARGET))
    return max(1.0, float(np.ceil(exact - 1e-9))) if math.isfinite(exact) else math.nan
