"""Crowd comparative evaluation, and strategies by name: ``majority@16``, ``cce-random-raw@8``."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, zip_longest
from typing import Any

from judgestats.errors import InputError, one_of
from judgestats.items.records import Item
from judgestats.protocols.base import Prompted, ReplyMode, Unit
from judgestats.protocols.strategies import base
from judgestats.protocols.template import PromptTemplate, pair_name

SELECTIONS = ("criticising", "praising", "balanced", "random")
"""Judgments in which the candidate loses, wins, does both equally often, or has any outcome."""


@dataclass(frozen=True, kw_only=True)
class CrowdJudgment:
    """One judgment of a candidate against a crowd response, as it was heard."""

    call: base.Call
    candidate: int
    heard: base.StageReply

    @property
    def outcome(self) -> str:
        """``won``, ``lost`` or ``tied`` as the candidate sees it; empty if it could not be read."""
        if not self.heard.read:
            return ""
        choice = self.heard.verdict.choice
        if choice == "tie":
            return "tied"
        shown = self.call.unit.shown
        return "won" if (choice == "a") == (self.candidate == min(shown)) else "lost"


def select_judgments(
    judgments: Sequence[CrowdJudgment], *, selection: str, count: int
) -> tuple[list[CrowdJudgment], int]:
    """The judgments of one candidate to be shown, at most `count`, and how many are of the kind.

    Where there are fewer of the kind than asked for, others fill the places in their drawn order:
    else the number of judgments shown would itself show the judge who lost more often.

    Parameters
    ----------
    judgments : sequence of CrowdJudgment
        In their drawn order; those that could not be read are passed over.
    selection : {"criticising", "praising", "balanced", "random"}
    count : int

    Returns
    -------
    tuple of list and int
    """
    readable = [j for j in judgments if j.heard.read]
    if selection == "random":
        return readable[:count], len(readable[:count])
    lost = [j for j in readable if j.outcome == "lost"]
    won = [j for j in readable if j.outcome == "won"]
    if selection == "balanced":
        wanted = [*lost[: (count + 1) // 2], *won[: count // 2]]
    else:
        wanted = (lost if selection == "criticising" else won)[:count]
    taken = {id(j) for j in wanted}
    rest = [j for j in readable if id(j) not in taken]
    return [*wanted, *rest][:count], len(wanted)


def crowd_of(unit: Unit) -> tuple[int, ...]:
    """The crowd of a pair: the item's other responses, by index."""
    return tuple(i for i in range(len(unit.item.responses)) if i not in unit.shown)


_Shown = tuple[int, str, str, str]
_Key = tuple[base.Wording, int, str, int, int, int]
_RECENT: OrderedDict[_Key, tuple[Unit, tuple[base.Call, ...]]] = OrderedDict()
"""Crowd calls named lately, with the pair that keeps the item in their key alive."""
_MOST_RECENT = 2_048


def _crowd_calls(
    wording: base.Wording, unit: Unit, candidate: int, *, seed: int, draw: int
) -> tuple[base.Call, ...]:
    """The crowd calls about a candidate of a pair, in the order that the seed draws.

    They are the same in both orders of the pair, at every step, and under every selection and k:
    the first of them are the draw for a small k, and stay in the draw for a larger one. They are
    cached, since a study requests them dozens of times.
    """
    key = (wording, id(unit.item), unit.item_id, candidate, seed, draw)
    if key in _RECENT:
        _RECENT.move_to_end(key)
        return _RECENT[key][1]

    def sort_key(call: base.Call) -> bytes:
        text = f"{seed}\0{draw}\0{unit.item_id}\0{call.unit.item_id}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    listed = [_comparison_call(wording, unit, candidate, other) for other in crowd_of(unit)]
    calls = tuple(sorted(listed, key=sort_key))
    _RECENT[key] = (unit, calls)
    if len(_RECENT) > _MOST_RECENT:
        _RECENT.popitem(last=False)
    return calls


def _comparison_call(wording: base.Wording, unit: Unit, candidate: int, other: int) -> base.Call:
    low, high = min(candidate, other), max(candidate, other)
    forward = (candidate + other) % 2 == 0
    if wording.orders == "ab":  # a candidate keeps its place
        forward = (candidate < other) == (candidate == min(unit.shown))
    shown = (low, high) if forward else (high, low)
    name = pair_name(unit.item, (low, high))
    against = Unit.of(unit.item, name, shown, "ab" if forward else "ba")
    build = partial(wording.ask, "vanilla", against)
    return base.Call(stage="crowd", unit=against, build=build, pool=base.CROWD)


@dataclass(frozen=True, kw_only=True)
class CrowdComparison(base.PairStrategy):
    """k judgments of the candidates against a crowd precede the final verdict.

    The crowd of a pair are the other responses of its item. Each candidate is compared with crowd
    responses by the vanilla judge, in an order of the two that alternates from one to the next; of
    these judgments k / 2 are selected per candidate. With `removal` a second call deletes the
    verdict of each and keeps its analysis. k = 1 is a single judgment, of the candidate that the
    seed draws; k = 0 is vanilla.

    What fails is left out and counted, never replaced by a guess: a crowd judgment that cannot be
    read is not selected; one whose verdict could not be removed is not shown. If nothing is left to
    be shown no final verdict is asked for, and the pipeline has a status.

    Parameters
    ----------
    k : int
        1, or an even number.
    selection : {"criticising", "praising", "balanced", "random"}
    removal : bool
    seed : int
        Of which judgments are drawn where there are more than enough.
    wording : Wording
    """

    k: int
    selection: str = "criticising"
    removal: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        one_of("CrowdComparison", "selection", self.selection, SELECTIONS)
        if self.k != 1 and (self.k < 2 or self.k % 2):
            raise InputError(f"CrowdComparison: k must be 1 or an even number, got {self.k}.")

    @property
    def name(self) -> str:
        """As in ``cce-criticising@8``, ``cce-random-raw@8`` (verdicts kept)."""
        return f"cce-{self.selection}{'' if self.removal else '-raw'}@{self.k}"

    def units(self, items: tuple[Item, ...]) -> tuple[Unit, ...]:
        """The pairs to judge; each needs at least one other response to its question.

        Raises
        ------
        InputError
            If a pair has no crowd.
        """
        units = super().units(items)
        alone = [u.item_id for u in units if not crowd_of(u)]
        if alone:
            raise InputError(
                f"{self.name}: {len(alone)} of {len(units)} pairs have no crowd, such as "
                f"{alone[0]!r}. Add answers (answers=FILE, or answerers=MODEL,...), or leave crowd "
                "strategies out."
            )
        return units

    # ------------------------------------------------------------------ what to call

    def calls(self, unit: Unit, heard: base.Heard, draw: int = 0) -> tuple[base.Call, ...]:
        """Crowd judgments, then removals of verdicts, then the final verdict."""
        crowd = [call for _, listed in self._crowd(unit, draw) for call in listed]
        if any(call.key not in heard for call in crowd):
            return tuple(crowd)
        picked, _ = self._selected(unit, heard, draw)
        removals = [self._removal(j) for j in picked] if self.removal else []
        if any(call.key not in heard for call in removals):
            return (*crowd, *removals)
        shown = self._select_texts(picked, heard)
        return (*crowd, *removals, *([self._final(unit, shown)] if shown else []))

    def _per_candidate(self, unit: Unit, draw: int) -> list[tuple[int, int]]:
        """(candidate, judgments wanted of it); the same in both orders of the pair."""
        both = sorted(unit.shown)
        if self.k > 1:
            return [(candidate, self.k // 2) for candidate in both]
        text = f"{self.seed}\0{draw}\0{unit.item_id}\0single"
        odd = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[0] % 2
        return [(both[odd], 1)]

    def _crowd(self, unit: Unit, draw: int) -> list[tuple[int, Sequence[base.Call]]]:
        """Crowd calls by candidate, in their drawn order."""
        groups: list[tuple[int, Sequence[base.Call]]] = []
        for candidate, count in self._per_candidate(unit, draw):
            calls = _crowd_calls(self.wording, unit, candidate, seed=self.seed, draw=draw)
            # a random selection does not hang on the outcome: only what it draws is asked
            groups.append((candidate, calls[:count] if self.selection == "random" else calls))
        return groups

    def _selected(
        self, unit: Unit, heard: base.Heard, draw: int
    ) -> tuple[list[CrowdJudgment], int]:
        """The judgments to be shown, the candidates taking turns, and how many are of the kind."""
        wanted = dict(self._per_candidate(unit, draw))
        by_candidate: list[list[CrowdJudgment]] = []
        kind = 0
        for candidate, calls in self._crowd(unit, draw):
            judged = [
                CrowdJudgment(call=call, candidate=candidate, heard=heard[call.key])
                for call in calls
            ]
            count = wanted[candidate]
            picked, matching = select_judgments(judged, selection=self.selection, count=count)
            by_candidate.append(picked)
            kind += matching
        turns = chain.from_iterable(zip_longest(*by_candidate))
        return [judgment for judgment in turns if judgment is not None], kind

    def _removal(self, judgment: CrowdJudgment) -> base.Call:
        build = partial(self._ask_removal, judgment.call.unit, judgment.heard)
        return base.Call(stage="removal", unit=judgment.call.unit, build=build, pool=base.CROWD)

    def _ask_removal(self, unit: Unit, heard: base.StageReply, mode: ReplyMode) -> Prompted:
        shown, _ = base.framed([("Judgment", "", base.with_verdict(heard))])
        return self.wording.writing("removal").prompt(unit, mode, more={"judgments": shown})

    def _select_texts(
        self, picked: Sequence[CrowdJudgment], heard: base.Heard
    ) -> tuple[_Shown, ...]:
        """(candidate, its name in the judgment, text, crowd model) that the final prompt shows."""
        shown = []
        for judgment in picked:
            there = judgment.call.unit
            own = "AB"[there.shown.index(judgment.candidate)]
            [other] = [i for i in there.shown if i != judgment.candidate]
            model = there.item.responses[other].author or str(other)
            cleaned = heard[self._removal(judgment).key] if self.removal else judgment.heard
            if cleaned.read:
                text = cleaned.text if self.removal else base.with_verdict(cleaned)
                shown.append((judgment.candidate, own, text, model))
        return tuple(shown)

    def _final(self, unit: Unit, shown: tuple[_Shown, ...]) -> base.Call:
        return base.Call(stage=base.FINAL, unit=unit, build=partial(self._ask, unit, shown))

    def _ask(self, unit: Unit, shown: tuple[_Shown, ...], mode: ReplyMode) -> Prompted:
        blocks = []
        pools: dict[str, list[dict[str, str]]] = {"pool_a": [], "pool_b": []}
        for number, (candidate, there, text, model) in enumerate(shown, start=1):
            here = "AB"[unit.shown.index(candidate)]
            other = "B" if there == "A" else "A"
            pools[f"pool_{other.lower()}"].append({"model_name": model, "judgment": text})
            above = (
                f"Comparison {number} is about Assistant {here}'s answer. There it is called "
                f"Assistant {there}; Assistant {other} there is another answer, not shown here."
            )
            blocks.append((f"Crowd Comparison {number}", above, text))
        text = base.framed(blocks)[0]
        return self.wording.ask("judge_crowd", unit, mode, text, pools=pools)

    # ------------------------------------------------------------------ what it says

    def settle(self, unit: Unit, heard: base.Heard, draw: int = 0) -> base.Settled:
        """The final verdict, or why it was not asked for."""
        picked, kind = self._selected(unit, heard, draw)
        asked = [call for _, listed in self._crowd(unit, draw) for call in listed]
        shown = self._select_texts(picked, heard)
        left = sum(not heard[call.key].read for call in asked) + len(picked) - len(shown)
        if not shown:
            why = f"none of {len(asked)} crowd judgments could be used, so no verdict was asked for"
            return base.Settled(verdict=base.failed_verdict(why), wanted=self.k, left_out=left)
        return base.Settled(
            verdict=heard[self._final(unit, ()).key].verdict,
            wanted=self.k,
            used=len(shown),
            preferred=kind,
            left_out=left,
            cut=sum(base.bounded(text)[1] for _, _, text, _ in shown),
        )

    @property
    def templates(self) -> tuple[PromptTemplate, ...]:
        """The prompt texts that it uses."""
        removal = ("outcome_removal",) if self.removal else ()
        return self.wording.templates("vanilla", *removal, "judge_crowd")

    def prompt(self, unit: Unit, mode: ReplyMode) -> Prompted:
        """The final prompt with no judgment in it."""
        return self._ask(unit, (), mode)


STRATEGIES = (
    *base.ONE_CALL,
    "plan",
    "majority",
    "aggregate",
    *(f"cce-{s}{raw}" for s in SELECTIONS for raw in ("", "-raw")),
)
"""Names allowed before ``@k``; ``cce`` is short for ``cce-criticising``."""

_NAME = re.compile(r"([a-z-]+?)(?:@(\d{1,4}))?")


def strategy(
    name: str, *, k: int | None = None, seed: int = 0, wording: base.Wording | None = None
) -> base.Strategy:
    """A strategy by name.

    Parameters
    ----------
    name : str
        One of `STRATEGIES`, with ``@k`` where it takes a number of judgments. ``cce@0`` is vanilla.
    k : int, optional
        Where the name says none.
    seed : int
        Of a crowd's draw.
    wording : Wording, optional
        How pairs are worded for the judge.

    Returns
    -------
    Strategy

    Raises
    ------
    InputError
        If there is no such strategy, or k cannot be used.

    Examples
    --------
    >>> strategy("cce@8").name, strategy("cce-random-raw", k=4).name, strategy("cce@0").name
    ('cce-criticising@8', 'cce-random-raw@4', 'vanilla')
    """
    wording = wording or base.Wording()
    match = _NAME.fullmatch(name.strip())
    kind = match.group(1) if match else ""
    if kind in {"cce", "cce-raw"}:
        kind = kind.replace("cce", "cce-criticising")
    if match is None or kind not in STRATEGIES:
        names = f"{', '.join(STRATEGIES)} (from majority on with @k, as in majority@16)"
        raise InputError(f"strategy: there is none called {name!r}. There are: {names}.")
    if kind in base.ONE_CALL or kind == "plan":
        if match.group(2):
            raise InputError(f"strategy: {kind} is one verdict and takes no @k, got {name!r}.")
        if kind == "plan":
            return base.EvalPlan(wording=wording)
        return base.OneCall(name=kind, wording=wording)
    number = int(match.group(2)) if match.group(2) else k
    if number is None:
        raise InputError(f"strategy: {name!r} needs a number of judgments, as in {kind}@16.")
    if number > 1024:
        raise InputError(f"strategy: {name!r} asks for more than 1,024 judgments.")
    if number == 0:
        return base.OneCall(name="vanilla", wording=wording)
    if kind in {"majority", "aggregate"}:
        voting = base.Majority if kind == "majority" else base.Aggregate
        return voting(k=number, wording=wording)
    _, selection, *raw = kind.split("-")
    return CrowdComparison(
        k=number, selection=selection, removal=not raw, seed=seed, wording=wording
    )


def requested_strategies(parameters: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The strategies that parameters ask for, in full, by what they are asked for.

    Parameters
    ----------
    parameters : mapping
        ``strategies``, ``scaling`` (numbers of the curve), ``selections`` and ``selections_at``,
        ``k`` and ``seed``.

    Returns
    -------
    dict of str to tuple of str
        ``strategies``, ``scaling`` and ``selections``.

    Examples
    --------
    >>> given = {"strategies": ("vanilla", "cce"), "scaling": (0, 2), "k": 4, "seed": 0,
    ...     "selections": ("random",), "selections_at": (2,)}
    >>> requested_strategies(given)["scaling"], requested_strategies(given)["selections"]
    (('vanilla', 'cce-criticising@2'), ('cce-random@2', 'cce-random-raw@2'))
    """
    listed = {
        "strategies": list(parameters["strategies"]),
        "scaling": [f"cce@{k}" for k in parameters["scaling"]],
        "selections": [
            f"cce-{selection}{raw}@{k}"
            for k in parameters["selections_at"]
            if k
            for selection in parameters["selections"]
            for raw in ("", "-raw")
        ],
    }
    k, seed = parameters["k"], parameters["seed"]
    return {
        purpose: tuple(dict.fromkeys(strategy(name, k=k, seed=seed).name for name in names))
        for purpose, names in listed.items()
    }
