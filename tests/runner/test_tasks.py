"""Which units are judged, and in which order."""

import pickle

import pytest

from judgestats.data import Condition
from judgestats.errors import InputError
from judgestats.items import Item, Response
from judgestats.protocols import Pairwise, Pointwise, ReplyMode
from judgestats.runner import draw_units, load_design, tasks_of
from judgestats.runner.prepare import prepare


def items(n=5, k=3):
    return tuple(
        Item(
            id=f"q{i}",
            cluster=f"q{i}",
            turns=(f"question {i}",),
            responses=tuple(Response(turns=(f"answer {i} {j}",), author=str(j)) for j in range(k)),
        )
        for i in range(n)
    )


def test_the_draw_is_seeded_and_of_the_asked_size():
    units = Pointwise().units(items())
    once = draw_units(units, per_item=2, seed=1)
    assert once == draw_units(units, per_item=2, seed=1)
    assert len(once) == 10
    assert {u.item_id for u in once} != {u.item_id for u in draw_units(units, per_item=2, seed=2)}


def test_two_things_of_one_name_are_refused():
    units = Pointwise().units(items(1, 1)) * 2
    with pytest.raises(InputError, match="both called"):
        draw_units(units, per_item=None, seed=0)


def test_tasks_come_replication_by_replication_and_are_unique():
    units = Pointwise().units(items(2, 1))
    conditions = [Condition(judge="a", temperature=0.0), Condition(judge="a", temperature=1.0)]
    protocol = Pointwise()
    tasks = list(
        tasks_of(
            dict.fromkeys(conditions, units), dict.fromkeys(conditions, protocol), replicates=3
        )
    )
    assert len({t.key for t in tasks}) == len(tasks) == 12
    assert [t.replicate for t in tasks] == sorted(t.replicate for t in tasks)


def test_a_prompt_is_written_once_for_all_replications_and_is_its_own_units(monkeypatch):
    written = []
    write = Pointwise.prompt
    monkeypatch.setattr(
        Pointwise,
        "prompt",
        lambda self, unit, mode: written.append(unit.item_id) or write(self, unit, mode),
    )
    conditions = [Condition(judge="a", temperature=0.0), Condition(judge="a", temperature=1.0)]
    plain = Pointwise()
    protocols = {conditions[0]: plain, conditions[1]: Pointwise(guideline="Mind the facts.")}
    units = dict.fromkeys(conditions, plain.units(items(2, 1)))
    tasks = list(tasks_of(units, protocols, replicates=3))
    prompts = [t.build(ReplyMode.TEXT) for t in tasks]
    assert len(written) == 4
    for task, prompted in zip(tasks, prompts, strict=True):
        assert prompted == write(protocols[task.condition], task.unit, ReplyMode.TEXT)
        assert pickle.loads(pickle.dumps(task)).build(ReplyMode.TEXT) == prompted
    assert tasks[0].build(ReplyMode.TOOL) != prompts[0]


def test_a_pair_keeps_both_its_orders():
    units = Pairwise().units(items(4, 3))
    drawn = draw_units(units, per_item=1, seed=0)
    assert len(drawn) == 8
    assert [u.order for u in drawn] == ["ab", "ba"] * 4


def test_a_staged_dry_run_names_no_call_of_all_pairs_beforehand():
    given = {"pairs": "4", "judges": "sim-crowd"}
    assert len(prepare(load_design("crowd"), given).tasks) > 0
    dry = prepare(load_design("crowd"), {**given, "dry_run": "true"})
    assert len(dry.tasks) == 0
    assert dry.staging is not None
    assert len(dry.staging) > 0
