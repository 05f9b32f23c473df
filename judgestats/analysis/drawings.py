"""The figure that answers each experiment's question, as its analysis declares it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgestats.analysis.outcome import NamedResult
from judgestats.results import Drawing

DRAWN_SCORES = ("icc1", "pearson", "accuracy_all", "unread_share", "sem")
DRAWN_VERDICTS = ("vote_share", "accuracy", "flip_rate", "unread_share")
"""The panels of an audit, the most telling first; those without numbers fall out."""


def against(
    over: str, *estimands: str, caption: str, by: Sequence[str] = (), **more: object
) -> Drawing:
    """Estimands against a factor, a line a judge.

    Examples
    --------
    >>> against("temperature", "sem", caption="SEM by temperature.").kind
    'curve'
    """
    return Drawing(
        kind="curve",
        estimands=estimands,
        over=over,
        by=tuple(by),
        caption=caption,
        **more,  # type: ignore[arg-type]
    )


def ranked(
    *estimands: str,
    caption: str = "",
    results: Iterable[NamedResult] = (),
    compared: str = "",
    lines: Sequence[str] = (),
) -> Drawing:
    """Rows of dots, the best first; rows that no comparison tells apart are joined.

    Parameters
    ----------
    estimands : str
        A panel each.
    caption : str
        Empty: the page names what it draws.
    results : iterable of NamedResult
        Of the analysis.
    compared : str
        What the ids of the sets begin with whose pairs join rows.
    lines : sequence of str
        Ids of references.

    Examples
    --------
    >>> ranked("icc1", caption="Reliability.").estimands
    ('icc1',)
    """
    sets = tuple(r.id for r in results if compared and r.id.startswith(compared))
    return Drawing(
        kind="dots", estimands=estimands, compared=sets, lines=tuple(lines), caption=caption
    )
