"""One pass over Parquet: exact counts, untrusted files refused in a sentence."""

import os
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import judgestats as js
from judgestats.data import read_large
from judgestats.data.readers.options import TableOptions
from judgestats.engine import parse_engine
from judgestats.errors import InputError

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

ROWS = {
    "item_id": ["a", "a", "b", "b"],
    "replicate": [0, 1, 0, 1],
    "judge": ["J"] * 4,
    "score": [7.0, 8.0, 3.0, np.nan],
}


def read(path, *, batch_rows: int = 1 << 20, board_bytes: int = 1 << 30, **options):
    how = {"batch_rows": batch_rows, "board_bytes": board_bytes}
    return read_large(path, TableOptions(**options), **how)


def _file(folder, name: str = "part.parquet", **changes) -> None:
    columns = {k: v for k, v in (ROWS | changes).items() if v is not None}
    pq.write_table(pa.table(columns), folder / name)


def test_partitions_become_columns(tmp_path) -> None:
    for judge, temperature in (("A", "0.5"), ("B", "1")):
        folder = tmp_path / f"judge={judge}" / f"temperature={temperature}"
        folder.mkdir(parents=True)
        _file(folder, judge=None)
    found = read(tmp_path)
    assert found.groupby("condition")["temperature"].mean().to_dict() == {
        "A, T=0.5": 0.5, "B, T=1": 1.0
    }  # fmt: skip
    assert len(found) == 8


def test_repetitions_are_numbered_where_no_column_does(tmp_path) -> None:
    _file(tmp_path, replicate=None)
    found = read(tmp_path, batch_rows=3)
    assert found["replicate"].tolist() == [0, 1, 0, 1]
    assert found["score"].tolist()[:3] == [7.0, 8.0, 3.0]


@pytest.mark.parametrize(
    "without", ["criterion, by", "criterion, by, replicate", "by", "criterion"]
)
def test_workers_read_what_one_process_reads(without, tmp_path) -> None:
    """Files are read apart and joined: the frame is equal in every digit."""
    rng = np.random.default_rng(5)
    n = 960
    frame = pd.DataFrame(
        {"item_id": np.repeat([f"i{i}" for i in rng.permutation(40)], 24),
         "judge": np.tile(np.repeat(["A", "B"], 12), 40), "replicate": np.tile(np.arange(12), 80),
         "criterion": np.where(np.arange(n) % 2, "tone", "facts"),
         "verdict": rng.choice(["pass", "fail", "", "n/a"], n),
         "tokens_out": rng.integers(1, 9, n), "by": rng.choice(["model", "human"], n)}
    )  # fmt: skip
    frame["question"] = "q" + frame["item_id"].str[-1]
    frame = frame.iloc[rng.permutation(n)].drop(columns=without.split(", "))
    for number, (first, last) in enumerate([(0, 50), (50, 105), (105, 500), (500, n)]):
        frame[first:last].to_parquet(tmp_path / f"part-{number}.parquet", index=False)
    options = {"rows": ("by=model",)} if "by" in frame else {}
    alone = read(tmp_path, **options)
    for workers in (2, 4, 9):
        with parse_engine(f"loky:{workers}").running():
            together = read(tmp_path, **options)
        pd.testing.assert_frame_equal(together, alone)
        assert together.attrs == alone.attrs


def test_workers_refuse_what_one_process_refuses(tmp_path) -> None:
    _file(tmp_path, "one.parquet")
    _file(tmp_path, "two.parquet")
    with parse_engine("loky:2").running(), pytest.raises(InputError, match="4 duplicate rows"):
        read(tmp_path)
    _file(tmp_path, "one.parquet", question=["p", "p", "q", "q"])
    _file(tmp_path, "two.parquet", question=["p", "p", "r", "r"], judge=["K"] * 4)
    with parse_engine("loky:2").running(), pytest.raises(InputError, match="one cluster"):
        read(tmp_path)


def test_dictionary_columns_and_choices(tmp_path) -> None:
    table = pa.table(
        {
            "item_id": pa.array(["a", "a", "b", "b"]).dictionary_encode(),
            "replicate": [0, 1, 0, 1],
            "choice": pa.array(["A", "B", None, " A "]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    found = read(tmp_path / "x.parquet")
    assert found["choice"].tolist() == ["a", "b", "", "a"]
    assert found["status"].tolist() == ["ok", "ok", "missing", "ok"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": None}, "no column holds the verdicts. The file has: item_id, replicate"),
        ({"score": ["7", "8", "x", "9"]}, "words that are not understood"),
        ({"score": [7.0, 8.0, np.inf, 1.0]}, "infinite"),
        ({"score": [np.nan] * 4}, "no judgment could be read"),
        ({"item_id": [1.5, 2.5, 3.5, 4.5]}, "text or whole numbers"),
        ({"item_id": ["a", None, "b", "b"]}, "an item has no id"),
        ({"replicate": ["x", "y", "x", "y"]}, "must hold whole numbers"),
        ({"replicate": [0, None, 0, 1]}, "missing entries"),
        ({"replicate": [0, -1, 0, 1]}, "negative"),
        ({"replicate": [0, 0, 0, 1]}, "1 duplicate row: the same"),
        ({"cluster": ["p", "q", "p", "p"]}, "more than one cluster"),
        ({"status": ["ok", "odd", "ok", "failed"]}, "holds the status 'odd'"),
        ({"status": ["ok", "ok", "ok", "ok"]}, "there is no verdict"),
        ({"status": ["ok", "refused", "ok", "failed"]}, "status is not ok"),
        ({"temperature": ["hot", "1", "1", "1"]}, "'hot' is not a number"),
    ],
)
def test_untrusted_columns_are_refused_in_a_sentence(tmp_path, changes, message) -> None:
    _file(tmp_path, **changes)
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("further", "clusters"),
    [({}, 8), ({"mapping": {"cluster": "query_id"}}, 8), ({"ignore": "query_id"}, 40)],
)
def test_what_several_items_share_is_their_cluster(tmp_path, further, clusters) -> None:
    columns = {
        "query_id": [f"q{i // 5}" for i in range(40)],
        "doc_id": [f"d{i}" for i in range(40)],
    }
    scores = {"score": [i % 4 for i in range(40)], "label": [i % 3 for i in range(40)]}
    pq.write_table(pa.table(columns | scores), tmp_path / "x.parquet")
    assert js.read_judgments(tmp_path, **further)["cluster"].nunique() == clusters


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_that_varies_behind_the_sample_is_not_pooled(ending, tmp_path, monkeypatch):
    file, n = tmp_path / f"x.{ending}", 600
    system = ["x"] * n + ["y"] * n
    columns = {"question_id": [*range(n)] * 2, "model": system, "judge": "j", "version": "1"}
    frame = pd.DataFrame(columns).assign(score=[i % 5 for i in range(2 * n)])
    (frame.to_csv if ending == "csv" else frame.to_parquet)(file, index=False)
    monkeypatch.setattr("judgestats.data.readers.large.dataset._SAMPLE", 400)
    with pytest.raises(InputError, match="--map item=question_id\\+model"):
        js.read_judgments(file, stream="yes")
    found = js.read_judgments(file, stream="yes", item=("question_id", "model"))
    assert (found["item_id"].nunique(), found["cluster"].nunique()) == (2 * n, n)


def test_a_score_outside_the_scale_is_refused(tmp_path) -> None:
    _file(tmp_path)
    with pytest.raises(InputError, match="outside the scale 1-7"):
        read(tmp_path, scale=(1, 7))


def test_too_many_different_scores_are_refused(tmp_path) -> None:
    n = 400
    pq.write_table(
        pa.table({"item_id": [str(i) for i in range(n)], "score": np.linspace(0, 1, n)}),
        tmp_path / "x.parquet",
    )
    with pytest.raises(InputError, match="more than 240 different verdicts"):
        read(tmp_path, batch_rows=100)


@pytest.mark.fuzz
@settings(
    max_examples=5 * FUZZ,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32))
def test_changed_and_truncated_files(tmp_path, seed: int) -> None:
    rng = random.Random(seed)
    _file(tmp_path)
    raw = bytearray((tmp_path / "part.parquet").read_bytes())
    if rng.random() < 0.2:
        raw = raw[: rng.randrange(len(raw))]
    for _ in range(rng.randint(1, 8)):
        if raw:
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    (tmp_path / "part.parquet").write_bytes(raw)
    refused, rows = "", 0
    try:
        rows = len(read(tmp_path))
    except InputError as error:
        refused = str(error)
    assert tmp_path.name in refused if refused else 0 < rows <= 4


def test_damaged_and_disagreeing_files(tmp_path, monkeypatch) -> None:
    with pytest.raises(InputError, match="holds no file"):
        read(tmp_path)
    _file(tmp_path, "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match="not readable as Parquet"):
        read(tmp_path)
    _file(tmp_path, "b.parquet", judge=None)
    with pytest.raises(InputError, match=r"b\.parquet.*lacks the column 'judge'"):
        read(tmp_path)
    _file(tmp_path, "b.parquet", judge=[1, 2, 3, 4])
    with pytest.raises(InputError, match="same types"):
        read(tmp_path)
    (tmp_path / "b.parquet").unlink()
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[:4] + b"\0" * 60 + whole[64:])
    with pytest.raises(InputError, match=r"read through|not readable"):
        read(tmp_path)
    (tmp_path / "a.parquet").write_bytes(whole)
    monkeypatch.setattr("judgestats.data.readers.large.dataset.MAX_ROW_GROUP", 10)
    with pytest.raises(InputError, match="row group 0"):
        read(tmp_path)


def test_more_cells_than_memory_are_refused(tmp_path) -> None:
    _file(tmp_path)
    with pytest.raises(InputError, match="2 items x 1 conditions x 2 repeats are more than the 3"):
        read(tmp_path, board_bytes=3)


@pytest.mark.parametrize(("ending", "separator"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
@pytest.mark.parametrize("column", ["score", "verdict"])
def test_separated_text_is_counted_as_parquet_is(column, ending, separator, tmp_path) -> None:
    rng = np.random.default_rng(4)
    half = "8,5" if separator == ";" else "8.5"
    values = np.array(["7", half, "n/a", ""] if column == "score" else ["pass", "fail", "error"])
    rows = [
        {"item": f"i,{i}", "question": f"q {i // 2}", "judge": j, "run": r, "cost_usd": 0.25,
         column: str(rng.choice(values))}
        for i in range(40) for j in "ab" for r in range(3)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table.replace("8,5", "8.5").to_parquet(tmp_path / "t.parquet", index=False)
    table.to_csv(tmp_path / f"t.{ending}", index=False, sep=separator)
    memory = js.read_judgments(tmp_path / f"t.{ending}")
    keys = ["judge", "item_id", "replicate"]
    for name in ("t.parquet", f"t.{ending}"):
        found = read(tmp_path / name, batch_rows=31)
        for field in ("status", "score", "choice", "cluster"):
            ours, theirs = (
                f.astype(dict.fromkeys([*keys, field], object)).set_index(keys)[field].sort_index()
                for f in (found, memory)
            )
            pd.testing.assert_series_equal(ours, theirs)


def test_separated_text_that_one_pass_cannot_read_is_refused(tmp_path) -> None:
    (tmp_path / "b.csv").write_text("item,judge,score,cost_usd\na,j,1,cheap\nb,j,2,3\n")
    with pytest.raises(InputError, match=r"b\.csv"):
        read(tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text("item,judge,score\n")
    with pytest.raises(InputError, match="no judgments"):
        read(tmp_path / "c.csv")


def test_a_column_that_begins_with_numbers_and_ends_with_words_is_read(tmp_path) -> None:
    n = 120_000
    lines = [f"i{i},j,{1 if i < n - 5 else 'v2'},{i % 5}" for i in range(n)]
    (tmp_path / "x.csv").write_text("\n".join(["item,judge,version,score", *lines]))
    assert len(js.read_judgments(tmp_path / "x.csv", stream="yes")) == n
