"""The card of a judge: a row a probe, what it gained, and the texts on which it gained most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.probe_answer import estimand_of
from judgestats.analysis.probe_judges import ProbedJudge
from judgestats.analysis.probe_tests import identity
from judgestats.analysis.supplements import Rows
from judgestats.items.schema import Item
from judgestats.protocols.naming import pair_name, pairs_of, response_names
from judgestats.protocols.probes import PROBES, Probe
from judgestats.results import About, Headline, Row
from judgestats.stats.inference.result import Estimate, Sample

_COUNTED: Mapping[str, tuple[str, str, str, str]] = {
    "moved_by": ("fair_moved", "moved", "differs", "what should not matter moves it"),
    "shown_fair": ("fair_shown", "moved", "equivalent", "shown not to move it"),
    "taken_in_by": ("fair_attacks", "attack", "differs", "attacks that succeed"),
    "controls_passed": ("right_controls", "control", "differs", "worse answers it noticed"),
}
"""Estimand: the row's key, the hypothesis, the claim, what is asked."""
FEWEST_DRAWN = 3
"""Rows of which there is a figure of what changes add."""
_WORST = 3
_CUT = 1000


def card_counts(
    claims: Mapping[str, Sequence[Headline]], judges: Sequence[ProbedJudge]
) -> list[NamedResult]:
    """Of each judge: how many changes move it, are shown not to, and how many it should notice.

    Parameters
    ----------
    claims : mapping of judge to headlines
    judges : sequence of ProbedJudge

    Returns
    -------
    list of NamedResult
        Ids ``instrument.moved_by.JUDGE`` and so on, which `check` can gate on.
    """
    of = {j.where: j for j in judges}
    out = []
    for where, own in claims.items():
        for name, (_, hypothesis, claim, ask) in _COUNTED.items():
            asked = [h for h in own if h.hypothesis == hypothesis]
            hit = [
                h
                for h in asked
                if h.claim == claim and (hypothesis != "control" or h.direction == "lower")
            ]
            if not asked:
                continue
            sample = Sample(n_items=len(asked))
            result = Estimate(
                name=name, label=ask[0].upper() + ask[1:], estimate=float(len(hit)), sample=sample,
                estimator=f"claims among {len(asked)} probes, adjusted (Holm)",
            )  # fmt: skip
            out.append(
                NamedResult(
                    id=f"instrument.{name}.{where}", title=f"{ask}, {where}", role="secondary",
                    result=result, hypothesis=hypothesis,
                    about=About(judge=of[where].judge, stratum=where),
                )
            )  # fmt: skip
    return out


def telling(probes: Sequence[Probe], headlines: Sequence[Headline]) -> list[Probe]:
    """The probes, those with the most claims of an effect first."""
    claims = Counter(h.about.varied for h in headlines if h.claim == "differs")
    return sorted(
        probes, key=lambda p: (p.kind == "reference", p.kind == "control", -claims[p.name])
    )


def card_rows(where: Sequence[str], probes: Sequence[Probe]) -> tuple[Row, ...]:
    """The counts, then a row a probe: what it adds, or how often it succeeds."""
    counted = [
        asked_row(key, ask, ask, name, f"instrument.{name}.{{}}", where)
        for name, (key, _, _, ask) in _COUNTED.items()
    ]
    return (*counted, *(_row(p, where) for p in probes))


def _row(probe: Probe, where: Sequence[str]) -> Row:
    estimand = estimand_of(probe)
    verb = {"attack": "succeeds", "scale": "costs the order"}.get(probe.kind, "adds")
    return asked_row(
        f"{'right' if probe.kind == 'control' else 'fair'}_{probe.name}",
        f"{probe.does} {verb}",
        probe.name,
        estimand,
        f"instrument.{probe.name}.{{}}/{estimand}",
        where,
    )


def drawn_rows(where: Sequence[str], probes: Sequence[Probe]) -> tuple[str, ...]:
    """What is drawn of changes: a row a change and judge."""
    return tuple(f"{identity(p, w)}/{estimand_of(p)}" for p in probes for w in where)


def drawn_changes(
    where: Sequence[str], probes: Sequence[Probe], headlines: Sequence[Headline]
) -> list[Probe]:
    """The changes that are drawn: that should not matter, of scores or else of verdicts.

    Of verdicts where more of them than of scores are shown to move a judge, if there are rows
    enough for a figure: points and shares have no axis in common.
    """
    fair = {
        scored: [p for p in probes if p.kind == "fair" and (p.asks == "scores") == scored]
        for scored in (True, False)
    }
    moved = [h.about.varied for h in headlines if (h.hypothesis, h.claim) == ("moved", "differs")]
    shown = {scored: sum(moved.count(p.name) for p in own) for scored, own in fair.items()}
    of_verdicts = shown[False] > shown[True] and len(fair[False]) * len(where) >= FEWEST_DRAWN
    return fair[not (of_verdicts or not fair[True])]


def worst_cases(
    judges: Sequence[ProbedJudge],
    headlines: Sequence[Headline],
    items: Sequence[Item],
    *,
    texts: bool = True,
) -> list[NamedResult]:
    """Of each effect that was shown, the things judged on which it was largest, with their texts.

    Of a scale ``moved`` is by which share of the answers one changed its place.

    Parameters
    ----------
    judges : sequence of ProbedJudge
    headlines : sequence of Headline
    items : sequence of Item
    texts : bool
        Whether questions and answers stand beside.

    Returns
    -------
    list of NamedResult
        One table, or none.
    """
    texts_of_items = _texts(items) if texts else {}
    of = {j.where: j for j in judges}
    rows = []
    for h in headlines:
        if h.claim != "differs" or h.hypothesis == "control":
            continue
        where = h.rests_on[0].removeprefix(f"instrument.{h.about.varied}.")
        rows += _largest(of[where], PROBES[h.about.varied], texts_of_items)
    if not rows:
        return []
    return [
        NamedResult(
            id="worst_cases", title="Where each effect was largest", role="descriptive",
            result=Rows(table=pd.DataFrame(rows)),
        )
    ]  # fmt: skip


def _largest(
    judge: ProbedJudge, probe: Probe, texts: Mapping[str, tuple[str, str]]
) -> list[dict[str, object]]:
    sides = judge.sides(probe)
    if sides is None:
        return []
    before, after = (pd.DataFrame(x).mean(axis=1) for x in (sides.before, sides.after))
    if probe.kind == "scale":  # points of two scales say nothing: places in the order do
        change = after.rank(pct=True) - before.rank(pct=True)
        size = change.abs()
    else:
        change = after - before
        size = change if change.mean() >= 0 else -change
    table = pd.DataFrame({"before": before, "after": after, "moved": change})
    worst = size.sort_values(ascending=False, kind="stable").index[:_WORST]
    out: list[dict[str, object]] = []
    for place in worst:
        name = sides.names[place]
        if not float(size[place]) > 0:
            continue
        question, answer = texts.get(name, ("", ""))
        row = {k: float(v) for k, v in table.loc[place].items() if not math.isnan(v)}
        out.append(
            {"judge": judge.where, "probe": probe.name, "item_id": name, **row}
            | ({"question": question[:_CUT], "answer": answer[:_CUT]} if texts else {})
        )
    return out


def _texts(items: Sequence[Item]) -> dict[str, tuple[str, str]]:
    """Question and answer, or both answers, of everything that is judged."""
    out: dict[str, tuple[str, str]] = {}
    for item in items:
        out[item.id] = (item.question, item.responses[0].text if len(item.responses) == 1 else "")
        for name, response in zip(response_names(item), item.responses, strict=True):
            out[name] = (item.question, response.text)
        for a, b in pairs_of(item):
            both = f"{item.responses[a].text}\n\n-- against --\n\n{item.responses[b].text}"
            out[pair_name(item, (a, b))] = (item.question, both)
    return out
