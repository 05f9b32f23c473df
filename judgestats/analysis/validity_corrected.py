"""A number corrected by people's labels, and what it is to be read beside."""

from __future__ import annotations

import math
from collections.abc import Mapping

from judgestats.results.numbers import apa_number
from judgestats.stats.inference.result import Estimate, Result
from judgestats.stats.validity.corrected import CorrectedScore

Found = list[tuple[str, str, Result]]


def corrected_results(
    score: CorrectedScore, what: str, *, mix: Mapping[str, float] | None, beside_judge: bool = True
) -> Found:
    """The corrected number, and what it is to be read beside.

    Parameters
    ----------
    score : CorrectedScore
    what : str
        ``pass rate`` or ``mean score``.
    mix : mapping of category to share, or None
    beside_judge : bool
        Whether the judge's own mean is the same quantity and stands beside.

    Returns
    -------
    list of (str, str, Result)
    """
    shares = ", ".join(f"{k} {v / sum(mix.values()):.2g}" for k, v in mix.items()) if mix else ""
    corrected = score.corrected.replace(
        notes=score.notes,
        details={
            **score.corrected.details,
            **({"judge_only": score.judge_only.estimate} if beside_judge else {}),
            "people_only": score.people_only.estimate,
            "labels_worth": score.labels_worth,
        },
    )
    beside = [
        f"{name} {apa_number(e.estimate, bounded=what == 'pass rate')}"
        for name, e in (("judge alone", score.judge_only), ("labels alone", score.people_only))
        if not math.isnan(e.estimate) and (beside_judge or e is not score.judge_only)
    ]
    if score.labels_worth >= 1:
        beside.append(f"the judge is worth {score.labels_worth:.0f} labels")
    if not score.labels_drawn:
        beside.append("assumes that the labelled items were drawn at random")
    if shares:
        beside.append(f"for the mix {shares}")
    title = f"The {what} that people would give ({', '.join(beside)})"
    results: Found = [("people.corrected", title, corrected)]
    alone = score.people_only
    if not math.isnan(alone.estimate):
        name = "people_only_rate" if what == "pass rate" else "people_only"
        results.append(("people.labels_alone", alone.label, alone.replace(name=name)))
    if not math.isnan(score.labels_worth):
        worth = Estimate(
            name="labels_worth", label="Labels that the judge is worth", sample=corrected.sample,
            estimate=float(max(round(score.labels_worth), 0)),
        )  # fmt: skip
        results.append(("people.worth", worth.label, worth))
    return results
