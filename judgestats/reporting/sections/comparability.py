"""Whether two runs can be tested against each other, and why not."""

from __future__ import annotations

import json

from judgestats.reporting.runs import Run

__all__ = ["refusals"]


def refusals(first: Run, second: Run) -> list[str]:
    """Why two runs cannot be tested against each other; empty where they can."""
    reasons = []
    one, two = first.judgments, second.judgments
    if one.empty or two.empty:
        return ["one of them holds no judgments"]
    scored = [bool(f["score"].notna().any()) for f in (one, two)]
    if scored[0] != scored[1]:
        reasons.append("one holds scores and the other verdicts")
    names = [list(dict.fromkeys(map(str, f["condition"]))) for f in (one, two)]
    if not set(names[0]) & set(names[1]) and max(map(len, names)) > 1:
        reasons.append(
            f"they share no condition ({_shortly(names[0])} in one, {_shortly(names[1])} in the "
            "other)"
        )
    if all(scored) and first.scale and second.scale and first.scale != second.scale:
        reasons.append(
            f"their scales differ ({first.scale[0]:g} to {first.scale[1]:g} and "
            f"{second.scale[0]:g} to {second.scale[1]:g})"
        )
    shared = set(one["item_id"]) & set(two["item_id"])
    if len(shared) < 3:
        reasons.append(f"they share {len(shared) or 'no'} items, and at least 3 are needed")
    changed = [name for name in _changed_items(first, second) if _judged(name, shared)]
    if changed:
        reasons.append(
            f"{len(changed)} things judged have the same name but another text (such as "
            f"{changed[0]!r})"
        )
    return reasons


def _shortly(names: list[str], most: int = 4) -> str:
    more = len(names) - most
    return "; ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _changed_items(first: Run, second: Run) -> list[str]:
    """What has the same name in both runs and another text; nothing where a run kept no items.

    Compared is what a judge reads: the question with its context and reference under the item's
    id, each response under the id with its author. Labels of people, categories and responses that
    only one of the runs holds make no difference.
    """
    one, two = _texts(first), _texts(second)
    return [key for key in one if key in two and one[key] != two[key]]


def _texts(run: Run) -> dict[str, str]:
    texts: dict[str, str] = {}
    for item in run.items:
        name = str(item.get("id"))
        asked = {k: item.get(k) or "" for k in ("turns", "context", "reference")}
        texts[name] = json.dumps(asked, sort_keys=True)
        for place, response in enumerate(item.get("responses") or []):
            key = f"{name}/{response.get('author') or place}"
            texts[key] = json.dumps(response.get("turns"), sort_keys=True)
    return texts


def _judged(name: str, shared: set[str]) -> bool:
    """Whether a name stands for something that both runs judged: itself, or part of it."""
    return any(item == name or item.startswith(f"{name}/") for item in shared)
