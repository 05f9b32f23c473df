"""What may not matter does not, in every analysis: order of rows, names, judges beside; nor is
anything advised of what could not be read."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, cycle

import numpy as np
import pandas as pd
import pytest

from judgestats import analysis
from judgestats.errors import InputError
from judgestats.items import Item
from judgestats.protocols import pair_name, response_names
from judgestats.stats.inference import runs
from tests.null_judge import doors
from tests.null_judge.designs import NULL, seeded
from tests.null_judge.worlds import World

DOORS = {
    "temperature": (analysis.temperature, "analyse"),
    "temperature with T = 0": (analysis.temperature, "analyse"),
    "judges": (analysis.judges, "analyse"),
    "guidelines": (analysis.guidelines, "analyse"),
    "reasoning": (analysis.reasoning, "analyse"),
    "alignment": (analysis.alignment, "analyse"),
    "self_consistency": (analysis.self_consistency, "analyse"),
    "bias": (analysis.bias, "analyse"),
    "grade_score": (analysis.grade_score, "analyse"),
    "head_to_tail": (analysis.head_to_tail, "analyse"),
    "omega": (analysis.best_of_n, "analyse"),
    "rejection_sampling": (analysis.rejection_sampling, "analyse"),
    "crowd": (analysis.crowd, "analyse"),
    "audit, scores": (doors, "audit"),
    "audit, people": (doors, "audit"),
    "probe": (analysis.probe, "analyse"),
    "prompts": (analysis.prompts, "analyse"),
    "probe, pairs": (analysis.probe, "analyse"),
    "validity": (analysis.validity_run, "analyse"),
    "audit, verdicts": (doors, "audit"),
    "drift, scores": (doors, "drift"),
    "drift, verdicts": (doors, "drift"),
}
"""Where each design hands its judgments over; `check` reads an audit, `compare` drifts."""
SMALL = World(sizes=(4, 3, 2, 2, 1, 1, 1, 1), replications=3)


def estimates(found: analysis.Analysis) -> dict[str, float]:
    """Every estimate of every record that holds one, by id."""
    return {
        r.id: float(r.estimate)
        for r in found.records().results
        if hasattr(r, "estimate") and np.isfinite(r.estimate)
    }


def alike(one: analysis.Analysis, two: analysis.Analysis) -> None:
    """Estimates are the same; Monte Carlo p within its error; claims the same."""
    assert estimates(one) == pytest.approx(estimates(two), rel=1e-9, abs=1e-9)
    first, second = ({h.id: h for h in a.headlines} for a in (one, two))
    assert first.keys() == second.keys()
    for name, h in first.items():
        p, q = h.p_adjusted, second[name].p_adjusted
        if not np.isnan(p):
            error = 3 * np.sqrt(2 * p * (1 - p) / 199) + 0.02
            assert abs(p - q) <= error * len(first), name


def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    """Its rows in another order, as of part-files read together; conditions keep theirs."""
    place = {c: i for i, c in enumerate(dict.fromkeys(frame["condition"]))}
    mixed = frame.sample(frac=1, random_state=5)
    return mixed.sort_values("condition", key=lambda c: c.map(place), kind="stable").reset_index(
        drop=True
    )


def beside(frame: pd.DataFrame) -> pd.DataFrame:
    """With a column that is the same in every row."""
    return frame.assign(note="x")


def parted(frame: pd.DataFrame) -> pd.DataFrame:
    """Two part-files read as one: every second item stands in the other."""
    other = pd.factorize(frame["item_id"])[0] % 2 == 1
    return pd.concat([frame[~other], frame[other]], ignore_index=True)


def doubled(frame: pd.DataFrame) -> pd.DataFrame:
    """With the first judge a second time, under another name."""
    first = frame["judge"].iloc[0]
    own = frame[frame["judge"] == first]
    labels = own["condition"].str.removeprefix(first)
    return pd.concat([frame, own.assign(judge="zz", condition="zz" + labels)], ignore_index=True)


def renamed(frame: pd.DataFrame) -> pd.DataFrame:
    """Options and answers under other names; of pairs the first answer is called the second."""
    options = {f"m{k}": f"m{(k + 2) % 5}" for k in range(5)}
    responses = {"r0": "r2", "r1": "r0", "r2": "r1"}
    names = {**options, **responses, "a": "b", "b": "a"}
    columns = {
        c: frame[c].map(lambda v: names.get(v, v))
        for c in ("choice", "label", "right") if c in frame
    }  # fmt: skip
    if frame["order"].isin(["ab", "ba"]).all():
        columns["order"] = frame["order"].str[::-1]
    if "options" in frame:
        columns["options"] = frame["options"].map(
            lambda v: "|".join(names.get(o, o) for o in v.split("|"))
        )
    return frame.assign(**columns)


def unread(which: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Nothing of it read, nothing of its last condition, or nothing but one item."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        lost = {
            "all": pd.Series(True, index=frame.index),
            "condition": frame["condition"] == frame["condition"].iloc[-1],
            "but one item": frame["item_id"] != frame["item_id"].iloc[0],
        }[which]
        empty = {"score": float("nan"), "choice": "", "position": "", "chosen_right": ""}
        columns = {c: frame[c].mask(lost, v) for c, v in empty.items() if c in frame}
        return frame.assign(status=frame["status"].mask(lost, "unparseable"), **columns)

    return change


def changed(real: Callable, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable:
    """An analysis that gets every frame of judgments changed."""

    def analyse(*given, **named):
        given = [change(g) if isinstance(g, pd.DataFrame) else g for g in given]
        named = {k: change(v) if isinstance(v, pd.DataFrame) else v for k, v in named.items()}
        return real(*given, **named)

    return analyse


@functools.cache
def plain(name: str) -> analysis.Analysis:
    """The design's analysis of its frames."""
    return NULL[name](seeded(3), SMALL, resamples=19)


def made(
    name: str, change: Callable[[pd.DataFrame], pd.DataFrame], monkeypatch
) -> analysis.Analysis:
    """The same of changed frames."""
    module, door = DOORS[name]
    with monkeypatch.context() as patch:
        patch.setattr(module, door, changed(getattr(module, door), change))
        return NULL[name](seeded(3), SMALL, resamples=19)


@pytest.mark.parametrize("name", [*DOORS][::2])
def test_order_of_rows_part_files_and_an_unrelated_column_change_nothing(name, monkeypatch):
    given = plain(name)
    alike(given, made(name, lambda frame: beside(parted(shuffled(frame))), monkeypatch))


_JOINT = (
    "spread.", "ranks", "posthoc.", "consistency.over_conditions", "judges.",
    "compare.people", "best", "crossed.",
)  # fmt: skip
"""Results of all judges together, by how their ids begin: another judge changes them."""


_LENIENCY = "instrument.leniency."
"""Against all judges: a doubled one moves the origin, the same for all."""
_SEM = "condition.sem."


def held_beside_a_double(given: dict[str, float], more: dict[str, float], left: str = "-") -> None:
    """Estimates of single judges are the same beside a doubled judge; `left` is looked at apart."""
    own = {i: v for i, v in given.items() if not i.startswith(_JOINT) and "panel" not in i}
    assert len(own) >= 8
    moved = [more[i] - own.pop(i) for i in [*own] if i.startswith(_LENIENCY)]
    assert moved == pytest.approx([moved[0]] * len(moved) if moved else [], abs=1e-12)
    own = {i: v for i, v in own.items() if not i.startswith(left)}
    assert {i: more[i] for i in own} == pytest.approx(own, rel=1e-9, abs=1e-12)
    assert len(more) > len(given)


@pytest.mark.parametrize("name", [name for name in DOORS if not name.startswith("drift")][::2])
def test_a_doubled_judge_leaves_the_others_as_they_are(name, monkeypatch):
    given, more = estimates(plain(name)), estimates(made(name, doubled, monkeypatch))
    held_beside_a_double(given, more, left=_SEM)
    # Of all judges together it is decided whether runs are random: then the SEM holds in any run.
    for i in [i for i in given if i.startswith(_SEM)]:
        within = more.get(f"condition.pooled_within_variance.{i.removeprefix(_SEM)}", float("nan"))
        assert any(more[i] == pytest.approx(v, rel=1e-9) for v in (given[i], within**0.5)), i


@pytest.mark.parametrize(
    "name",
    ["omega", "grade_score", "audit, people", "audit, verdicts", "drift, verdicts", "head_to_tail"],
)
def test_names_of_options_change_nothing(name, monkeypatch):
    given, other = plain(name), made(name, renamed, monkeypatch)
    one, two = (estimates(found) for found in (given, other))
    if name == "omega":  # ids hold the names of the options
        assert sorted(two.values()) == pytest.approx(sorted(one.values()), rel=1e-9, abs=1e-9)
        return
    if name == "drift, verdicts":  # wins of the answer called the first: the other one's now
        sided = [i for i in one if i.endswith("/change_of_win_rate")]
        assert len(sided) == 1
        one |= {i: -one[i] for i in sided}
    assert len(one) >= 12
    assert two == pytest.approx(one, rel=1e-9, abs=1e-9)
    assert {h.id: h.claim for h in given.headlines} == {h.id: h.claim for h in other.headlines}


@pytest.mark.parametrize(
    ("name", "which"), [*zip(DOORS, cycle(["all", "condition", "but one item"]), strict=False)]
)
def test_what_could_not_be_read_is_no_advice(name, which, monkeypatch):
    """A judge of whom nothing was read was told to need no correction, and to be kept as it is."""
    if which == "all" and name.startswith("audit"):
        with pytest.raises(InputError, match="could be read"):
            made(name, unread(which), monkeypatch)
        return
    found = made(name, unread(which), monkeypatch)
    assert found.records().results
    said = {h.claim for h in found.headlines}
    if which == "all":
        assert said <= {"undefined", "described"}
    if which == "but one item":
        assert "differs" not in said


SWAP = {"a": "b", "b": "a", "tie": "tie", "": ""}


def test_every_design_is_held():
    assert set(NULL) - {"check", "compare"} == set(DOORS)


@pytest.mark.parametrize(
    "name", ["temperature", "temperature with T = 0", "guidelines", "reasoning", "audit, scores"]
)
def test_a_doubled_judge_leaves_the_sem_as_it_is_where_runs_stay_random(name, monkeypatch):
    monkeypatch.setattr(runs, "MANY", float("inf"))
    given = estimates(NULL[name](seeded(3), SMALL, resamples=19))
    assert any(i.startswith(_SEM) for i in given)
    held_beside_a_double(given, estimates(made(name, doubled, monkeypatch)))


def turned(items: Sequence[Item]) -> tuple[tuple[Item, ...], dict[str, str]]:
    """Items with their answers in the other order, and what is called what then."""
    out, names = [], {}
    for item in items:
        last = len(item.responses) - 1
        labels = [
            replace(w, a=last - w.b, b=last - w.a, winner=SWAP[w.winner]) for w in item.labels
        ]
        other = replace(item, responses=item.responses[::-1], labels=tuple(labels))
        names |= dict(zip(response_names(item), response_names(other)[::-1], strict=True))
        names |= {
            pair_name(item, (a, b)): pair_name(other, (last - b, last - a))
            for a, b in combinations(range(last + 1), 2)
        }
        out.append(other)
    return tuple(out), names


_OF_THE_FIRST = ("instrument.famous name.", "instrument.pair ")


# rejection_sampling draws among candidates of equal points, by their order.
@pytest.mark.parametrize(
    "name", ["alignment", "crowd", "bias", "self_consistency", "probe, pairs", "validity"]
)
def test_which_answer_is_called_the_first_changes_nothing(name, monkeypatch):
    module, door = DOORS[name]
    real = getattr(module, door)

    def analyse(*given, items, **named):
        others, names = turned(items)

        def renamed(frame: pd.DataFrame) -> pd.DataFrame:
            return frame.assign(
                item_id=frame["item_id"].map(names),
                choice=frame["choice"].map(SWAP) if "choice" in frame else "",
                order=frame["order"].fillna("").str[::-1],
            )

        return changed(real, renamed)(*given, items=others, **named)

    given = plain(name)
    monkeypatch.setattr(module, door, analyse)
    other = NULL[name](seeded(3), SMALL, resamples=19)
    one, two = (estimates(f) for f in (given, other))
    if name == "probe, pairs":  # probes change the answer called the first: the other one now
        sided = [i for i in one if i.startswith(_OF_THE_FIRST) and i.endswith("/preference_shift")]
        assert len(sided) == 10
        one |= {i: -one[i] for i in sided}
        for found in (one, two):  # a control is passed by a shift to one side
            for i in [i for i in found if i.startswith("instrument.controls_passed")]:
                del found[i]
    assert len(one) >= 12
    assert two == pytest.approx(one, rel=1e-9, abs=1e-9)
    assert {h.id: h.claim for h in given.headlines} == {h.id: h.claim for h in other.headlines}
