"""Paragraph of a paper: design, rule, and estimates of a run with verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from judgestats.reporting.runs import Run
from judgestats.results.numbers import apa_number, count_noun
from judgestats.results.purposes import threshold_text
from judgestats.results.verdict import Requirement, Verdict
from judgestats.results.verdict_screen import number_text, subject_names

_MOST = 4
Write = Callable[[str], str]


def submission_paragraph(run: Run, write: Write = str) -> str:
    """One paragraph on design, rule of decision, and results; empty without verdicts.

    Parameters
    ----------
    run : Run
    write : function
        Writes what others wrote (names) in the form wanted.

    Returns
    -------
    str
    """
    verdicts = [v for v in run.records.verdicts if v.requirements]
    if not verdicts:
        return ""
    names = {k: write(name) for k, name in subject_names(run.records).items()}
    shown = verdicts[:_MOST]
    sentences = [
        _design(run, verdicts, write), _labels(run), _rule(verdicts),
        *(_result(v, names[v.subject.label]) for v in shown),
    ]  # fmt: skip
    if len(verdicts) > _MOST:
        more = len(verdicts) - _MOST
        sentences.append(f"Results for {more} further conditions are in the supplement.")
    careful = dict.fromkeys(c.text for v in shown for c in v.caveats if c.severity != "minor")
    if careful:
        sentences.append(f"Limitations: {' '.join(write(text) for text in careful)}")
    version = (run.session or {}).get("judgestats")
    if version:
        sentences.append(f"Analyses used judgestats {version}.")
    return " ".join(filter(None, sentences))


def _listed(parts: Sequence[str]) -> str:
    *first, last = parts
    if not first:
        return last
    return f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}"


def _design(run: Run, verdicts: Sequence[Verdict], write: Write) -> str:
    design = run.facts.get("design") or {}
    judges = list(dict.fromkeys(v.subject.judge for v in verdicts if v.subject.judge))
    who = "one LLM judge" if len(judges) == 1 else f"{len(judges)} LLM judges"
    named = f" ({_listed([write(j) for j in judges])})" if 0 < len(judges) <= 6 else ""
    simulated = "simulated " if run.all_simulated else ""
    n, clusters = design.get("items"), design.get("clusters")
    sample = count_noun(int(n), "item", "items") if n else "the items"
    if n and clusters and clusters != n:
        sample += f" in {count_noun(int(clusters), 'cluster', 'clusters')}"
    repeats = design.get("replicates")
    again = f", with {repeats} repeats per item" if repeats and int(repeats) > 1 else ", once each"
    return f"We assessed {who.replace('LLM', f'{simulated}LLM')}{named} on {sample}{again}."


def _labels(run: Run) -> str:
    counts: dict[str, set[int]] = {"tpr": set(), "tnr": set()}
    for m in run.records.measures:
        if m.key in counts and m.n:
            counts[m.key].add(m.n)
    if any(len(found) != 1 for found in counts.values()):
        return ""
    passes, fails = (next(iter(counts[key])) for key in ("tpr", "tnr"))
    return f"Human labels were available for {passes + fails} items ({passes} pass, {fails} fail)."


def _rule(verdicts: Sequence[Verdict]) -> str:
    asked: dict[str, Requirement] = {}
    for v in verdicts:
        for r in v.requirements:
            if r.status != "not_measured":
                asked.setdefault(r.key, r)
    if not asked:
        return "No required quantity was measured."
    wanted = _listed([f"{r.label} {threshold_text(r)}" for r in asked.values()])
    levels = verdicts[0].levels
    use, fail = (apa_number(x, digits=3, bounded=True) for x in (levels.use, levels.do_not_use))
    return (
        f"We required {wanted}. A requirement was met if the confidence limit on its unfavourable "
        f"side reached the threshold (one-sided level {use}). It failed if the limit on its "
        f"favourable side did not (level {fail}). Otherwise it was inconclusive."
    )


def _result(verdict: Verdict, name: str) -> str:
    told = []
    for r in verdict.requirements:
        if r.status != "not_measured" and math.isfinite(r.estimate):
            number, _, interval = number_text(r).partition(" ")
            told.append(f"{r.label} = {number}" + (f", 95% CI {interval}" if interval else ""))
    if not told:
        return f"For {name}, no required quantity was measured."
    by_status = {
        status: [r.label for r in verdict.requirements if r.status == status]
        for status in ("fails", "open")
    }
    if by_status["fails"]:
        outcome = f"the requirement on {_listed(by_status['fails'])} failed"
    elif by_status["open"]:
        outcome = f"the result for {_listed(by_status['open'])} was inconclusive"
    else:
        outcome = "all measured requirements were met"
    return f"For {name}, {'; '.join(told)}: {outcome}."
