"""How often each system wins its comparisons, with an interval over questions."""

from __future__ import annotations

import re
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.errors import InputError
from judgestats.stats.agreement.alignment import share_of_sums
from judgestats.stats.inference.estimate_set import Estimates
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Sample
from judgestats.stats.inference.sum_statistics import estimate_from_sums
from judgestats.stats.layouts.count_table import encode_verdicts

_WORD = re.compile(r"\W+")
"""What a system's name (gpt-4) has that the name of an estimate has not."""


@with_keywords()
def win_rates(
    verdicts: ArrayLike, *, system_a: ArrayLike, system_b: ArrayLike, **inference: Unpack[Clustered]
) -> Estimates:
    """Share of its comparisons that each system wins, a tie counting half.

    Parameters
    ----------
    verdicts : array-like, shape (n_pairs,)
        ``"a"``, ``"b"`` or ``"tie"``; None, NaN or empty text where not read.
    system_a, system_b : array-like, shape (n_pairs,)
        Who wrote each response.
    cluster : array-like, shape (n_pairs,), optional
        The question of each pair.

    Returns
    -------
    Estimates
        One term a system, named ``win_rate_SYSTEM`` (letters, digits and underscores), the best
        first; its label has the name as given.

    Raises
    ------
    InputError
        If the lengths differ, a verdict is none of the three, or a system meets itself.

    Notes
    -----
    The rates hold for the opponents that were met: they are comparable where every system met every
    other equally often. Systems share questions, so the intervals of two rates are not independent:
    compare systems by `comparisons_with_best` on their credit by question.

    Examples
    --------
    >>> out = win_rates(["a", "a", "tie", "b"], system_a=["x", "x", "x", "y"],
    ...                 system_b=["y", "z", "z", "z"])
    >>> [(t.name, round(t.estimate, 2)) for t in out.terms]
    [('win_rate_x', 0.83), ('win_rate_z', 0.5), ('win_rate_y', 0.0)]
    """
    where = "win_rates"
    codes, _ = encode_verdicts(verdicts, categories=("a", "b", "tie"), where=where)
    first, second = (np.asarray(s).astype(str) for s in (system_a, system_b))
    if codes.ndim != 1 or codes.size == 0 or not first.shape == codes.shape == second.shape:
        raise InputError(
            f"{where}: verdicts, system_a and system_b must be one entry a pair, got shapes "
            f"{codes.shape}, {first.shape} and {second.shape}. Align them by pair."
        )
    if np.any(first == second):
        raise InputError(
            f"{where}: a system cannot meet itself, got {first[first == second][0]!r}."
        )
    groups = cluster_codes(inference["cluster"], codes.size, where=where)
    credit = np.array([1.0, 0.0, 0.5, 0.0])[codes]
    terms = []
    for name in sorted({*first.tolist(), *second.tolist()}):
        took_part = ((first == name) | (second == name)) & (codes >= 0)
        gained = np.where(first == name, credit, 1 - credit) * took_part
        unread = int(np.sum(((first == name) | (second == name)) & (codes < 0)))
        terms.append(
            estimate_from_sums(
                share_of_sums(),
                np.column_stack([took_part, gained]).astype(float),
                name=f"win_rate_{_WORD.sub('_', name)}",
                label=f"Win rate of {name}",
                estimator="share of comparisons won, a tie counting half",
                sample=Sample(
                    n_items=int(took_part.sum()),
                    excluded={"no verdict": unread},
                ),
                reason="no comparison was read",
                where=where,
                cluster=groups if inference["cluster"] is not None else None,
                level=inference["level"],
                scale="logit",
                proportion=True,
            )
        )
    lost = int(np.sum(codes < 0))
    return Estimates(
        name=where,
        label="Win rates",
        terms=tuple(sorted(terms, key=lambda t: -t.estimate)),
        sample=Sample(
            n_items=int(np.sum(codes >= 0)),
            n_clusters=int(np.unique(groups).size) if inference["cluster"] is not None else None,
            excluded={"no verdict": lost},
        ),
    )
