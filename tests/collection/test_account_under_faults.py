"""Whatever befalls requests: asked = answered + failed, and a second run completes the first."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgestats import collection
from judgestats.data import validate_raw
from tests.batch_server import BatchFaults as Faults
from tests.batch_server import BatchServer as SimulatedServer

TEN = collection.PriceTable(
    as_of="2026-01-01",
    source="test",
    endpoints={"simulated": {"*": collection.Price(input=10.0, output=10.0)}},
)
TWICE = collection.RetryPolicy(attempts=2, unusable_attempts=2, first_s=0.0, longest_s=0.0)

ONLINE = (
    "rate_limited", "overloaded", "server_error", "reset", "truncated_json", "wrong_type",
    "refusal", "filtered", "cut_off",
)  # fmt: skip
IN_BATCHES = (
    "batch_expired", "batch_error", "batch_missing", "batch_malformed", "batch_repeated",
    "batch_foreign", "refusal",
)  # fmt: skip
rates = st.sampled_from([0.0, 0.05, 0.3])
online_faults = st.fixed_dictionaries(
    dict.fromkeys(ONLINE, rates)
    | {"seed": st.integers(0, 1000), "ignore_n": st.booleans(), "refuse_n": st.booleans()}
)
batch_faults = st.fixed_dictionaries(
    dict.fromkeys(IN_BATCHES, rates)
    | {"seed": st.integers(0, 1000), "batch_looks": st.integers(1, 3), "ignore_n": st.booleans()}
)
choices = st.sampled_from([1, 3])
budgets = st.builds(
    collection.Budget,
    max_cost=st.none() | st.sampled_from([0.0, 0.05, 0.2]),
    max_requests=st.none() | st.integers(0, 30),
)


def exact(collected, tasks):
    """Account and frame tell the same story, and no row is invented, doubled or missing."""
    account, frame = collected.account, validate_raw(collected.read())
    assert account.asked == account.answered + account.failed
    assert account.failed == sum(account.failures.values())
    counts = frame["transport"].value_counts()
    assert counts.get("failed", 0) == account.failed
    assert frame["cached"].sum() == account.cached
    assert len(frame) == account.rows
    rows = list(zip(frame["temperature"], frame["item_id"], frame["replicate"], strict=True))
    planned = {(t.condition.temperature, t.item_id, t.replicate) for t in tasks}
    assert len(set(rows)) == len(rows)
    assert set(rows) <= planned
    if collected.complete:
        assert set(rows) == planned
    return frame


async def at_once(seconds):
    """In place of waiting."""
    await asyncio.sleep(0)


def run(ask, tasks, faults, **options):
    """One collection under faults and limits, then another on a sound server."""
    sound = {name: value for name, value in faults.items() if type(value) is not float}
    shares = {name: value for name, value in faults.items() if type(value) is float}
    beyond = max(1.0, sum(shares.values()) / 0.9)  # together they are the chance of any fault
    app = SimulatedServer(Faults(**sound, **{n: share / beyond for n, share in shares.items()}))
    limits = options.pop("budget")
    with tempfile.TemporaryDirectory() as folder:
        options |= {"journal": Path(folder) / "j.db", "simulated_app": app, "prices": TEN}
        first = asyncio.run(ask(tasks, budget=limits, **options))
        exact(first, tasks)
        if limits.max_requests is not None:
            assert first.account.requests <= limits.max_requests
        if limits.max_cost is not None:
            assert first.account.total_cost_usd <= limits.max_cost + 1e-9
        app.faults = Faults()
        second = asyncio.run(ask(tasks, **options))
    frame = exact(second, tasks)
    assert second.complete
    assert second.account.failed == 0
    assert second.account.cached == first.account.answered  # nothing answered is asked again
    assert second.account.answered == len(tasks) - first.account.answered
    assert (frame["transport"] == "answered").all()
    return first


SMALL = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


LIMITS = {collection.Stop.COMPLETE, collection.Stop.MAX_COST, collection.Stop.MAX_REQUESTS}


@SMALL
@given(faults=online_faults, choices=choices, budget=budgets)
def test_online(plan, faults, choices, budget):
    tasks = plan(items=4, replicates=4, temperatures=(0.5, 1.0))
    own = {"choices_per_request": choices, "retry": TWICE, "concurrency": 4}
    first = run(collection.collect, tasks, faults, budget=budget, **own)
    assert first.stopped_because in {*LIMITS, collection.Stop.FAILING}


@SMALL
@given(faults=batch_faults, choices=choices, budget=budgets)
def test_in_batches(plan, faults, choices, budget):
    tasks = plan(items=4, replicates=4, temperatures=(0.5, 1.0))
    own = {"choices_per_request": choices, "retry": TWICE, "sleep": at_once}
    first = run(collection.collect_in_batches, tasks, faults, budget=budget, **own)
    assert first.stopped_because in LIMITS
