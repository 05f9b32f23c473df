"""Any other JSON: shown as a tree of paths with examples, and read by paths into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgestats.errors import InputError, printable
from judgestats.judgments.readers.names import ALIASES, folded
from judgestats.judgments.readers.untrusted import short, text

_MOST_PATHS = 40
_SEEN = 200
_DEPTH = 12
_VERDICTS = ("score", "choice", "verdict")
_IDS = frozenset(
    {"traceid", "runid", "caseid", "spanid", "key", "input", "question", "prompt", "name"}
)
_ABOVE = frozenset({"score", "scores", "feedback", "feedbackstats", "evaluation", "evaluations"})
_ASKED = frozenset(
    {"turns", "question", "prompt", "input", "instruction", "response", "response1", "answer"}
)
_COUNTS = frozenset({"n", "count", "latency", "cost", "weight", "id"})
_VALUES = ("value", "stringvalue", "numericvalue")


def tree_of(document: Any) -> str:
    """The paths of a JSON value with examples, and a mapping that would read it.

    Parameters
    ----------
    document : object
        A JSON value.

    Returns
    -------
    str

    Examples
    --------
    >>> print(tree_of({"runs": [{"id": "a", "out": {"score": 7}}]}))
    What the file holds, by path ([] stands for the entries of a list):
      runs[].id             'a'
      runs[].out.score      7
    It is read with: --map 'item_id=runs[].id,score=runs[].out.score'
    """
    leaves = _leaves(document)
    if not leaves:
        return ""
    width = min(60, max(map(len, list(leaves)[:_MOST_PATHS])) + 4)
    lines = ["What the file holds, by path ([] stands for the entries of a list):"]
    for path, examples in list(leaves.items())[:_MOST_PATHS]:
        shown = ", ".join(printable(short(e)[:40], one_line=True) for e in examples[:3])
        lines.append(f"  {path:<{width}}  {shown}")
    if len(leaves) > _MOST_PATHS:
        lines.append(f"  ... and {len(leaves) - _MOST_PATHS} more")
    suggestion = suggested_map(leaves)
    criterion = suggestion.pop("criterion", "")
    criteria = _several(leaves) if not criterion else []
    if suggestion.get("verdict") in criteria:
        suggestion.pop("verdict")
        wide = f"--wide 'criterion={','.join(criteria)}'"
        lines.append(f"It is read with: --map '{_mapping(suggestion)}' {wide}")
        return "\n".join(lines)
    if not suggestion and any(_last(p) in _ASKED for p in leaves):
        lines.append(
            "These look like items, not judgments (no verdict is among them): judgestats run "
            "temperature -P items=FILE asks judges for verdicts; analyze reads what judges said."
        )
    mapping = _mapping(suggestion)
    further = f" --factor '{criterion}'" if criterion else ""
    lines.append(
        f"It is read with: --map '{mapping}'{further}"
        if mapping
        else "Name its columns: --map item_id=PATH,verdict=PATH"
    )
    return "\n".join(lines)


def _mapping(suggestion: Mapping[str, str]) -> str:
    return ",".join(f"{k}={v}" for k, v in suggestion.items())


def _several(leaves: Mapping[str, Sequence[Any]]) -> list[str]:
    """Numbers side by side under one parent of scores, in no list: a criterion each."""
    placed = [p for _, p in _by_place(leaves, most=_MOST_PATHS)]
    parents = {tuple(p.split(".")[:2]) for p in placed}
    return placed if len(placed) > 1 and not any("[]" in p for p in placed) and len(
        {p[:1] for p in parents}
    ) == 1 else []  # fmt: skip


def _leaves(document: Any) -> dict[str, list[Any]]:
    """Examples by path, from the first entries of each list."""
    leaves: dict[str, list[Any]] = {}
    if isinstance(document, list):
        for entry in document[:_SEEN]:
            _walk(entry, "", leaves, 0)
    else:
        _walk(document, "", leaves, 0)
    return leaves


def _walk(value: Any, path: str, text: dict[str, list[Any]], depth: int) -> None:
    if depth > _DEPTH or len(text) > 2000:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            name = str(key)[:60]
            if "." not in name and "[" not in name and "," not in name:
                _walk(inner, f"{path}.{name}" if path else name, text, depth + 1)
    elif isinstance(value, list):
        for inner in value[:_SEEN]:
            _walk(inner, f"{path}[]", text, depth + 1)
    elif path:
        examples = text.setdefault(path, [])
        if value is not None and len(examples) < 3 and value not in examples:
            examples.append(value)


def suggested_map(text: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """A mapping by the last names of the paths; empty where no item or no verdict is found.

    ``criterion`` names the path of what was judged by, where entries have names.

    The verdict is the deepest list's, so that its rows are the judgments.
    """
    chosen: dict[str, str] = {}
    verdicts = [
        (role, p)
        for role in _VERDICTS
        for alias in ALIASES[role]
        for p, examples in text.items()
        if _last(p) == folded(alias) and any(_is_verdict(e) for e in examples)
    ]
    verdicts += [("verdict", p) for p, e in text.items()
                 if _last(p) in _VALUES and any(_is_verdict(x) for x in e)]  # fmt: skip
    verdicts = verdicts or _by_place(text)
    inside = [(r, p) for r, p in verdicts if "score" in p.lower() or "feedback" in p.lower()]
    if not verdicts:
        return {}
    role, path = max(inside or verdicts, key=lambda v: v[1].count("[]"))
    prefix = path.rpartition("[]")[0]
    reach = [p for p in text if prefix.startswith(p.rpartition("[]")[0]) and p != path]
    for ours in ("item_id", "judge", "replicate", "label"):
        for alias in ALIASES[ours]:
            hits = [p for p in reach if _last(p) == folded(alias) and p not in chosen.values()]
            if hits:
                # The id of what was judged stands above the list of its verdicts.
                best = min(hits, key=len) if ours == "item_id" else max(hits, key=len)
                chosen[ours] = best
                break
    if "item_id" not in chosen:
        hits = [p for p in reach if _last(p) in _IDS]
        if not hits:
            return {}
        chosen["item_id"] = min(hits, key=len)
    beside = [p for p in reach if p.startswith(path.rpartition(".")[0])]
    names = [p for p in beside if _last(p) in {"name", "key"} and p not in chosen.values()]
    if names:
        chosen["criterion"] = names[0]
    return chosen | {role: path}


def _by_place(text: Mapping[str, Sequence[Any]], most: int = 1) -> list[tuple[str, str]]:
    """Numbers that stand under something called scores or feedback, whatever their own name."""
    under = [
        p
        for p, examples in text.items()
        if any(folded(s.removesuffix("[]")) in _ABOVE for s in p.split(".")[:-1])
        and any(isinstance(e, (bool, int, float)) for e in examples)
        and _last(p) not in _COUNTS
    ]
    return [("verdict", p) for p in under[:most]]


def _last(path: str) -> str:
    return folded(path.rpartition(".")[2].removesuffix("[]"))


def _is_verdict(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= 40)


def projected(document: Any, paths: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each entry of the deepest list that the paths go through.

    Parameters
    ----------
    document : object
        A JSON value.
    paths : sequence of str
        As `tree_of` shows them.

    Returns
    -------
    list of dict
        The values by path.

    Raises
    ------
    InputError
        The paths go through two lists of which neither holds the other.

    Examples
    --------
    >>> projected({"r": [{"id": "a", "s": [{"v": 1}, {"v": 2}]}]}, ["r[].id", "r[].s[].v"])
    [{'r[].id': 'a', 'r[].s[].v': 1}, {'r[].id': 'a', 'r[].s[].v': 2}]
    """
    steps = {p: [s for s in p.replace("[]", ".[]").split(".") if s] for p in paths}
    entries = document if isinstance(document, list) else [document]
    return [row for entry in entries for row in _rows(entry, steps)]


def _rows(value: Any, steps: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    plain = {p: _at(value, s) for p, s in steps.items() if "[]" not in s}
    through: dict[tuple[str, ...], dict[str, Sequence[str]]] = {}
    for path, own in steps.items():
        if "[]" in own:
            cut = own.index("[]")
            through.setdefault(tuple(own[:cut]), {})[path] = own[cut + 1 :]
    if not through:
        yield plain
        return
    if len(through) > 1:
        named = " and ".join(".".join(t) or "the document" for t in through)
        raise InputError(
            f"--map: the paths go through two lists side by side, {named}. Map paths through one "
            "of them (an entry can be chosen by its number, as in scores.0.value)."
        )
    ((prefix, inner),) = through.items()
    listed = _at(value, prefix)
    for entry in listed if isinstance(listed, list) else []:
        for row in _rows(entry, inner):
            yield plain | row


def _at(value: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return text(value) if isinstance(value, Mapping) else value
