"""Mutation gate: small faults put into the modules that guard borders; their tests must see them.

    python .ci/mutants.py [--module NAME] [--each 60] [--minutes 60] [--seed TEXT] [--record FILE]

Each mutant changes one operator, constant or condition of a module in a copy of the package and
runs the module's own tests. Seen mutants are remembered in build/mutants.json, so that a run
that ended at its budget goes on. Floors: 90% killed per module, 95% overall. A survivor that
changes nothing that can be seen is listed with its reason in tests/mutants/equivalent.toml (at
most 3%).
"""

from __future__ import annotations

import argparse
import ast
import copy
import datetime
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STATE = ROOT / "build" / "mutants.json"
FLOOR, FLOOR_ALL, MOST_EQUIVALENT = 0.90, 0.95, 0.03
MODULES = {
    "deadlines.py": ["tests/test_deadlines.py"],
    "sinks.py": ["tests/test_sinks.py", "tests/reporting/test_escape.py"],
    "files/shared_state.py": [
        "tests/files/test_shared_state.py",
        "tests/cli/test_no_tracebacks.py",
    ],
    "files/monitor_state.py": [
        "tests/files/test_shared_state.py",
        "tests/cli/test_no_tracebacks.py",
    ],
    "files/label_state.py": ["tests/commands/test_labels.py"],
    "files/text.py": ["tests/files", "tests/collection/test_outcomes.py"],
    "files/guarded.py": ["tests/files", "tests/cli/test_no_tracebacks.py"],
    "commands/monitor.py": ["tests/commands/test_labels.py", "tests/cli/test_no_tracebacks.py"],
    "collection/ledger.py": ["tests/collection/test_money.py", "tests/collection/test_usage.py"],
    "collection/prices.py": ["tests/collection/test_usage.py", "tests/collection/test_money.py"],
    "collection/retry.py": [
        "tests/collection/test_policies.py",
        "tests/collection/test_outcomes.py",
    ],
    "redaction.py": ["tests/collection/test_secrets.py"],
    "terminal.py": ["tests/test_terminal.py"],
    "results/verdict.py": ["tests/results/test_verdict.py"],
    "results/gate.py": ["tests/commands/test_check.py"],
    "stats/reliability/intraclass.py": ["tests/stats/reliability"],
    "stats/reliability/omega.py": ["tests/stats/reliability"],
    "stats/inference/multiplicity.py": ["tests/stats/inference"],
}
SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def sites(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Number of a node in the walk, and what can be done to it; docstrings and types stay."""
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


def mutated(source: str, at: int, kind: str) -> tuple[str, int]:
    """The module with one fault, and its line."""
    tree = copy.deepcopy(ast.parse(source))
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
    return ast.unparse(ast.fix_missing_locations(tree)), node.lineno


def passes(copy_of: Path, tests: list[str], seconds: float) -> bool:
    """Whether the tests pass on the copy; too slow counts as seen."""
    argv = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider",
            "-m", "not study and not soak and not live and not browser", *tests]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(copy_of), "JUDGESTATS_MUTANT": "1"}
    try:
        done = subprocess.run(
            argv, cwd=copy_of, env=environment, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> int:
    """Run the gate; 1 where a floor is missed, 2 where tests fail without a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", action="append", choices=MODULES)
    parser.add_argument("--each", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", default=str(datetime.date.today()))
    parser.add_argument("--record", type=Path)
    asked = parser.parse_args()
    until = time.monotonic() + 60 * asked.minutes
    seen = json.loads(STATE.read_text()) if STATE.exists() else {}
    listed = tomllib.loads((ROOT / "tests/mutants/equivalent.toml").read_text())
    rows: dict[str, Counter[str]] = {}
    survivors: list[str] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        place = Path(scratch) / "tree"
        shutil.copytree(
            ROOT, place, ignore=shutil.ignore_patterns(".git", ".venv", "build", "docs")
        )
        (place / "docs").symlink_to(ROOT / "docs")
        for module in asked.module or MODULES:
            path = place / "judgestats" / module
            source = path.read_text(encoding="utf-8")
            draw = random.Random(f"{asked.seed} {module}")
            found = list(sites(ast.parse(source)))
            chosen = draw.sample(found, min(asked.each, len(found)))
            count = rows.setdefault(module, Counter())
            began = time.monotonic()
            if not passes(place, MODULES[module], 900):
                print(f"{module}: its tests do not pass without a fault")
                return 2
            limit = 30 + 3 * (time.monotonic() - began)
            for at, kind in chosen:
                text, line = mutated(source, at, kind)
                key = hashlib.sha256(f"{module}\0{text}".encode()).hexdigest()[:16]
                if key not in seen:
                    if time.monotonic() > until:
                        count["not tried"] += 1
                        continue
                    path.write_text(text, encoding="utf-8")
                    seen[key] = "survived" if passes(place, MODULES[module], limit) else "killed"
                    path.write_text(source, encoding="utf-8")
                    STATE.parent.mkdir(exist_ok=True)
                    STATE.write_text(json.dumps(seen))
                shown = f"{module}:{line} {kind} {key}"
                equal = seen[key] == "survived" and key in listed
                count["equivalent" if equal else seen[key]] += 1
                if seen[key] == "survived" and not equal:
                    survivors.append(shown)
            print(f"{module:34} {dict(count)}", flush=True)
    lines = ["| module | mutants | killed | equivalent | survived |", "|---|---|---|---|---|"]
    total: Counter[str] = Counter()
    bad = False
    for module, count in rows.items():
        tried = count["killed"] + count["survived"]
        total += count
        bad |= tried > 0 and count["killed"] / tried < FLOOR
        shares = (
            tried + count["equivalent"],
            count["killed"],
            count["equivalent"],
            count["survived"],
        )
        lines.append(f"| {module} | " + " | ".join(map(str, shares)) + " |")
    tried = total["killed"] + total["survived"]
    bad |= tried > 0 and total["killed"] / tried < FLOOR_ALL
    bad |= total["equivalent"] > MOST_EQUIVALENT * max(tried, 1)
    print("\n".join([*lines, "", *survivors]))
    if asked.record:
        asked.record.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
