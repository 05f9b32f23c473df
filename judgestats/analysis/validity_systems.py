"""Several systems answered the same questions: which is better, corrected for the judge's error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.errors import InputError
from judgestats.results import About
from judgestats.stats.inference.result import Comparisons, Estimate, Note
from judgestats.stats.validity.systems import corrected_differences

SYSTEMS = Hypothesis(
    id="systems",
    role="secondary",
    question="Which system's answers would people prefer?",
    test="difference of the labels regressed on the judge's (GREG), paired by question, so that a "
    "judge that favours one system is corrected for it",
    family="all pairs of systems, and the audit's other comparisons",
    adjustment="holm",
)
_MOST = 30
_LEAST = 20
_CODES = {"pass": 1.0, "fail": 0.0}
_BESIDE = Note(
    code="judge_beside",
    message="What the judge alone says of each pair stands beside (judge_differences): its gap is "
    "(sensitivity + specificity - 1) times the true one, and a liking that differs between systems "
    "is added to it.",
)


def system_results(frame: pd.DataFrame, declared: AnalysisPlan) -> list[NamedResult]:
    """The differences of systems that people would see, every pair, adjusted by Holm.

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
        about = About(conditions=(str(condition),))
        results.append(
            NamedResult(
                id=f"systems.{condition}",
                title=f"Systems as people would compare them ({condition})",
                role="secondary",
                result=compared,
                headline=True,
                about=about,
            )
        )
        results += [
            NamedResult(
                id=f"superior.{pair}.{condition}",
                title=f"{estimate.label}, a tie half ({condition})",
                role="descriptive",
                result=estimate,
                about=about,
            )
            for pair, estimate in wins.items()
        ]
    return results


def _compared(
    own: pd.DataFrame, level: float, labels_drawn: str
) -> tuple[Comparisons, dict[str, Estimate]] | None:
    """Of one condition: all pairs of systems, and how likely each is the better one."""
    systems = [s for s in dict.fromkeys(own["author"].astype(str)) if s]
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
    f, y = (
        table.pivot_table(
            index="question", columns="system", values=c, aggfunc="mean", dropna=False, sort=False
        )
        .reindex(columns=systems)
        .to_numpy(float)
        for c in ("judge", "human")
    )
    if int(np.sum((np.isfinite(y) & np.isfinite(f)).sum(axis=1) >= 2)) < _LEAST:
        return None
    drawn: Any = labels_drawn or None
    try:
        out = corrected_differences(
            f, y, names=systems, kind="score", labels_drawn=drawn, level=level
        )
    except InputError:
        return None
    details = dict(out.details)
    wins = details.pop("win_rates")
    return replace(out, notes=(*out.notes, _BESIDE), details=details), wins
