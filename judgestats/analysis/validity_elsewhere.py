"""Error rates measured in another study: the pass rate that people would give by them alone."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from judgestats.analysis.plan import AnalysisPlan
from judgestats.errors import InputError
from judgestats.results.numbers import apa_number
from judgestats.stats.inference.result import Result, Sample
from judgestats.stats.validity.rogan_gladen import corrected_by_rates, effective_passes

RATES = ("sensitivity", "specificity")


def read_rates(given: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """How many labels each rate rests on, and how many of them the judge met.

    Parameters
    ----------
    given : mapping of str to str
        ``sensitivity`` and ``specificity``: ``137/149``, or the share ``.92/149``.

    Returns
    -------
    dict of str to (right, labels)
        Empty where nothing is given.

    Raises
    ------
    InputError
        One is given without the other, or is no rate with its number of labels.

    Examples
    --------
    >>> read_rates({"sensitivity": "137/149", "specificity": ".84/50"})
    {'sensitivity': (137.0, 149.0), 'specificity': (42.0, 50.0)}
    """
    rates = {name: str(given[name]).strip() for name in RATES if str(given.get(name, "")).strip()}
    if len(rates) == 1:
        [one] = rates
        other = next(r for r in RATES if r != one)
        raise InputError(f"{one}= needs {other}= beside it: a rate is corrected by both.")
    out = {}
    for name, text in rates.items():
        first, mark, second = (p.strip() for p in text.partition("/"))
        try:
            right, labels = float(first), float(second) if mark else math.nan
        except ValueError:
            right = labels = math.nan
        if "." in first and 0 <= right <= 1:
            right *= labels
        if not (0 <= right <= labels < math.inf) or labels < 1:
            raise InputError(
                f"{name}= must say on how many labels the rate rests: 137/149 (137 of 149 right), "
                f"or the share .92/149; got {text[:40]!r}."
            )
        out[name] = (round(right, 6), labels)
    return out


def check_rates(frame: pd.DataFrame, declared: AnalysisPlan) -> None:
    """Refuse rates measured elsewhere where these judgments have no use of them.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments, their verdicts as pass and fail where they are.
    declared : AnalysisPlan

    Raises
    ------
    InputError
        There are labels, several judges, or verdicts other than pass and fail.
    """
    if not read_rates(declared.options):
        return
    if "label" in frame and frame["label"].astype(str).str.strip().ne("").any():
        raise InputError(
            "sensitivity= and specificity= are for judgments without labels, and these have some: "
            "labels of the items judged correct the rate better (standard deviation .034 against "
            ".050 with 100 labels). Leave the rates out, or the labels."
        )
    judges = list(frame["judge"].unique())
    if len(judges) > 1:
        raise InputError(
            f"sensitivity= and specificity= are one judge's, and {len(judges)} judges are here "
            f"({', '.join(map(str, judges[:3]))}). Give the judgments of one."
        )
    if not set(frame["choice"]) - {""} <= {"pass", "fail"} or frame["score"].notna().any():
        raise InputError(
            "sensitivity= and specificity= correct pass and fail verdicts, and these are others. "
            "Leave the rates out; --kind pass-fail or --pass WORD says which word is a pass."
        )


def by_rates(asked: pd.DataFrame, declared: AnalysisPlan) -> list[tuple[str, str, Result]]:
    """The pass rate that people would give, by the rates of another study.

    Parameters
    ----------
    asked : DataFrame
        Judgments of one condition, ``pass``, ``fail`` or empty.
    declared : AnalysisPlan
        ``options`` hold the rates.

    Returns
    -------
    list of (str, str, Result)
        Empty where none were given or nothing was read.

    Notes
    -----
    Rogan and Gladen's estimate with Lang and Reiczigel's interval, on the number of independent
    items that would have the variance over clusters.
    """
    rates = read_rates(declared.options)
    read = asked[asked["choice"] != ""]
    if not rates or read.empty:
        return []
    passed = (read["choice"] == "pass").astype(float)
    share = passed.groupby(read["item_id"], sort=False).mean()
    cluster, _ = pd.factorize(read.groupby("item_id", sort=False)["cluster"].first())
    codes = np.asarray(cluster, dtype=np.int64)
    passes, n = effective_passes(np.asarray(share, dtype=np.float64), codes, level=declared.level)
    (tp, positives), (tn, negatives) = (rates[name] for name in RATES)
    corrected = corrected_by_rates(
        passes, n, tp=tp, positives=positives, tn=tn, negatives=negatives,
        level=declared.level,
    )  # fmt: skip
    clusters = int(np.unique(codes).size)
    unread = asked["item_id"].nunique() - len(share)
    sample = Sample(
        n_items=len(share),
        n_clusters=clusters if clusters < codes.size else None,
        excluded={"unread": unread},
    )
    shown = ", ".join(
        f"{name} {apa_number(right / labels, bounded=True)} of {labels:g} labels"
        for name, (right, labels) in rates.items()
    )
    title = (
        f"The pass rate that people would give (judge alone "
        f"{apa_number(passes / n, bounded=True)}; measured elsewhere: {shown})"
    )
    details = {**corrected.details, "judge_only": passes / n, "effective_n": n}
    return [("people.corrected", title, corrected.replace(sample=sample, details=details))]
