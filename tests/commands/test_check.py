"""The gate: decided on limits, for files and runs, in every condition."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.cli import main
from judgestats.errors import InputError
from judgestats.results import (
    Condition,
    Results,
    plain,
    select_conditions,
    write_results,
)
from tests.analysis.test_instrument import frame
from tests.test_action import gate_module

ICC = "reliability/icc1"
LO, HI = f"ci/{ICC}.lo", f"ci/{ICC}.hi"
HEATS = tuple(
    Condition(label=f"sim, T={t:g}", judge="sim", factors={"temperature": t, "mode": m})
    for t, m in ((0.0, "low"), (0.3, "low"), (1.0, None))
)


def run_of(folder: Path, runs: dict[str, dict[str, float]], **fields: object) -> Path:
    """The folder of a run whose conditions have these metrics."""
    conditions = fields.pop("conditions", None) or tuple(Condition(label=n, judge=n) for n in runs)
    found = Results(
        experiment="x", question="?", results=(), conditions=conditions, condition_metrics=runs,
        **fields,
    )  # fmt: skip
    write_results(folder / "results.json", found)
    return folder


def status_of(gate: js.check) -> dict[str, str]:
    """The status of the first requirement by subject."""
    return {v.subject.label: v.requirements[0].status for v in gate.verdicts}


@pytest.mark.parametrize(
    ("required", "status", "code"),
    [
        (f"{ICC}>=0.7", "holds", 0),
        (f"{ICC}>=0.71", "open", 3),
        (f"{ICC}>=0.95", "open", 3),
        (f"{ICC}>=0.96", "fails", 1),
    ],
)
def test_limits_decide(tmp_path, required, status, code):
    gate = js.check(run_of(tmp_path, {"a": {ICC: 0.9, LO: 0.7, HI: 0.95}}), require=required)
    assert (status_of(gate), gate.exit_code) == ({"a": status}, code)


def test_a_condition_without_the_number_does_not_pass_unseen(tmp_path):
    runs = {"a": {ICC: 0.9, LO: 0.8, HI: 0.95}, "mute": {}}
    gate = js.check(run_of(tmp_path, runs), require=f"{ICC}>=.5")
    assert status_of(gate) == {"a": "holds", "mute": "not_measured"}
    assert (gate.exit_code, gate.passed) == (3, False)
    assert f"exit {gate.exit_code}" in repr(gate)  # a notebook shows the screen
    allowed = js.check(tmp_path, require=f"{ICC}>=.5", allow="cannot-tell")
    assert allowed.exit_code == 0


def test_a_number_without_interval_that_is_counted_decides_itself(tmp_path):
    runs = {"a": {"quality/unread_share": 0.04}, "b": {"quality/unread_share": 0.1}}
    gate = js.check(run_of(tmp_path, runs), require="quality/unread_share<=.05")
    assert status_of(gate) == {"a": "holds", "b": "fails"}


def test_a_number_of_the_whole_run_is_found(tmp_path):
    folder = run_of(tmp_path, {"a": {}}, metrics={"cost/total": 1.0})
    assert js.check(folder, require="cost/total<=2").passed
    assert js.check(folder, require="cost/total<=.5").exit_code == 1


def test_an_unknown_number_is_named_with_the_nearest(tmp_path):
    with pytest.raises(InputError, match=r"'accuracyy'.*Did you mean accuracy\?"):
        js.check(run_of(tmp_path, {"a": {ICC: 0.9}}), require="accuracyy=1")


@pytest.mark.parametrize("text", ["icc1", ">=1", "icc1>=high", "icc1<=nan", "icc1>=inf", "tpr=90"])
def test_a_requirement_that_is_none_is_refused_before_anything_is_read(text, capsys):
    assert main(["check", "no-such-file.csv", "--require", text]) == 2
    assert "--require" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["T=hot", "T", "si", "T=0.35", ""])
def test_a_name_of_no_condition_is_refused_with_those_there_are(name):
    with pytest.raises(InputError, match=r"no condition is called .* sim, T=0.3"):
        select_conditions(HEATS, [name])


def test_a_run_that_stopped_early_is_not_checked(tmp_path, capsys):
    folder = run_of(tmp_path, {"sim, T=1": {ICC: 1.0}}, facts={"complete": False})
    assert main(["check", str(folder), "--require", f"{ICC}>=.7"]) == 2
    assert "stopped early" in capsys.readouterr().err


def test_conditions_without_sampling_are_left_out_and_never_reliable(tmp_path):
    own = {ICC: 0.9, LO: 0.8, HI: 0.95}
    runs = {"sim, T=0": {ICC: 1.0}, "sim, T=0.3": own, "sim, T=1": own}
    folder = run_of(tmp_path, runs, conditions=HEATS)
    assert set(status_of(js.check(folder, require=f"{ICC}>=.7"))) == {"sim, T=0.3", "sim, T=1"}
    alone = js.check(folder, require=f"{ICC}>=.7", at="T=0")
    assert status_of(alone) == {"sim, T=0": "not_measured"}
    assert alone.exit_code == 3


def test_a_results_file_that_was_cut_short_is_named_with_what_to_do(tmp_path, capsys):
    path = run_of(tmp_path, {"sim, T=1": {ICC: 1.0}}) / "results.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: len(text) // 2], encoding="utf-8")
    assert main(["check", str(tmp_path), "--require", f"{ICC}>=.7"]) == 2
    said = capsys.readouterr().err
    assert "results.json: line" in said
    assert "cut short" in said


@functools.cache
def audited(favour: float) -> js.audit:
    table = frame(favour=favour, factor=False)
    table["author"] = table["item_id"].str.split("-").str[1]
    return js.audit(table, n_resamples=19)


@pytest.mark.parametrize(
    ("favour", "required", "judge", "status"),
    [
        (1.2, "instrument/dif_log_odds<=1", "mild", "fails"),
        (-1.2, "instrument/dif_log_odds<=1", "mild", "fails"),  # of either sign
        (0.0, "instrument/dif_log_odds<=1.5", "mild", "holds"),
        (0.0, "instrument/leniency<=.1", "strict", "fails"),  # of either sign
        (0.0, "instrument/leniency<=2", "strict", "holds"),
        (0.0, "instrument/effective_levels>=2", "strict", "holds"),
    ],
)
def test_fairness_and_severity_are_required_of_an_audit(favour, required, judge, status):
    """A judge that is 1.2 kinder to one source, one that is .8 points of quality stricter."""
    found = status_of(js.check(audited(favour), require=required))
    own = {s for label, s in found.items() if label.startswith(judge)}
    assert own == {status} or (own == {"open"} and status == "fails")


@functools.cache
def verdict_table(seed: int = 0) -> tuple[str, str]:
    """600 verdicts and 300 labels: 205 true passes, 11 false fails, 25 false passes, 59 fails."""
    rng = np.random.default_rng(seed)
    pairs = [("pass", "pass")] * 205 + [("fail", "pass")] * 11
    pairs += [("pass", "fail")] * 25 + [("fail", "fail")] * 59
    words = [v for v, _ in pairs] + ["pass" if rng.random() < 0.7 else "fail" for _ in range(300)]
    rows = [f"q{i:04d},my-judge,{word}" for i, word in enumerate(words)]
    labels = [f"q{i:04d},{label}" for i, (_, label) in enumerate(pairs)]
    return (
        "\n".join(["item_id,judge,verdict", *rows]) + "\n",
        "\n".join(["item_id,label", *labels]) + "\n",
    )


@pytest.fixture
def gate_files(tmp_path, monkeypatch):
    verdicts, labels = verdict_table()
    (tmp_path / "verdicts.csv").write_text(verdicts)
    (tmp_path / "labels.csv").write_text(labels)
    monkeypatch.chdir(tmp_path)
    return tmp_path


LABELLED = ("check", "verdicts.csv", "--labels", "labels.csv")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((*LABELLED, "--require", "tpr=.9,tnr=.8"), 1),
        ((*LABELLED, "--require", "tpr=.9"), 0),
        ((*LABELLED, "--require", "sem>=.5"), 2),
        (("check", "verdicts.csv"), 3),
        (("check", "verdicts.csv", "--allow", "cannot-tell"), 0),
        (("check", "missing.csv"), 2),
        ((*LABELLED, "--for", "score"), 2),
    ],
)
def test_exit_codes(gate_files, words, code, capsys):
    assert main(list(words)) == code
    if code in {0, 1, 3}:
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) <= 20
        assert max(map(len, lines)) <= 100
        assert lines[0].startswith({0: ("PASS", "CANNOT TELL"), 1: "FAIL", 3: "CANNOT TELL"}[code])
        assert lines[-1].startswith(f"exit {code} ")


def test_the_record_is_the_same_from_every_door(gate_files, capsys):
    """A file, its run, Python, and the pytest fixture give one record."""
    from judgestats.pytest_plugin import held_judge

    assert main([*LABELLED, "--json"]) == 1
    command = json.loads(capsys.readouterr().out)["verdicts"]
    analyzed = ["analyze", *LABELLED[1:], "--report", "none", "--track", "none", "--json"]
    assert main(analyzed) == 0
    assert json.loads(capsys.readouterr().out)["verdicts"] == command
    python = js.check("verdicts.csv", labels="labels.csv")
    assert plain(python.verdicts) == command
    with pytest.raises(AssertionError, match="TNR"):
        held_judge("verdicts.csv", labels="labels.csv")
    [verdict] = python.verdicts
    assert verdict.outcome == "DO_NOT_USE"
    assert [r.status for r in verdict.requirements] == ["holds", "fails", "not_measured"]
    tpr, tnr = verdict.requirements[:2]
    assert (tpr.estimate, tnr.estimate) == pytest.approx((205 / 216, 59 / 84))
    assert (tnr.low, tnr.high) == pytest.approx((0.5927, 0.7973), abs=1e-4)


def test_a_run_and_the_action_have_that_record_too(gate_files):
    words = ["analyze", "verdicts.csv", "--labels", "labels.csv", "--report", "md"]
    assert main([*words, "--track", "none", "--resamples", "99"]) == 0
    [written] = gate_files.glob("judgestats-reports/*/results.json")
    of_file = js.check("verdicts.csv", labels="labels.csv", n_resamples=99)
    assert plain(js.check(str(written.parent)).verdicts) == plain(of_file.verdicts)

    action = gate_module()
    for given in ({"FILE": "verdicts.csv", "LABELS": "labels.csv"}, {"RUN": str(written.parent)}):
        code, text, outputs = action.run({f"JUDGESTATS_{k}": v for k, v in given.items()})
        [verdict] = of_file.verdicts
        assert (code, outputs["verdict"], outputs["deciding"]) == (
            1, verdict.outcome, verdict.deciding
        )  # fmt: skip
        assert "| my\\-judge | TNR | .70 [.59, .80] | ≥ .80 | .797 (upper) | fails |" in text
    same = {"JUDGESTATS_RUN": str(written.parent), "JUDGESTATS_BEFORE": str(written.parent)}
    code, text, _ = action.run(same)
    assert (code, "flips" in text) == (0, False), "runs keep no texts of outputs"


def test_a_rate_is_not_to_be_had_of_scores_by_more_labels():
    rows = [{"item_id": f"q{i}", "repeat": k, "score": (i + k) % 9 + 1}
            for i in range(30) for k in range(2)]  # fmt: skip
    [verdict] = js.check(js.audit(rows, n_resamples=19), require="tpr>=.9").verdicts
    assert verdict.requirements[0].reason == "it needs pass / fail verdicts"
    assert verdict.next == ()


def test_an_internal_error_is_no_verdict(gate_files, monkeypatch, capsys):
    def broken(*_, **__):
        raise RuntimeError("no such thing")

    monkeypatch.setattr("judgestats.commands.check.check", broken)
    assert main(list(LABELLED)) == 4
    printed = capsys.readouterr()
    assert "internal error" in printed.err
    assert printed.out == ""


def test_a_gate_that_is_open_says_what_decides_and_shows_the_limit_apart(labelled_gate):
    text = repr(labelled_gate)
    assert ".89998 (lower)" in text  # .900 would meet .90
    assert "more labelled fails suffice if TNR equals its estimate" in " ".join(text.split())
    assert "TPR needs about 100 labels of each class." in repr(
        js.check(pd.DataFrame({"item": range(40), "verdict": ["pass", "fail"] * 20}))
    )


@pytest.fixture
def labelled_gate():
    counts = {
        ("pass", "pass"): 193,
        ("fail", "pass"): 12,
        ("pass", "fail"): 25,
        ("fail", "fail"): 70,
    }
    rows = [pair for pair, n in counts.items() for _ in range(n)]
    frame = pd.DataFrame(rows, columns=["verdict", "label"]).assign(item=range(len(rows)))
    return js.check(frame, require="tpr=.9,tnr=.8")
