"""The script that counts the house: lines, functions that were called, CI's seconds by step."""

from __future__ import annotations

import graphlib
import importlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import grimp
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BENCHMARKS = REPOSITORY / "benchmarks"
SOURCE = '''"""What it is,

in three lines."""
# why
x = """no
docstring"""  # beside code

def f(a):
    "Doc."
    return [a for _ in x]
'''


@pytest.fixture(scope="module")
def house() -> Iterator[ModuleType]:
    """The script, imported from its folder; its plain names are taken back afterwards."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("house")
    finally:
        sys.path.remove(str(BENCHMARKS))
        for name in ("house", "checkout"):
            sys.modules.pop(name, None)


def test_the_list_of_rooms_is_the_package_in_the_order_of_imports() -> None:
    page = (REPOSITORY / "docs" / "contributing.md").read_text(encoding="utf-8")
    block = page.split("```")[1]
    names = [line.split("  ")[0].strip() for line in block.splitlines() if line[:1].strip()]
    listed = [*block.split()[:3], *(n.rstrip("/") for n in names[1:])]
    package = REPOSITORY / "judgestats"
    found = {p.stem for p in package.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert set(listed) == found - {"__init__", "__main__"}
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    rooms, of_stats = (c["layers"] for c in contracts["contracts"][:2])
    upwards = [n.split(".")[1] for layer in reversed(rooms) for n in layer.split(" | ")]
    assert sorted(upwards[:3]) == sorted(listed[:3])
    assert upwards[3:] == listed[3:]
    assert " ".join(reversed(of_stats)) in block
    folders = {p.name for p in (package / "stats").iterdir() if (p / "__init__.py").exists()}
    assert folders == set(of_stats)


def test_every_line_counts_once(house: ModuleType) -> None:
    assert house.line_kinds(SOURCE) == {"code": 4, "docstring": 4, "comment": 1}


def test_named_functions_count_in_every_process(house: ModuleType, tmp_path: Path) -> None:
    hooks, tree = tmp_path / "hooks", tmp_path / "tree"
    hooks.mkdir()
    tree.mkdir()
    (hooks / "sitecustomize.py").write_text(house.TRACER, encoding="utf-8")
    (tree / "m.py").write_text(
        "import subprocess, sys, threading\n"
        "class C:\n    def f(self): return [g for g in (lambda: 'x')()]\n"
        "def never(): ...\n"
        "def child(): ...\n"
        "def start():\n"
        "    thread = threading.Thread(target=C().f)\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "    subprocess.run([sys.executable, '-c', 'import m; m.child()'], check=True)\n",
        encoding="utf-8",
    )
    house.python(tree, "-c", "import m; m.start()", cwd=tmp_path, first=[hooks])
    assert [v[""] for v in house.called(hooks).values()] == [3, 1, 1]


def test_steps_are_read_from_what_ci_prints(house: ModuleType, tmp_path: Path) -> None:
    script = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    step = script[script.index("step() {") : script.index("viewers() {")]
    printed = subprocess.run(
        ["bash", "-euc", f"{step}\nstep echo make test\nstep true"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    log = tmp_path / "log.txt"
    log.write_text(printed, encoding="utf-8")
    assert list(house.steps(log)) == ["echo make test", "true", "total"]
    log.write_text("".join(f"> {line}\n" for line in printed.splitlines()), encoding="utf-8")
    assert len(house.steps(log)) == 3  # as a message quotes it
    log.write_text("make: nothing\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="is it a log of"):
        house.steps(log)


def test_no_module_imports_one_that_imports_it():
    graph = grimp.build_graph("judgestats", exclude_type_checking_imports=True)
    # The package offers what stands in api, imported when it is first used.
    graph.remove_import(importer="judgestats", imported="judgestats.api")
    uses = {m: graph.find_modules_directly_imported_by(m) for m in graph.modules}
    graphlib.TopologicalSorter(uses).prepare()  # raises with the circle
