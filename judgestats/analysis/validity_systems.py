"""Validity by system, slice, and disagreement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats import stats
from judgestats.analysis.coefficients import results_row
from judgestats.analysis.families import AnalysisPlan, Hypothesis, shared_clusters
from judgestats.analysis.records import Analysis, Found, NamedResult, condition_result
from judgestats.analysis.supplements import Rows
from judgestats.analysis.validity_raters import corrected_results, drawing
from judgestats.arrays import Floats, Objects
from judgestats.errors import InputError
from judgestats.results import Row, apa_number
from judgestats.sinks import csv_text
from judgestats.stats.inference.result import Comparisons, Estimate, Note, Result, Sample
from judgestats.stats.validity.calibration import shares_on_the_right_side
from judgestats.stats.validity.error_rates import Measure

SYSTEMS = Hypothesis(
    "systems", "Which system's answers would human raters prefer?",
    "difference of the labels regressed on the judge's (GREG), paired by question, so that a judge "
    "that favours one system is corrected for it",
    "all pairs of systems, and the audit's other comparisons",
)  # fmt: skip
_MOST = 30
_LEAST = 20
_CODES = {"pass": 1.0, "fail": 0.0}
_BESIDE = Note(
    code="judge_beside",
    message="The judge's difference of each pair is reported too (judge_differences). It is "
    "(sensitivity + specificity - 1) times the true one, plus the bias between the systems.",
)


def system_results(frame: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """The differences of systems by human labels, every pair, adjusted by Holm.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments; ``author`` names the system, ``cluster`` the question that several
        systems answered.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Empty where fewer than 20 questions have labels for two systems, or no systems are named.
    """
    drawn = str(declared.options.get("labels_drawn", ""))
    unequal = drawn in {"by-verdict", "stratified"} or "chance" in frame
    if not {"author", "label"} <= set(frame) or unequal:
        return []
    results = []
    for condition, own in frame.groupby("condition", sort=False):
        made = _compared(own, declared.level, drawn)
        if made is None:
            continue
        compared, wins = made
        name, title = str(condition), "Corrected differences of systems"
        results.append(condition_result("systems", title, name, compared, role="secondary"))
        for pair, e in wins.items():
            key, title = f"superior.{pair}", f"{e.label}, a tie half"
            results.append(condition_result(key, title, name, e, role="descriptive"))
    return results


def _compared(
    own: pd.DataFrame, level: float, labels_drawn: str
) -> tuple[Comparisons, dict[str, Estimate]] | None:
    """Of one condition: all pairs of systems, and how likely each is the better one."""
    systems = sorted({*own["author"].astype(str)} - {""})
    if not 2 <= len(systems) <= _MOST:
        return None
    verdicts = not own["score"].notna().any()
    judge = own["choice"].map(_CODES) if verdicts else own["score"]
    words = own["label"].astype(str).str.strip()
    human = words.map(_CODES) if verdicts else pd.to_numeric(words, errors="coerce")
    table = pd.DataFrame(
        {"question": own["cluster"], "system": own["author"], "judge": judge, "human": human}
    )
    # Repeats of the judge are averaged first; so are several answers of a system to one question.
    wide = table.pivot_table(
        index="question",
        columns="system",
        values=["judge", "human"],
        aggfunc="mean",
        dropna=False,
        sort=False,
    )
    f, y = (
        pd.DataFrame(wide[c]).reindex(columns=systems).to_numpy(float) for c in ("judge", "human")
    )
    if int(np.sum((np.isfinite(y) & np.isfinite(f)).sum(axis=1) >= 2)) < _LEAST:
        return None
    drawn: Any = labels_drawn or None
    try:
        out = stats.corrected_differences(f, y, names=systems, labels_drawn=drawn, level=level)
    except InputError:
        return None
    details = dict(out.details)
    wins = details.pop("win_rates")
    return replace(out, notes=(*out.notes, _BESIDE), details=details), wins


_CREDIT = {"a": 1.0, "tie": 0.5, "b": 0.0}
_WORDS = {1.0: "win", 0.5: "tie", 0.0: "loss"}


def win_results(frame: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """Corrected win rate of every pair of systems, and their differences adjusted by Holm.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments; ``system_a`` and ``system_b`` name the systems of each row, ``choice``
        and ``label`` say a, b or tie.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Empty where no systems are named or no pair of them has 20 labels.
    """
    drawn: Any = declared.options.get("labels_drawn") or None
    if not {"system_a", "system_b", "label"} <= set(frame) or drawn == "stratified":
        return []
    if "chance" in frame and drawn != "by-verdict":
        return []  # drawn with unequal chances: win rates are not weighted by them
    results = []
    for condition, own in frame.groupby("condition", sort=False):
        if not set(own["choice"]) | set(own["label"]) <= {*_CREDIT, ""}:
            continue
        name, items = str(condition), _system_pairs(own)
        for first, second, rate in _rates(items, drawn, declared.level):
            pair, alone = f"{first} over {second}", apa_number(rate.details["judge"], bounded=True)
            title = f"Human preference rate of {pair}, a tie half; judge alone {alone}"
            key = f"preferred.{pair}"
            results.append(condition_result(key, title, name, rate, hypothesis="people"))
        if not results or drawn == "by-verdict":
            continue
        if pairs := _wins_compared(items, drawn, declared.level):
            title = "Corrected preferences of systems, wins minus losses"
            results.append(condition_result("systems", title, name, pairs, role="secondary"))
    return results


def win_rows(results: list[NamedResult]) -> tuple[Row, ...]:
    """The row of the screen, where there is one pair of systems."""
    pairs = dict.fromkeys(_pair(r) for r in results if r.id.startswith("preferred."))
    if len(pairs) != 1:
        return ()
    [pair] = pairs
    first, _, second = pair.partition(" over ")
    names = [r.about.conditions[0] for r in results if r.id.startswith(f"preferred.{pair}.")]
    return (
        results_row(
            "wins", f"Corrected win rate of {first}", "Win rate", "win_rate",
            f"preferred.{pair}.{{}}", names, note=f"(to {second}, a tie half)",
        ),
    )  # fmt: skip


def _pair(named: NamedResult) -> str:
    return named.id.removeprefix("preferred.").removesuffix(f".{named.about.conditions[0]}")


def _system_pairs(own: pd.DataFrame) -> pd.DataFrame:
    """A row per judgment: its pair of systems, first by name, and what judge and people give it."""
    systems = own[["system_a", "system_b"]].astype(str)
    own = own[(systems != "").all(axis=1) & (systems["system_a"] != systems["system_b"])]
    a, b = (own[c].astype(str).to_numpy(object) for c in ("system_a", "system_b"))
    swapped = a > b
    credit = {
        name: np.where(swapped, 1 - own[c].map(_CREDIT), own[c].map(_CREDIT))
        for name, c in (("judge", "choice"), ("human", "label"))
    }
    return pd.DataFrame({
        "item": own["item_id"].to_numpy(object), "cluster": own["cluster"].to_numpy(object),
        "first": np.where(swapped, b, a), "second": np.where(swapped, a, b), **credit,
    })  # fmt: skip


def _rates(items: pd.DataFrame, drawn: Any, level: float) -> Iterator[tuple[str, str, Estimate]]:
    placed = items.assign(place=items.groupby("item").cumcount())
    for (first, second), rows in placed.groupby(["first", "second"], sort=False):
        human = _labels(rows)
        if int(human.notna().sum()) < _LEAST:
            continue
        judge = rows.pivot(index="item", columns="place", values="judge").reindex(human.index)
        clusters = rows.groupby("item", sort=False)["cluster"].first()
        rate = stats.corrected_win_rate(
            judge.map(_WORDS.get).to_numpy(object),
            human.map(_WORDS.get).to_numpy(object),
            labels_drawn=drawn,
            level=level,
            cluster=shared_clusters(clusters.to_numpy(object)),
        )
        yield str(first), str(second), rate.replace(label=f"People prefer {first} to {second}")


def _labels(rows: pd.DataFrame) -> pd.Series:
    """Human outcome of each item; where labels of one item differ evenly, a tie."""
    mean = rows.groupby("item", sort=False)["human"].mean()
    return mean.where(mean.isna() | (mean == 0.5), mean.round(0))


def _wins_compared(items: pd.DataFrame, drawn: Any, level: float) -> Comparisons | None:
    """All pairs of systems in one family: a column per system, the credit of each item."""
    systems = list(dict.fromkeys([*items["first"], *items["second"]]))
    human = _labels(items)
    if not 2 <= len(systems) <= _MOST or int(human.notna().sum()) < _LEAST:
        return None
    once = items.drop_duplicates("item").set_index("item")
    judge = items.groupby("item", sort=False)["judge"].mean()
    tables = []
    for credit in (judge, human):
        wide = np.full((len(once), len(systems)), np.nan)
        for column, own in ((once["first"], credit), (once["second"], 1 - credit)):
            wide[np.arange(len(once)), [systems.index(s) for s in column]] = own
        tables.append(wide)
    clusters = once["cluster"]
    differences = stats.corrected_differences(
        *tables, names=systems, labels_drawn=drawn, level=level,
        cluster=shared_clusters(clusters.to_numpy(object)),
    )  # fmt: skip
    details = {k: v for k, v in differences.details.items() if k != "win_rates"}
    kept = tuple(r for r in differences.rows if r.n)
    notes = tuple(n for n in differences.notes if n.code != "unread_left_out")  # the empty cells
    return replace(differences, rows=kept, notes=notes, details=details) if kept else None


SLICES = Hypothesis(
    "slices", "Does the error rate differ by category, system, or length?",
    "Fisher's exact test against the rest, or t over questions where these repeat",
    "slices of one kind in one condition", adjustment="holm; Benjamini-Hochberg above 10 slices",
)  # fmt: skip
_MOST_SLICES = 40
_KINDS = {"category": "category", "author": "system"}
_LENGTH: tuple[tuple[Measure, str], ...] = (
    ("sensitivity", "TPR: share of human passes that it passes"),
    ("specificity", "TNR: share of human fails that it fails"),
)


def slice_results(
    name: str, asked: pd.DataFrame, texts: Mapping[str, tuple[str, str]], declared: AnalysisPlan
) -> list[NamedResult]:
    """Is the judge wrong more often on some kind of answer?

    Parameters
    ----------
    name : str
        The condition.
    asked : DataFrame
        Its judgments, ``choice`` and ``label`` in pass and fail.
    texts : mapping of item to (question, answer)
        Where they are known: answers are grouped by thirds of their length.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Empty where labels are not of the kind, or were not drawn so that slices compare.
    """
    if declared.options.get("labels_drawn") in {"by-verdict", "stratified"} or "chance" in asked:
        return []  # unweighted shares by slice would carry the draw
    first = asked.drop_duplicates("item_id").set_index("item_id")
    share = asked["choice"].map(_CODES).groupby(asked["item_id"], sort=False).mean()
    share = share.reindex(first.index)
    judge = np.where(share == 0.5, np.nan, np.where(share.isna(), share, share > 0.5))
    human = first["label"].map(_CODES).to_numpy(float)
    labelled = ~np.isnan(human)
    first, judge, human = first[labelled], judge[labelled], human[labelled]
    cluster = shared_clusters(first["cluster"].to_numpy(object))
    options: dict[str, Any] = {"cluster": cluster, "level": declared.level}
    out: Found = []
    for column, kind in _KINDS.items():
        kinds = first[column].astype(str) if column in first else pd.Series(dtype=str)
        if 1 < kinds.nunique() <= _MOST_SLICES and not kinds.eq("").any():
            sliced = stats.error_rates_by_slice(judge, human, kinds.to_numpy(object), **options)
            out.append((f"slices.{kind}", f"Same verdict by {kind}", sliced))
    thirds = _thirds(_lengths(first, texts))
    for measure, title in _LENGTH if thirds.size else ():
        if np.unique(thirds[human == (measure == "sensitivity")]).size < 2:
            continue
        sliced = stats.error_rates_by_slice(judge, human, thirds, measure=measure, **options)
        out.append((f"slices.length_{measure}", f"{title}, by length", sliced))
    return [condition_result(key, t, name, sliced, role="secondary") for key, t, sliced in out]


def _lengths(first: pd.DataFrame, texts: Mapping[str, tuple[str, str]]) -> Floats:
    """Of each item's answer, from its text or as a column of the file says."""
    if not any(answer for _, answer in texts.values()) and "answer_length" in first:
        return first["answer_length"].to_numpy(float)
    return np.array([len(texts[i][1]) if i in texts else np.nan for i in first.index], dtype=float)


def _thirds(lengths: Floats) -> Objects:
    """Each answer's third by length, with its bounds; empty where a length is not known."""
    if not lengths.size or not np.isfinite(lengths).all() or np.ptp(lengths) == 0:
        return np.zeros(0, dtype=object)
    low, high = np.quantile(lengths, [1 / 3, 2 / 3], method="inverted_cdf")
    names = (f"short (to {low:g})", f"middle (to {high:g})", f"long (over {high:g})")
    third = (lengths > low).astype(int) + (lengths > high)
    return np.array([names[i] for i in third], dtype=object)


DISAGREEMENTS = "tables/disagreements.csv"
_DIFFER = "Largest differences of judge and human labels"
_TOLD = 1000
_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class Disagreements(Result):
    """The items on which judge and human labels differ most.

    Attributes
    ----------
    rows : DataFrame
        ``item_id``, ``judge``, ``people``, ``gap``, the largest gap first; the first 20.
    everything : DataFrame
        All of them.
    n : int
        Items on which they differ.
    sample : Sample
    """

    rows: pd.DataFrame
    everything: pd.DataFrame
    n: int
    sample: Sample

    def tidy(self) -> pd.DataFrame:
        """One row per item."""
        return self.rows

    def sentence(self) -> str:
        """How many, and the first of them."""
        if not self.n:
            return f"Judge and human labels differ on no item ({self.sample})."
        named = ", ".join(str(v)[:40] for v in self.rows["item_id"].head(3))
        size = f"{self.n} of {self.sample.n_items} labelled items"
        return f"Judge and human labels differ on {size}. Read these first: {named}."

    def __str__(self) -> str:
        return f"\n{self.sentence()}\n{self.rows.to_string(index=False)}\n"


def disagreements(
    items: Iterable[Any],
    judge: NDArray[Any],
    human: NDArray[Any],
    *,
    least: float,
    gap: NDArray[Any] | None = None,
) -> tuple[str, str, Result]:
    """Items on which judge and labels differ by at least `least` (at all where it is 0).

    Parameters
    ----------
    items : iterable
    judge, human : ndarray
        Scores, or shares of pass verdicts; NaN where there is none.
    least : float
    gap : ndarray, optional
        Their distance, where it is not the difference.

    Returns
    -------
    tuple of str, str, Result
        Identity, title and result.
    """
    frame = pd.DataFrame({"item_id": list(items), "judge": judge, "people": human})
    frame = frame.assign(gap=np.abs(np.asarray(judge) - human) if gap is None else gap).dropna()
    apart = frame[frame["gap"] > least] if least == 0 else frame[frame["gap"] >= least]
    return _disagreement_result(apart, len(frame))


def verdict_disagreements(pairs: pd.DataFrame) -> tuple[str, str, Result]:
    """Items on which at least half of a judge's categorical verdicts are not the label.

    Parameters
    ----------
    pairs : DataFrame
        Judgments with ``choice`` and ``label``; an item shown in both orders has several.

    Returns
    -------
    tuple of str, str, Result

    Examples
    --------
    >>> said = pd.DataFrame({"item_id": ["x", "y"], "choice": ["a", "a"], "label": ["a", "b"]})
    >>> print(verdict_disagreements(said)[2].sentence())
    Judge and human labels differ on 1 of 2 labelled items. Read these first: y.
    """
    read = pairs[pairs["choice"] != ""]
    read = read.assign(gap=(read["choice"] != read["label"]).astype(float))
    by_item = read.groupby("item_id", sort=False)
    worst = read.sort_values(["gap", "choice"], ascending=[False, True]).groupby("item_id")
    frame = pd.DataFrame({
        "judge": worst["choice"].first(), "people": by_item["label"].first(),
        "gap": by_item["gap"].mean(),
    })  # fmt: skip
    frame = frame.loc[list(by_item.groups)].rename_axis("item_id").reset_index()
    return _disagreement_result(frame[frame["gap"] >= 0.5], len(frame))


def _disagreement_result(apart: pd.DataFrame, of: int) -> tuple[str, str, Result]:
    # By name where the gap is the same: which item is shown must not hang on the order of rows.
    rows = apart.sort_values(["gap", "item_id"], ascending=[False, True]).reset_index(drop=True)
    disagreements = Disagreements(
        rows=rows.head(_LISTED), everything=rows, n=len(apart), sample=Sample(n_items=of)
    )
    return "people.disagreements", _DIFFER, disagreements


def with_disagreements(
    analysis: Analysis,
    frame: pd.DataFrame,
    texts_of_items: Mapping[str, tuple[str, str]],
    *,
    texts: bool,
) -> Analysis:
    """An analysis with all items on which judge and labels differ: a record, and a file of the run.

    Parameters
    ----------
    analysis : Analysis
        Its results ``people.disagreements`` say which items.
    frame : DataFrame
        The parsed judgments: they hold the judge's words.
    texts_of_items : mapping of item to (question, answer)
        Empty where they are not known.
    texts : bool
        Whether texts are shown; without, the list names items, verdicts and gaps only.

    Returns
    -------
    Analysis
    """
    parts = [
        _listed(r.about.conditions[0], r.result, frame, texts_of_items if texts else None)
        for r in analysis.results
        if isinstance(r.result, Disagreements) and r.result.n and r.about.conditions
    ]
    if not parts:
        return analysis
    table = pd.concat(parts, ignore_index=True)
    shown = table.groupby("condition", sort=False).head(_LISTED)
    shown = shown.map(lambda v: v[:_TOLD] if isinstance(v, str) else v)
    rows = Rows(table=shown.reset_index(drop=True))
    described = (*analysis.described, NamedResult("disagreements", _DIFFER, "descriptive", rows))
    # These texts were written by others: none of them is a formula to whoever opens the file.
    files = {**analysis.files, DISAGREEMENTS: csv_text(table)}
    return replace(analysis, described=described, files=files)


def _listed(
    condition: str,
    disagreements: Disagreements,
    frame: pd.DataFrame,
    texts_of_items: Mapping[str, tuple[str, str]] | None,
) -> pd.DataFrame:
    rows = disagreements.everything.copy()
    rows.insert(0, "condition", condition)
    if texts_of_items is None:
        return rows
    words = _words(
        frame[frame["condition"].eq(condition) & frame["item_id"].isin(list(rows["item_id"]))],
        dict(zip(rows["item_id"], rows["people"], strict=True)),
    )
    asked = [texts_of_items.get(str(item), ("", "")) for item in rows["item_id"]]
    says = [words.get(item, "") for item in rows["item_id"]]
    questions, answers = ([pair[k] for pair in asked] for k in (0, 1))
    return rows.assign(question=questions, answer=answers, judge_says=says)


def _words(own: pd.DataFrame, people: Mapping[Any, Any]) -> dict[Any, str]:
    """By item the reason of the judgment furthest from the human one, else its reply."""
    own = own[own["item_id"].isin(list(people))].reset_index(drop=True)
    if own.empty:
        return {}
    human = own["item_id"].astype("str").map(people)
    far = (own["choice"] != human).astype(float).where(own["choice"] != "", -1.0)
    if pd.api.types.is_numeric_dtype(human):
        judged = own["score"].fillna(own["choice"].map(_CODES)).astype(float)
        far = (judged - human).abs().fillna(-1.0)
    furthest = own.loc[far.groupby(own["item_id"], sort=False).idxmax()]
    parts = [furthest[c].astype(object) for c in ("explanation", "raw_text") if c in own]
    return {
        item: next((str(w) for w in words if isinstance(w, str) and w), "")
        for item, *words in zip(furthest["item_id"], *parts, strict=True)
    }


def separated_scores(
    scores: Floats,
    human: Floats,
    asked: pd.DataFrame,
    declared: AnalysisPlan,
    *,
    items: Objects,
    cluster: NDArray[Any] | None,
) -> Found:
    """ROC AUC of scores against human pass / fail labels, and the corrected pass rate.

    There are no bias and limits of agreement, because labels are not on the scale of the scores.

    Parameters
    ----------
    scores : ndarray, shape (items, judgments)
    human : ndarray, shape (items,)
        Share of human raters who pass the item, NaN where there is none.
    asked : DataFrame
        Rows that show how labelled items were drawn (``chance``, ``category``).
    declared : AnalysisPlan
    items : ndarray
    cluster : ndarray or None

    Returns
    -------
    list of (str, str, Result)
    """
    # People who differ evenly on an item leave it without a label.
    passed = np.where(human == 0.5, np.nan, np.where(np.isnan(human), np.nan, human > 0.5))
    options: dict[str, Any] = {"cluster": cluster, "level": declared.level}
    mean = np.nanmean(scores, axis=1)
    if not np.isfinite(passed).any():
        return []
    area = stats.separation(scores, passed, **options)
    drawn = drawing(asked, pd.Index(items), np.isfinite(passed), mean, declared)
    area = area.replace(notes=(*area.notes, *drawn.notes))
    results: Found = [("people.separation", "ROC AUC: human passes scored above human fails", area)]
    if np.isnan(passed).any() or drawn.mix:
        score = stats.corrected_mean(scores, passed, **drawn.of_scores, **options)
        rate = score.corrected
        bounds = rate.interval
        if bounds is not None:
            bounds = replace(bounds, low=max(bounds.low, 0.0), high=min(bounds.high, 1.0))
        score = replace(score, corrected=rate.replace(name="greg_rate", interval=bounds))
        results += corrected_results(score, "pass rate", mix=drawn.mix, beside_judge=False)
    placed = shares_on_the_right_side(mean, passed)
    results.append(disagreements(items, mean, passed, gap=1 - placed, least=0.5))
    return results
