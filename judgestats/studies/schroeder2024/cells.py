"""arXiv 2412.12509: what was measured in each cell of its Table 2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import Objects
from judgestats.stats.agreement.gwet import gwet_ac1
from judgestats.stats.agreement.vote_share import vote_share_reliability
from judgestats.stats.inference.result import Estimate
from judgestats.stats.reliability.published_omega import PublishedOmega, published_omega_2412_12509
from judgestats.studies.claims import Options
from judgestats.studies.paper_tables import omega_tables
from judgestats.studies.schroeder2024.data import BENCHMARKS, cell_of, items_of

UNREAD = ("no_answer", "multiple", "")
_SHUFFLINGS = 99
"""Of the published omega, which refits a factor model each time."""
_HALF_DIGIT = 5e-4 + 1e-9


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One judge at one temperature on one benchmark."""

    judge: str
    temperature: float
    benchmark: str
    items: tuple[str, ...]
    verdicts: Objects
    printed: float
    omega: PublishedOmega
    one: Estimate
    many: Estimate
    unread_missing: Estimate

    @property
    def name(self) -> str:
        """Readable and unique."""
        return f"{self.judge.split('/')[-1]}, T={self.temperature:g}, {self.benchmark}"

    @property
    def read(self) -> Objects:
        """Letters; empty text where none was read."""
        return letters(self.verdicts)

    @property
    def matches(self) -> bool:
        """Whether the computed omega is the printed one, to the printed digits."""
        return abs(self.omega.estimate - self.printed) <= _HALF_DIGIT


def above_zero(cells: Sequence[Cell]) -> list[Cell]:
    """The cells in which something was drawn."""
    return [c for c in cells if c.temperature > 0]


def letters(verdicts: Objects) -> Objects:
    """Letters only; empty text where none was read."""
    return np.where(np.isin(verdicts.astype(str), UNREAD), "", verdicts)


def _printed(judge: str, temperature: float, benchmark: str) -> float:
    table = omega_tables()
    own = table[
        (table["table"] == 2)
        & (table["judge"] == judge)
        & (table["temperature"] == temperature)
        & (table["benchmark"] == benchmark)
    ]
    return float(own["value"].iloc[0]) if len(own) else math.nan


def cells_of_study(frame: pd.DataFrame, options: Options) -> list[Cell]:
    """Every judge, temperature and benchmark that the data have.

    Parameters
    ----------
    frame : DataFrame
        As `read_schroeder2024` returns it.
    options : Options

    Returns
    -------
    list of Cell
    """
    cells = []
    present = set(frame[["judge", "temperature", "benchmark"]].itertuples(index=False, name=None))
    common: dict[str, Any] = {"level": options.level}
    for judge in dict.fromkeys(frame["judge"]):
        for temperature in sorted(set(frame["temperature"]), reverse=True):
            for benchmark in BENCHMARKS.values():
                if (judge, temperature, benchmark) not in present:
                    continue
                verdicts = cell_of(frame, judge, temperature, benchmark)
                read = letters(verdicts)
                category = np.where(read == "", np.where(verdicts == "", "", "(none)"), read)
                cells.append(
                    Cell(
                        judge=str(judge),
                        temperature=float(temperature),
                        benchmark=benchmark,
                        items=items_of(frame, judge, temperature, benchmark),
                        verdicts=verdicts,
                        printed=_printed(str(judge), float(temperature), benchmark),
                        omega=published_omega_2412_12509(
                            verdicts,
                            n_permutations=min(_SHUFFLINGS, options.n_resamples),
                            seed=options.seed,
                        ),
                        one=vote_share_reliability(
                            category,
                            n_permutations=options.n_resamples,
                            seed=options.seed,
                            **common,
                        ),
                        many=vote_share_reliability(category, k=None, **common),
                        unread_missing=vote_share_reliability(read, **common),
                    )
                )
    return cells


def conditions_of(cells: Sequence[Cell]) -> pd.DataFrame:
    """One row a cell: printed and computed omega, its null, reliabilities of the same verdicts."""
    rows = []
    for c in cells:
        read = c.read
        ac1 = gwet_ac1(read, categories=list("ABCDE"))
        row: dict[str, Any] = {
            "condition": c.name,
            "judge": c.judge,
            "temperature": c.temperature,
            "factor_benchmark": c.benchmark,
            "n_items": len(c.verdicts),
            "n_replications": c.verdicts.shape[1],
            "n": c.verdicts.size,
            "n_ok": int((read != "").sum()),
            "unread_share": float((read == "").mean()),
            "printed_omega": c.printed,
            "published_omega": c.omega.estimate,
            "published_omega_null_mean": c.omega.null.mean if c.omega.null else math.nan,
            "published_omega_null_q95": c.omega.null.q95 if c.omega.null else math.nan,
            "published_alpha": c.omega.alpha,
            "matches": None if math.isnan(c.printed) else c.matches,
            "ac1": ac1.estimate,
        }
        for key, estimate in (
            ("vote_share", c.one),
            ("vote_share_all", c.many),
            ("vote_share_unread_missing", c.unread_missing),
        ):
            row[key] = estimate.estimate
            if estimate.interval:
                row[f"{key}_low"] = estimate.interval.low
                row[f"{key}_high"] = estimate.interval.high
            if estimate.null:
                row[f"{key}_null_q95"] = estimate.null.q95
        rows.append(row)
    return pd.DataFrame(rows)
