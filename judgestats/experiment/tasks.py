"""From a design to the tasks: which units are judged, under which conditions, how often."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from judgestats.errors import InputError
from judgestats.experiment.common_parameters import CommonParameters
from judgestats.items.schema import Item
from judgestats.judgments.design import Condition, Task
from judgestats.protocols.base import JudgingProtocol, Prompted, ReplyMode, Unit
from judgestats.protocols.strategies import Strategy

if TYPE_CHECKING:
    from judgestats.judgments.staging import Staging

_MOST_PROMPTS = 1_000
"""Kept at a time: those of a larger plan are written again for every replication."""

STAGE_JUDGES = {"remover": "removal", "points_judge": "points"}
"""Parameters that name a model for one stage, and the stage."""


def units_of(
    protocols: Mapping[Condition, JudgingProtocol],
    items: Sequence[Item],
    *,
    per_item: int | None,
    seed: int,
    source: str,
    may_lack: bool = False,
) -> dict[Condition, tuple[Unit, ...]]:
    """What is judged under each condition, drawn once for every protocol.

    Parameters
    ----------
    protocols : mapping of Condition to protocol
    items : sequence of Item
    per_item, seed
        As `draw_units`.
    source : str
        What the user gave as items, for messages.
    may_lack : bool
        Whether conditions under which fewer than two things are judged are left out.

    Returns
    -------
    dict of Condition to tuple of Unit

    Raises
    ------
    InputError
        Fewer than two things are judged under some condition; or under all, where some may lack.
    """
    drawn: dict[int, tuple[Unit, ...]] = {}
    units: dict[Condition, tuple[Unit, ...]] = {}
    for condition, protocol in protocols.items():
        if id(protocol) not in drawn:
            drawn[id(protocol)] = draw_units(
                protocol.units(tuple(items)), per_item=per_item, seed=seed
            )
        units[condition] = drawn[id(protocol)]
    n_items = {c: len({u.item_id for u in listed}) for c, listed in units.items()}
    fewest = (max if may_lack else min)(n_items.values())
    if fewest >= 2:
        return {c: listed for c, listed in units.items() if n_items[c] >= 2}
    raise InputError(
        "items: at least two things to be judged are needed; with one item nothing can be said "
        f"about differences between items. {source!r} gave {fewest}."
    )


def draw_units(units: Sequence[Unit], *, per_item: int | None, seed: int) -> tuple[Unit, ...]:
    """Keep at most `per_item` things to be judged of every item, drawn by seed.

    A pair that is shown in two orders is one thing: its orders stay together. The draw of an item
    depends on the seed and its id alone, so that further items in the file do not change which
    responses of the others are judged.

    Parameters
    ----------
    units : sequence of Unit
    per_item : int or None
        None keeps all.
    seed : int

    Returns
    -------
    tuple of Unit
        In the order given.
    """
    seen: dict[str, str] = {}
    for unit in units:
        key = f"{unit.item_id}\0{unit.order}"
        if key in seen:
            raise InputError(
                f"items: two things to be judged are both called {unit.item_id!r}. Give every item "
                "its own id."
            )
        seen[key] = unit.item.id
    if per_item is None:
        return tuple(units)

    def place(unit: Unit) -> str:
        return hashlib.sha256(f"{seed}\0{unit.item_id}".encode()).hexdigest()

    kept: set[str] = set()
    by_item: dict[str, dict[str, Unit]] = {}
    for unit in units:
        by_item.setdefault(unit.item.id, {})[unit.item_id] = unit
    for group in by_item.values():
        kept |= {u.item_id for u in sorted(group.values(), key=place)[:per_item]}
    return tuple(u for u in units if u.item_id in kept)


def tasks_of(
    units: Mapping[Condition, Sequence[Unit]],
    protocols: Mapping[Condition, JudgingProtocol],
    *,
    replicates: int | Mapping[Condition, int],
) -> Iterator[Task]:
    """Every judgment of the plan, replication by replication.

    An interrupted run then has whole replications of all conditions rather than all replications
    of the first condition.

    Parameters
    ----------
    units : mapping of Condition to units
    protocols : mapping of Condition to protocol
    replicates : int or mapping of Condition to int

    Yields
    ------
    Task
    """
    times = dict.fromkeys(units, replicates) if isinstance(replicates, int) else replicates
    prompts = _Prompts()
    for replicate in range(max(times.values(), default=0)):
        for condition, listed in units.items():
            if replicate >= times[condition]:
                continue
            protocol = protocols[condition]
            for unit in listed:
                yield Task(
                    condition=condition,
                    item_id=unit.item_id,
                    cluster=unit.cluster,
                    category=unit.category,
                    replicate=replicate,
                    order=unit.order,
                    build=partial(prompts.of, protocol, unit),
                    unit=unit,
                )


def staged(
    units: Mapping[Condition, Sequence[Unit]],
    protocols: Mapping[Condition, JudgingProtocol],
    parameters: CommonParameters,
    own: Mapping[str, Mapping[str, Any]] | None = None,
) -> Staging | None:
    """The stages of a design whose protocols are strategies; None where each judgment is one call.

    Parameters
    ----------
    units : mapping of Condition to units
    protocols : mapping of Condition to protocol
    parameters : CommonParameters
        ``replicates``, ``raised`` (the temperature of votes), and those of `STAGE_JUDGES`.
    own : mapping of judge to settings, optional
        What a file of judges fixes for each.

    Returns
    -------
    Staging or None
    """
    if not all(hasattr(protocol, "calls") for protocol in protocols.values()):
        return None
    from judgestats.judgments.staging import Staging

    return Staging(
        cast("Mapping[Condition, Strategy]", protocols),
        units,
        replicates=parameters.replicates,
        raised=parameters["raised"],
        asked_by={
            stage: parameters[name] for name, stage in STAGE_JUDGES.items() if parameters.get(name)
        },
        own={
            judge: settings["temperature"]
            for judge, settings in (own or {}).items()
            if "temperature" in settings
        },
    )


class _Prompts:
    """The prompts of a plan, each written once for all its replications.

    What another process gets is without them.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int, ReplyMode], Prompted] = {}

    def __reduce__(self) -> tuple[type[_Prompts], tuple[()]]:
        return type(self), ()

    def of(self, protocol: JudgingProtocol, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt of a unit; the plan keeps protocols and units, and so their ids, alive."""
        key = (id(protocol), id(unit), mode)
        if key not in self._kept:
            if len(self._kept) >= _MOST_PROMPTS:
                self._kept.clear()
            self._kept[key] = protocol.prompt(unit, mode)
        return self._kept[key]
