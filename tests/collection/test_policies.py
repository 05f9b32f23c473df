"""Limit, retries, purse, prices, plan and negotiation, each by itself."""

import asyncio
import math
import random
from dataclasses import replace
from datetime import date
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.collection import (
    Abilities,
    AdaptiveLimit,
    Budget,
    Encoded,
    Endpoint,
    Journal,
    Kind,
    Outcome,
    Parameter,
    Price,
    Purse,
    RetryPolicy,
    Sampling,
    SentRequest,
    Stop,
    collect_judgments,
    default_prices,
    draw_header,
    grouped,
    judgment_keys,
    load_prices,
    next_mode,
    parse_judge,
    price_plan,
    prices,
    read_error,
    request_body,
    sent_of,
)
from judgestats.data import Condition
from judgestats.errors import BudgetError, InputError
from judgestats.protocols import ReplyMode

KEY = {"OPENAI_API_KEY": "x"}


# ------------------------------------------------------------------- the adaptive limit


def test_the_limit_falls_once_per_window_and_rises_again():
    async def run():
        limit = AdaptiveLimit(10)
        entered = [await limit.enter() for _ in range(10)]
        for at in entered[:5]:
            limit.congested(at)  # five refusals of one window count once
        assert limit.limit == pytest.approx(7.0)
        for _ in range(5):
            limit.release_slot()
        for _ in range(200):
            await limit.enter()
            limit.answered()
        assert limit.limit == 10.0

    asyncio.run(run())


def test_one_who_leaves_the_queue_passes_his_place_on():
    async def run():
        limit = AdaptiveLimit(1)
        await limit.enter()
        first = asyncio.create_task(limit.enter())
        second = asyncio.create_task(limit.enter())
        await asyncio.sleep(0)
        limit.release_slot()
        first.cancel()
        await asyncio.wait_for(second, 5)

    asyncio.run(run())


def test_a_pause_holds_everybody_back():
    async def run():
        limit = AdaptiveLimit(4)
        limit.pause(0.05)
        loop = asyncio.get_running_loop()
        started = loop.time()
        await asyncio.gather(*(limit.enter() for _ in range(4)))
        assert loop.time() - started >= 0.045

    asyncio.run(run())


# ------------------------------------------------------------------- retries


def wait(kind, *, tried=1, waited=0.0, contacted=True, after=None):
    outcome = Outcome(kind=kind, retry_after_s=after)
    return RetryPolicy().wait(
        outcome, tried=tried, waited_s=waited, contacted=contacted, draw=random.Random(0)
    )


def test_waits_grow_and_end():
    waits = [wait(Kind.SERVER_ERROR, tried=i) for i in range(1, 7)]
    assert waits[-1] is None
    assert all(0.25 * 2**i <= w <= 0.5 * 2**i for i, w in enumerate(waits[:-1]))
    assert wait(Kind.MALFORMED, tried=3) is not None
    assert wait(Kind.MALFORMED, tried=4) is None
    for final in (Kind.BAD_REQUEST, Kind.KEY_REFUSED, Kind.UNKNOWN_MODEL, Kind.NO_QUOTA):
        assert wait(final) is None


def test_retry_after_goes_before_and_patience_ends():
    assert all(0.25 <= wait(Kind.RATE_LIMITED, tried=i, after=0.0) <= 1.1 for i in range(1, 50))
    assert 20 <= wait(Kind.RATE_LIMITED, after=20.0) <= 22
    assert wait(Kind.RATE_LIMITED, tried=100, waited=10.0) is not None
    assert wait(Kind.RATE_LIMITED, waited=899.9, after=20.0) is None
    assert wait(Kind.RATE_LIMITED, after=86400.0) is None


def test_an_endpoint_never_reached_is_given_up_early():
    assert wait(Kind.UNREACHABLE, tried=3, contacted=False) is None
    assert wait(Kind.UNREACHABLE, tried=3, contacted=True) is not None


# ------------------------------------------------------------------- the purse


def test_the_purse_waits_for_those_in_flight_before_it_refuses():
    async def run():
        purse = Purse(Budget(max_cost=1.0))
        assert await purse.take(lambda: 0.8) == ("", 0.8)
        second = asyncio.create_task(purse.take(lambda: 0.8))
        await asyncio.sleep(0)
        assert not second.done()
        purse.settle(0.8, cost=0.1)  # it cost less than was held back
        assert await second == ("", 0.8)
        purse.settle(0.8, cost=0.8)
        assert await purse.take(lambda: 0.2) == ("max_cost", 0.0)
        assert purse.spent == pytest.approx(0.9)

    asyncio.run(run())


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 2), st.floats(0, 1), st.booleans()), max_size=30))
def test_what_is_spent_stays_within_the_cap_if_estimates_are_upper_bounds(requests):
    async def run():
        purse = Purse(Budget(max_cost=3.0))
        for estimate, share, in_vain in requests:
            if (await purse.take(lambda held=estimate: held))[0]:
                break
            purse.settle(estimate, cost=math.nan if in_vain else estimate * share, in_vain=in_vain)
        assert purse.spent + purse.perhaps_spent <= 3.0 + 1e-9

    asyncio.run(run())


def test_an_unknown_price_and_a_cost_limit_do_not_go_together():
    async def run():
        with pytest.raises(BudgetError, match="max_requests"):
            await Purse(Budget(max_cost=1.0)).take(lambda: math.nan)
        assert (await Purse(Budget()).take(lambda: math.nan))[0] == ""

    asyncio.run(run())


# ------------------------------------------------------------------- prices


def test_prices_by_model_endpoint_and_date(tmp_path):
    table = default_prices()
    listed = table.price(parse_judge("gpt-4o", environ=KEY))
    assert (listed.input, listed.cached, listed.as_of) == (2.5, 1.25, "2025-07-04")
    snapshot = table.price(parse_judge("gpt-4-turbo-2024-04-09", environ=KEY))
    assert not snapshot.is_known  # nor is one of a model that is listed: its price may be another
    assert not table.price(parse_judge("gpt-4o-2024-08-06", environ=KEY)).is_known
    assert not table.price(parse_judge("gpt-4o@http://localhost:1/v1", environ={})).is_known
    simulated = table.price(parse_judge("sim-typical", environ={}))
    assert simulated.cost(None, None) == 0.0
    own = tmp_path / "prices.yaml"
    own.write_text("as_of: 2026-01-01\nendpoints: {'localhost:1': {m: {input: 1, output: 2}}}")
    price = load_prices(own).price(parse_judge("m@http://localhost:1/v1", environ={}))
    assert price.cost(1e6, 1e6) == 3.0
    assert load_prices(own).price(parse_judge("gpt-4o", environ=KEY)).is_known


def test_every_bundled_price_has_its_date_and_source():
    for models in default_prices().endpoints.values():
        for price in models.values():
            assert date.fromisoformat(price.as_of) <= date(2026, 8, 21)
            assert price.source
            assert price.free or 0 < price.cached < price.input < price.output


def test_an_old_price_is_said_to_be_old_and_steps_end_what_is_known():
    price = Price(input=1.0, output=2.0, up_to=100, as_of="2026-01-01")
    assert price.age(day=date(2026, 4, 1)) == ""
    assert "91 days ago" in price.age(day=date(2026, 4, 2))
    assert price.cost(100, 1) > 0
    assert math.isnan(price.cost(101, 1))


def test_old_prices_are_told_before_and_after_anything_is_asked(
    plan, server, tmp_path, monkeypatch
):
    url, _ = server()
    table, told = tmp_path / "prices.yaml", "its price was checked on 2026-01-01, 91 days ago"
    host = urlsplit(url).netloc
    table.write_text(
        f'as_of: 2026-01-01\nendpoints: {{"{host}": {{sim-typical: {{input: 1, output: 2}}}}}}'
    )
    name = f"sim-typical@{url}"
    spec = replace(parse_judge(name, environ={}), simulated=False)
    tasks = [replace(t, condition=Condition(judge=name, temperature=1.0)) for t in plan(items=1)]
    for day, old in ((date(2026, 4, 2), True), (date(2026, 4, 1), False)):
        monkeypatch.setattr(prices, "today", lambda day=day: day)
        given = {"judges": {name: spec}, "prices": load_prices(table)}
        priced = price_plan(tasks, **given)
        assert (told in str(priced)) is old
        assert any(told in note for note in collect_judgments(tasks, **given).notes) is old


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: [",
        "as_of: x\nendpoints: 7",
        *(
            f"as_of: {day}\nendpoints: {{h: {{m: {{{price}, output: 1}}}}}}"
            for day, price in (
                ("2026-01-01", "input: -1"),
                ("2026-01-01", "input: .inf"),
                ("2026-01-01", "input: .nan"),
                ("2026-01-01", "input: 1, cached: -1"),
                ("2026-01-01", "input: 1, up_to: 0"),
                ("last spring", "input: 1"),
            )
        ),
    ],
)
def test_bad_price_files_are_named(tmp_path, text):
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match="not a price file"):
        load_prices(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_prices(tmp_path / "absent.yaml")


def test_a_price_that_is_left_out_is_named_as_the_file_has_it(tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text("as_of: 2026-01-01\nendpoints: {host: {m: {input: 1}}}\n")
    with pytest.raises(InputError, match=r"not a price file \(KeyError: 'output'\)"):
        load_prices(path)


def test_unknown_prices_are_unknown_in_frame_and_account(plan, server):
    url, _ = server()
    prices = default_prices()
    nowhere = type(prices)(as_of="x", source="", endpoints={})
    collected = collect_judgments(plan(url=url), prices=nowhere)
    assert collected.frame["cost_usd"].isna().all()
    assert math.isnan(collected.account.total_cost_usd)
    assert "cost unknown" in str(collected.account)
    foreseen = price_plan(plan(url=url), prices=nowhere)
    assert all(math.isnan(dollars) for dollars in foreseen.cost_usd)
    assert "20 requests, price unknown" in str(foreseen)


# ------------------------------------------------------------------- the plan


def test_a_dry_run_sends_nothing_and_leaves_out_what_is_known(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    path = tmp_path / "journal.db"
    collect_judgments(plan(items=3), journal=path)
    foreseen = price_plan(plan(items=5, judges=("sim-typical", "gpt-4o-mini")), journal=path)
    simulated, real = foreseen.judges
    assert (simulated.judgments, simulated.cached, simulated.requests) == (20, 12, 8)
    assert (real.cached, real.requests) == (0, 20)
    [known] = price_plan(plan(items=3), journal=path).judges
    assert (known.cached, known.waiting, known.requests) == (12, 0, 0)
    assert known.tokens_in == known.tokens_out == known.cost_usd == (0.0, 0.0)
    assert 0 < real.cost_usd[0] < real.cost_usd[1]
    assert "Nothing was sent" in str(foreseen)
    bundled = price_plan(plan(items=5), choices_per_request=4)
    assert bundled.requests == 5
    actual = collect_judgments(plan(items=5)).account
    [only] = price_plan(plan(items=5)).judges
    assert only.tokens_in[0] < actual.tokens_in < only.tokens_in[1] * 1.5


def test_an_absent_journal_is_not_made_by_a_dry_run(plan, tmp_path):
    price_plan(plan(), journal=tmp_path / "journal.db")
    assert not (tmp_path / "journal.db").exists()


# ------------------------------------------------------------------- keys, bodies, groups


def test_keys_tell_judgments_apart(plan):
    spec = parse_judge("sim-typical")
    [task] = plan(items=1, replicates=1)
    prompted = task.build(ReplyMode.JSON_SCHEMA)

    def key(task=task, prompted=prompted, spec=spec, **sampling):
        return judgment_keys(spec, [task], Encoded(prompted), Sampling(**sampling))[0]

    others = [
        key(plan(items=1, replicates=2)[1]),
        key(plan(items=1, temperatures=(0.9,))[0]),
        key(replace(task, condition=replace(task.condition, factors={"arm": "a"}))),
        key(plan(items=2)[-1]),
        key(prompted=task.build(ReplyMode.TEXT)),
        key(prompted=task.build(ReplyMode.TOOL)),
        key(spec=parse_judge("sim-null")),
        key(spec=parse_judge("sim-typical@http://localhost:1/v1", environ={})),
        key(seed=1),
        key(choices=2),
        key(settings={"max_tokens": 5}),
    ]
    assert len({key(), *others}) == 12
    assert key() == key()


def test_the_body_carries_what_was_asked_and_nothing_else(plan):
    import json

    [task] = plan(items=1, replicates=1, temperatures=(0.0,))
    spec = parse_judge("sim-typical")

    def body(mode=ReplyMode.JSON_SCHEMA, sampling=None, condition=task.condition, **options):
        encoded = Encoded(task.build(mode))
        asked = {"choices": 1, "draw": 3, **options}
        sent = sent_of(spec, condition, mode, sampling or Sampling(), Abilities(), **asked)
        return json.loads(request_body(spec, encoded, sent))

    plain = body()
    assert set(plain) == {"model", "temperature", "messages", "response_format"}
    assert plain["temperature"] == 0.0
    assert plain["response_format"]["json_schema"]["strict"] is True
    assert list(plain["messages"]) == list(task.build(ReplyMode.JSON_SCHEMA).messages)
    tool = body(ReplyMode.TOOL)
    assert tool["tool_choice"]["function"]["name"] == tool["tools"][0]["function"]["name"]
    assert set(body(ReplyMode.TEXT)) == {"model", "temperature", "messages"}
    assert "temperature" not in body(condition=Condition(judge="sim-typical"))
    full = body(sampling=Sampling(seed=10, settings={"max_tokens": 7}), choices=2)
    assert (full["seed"], full["n"], full["max_completion_tokens"]) == (13, 2, 7)


def test_hostile_text_survives_the_body(plan):
    import json

    from judgestats.protocols import Prompted

    text = 'a "quote" \\ \u2028 \ud800 \x00 }],"n":99'
    prompted = Prompted(
        messages=({"role": "user", "content": text},), mode=ReplyMode.TEXT, prompt_sha=""
    )
    raw = request_body(
        parse_judge("sim-typical"), Encoded(prompted), SentRequest(mode=ReplyMode.TEXT)
    )
    value = json.loads(raw)
    assert value["messages"][0]["content"] == text
    assert "n" not in value


def test_draws_do_not_depend_on_bundling(plan):
    tasks = plan(items=1, replicates=3)
    assert draw_header(tasks, Sampling(seed=4)).startswith("4:")
    assert draw_header(tasks, Sampling()).endswith(":0,1,2")
    assert draw_header(tasks[:1], Sampling())[:-1] == draw_header(tasks[1:2], Sampling())[:-1]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.randoms())
def test_groups_cover_the_plan_once_and_never_mix(size, draw):
    from judgestats.data import Task

    condition = Condition(judge="sim-typical")
    tasks = [
        Task(condition=condition, item_id=f"q{i}", cluster="q", replicate=r, build=lambda m: None)
        for i in range(4)
        for r in range(5)
    ]
    draw.shuffle(tasks)
    groups = list(grouped(enumerate(tasks), size))
    places = sorted(p for g in groups for _, (p,) in g.placed)
    assert places == list(range(20))
    for group in groups:
        assert len(group.tasks) <= size
        assert len({t.key[:4] for t in group.tasks}) == 1
        assert all(tasks[p] == task for task, (p,) in group.placed)


# ------------------------------------------------------------------- negotiation


def taught(abilities, about, **sent):
    sent = {
        "mode": abilities.mode,
        "settings": {"temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "extra_body.min_p": 0.1},
        "varied": frozenset({"temperature"}),
        "seed": 3,
        "choices": 2,
        **sent,
    }
    outcome = Outcome(kind=Kind.BAD_REQUEST, about=about, detail="no")
    return abilities.taught_by(outcome, sent=SentRequest(**sent))


def test_lessons():
    start = Abilities()
    assert taught(start, "temperature").refused == {("temperature", 0.5): "no"}
    assert not taught(start, Parameter.CHOICES).several
    assert not taught(start, Parameter.SEED).seed
    assert taught(start, Parameter.REPLY_FORMAT).mode is ReplyMode.TOOL
    assert taught(start, Parameter.UNKNOWN).mode is ReplyMode.TOOL
    named = taught(start, "max_tokens", max_tokens_name="max_completion_tokens")
    assert named.max_tokens_name == "max_tokens"
    assert taught(start, "top_p").left_out == {"top_p"}
    varied = taught(start, "top_p", varied=frozenset({"temperature", "top_p"}))
    assert varied.refused == {("top_p", 0.9): "no"}
    outcome = Outcome(kind=Kind.BAD_REQUEST, detail="unknown argument: min_p")
    sent = SentRequest(mode=start.mode, settings={"extra_body.min_p": 0.1})
    assert start.taught_by(outcome, sent=sent).left_out == {"extra_body.min_p"}


def test_what_was_not_sent_teaches_nothing():
    start = Abilities()
    assert taught(start, "temperature", settings={}) is None
    assert taught(start, Parameter.CHOICES, choices=1) is None
    assert taught(start, Parameter.SEED, seed=None) is None
    assert taught(start, "max_tokens", max_tokens_name="max_tokens") is None
    assert taught(start, Parameter.CONTENT) is None


def test_a_proven_mode_is_not_left_and_the_last_one_is_the_last():
    proven = Abilities().answered_in(ReplyMode.JSON_SCHEMA)
    assert taught(proven, Parameter.UNKNOWN) is None
    assert taught(proven, Parameter.REPLY_FORMAT) is None
    text = Abilities(mode=ReplyMode.TEXT)
    assert taught(text, Parameter.REPLY_FORMAT) is None
    assert text.unsettled().mode is ReplyMode.JSON_SCHEMA
    assert next_mode(ReplyMode.TOOL) is ReplyMode.TEXT
    behind = taught(Abilities(mode=ReplyMode.TEXT), Parameter.REPLY_FORMAT, mode=ReplyMode.TOOL)
    assert behind.mode is ReplyMode.TEXT  # taught by another request meanwhile


def test_abilities_survive_the_journals_text():
    value = Abilities(
        mode=ReplyMode.TOOL,
        proven=True,
        seed=False,
        left_out=frozenset({"top_k"}),
        refused={("temperature", 0.2): "x", ("reasoning_effort", "low"): "y"},
    )
    assert Abilities.from_json(value.to_json()) == value
    sent = SentRequest(
        mode=ReplyMode.TEXT, settings={"top_p": 0.5}, varied=frozenset({"top_p"}), seed=1
    )
    assert SentRequest.from_json(sent.to_json()) == sent


def test_a_judgment_is_tried_as_often_and_as_long_as_documented() -> None:
    stated = RetryPolicy(
        attempts=6, unusable_attempts=4, patience_s=900.0, first_s=0.5, longest_s=30.0
    )
    assert RetryPolicy() == stated
    assert Outcome(kind=Kind.SERVER_ERROR).pause_s == 0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("1d", 86_400.0), ("2h3m4.5s", 7_384.5), ("250ms", 0.25), ("3 m", None), ("1d-", None)],
)
def test_a_span_of_time_is_read_in_its_units(header, seconds) -> None:
    assert read_error(429, b"", {"retry-after": header}, 0.0).retry_after_s == seconds


def test_failures_in_a_row_end_a_model_only_in_several_conditions() -> None:
    streaks = Endpoint(
        parse_judge("sim-typical"), concurrency=1, journal=Journal(None),
        price=Price(input=0.0, output=0.0), reply_mode=None,
    ).streaks  # fmt: skip
    failed, refused = Outcome(kind=Kind.SERVER_ERROR), Outcome(kind=Kind.BAD_REQUEST)
    assert not streaks.mode_is_blameless("a")
    assert streaks.model_fails(most=1) == 0
    for _ in range(2):
        streaks.gave_up(failed, "a")
        streaks.gave_up(refused, "a")
    assert (streaks.condition_fails("a", most=4), streaks.model_fails(most=2)) == (4, 0)
    streaks.gave_up(failed, "b")
    assert (streaks.model_fails(most=3), streaks.model_fails(most=4)) == (3, 0)
    assert not streaks.mode_is_blameless("a")
    streaks.gave_up(refused, "a")
    assert streaks.mode_is_blameless("a")
    assert streaks.condition_fails("a", most=6) == 0


def test_no_more_than_the_limit_are_in_flight_and_nobody_is_forgotten():
    async def run():
        limit = AdaptiveLimit(8)
        draw = random.Random(1)
        peak = done = 0

        async def one():
            nonlocal peak, done
            at = await limit.enter()
            peak = max(peak, limit.in_flight)
            assert limit.in_flight <= limit.ceiling
            await asyncio.sleep(0)
            draw.choice([limit.answered, limit.release_slot, lambda: limit.congested(at)])()
            done += 1

        await asyncio.gather(*(one() for _ in range(300)))
        assert done == 300
        assert limit.in_flight == 0
        assert peak == 8

    asyncio.run(run())


def test_unknown_costs_unknown_never_nothing():
    price = default_prices().price(parse_judge("gpt-99", environ=KEY))
    assert math.isnan(price.cost(10, 10))
    is_known = default_prices().price(parse_judge("gpt-4o", environ=KEY))
    assert math.isnan(is_known.cost(None, 10))


def test_what_the_journal_holds_is_handed_over_where_no_more_is_asked(plan, tmp_path):
    tasks, path = plan(), tmp_path / "j.db"
    collect_judgments(tasks[10:], journal=path)
    stopped = collect_judgments(tasks, journal=path, budget=Budget(max_requests=1), concurrency=1)
    assert stopped.stopped_because is Stop.MAX_REQUESTS
    assert (stopped.account.cached, stopped.account.answered) == (10, 1)
    assert len(stopped.frame) == 11
