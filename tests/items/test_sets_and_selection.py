"""Names of item sets, counts and selections."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from judgestats.errors import InputError
from judgestats.items import (
    Item,
    Response,
    describe_items,
    fetch_path,
    load_bank,
    load_items,
    parse_options,
    read_items,
    select_items,
)

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

FIXTURES = Path(__file__).parent / "fixtures"


def test_names_that_cannot_be_loaded() -> None:
    with pytest.raises(InputError, match="'table' is the name of a layout"):
        load_items("table")
    with pytest.raises(InputError, match="'rewardbench' is a published set, and it is not at data"):
        load_items("rewardbench")
    with pytest.raises(InputError, match="there is no file 'bnak"):
        load_items("bnak.jsonl")
    with pytest.raises(InputError, match=r"the bundled bank takes no options, got \['turn'\]"):
        load_items("bank", turn=2, mapping=None)


def test_a_fetched_set_is_found_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    place = fetch_path("evalbias")
    place.parent.mkdir(parents=True)
    place.write_bytes((FIXTURES / "evalbias.json").read_bytes())
    assert load_items("evalbias") == read_items(FIXTURES / "evalbias.json")
    with pytest.raises(InputError, match="turn has no effect on the layout evalbias"):
        load_items("evalbias", turn=1)


def test_the_bank_without_ties() -> None:
    winners = {x.winner for item in load_items("bank", ties="drop") for x in item.labels}
    assert winners == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("turn", "'turn' is not option=value"),
        ("colour=red", "'colour=red' is not option=value"),
        ("turn=x", "turn must be a whole number, not 'x'"),
        ("empty_ok=perhaps", "empty_ok must be true or false"),
        ("turn=1,turn=2", "turn occurs twice"),
        ("turn=" + "9" * 5000, "turn must be a whole number"),
    ],
)
def test_bad_options(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_options(text)


def test_a_layout_can_be_forced_on_a_file_that_fits_another() -> None:
    with pytest.raises(InputError, match="'label' must be A>B or B>A"):
        load_items(f"judgebench:{FIXTURES / 'rewardbench.jsonl'}")


def test_counts() -> None:
    about = describe_items(read_items(FIXTURES / "mt_bench_human.jsonl"))
    assert (about.items, about.clusters, about.responses) == (3, 2, 7)
    assert (about.two_turn, about.labels, about.labelled_pairs) == (1, 5, 4)
    assert about.annotators == ("author_2", "expert_1", "expert_2", "gpt-4-pair-v2")
    assert "5 labels on 4 pairs by 4 annotators" in str(about)


def test_selection_is_seeded() -> None:
    bank = load_bank()
    assert select_items(bank, limit=8, seed=3) == select_items(bank, limit=8, seed=3)
    assert len({select_items(bank, limit=8, seed=seed) for seed in range(5)}) > 1
    first = select_items(bank, limit=8, seed=None)
    assert [item.id for item in first] == [
        next(item.id for item in bank if item.category == category)
        for category in dict.fromkeys(item.category for item in bank)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": 0}, "limit must be at least 1, not 0"),
        ({"limit": True}, "limit must be at least 1"),
    ],
)
def test_bad_selection(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        select_items(load_bank(), **options)


def test_nothing_can_be_chosen_from_no_item() -> None:
    with pytest.raises(InputError, match="there is no item to choose from"):
        select_items([])


def test_uneven_categories_are_exhausted_in_turn() -> None:
    def make(name: str, category: str) -> Item:
        answer = (Response(turns=("x",)),)
        return Item(id=name, cluster=name, turns=("q",), responses=answer, category=category)

    items = [make(f"a{i}", "a") for i in range(5)] + [make("b0", "b")]
    assert Counter(i.category for i in select_items(items, limit=4)) == {"a": 3, "b": 1}
