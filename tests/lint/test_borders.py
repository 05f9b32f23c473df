"""One place opens outside files, runs programs, waits, and prints; read from the syntax tree."""

import ast
import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import judgestats

ROOT = Path(judgestats.__file__).parent
READS = (
    "pandas.read_",
    "pyarrow.csv.read_",
    "pyarrow.json.read_",
    "pyarrow.parquet.read_",
    "pyarrow.feather.read_",
    "pyarrow.parquet.ParquetFile",
    "json.load",
    "yaml.load",
    "yaml.safe_load",
    "yaml.full_load",
    "yaml.unsafe_load",
    "sqlite3.connect",
    "zipfile.",
    "gzip.",
    "tarfile.",
    "xml.",
    "openpyxl.",
    "pickle.",
    "numpy.load",
)
ALLOWED = {
    ("collection/journal_file.py", "sqlite3.connect"): "the journal: written, and checked by sums",
    ("tracking/store.py", "sqlite3.connect"): "MLflow's tables, made new",
    ("reporting/pandoc.py", "zipfile.ZipFile"): "pandoc's own styles, written again",
    ("reporting/pandoc.py", "zipfile.ZipInfo"): "the same",
    ("collection/account.py", "pandas.read_parquet"): "parts of this run, in its scratch folder",
    ("reporting/explorer/page.py", "gzip.compress"): "the data of a page: written, not read",
}


def calls(tree: ast.AST):
    """Each call's full name, imports written out, and its line."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        parts, at = [], node.func
        while isinstance(at, ast.Attribute):
            parts.append(at.attr)
            at = at.value
        if isinstance(at, ast.Name) and at.id in names:
            yield ".".join([names[at.id], *reversed(parts)]), node.lineno


def calls_of(source: str, names: tuple[str, ...]) -> list[tuple[str, int]]:
    """Calls whose full name begins with one of the names; parsed where a module is imported."""
    modules = "|".join({name.partition(".")[0] for name in names})
    if not re.search(rf"\b(?:import|from) (?:{modules})\b", source):
        return []
    return [(name, line) for name, line in calls(ast.parse(source)) if name.startswith(names)]


def readings(source: str):
    return calls_of(source, READS)


def test_only_the_guarded_reader_opens_outside_files():
    found = {
        (str(path.relative_to(ROOT)), name): line
        for path in ROOT.rglob("*.py")
        if path.relative_to(ROOT).parts[0] != "files"
        for name, line in readings(path.read_text())
    }
    assert {f"{file}:{found[file, name]}: {name}" for file, name in found.keys() - ALLOWED} == set()
    assert found.keys() >= ALLOWED.keys(), "an exception that is no longer needed"


@pytest.mark.parametrize(
    "source",
    [
        "import pandas as pd\npd.read_csv('x')",
        "from json import loads\nloads('1')",
        "import json as j\nj.load(f)",
        "import pyarrow.parquet as pq\npq.ParquetFile('x')",
        "import xml.etree.ElementTree as tree\ntree.parse('x')",
        "def f():\n    from gzip import open as o\n    o('x')",
        "import numpy\nnumpy.load('x')",
        "import pickle\npickle.loads(b'')",
    ],
)
def test_the_lint_finds_a_reading_however_it_is_imported(source):
    assert len(readings(source)) == 1


def test_the_lint_lets_other_calls_through():
    assert readings("import json\njson.dumps(1)\nloads('1')") == []


WAITS = {"wait", "join", "get", "recv", "acquire", "communicate"}
PROGRAMS = ("subprocess.", "os.system", "os.popen", "os.exec", "os.spawn", "pty.", "select.")
HOME = "deadlines.py"


def contexts(tree: ast.AST) -> set[str]:
    """Names of context variables and mappings of the environment, whose `get` never waits."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and isinstance(node.value, ast.Call)
        and "ContextVar" in ast.dump(node.value.func)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


def in_event_loop(tree: ast.AST) -> set[int]:
    """Calls that are awaited or made tasks: they block no thread, and a signal cancels them."""
    return {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Await)
        or (isinstance(node, ast.Call) and "create_task" in ast.dump(node.func))
        or (
            isinstance(node, ast.ListComp)
            and any("create_task" in ast.dump(part) for part in ast.walk(node))
        )
        or (isinstance(node, ast.Call) and "wait_for" in ast.dump(node.func))
        for inner in ast.walk(node)
    }


def endless(source: str) -> list[int]:
    """Lines with a wait that has neither an argument nor a timeout."""
    if not re.search(rf"\.(?:{'|'.join(WAITS)})\(\s*\)", source):
        return []
    tree = ast.parse(source)
    known, awaited = contexts(tree), in_event_loop(tree)
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in WAITS
        and not node.args
        and not node.keywords
        and id(node) not in awaited
        and not (isinstance(node.func.value, ast.Name) and node.func.value.id in known)
    ]


def programs(source: str) -> list[str]:
    return [name for name, _ in calls_of(source, PROGRAMS)]


def sources():
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in ROOT.rglob("*.py")
        if path.name != HOME
    }


def test_no_thread_waits_without_a_deadline():
    assert {f"{file}:{line}" for file, text in sources().items() for line in endless(text)} == set()


def test_one_module_runs_programs():
    assert {
        f"{file}: {name}" for file, text in sources().items() for name in programs(text)
    } == set()


@pytest.mark.parametrize(
    "source",
    [
        "thread.join()",
        "queue.get()",
        "lock.acquire()",
        "p.communicate()",
        "async def f():\n e.wait()",
    ],
)
def test_the_lint_finds_an_endless_wait(source):
    assert len(endless(source)) == 1


@pytest.mark.parametrize(
    "source",
    ["thread.join(5)", "queue.get(timeout=1)", "async def f():\n await e.wait()",
     "X: ContextVar[int] = ContextVar('x')\nX.get()", "', '.join(a)"],
)  # fmt: skip
def test_the_lint_lets_bounded_waits_through(source):
    assert endless(source) == []


def test_the_lint_finds_a_program_however_it_is_imported():
    assert programs("from subprocess import run as r\nr(['x'])") == ["subprocess.run"]
    assert programs("import os\nos.system('x')") == ["os.system"]


ESCAPES = ("html.escape", "csv.writer", "csv.DictWriter", "xml.sax.saxutils.escape")
EXCHANGE = {"commands/labels.py"}
"""Files that judgestats reads again keep every cell as it is."""
MARKUP = re.compile(r"</?[a-z]+[ >/]|\]\(|<!--")
OWN_NAMES = {"compare.py", "renderer.py", "display.py", "cells.py"}
"""Pictures and tables under names that judgestats made, and headings that are Markdown already."""
TEXTS = {"name", "label", "judge", "item", "item_id", "condition", "column", "path", "file", "text"}
"""What holds words of others, as a variable or an attribute."""

COMMAND = re.compile(r"judgestats [a-z ]+ $")
FILES = {"file", "folder", "out", "path", "source", "where"}


def own_escapes(source: str) -> list[str]:
    """Escapes that are not those of the sinks, and tables written around them."""
    found = [name for name, _ in calls_of(source, ESCAPES) if name in ESCAPES]
    return found + [
        "to_csv"
        for node in (ast.walk(ast.parse(source)) if ".to_csv" in source else ())
        if isinstance(node, ast.Attribute)
        and node.attr == "to_csv"
        # a method of the package's own, which writes through the sink
        and not (isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "Table")
    ]


def bare_texts(source: str) -> list[int]:
    """F-strings with markup in which a text of others stands as it is."""
    if not MARKUP.search(source):
        return []
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.JoinedStr)
        and any(isinstance(v, ast.Constant) and MARKUP.search(v.value) for v in node.values)
        for v in node.values
        if isinstance(v, ast.FormattedValue)
        and isinstance(v.value, ast.Name | ast.Attribute)
        and (v.value.id if isinstance(v.value, ast.Name) else v.value.attr) in TEXTS
    ]


def bare_files(source: str) -> list[int]:
    """F-strings that name a file in a command as it is, where `command_word` makes it a word."""
    if "judgestats " not in source:
        return []
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.JoinedStr)
        for before, v in pairwise(node.values)
        if isinstance(before, ast.Constant) and COMMAND.search(before.value)
        if isinstance(v, ast.FormattedValue)
        and isinstance(v.value, ast.Name | ast.Attribute)
        and (v.value.id if isinstance(v.value, ast.Name) else v.value.attr) in FILES
    ]


def test_files_stand_in_printed_commands_as_words():
    found = {f"{file}:{line}" for file, text in sources().items() for line in bare_files(text)}
    assert found == set()


def test_texts_of_others_pass_through_the_sinks():
    found = {
        f"{file}: {name}"
        for file, text in sources().items()
        if file not in {"sinks.py", *EXCHANGE}
        for name in own_escapes(text)
    }
    assert found == set()


def test_no_text_of_others_stands_bare_in_markup():
    folders = ("reporting/", "results/", "tracking/", "analysis/", "stats/", "runner/", "commands/")
    found = {
        f"{file}:{line}"
        for file, text in sources().items()
        if file.startswith(folders)
        for line in bare_texts(text)
        if Path(file).name not in OWN_NAMES
    }
    assert found == set()


def test_the_lints_of_the_sinks_find_what_they_should():
    assert own_escapes("import html\nhtml.escape(x)") == ["html.escape"]
    assert own_escapes("frame.to_csv('x')") == ["to_csv"]
    assert bare_texts('f"<b>{judge}</b>"') == [1]
    assert bare_texts('f"[{run.name}](x)"') == [1]
    assert bare_texts('f"<b>{escape_html(judge)}</b>"') == bare_texts('f"{judge}"') == []
    assert bare_files('f"Next  judgestats labels collect {path}"') == [1]
    assert bare_files('f"judgestats show {command_word(path)} {path}"') == []


def test_no_log_or_output_of_a_program_is_tracked():
    listed = subprocess.run(
        ["git", "ls-files"],
        cwd=ROOT.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a checkout")
    assert ".ci/run" in listed.stdout.splitlines()
    assert [f for f in listed.stdout.splitlines() if f.endswith((".log", ".out"))] == []


KNOWN = '{"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "V-1"}]}]}'
CLEAN = '{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}'


@pytest.mark.parametrize(
    ("canary", "report", "code", "said"),
    [
        ("", "", 1, "not audited: the index did not answer"),
        (CLEAN, CLEAN, 1, "not audited: the index did not answer"),
        (KNOWN, "", 1, "not audited: pip-audit gave no report"),
        (KNOWN, KNOWN, 1, "a 1 V-1"),
        (KNOWN, CLEAN, 0, "1 of 1 packages audited, 0 with known vulnerabilities"),
    ],
)
def test_an_audit_that_nobody_answered_is_no_pass(tmp_path, canary, report, code, said):
    place = tmp_path / "build" / "audit"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT.parent / ".ci" / "audit", tmp_path / ".ci")
    (tmp_path / "requirements.lock").touch()
    (place / "canary").write_text(canary)
    (place / "lock").write_text(report)
    index = place / "bin" / "pip-audit"
    index.write_text(
        '#!/bin/sh\nfor out; do :; done\necho silent >&2\ncase "$2" in\n'
        '*canary.txt) cat build/audit/canary >"$out";;\n*) cat build/audit/lock >"$out";;\nesac\n'
    )
    index.chmod(0o755)
    done = subprocess.run(
        ["bash", str(tmp_path / ".ci" / "audit")],
        capture_output=True, text=True, timeout=60, env={"PATH": os.environ["PATH"]},
        check=False,
    )  # fmt: skip
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr
