"""docs/contributing.md says how many places a change touches: here each is made in a copy."""

import ast
import json
import re
import shutil
import subprocess
import sys
import textwrap
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
from judgestats.simulated.app import Faults
from judgestats.simulated.app import run_server

def asked(journal, **given):
    base = {"judges": "sim-typical,sim-null", "temperatures": "1", "limit": "2", "repeats": "2"}
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
with run_server(SimulatedServer(Faults(refuse_field="repetition_penalty"))) as url:
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


ANALYSES = """
import contextlib, io, json, pathlib, runpy, sys
from judgestats.cli import main
from judgestats.results import read_results
from judgestats.tracking.runs import metrics_of

def called(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        return main(list(words)), out.getvalue()

rows = [f"i{i},{r},{3 + i % 5 + (i + r) % 2}" for i in range(12) for r in range(3)]
pathlib.Path("my.csv").write_text("\\n".join(["item_id,replicate,score", *rows]))
options = "--judge J --json --track none --report none --resamples 99".split()
code, text = called("analyze", "my.csv", *options)
assert code == 0, text
pathlib.Path("run").mkdir(exist_ok=True)
pathlib.Path("run/results.json").write_text(json.dumps(json.loads(text)["results"]))
found = read_results(pathlib.Path("run/results.json"))
columns = next(r.columns for r in found.results if r.id == "conditions")
page = runpy.run_path(sys.argv[1])["page"]()
print(json.dumps({
    "records": {r.id: r.title for r in found.results},
    "columns": [c.key for c in columns],
    "metrics": metrics_of(found)["J"],
    "glossary": {line.split("`")[1]: line for line in page.splitlines() if line.count("`") == 4},
    "checks": {bound: called("check", "run", *bound.split())[0] for bound in sys.argv[2:]},
}))
"""
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
    place = copy / "judgestats" / "data" / "columns.py"
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


def analysed(copy, *checks):
    """What a copy of the package finds in a small file, logs, writes into the glossary, checks."""
    glossary = str(ROOT / "docs" / "build_glossary.py")
    done = subprocess.run(
        [sys.executable, "-c", ANALYSES, glossary, *checks], cwd=copy, text=True, check=False,
        env={"PYTHONPATH": str(copy), "PATH": ""}, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def documented():
    """The function, its place, and the declaration that docs/contributing.md shows."""
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(\"\"\".*?# (judgestats/\S+).*?)```", page, re.DOTALL)
    entry = re.search(r"```text\n(Quantity\(.*?)```", page, re.DOTALL)
    return code[1], code[2], textwrap.indent(entry[1], "    ")


def test_a_coefficient_is_its_function_and_its_declaration(copy):
    code, place, entry = documented()
    before = analysed(copy)
    declarations = copy / "judgestats" / "results" / "quantities" / "reliability.py"
    text = declarations.read_text(encoding="utf-8")
    start = "ENTRIES: tuple[Quantity, ...] = (\n"
    declarations.write_text(text.replace(start, start + entry), encoding="utf-8")
    missing = public_list(copy, "--check")
    assert "mean_range: no function in judgestats/stats" in missing
    (copy / place).write_text(code, encoding="utf-8")
    after = analysed(copy, "--max mean_range=2", "--max mean_range=.5")
    assert after["metrics"]["reliability/mean_range"] == 1.0
    assert after["records"]["reliability.mean_range.J"] == "mean range (J)"
    assert set(after["records"]) - set(before["records"]) == {"reliability.mean_range.J"}
    assert "mean_range" in after["columns"]
    assert after["checks"] == {"--max mean_range=2": 0, "--max mean_range=.5": 1}
    assert "how far the repeated scores of an item lie apart" in after["glossary"]["mean_range"]
    public_list(copy)  # exports the function and lists it on its page
    script = "from judgestats import stats; assert stats.mean_range([[7, 9]]).estimate == 2"
    assert ran(copy, script) == (0, "")
    assert "mean_range: " not in public_list(copy, "--check")


def test_rewording_a_heading_changes_no_key(copy):
    before = analysed(copy)
    declared = copy / "judgestats" / "results" / "quantities"
    reworded = {"ICC(1,1)": "Reliability", "SEM (SD of repeated scores)": "Repeatability",
                "mean score": "Mean", "variance": "Scatter"}  # fmt: skip
    for path in declared.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for old, new in reworded.items():
            text = re.sub(rf'(\("\w+", )"{re.escape(old)}"', rf'\1"{new}"', text)
        path.write_text(text, encoding="utf-8")
    after = analysed(copy)
    for part in ("records", "columns", "metrics", "glossary"):
        assert sorted(before[part]) == sorted(after[part])
    assert "| Repeatability ↓ | " in after["glossary"]["sem"]


def test_every_registered_statistic_is_exported_listed_and_held():
    assert public_list(ROOT, "--check") == ""


def test_a_reader_is_its_file_and_its_fixture(copy):
    fixture = copy / "tests" / "data" / "fixtures" / "grader" / "log.jsonl"
    module = copy / "judgestats" / "data" / "readers" / "grader.py"
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    [reader] = re.findall(r"```python\n(from judgestats.data.readers.logs .*?)```", page, re.S)
    module.write_text(f'"""Logs of a tool called grader."""\n\n{reader}', encoding="utf-8")
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
