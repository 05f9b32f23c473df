"""Logs are untrusted: a reader gives a validated frame or an `InputError`, whatever they hold."""

from __future__ import annotations

import gzip
import json
import os
import random
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import judgestats as js
from judgestats.errors import InputError

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

FIXTURES = Path(__file__).parent / "fixtures"
MODEST = settings(
    max_examples=5 * FUZZ,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

STRANGE = [
    None,
    True,
    -1,
    0.5,
    10**400,
    -(10**30),
    float("nan"),
    float("inf"),
    "",
    "\ud800",
    "x" * 300,
    "7",
    "[[",
    [],
    {},
    [[]],
    {"a": {"b": []}},
    [None, 1, "x"],
    "2026-99-99",
]


def small(name: str):
    """A fixture's records, few of them: (value, how to write it)."""
    (path,) = FIXTURES.glob(name)
    text = path.read_text()
    if path.suffix == ".jsonl":
        return [json.loads(x) for x in text.splitlines()[:4]], "jsonl"
    value = json.loads(text)
    if isinstance(value, list):
        return value[:4], "json"
    if "samples" in value:
        return {**value, "samples": value["samples"][:2]}, "json"
    if "results" in value:
        kept = {**value["results"], "results": value["results"]["results"][:2]}
        return {**value, "results": kept}, "json"
    return {**value, "data": value["data"][:3]}, "json"


SOURCES = {
    name: small(name)
    for name in (
        "inspect/model-y.json",
        "promptfoo/results.json",
        "mlflow/traces.jsonl",
        "mlflow/traces_table.json",
        "mlflow/eval_results_table.json",
        "lm_eval/samples_judge_pairs_*.jsonl",
        "alpaca_eval/annotations.json",
        "fastchat/*_single.jsonl",
        "fastchat/*_pair.jsonl",
        "judgekeeper/runs/run-01.jsonl",
        "judgekeeper/records.jsonl",
    )
}


def places(value, path=()):
    """Every place in a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value[:6]):
            yield (*path, i)
            yield from places(inner, (*path, i))


def mutated(value, rng):
    """A deep copy with one to three places replaced, deleted or renamed."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.randint(1, 3)):
        listed = [p for p in places(value) if len(p) <= 7]
        if not listed:
            break
        *way, last = rng.choice(listed)
        holder = value
        for step in way:
            holder = holder[step]
        what = rng.random()
        if what < 0.7:
            holder[last] = rng.choice(STRANGE)
        elif isinstance(holder, dict):
            kept = holder.pop(last)
            if what < 0.8:
                holder[f"{last}_"] = kept
        else:
            del holder[last]
    return value


def written(value, form):
    """As a file's bytes; a lone surrogate is written as an escape, as json does."""
    if form == "jsonl":
        return "".join(json.dumps(v) + "\n" for v in value).encode()
    return json.dumps(value).encode()


def reads_or_says_why(path, **options):
    refused = None
    try:
        found = js.read_judgments(path, **options)
    except InputError as error:
        refused = str(error)
    if refused is not None:
        assert 0 < len(refused) < 6000
        return
    assert found.loc[found["status"] != "ok", "score"].isna().all()


@pytest.mark.fuzz
@pytest.mark.parametrize("name", SOURCES)
@MODEST
@example(seed=145)  # the type of a source was a list
@example(seed=14352)  # a lone surrogate in a table
@given(seed=st.integers(0, 2**32))
def test_changed_records(tmp_path, name, seed):
    value, form = SOURCES[name]
    path = tmp_path / f"log.{form}"
    path.write_bytes(written(mutated(value, random.Random(seed)), form))
    reads_or_says_why(path)


BINARIES = ("inspect/model-x.eval", "promptfoo/promptfoo.db", "fastchat/*_pair.jsonl")


@pytest.mark.fuzz
@pytest.mark.parametrize("name", BINARIES)
@MODEST
@given(seed=st.integers(0, 2**32))
def test_changed_and_truncated_bytes(tmp_path, name, seed):
    (source,) = FIXTURES.glob(name)
    path = tmp_path / "log"
    path.write_bytes(changed(source.read_bytes(), random.Random(seed)))
    reads_or_says_why(path)


TABLE = pd.DataFrame(
    {
        "item": ["a", "007", "b", "b"],
        "mark": [1.0, 2.5, float("nan"), 9.0],
        "temp": [0.0, 0.5, 1.0, 1.0],
        "verdict": ["a", "tie", "", "b"],
    }
)


def table_bytes(form):
    if form == "parquet":
        return TABLE.to_parquet()
    if form in {"json", "jsonl"}:
        return TABLE.to_json(orient="records", lines=form == "jsonl").encode()
    return TABLE.to_csv(index=False, sep="\t" if form == "tsv" else ";").encode()


def changed(raw, rng):
    """Bytes with one to twenty of them replaced, and sometimes cut short."""
    raw = bytearray(raw)
    if rng.random() < 0.4:
        raw = raw[: rng.randrange(len(raw))]
    for _ in range(rng.randint(1, 20)):
        if raw:
            near = rng.random() < 0.7
            at = rng.randrange(len(raw)) if near else max(0, len(raw) - rng.randint(1, 400))
            raw[at] = rng.choice(b',;"\n\r\t{}[]:\x00\xff19eE-') if near else rng.randrange(256)
    return bytes(raw)


@pytest.mark.fuzz
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "json", "parquet"])
@MODEST
@given(seed=st.integers(0, 2**32))
@example(seed=226)  # statistics of a chunk, at which pyarrow ends the process
def test_changed_and_truncated_tables(tmp_path, form, seed):
    path = tmp_path / f"table.{form}"
    path.write_bytes(changed(table_bytes(form), random.Random(seed)))
    reads_or_says_why(path, mapping={"score": "mark"})


@pytest.mark.fuzz
@MODEST
@given(
    raw=st.binary(max_size=300),
    start=st.sampled_from([b"", b"{", b"[", b"PK\x03\x04", b"\x1f\x8b", b"SQLite format 3\x00"]),
)
def test_any_bytes(tmp_path, raw, start):
    path = tmp_path / "log.json"
    path.write_bytes(start + raw)
    reads_or_says_why(path)


# ------------------------------------------------------------------ the known tricks, one by one


def refused(path, said):
    with pytest.raises(InputError, match=said):
        js.read_judgments(path)


def test_deep_json_is_refused(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text('{"eval": ' + "[" * 200_000 + "]" * 200_000 + "}")
    refused(path, "nested deeper than 64 levels")


FASTCHAT = '{"question_id": 1, "model": "a", "judge": "j", "turn": 1, "judgment": "", "score": 1'


def test_a_key_twice_is_refused(tmp_path):
    path = tmp_path / "twice.jsonl"
    path.write_text(f'{FASTCHAT}}}\n{FASTCHAT}, "score": 9}}\n')
    refused(path, "line 2.*'score' stands twice")


def test_numbers_with_too_many_digits_are_refused(tmp_path):
    path = tmp_path / "digits.jsonl"
    path.write_text(f"{FASTCHAT}}}\n{FASTCHAT}{'9' * 5000}}}\n")
    refused(path, "line 2")


def test_a_zip_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGESTATS_MAX_BYTES", "1MB")
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", b" " * 5_000_000)
    assert path.stat().st_size < 20_000
    refused(path, "expands to more than 1,000,000 bytes")


def test_a_gzip_bomb_is_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "bomb.jsonl.gz"
    head = b'{"question_id": 1, "model": "a", "judge": "j", "judgment": "", "score": 1}\n'
    path.write_bytes(gzip.compress(head + b" " * 70_000_000))
    refused(path, "line 2: a line longer than 64 MiB")


def test_a_table_is_counted_while_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGESTATS_MAX_BYTES", "100kB")
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"item,score\n" + b"a,1\n" * 50_000))
    refused(path, "expands to more than 100,000 bytes .gzip.")


@pytest.mark.parametrize("kept_as_a_dictionary", [True, False])
def test_a_text_that_repeats_is_counted_as_often_as_it_stands(
    tmp_path, monkeypatch, kept_as_a_dictionary
):
    monkeypatch.setenv("JUDGESTATS_MAX_BYTES", "1000000")
    texts = pa.array(["A" * 1_000] * 2_000).dictionary_encode()
    if not kept_as_a_dictionary:
        texts = texts.cast(pa.string())
    path = tmp_path / "bomb.parquet"
    table = pa.table({"item": range(2_000), "judge": texts, "score": [7] * 2_000})
    pq.write_table(table, path)
    assert path.stat().st_size < 40_000
    refused(path, "expands to more than 1,000,000 bytes .Parquet, 1 row groups.")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"item": "a", "mark": ' + "[" * 200_000 + "]" * 200_000 + "}", "nested deeper than 64"),
        ('{"item": "a", "mark": 1, "mark": 9}', "'mark' stands twice"),
    ],
)
def test_a_mapping_takes_no_care_away(tmp_path, line, said):
    path = tmp_path / "table.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match=said):
        js.read_judgments(path, mapping={"score": "mark"})


def test_names_that_climb_out_of_an_archive_are_refused(tmp_path):
    path = tmp_path / "inner" / "climb.eval"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", '{"eval": {"task": "t", "model": "m"}, "status": "success"}')
        file.writestr(
            "samples/../../../escaped.json",
            '{"id": "a", "epoch": 1, "scores": {"s": {"value": 0.5}}}',
        )
    refused(path, "leads out of the archive")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["climb.eval", "inner"]


def test_a_pipe_is_no_log(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    refused(path, "not a plain file")


def test_an_interrupted_log_is_read_as_far_as_it_was_written(tmp_path):
    path = tmp_path / "started.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("_journal/start.json", '{"eval": {"task": "t", "model": "m"}, "version": 2}')
        file.writestr(
            "samples/a_epoch_1.json", '{"id": "a", "epoch": 1, "scores": {"s": {"value": "C"}}}'
        )
    found = js.read_judgments(path)
    assert found["choice"].tolist() == ["correct"]
    assert any("interrupted" in note for note in found.attrs["notes"])


def test_keys_of_json_are_counted_over_all_records(tmp_path):
    path = tmp_path / "t.jsonl"
    own = [{f"a{i}_{k}": 1 for k in range(54)} for i in range(37)]
    rows = [{"item_id": f"q{i}", "score": i % 9} | keys for i, keys in enumerate(own)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert len(js.read_judgments(path)) == 37
    path.write_text("\n".join(map(json.dumps, [*rows, {"c": 1}])))
    with pytest.raises(InputError, match="2,001 columns in its first records; at most 2,000"):
        js.read_judgments(path)


def test_a_text_of_json_is_kept_to_200_000_characters(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"item_id": "q" * 200_001, "score": 1}))
    assert js.read_judgments(path)["item_id"].tolist() == ["q" * 200_000]


@pytest.mark.parametrize("name", ["doc_id", "session_id", "essayId"])
def test_lists_under_the_name_of_an_id_are_refused_in_a_sentence(name):
    rows = [{"item": "ab"[k % 2], name: [k], "score": k % 3} for k in range(6)]
    with pytest.raises(InputError, match=name):
        js.read_judgments(rows)


def test_a_column_of_lists_is_not_the_only_id():
    rows = [{"passage_id": [k], "score": k % 3} for k in range(6)]
    with pytest.raises(InputError, match="not certain"):
        js.read_judgments(rows)
