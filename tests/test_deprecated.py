"""Earlier spellings of commands and options: each works, with one line that names the new one."""

import sqlite3
from pathlib import Path

import pytest

import judgestats as js
from judgestats import deprecated
from judgestats.cli import main
from judgestats.commands import COMMANDS, PROGRAMS
from judgestats.results import differing_parameters, quantities_of
from judgestats.runner import experiment_names, load_design

TRAINING = "python -m judgestats.training"
JOURNAL = ".judgestats/journal.sqlite"
SPELLED = [
    ("methods RUN", "report RUN --methods"),
    ("methods RUN --out m.md", "report RUN --methods m.md"),
    ("methods RUN --out=m.md", "report RUN --methods=m.md"),
    ("template brief --run RUN", "report --document=brief.qmd RUN"),
    ("template --run=RUN audit --out mine", "report RUN --document=audit.qmd --out mine"),
    ("ingest a.jsonl b --journal j", "requests import a.jsonl b --journal j"),
    ("requests temperature --limit 4", "requests export temperature --limit 4"),
    ("requests --parts 8 RUN", "requests export --parts 8 RUN"),
    ("journal verify", f"doctor {JOURNAL}"),
    ("journal verify j.sqlite --drop", "doctor j.sqlite --drop"),
    ("journal --help", "doctor --help"),
    ("reread RUN --out d.csv", "reparse RUN --out d.csv"),
    ("second-opinion RUN --out d.csv", "show RUN --out d.csv crosscheck"),
    ("train data --model m --out o", "train data --model m --out o"),
    ("coverage RUN --model m", "coverage RUN --model m"),
]


@pytest.mark.parametrize(("old", "new"), SPELLED)
def test_an_earlier_command_becomes_the_new_one(old, new):
    found = deprecated.current_command("judgestats", old.split())
    assert found.words == new.split()
    assert found.program == (TRAINING if old.split()[0] in {"train", "coverage"} else "judgestats")
    [note] = found.notes
    assert deprecated.RENAMED_COMMANDS[old.split()[0]].spelling in note


def test_every_earlier_command_is_tried_here_and_is_no_command_any_more():
    assert {old.split()[0] for old, _ in SPELLED} == {*deprecated.RENAMED_COMMANDS}
    assert {*deprecated.RENAMED_COMMANDS} & {*COMMANDS} == {"requests"}  # its actions are new
    for renamed in deprecated.RENAMED_COMMANDS.values():
        command = PROGRAMS[renamed.program][renamed.words[0]]
        assert not command.actions or renamed.words[1] in command.actions


@pytest.mark.parametrize(
    "words", [["requests", "import", "x"], ["requests", "-h"], ["show", "x"], []]
)
def test_a_present_command_stays_as_it_is(words):
    assert deprecated.current_command("judgestats", words) == ("judgestats", words, [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("--min|a=.8", "--require|a>=.8"),
        ("--min=a, T=0=.8", "--require=a, T=0>=.8"),
        ("--max|a=2", "--require|a<=2"),
        ("--full", "--all"),
        ("--codes|P=pass", "--values|P=pass"),
        ("--template|my.qmd", "--document|my.qmd"),
    ],
)
def test_an_earlier_option_becomes_the_new_one(old, new):
    flags = {flag for flag, _ in deprecated.RENAMED_OPTIONS.values()}
    words, notes = deprecated.current_options(old.split("|"), flags)
    assert words == new.split("|")
    [note] = notes
    assert words[0].partition("=")[0] in note
    assert deprecated.current_options([*old.split("|")] * 2, flags)[1] == notes
    assert deprecated.current_options(old.split("|"), {"--other"}) == (old.split("|"), [])


def test_every_earlier_option_is_taken_by_a_command():
    flags = {o.flag for command in COMMANDS.values() for o in command.options}
    assert {new for new, _ in deprecated.RENAMED_OPTIONS.values()} <= flags
    assert not {*deprecated.RENAMED_OPTIONS} & flags


def test_an_earlier_spelling_works_and_is_named_on_standard_error(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text("item,repeat,score\n" + "".join(
        f"{i},{r},{1 + (i * 7 + r * 3) % 9}\n" for i in range(20) for r in range(3)
    ))  # fmt: skip
    words = ["analyze", "s.csv", "--track", "none", "--report", "none", "--resamples", "99"]
    assert main([*words, "--full", "--max", "sem=9"]) == 0
    earlier = capsys.readouterr()
    assert main([*words, "--all", "--require", "sem<=9"]) == 0
    assert capsys.readouterr().out == earlier.out
    first, second, *_ = earlier.err.splitlines()
    assert first == "judgestats: --full is deprecated and will be removed in 0.4.0. Use --all."
    assert second.endswith("Use --require 'NAME<=NUMBER'.")


def test_an_earlier_metric_names_its_quantity():
    for old, new in deprecated.RENAMED_METRICS.items():
        assert [found.estimand for found in quantities_of(old)] == [new]


def test_an_earlier_command_works(tmp_path, monkeypatch, capsys):
    from judgestats.collection import Journal

    monkeypatch.chdir(tmp_path)
    with Journal(Path(JOURNAL)):
        pass
    assert sqlite3.connect(JOURNAL).execute("pragma application_id").fetchone()[0]
    assert main(["journal", "verify"]) == 0
    said = capsys.readouterr()
    assert said.err == (
        "judgestats: journal is deprecated and will be removed in 0.4.0. Use judgestats doctor "
        "JOURNAL.\n"
    )
    assert main(["doctor", JOURNAL]) == 0
    assert capsys.readouterr() == (said.out, "")


@pytest.mark.parametrize(("old", "new"), deprecated.RENAMED_PARAMETERS.items())
def test_an_earlier_parameter_becomes_the_new_one(old, new, capsys):
    parameters, [note] = deprecated.current_parameters({old: "1", "limit": "4"})
    assert parameters == {new: "1", "limit": "4"}
    assert f"Use {new}." in note
    taken = {p.name for name in experiment_names() for p in load_design(name).all_parameters}
    assert new in taken
    assert old not in taken
    assert deprecated.current_parameters({old: "1", new: "2"}) == ({old: "1", new: "2"}, [])


def test_an_experiment_takes_an_earlier_parameter_with_a_note(workplace, capsys):
    words = ["run", "temperature", "--judges", "sim-typical", "--limit", "4", "--dry-run"]
    assert main([*words, "--replicates", "3"]) == 0
    earlier = capsys.readouterr()
    assert main([*words, "--repeats", "3"]) == 0
    assert capsys.readouterr().out == earlier.out
    assert earlier.err.startswith("judgestats: replicates is deprecated")
    with pytest.warns(FutureWarning, match="Use repeats"):
        js.run("temperature", judges="sim-typical", limit=4, replicates=3, dry_run=True)


def test_runs_of_an_earlier_version_differ_in_no_renamed_parameter():
    old = {"replicates": "3", "full": "false", "min": "a=.8", "max": "default", "codes": "default"}
    new = {"repeats": "3", "all": "false", "require": "a>=.8", "values": "default"}
    assert differing_parameters([{"parameters": old}, {"parameters": new}]) == {}
    more = [{"parameters": {**old, "max": "b=2"}}, {"parameters": new}]
    assert [*differing_parameters(more)] == ["require"]


def test_a_removed_option_is_refused_with_what_to_use(capsys):
    assert main(["export", "RUN", "--r", "--out", "checked"]) == 2
    assert "--r was removed in 0.3.0. Use judgestats show RUN crosscheck" in capsys.readouterr().err
