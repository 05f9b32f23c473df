"""Prompts of a user's own: the bare texts of an item, and what such a prompt must not leave out."""

from __future__ import annotations

from collections.abc import Iterable

from judgestats.errors import InputError
from judgestats.items.schema import Item
from judgestats.protocols.template import PromptTemplate

BARE = ("passage", "earlier", "target")
"""The item's context, the user's turns before the last, and the reference answer, each without any
heading; ``{context}`` and ``{reference}`` are the same with one."""

_CONTEXT = {"context", "passage"}
_EARLIER = {"context", "earlier", "conversation", "conversation_a"}
_ABOUT_ITEMS = {"question", "conversation", "conversation_a"}


def bare_texts(item: Item) -> dict[str, str]:
    """What an item holds beside its question, as a prompt of one's own may want it.

    Examples
    --------
    >>> item = Item(id="q", cluster="q", turns=("2+2?", "And doubled?"), responses=(), context="A")
    >>> bare_texts(item)
    {'passage': 'A', 'earlier': '2+2?', 'target': ''}
    """
    return {
        "passage": item.context,
        "earlier": "\n\n".join(item.turns[:-1]),
        "target": item.reference[-1] if item.reference else "",
    }


def check_places(template: PromptTemplate, items: Iterable[Item]) -> None:
    """Refuse a prompt that has no place for what its questions hold beside their last turn.

    A judge that does not see the passage, or the question before, judges something else than was
    asked, and nothing in its reply would show it.

    Parameters
    ----------
    template : PromptTemplate
        One of a user's; those that ship have all places.
    items : iterable of Item

    Raises
    ------
    InputError

    Examples
    --------
    >>> item = Item(id="q", cluster="q", turns=("Who?",), responses=(), context="A passage.")
    >>> check_places(PromptTemplate(text="{question} {options}", name="mine.txt"), [item])
    Traceback (most recent call last):
        ...
    judgestats.errors.InputError: prompt 'mine.txt': 1 of 1 questions has a context (the first is \
'q'), and the text has no place for it: the judge would not see it. Put {passage} (the bare text) \
or {context} where it belongs.
    """
    there = template.placeholders
    if template.ours or not there & _ABOUT_ITEMS:
        return
    items = list(items)
    for what, with_it, places, shown in (
        ("a context", [i for i in items if i.context], _CONTEXT, "passage"),
        ("an earlier turn", [i for i in items if len(i.turns) > 1], _EARLIER, "earlier"),
    ):
        if with_it and not there & places:
            has = "has" if len(with_it) == 1 else "have"
            raise InputError(
                f"prompt {template.name!r}: {len(with_it)} of {len(items)} questions {has} {what} "
                f"(the first is {with_it[0].id!r}), and the text has no place for it: the judge "
                f"would not see it. Put {{{shown}}} (the bare text) or {{context}} where it "
                "belongs."
            )
