"""A user's own tables: shapes, mapping, and what every kind of bad file gets."""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgestats.errors import InputError
from judgestats.items import Item, parse_mapping, read_items, read_source

Rows = list[dict[str, Any]]


def write_jsonl(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_json(path: Path, rows: Rows) -> Path:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def write_csv(path: Path, rows: Rows) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(
            stream, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ","
        )
        writer.writeheader()
        writer.writerows(
            {k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows
        )
    return path


def write_parquet(path: Path, rows: Rows) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def write_gz(path: Path, rows: Rows) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    return path


WRITERS: dict[str, Callable[[Path, Rows], Path]] = {
    "t.jsonl": write_jsonl,
    "t.json": write_json,
    "t.csv": write_csv,
    "t.tsv": write_csv,
    "t.parquet": write_parquet,
    "t.jsonl.gz": write_gz,
}


@pytest.fixture(params=list(WRITERS))
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Rows], Path]:
    return lambda rows: WRITERS[request.param](tmp_path / request.param, rows)


def test_one_response_a_row_in_every_format(write: Callable[[Rows], Path]) -> None:
    path = write(
        [
            {"prompt_text": 'Say "hi",\nplease', "answer": "hi", "model": "m1", "topic": "x"},
            {"prompt_text": 'Say "hi",\nplease', "answer": "[1, 2]", "model": "m2", "topic": "x"},
            {"prompt_text": "Naïve ☃?", "answer": "ja", "model": "m1", "topic": "y"},
        ]
    )
    items = read_items(path, mapping="question=prompt_text,response=answer")
    assert [item.id for item in items] == ["row-1", "row-2", "row-3"]
    assert [item.cluster for item in items] == ["row-1", "row-1", "row-3"]
    assert [item.responses[0].text for item in items] == ["hi", "[1, 2]", "ja"]
    assert [item.responses[0].author for item in items] == ["m1", "m2", "m1"]
    assert items[2].category == "y"
    assert items == read_items(path, mapping={"question": "prompt_text", "response": "answer"})


def test_turns_as_lists_in_every_format(write: Callable[[Rows], Path]) -> None:
    path = write(
        [
            {"question": ["Why?", "And?"], "response": ["So.", "More."], "reference": ["r", "s"]},
            {"question": ["Who?", "When?"], "response": ["I.", "Now."], "reference": ["t", "u"]},
        ]
    )
    first, second = read_items(path)
    assert (first.turns, first.responses[0].turns) == (("Why?", "And?"), ("So.", "More."))
    assert (second.question, second.responses[0].text) == ("When?", "Now.")
    assert second.reference == ("t", "u")


def test_responses_as_a_list_column_in_every_format(write: Callable[[Rows], Path]) -> None:
    path = write(
        [
            {"id": "q1", "question": "Why?", "responses": ["So.", "No."], "author": ["m1", "m2"]},
            {"id": "q2", "question": "Who?", "responses": ["I.", "You."], "author": ["m1", "m2"]},
        ]
    )
    items = read_items(path)
    assert [item.id for item in items] == ["q1", "q2"]
    assert [(r.text, r.author) for r in items[0].responses] == [("So.", "m1"), ("No.", "m2")]


def test_responses_as_objects(tmp_path: Path) -> None:
    rows = [
        {
            "question": "Why?",
            "responses": [{"text": "So.", "model": "m1"}, {"response": "No.", "author": "m2"}],
        }
    ]
    (item,) = read_items(write_jsonl(tmp_path / "t.jsonl", rows))
    assert [(r.text, r.author) for r in item.responses] == [("So.", "m1"), ("No.", "m2")]


def test_pairs_in_every_format(write: Callable[[Rows], Path]) -> None:
    path = write(
        [
            {"instruction": "Why?", "response1": "So.", "response2": "No.", "winner": "model_b"},
            {"instruction": "Who?", "response1": "I.", "response2": "You.", "winner": "tie"},
        ]
    )
    first, second = read_items(path)
    assert [r.text for r in first.responses] == ["So.", "No."]
    assert [x.winner for x in first.labels + second.labels] == ["b", "tie"]


def test_pairs_with_several_annotators_become_one_item(tmp_path: Path) -> None:
    pair = {"question": "Why?", "response_a": "So.", "response_b": "No."}
    rows = [
        {**pair, "winner": "a", "annotator": "ann"},
        {**pair, "winner": "tie", "annotator": "bob"},
        {**pair, "winner": None, "annotator": "cy"},
    ]
    (item,) = read_items(write_jsonl(tmp_path / "t.jsonl", rows))
    assert [(x.annotator, x.winner) for x in item.labels] == [("ann", "a"), ("bob", "tie")]


def test_context_cluster_quality_and_numeric_ids(tmp_path: Path) -> None:
    rows = [
        {
            "id": 7,
            "group": 1,
            "instruction": "Sum up.",
            "input": "Text.",
            "output": "T",
            "quality": 1,
        }
    ]
    (item,) = read_items(write_json(tmp_path / "t.json", rows))
    assert (item.id, item.cluster, item.context) == ("7", "1", "Text.")
    assert item.responses[0].quality == 1.0


def test_the_same_question_with_another_context_is_another_cluster(tmp_path: Path) -> None:
    rows = [{"question": "Sum up.", "context": c, "response": "T"} for c in "xyx"]
    items = read_items(write_jsonl(tmp_path / "t.jsonl", rows))
    assert [item.cluster for item in items] == ["row-1", "row-2", "row-1"]


def test_line_separators_inside_a_json_text_do_not_end_the_line(tmp_path: Path) -> None:
    row = {"question": "a\u2028b\x85c", "response": "d"}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_items(path)[0].question == "a\u2028b\x85c"


def test_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfquestion,response\r\nWhy?,So.\r\n\r\n")
    assert read_items(path)[0].responses[0].text == "So."


ONE = {"question": "Why?", "response": "So."}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.jsonl", "", r"t\.jsonl has no row"),
        ("t.csv", " \n", r"t\.csv has no row"),
        ("t.csv", "question,response\n", r"has no row"),
        ("t.json", "[]", r"must hold a list of objects \(at least one\)"),
        ("t.json", "3", r"must hold a list of objects"),
        ("t.json", "[1]", r"record 1 must be an object, not 1"),
        ("t.jsonl", json.dumps(ONE) + "\n{oops\n", r"t\.jsonl, line 2 is not valid JSON"),
        ("t.jsonl", "\n\n[1]\n", r"line 3 holds \[1\], not a JSON object"),
        ("t.jsonl", "[" * 100_000, r"line 1 is nested deeper than 64 levels"),
        ("t.jsonl", json.dumps({"question": "Why?", "response": ""}), r"'response' is empty"),
        ("t.jsonl", json.dumps({"question": "Why?", "response": " \t"}), r"'response' is empty"),
        ("t.csv", "question,response\nWhy?,\n", r"line 2: 'response' is empty"),
        ("t.jsonl", json.dumps({"question": "", "response": "x"}), r"'question' is empty"),
        ("t.jsonl", json.dumps({"question": 3, "response": "x"}), r"'question' must be a text"),
        ("t.jsonl", json.dumps({"question": "q", "response": True}), r"'response' must be a text"),
        ("t.jsonl", json.dumps({"question": [], "response": "x"}), r"'question' is an empty list"),
        (
            "t.jsonl",
            json.dumps({"question": ["a", "b"], "response": "x"}),
            r"question has 2 turn\(s\) but response 1 has 1",
        ),
        ("t.jsonl", json.dumps({**ONE, "id": True}), r"'id' must be text, not bool"),
        ("t.jsonl", json.dumps({**ONE, "quality": 7}), r"'quality' must be a number in 0-1, not 7"),
        ("t.jsonl", json.dumps({"a": 1}), r"no column holds the question; the file has \['a'\]"),
        ("t.jsonl", json.dumps({"question": "q"}), r"no column holds the responses"),
        ("t.json", '{"a": 1}', r"the layout is not known"),
        ("t.csv", "a,a\n1,2\n", r"has the column\(s\) \['a'\] twice"),
        ("t.csv", "question,response\nWhy?,So.,more\n", r"line 2 has 3 cells but the header 2"),
        ("t.csv", 'question,response\n"Why?,So.\n', r"not readable as a table"),
        (
            "t.jsonl",
            json.dumps({"question": "q", "responses": "not json"}),
            r"'responses' must be a JSON list",
        ),
        ("t.jsonl", json.dumps({"question": "q", "responses": []}), r"at least one response"),
        (
            "t.jsonl",
            json.dumps({"question": "q", "responses": ["a", "b"], "author": ["x"]}),
            r"has 2 responses but .* 1 authors",
        ),
        (
            "t.jsonl",
            json.dumps({"question": "q", "response_a": "a", "response_b": "b", "winner": "me"}),
            r"must say who wins: a, b or tie",
        ),
        ("t.txt", "x", r"the format of 't\.txt' is not known"),
        ("noending", "x", r"the format of 'noending' is not known"),
        ("t.parquet", "PAR1 this is not parquet", r"not readable as Parquet"),
        ("t.jsonl.gz", "this is not gzip", r"line 1 is not valid JSON"),
    ],
)
def test_bad_file(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_items(path)
    assert len(str(caught.value)) < 700


def test_no_such_file_and_names_the_system_refuses(tmp_path: Path) -> None:
    for name in ("absent.csv", "absent", "gpt-4o"):  # whatever the ending: it is missing
        with pytest.raises(InputError, match="there is no file"):
            read_items(tmp_path / name)
    for name in ("x" * 5000 + ".csv", "a\0b.csv"):
        with pytest.raises(InputError, match="there is no file"):
            read_items(name)


def test_a_folder_that_is_none_of_the_layouts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds neither MT-Bench"):
        read_items(tmp_path)


def test_missing_mapped_column_names_file_column_and_columns(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "mine.csv", [ONE])
    with pytest.raises(InputError) as caught:
        read_items(path, mapping="question=prompt_text")
    text = str(caught.value)
    for part in ("mine.csv", "'prompt_text'", "'question'", "'response'", "Correct the mapping"):
        assert part in text


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("question,response\nWarum?,Grün\n".encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8"):
        read_items(path)


def test_sizes_are_bounded(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "t.jsonl", [{"question": "Why?", "response": "x" * 1001}])
    with pytest.raises(InputError, match=r"'response' has 1,001 characters; at most 1,000"):
        read_items(path, max_chars=1000)
    bomb = tmp_path / "bomb.csv.gz"
    with gzip.open(bomb, "wb") as stream:
        stream.write(b" " * 2_000_000)
    assert bomb.stat().st_size < 10_000
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        read_source(bomb, max_bytes=1_000_000)
    table = write_parquet(tmp_path / "t.parquet", [{"question": str(i)} for i in range(5000)])
    with pytest.raises(InputError, match="more than 10,000 bytes"):
        read_source(table, max_bytes=10_000)


def write_random_rows(path: Path, count: int, *, end: str = "\n") -> Path:
    """A gzipped table whose end is cut off: who reads it to its end is told so."""
    seeded = random.Random(20)
    rows = (f"{seeded.random()},{seeded.random()}{end}" for _ in range(count))
    whole = gzip.compress(f"question,response{end}{''.join(rows)}".encode())
    path.write_bytes(whole[:-12])
    return path


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_too_many_rows_are_refused_before_the_file_is_read_to_its_end(
    tmp_path: Path, end: str
) -> None:
    path = write_random_rows(tmp_path / "t.csv.gz", 30_000, end=end)
    with pytest.raises(InputError, match=r"t\.csv\.gz has more than 100 rows\. Keep the items"):
        read_source(path, max_rows=100)
    with pytest.raises(InputError, match="not readable as"):
        read_source(path, max_rows=30_000)


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (write_csv, "t.csv"),
        (write_csv, "t.tsv"),
        (write_jsonl, "t.jsonl"),
        (write_json, "t.json"),
        (write_parquet, "t.parquet"),
    ],
)
def test_rows_and_values_are_bounded_in_every_format(
    tmp_path: Path, write: Callable[[Path, Rows], Path], name: str
) -> None:
    path = write(
        tmp_path / name, [{"question": f"Why {i}?", "response": "x\ny"} for i in range(50)]
    )
    assert len(read_source(path, max_rows=50).rows) == 50
    with pytest.raises(InputError, match=r"more than 49 (rows|lines)"):
        read_source(path, max_rows=49)
    wide = write(tmp_path / name, [{f"c{i}": "x" for i in range(300)}] * 2)
    with pytest.raises(InputError, match=r"\d cells; at most 500 are read"):
        read_source(wide, max_rows=50)


def test_a_cut_gzip_file(tmp_path: Path) -> None:
    path = write_gz(tmp_path / "t.jsonl.gz", [ONE] * 50)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(InputError, match="not readable as gzip"):
        read_items(path)


def test_empty_responses_can_be_kept(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [{"question": "Why?", "response": ""}])
    assert read_items(path, empty_ok=True)[0].responses[0].turns == ("",)


def test_options_without_effect_are_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [ONE])
    with pytest.raises(InputError, match="turn has no effect on the layout table"):
        read_items(path, turn=2)
    with pytest.raises(InputError, match="there is no layout 'mtbench'"):
        read_items(path, layout="mtbench")
    with pytest.raises(InputError, match="the layout mt_bench is a folder"):
        read_items(path, layout="mt_bench")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question", "not of the form field=column"),
        ("question=", "not of the form field=column"),
        ("=x", "not of the form field=column"),
        ("question=a,question=b", "mapped twice"),
        ("prompt=a", "'prompt' is not a field of an item"),
    ],
)
def test_bad_mapping(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_mapping(text)


def test_mapped_columns_are_taken_for_nothing_else(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "t.jsonl", [{"answer": "Why?", "text": "So.", "prompt": "no"}])
    (item,) = read_items(path, mapping="question=answer")
    assert isinstance(item, Item)
    assert (item.question, item.responses[0].text) == ("Why?", "So.")
