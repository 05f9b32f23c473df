"""What MLflow shows first: the answer as the description, effects as the first metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from judgestats.results import Comparison, Estimate, Results, Row, estimand_of
from judgestats.results.estimands import name_of

FIRST = "answer"
"""What the names of these metrics begin with: MLflow sorts them by name."""
WHOLE_RUN = "whole run"
"""What `metrics_of` calls the run above its conditions."""
_MOST = 12


def answer_note(results: Results) -> str:
    """The run's description: the answer, what to use, then the question.

    Examples
    --------
    >>> print(answer_note(Results(experiment="x", question="Is it?", results=(), answer="Yes.")))
    **Yes.**
    <BLANKLINE>
    Is it?
    """
    names = ", ".join(results.simulated_judges)
    simulated = f"SIMULATED: {names}. No model was asked for these." if names else ""
    if results.all_simulated:
        simulated = "SIMULATED judges: no model was asked."
    advice = results.recommendation.text if results.recommendation is not None else ""
    parts = (
        f"**{results.answer}**" if results.answer else "",
        f"Use: {advice}" if advice else "",
        simulated,
        results.question,
    )
    return "\n\n".join(part for part in parts if part)


def effects(results: Results) -> dict[str, float]:
    """How large each effect is that the answer tells of, by its name and whom it is of.

    Parameters
    ----------
    results : Results

    Returns
    -------
    dict of name to number
        Of a claim, the number that tells how large it is, else the first that it rests on.
    """
    out: dict[str, float] = {}
    for headline in results.headlines:
        record = next(
            (
                results[i]
                for i in (headline.size, *headline.rests_on)
                if i in results and isinstance(results[i], (Estimate, Comparison))
            ),
            None,
        )
        if not isinstance(record, (Estimate, Comparison)) or not math.isfinite(record.estimate):
            continue
        whom = headline.about.stratum or headline.about.judge or " ".join(headline.about.conditions)
        name = f"{FIRST}/{_named(record)}"
        out.setdefault(f"{name}/{_plain(whom)}" if whom else name, record.estimate)
        if len(out) >= _MOST:
            break
    return out


def _named(record: Estimate | Comparison) -> str:
    """``ratio of variances T 1 to T 0.3``."""
    name = name_of(record.estimand)
    if isinstance(record, Comparison):
        name = f"{name} {record.a} to {record.b}"
    return _plain(name)


def readings(results: Results) -> Mapping[str, Mapping[str, float]]:
    """The questions that people ask of every condition, answered, by condition.

    Parameters
    ----------
    results : Results

    Returns
    -------
    mapping of condition to mapping of name to number
        ``answer/asked again it moves by (points)``.
    """
    out: dict[str, dict[str, float]] = {}
    for row in results.rows:
        name = f"{FIRST}/{_asked(row)}"
        for condition, result_id in row.cells.items():
            if result_id not in results:
                continue
            record = results[result_id]
            if isinstance(record, (Estimate, Comparison)) and math.isfinite(record.estimate):
                out.setdefault(condition, {})[name] = record.estimate
    return out


def metrics_of(results: Results) -> dict[str, dict[str, float]]:
    """The metrics of a run and of its conditions, as MLflow shows them and as `check` takes them.

    Parameters
    ----------
    results : Results

    Returns
    -------
    dict
        `WHOLE_RUN` and every condition, in order, with name and number; a condition made of others
        (a mean of them) only where it has metrics.

    Examples
    --------
    >>> metrics_of(Results(experiment="x", question="?", results=(), metrics={"cost/usd": 0.5}))
    {'whole run': {'cost/usd': 0.5}}
    """
    out = {WHOLE_RUN: {**effects(results), **results.metrics}}
    answers, own = readings(results), results.condition_metrics
    for condition in results.conditions:
        label = condition.label
        if label in own or not condition.derived:
            out[label] = {**answers.get(label, {}), **own.get(label, {})}
    return out


def _asked(row: Row) -> str:
    """The question with its unit, in letters that MLflow takes."""
    unit = estimand_of(row.estimand).unit
    short = unit if unit in {"points", "seconds", "tokens", "USD"} else ""
    return f"{_plain(row.ask)}{f' - {short}' if short else ''}"


def _plain(text: str) -> str:
    """A part of a name in letters that MLflow takes, rather than with its underscores.

    Examples
    --------
    >>> _plain("McDonald's omega, T=1"), _plain("ICC(1,1)"), _plain("bias (judge - people)")
    ('McDonalds omega T 1', 'ICC 1 1', 'bias judge - people')
    """
    return " ".join(re.sub(r"[/=(),]", " ", re.sub(r"['’]", "", text)).split())
