"""Runs compared, and results as APA strings."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from judgestats.errors import InputError
from judgestats.reporting import Run, Table, load_run, render_report, resolve
from judgestats.reporting.sections import compare, design
from judgestats.results import Test, read_results
from judgestats.stats import friedman_test, inference
from tests.reporting.record_numbers import faults

SAMPLE = inference.Sample(n_items=20)


@pytest.fixture(scope="module")
def two(make_run: Callable[..., Path]) -> list[Run]:
    return [load_run(make_run(("sim-typical",), seed=s)) for s in (0, 1)]


def with_facts(run: Run, **changes: object) -> Run:
    return replace(run, records=replace(run.records, facts={**run.facts, **changes}))


def with_design(run: Run, **changes: object) -> Run:
    return with_facts(run, design={**run.design, **changes})


def test_differences_are_found(two: list[Run]) -> None:
    changed = with_design(two[1], replicates=9, scale=[1, 10])
    table = compare.differences([two[0], changed])
    assert isinstance(table, Table)
    assert [(r["what"], str(r["Run 1"]), str(r["Run 2"])) for r in table.rows] == [
        ("judgments of each", "5", "9")
    ]
    assert "Other parameters may differ" in str(compare.differences([two[0], two[0]]))
    seeded = [with_facts(two[0], parameters={"request_seed": seed}) for seed in ("default", "7")]
    assert "made with the same parameters" in str(compare.differences([seeded[0], seeded[0]]))
    table = compare.differences(seeded)
    assert isinstance(table, Table)
    assert [r["what"] for r in table.rows] == ["request_seed"]
    assert "All other parameters were the same." in table.caption
    unknown = compare.differences([two[0], with_design(seeded[1], replicates=9)])
    assert isinstance(unknown, Table)
    assert "Other parameters may differ" in unknown.caption


def test_what_was_read_of_a_file_stays_in_sentences(two: list[Run]) -> None:
    said = ["1-10, as stated.", "item = item_id."]
    table = compare.differences([two[0], with_design(two[1], understood=said, items=1234)])
    assert isinstance(table, Table)
    cells = {row["what"]: str(row["Run 2"]) for row in table.rows}
    assert cells["what was read"] == "1-10, as stated. item = item_id."
    assert cells["items"] == "1,234"


def test_runs_that_cannot_be_compared_are_refused(two: list[Run]) -> None:
    assert compare.refusals(*two) == []
    other = with_design(two[1], scale=[1, 5])
    assert "scales differ (1 to 10 and 1 to 5)" in compare.refusals(two[0], other)[0]
    far = Run(two[1].folder, two[1].records)
    far.__dict__["judgments"] = two[1].judgments.assign(item_id="only one")
    assert "share no items" in compare.refusals(two[0], far)[0]
    words = Run(two[1].folder, two[1].records)
    words.__dict__["judgments"] = two[1].judgments.assign(score=math.nan)
    assert "one holds scores" in compare.refusals(two[0], words)[0]
    edited = Run(two[1].folder, two[1].records)
    edited.__dict__["items"] = ({**two[0].items[0], "turns": ["another question"]},)
    assert "another text" in compare.refusals(two[0], edited)[0]
    held = compare.pairs([two[0], far])
    assert compare.paired(held) == []
    assert "Not tested" in str(compare.comparison_summary(held)[0])


def test_a_comparison_is_rendered(two: list[Run], tmp_path: Path) -> None:
    made = render_report(two, to=("html",), out_dir=tmp_path, renderer="builtin", figures=True)
    page = made["html"].read_text()
    for text in (
        "2 runs compared",
        "No difference in parameters was recorded",
        "Mean moved",
        "items were judged by both",
        "SIMULATED",
    ):
        assert text in page, text
    files = {f"run-{i}": run.records for i, run in enumerate(two, start=1)}
    one = "run-2-against-run-1"
    files[one] = read_results(tmp_path / "tables" / f"{one}.json")
    assert faults(made["html"], files) == []
    assert f'data-record="{one}/' in page
    assert 'data-record="run-2/' in page
    wrong = tmp_path / "wrong.html"
    p = re.search(rf'(<span data-record="{one}/shift[^"]*#p_adjusted">)([^<]+)', page)
    assert p is not None
    wrong.write_text(page.replace(p.group(0), f"{p.group(1)}.777", 1), encoding="utf-8")
    assert len(faults(wrong, files)) == 1
    assert (tmp_path / "summary.png").is_file()
    assert (tmp_path / "figures" / "fig-shifts.svg").is_file()
    with pytest.raises(InputError, match="at least two runs"):
        render_report(two[:1], out_dir=tmp_path)


def test_paired_rows_are_adjusted_over_conditions(two: list[Run]) -> None:
    held = compare.pairs(two, n_resamples=99)
    [table] = compare.paired(held)
    assert isinstance(table, Table)
    assert [r["condition"] for r in table.rows] == [
        "sim-typical, T=0", "sim-typical, T=0.5", "sim-typical, T=1",
    ]  # fmt: skip
    assert [c.label for c in table.columns if c.key == "spread"] == ["GMD ratio"]
    assert "two repeats of an item in Run 2 over that in Run 1" in table.caption
    assert str(table.rows[0]["spread"]) == "–"  # no spread at T = 0: undefined, not 0
    found = held[0].comparison
    assert found is not None
    for row in table.rows:
        where = row["shift_p"].parts[0][1]
        assert (
            resolve({held[0].file: found}, where)
            == found.get(f"shift.{row['condition']}", Test).p_adjusted
        )
    assert "items were judged by both" in str(compare.comparison_summary(held)[0])


def test_apa_of_a_real_test() -> None:
    scores = [[7, 9, 8], [6, 5, 7], [9, 7, 6], [8, 5, 6], [6, 4, 7], [7, 8, 9]]
    text = friedman_test(scores).apa()
    assert "p = ." in text or "p < ." in text
    assert "W = ." in text or "Kendall" in text


def test_apa_conventions() -> None:
    eta = inference.Estimate(
        name="partial_eta_squared", label="eta", estimate=0.4006, sample=SAMPLE,
        interval=inference.Interval(low=0.254, high=0.493, level=0.9),
    )  # fmt: skip
    test = inference.TestResult(
        name="t", method="Blocked F", statistic=20.718, statistic_name="F", p_value=2e-5,
        df={"num df": 4, "denom df": 121.5}, effects=(eta,), sample=SAMPLE,
    )  # fmt: skip
    assert test.apa() == "F(4, 121.50) = 20.72, p < .001, ηp² = .40, 90% CI [.25, .49]"
    lost = replace(test, p_value=math.nan, reason="one condition only")
    assert lost.apa() == "Blocked F: not computed (one condition only)"
    mean = inference.Estimate(name="mean_shift", label="shift", estimate=-0.257, sample=SAMPLE)
    assert mean.apa() == "shift = −0.26"
    assert replace(mean, estimate=math.nan, reason="empty").apa() == "shift undefined (empty)"
    rows = (
        inference.Comparison(a="x", b="y", estimate=2.3, statistic=1, p_value=0.01, p_adjusted=0.04,
                   estimate_name="ratio", interval=inference.Interval(low=1.1, high=4.5)),
        inference.Comparison(a="x", b="z", estimate=math.nan, statistic=1, p_value=1, p_adjusted=1,
                   reason="no spread"),
    )  # fmt: skip
    pairs = inference.Comparisons(
        name="c", method="m", adjust="holm", family="f", rows=rows, sample=SAMPLE
    )
    assert pairs.apa() == (
        "x vs. y: ratio = 2.30, 95% CI [1.10, 4.50], adjusted p = .040; x vs. z: undefined "
        "(no spread)"
    )


def test_labels_and_further_responses_do_not_make_items_differ(
    two: list[Run], tmp_path: Path
) -> None:
    """Only what a judge reads is compared: the question, and a response of the same author."""
    name = str(two[0].judgments["item_id"].iloc[-1])  # q11/author
    question = name.split("/", maxsplit=1)[0]
    item = {"id": question, "turns": ["Why?"], "responses": [{"author": "author", "turns": ["A"]}]}
    richer = {
        **item,
        "labels": [{"winner": "a"}],
        "responses": [*item["responses"], {"author": "b", "turns": ["B"]}],  # type: ignore[misc]
    }
    other = {**item, "responses": [{"author": "author", "turns": ["Another"]}]}

    def holding(content: dict[str, object]) -> Run:
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        (folder / "data").mkdir(parents=True)
        two[0].judgments.to_parquet(folder / "data" / "judgments.parquet")
        (folder / "data" / "items.jsonl").write_text(json.dumps(content) + "\n", encoding="utf-8")
        return Run(folder, two[0].records)

    assert compare.refusals(holding(item), holding(richer)) == []
    (reason,) = compare.refusals(holding(item), holding(other))
    assert "another text" in reason
    assert name in reason


def test_the_banner_says_which_runs_are_simulated(two: list[Run]) -> None:
    real = with_facts(two[1], simulated=False)
    assert "no model was asked. These numbers" in str(design.banner(*two))
    assert "Run 2: SIMULATED" in str(design.banner(real, two[0]))
    judges = [{"name": "sim-a", "simulated": True}, {"name": "gpt", "simulated": False}]
    mixed = with_facts(two[0], judges=judges)
    assert "SIMULATED: sim-a" in str(design.banner(mixed))
