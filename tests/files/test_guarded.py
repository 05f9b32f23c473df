"""Files that want more than a reader gives, and what is said of them."""

import gzip
import json
import sqlite3
import zipfile
from datetime import datetime

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest

from judgestats.errors import InputError
from judgestats.files import (
    Limits,
    NestedError,
    archive,
    decode_json,
    foreign,
    json_document,
    lines,
    parquet_table,
    records,
    separated_table,
    sqlite_table,
    text_lines,
    workbook_table,
)


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["item", "score", "seen", "ok", "note"])
    sheet.append(["a & b", 1.5, datetime(2026, 1, 2, 3, 4, 5), True, None])
    sheet.append([None, None, None, None, None])
    sheet.append(["c\u00e9", 7, datetime(2024, 2, 29), False, "x"])
    path = tmp_path / "t.xlsx"
    book.save(path)
    return path


def rewritten(path, part, change):
    with zipfile.ZipFile(path) as source:
        kept = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(path, "w") as out:
        for name, data in kept.items():
            out.writestr(name, change(data) if name.endswith(part) else data)


def test_a_workbook_is_read_as_the_library_that_wrote_it_reads_it(workbook):
    table = workbook_table(workbook)
    sheet = openpyxl.load_workbook(workbook, data_only=True).active
    header, *rows = [r for r in sheet.iter_rows(values_only=True) if any(c is not None for c in r)]
    assert list(table) == list(header)
    for name, column in zip(header, zip(*rows, strict=True), strict=True):
        read = table[name].astype(object)
        assert read.where(read.notna(), None).tolist() == list(column)


FAR = b"<row r='1048576'><c r='XFD1048576'><v>1</v></c></row></sheetData>"
TYPED = b"<!DOCTYPE w [<!ENTITY e 'x'>]><worksheet"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"<worksheet", TYPED, "sheet1.xml holds a document type definition"),
        (b"<sheetData>", b"<a>" * 70 + b"<sheetData>", "sheet1.xml is nested too deeply"),
        (b"</sheetData>", FAR, "17,179,869,184 cells; at most 200,000,000"),
        (b"</sheetData>", b"</sheet", "not readable as XLSX"),
    ],
)
def test_a_workbook_that_asks_for_more_than_its_cells_is_refused(workbook, old, new, said):
    rewritten(workbook, "sheet1.xml", lambda data: data.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        workbook_table(workbook)


def test_a_workbook_without_its_sheet_says_so(workbook):
    with zipfile.ZipFile(workbook) as source:
        kept = {n: source.read(n) for n in source.namelist() if "sheet1" not in n}
    with zipfile.ZipFile(workbook, "w") as out:
        for name, data in kept.items():
            out.writestr(name, data)
    with pytest.raises(InputError, match=r"it lacks sheet1\.xml"):
        workbook_table(workbook)


def test_rows_far_below_the_others_are_not_read(workbook):
    row = b"<row r='30000'><c r='A30000' t='str'><v>far</v></c></row></sheetData>"
    rewritten(workbook, "sheet1.xml", lambda data: data.replace(b"</sheetData>", row))
    assert workbook_table(workbook)["item"].tolist() == ["a & b", "c\u00e9"]


@pytest.mark.parametrize("name", ["../a.json", "/etc/a.json", "a/../../b.json", "..\\a.json"])
def test_a_member_that_leads_out_of_an_archive_is_refused(tmp_path, name):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(name, "{}")
    with pytest.raises(InputError, match="leads out of the archive"), archive(path):
        pass


def test_limits_hold_while_a_table_is_read(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("item,score\n" + 'a,"1\n\n"\n' * 500)
    for limits, said in (
        (Limits(rows=400), "more than 400 rows"),
        (Limits(columns=1), "2 columns in its first row; at most 1"),
        (Limits(expanded_bytes=100), "holds more than 100 bytes"),
        (Limits(seconds=-1), "takes more than -1 s"),
    ):
        with pytest.raises(InputError, match=said):
            separated_table(path, ",", lambda _: [], limits=limits)
    long = tmp_path / "long.csv"
    long.write_text("item,score\n" + "a" * 700_000 + ",1\n")
    with pytest.raises(InputError, match="a line longer than 300,000 bytes"):
        separated_table(long, ",", lambda _: [], limits=Limits(line_bytes=300_000))
    # line ends within quotes are no rows
    assert len(separated_table(path, ",", lambda _: [], limits=Limits(rows=502))) == 500
    monkeypatch.setenv("JUDGESTATS_MAX_BYTES", "much")
    with pytest.raises(InputError, match="JUDGESTATS_MAX_BYTES='much' is not a size"):
        separated_table(path, ",", lambda _: [])


def test_compressed_files_are_read_and_weighed(tmp_path):
    packed = tmp_path / "t.csv.zst"
    with pa.CompressedOutputStream(str(packed), "zstd") as out:
        out.write(b"item,score\na,1\n")
    assert separated_table(packed, ",", lambda _: []).to_dict("list") == {
        "item": ["a"],
        "score": [1],
    }
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(b"item,score\n" + b"a,1\n" * 70_000_000, 6, mtime=0))
    with pytest.raises(InputError, match=r"expands to more than 256 MiB \(gzip\)"):
        separated_table(bomb, ",", lambda _: [])


def test_views_are_refused_and_tables_beside_them_read(tmp_path):
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as link:
        link.execute("create view v as select 1 as item")
    link.close()
    with pytest.raises(InputError, match="'v' is a view; judgestats reads tables only"):
        sqlite_table(path)
    with sqlite3.connect(path) as link:
        link.execute("create table t(item, score)")
        link.execute("insert into t values ('a', 1)")
    link.close()
    with pytest.raises(InputError, match="is a view"):
        sqlite_table(path, "v")
    assert sqlite_table(path).to_dict("list") == {"item": ["a"], "score": [1]}
    with pytest.raises(InputError, match="takes more than -1 s"):
        sqlite_table(path, limits=Limits(seconds=-1))
    with sqlite3.connect(path) as link:
        link.execute("insert into t values (cast(x'ff' as text), 2)")
    link.close()
    with pytest.raises(InputError, match="utf-8"):
        sqlite_table(path)


def test_what_pandas_notes_in_parquet_is_not_followed(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"item": ["a", "a"], "score": [1, None]}, index=[7, 9])
    frame.to_parquet(path)
    read = parquet_table(path)
    assert list(read) == ["item", "score"]
    assert read.index.tolist() == [0, 1]
    for limits, said in (
        (Limits(columns=2), "3 columns"),
        (Limits(cells=5), "6 cells; at most 5"),
        (Limits(expanded_bytes=1), "expands to more than 1 bytes .Parquet, 1 row groups"),
    ):
        with pytest.raises(InputError, match=said):
            parquet_table(path, limits)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("[" * 65 + "]" * 65, "nested deeper than 64 levels"),
        ("[" * 200_000, "nested deeper than 64 levels"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        (f"[{'9' * 401}]", "a number has 401 digits"),
        (f"[0.{'9' * 500}]", "a number has 502 digits"),
        (json.dumps([1] * 200), "more than 100 values"),
        ("[NaN]", "NaN is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
    ],
)
def test_json_is_refused_by_its_shape(raw, said):
    with pytest.raises(ValueError, match=said) as refused:
        decode_json(raw, nan=False, max_items=100)
    assert isinstance(refused.value, NestedError) == ("nested" in said)


def test_json_that_only_looks_large_is_read():
    digits = "9" * 5_000
    assert decode_json(json.dumps({"a": digits, "b": "," * 50, "c": "[" * 90}), max_items=10) == {
        "a": digits, "b": "," * 50, "c": "[" * 90,
    }  # fmt: skip
    # too many values are refused before any is decoded; commas and quotes in strings are none
    with pytest.raises(ValueError, match="more than 10 values"):
        decode_json("[" + "1," * 11 + "no JSON", max_items=10)
    quoted = json.dumps(['",' * 20, "\\", ',\\,"' * 9])
    assert decode_json(quoted, max_items=10) == json.loads(quoted)
    assert decode_json("9" * 400) == int("9" * 400)
    assert decode_json('{"a": 1, "a": 2}', keep_last=True) == {"a": 2}


def test_lines_and_documents_have_a_length(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 22}\n')
    assert [w for w, _ in records(path)] == ["line 1", "line 3"]
    with pytest.raises(InputError, match="line 3: a line longer than 9 bytes"):
        list(records(path, Limits(line_bytes=9)))
    with pytest.raises(InputError, match="more than 2 lines"):
        list(lines(path, Limits(rows=2)))
    with pytest.raises(InputError, match="more than 5 bytes of JSON in one value"):
        json_document(path, limits=Limits(document_bytes=5))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (RecursionError("too deep"), r"x: not readable as Parquet \(RecursionError: too deep\)"),
        (MemoryError(), "x needs more memory than there is"),
        (InputError("as it is"), "^as it is$"),
        (SystemError("line one\nline two"), r"\(SystemError: line one\)"),
    ],
)
def test_whatever_a_library_raises_is_one_sentence(fault, said):
    with pytest.raises(InputError, match=said), foreign("x", "Parquet"):
        raise fault


def test_an_interrupt_passes():
    with pytest.raises(KeyboardInterrupt), foreign("x", "Parquet"):
        raise KeyboardInterrupt


def test_text_that_is_no_utf8_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n\xff,1\n")
    with pytest.raises(InputError, match="is not UTF-8"), text_lines(path) as text:
        text.read()
