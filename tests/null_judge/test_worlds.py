"""The worlds are what they say: a null that were none would pass everything."""

import numpy as np
import pytest

from judgestats.data import Condition, validate_parsed
from judgestats.protocols import pair_name
from tests.null_judge.worlds import World, compared, labelled_items, scored, scored_answers

TWO = [Condition(judge=j, temperature=1.0) for j in ("one", "two")]


def test_scores_are_like_a_judge_s():
    world = World(replications=10)
    frame = validate_parsed(scored(np.random.default_rng(1), world, TWO))
    assert frame["score"].isin([8, 9]).mean() > 0.75
    sizes = frame.groupby("cluster")["item_id"].nunique()
    assert tuple(sizes) == world.sizes
    spread = frame[frame["judge"] == "one"].groupby("item_id")["score"].std()
    assert 0.5 <= (spread == 0).mean() < 0.7
    unread = frame.groupby("judge")["status"].apply(lambda s: (s != "ok").mean())
    assert unread["one"] == 0
    assert unread["two"] == pytest.approx(0.1, abs=0.04)


def test_differences_have_the_stated_size():
    world = World(sizes=(1,) * 4000, replications=2, constant=0.0, unread=0.0, noise=0.5)
    last = TWO[1].label
    frame = scored(np.random.default_rng(2), world, TWO, spread={last: 2.0}, shift={last: -1.0})
    mean = frame.groupby("judge")["score"].mean()
    assert mean["two"] - mean["one"] == pytest.approx(-1.0, abs=0.1)
    within = frame.groupby(["judge", "item_id"])["score"].var().groupby("judge").mean()
    assert 3 < within["two"] / within["one"] < 5
    still = scored(np.random.default_rng(2), world, TWO, spread={last: 0.0})
    assert (still[still["judge"] == "two"].groupby("item_id")["score"].nunique() == 1).all()


def test_verdicts_agree_and_lean_as_stated():
    rng = np.random.default_rng(3)
    world = World(sizes=(1,) * 1500, replications=2, unread=0.0)
    items = labelled_items(rng, world, decided=1.0, labels=1)
    first, last = (c.label for c in TWO)
    frame = compared(rng, world, TWO, items, right={last: 0.9}, lean={first: 1.0}, tie=0.0)
    one, two = (frame[frame["condition"] == label] for label in (first, last))
    assert (one["choice"] == one["order"].str[0]).all()
    winner = {pair_name(item, (0, 1)): item.labels[0].winner for item in items}
    assert (two["choice"] == two["item_id"].map(winner)).mean() == pytest.approx(0.87, abs=0.03)


def test_every_answer_is_scored_with_its_question():
    rng = np.random.default_rng(4)
    items = labelled_items(rng, World())
    frame = validate_parsed(scored_answers(rng, World(), TWO, items))
    assert frame["item_id"].nunique() == 2 * len(items)
    own = frame.drop_duplicates("item_id").set_index("item_id")["cluster"]
    assert all(own[n] == i.cluster for i in items for n in own.index if n.startswith(f"{i.id}/"))
