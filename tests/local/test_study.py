"""The proof on tiny models, where the extras are installed (run with -m study)."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "local-models" / "prove.py"


def proof() -> Any:
    for name in ("torch", "transformers", "trl", "datasets"):
        pytest.importorskip(name, reason="needs judgestats[train,coverage]")
    spec = importlib.util.spec_from_file_location("prove", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.study
@pytest.mark.filterwarnings("ignore")
def test_a_tiny_judge_learns_the_form_of_a_verdict(tmp_path: Path) -> None:
    found = proof().prove_training(tmp_path, questions=5, epochs=5)
    assert found["loss"]["last_tenth"] < 0.2 * found["loss"]["first_tenth"]
    assert found["loss"]["validation"][-1] < found["loss"]["validation"][0]
    assert found["judge"]["before"]["status"].get("ok", 0) == 0
    assert found["judge"]["after"]["status"]["ok"] >= 0.8 * found["judge"]["after"]["asked"]


@pytest.mark.study
@pytest.mark.filterwarnings("ignore")
def test_random_weights_cover_own_and_unrelated_text_alike(tmp_path: Path) -> None:
    found = proof().prove_coverage(tmp_path, questions=12)
    low, high = found["own"][1:]
    assert 0 < low <= found["unrelated"][0] <= high < 1


def test_the_committed_results_are_those_that_the_page_tells() -> None:
    found = json.loads(SCRIPT.with_name("results.json").read_text())
    page = (SCRIPT.parents[1] / "training-data.md").read_text()
    loss, judge = found["training"]["loss"], found["training"]["judge"]
    for number in (loss["validation"][0], loss["validation"][-1], *found["coverage"]["own"]):
        assert f"{number:.2f}" in page
    for when in ("before", "after"):
        ok = judge[when]["status"].get("ok", 0)
        assert f"{ok} of {judge[when]['asked']}" in page
