"""Every refusal of docs/bad-input.md: its message, exit code 2, and nothing left behind."""

import ast
import gzip
import json
import os
import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import judgestats
from judgestats.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "bad-input.md"
GOOD = "id,judge,score\n" + "".join(f"q{i},J,{1 + i % 9}\n" for i in range(30))


RATED = "criterion,source,id,passed\n" + "".join(
    f"{c},{s},q{i},{i % 2}\n"
    for i in range(9)
    for c, s in (("tone", "EVAL"), ("depth", "EVAL"), ("tone", "ANNOTATION"))
)


def rows():
    """The table of the page: what, and what the message holds."""
    lines = PAGE.read_text().split("|---|---|---|\n")[1].split("\n\n")[0].splitlines()
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line]
    assert all(c[2] == "2" for c in cells)
    return {c[0]: c[1] for c in cells}


def text(said, *words, name="j.csv"):
    """A file with this text, and the words after its name."""

    def write(folder):
        (folder / name).write_text(said)
        return [name, *words]

    return write


def raw(data, *words, name="j.csv"):
    def write(folder):
        (folder / name).write_bytes(data)
        return [name, *words]

    return write


def table(columns, *words):
    return text(pd.DataFrame(columns).to_csv(index=False), *words)


def parquet_cut(folder):
    pd.DataFrame({"id": range(99), "score": 1.0}).to_parquet(folder / "j.parquet")
    data = (folder / "j.parquet").read_bytes()
    (folder / "j.parquet").write_bytes(data[: len(data) // 2])
    return ["j.parquet"]


def parquet(columns, *words):
    def write(folder):
        pd.DataFrame(columns).to_parquet(folder / "j.parquet")
        return ["j.parquet", *words]

    return write


def parquet_whole(*words):
    return parquet({"id": range(99), "score": 1.0}, *words)


def workbook_cut(folder):
    pd.DataFrame({"id": range(99), "score": 1.0}).to_excel(folder / "j.xlsx")
    data = (folder / "j.xlsx").read_bytes()
    (folder / "j.xlsx").write_bytes(data[: len(data) // 2])
    return ["j.xlsx"]


def other_zip(folder):
    with zipfile.ZipFile(folder / "j.zip", "w") as archive:
        archive.writestr("a.csv", GOOD)
    return ["j.zip"]


def directory(folder):
    (folder / "empty").mkdir()
    (folder / "empty" / "x.txt").write_text("hello")
    return ["empty"]


def pipe(folder):
    os.mkfifo(folder / "pipe.csv")
    return ["pipe.csv"]


def two_tables(folder):
    with sqlite3.connect(folder / "j.db") as database:
        for name in ("a", "b"):
            database.execute(f"create table {name} (id text, score real)")
    database.close()
    return ["j.db"]


def labels(said):
    def write(folder):
        (folder / "people.csv").write_text(said)
        return text(GOOD, "--labels", "people.csv")(folder)

    return write


def shown_order(folder):
    rng = np.random.default_rng(0)
    said = rng.choice(["a", "b"], 60)
    frame = {
        "id": [*range(60)] * 2,
        "order": ["ab"] * 60 + ["ba"] * 60,
        "winner": [*said, *np.where(said == "a", "b", "a")],
    }
    return table(frame)(folder)


RNG = np.random.default_rng(1)
LONG = [f"Well, this one is rather good, number {i} of them" for i in range(200)]
TWO = {
    "id": [*range(30)] * 2,
    "judge": ["s"] * 30 + ["l"] * 30,
    "score": [*RNG.integers(1, 6, 30), *RNG.integers(20, 101, 30)],
}
SPEAKING = {
    "id": np.repeat(range(20), 2),
    "language": ["en", "de"] * 20,
    "score": RNG.integers(1, 9, 40),
}
PASSED = "id,passed\n" + "".join(f"q{i},{'yes' if i % 3 else 'no'}\n" for i in range(30))
LABELLED = (
    PASSED.replace("passed\n", "passed,label\n")
    .replace("yes\n", "yes,yes\n")
    .replace("no\n", "no,no\n")
)
ELSEWHERE = ("--sensitivity", "137/149", "--specificity", "43/51")
BOTH = "id,judge,passed\n" + "".join(f"q{i},{j},yes\nr{i},{j},no\n" for j in "xy" for i in range(9))
LATIN = "id,judge,score\nq\xe9,J,1\n".encode("latin-1")

CASES = {
    "no such file": lambda _: ["none.csv"],
    "a directory without logs": directory,
    "a pipe or device": pipe,
    "an empty file": text(""),
    "zero rows": text("id,judge,score\n"),
    "a picture under a table's name": raw(b"GIF89a\x00\x01\x00\x00"),
    "HTML saved as CSV": text("<!DOCTYPE html>\n<html><body>Sign in</body></html>"),
    "a pointer of Git LFS": text("version https://git-lfs.github.com/spec/v1\noid sha256:1\n"),
    "UTF-16": raw(GOOD.encode("utf-16")),
    "Latin-1": raw(LATIN),
    "a truncated gzip download": raw(gzip.compress(GOOD.encode() * 99)[:-40], name="j.csv.gz"),
    "a truncated JSON download": text('[{"id": 1, "score": 2}, {"id"', name="j.json"),
    "a truncated Parquet download": parquet_cut,
    "a truncated workbook": workbook_cut,
    "a zip that is not a workbook": other_zip,
    "a key twice in one JSON object": text('{"id": 1, "id": 2}\n{"id": 3}\n', name="j.jsonl"),
    "too many columns": text(",".join(f"c{i}" for i in range(6000)) + "\n"),
    "a row longer than the header": text("id,score\na,1\nb,1,2\n"),
    "a column named twice": text("id,score,score\na,1,2\n"),
    "no column names an item": text("thing,score\na,1\n"),
    "no column holds a verdict": text("id,thing\na,1\n"),
    "a mapped column that is not there": text(GOOD, "--map", "score=scoer"),
    "label column = judge column": text(GOOD, "--map", "verdict=score,label=score"),
    "rows without an item": text("id,score\na,1\n,2\n"),
    "a column that may be part of the key": table(SPEAKING),
    "columns of runs next to a verdict": text("id,run1,run2,correct\na,7,8,1\nb,4,4,0\n"),
    "text instead of verdicts": table({"id": range(200), "verdict": LONG}),
    "words where scores were said": text("id,score\na,lovely\nb,awful\n"),
    "zeros and ones that may be two responses": text("id,winner\na,1\nb,0\n"),
    "two words of which none is a known pass": text(
        "id,passed\na,ship\nb,hold\n", "--kind", "pass-fail"
    ),
    "a third word next to pass and fail": text("id,verdict\na,pass\nb,fail\nc,mostly\n"),
    "labels on another scale": text(
        "id,llm_score,human\n" + "".join(f"i{i},{i % 8}0,{i % 5 + 1}\n" for i in range(40))
    ),
    "words that --pass leaves open": text("id,verdict\na,ship\nb,hold\nc,stop\n", "--pass", "ship"),
    "a pass that nobody gave": text("id,passed\na,ship\nb,hold\n", "--pass", "go"),
    "a kind that does not exist": text(GOOD, "--kind", "grade"),
    "a scale the wrong way round": text(GOOD, "--scale", "10-1"),
    "a scale that is invalid": text(GOOD, "--scale", "ten"),
    "a scale of a billion points": text(GOOD, "--scale", "1-1000000000"),
    "a score outside the stated scale": text("id,score\na,11\nb,2\n", "--scale", "1-10"),
    "scores of two scales mixed": table(TWO),
    "cells out of 10 and out of 100": text("id,score\na,8/10\nb,60 %\n"),
    "a temperature that is not a number": text("id,score,temperature\na,3,hot\n"),
    "an unknown status": text("id,score,status\na,3,fine\n"),
    "an item and repetition twice": text("id,trial,score\na,1,3\na,1,4\n"),
    "duplicate export": text(GOOD + GOOD.partition("\n")[2]),
    "second order given as shown": shown_order,
    "all unparsed": text("id,score\na,\nb,\n"),
    "a pattern that matches nothing": text("id,reply\na,x\nb,y\n", "--parse", r"(\d+)"),
    "a pattern without a group": text("id,reply\na,x\n", "--parse", r"\d+"),
    "a pattern that is invalid": text("id,reply\na,x\n", "--parse", "(("),
    "a wide pattern that fits no column": text(GOOD, "--wide", "claude*"),
    "lists of different lengths": text(
        'id,a,b\nq,"[1,2]","[1]"\n', "--explode", "a,b", "--map", "verdict=a"
    ),
    "labels of other items": labels("id,label\nz1,3\nz2,4\n"),
    "a label twice for one item": labels("id,label\nq1,3\nq1,4\n"),
    "a label that is not understood": text(LABELLED.replace(",yes\n", ",maybe\n")),
    "labels of pass and fail next to other verdicts": text(
        "id,verdict,label\na,A,pass\nb,B,fail\nc,A,fail\n"
    ),
    "a mix that names other categories": text(LABELLED, "--mix", "chat=1"),
    "labels by verdict of all items": text(LABELLED, "--labels-drawn", "by-verdict"),
    "one rate of another study without the other": text(PASSED, *ELSEWHERE[:2]),
    "a rate without its number of labels": text(PASSED, *ELSEWHERE[:3], ".84"),
    "rates of another study next to labels": text(LABELLED, *ELSEWHERE),
    "rates of another study for several judges": text(BOTH, *ELSEWHERE),
    "rates of another study for scores": text(GOOD, *ELSEWHERE),
    "not a JSON list of judgments": text(
        '{"a": 1}',
        name="j.json",
    ),
    "a PDF": raw(b"%PDF-1.4\n%", name="j.csv"),
    "a name without a kind of file": text("hello there", name="j.docx"),
    "a value that is mapped to an unknown role": text(GOOD, "--map", "worth=score"),
    "a mapping without a name": text(GOOD, "--map", "score"),
    "two options for the rater kind": text(GOOD, "--map", "rater_kind=judge", "--human", "judge=J"),
    "one role under two names": text(GOOD, "--map", "raw_reply=id,raw_text=judge"),
    "kinds of raters without a judge": text(GOOD, "--map", "rater_kind=judge"),
    "a name mapped twice": text(GOOD, "--map", "score=score,score=id"),
    "a pass next to another kind": text(PASSED, "--pass", "yes", "--kind", "score"),
    "meanings next to another kind": text(PASSED, "--values", "yes=a,no=b", "--kind", "score"),
    "a word with an unknown meaning": text(PASSED, "--values", "1=left"),
    "meanings of two kinds": text(PASSED, "--values", "1=pass,0=b"),
    "a mapping of words that is not JSON": text(PASSED, "--values", '{"1": pass}'),
    "a column that is item and factor": text(GOOD, "--item", "id", "--factor", "id"),
    "a factor that is not a column": text(GOOD, "--factor", "colour"),
    "a wide role that is invalid": text(GOOD, "--wide", "colour=a*"),
    "columns that are not systems by criteria": text(
        GOOD, "--wide", "system+criterion=score,judge"
    ),
    "a wide list without a name": text(GOOD, "--wide", "judge="),
    "one wide column": text(GOOD, "--wide", "judge=sco*"),
    "a list that is not a column": text(GOOD, "--explode", "all"),
    "a table of a file that has none": text(GOOD, "--table", "scores"),
    "a database without that table": lambda folder: [*two_tables(folder), "--table", "c"],
    "a damaged database": raw(
        b"SQLite format 3\x00" + b"x" * 200, "--reader", "table", name="j.db"
    ),
    "no labels' file": text(GOOD, "--labels", "none.csv"),
    "labels without an item's name": labels("who,label\nx,3\n"),
    "labels without a label": labels("id,colour\nq1,red\nq2,blue\n"),
    "positions shown without an order": text(GOOD, "--as-shown"),
    "an outcome that is invalid": text("id,winner\na,red\nb,blue\n", "--kind", "preference"),
    "a stream of another format": text('[{"id": 1, "score": 2}]', "--stream", "yes", name="j.json"),
    "a log named for another tool": text('{"a": 1}', "--reader", "inspect", name="j.json"),
    "columns of judgments that are nested": text(
        '[{"id": 1, "s": {"x": 2}}]', "--map", "score=s.y", name="j.json"
    ),
    "a list's cell that is not a list": text(
        '[{"id": 1, "all": [1, 2]}, {"id": 2, "all": 5}]',
        "--explode",
        "all",
        name="j.json",
    ),
    "lists without an entry": text('[{"id": 1, "all": []}]', "--explode", "all", name="j.json"),
    "lists of lists": text('[{"id": 1, "all": [[]]}]', "--explode", "all", name="j.json"),
    "a verdict that is a list": parquet({"id": [1, 2], "score": [[1], [2]]}),
    "ids that are bytes": parquet({"id": [b"\xff", b"q"], "score": [1, 2]}),
    "a rater's label twice in rows": text(
        "id,score,ann,label\na,1,x,1\na,1,x,2\nb,2,x,1\n", "--map", "rater=ann"
    ),
    "a label without a rater": text(
        "id,score,ann,label\na,1,x,1\na,1,,2\nb,2,x,1\n", "--map", "rater=ann"
    ),
    "a verdict that differs between its raters": text(
        "id,score,ann,label\na,1,x,1\na,2,y,2\nb,2,x,1\n", "--map", "rater=ann"
    ),
    "one rater's label twice": labels("id,annotator,label\nq1,ann,3\nq1,ann,4\nq1,bob,4\n"),
    "JSON nested too deeply": text("[" * 5000 + "]" * 5000, name="j.json"),
    "a stream that needs the whole file": parquet_whole("--stream", "yes", "--explode", "score"),
    "columns that are not each judge by each criterion": text(
        "id,a_x,b\n1,1,2\n2,2,1\n", "--wide", "judge+criterion=a_x,b"
    ),
    "a log to be streamed": parquet_whole("--stream", "yes", "--reader", "inspect"),
    "an unknown reader": text(GOOD, "--reader", "nonsense"),
    "columns said of a log": text(GOOD, "--reader", "inspect", "--map", "score=score"),
    "several tables in a database": two_tables,
    "several files": text(GOOD, "other.csv"),
    "too few resamples": text(GOOD, "--resamples", "5"),
    "human rows among the judge's": text(RATED),
    "rows of humans only": text(RATED.replace("EVAL", "ANNOTATION")),
    "human rows of other items": text(
        RATED.replace("EVAL,q", "EVAL,p"), "--human", "source=ANNOTATION"
    ),
    "human rows only": text(RATED.replace("EVAL", "ANNOTATION"), "--human", "source=ANNOTATION"),
    "human rows without a criterion": text(
        RATED.replace("tone,ANN", ",ANN"), "--human", "source=ANNOTATION"
    ),
    "human rows next to labels of a second file": text(
        RATED, "--human", "source=ANNOTATION", "--labels", "people.csv"
    ),
    "a word of raters that no row holds": text(RATED, "--judge-rows", "source=UI"),
    "a column of raters without a word": text(RATED, "--judge-rows", "source"),
    "labels of several criteria next to verdicts of one": labels(
        "id,criterion,label\nq1,tone,3\nq1,depth,4\n"
    ),
    "a name of records and of their lists' entries": text(
        '[{"id": 1, "votes": [{"id": 2, "score": 3}]}]', "--explode", "votes", name="j.json"
    ),
}


def test_the_page_and_the_tests_hold_the_same():
    assert list(rows()) == list(CASES)


@pytest.mark.parametrize("what", CASES)
def test_one_sentence_exit_code_2_and_nothing_written(workplace, capsys, what):
    words = CASES[what](workplace)
    before = {p: p.stat().st_mtime_ns for p in workplace.rglob("*")}
    code = main(["analyze", *words])
    said = capsys.readouterr()
    assert code == 2
    assert rows()[what] in said.err
    told = [line for line in said.err.splitlines() if not line.startswith("Reading and ")]
    assert told[0].startswith("judgestats: ")
    assert "Traceback" not in said.err
    assert said.out == ""
    assert {p: p.stat().st_mtime_ns for p in workplace.rglob("*")} == before


def raised():
    """File and text of every refusal that readers of tables and options raise."""
    folder = Path(judgestats.__file__).parent
    names = (*(f"data/readers/{n}" for n in READERS), "data/verdict_kinds", "data/vocabulary",
             "files/guarded", "files/tables", "files/workbooks")  # fmt: skip
    for name in (*names, "commands/audit", "commands/arguments"):
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("Error"):
                said = node.args[0] if node.args else None
                parts = said.values if isinstance(said, ast.JoinedStr) else [said]
                yield name, [str(p.value) for p in parts if isinstance(p, ast.Constant)]


READERS = (
    "tables", "logs", "columns", "options", "registry", "layout", "labels", "checks",
    "json_paths", "roles", "verdicts", "row_checks",
)  # fmt: skip
ELSEWHERE_HELD = {
    "The data have several splits": "tests/data/test_table_shapes.py",
    "is a remote path": "tests/data",
    "--joint tests the curve": "tests/analysis",
    "which is not a probability of being labelled": "tests/analysis/decisions",
    "more than": "limits of size, which test_reader_fuzz.py and test_table_shapes.py lower",
    "expands to more": "the same",
    "columns in its first row": "tests/files",
    "cells; at most": "tests/files",
    "Nothing was read.": "tests/files",
    "Split the file.": "tests/files",
    "takes more than": "tests/files",
    "JUDGESTATS_MAX_BYTES=": "tests/files",
    "a line longer than": "the same",
    "more memory than there is": "tests/files",
    "leads out of the archive": "tests/files",
    "document type definition": "tests/files",
    "nested too deeply": "tests/files",
    "it lacks": "tests/files",
    "is there already": "tests/commands/test_labels.py",
    "is a view": "tests/files",
    "a page header is damaged": "tests/files",
    "is computed; judgestats reads stored values": "tests/files",
    "holds a cell longer than": "tests/files",
    "holds a tag that is too long": "tests/files",
    ": not readable as": "tests/files",
    "are read. Keep those": "the same",
    "is larger than": "archives: test_reader_fuzz.py",
    "is encrypted": "the same",
    "download the log again": "the same",
    "go through two lists": "test_table_shapes.py",
    "logs of several tools": "test_log_readers.py",
    "the log holds no judgments": "test_log_readers.py",
    "read_judgments takes a path": "Python's door: test_readers.py",
    "is a folder; name the file": "a tool's log that is asked for by name",
    "not a Parquet file, or was cut": "Python's door: the command tries Parquet first",
    "cannot be read (": "the disk's own faults",
    "cannot be looked up": "the disk's own faults",
    "not a JSON object": "test_log_readers.py",
    "--pass: no entry": "the row 'a pass that nobody gave'",
    "may be no repetitions": "the row 'a column that may be part of the key'",
    "a row of totals": "test_strangers.py",
    ": the header has": "test_strangers.py",
    "may hold labels on one criterion": "test_table_shapes.py",
    "holds lists or objects, not replies": "test_exports.py",
    "Delete the rows above": "test_strangers.py",
    ": expected NAME=NUMBER, got ": "commands/test_labels.py",
    "There are: ": "the row 'a database without that table'",
}
"""What a row of the page cannot show, or shows by its filled places, and where it is tried."""


def test_every_refusal_of_tables_and_options_has_its_row():
    shown = [*rows().values(), *ELSEWHERE_HELD]
    known = [(name, parts) for name, parts in raised() if any(len(p.strip()) >= 9 for p in parts)]
    assert len(known) > 80
    missing = [
        (name, "...".join(parts)[:100])
        for name, parts in known
        if not any(
            row in part or (len(part.strip()) >= 9 and part.strip() in row)
            for row in shown
            for part in ("".join(parts), *parts)
        )
    ]
    assert not missing


def test_one_item_is_described_and_not_refused(workplace, capsys):
    (workplace / "j.json").write_text(json.dumps([{"id": "a", "score": 3}]))
    assert main(["doctor", "j.json"]) == 0
    assert "no item has repeats" in capsys.readouterr().out
