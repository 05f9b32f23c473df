"""A simulated judge's truth, and what its replies show of it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.collection import collect_judgments
from judgestats.data import Condition, Task
from judgestats.errors import InputError
from judgestats.items import load_bank
from judgestats.protocols import Pointwise, Prompted, ReplyMode, ReplySchema, Scale
from judgestats.simulated import quality_of, simulated_judge, simulated_judges
from judgestats.simulated.judges import truth

PAIR = ReplySchema(
    name="choose",
    description="",
    schema={"properties": {"choice": {"type": "string", "enum": ["A", "B", "tie"]}}},
)


def scores(frame):
    return frame["raw_text"].map(lambda text: json.loads(text)["score"]).astype(float)


def test_designed_quality_is_found_and_unknown_texts_have_a_stable_one():
    [first, *_] = load_bank()
    for response in first.responses:
        assert quality_of(response.text) == response.quality
    drawn = np.array([quality_of(f"text {i}") for i in range(2000)])
    assert quality_of("text 7") == drawn[7]
    assert drawn.min() >= 0.15
    assert drawn.max() <= 0.95
    assert abs(drawn.mean() - 0.55) < 0.02


@pytest.mark.parametrize("name", simulated_judges())
def test_probabilities_are_probabilities(name):
    known = truth(name)
    for t in (0.0, 0.3, 1.0, 2.0, None):
        p = known.score_probabilities("Q", "A", temperature=t, low=0, high=100)
        assert sum(p.values()) == pytest.approx(1)
        assert set(p) == set(range(101))
        c = known.choice_probabilities(["a", "b", "c"], temperature=t, tie=True)
        assert sum(c) == pytest.approx(1)
        assert len(c) == 4


@pytest.mark.parametrize("name", simulated_judges())
def test_the_page_says_what_each_judge_is_for(name):
    page = Path(__file__).parents[2] / "docs" / "simulated-judges.md"
    assert simulated_judge(name).name == name
    assert f"\n| `{name}` | " in page.read_text(encoding="utf-8")


def test_spread_grows_with_temperature_except_for_the_null_judge():
    answers = [f"text {i}" for i in range(300)]

    def spread(name, t, reasoning="none"):
        known = truth(name)
        return np.mean(
            [known.variance("Q", a, temperature=t, reasoning=reasoning) for a in answers]
        )

    for name in ("sim-typical", "sim-discerning", "sim-coarse"):
        grown = [spread(name, t) for t in (0.0, 0.2, 0.5, 1.0)]
        assert grown[0] == 0
        assert (np.diff(grown) > 0).all()
        assert spread(name, 0.5, "before") > 1.2 * spread(name, 0.5)
        if not simulated_judge(name).lapse_share:
            assert grown[3] == pytest.approx(simulated_judge(name).noise, rel=0.35)
    assert spread("sim-null", 0.0) == spread("sim-null", 1.0) > 0
    assert spread("sim-null", 0.5, "before") == spread("sim-null", 0.5)


def test_better_answers_get_better_scores():
    known = truth("sim-typical")
    texts = sorted((f"text {i}" for i in range(500)), key=quality_of)
    centres = [known.centre("Q", t) for t in texts]
    assert np.corrcoef(centres, [quality_of(t) for t in texts])[0, 1] > 0.85


def test_replies_recover_the_truth(plan):
    frame = collect_judgments(plan(items=8, replicates=200, temperatures=(0.6,))).frame
    frame = frame.assign(score=scores(frame))
    known = truth("sim-typical")
    errors, standard = [], []
    for index, (_, group) in enumerate(frame.groupby("item_id", sort=False)):
        question = f"What is {index} plus {index}?"
        answer = f"It is {2 * index}, since {index} doubled is {2 * index}."
        p = known.score_probabilities(question, answer, temperature=0.6)
        mean = sum(k * v for k, v in p.items())
        variance = known.variance(question, answer, temperature=0.6)
        fourth = sum((k - mean) ** 4 * v for k, v in p.items())
        n = len(group)
        assert abs(group["score"].mean() - mean) <= 4.5 * (variance / n) ** 0.5 + 1e-9
        errors.append(group["score"].var() - variance)
        standard.append((fourth - variance**2 * (n - 3) / (n - 1)) / n)
    assert abs(np.sum(errors)) <= 4.5 * np.sum(standard) ** 0.5


def test_a_cold_judge_repeats_itself(plan):
    frame = collect_judgments(plan(items=5, replicates=10, temperatures=(0.0,))).frame
    assert all(len(set(texts)) == 1 for _, texts in frame.groupby("item_id")["raw_text"])


def test_any_scale_is_heeded(plan):
    for low, high in ((1, 5), (0, 100), (1, 4)):
        protocol = Pointwise(scale=Scale(low, high))
        for mode in (None, ReplyMode.TEXT):
            collected = collect_judgments(plan(protocol=protocol), reply_mode=mode)
            found = [
                float(json.loads(t)["score"]) if mode is None else float(t.strip("Score: []"))
                for t in collected.frame["raw_text"]
            ]
            assert low <= min(found)
            assert max(found) <= high
            assert len(set(found)) > 1


def pairs(judge, *, count, mode=ReplyMode.JSON_SCHEMA, swap=False, names=("A", "B"), closing=""):
    def build(index):
        answers = [f"first text {index}", f"second text {index} and more"]
        if swap:
            answers.reverse()
        blocks = "\n".join(
            f"[The Start of Assistant {n}]\n{a}\n[The End of Assistant {n}]"
            for n, a in zip(names, answers, strict=True)
        )
        text = f"[Question]\nWhich?\n\n{blocks}\n{closing}"
        schema = PAIR if mode is not ReplyMode.TEXT else None
        return Prompted(
            messages=({"role": "user", "content": text},), mode=mode, prompt_sha="", schema=schema
        )

    tasks = [
        Task(
            condition=Condition(judge=judge, temperature=1.0),
            item_id=f"p{i}",
            cluster=f"p{i}",
            replicate=0,
            build=lambda _mode, i=i: build(i),
        )
        for i in range(count)
    ]
    return collect_judgments(tasks, reply_mode=mode).frame["raw_text"]


def test_choices_follow_quality_and_position():
    def first_share(judge, **more):
        return (pairs(judge, count=250, **more) == '{"choice": "A"}').mean()

    plain, swapped = first_share("sim-typical"), first_share("sim-typical", swap=True)
    assert abs(plain - swapped) < 0.15
    assert first_share("sim-positional") > plain + 0.05
    assert first_share("sim-always-first") == 1.0
    better = [
        truth("sim-discerning").choice_probabilities(
            [f"first text {i}", f"second text {i} and more"], temperature=1.0, tie=True
        )[0]
        for i in range(250)
    ]
    error = (np.mean(better) * (1 - np.mean(better)) / 250) ** 0.5
    assert first_share("sim-discerning") == pytest.approx(np.mean(better), abs=4 * error)


def test_the_verbose_judge_prefers_length():
    long, short = "word " * 400, "word"
    chosen = truth("sim-verbose").choice_probabilities([short, long], temperature=1.0)
    plain = truth("sim-typical").choice_probabilities([short, long], temperature=1.0)
    assert chosen[1] > plain[1]


def test_a_crowd_helps_the_judge_it_should_help():
    answers = ["text 1", "text 2"]
    best = int(quality_of(answers[1]) > quality_of(answers[0]))

    def right(name, crowd):
        return truth(name).choice_probabilities(answers, temperature=1.0, crowd=crowd)[best]

    assert right("sim-crowd", 16) > right("sim-crowd", 2) > right("sim-crowd", 0)
    assert right("sim-crowd-deaf", 16) == right("sim-crowd-deaf", 0)


@pytest.mark.parametrize(
    ("closing", "pattern"),
    [
        ("Answer with [[A]], [[B]] or [[C]] for a tie.", r"\[\[[ABC]\]\]"),
        ("Answer with [[A]] or [[B]].", r"\[\[[AB]\]\]"),
        ("Write Selection: Option k", r"Selection: Option [12]"),
        ("Write: Best Response: [[letter]]", r"Best Response: \[\[[AB]\]\]"),
        ("Think step by step. Answer with [[A]] or [[B]].", r"(?s).+\n\n\[\[[AB]\]\]"),
    ],
)
def test_plain_text_forms(closing, pattern):
    texts = pairs("sim-typical", count=40, mode=ReplyMode.TEXT, closing=closing)
    assert texts.str.fullmatch(pattern).all()
    assert len(set(texts)) > 1


def test_nonresponse_is_as_frequent_as_stated(plan):
    frame = collect_judgments(plan(items=10, replicates=50, judges=("sim-unreadable",))).frame
    silent = ~frame["raw_text"].str.contains('"score"')
    assert abs(silent.mean() - 0.2) < 4 * (0.16 / 500) ** 0.5


def test_without_header_or_seed_repetitions_differ_and_a_seed_fixes_them(server):
    import urllib.request

    url, _ = server()

    def ask(**more):
        body = {
            "model": "sim-noisy",
            "messages": [{"role": "user", "content": "Rate from 1 to 10."}],
            **more,
        }
        request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode())
        with urllib.request.urlopen(request) as reply:
            return tuple(c["message"]["content"] for c in json.load(reply)["choices"])

    assert len({ask() for _ in range(12)}) > 1
    assert len({ask(seed=5) for _ in range(5)}) == 1
    assert len(set(ask(n=12))) > 1
    with urllib.request.urlopen(f"{url}/models") as reply:
        assert "sim-typical" in [m["id"] for m in json.load(reply)["data"]]


def test_unknown_judges_are_named():
    with pytest.raises(InputError, match="sim-typical"):
        simulated_judge("sim-typo")


def test_magnitudes_stay_matched_to_the_real_judges():
    data = Path(__file__).parents[3] / "shared/data/llmasjudge"
    if not data.exists():
        pytest.skip("../shared/data/llmasjudge is absent")
    real = pd.read_csv(data / "temperature_variances.csv.gz")
    good = [t for t in (f"text {i} " * 60 for i in range(6000)) if 0.7 <= quality_of(t) <= 0.95]
    for simulated, name in (("sim-typical", "gpt-4o-mini"), ("sim-discerning", "gpt-4o")):
        for t in (0.5, 1.0):
            known = truth(simulated)
            mean = np.mean([known.variance("Q", a, temperature=t) for a in good[:600]]) * 0.9
            rows = real[(real["judge"] == name) & np.isclose(real["temperature"], t)]
            assert mean == pytest.approx(rows["variance"].mean(), rel=0.4)
