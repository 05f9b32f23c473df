"""Files that want more than a reader gives, and what is said of them."""

import contextlib
import dataclasses
import gzip
import inspect
import itertools
import json
import sqlite3
import threading
import zipfile
from datetime import datetime

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from judgestats.errors import InputError
from judgestats.files import (
    Limits,
    NestedError,
    archive,
    clean_json,
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


def stored_as_zstd(path, content, *, changed=()):
    """An archive whose one member has the method 93, which zipfile does not write."""
    packed = pa.compress(content, "zstd", asbytes=True)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a.json", packed)
    raw = bytearray(path.read_bytes())
    central = raw.index(b"PK\x01\x02")
    raw[8], raw[central + 10] = 93, 93
    for place, byte in changed:
        raw[central + place if place >= 0 else -place] = byte
    path.write_bytes(raw)


def test_a_member_compressed_with_zstandard_is_read_within_its_limits(tmp_path):
    path = tmp_path / "a.zip"
    stored_as_zstd(path, b"[1, 2]")
    with archive(path) as file:
        assert file.names == ("a.json",)
        assert file.json("a.json") == [1, 2]
        assert file.read("a.json") == b"[1, 2]"
    for changed, said in (
        ([(8, 1)], "is encrypted"),
        ([(-1, ord("X"))], "the archive is damaged"),
        ([(20, 255), (21, 255), (22, 255), (23, 15)], "is larger than 192 MiB"),
    ):
        stored_as_zstd(path, b"[1, 2]", changed=changed)
        with archive(path) as file, pytest.raises(InputError, match=said):
            file.read("a.json")


def test_members_of_an_archive_are_counted_and_weighed(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.json", "1" * 500)
        file.writestr("b.json", "2" * 500)
    with archive(path, Limits(member_bytes=500)) as file:
        assert file.read("a.json") == b"1" * 500
        assert "b.json" in file
        assert "c.json" not in file
    with (
        archive(path, Limits(member_bytes=499)) as file,
        pytest.raises(InputError, match=r"'a.json' holds more than 499 bytes after decompression"),
    ):
        file.read("a.json")
    with archive(path, Limits(expanded_bytes=999)) as file:
        assert file.read("a.json") == b"1" * 500
        with pytest.raises(InputError, match=r"expands to more than 999 bytes \(zip archive\)"):
            file.read("b.json")
    with archive(path, Limits(members=2)):
        pass
    with pytest.raises(InputError, match="more than 1 members"), archive(path, Limits(members=1)):
        pass
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as file:
        file.writestr("a.json", "3")
    with pytest.raises(InputError, match="or one name twice"), archive(path):
        pass


def test_a_link_in_an_archive_is_refused(tmp_path):
    path = tmp_path / "a.zip"
    link = zipfile.ZipInfo("a.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(link, "/etc/passwd")
    with pytest.raises(InputError, match=r"'a.json' leads out of the archive"), archive(path):
        pass


def test_the_limits_are_those_that_are_documented():
    assert dataclasses.asdict(Limits()) == {
        "rows": 20_000_000,
        "columns": 2_000,
        "cells": 200_000_000,
        "line_bytes": 67_108_864,
        "cell_bytes": 10_485_760,
        "expanded_bytes": 2_147_483_648,
        "document_bytes": 536_870_912,
        "ratio": 200,
        "seconds": 60.0,
        "members": 10_000,
        "member_bytes": 201_326_592,
        "remedy": "Split it, or convert it to Parquet and use --stream.",
    }
    assert inspect.signature(decode_json).parameters["max_items"].default == 5_000_000
    logs = inspect.signature(archive).parameters["limits"].default
    assert logs == Limits(members=200_000, expanded_bytes=20_971_520_000)


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("8GiB", 8 << 30), ("300 MiB", 300 << 20), ("2K", 2_000), ("2Ki", 2_048), ("999", 999),
        ("1500 MB", 1_500_000_000), ("1TiB", 1 << 40), ("1g", 1_000_000_000), ("7 b", 7),
    ],
)  # fmt: skip
def test_a_size_in_the_environment_replaces_the_limit(tmp_path, monkeypatch, given, size):
    monkeypatch.setenv("JUDGESTATS_MAX_BYTES", given)
    assert Limits().bytes_of(tmp_path) == size


def test_a_file_may_expand_to_200_times_its_size(tmp_path):
    path = tmp_path / "a"
    for size, most in ((0, 256), (1, 256), (2, 400), (10, 2_000), (11, 2_048)):
        with path.open("wb") as file:
            file.truncate(size << 20)
        assert Limits().bytes_of(path) == most << 20
    path.rename(tmp_path / "b")
    path.touch()
    assert Limits().bytes_of(tmp_path) == 2_048 << 20


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


def test_keys_that_differ_only_outside_of_text_are_refused_unless_the_last_counts():
    pair = {"a" + chr(0): 1, "a" + chr(0xD800): 2}
    with pytest.raises(ValueError, match="differ only in characters that are not text"):
        clean_json(pair)
    assert clean_json([pair], keep_last=True) == [{"a" + chr(0xFFFD): 2}]


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
    path.write_text("[-Infinity]")  # a score that is left out and named, not a fault of the file
    assert json_document(path) == [float("-inf")]


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


MANY = 2_000_000
ZEROS = pa.ListArray.from_arrays([0, 0, MANY], pa.array(np.zeros(MANY, np.int64)))
LONG = pa.array(["a" * 1_000]).take(pa.array([0] * 20_000))
STACKED = pa.ListArray.from_arrays([0, 1, 2], pa.ListArray.from_arrays([0, 0, 20_000], LONG))
PARTS = pa.StructArray.from_arrays([LONG.take(pa.array([0] * 20_000))], ["said"])
PAIRS = pa.MapArray.from_arrays([0, 20_000], LONG, pa.array([1] * 20_000))


@pytest.mark.parametrize(
    "column", [ZEROS, STACKED, PARTS, PAIRS], ids=["list", "lists", "struct", "map"]
)
def test_nested_parquet_is_refused_before_it_is_expanded(tmp_path, column):
    path = tmp_path / "t.parquet"
    parquet.write_table(
        pa.table({"item": ["a"] * len(column), "x": column}), path, compression="zstd"
    )
    assert path.stat().st_size < 10_000
    pool, before = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        with pytest.raises(InputError, match=r"expands to more than 4 MiB .Parquet, 1 row groups"):
            parquet_table(path, Limits(expanded_bytes=4 << 20))
    finally:
        pa.set_memory_pool(before)
    assert pool.max_memory() < 2 << 20


def varint(value, width):
    """A whole number of Thrift's compact protocol in as many bytes as stated."""
    value = value << 1
    digits = [value >> 7 * k & 127 | 128 for k in range(width - 1)]
    return bytes([*digits, value >> 7 * (width - 1)])


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_a_footer_that_states_fewer_values_than_its_pages_hold_is_not_believed(tmp_path, version):
    path = tmp_path / "t.parquet"
    table = pa.table({"item": ["a", "b"], "x": ZEROS})
    parquet.write_table(
        table, path, compression="zstd", data_page_size=1 << 30, data_page_version=version
    )
    raw = path.read_bytes()
    footer = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    false = raw[footer:].replace(varint(MANY, 4), varint(9, 4))
    false = false.replace(varint(MANY + 1, 4), varint(9, 4))
    path.write_bytes(raw[:footer] + false)
    about = parquet.ParquetFile(path).metadata.row_group(0).column(1)
    assert about.num_values == 9
    with pytest.raises(InputError, match="expands to more than 4 MiB"):
        parquet_table(path, Limits(expanded_bytes=4 << 20))


def test_a_list_of_100_million_values_in_9_kb_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    zeros = pa.ListArray.from_arrays([0, 10_000_000], pa.array(np.zeros(10_000_000, np.int8)))
    table = pa.table({"item": ["a"], "score": [1], "x": zeros.cast(pa.list_(pa.int64()))})
    with parquet.ParquetWriter(path, table.schema, compression="zstd") as out:
        for _ in range(10):
            out.write_table(table)
    assert path.stat().st_size < 9_000
    with pytest.raises(InputError, match=r"expands to more than 256 MiB .Parquet, 10 row groups"):
        parquet_table(path)


@pytest.mark.parametrize(
    "text", ["\x80" * 12, "\xff" * 40, "\x15" + "\xff" * 9 + "\x7f", "\x19\x00", ""]
)
def test_a_page_header_that_is_damaged_is_one_sentence(tmp_path, text):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"item": ["a"] * 9, "score": [1.5] * 9}), path)
    raw = path.read_bytes()
    path.write_bytes(raw[:4] + text.encode("latin-1") + raw[4 + len(text) :])
    if text:
        with pytest.raises(InputError, match=r"t.parquet: not readable as Parquet"):
            parquet_table(path)
    else:
        assert parquet_table(path)["score"].tolist() == [1.5] * 9


def test_nested_parquet_within_its_limits_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({
        "item": pa.array(["a", "b", None], pa.string_view()),
        "judge": pa.array(["m", "n", "m"]).dictionary_encode(),
        "turns": [[{"role": "user", "n": [1, 2], "texts": ["x", None]}], [], None],
        "of": [{"k": "v"}, {"k": None}, None],
        "tags": pa.array([["a"], None, []], pa.large_list(pa.large_string())),
        "views": pa.array([["a"], None, []], pa.list_(pa.string_view())),
        "notes": pa.array([[("k", "v")], [], None], pa.map_(pa.string(), pa.string())),
        "pair": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int8(), 2)),
        "none": pa.nulls(3),
    })  # fmt: skip
    parquet.write_table(table, path)
    plain = pa.schema(
        [
            f.with_type({"item": pa.string(), "views": pa.list_(pa.string())}.get(f.name, f.type))
            for f in table.schema
        ]
    )
    read = pa.Table.from_pandas(parquet_table(path), schema=plain).to_pylist()
    assert read == table.to_pylist()


def test_nothing_that_a_database_defines_is_run(tmp_path):
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as link:
        link.execute("create virtual table v using fts5(item, score)")
    link.close()
    with pytest.raises(InputError, match="'v' is a view"):
        sqlite_table(path, "v")
    path = tmp_path / "u.sqlite"
    with sqlite3.connect(path) as link:
        link.execute("create table t(item, score, x as (printf('%.*c', 900000000, 'x')))")
        link.execute("create trigger g after insert on t begin delete from t; end")
        link.execute("create table u(item, score)")
        link.execute("insert into u values ('a', 1)")
    link.close()
    with pytest.raises(InputError, match="column 'x' is computed; judgestats reads stored values"):
        sqlite_table(path, "t")
    assert sqlite_table(path, "u").to_dict("list") == {"item": ["a"], "score": [1]}


@pytest.mark.parametrize("made", ["zeroblob(1001)", "printf('%.*c', 1001, 'x')"])
def test_a_cell_of_a_database_has_a_length(tmp_path, made):
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as link:
        link.execute("create table t(item, score)")
        link.execute(f"insert into t values ({made}, 1)")
    link.close()
    with pytest.raises(InputError, match=r"cannot be read .'string or blob too big'"):
        sqlite_table(path, limits=Limits(cell_bytes=1_000))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"</sheetData>", b"<row><c t='str'><v>%s</v></c></row></sheetData>" % (b"x" * 11_000_000),
         "sheet1.xml holds a cell longer than 10 MiB"),
        (b"<sheetData>", b"<sheetData %s>" % b"".join(b"a%d='' " % k for k in range(200_000)),
         "sheet1.xml holds a tag that is too long"),
    ],
    ids=["cell", "tag"],
)  # fmt: skip
def test_cells_and_tags_of_a_workbook_have_a_length(workbook, old, new, said):
    rewritten(workbook, "sheet1.xml", lambda data: data.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        workbook_table(workbook)


def test_a_text_that_cells_of_a_workbook_share_counts_as_often_as_it_stands(workbook):
    cells = b"<row><c t='s'><v>0</v></c></row>" * 30 + b"</sheetData>"
    rewritten(workbook, "sheet1.xml", lambda data: data.replace(b"</sheetData>", cells, 1))
    with zipfile.ZipFile(workbook, "a", zipfile.ZIP_DEFLATED) as file:
        text = b"x" * 10_000_000
        file.writestr("xl/sharedStrings.xml", b"<sst><si><t>%s</t></si></sst>" % text)
    with pytest.raises(InputError, match=r"expands to more than 256 MiB .XLSX"):
        workbook_table(workbook)


def test_a_sheet_has_at_most_as_many_rows_as_excel_writes(workbook):
    row = b"<row r='1048577'><c><v>1</v></c></row></sheetData>"
    rewritten(workbook, "sheet1.xml", lambda data: data.replace(b"</sheetData>", row, 1))
    with pytest.raises(InputError, match="more than 1,048,576 rows"):
        workbook_table(workbook)


def test_parquet_is_nested_at_most_64_levels(tmp_path):
    kind, path = pa.int64(), tmp_path / "t.parquet"
    for _ in range(65):
        kind = pa.struct([("a", kind)])
    parquet.write_table(pa.table({"item": ["a"], "x": pa.nulls(1, kind)}), path)
    with pytest.raises(InputError, match="nested deeper than 64 levels"):
        parquet_table(path)
    parquet.write_table(pa.table({"item": ["a"], "x": pa.nulls(1, kind.field(0).type)}), path)
    assert parquet_table(path)["item"].tolist() == ["a"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_that_changes_while_it_is_read_is_a_table_or_one_sentence(tmp_path, form):
    path, versions = tmp_path / f"t.{form}", []
    read = parquet_table if form == "parquet" else lambda p: separated_table(p, ",", lambda _: [])
    for n in (3, 40_000):
        frame = pd.DataFrame({"item": [f"q{i}" for i in range(n)], "score": range(n)})
        frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
        versions += [path.read_bytes(), path.read_bytes()[:-9]]
    done = threading.Event()

    def rewrite():
        for version in itertools.cycle([b"", *versions]):
            path.write_bytes(version)
            if done.is_set():
                return

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        for _ in range(20):
            with contextlib.suppress(InputError):  # any other exception fails the test
                table = read(path)
                assert list(table) == ["item", "score"]
    finally:
        done.set()
        writer.join(30)
