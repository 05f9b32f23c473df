"""What responses, pairs and conversations are called and how they are written in a prompt."""

from __future__ import annotations

from itertools import combinations

from judgestats.items.schema import Item


def response_names(item: Item) -> list[str]:
    """The id of each response as a thing judged: ``item`` if it is the only one, else
    ``item/author``.

    Examples
    --------
    >>> from judgestats.items.schema import Response
    >>> responses = (Response(turns=("4",), author="x"), Response(turns=("5",), author="y"))
    >>> response_names(Item(id="q1", cluster="q1", turns=("2+2?",), responses=responses))
    ['q1/x', 'q1/y']
    """
    if len(item.responses) == 1:
        return [item.id]
    return [f"{item.id}/{author}" for author in _authors(item)]


def pair_name(item: Item, pair: tuple[int, int]) -> str:
    """The id of a pair of responses: ``item/author|author``, the earlier response first."""
    authors = _authors(item)
    first, second = min(pair), max(pair)
    return f"{item.id}/{authors[first]}|{authors[second]}"


def _authors(item: Item) -> list[str]:
    authors = [r.author or str(i) for i, r in enumerate(item.responses)]
    if len(set(authors)) < len(authors):
        authors = [f"{a}#{i}" for i, a in enumerate(authors)]
    return authors


def pairs_of(item: Item) -> list[tuple[int, int]]:
    """All pairs of responses, by index."""
    return list(combinations(range(len(item.responses)), 2))


def labelled_pairs_of(item: Item) -> list[tuple[int, int]]:
    """The pairs of responses that a person has compared, by index."""
    labelled = {(min(label.a, label.b), max(label.a, label.b)) for label in item.labels}
    return [(i, j) for i, j in sorted(labelled) if 0 <= i < j < len(item.responses)]


def conversation(item: Item, answers: tuple[str, ...], turns: tuple[str, ...] = ()) -> str:
    """User's turns and the assistant's answers, in order.

    Parameters
    ----------
    item : Item
    answers : tuple of str
        Of the first turns; there may be fewer than turns.
    turns : tuple of str
        The item's own by default.
    """
    lines = []
    for index, turn in enumerate(turns or item.turns):
        lines.append(f"User: {turn}")
        if index < len(answers):
            lines.append(f"Assistant: {answers[index]}")
    return "\n\n".join(lines)
