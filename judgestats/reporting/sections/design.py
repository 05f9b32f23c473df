"""What was asked and declared: banner, question, plan, judges, prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from judgestats.data.request_fields import as_text, setting_sent
from judgestats.reporting.display import Markdown, with_next
from judgestats.reporting.document import fallback, verbatim
from judgestats.reporting.numbers import integer, name_reliability, number
from judgestats.reporting.runs import Run
from judgestats.reporting.tables import Column, Table
from judgestats.results.quantities import QUANTITIES
from judgestats.sinks import escape_html, escape_markdown, escape_typst, shorten

_SIMULATED = "SIMULATED: no model was asked. These numbers show the method, not any real judge."


def banner(*runs: Run) -> Markdown:
    """A warning on every page where a judge was simulated; nothing otherwise.

    Where only some of several runs or judges were simulated, it says which.
    """
    sentence = _simulation_note(runs)
    if not sentence:
        return Markdown("")
    html = f'<div class="simulated-banner" role="note"><p>{escape_html(sentence)}</p></div>'
    typst = f"#metadata([{escape_typst(sentence)}]) <simulated>"
    other = f"**{escape_markdown(sentence)}**"
    return Markdown(
        f"```{{=html}}\n{html}\n```\n\n```{{=typst}}\n{typst}\n```\n\n" + fallback(other)
    )


def _simulation_note(runs: Sequence[Run]) -> str:
    marked = [i for i, run in enumerate(runs, start=1) if run.simulated]
    if not marked:
        return ""
    if len(marked) < len(runs):
        named = " and ".join(f"Run {i}" for i in marked)
        return f"{named}: SIMULATED, no model was asked. Those numbers show the method only."
    if len(runs) == 1:
        names = runs[0].simulated_judges
        if names and not runs[0].all_simulated:
            return (
                f"SIMULATED: {shorten(', '.join(names), limit=60)} (no model was asked). Those "
                "numbers show the method only."
            )
    return _SIMULATED


def question(run: Run) -> Markdown:
    """The question asked of the data."""
    return Markdown(escape_markdown(run.question))


def overview(run: Run) -> Markdown:
    """The design in a sentence or two."""
    d = run.design
    judges = [str(j.get("name", "")) for j in run.facts.get("judges") or []]
    count = len(run.conditions)
    parts = []
    if judges:
        named = escape_markdown(", ".join(judges))
        at = d.get("temperatures") or []
        shared = f", all at T = {as_text(at[0])}" if len(at) == 1 and count > 1 else ""
        under = f"{_count(count, 'condition')}{shared}"
        parts.append(f"{_count(len(judges), 'judge')} ({named}) under {under}")
    else:
        parts.append(_count(count, "condition"))
    if d.get("items"):
        inside = f"{_count(int(d['items']), 'item')} from {_count(int(d['clusters']), 'question')}"
        parts.append(inside + _same_items(run))
    if d.get("replicates"):
        parts.append(f"{_count(int(d['replicates']), 'independent judgment')} of each")
    text: str = "; ".join(parts) + "."
    if d.get("choices_per_request", 1) and int(d.get("choices_per_request") or 1) > 1:
        text += (
            f" Each request asked for {int(d['choices_per_request'])} choices; choices of one "
            "request need not be as independent as separate requests."
        )
    if d.get("scale") and "mean" in run.conditions:
        low, high = d["scale"]
        asked = (
            list(dict.fromkeys(run.conditions["scale"].dropna()))
            if "scale" in run.conditions
            else []
        )
        if asked:
            text += f" Scores were asked for on the scales {escape_markdown(', '.join(asked))}."
            text += f" They are told in points of {low:g}-{high:g}."
        else:
            text += f" Scores run from {number(low, digits=0)} to {number(high, digits=0)}."
    source = d.get("item_source")
    if source:
        place = "the bundled item bank" if source == "bank" else str(source)
        text += f" Items: {escape_markdown(place)}."
    if d.get("wording"):
        text += f" {escape_markdown(str(d['wording']))}"
    return Markdown(text + _answered_by(run))


def _answered_by(run: Run) -> str:
    """Who gave the answers that are judged, where models were asked for them in this run."""
    answerers = run.facts.get("answers") or {}
    if not answerers:
        return ""
    models = [
        str(a.get("model", "")) + (" (simulated)" if a.get("simulated") else "")
        for a in answerers.get("answerers") or []
    ]
    asked = answerers.get("temperatures") or []
    heat = ", ".join("default" if t is None else number(t, digits=2) for t in asked)
    sampling = f"temperature {heat}"
    earlier = {"top_k": answerers["top_k"]} if answerers.get("top_k") else {}  # as 0.1.0 kept it
    for name, value in (answerers.get("settings") or earlier).items():
        sampling += f", {name} {value}"
    left = int(answerers.get("questions_left_out") or 0)
    lost = f"; {_count(left, 'question')} left out, not answered by all" if left else ""
    return (
        f"\n\nThe answers were given in this run by {escape_markdown(', '.join(models))} at "
        f"{escape_markdown(sampling)} ({integer(int(answerers.get('answers') or 0))} "
        f"answers{lost}); the prompt is `{answerers.get('prompt_sha', '')}` in the "
        f"appendix, the answers stand in "
        f"{escape_markdown(str(answerers.get('file', '')))}."
    )


def _same_items(run: Run) -> str:
    """``, the same in every condition``, where the judgments show it."""
    frame = run.judgments
    if frame.empty:
        return ""
    sets = {frozenset(g["item_id"]) for _, g in frame.groupby("condition", sort=False)}
    several = len(set(frame["condition"])) > 1
    return ", the same in every condition" if several and len(sets) == 1 else ""


def _count(n: int, noun: str) -> str:
    return f"{integer(n)} {noun}{'' if n == 1 else 's'}"


def plan(run: Run) -> Table | Markdown:
    """The hypotheses, as they were written to the run before the first judgment."""
    hypotheses = run.hypotheses
    if not hypotheses and run.records.kind == "audit":
        return Markdown(
            "Nothing is tested: the judgments allow neither a comparison nor an estimate of "
            "consistency, so they are described."
        )
    if not hypotheses:
        return Markdown("No analysis plan was declared: all results below are exploratory.")
    rows = tuple(
        {
            "role": h.get("role", ""),
            "question": h.get("question", ""),
            "test": h.get("test", ""),
            "family": _family(h),
        }
        for h in hypotheses
    )
    return Table(
        columns=(
            Column(key="role", label="Role"),
            Column(key="question", label="Question"),
            Column(key="test", label="How it is answered"),
            Column(key="family", label="Adjusted together"),
        ),
        rows=rows,
        caption=(
            "The analysis plan. The judgments were there before it; it follows from the program "
            "and from which columns there are, not from what they say."
            if run.records.kind in {"audit", "replication"}
            else "The analysis plan, written to the run before the first judgment was asked for."
        ),
        label="tbl-plan",
    )


_ADJUSTMENTS = {
    "bh": "Benjamini and Hochberg", "by": "Benjamini and Yekutieli", "holm": "Holm",
}  # fmt: skip


def _family(hypothesis: dict[str, Any]) -> str:
    family, adjustment = str(hypothesis.get("family", "")), str(hypothesis.get("adjustment", ""))
    if not family:
        return "nothing is tested" if hypothesis.get("role") == "descriptive" else "not adjusted"
    if adjustment in {"", "none"}:
        return family
    return f"{family}; {_ADJUSTMENTS.get(adjustment, adjustment)}"


def plan_notes(run: Run) -> Markdown:
    """What is compared with what, what happens to unread judgments, levels, seeds, margins."""
    p = run.plan
    parts: list[str] = [escape_markdown(p[key]) for key in ("blocks", "missing") if p.get(key)]
    if p:
        tail = (
            f"Confidence intervals (CI) have level {number(run.level, leading_zero=False)}; "
            f"bootstraps and permutations use {integer(p.get('n_resamples'))} draws with seed "
            f"{p.get('seed')}."
        )
        margins = p.get("margins") or {}
        if margins:
            named = "; ".join(f"{margin_of(str(k))} {v:g}" for k, v in margins.items())
            tail += f" Margins of equivalence, declared beforehand: {escape_markdown(named)}."
        parts.append(tail)
    return Markdown("\n\n".join(parts))


def margin_of(key: str) -> str:
    """What a margin is of, in words.

    Examples
    --------
    >>> margin_of("icc_1_1"), margin_of("attack")
    ('ICC(1,1)', 'attack')
    """
    return QUANTITIES[key].heading if key in QUANTITIES else key.replace("_", " ")


def judges(run: Run) -> Table | Markdown:
    """Who judged, as asked for and as reported by the server."""
    listed = run.facts.get("judges") or []
    if not listed:
        return Markdown("The run does not say which judges were asked.")
    rows = []
    for judge in [*listed, *(run.facts.get("stage_judges") or [])]:
        reported = ", ".join(map(str, judge.get("model_reported") or [])) or None
        prints = [str(f) for f in judge.get("fingerprints") or []]
        shown = ", ".join(prints[:3]) + (f" and {len(prints) - 3} more" if len(prints) > 3 else "")
        rows.append(
            {
                "name": str(judge.get("name", ""))
                + (" (simulated)" if judge.get("simulated") else "")
                + (f", at the stage {judge['stage']}" if judge.get("stage") else ""),
                "model": judge.get("model"),
                "reported": reported,
                "fingerprints": shown or None,
                "endpoint": judge.get("endpoint"),
                "mode": ", ".join(map(str, judge.get("reply_mode") or [])).replace("_", " ")
                or None,
                "prompt": ", ".join(map(str, judge.get("prompt_sha") or [])) or None,
            }
        )
    labels = {
        "name": "Judge", "model": "Model asked for", "reported": "Model reported",
        "fingerprints": "Fingerprint", "endpoint": "Endpoint", "mode": "Reply by",
        "prompt": "Prompt",
    }  # fmt: skip
    shown_keys = [k for k in labels if k in {"name", "model"} or any(r[k] for r in rows)]
    if all(r["model"] in {None, r["name"]} for r in rows) and shown_keys == ["name", "model"]:
        return Markdown("Nothing but the judges' names is known of them.")
    return Table(
        columns=tuple(Column(key=k, label=labels[k]) for k in shown_keys),
        rows=tuple(rows),
        caption=(
            "The judges, as the file names them."
            if run.records.kind == "audit"
            else "The judges, as asked for and as their servers reported themselves."
        )
        + (
            " Prompts are named by the hash of their text, which stands in the appendix."
            if run.prompts
            else ""
        ),
        label="tbl-judges",
    )


def temperatures(run: Run) -> Markdown:
    """Whether every judgment was made at the temperature asked for."""
    frame = run.judgments
    if frame.empty or "sent" not in frame:
        return Markdown("")
    asked = pd.to_numeric(frame["temperature"])
    sent = pd.to_numeric(
        pd.Series(setting_sent(frame["sent"], "temperature"), index=frame.index, dtype=object)
    )
    if asked.isna().all():
        return Markdown("No temperature was asked for: the servers' defaults applied.")
    both = frame[asked.notna() & sent.notna()]
    changed = int((asked != sent)[both.index].sum())
    unsent = int((asked.notna() & sent.isna() & (frame["transport"] == "answered")).sum())
    if changed or unsent:
        return Markdown(
            f"**{integer(changed + unsent)} judgments were not sent at the temperature asked for.**"
        )
    return Markdown("Every answered judgment was sent at the temperature asked for.")


def prompts(run: Run) -> Markdown:
    """The prompts, whole with the instruction for the reply; marks in braces are filled in."""
    if not run.prompts:
        return Markdown("The run holds no prompt text.")
    parts = []
    for sha, text in run.prompts.items():
        name = "".join(c for c in sha if c.isalnum() or c in "-_")
        stages = [asked["stages"][sha] for asked in run.asked if sha in asked.get("stages", {})]
        own = stages or [asked for asked in run.asked if asked["templates"][-1:] == [sha]]
        calls = stages or [asked for asked in run.asked if sha in asked["templates"]]
        labels = _labels(calls)
        of = _levels(run, labels, among=[c.label for c in run.records.conditions])
        stage = f" of the stage {stages[0]['stage']}" if stages else ""
        said = f"Prompt{stage}{of}:".replace("Prompt, prompt ", "Prompt ")
        heading = f"**{name_reliability(said)}** `prompts/{name}.txt`"
        parts.append(f"{with_next(heading)}\n\n{verbatim(text)}")
        instructions: dict[str, list[dict[str, Any]]] = {}
        for asked in own:
            if asked["instruction"]:
                instructions.setdefault(str(asked["instruction"]), []).append(asked)
        place = "where it says {reply}" if "{reply}" in text else "behind its end"
        for instruction, under in instructions.items():
            of = _levels(run, _labels(under), among=_labels(own)) if len(instructions) > 1 else ""
            label = name_reliability(f"The reply instruction, {place}{of}:")
            parts.append(f"{with_next(label)}\n\n{verbatim(instruction)}")
    return Markdown("\n\n".join(parts))


def _labels(asked: Sequence[dict[str, Any]]) -> list[str]:
    """The conditions under which something is asked."""
    return [str(label) for one in asked for label in one["conditions"]]


def _levels(run: Run, labels: Sequence[str], *, among: Sequence[str]) -> str:
    """The levels of what was varied that some conditions have and others among these have not."""
    conditions = [c for c in run.records.conditions if not c.derived and c.label in among]
    own = [c for c in conditions if c.label in labels]
    parts = []
    factors = dict.fromkeys(name for c in own for name in c.factors if name != "temperature")
    for factor in factors:
        levels = list(dict.fromkeys(str(c.factors[factor]) for c in own if factor in c.factors))
        if set(levels) != {str(c.factors[factor]) for c in conditions if factor in c.factors}:
            more = f" and {len(levels) - _FEW_LEVELS} more" if len(levels) > _FEW_LEVELS else ""
            listed = ", ".join(levels[:_FEW_LEVELS])
            parts.append(f"{factor.replace('_', ' ')} {listed}{more}")
    return f", {'; '.join(parts)}" if parts else ""


_FEW_LEVELS = 4
"""Levels that a prompt's heading names."""
