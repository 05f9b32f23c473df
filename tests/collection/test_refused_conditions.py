"""What a model refuses, or fails at, in one condition does not end its other conditions."""

import asyncio
import json

import pytest

from judgestats import collection
from judgestats.simulated import SimulatedServer
from tests.collection.picky import Picky

ONCE = collection.RetryPolicy(attempts=1, unusable_attempts=1, first_s=0.0)


def hot(request):
    return request["temperature"] == 2.0


@pytest.mark.parametrize(("status", "mixed"), [(400, True), (500, False)])
def test_the_other_conditions_of_a_judge_go_on(plan, tmp_path, status, mixed):
    tasks = plan(items=30, replicates=2, temperatures=(2.0, 0.5, 1.0))
    if mixed:
        tasks.sort(key=lambda task: (task.item_id, task.replicate))
    kept = {"journal": tmp_path / "j.db", "retry": ONCE, "concurrency": 2}
    app = Picky(hot, status=status)
    collected = collection.collect_judgments(tasks, simulated_app=app, **kept)
    account, frame = collected.account, collected.frame
    assert collected.stopped_because is collection.Stop.FAILING
    assert "sim-typical, T=2: 20 judgments in a row failed, the last one as" in collected.message
    assert "T=0.5" not in collected.message
    assert "that judge or condition left out" in collected.message
    assert account.answered == 120  # all of the others
    assert 20 <= account.failed <= 22
    assert account.asked == 120 + account.failed == len(frame)
    assert set(frame.loc[frame["transport"] == "failed", "condition"]) == {"sim-typical, T=2"}
    assert set(frame.loc[frame["transport"] == "answered", "reply_mode"]) == {"json_schema"}
    assert app.received <= account.asked + 3 * 3  # the reply mode is soon known not to be at fault
    again = collection.collect_judgments(tasks, simulated_app=SimulatedServer(), **kept)  # mended
    assert again.complete
    assert (again.account.cached, again.account.answered) == (120, 60)


def test_a_server_that_fails_in_several_conditions_ends_the_model(plan):
    app = Picky(lambda request: True, status=500)
    tasks = plan(items=30, temperatures=(0.2, 0.4, 0.6, 0.8, 1.0))
    collected = collection.collect_judgments(tasks, simulated_app=app, retry=ONCE, concurrency=2)
    assert collected.stopped_because is collection.Stop.FAILING
    assert "sim-typical: 2" in collected.message
    assert 20 <= app.received == collected.account.failed <= 24  # not twenty of each


def test_a_reply_mode_is_still_found_where_the_first_items_are_refused_for_themselves(plan):
    tasks = plan(items=12, replicates=1)

    def refuses(request):
        text = json.dumps(request["messages"])
        return "response_format" in request or "It is 0," in text or "It is 2," in text

    collected = collection.collect_judgments(
        tasks, simulated_app=Picky(refuses), retry=ONCE, concurrency=1
    )
    assert collected.complete
    assert collected.account.failures == {"bad_request": 2}
    assert set(collected.frame.loc[2:, "reply_mode"]) == {"tool"}


@pytest.mark.parametrize("status", [400, 403])
def test_an_item_that_is_flagged_is_a_failed_row_and_ends_nothing(plan, status):
    app = Picky(
        lambda request: "It is 4," in json.dumps(request["messages"]),
        status=status,
        words="Your input was flagged by our moderation",
    )
    tasks = plan(items=4, replicates=30)
    collected = collection.collect_judgments(tasks, simulated_app=app, retry=ONCE, concurrency=2)
    assert collected.complete
    assert collected.account.failures == {"bad_request": 30}
    assert set(collected.frame.loc[collected.frame["transport"] == "failed", "item_id"]) == {"q2"}


def test_who_waits_for_a_retry_leaves_when_its_condition_is_left_out():
    async def waits():
        endpoint = collection.Endpoint(
            collection.parse_judge("sim-typical"),
            concurrency=1,
            journal=collection.Journal(None),
            price=collection.Price(input=0.0, output=0.0),
            reply_mode=None,
        )
        hopeless = asyncio.create_task(endpoint.rest(600.0, "a"))
        other = asyncio.create_task(endpoint.rest(600.0, "b"))
        await asyncio.sleep(0)
        endpoint.leave_out("a", "refused")
        await asyncio.wait_for(hopeless, 5)
        assert not other.done()
        endpoint.end(collection.Stop.FAILING, "all")
        await asyncio.wait_for(other, 5)

    asyncio.run(waits())
