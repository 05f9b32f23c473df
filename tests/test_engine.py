"""Where work is done changes no bit of it."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats import engine as engine_module
from judgestats.engine import Engine, map_blocks, parse_engine
from judgestats.errors import InputError, JudgestatsError
from judgestats.stats import cluster_bootstrap, omega_total
from judgestats.stats.inference import permutation_distribution


def _everything(folder) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    rows = {"item_id": np.repeat(np.arange(30), 8), "replicate": np.tile(np.arange(8), 30)}
    judged = pd.DataFrame({**rows, "score": rng.integers(1, 6, 240).astype(float)})
    for number, part in enumerate((judged[::3], judged[1::3], judged[2::3])):
        part.to_parquet(folder / f"{number}.parquet")
    x = rng.normal(size=(40, 1)) + rng.normal(size=(40, 6))
    cluster = np.arange(40) // 2
    boot = cluster_bootstrap(
        x, lambda data: float(np.corrcoef(data.T)[0, 1]), cluster=cluster, n_resamples=300
    )
    null = permutation_distribution(
        x, lambda data: float(np.var(data.mean(axis=1))), scheme="replications", n_permutations=100
    )
    omega = omega_total(x, cluster=cluster, n_resamples=300)
    return [
        js.read_judgments(folder)["score"].to_numpy(),
        boot.distribution,
        null.distribution,
        np.array([omega.interval.low, omega.interval.high]),
    ]


def test_engines_are_read() -> None:
    assert parse_engine("") == parse_engine("local") == Engine()
    assert parse_engine("loky").workers >= 1
    assert parse_engine("dask://scheduler:8786").address == "scheduler:8786"
    for wrong in ("loky:0", "loky:x", "loky:99999", "dask://nowhere", "spark", "dask://a b:1"):
        with pytest.raises(InputError, match="engine: expected local"):
            parse_engine(wrong)


def test_loky_gives_the_same_bits(monkeypatch, tmp_path) -> None:
    here = _everything(tmp_path)
    monkeypatch.setattr(engine_module, "WORTH_SENDING_S", 0.0)
    with Engine(kind="loky", workers=2).running():
        there = _everything(tmp_path)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one, other)


def test_small_work_stays_here(monkeypatch) -> None:
    def refuse(*args, **kwargs):
        raise AssertionError("sent")

    monkeypatch.setattr("joblib.Parallel", refuse)
    with Engine(kind="loky", workers=2).running():
        assert map_blocks(pow, [(2, 3)] * 5) == [8] * 5


def _die(number: int) -> None:
    import os
    import signal

    if number:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_told_in_a_sentence(monkeypatch) -> None:
    monkeypatch.setattr(engine_module, "WORTH_SENDING_S", 0.0)
    with (
        Engine(kind="loky", workers=2).running(),
        pytest.raises(JudgestatsError, match="was killed"),
    ):
        map_blocks(_die, [(0,), (1,), (1,)])


def test_no_scheduler_is_told_in_a_sentence(monkeypatch) -> None:
    monkeypatch.setattr(engine_module, "_CONNECT_S", 1)
    with (
        pytest.raises(InputError, match=r"no Dask scheduler answers at 127\.0\.0\.1:9"),
        parse_engine("dask://127.0.0.1:9").running(),
    ):
        raise AssertionError("unreachable")


@pytest.mark.study
def test_dask_gives_the_same_bits(monkeypatch, tmp_path) -> None:
    """The record of this stands in docs/benchmarks/distributed.md."""
    distributed = pytest.importorskip("distributed")
    here = _everything(tmp_path)
    monkeypatch.setattr(engine_module, "WORTH_SENDING_S", 0.0)
    for workers in (1, 2):
        with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
        ) as cluster:
            address = cluster.scheduler_address.removeprefix("tcp://")
            with parse_engine(f"dask://{address}").running():
                there = _everything(tmp_path)
        for one, other in zip(here, there, strict=True):
            np.testing.assert_array_equal(one, other)
