"""What is written is read back; what is broken gets an InputError and nothing else."""

from __future__ import annotations

import json
import os
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgestats.errors import InputError, StoreError
from judgestats.items import (
    LAYOUTS,
    WINNERS,
    HumanLabel,
    Item,
    Response,
    item_from_record,
    item_set_sha,
    item_to_record,
    load_bank,
    read_items,
    write_items,
)

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

FIXTURES = Path(__file__).parent / "fixtures"

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(characters, min_size=1, max_size=30).filter(lambda text: bool(text.strip()))
names = st.text("abc-1 é", min_size=1, max_size=6).filter(lambda text: bool(text.strip()))


@st.composite
def item(draw: st.DrawFn, item_id: str) -> Item:
    n_turns = draw(st.integers(1, 2))
    turns = st.lists(texts, min_size=n_turns, max_size=n_turns).map(tuple)
    responses = draw(
        st.lists(
            st.builds(
                Response,
                turns=turns,
                author=st.just("") | names,
                quality=st.none() | st.floats(0, 1),
                traits=st.lists(names, max_size=2).map(tuple),
            ),
            min_size=2,
            max_size=4,
        )
    )
    pair = st.permutations(range(len(responses))).map(lambda order: order[:2])
    labels = draw(
        st.lists(
            st.builds(
                lambda who, ab, winner, turn: HumanLabel(
                    annotator=who, a=ab[0], b=ab[1], winner=winner, turn=turn
                ),
                names,
                pair,
                st.sampled_from(WINNERS),
                st.integers(1, n_turns),
            ),
            max_size=3,
        )
    )
    return Item(
        id=item_id,
        cluster=draw(names),
        turns=draw(turns),
        responses=tuple(responses),
        context=draw(st.just("") | texts),
        reference=draw(st.just(()) | turns),
        category=draw(st.just("") | names),
        labels=tuple(labels),
    )


item_sets = st.lists(names, min_size=1, max_size=4, unique=True).flatmap(
    lambda ids: st.tuples(*(item(name) for name in ids))
)


@pytest.mark.fuzz
@settings(max_examples=13 * FUZZ, deadline=None)
@given(items=item_sets)
def test_written_items_are_read_back(items: tuple[Item, ...]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.jsonl"
        write_items(items, path)
        again = read_items(path)
    assert again == items
    assert item_set_sha(again) == item_set_sha(items)


@settings(max_examples=25, deadline=None)
@given(items=item_sets, data=st.data())
def test_the_digest_sees_content_and_not_order(
    items: tuple[Item, ...], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(items))
    assert item_set_sha(shuffled) == item_set_sha(items)
    record = item_to_record(items[0])
    record["turns"][0] += "!"
    assert item_set_sha([item_from_record(record), *items[1:]]) != item_set_sha(items)


def test_the_bank_survives_being_written(tmp_path: Path) -> None:
    write_items(load_bank(), tmp_path / "bank.jsonl")
    assert read_items(tmp_path / "bank.jsonl") == load_bank()


def test_questions_without_responses_are_written_but_not_judged(tmp_path: Path) -> None:
    questions = read_items(FIXTURES / "toy_task.json")
    path = tmp_path / "q.jsonl"
    write_items(questions, path)
    with pytest.raises(InputError, match="has no response"):
        read_items(path)


def test_write_refuses_other_endings_and_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must end in \.jsonl"):
        write_items(load_bank(), tmp_path / "items.csv")
    with pytest.raises(StoreError, match="cannot be written"):
        write_items(load_bank(), tmp_path / "absent" / "items.jsonl")


LABEL = {"annotator": "x", "a": 0, "b": 1, "winner": "a"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "unknown field"),
        ({"id": ""}, "'id' is empty"),
        ({"turns": []}, "'turns' is an empty list"),
        ({"responses": "x"}, "'responses' must be a list"),
        ({"responses": ["x"]}, "response 0: expected an object with 'turns'"),
        ({"responses": [{"turns": ["a"], "quality": 2}]}, "'quality' must be a number in 0-1"),
        ({"responses": [{"turns": ["a"], "quality": True}]}, "'quality' must be a number in 0-1"),
        ({"responses": [{"turns": ["a"], "traits": ["x" * 1001]}]}, "at most 1,000 are read"),
        ({"reference": ["a", "b"]}, "'reference' has 2 turns but the question 1"),
        ({"labels": 3}, "'labels' must be a list"),
        ({"labels": [3]}, "label 0: expected an object"),
        ({"labels": [{"a": 0, "b": 1}]}, r"\['annotator', 'winner'\] are missing"),
        ({"labels": [LABEL | {"b": 9}]}, "index of a response, 0 to 1"),
        ({"labels": [LABEL | {"b": 0}]}, "are the same response"),
        ({"labels": [LABEL | {"winner": "c"}]}, "'winner' must be one of"),
        ({"labels": [LABEL | {"turn": 0}]}, "counts from 1"),
    ],
)
def test_a_broken_record_says_what_is_broken(change: dict[str, object], message: str) -> None:
    record = {"id": "q", "turns": ["Why?"], "responses": [{"turns": ["a"]}, {"turns": ["b"]}]}
    item_from_record(record)
    with pytest.raises(InputError, match=message):
        item_from_record({**record, **change}, where="items.jsonl, line 3")
    for needed in record:
        with pytest.raises(InputError, match=f"the field '{needed}' is missing"):
            item_from_record({key: value for key, value in record.items() if key != needed})
    with pytest.raises(InputError, match="expected a JSON object"):
        item_from_record([record])


def read_or_refuse(path: Path, **options: object) -> None:
    """Reading ends in items or in an InputError with a readable message."""
    try:
        items = read_items(path, **options)
    except InputError as error:
        message = str(error)
    else:
        assert items
        assert len({item.id for item in items}) == len(items)
        return
    assert 10 < len(message) < 1200


@pytest.mark.fuzz
@settings(max_examples=20 * FUZZ, deadline=None)
@given(
    data=st.binary(max_size=200) | st.text(max_size=200).map(str.encode),
    ending=st.sampled_from([".jsonl", ".json", ".csv", ".tsv", ".parquet", ".jsonl.gz"]),
)
def test_any_bytes(data: bytes, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending}"
        path.write_bytes(data)
        read_or_refuse(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["turns", "text", "role", "content", "replies", "a", "rank"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
KNOWN_FILES = sorted(path for path in FIXTURES.glob("*.json*"))


@pytest.mark.fuzz
@pytest.mark.parametrize("path", KNOWN_FILES, ids=lambda path: path.name)
@settings(
    max_examples=8 * FUZZ,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(value=json_values, seed=st.integers(0, 10**6))
def test_a_known_layout_with_one_value_replaced(path: Path, value: object, seed: int) -> None:
    """Any value of any published layout may be of the wrong kind."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        document: object = [json.loads(line) for line in text.splitlines()]
    else:
        document = json.loads(text)
    document = replace_somewhere(document, value, random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder) / "broken.json"
        broken.write_text(json.dumps(document), encoding="utf-8")
        read_or_refuse(broken)
        for layout in LAYOUTS:
            read_or_refuse(broken, layout=layout)


def replace_somewhere(value: object, new: object, rng: random.Random) -> object:
    """`value` with one place, drawn at any depth below the top, replaced by `new`."""
    if isinstance(value, list) and value:
        index = rng.randrange(len(value))
        return [replace_below(old, new, rng) if i == index else old for i, old in enumerate(value)]
    if isinstance(value, dict) and value:
        chosen = rng.choice(list(value))
        return {k: replace_below(old, new, rng) if k == chosen else old for k, old in value.items()}
    return new


def replace_below(value: object, new: object, rng: random.Random) -> object:
    deeper = isinstance(value, list | dict) and bool(value) and rng.random() < 0.8
    return replace_somewhere(value, new, rng) if deeper else new
