"""The brief report: one page that answers, few that follow, every number a record's."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from judgestats.reporting import (
    Markdown,
    Run,
    Table,
    load_run,
    render_report,
)
from judgestats.reporting.sections import design, people, results, summary
from judgestats.results import CONDITIONS, About, Condition, Record
from tests.reporting.record_numbers import EXEMPT, faults


@pytest.fixture(scope="module")
def briefed(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The brief report of the run with a hostile name."""
    return render_report(
        run_folder,
        to=("html", "pdf", "md"),
        out_dir=tmp_path_factory.mktemp("brief"),
        renderer="builtin",
    )


def pages(pdf: Path) -> list[str]:
    """The text of each page."""
    done = subprocess.run(
        ["pdftotext", "-layout", str(pdf), "-"], capture_output=True, check=True, timeout=30
    )
    return done.stdout.decode().split("\f")[:-1]


def test_it_is_brief_and_page_one_answers(briefed: dict[str, Path], run_folder: Path) -> None:
    told = pages(briefed["pdf"])
    assert 4 <= len(told) <= 8
    [*verdicts] = load_run(run_folder).records.verdicts
    first = " ".join(told[0].split())
    assert verdicts
    for part in ("Figure 1", "Care.", verdicts[0].outcome.replace("_", " ")):
        assert part in first
    assert ("Needed" in first) is any(v.requirements for v in verdicts)
    assert "Contents" not in first
    assert not re.search(r"(Table|Figure) \d+ shows?", " ".join(told))


def test_every_number_is_a_record_s(briefed: dict[str, Path], run_folder: Path) -> None:
    assert faults(briefed["html"], load_run(run_folder).records) == []


def test_a_wrong_number_is_found(
    briefed: dict[str, Path], run_folder: Path, tmp_path: Path
) -> None:
    found = load_run(run_folder).records
    text = briefed["html"].read_text("utf-8")
    mean = re.search(r'(<span data-record="condition\.mean[^"]*#estimate">)([\d.]+)', text)
    assert mean is not None
    wrong = tmp_path / "wrong.html"
    wrong.write_text(text.replace(mean.group(0), f"{mean.group(1)}99.9", 1), encoding="utf-8")
    assert len(faults(wrong, found)) == 1
    wrong.write_text(text.replace("</main>", "<p>7</p></main>"), encoding="utf-8")
    assert faults(wrong, found) == ["no record: '7'"]


def test_exempted_kinds_are_listed() -> None:
    assert len(EXEMPT) == 18


def test_a_test_of_equivalence_stands_under_its_margin_with_its_own_interval(
    run_folder: Path,
) -> None:
    from dataclasses import replace

    from judgestats.results import Comparison, Interval, Margin, ResultSet, Statistic

    def found(name: str, p: float, level: float, margin: Margin | None = None) -> list[Record]:
        half = 0.02 if margin else 0.03
        pair = Comparison(
            id=f"{name}/p", hypothesis=name, role="secondary", title="p", part_of=name, a="one",
            b="two", estimand="rate_difference", estimate=-0.02, method="t", p=p, margin=margin,
            interval=Interval(low=-0.02 - half, high=-0.02 + half, level=level),
            statistic=Statistic(symbol="t", value=3.0),
        )  # fmt: skip
        whole = ResultSet(
            id=name, hypothesis=name, role="secondary", title=name, name="x", method="t",
            members=(pair.id,), about=About(stratum="judge a"),
        )  # fmt: skip
        return [whole, pair]

    run = load_run(run_folder)
    margin = Margin(low=-0.05, high=0.05, estimand="rate_difference")

    def rows(*records: Record) -> list[tuple[object, ...]]:
        listed = (run.records[CONDITIONS], *records)
        table = results.pair_table(
            Run(run.folder, replace(run.records, results=listed, headlines=()))
        )
        assert table is not None
        assert ("two one-sided tests, 90% intervals" in table.note) == any(
            "quivalence" in str(r["group"]) for r in table.rows
        )
        return [(r["group"], str(r["size"]), str(r["p"]), r["verdict"]) for r in table.rows]

    size, same = found("difference", 0.2, 0.95), found("equivalence", 0.01, 0.9, margin)
    within = ("judge a: equivalence within .05", "−.020 [−.040, .000]", ".010", "alike")
    assert rows(*size, *same) == [within]
    assert rows(*found("equivalence", 0.3, 0.9, margin)) == [(*within[:2], ".300", "open")]
    told = ("judge a", "−.020 [−.050, .010]", ".001", "differs")
    assert rows(*found("difference", 0.001, 0.95), *same) == [told]
    assert rows(*size, *found("equivalence", 0.3, 0.9, margin)) == [
        ("judge a", "−.020 [−.050, .010]", ".200", "open")
    ]


def test_a_verdict_says_what_was_asked_and_not_always_that_something_differs(
    run_folder: Path,
) -> None:
    from dataclasses import replace

    from judgestats.results import Test as TestRecord

    run = load_run(run_folder)

    def verdicts(test: str, p: float) -> set[object]:
        tested = tuple(
            replace(r, test=test, p=p, p_adjusted=p) if isinstance(r, TestRecord) else r
            for r in run.records.results
        )
        records = replace(run.records, results=tested, headlines=())
        tests, *_ = results.results(Run(folder=run.folder, records=records))
        assert isinstance(tests, Table)
        return {row["verdict"] for row in tests.rows}

    assert verdicts("related_to_labels", 0.001) == {"related"}
    assert verdicts("normality_test", 0.001) == {"not normal"}
    assert verdicts("friedman_test", 0.001) == {"differs"}
    assert verdicts("related_to_labels", 0.2) == {"open"}


def test_what_a_headline_calls_small_is_not_open_among_the_tests(run_folder: Path) -> None:
    from dataclasses import replace

    from judgestats.results import Test as TestRecord

    run = load_run(run_folder)

    def verdicts(records: object) -> list[str]:
        tests, *_ = results.results(Run(folder=run.folder, records=records))  # type: ignore[arg-type]
        assert isinstance(tests, Table)
        return [row["verdict"] for row in tests.rows]

    small = tuple(
        replace(r, p=0.9, p_adjusted=0.9) if isinstance(r, TestRecord) else r
        for r in run.records.results
    )
    records = replace(run.records, results=small)
    assert set(verdicts(records)) == {"open"}
    rests_on = tuple(r.id for r in small if isinstance(r, TestRecord))
    shown = replace(records.headlines[0], claim="equivalent", rests_on=rests_on)
    assert set(verdicts(replace(records, headlines=(shown,)))) == {"alike"}


def test_a_run_without_disagreements_has_no_such_section(run_folder: Path) -> None:
    assert people.disagreements(load_run(run_folder)) == []


def test_prompts_stand_in_the_order_of_the_plan_each_with_its_reply_instructions(
    run_folder: Path, tmp_path: Path
) -> None:
    from dataclasses import replace

    levels = [(w, f) for w in ("plain", "strict") for f in ("short", "long")]
    shas = {"plain": "ff99", "strict": "aa11"}  # the order of hashes is another
    asked = [
        {"conditions": [f"j, {w}, {f}"], "templates": [shas[w]], "instruction": f"Say it {f}."}
        for w, f in levels
    ]
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "rendered.json").write_text(json.dumps(asked), encoding="utf-8")
    for sha in shas.values():
        (tmp_path / "prompts" / f"{sha}.txt").write_text("Rate it. {reply}", encoding="utf-8")
    conditions = tuple(
        Condition(label=f"j, {w}, {f}", judge="j", factors={"wording": w, "form": f})
        for w, f in levels
    )
    records = replace(load_run(run_folder).records, conditions=conditions)
    run = Run(folder=tmp_path, records=records)
    assert list(run.prompts) == ["ff99", "aa11"]
    lines = str(design.prompts(run)).replace("\\", "").splitlines()
    place = "The reply instruction, where it says {reply}"
    told = [line for line in lines if line.startswith(("**", place))]
    one = [f"{place}, form short:", f"{place}, form long:"]
    heads = [f"**Prompt, wording {w}:** `prompts/{sha}.txt`" for w, sha in shas.items()]
    assert told == [heads[0], *one, heads[1], *one]


def test_a_page_says_care_as_the_screen_does(run_folder: Path) -> None:
    run = load_run(run_folder)
    shown = " ".join(str(part) for part in summary.summary_page(run)).replace("\\", "")
    care = run.records.care
    listed = [text for text in care if text in shown.replace("\u00a0", " ")]
    assert listed == list(care[: len(listed)])
    assert 0 < len(listed) < len(care)
    assert f"- [{len(care) - len(listed)} more in the record.]" in shown
    parts = summary.summary_page(run)
    whole = " ".join(str(p) for p in parts if isinstance(p, Markdown))
    words = re.sub(r"\{[^}]*\}|[^\W\d]*href=\S+", "", whole).split()
    assert sum(bool(re.search("[^\\W\\d]", word)) for word in words) <= 70
