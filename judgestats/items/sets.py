"""Item sets by name: ``"bank"``, published sets and their layouts, or simply a path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.items.bank import load_bank
from judgestats.items.labelled import without_ties
from judgestats.items.published import GIVEN, PUBLISHED, fetched_place
from judgestats.items.readers import LAYOUTS, read_items
from judgestats.items.records import shown
from judgestats.items.schema import Item

BANK = "bank"


def sets() -> Mapping[str, str]:
    """What `load_items` understands: names, and what stands behind each.

    Returns
    -------
    mapping of str to str

    Examples
    --------
    >>> sets()["bank"]
    'the bundled bank: questions with answers of designed quality'
    """
    return {
        BANK: "the bundled bank: questions with answers of designed quality",
        "mt_bench": "a folder in FastChat's layout: question.jsonl and model_answer/*.jsonl",
        **{name: layout.about for name, layout in LAYOUTS.items()},
    }


def parse_options(text: str | None) -> dict[str, Any]:
    """Options of `judgestats.items.readers.read_items` from their command-line form.

    Parameters
    ----------
    text : str or None
        ``"turn=1,ties=drop"``; of ``models`` several are joined by ``+``.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If an option is unknown, stands twice, or has no such value.

    Examples
    --------
    >>> parse_options("turn=1, ties=drop, models=gpt-4+claude-v1")
    {'turn': 1, 'ties': 'drop', 'models': ('gpt-4', 'claude-v1')}
    """
    options: dict[str, Any] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value or name not in _OPTIONS:
            raise InputError(
                f"item_options: {shown(part.strip())} is not option=value with an option among "
                f"{', '.join(_OPTIONS)}. Write for instance turn=1,ties=drop."
            )
        if name in options:
            raise InputError(f"item_options: {name} stands twice. Give it once.")
        options[name] = _OPTIONS[name](name, value)
    return options


def _whole(name: str, value: str) -> int:
    if not value.isdecimal() or len(value) > 12:
        raise InputError(f"item_options: {name} must be a whole number, not {shown(value)}.")
    return int(value)


def _truth(name: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise InputError(f"item_options: {name} must be true or false, not {shown(value)}.")
    return value.lower() == "true"


_OPTIONS: Mapping[str, Callable[[str, str], Any]] = {
    "turn": _whole,
    "cut": _whole,
    "ties": lambda _, value: value,
    "preference": lambda _, value: value,
    "models": lambda _, value: tuple(m.strip() for m in value.split("+") if m.strip()),
    "together": _truth,
    "empty_ok": _truth,
    "max_chars": _whole,
}


def load_items(name_or_path: str | Path, **options: Any) -> tuple[Item, ...]:
    """The items of the bundled bank, of a file or folder, or of a file in a named layout.

    Parameters
    ----------
    name_or_path : str or Path
        ``"bank"``; a path; or ``"layout:path"`` (``"rewardbench:my.parquet"``), which is
        ``read_items(path, layout=...)``; or the name of a published set that stands where
        ``judgestats items fetch NAME`` puts it.
    **options
        Passed to `judgestats.items.readers.read_items`.

    Returns
    -------
    tuple of Item

    Raises
    ------
    InputError
        As `read_items`; also where the bank is given an option, or a layout's name stands alone.

    Examples
    --------
    >>> load_items("bank") is load_bank()
    True
    """
    text = str(name_or_path)
    if text == BANK:
        given = {
            k: v
            for k, v in options.items()
            if v not in (None, False) and k not in {"ties", "questions"}
        }
        if given:
            raise InputError(
                f"load_items: the bundled bank takes no options, got {shown(sorted(given))}. Leave "
                "them out, or give a file."
            )
        bank = load_bank()
        return without_ties(bank) if options.get("ties") == "drop" else bank
    name, colon, rest = text.partition(":")
    if colon and name in sets() and name != BANK and rest and not _exists(text):
        return read_items(rest, **{**options, "layout": name})
    check_there([text])
    if text in PUBLISHED and not _exists(text):
        return read_items(fetched_place(text), **{**options, "layout": PUBLISHED[text].layout})
    if text in sets() and not _exists(text):
        raise InputError(
            f"load_items: {text!r} is the name of a layout ({sets()[text]}); its files do not come "
            f"with judgestats. Give the path, or {text}:PATH."
        )
    return read_items(name_or_path, **options)


def layout_of(source: str) -> str:
    """The layout that a source names, with or without a path; empty where it is found out.

    Examples
    --------
    >>> layout_of("mt_bench"), layout_of("bbh:my/folder"), layout_of("my.csv")
    ('mt_bench', 'bbh', '')
    """
    name, colon, _ = source.partition(":")
    if colon:
        return name if name in sets() and not _exists(source) else ""
    return PUBLISHED[name].layout if name in PUBLISHED and not _exists(name) else ""


def check_there(names: Iterable[str]) -> None:
    """Refuse names of published sets that have not been fetched, all of them in one sentence.

    Parameters
    ----------
    names : iterable of str
        As `load_items` takes them; what is no such name is passed over.

    Raises
    ------
    InputError
        With the commands that bring them, their licences and sizes, and what to do without a
        network.
    """
    names = [str(name) for name in names]
    for name in names:
        if name in GIVEN and not _exists(name):
            raise InputError(f"items: {GIVEN[name]}.")
    absent = [n for n in names if n in PUBLISHED and not _exists(n)]
    absent = [n for n in absent if not _exists(str(fetched_place(n)))]
    if not absent:
        return
    text = "; ".join(f"`judgestats items fetch {n}` ({PUBLISHED[n].about()})" for n in absent)
    first = absent[0]
    which = (
        f"{first!r} is a published set, and it is not at {fetched_place(first).as_posix()}"
        if len(absent) == 1
        else f"the published sets {', '.join(absent)} are not below data/"
    )
    raise InputError(
        f"items: {which}. Download with {text}. Without a network, get the files elsewhere "
        f"(`judgestats items list {first}` names them) and give them as {first}:PATH."
    )


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False  # a name that the system refuses
