"""The documented figures on public judgments (docs/examples/verdicts.md), recomputed."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from judgestats import stats

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="../shared/data is not here")


@pytest.fixture(scope="module")
def examples() -> ModuleType:
    """The committed script that writes the examples page."""
    path = ROOT / "docs" / "examples" / "verdicts.py"
    spec = importlib.util.spec_from_file_location("examples_verdicts", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "examples" / "verdicts.md").read_text(encoding="utf-8")


def test_human_kappas_of_pandalm_are_the_published_ones(examples: ModuleType, page: str) -> None:
    frame = examples.pandalm(DATA)
    people = frame[["annotator1", "annotator2", "annotator3"]].to_numpy()
    question = frame.question.to_numpy()
    found = [
        stats.cohen_kappa(people[:, i], people[:, j], interval="none").estimate
        for i, j in ((0, 1), (1, 2), (0, 2))
    ]
    # The PandaLM paper prints .85, .86 and .88.
    assert [round(k, 2) for k in found] == [0.85, 0.86, 0.88]
    ceiling = stats.human_ceiling(people, cluster=question)
    assert examples.cell(ceiling) in page
    judge = np.repeat(frame.pandalm7b.to_numpy(), 3)
    score = stats.alignment_score(judge, people.ravel(), cluster=np.repeat(question, 3))
    assert examples.cell(score) in page
    assert score.estimate < ceiling.interval.low
    assert examples.cell(stats.fleiss_kappa(people, cluster=question)) in page
