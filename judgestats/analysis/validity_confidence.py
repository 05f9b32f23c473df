"""Are a judge's confidences chances: how often it is right where it says .9."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.supplements import Rows
from judgestats.errors import InputError
from judgestats.stats.inference.result import Result
from judgestats.stats.validity.confidence import confidence_calibration

CONFIDENCE = "confidence"
"""Column: how sure the judge is of its own verdict."""
CHANCE_OF_PASSING = "pass_probability"
"""Column: the judge's chance that the answer passes."""
_LEAST = 20


@dataclass(frozen=True, kw_only=True)
class Diagram(Rows):
    """Reliability diagram: a row a bin of confidences."""

    summary: str

    def sentence(self) -> str:
        """Brier's score and the calibration error, beside its null."""
        return self.summary


def confidence_results(
    asked: pd.DataFrame, declared: AnalysisPlan
) -> list[tuple[str, str, Result]]:
    """Brier's score, calibration error with its null, and the reliability diagram.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition, ``choice`` and ``label`` in the same words; of each item its
        first judgment counts.
    declared : AnalysisPlan

    Returns
    -------
    list of (str, str, Result)
        Empty where no confidence stands beside 20 labelled verdicts, or they are no chances.
    """
    stated = next(
        (c for c in (CHANCE_OF_PASSING, CONFIDENCE) if c in asked and asked[c].notna().any()), ""
    )
    if not stated:
        return []
    own = asked[(asked["label"] != "") & (asked["choice"] != "") & asked[stated].notna()]
    own = own.drop_duplicates("item_id")
    if stated == CHANCE_OF_PASSING:
        own = own[own["label"].isin(["pass", "fail"])]
        outcome = own["label"].eq("pass")
    else:
        outcome = own["choice"].eq(own["label"])
    chance = own[stated].to_numpy(float)
    if chance.size and 1 < chance.max() <= 100 and chance.min() >= 0:
        chance = chance / 100  # said in per cent
    if chance.size < _LEAST:
        return []
    clusters = own["cluster"].to_numpy(object)
    options: dict[str, Any] = {
        "cluster": clusters if len(set(clusters)) < clusters.size else None,
        "level": declared.level,
        "seed": declared.seed,
    }
    try:
        calibration = confidence_calibration(chance, outcome.to_numpy(np.float64), **options)
    except InputError:  # outside 0-1: no chances, so nothing is said of them
        return []
    of = "of passing" if stated == CHANCE_OF_PASSING else "in its verdict"
    return [
        ("people.brier", f"Brier score of its confidence {of}", calibration.brier),
        (
            "people.calibration",
            f"Calibration error of its confidence {of}",
            calibration.calibration_error,
        ),
        (
            "people.reliability_diagram",
            f"Reliability diagram of its confidence {of}",
            Diagram(table=calibration.diagram, summary=calibration.sentence()),
        ),
    ]
