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


@pytest.mark.parametrize(("temperature", "least", "most"), [(1.0, 0.15, 0.4), (0.25, 0.6, 0.8)])
def test_reliability_of_letters_rises_as_the_temperature_falls(
    examples: ModuleType, page: str, temperature: float, least: float, most: float
) -> None:
    letters = examples.schroeder_table(DATA, "Nexusflow/Starling-LM-7B-beta", temperature, "BBH")
    assert letters.shape == (27, 100)
    own = np.where(np.isin(letters, examples.UNREAD), "none", letters)
    one = stats.vote_share_reliability(own, n_permutations=99)
    assert least < one.estimate < most
    assert one.null.q95 < 0.01
    assert f"| {examples.cell(one)} |" in page
    assert stats.vote_share_reliability(own, k=100).estimate > 0.95


def test_position_and_noise_on_mt_bench(examples: ModuleType, page: str) -> None:
    judges = examples.position_bias(DATA, "MTBench")
    assert len(judges) == 9
    first, second, question = judges["gpt-4-0613"]
    assert first.shape == (96, 3)
    split = stats.position_and_noise(first, second, cluster=question, n_permutations=0)
    between = split["order_disagreement"].estimate
    assert between == pytest.approx(1 - stats.swap_consistency(first, second).estimate)
    for part in split.terms[:3]:
        assert examples.cell(part) in page


def test_a_judge_of_llmbar_leans_to_the_first_place(examples: ModuleType, page: str) -> None:
    frame = examples.llmbar(DATA)
    part = frame[(frame.llm == "Falcon") & (frame.strategy == "Vanilla")]
    first, second = part.winner_orig.to_numpy(), part.winner_swap.to_numpy()
    swap = stats.swap_consistency(first, second)
    assert swap.interval.method.startswith("Clopper")
    assert examples.cell(swap) in page
    lean = stats.first_position_preference(first, second)
    assert lean.effect.interval.low > 0.9
    assert lean.p_value < 1e-10


def test_arena_pairs_with_a_failed_judgment(examples: ModuleType, page: str) -> None:
    section = examples.arena_section(DATA)
    assert section in page
    assert stats.accuracy(["a", None], ["a", "b"]).sample.n_excluded == 1
