"""Judging in stages: next calls and verdicts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import pandas as pd

from judgestats.data.columns import KEY_COLUMNS, Condition, Task
from judgestats.data.parse import read_judgment
from judgestats.errors import InputError
from judgestats.protocols.base import JudgingProtocol, Prompted, ReplyMode, Status, Unit
from judgestats.protocols.strategies import base

Cell = tuple[str, int]
"""An item in one of its repetitions."""

STRATEGY = "strategy"
"""The factor that names a condition's strategy; a pool's judgments carry the pool's name there."""

TaskKey = tuple[str, str, str, str, int]


@dataclass(slots=True)
class _Pipeline:
    condition: Condition
    strategy: base.Strategy
    unit: Unit
    replicate: int
    calls: dict[base.CallKey, TaskKey] = field(default_factory=dict)
    waiting: int = 0
    settled: base.Settled | None = None

    @property
    def about(self) -> tuple[str, int]:
        return (self.unit.item.id, self.replicate)


class StageSchedule:
    """The calls of strategies on pairs, stage by stage.

    Give `first` to `collect_judgments` as its plan and `follow_up` as its follow-up; afterwards
    `protocols` and `units` read the judgments, and `table` has one row a pipeline.

    Parameters
    ----------
    strategies : mapping of Condition to Strategy
        Each condition names its strategy in the factor ``strategy``.
    units : mapping of Condition to sequence of Unit
        The pairs of each condition (``strategy.units(items)``).
    replicates : int
        How often every pipeline is repeated.
    raised : float
        The temperature of calls that a strategy asks at a raised temperature.
    only : collection of (item id, replicate), optional
        Keeps the pipelines about these items in these repetitions.
    asked_by : mapping of stage to judge, optional
        Who is asked at a stage instead of the judge itself (``{"removal": "gpt-4o"}``).
    own : mapping of judge to float or None, optional
        Judges that are asked at one temperature only, whatever the stage.

    Examples
    --------
    >>> from judgestats.items.bank import load_bank
    >>> from judgestats.collection.single_answers import collect_judgments
    >>> from judgestats.protocols.strategies import strategy
    >>> cce = strategy("cce@2")
    >>> condition = Condition(judge="sim-crowd", temperature=0.5, factors={"strategy": cce.name})
    >>> pairs = cce.units(load_bank()[:1])[:2]
    >>> staging = StageSchedule({condition: cce}, {condition: pairs}, replicates=1)
    >>> raw = collect_judgments(staging.first(), follow_up=staging.follow_up).read()
    >>> sorted(set(raw["stage"])), staging.table(raw)["status"].tolist()
    (['crowd', 'final', 'removal'], ['ok', 'ok'])
    """

    def __init__(
        self,
        strategies: Mapping[Condition, base.Strategy],
        units: Mapping[Condition, Sequence[Unit]],
        *,
        replicates: int = 1,
        raised: float = 1.0,
        only: Collection[Cell] | None = None,
        asked_by: Mapping[str, str] | None = None,
        own: Mapping[str, float | None] | None = None,
    ) -> None:
        for condition, one in strategies.items():
            if condition.factors.get(STRATEGY) != one.name:
                raise InputError(
                    f"StageSchedule: the condition {condition.label!r} must name its strategy: "
                    f'factors={{"{STRATEGY}": "{one.name}"}}.'
                )
        self._given = (dict(strategies), dict(units))
        self._asked_by = dict(asked_by or {})
        self._own = dict(own or {})
        self._same = partial(
            StageSchedule,
            replicates=replicates,
            raised=raised,
            asked_by=self._asked_by,
            own=self._own,
        )
        self._only = only
        self._raised = raised
        self._pipelines = self._lined_up(replicates)
        self._waiting: dict[TaskKey, list[_Pipeline]] = {}
        # All calls of a pipeline are about responses of its item, so that what was heard about an
        # item can be let go of when its last pipeline has settled.
        self._heard: dict[tuple[str, int], dict[TaskKey, base.StageReply]] = {}
        self._open: Counter[tuple[str, int]] = Counter(p.about for p in self._pipelines)
        self._readers: dict[TaskKey, tuple[JudgingProtocol, Unit]] = {}
        self.protocols: dict[str, JudgingProtocol] = {}
        """Who reads the judgments, by condition's label; pools have their own conditions."""
        self.units: dict[tuple[str, str], Unit] = {}
        """What was judged, by id and order; grows as calls are named."""
        self._conditions: dict[tuple[str, str, bool, str], Condition] = {}

    def _lined_up(self, replicates: int) -> list[_Pipeline]:
        """Pair by pair, so that an interrupted run has whole pairs under all strategies."""
        (strategies, units), only = self._given, self._only
        order: dict[tuple[str, str], None] = {}
        own = [
            (c, one, {(u.item_id, u.order): u for u in units[c]}) for c, one in strategies.items()
        ]
        for _, _, listed in own:
            order.update(dict.fromkeys(listed))
        return [
            _Pipeline(condition=c, strategy=one, unit=listed[key], replicate=replicate)
            for replicate in range(replicates)
            for key in order
            for c, one, listed in own
            if key in listed and (only is None or (listed[key].item.id, replicate) in only)
        ]

    def __len__(self) -> int:
        """Pipelines in all."""
        return len(self._pipelines)

    @property
    def settled(self) -> int:
        """Pipelines that have come to an end."""
        return sum(pipeline.settled is not None for pipeline in self._pipelines)

    def again(self) -> StageSchedule:
        """The same, with nothing heard yet."""
        return self._subset(self._only)

    def _subset(self, only: Collection[Cell] | None) -> StageSchedule:
        strategies, units = self._given
        if only is not None:  # a small part of many: the others need not be lined up first
            items = {item for item, _ in only}
            units = {c: [u for u in listed if u.item.id in items] for c, listed in units.items()}
        return self._same(strategies, units, only=only)

    def part(self, most: int, together: int = 1) -> StageSchedule:
        """The same with nothing heard yet, and of more pipelines than `most` about that many.

        Items keep all repetitions of a block of `together`, spread evenly over the plan.
        Pipelines of different blocks have no call in common.
        """
        if len(self) <= most:
            return self.again()
        blocks: dict[Cell, set[Cell]] = {}
        for item, replicate in (p.about for p in self._pipelines):
            blocks.setdefault((item, replicate // together), set()).add((item, replicate))
        listed, wanted = list(blocks.values()), max(1, len(blocks) * most // len(self))
        kept = (listed[i * len(listed) // wanted] for i in range(wanted))
        return self._subset(set[Cell]().union(*kept))

    @property
    def pairs(self) -> int:
        """Pairs that are judged."""
        return len({p.unit.item_id for p in self._pipelines})

    # ------------------------------------------------------------------ asking

    def first(self) -> list[Task]:
        """The calls that need no other call; to be called once."""
        return [task for pipeline in self._pipelines for task in self._advance(pipeline)]

    def follow_up(self, row: Mapping[str, Any]) -> list[Task]:
        """The calls that can be made now that a judgment is in; what failed is heard too."""
        key = cast("TaskKey", tuple(row[name] for name in KEY_COLUMNS))
        if key not in self._readers:
            return []
        reader, unit = self._readers.pop(key)
        verdict = read_judgment(
            reader,
            unit,
            transport=row["transport"],
            mode=row["reply_mode"],
            text=row["raw_text"],
            finish_reason=row["finish_reason"],
            failure=row["failure"],
        )
        self._heard.setdefault((unit.item.id, key[-1]), {})[key] = base.StageReply(verdict=verdict)
        tasks: list[Task] = []
        for pipeline in self._waiting.pop(key, []):
            pipeline.waiting -= 1
            if pipeline.waiting == 0:
                tasks += self._advance(pipeline)
        return tasks

    def _advance(self, pipeline: _Pipeline) -> list[Task]:
        """Name a pipeline's next calls, or settle it."""
        tasks: list[Task] = []
        while pipeline.waiting == 0 and pipeline.settled is None:
            heard_so_far = self._heard.get(pipeline.about, {})
            heard = {call: heard_so_far[key] for call, key in pipeline.calls.items()}
            calls = pipeline.strategy.calls(pipeline.unit, heard, pipeline.replicate)
            new = [call for call in calls if call.key not in pipeline.calls]
            if not new:
                pipeline.settled = pipeline.strategy.settle(
                    pipeline.unit, heard, pipeline.replicate
                )
                self._close_pipeline(pipeline)
                break
            for call in new:
                tasks += self._need(pipeline, call)
        return tasks

    def _need(self, pipeline: _Pipeline, call: base.Call) -> list[Task]:
        """Note that a pipeline needs a call; the task, if nobody has asked for it yet."""
        condition = self._condition(pipeline.condition, call)
        unit = call.unit
        task = Task(
            condition=condition,
            item_id=unit.item_id,
            cluster=unit.cluster,
            category=unit.category,
            replicate=pipeline.replicate,
            order=unit.order,
            stage=call.stage,
            build=call.build,
            unit=unit,
        )
        key = task.key
        pipeline.calls[call.key] = key
        if key in self._heard.get(pipeline.about, {}):
            return []
        pipeline.waiting += 1
        self._waiting.setdefault(key, []).append(pipeline)
        if key in self._readers:
            return []
        self._readers[key] = (pipeline.strategy.stage_protocol(call.stage), unit)
        self.protocols.setdefault(condition.label, pipeline.strategy)
        self.units.setdefault((unit.item_id, unit.order), unit)
        return [task]

    def _condition(self, own: Condition, call: base.Call) -> Condition:
        """The condition under which a call is asked: a pool's where it belongs to one."""
        by = self._asked_by.get(base.stage_kind(call.stage), own.judge)
        key = (own.label, call.pool, call.raised, by)
        if key not in self._conditions:
            condition = own
            if call.pool:
                condition = replace(condition, factors={**own.factors, STRATEGY: call.pool})
            if call.raised:
                condition = replace(condition, temperature=self._raised)
            if by != own.judge:  # what two judges said is not mixed where one model works on both
                whose = f"{condition.factors[STRATEGY]} of {own.judge}"
                condition = replace(
                    condition, judge=by, factors={**condition.factors, STRATEGY: whose}
                )
            heat = self._own.get(condition.judge, condition.temperature)
            self._conditions[key] = replace(condition, temperature=heat)
        return self._conditions[key]

    def _close_pipeline(self, pipeline: _Pipeline) -> None:
        self._open[pipeline.about] -= 1
        if self._open[pipeline.about] == 0:
            self._heard.pop(pipeline.about, None)

    # ------------------------------------------------------------------ afterwards

    def table(self, judgments: pd.DataFrame) -> pd.DataFrame:
        """One row a settled pipeline: its verdict, and what it took.

        Parameters
        ----------
        judgments : DataFrame
            The judgments heard, raw or parsed.

        Returns
        -------
        DataFrame
            ``status``, ``choice``, ``explanation``, and ``reason`` of the verdict, ``wanted``,
            ``used``, ``preferred``, ``left_out``, and ``cut`` of the text before it, and ``calls``,
            ``tokens_in``, ``tokens_out``, and ``cost_usd`` of all calls that it used. A shared call
            counts in full for each strategy that used it, so the sums are the strategy's cost
            alone.
        """
        spent = ("tokens_in", "tokens_out", "cost_usd")
        costs: dict[TaskKey, tuple[float, ...]] = {
            key: values
            for key, *values in zip(
                zip(*(judgments[n] for n in KEY_COLUMNS), strict=True),
                *(judgments[n].astype(float) for n in spent),
                strict=True,
            )
        }
        rows = [self._row(p, p.settled, costs) for p in self._pipelines if p.settled is not None]
        return pd.DataFrame(rows)

    def _row(
        self, pipeline: _Pipeline, settled: base.Settled, costs: Mapping[TaskKey, Sequence[float]]
    ) -> dict[str, Any]:
        condition, unit, verdict = pipeline.condition, pipeline.unit, settled.verdict
        keys = [k for k in pipeline.calls.values() if base.stage_kind(k[3]) != "points"]
        spent = [costs[k] for k in keys if k in costs]
        last = costs.get(keys[-1], (float("nan"),) * 3)
        total = [sum(column) for column in zip(*spent, strict=True)] or [float("nan")] * 3
        return {
            "condition": condition.label,
            "judge": condition.judge,
            "temperature": float("nan")
            if condition.temperature is None
            else float(condition.temperature),
            **{f"factor_{name}": value for name, value in condition.factors.items()},
            "k": pipeline.strategy.k,
            "item_id": unit.item_id,
            "cluster": unit.cluster,
            "category": unit.category,
            "order": unit.order,
            "replicate": pipeline.replicate,
            "status": verdict.status.value,
            "choice": verdict.choice or "",
            "position": str(verdict.extra.get("position", "")),
            "explanation": verdict.explanation,
            "reason": verdict.reason,
            "wanted": settled.wanted,
            "used": settled.used,
            "preferred": settled.preferred,
            "left_out": settled.left_out,
            "cut": settled.cut,
            "points": settled.points,
            "calls": len(keys),
            "tokens_in": total[0],
            "tokens_out": total[1],
            "cost_usd": total[2],
            "final_tokens_out": last[1],
        }

    # ------------------------------------------------------------------ before anything is sent

    def imagined(self, task: Task, prompted: Prompted, characters: int) -> str:
        """A reply of about this many characters that can be read, to price the stages after it."""
        reader, unit = self._readers[task.key]
        filler = "x" * characters
        letter = "AB"[len(unit.item_id) % 2]
        kind = base.stage_kind(task.stage)
        if kind in {"plan", "removal"}:
            field_name = "plan" if kind == "plan" else "analysis"
            reply = json.dumps({field_name: filler})
        elif kind == "points":
            reply = json.dumps({"aspects": [{"aspect": filler, "points": ["x"]}]})
        else:
            reply = json.dumps({"explanation": filler, "choice": letter})
        if prompted.mode is ReplyMode.TEXT and kind not in {"points"}:
            reply = filler if kind in {"plan", "removal"} else f"{filler} [[{letter}]]"
        if reader.read(unit, prompted.mode, reply).status is not Status.OK:
            raise InputError(f"the reply imagined for the stage {task.stage!r} cannot be read.")
        return reply
