"""Probes of a judge: what moves it, what succeeds against it, and whether it sees what is worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.families import jointly
from judgestats.analysis.limits import Limit, common_limits
from judgestats.analysis.outcome import Analysis
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.probe_answer import (
    claims_by_judge,
    probe_headlines,
    probe_sentence,
    what_to_do,
)
from judgestats.analysis.probe_tests import (
    FAMILY,
    MARGIN,
    attack_results,
    described_results,
    flip_results,
    probed_judges,
    shift_results,
)
from judgestats.analysis.scores import cell_arrays, score_conditions
from judgestats.judgments.design import Condition
from judgestats.judgments.shapes import score_array
from judgestats.protocols.probes import PROBES, Probe
from judgestats.protocols.scale import Scale
from judgestats.results import Drawing, Headline, Row
from judgestats.stats.inference.result import Result
from judgestats.stats.instrument.attack_success import TOLERANCE

__all__ = ["analyse", "plan"]

_HELD = {
    "fair": f"two one-sided tests within {MARGIN:g} points of a 1-10 scale",
    "attack": f"exact binomial test of success on fewer than {100 * TOLERANCE:.0f} % of questions",
}


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions
    probes: Sequence[Probe] = parameters["probes"]
    scale: Scale = parameters["scale"]
    kinds = {p.kind for p in probes}

    def primary(identity: str, question: str, test: str) -> Hypothesis:
        return Hypothesis(
            id=identity, role="primary", question=question, test=test, family=FAMILY,
            adjustment="holm",
        )  # fmt: skip

    hypotheses = [
        primary(
            "moved",
            "Does a change that should not matter move the score?",
            "mean score changed minus original (or one side of a note minus the other), paired by "
            "answer, over questions",
        ),
        primary(
            "attack",
            "Does an attack succeed?",
            "share of questions on which a worthless answer gets the highest score (an injection) "
            "or half of the scale (an answer that says nothing), exact, against the same answer "
            "without it",
        ),
        primary(
            "control",
            "Does the judge see an answer that is worse?",
            "mean score changed minus original, paired by answer, over questions",
        ),
        *(
            Hypothesis(
                id=f"equivalence.{kind}",
                role="secondary",
                question="Where no effect is seen: is it shown to be small?",
                test=test,
                family=FAMILY,
                adjustment="holm",
            )
            for kind, test in _HELD.items()
        ),
        Hypothesis(
            id="flips",
            role="secondary",
            question="How many more verdicts change than by asking again?",
            test="share of pairs of verdicts that differ, between less within, over questions",
        ),
        Hypothesis(
            id="reference",
            role="descriptive",
            question="Is the judge bound to its reference?",
            test="mean score with another question's reference minus with its own",
        ),
    ]
    needs = {
        "moved": "fair", "equivalence.fair": "fair", "flips": "fair", "attack": "attack",
        "equivalence.attack": "attack", "control": "control", "reference": "reference",
    }  # fmt: skip
    return AnalysisPlan(
        experiment="probe",
        question=(
            "Which changes that should not matter move the judge, which attacks on it succeed, "
            "and does it see an answer that is worse?"
        ),
        blocks=(
            "The answer is the block: original and changed answer are compared; those of one "
            "question are kept together. Of an attack the question is the unit."
        ),
        missing=(
            "A judgment that could not be read is left out; an answer that a probe cannot change "
            "is not asked about, and counted."
        ),
        n_resamples=int(parameters["resamples"]),
        seed=int(parameters["seed"]),
        margins={"points": MARGIN * (scale.high - scale.low) / 9, "attack": TOLERANCE},
        options={
            "probes": ",".join(p.name for p in probes),
            "scale": f"{scale.low} {scale.high}",
        },
        hypotheses=tuple(h for h in hypotheses if needs[h.id] in kinds),
    )


def analyse(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Answer the plan's hypotheses on judgments with ``factor_probe``.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    declared : AnalysisPlan

    Returns
    -------
    Analysis
    """
    probes = tuple(PROBES[name] for name in declared.options["probes"].split(","))
    low, high = map(float, declared.options["scale"].split())
    judges = probed_judges(frame)
    results = [
        *shift_results(judges, probes, declared),
        *attack_results(judges, probes, declared, middle=(low + high) / 2, highest=high),
        *flip_results(judges, probes, declared),
        *described_results(judges, probes, declared),
    ]
    results = jointly(results, ("moved", "attack", "control"), family=FAMILY)
    results = jointly(results, ("equivalence.fair",), family=FAMILY)
    by_id: dict[str, Result] = {r.id: r.result for r in results}
    headlines = probe_headlines(by_id, judges, probes)
    array = score_array(frame)
    described = score_conditions(
        frame, array, level=declared.level, n_permutations=declared.n_resamples,
        seed=declared.seed, omega_model=declared.options.get("omega_model", "parallel"),
    )  # fmt: skip
    where = [j.where for j in judges]
    return Analysis(
        experiment="probe",
        question=declared.question,
        sentence=probe_sentence(claims_by_judge(by_id, judges, probes), by_id),
        headlines=headlines,
        conditions=described.table,
        results=(*results, *described.results),
        limitations=(
            *common_limits(frame, described.table, array),
            *_left_out(judges, probes),
            *_rest(probes),
        ),
        recommendation=what_to_do(headlines),
        drawing=Drawing(
            kind="dots",
            rows=_drawn(where, _telling(probes, headlines)),
            caption="What changes that should not matter add to a score (points; 0: nothing), with "
            "95 % intervals over questions.",
        ),
        rows=_rows(where, _telling(probes, headlines)),
        metrics={"quality/unread_share": float((frame["status"] != "ok").mean())},
        condition_metrics=described.metrics,
        arrays=cell_arrays(array),
    )


_SHOWN = 8
"""Probes that the screen and page one show."""


def _telling(probes: Sequence[Probe], headlines: Sequence[Headline]) -> list[Probe]:
    """The probes that tell most: those with the most claims of an effect, in their order."""
    claims = Counter(h.about.varied for h in headlines if h.claim == "differs")
    first = sorted(probes, key=lambda p: (p.kind == "reference", -claims[p.name]))[:_SHOWN]
    return [p for p in probes if p in first]


def _rest(probes: Sequence[Probe]) -> list[Limit]:
    if len(probes) <= _SHOWN:
        return []
    return [
        Limit(
            f"Page one shows the {_SHOWN} of {len(probes)} probes that tell most; all stand among "
            "the results.",
            code="probes_shown",
            short=f"the {_SHOWN} most telling of {len(probes)} probes are shown",
        )
    ]


def _drawn(where: Sequence[str], probes: Sequence[Probe]) -> tuple[str, ...]:
    """The shifts that are drawn: the most telling changes that should not matter."""
    fair = [p for p in probes if p.kind == "fair"]
    return tuple(f"moved/{p.changed.name} ({w}):{p.baseline}" for p in fair for w in where)


def _rows(where: Sequence[str], probes: Sequence[Probe]) -> tuple[Row, ...]:
    """A row a probe: what it adds, or how often it succeeds."""
    rows = []
    for p in probes:
        if p.kind == "attack":
            rows.append(
                asked_row(
                    f"fair_{p.name}", f"{p.does} succeeds", p.name, "attack_success",
                    f"attack.{p.name}.{{}}/attack_success", where,
                )
            )  # fmt: skip
        else:
            identity = {"fair": "moved", "control": "control", "reference": "reference"}[p.kind]
            rows.append(
                asked_row(
                    f"{'right' if p.kind == 'control' else 'fair'}_{p.name}", f"{p.does} adds",
                    p.name, "mean_difference",
                    f"{identity}/{p.changed.name} ({{}}):{p.baseline}", where,
                )
            )  # fmt: skip
    return tuple(rows)


def _left_out(judges: Sequence[Any], probes: Sequence[Probe]) -> list[str]:
    """Probes that could not be built of some answers, or of any."""
    if not judges:
        return []
    first = judges[0]
    whole = len(first.names)
    limits = []
    none = [p.name for p in probes if not first.asked(p)]
    if none:
        limits.append(
            f"Not built from these items: {', '.join(none)} (no second question, no reference, or "
            "nothing in the answers that the probe changes)."
        )
    some = [
        f"{p.name} ({whole - n} of {whole})"
        for p in probes
        if p.kind == "fair" and 0 < (n := first.asked(p)) < whole
    ]
    if some:
        limits.append(f"Answers that a probe leaves as they are were left out: {', '.join(some)}.")
    return limits
