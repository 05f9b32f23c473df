"""max_cost at servers that lie about tokens, over runs, processes and kills."""

import pytest

from benchmarks.money import BOUND, SERVERS, spent
from judgestats.collection import Budget, Charge, Journal, Price, PriceTable, collect_judgments

CAP = 0.2
HEEDS = ("honest", "always", "ever", "short", "tells no", "tells its")
"""The servers that keep to max_tokens."""
TEN = PriceTable(
    as_of="2026-01-01",
    source="test",
    endpoints={"simulated": {"*": Price(input=10.0, output=10.0)}},
)
KEY = b"k" * 32


@pytest.mark.parametrize(
    ("server", "mode"),
    [(s, "batch" if s.startswith("short") else "online") for s in SERVERS if s.startswith(HEEDS)],
)
def test_with_max_tokens_the_cap_holds_over_two_runs(server, mode):
    first, twice, said = spent(SERVERS[server], mode=mode, bound=BOUND, cap=CAP, replicates=4)
    assert 0 < first <= twice <= CAP
    assert said == "-"


@pytest.mark.parametrize("server", [s for s in SERVERS if not s.startswith(HEEDS)])
def test_a_server_that_bills_more_than_it_may_is_left_after_what_was_in_flight(server):
    first, twice, said = spent(SERVERS[server], mode="online", bound=BOUND, cap=CAP, replicates=4)
    assert twice == first <= CAP + 0.21  # one reply, of 0.16 or 0.20 dollars
    assert said == ("overrun" if first > CAP else "not a promise")


@pytest.mark.parametrize("server", SERVERS)
def test_without_max_tokens_nothing_is_promised(server):
    first, twice, said = spent(SERVERS[server], mode="online", bound=None, cap=CAP, replicates=4)
    assert twice == first <= 3 * CAP  # what was in flight
    assert said == ("overrun" if first > CAP + 1e-9 else "not a promise")


def test_all_that_is_sent_counts_where_no_tokens_are_reported():
    first, twice, _ = spent(SERVERS["tells no tokens"], mode="batch", bound=None, cap=CAP)
    assert CAP / 2 < first <= twice <= CAP


def test_what_was_in_flight_when_a_run_was_killed_is_spent(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        line = journal.ledger.line("e", "u", "m")
        journal.begin([KEY], line=line, hold=0.25)
    for _ in range(2):  # once, however often it is opened
        with Journal(path) as journal:
            spend = journal.ledger.total_spend("e", "u", "m")
            assert (spend.in_vain, spend.requests, spend.total) == (0.25, 1, 0.25)
            assert (spend.longest, spend.input_ratio, spend.output_ratio) == (0.0, 0.0, 0.0)
    with Journal(path) as journal:
        assert journal.was_lost([KEY]) == 1
        line = journal.ledger.line("e", "u", "m")
        journal.ledger.charge_again(line, 1)
        journal.ledger.charge([Charge(line=line, reported=1.0, longest=7.0)])
        spend = journal.ledger.total_spend("e", "u", "m")
        assert (spend.total, spend.asked_again, spend.longest) == (1.25, 1, 7.0)
        assert journal.ledger.total_spend("other", "u", "m").total == 0
        journal.ledger.charge([Charge(line=journal.ledger.line("other", "u", "m"))])
        spend = journal.ledger.total_spend("other", "u", "m")
        assert (spend.total, spend.longest, spend.requests) == (0, 0, 1)


def test_spend_counts_by_experiment_and_judge(plan, tmp_path):
    path = tmp_path / "journal.db"
    options = {"journal": path, "prices": TEN, "settings": {"max_tokens": 50}}
    first = collect_judgments(plan(), experiment="a", **options)
    assert first.account.earlier_cost_usd == 0
    cap = Budget(max_cost=first.account.cost_usd)
    more = plan(items=6)
    again = collect_judgments(more, experiment="a", budget=cap, **options)
    assert again.account.requests == 0
    assert again.account.earlier_cost_usd == pytest.approx(first.account.cost_usd)
    assert "by earlier runs kept in the journal" in again.message
    other = plan(items=1, judges=("sim-discerning",))
    assert collect_judgments(other, experiment="a", budget=cap, **options).account.answered == 4
    assert collect_judgments(more, experiment="b", budget=cap, **options).account.cached == 20


def test_answers_without_told_tokens_count_by_what_they_may_have_cost(plan):
    mute = PriceTable(
        as_of="2026-01-01",
        source="test",
        endpoints={"simulated": {"*": Price(input=10.0, output=10.0, up_to=1.0)}},
    )
    account = collect_judgments(plan(), prices=mute, settings={"max_tokens": 50}).account
    assert account.cost_unknown == account.answered == 20
    assert account.charged_usd == account.cost_estimated_usd > 0
