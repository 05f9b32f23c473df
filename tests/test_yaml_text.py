"""YAML that a user or an attacker wrote: read, or refused with bounded work."""

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgestats.collection import load_prices, read_judges_file
from judgestats.errors import InputError, RenderError
from judgestats.reporting import read_document
from judgestats.yaml_text import YamlTextError, read_yaml

LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]\n" for i in range(1, 60)
)
MERGES = "m0: &m0 {k: v}\n" + "".join(
    f"m{i}: &m{i}\n  <<: [*m{i - 1}, *m{i - 1}, *m{i - 1}]\n" for i in range(1, 40)
)
BOMBS = {
    "aliases": (LAUGHS, "aliases written out"),
    "merges": (MERGES, "aliases written out"),
    "flow nesting": ("a: " + "[" * 90_000, "nested deeper"),
    "mapping nesting": ("{a: " * 40_000, "nested deeper"),
    "block nesting": ("".join(f"{' ' * i}a:\n" for i in range(300)), "nested deeper"),
    "dashes": ("- " * 90_000 + "x", "nested deeper"),
    "size": ("a: " + "x" * 300_000, "longer than 200,000"),
    "itself": ("a: &a [*a]", "within what it names"),
    "values": ("a: [" + "1, " * 60_000 + "1]", "more than 20,000 values"),
    "digits": ("a: " + "1" * 5_000, "a date or number"),
    "a day that is none": ("a: 2026-02-31", "a date or number"),
    "control": ("a: \x07", "a character"),
    "twice": ("judges: []\njudges: []", "twice .line 2, column 1"),
    "a tag": ("a: !!python/object/apply:os.system [true]", "no YAML"),
}
"""Where it was loaded: minutes, gigabytes, a crash, or the last of two values in silence."""


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_with_bounded_work(name):
    text, words = BOMBS[name]
    started = time.process_time()
    with pytest.raises(YamlTextError, match=words):
        read_yaml(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("name", BOMBS)
def test_every_yaml_of_a_user_is_read_so(tmp_path, name):
    file = tmp_path / "given.yaml"
    file.write_text(BOMBS[name][0], encoding="utf-8")
    for read, error in ((read_judges_file, InputError), (load_prices, InputError)):
        with pytest.raises(error, match=BOMBS[name][1]):
            read(file)
    page = tmp_path / "page.qmd"
    page.write_text(f"---\n{BOMBS[name][0]}\n---\n", encoding="utf-8")
    with pytest.raises(RenderError):
        read_document(page)


def test_a_pipe_and_a_huge_file_are_not_read(tmp_path):
    pipe, huge = tmp_path / "judges.yaml", tmp_path / "prices.yaml"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="not a regular file"):
        read_judges_file(pipe)
    with huge.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="longer than"):
        load_prices(huge)


def test_aliases_that_honest_files_use_are_read():
    text = "common: &c {max_tokens: 9}\njudges: [{s: *c}, {s: {<<: *c, top_p: 1}}]"
    first, second = read_yaml(text)["judges"]
    assert (first, second) == ({"s": {"max_tokens": 9}}, {"s": {"max_tokens": 9, "top_p": 1}})
    assert read_yaml("") is None


@given(st.text(alphabet="a:-[]{}&*<! \n\t'\"#|>1.,", max_size=60))
def test_any_text_is_a_value_or_one_kind_of_refusal(text):
    try:
        value = read_yaml(text)
    except YamlTextError:
        return
    assert len(repr(value)) < 50 * 60
