"""The declared words of every command: help, refusals, completions."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from judgestats.cli import main
from judgestats.commands import (
    COMMANDS,
    COMMON,
    FRONT,
    GROUPS,
    PROGRAMS,
    TRAINING,
    Program,
    overview,
)
from judgestats.deprecated import RENAMED_COMMANDS, RENAMED_OPTIONS
from judgestats.runner import experiment_names, load_design

REPLIES = [
    "repeats=", "reply_instruction=", "reply_schema=", "reply=", "report=",
    *(f"reply_instruction={word}" for word in ("reply", "none")),
    *(f"reply={word}" for word in ("auto", "json_schema", "tool", "function", "text", "logprobs")),
    *(f"report={word}" for word in ("html", "pdf", "docx", "md", "tex")),
]  # fmt: skip
PAGES = {
    (program, name, *action): command
    for program, commands in PROGRAMS.items()
    for name, whole in commands.items()
    for action, command in [
        ((), whole),
        *(((name,), command) for name, command in whole.actions.items()),
    ]
}
"""Every page of help: of a command, of an action."""


def page(capsys, *words, program="judgestats"):
    """A page's groups, each with the terms that it lists."""
    assert main([*words, "--help"], program=program) == 0
    lines = capsys.readouterr().out.splitlines()
    groups, heading = {}, ""
    for line in lines:
        if line.endswith(":") and not line.startswith(" "):
            heading = line[:-1]
        elif line.startswith("  --"):
            groups.setdefault(heading, []).append(line.split()[0])
    return groups, "\n".join(lines)


def flags_of(groups):
    return [flag for flags in groups.values() for flag in flags]


def test_six_commands_stand_in_front_with_an_example_and_the_others_are_named(capsys):
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert named == list(FRONT)
    for name in FRONT:
        assert f"            {COMMANDS[name].examples[0]}" in lines
    more = " ".join(lines).partition("More: ")[2].partition("judgestats COMMAND")[0]
    assert {n.strip() for n in more.split(",")} == {*COMMANDS} - {*FRONT}
    assert max(map(len, lines)) <= 80
    assert main([], program="python -m judgestats.training") == 0
    assert all(name in capsys.readouterr().out for name in ("train",))


@pytest.mark.parametrize("names", PAGES, ids=" ".join)
def test_a_page_of_help_shows_every_option_once_under_its_heading(names, capsys):
    program, *words = names
    command = PAGES[names]
    if command.explains:
        return  # an experiment's page, below
    groups, text = page(capsys, *words, program=program)
    assert sorted(flags_of(groups)) == sorted(o.flag for o in command.options)
    assert list(groups) == sorted(groups, key=GROUPS.index)
    assert len(groups.get(COMMON, [])) <= 10
    for option in command.options:
        heading = next(h for h, flags in groups.items() if option.flag in flags)
        assert heading == option.group or (heading == COMMON and option.common)
    assert command.about in text
    assert all(f"  {example}" in text.splitlines() for example in command.examples)
    assert all(action in text for action in command.actions)
    assert text.startswith(f"Usage: {' '.join(names)}")


@pytest.mark.parametrize("names", PAGES, ids=" ".join)
def test_help_follows_the_language_guide(names):
    """Imperative first lines of at most 70 characters, phrases without a stop, an example."""
    command = PAGES[names]
    assert len(command.about) <= 70
    assert command.about[0].isupper()
    assert not command.about.endswith(".")
    assert command.examples
    helps = [word.help for word in command.words]
    assert all(text[0].isupper() and not text.endswith(".") for text in helps)
    assert all(option.group in GROUPS for option in command.options)


@pytest.mark.parametrize("width", [80, 120])
def test_pages_keep_to_the_screen(width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    for program, *words in PAGES:
        _, text = page(capsys, *words, program=program)
        assert max(len(x) for x in text.splitlines() if "judgestats" not in x) <= min(width, 100)


@pytest.mark.parametrize("names", PAGES, ids=" ".join)
def test_a_declaration_holds_what_its_function_asks_for(names):
    command = PAGES[names]
    if command.actions:
        assert not command.words
        return
    module, _, name = command.runs.partition(":")
    function = getattr(import_module(f"judgestats.commands.{module}"), name)
    assert [str(p) for p in inspect.signature(function).parameters] == ["arguments"]
    assert len({word.name for word in command.words}) == len(command.words)
    assert all(o.default in o.choices for o in command.options if o.choices and o.default)


@pytest.mark.parametrize("name", experiment_names())
def test_an_experiments_page_lists_its_parameters_in_groups(name, capsys):
    design = load_design(name)
    groups, text = page(capsys, "run", name)
    flags = [f"--{p.name.replace('_', '-')}" for p in design.all_parameters]
    assert sorted(flags_of(groups)) == sorted([*flags, "--require", "--all", "--json"])
    assert set(groups) <= {COMMON, "Data", "Judges", "Design", "Request", "Budget", "Analysis",
                           "Output"}  # fmt: skip
    if name != "replicate":
        assert len(groups[COMMON]) == 10
        assert next(iter(groups)) == COMMON
    assert design.question.split()[0] in text


def test_an_action_takes_its_own_options_alone(capsys):
    groups, _ = page(capsys, "labels", "split")
    assert "--half-width" not in flags_of(groups)
    assert main(["labels", "split", "x.csv", "--half-width", ".05"]) == 2
    assert "unrecognized arguments: --half-width" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["drift", "a", "b", "--seed", "x"],
            "argument --seed: expected a whole number, 0 or above, got 'x'",
        ),
        (["labels", "plan", "--price", "x"], "argument --price: expected a number, got 'x'"),
        (
            ["labels"],
            "Missing action: one of plan, split, next, collect, export. See judgestats labels",
        ),
        (["labels", "plam"], "argument ACTION: invalid choice: 'plam'"),
        (["labels", "split"], "required: file. See judgestats labels split --help."),
        (["drift", "a", "b", "--seed"], "argument --seed: expected one argument"),
        (["drift", "a", "b", "--out", "--json"], "argument --out: expected one argument"),
        (
            ["analyze", "a", "--labels", "b", "--labels=c"],
            "argument --labels: expected one value, got 'b' and 'c'. See judgestats analyze --help",
        ),
        (["drift", "a", "b", "--json=3"], "argument --json: takes no value"),
        (["drift", "a"], "required: second. See judgestats drift --help."),
        (["drift"], "required: first, second."),
        (["doctor", "a", "b", "c"], "unrecognized arguments: b c."),
        (["report", "x", "--detail", "ful"], "(choose from 'brief', 'full'). Did you mean full?"),
        (["export", "x", "--too", "out"], "--too; the following arguments are required: --out"),
        (["run", "temperature", "--require"], "argument --require: expected one argument"),
        (["--"], "Missing command: one of analyze, run, "),
    ],
)
def test_a_wrong_word_is_one_sentence(words, said, capsys):
    assert main(words) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.startswith("judgestats: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_an_option_given_twice_alike_or_that_is_repeated_is_taken(capsys):
    alike = ["--labels", "b", "--labels=b", "--stream", "--stream"]
    repeated = ["--require", "tpr>=.8", "--require", "tnr>=.8"]
    assert main(["analyze", "no.csv", *alike, *repeated]) == 2
    assert "there is no file 'no.csv'" in capsys.readouterr().err
    sides = ["--first-options", "--labels=b", "--second-options", "--labels=c"]
    assert main(["drift", "no.csv", "no.csv", *sides]) == 2
    assert "expected one value" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "begun", "offered"),
    [
        ([], "dri", ["drift"]),
        (["report", "x"], "--de", ["--detail"]),
        (["report", "x", "--detail"], "", ["brief", "full"]),
        (["run"], "temp", ["temperature"]),
        (["run", "temperature"], "--dry", ["--dry-run"]),
        (["run", "temperature"], "--al", ["--all"]),
        (["run", "temperature", "-P"], "rep", REPLIES),
        (["run", "temperature", "--reply"], "t", ["tool", "text"]),
        (["run", "no-such"], "--", ["--require", "--all", "--json"]),
    ],
)
def test_a_shell_is_told_what_may_follow(before, begun, offered):
    from click.shell_completion import BashComplete

    shell = BashComplete(Program(), {}, "judgestats", "_JUDGESTATS_COMPLETE")
    assert sorted(i.value for i in shell.get_completions(before, begun)) == sorted(offered)


def test_a_shell_is_offered_every_command_and_no_earlier_word():
    from click.shell_completion import BashComplete

    shell = BashComplete(Program(), {}, "judgestats", "_JUDGESTATS_COMPLETE")
    offered = {item.value for item in shell.get_completions([], "")}
    assert {*COMMANDS} <= offered
    assert not offered & ({*RENAMED_COMMANDS} - {*COMMANDS} | {*TRAINING})
    for name, command in COMMANDS.items():
        flags = {item.value for item in shell.get_completions([name], "--")}
        assert not flags & {*RENAMED_OPTIONS}, name
        assert {o.flag for o in command.options if not o.repeated} <= flags


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


def modules_of(*words):
    """The heavy packages that a command has loaded at its end."""
    heavy = {"click", "numpy", "pandas", "pydantic", "mlflow", "openai", "rich"}
    script = (
        "import sys, judgestats.cli as c; c.main(sys.argv[1:]); "
        f"print(*sorted({heavy!r} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


def test_help_loads_nothing_heavy():
    assert modules_of("--help") == []
    assert modules_of("analyze", "--help") == ["click"]
    assert modules_of("labels", "plan", "--help") == ["click"]
    assert overview().startswith("Usage: judgestats COMMAND")


def test_the_version_names_what_files_are_written_in(capsys):
    from judgestats.version import __version__

    assert main(["--version"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"judgestats {__version__} (results schema 2, reader of replies ")
    assert "journal" in said
