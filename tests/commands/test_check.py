"""The gate: decided on bounds, in every condition."""

import functools
import math
from dataclasses import replace

import pandas as pd
import pytest

from judgestats.analysis import Analysis, with_lost_shares
from judgestats.analysis.audit import audit
from judgestats.commands import (
    depends_on_sampling,
    judge_run,
    read_demands,
    select_conditions,
    unknown_name,
    with_row,
)
from judgestats.errors import InputError
from judgestats.results import Condition, Estimate, Interval, Note, Results, Row, write_results
from judgestats.tracking import WHOLE_RUN
from tests.analysis.test_instrument import frame

ICC = "reliability/icc1"
LO, HI = f"ci/{ICC}.lo", f"ci/{ICC}.hi"


def found(runs, *required):
    return {f.where: f for f in judge_run(runs, read_demands(required))}


@pytest.mark.parametrize(
    ("bound", "passed"),
    [(">=0.7", True), (">=0.71", False), ("<=0.95", True), ("<=0.94", False)],
)
def test_the_bad_end_of_the_interval_decides(bound, passed):
    runs = {WHOLE_RUN: {}, "a": {ICC: 0.9, LO: 0.7, HI: 0.95}}
    assert found(runs, f"{ICC}{bound}")["a"].passed is passed


def test_a_condition_without_the_number_does_not_pass_unseen():
    runs = {WHOLE_RUN: {"cost/usd": 1.0}, "a": {ICC: 0.9, LO: 0.8, HI: 0.95}, "mute": {}}
    table = found(runs, f"{ICC}>=.5")
    assert set(table) == {"a", "mute"}
    assert table["a"].passed
    assert not table["mute"].passed
    assert table["mute"].basis == "undefined"
    assert math.isnan(table["mute"].decided_on)


def test_an_undefined_interval_is_not_replaced_by_the_estimate():
    runs = {"a": {ICC: 0.9, LO: 0.8, HI: 0.95}, "b": {ICC: 1.0}}
    table = found(runs, f"{ICC}>=.5")
    assert not table["b"].passed
    assert table["b"].basis == "undefined lower bound"


def test_a_number_that_is_only_counted_decides_itself():
    runs = {WHOLE_RUN: {}, "a": {"quality/unread_share": 0.04}, "b": {"quality/unread_share": 0.1}}
    table = found(runs, "quality/unread_share<=.05")
    assert [table[n].passed for n in "ab"] == [True, False]
    assert table["a"].basis == "estimate (no interval)"


def test_a_number_of_the_whole_run_is_asked_of_it_alone():
    runs = {WHOLE_RUN: {"cost/total": 1.0}, "a": {}}
    assert list(found(runs, "cost/total<=2")) == [WHOLE_RUN]


def test_an_unknown_number_is_named_with_the_known_ones():
    with pytest.raises(InputError, match=r"'nosuch'.*reliability/icc1"):
        judge_run({"a": {ICC: 0.9}}, read_demands(["nosuch>=1"]))


@pytest.mark.parametrize("text", ["icc1", ">=1", "icc1=1", "icc1>=high", "icc1<=nan", "icc1>=inf"])
def test_a_demand_that_is_none_is_refused(text):
    with pytest.raises(InputError, match="expects NAME>=NUMBER or NAME<=NUMBER"):
        read_demands([text])


def rows_of_two():
    """Scores and verdicts of one run: only the scores have a reliability."""
    estimate = Estimate(
        id="reliability.icc1.a", hypothesis="reliability", role="primary", title="",
        estimand="icc_1_1", estimate=0.9, interval=Interval(low=0.7, high=0.95),
    )  # fmt: skip
    flips = replace(estimate, id="reliability.flip_rate.b", estimand="flip_rate", interval=None)
    rows = (
        Row(key="reliability", ask="r", short="r", estimand="icc_1_1",
            cells={"a": "reliability.icc1.a"}),
        Row(key="flips", ask="f", short="f", estimand="flip_rate",
            cells={"b": "reliability.flip_rate.b"}),
    )  # fmt: skip
    return Results(
        experiment="x", title="x", question="", answer="", conditions=(), headlines=(),
        limitations=(), recommendation=None, rows=rows, results=(estimate, flips), facts={},
    )  # fmt: skip


@pytest.mark.parametrize("name", ["reliability", "icc_1_1", "reliability/icc1"])
def test_a_row_of_the_screen_is_demanded_by_each_of_its_names(name):
    results = rows_of_two()
    runs = with_row({WHOLE_RUN: {}, "a": {}, "b": {}, "mute": {}}, name, results)
    held = {f.where: f for f in judge_run(runs, read_demands([f"{name}>=.8"]))}
    assert set(held) == {"a", "mute"}
    assert held["a"].decided_on == 0.7
    assert held["mute"].basis == "undefined"
    assert depends_on_sampling(name, results.rows)


def test_a_wrong_name_is_answered_with_the_nearest_row():
    error = unknown_name("relability", {"ci/reliability/icc1.lo", "x/y"}, rows_of_two().rows)
    assert "Did you mean reliability? There are: reliability, flips;" in str(error)


HEATS = tuple(
    Condition(label=f"sim, T={t:g}", judge="sim", factors={"temperature": t, "mode": m})
    for t, m in ((0.0, "low"), (0.3, "low"), (1.0, None))
)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("T=0", ["sim, T=0"]),
        ("temperature=0.30", ["sim, T=0.3"]),
        ("sim, T=1", ["sim, T=1"]),
        ("sim", ["sim, T=0", "sim, T=0.3", "sim, T=1"]),
        ("mode=low", ["sim, T=0", "sim, T=0.3"]),
        ("mode=default", ["sim, T=1"]),
    ],
)
def test_a_condition_is_named_exactly(name, labels):
    assert select_conditions(HEATS, [name]) == labels


@pytest.mark.parametrize("name", ["T=hot", "T", "si", "T=0.35", ""])
def test_a_name_of_no_condition_is_refused_with_those_there_are(name):
    with pytest.raises(InputError, match=r"no condition is called .* sim, T=0.3"):
        select_conditions(HEATS, [name])


def checked(folder, runs, *words, **facts):
    from judgestats.cli import main

    found = Results(
        experiment="x", question="?", results=(), conditions=HEATS, condition_metrics=runs,
        facts=facts,
    )  # fmt: skip
    write_results(folder / "results.json", found)
    return main(["check", str(folder), *words])


def test_a_run_that_stopped_early_is_not_checked(tmp_path, capsys):
    assert (
        checked(tmp_path, {"sim, T=1": {ICC: 1.0}}, "--require", f"{ICC}>=.7", complete=False) != 0
    )
    assert "stopped early" in capsys.readouterr().err


def test_conditions_without_sampling_are_left_out_of_reliability_and_named(tmp_path, capsys):
    own = {ICC: 0.9, LO: 0.8, HI: 0.95, "quality/unread_share": 0.0}
    share = {"ci/quality/unread_share.lo": 0.0, "ci/quality/unread_share.hi": 0.1}
    runs = {"sim, T=0.3": own | share, "sim, T=1": own | share}
    runs["sim, T=0"] = {ICC: 1.0, "quality/unread_share": 0.0} | share  # no bound: no spread
    assert (
        checked(tmp_path, runs, "--require", f"{ICC}>=.7", "--require", "quality/unread_share<=.2")
        == 0
    )
    text = capsys.readouterr().out
    assert "left out" in text
    assert text.count("sim, T=0 ") == 1  # its unread share is demanded all the same
    assert checked(tmp_path, runs, "--require", f"{ICC}>=.7", "--condition", "T=0") == 1
    text = capsys.readouterr().out
    assert "T=0.3" not in text
    assert "sampling is off, one draw is repeated" in text
    two = ("--condition", "T=0", "--condition", "T=0.3")
    assert checked(tmp_path, runs, "--require", f"{ICC}>=.7", *two) == 0
    assert "left out (sampling is off there" in capsys.readouterr().out


def test_one_draw_repeated_never_passes_for_reliability(tmp_path, capsys):
    """Where nothing else was judged it passed on its estimate of 1, which has no interval."""
    runs = {"sim, T=0": {ICC: 1.0}}
    assert checked(tmp_path, runs, "--require", f"{ICC}>=.7") == 1
    assert "undefined: sampling is off" in capsys.readouterr().out


def test_a_share_is_decided_on_the_end_of_its_interval():
    rows = [{"condition": "a", "item_id": i, "cluster": i, "status": "ok"} for i in range(8)]
    bare = Analysis(
        experiment="x", question="?", sentence="", results=(), conditions=pd.DataFrame(),
        condition_metrics={"a": {"quality/unread_share": 0.0}},
    )  # fmt: skip
    analysis = with_lost_shares(bare, pd.DataFrame(rows), level=0.95)
    table = found(analysis.condition_metrics, "quality/unread_share<=.02")
    assert table["a"].estimate == 0
    assert table["a"].decided_on == pytest.approx(1 - 0.025 ** (1 / 8))  # Clopper and Pearson
    assert not table["a"].passed
    assert analysis.records()["unread.a"].estimate == 0


def test_a_results_file_that_was_cut_short_is_named_with_what_to_do(tmp_path, capsys):
    assert checked(tmp_path, {"sim, T=1": {ICC: 1.0}}, "--require", f"{ICC}>=.7") == 1
    path = tmp_path / "results.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: len(text) // 2], encoding="utf-8")
    from judgestats.cli import main

    assert main(["check", str(tmp_path), "--require", f"{ICC}>=.7"]) != 0
    said = capsys.readouterr().err
    assert "results.json: line" in said
    assert "cut short" in said
    assert "judgestats analyze" in said


def test_a_file_is_told_to_be_audited_first(tmp_path, capsys):
    from judgestats.cli import main

    (tmp_path / "mine.csv").write_text("item,verdict\n1,pass\n")
    assert main(["check", str(tmp_path / "mine.csv"), "--require", "validity/sensitivity>=.9"]) == 2
    assert "Audit it first (judgestats analyze" in capsys.readouterr().err


@functools.cache
def metrics_by_judge(favour):
    table = frame(favour=favour, factor=False)
    table["author"] = table["item_id"].str.split("-").str[1]
    analysis = audit(table, n_resamples=19)
    return {n.partition(",")[0]: m for n, m in analysis.condition_metrics.items()}


@pytest.mark.parametrize(
    ("favour", "required", "judge", "passed"),
    [
        (1.2, "instrument/dif_log_odds<=1", "mild", False),
        (-1.2, "instrument/dif_log_odds<=1", "mild", False),  # of either sign
        (0.0, "instrument/dif_log_odds<=1.5", "mild", True),
        (0.0, "instrument/severity<=.1", "mild", True),
        (0.0, "instrument/severity<=.1", "strict", False),
        (0.0, "instrument/effective_levels>=2", "strict", True),
    ],
)
def test_fairness_and_severity_are_demanded_of_an_audit(favour, required, judge, passed):
    """A judge that is 1.2 kinder to one source, one that is .8 points of quality stricter."""
    table = found(metrics_by_judge(favour), required)
    assert table[judge].passed is passed


def test_what_holds_stands_in_the_frame_of_a_screen(tmp_path, capsys, monkeypatch):
    """The run above, the digits of the screen, MIND and NEXT below, in 24 lines."""
    from judgestats.cli import main

    results = replace(
        rows_of_two(),
        conditions=(Condition(label="a", judge="j"), Condition(label="b", judge="j")),
        limitations=(Note(code="few", message="Few items.", values={"short": "few items"}),),
    )
    write_results(tmp_path / "results.json", results)
    assert main(["check", str(tmp_path), "--require", "reliability>=.8"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"x · run {tmp_path}")
    assert " 0 of 1 demands hold." in lines
    assert " FAIL  a  reliability .90 [.70, .95], demanded >= .8" in lines
    assert lines[-2].startswith("MIND   few items · ")
    assert lines[-1] == f"NEXT   judgestats show {tmp_path}"
    assert main(["check", str(tmp_path), "--require", "reliability>=.7"]) == 0
    assert " PASS  a  reliability .90 [.70, .95], demanded >= .7" in capsys.readouterr().out

    many = {f"j{k}": {ICC: 0.9, LO: 0.7 + k / 100, HI: 0.95} for k in range(30)}
    conditions = tuple(Condition(label=name, judge=name) for name in many)
    write_results(
        tmp_path / "results.json",
        Results(
            experiment="x", question="?", results=(), conditions=conditions,
            condition_metrics={**many, "mute": {}},
        ),
    )  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["check", ".", "--require", f"{ICC}>=.8"]) == 1
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 24
    assert max(map(len, text.splitlines())) <= 100
    assert " and 18 more: judgestats check" in text
    assert text.index("FAIL") < text.index("PASS") < text.index("NEXT")
