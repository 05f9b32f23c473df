"""Rows, figures, and sentences of the summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from judgestats.analysis.records import NamedResult
from judgestats.results import QUANTITIES, Drawing, quantity_of
from judgestats.results import Row as ResultsRow

_ALL = "{}"


def results_row(
    key: str,
    ask: str,
    short: str,
    estimand: str,
    ids: str,
    names: Iterable[str] | Mapping[str, str],
    *,
    note: str = "",
    beside: Mapping[str, str] | None = None,
) -> ResultsRow:
    """A row whose results bear the name of their condition.

    Parameters
    ----------
    key, ask, short, estimand : str
        See `Row`.
    ids : str
        The results' ids, ``{}`` where the name stands.
    names : sequence of str, or mapping
        Conditions; or each condition with what its ids call it.
    note : str
    beside : mapping of words to str

    Returns
    -------
    Row

    Examples
    --------
    >>> dict(results_row("mean", "mean score", "mean", "mean", "condition.mean.{}",
    ...     ["a, T=1"]).cells)
    {'a, T=1': 'condition.mean.a, T=1'}
    """
    called = names if isinstance(names, Mapping) else {name: name for name in names}
    return ResultsRow(
        key=key,
        ask=ask,
        short=short,
        estimand=estimand,
        cells={label: ids.replace(_ALL, name) for label, name in called.items()},
        note=note,
        beside=beside or {},
    )


def declared_row(
    key: str,
    names: Iterable[str] | Mapping[str, str],
    *,
    ids: str = "",
    note: str | None = None,
    beside: Mapping[str, str] | None = None,
) -> ResultsRow:
    """The row that a quantity declares; see `results_row`.

    Parameters
    ----------
    key : str
        Of a quantity with a screen.
    names : sequence of str, or mapping
    ids : str
        Empty: its record's.
    note : str, optional
        Instead of the declared one.
    beside : mapping of words to str

    Returns
    -------
    Row

    Examples
    --------
    >>> declared_row("mean", ["a"]).ask
    'Mean score'
    """
    quantity = quantity_of(key)
    screen = quantity.screen
    if screen is None:
        raise ValueError(f"quantity {key!r} has no row on a screen")
    return results_row(
        screen.key, screen.ask, screen.short, key, ids or f"{quantity.record}.{_ALL}", names,
        note=screen.note if note is None else note, beside=beside,
    )  # fmt: skip


def declared_rows(keys: Iterable[str], names: Iterable[str]) -> tuple[ResultsRow, ...]:
    """The rows of those of these quantities that declare one, of all conditions."""
    names = list(names)
    return tuple(declared_row(key, names) for key in keys if quantity_of(key).screen)


def _computed(*kinds: str) -> list[str]:
    return [q.key for q in QUANTITIES.values() if q.needs and q.needs.kind in kinds]


def score_rows(names: Iterable[str]) -> tuple[ResultsRow, ...]:
    """Of repeated scores: how steady they are, what repeats give, and how high they lie."""
    names = list(names)
    rows = declared_rows(["sem", *_computed("scores"), "k_needed", "mean"], names)
    at = [row.key for row in rows].index("reliability") + 1
    of_runs = results_row(
        "icc_3_1", "ICC(3,1)", "ICC(3,1)", "icc_3_1", "condition.icc_3_1.{}", names,
        note="without shifts of runs",
    )  # fmt: skip
    return (*rows[:at], of_runs, *rows[at:])


def verdict_rows(names: Iterable[str]) -> tuple[ResultsRow, ...]:
    """Rows of verdicts: consistency over repeats and over orders."""
    return declared_rows(
        [*_computed("verdicts"), "k_needed", *_computed("pairs"), "proportion"], names
    )


def share_rows(words: Mapping[str, Iterable[str]]) -> tuple[ResultsRow, ...]:
    """Rows of verdicts without repeats: the share of each verdict; `words` by condition.

    Parameters
    ----------
    words : mapping of condition to the verdicts whose shares it has

    Returns
    -------
    tuple of Row

    Examples
    --------
    >>> [r.ask for r in share_rows({"a": ["good", "bad"], "b": ["bad"]})]
    ["Share of 'bad'", "Share of 'good'"]
    """
    by_condition = {name: tuple(own) for name, own in words.items()}
    return tuple(
        results_row(
            f"share of '{word}'",
            f"Share of '{word}'",
            f"'{word}'",
            "share",
            f"verdicts.share of '{word}'.{{}}",
            [name for name, own in by_condition.items() if word in own],
        )
        for word in sorted({w for own in by_condition.values() for w in own})
    )


def choice_rows(names: Iterable[str], *, one: str = "choice") -> tuple[ResultsRow, ...]:
    """Rows of choices among several options: consistency over repeats."""
    names = list(names)
    return (
        results_row(
            "reliability",
            "Kappa (repeats)",
            "Kappa (repeats)",
            "vote_share_reliability",
            "reliability.one.{}",
            names,
        ),
        declared_row("k_needed", names),
        declared_row("flip_rate", names, ids="repetition.flips.{}", note=f"(share of {one}s)"),
    )


def people_rows(
    names: Iterable[str],
    *truth: ResultsRow,
    corrected: str = "",
    labels_drawn: str = "",
    repeats: int = 1,
) -> tuple[ResultsRow, ...]:
    """Agreement with human labels, of scores and of verdicts, followed by `truth`.

    Rows that do not fit on a screen are dropped from the end. Accuracy and the corrected estimate
    come first, because users ask for them first. References are a judge that always says the same,
    and two human raters. Rates on labels that were picked by hand (`labels_drawn`) are marked,
    since they hold for those items only. So are rates of the majority of several verdicts
    (`repeats`), since agreement is that of one verdict. `corrected` names the mean for which
    `true_rows` replace `truth`.
    """
    names = list(names)
    first = names[0] if names else ""
    if corrected:
        truth = true_rows(names, corrected, labels_drawn=labels_drawn)
    voted = "of the majority" if repeats > 1 else ""
    picked = "of items picked by hand" if labels_drawn == "convenience" else ""
    alone = f"({picked})" if picked else ""

    def row(key: str, record: str, note: str = alone, **beside: str) -> ResultsRow:
        named = {words.replace("_", " "): f"people.{i}.{first}" for words, i in beside.items()}
        return declared_row(key, names, ids=f"people.{record}.{{}}", note=note, beside=named)

    rates = f"({', '.join(filter(None, (voted, picked)))})" if voted else alone
    between = f", {picked}" if picked else ""
    return (
        row("pearson_with_human", "pearson", f"r{between}"),
        row("accuracy", "accuracy", always_the_same="always_same", two_people="among_themselves"),
        row("separation", "separation", f"(of pairs{between})"),
        row(
            "chosen_answers_that_are_right", "best_scored", "(of questions)",
            a_random_choice="random_choice",
        ),
        *truth,
        row("bias", "bias"),
        row("cohen_kappa", "kappa", f"(kappa{between})", two_people="among_kappa"),
        row("sensitivity", "sensitivity", rates),
        row("specificity", "specificity", rates),
        row("judge_person_agreement", "with_one", two_people="among_themselves"),
        row("judge_person_distance", "apart", two_people="among_themselves"),
        row(
            "winning_rate", "replaces", "(of people; .50 passes)",
            always_the_same="constant_replaces",
        ),
    )  # fmt: skip


def aligned_rows(names: Iterable[str] | Mapping[str, str]) -> tuple[ResultsRow, ResultsRow]:
    """Agreement with human labels of pairs, where a tie counts half and where neither ties."""
    return (
        declared_row(
            "alignment_score",
            names,
            ids="alignment.{}",
            beside={
                "people among themselves": "alignment.people",
                "always tie": "alignment.always_tie",
            },
        ),
        results_row(
            "accuracy",
            "Accuracy without ties",
            "Accuracy",
            "accuracy",
            "agreement.accuracy.{}",
            names,
        ),
    )


def true_rows(
    names: Iterable[str], estimand: str, *, labels_drawn: str = ""
) -> tuple[ResultsRow, ResultsRow]:
    """Corrected pass rate or mean score of all judged items, and labels saved by the judge.

    The estimate from the labels alone is the reference.
    """
    names = list(names)
    note = "(mean score)" if estimand == "greg" else "(pass rate)"
    words = "the picked alone" if labels_drawn == "convenience" else "labels alone"
    alone = {words: f"people.labels_alone.{names[0]}"} if names else {}
    return (
        results_row(
            "truth",
            "Corrected rate",
            "Corrected",
            estimand,
            "people.corrected.{}",
            names,
            note=note,
            beside=alone,
        ),
        declared_row("labels_extra", names, ids="people.labels_extra.{}"),
    )


DRAWN_SCORES = ("icc1", "pearson", "accuracy_all", "unread_share", "sem")
DRAWN_VERDICTS = ("vote_share", "accuracy", "flip_rate", "unread_share")
"""The panels of an audit, the most telling first; those without numbers fall out."""


def factor_curve(
    over: str, *estimands: str, caption: str, by: Sequence[str] = (), **more: object
) -> Drawing:
    """Estimands against a factor, a line per judge.

    Examples
    --------
    >>> factor_curve("temperature", "sem", caption="SEM by temperature.").kind
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
