"""The declared words of every command: what they name is there, and wrong ones are met."""

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import judgestats.commands.declared as folder
from judgestats.cli import main
from judgestats.commands.parsing import Program
from judgestats.commands.table import COMMANDS, Argument, Option, declared, overview

REPLIES = [f"reply={word}" for word in ("auto", "json_schema", "tool", "text", "logprobs")]


def function(place):
    module, _, name = place.partition(":")
    return getattr(import_module(f"judgestats.commands.{module}"), name)


def test_every_file_of_a_command_is_in_the_table_and_every_line_has_its_file():
    files = {p.stem.replace("_", "-") for p in Path(folder.__path__[0]).glob("[!_]*.py")}
    assert files - {"shared"} == set(COMMANDS)
    assert max(map(len, overview().splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_a_declaration_holds_what_its_command_asks_for(name, capsys):
    command = declared(name)
    assert [str(p) for p in inspect.signature(function(command.runs)).parameters] == ["arguments"]
    names = [w.name or w.flag.strip("-").replace("-", "_") for w in command.words
             if isinstance(w, Option)]  # fmt: skip
    names += [w.name for w in command.words if isinstance(w, Argument)]
    assert len(set(names)) == len(names)
    assert all(w.default in w.choices for w in command.words if w.choices and w.default)
    assert main([name, *(["temperature"] if command.open else []), "--help"]) == 0
    printed = capsys.readouterr().out
    flags = [w.flag for w in command.words if isinstance(w, Option)]
    assert [f for f in flags if f not in printed] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["drift", "a", "b", "--seed", "x"], "argument --seed: expected a whole number, got 'x'"),
        (["labels", "plan", "--price", "x"], "argument --price: expected a number, got 'x'"),
        (["drift", "a", "b", "--seed"], "argument --seed: expected one argument"),
        (["drift", "a", "b", "--out", "--json"], "argument --out: expected one argument"),
        (["drift", "a", "b", "--json=3"], "argument --json: takes no value"),
        (["drift", "a"], "required: second. See judgestats drift --help."),
        (["drift"], "required: first, second."),
        (["doctor", "a", "b", "c"], "unrecognized arguments: b c."),
        (["report", "x", "--detail", "ful"], "(choose from 'brief', 'full'). Did you mean full?"),
        (["export", "x", "--too", "out"], "--too; the following arguments are required: --out"),
        (["run", "temperature", "--min"], "argument --min: expected one argument"),
        (["--"], "Missing command. See judgestats --help."),
    ],
)
def test_a_wrong_word_is_one_sentence(words, said, capsys):
    assert main(words) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.startswith("judgestats: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""


@pytest.mark.parametrize(
    ("before", "begun", "offered"),
    [
        ([], "dri", ["drift"]),
        (["report", "x"], "--de", ["--detail"]),
        (["report", "x", "--detail"], "", ["brief", "full"]),
        (["run"], "temp", ["temperature"]),
        (["run", "temperature"], "--dry", ["--dry-run"]),
        (["run", "temperature"], "--fu", ["--full"]),
        (["run", "temperature", "-P"], "repl", ["replicates=", "reply=", *REPLIES]),
        (["run", "temperature", "--reply"], "t", ["tool", "text"]),
        (["run", "no-such"], "--", ["--full", "--json", "--min", "--max"]),
    ],
)
def test_a_shell_is_told_what_may_follow(before, begun, offered):
    from click.shell_completion import BashComplete

    shell = BashComplete(Program(), {}, "judgestats", "_JUDGESTATS_COMPLETE")
    assert [item.value for item in shell.get_completions(before, begun)] == offered


def test_files_and_folders_are_completed_by_the_shell(monkeypatch, capsys):
    for words, kind in (("judgestats analyze ", "file"), ("judgestats export x --out ", "dir")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
        monkeypatch.setenv("_JUDGESTATS_COMPLETE", "bash_complete")
        assert main() == 0
        assert capsys.readouterr().out == f"{kind},\n"
    monkeypatch.setenv("_JUDGESTATS_COMPLETE", "zsh_source")
    assert main() == 0
    assert "#compdef judgestats" in capsys.readouterr().out


def test_the_table_alone_answers_help():
    script = "import sys, judgestats.cli as c; c.main(['--help']); print('click' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("\nFalse\n")


def test_the_version_names_what_files_are_written_in(capsys):
    from judgestats.cli import main
    from judgestats.version import __version__

    assert main(["--version"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"judgestats {__version__} (results schema 2, reader of replies ")
    assert "journal" in said
