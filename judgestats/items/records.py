"""Items and their records: fields, checks, and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Any

from judgestats.errors import InputError

WINNERS = ("a", "b", "tie")
"""The three outcomes of a pairwise human label: first response, second response, neither."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """One candidate answer.

    Attributes
    ----------
    turns : tuple of str
        The answer to each turn of the question, in order (one entry for a one-turn question).
    author : str
        Who wrote it: a model's or a rater's name; empty where unknown.
    quality : float or None
        Designed quality in 0-1 where the item was written with one in mind (the bundled bank).
    traits : tuple of str
        How it was designed, as text (``"padded"``, ``"sycophantic"``), where that is known. Never
        shown to a judge.
    written : tuple of (str, str)
        The answer to the last turn as someone, or a model, rewrote it: what was done
        (``"translated"``) with the text. For probes that no rule can make.
    """

    turns: tuple[str, ...]
    author: str = ""
    quality: float | None = None
    traits: tuple[str, ...] = ()
    written: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The answer to the last turn: what a single-turn protocol judges."""
        return self.turns[-1]


@dataclass(frozen=True, kw_only=True)
class HumanLabel:
    """One rater's preference between two responses of the same item.

    `a` and `b` are indices into ``Item.responses``. `winner` is one of ``WINNERS``. `turn` counts
    from 1.
    """

    annotator: str
    a: int
    b: int
    winner: str
    turn: int = 1


@dataclass(frozen=True, kw_only=True)
class Item:
    """A question and the responses to judge.

    Attributes
    ----------
    id : str
        Unique within an item set.
    cluster : str
        What items share when they are not independent: the question by default. Every interval and
        test resamples clusters.
    turns : tuple of str
        The user's turns, in order.
    context : str
        Material that belongs to the question (a passage, a table).
    reference : tuple of str
        A reference answer for each turn, where there is one.
    responses : tuple of Response
    category : str
    labels : tuple of HumanLabel
    published : mapping
        Fields of a study's own file that its prompts show as they are; no part of the records.
    """

    id: str
    cluster: str
    turns: tuple[str, ...]
    responses: tuple[Response, ...]
    context: str = ""
    reference: tuple[str, ...] = ()
    category: str = ""
    labels: tuple[HumanLabel, ...] = ()
    published: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def question(self) -> str:
        """The last turn: the question the last answer replies to."""
        return self.turns[-1]


MAX_CHARS = 200_000
"""Longest text that is read without a word: about 50,000 tokens, beyond most judges' context."""
_LONGEST = ContextVar("longest_text", default=MAX_CHARS)


@contextmanager
def longest_text(characters: int) -> Iterator[None]:
    """Allow texts of up to this many characters in what is read within the block."""
    token = _LONGEST.set(characters)
    try:
        yield
    finally:
        _LONGEST.reset(token)


_ITEM_KEYS = {
    "id",
    "cluster",
    "turns",
    "responses",
    "context",
    "reference",
    "category",
    "labels",
}


def short_repr(value: object, limit: int = 60) -> str:
    """A value as an error message shows it: its repr, cut at `limit` characters.

    Examples
    --------
    >>> short_repr("a" * 100, limit=10)
    "'aaaaaa..."
    """
    try:
        text = repr(value)
    except RecursionError:
        text = f"a deeply nested {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def as_text(value: object, what: str, *, empty_ok: bool = False, most: int = 0) -> str:
    """A text from a file, or an error that says where it stands and what is wrong with it.

    Parameters
    ----------
    value : object
        What was in the file.
    what : str
        Where it stood, for the message (``"items.jsonl, line 3: 'question'"``).
    empty_ok : bool
        Whether a text without any visible character is allowed.
    most : int
        Longest text allowed, in characters; 0 for that of `longest_text`.

    Returns
    -------
    str
        The text, unchanged.

    Raises
    ------
    InputError
        If it is not text, is empty, is longer than `most`, or is not valid Unicode.

    Examples
    --------
    >>> as_text("Why?", "line 1: 'question'")
    'Why?'
    """
    if not isinstance(value, str):
        raise InputError(
            f"{what} must be text, not {type(value).__name__} ({short_repr(value)}). "
            "Correct the file, or map another column."
        )
    most = most or _LONGEST.get()
    if len(value) > most:
        raise InputError(
            f"{what} has {len(value):,} characters; at most {most:,} are read. "
            "Shorten it, or raise max_chars."
        )
    if not empty_ok and not value.strip():
        raise InputError(
            f"{what} is empty. Give a text or drop the row (empty_ok=True keeps responses)."
        )
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} is not valid Unicode text (a lone surrogate at position {error.start}). "
            "Write the file as UTF-8."
        ) from error
    return value


def as_turns(value: object, what: str, *, empty_ok: bool = False, most: int = 0) -> tuple[str, ...]:
    """The turns of a conversation: a text is one turn, a list of texts is several.

    Raises
    ------
    InputError
        If it is neither, holds no turn, or a turn is not text (see `as_text`).

    Examples
    --------
    >>> as_turns("Why?", "question"), as_turns(["Why?", "And then?"], "question")
    (('Why?',), ('Why?', 'And then?'))
    """
    if isinstance(value, str):
        return (as_text(value, what, empty_ok=empty_ok, most=most),)
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        raise InputError(
            f"{what} must be a text or a list of texts (one a turn), not "
            f"{type(value).__name__} ({short_repr(value)})."
        )
    if not value:
        raise InputError(f"{what} is an empty list. Give at least one turn.")
    return tuple(
        as_text(turn, f"{what}, turn {i}", empty_ok=empty_ok, most=most)
        for i, turn in enumerate(value, start=1)
    )


def item_to_record(item: Item) -> dict[str, Any]:
    """An item as a plain dict for JSON: judgestats' own layout. Empty fields are left out.

    Examples
    --------
    >>> item = Item(id="q1", cluster="q1", turns=("Why?",), responses=(Response(turns=("So.",)),))
    >>> item_to_record(item)
    {'id': 'q1', 'cluster': 'q1', 'turns': ['Why?'], 'responses': [{'turns': ['So.']}]}
    >>> item_from_record(item_to_record(item)) == item
    True
    """
    record: dict[str, Any] = {"id": item.id, "cluster": item.cluster}
    if item.category:
        record["category"] = item.category
    record["turns"] = list(item.turns)
    if item.context:
        record["context"] = item.context
    if item.reference:
        record["reference"] = list(item.reference)
    record["responses"] = [_response_to_record(response) for response in item.responses]
    if item.labels:
        record["labels"] = [asdict(label) for label in item.labels]
    return record


def _response_to_record(response: Response) -> dict[str, Any]:
    record: dict[str, Any] = {"turns": list(response.turns)}
    if response.author:
        record["author"] = response.author
    if response.quality is not None:
        record["quality"] = response.quality
    if response.traits:
        record["traits"] = list(response.traits)
    if response.written:
        record["written"] = dict(response.written)
    return record


def item_from_record(
    record: object,
    *,
    where: str = "item_from_record",
    empty_ok: bool = False,
) -> Item:
    """The item in one JSON object of judgestats' own layout.

    Parameters
    ----------
    record : mapping
        ``{"id", "turns", "responses": [{"turns", "author", "quality", "traits", "written"}],
        ...}``; `cluster` defaults to `id`, everything but `id`, `turns` and `responses` may be left
        out.
    where : str
        Where the record stands, for error messages.
    empty_ok : bool
        Whether a response may be without text (a model that said nothing).

    Returns
    -------
    Item

    Raises
    ------
    InputError
        If a field is missing, unknown, of the wrong type, empty where it must not be, or too long.

    Examples
    --------
    >>> item_from_record({"id": "q1", "turns": ["Why?"], "responses": [{"turns": ["So."]}]}).cluster
    'q1'
    """
    if not isinstance(record, Mapping):
        raise InputError(f"{where}: expected a JSON object, got {type(record).__name__}.")
    unknown = sorted(str(key) for key in record if key not in _ITEM_KEYS)
    if unknown:
        raise InputError(
            f"{where}: unknown field(s) {short_repr(unknown)}; an item has {sorted(_ITEM_KEYS)}."
        )
    for needed in ("id", "turns", "responses"):
        if needed not in record:
            raise InputError(f"{where}: the field '{needed}' is missing; an item needs it.")
    item_id = as_text(record["id"], f"{where}: 'id'", most=1000)
    responses = record["responses"]
    if not isinstance(responses, Sequence) or isinstance(responses, str | bytes):
        raise InputError(f"{where}: 'responses' must be a list, not {type(responses).__name__}.")
    labels = record.get("labels", ())
    if not isinstance(labels, Sequence) or isinstance(labels, str | bytes):
        raise InputError(f"{where}: 'labels' must be a list, not {type(labels).__name__}.")
    reference = record.get("reference") or ()
    item = Item(
        id=item_id,
        cluster=as_text(record.get("cluster", item_id), f"{where}: 'cluster'", most=1000),
        turns=as_turns(record["turns"], f"{where}: 'turns'"),
        responses=tuple(
            _response_from_record(response, f"{where}: response {i}", empty_ok)
            for i, response in enumerate(responses)
        ),
        context=as_text(record.get("context", ""), f"{where}: 'context'", empty_ok=True),
        reference=as_turns(reference, f"{where}: 'reference'", empty_ok=True) if reference else (),
        category=as_text(
            record.get("category", ""), f"{where}: 'category'", empty_ok=True, most=1000
        ),
        labels=tuple(
            _label_from_record(label, f"{where}: label {i}", len(responses))
            for i, label in enumerate(labels)
        ),
    )
    if len(item.reference) > len(item.turns):
        raise InputError(
            f"{where}: 'reference' has {len(item.reference)} turns but the question "
            f"{len(item.turns)}. Give at most one reference a turn."
        )
    return item


def _response_from_record(record: object, where: str, empty_ok: bool) -> Response:
    if not isinstance(record, Mapping) or "turns" not in record:
        raise InputError(f"{where}: expected an object with 'turns', got {short_repr(record)}.")
    quality = record.get("quality")
    if quality is not None and (
        isinstance(quality, bool)
        or not isinstance(quality, int | float)
        or not 0.0 <= quality <= 1.0
    ):
        raise InputError(f"{where}: 'quality' must be a number in 0-1, not {short_repr(quality)}.")
    traits = record.get("traits") or ()
    written = record.get("written") or {}
    if not isinstance(written, Mapping):
        raise InputError(
            f"{where}: 'written' must be an object of texts by what was done, as in "
            f'{{"translated": "..."}}, not {short_repr(written)}.'
        )
    return Response(
        turns=as_turns(record["turns"], f"{where}: 'turns'", empty_ok=empty_ok),
        author=as_text(record.get("author", ""), f"{where}: 'author'", empty_ok=True, most=1000),
        quality=None if quality is None else float(quality),
        traits=as_turns(traits, f"{where}: 'traits'", most=1000) if traits else (),
        written=tuple(
            (
                as_text(done, f"{where}: 'written'", most=1000),
                as_text(text, f"{where}: written {done!r}"),
            )
            for done, text in written.items()
        ),
    )


def _label_from_record(record: object, where: str, n_responses: int) -> HumanLabel:
    if not isinstance(record, Mapping):
        raise InputError(f"{where}: expected an object, got {type(record).__name__}.")
    missing = [key for key in ("annotator", "a", "b", "winner") if key not in record]
    if missing:
        raise InputError(f"{where}: the field(s) {missing} are missing.")
    for key in ("a", "b"):
        index = record[key]
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < n_responses:
            raise InputError(
                f"{where}: '{key}' must be the index of a response, 0 to {n_responses - 1}, "
                f"not {short_repr(index)}."
            )
    if record["a"] == record["b"]:
        raise InputError(f"{where}: 'a' and 'b' are the same response ({record['a']}).")
    if record["winner"] not in WINNERS:
        raise InputError(
            f"{where}: 'winner' must be one of {WINNERS}, not {short_repr(record['winner'])}."
        )
    turn = record.get("turn", 1)
    if isinstance(turn, bool) or not isinstance(turn, int) or turn < 1:
        raise InputError(f"{where}: 'turn' counts from 1, got {short_repr(turn)}.")
    return HumanLabel(
        annotator=as_text(record["annotator"], f"{where}: 'annotator'", most=1000),
        a=record["a"],
        b=record["b"],
        winner=record["winner"],
        turn=turn,
    )


def check_items(
    items: Iterable[Item], *, where: str = "check_items", need_responses: bool = True
) -> tuple[Item, ...]:
    """The items as a tuple, after checking that there is one and that no id occurs twice.

    `need_responses` is False for sets of questions that models still have to answer.

    Raises
    ------
    InputError
        If there is no item, an id occurs twice, or an item has no response.

    Examples
    --------
    >>> check_items([])
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: check_items: there is no item...
    """
    listed = tuple(items)
    if not listed:
        raise InputError(f"{where}: there is no item. Give a file with at least one question.")
    seen: set[str] = set()
    for item in listed:
        if item.id in seen:
            raise InputError(
                f"{where}: the id {short_repr(item.id)} occurs twice. Ids must be unique within a "
                "set; make them so, or leave the id column out and let judgestats number the items."
            )
        seen.add(item.id)
        if need_responses and not item.responses:
            raise InputError(
                f"{where}: item {short_repr(item.id)} has no response. There is nothing to judge; "
                "give at least one, or drop the item."
            )
    return listed
