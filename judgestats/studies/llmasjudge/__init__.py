"""The study "LLMasJudge" (2024-25), claim by claim."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.analysis.summary_rows import factor_curve
from judgestats.studies.claims import Claim, Options, Replication, Study
from judgestats.studies.llmasjudge import alignment
from judgestats.studies.llmasjudge.data import MARGIN, LLMasJudgeData, read_llmasjudge
from judgestats.studies.llmasjudge.spread import (
    distribution,
    guidelines,
    judges,
    small_variance,
    temperature,
)

__all__ = ["STUDY", "examine"]


def examine(folder: Path, options: Options) -> Replication:
    """Every claim of the study, on the data of a folder.

    Parameters
    ----------
    folder : Path
        The study's tables, or the authors' own results.
    options : Options

    Returns
    -------
    Replication
    """
    data = read_llmasjudge(folder)
    claims: list[Claim] = [
        temperature(data, options),
        distribution(data, options),
        judges(data, options),
        guidelines(data, options),
        alignment.reasoning(data, options, level="before"),
        alignment.reasoning(data, options, level="after"),
        alignment.reasoning_by_judge(data, options),
        alignment.alignment_methods(data, options),
        alignment.alignment_temperature(data, options, level="before"),
        alignment.alignment_temperature(data, options, level="none"),
        small_variance(data, options),
        alignment.more_trials(data, options),
    ]
    return Replication(
        study="llmasjudge",
        title="The consistency of numerical gradings (LLMasJudge), re-examined",
        question="Which of the study's claims on the consistency of LLM judges stand when the test "
        "is the one that the question calls for?",
        claims=tuple(claims),
        conditions=_conditions(data),
        drawing=factor_curve(
            "temperature",
            "within_variance",
            caption="Spread of repeated scores by temperature, from the study's data.",
            only={"factor_guideline": ("none",), "factor_reasoning": ("none",)},
        ),
        data_source=data.source,
        limitations=_limitations(data),
        margins={"variance_ratio": MARGIN},
    )


def _conditions(data: LLMasJudgeData) -> pd.DataFrame:
    """One row a cell of the study: how many variances, their mean."""
    parts = [("none", "none", data.variances)]
    parts += [(level, "none", cells) for level, cells in data.guidelines.items()]
    parts += [("none", level, cells) for level, cells in data.reasoning.items()]
    rows = []
    for guideline, reasoning_level, cells in parts:
        for (t, judge), values in cells.items():
            further = [f"guideline={guideline}"] if guideline != "none" else []
            further += [f"reasoning={reasoning_level}"] if reasoning_level != "none" else []
            rows.append(
                {
                    "condition": ", ".join([judge, f"T={t:g}", *further]),
                    "judge": judge,
                    "temperature": t,
                    "factor_guideline": guideline,
                    "factor_reasoning": reasoning_level,
                    "n_items": int(np.sum(~np.isnan(values))),
                    "within_variance": float(np.nanmean(values)),
                }
            )
    return pd.DataFrame(rows)


def _limitations(data: LLMasJudgeData) -> tuple[str, ...]:
    short = [
        f"{judge} at T={t:g} ({values.size})"
        for (t, judge), values in data.variances.items()
        if values.size != data.n_items
    ]
    parts = []
    if short:
        parts.append(
            f"Arrays with fewer than {data.n_items} variances do not say which items they lack and "
            f"are never aligned by index; left out of paired tests: {', '.join(short)}."
        )
    parts += list(data.left_out)
    parts.append(
        "Only the study's variances and scores are examined: neither its prompts nor its items "
        "were judged again."
    )
    return tuple(parts)


STUDY = Study(
    name="llmasjudge",
    title="Consistency of numerical gradings (LLMasJudge)",
    source="blog and public code, 2024-25",
    layout="the authors' `expNx/combined_results.json`, or their tables",
    examine=examine,
)
