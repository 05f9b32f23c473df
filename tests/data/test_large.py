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
from judgestats.data import is_parquet, reduce_parquet, score_array
from judgestats.data.large import reduce as reduce_module
from judgestats.errors import InputError
from judgestats.stats.designs import cell_statistics, cells_from_counts

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

ROWS = {
    "item_id": ["a", "a", "b", "b"],
    "replicate": [0, 1, 0, 1],
    "judge": ["J"] * 4,
    "score": [7.0, 8.0, 3.0, np.nan],
}


def _file(folder, name: str = "part.parquet", **changes) -> None:
    columns = {k: v for k, v in (ROWS | changes).items() if v is not None}
    pq.write_table(pa.table(columns), folder / name)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), batch=st.integers(1, 50), files=st.integers(1, 4))
def test_cells_equal_those_in_memory(tmp_path_factory, seed: int, batch: int, files: int) -> None:
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("parts")
    frame = pd.DataFrame(
        [
            {"item": i, "rater": j, "trial": r, "rating": float(rng.integers(1, 6)) / 2}
            for i in range(int(rng.integers(1, 9)))
            for j in ("x", "y")
            for r in range(int(rng.integers(1, 5)))
        ]
    )
    frame.loc[rng.random(len(frame)) < 0.2, "rating"] = np.nan
    frame.loc[0, "rating"] = 2.0
    frame = frame.sample(frac=1, random_state=seed)
    for f, part in enumerate(np.array_split(np.arange(len(frame)), files)):
        frame.iloc[part].to_parquet(folder / f"{f}.parquet", index=False)
    frame.to_parquet(folder.parent / f"{folder.name}.parquet", index=False)
    read = js.read_judgments(folder.parent / f"{folder.name}.parquet")
    array = score_array(read, conditions=("x", "y"))
    reduced = reduce_parquet(folder, batch_rows=batch)
    assert reduced.items == array.items
    assert tuple(c.label for c in reduced.columns) == array.conditions
    for place, name in enumerate(array.conditions):
        x = np.concatenate([block for _, block in reduced.blocks(place, size=2)])
        np.testing.assert_array_equal(x, array.condition(name))
    ours = cells_from_counts(reduced.counts, reduced.values, conditions=array.conditions)
    theirs = cell_statistics(array.scores, conditions=array.conditions)
    assert ours.common_r == theirs.common_r
    for field in ("n_scores", "mean", "median", "variance", "from_mean", "from_median"):
        np.testing.assert_allclose(
            getattr(ours, field), getattr(theirs, field), rtol=0, atol=1e-12, err_msg=field
        )


def test_unequal_cells_use_the_same_common_number_of_scores() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(1, 8, size=(30, 2, 9)).astype(float)
    x[rng.random(x.shape) < 0.25] = np.nan
    values = np.arange(1.0, 8.0)
    counts = (x[..., None] == values).sum(axis=2)
    ours, theirs = cells_from_counts(counts, values), cell_statistics(x)
    assert ours.common_r == theirs.common_r > 1
    np.testing.assert_allclose(ours.from_mean, theirs.from_mean, atol=1e-12)
    np.testing.assert_allclose(ours.from_median, theirs.from_median, atol=1e-12)


def test_wrong_counts_are_refused() -> None:
    with pytest.raises(InputError, match="as many values"):
        cells_from_counts([[[1, 2]]], [1.0])
    with pytest.raises(InputError, match="ascend"):
        cells_from_counts([[[1, 2]]], [2.0, 1.0])
    with pytest.raises(InputError, match="whole numbers"):
        cells_from_counts([[[1.5, 2.0]]], [1.0, 2.0])


def test_partitions_become_columns(tmp_path) -> None:
    for judge, temperature in (("A", "0.5"), ("B", "1")):
        folder = tmp_path / f"judge={judge}" / f"temperature={temperature}"
        folder.mkdir(parents=True)
        _file(folder, judge=None)
    assert is_parquet(tmp_path)
    found = reduce_parquet(tmp_path)
    assert [c.label for c in found.columns] == ["A, T=0.5", "B, T=1"]
    assert [c.temperature for c in found.columns] == [0.5, 1.0]
    assert found.n_rows == 8


def test_repetitions_are_numbered_where_no_column_does(tmp_path) -> None:
    _file(tmp_path, replicate=None)
    found = reduce_parquet(tmp_path, batch_rows=3)
    assert found.board.shape == (2, 1, 2)
    assert next(x.tolist() for _, x in found.blocks(0))[0] == [7.0, 8.0]


def test_dictionary_columns_and_choices(tmp_path) -> None:
    table = pa.table(
        {
            "item_id": pa.array(["a", "a", "b", "b"]).dictionary_encode(),
            "replicate": [0, 1, 0, 1],
            "choice": pa.array(["A", "B", None, " A "]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    found = reduce_parquet(tmp_path / "x.parquet")
    assert found.values == ("a", "b")
    assert not found.is_scores
    assert found.counts[:, 0].tolist() == [[1, 1], [1, 0]]
    assert dict(found.columns[0].statuses) == {"ok": 3, "missing": 1}


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
        reduce_parquet(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_score_outside_the_scale_is_refused(tmp_path) -> None:
    _file(tmp_path)
    with pytest.raises(InputError, match="outside the scale 1-7"):
        reduce_parquet(tmp_path, scale=(1, 7))


def test_too_many_different_scores_are_refused(tmp_path) -> None:
    n = 400
    pq.write_table(
        pa.table({"item_id": [str(i) for i in range(n)], "score": np.linspace(0, 1, n)}),
        tmp_path / "x.parquet",
    )
    with pytest.raises(InputError, match="more than 254 different verdicts"):
        reduce_parquet(tmp_path, batch_rows=100)


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
        rows = reduce_parquet(tmp_path).n_rows
    except InputError as error:
        refused = str(error)
    assert tmp_path.name in refused if refused else 0 < rows <= 4


def test_damaged_and_disagreeing_files(tmp_path, monkeypatch) -> None:
    with pytest.raises(InputError, match="holds no file"):
        reduce_parquet(tmp_path)
    _file(tmp_path, "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match="not readable as Parquet"):
        reduce_parquet(tmp_path)
    _file(tmp_path, "b.parquet", judge=None)
    with pytest.raises(InputError, match=r"b\.parquet.*lacks the column 'judge'"):
        reduce_parquet(tmp_path)
    _file(tmp_path, "b.parquet", judge=[1, 2, 3, 4])
    with pytest.raises(InputError, match="same types"):
        reduce_parquet(tmp_path)
    (tmp_path / "b.parquet").unlink()
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[:4] + b"\0" * 60 + whole[64:])
    with pytest.raises(InputError, match=r"read through|not readable"):
        reduce_parquet(tmp_path)
    (tmp_path / "a.parquet").write_bytes(whole)
    monkeypatch.setattr("judgestats.data.large.dataset.MAX_ROW_GROUP", 10)
    with pytest.raises(InputError, match="row group 0"):
        reduce_parquet(tmp_path)


def test_more_cells_than_memory_are_refused(tmp_path, monkeypatch) -> None:
    _file(tmp_path)
    monkeypatch.setattr(reduce_module, "COUNT_BYTES", 4)
    with pytest.raises(InputError, match="GiB of counts"):
        reduce_parquet(tmp_path)


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("column", ["score", "verdict"])
def test_separated_text_is_counted_as_parquet_is(column, ending, tmp_path) -> None:
    rng = np.random.default_rng(4)
    values = np.array(["7", "8.5", "n/a", ""] if column == "score" else ["pass", "fail", "error"])
    rows = [
        {"item": f"i,{i}", "question": f"q {i // 2}", "judge": j, "run": r, "cost_usd": 0.25,
         column: str(rng.choice(values))}
        for i in range(40) for j in "ab" for r in range(3)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table.to_parquet(tmp_path / "t.parquet", index=False)
    separator = "," if ending == "csv" else "\t"
    table.to_csv(tmp_path / f"t.{ending}", index=False, sep=separator)
    one, other = (
        reduce_parquet(tmp_path / name, batch_rows=31) for name in ("t.parquet", f"t.{ending}")
    )
    assert (one.items, one.values, one.columns) == (other.items, other.values, other.columns)
    for field in ("counts", "asked", "board", "cluster"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    memory = js.read_judgments(tmp_path / f"t.{ending}")
    statuses = memory["status"].value_counts().to_dict()
    assert {k: sum(c.statuses.get(k, 0) for c in other.columns) for k in statuses} == statuses


def test_separated_text_that_one_pass_cannot_read_is_refused(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("item;judge;score\na;j;1,5\nb;j;2\n")
    with pytest.raises(InputError, match="commas or tabs"):
        reduce_parquet(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("item,judge,score,cost_usd\na,j,1,cheap\nb,j,2,3\n")
    with pytest.raises(InputError, match=r"b\.csv"):
        reduce_parquet(tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text("item,judge,score\n")
    with pytest.raises(InputError, match="no judgments"):
        reduce_parquet(tmp_path / "c.csv")
