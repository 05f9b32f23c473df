"""Mutation gate: small faults put into the modules that guard borders; their tests must see them.

    python .ci/mutants.py [--module NAME] [--each 60] [--minutes 60] [--seed TEXT] [--record FILE]

With `--minutes 0` it shows what is known.

Each mutant changes one operator, constant or condition of a module in a copy of the project and
runs those of the module's own tests that call the changed function, the quickest first, in a fork
of a process that has collected them. The faults of tests/mutants/known.toml go first. Tried
mutants are remembered in build/mutants.json, so that a run that ended at its budget goes on; a
survivor is tried again when its tests change. Floors: 90% killed per module, 95% overall. A
survivor that changes nothing that can be seen is listed with its reason in
tests/mutants/equivalent.toml (at most 3%).
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import datetime
import gc
import hashlib
import importlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import tomllib
import types
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
STATE = ROOT / "build" / "mutants.json"
FLOOR, FLOOR_ALL, MOST_EQUIVALENT = 0.90, 0.95, 0.03
STATE_TESTS = [
    "tests/files/test_shared_state.py",
    *(
        f"tests/cli/test_no_tracebacks.py::{name}"
        for name in (
            "test_a_file_that_is_no_state_of_monitor_is_refused",
            "test_a_damaged_state_of_monitor_raises_no_alarm_and_none_is_missed",
            "test_a_state_of_monitor_with_flipped_bytes_is_refused",
            "test_monitor_prints_no_look_that_it_cannot_keep",
        )
    ),
]
MODULES = {
    "deadlines.py": ["tests/test_deadlines.py"],
    "sinks.py": ["tests/test_sinks.py", "tests/reporting/test_escape.py"],
    "files/shared_state.py": ["tests/commands/test_labels.py", *STATE_TESTS],
    "files/monitor_state.py": STATE_TESTS,
    "files/label_state.py": ["tests/commands/test_labels.py"],
    "files/text.py": [
        "tests/files/test_guarded.py",
        "tests/data/test_reader_fuzz.py",
        "tests/collection/test_outcomes.py",
    ],
    "files/guarded.py": ["tests/files/test_guarded.py"],
    "commands/monitor.py": ["tests/commands/test_labels.py", *STATE_TESTS],
    "collection/ledger.py": ["tests/collection/test_money.py", "tests/collection/test_usage.py"],
    "collection/prices.py": ["tests/collection/test_usage.py", "tests/collection/test_policies.py"],
    "collection/retry.py": [
        "tests/collection/test_policies.py",
        "tests/collection/test_outcomes.py",
    ],
    "redaction.py": ["tests/collection/test_secrets.py"],
    "terminal.py": ["tests/test_terminal.py"],
    "results/verdict.py": ["tests/results/test_verdict.py", "tests/results/test_decide.py"],
    "results/gate.py": ["tests/commands/test_check.py"],
    "stats/reliability/intraclass.py": [
        "tests/stats/reliability/test_intraclass.py",
        "tests/stats/reliability/test_mean_square_ratio.py",
        "tests/stats/reliability/test_two_way_sums.py",
    ],
    "stats/reliability/omega.py": [
        "tests/stats/reliability/test_omega.py",
        "tests/stats/reliability/test_one_factor_solvers.py",
        "tests/stats/reliability/test_two_way_sums.py",
    ],
    "stats/inference/multiplicity.py": [
        "tests/stats/inference/test_adjust.py",
        "tests/stats/inference/test_step_down.py",
        "tests/analysis/decisions/test_stopping.py",
    ],
}
# Not MLflow: it imports the installed judgestats.
LIBRARIES = (
    "alembic.command", "google.protobuf", "hypothesis", "matplotlib.figure", "numpy",
    "opentelemetry.sdk.trace", "pandas", "pandera", "pyarrow.csv", "pyarrow.dataset",
    "pyarrow.json", "pyarrow.parquet", "pydantic", "requests", "scipy.optimize", "scipy.stats",
    "sqlalchemy.orm",
)  # fmt: skip
SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
# Imported by every Python process of a tree: appends the functions of a module that are called.
TRACER = """
import os, sys, threading
HERE = os.path.dirname(os.path.abspath(__file__))
SEEN = set()
def called(frame, event, arg):
    code = frame.f_code
    if code.co_filename == TRACED and code.co_firstlineno not in SEEN:
        SEEN.add(code.co_firstlineno)
        try:
            with open(os.path.join(HERE, "called"), "a") as file:
                file.write(f"{code.co_firstlineno}\\n")
        except OSError:
            pass  # a test of a full disk: its function counts as called by the other tests
if os.path.exists(os.path.join(HERE, "traced")):
    with open(os.path.join(HERE, "traced")) as file:
        TRACED = file.read()
    threading.settrace(called)
    sys.settrace(called)
"""


@dataclass(frozen=True)
class Mutant:
    """A fault of one module: its text, its line, and its kind."""

    module: str
    text: str
    line: int
    kind: str
    part: int
    at: int = -1

    @property
    def key(self) -> str:
        """What the fault is remembered by: its function or class, without docstrings."""
        part = ast.parse(self.text).body[self.part]
        for node in ast.walk(part):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = node.body[0]
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    first.value.value = ""
        text = ast.unparse(part)
        return hashlib.sha256(f"{self.module}\0{text}".encode()).hexdigest()[:16]


def sites(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Number of a node in the walk, and what can be done to it.

    Docstrings, types, decorators, and the texts of errors stay.
    """
    spared = {
        id(inner)
        for node in ast.walk(tree)
        for part in (
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
            node if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None,
            node.exc if isinstance(node, ast.Raise) else None,
            node if isinstance(node, ast.JoinedStr) else None,
            node if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) else None,
            *getattr(node, "decorator_list", ()),
        )
        if part is not None
        for inner in ast.walk(part)
    }
    for k, node in enumerate(ast.walk(tree)):
        if id(node) in spared:
            continue
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            yield k, "compare"
        elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
            yield k, "operator"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield k, "not"
        elif isinstance(node, ast.Constant) and type(node.value) in {int, float, bool}:
            yield k, "constant"
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield k, "condition"


def changed(source: str, at: int, kind: str) -> tuple[ast.Module, int]:
    """A module's tree with one fault, and the line of the fault."""
    tree = ast.parse(source)
    node = list(ast.walk(tree))[at]
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()
    elif kind == "not":
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Constant):
        node.value = (not node.value) if isinstance(node.value, bool) else node.value + 1
    else:
        node.test = ast.UnaryOp(ast.Not(), node.test)
    return ast.fix_missing_locations(tree), node.lineno


def mutated(module: str, source: str, at: int, kind: str) -> Mutant:
    """The mutant of a site."""
    tree, line = changed(source, at, kind)
    return Mutant(module, ast.unparse(tree), line, kind, part_around(source, line), at)


def part_around(source: str, line: int) -> int:
    """Number of the module's statement that holds a line."""
    body = ast.parse(source).body
    return next(k for k, one in enumerate(body) if one.lineno <= line <= (one.end_lineno or 0))


def known_faults() -> list[Mutant]:
    """The faults of known.toml, each a replacement in a module's text."""
    made = []
    for fault in tomllib.loads((ROOT / "tests/mutants/known.toml").read_text())["fault"]:
        module, old = fault["module"], fault["old"]
        source = (ROOT / "judgestats" / module).read_text(encoding="utf-8")
        if source.count(old) != 1:
            sys.exit(f"known.toml: {module} holds {old!r} {source.count(old)} times, not once")
        MODULES.setdefault(module, fault.get("tests", []))
        line = source[: source.index(old)].count("\n") + 1
        text = source.replace(old, fault["new"])
        made.append(Mutant(module, text, line, "known", part_around(source, line)))
    return made


def function_around(source: str, line: int) -> int:
    """First line of the innermost function whose body holds a line; 0 for none."""
    found = 0
    for node in ast.walk(ast.parse(source)):
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if function and node.body[0].lineno <= line <= (node.end_lineno or 0):
            found = max(found, min(part.lineno for part in (node, *node.decorator_list)))
    return found


class Recorder:
    """pytest plugin: the functions that each test calls, here and in processes it starts."""

    def __init__(self, tree: Path) -> None:
        self.calls = tree / "called"
        self.tests: dict[str, tuple[float, list[int]]] = {}
        self.shared: dict[str, set[int]] = {}
        self.tracer: dict[str, Any] = {"__file__": str(tree / "sitecustomize.py")}
        exec(TRACER, self.tracer)  # noqa: S102
        sys.settrace(None)
        threading.settrace(None)

    def by_test(self) -> dict[str, tuple[float, list[int]]]:
        """Seconds and called functions of each test, those of its shared fixtures included."""
        found = {}
        for name, (seconds, lines) in self.tests.items():
            shared = self.shared.get(name.split("::")[0], set()) | self.shared.get("", set())
            found[name] = seconds, sorted(shared.union(lines))
        return found

    def taken(self) -> set[int]:
        """What was called since the last time."""
        lines = self.calls.read_text().split() if self.calls.exists() else []
        self.calls.write_text("")
        self.tracer["SEEN"].clear()
        return set(map(int, lines))

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        """Functions that a shared fixture calls belong to each test of its file."""
        if fixturedef.scope == "function":
            return (yield)
        before = self.taken()
        try:
            return (yield)
        finally:
            self.shared.setdefault(request.node.nodeid.split("::")[0], set()).update(self.taken())
            self.calls.write_text("".join(f"{line}\n" for line in before))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Trace one test."""
        self.taken()
        began = time.monotonic()
        threading.settrace(self.tracer["called"])
        sys.settrace(self.tracer["called"])
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.tests[item.nodeid] = time.monotonic() - began, sorted(self.taken())


class Serving:
    """pytest plugin: tries mutants in forks of the process that has collected the tests."""

    def __init__(self, path: Path, orders: tuple[int, int], answers: tuple[int, int]) -> None:
        self.path, self.source = path, path.read_text(encoding="utf-8")
        self.orders, self.answers = orders, answers

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Put one mutant after the other into a fork, which goes on with its tests."""
        os.close(self.orders[1])
        os.close(self.answers[0])
        orders, answers = os.fdopen(self.orders[0]), os.fdopen(self.answers[1], "w")
        items = {one.nodeid: one for one in session.items}
        while line := orders.readline():
            order = json.loads(line)
            if child := os.fork():
                answers.write(outcome(child, order["seconds"]) + "\n")
                answers.flush()
                continue
            os.setsid()
            self.exchange_code(order["at"], order["kind"], order["text"])
            session.items = [items[name] for name in order["names"]]
            return None
        return True

    def exchange_code(self, at: int, kind: str, text: str) -> None:
        """Give the module's functions the code of the mutant."""
        tree = ast.parse(text) if at < 0 else changed(self.source, at, kind)[0]
        left, codes = [compile(tree, str(self.path), "exec")], {}
        while left:
            inner = [one for one in left.pop().co_consts if isinstance(one, types.CodeType)]
            codes |= {(one.co_qualname, one.co_firstlineno): one for one in inner}
            left += inner
        gc.unfreeze()
        for one in gc.get_objects():
            if isinstance(one, types.FunctionType) and one.__code__.co_filename == str(self.path):
                key = one.__code__.co_qualname, one.__code__.co_firstlineno
                one.__code__ = codes.get(key, one.__code__)


class Chosen:
    """pytest plugin: some tests, in this order."""

    def __init__(self, names: list[str]) -> None:
        self.places = {name: k for k, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items) -> None:
        """Keep the chosen ones."""
        items[:] = [one for one in items if one.nodeid in self.places]
        items.sort(key=lambda one: self.places[one.nodeid])


def outcome(child: int, seconds: float) -> str:
    """Wait for a child that leads a session: passed, failed, or timeout."""
    until = time.monotonic() + seconds
    while not (found := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < until:
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if found[0]:
        return "failed" if os.waitstatus_to_exitcode(found[1]) else "passed"
    os.waitpid(child, 0)
    return "timeout"


class Worker:
    """A copy of the project in which one mutant after the other is tried."""

    def __init__(self, scratch: str) -> None:
        self.tree = Path(scratch) / str(os.getpid())
        ignored = shutil.ignore_patterns(".git", ".venv", "build", "docs")
        shutil.copytree(ROOT, self.tree, ignore=ignored)
        (self.tree / "docs").symlink_to(ROOT / "docs")
        (self.tree / "sitecustomize.py").write_text(TRACER)
        self.writes, self.serves, self.child = 0, "", 0

    def write(self, module: str, text: str) -> None:
        """Write a module with a time of its own: no compiled one is taken for it."""
        self.writes += 1
        path = self.tree / "judgestats" / module
        path.write_text(text, encoding="utf-8")
        os.utime(path, (self.writes, self.writes))

    def start(self, module: str, plugin: Recorder | Serving | Chosen) -> int:
        """Run a module's tests with a plugin in a child; its process id."""
        if child := os.fork():
            return child
        code = 3
        try:
            os.setsid()
            os.chdir(self.tree)
            sys.path.insert(0, str(self.tree))
            os.environ["PYTHONPATH"] = str(self.tree)
            with (self.tree / "output").open("wb") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            argv = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-W",
                    "ignore::pytest.PytestAssertRewriteWarning", "--basetemp",
                    str(self.tree / "scratch"), "-m",
                    "not study and not soak and not live and not browser"]  # fmt: skip
            code = int(
                pytest.main([*argv, *MODULES[module], f"judgestats/{module}"], plugins=[plugin])
            )
            if isinstance(plugin, Recorder):
                (self.tree / "record.json").write_text(json.dumps(plugin.by_test()))
        finally:
            os._exit(code)

    def record(self, module: str) -> tuple[str, dict[str, tuple[float, list[int]]] | str]:
        """What each test calls of a module, or the output of tests that fail."""
        traced = self.tree / "traced"
        traced.write_text(str(self.tree / "judgestats" / module))
        child = self.start(module, Recorder(self.tree))
        good = outcome(child, 1800) == "passed"
        traced.unlink()
        where = self.tree / ("record.json" if good else "output")
        return module, json.loads(where.read_text()) if good else where.read_text()

    def serve(self, module: str) -> None:
        """Have the tests of a module collected in a child that waits for orders."""
        if self.serves == module:
            return
        if self.child:
            self.orders.close()
            outcome(self.child, 30)
        orders, answers = os.pipe(), os.pipe()
        plugin = Serving(self.tree / "judgestats" / module, orders, answers)
        self.child, self.serves = self.start(module, plugin), module
        os.close(orders[0])
        os.close(answers[1])
        self.orders, self.answers = os.fdopen(orders[1], "w"), os.fdopen(answers[0])

    def outcome(self, one: Mutant, names: list[str], seconds: float, in_function: bool) -> str:
        """Outcome of the tests on a mutant; if they pass in a fork, that of a new process."""
        self.serve(one.module)
        path = self.tree / "judgestats" / one.module
        source = path.read_text(encoding="utf-8")
        self.write(one.module, one.text)
        try:
            if in_function:
                order = {"at": one.at, "kind": one.kind, "text": one.text if one.at < 0 else "",
                         "names": names, "seconds": seconds}  # fmt: skip
                self.orders.write(json.dumps(order) + "\n")
                self.orders.flush()
                if (found := self.answers.readline().strip()) != "passed":
                    return found
            return outcome(self.start(one.module, Chosen(names)), seconds)
        finally:
            self.write(one.module, source)


WORKER: list[Worker] = []


def prepare(scratch: str) -> None:
    """Make this process's copy of the project."""
    WORKER.append(Worker(scratch))


def record(module: str) -> tuple[str, dict[str, tuple[float, list[int]]] | str]:
    """What each test calls of a module."""
    return WORKER[0].record(module)


def trial(job: tuple[Mutant, list[str], float, bool, float]) -> tuple[Mutant, str]:
    """A mutant and the outcome of its tests; empty where the budget is spent."""
    one, names, seconds, in_function, until = job
    if time.monotonic() > until:
        return one, ""
    return one, WORKER[0].outcome(one, names, seconds, in_function) if names else "passed"


def digest(tests: list[str]) -> str:
    """Of the text of a module's tests."""
    found = hashlib.sha256()
    for place in (ROOT / test.partition("::")[0] for test in tests):
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            found.update(path.read_bytes())
    return found.hexdigest()[:8]


def main() -> int:
    """Run the gate; 1 where a floor is missed, 2 where tests fail without a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", action="append")
    parser.add_argument("--each", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", default=str(datetime.date.today()))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--record", type=Path)
    asked = parser.parse_args()
    until = time.monotonic() + 60 * asked.minutes
    seen = json.loads(STATE.read_text()) if STATE.exists() else {}
    listed = tomllib.loads((ROOT / "tests/mutants/equivalent.toml").read_text())
    gated = list(MODULES)
    mutants = [one for one in known_faults() if one.module in (asked.module or MODULES)]
    modules = asked.module or list(MODULES)
    sources = {m: (ROOT / "judgestats" / m).read_text(encoding="utf-8") for m in modules}
    for module in modules:
        found = list(sites(ast.parse(sources[module]))) if module in gated else []
        random.Random(f"{asked.seed} {module}").shuffle(found)
        mutants += [mutated(module, sources[module], *one) for one in found[: asked.each]]
    digests = {module: digest(MODULES[module]) for module in modules}

    def keep() -> None:
        STATE.parent.mkdir(exist_ok=True)
        STATE.write_text(json.dumps(seen))

    for name in LIBRARIES:
        importlib.import_module(name)
    assert "judgestats" not in sys.modules  # each child imports that of its tree

    def tried(one: Mutant) -> bool:
        return seen.get(one.key) in {"killed", f"survived {digests[one.module]}"}

    left = [one for one in mutants if not tried(one)] if asked.minutes else []
    calls = seen.setdefault("calls", {})
    sums = {m: hashlib.sha256((sources[m] + digests[m]).encode()).hexdigest() for m in modules}
    wanted = [m for m in dict.fromkeys(one.module for one in left) if sums[m] not in calls]

    def job(one: Mutant) -> tuple[Mutant, list[str], float, bool, float]:
        known, inside = calls[sums[one.module]], function_around(sources[one.module], one.line)
        names = [name for name, (_, lines) in known.items() if not inside or inside in lines]
        names.sort(key=lambda name: known[name][0])
        return one, names, 60 + 5 * sum(known[name][0] for name in names), inside > 0, until

    scratch = tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True)
    fork = multiprocessing.get_context("fork")
    with scratch as place, ProcessPoolExecutor(asked.jobs, fork, prepare, (place,)) as pool:
        for done in as_completed([pool.submit(record, module) for module in wanted]):
            module, found = done.result()
            if isinstance(found, str):
                print(f"{module}: its tests fail without a fault\n{found}")
                pool.shutdown(cancel_futures=True)
                return 2
            calls[sums[module]] = found
            keep()
            print(f"{module:34} {len(found)} tests", flush=True)
        for done in as_completed([pool.submit(trial, job(one)) for one in left]):
            one, found = done.result()
            if found:
                survived = found == "passed"
                seen[one.key] = f"survived {digests[one.module]}" if survived else "killed"
                keep()
                if found != "failed":
                    print(f"{found}: {one.module}:{one.line} {one.kind} {one.key}", flush=True)
    rows: dict[str, Counter[str]] = {module: Counter() for module in modules}
    survivors = []
    for one in mutants:
        found = seen[one.key].split()[0] if tried(one) else "not tried"
        equal = found == "survived" and one.key in listed
        rows[one.module]["equivalent" if equal else found] += 1
        if found == "survived" and not equal:
            survivors.append(f"{one.module}:{one.line} {one.kind} {one.key}")
    rows["all"] = sum(rows.values(), Counter())
    bad = any(" known " in one for one in survivors)
    table = [("module", "mutants", "killed", "equivalent", "survived")]
    for module, count in rows.items():
        floor = FLOOR_ALL if module == "all" else FLOOR
        killed, equal, survived = (count[what] for what in table[0][2:])
        bad |= killed < floor * (killed + survived)
        table.append((module, killed + equal + survived, killed, equal, survived))
    count = rows["all"]
    bad |= count["equivalent"] > MOST_EQUIVALENT * count.total()
    text = "".join(",".join(map(str, row)) + "\n" for row in table)
    print(text, f"not tried: {count['not tried']}", *survivors, sep="\n")
    if asked.record:
        asked.record.write_text(text, encoding="utf-8")
    return int(bad or count["not tried"] > 0)


if __name__ == "__main__":
    sys.exit(main())
