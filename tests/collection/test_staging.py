"""Judging in stages, asked for real: order, sharing, resume, price, failure, SIGKILL."""

import asyncio
import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from judgestats.collection import Budget, collect_judgments, price_plan
from judgestats.data import Condition, StageSchedule, parse_judgments
from judgestats.errors import InputError
from judgestats.items import load_bank
from judgestats.protocols import WRITTEN_MODES, KeyPointStrategy, Wording, strategy
from judgestats.simulated import SimulatedServer

NAMES = ("vanilla", "plan", "majority@2", "aggregate@2", "cce@2", "cce-random-raw@4")


def staging_of(names=NAMES, *, judge="sim-crowd", items=2, pairs=2, replicates=1, points=False):
    wording = Wording()
    strategies, units = {}, {}
    for name in names:
        one = strategy(name, wording=wording)
        listed = one.units(load_bank()[:items])
        first = list(dict.fromkeys(u.item_id for u in listed))
        kept = {
            i for k in range(items) for i in [f for f in first if load_bank()[k].id in f][:pairs]
        }
        own = tuple(u for u in listed if u.item_id in kept)
        if points:
            one = KeyPointStrategy(
                strategy=one,
                one_in=1,
                wording=wording,
            )
        condition = Condition(judge=judge, temperature=0.5, factors={"strategy": one.name})
        strategies[condition], units[condition] = one, own
    return StageSchedule(strategies, units, replicates=replicates)


def collected(staging, **options):
    return collect_judgments(staging.first(), follow_up=staging.follow_up, **options)


@pytest.mark.parametrize("mode", WRITTEN_MODES)
def test_every_pipeline_settles_in_every_reply_mode_and_can_be_read_again(mode):
    staging = staging_of(points=True, items=1)
    raw = collected(staging, reply_mode=mode).read()
    table = staging.table(raw)
    assert len(table) == len(staging) == len(NAMES) * 2 * 2
    assert set(table["status"]) == {"ok"}
    assert table["points"].gt(0).all()
    frame = parse_judgments(raw, protocols=staging.protocols, units=staging.units)
    assert set(frame["status"]) == {"ok"}
    assert set(frame["reply_mode"]) == {mode.value}
    finals = frame[frame["stage"] == "final"].set_index(["condition", "item_id", "order"])
    asked = table[~table["condition"].str.contains("majority")]
    same = finals.loc[[tuple(k) for k in asked[["condition", "item_id", "order"]].to_numpy()]]
    assert same["choice"].tolist() == asked["choice"].tolist()


def test_calls_of_a_pool_are_asked_once_and_charged_to_each_that_uses_them():
    both = staging_of(("cce@2", "cce@4"))
    raw = collected(both).read()
    crowd = raw[raw["stage"] == "crowd"]
    assert not crowd.duplicated(["item_id", "order", "replicate"]).any()
    table = both.table(raw)
    assert table["tokens_in"].sum() > raw["tokens_in"].sum()
    alone = staging_of(("cce@4",))
    one = alone.table(collected(alone).read())
    mine = table[table["k"] == 4].reset_index(drop=True)
    assert mine["tokens_in"].tolist() == one["tokens_in"].tolist()
    assert mine["choice"].tolist() == one["choice"].tolist()


def test_a_second_run_costs_nothing_and_a_dry_run_knows_it(tmp_path):
    journal = tmp_path / "j.sqlite"
    staging = staging_of()
    before = price_plan((), stages=staging, journal=journal)
    one = collected(staging, journal=journal)
    # Two orders may pick the same judgment, which is cleaned once: that hangs on what is said.
    assert 0 <= len(one.read()) - before.judges[0].judgments <= 1
    assert 0 <= one.account.requests - before.requests <= 1
    low, high = before.judges[0].tokens_in
    assert low < one.account.tokens_in < high
    two = staging_of()
    again = collected(two, journal=journal)
    assert (again.account.requests, again.account.cached) == (0, len(one.read()))
    assert two.table(again.read()).equals(staging.table(one.read()))
    assert price_plan((), stages=staging_of(), journal=journal).requests == 0


def test_the_dry_run_prices_stages_with_their_own_prompts():
    alone = price_plan((), stages=staging_of(("vanilla",))).judges[0]
    crowd = price_plan((), stages=staging_of(("cce@2",))).judges[0]
    assert crowd.judgments > 3 * alone.judgments
    bounded = price_plan(
        (), stages=staging_of(("aggregate@4",)), settings={"max_tokens": 20}
    ).judges[0]
    free = price_plan((), stages=staging_of(("aggregate@4",))).judges[0]
    assert bounded.tokens_in[1] < free.tokens_in[1]


def in_sets(sizes, names=("vanilla", "cce@2"), *, replicates=1):
    """Strategies on one pair of each of so many items by set."""
    wording = Wording()
    bank = iter(load_bank())
    items = [
        replace(next(bank), category=name) for name, size in sizes.items() for _ in range(size)
    ]
    strategies, units = {}, {}
    for name in names:
        one = strategy(name, wording=wording)
        condition = Condition(judge="sim-crowd", temperature=0.5, factors={"strategy": one.name})
        first = {}
        for unit in one.units(tuple(items)):
            first.setdefault(unit.item.id, unit.item_id)
        kept = set(first.values())
        strategies[condition] = one
        units[condition] = tuple(u for u in one.units(tuple(items)) if u.item_id in kept)
    return StageSchedule(strategies, units, replicates=replicates)


def test_a_large_plan_is_priced_on_a_part_spread_over_it():
    stages = in_sets({"large": 24, "small": 4}, replicates=2)
    whole = price_plan((), stages=stages)
    assert whole.sampled is None
    assert "estimated from" not in str(whole)
    part = price_plan((), stages=stages, pipelines=len(stages) // 3)
    pairs, all_pairs = part.sampled
    assert all_pairs == 28
    assert 8 <= pairs < 28
    assert f"estimated from {pairs} of 28 pairs" in str(part)
    assert part.judges[0].tokens_in[1] == pytest.approx(whole.judges[0].tokens_in[1], rel=0.25)
    assert part.requests == pytest.approx(whole.requests, rel=0.25)


def test_choices_of_one_request_stay_together_in_a_sample():
    stages = in_sets({"large": 12}, names=("vanilla",), replicates=4)
    whole = price_plan((), stages=stages, choices_per_request=4)
    part = price_plan((), stages=stages, choices_per_request=4, pipelines=len(stages) // 2)
    assert part.requests == whole.requests == 12 * 2


def test_crowd_calls_are_not_taken_from_another_item_of_the_same_name():
    cce = strategy("cce@2")
    pair = cce.units(load_bank()[:1])[0]
    other = replace(pair, item=replace(pair.item, responses=pair.item.responses[:3]))
    assert len(cce.calls(other, {})) < len(cce.calls(pair, {}))
    assert {c.unit.item_id for c in cce.calls(pair, {})} == {
        c.unit.item_id for c in cce.calls(replace(pair, order="ba", shown=pair.shown[::-1]), {})
    }


def test_a_budget_ends_in_order_and_the_next_run_goes_on(tmp_path):
    journal = tmp_path / "j.sqlite"
    staging = staging_of(("cce@2",))
    part = collected(staging, journal=journal, budget=Budget(max_requests=20), concurrency=4)
    assert not part.complete
    assert part.account.requests <= 20
    assert len(staging.table(part.read())) < len(staging)
    rest = staging_of(("cce@2",))
    whole = collected(rest, journal=journal)
    assert whole.complete
    fresh = staging_of(("cce@2",))
    assert whole.account.requests + part.account.requests == collected(fresh).account.requests
    assert len(rest.table(whole.read())) == len(rest)


def test_failed_calls_are_heard_too(quick, server):
    url, _ = server(refusal=1.0)
    staging = staging_of(("vanilla", "cce@2", "majority@2"), judge=f"sim-crowd@{url}")
    raw = collected(staging, retry=quick).read()
    table = staging.table(raw)
    assert len(table) == len(staging)
    assert set(table["choice"]) == {""}
    by_strategy = table.groupby("factor_strategy")["status"].unique().map(list).to_dict()
    assert by_strategy["cce-criticising@2"] == by_strategy["majority@2"] == ["failed"]
    assert by_strategy["vanilla"] == ["refused"]
    assert "final" not in set(raw.loc[raw["factor_strategy"] != "vanilla", "stage"])


def test_conditions_must_name_their_strategy():
    condition = Condition(judge="sim-crowd", factors={"strategy": "plan"})
    with pytest.raises(InputError, match="must name its strategy"):
        StageSchedule({condition: strategy("vanilla")}, {condition: ()})


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[3])
from test_staging import collected, staging_of
staging = staging_of(("cce@4", "plan"), judge="sim-crowd@" + sys.argv[1], items=4)
def progress(account):
    if account.answered:
        print("answered", account.answered, flush=True)
collected(staging, journal=sys.argv[2], concurrency=2, progress=progress)
print("complete", flush=True)
"""


def test_votes_on_a_pair_carry_a_seed_each():
    frame = collected(staging_of(("majority@4",), items=1, pairs=1, replicates=2), seed=5).read()
    seeds = [json.loads(sent)["seed"] for sent in frame["sent"]]
    per_prompt = len(frame) // frame["order"].nunique()
    assert len(set(seeds)) == per_prompt == 8
    assert min(seeds) == 5


def test_a_final_verdict_does_not_wait_for_other_pairs():
    """A pair whose crowd is stuck holds nobody else back."""
    staging = staging_of(("cce@2",))
    first = staging.first()
    stuck = first[-1].item_id.split("/")[0]
    released = asyncio.Event()
    done = []

    def follow(row):
        done.append((row["item_id"], row["stage"]))
        finals = [i for i, stage in done if stage == "final" and stuck not in i]
        if len(finals) == 4:  # both pairs of the other item, in both orders
            released.set()
        return staging.follow_up(row)

    class Slow(SimulatedServer):
        async def __call__(self, scope, receive, send):
            if scope["type"] != "http":
                return await super().__call__(scope, receive, send)
            body = await receive()
            question = load_bank()[1].question[:40]
            if json.dumps(question)[1:-1] in body["body"].decode():
                await asyncio.wait_for(released.wait(), 20)

            async def again():
                return body

            return await super().__call__(scope, again, send)

    assert stuck == load_bank()[1].id
    out = collect_judgments(first, follow_up=follow, simulated_app=Slow(), timeout_s=30)
    assert out.complete
    assert out.account.failed == 0
    assert released.is_set()


def test_killed_in_the_middle_of_a_stage_it_goes_on(tmp_path, server):
    url, app = server(latency_s=0.02)
    journal = tmp_path / "j.sqlite"
    folder = str(Path(__file__).parent)
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, url, str(journal), folder],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        line = process.stdout.readline()
        assert line.startswith("answered"), line
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    asked = app.received
    staging = staging_of(("cce@4", "plan"), judge=f"sim-crowd@{url}", items=4)
    whole = collected(staging, journal=journal)
    assert whole.complete
    assert whole.account.cached > 0
    assert len(staging.table(whole.read())) == len(staging)
    # at most what was in flight is asked twice
    assert app.received <= len(whole.read()) + 2
    assert asked < len(whole.read())
