"""docs/contributing.md says how many places a change touches: here each is made in a copy."""

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
from judgestats.experiment.design import load_design
from judgestats.experiment.parameters import settings_of
from judgestats.experiment.prepare import prepare
from judgestats.judges.collect import collect_judgments
from judgestats.judges.simulated.app import SimulatedServer
from judgestats.judges.simulated.faults import Faults
from judgestats.judges.simulated.server import serving

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

from judgestats.experiment.design import Design
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

from judgestats.analysis.plan import AnalysisPlan


def plan(parameters, conditions):
    return AnalysisPlan(
        experiment="ranges", question="?", blocks="b", missing="m", hypotheses=(), margins={},
        n_resamples=int(parameters["resamples"]), seed=int(parameters["seed"]),
    )
'''
USES_EXPERIMENT = """
from judgestats.experiment.design import experiment_names, load_design
from judgestats.experiment.prepare import prepare
assert "ranges" in experiment_names()
prepared = prepare(load_design("ranges"), {"judges": "sim-typical", "limit": "2"})
assert len(prepared.conditions) == 5 and prepared.plan.experiment == "ranges"
"""


@pytest.fixture
def copy(tmp_path):
    ignore = shutil.ignore_patterns("__pycache__")
    for folder in ("judgestats", "experiments"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignore)
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
    place = copy / "judgestats" / "judgments" / "settings.py"
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
