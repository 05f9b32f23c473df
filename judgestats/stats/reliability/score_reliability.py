"""The summary a reader wants: how reliable is one score, and how reliable the mean of k?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Unpack

from numpy.typing import ArrayLike

from judgestats.results.numbers import apa_number, counted
from judgestats.stats.inference.estimate_set import Estimates
from judgestats.stats.inference.keywords import NULL, Inference, with_keywords
from judgestats.stats.inference.result import Estimate, Note
from judgestats.stats.layouts.score_matrix import score_matrix
from judgestats.stats.reliability.internal_consistency import cronbach_alpha, guttman_lambda2
from judgestats.stats.reliability.intraclass import icc
from judgestats.stats.reliability.measurement_error import (
    smallest_detectable_change,
    standard_error_of_measurement,
)
from judgestats.stats.reliability.step_up import replications_needed, spearman_brown


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScoreReliability(Estimates):
    """What `reliability_of_scores` returns: the estimates, and how many judgments are enough.

    Attributes
    ----------
    k : int
        Judgments that the mean's coefficients speak of (the replications given).
    needed : mapping of float to float
        Target reliability to the number of judgments whose mean reaches it by Spearman-Brown of
        ICC(1,1), not rounded; NaN where no number does.
    """

    k: int
    needed: Mapping[float, float]

    @property
    def single(self) -> Estimate:
        """Reliability of one judgment: ICC(1,1)."""
        return self["icc_1_1"]

    @property
    def average(self) -> Estimate:
        """Reliability of the mean of k judgments: ICC(1,k)."""
        return self["icc_1_k"]

    def sentence(self) -> str:
        """One judgment, the mean of k, and the k that is enough."""
        if math.isnan(self.single.estimate):
            return f"The reliability of the scores is undefined: {self.single.reason}."
        enough = "; ".join(
            f"{counted(math.ceil(k - 1e-9) or 1, 'judgment reaches', 'judgments reach')} "
            f"{target:.2f}"
            if not math.isnan(k)
            else f"no number of judgments reaches {target:.2f}"
            for target, k in self.needed.items()
        )
        error = self["sem_absolute"].short()
        return (
            f"One judgment has reliability {self.single.short()}, the mean of {self.k} "
            f"{self.average.short()}; {enough}. The SEM, the SD of repeated scores, is "
            f"{error} points ({self.sample})."
        )

    def __str__(self) -> str:
        return f"{super().__str__()}{self.sentence()}\n"


@with_keywords(permutations=NULL)
def reliability_of_scores(
    scores: ArrayLike,
    *,
    targets: tuple[float, ...] = (0.80, 0.90),
    n_jobs: int = 1,
    **inference: Unpack[Inference],
) -> ScoreReliability:
    """Reliability of replicated scores: one judgment and the mean of k, with error in score points.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_replications)
        Replications of one prompt; NaN where missing. With missing judgments the one-way forms are
        computed from all judgments, and alpha, lambda-2 and ICC(3) give their reason.
    cluster : array-like, shape (n_items,), optional
        Cluster of each item (the question): left out together by the intervals' jackknife.
    targets : tuple of float
        Reliabilities for which the number of judgments is worked out.
    n_jobs : int

    Returns
    -------
    ScoreReliability
        Terms ``icc_1_1``, ``icc_1_k``, ``icc_3_1``, ``icc_3_k``, ``alpha``, ``lambda2``,
        ``sem_absolute``, ``sdc_absolute`` and the same two of the mean of k.

    Raises
    ------
    InputError
        If the scores are no finite matrix or a target is not in (0, 1).

    Notes
    -----
    Replications of one prompt are exchangeable, so ICC(1) is the design-consistent form: its
    step-up is ICC(1,k). ICC(3,k) takes column means out and equals alpha; the two differ only by
    the accident of unequal column means (parallel20x10: .968581 and .969011).

    Examples
    --------
    >>> x = [[2, 3, 2], [5, 4, 5], [8, 8, 9], [4, 4, 3]]
    >>> out = reliability_of_scores(x, n_permutations=0)
    >>> round(out.single.estimate, 3), round(out.average.estimate, 3)
    (0.951, 0.983)
    """
    x = score_matrix(scores, where="reliability_of_scores")
    shared: dict[str, object] = {
        "cluster": inference["cluster"],
        "level": inference["level"],
        "n_permutations": inference["n_permutations"],
        "n_resamples": inference["n_resamples"],
        "seed": inference["seed"],
        "n_jobs": n_jobs,
    }
    coefficients = [
        icc(x, form="ICC(1,1)", **shared),  # type: ignore[arg-type]
        icc(x, form="ICC(1,k)", **shared),  # type: ignore[arg-type]
        icc(x, form="ICC(3,1)", **shared),  # type: ignore[arg-type]
        icc(x, form="ICC(3,k)", **shared),  # type: ignore[arg-type]
        cronbach_alpha(x, **shared),  # type: ignore[arg-type]
        guttman_lambda2(x, **shared),  # type: ignore[arg-type]
    ]
    single = coefficients[0]
    k = x.shape[1]
    n0 = single.details.get("k", float(k))
    of_error: dict[str, Any] = {"level": inference["level"], "cluster": inference["cluster"]}
    errors = [
        error(x, n_averaged=n, **of_error)
        for n in ((1, k) if k > 1 else (1,))
        for error in (standard_error_of_measurement, smallest_detectable_change)
    ]
    needed = {t: replications_needed(single.estimate, target=t) for t in targets}
    notes: list[Note] = []
    if float(n0) != k and not math.isnan(single.estimate):
        stepped = spearman_brown(single.estimate, k=k)
        message = (
            f"Items have unequal numbers of judgments: ICC(1,k) is of the mean of n0 = {n0:.4g}; "
            f"the mean of {k} has {apa_number(stepped, bounded=True)} by Spearman-Brown."
        )
        notes.append(Note(code="unequal_replications", message=message))
    return ScoreReliability(
        name="reliability_of_scores",
        label="Reliability of scores",
        terms=(*coefficients, *errors),
        sample=single.sample,
        notes=tuple(notes),
        details={"needed_rounded_up": {t: _up(v) for t, v in needed.items()}},
        k=k,
        needed=needed,
    )


def _up(k: float) -> float:
    """The next whole number of judgments, at least one."""
    return k if math.isnan(k) else float(max(1, math.ceil(k - 1e-9)))
