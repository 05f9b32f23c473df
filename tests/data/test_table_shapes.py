"""Tables as people have them: wide, lists, paths, criteria, labels, files of any kind."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pyarrow
import pytest

from judgestats import read_judgments
from judgestats.cli import main
from judgestats.data.readers.row_checks import OpenQuestionError
from judgestats.errors import InputError

SCORES = [[7, 8], [4, 4], [9, 10], [2, 3]]


def long():
    return pd.DataFrame(
        [{"item": f"i{i}", "run": r, "score": s} for i, row in enumerate(SCORES)
         for r, s in enumerate(row)]
    )  # fmt: skip


def essence(frame):
    kept = frame.sort_values(["item_id", "replicate"], ignore_index=True)
    return list(zip(kept["item_id"], kept["score"], strict=True))


def as_wide():
    wide = long().pivot(index="item", columns="run", values="score").add_prefix("run_")
    return wide.reset_index().rename_axis(columns=None), {"wide": "run_*"}


def as_lists():
    return pd.DataFrame({"item": [f"i{i}" for i in range(4)], "all": SCORES}), {"explode": "all"}


def as_texts_with_lists():
    rows = {"item": [f"i{i}" for i in range(4)], "all": [json.dumps(s) for s in SCORES]}
    return pd.DataFrame(rows), {"explode": "all"}


def as_paths():
    rows = [
        {"item": r["item"], "run": r["run"], "out": {"scores": {"depth": r["score"]}}}
        for r in long().to_dict("records")
    ]
    return rows, {"mapping": {"score": "out.scores.depth"}}


def as_fractions():
    return long().assign(score=[f"{s}/10" for s in long()["score"]]), {}


def as_polars():
    polars = pytest.importorskip("polars")
    return polars.DataFrame(long().to_dict("list")), {}


def as_other_headers():
    return long().rename(columns={"item": "Item ID", "run": "Trial", "score": " SCORE "}), {}


def as_replies():
    said = [f"It is good enough.\n\nScore: {s}" for s in long()["score"]]
    frame = long().drop(columns="score").assign(reply=said)
    return frame, {"parse": "pointwise", "scale": (1, 10)}


def as_matches():
    frame = long().drop(columns="score").assign(reply=[f"Mark {s}!" for s in long()["score"]])
    return frame, {"parse": r"Mark (\d+)"}


@pytest.mark.parametrize(
    "made",
    [as_wide, as_lists, as_texts_with_lists, as_paths, as_fractions, as_polars, as_other_headers,
     as_replies, as_matches],
)  # fmt: skip
def test_every_shape_gives_the_same_judgments(made):
    data, options = made()
    assert essence(read_judgments(data, **options)) == essence(read_judgments(long()))


@pytest.mark.parametrize(
    "kind", ["xlsx", "sqlite", "parquet", "semicolons", "tabs", "bars", "utf8-sig"]
)
def test_every_file_gives_the_same_judgments(tmp_path, kind):
    path = tmp_path / f"f.{kind if kind in {'xlsx', 'sqlite', 'parquet'} else 'csv'}"
    if kind == "xlsx":
        long().to_excel(path, index=False)
    elif kind == "sqlite":
        with sqlite3.connect(path) as database:
            long().to_sql("scores", database, index=False)
        database.close()
    elif kind == "parquet":
        long().to_parquet(path)
    else:
        mark = {"semicolons": ";", "tabs": "\t", "bars": "|"}.get(kind, ",")
        long().to_csv(path, index=False, sep=mark, encoding="utf-8-sig")
    assert essence(read_judgments(path)) == essence(read_judgments(long()))


def test_several_tables_are_named(tmp_path):
    path = tmp_path / "f.db"
    with sqlite3.connect(path) as database:
        long().to_sql("scores", database, index=False)
        long().to_sql("older", database, index=False)
    database.close()
    with pytest.raises(InputError, match=r"2 tables: older, scores\. Name one with --table"):
        read_judgments(path)
    assert len(read_judgments(path, table="scores")) == 8
    with pytest.raises(InputError, match="no table 'newer'"):
        read_judgments(path, table="newer")


def test_columns_of_judges_orders_and_people():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "item": range(30),
            "gpt_orig": rng.choice(["A", "B"], 30),
            "gpt_swap": rng.choice(["A", "B"], 30),
            "annotator1": ["a"] * 30,
            "annotator2": ["a"] * 20 + ["b"] * 10,
            "annotator3": ["a"] * 10 + ["b"] * 20,
        }
    )
    found = read_judgments(frame, wide=["gpt_*", "person=annotator*"])
    assert set(found["order"]) == {"orig", "swap"}
    assert found["label"].value_counts().to_dict() == {"a": 40, "b": 20}
    assert {"label_annotator1", "label_annotator3"} <= set(found.columns)


LABELLED = {
    "ann": "someone", "quality": [1, 2, 3], "overall_quality": [3, 2, 1],
    "ann_quality": 1, "ann_overall_quality": 3,
}  # fmt: skip


def test_labels_named_after_criteria_are_those_of_the_whole_name():
    wide = ["criterion=quality,overall_quality", "person=ann_*"]
    found = read_judgments(pd.DataFrame({"item": range(3), **LABELLED}), wide=wide)
    said = found.groupby("factor_criterion")["label"].unique()
    assert said.map(list).to_dict() == {"quality": ["1"], "overall_quality": ["3"]}
    assert "human labels = 1 rater" in found.attrs["understood"][1]


@pytest.mark.parametrize(
    ("names", "unclear"),
    [
        (("quality", "overall_quality", "ann_*", "rater_9"), "rater_9"),
        (("q_1", "q_2", "rater_*"), "rater_1"),
    ],
)
def test_labels_on_one_criterion_or_on_all_are_refused(names, unclear):
    *criteria, people = names[:3]
    frame = pd.DataFrame({"item": range(3), **LABELLED}).assign(rater_9=2)
    if criteria == ["q_1", "q_2"]:
        frame = pd.DataFrame({"item": range(3), "q_1": [1, 2, 3], "q_2": [3, 2, 1]})
        frame = frame.assign(rater_1=1, rater_2=2)
    person = ",".join([people, *names[3:]])
    with pytest.raises(InputError, match=f"'{unclear}' may hold labels on one criterion or on all"):
        read_judgments(frame, wide=[f"criterion={','.join(criteria)}", f"person={person}"])


def test_criteria_are_each_read_as_what_they_are():
    rows = [
        {"item": f"i{i}", "criterion": c, "trial": t, "verdict": v}
        for i in range(10)
        for t in range(2)
        for c, v in (("depth", 1 + (i + t) % 7), ("safe", "yes" if i % 3 else "no"))
    ]
    found = read_judgments(rows)
    assert set(found["condition"]) == {"judge, criterion=depth", "judge, criterion=safe"}
    depth, safe = (found[found["factor_criterion"] == c] for c in ("depth", "safe"))
    assert depth["score"].notna().all()
    assert set(safe["choice"]) == {"pass", "fail"}
    wide = read_judgments(
        [{"item": f"i{i}", "depth": 1 + i % 7, "safe": i % 3 > 0} for i in range(10)],
        wide="criterion=depth,safe",
    )
    assert set(wide["condition"]) == {"judge, criterion=depth", "judge, criterion=safe"}
    assert wide["score"].notna().sum() == 10


def test_labels_of_a_second_file_are_joined_and_every_mismatch_is_named(tmp_path):
    judged = [{"id": f"q{i}", "passed": i % 2} for i in range(8)]
    people = pd.DataFrame(
        [{"id": f"q{i}", "annotator": a, "label": "yes" if i % 2 or a == "z" else "no"}
         for i in range(2, 10) for a in "xyz"]
    )  # fmt: skip
    people.to_csv(tmp_path / "people.csv", index=False)
    found = read_judgments(judged, labels=tmp_path / "people.csv").set_index("item_id")
    assert found["label"].tolist() == ["", "", "fail", "pass", "fail", "pass", "fail", "pass"]
    assert found.loc["q2", "label_z"] == "pass"
    notes = " ".join(read_judgments(judged, labels=tmp_path / "people.csv").attrs["notes"])
    assert "2 of 8 items have no label in people.csv: q0, q1." in notes
    assert "2 of 8 labels belong to no judged item in people.csv: q8, q9." in notes


def test_other_json_is_shown_as_a_tree_and_the_suggested_map_works(tmp_path):
    """Layouts as Langfuse, LangSmith, Braintrust and Weave export them, by their documentation."""
    exports = {
        "langfuse": [
            {"id": f"t{i}", "input": {"q": "?"}, "scores": [
                {"name": n, "value": v, "source": "EVAL"}
                for n, v in (("depth", 3 + i), ("tone", 5))
            ]} for i in range(4)
        ],
        "langsmith": {"runs": [
            {"run_id": f"r{i}", "outputs": {"t": "x"}, "feedback": [{"key": "ok", "score": i % 2}]}
            for i in range(4)
        ]},
        "braintrust": {"events": [
            {"id": f"e{i}", "input": "?", "scores": {"verdict": 0.25 * i}} for i in range(4)
        ]},
        "weave": {"calls": [
            {"id": f"c{i}", "output": {"scorer": {"passed": i % 2 == 0}}} for i in range(4)
        ]},
    }  # fmt: skip
    lines = {
        "braintrust": [
            {"id": f"e{i}", "input": {"q": "?"}, "scores": {"Factuality": 0.25 * i}}
            for i in range(4)
        ],
        "langsmith": [
            {"id": f"r{i}", "run": {"id": i}, "feedback_stats": {"ok": {"n": 1, "avg": 0.5 * i}}}
            for i in range(4)
        ],
    }
    for name, document in [*exports.items(), *lines.items()]:
        path = tmp_path / f"{name}.json"
        path.write_text(
            "\n".join(map(json.dumps, document)) if document in lines.values()
            else json.dumps(document)
        )  # fmt: skip
        with pytest.raises(OpenQuestionError) as asked:
            read_judgments(path)
        found = read_judgments(path, **asked.value.answers[0].options.set_options())
        assert found["item_id"].nunique() == 4, name
        assert found["status"].eq("ok").all(), name


def test_several_nested_criteria_are_read_at_once_and_items_are_called_items(tmp_path):
    path = tmp_path / "nested.json"
    rows = [
        {"id": f"i{i}", "scores": {"tone": {"value": 2 + i}, "depth": {"value": 6 - i}}}
        for i in range(4)
    ]
    path.write_text(json.dumps(rows))
    judged = read_judgments(path)
    assert set(judged["condition"]) == {"judge, criterion=tone", "judge, criterion=depth"}
    assert judged["score"].tolist() == [2.0, 3.0, 4.0, 5.0, 6.0, 5.0, 4.0, 3.0]
    path.write_text(json.dumps({"examples": [{"input": "1 + 1 =", "target": "2 of them"}] * 3}))
    with pytest.raises(InputError, match="These look like items, not judgments"):
        read_judgments(path)


def test_paths_through_two_lists_side_by_side_are_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"a": [{"id": 1}], "b": [{"score": 2}]}))
    with pytest.raises(InputError, match="two lists side by side"):
        read_judgments(path, mapping={"item_id": "a[].id", "score": "b[].score"})


def test_a_lone_score_far_away_is_named_and_two_scales_are_refused():
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"item": range(60), "score": rng.integers(1, 11, 60)})
    rows.loc[17, "score"] = 100
    (note,) = read_judgments(rows).attrs["notes"]
    assert "100 in row 18" in note
    two = pd.DataFrame(
        {
            "item": [*range(40), *range(40)],
            "judge": ["small"] * 40 + ["large"] * 40,
            "score": [*rng.integers(1, 6, 40), *rng.integers(10, 101, 40)],
        }
    )
    with pytest.raises(InputError, match=r"two scales: small gives up to 5, large up to \d+"):
        read_judgments(two)
    assert len(read_judgments(two, scale=(0, 100))) == 80


def in_two_orders(share_right, rng):
    better = rng.choice(["a", "b"], 60)
    other = np.where(better == "a", "b", "a")
    return better, other, rng.random(60) < share_right


def test_second_orders_given_as_shown_are_noticed_and_turned():
    rng = np.random.default_rng(6)
    better, other, right = in_two_orders(0.95, rng)
    said = np.where(right, better, other)
    shown_later = np.where(said == "a", "b", "a")
    frame = pd.DataFrame(
        {
            "item": [*range(60)] * 2,
            "order": ["ab"] * 60 + ["ba"] * 60,
            "winner": [*said, *shown_later],
        }
    )
    with pytest.raises(InputError, match="--as-shown"):
        read_judgments(frame)
    turned = read_judgments(frame, as_shown=True)
    by_order = turned.pivot(index="item_id", columns="order", values="choice")
    assert (by_order["ab"] == by_order["ba"]).all()
    # A judge that always takes the first place is no such mistake.
    first = frame.assign(winner=["a"] * 60 + ["b"] * 60)
    assert len(read_judgments(first)) == 120


def test_a_row_still_to_be_labelled_names_no_person(tmp_path):
    judged = pd.DataFrame({"item_id": list("abcdef"), "verdict": [1, 0, 1, 0, 1, 1]})
    (tmp_path / "labels.csv").write_text("item_id,label,annotator\na,1,x\nb,0,x\nc,,\nd,0,x\n")
    frame = read_judgments(judged, labels=tmp_path / "labels.csv")
    people = [c for c in frame if c.startswith("label_")]
    assert all("nan" not in c for c in people)
    assert frame.set_index("item_id")["label"].to_dict() == {
        "a": "pass", "b": "fail", "c": "", "d": "fail", "e": "", "f": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ([{"id": i, "scores": str([i, 3])} for i in range(5)], "explode=('scores',)"),
        (
            [{"id": i, "output": f"a long and winding reply. Score: {i}"} for i in range(9)],
            "parse='pointwise'",
        ),
        ([{"q0": f"q{i}", "gpt": "gpt", "6": i} for i in range(1, 9)], "Is its first row data?"),
        ([{"id": i, "grade": "ABCDF"[i % 5]} for i in range(9)], "kind='category'"),
    ],
)
def test_what_is_missing_is_looked_for_in_the_columns_that_are_there(rows, hint):
    with pytest.raises(InputError) as told:
        read_judgments(rows)
    assert hint in str(told.value)


def test_metrics_in_rows_are_criteria_with_a_value():
    rows = [{"id": i, "metric": m, "value": i % 5 + 1} for i in range(9) for m in ("x", "y")]
    found = read_judgments(rows)
    assert set(found["condition"]) == {"judge, metric=x", "judge, metric=y"}


def test_a_question_and_a_system_name_an_item_where_no_column_has_its_id():
    rows = [
        {"question": f"q{i}", "system": s, "judge": j, "score": 3 + i}
        for i in range(4)
        for s in "AB"
        for j in "xy"
    ]
    frame = read_judgments(rows)
    assert (frame["item_id"].nunique(), frame["cluster"].nunique()) == (8, 4)
    assert "item = question + system" in frame.attrs["understood"][1]
    alone = read_judgments([{k: v for k, v in row.items() if k != "system"} for row in rows])
    assert set(alone["item_id"]) == {"q0", "q1", "q2", "q3"}
    named = read_judgments([{**row, "id": f"{row['question']}{row['system']}"} for row in rows])
    assert named["item_id"].nunique() == 8
    assert set(named["cluster"]) == {"q0", "q1", "q2", "q3"}


@pytest.mark.parametrize("scale", ["1-10", " 1 - 10 ", "1..10", (1, 10), [1.0, 10.0]])
def test_a_scale_is_written_as_on_the_command_line_or_as_two_numbers(scale):
    assert read_judgments(long(), scale=scale).attrs["scale"] == (1.0, 10.0)


@pytest.mark.parametrize("scale", ["ten", "1-", "", 5, (1,), (1, 2, 3), ("a", "b"), "1-inf"])
def test_what_is_no_scale_is_refused_before_the_data_are_read(scale):
    with pytest.raises(InputError, match="--scale: expected LOWEST-HIGHEST"):
        read_judgments("no-such-file.csv", scale=scale)


def test_a_scale_below_zero_is_read():
    rows = [{"item": i, "score": v} for i, v in enumerate((-5, 0, 5))]
    assert read_judgments(rows, scale="-5-5").attrs["scale"] == (-5.0, 5.0)


def test_question_beside_items_own_ids_is_the_cluster_unless_it_is_another_thing():
    rows = [
        {"item_id": i, "question_id": f"q{int(i[1]) // 2}", "judge": "g", "run": r, "score": r + 1}
        for i in ("a0", "a1", "b2", "b3")
        for r in (0, 1, 2, 3)
    ]
    read = read_judgments(rows)
    assert read.groupby("item_id")["cluster"].first().to_dict() == {
        "a0": "q0", "a1": "q0", "b2": "q1", "b3": "q1",
    }  # fmt: skip
    assert (read_judgments(rows, ignore="question_id")["cluster"] == read["item_id"]).all()
    alone = [{**r, "question_id": r["item_id"]} for r in rows]
    assert (read_judgments(alone)["cluster"] == read["item_id"]).all()


def test_a_criterion_of_ones_and_twos_beside_scores_is_a_score(tmp_path):
    path = tmp_path / "criteria.csv"
    rows = [
        f"q{i},{m},{v}" for i in range(6) for m, v in (("tone", 1 + i % 5), ("depth", 1 + i % 2))
    ]
    path.write_text("id,metric,verdict\n" + "\n".join(rows))
    found = read_judgments(path)
    assert found["choice"].eq("").all()
    assert found["score"].notna().all()


def test_another_tools_status_is_left_out_where_it_is_said_to_be(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("id,score,status\n" + "\n".join(f"q{i},{i},step{i}" for i in range(5)))
    with pytest.raises(InputError, match="--ignore status"):
        read_judgments(path)
    assert read_judgments(path, ignore=["status"])["status"].eq("ok").all()


class Stream:
    """A frame of nobody known, with the Arrow stream protocol; it can be read once."""

    def __init__(self, table):
        self.table, self.read = table, False

    def __arrow_c_stream__(self, requested_schema=None):
        assert not self.read
        self.read = True
        return self.table.__arrow_c_stream__(requested_schema)


class Relation(Stream):
    """As DuckDB's relations: rows come in batches, and the stream would hold all of them twice."""

    def to_arrow_reader(self, size):
        return self.table.to_reader(size)


class Dataset:
    """As the datasets of Hugging Face, which have no stream."""

    def __init__(self, table):
        self.table = table

    def with_format(self, name):
        return {"arrow": self}[name]

    def __getitem__(self, rows):
        return {(None, None): self.table}[rows.start, rows.stop]


class Lazy(Stream):
    """As a lazy frame, which is collected first."""

    def __getattribute__(self, name):
        if name == "__arrow_c_stream__":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def collect(self):
        return Stream(self.table)


@pytest.mark.parametrize("frame_of", [Stream, Relation, Dataset, Lazy])
def test_frames_are_read_by_methods_of_their_own(frame_of):
    table = pyarrow.Table.from_pandas(long())
    assert essence(read_judgments(frame_of(table))) == essence(read_judgments(long()))


def test_a_frame_of_several_splits_is_refused_by_name():
    with pytest.raises(InputError, match=r"Give one: data\['train'\]"):
        read_judgments({"train": Dataset(None), "test": Dataset(None)})


@pytest.mark.parametrize(
    ("address", "command"),
    [
        ("https://a.org/x.csv", "curl -LO https://a.org/x.csv"),
        ("ftp://b/x y.csv", "curl -O 'ftp://b/x y.csv'"),
        ("hf://datasets/o/n/x.parquet", "hf download o/n x.parquet --repo-type dataset"),
    ],
)
@pytest.mark.parametrize(
    "words",
    [["analyze", "FILE"], ["doctor", "FILE"], ["drift", "FILE", "FILE"], ["check", "FILE"],
     ["labels", "plan", "FILE", "--labels", "5"],
     ["monitor", "FILE", "--state", "s.db", "--rate", "a=b:c"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_an_address_is_refused_with_the_way_to_download_it(words, address, command, capsys):
    assert main([address if w == "FILE" else w for w in words]) == 2
    assert capsys.readouterr().err.strip().endswith(f"Download it first: {command}")


def test_cells_with_literals_of_python_are_read_as_json_is(tmp_path):
    cells = [{"tone": 1 + i % 5, "note": "it's", "safe": bool(i % 2)} for i in range(20)]
    table = pd.DataFrame({"id": [f"q{i}" for i in range(20)], "scores": list(map(str, cells))})
    table.to_csv(tmp_path / "python.csv", index=False)
    table.assign(scores=list(map(json.dumps, cells))).to_csv(tmp_path / "json.csv", index=False)
    one, other = (
        read_judgments(tmp_path / f"{kind}.csv", mapping={"score": "scores.tone"})
        for kind in ("python", "json")
    )
    pd.testing.assert_frame_equal(one, other)
    table["scores"] = "{" * 200 + "'deep"
    table.to_csv(tmp_path / "deep.csv", index=False)
    with pytest.raises(InputError, match="there is nothing at"):
        read_judgments(tmp_path / "deep.csv", mapping={"score": "scores.tone"})
