"""Batch mode against the simulated Batch API, in process and over loopback, with the real SDK."""

import asyncio

import pytest

from judgestats.errors import BudgetError, InputError, JudgeError
from judgestats.judges.account import Stop
from judgestats.judges.batches.collect import collect_in_batches
from judgestats.judges.batches.work import Limits
from judgestats.judges.budget import Budget
from judgestats.judges.collect import collect_judgments
from judgestats.judges.journal import Journal
from judgestats.judges.prices import Price, PriceTable
from judgestats.judges.retry import RetryPolicy
from judgestats.judges.simulated.app import SimulatedServer
from judgestats.judges.simulated.faults import Faults
from judgestats.judgments.schemas import validate_raw

TEN = PriceTable(
    as_of="2026-01-01",
    source="test",
    endpoints={"simulated": {"*": Price(input=10.0, output=10.0)}},
)
SAME = ["item_id", "replicate", "temperature", "raw_text", "finish_reason", "tokens_in"]


async def at_once(seconds):
    """In place of waiting."""
    await asyncio.sleep(0)


def in_batches(tasks, path, **options):
    options = {"sleep": at_once, **options}
    return asyncio.run(collect_in_batches(tasks, journal=path, **options))


def exact(collected):
    """The account, held against the frame."""
    account, frame = collected.account, validate_raw(collected.read())
    assert account.asked == account.answered + account.failed
    assert len(frame) == account.rows
    assert (frame["transport"] == "failed").sum() == account.failed
    assert (frame["transport"] == "invalid_condition").sum() == account.invalid
    assert frame["cached"].sum() == account.cached
    assert (
        account.failures
        == frame.loc[frame["transport"] == "failed", "failure"].value_counts().to_dict()
    )
    return frame


@pytest.mark.parametrize("choices", [1, 3])
def test_batches_give_the_frame_that_asking_one_by_one_gives(plan, tmp_path, choices):
    tasks = plan(
        items=6, replicates=4, temperatures=(0.0, 1.0), judges=("sim-typical", "sim-noisy")
    )
    online = collect_judgments(tasks, choices_per_request=choices, seed=3)
    batch = in_batches(tasks, tmp_path / "j.db", choices_per_request=choices, seed=3)
    frame = exact(batch)
    assert batch.complete
    assert frame[SAME].equals(online.frame[SAME])
    assert frame["latency_s"].isna().all()
    assert batch.account.answered == 96
    assert batch.account.requests == (96 if choices == 1 else 2 * 2 * 6 * 2)
    assert batch.account.tokens_in == online.account.tokens_in


def test_over_loopback(plan, server, tmp_path):
    url, app = server(batch_looks=3)
    batch = in_batches(plan(url=url), tmp_path / "j.db", prices=TEN)
    exact(batch)
    assert len(app.desk.batches) == 1
    assert app.received - app.desk.billed == 1  # one judgment online, to see what is supported
    assert batch.account.answered == 20
    online = collect_judgments(plan(url=url), prices=TEN)
    dear = online.account.cost_usd / 20
    assert batch.account.cost_usd == pytest.approx(dear + 19 * dear / 2, rel=0.05)
