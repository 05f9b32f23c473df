"""The temperature experiment, all the way: the truth of simulated judges is found again."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.results import read_results, to_plain
from judgestats.runner import load_design, run_experiment
from judgestats.simulated import run_server
from tests.collection.picky import Picky
from tests.runner.truths import judged_items, variance_of

SMALL = {"resamples": "199", "report": "none", "crosscheck": "no"}
JUDGED = {"judges": "sim-discerning,sim-null", "temperatures": "0.3,1", "repeats": "8"}


def runs(folder):
    with sqlite3.connect(folder / "mlflow.db") as db:
        return db.execute("select run_uuid, name, status from runs").fetchall()


def artifacts(folder, run_id):
    [found] = folder.glob(f"mlruns/*/{run_id}/artifacts")
    return found


@pytest.fixture(scope="module")
def done(module_workplace):
    """One run for many questions, and its folder."""
    return run_experiment(load_design("temperature"), {**SMALL, **JUDGED}), module_workplace


def test_truth_is_recovered_and_a_null_effect_found_null(done):
    outcome, _ = done
    cells = outcome.analysis.conditions.set_index("condition")
    judged = judged_items("temperature", {**SMALL, **JUDGED})
    for label, row in cells.iterrows():
        expected = variance_of(row["judge"], judged, temperature=row["temperature"])
        low, high = row["within_variance_low"], row["within_variance_high"]
        # 99 % bounds from the 95 % ones: four intervals must all hold in one seeded run.
        middle, half = np.log(row["within_variance"]), np.log(high / low) / 2 * 1.35
        assert np.exp(middle - half) < expected < np.exp(middle + half), label
    assert outcome.analysis["spread.sim-discerning"].p_value < 0.05
    assert outcome.analysis["spread.sim-null"].p_value > 0.05
    [ratio] = outcome.analysis["ratio.sim-null"].rows
    assert ratio.interval.low < 1 < ratio.interval.high
    claims = {h.about.judge: h for h in outcome.analysis.headlines}
    assert (claims["sim-discerning"].claim, claims["sim-discerning"].direction) == (
        "differs", "higher",
    )  # fmt: skip
    assert claims["sim-null"].claim in {"equivalent", "open"}


def test_the_run_holds_plan_prompts_items_judgments_results_and_children(done):
    outcome, workplace = done
    statuses = {status for _, _, status in runs(workplace)}
    assert statuses == {"FINISHED"}
    names = {name for _, name, _ in runs(workplace)}
    assert {"sim-discerning, T=0.3", "sim-null, T=1"} <= names
    folder = artifacts(workplace, outcome.run_id)
    results = read_results(folder / "results.json")
    assert results.facts["simulated"] is True
    assert results.facts["command"].startswith("judgestats run temperature")
    plan = json.loads((folder / "plan.json").read_text())
    assert [h["role"] for h in plan["hypotheses"]].count("primary") == 1
    frame = pd.read_parquet(folder / "data" / "judgments.parquet")
    assert len(frame) == results.facts["account"]["answered"]
    assert list((folder / "prompts").glob("*.txt"))
    assert (folder / "data" / "items.jsonl").exists()
    assert {h["id"] for h in plan["hypotheses"]} <= {r.hypothesis for r in results.results}


def test_requests_are_interleaved_over_items_and_repeats_and_recorded(done):
    outcome, workplace = done
    folder = artifacts(workplace, outcome.run_id)
    frame = pd.read_parquet(folder / "data" / "judgments.parquet")
    assert set(frame["request_order"]) == {"interleaved"}
    design = read_results(folder / "results.json").facts["design"]
    assert design["facets"]["request_order"] == "interleaved"
    assert design["line"].endswith("8 repeats per condition (interleaved)")
    items = frame["item_id"].astype("category").cat.codes
    for judge, own in frame.assign(item=items).groupby("judge"):
        asked = pd.to_datetime(own["asked_at"]).rank()
        for name in ("item", "replicate", "temperature"):
            assert abs(asked.corr(own[name].astype(float))) < 4 / len(own) ** 0.5, (judge, name)


def test_the_same_command_again_asks_nothing_and_finds_the_same(workplace):
    given = {**SMALL, "judges": "sim-typical", "temperatures": "0.5,1", "repeats": "2"}
    first = run_experiment(load_design("temperature"), given)
    second = run_experiment(load_design("temperature"), given)
    one, two = (
        read_results(artifacts(workplace, r.run_id) / "results.json") for r in (first, second)
    )
    assert one.facts["account"]["asked"] == two.facts["account"]["cached"] > 0
    assert two.facts["account"]["requests"] == 0
    assert to_plain(one)["results"] == to_plain(two)["results"]


def test_more_replicates_pay_only_for_what_is_new(workplace):
    given = {**SMALL, "judges": "sim-typical", "temperatures": "0.5,1", "limit": "5"}
    run_experiment(load_design("temperature"), {**given, "repeats": "2"})
    more = run_experiment(load_design("temperature"), {**given, "repeats": "3"})
    account = read_results(artifacts(workplace, more.run_id) / "results.json").facts["account"]
    assert (account["cached"], account["answered"]) == (20, 10)


def test_the_dry_run_sends_nothing_and_leaves_no_run(workplace, capsys):
    assert run_experiment(load_design("temperature"), {"dry_run": "true"}) is None
    said = capsys.readouterr().out
    assert "Nothing was sent" in said
    assert not (workplace / ".judgestats").exists()
    assert not runs(workplace)


@pytest.mark.parametrize(("traces", "statuses"), [("on", ["FAILED"]), ("off", [])])
def test_a_fault_in_the_analysis_leaves_a_failed_run_or_none(
    workplace, monkeypatch, capsys, traces, statuses
):
    from judgestats.analysis import temperature as analysis
    from judgestats.errors import InputError

    def broken(*_):
        raise InputError("nothing to analyse")

    monkeypatch.setattr(analysis, "analyse", broken)
    words = ["run", "temperature", "--judges", "sim-typical", "--temperatures", "0.5,1"]
    words += ["--repeats", "2", "--limit", "4", "--report", "none", "--traces", traces]
    assert main(words) == 2
    assert [status for _, _, status in runs(workplace)] == statuses
    assert "nothing to analyse" in capsys.readouterr().err


def test_a_temperature_that_is_refused_without_a_reason_ends_no_other(workplace, capsys):
    with run_server(Picky(lambda request: request["temperature"] == 2.0)) as url:
        given = {
            **SMALL,
            "judges": f"sim-typical@{url}",
            "temperatures": "2,0.3,1",
            "repeats": "5",
            "limit": "8",
        }
        outcome = run_experiment(load_design("temperature"), given)
    mute = outcome.analysis.condition_metrics[f"sim-typical@{url}, T=2"]
    assert np.isnan(mute["quality/unread_share"])  # undefined: a gate does not overlook it
    assert mute["quality/unanswered_share"] == 1.0
    assert not np.isnan(outcome.analysis[f"spread.sim-typical@{url}"].p_value)
    refused = f"No judgment was answered under sim-typical@{url}, T=2: bad_request ("
    assert any(text.startswith(refused) for text in outcome.analysis.limitations)
    assert refused in capsys.readouterr().out
    frame = pd.read_parquet(artifacts(workplace, outcome.run_id) / "data" / "judgments.parquet")
    assert set(frame.loc[frame["status"] == "failed", "temperature"]) == {2.0}
    assert (frame.loc[frame["status"] == "ok", "temperature"] != 2.0).sum() == 80


def test_every_call_is_a_trace_with_its_verdict_where_traces_are_on(workplace, capsys):
    from mlflow import MlflowClient

    small = {**SMALL, "judges": "sim-typical", "temperatures": "0.5,1", "repeats": "2"}
    outcome = run_experiment(load_design("temperature"), {**small, "limit": "3", "traces": "on"})
    assert outcome is not None
    assert "Traces: 12, under Traces" in capsys.readouterr().out
    traces = MlflowClient().search_traces([outcome.experiment_id], max_results=50)
    assert len(traces) == 12
    assert {t.info.trace_metadata["mlflow.sourceRun"] for t in traces} == {outcome.run_id}
    judged = pd.read_parquet(artifacts(workplace, outcome.run_id) / "data" / "judgments.parquet")
    scores = {
        (r.condition, r.item_id, str(r.replicate)): (r.score, r.raw_text)
        for r in judged.itertuples()
    }
    for trace in traces:
        tags, [verdict], [span] = trace.info.tags, trace.info.assessments, trace.data.spans
        own = scores[tags["condition"], tags["item"], tags["replicate"]]
        assert (verdict.value, span.outputs["content"]) == own
        assert verdict.source.source_id == "sim-typical"
        assert "[The Start of Answer]" in span.inputs["messages"][-1]["content"]


def test_traces_that_cannot_be_written_end_no_run():
    from judgestats.tracking import Store, TraceWriter

    def broken(row):
        raise RuntimeError(f"\x1b[2Jno {row}")

    store = Store(client=None, uri="", experiment_id="1", experiment_name="x")
    writer = TraceWriter(store, "0", broken)
    writer.add("call")
    writer.close()
    assert writer.written == 0
    assert "RuntimeError" in writer.fault
    assert "\x1b" not in writer.fault
