"""docs/contributing.md says how many places a change touches: here each is made in a copy."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FIELD = """    RequestField(name="repetition_penalty", low=0, high=2, help="0-2"),
"""
USES_FIELD = """
import json
from judgestats.runner.design import load_design
from judgestats.runner.common_parameters import settings_of
from judgestats.runner.prepare import prepare
from judgestats.collection.single_answers import collect_judgments
from judgestats.simulated.app import SimulatedServer
from judgestats.simulated.faults import Faults
from judgestats.simulated.app import serving

def asked(journal, **given):
    base = {"judges": "sim-typical,sim-null", "temperatures": "1", "limit": "2", "replicates": "2"}
    prepared = prepare(load_design("judges"), {**base, **given})
    settings = settings_of(prepared.parameters)
    found = collect_judgments(prepared.tasks, journal=journal, settings=settings)
    return prepared, found

fixed, found = asked("j.sqlite", repetition_penalty="1.1")
assert set(found.read()["sent"]) == {'{"repetition_penalty":1.1,"temperature":1.0}'}, found.read()
assert asked("j.sqlite", repetition_penalty="1.1")[1].account.cached == len(fixed.tasks)
assert asked("j.sqlite", repetition_penalty="1.2")[1].account.cached == 0
varied, found = asked("j.sqlite", vary="repetition_penalty:1.2,1")
labels = [c.label for c in varied.conditions]
assert labels[:2] == [f"sim-typical, T=1, repetition_penalty={v}" for v in ("1", "1.2")], labels
assert set(found.read()["factor_repetition_penalty"]) == {"1", "1.2"}
assert "vary.repetition_penalty" in {h.id for h in varied.plan.hypotheses}
with serving(SimulatedServer(Faults(refuse_field="repetition_penalty"))) as url:
    judges = f"sim-typical@{url},sim-null@{url}"
    _, found = asked("k.sqlite", judges=judges, repetition_penalty="1.1")
    assert set(found.read()["sent"]) == {'{"temperature":1.0}'}
    assert any("asked without repetition_penalty" in n for n in found.notes), found.notes
"""

DECLARED = '''"""Does a judge use its scale?"""

from judgestats.runner.design import Design
from judgestats.protocols.pointwise import Pointwise
from judgestats.protocols.template import PromptTemplate

DESIGN = Design(
    name="ranges",
    title="Ranges",
    question="How far do scores of one answer lie apart?",
    protocol=lambda p, c: Pointwise(template=PromptTemplate.load("pointwise"), scale=p["scale"]),
    analysis="ranges",
)
'''
ANALYSED = '''"""How far scores of one answer lie apart."""

from judgestats.analysis.families import AnalysisPlan


def plan(parameters, conditions):
    return AnalysisPlan(
        experiment="ranges", question="?", blocks="b", missing="m", hypotheses=(), margins={},
        n_resamples=int(parameters["resamples"]), seed=int(parameters["seed"]),
    )
'''
USES_EXPERIMENT = """
from judgestats.runner.design import experiment_names, load_design
from judgestats.runner.prepare import prepare
assert "ranges" in experiment_names()
prepared = prepare(load_design("ranges"), {"judges": "sim-typical", "limit": "2"})
assert len(prepared.conditions) == 5 and prepared.plan.experiment == "ranges"
"""


COEFFICIENT = '''"""How evenly an item's verdicts are spread."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.stats.agreement.raw_agreement import mean_over_items
from judgestats.stats.inference.keywords import ON_DEMAND, SumInference, with_keywords
from judgestats.stats.inference.result import Estimate
from judgestats.stats.inference.sum_statistics import estimate_from_sums
from judgestats.stats.designs.count_table import count_table


@with_keywords(permutations=ON_DEMAND)
def evenness(verdicts: ArrayLike, **inference: Unpack[SumInference]) -> Estimate:
    """Mean over items of the Simpson index."""
    table = count_table(verdicts, where="evenness")
    return estimate_from_sums(
        mean_over_items(lambda n: 1 - ((n / n.sum(-1, keepdims=True)) ** 2).sum(-1), least=2),
        table.counts, name="evenness", label="Evenness", estimator="Simpson",
        sample=table.sample(least=2), reason="no item has two verdicts", where="evenness",
        **inference,
    )
'''
ENTRY = """    _share("evenness", "evenness", function="evenness",
        meaning="how evenly verdicts are spread"),
"""
USES_COEFFICIENT = """
import inspect
from judgestats import stats
from judgestats.results import estimand_of
found = stats.evenness([["a", "b"], ["a", "a"], ["b", "b"], ["a", "a"]])
assert found.estimate == 0.125 and found.interval is not None, found
assert estimand_of(found.name).function == "evenness"
assert inspect.signature(stats.evenness).parameters["level"].default == 0.95
"""
READER = '''"""Logs of a tool called grader."""

from judgestats.data.readers.logs import Log, Reader, Rows


def _read(log: Log):
    rows = Rows(log.path)
    for _, record in log.records():
        rows.add(judge=record["by"], item_id=record["of"], status="ok", score=record["grade"])
    return rows.frame()


GRADER = Reader(
    name="grader",
    about="grader's lines: by, of, grade",
    fits=lambda log: log.has("by", "of", "grade"),
    read=_read,
)
'''
LINES = "".join(f'{{"by": "j", "of": "q{i}", "grade": {i}}}\n' for i in range(1, 4))
SECTION = """

def latency(run: Run) -> Markdown:
    return Markdown(text="How long judges took.")
"""
USES_READER = """
from judgestats.data.readers import read_judgments
found = read_judgments("tests/data/fixtures/grader/log.jsonl")
assert found["score"].tolist() == [1, 2, 3] and set(found["judge"]) == {"j"}, found
"""


@pytest.fixture
def copy(tmp_path):
    for folder in ("judgestats", "experiments", "docs/api"):  # with what Python compiled
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def ran(copy, script):
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=copy,
        env={"PYTHONPATH": str(copy), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_a_field_of_the_request_touches_one_place(copy):
    place = copy / "judgestats" / "data" / "request_fields.py"
    text = place.read_text(encoding="utf-8")
    code, said = ran(copy, USES_FIELD)
    assert code != 0
    assert "repetition_penalty" in said  # without the entry it is named as unknown
    place.write_text(text.replace("_LISTED = (\n", f"_LISTED = (\n{FIELD}"), encoding="utf-8")
    assert ran(copy, USES_FIELD) == (0, "")


def test_an_experiment_is_two_files(copy):
    (copy / "experiments" / "ranges.py").write_text(DECLARED, encoding="utf-8")
    code, said = ran(copy, USES_EXPERIMENT)
    assert code != 0
    assert "judgestats.analysis.ranges" in said  # the missing place is named
    (copy / "judgestats" / "analysis" / "ranges.py").write_text(ANALYSED, encoding="utf-8")
    assert ran(copy, USES_EXPERIMENT) == (0, "")


def public_list(copy, *flags):
    """What docs/build_public_list.py says of a copy."""
    script = ROOT / "docs" / "build_public_list.py"
    done = subprocess.run(
        [sys.executable, str(script), "--root", str(copy), *flags],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr


def test_a_coefficient_is_its_function_its_entry_and_its_rows(copy):
    package = copy / "judgestats"
    assert "has no attribute 'evenness'" in ran(copy, USES_COEFFICIENT)[1]
    registry = package / "results" / "quantities" / "agreement.py"
    text = registry.read_text(encoding="utf-8")
    start = "ENTRIES: tuple[Estimand, ...] = (\n"
    registry.write_text(text.replace(start, start + ENTRY), encoding="utf-8")
    missing = public_list(copy, "--check")
    assert "evenness: no function in judgestats/stats" in missing
    (package / "stats" / "agreement" / "evenness.py").write_text(COEFFICIENT, encoding="utf-8")
    missing = public_list(copy, "--check").splitlines()
    own = [line.partition(": ")[2] for line in missing if line.startswith("evenness: ")]
    assert own == [
        "not in judgestats/stats/__init__.pyi: run docs/build_public_list.py",
        "not on a page of docs/api: run docs/build_public_list.py",
        "no reference rows in tests/validation, nor a test in tests/stats",
    ]
    rows = copy / "tests" / "validation" / "verdicts.py"
    rows.parent.mkdir(parents=True)
    rows.write_text("# Case(..., ours=lambda: evenness(...))\n", encoding="utf-8")
    assert "evenness: " not in public_list(copy)  # writes the export and the page
    assert ran(copy, USES_COEFFICIENT) == (0, "")


def test_every_registered_statistic_is_exported_listed_and_held():
    assert public_list(ROOT, "--check") == ""


def test_a_reader_is_its_file_and_its_fixture(copy):
    fixture = copy / "tests" / "data" / "fixtures" / "grader" / "log.jsonl"
    module = copy / "judgestats" / "data" / "readers" / "grader.py"
    module.write_text(READER, encoding="utf-8")
    code, said = ran(copy, USES_READER)
    assert code != 0
    assert "fixtures/grader/log.jsonl" in said  # the missing place is named
    fixture.parent.mkdir(parents=True)
    fixture.write_text(LINES, encoding="utf-8")
    assert ran(copy, USES_READER) == (0, "")
    module.unlink()
    assert ran(copy, USES_READER)[0] != 0


def unfinished_sections(root):
    """Sections of reports that no document shows, and calls of documents that lead nowhere."""
    folder = root / "judgestats" / "reporting"
    modules = {p.stem: p.read_text(encoding="utf-8") for p in (folder / "sections").glob("*.py")}
    code = "".join(p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.py")))
    documents = sorted((root / "reports").glob("*.qmd"))
    calls = set(
        re.findall(r"\b(\w+)\.(\w+)\(", "".join(p.read_text(encoding="utf-8") for p in documents))
    )
    problems = [
        f"reports: {module}.{name} is called, judgestats/reporting/sections/{module}.py has none"
        for module, name in sorted(calls)
        if module in modules and not re.search(rf"\b{name}\b", modules[module])
    ]
    for module, text in sorted(modules.items()):
        for node in ast.parse(text).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            first = node.args.args[0].annotation if node.args.args else None
            shown = node.name in {n for _, n in calls} or code.count(f"{node.name}(") > 1
            if first is not None and ast.unparse(first) == "Run" and not shown:
                problems.append(f"{module}.{node.name}: no line in a document of reports/")
    return problems


def test_a_section_is_its_function_and_its_line(copy):
    assert unfinished_sections(ROOT) == []
    shutil.copytree(ROOT / "reports", copy / "reports")
    module = copy / "judgestats" / "reporting" / "sections" / "checks.py"
    document = copy / "reports" / "experiment.qmd"
    before, page = module.read_text(encoding="utf-8"), document.read_text(encoding="utf-8")
    module.write_text(before + SECTION, encoding="utf-8")
    missing = ["checks.latency: no line in a document of reports/"]
    assert unfinished_sections(copy) == missing
    document.write_text(f"{page}\n`{{python}} checks.latency(r)`\n", encoding="utf-8")
    assert unfinished_sections(copy) == []
    module.write_text(before, encoding="utf-8")
    [missing] = unfinished_sections(copy)
    assert "checks.latency is called, judgestats/reporting/sections/checks.py has none" in missing
