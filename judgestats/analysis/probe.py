"""Probes of a judge, and its card."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from judgestats.analysis import probe_tests
from judgestats.analysis.coefficients import results_row
from judgestats.analysis.families import AnalysisPlan, Hypothesis, planned
from judgestats.analysis.limits import Limit, common_limits
from judgestats.analysis.probe_tests import ProbedJudge
from judgestats.analysis.records import Analysis, NamedResult, named_results
from judgestats.analysis.scores import ScoreConditions, declared_conditions
from judgestats.analysis.selections import condition_row, selection_limits
from judgestats.analysis.supplements import Rows
from judgestats.data.columns import Condition
from judgestats.errors import InputError
from judgestats.items.records import Item
from judgestats.protocols.base import Scale
from judgestats.protocols.probes import PROBES, Kind, Probe
from judgestats.protocols.probes.protocols import FEWEST_OPTIONS
from judgestats.protocols.template import pair_name, pairs_of, response_names
from judgestats.results import About, Drawing, Headline, Row
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.stats.robustness.probes import TOLERANCE

_COUNTED: Mapping[str, tuple[str, str, str, str]] = {
    "moved_by": ("fair_moved", "moved", "differs", "Perturbations with an effect"),
    "shown_fair": ("fair_shown", "moved", "equivalent", "Perturbations without effect"),
    "taken_in_by": ("fair_attacks", "attack", "differs", "Successful attacks"),
    "controls_passed": ("right_controls", "control", "differs", "Negative controls passed"),
}
"""Quantity: the row's key, the hypothesis, the claim, the label."""
_FEWEST_DRAWN = 3
"""Rows of which there is a figure of what changes add."""
_WORST = 3
_CUT = 1000


def _card_counts(
    claims: Mapping[str, Sequence[Headline]], judges: Sequence[ProbedJudge]
) -> list[NamedResult]:
    """Of each judge: how many changes move it, are shown not to, and how many it should notice.

    Their ids are ``instrument.moved_by.JUDGE`` and so on, which `check` can gate on.
    """
    of = {j.where: j for j in judges}
    out: list[NamedResult] = []
    for where, own in claims.items():
        for name, (_, hypothesis, claim, ask) in _COUNTED.items():
            asked = [h for h in own if h.hypothesis == hypothesis]
            wanted = {"lower"} if hypothesis == "control" else {"", "higher", "lower"}
            hit = [h for h in asked if h.claim == claim and h.direction in wanted]
            if not asked:
                continue
            result = Estimate(
                name=name, label=ask, estimate=float(len(hit)), sample=Sample(n_items=len(asked)),
                estimator=f"claims among {len(asked)} probes, adjusted (Holm)",
            )  # fmt: skip
            row = (f"instrument.{name}", ask, result)
            about = About(judge=of[where].judge, stratum=where)
            out += named_results(where, "secondary", row, hypothesis=hypothesis, about=about)
    return out


def _sort_by_claims(probes: Sequence[Probe], headlines: Sequence[Headline]) -> list[Probe]:
    """The probes, those with the most claims of an effect first."""
    claims = Counter(h.about.varied for h in headlines if h.claim == "differs")
    return sorted(
        probes, key=lambda p: (p.kind == "reference", p.kind == "control", -claims[p.name])
    )


def _row(probe: Probe, where: Sequence[str]) -> Row:
    estimand, is_control = probe_tests.quantity_of(probe), probe.kind == "control"
    kind = {"attack": "Attack: ", "control": "Control: "}.get(probe.kind, "")
    ask, key = f"{kind}{probe.name}", f"{'right' if is_control else 'fair'}_{probe.name}"
    ids = f"instrument.{probe.name}.{{}}/{estimand}"
    return results_row(key, f"{ask[0].upper()}{ask[1:]}", probe.name, estimand, ids, where)


def _effect_drawing(
    where: Sequence[str], probes: Sequence[Probe], headlines: Sequence[Headline]
) -> Drawing:
    """Figure of the shifts by changes that should not matter; of means if shifts are too few.

    Shifts of verdicts are drawn if more of them than of scores are significant, and if there are
    enough rows. Points and shares have no common axis.
    """
    fair = {
        scored: [p for p in probes if p.kind == "fair" and (p.asks == "scores") == scored]
        for scored in (True, False)
    }
    moved = [h.about.varied for h in headlines if (h.hypothesis, h.claim) == ("moved", "differs")]
    shown = {scored: sum(moved.count(p.name) for p in own) for scored, own in fair.items()}
    of_verdicts = shown[False] > shown[True] and len(fair[False]) * len(where) >= _FEWEST_DRAWN
    changes = fair[not (of_verdicts or not fair[True])]
    rows = tuple(
        f"{probe_tests.identity(p, w)}/{probe_tests.quantity_of(p)}" for p in changes for w in where
    )
    ends = "with 95% intervals over questions."
    if len(rows) < _FEWEST_DRAWN:
        caption = f"Mean score of the answers as they are and changed, {ends}"
        return Drawing(kind="dots", estimands=("mean",), caption=caption)
    what = "changes that should not matter add"
    if len(changes) == 1:  # its rows are judges
        what = f"the change {changes[0].name} adds, which should not matter"
    return Drawing(kind="dots", rows=rows, caption=f"What {what} (0: nothing), {ends}")


def _worst_cases(
    judges: Sequence[ProbedJudge],
    headlines: Sequence[Headline],
    items: Sequence[Item],
    *,
    texts: bool,
) -> list[NamedResult]:
    """Items with the largest effects, for each significant effect, with their texts.

    For a scale, ``moved`` is the change of an answer's rank as a share of the answers. One table,
    or none.
    """
    texts_of_items = _texts(items) if texts else {}
    of = {j.where: j for j in judges}
    rows = []
    for h in headlines:
        if h.claim != "differs" or h.hypothesis == "control":
            continue
        where = h.rests_on[0].removeprefix(f"instrument.{h.about.varied}.")
        rows += _largest(of[where], PROBES[h.about.varied], texts_of_items)
    table, title = Rows(table=pd.DataFrame(rows)), "Where each effect was largest"
    return [NamedResult("worst_cases", title, "descriptive", table)] if rows else []


def _largest(
    judge: ProbedJudge, probe: Probe, texts: Mapping[str, tuple[str, str]]
) -> list[dict[str, object]]:
    sides = judge.paired_values(probe)
    if sides is None:
        return []
    before, after = (pd.DataFrame(x).mean(axis=1) for x in (sides.before, sides.after))
    change = after - before
    size = change if change.mean() >= 0 else -change
    if probe.kind == "scale":  # points of two scales say nothing: places in the order do
        change = after.rank(pct=True) - before.rank(pct=True)
        size = change.abs()
    table = pd.DataFrame({"before": before, "after": after, "moved": change})
    worst = size.sort_values(ascending=False, kind="stable").iloc[:_WORST]
    out: list[dict[str, object]] = []
    for place in worst.index[worst > 0]:
        name = sides.names[place]
        question, answer = texts.get(name, ("", ""))
        row = {k: float(v) for k, v in table.loc[place].items() if not math.isnan(v)}
        named = {"judge": judge.where, "probe": probe.name, "item_id": name, **row}
        shown = {"question": question[:_CUT], "answer": answer[:_CUT]} if texts else {}
        out.append({**named, **shown})
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


_primary = partial(
    Hypothesis, family=probe_tests.FAMILY, role="primary", adjustment="Westfall-Young"
)
_HYPOTHESES: tuple[tuple[Kind, Hypothesis], ...] = (
    ("fair", _primary("moved", "Does a change that should not matter shift the verdicts?",
        "paired shift of the score or of the share of verdicts, t over questions. The shift is "
        "changed minus original, one side of a note minus the other, or the first position minus "
        "the second. Own answers: regression on human preference and length")),
    ("fair", Hypothesis("flips", "How many more verdicts change than over repeats?",
        "share of pairs of verdicts that differ, between minus within, over questions")),
    ("scale", _primary("scale", "Does another scale change the order of the answers?",
        "rank correlation between the scales against that of repeats on each, jackknife over "
        "questions")),
    ("attack", _primary("attack", "Does an attack succeed?",
        "share of questions with a success, exact, against the same answer without it. An "
        "injection succeeds with the highest score, an empty answer with half of the scale")),
    ("control", _primary("control", "Does the judge see an answer that is worse?",
        "shift of the score, or of the share of verdicts, changed minus original, t over "
        "questions")),
    ("reference", Hypothesis("reference", "Is the judge bound to its reference?",
        "mean score with another question's reference minus with its own", role="descriptive")),
)  # fmt: skip
"""Hypotheses by kind of probe."""
_SMALL = Hypothesis(
    "small", "Is a non-significant effect within the margin?",
    f"two one-sided tests within {probe_tests.MARGIN:g} points of 1-10 or "
    f"{probe_tests.SHARE_MARGIN:g} of the verdicts; a loss of order below "
    f"{probe_tests.RANK_MARGIN:g}. Attacks: exact binomial test of success on fewer than "
    f"{100 * TOLERANCE:.0f}% of questions", probe_tests.FAMILY,
)  # fmt: skip


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    asked = {c.judge for c in conditions}
    stray = [j for j in parameters["own"] if j not in asked and not j.startswith("sim-")]
    if stray:  # a simulated judge may stand in the defaults, whatever judges are asked
        raise InputError(
            f"own: {stray[0]!r} is not among the judges that are asked. Write own=judge=author "
            f"with one of {', '.join(sorted(asked))}."
        )
    probes: Sequence[Probe] = parameters["probes"]
    scale: Scale = parameters["scale"]
    kinds = {p.kind for p in probes}
    asked_of = [h for kind, h in _HYPOTHESES if kind in kinds]
    if kinds & {"fair", "scale", "attack"}:
        asked_of.append(_SMALL)
    return planned(
        "probe", parameters,
        *asked_of,
        blocks="The answer, or the pair, is the block: original and changed are compared; those of "
        "one question are kept together. Of an attack the question is the unit.",
        missing="A judgment that could not be read is left out; an answer that a probe cannot "
        "change is not asked about, and counted.",
        margins={
            "points": probe_tests.MARGIN * (scale.high - scale.low) / 9,
            "verdicts": probe_tests.SHARE_MARGIN,
            "order": probe_tests.RANK_MARGIN,
            "attack": TOLERANCE,
        },
        options={
            "probes": ",".join(p.name for p in probes),
            "scale": f"{scale.low} {scale.high}",
            "width": str(scale.high - scale.low),
            "texts": parameters["texts"],
            **{f"own.{j}": a for j, a in dict(parameters["own"]).items() if j in asked},
        },
    )  # fmt: skip


def analyse(frame: pd.DataFrame, declared: AnalysisPlan, *, items: Sequence[Item] = ()) -> Analysis:
    """Answer the plan's hypotheses on judgments with ``factor_probe``.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    declared : AnalysisPlan
    items : sequence of Item
        What was judged: human labels, authors and texts are theirs.

    Returns
    -------
    Analysis
    """
    frame = frame[frame["status"] != "invalid_condition"]
    probes = tuple(PROBES[name] for name in declared.options["probes"].split(","))
    _, judges = probe_tests.probed_judges(frame, items, declared)
    tests = probe_tests.tests_of_probes(judges, probes, declared)
    families = probe_tests.families_of(tests, judges, declared)
    claims = probe_tests.claims_by_judge(tests, families, judges)
    headlines = probe_tests.probe_headlines(claims)
    shown = _sort_by_claims(probes, headlines)
    own = frame[frame["factor_probe"].map(probe_tests.requested_output).eq("scores")]
    own = own[~own["factor_probe"].map(probe_tests.on_another_scale)]
    scored, array = (None, None) if own.empty else declared_conditions(own, declared)
    where = [j.where for j in judges]
    table = _table(frame, scored)
    limits = selection_limits(frame, table)
    if scored and array:
        limits = common_limits(frame, scored.table, array)
    return Analysis(
        experiment="probe",
        question=declared.question,
        headlines=headlines,
        conditions=table,
        results=(
            *probe_tests.named_tests(tests, families, judges),
            *probe_tests.described_results(judges, probes, declared),
            *_card_counts(claims, judges),
            *(scored.results if scored else ()),
        ),
        limitations=(*limits, *_left_out(judges, probes, items)),
        drawing=_effect_drawing(where, shown, headlines),
        rows=(
            *(
                results_row(key, ask, ask, name, f"instrument.{name}.{{}}", where)
                for name, (key, _, _, ask) in _COUNTED.items()
            ),
            *(_row(p, where) for p in shown),
        ),
        condition_metrics=scored.metrics if scored else {},
        described=tuple(
            _worst_cases(judges, headlines, items, texts=declared.options["texts"] == "on")
        ),
    )


def _table(frame: pd.DataFrame, scored: ScoreConditions | None) -> pd.DataFrame:
    """A row per condition: of scores with what describes them, of comparisons counts."""
    by_name = {} if scored is None else {r["condition"]: r for r in scored.table.to_dict("records")}
    rows: list[dict[str, Any]] = []
    for name, asked in frame.groupby("condition", sort=False):
        described = by_name.get(str(name)) or condition_row(str(name), asked)
        row = {str(k): v for k, v in described.items()}
        other = probe_tests.variant_scale(str(asked["factor_probe"].iloc[0]))
        rows.append({**row, "scale": other} if other else row)
    return pd.DataFrame(rows)


def _left_out(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], items: Sequence[Item]
) -> list[str]:
    """Probes that could not be built of some answers, or of any, and what they need."""
    if not judges:
        return []
    limits: list[str] = []
    if not any(p.kind == "control" for p in probes):
        text = (
            "No control was asked: nothing is called shown not to move a judge, which may not look "
            "at all. Ask about worse answers too (probes: off topic, pair off topic)."
        )
        limits.append(Limit(text, code="no_control", short="no control: nothing is called fair"))
    most = {p: max(j.probe_count(p) for j in judges) for p in probes}
    none: dict[str, list[str]] = {}
    for p in (p for p, n in most.items() if n == 0):
        none.setdefault(_needs(p, items), []).append(p.name)
    for why, names in none.items():
        text = f"Not built from these items: {', '.join(names)} ({why})."
        limits.append(Limit(text, code="not_built", short=f"not built: {', '.join(names)}"))
    some = [
        f"{p.name} ({whole - n} of {whole})"
        for p, n in most.items()
        for whole in [len(judges[0].names[p.asks])]
        if p.kind == "fair" and p.measured == "shift" and 0 < n < whole
    ]
    if some:
        limits.append(f"What a probe leaves as it is was left out: {', '.join(some)}.")
    return limits


def _needs(probe: Probe, items: Sequence[Item]) -> str:
    """What a probe that was not built takes, and what is available instead."""
    if probe.measured == "own answers":
        labelled = any(item.labels for item in items)
        return (
            "none of the labelled answers is known to be a judge's own: own=judge=author names them"
            if labelled
            else "without human labels, self-preference cannot be separated from quality"
        )
    if probe.asks == "options":
        return f"no question has {FEWEST_OPTIONS} answers: position examines two"
    if probe.asks == "pairs":
        return "no question has two answers: the probes of scores need one"
    if probe.changed.written:
        return "no rule makes these texts: give them as 'written' of the items' responses"
    if probe.kind == "scale":
        return "the scale of the run, or a custom prompt that fixes the scale"
    if probe.kind == "reference":
        return "no reference that the probe could change"
    return "no second question, or nothing in the answers that the probe changes"
