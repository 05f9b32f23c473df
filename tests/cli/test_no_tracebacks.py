"""Files, places and ports that cannot be used are refused in one sentence, exit code 2."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgestats.cli import main

MONITOR = ["monitor", "good.csv", "--rate", "five=score:5", "--state"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"q{i},j,{t},{(i + t) % 9 + 1}" for i in range(6) for t in range(3)]
    (tmp_path / "good.csv").write_text("\n".join(["item_id,judge,repeat,score", *rows]) + "\n")
    (tmp_path / "folder.json").mkdir()
    return tmp_path


def refused(capsys, words: list[str], *says: str) -> None:
    """One line on standard error, exit code 2."""
    assert main(words) == 2
    [line] = capsys.readouterr().err.splitlines()
    for part in says:
        assert part in line


@pytest.mark.parametrize("port", ["80000", "-1", "in use"])
def test_labels_collect_names_a_port_that_cannot_be_had(folder, capsys, port):
    (folder / "l.csv").write_text("item_id,annotator,label\nq1,,\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1]) if port == "in use" else port
        words = ["labels", "collect", "l.csv", "--port", port, "--annotator", "a"]
        refused(capsys, [*words, "--choices", "x,y"], "--port", port)


@pytest.mark.parametrize("text", ["{not", "null", '{"rates": {}}', "[" * 100_000, "a,b\n1,2\n"])
@pytest.mark.parametrize("name", ["s.json", "s.db"])
def test_a_file_that_is_no_state_of_monitor_is_refused(folder, capsys, name, text):
    (folder / name).write_text(text)
    refused(capsys, [*MONITOR, name], f"{name} is no state of judgestats monitor")
    assert (folder / name).read_text() == text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["doctor", "page.html"], "the ending is not one of"),
        (["check", "good.csv", "--labels", "."], ". is not a plain file"),
        (["labels", "export", ".."], ".. is not a plain file"),
    ],
)
def test_what_cannot_be_parsed_is_refused(folder, capsys, words, says):
    (folder / "page.html").write_text("<table><tr><td>item_id</td></tr></table>")
    refused(capsys, words, says)


@pytest.mark.parametrize("words", [["doctor"], [*MONITOR[:2], "--state"], ["labels", "export"]])
def test_a_name_with_a_zero_byte_is_refused(folder, capsys, words):
    refused(capsys, [*words, "a\0b.db"], "holds a zero byte. See judgestats ")


def test_a_name_that_is_not_utf8_is_refused_where_it_would_be_stored(folder, capsys):
    refused(capsys, ["monitor", "good.csv", "--state", "s.db", "--rate", "\udcff=score:5"], "UTF-8")
    assert main([*MONITOR, "s.db"]) == 0  # nothing of it was kept


def test_the_refusal_of_a_json_state_shows_how_to_build_a_new_one(folder, capsys):
    (folder / "s.json").write_text('{"version": 1, "rates": {}, "clusters": [], "files": []}')
    refused(capsys, [*MONITOR, "s.json"], "judgestats monitor FILE --state s.db --rate")


CHANGES = {
    "total": "UPDATE observation SET value = 'x'",
    "infinite": "UPDATE observation SET value = 9e999",
    "negative": "UPDATE observation SET value = -1.0",
    "schema": "UPDATE meta SET schema = 'other'",
    "level": "UPDATE meta SET alpha = 9e999",
    "range": "UPDATE meta SET range = '[1, 0]'",
    "orphan": "DELETE FROM period",
    "no terms": "DELETE FROM meta",
    "view": "CREATE VIEW v AS SELECT 1",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON look BEGIN DELETE FROM look; END",
    "no table": "DROP TABLE look",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_damaged_state_of_monitor_raises_no_alarm_and_none_is_missed(folder, capsys, change):
    assert main([*MONITOR, "s.db"]) == 0
    capsys.readouterr()
    with closing(sqlite3.connect(folder / "s.db")) as db, db:
        db.execute("PRAGMA ignore_check_constraints=ON")
        db.execute(change)
    before = (folder / "s.db").read_bytes()
    (folder / "good.csv").write_text((folder / "good.csv").read_text() + "q9,j,0,5\n")
    refused(capsys, [*MONITOR, "s.db"], "s.db is no state of judgestats monitor")
    assert (folder / "s.db").read_bytes() == before


def test_a_state_of_monitor_with_flipped_bytes_is_refused(folder, capsys):
    assert main([*MONITOR, "s.db"]) == 0
    capsys.readouterr()
    raw = bytearray((folder / "s.db").read_bytes())
    raw[4096:8192] = b"\xff" * 4096
    (folder / "s.db").write_bytes(raw)
    refused(capsys, [*MONITOR, "s.db"], "s.db is no state of judgestats monitor")


@pytest.mark.parametrize("place", ["nowhere/s.db", "folder.json", "good.csv/s.db"])
def test_monitor_prints_no_look_that_it_cannot_keep(folder, capsys, place):
    assert main([*MONITOR, place]) == 2
    said, error = capsys.readouterr()
    assert said == ""
    assert error.startswith(f"judgestats: {place}")


@pytest.mark.parametrize("place", ["/proc/x.json", "folder.json", "full.json", "good.csv/x"])
def test_drift_names_a_place_that_cannot_be_written(folder, capsys, place):
    (folder / "full.json").symlink_to("/dev/full")
    assert main(["drift", "good.csv", "good.csv", "--resamples", "99", "--out", place]) == 2
    said, error = capsys.readouterr()
    assert "good.csv to good.csv" in said
    line = error.splitlines()[-1]
    assert line.startswith(f"judgestats: {place}")
    assert "not written" in line


@pytest.mark.parametrize("place", ["nowhere/l.csv", "/dev/full/l.csv", "/proc/l.parquet"])
def test_labels_plan_names_a_place_that_cannot_be_written(folder, capsys, place):
    words = ["labels", "plan", "good.csv", "--labels", "3", "--out", place]
    refused(capsys, words, place, "not written")


DEEP = {
    "doctor": ["doctor", "deep.json"],
    "analyze": ["analyze", "deep.json", "--track", "none", "--report", "none"],
    "monitor": ["monitor", "deep.json", "--state", "s.json", "--rate", "x=score"],
    "labels plan": ["labels", "plan", "deep.json", "--labels", "3"],
    "labels collect": ["labels", "collect", "deep.json", "--annotator", "a", "--choices", "x,y"],
}


@pytest.mark.parametrize("command", DEEP)
@pytest.mark.parametrize("levels", [65, 200_000])
def test_json_nested_too_deeply_is_refused_by_every_command(folder, capsys, command, levels):
    (folder / "deep.json").write_text("[" * levels + "]" * levels)
    refused(capsys, DEEP[command], "deep.json is nested deeper than 64 levels")


@pytest.mark.parametrize("size", ["", "A1:A3", "A1:XFD1048576"])
def test_a_workbook_is_read_whatever_size_it_states(folder, capsys, size):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(["item_id", "repeat", "score", "note"])
    for i in range(12):
        sheet.append([f"q{i // 2}", i % 2, i % 5 + 1])
    book.save("made.xlsx")
    stated = f'<dimension ref="{size}"/>' if size else ""
    with zipfile.ZipFile("made.xlsx") as made, zipfile.ZipFile("size.xlsx", "w") as out:
        for part in made.namelist():
            data = made.read(part)
            out.writestr(part, data.replace(b"<sheetData>", f"{stated}<sheetData>".encode()))
    assert main(["doctor", "size.xlsx"]) == 0
    assert "12 judgments = 1 judge × 6 items × 2 repeats" in capsys.readouterr().out


def test_ids_that_are_bytes_are_refused_with_their_column_and_row(folder, capsys):
    ids = [b"\xff\x00" + bytes([i]) for i in range(20)]
    with sqlite3.connect("blob.sqlite") as database:
        database.execute("create table t(item_id, judge, score)")
        database.executemany("insert into t values(?, 'j', ?)", [(b, b[2] % 9) for b in ids])
    database.close()
    pd.DataFrame({"score": range(20), "item_id": ids}).to_parquet("blob.parquet")
    for file in ("blob.sqlite", "blob.parquet"):
        for words in (["doctor", file], ["analyze", file, "--track", "none", "--report", "none"]):
            refused(capsys, words, file, "column 'item_id' holds bytes, not text, in row 1")


@pytest.mark.parametrize(
    ("cell", "says"),
    [([], "every list of v is empty"), ([[], []], "a list of v holds []"),
     ([{"score": 1}, 5], "must be all verdicts or all objects")],
)  # fmt: skip
def test_lists_that_hold_no_verdict_are_not_exploded(folder, capsys, cell, says):
    rows = [json.dumps({"item_id": f"q{i}", "v": cell}) for i in range(5)]
    (folder / "v.jsonl").write_text("\n".join(rows))
    words = ["analyze", "v.jsonl", "--explode", "v", "--track", "none", "--report", "none"]
    refused(capsys, words, says)


def test_a_folder_that_may_not_be_searched_is_named(folder, capsys, monkeypatch):
    real = Path.is_file

    def forbidden(self: Path, **_: object) -> bool:
        if self.name == "good.csv":
            raise PermissionError(13, "Permission denied", str(self))
        return real(self)

    monkeypatch.setattr(Path, "is_file", forbidden)
    refused(capsys, ["labels", "plan", "x/good.csv", "--labels", "3"], "x/good.csv", "Permission")


@pytest.mark.parametrize("command", [["doctor"], ["check"], ["analyze"], MONITOR[:1]])
@pytest.mark.parametrize("name", ["pipe", "/proc/self/mem", "twice.parquet"])
def test_a_file_that_cannot_be_a_table_is_refused_by_every_command(folder, capsys, command, name):
    os.mkfifo(folder / "pipe")
    columns = [pa.array(["q1", "q2"]), pa.array([1, 2]), pa.array([1, 2])]
    table = pa.Table.from_arrays(columns, names=["item_id", "score", "score"])
    pq.write_table(table, folder / "twice.parquet")
    options = ["--state", "s.db", "--rate", "f=score:5"] if command == MONITOR[:1] else []
    assert main([*command, name, *options]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    refusals = {"pipe": "plain file", "twice.parquet": "the column 'score' twice"}
    assert refusals.get(name, "") in said


def test_durations_are_no_scores(folder, capsys):
    table = pa.table(
        {
            "item_id": [f"q{i // 3}" for i in range(30)],
            "score": pa.array(range(30), pa.duration("s")),
        }
    )
    pq.write_table(table, folder / "d.parquet")
    assert main(["doctor", "d.parquet"]) in {1, 2}
    assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize("text", ["x", "as_of: 2026-01-01\nendpoints: {a: {m: {input: -1}}}", None])
@pytest.mark.parametrize("mode", [["--dry-run"], []])
def test_a_bad_price_file_is_refused_before_anything_is_printed(folder, capsys, text, mode):
    if text is not None:
        (folder / "bad.yaml").write_text(text)
    refused(capsys, ["run", "temperature", *mode, "--prices", "bad.yaml"], "prices: bad.yaml")
    assert not capsys.readouterr().out


def test_a_prompt_is_bounded_and_read_whatever_its_line_ends(folder, capsys):
    (folder / "long.txt").write_text("{question} {response}" + "x" * 200_000)
    words = ["run", "temperature", "--dry-run", "--prompt"]
    refused(capsys, [*words, "long.txt"], "long.txt holds more than 200,000 bytes")
    (folder / "latin.txt").write_bytes("{question} {response} gr\u00fcn".encode("latin-1"))
    refused(capsys, [*words, "latin.txt"], "latin.txt is not UTF-8")
    said = []
    for start, end in (("", "\n"), ("\ufeff", "\r\n")):
        lines = ["[system]", "Be fair.", "[user]", "{earlier}{question}{passage} {response}", ""]
        (folder / "own.txt").write_bytes((start + end.join(lines)).encode())
        assert main([*words, "own.txt"]) == 0
        said.append(capsys.readouterr().out)
    assert "Be fair." in said[0]
    assert said[0] == said[1]


def test_a_working_folder_that_was_removed_is_named(folder, capsys, monkeypatch):
    gone = folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    refused(capsys, ["doctor", "good.csv"], "judgestats: .: No such file or directory")


def test_only_a_typed_word_that_is_not_utf_8_is_quoted(workplace, monkeypatch, capsys):
    def fail(*_):
        return "a password\udcff".encode()

    monkeypatch.setattr("judgestats.cli._run", fail)
    assert main(["analyze", "x.csv"]) == 4
    assert "password" not in capsys.readouterr().err
    assert main(["analyze", "x\udcff.csv"]) == 2
    err = capsys.readouterr().err
    assert "is not UTF-8" in err
    assert "password" not in err
