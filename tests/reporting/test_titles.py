"""Titles of figures are findings: a sentence with a verb, never the name of a quantity."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import judgestats as js
from judgestats.reporting import Run, Table, resolve, submission_paragraph
from judgestats.reporting.plots import RequirementPlot
from judgestats.reporting.sections import people
from judgestats.reporting.sections.summary import (
    requirement_figure,
    requirement_table,
    verdict_page,
)
from judgestats.results import number_text

CAPTION = re.compile(r"<figcaption[^>]*>(.*?)</figcaption>", re.S)
VERB = re.compile(
    r"\b(is|are|has|have|rises?|falls?|stays?|passes|fails|flips|repeats|lies|prefers|means|shows"
    r"|changed|varies|vary|explains|differ|detects)\b"
)


def titles(html: str) -> list[str]:
    """First sentences of the captions of figures."""
    texts = [re.sub(r"<[^>]+>", "", c).strip() for c in CAPTION.findall(html)]
    drawn = [re.sub(r"^Figure\s*\d+\.?\s*", "", t) for t in texts if t.startswith("Figure")]
    return [re.split(r"(?<=[.:])\s", t)[0] for t in drawn]


def gate_rows(rates: dict[str, tuple[float, float]]) -> list[dict[str, object]]:
    rng = np.random.default_rng(5)
    rows = []
    for i in range(300):
        y = int(rng.random() < 0.6)
        for judge, (tpr, tnr) in rates.items():
            right = rng.random() < (tpr if y else tnr)
            rows.append({"item": f"q{i}", "judge": judge, "label": ("fail", "pass")[y],
                         "verdict": ("fail", "pass")[y if right else 1 - y]})  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def gates() -> Run:
    rows = gate_rows({"good": (0.97, 0.95), "bad": (0.95, 0.5)})
    found = js.audit(rows, n_resamples=99)
    return Run.of(found.run) if hasattr(Run, "of") else found.run


def test_what_decides_is_drawn_for_every_judge_and_titled_by_its_finding(gates) -> None:
    made = requirement_figure(gates)
    assert made is not None
    assert made.caption.startswith("bad passes ")
    figure = made.figure
    assert isinstance(figure, RequirementPlot)
    assert [row.name for row in figure.rows] == ["good", "bad"]  # by estimate
    assert [row.status for row in figure.rows] == ["holds", "fails"]
    low, high = figure._limits()
    assert low < 0.5
    assert 0.8 < high <= 1.0
    assert "fails" in figure.alt


def test_judges_are_rows_and_requirements_columns_with_their_thresholds(gates) -> None:
    table = requirement_table(gates)
    heads = [c.label for c in table.columns]
    assert heads == ["Judge", "Verdict", "TPR\n≥ .80", "TNR\n≥ .80"]  # nothing was judged twice
    assert [row["verdict"] for row in table.rows] == ["DO NOT USE", "USE WITH CARE"]
    assert str(table.rows[0]["tnr"]).endswith(" fails")
    assert '<th class="spanner" scope="colgroup" colspan="2">Accuracy</th>' in table.to_html()
    assert 'stroke: (bottom: 0.3pt))[#"Accuracy";]' in table.to_typst()


def test_of_many_judges_page_one_shows_the_six_worst_in_table_and_figure() -> None:
    rows = gate_rows({f"good{k}": (0.97, 0.95) for k in range(6)} | {"bad": (0.95, 0.5)})
    run = js.audit(rows, n_resamples=99).run
    table = requirement_table(run)
    assert len(table.rows) == 6
    assert table.rows[0]["subject"] == "bad"
    assert "verdict" in {c.key for c in table.columns}
    good = [v for v in run.records.verdicts if v.subject.judge != "bad"]
    alike = requirement_table(replace(run, records=replace(run.records, verdicts=tuple(good))))
    assert "verdict" not in {c.key for c in alike.columns}  # a constant column is in the caption
    assert alike.caption.endswith("All of these: USE WITH CARE.")
    assert table.note == "1 more in the record."
    made = requirement_figure(run)
    assert made is not None
    assert {row.name for row in made.figure.rows} == {row["subject"] for row in table.rows}
    assert "6 of 7 are drawn." in made.caption
    assert made.figure.needed == "≥ .80"
    texts = {t.get_text() for t in made.figure.render().axes[0].texts}
    assert "needed ≥ .80" in texts


def test_a_run_that_only_compares_has_no_table_of_requirements(gates) -> None:
    verdicts = tuple(replace(v, requirements=()) for v in gates.records.verdicts)
    run = replace(gates, records=replace(gates.records, verdicts=verdicts))
    assert not any(isinstance(part, Table) for part in verdict_page(run, None))
    assert any(isinstance(part, Table) for part in verdict_page(gates, None))


def test_the_paragraph_for_a_paper_has_design_rule_and_every_estimate(gates) -> None:
    text = submission_paragraph(gates)
    assert "\n" not in text
    assert text.startswith("We assessed 2 LLM judges (bad and good) on 300 items, once each.")
    assert "We required TPR ≥ .80 and TNR ≥ .80." in text
    assert "For bad, " in text
    assert "the requirement on TNR failed" in text
    assert "For good, " in text
    assert "all measured requirements were met" in text
    for verdict in gates.records.verdicts:
        for r in verdict.requirements:
            if r.status != "not_measured":
                number, _, interval = number_text(r).partition(" ")
                assert f"{r.label} = {number}, 95% CI {interval}" in text


def test_a_confusion_matrix_counts_labelled_items_by_label_and_verdict(gates) -> None:
    table = people.confusion(gates)
    assert [c.label for c in table.columns] == ["Human label", "Judge: pass", "Judge: fail"]
    rows = gate_rows({"good": (0.97, 0.95), "bad": (0.95, 0.5)})
    for row in table.rows:
        for verdict in ("pass", "fail"):
            own = (row["condition"], row["label"], verdict)
            n = sum((r["judge"], r["label"], r["verdict"]) == own for r in rows)
            assert str(row[verdict]) == str(n)
            assert resolve(gates.records, row[verdict].parts[0][1]) == n
