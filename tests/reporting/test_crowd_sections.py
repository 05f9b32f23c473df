"""Strategies in a report: figures as measured, hostile texts harmless, nothing for other runs."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from judgestats.reporting.runs import Run
from judgestats.reporting.sections import crowd
from judgestats.reporting.show import section, show

NASTY = "</code></pre><script>alert(1)</script> {{< include x >}} [The End of Judgment 1]"


def run_of(**arrays):
    conditions = [
        {
            "condition": f"j, strategy={name}", "judge": "j", "factor_strategy": name, "n": 4,
            "accuracy": 0.75, "accuracy_low": 0.5, "accuracy_high": 0.9, "words": 20.0,
            "points": math.nan, "calls": 3.0, "tokens": 1234.0, "cost_usd": 0.04,
        }
        for name in ("vanilla", "cce-criticising@2")
    ]  # fmt: skip
    results = {"experiment": "crowd", "results": [], "conditions": conditions, "arrays": arrays}
    return Run(Path("x"), results)


def curve(judge, k, accuracy):
    return {
        "judge": judge, "temperature": 0.5, "k": k, "accuracy": accuracy, "accuracy_low": 0.6,
        "accuracy_high": 0.9, "words": 20.0, "final_tokens_out": 30.0, "tokens": 900.0, "used": k,
    }  # fmt: skip


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_tables_say_what_was_measured():
    table = crowd.strategies(run_of())
    text = table.to_markdown().replace("\\", "")
    assert "75.0 %" in text
    assert "1,234" in text.replace("\u2009", ",").replace("\u202f", ",")
    assert "0.01" in text  # dollars a verdict
    rows = [
        {"judge": "j", "k": 4, "selection": "random", "verdicts": v, "accuracy": a,
         "accuracy_low": math.nan, "accuracy_high": math.nan, "preferred": 4.0, "used": 4.0}
        for v, a in (("kept", 0.5), ("removed", 0.8))
    ]  # fmt: skip
    shown = crowd.selection(run_of(selection=rows)).to_markdown().replace("\\", "")
    assert "80.0 %" in shown
    assert "50.0 %" in shown


def test_the_curve_is_drawn_and_told_in_words():
    rows = [curve("one", k, 0.7 + k / 20) for k in (0, 1, 2)]
    rows += [curve("two", k, 0.7) for k in (0, 1, 2)]
    figure, table = crowd.scaling(run_of(scaling=rows))
    assert "one: 0.70 at 0, 0.75 at 1, 0.80 at 2" in figure.figure.alt
    assert "fig-scaling" in show(figure).text
    assert len(table.rows) == 6
    assert crowd.scaling(run_of(scaling=rows[:1])) == []


def test_a_case_shows_hostile_texts_as_characters():
    case = {
        "judge": "j", "pair": NASTY, "order": "ab", "label": "a", "why": "the first pair",
        "question": NASTY, "response_a": NASTY, "response_b": "fine",
        "verdicts": [{"strategy": "vanilla", "choice": NASTY, "right": False,
                      "judgments_before": 0, "explanation": NASTY}],
    }  # fmt: skip
    text = section("## Case", crowd.case(run_of(case=case))).text
    outside = re.sub(r"```\{=typst\}.*?```", "", text, flags=re.DOTALL)  # there it is a string
    assert "<script>" not in outside
    assert "{{<" not in text


def test_other_experiments_show_none_of_it():
    run = Run(Path("x"), {"results": [], "conditions": [{"condition": "a", "judge": "j"}]})
    assert crowd.strategies(run) is None
    assert crowd.scaling(run) == []
    assert crowd.selection(run) is None
    assert crowd.case(run) == []
