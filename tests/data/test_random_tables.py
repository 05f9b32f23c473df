"""Tables of random roles, names and nesting: read right, or asked for with the right way."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter

import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.data import reading_of
from judgestats.data.readers.row_checks import OpenQuestionError
from judgestats.errors import InputError

NAMES = {
    "item": ("item", "sample_id", "c1", "uid", "case"),
    "judge": ("judge", "grader", "c3", "rater_model"),
    "system": ("model", "bot", "c4", "variant"),
    "criterion": ("criterion", "name", "c5", "aspect"),
    "condition": ("prompt_template", "language", "c6"),
    "repeat": ("run", "rep", "c7"),
    "verdict": ("score", "verdict", "c8", "grade"),
}
NEUTRAL = {role: tuple(f"c{k}{n}" for n in range(5)) for k, role in enumerate(NAMES)}
LEVELS = {
    "judge": ("gpt-4o", "claude-3"),
    "system": ("alpha", "beta"),
    "criterion": ("tone", "accuracy"),
    "condition": ("p1", "p2"),
    "repeat": (1, 2),
}
N = 12


def made(seed, known=NAMES):
    """Rows by role, the names of the roles, and which roles have several levels."""
    rng = random.Random(seed)
    several = [role for role in LEVELS if rng.random() < 0.45]
    several = rng.sample(several, min(3, len(several)))
    names = {role: rng.choice(own) for role, own in known.items()}
    rows = [
        {"item": f"x{i}", **dict(zip(several, levels, strict=True)), "verdict": rng.randint(1, 5)}
        for i in range(N)
        for levels in itertools.product(*(LEVELS[role] for role in several))
    ]
    return rng, rows, names, several


def is_right(frame, rows, several):
    """Whether the frame has the cells, repeats, levels and scores of the rows."""
    keys = [c for c in ("condition", "item_id", "order", "criterion") if c in frame]
    sizes = frame.groupby(keys).size()
    repeats = 2 if "repeat" in several else 1
    counts = reading_of(frame)["counts"]
    levels = {role: 2 if role in several else 1 for role in LEVELS}
    return (
        sizes.eq(repeats).all()
        and len(frame) == len(rows)
        and sorted(frame["score"]) == sorted(float(r["verdict"]) for r in rows)
        and counts["judges"] == levels["judge"]
        and counts["criteria"] == levels["criterion"]
        and max(1, counts["systems"]) == levels["system"]
    )


def outcome(path, rows, several):
    """``right``, ``asked`` (and one of the options is right), ``refused``, or ``wrong``."""
    try:
        return "right" if is_right(read_judgments(path), rows, several) else "wrong"
    except OpenQuestionError as asked:
        read = [read_judgments(path, **a.options.set_options()) for a in asked.answers]
        assert len(read) <= 3
        return "asked" if any(is_right(frame, rows, several) for frame in read) else "refused"
    except InputError:
        return "refused"


def table_file(folder, rng, rows, names, several):
    table = pd.DataFrame(rows).rename(columns=names).assign(version="v1")
    table["created_at"] = [f"2026-01-01T00:00:{i % 60:02d}" for i in range(len(table))]
    table = table[rng.sample(list(table), len(table.columns))]
    table.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def tree_file(folder, rng, rows, names, several):
    outer = ["item", *[role for role in several if rng.random() < 0.4]]
    groups: dict[tuple[object, ...], list[dict[str, object]]] = {}
    for row in rows:
        own = {names[k]: v for k, v in row.items() if k not in outer}
        groups.setdefault(tuple(row[k] for k in outer), []).append(own)
    records = [
        {**{names[k]: v for k, v in zip(outer, key, strict=True)}, "judgments": entries}
        for key, entries in groups.items()
    ]
    document = {"data": records, "meta": {"n": len(records)}} if rng.random() < 0.5 else records
    (folder / "t.json").write_text(json.dumps(document))
    return folder / "t.json"


@pytest.mark.parametrize(
    ("kind", "seeds", "known"),
    [
        (table_file, range(12), NAMES),
        (tree_file, range(20, 32), NAMES),
        (table_file, range(40, 43), NEUTRAL),
        (tree_file, range(46, 49), NEUTRAL),
        *(
            pytest.param(kind, range(first, first + 250), known, marks=pytest.mark.study)
            for kind, first in ((table_file, 1000), (tree_file, 2000))
            for known in (NAMES, NEUTRAL)
        ),
    ],
)
def test_random_files_are_read_right_or_asked_for_with_the_right_way(tmp_path, kind, seeds, known):
    found = Counter()
    for seed in seeds:
        rng, rows, names, several = made(seed, known)
        found[outcome(kind(tmp_path, rng, rows, names, several), rows, several)] += 1
    assert not found["wrong"]
    assert found["right"] + found["asked"] >= 0.9 * len(seeds), found


def test_the_reading_does_not_hang_on_order_names_of_levels_or_the_kind_of_file(tmp_path):
    rows = [
        {"item": f"x{i}", "judge": j, "run": r, "score": 1 + (i * (r + 1) + len(j)) % 5}
        for i in range(N) for j in ("a", "bb") for r in (1, 2)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    wanted = reading_of(read_judgments(table))["counts"]
    means = read_judgments(table).groupby("judge")["score"].mean().sort_index().tolist()
    table.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.json").write_text(json.dumps(rows))
    shuffled = table.sample(frac=1, random_state=1)[["score", "run", "judge", "item"]]
    renamed = table.assign(item="q-" + table["item"], note="a remark on it", version=3)
    for data in (shuffled, renamed, tmp_path / "t.parquet", tmp_path / "t.json"):
        frame = read_judgments(data)
        assert reading_of(frame)["counts"] == wanted
        assert frame.groupby("judge")["score"].mean().sort_index().tolist() == means


def test_a_word_in_a_name_does_not_make_a_condition_a_measure():
    for name in ("candidate", "baseline", "guideline", "problem", "browser"):
        rows = [
            {"item": f"x{i}", name: w, "score": 1 + (i * k) % 5}
            for i in range(N)
            for k, w in enumerate("ab", start=1)
        ]
        try:
            frame = read_judgments(rows)
        except OpenQuestionError as asked:
            frame = read_judgments(rows, **asked.answers[0].options.set_options())
        assert frame["replicate"].max() == 0, name


def test_other_answers_to_a_question_are_no_repeats():
    rows = [
        {"question_id": f"q{i}", "response": f"answer {k} to question {i}", "score": 1 + i % 4}
        for i in range(N)
        for k in range(3)
    ]
    with pytest.raises(OpenQuestionError) as asked:
        read_judgments(rows)
    frame = read_judgments(rows, **asked.value.answers[0].options.set_options())
    assert frame["item_id"].nunique() == 3 * N
