"""Files and frames with half a character, or NUL, in names and texts are read as text."""

import json
import sqlite3

import pandas as pd
import pytest

from judgestats.data.readers.registry import read_judgments

COLUMNS = ["item_id", "judge", "repeat", "score", "explanation"]
ROWS = [
    (f"q{i}\ud800", "j\udfff", t, (i + t) % 9 + 1, "good \ud83d\0")
    for i in range(6)
    for t in range(2)
]
DICTS = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]


def as_lines(folder):
    path = folder / "j.jsonl"
    path.write_text("\n".join(map(json.dumps, DICTS)))
    return path


def as_sqlite(folder):
    path = folder / "j.sqlite"
    with sqlite3.connect(path) as db:
        db.execute(f"create table t({', '.join(COLUMNS)})")
        whole = [(r[0][:2] + "\0", "j\0", *r[2:4], "good \0\0") for r in ROWS]
        db.executemany("insert into t values(?,?,?,?,?)", whole)
    db.close()
    return path


@pytest.mark.parametrize(
    "given",
    [
        as_lines,
        as_sqlite,
        lambda _: DICTS,
        lambda _: {name: [row[name] for row in DICTS] for name in COLUMNS},
        lambda _: pd.DataFrame(ROWS, columns=COLUMNS, dtype=object),
    ],
)
def test_what_is_read_is_text_that_utf8_can_hold(given, tmp_path):
    frame = read_judgments(given(tmp_path))
    assert frame["item_id"].tolist() == [f"q{i}\ufffd" for i in range(6) for _ in range(2)]
    assert set(frame["condition"]) == {"j\ufffd"}
    assert set(frame["explanation"]) == {"good \ufffd\ufffd"}
    frame.to_parquet(tmp_path / "out.parquet")
