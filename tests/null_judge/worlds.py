"""Judges without any difference, or with one of stated size, as frames and items of a run.

What a judge looks like: scores mostly 8 and 9, half of the items never vary, questions hold unequal
numbers of items, a tenth of one condition's judgments is unread, few repeats. Analyses read these
frames as they read those of a run; nothing is asked, stored or printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judgestats.data import Condition, parsed_frame
from judgestats.items import HumanLabel, Item, Response
from judgestats.protocols import pair_name, response_names

UNEQUAL = (20, 8, 4, 3, 2, 1, 1, 1)
"""Items of each question: the sizes at which t(G - 1) is wrong most."""


@dataclass(frozen=True, kw_only=True)
class World:
    """What all conditions of a run have in common.

    Attributes
    ----------
    sizes : tuple of int
        Items (or labelled pairs) of each question.
    replications : int
    constant : float
        Share of the items whose score never varies.
    unread : float
        Share of the judgments of the last condition that cannot be read.
    noise : float
        Median over items of the standard deviation of a score before it is rounded.
    cost : float
        Dollars a judgment; NaN where it is not known.
    whole : bool
        Whether scores are whole points from 1 to 10; else they are what was drawn, so that a
        factor on the spread is the ratio itself.
    """

    sizes: tuple[int, ...] = UNEQUAL
    replications: int = 3
    constant: float = 0.5
    unread: float = 0.1
    noise: float = 0.7
    cost: float = float("nan")
    whole: bool = True

    @property
    def clusters(self) -> list[str]:
        """The question of each item."""
        return [f"q{q}" for q, n in enumerate(self.sizes) for _ in range(n)]


def scored(
    rng: np.random.Generator,
    world: World,
    conditions: Sequence[Condition],
    *,
    spread: Mapping[str, float] | None = None,
    shift: Mapping[str, float] | None = None,
    names: Sequence[str] | None = None,
    tokens: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Repeated scores of the same items under every condition.

    Parameters
    ----------
    rng : Generator
    world : World
    conditions : sequence of Condition
    spread, shift : mapping of condition to number, optional
        Factor on the standard deviation of every item that varies, and points on its mean, before
        scores are rounded and held to 1-10; where not named, 1 and 0. A factor of 0 is a judge
        without sampling.
    names : sequence of str, optional
        Ids of the items, as many as the world has.
    tokens : mapping of condition to number, optional
        Tokens of a judgment.

    Returns
    -------
    DataFrame
        A parsed frame.
    """
    clusters = world.clusters
    n, r = len(clusters), world.replications
    ids = list(names) if names is not None else [f"i{i}" for i in range(n)]
    question = {q: rng.normal(0, 0.4) for q in dict.fromkeys(clusters)}
    centre = 8.4 + np.array([question[q] for q in clusters]) + rng.normal(0, 0.4, n)
    sd = world.noise * rng.lognormal(0, 0.5, n)
    still = rng.permutation(n) < round(world.constant * n)
    centre = np.where(still, np.round(centre), centre)
    sd = np.where(still, 0.0, sd)
    rows = []
    for condition in conditions:
        label = condition.label
        factor, points = (spread or {}).get(label, 1.0), (shift or {}).get(label, 0.0)
        drawn = centre[:, None] + points + factor * sd[:, None] * rng.normal(size=(n, r))
        score = np.clip(np.round(drawn), 1, 10) if world.whole else drawn
        rows.append(_rows(condition, ids, clusters, r, world, score=score.ravel(), tokens=tokens))
    return _parsed(rng, rows, world)


def labelled_items(
    rng: np.random.Generator,
    world: World,
    *,
    decided: float = 0.8,
    labels: int = 2,
    authors: tuple[str, str] = ("author-a", "author-b"),
) -> tuple[Item, ...]:
    """One item a pair of answers, with human labels; lengths say nothing about quality.

    Parameters
    ----------
    rng : Generator
    world : World
        One pair for each of its items.
    decided : float
        Share of labels that name a winner; the rest are ties. Which answer wins is a coin's throw,
        the same for all people of a pair with probability .75.
    labels : int
        Labels of a pair.
    authors : tuple of str
        Of the earlier and the later answer, exchanged at random.

    Returns
    -------
    tuple of Item
    """
    items = []
    for i, cluster in enumerate(world.clusters):
        first, second = (authors[k] for k in rng.permutation(2))
        text = [" ".join(["word"] * int(rng.integers(20, 60))) + f" {i}{side}" for side in "ab"]
        responses = [
            Response(turns=(text[0],), author=first),
            Response(turns=(text[1],), author=second),
        ]
        better = rng.choice(["a", "b"])
        worse = "b" if better == "a" else "a"
        said = [
            "tie" if rng.random() > decided else better if rng.random() < 0.75 else worse
            for _ in range(labels)
        ]
        items.append(
            Item(
                id=f"p{i}",
                cluster=cluster,
                turns=(f"Question {cluster}?",),
                responses=tuple(responses),
                labels=tuple(
                    HumanLabel(annotator=f"person{k}", a=0, b=1, winner=w)
                    for k, w in enumerate(said)
                ),
            )
        )
    return tuple(items)


def compared(
    rng: np.random.Generator,
    world: World,
    conditions: Sequence[Condition],
    items: Sequence[Item],
    *,
    right: Mapping[str, float] | None = None,
    lean: Mapping[str, float] | None = None,
    tokens: Mapping[str, float] | None = None,
    tie: float = 0.1,
) -> pd.DataFrame:
    """Verdicts on the labelled pairs in both orders.

    Parameters
    ----------
    rng : Generator
    world : World
    conditions : sequence of Condition
    items : sequence of Item
        With labels; one pair each.
    right : mapping of condition to probability, optional
        That a verdict is the pair's first label that names a winner; .7 where not named. How hard
        a pair is, all conditions share.
    lean : mapping of condition to probability, optional
        That the first place is chosen whatever the answers; 0 where not named.
    tokens : mapping of condition to number, optional
    tie : float
        Share of ties.

    Returns
    -------
    DataFrame
        A parsed frame; `choice` names the answer (a, b, tie), `order` which was shown first.
    """
    n, r = len(items), world.replications
    winner = np.array([_winner(item, rng) for item in items])
    hard = rng.normal(0, 0.8, n)
    names = [pair_name(item, (0, 1)) for item in items]
    clusters = [item.cluster for item in items]
    rows = []
    for condition in conditions:
        p = (right or {}).get(condition.label, 0.7)
        leaning = (lean or {}).get(condition.label, 0.0)
        chance = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + hard)))
        for order in ("ab", "ba"):
            good = rng.random((n, r)) < chance[:, None]
            other = np.where(winner == "a", "b", "a")
            said = np.where(good, winner[:, None], other[:, None])
            said = np.where(rng.random((n, r)) < tie, "tie", said)
            said = np.where(rng.random((n, r)) < leaning, order[0], said)
            rows.append(
                _rows(condition, names, clusters, r, world, choice=said.ravel(), tokens=tokens)
                .assign(order=order)
            )  # fmt: skip
    return _parsed(rng, rows, world)


def answers_of(items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """Ids and questions of all answers, as things that are scored."""
    ids = [name for item in items for name in response_names(item)]
    return ids, [item.cluster for item in items for _ in item.responses]


def scored_answers(
    rng: np.random.Generator,
    world: World,
    conditions: Sequence[Condition],
    items: Sequence[Item],
    *,
    spread: Mapping[str, float] | None = None,
    shift: Mapping[str, float] | None = None,
    tokens: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Repeated scores of every answer of the items; a padded twin is as good as its original."""
    ids, clusters = answers_of(items)
    sizes = tuple(clusters.count(q) for q in dict.fromkeys(clusters))
    alike = replace(world, sizes=sizes)  # the answers of a question follow one another
    return scored(rng, alike, conditions, spread=spread, shift=shift, names=ids, tokens=tokens)


def _winner(item: Item, rng: np.random.Generator) -> str:
    said = [label.winner for label in item.labels if label.winner != "tie"]
    return said[0] if said else str(rng.choice(["a", "b"]))


def _rows(
    condition: Condition,
    ids: Sequence[str],
    clusters: Sequence[str],
    replications: int,
    world: World,
    *,
    tokens: Mapping[str, float] | None,
    **said: object,
) -> pd.DataFrame:
    factors = {f"factor_{k}": v for k, v in condition.levels.items()}
    each = (tokens or {}).get(condition.label, 100.0)
    return pd.DataFrame(
        {
            "condition": condition.label,
            "judge": condition.judge,
            "temperature": np.nan if condition.temperature is None else condition.temperature,
            "item_id": np.repeat(ids, replications),
            "cluster": np.repeat(clusters, replications),
            "replicate": np.tile(np.arange(replications), len(ids)),
            "status": "ok",
            "cost_usd": world.cost,
            "tokens_in": 0.8 * each,
            "tokens_out": 0.2 * each,
            **factors,
            **said,
        }
    )


def _parsed(rng: np.random.Generator, rows: list[pd.DataFrame], world: World) -> pd.DataFrame:
    """The rows as one parsed frame; a share of the last condition's judgments could not be read."""
    frame = pd.concat(rows, ignore_index=True)
    last = frame["condition"] == frame["condition"].iloc[-1]
    lost = last & (rng.random(len(frame)) < world.unread)
    frame.loc[lost, "status"] = "unparseable"
    if "score" in frame:
        frame.loc[lost, "score"] = np.nan
    if "choice" in frame:
        frame.loc[lost, "choice"] = ""
    factors = tuple(c for c in frame if c.startswith("factor_"))
    return parsed_frame(frame, factors=factors)
