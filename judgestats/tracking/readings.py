"""What MLflow shows of results: the answer as the description, and the metrics."""

from __future__ import annotations

from judgestats.results import Results

WHOLE_RUN = "whole run"
"""What `metrics_of` calls the run above its conditions."""


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
    out, own = {WHOLE_RUN: dict(results.metrics)}, results.condition_metrics
    for condition in results.conditions:
        label = condition.label
        if label in own or not condition.derived:
            out[label] = dict(own.get(label, {}))
    return out
