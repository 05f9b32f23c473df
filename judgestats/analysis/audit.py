"""Can this judge be trusted? The analysis of judgments that people already have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from judgestats.analysis.audit_parts import both_audits, kinds
from judgestats.analysis.audit_plan import plan_for
from judgestats.analysis.far_scores import with_read_notes
from judgestats.analysis.outcome import Analysis
from judgestats.analysis.score_audit import audit_scores
from judgestats.analysis.validity_tuning import marked_as_tuned
from judgestats.analysis.validity_warnings import label_warnings
from judgestats.analysis.verdicts import audit_verdicts
from judgestats.errors import InputError
from judgestats.judgments.readers.frame import bare, in_reading_order
from judgestats.judgments.schemas import validate_parsed


def audit(
    judgments: pd.DataFrame,
    *,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    labels_drawn: str = "",
    mix: str = "",
    omega_model: str = "parallel",
    sensitivity: str = "",
    specificity: str = "",
) -> Analysis:
    """Audit a frame of judgments: reliability and spread per condition, and paired comparisons.

    Parameters
    ----------
    judgments : DataFrame
        A judgments frame, as `judgestats.read_judgments` returns it.
    n_resamples, seed : int
        Of bootstraps and permutations.
    level : float
        Of the intervals.
    labels_drawn : {"random", "stratified", "by-verdict", "convenience"}, optional
        How the labelled items were chosen; by default as their chances (a column ``chance`` of
        the labels) show, else random is assumed, and said.
    mix : str
        Share of each category in the traffic that corrected rates are for: ``chat=.8,code=.2``.
    omega_model : {"parallel", "tau-equivalent", "congeneric"}
        Its omega stands beside the parallel one, which exchangeable replications imply; chosen
        before the data are seen, never by its fit.
    sensitivity, specificity : str
        The judge's rates in another study with their numbers of labels, ``137/149`` or ``.92/149``:
        where these judgments have no labels, the pass rate is corrected by them.

    Returns
    -------
    Analysis
        Prints as a summary that ends in one plain sentence.

    Raises
    ------
    InputError
        No judgment has a score or a choice.

    Examples
    --------
    >>> import pandas as pd
    >>> from judgestats.judgments.readers.frame import parsed_frame
    >>> rows = [dict(judge="J", temperature=1.0, item_id=f"i{i}", cluster=f"i{i}", replicate=r,
    ...              score=float(3 + i % 5 + (i + r) % 2), status="ok")
    ...         for i in range(12) for r in range(4)]
    >>> found = audit(parsed_frame(pd.DataFrame(rows)), n_resamples=99)
    >>> found.conditions["n_items"].tolist()
    [12]
    """
    return audit_read(
        validate_parsed(judgments),
        notes=judgments.attrs.get("notes", ()),
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        labels_drawn=labels_drawn,
        mix=mix,
        omega_model=omega_model,
        sensitivity=sensitivity,
        specificity=specificity,
    )


def audit_read(frame: pd.DataFrame, *, notes: Iterable[object] = (), **options: Any) -> Analysis:
    """Audit a frame that has just been read, and was validated there.

    Parameters
    ----------
    frame : DataFrame
        As `judgestats.read_judgments` returned it.
    notes : iterable of str
        What the data leave open.
    **options
        As `audit` takes them.

    Returns
    -------
    Analysis
    """
    options = {"n_resamples": 999, "seed": 0, "labels_drawn": "", **options}
    frame = bare(in_reading_order(frame))
    in_scores, in_words = kinds(frame)
    if not (in_scores or in_words):
        raise InputError(
            f"audit: none of the {len(frame)} judgments could be read "
            f"({', '.join(f'{n} {s}' for s, n in frame['status'].value_counts().items())}), so "
            "nothing can be described. Look at their reason column; verdicts in words need a "
            "choice column: read_judgments(..., mapping={'choice': 'COLUMN'})."
        )
    if in_scores and in_words:
        audits = both_audits(
            frame,
            in_words,
            scores=lambda part: audit_scores(part, plan_for(part, **options)),
            verdicts=lambda part: audit_verdicts(part, plan_for(part, **options)),
        )
    elif in_scores:
        audits = audit_scores(frame, plan_for(frame, **options))
    else:
        audits = audit_verdicts(frame, plan_for(frame, **options))
    read_notes = list(map(str, notes))
    if (
        options["labels_drawn"] == "by-verdict"
        and "chance" not in frame
        and len(audits.conditions) > 1
    ):
        read_notes.append(
            "Labels drawn by verdict are weighted in each condition by its own verdicts, which is "
            "right for the judge that they were drawn by and for no other: a column chance beside "
            "the labels serves all."
        )
    warned = label_warnings(audits.results)
    audits = replace(audits, limitations=(*warned, *audits.limitations))
    return marked_as_tuned(with_read_notes(audits, read_notes), [frame])
