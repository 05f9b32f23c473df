"""max_cost at servers that report tokens which their replies belie."""

import asyncio
import csv
import json
import math
from pathlib import Path

import pytest

from benchmarks.money import CAP, WAYS, WORDS, Liar, prices
from benchmarks.money import LIES as LIED
from judgestats.collection import (
    Budget,
    Journal,
    Kind,
    Outcome,
    Price,
    Purse,
    Stop,
    TextSize,
    charged,
    collect_judgments,
    read_reply,
)
from judgestats.simulated import run_server

OVERRUNS = Path(__file__).parents[2] / "docs/simulations/overruns.csv"
LIES = {**LIED, "output only": {"prompt_tokens": 1, "completion_tokens": 320}}


@pytest.mark.parametrize(
    ("lie", "way"),
    [
        ("output only", "one run"),
        ("zero", "loopback"),
        ("none", "streamed"),
        ("huge", "one run"),
        ("input only", "batch"),
        ("negative", "batch"),
    ],
)
def test_the_cap_holds_by_length_whatever_is_reported(lie, way, plan, tmp_path):
    app = Liar(LIES[lie])
    options = {"prices": prices(), "budget": Budget(max_cost=CAP), "journal": tmp_path / "j.db"}
    if way == "streamed":
        options["stream_to"] = tmp_path / "parts"
    if way == "batch":
        options |= {"mode": "batch", "sleep": lambda _: asyncio.sleep(0)}
    if way == "loopback":
        with run_server(app) as url:
            tasks = plan(items=30, replicates=4, url=url)
            done = collect_judgments(tasks, **options | {"prices": prices(url.split("/")[2])})
    else:
        done = collect_judgments(plan(items=30, replicates=4), simulated_app=app, **options)
    price = 0.5 if way == "batch" else 1.0
    each = app.spent / app.replies
    assert price * app.spent <= CAP + 8 * each
    assert price * app.spent > CAP / 2  # and the money is used
    assert done.stopped_because is Stop.MAX_COST
    [note] = [n for n in done.notes if "estimated from their length" in n]
    assert note.endswith("per reply. max_cost holds for the estimate")
    said = {"zero": "0 tokens", "one": "1 token", "input only": "1 token", "none": "no token"}
    said |= {"negative": "-5 tokens", "nan": "nan tokens", "huge": "inf tokens"}
    said |= {"output only": "1 token"}
    assert f"reports {said[lie]}" in note
    assert done.account.usage_implausible == app.replies
    charged_each = float(note.partition("about $")[2].split()[0])
    assert charged_each == pytest.approx(price * each, rel=0.25)


@pytest.mark.parametrize("lie", ["zero", "none"])
def test_runs_and_resumes_on_one_ledger_share_the_cap(lie, plan, tmp_path):
    app = Liar(LIES[lie])
    options = {"prices": prices(), "journal": tmp_path / "j.db", "simulated_app": app}
    for items, cap in ((2, 0.3), (6, 0.6), (40, CAP), (80, CAP)):
        collect_judgments(plan(items=items), budget=Budget(max_cost=cap), **options)
    assert 0.5 * CAP < app.spent <= CAP + 8 * app.spent / app.replies
    with Journal(tmp_path / "j.db") as journal:
        (spend, *rest) = [line.spend for line in journal.ledger.lines() if line.spend.requests]
        assert sum(s.estimated for s in (spend, *rest)) == pytest.approx(app.spent, rel=0.1)
        assert sum(s.reported for s in (spend, *rest)) == 0


def test_no_way_of_collecting_overruns_by_more_than_what_was_in_flight():
    with OVERRUNS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {(row["server"], row["way"]) for row in rows} == {
        (lie, way.__name__) for lie in LIED for way in WAYS
    }
    for row in rows:
        assert float(row["spent"]) > 0.25 * CAP
        assert float(row["overrun"]) <= float(row["allowed_overrun"])
        assert float(row["booked"]) >= 0.95 * float(row["spent"])


async def test_eight_requests_are_in_flight_until_a_reply_came():
    purse = Purse(Budget(max_cost=10.0))
    for _ in range(8):
        assert await purse.take(lambda: 0.01) == ("", 0.01)
    ninth = asyncio.ensure_future(purse.take(lambda: 0.01))
    await asyncio.sleep(0)
    assert not ninth.done()
    purse.settle(0.01, cost=0.0)  # a refusal shows no price
    assert await ninth == ("", 0.01)
    tenth = asyncio.ensure_future(purse.take(lambda: 0.01))
    await asyncio.sleep(0)
    assert not tenth.done()
    purse.settle(0.01, cost=0.05)
    assert await tenth == ("", 0.01)
    for _ in range(20):
        assert await purse.take(lambda: 0.01) == ("", 0.01)


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"content": WORDS * 100}, 950),
        ({"content": "7", "reasoning_content": WORDS * 100}, 950),
        ({"content": "7", "reasoning": WORDS * 100, "reasoning_content": WORDS * 100}, 950),
        ({"content": "7", "reasoning_details": [{"type": "x", "text": WORDS * 100}]}, 950),
        ({"content": "7", "reasoning_steps": WORDS * 100}, 950),
        ({"content": "7", "steps": {"a": [{"b": WORDS * 50}, {"type": WORDS * 50}]}}, 950),
        ({"content": None, "tool_calls": [{"function": {"name": "submit_x",
                                                        "arguments": WORDS * 100}}]}, 950),
        ({"content": [{"type": "text", "text": WORDS * 100}]}, 950),
        ({"content": "\u5bf9\u4e0d\u8d77" * 300}, 1350),
    ],
)  # fmt: skip
def test_all_that_a_reply_contains_counts(message, tokens):
    usage = {"prompt_tokens": 50, "completion_tokens": 2}
    body = {"choices": [{"message": message}], "usage": usage}
    outcome = read_reply(json.dumps(body).encode(), {}, 0.0)
    price, asked = Price(input=0.0, output=1e6), TextSize.from_texts(["Why? " * 30])
    bill = charged(outcome, price, asked, hold=0.0, bound=None)
    assert bill.outcome.tokens_out is None
    assert bill.estimate == pytest.approx(tokens, rel=0.02)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (WORDS * 100, 900),
        (" " * 50_000, 700),
        ("=" * 5_000 + "\n" * 5_000, 160),
        ('{"score": 7}', 5),
        ("\u5bf9\u4e0d\u8d77" * 500, 900),
        ("\u041f\u043e\u0447\u0435\u043c\u0443? " * 100, 280),
        ("", 0),
        ("7", 30_000),  # reasoning that is billed and not shown
    ],
)
def test_an_honest_report_is_believed(text, tokens):
    body = {
        "choices": [{"message": {"content": text}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": tokens},
    }
    outcome = read_reply(json.dumps(body).encode(), {}, 0.0)
    bill = charged(
        outcome,
        Price(input=1.0, output=1.0),
        TextSize.from_texts(["Why is the sky blue?"]),
        hold=0.0,
        bound=None,
    )
    assert bill.outcome.usage == (12, tokens, None)
    assert bill.cost == pytest.approx((12 + tokens) / 1e6)


def test_a_reply_that_is_too_long_is_charged_by_its_length():
    usage = {"prompt_tokens": 0, "completion_tokens": 0}
    body = {"choices": [{"message": {"content": WORDS * 10_000}}], "usage": usage}
    outcome = read_reply(json.dumps(body).encode(), {}, 0.0)
    assert outcome.kind is Kind.TOO_LARGE
    bill = charged(
        outcome, Price(input=10.0, output=40.0), TextSize.from_texts(["?"]), hold=0.1, bound=None
    )
    assert bill.estimate == pytest.approx(95_000 * 40 / 1e6, rel=0.01)


def test_more_tokens_than_any_model_has_are_not_believed():
    outcome = Outcome(kind=Kind.ANSWERED, tokens_in=10**9, tokens_out=10**12, body=("7",))
    bill = charged(
        outcome, Price(input=1.0, output=1.0), TextSize.from_texts(["?"]), hold=0, bound=None
    )
    assert (math.isnan(bill.cost), bill.estimate) == (True, 2e-06)


def test_no_count_of_a_reply_is_believed_where_one_is_too_high():
    outcome = Outcome(
        kind=Kind.ANSWERED,
        tokens_in=5_000_000,
        tokens_out=1_999_999,
        tokens_cached=4_999_999,
        body=(WORDS * 100,),
    )
    price, asked = Price(input=10.0, output=40.0, cached=1.0), TextSize.from_texts(["?" * 16])
    bill = charged(outcome, price, asked, hold=0, bound=None)
    assert bill.outcome.usage == (None, None, None)
    assert bill.outcome.usage_fault == "5,000,000 tokens"
    assert (bill.estimate, bill.basis) == (pytest.approx((4 * 10 + 950 * 40) / 1e6), "their length")


def test_a_count_beyond_the_length_is_charged_where_the_other_is_too_low():
    outcome = Outcome(kind=Kind.ANSWERED, tokens_in=0, tokens_out=9_000, body=(WORDS,))
    price, asked = Price(input=10.0, output=40.0), TextSize.from_texts(["Why? " * 16])
    bill = charged(outcome, price, asked, hold=0, bound=None)
    assert bill.outcome.usage == (None, None, None)
    assert bill.estimate == pytest.approx((20 * 10 + 9_000 * 40) / 1e6)
    assert bill.basis == "their length and the higher count that is reported"


def test_what_a_server_adds_to_a_reply_is_no_text_of_it():
    call = {"id": "chatcmpl-tool-" + "0f" * 16, "type": "function",
            "function": {"name": "submit_score", "arguments": '{"score": 7}'}}  # fmt: skip
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    usage = {"prompt_tokens": 12, "completion_tokens": 5}
    body = {"choices": [{"message": message}], "usage": usage}
    outcome = read_reply(json.dumps(body).encode(), {}, 0.0)
    price, asked = Price(input=1.0, output=1.0), TextSize.from_texts(["Why is the sky blue?"])
    assert charged(outcome, price, asked, hold=0.0, bound=None).outcome.usage == (12, 5, None)


async def test_a_request_that_is_given_back_counts_as_none():
    purse = Purse(Budget(max_requests=1))
    for _ in range(2):
        assert await purse.take(lambda: 0.01) == ("", 0.01)
        assert await purse.take(lambda: 0.01) == ("max_requests", 0.0)
        purse.give_back(0.01)
    assert (purse.requests, purse.total) == (0, 0.0)
