"""The brief report: one page that answers, few that follow, every number a record's."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from judgestats.reporting import (
    Captioned,
    Markdown,
    Run,
    Table,
    link_intervals,
    load_run,
    render_report,
    resolve,
)
from judgestats.reporting.sections import answer, data, design, people, results, summary
from judgestats.results import CONDITIONS, About, Condition, Drawing, Record
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


def test_text_formats_show_the_same_numbers_in_the_same_order(briefed: dict[str, Path]) -> None:
    page = briefed["html"].read_text("utf-8")
    shown = re.findall(r'<span data-record="[^"]*#(?:estimate|interval\.\w+)">([^<]+)</span>', page)
    text = briefed["md"].read_text("utf-8").replace("\\", "")
    at = 0
    for number in shown:
        at = text.index(number, at)
    assert len(shown) > 30


def test_tables_left_out_stand_beside_the_report(
    briefed: dict[str, Path], run_folder: Path
) -> None:
    page = briefed["html"].read_text("utf-8")
    folder = briefed["html"].parent / "tables"
    names = {path.name for path in folder.glob("*.csv")}
    assert {"tests.csv", "pairs.csv", "estimates.csv", "conditions.csv"} <= names
    assert all(f'href="tables/{name}"' in page for name in names)
    assert len((folder / "pairs.csv").read_text("utf-8").splitlines()) > 5
    heads = [
        path.read_text("utf-8").partition("\n")[0]
        for path in (run_folder / "results.csv", *(folder / f"{n}.csv" for n in ("tests", "pairs")))
    ]
    assert len(set(heads)) == 1


def test_one_verdict_a_pair(run_folder: Path) -> None:
    table = results.pair_table(load_run(run_folder))
    assert table is not None
    listed = [(row["group"], row["of"], row["pair"]) for row in table.rows]
    assert len(set(listed)) == len(listed)
    assert {row["verdict"] for row in table.rows} <= {"differs", "alike", "open"}


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


def test_the_experiment_declares_its_figure(run_folder: Path) -> None:
    run = load_run(run_folder)
    assert run.records.drawing is not None
    assert run.records.drawing.over == "temperature"
    shown = answer.answer_figure(run)
    assert isinstance(shown, Captioned)
    narrow = shown.figure.narrow  # type: ignore[attr-defined]
    assert narrow.size[0] < shown.figure.size[0]
    assert "0.5" in shown.figure.alt


def test_a_run_that_declares_no_figure_gets_one_of_the_numbers_it_has(run_folder: Path) -> None:
    from dataclasses import replace

    run = load_run(run_folder)
    panels = []
    for drawing in (None, Drawing(kind="dots", estimands=("no such column",))):
        bare = Run(folder=run.folder, records=replace(run.records, drawing=drawing))
        shown = answer.answer_figure(bare)
        panels.append(shown and [panel.name for panel in shown.figure.panels])
    assert panels == [["SEM (SD of repeated scores)", "ICC(1,1)", "Mean score"], None]


def _told_apart(run_folder: Path, folder: Path, *, n: int = 12) -> Path:
    """The run with a list of disagreements, widest gap last, and its file."""
    from dataclasses import replace

    from judgestats.results import Column, write_results
    from judgestats.results import Table as TableRecord

    keys = ("condition", "item_id", "judge", "people", "gap", "question", "answer", "judge_says")
    rows = tuple(
        ("a", f"item-{i}", 1.0 + i, 1.0, float(i), "", "<b>x</b> " * 90, "") for i in range(n)
    )
    record = TableRecord(
        id="disagreements", hypothesis="disagreements", role="descriptive", title="Apart",
        columns=tuple(Column(key=k, label=k) for k in keys), rows=rows,
    )  # fmt: skip
    found = load_run(run_folder).records
    (folder / "tables").mkdir(parents=True)
    (folder / "tables" / "disagreements.csv").write_text("condition\na\n", encoding="utf-8")
    write_results(folder / "results.json", replace(found, results=(*found.results, record)))
    return folder


def test_the_widest_disagreements_are_shown_and_all_of_them_linked(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = load_run(_told_apart(run_folder, tmp_path / "run"))
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    table, link = people.disagreements(run)
    assert isinstance(table, Table)
    assert [str(row["item"]) for row in table.rows] == [f"item-{i}" for i in range(11, 1, -1)]
    linked = link_intervals(table.to_html(), run.evidence)
    assert '<a class="evidence" href="explore.html#item=item-11&amp;column=a">' in linked
    assert {c.key for c in table.columns} == {"condition", "item", "judge", "people", "answer"}
    assert all(len(row["answer"]) <= 120 for row in table.rows)
    assert str(table.rows[0]["judge"]) == "12.00"
    where = table.rows[0]["judge"].parts[0][1]
    assert resolve(run.records, where) == 12.0
    assert "tables/disagreements.csv" in str(link)
    assert (tmp_path / "out" / "tables" / "disagreements.csv").is_file()


def test_a_run_without_disagreements_has_no_such_section(run_folder: Path) -> None:
    assert people.disagreements(load_run(run_folder)) == []


def test_a_prompt_is_headed_by_what_it_was_asked_for(run_folder: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    asked = [
        {"conditions": [f"j, {w}"], "templates": [sha], "instruction": ""}
        for w, sha in (("plain", "aa11"), ("strict", "bb22"))
    ]
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "rendered.json").write_text(json.dumps(asked), encoding="utf-8")
    for one in asked:
        sha = one["templates"][0]
        (tmp_path / "prompts" / f"{sha}.txt").write_text("Rate it.", encoding="utf-8")
    conditions = tuple(
        Condition(label=f"j, {w}", judge="j", factors={"temperature": 1.0, "wording": w})
        for w in ("plain", "strict")
    )
    records = replace(load_run(run_folder).records, conditions=conditions)
    text = str(design.prompts(Run(folder=tmp_path, records=records)))
    heads = re.findall(r"\*\*(.+?)\*\*", text.replace("\\", ""))
    assert heads == [f"Prompt, wording {wording}:" for wording in ("plain", "strict")]


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


def test_prompts_of_stages_have_their_own_headings_and_reply_instructions(
    run_folder: Path, tmp_path: Path
) -> None:
    from dataclasses import replace

    both = ["j, plain", "j, crowd"]
    stages = {
        "aa11": {"stage": "vanilla", "instruction": "Say which.", "conditions": both},
        "bb22": {"stage": "removal", "instruction": "Say why.", "conditions": both[1:]},
        "cc33": {"stage": "crowd", "instruction": "Say which.", "conditions": both[1:]},
        "dd44": {"stage": "points", "instruction": "List them.", "conditions": both},
    }
    asked = [{"conditions": both, "templates": ["aa11", "dd44"], "instruction": "Say which.",
              "stages": stages}]  # fmt: skip
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "rendered.json").write_text(json.dumps(asked), encoding="utf-8")
    for sha in stages:
        (tmp_path / "prompts" / f"{sha}.txt").write_text(f"{sha} {{reply}}", encoding="utf-8")
    conditions = tuple(
        Condition(label=f"j, {w}", judge="j", factors={"strategy": w}) for w in ("plain", "crowd")
    )
    records = replace(load_run(run_folder).records, conditions=conditions)
    lines = (
        str(design.prompts(Run(folder=tmp_path, records=records))).replace("\\", "").splitlines()
    )
    of = {"vanilla": "", "points": "", "removal": ", strategy crowd", "crowd": ", strategy crowd"}
    told = {s["instruction"] for s in stages.values()}
    told = {f'#raw(block: true, "{s["instruction"]}")': s["instruction"] for s in stages.values()}
    said = [told.get(line, line) for line in lines if line.startswith("**") or line in told]
    want = []
    for sha in ("aa11", "dd44", "bb22", "cc33"):
        stage, instruction = stages[sha]["stage"], stages[sha]["instruction"]
        want += [f"**Prompt of the stage {stage}{of[stage]}:** `prompts/{sha}.txt`", instruction]
    assert said == want


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


def test_a_condition_of_which_nothing_is_told_has_no_row(run_folder: Path) -> None:
    from dataclasses import replace

    from judgestats.results import CONDITIONS

    run = load_run(run_folder)
    table = run.records[CONDITIONS]
    keys = [c.key for c in table.columns]  # type: ignore[union-attr]
    kept = {"condition", "judge", "temperature", "unread_share"}
    bare = tuple(v if k in kept else None for k, v in zip(keys, table.rows[0], strict=True))  # type: ignore[union-attr]
    rows = (bare, *table.rows[1:])  # type: ignore[union-attr]
    first = replace(run.records.conditions[0], estimates={})
    records = replace(
        run.records,
        results=tuple(replace(r, rows=rows) if r.id == CONDITIONS else r
                      for r in run.records.results),
        conditions=(first, *run.records.conditions[1:]),
        rows=(),
    )  # fmt: skip
    before, after = (
        data.condition_descriptions(Run(folder=run.folder, records=r))
        for r in (replace(run.records, rows=()), records)
    )
    assert before is not None
    assert after is not None
    assert len(after.rows) == len(before.rows) - 1
