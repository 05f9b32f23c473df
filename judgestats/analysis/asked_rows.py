"""The questions that the screen and the report's first page answer: what analyses declare of them.

An analysis names its rows here or beside its own results. Whoever adds a question that other
analyses ask too (is it right, is it fair) adds a function that gives its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from judgestats.results import Row
from judgestats.results.estimands import name_of

_ALL = "{}"


def asked_row(
    key: str,
    ask: str,
    short: str,
    estimand: str,
    ids: str,
    names: Iterable[str] | Mapping[str, str],
    *,
    note: str = "",
    beside: Mapping[str, str] | None = None,
) -> Row:
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
    >>> dict(asked_row("mean", "mean score", "mean", "mean", "condition.mean.{}", ["a, T=1"]).cells)
    {'a, T=1': 'condition.mean.a, T=1'}
    """
    called = names if isinstance(names, Mapping) else {name: name for name in names}
    return Row(
        key=key,
        ask=ask,
        short=short,
        estimand=estimand,
        cells={label: ids.replace(_ALL, name) for label, name in called.items()},
        note=note,
        beside=beside or {},
    )


def score_rows(names: Iterable[str]) -> tuple[Row, ...]:
    """Of repeated scores: how steady they are, what repeats give, and how high they lie."""
    names = list(names)
    return (
        asked_row(
            "sem",
            name_of("sem"),
            "SEM",
            "sem",
            "condition.sem.{}",
            names,
        ),
        asked_row(
            "reliability",
            "one score's reliability",
            "reliability",
            "icc_1_1",
            "reliability.icc1.{}",
            names,
        ),
        asked_row("repeats", "repeats for .90", "repeats", "k_needed", "repeats.needed.{}", names),
        asked_row("mean", "mean score", "mean", "mean", "condition.mean.{}", names),
    )


def verdict_rows(names: Iterable[str]) -> tuple[Row, ...]:
    """Of verdicts: whether asking again, or the other order, changes them."""
    names = list(names)
    return (
        asked_row(
            "flips",
            "asked again it changes",
            "changes",
            "flip_rate",
            "reliability.flip_rate.{}",
            names,
            note="(share of verdicts)",
        ),
        asked_row(
            "reliability",
            "one verdict's reliability",
            "reliability",
            "vote_share_reliability",
            "reliability.vote_share.{}",
            names,
        ),
        asked_row("repeats", "repeats for .90", "repeats", "k_needed", "repeats.needed.{}", names),
        asked_row(
            "swap",
            "same when shown swapped",
            "same if swapped",
            "swap_consistency",
            "order.swap_consistency.{}",
            names,
        ),
        asked_row("passes", "lets pass", "passes", "proportion", "verdicts.pass_rate.{}", names),
    )


def share_rows(words: Mapping[str, Iterable[str]]) -> tuple[Row, ...]:
    """Of verdicts asked once: how often each is given; `words` by condition.

    Parameters
    ----------
    words : mapping of condition to the verdicts whose shares it has

    Returns
    -------
    tuple of Row

    Examples
    --------
    >>> [r.ask for r in share_rows({"a": ["good", "bad"], "b": ["bad"]})]
    ["says 'bad'", "says 'good'"]
    """
    by_condition = {name: tuple(own) for name, own in words.items()}
    return tuple(
        asked_row(
            f"share of '{word}'",
            f"says '{word}'",
            f"'{word}'",
            "share",
            f"verdicts.share of '{word}'.{{}}",
            [name for name, own in by_condition.items() if word in own],
        )
        for word in sorted({w for own in by_condition.values() for w in own})
    )


def choice_rows(names: Iterable[str], *, one: str = "choice") -> tuple[Row, ...]:
    """Of choices among several (or of what `one` calls them): does asking again give the same?"""
    names = list(names)
    return (
        asked_row(
            "reliability",
            f"one {one}'s reliability",
            "reliability",
            "vote_share_reliability",
            "reliability.one.{}",
            names,
        ),
        asked_row("repeats", "repeats for .90", "repeats", "k_needed", "repeats.needed.{}", names),
        asked_row(
            "flips",
            "asked again it changes",
            "changes",
            "flip_rate",
            "repetition.flips.{}",
            names,
            note=f"(share of {one}s)",
        ),
    )


def people_rows(
    names: Iterable[str], *truth: Row, labels_drawn: str = "", repeats: int = 1
) -> tuple[Row, ...]:
    """Agreement with people's labels, of scores and of verdicts; `truth` right behind it.

    What does not fit on a screen falls off at the end: whether it is right, and the true score,
    are what people ask first. A judge that always says the same, and two people, stand beside.
    Rates on labels that were picked by hand (`labels_drawn`) are marked: they speak for those
    items alone. So are rates of the majority of several verdicts (`repeats`), for agreement is
    that of one verdict.
    """
    names = list(names)
    first = names[0] if names else ""
    voted = "of the majority" if repeats > 1 else ""
    picked = "of items picked by hand" if labels_drawn == "convenience" else ""
    alone = f"({picked})" if picked else ""
    return (
        asked_row(
            "people",
            "agrees with people",
            "people",
            "pearson_with_human",
            "people.pearson.{}",
            names,
            note=f"r, {picked}" if picked else "r",
        ),
        asked_row(
            "accuracy",
            "agrees with people",
            "people",
            "accuracy",
            "people.accuracy.{}",
            names,
            note=alone,
            beside={
                "always the same": f"people.always_same.{first}",
                "two people": f"people.among_themselves.{first}",
            },
        ),
        asked_row(
            "separation",
            "passed scored above failed",
            "above",
            "separation",
            "people.separation.{}",
            names,
            note=f"(of pairs, {picked})" if picked else "(of pairs)",
        ),
        asked_row(
            "best",
            "best scored is the right one",
            "right",
            "chosen_answers_that_are_right",
            "people.best_scored.{}",
            names,
            note="(of questions)",
            beside={"a random choice": f"people.random_choice.{first}"},
        ),
        *truth,
        asked_row("bias", "lenient by", "lenient", "bias", "people.bias.{}", names, note=alone),
        asked_row(
            "kappa",
            "beyond chance",
            "kappa",
            "cohen_kappa",
            "people.kappa.{}",
            names,
            note=f"(kappa, {picked})" if picked else "(kappa)",
            beside={"two people": f"people.among_kappa.{first}"},
        ),
        asked_row(
            "sensitivity",
            "passes what people pass",
            "sensitivity",
            "sensitivity",
            "people.sensitivity.{}",
            names,
            note=f"({', '.join(filter(None, (voted, picked)))})" if voted else alone,
        ),
        asked_row(
            "specificity",
            "fails what people fail",
            "specificity",
            "specificity",
            "people.specificity.{}",
            names,
            note=f"({', '.join(filter(None, (voted, picked)))})" if voted else alone,
        ),
        *(
            asked_row(
                kind,
                ask,
                short,
                estimand,
                f"people.{kind}.{{}}",
                names,
                note=alone,
                beside={"two people": f"people.among_themselves.{first}"},
            )
            for kind, ask, short, estimand in (
                ("with_one", "agrees with one person", "one person", "judge_person_agreement"),
                ("apart", "apart from one person", "apart", "judge_person_distance"),
            )
        ),
        asked_row(
            "replaces",
            "may stand for",
            "stands for",
            "winning_rate",
            "people.replaces.{}",
            names,
            note="(of people; .50 passes)",
            beside={"always the same": f"people.constant_replaces.{first}"},
        ),
    )


def aligned_rows(names: Iterable[str] | Mapping[str, str]) -> tuple[Row, Row]:
    """Agreement with people's labels of pairs, where a tie counts half and where neither ties."""
    return (
        asked_row(
            "people",
            "agrees with people",
            "people",
            "alignment_score",
            "alignment.{}",
            names,
            note="(tie half)",
            beside={
                "people among themselves": "alignment.people",
                "always tie": "alignment.always_tie",
            },
        ),
        asked_row(
            "accuracy",
            "right where neither ties",
            "accuracy",
            "accuracy",
            "agreement.accuracy.{}",
            names,
        ),
    )


def true_rows(names: Iterable[str], estimand: str, *, labels_drawn: str = "") -> tuple[Row, Row]:
    """What people would say of all that was judged, and how many labels the judge is worth there.

    A pass rate or a mean score, corrected; what the labels alone say stands beside it.
    """
    names = list(names)
    note = "(mean score)" if estimand == "greg" else "(pass rate)"
    words = "the picked alone" if labels_drawn == "convenience" else "labels alone"
    alone = {words: f"people.labels_alone.{names[0]}"} if names else {}
    return (
        asked_row(
            "truth",
            "people would give all",
            "true score",
            estimand,
            "people.corrected.{}",
            names,
            note=note,
            beside=alone,
        ),
        asked_row(
            "worth",
            "the judge is worth",
            "worth (labels)",
            "labels_worth",
            "people.worth.{}",
            names,
            note="(labels)",
        ),
    )
