"""results.json: written as it is read, held to its schema, refused with a place."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from judgestats.commands import read_table, write_table
from judgestats.errors import InputError
from judgestats.results import (
    About,
    Comparison,
    Estimate,
    Family,
    Headline,
    Interval,
    Results,
    ResultSet,
    Sample,
    Statistic,
    Test,
    from_plain,
    json_schema,
    read_results,
    to_plain,
    write_csv,
    write_results,
)
from judgestats.runner import write_tables

ROOT = Path(__file__).parents[2]


def some_results() -> Results:
    about = About(judge="j", conditions=("j, T=0", "j, T=1"), varied="temperature")
    common = {"hypothesis": "spread", "role": "primary", "about": about}
    effect = Estimate(
        **common, id="spread.j/partial_eta_squared", title="Spread", part_of="spread.j",
        estimand="partial_eta_squared", estimate=0.2, interval=Interval(low=0.0, high=0.5),
    )  # fmt: skip
    test = Test(
        **common, id="spread.j", title="Spread", test="blocked_f_test", method="Blocked F",
        statistic=Statistic(symbol="F", value=math.inf, df={"num df": 1, "denom df": 19}),
        p=0.01, p_floor=0.001, p_adjusted=0.02, family="spread.family", effects=(effect.id,),
        sample=Sample(n_items=20, n_excluded=2, excluded={"unread": 2}),
    )  # fmt: skip
    pair = Comparison(
        **common, id="ratio.j/T=1:T=0", title="Ratios", part_of="ratio.j", a="T=1", b="T=0",
        estimand="variance_ratio", estimate=math.nan, method="jackknife",
        statistic=Statistic(symbol="t", value=math.nan), p=math.nan, family="ratio.j",
        reason="the pooled spread of T=0 is 0",
    )  # fmt: skip
    whole = ResultSet(
        **common, id="ratio.j", title="Ratios", name="variance_ratio", method="jackknife",
        members=(pair.id,), family="ratio.j",
    )  # fmt: skip
    return Results(
        experiment="temperature",
        question="Does the spread grow?",
        results=(test, effect, whole, pair),
        families=(
            Family(id="spread.family", hypothesis="spread", label="spread", method="holm",
                   members=(test.id,), smallest_p=0.001),
            Family(id="ratio.j", hypothesis="ratio", label="ratios", method="holm",
                   members=(pair.id,), n_undefined=1),
        ),
        headlines=(
            Headline(id="headline.spread.j", hypothesis="spread", claim="differs", about=about,
                     rests_on=(test.id,), family="spread.family", p_adjusted=0.02),
        ),
    )  # fmt: skip


def test_what_is_written_is_read_back(tmp_path):
    path = tmp_path / "results.json"
    write_results(path, some_results())
    again = read_results(path)
    assert to_plain(again) == to_plain(some_results())
    assert again.get("spread.j", Test).statistic.value == math.inf
    assert math.isnan(again.get("ratio.j/T=1:T=0", Comparison).estimate)
    assert [e.estimate for e in again.effects(again.get("spread.j", Test))] == [0.2]
    assert again.family("spread.family").smallest_p <= 0.05


def test_the_csv_has_a_row_for_every_estimate_test_and_comparison(tmp_path):
    write_csv(tmp_path / "results.csv", some_results())
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"spread.j", "spread.j/partial_eta_squared", "ratio.j/T=1:T=0"}
    assert (rows["spread.j"]["df1"], rows["spread.j"]["p_adjusted"]) == ("1", "0.02")
    assert rows["ratio.j/T=1:T=0"]["p"] == ""
    assert rows["ratio.j/T=1:T=0"]["unit"] == "ratio"


def test_the_published_schema_is_that_of_the_types():
    published = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))
    assert published == json_schema(), "run: python docs/build_results_schema.py"


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("results", 0, "p"), 1.2, "results[0].p: expected a probability"),
        (("results", 0, "p"), "0.01", "results[0].p: expected a number"),
        (("results", 0, "p_adjusted"), 0.001, "results[0].p_adjusted: 0.001 is below p"),
        (("results", 0, "statistic", "value"), True, "results[0].statistic.value: expected"),
        (("results", 0, "kind"), "tests", "results[0]: "),
        (("results", 1, "id"), "spread.j", "results[1].id: 'spread.j' is also the id of results[0"),
        (("results", 1, "estimand"), "mine", "results[1].estimand: quantity: 'mine' is not"),
        (("results", 1, "note"), "x", "results[1].note: "),
        (("results", 3, "family"), "other", "results[3].family: 'other' does not hold"),
        (("results", 3, "held_to"), "mine", "results[3].held_to: there is no claim 'mine'"),
        (("families", 0, "members"), ["x"], "families[0].members: there is no result 'x'"),
        (("headlines", 0, "rests_on"), ["x"], "headlines[0].rests_on: there is no result 'x'"),
        (("headlines", 0, "claim"), "better", "headlines[0].claim: "),
    ],
)  # fmt: skip
def test_an_edited_file_is_refused_with_file_place_and_what_to_do(tmp_path, path, value, place):
    values = to_plain(some_results())
    at = values
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    file = tmp_path / "results.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_results(file)
    text = str(caught.value)
    assert text.startswith(f"{file}: ")
    assert any(p in text for p in place.split("|")), text
    assert "judgestats analyze" in text
    assert "\n" not in text


def test_a_file_cut_short_is_refused_with_its_place(tmp_path):
    file = tmp_path / "results.json"
    write_results(file, some_results())
    whole = file.read_text(encoding="utf-8")
    for length in (1, 60, len(whole) // 2, len(whole) - 3):
        file.write_text(whole[:length], encoding="utf-8")
        with pytest.raises(InputError, match=r"results\.json: line \d+, column \d+: not JSON"):
            read_results(file)
    file.write_bytes(b'{"experiment": "\xff"}')
    with pytest.raises(InputError, match="not UTF-8"):
        read_results(file)
    file.write_text('{"experiment": NaN}', encoding="utf-8")
    with pytest.raises(InputError, match=r"not JSON .NaN is not a JSON number"):
        read_results(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_results(tmp_path / "missing.json")


def test_another_version_is_refused_by_name():
    values = to_plain(some_results())
    with pytest.raises(InputError, match="3 is not the version 2 that this judgestats reads"):
        from_plain(values | {"version": 3})
    with pytest.raises(InputError, match="not written by judgestats"):
        from_plain([1, 2])


def test_results_of_0_1_0_are_refused_by_name_and_nothing_of_them_is_lost(tmp_path):
    run = Path(__file__).parent / "run_0_1_0"
    with pytest.raises(
        InputError, match=r"written by judgestats 0\.1\.0.*judgestats analyze "
    ) as e:
        read_results(run / "results.json")
    kept = Path(str(e.value).rpartition("judgestats analyze ")[2])
    assert kept == run / "data" / "judgments.parquet"
    from judgestats.data.readers.registry import read_judgments

    judged = read_judgments(kept)
    assert len(judged) == 6 * 2 * 3 * 3


@pytest.mark.parametrize("opening", ["=", "+", "-", "@", "\t", "\uff1d"])
def test_no_text_of_a_table_is_run_by_a_spreadsheet(tmp_path, opening):
    """Texts are quoted, numbers are not; data that are read again keep their cells."""
    evil = f"{opening}cmd|'/C calc'!A0"
    first, *others = some_results().results
    results = replace(some_results(), results=(replace(first, title=evil), *others))
    write_csv(tmp_path / "results.csv", results)
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["title"] == f"'{evil}"
    table = pd.DataFrame({evil: [evil, "fine"], "gap": [-0.5, 0.25], "n": [-1, 2]})
    write_tables(tmp_path / "tables", {"disagreements": table})
    again = pd.read_csv(tmp_path / "tables" / "disagreements.csv")
    assert list(again.columns) == [f"'{evil}", "gap", "n"]
    assert again[f"'{evil}"].tolist() == [f"'{evil}", "fine"]
    assert again["gap"].tolist() == [-0.5, 0.25]
    write_table(table.astype(str), tmp_path / "labels.csv")
    assert read_table(tmp_path / "labels.csv")[evil].tolist() == [evil, "fine"]
