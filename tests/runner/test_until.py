"""A run that stops by itself: whole items, looks that survive an interruption, refusals."""

import json
import sqlite3
from contextlib import closing

import pandas as pd
import pytest

from judgestats.errors import InputError
from judgestats.runner import load_design, run, run_experiment
from judgestats.runner.prepare import prepare
from judgestats.runner.stopping import part_of
from judgestats.stats.validity import sequential

GIVEN = {
    "judges": "sim-typical", "temperatures": "0.7,1", "repeats": "3", "resamples": "99",
    "report": "none", "crosscheck": "no", "responses": "all", "first_look": "6", "look_items": "10",
    "until": "icc_1_1:width<=.1",
}  # fmt: skip


def stopped(given, journal):
    return run_experiment(load_design("temperature"), {**given, "journal": str(journal)})


def stop_of(outcome):
    [stop] = [d for d in outcome.analysis.decisions if d["kind"] == "stop"]
    return stop


def judgments_of(folder, outcome):
    [found] = folder.glob(f"mlruns/*/{outcome.run_id}/artifacts/data/judgments.parquet")
    return pd.read_parquet(found)


@pytest.fixture(scope="module")
def done(module_workplace):
    """A run that stopped by itself, and its folder."""
    return stopped(GIVEN, "whole.sqlite"), module_workplace


def test_a_width_stops_the_run_after_whole_items(done):
    outcome, workplace = done
    stop, frame = stop_of(outcome), judgments_of(workplace, outcome)
    assert stop["reached"]
    assert stop["items"] == frame["item_id"].nunique() < stop["max_items"]
    last = stop["looks"][-1]
    assert last["high"] - last["low"] <= 0.1
    assert all(look["high"] - look["low"] > 0.1 for look in stop["looks"][:-1])
    assert (frame.groupby("item_id").size() == 2 * 3).all()
    assert stop["screen"][0].startswith("STOPPED")
    assert ", 95% CI [" in stop["screen"][0]
    with closing(sqlite3.connect(workplace / "mlflow.db")) as db:
        [[saved]] = db.execute("select value from metrics where key = 'budget_saved'")
        [[items]] = db.execute("select value from params where key = 'stop/items'").fetchall()
    assert saved == pytest.approx(1 - stop["items"] / stop["max_items"])
    assert items == f"{stop['items']} of {stop['max_items']}"


def test_an_interrupted_run_goes_on_with_its_looks(done, workplace, monkeypatch):
    whole = stop_of(done[0])
    assert len(whole["looks"]) > 2
    collect, calls = run._collect, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return collect(*args)

    with monkeypatch.context() as patch:
        patch.setattr(run, "_collect", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stopped(GIVEN, "cut.sqlite")
    with closing(sqlite3.connect("cut.sqlite")) as db:
        [[kept]] = db.execute("select value from facts where name like 'until %'").fetchall()
    assert [look["items"] for look in json.loads(kept)["looks"]] == [
        look["items"] for look in whole["looks"][:2]
    ]
    again = stop_of(stopped(GIVEN, "cut.sqlite"))
    assert again["looks"] == whole["looks"]


def test_a_width_may_change_and_a_claim_on_the_same_answers_may_not(done, workplace):
    short = stop_of(stopped({**GIVEN, "max_items": "25"}, "a.sqlite"))
    assert (short["reached"], short["items"]) == (False, 25)
    assert "more than the maximum" in " ".join(short["screen"])
    longer = stop_of(stopped(GIVEN, "a.sqlite"))
    assert longer["looks"] == stop_of(done[0])["looks"]
    wider = stop_of(stopped({**GIVEN, "until": "icc_1_1 : width <= .4"}, "a.sqlite"))
    assert wider["items"] < longer["items"]
    with pytest.raises(InputError, match=r"cannot change its rule \(--until\) afterwards"):
        stopped({**GIVEN, "until": "icc_1_1>=.4", "max_items": "157"}, "a.sqlite")


def test_a_dry_run_prices_the_most_that_a_rule_allows(workplace, capsys):
    given = {**GIVEN, "max_items": "60", "dry_run": "yes"}
    assert stopped(given, "d.sqlite") is None
    said = " ".join(capsys.readouterr().out.split())
    assert f"sim-typical {60 * 2 * 3} " in said
    assert "price of 60 items. The first look is after 30, with 3 later looks." in said
    with pytest.raises(InputError, match="above 0"):
        stopped({**given, "until": "sem:width<=0"}, "d.sqlite")


def test_a_claim_keeps_the_order_of_items_and_its_looks(workplace):
    given = {**GIVEN, "until": "icc_1_1>=.4", "max_items": "157"}
    assert stop_of(stopped(given, "v.sqlite"))["reached"]
    for changed, said in (
        ({"until": "icc_1_1>=.5"}, r"\(--until\)"),
        ({"seed": "5"}, r"\(--seed\)"),
        ({"look_items": "20"}, "--look-items"),
    ):
        with pytest.raises(InputError, match=f"cannot change its .*{said}"):
            stopped({**given, **changed}, "v.sqlite")
    stopped({**GIVEN, "until": "icc_1_1:width<=.4"}, "v.sqlite")
    assert stop_of(stopped(given, "v.sqlite"))["reached"]


def test_a_verdict_stop_prints_intervals_at_its_bound(workplace):
    given = {**GIVEN, "until": "icc_1_1>=.4", "look_items": "60", "temperatures": "0,0.3",
             "max_items": "157"}  # fmt: skip
    outcome = stopped(given, "v.sqlite")
    stop = stop_of(outcome)
    assert stop["reached"]
    assert stop["looks"][-1]["low"] > 0.4
    levels = {
        named.result.interval.level for named in outcome.analysis.results
        if named.id.startswith("reliability.icc1") and named.result.interval
    }  # fmt: skip
    [level] = levels
    assert 0.95 < level < 1
    assert any("spends a part of the error" in text for text in outcome.analysis.limitations)


def test_the_order_of_items_is_drawn_by_seed_and_items_stay_whole(workplace):
    prepared = prepare(load_design("temperature"), GIVEN)
    clusters = sorted({t.cluster for t in prepared.tasks})
    part = part_of(prepared, clusters[:3])
    sizes = pd.Series([(t.condition.label, t.item_id) for t in part.tasks]).value_counts()
    assert set(sizes) == {3}
    assert {t.cluster for t in part.tasks} == set(clusters[:3])


def test_without_a_maximum_a_verdict_stop_takes_a_confidence_sequence(workplace):
    given = {**GIVEN, "until": "icc_1_1>=.4", "first_look": "20", "look_items": "60"}
    stop = stop_of(stopped(given, "s.sqlite"))
    assert (stop["method"], stop["is_bounded"]) == ("asymptotic confidence sequence", False)
    level = 1 - 0.05 / 2  # two temperatures share the error
    first = stop["looks"][0]
    assert first["bound"] == pytest.approx(sequential.sequence_bound(first["items"], 1 - level))
    with pytest.raises(InputError, match="cannot change its --max-items afterwards"):
        stopped({**given, "max_items": "157"}, "s.sqlite")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"until": "difference!=0"}, "from 20 clusters on, not at 6.*--max-items"),
        ({"until": "icc_1_2:width<=.1"}, "Did you mean icc_1_1"),
        ({"until": "pass_rate:width<=.1"}, "pass_rate is not measured"),
        ({"until": "sem:width<=0"}, "above 0"),
        ({"until": "", "max_items": "40"}, "bounds --until"),
        ({"max_requests": "40"}, "--max-items or --max-cost"),
        ({"mode": "batch"}, "mode=online"),
        ({"until": "icc_1_1:width<=.1 or difference!=0"}, "joins two stops"),
    ],
)
def test_refusals_before_a_judge_is_asked(workplace, changed, said):
    with pytest.raises(InputError, match=said):
        stopped({**GIVEN, **changed}, "r.sqlite")
    if "mode" not in changed and "icc_1_2" in changed.get("until", ""):
        with closing(sqlite3.connect("r.sqlite")) as db:
            assert db.execute("select count(*) from answers").fetchone() == (0,)


def test_a_design_in_stages_cannot_stop(workplace):
    with pytest.raises(InputError, match="judges in stages"):
        run_experiment(
            load_design("rejection_sampling"),
            {"judges": "sim-typical", "until": "icc_1_1:width<=.1", "report": "none"},
        )
