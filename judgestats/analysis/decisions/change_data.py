"""Judgments of a monitor's state, and the looks at them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgestats.arrays import Bools, Floats
from judgestats.files.monitor_state import MonitorState, Terms
from judgestats.stats.validity.sequential import ChangeLook, change_look

ANCHOR, NEW, OLD, LABEL = "anchor", "new", "old", "label"
"""Kinds of observations: re-judged anchors, new answers, old answers of the reference, and human
labels of anchors."""


@dataclass(frozen=True, kw_only=True)
class StateData:
    """A state's judgments since its last reference, scaled to 0-1."""

    n: Floats
    total: Floats
    base: Floats
    repeats: Floats
    within: float
    new_n: Floats
    new_sum: Floats
    new_squares: Floats | None
    old: tuple[float, float]
    n_old: int
    members: Floats | None
    labels: Floats


def state_data(state: MonitorState, terms: Terms) -> StateData:
    """What a state holds since its last reference.

    Parameters
    ----------
    state : MonitorState
    terms : Terms
        Whose range scales the judgments.
    """
    span = terms.high - terms.low

    def scaled(value: float) -> float:
        return (value - terms.low) / span

    opened = max(
        n for (n,) in state.rows("SELECT DISTINCT period FROM observation WHERE kind = 'reference'")
    )
    periods = [p for p in state.periods() if p > opened]
    place = {p: i for i, p in enumerate(periods)}
    raw: dict[str, list[float]] = {}
    olds: list[float] = []
    anchors = [row.item for row in state.reference()]
    index = {a: i for i, a in enumerate(anchors)}
    shape = (len(periods), len(anchors))
    n, total = np.zeros(shape), np.zeros(shape)
    labels = np.full(len(anchors), np.nan)
    z = [np.zeros(len(periods)) for _ in range(3)]
    binary = True
    for row in state.observations():
        if row.period < opened or row.value is None:
            continue
        value = scaled(row.value)
        binary = binary and value in {0.0, 1.0}
        if row.kind == "reference":
            raw.setdefault(row.item, []).append(value)
        elif row.kind == OLD:
            olds.append(value)
        elif row.kind == LABEL:
            labels[index[row.item]] = value
        elif row.kind == ANCHOR:
            n[place[row.period], index[row.item]] += 1
            total[place[row.period], index[row.item]] += value
        elif row.kind == NEW:
            for kept, part in zip(z, (1.0, value, value * value), strict=True):
                kept[place[row.period]] += part
    base = np.array([np.mean(raw[a]) for a in anchors])
    repeats = np.array([float(len(raw[a])) for a in anchors])
    spreads = [float(np.var(raw[a], ddof=1)) for a in anchors if len(raw[a]) > 1]
    known = olds or base.tolist()
    mean = float(np.mean(known))
    spread = mean * (1 - mean) if binary else float(np.var(known, ddof=1))
    names = [row.cluster for row in state.reference()]
    members = None
    if any(names) and len(set(names)) < len(names):
        codes = np.unique(names, return_inverse=True)[1]
        members = np.eye(int(codes.max()) + 1)[codes]
    return StateData(
        n=n, total=total, base=base, repeats=repeats,
        within=float(np.mean(spreads)) if spreads else mean * (1 - mean) / 2,
        new_n=z[0], new_sum=z[1], new_squares=None if binary else z[2],
        old=(mean, spread / len(known)), n_old=len(known), members=members, labels=labels,
    )  # fmt: skip


def look_at(data: StateData, until: int, own: Bools) -> ChangeLook:
    """Both e-processes after the first `until` periods, from some anchors."""
    squares = None if data.new_squares is None else data.new_squares[:until]
    members = None
    if data.members is not None:
        members = data.members[own][:, data.members[own].any(axis=0)]
    return change_look(
        data.n[:until, own], data.total[:until, own], data.base[own], data.repeats[own],
        data.new_n[:until], data.new_sum[:until], squares, data.old, members,
    )  # fmt: skip
