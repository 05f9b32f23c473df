import asyncio
import json
import math

import pytest

from judgestats.collection import (
    Budget,
    Journal,
    Price,
    PriceTable,
    RetryPolicy,
    Stop,
    collect,
    collect_judgments,
)
from judgestats.data import RAW_COLUMNS, Condition, Task, setting_sent, validate_raw
from judgestats.errors import BudgetError, InputError, JudgeError, StoreError
from judgestats.protocols import ReplyMode
from judgestats.runner import account_lines
from judgestats.simulated import Faults, SimulatedServer, read_body, run_server, send_json

DOLLAR = PriceTable(
    as_of="2026-01-01",
    source="test",
    endpoints={"simulated": {"*": Price(input=1000.0, output=1000.0)}},
)
"""A tenth of a cent a token."""


def consistent(collected):
    """What holds of every account, whatever happened."""
    account = collected.account
    assert account.asked == account.answered + account.failed
    assert account.failed == sum(account.failures.values())
    frame = collected.read()
    assert len(frame) == account.rows
    assert (frame["transport"] == "failed").sum() == account.failed
    assert frame["cached"].sum() == account.cached
    answered = frame[(frame["transport"] == "answered") & ~frame["cached"]]
    assert len(answered) == account.answered
    assert answered["cost_usd"].sum() == pytest.approx(account.cost_usd)
    if account.cost_unknown == 0:
        assert answered["tokens_in"].sum() == pytest.approx(account.tokens_in)
    return frame


# ------------------------------------------------------------------- the plain path


def test_the_frame_has_every_judgment_once_in_the_plans_order(plan):
    tasks = plan(items=3, replicates=3, temperatures=(0.0, 1.0), judges=("sim-typical", "sim-null"))
    collected = collect_judgments(tasks, experiment="test")
    frame = validate_raw(consistent(collected))
    assert collected.complete
    assert tuple(frame.columns) == RAW_COLUMNS
    keys = [tuple(r) for r in frame[["condition", "item_id", "order", "stage", "replicate"]].values]
    assert keys == [task.key for task in tasks]
    assert set(frame["experiment"]) == {"test"}
    assert set(frame["transport"]) == {"answered"}
    assert set(frame["reply_mode"]) == {"json_schema"}
    assert all("score" in json.loads(text) for text in frame["raw_text"])


def test_running_again_asks_only_for_what_is_missing(plan, tmp_path):
    path = tmp_path / "journal.db"
    first = collect_judgments(plan(replicates=3), journal=path)
    again = collect_judgments(plan(replicates=3), journal=path)
    more = collect_judgments(plan(replicates=5, judges=("sim-typical", "sim-coarse")), journal=path)
    assert (first.account.answered, first.account.cached) == (15, 0)
    assert (again.account.requests, again.account.cached) == (0, 15)
    assert (more.account.requests, more.account.cached) == (50 - 15, 15)
    consistent(more)
    same = ["raw_text", "tokens_in", "tokens_out", "latency_s", "asked_at", "model_reported"]
    assert first.frame[same].equals(again.frame[same])


def test_results_repeat_to_the_bit_in_process_over_http_and_bundled(plan, server):
    url, _ = server(latency_s=0.001, latency_spread=1.0)
    tasks = {"items": 4, "replicates": 6, "temperatures": (0.5, 1.0)}
    inside = collect_judgments(plan(**tasks))
    outside = collect_judgments(plan(**tasks, url=url), concurrency=7)
    bundled = collect_judgments(plan(**tasks), choices_per_request=4)
    shuffled = collect_judgments(plan(**tasks)[::-1])
    texts = inside.frame["raw_text"].tolist()
    assert outside.frame["raw_text"].tolist() == texts
    assert bundled.frame["raw_text"].tolist() == texts
    assert shuffled.frame["raw_text"].tolist()[::-1] == texts
    assert len(set(texts)) > 1
    seeded = collect_judgments(plan(**tasks), seed=7)
    assert seeded.frame["raw_text"].tolist() != texts


def test_several_choices_share_a_request_and_its_bill(plan):
    collected = collect_judgments(plan(items=2, replicates=5), choices_per_request=3, prices=DOLLAR)
    frame = consistent(collected)
    assert collected.account.requests == 4
    assert sorted(frame["choices_in_request"]) == [2] * 4 + [3] * 6
    bundled = frame[frame["choices_in_request"] == 3]
    assert bundled["tokens_in"].nunique() == 1


def test_the_seed_sent_is_base_plus_replicate(plan):
    frame = collect_judgments(plan(items=1, replicates=3), seed=100).frame
    assert setting_sent(frame["sent"], "seed") == [100, 101, 102]
    unseeded = collect_judgments(plan(items=1), seed=None).frame
    assert set(setting_sent(unseeded["sent"], "seed")) == {None}


def test_an_iterable_plan_is_read_lazily(plan):
    drawn = 0

    def tasks():
        nonlocal drawn
        for task in plan(items=20, replicates=5):
            drawn += 1
            yield task

    collected = collect_judgments(tasks(), concurrency=2, budget=Budget(max_requests=10))
    assert collected.account.requests == 10
    assert drawn < 30


def test_streaming_writes_bounded_parts(plan, tmp_path):
    tasks = plan(items=10, replicates=4)
    collected = collect_judgments(iter(tasks), stream_to=tmp_path / "parts")
    assert collected.frame is None
    assert len(collected.parts) == 1
    frame = consistent(collected)
    whole = collect_judgments(tasks).frame
    order = ["condition", "item_id", "replicate"]
    streamed = frame.sort_values(order)["raw_text"].tolist()
    assert streamed == whole.sort_values(order)["raw_text"].tolist()
    with pytest.raises(InputError, match="already holds parts"):
        collect_judgments(tasks, stream_to=tmp_path / "parts")


def test_follow_ups_ask_what_answers_call_for(plan):
    def follow_up(row):
        if row["stage"] == "final" and row["replicate"] == 0:
            for task in plan(items=5, replicates=1):
                if task.item_id == row["item_id"]:
                    yield Task(
                        condition=task.condition,
                        item_id=task.item_id,
                        cluster=task.cluster,
                        replicate=0,
                        build=task.build,
                        stage=f"after {json.loads(row['raw_text'])['score']}",
                    )

    collected = collect_judgments(plan(items=5, replicates=2), follow_up=follow_up, concurrency=3)
    frame = consistent(collected)
    assert len(frame) == 15
    later = frame[frame["stage"] != "final"]
    assert len(later) == 5
    for place in later.index:  # behind the judgment it follows
        before = frame.loc[place - 1]
        assert before["item_id"] == frame.loc[place, "item_id"]
        assert frame.loc[place, "stage"] == f"after {json.loads(before['raw_text'])['score']}"


def test_it_runs_where_an_event_loop_already_runs(plan):
    async def notebook():
        return collect_judgments(plan(items=1))

    assert asyncio.run(notebook()).account.answered == 4


def test_progress_sees_the_account(plan, capsys):
    seen = []
    collect_judgments(plan(), progress=lambda account: seen.append(account.rows))
    assert seen[-1] == 20
    collect_judgments(plan(), progress=True)
    line = capsys.readouterr().err
    assert "20/20" in line
    assert "0 failed" in line


# ------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "options",
    [
        {"concurrency": 0},
        {"choices_per_request": 0},
        {"settings": {"max_tokens": 0}},
        {"timeout_s": 0},
        {"timeout_s": math.nan},
        {"seed": -1},
    ],
)
def test_senseless_parameters_are_named(plan, options):
    with pytest.raises(
        InputError, match="max_tokens" if "settings" in options else next(iter(options))
    ):
        collect_judgments(plan(), **options)


def test_the_same_judgment_twice_in_a_plan_is_named(plan):
    tasks = plan(items=2, replicates=2)
    with pytest.raises(InputError, match=r"the same judgment twice.*replicate 1"):
        collect_judgments([*tasks, tasks[1]])


def test_an_unknown_simulated_judge_is_named_before_anything_is_sent(plan, tmp_path):
    with pytest.raises(InputError, match="sim-typo"):
        collect_judgments(plan(judges=("sim-typical", "sim-typo")), journal=tmp_path / "j.db")
    assert not (tmp_path / "j.db").exists()


def test_a_wrong_address_is_named_soon(plan, quick):
    with pytest.raises(JudgeError, match=r"127\.0\.0\.1:9/v1 cannot be reached"):
        collect_judgments(plan(judges=("m",), url="http://127.0.0.1:9/v1"), retry=quick)


def test_a_refused_key_is_named(plan, server, monkeypatch):
    url, app = server(require_key="right")
    monkeypatch.setenv("JUDGESTATS_API_KEY", "wrong-key-4711")
    with pytest.raises(JudgeError, match="refuses the key") as caught:
        collect_judgments(plan(url=url))
    assert "wrong-key-4711" not in str(caught.value)
    assert app.received < 5  # one request finds out for all
    monkeypatch.setenv("JUDGESTATS_API_KEY", "right")
    assert collect_judgments(plan(url=url)).account.answered == 20


# ------------------------------------------------------------------- budget


def test_max_requests_stops_cleanly_and_one_can_go_on(plan, tmp_path):
    path = tmp_path / "journal.db"
    stopped = collect_judgments(plan(), journal=path, budget=Budget(max_requests=7))
    assert stopped.stopped_because is Stop.MAX_REQUESTS
    assert stopped.account.requests == 7
    assert len(consistent(stopped)) == 7
    assert "larger max_requests" in stopped.message
    rest = collect_judgments(plan(), journal=path)
    assert (rest.account.cached, rest.account.answered) == (7, 13)
    assert rest.complete


def test_max_cost_is_never_exceeded(plan):
    tasks = plan(items=20, replicates=10)
    whole = collect_judgments(tasks, prices=DOLLAR).account.total_cost_usd
    for share in (0.0, 0.02, 0.5):
        cap = whole * share
        stopped = collect_judgments(tasks, prices=DOLLAR, budget=Budget(max_cost=cap))
        assert stopped.stopped_because is Stop.MAX_COST
        assert stopped.account.total_cost_usd <= cap
        consistent(stopped)
    assert stopped.account.total_cost_usd > 0.8 * cap


def test_retries_count_against_max_requests(plan, quick):
    app = SimulatedServer(Faults(server_error=0.5))
    stopped = collect_judgments(
        plan(items=10),
        simulated_app=app,
        retry=quick,
        concurrency=4,
        budget=Budget(max_requests=30),
    )
    assert stopped.stopped_because is Stop.MAX_REQUESTS
    assert app.received == stopped.account.requests == 30
    assert stopped.account.retries > 0
    consistent(stopped)


def test_senseless_budgets_are_named():
    with pytest.raises(InputError):
        Budget(max_cost=math.nan)
    with pytest.raises(InputError):
        Budget(max_requests=-1)


# ------------------------------------------------------------------- the journal's failures


def test_a_full_disk_stops_the_collection_and_keeps_what_was_stored(plan, tmp_path):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        journal._database.db.execute("PRAGMA max_page_count=18")
        with pytest.raises(StoreError, match="disk is full"):
            collect_judgments(plan(items=50, replicates=10), journal=journal)
    with Journal(path) as journal:
        stored = len(journal)
    assert stored > 0
    rest = collect_judgments(plan(items=50, replicates=10), journal=path)
    assert rest.account.cached == stored
    assert rest.complete


def test_a_forced_reply_mode_is_used(plan):
    collected = collect_judgments(plan(items=1), reply_mode=ReplyMode.TEXT)
    assert set(collected.frame["reply_mode"]) == {"text"}
    assert collected.frame["raw_text"].str.contains("Score: [[", regex=False).all()


def test_cached_and_reasoning_tokens_stand_in_the_account(plan):
    class Thinks(SimulatedServer):
        async def __call__(self, scope, receive, send):
            await read_body(receive)
            usage = {
                "prompt_tokens": 900,
                "completion_tokens": 70,
                "prompt_tokens_details": {"cached_tokens": 512},
                "completion_tokens_details": {"reasoning_tokens": 60},
            }
            message = {"role": "assistant", "content": '{"explanation": "so", "score": 7}'}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            await send_json(send, 200, {"model": "m", "choices": [choice], "usage": usage})

    with run_server(Thinks()) as url:
        account = collect_judgments(plan(items=2, replicates=2, url=url)).account
    assert (account.tokens_cached, account.tokens_reasoning) == (4 * 512, 4 * 60)
    assert "280 out (2,048 cached, 240 of reasoning)" in str(account)
    told = account_lines(account.as_dict(), unknown_price=True)[0]
    assert "3600 + 280 tokens (2,048 cached, 240 of reasoning)" in told


def test_another_parameter_is_another_judgment(plan, tmp_path):
    path = tmp_path / "journal.db"
    collect_judgments(plan(), journal=path)
    for change in ({"seed": 1}, {"settings": {"max_tokens": 50}}, {"choices_per_request": 2}):
        assert collect_judgments(plan(), journal=path, **change).account.cached == 0
    assert collect_judgments(plan(temperatures=(0.5,)), journal=path).account.cached == 0
    assert collect_judgments(plan(), journal=path).account.requests == 0


def test_a_factor_makes_another_judgment_even_if_it_asks_alike(plan, tmp_path):
    [task] = plan(items=1, replicates=1, judges=("sim-noisy",))
    twins = [
        Task(
            condition=Condition(judge="sim-noisy", temperature=1.0, factors={"arm": arm}),
            item_id=task.item_id,
            cluster=task.cluster,
            replicate=r,
            build=task.build,
        )
        for arm in ("a", "b")
        for r in range(30)
    ]
    collected = collect_judgments(twins, journal=tmp_path / "journal.db")
    assert collected.account.requests == 60
    texts = collected.frame.groupby("factor_arm")["raw_text"].apply(list)
    assert texts["a"] != texts["b"]


def test_follow_ups_may_be_awaited(plan):
    async def follow_up(row):
        await asyncio.sleep(0)
        return ()

    assert collect_judgments(plan(), follow_up=follow_up).account.answered == 20


def test_an_unknown_model_is_named(plan, server):
    url, _ = server()
    with pytest.raises(JudgeError, match="does not know the model 'sim-typo'"):
        collect_judgments(plan(judges=("sim-typo",), url=url))


def test_a_cost_limit_needs_a_known_price(plan, server):
    url, _ = server()
    with pytest.raises(BudgetError, match="unknown"):
        collect_judgments(
            plan(url=url.replace("127.0.0.1", "127.0.0.2"), judges=("sim-typical",)),
            budget=Budget(max_cost=1.0),
            judges=None,
            retry=RetryPolicy(),
        )


def test_collect_can_be_awaited(plan):
    assert asyncio.run(collect(plan(items=1))).account.answered == 4
