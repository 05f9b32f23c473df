"""Declared design of an analysis: facets of the judgments, built once from their reading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from judgestats.results.numbers import count_noun
from judgestats.stats.inference.runs import COVERAGE, FEW

Facet = Literal["absent", "fixed", "random", "unidentified"]
REQUEST_ORDER = "request_order"
"""Column of judgments whose requests were sent in an order that is known."""
INTERLEAVED = "interleaved"
"""All requests of a judge in one random order over items and repeats."""
THESE_RUNS = "these runs"


@dataclass(frozen=True, kw_only=True)
class Design:
    """Sources of variation behind every interval of an analysis.

    Attributes
    ----------
    item, cluster, judge, run, criterion, order : {"absent", "fixed", "random", "unidentified"}
    target : {"new items", "these runs"}
        What intervals hold for: items like these, in any runs or in these runs only.
    request_order : str
        ``interleaved`` where repeats cannot share a shift of their run; empty where not known.
    n_items, n_clusters, n_judges, n_criteria, n_orders : int
    n_conditions : int
        Judges in their settings, at least as many as judges.
    n_copies : int
        Items that repeat another one, counted in its cluster.
    runs : tuple of int
        Smallest and largest number of runs of a judge.

    Examples
    --------
    >>> Design.of(n_items=40, n_clusters=12, runs=[5, 5, 5]).line
    'Design: 40 items in 12 questions (random), 3 judges (fixed), 5 runs per judge (random)'
    >>> Design.of(n_items=40, n_clusters=40, runs=[2, 2]).target
    'these runs'
    """

    item: Facet = "random"
    cluster: Facet
    judge: Facet
    run: Facet
    criterion: Facet
    order: Facet
    target: str
    request_order: str = ""
    n_items: int
    n_clusters: int
    n_judges: int
    n_criteria: int = 1
    n_orders: int = 1
    n_conditions: int
    n_copies: int = 0
    runs: tuple[int, int]

    @classmethod
    def of(
        cls,
        *,
        n_items: int,
        n_clusters: int,
        runs: Iterable[int],
        n_criteria: int = 1,
        n_orders: int = 1,
        n_judges: int | None = None,
        request_order: str = "",
    ) -> Design:
        """The design from counts.

        Parameters
        ----------
        n_items, n_clusters : int
            As many clusters as items where no cluster holds two.
        runs : iterable of int
            Runs of each condition.
        n_criteria, n_orders : int
        n_judges : int, optional
            By default each condition is another judge.
        request_order : str

        Returns
        -------
        Design
        """
        counts = list(runs) or [1]
        run: Facet = "absent"
        if max(counts) > 1 and request_order != INTERLEAVED:
            # Decided on two judges: no third one, or a copy, turns it.
            enough = sum(n - 1 for n in sorted(counts)[:2]) >= FEW and min(counts) > 1
            run = "random" if enough else "unidentified"
        return cls(
            cluster="random" if n_clusters < n_items else "absent",
            judge="fixed",
            run=run,
            criterion="fixed" if n_criteria > 1 else "absent",
            order="fixed" if n_orders > 1 else "absent",
            target=THESE_RUNS if run == "unidentified" else "new items",
            request_order=request_order,
            n_items=n_items,
            n_clusters=n_clusters,
            n_judges=n_judges or len(counts),
            n_conditions=len(counts),
            n_criteria=n_criteria,
            n_orders=n_orders,
            runs=(min(counts), max(counts)),
        )

    @classmethod
    def of_frame(cls, frame: pd.DataFrame) -> Design:
        """The design of a judgments frame, its clusters and copies already joined.

        Parameters
        ----------
        frame : DataFrame
            A parsed judgments frame.

        Returns
        -------
        Design

        Examples
        --------
        >>> frame = pd.DataFrame({"condition": "a", "item_id": ["x", "x", "y", "y"],
        ...     "cluster": ["x", "x", "y", "y"], "replicate": [0, 1, 0, 1], "order": ""})
        >>> Design.of_frame(frame).runs
        (2, 2)
        """
        if "stage" in frame:
            frame = frame[frame["stage"].eq("final")]
        orders = frame["order"].replace("", pd.NA) if "order" in frame else pd.Series(dtype=object)
        return cls.of(
            n_items=frame["item_id"].nunique(),
            n_clusters=frame["cluster"].nunique(),
            runs=_run_counts(frame),
            n_criteria=frame["criterion"].nunique() if "criterion" in frame else 1,
            n_orders=max(1, orders.nunique()),
            n_judges=frame["judge"].nunique() if "judge" in frame else None,
            request_order=request_order(frame),
        )

    @property
    def interleaved(self) -> bool:
        """Whether repeats cannot share a shift of their run."""
        return self.request_order == INTERLEAVED

    @property
    def line(self) -> str:
        """The design in one line."""
        items = count_noun(self.n_items, "item", "items")
        if self.cluster == "random":
            items += f" in {count_noun(self.n_clusters, 'question', 'questions')}"
        copies = f", {count_noun(self.n_copies, 'copy', 'copies')} joined" if self.n_copies else ""
        parts = [f"{items} ({self.item}{copies})"]
        for facet, n, one, many in (
            (self.judge, self.n_judges, "judge", "judges"),
            (self.criterion, self.n_criteria, "criterion", "criteria"),
            (self.order, self.n_orders, "order", "orders"),
        ):
            if facet != "absent":
                parts.append(f"{count_noun(n, one, many)} ({facet})")
        if self.n_conditions > self.n_judges:
            parts.insert(2, count_noun(self.n_conditions, "condition", "conditions"))
        return f"Design: {', '.join([*parts, self._runs()])}"

    def _runs(self) -> str:
        least, most = self.runs
        span = f"{least}" if least == most else f"{least}–{most}"
        per = "condition" if self.n_conditions > self.n_judges else "judge"
        if most == 1:
            return f"1 run per {per}"
        if self.interleaved:
            return f"{span} repeats per {per} (interleaved)"
        known = "not identified" if self.run == "unidentified" else self.run
        return f"{span} runs per {per} ({known})"


def request_order(frame: pd.DataFrame) -> str:
    """The order of the requests, as far as the judgments say it.

    Parameters
    ----------
    frame : DataFrame

    Returns
    -------
    str
        ``interleaved`` or empty: recorded by a run, or all repeats choices of one call.

    Examples
    --------
    >>> request_order(pd.DataFrame({"choices_in_request": [5, 5], "replicate": [0, 4]}))
    'interleaved'
    >>> request_order(pd.DataFrame({"choices_in_request": [1, 1], "replicate": [0, 1]}))
    ''
    """
    if REQUEST_ORDER in frame and frame[REQUEST_ORDER].eq(INTERLEAVED).all():
        return INTERLEAVED
    if not {"choices_in_request", "replicate"} <= set(frame.columns) or not len(frame):
        return ""
    most = int(frame["replicate"].max()) + 1
    return INTERLEAVED if most > 1 and int(frame["choices_in_request"].min()) >= most else ""


def recorded_order(frame: pd.DataFrame) -> str:
    """The order in which a run asked all requests of its plan, shuffled over items and repeats.

    Parameters
    ----------
    frame : DataFrame
        With ``cached``: whether a reply comes from an earlier collection.

    Returns
    -------
    str
        ``interleaved``; empty where some repeats of a judge come from an earlier collection and
        others do not, which may have shifted between the two.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": "a", "replicate": [0, 0, 1, 1], "cached": False})
    >>> recorded_order(frame), recorded_order(frame.assign(cached=[True, True, False, False]))
    ('interleaved', '')
    """
    earlier = frame.groupby(["condition", "replicate"], sort=False)["cached"].mean()
    spans = earlier.groupby("condition").agg(["min", "max"])
    return INTERLEAVED if (spans["max"] - spans["min"] <= 0.5).all() else ""


def _run_counts(frame: pd.DataFrame) -> list[int]:
    """Of each condition the repeat indices that cover enough of its items to be runs."""
    seen = frame[["condition", "item_id", "replicate"]].drop_duplicates()
    items = seen.groupby("condition", sort=False)["item_id"].nunique()
    covered = seen.groupby(["condition", "replicate"], sort=False).size().reset_index(name="n")
    is_run = covered["n"] >= COVERAGE * covered["condition"].map(items) - 1e-9
    runs = is_run.groupby(covered["condition"]).sum()
    return [max(1, int(n)) for n in runs]
