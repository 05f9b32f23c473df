"""Collection by several workers: the same rows, one account, the cap, a killed worker, the key."""

import functools
import os
import pickle
import signal
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import cloudpickle
import joblib
import pandas as pd
import pytest

from judgestats.collection import (
    MARK,
    Budget,
    CollectionRequest,
    Journal,
    Price,
    PriceTable,
    Shard,
    Stop,
    collect_distributed,
    collect_judgments,
    parse_judge,
    shards_of,
    work_off,
)
from judgestats.collection import cluster as distributed
from judgestats.data import Task, validate_raw
from judgestats.engine import Engine, parse_engine
from judgestats.errors import InputError

LOKY = Engine(kind="loky", workers=2)


class _Threads(Engine):
    """Two threads for workers: the same shards at the same time, without starting processes."""

    @contextmanager
    def running(self):
        with joblib.parallel_config(backend="threading", n_jobs=2):
            yield


THREADS = _Threads(kind="loky", workers=2)
DOLLAR = PriceTable(
    as_of="2026-01-01",
    source="test",
    endpoints={"simulated": {"*": Price(input=1000.0, output=1000.0)}},
)
SAID = ["condition", "item_id", "replicate", "raw_text", "transport", "tokens_in", "tokens_out"]


def _judges(tasks) -> dict:
    return {name: parse_judge(name) for name in {t.condition.judge for t in tasks}}


def _distributed(tasks, path, *, engine=THREADS, **options):
    with Journal(path) as journal:
        found = collect_distributed(
            tasks, engine=engine, journal=journal, judges=_judges(tasks), **options
        )
    account, frame = found.account, found.read()
    assert account.asked == account.answered + account.failed
    assert len(frame) == account.rows
    assert frame["cached"].sum() == account.cached
    answered = frame[(frame["transport"] == "answered") & ~frame["cached"]]
    assert len(answered) == account.answered
    assert answered["cost_usd"].sum() == pytest.approx(account.cost_usd)
    assert not Path(f"{path}.shards").exists()
    return found


def test_the_same_rows_as_in_one_process(tmp_path, plan) -> None:
    tasks = plan(items=7, replicates=3, temperatures=(0.0, 1.0))
    alone = collect_judgments(tasks, journal=tmp_path / "alone.sqlite")
    found = _distributed(tasks, tmp_path / "j.sqlite", engine=LOKY, most=6)
    assert found.complete
    validate_raw(found.frame)
    pd.testing.assert_frame_equal(found.frame[SAID], alone.read()[SAID])
    assert found.account.answered == len(tasks)
    again = _distributed(tasks, tmp_path / "j.sqlite")
    assert (again.account.cached, again.account.requests) == (len(tasks), 0)
    # One process goes on from the same journal.
    local = collect_judgments(tasks, journal=tmp_path / "j.sqlite")
    assert local.account.cached == len(tasks)


def test_shards_are_whole_clusters(plan) -> None:
    tasks = plan(items=9, replicates=4)
    shards = shards_of(tasks, workers=2)
    assert sorted(t.key for s in shards for t in s) == sorted(t.key for t in tasks)
    homes = [{t.cluster for t in s} for s in shards]
    assert sum(map(len, homes)) == len(set().union(*homes)) == 9


@pytest.mark.parametrize("cap", [1, 17])
def test_the_cap_on_requests_holds_over_all_workers(tmp_path, plan, server, cap: int) -> None:
    url, app = server()
    tasks = plan(items=6, replicates=4, url=url)
    found = _distributed(tasks, tmp_path / "j.sqlite", budget=Budget(max_requests=cap), most=4)
    assert app.received == found.account.requests == cap
    assert found.stopped_because is Stop.MAX_REQUESTS
    assert f"max_requests ({cap}) is reached" in found.message
    rest = _distributed(tasks, tmp_path / "j.sqlite", budget=Budget(max_requests=24 - cap), most=4)
    assert rest.complete
    assert app.received == 24


def test_the_cap_on_cost_holds_over_all_workers(tmp_path, plan) -> None:
    tasks = plan(items=6, replicates=4)
    whole = collect_judgments(tasks, prices=DOLLAR, settings={"max_tokens": 20}).account.cost_usd
    for share in (0.5, 0.8):
        found = _distributed(
            tasks,
            tmp_path / f"{share}.sqlite",
            budget=Budget(max_cost=share * whole),
            prices=DOLLAR,
            settings={"max_tokens": 20},  # else no bound on a reply is known
            most=4,
        )
        assert 0 < found.account.total_cost_usd <= share * whole
        assert found.stopped_because is Stop.MAX_COST


def _killing(build, flag: str, mode):
    """Kill the process that builds this prompt, once."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return build(mode)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def _with_a_killer(tasks, flag: Path, at: int):
    """The plan, one of whose prompts kills the worker (and not the collecting process)."""
    home = os.getpid()

    def build(mode, *, inner):
        return inner(mode) if os.getpid() == home else _killing(inner, str(flag), mode)

    chosen = tasks[at]
    changed = Task(
        **{k: getattr(chosen, k) for k in Task.__dataclass_fields__ if k != "build"},
        build=functools.partial(build, inner=chosen.build),
    )
    return [*tasks[:at], changed, *tasks[at + 1 :]]


def test_a_killed_worker_loses_nothing_and_nothing_counts_twice(tmp_path, plan, server) -> None:
    url, app = server()
    tasks = plan(items=6, replicates=4, url=url)
    deadly = _with_a_killer(tasks, tmp_path / "died", at=19)
    found = _distributed(deadly, tmp_path / "j.sqlite", engine=LOKY, most=8, concurrency=1)
    assert (tmp_path / "died").exists()
    assert found.complete
    assert found.account.answered == len(tasks) == found.frame[SAID[:3]].drop_duplicates().shape[0]
    # What the dead worker had stored was not asked again.
    assert app.received <= len(tasks) + found.account.possibly_billed_twice + 1
    alone = collect_judgments(tasks)
    pd.testing.assert_frame_equal(found.frame[SAID], alone.read()[SAID])


def _dying_once(shard: Shard, flag: Path):
    """What a cluster does about a worker that dies over a shard: another one is given it."""
    try:
        flag.touch(exist_ok=False)
    except FileExistsError:
        return work_off(shard)
    half = Shard(**{**vars(shard), "tasks": shard.tasks[: len(shard.tasks) // 2]})
    done = work_off(half).collected  # all of it is lost but the journal
    assert done.account.answered == len(half.tasks)
    return work_off(shard)


def test_the_cap_holds_though_a_worker_dies(tmp_path, plan, server, monkeypatch) -> None:
    (url, app), cap = server(), 17
    tasks = plan(items=6, replicates=4, url=url)
    monkeypatch.setattr(
        distributed, "work_off", functools.partial(_dying_once, flag=tmp_path / "died")
    )
    budget = Budget(max_requests=cap)
    found = _distributed(tasks, tmp_path / "j.sqlite", budget=budget, most=8, concurrency=1)
    assert (tmp_path / "died").exists()
    assert app.received <= cap
    # The dead worker's answers are rows of this run; its share counts as spent to the last.
    assert found.account.answered == app.received
    assert found.stopped_because is Stop.MAX_REQUESTS
    monkeypatch.undo()
    rest = _distributed(tasks, tmp_path / "j.sqlite")
    assert rest.complete
    assert app.received == len(tasks)


def test_shards_of_a_killed_run_are_taken_over(tmp_path, plan, server) -> None:
    url, app = server()
    tasks = plan(items=4, replicates=3, url=url)
    folder = tmp_path / "j.sqlite.shards"
    folder.mkdir()
    with Journal(folder / "old.sqlite") as book:
        collect_judgments(tasks[:5], journal=book)
    (folder / "old.claim").touch()
    before = app.received
    found = _distributed(tasks, tmp_path / "j.sqlite")
    assert (found.account.cached, found.account.answered) == (5, 7)
    assert app.received - before == 7


def test_a_claimed_shard_is_not_asked_again(tmp_path, plan) -> None:
    tasks = tuple(plan(items=2, replicates=2))
    shard = Shard(
        name="s", folder=str(tmp_path), tasks=tasks, abilities=(), ask=CollectionRequest()
    )
    (tmp_path / MARK).touch()
    assert not work_off(shard).lost
    assert work_off(shard).lost


def test_a_budget_needs_a_folder_that_workers_share(tmp_path, plan) -> None:
    tasks = tuple(plan(items=2, replicates=2))
    common = {"name": "s", "folder": str(tmp_path / "elsewhere"), "tasks": tasks, "abilities": ()}
    free = work_off(Shard(ask=CollectionRequest(), **common))
    assert len(free.answers) == 4
    with pytest.raises(InputError, match="does not see the folder"):
        work_off(Shard(ask=CollectionRequest(budget=Budget(max_requests=9)), **common))


def test_a_journal_file_is_needed(plan) -> None:
    tasks = plan(items=2, replicates=2)
    with Journal(None) as journal, pytest.raises(InputError, match="need a journal file"):
        collect_distributed(tasks, engine=LOKY, journal=journal, judges=_judges(tasks))


def test_no_key_travels(tmp_path, plan, server, monkeypatch) -> None:
    planted = "sk-planted-8f3a1c5577"
    monkeypatch.setenv("JUDGESTATS_API_KEY", planted)
    url, _ = server()
    tasks = plan(items=3, replicates=2, url=url)
    sent = []
    inner = cloudpickle.dumps

    def spy(*args, **kwargs):
        out = inner(*args, **kwargs)
        sent.append(out)
        return out

    shard = Shard(
        name="s",
        folder=str(tmp_path),
        tasks=tuple(tasks),
        ask=CollectionRequest(),
        abilities=(),
    )
    assert planted.encode() not in spy(shard)
    result = work_off(shard)
    assert planted.encode() not in spy(result)
    assert len(result.answers) == 6
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(_judges(tasks))


@pytest.mark.study
def test_a_dask_cluster_of_processes_with_one_killed(tmp_path, plan, server, monkeypatch) -> None:
    """The record of this stands in docs/benchmarks/distributed.md."""
    dask = pytest.importorskip("distributed")
    monkeypatch.setenv("JUDGESTATS_API_KEY", "sk-planted-8f3a1c5577")
    url, app = server()
    tasks = plan(items=12, replicates=5, url=url)
    deadly = _with_a_killer(tasks, tmp_path / "died", at=33)
    with dask.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
    ) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        found = _distributed(
            deadly,
            tmp_path / "j.sqlite",
            engine=parse_engine(f"dask://{address}"),
            most=10,
            concurrency=2,
        )
        logs = f"{cluster.get_logs()}"
    assert (tmp_path / "died").exists()
    assert found.complete
    assert found.account.answered == 60
    assert app.received <= 60 + found.account.possibly_billed_twice + 2
    assert "sk-planted" not in logs
    pd.testing.assert_frame_equal(found.frame[SAID], collect_judgments(tasks).read()[SAID])


def test_judges_from_a_file_are_refused_with_what_to_do(plan, tmp_path):
    tasks = plan(items=1)
    judges = {"sim-typical": replace(parse_judge("sim-typical"), from_file=True)}
    with (
        Journal(tmp_path / "j.db") as journal,
        pytest.raises(InputError, match=r"sim-typical come from a file .* Leave the engine out"),
    ):
        collect_distributed(tasks, engine=parse_engine("local"), journal=journal, judges=judges)
