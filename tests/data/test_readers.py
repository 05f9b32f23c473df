"""Judgments that people already have, in the shapes they have them."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.errors import InputError

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "rewardbench2_k8"


def write(path, text):
    path.write_text(text)
    return path


def test_columns_are_understood_by_their_usual_names(tmp_path):
    file = write(tmp_path / "a.csv", "question_id,judge_model,trial,rating\n7,J,1,3\n7,J,2,4\n")
    found = read_judgments(file)
    assert found["item_id"].tolist() == ["7", "7"]
    assert found["judge"].tolist() == ["J", "J"]
    assert found["score"].tolist() == [3, 4]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet", "csv.gz", "jsonl.gz"])
def test_every_format_gives_the_same_frame(tmp_path, kind):
    table = pd.DataFrame({"item": ["a", "a", "b"], "trial": [1, 2, 1], "score": [7.0, 8.0, np.nan]})
    path = tmp_path / f"f.{kind}"
    if "csv" in kind:
        table.to_csv(path, index=False)
    elif kind == "tsv":
        table.to_csv(path, index=False, sep="\t")
    elif "jsonl" in kind:
        table.to_json(path, orient="records", lines=True)
    elif kind == "json":
        table.to_json(path, orient="records")
    else:
        table.to_parquet(path)
    found = read_judgments(path)
    assert found["item_id"].tolist() == ["a", "a", "b"]
    assert found["status"].tolist() == ["ok", "ok", "missing"]


def test_a_word_in_a_score_column_is_a_status_not_a_number(tmp_path):
    file = write(tmp_path / "a.csv", "item,score\na,7\na,n.a. (error)\nb,8\n")
    found = read_judgments(file)
    assert found["status"].tolist() == ["ok", "not_applicable", "ok"]
    assert "n.a. (error)" in found["reason"][1]
    assert np.isnan(found["score"][1])


def test_replicates_are_numbered_where_no_column_does(tmp_path):
    file = write(tmp_path / "a.csv", "item,score\na,7\nb,1\na,8\n")
    assert read_judgments(file)["replicate"].tolist() == [0, 0, 1]


def test_factors_tell_conditions_apart(tmp_path):
    file = write(tmp_path / "a.csv", "item,score,style\na,7,x\na,8,y\nb,7,x\nb,8,y\n")
    assert set(read_judgments(file, factors=("style",))["condition"]) == {
        "judge, style=x",
        "judge, style=y",
    }


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("item,score\n", {}, "holds no judgments"),
        ("", {}, "empty"),
        ("item,mark\na,1\n", {}, "no column holds the verdicts. The file has: item, mark"),
        ("thing,score\na,1\n", {}, "no column names items. The file has: thing, score"),
        ("item,score\na,b\n", {}, "no entry of the column 'score' is a number"),
        ("item,score\na,1\n", {"mapping": {"score": "rating"}}, "no column 'rating'"),
        ("item,score\na,1\n", {"mapping": {"scores": "score"}}, "is not a role"),
        ("item,score\na,1\n", {"factors": ("x",)}, "no column 'x'"),
        ("item,score\na,1\n", {"reader": "nonsense"}, "unknown reader"),
        ("item,score,temperature\na,1,hot\n", {}, "not a number"),
        ("item,score,status\na,1,fine\n", {}, "holds the status 'fine'"),
        ('item,score\n"a,1\n', {}, "not readable as a table|no judgments|no entry"),
        ("item,score,score\na,1,2\n", {}, "has the column 'score' twice"),
        ("item,score\na,1,2\nb,1,2\n", {}, "not readable as a table"),
        ("item,score\na,1\nb,1,2\n", {}, "not readable as a table"),
    ],
)
def test_bad_files_get_one_clear_sentence(tmp_path, text, options, said):
    with pytest.raises(InputError, match=said):
        read_judgments(write(tmp_path / "a.csv", text), **options)


def test_names_are_kept_as_they_are_written(tmp_path):
    text = "item,judge,score,style\n001,NA,1,0.10\n1,NA,NA,0.1\nNone,NA,3,0.10\n"
    found = read_judgments(write(tmp_path / "a.csv", text), factors=("style",))
    assert found["item_id"].tolist() == ["001", "1", "None"]
    assert set(found["judge"]) == {"NA"}
    assert found["factor_style"].tolist() == ["0.10", "0.1", "0.10"]
    assert found["status"].tolist() == ["ok", "missing", "ok"]


def test_a_spreadsheets_csv_with_byte_order_mark_semicolons_and_decimal_commas(tmp_path):
    text = "\ufeffitem;score;temperature\na;3,5;0,7\na;4;0,7\nb;parse error;0,7\n"
    found = read_judgments(write(tmp_path / "a.csv", text))
    assert found["item_id"].tolist() == ["a", "a", "b"]
    assert found["score"].tolist()[:2] == [3.5, 4.0]
    assert found["status"].tolist() == ["ok", "ok", "unparseable"]
    assert set(found["temperature"]) == {0.7}


def test_bad_json_names_its_line(tmp_path):
    file = write(tmp_path / "a.jsonl", '{"item": "a", "score": 1}\n{oops\n')
    with pytest.raises(InputError, match="line 2 is not valid JSON"):
        read_judgments(file)


def test_files_that_are_not_there_or_not_files(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_judgments(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_judgments(tmp_path)
    with pytest.raises(InputError, match="ending"):
        read_judgments(write(tmp_path / "a.pkl", "x"))


def _record(identity, scores, errors=None):
    record = {"id": identity, "subset": "Math", "full_scores": scores}
    if errors:
        record["full_errors"] = errors
    return json.dumps(record) + "\n"


def test_rewardbench2_null_is_a_failed_call_and_ids_repeat_across_subsets(tmp_path):
    path = tmp_path / "base_t0.7.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(_record("1", [[7, None], [2, 3]], [[None, "timeout"], [None, None]]))
        file.write(_record("1", [[7, 7], [2, 2]]).replace("Math", "Safety"))
    found = read_judgments(path)
    assert found["cluster"].nunique() == 2
    assert found["item_id"].nunique() == 4
    failed = found[found["status"] == "failed"]
    assert failed["reason"].tolist() == ["timeout"]
    assert failed["score"].isna().all()
    assert set(found["temperature"]) == {0.7}
    assert set(found.loc[found["item_id"].str.endswith("/0"), "correct"]) == {"yes"}


def test_rewardbench2_real_file():
    path = DATA / "base_both_k8.jsonl.gz"
    if not path.exists():
        pytest.skip("the shared data folder is not beside this checkout")
    found = read_judgments(path)
    assert found["item_id"].nunique() == 6920
    assert found["cluster"].nunique() == 1730
    assert int((found["status"] == "failed").sum()) == 38
    assert found["score"].dropna().between(1, 10).all()
