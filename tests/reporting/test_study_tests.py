"""The default report of five experiments shows the study's tests next to the item-blocked ones."""

from pathlib import Path

import pytest

from judgestats.cli import main

TESTS = {
    "temperature": ("Spearman (variance, T)", "Page’s trend test", "ρ = "),
    "judges": ("Kruskal-Wallis", "Friedman", "ε² = ", "Mann-Whitney", "Wilcoxon, Holm", "A = "),
    "guidelines": ("Kruskal-Wallis", "Friedman", "ε² = ", "Equivalence of variance ratio"),
    "reasoning": ("Levene, before against none", "Paired log-variance ratio", "VR = ", "A = "),
    "alignment": ("Friedman", "Friedman, questions kept together", "W = ", "CD = "),
}


@pytest.mark.parametrize("experiment", TESTS)
def test_the_study_s_tests_stand_beside_the_blocked_ones(experiment: str, workplace: Path) -> None:
    few = ["--limit", "8", "--repeats", "4", "--resamples", "99", "--crosscheck", "no"]
    assert main(["run", experiment, *few, "--report", "md"]) == 0
    [report] = workplace.rglob("artifacts/report.md")
    text = report.read_text("utf-8").replace("'", "’")
    start = text.index("Item-blocked test")
    table = " ".join(text[max(0, start - 2_000) : start + 12_000].split())
    assert "Tests as the study ran them" in text
    for words in TESTS[experiment]:
        assert words in table
