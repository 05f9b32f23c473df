"""What was asked and declared: banner, question, plan, judges, prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from judgestats.data.columns import setting_sent
from judgestats.reporting.document import fallback, verbatim
from judgestats.reporting.numbers import (
    AddressedText,
    address,
    count,
    integer,
    name_reliability,
    number,
)
from judgestats.reporting.runs import Run
from judgestats.reporting.tables import Column, Markdown, Showable, Table, filled, with_next
from judgestats.results.numbers import count_noun
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
    for name, value in (answerers.get("settings") or {}).items():
        sampling += f", {name} {value}"
    left = int(answerers.get("questions_left_out") or 0)
    lost = f"; {count_noun(left, 'question', 'questions')} left out" if left else ""
    return (
        f"The answers were given in this run by {escape_markdown(', '.join(models))} at "
        f"{escape_markdown(sampling)} ({integer(int(answerers.get('answers') or 0))} "
        f"answers{lost}); the prompt is `{answerers.get('prompt_sha', '')}` in the "
        f"appendix, the answers are in "
        f"{escape_markdown(str(answerers.get('file', '')))}."
    )


def setting(run: Run) -> list[Showable]:
    """Who judged what, how often: one row each, of one thing a sentence; and who answered."""
    records = run.records
    design, account = run.design, run.facts.get("account") or {}
    rows: list[dict[str, Any]] = []

    def add(what: str, value: AddressedText | str | None) -> None:
        if value:
            rows.append({"what": what, "value": value})

    judges = [str(j.get("name", "")) for j in run.facts.get("judges") or []]
    add("Judges", ", ".join(judges[:8]) + (", ..." if len(judges) > 8 else ""))
    if design.get("items"):
        text = count(records, "facts.design.items")
        if design.get("clusters"):
            text = text + " in " + count(records, "facts.design.clusters") + " clusters"
        add("Items", text)
    if design.get("replicates"):
        add("Repeats", count(records, "facts.design.replicates"))
    if design.get("scale") and "mean" in run.conditions:
        ends = [count(records, f"facts.design.scale.{i}") for i in (0, 1)]
        add("Scale", ends[0] + " to " + ends[1])
    if understood := str(next(iter(design.get("understood") or ()), "")):
        add("Read as", AddressedText(((understood, address("", "facts.design.understood.0")),)))
    if account.get("asked"):
        asked_, answered = (count(records, f"facts.account.{k}") for k in ("asked", "answered"))
        add("Judgments", asked_ + " asked, " + answered + " answered")
    add("Items from", str(design.get("item_source") or ""))
    if design.get("wording"):
        add("Prompt", str(design["wording"]))
    if not rows:
        return []
    authors = [Markdown(told)] if (told := _answered_by(run)) else []
    if len(rows) == 1:
        return [Markdown(name_reliability(f"{rows[0]['what']}: {rows[0]['value']}.")), *authors]
    table = Table(
        columns=(Column(key="what", label="Design"), Column(key="value", label="This run")),
        rows=tuple(rows),
        caption="Design of the replication."
        if run.records.kind == "replication"
        else "Design of the run.",
        label="tbl-setting",
    )
    return [table, *authors]


def plan(run: Run, *, full: bool = False) -> Table | Markdown | None:
    """The hypotheses, how they are answered, and what is adjusted together.

    Parameters
    ----------
    run : Run
    full : bool
        Descriptive ones and families too, and a sentence where there is no plan.
    """
    roles = {"primary", "secondary"}
    listed = [h for h in run.hypotheses if full or h.get("role") in roles]
    if not listed or (run.facts.get("claims") and not full):  # claims of a study say it
        if not full:
            return None
        audited = run.records.kind == "audit"
        return Markdown(
            "Nothing is tested: the judgments are described."
            if audited
            else "No analysis plan was declared: all results below are exploratory."
        )
    labels = {"role": "Role", "question": "Question", "test": "Method"}
    rows = [{k: str(h.get(k, "")) for k in labels} | {"family": _family(h)} for h in listed]
    labels |= {"family": "Adjusted together"} if full else {}
    after = run.records.kind in {"audit", "replication"}
    return Table(
        columns=tuple(Column(key=key, label=text) for key, text in labels.items()),
        rows=tuple(rows),
        caption="Hypotheses and tests."
        if after
        else "Hypotheses and tests, recorded before the first judgment.",
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
    """What is compared with what, what happens to unparsed judgments, levels, seeds, margins."""
    return Markdown("\n\n".join(plan_sentences(run, escape_markdown, "blocks", "missing")))


def plan_sentences(run: Run, write: Callable[[str], str], *keys: str) -> list[str]:
    """What the plan says under some keys, then level, draws, seed, and margins.

    Parameters
    ----------
    run : Run
    write : function
        Writes what the plan says in the form wanted.
    *keys : str
    """
    p = run.plan
    if not p:
        return []
    sentences = [write(str(p[key])) for key in keys if p.get(key)]
    sentences.append(
        f"Confidence intervals (CI) have level {number(run.level, leading_zero=False)}; "
        f"bootstraps and permutations use {integer(p.get('n_resamples'))} draws with seed "
        f"{p.get('seed')}."
    )
    if margins := p.get("margins"):
        named = "; ".join(f"{margin_of(str(k))} {v:g}" for k, v in margins.items())
        sentences.append(f"Margins of equivalence, declared beforehand: {write(named)}.")
    return sentences


def margin_of(key: str) -> str:
    """What a margin is of, as text.

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
    rows = [
        {
            "name": str(judge.get("name", ""))
            + " (simulated)" * bool(judge.get("simulated"))
            + (f", at the stage {judge['stage']}" if judge.get("stage") else ""),
            "model": judge.get("model"),
            "model_reported": _some(judge.get("model_reported")),
            "fingerprints": _some(judge.get("fingerprints")),
            "endpoint": judge.get("endpoint"),
            "reply_mode": _some(judge.get("reply_mode")).replace("_", " "),
            "prompt_sha": _some(judge.get("prompt_sha")),
        }
        for judge in [*listed, *(run.facts.get("stage_judges") or [])]
    ]
    columns = filled([Column(key=key, label=text) for key, text in _JUDGE.items()], rows)
    if {c.key for c in columns} <= {"name", "model"} and all(
        r["model"] in {None, r["name"]} for r in rows
    ):
        return Markdown("Only the judges' names are known.")
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        caption=(
            "The judges, as the file names them."
            if run.records.kind == "audit"
            else "The judges, as asked for and as their servers reported themselves."
        )
        + (
            " Prompts are named by the hash of their text, which is in the appendix."
            if run.prompts
            else ""
        ),
        label="tbl-judges",
    )


_JUDGE = {
    "name": "Judge",
    "model": "Model asked for",
    "model_reported": "Model reported",
    "fingerprints": "Fingerprint",
    "endpoint": "Endpoint",
    "reply_mode": "Reply by",
    "prompt_sha": "Prompt",
}


def _some(values: Sequence[object] | None) -> str:
    """The first few of some names."""
    names = list(map(str, values or []))
    more = f" and {len(names) - _FEW_LEVELS} more" if len(names) > _FEW_LEVELS else ""
    return ", ".join(names[:_FEW_LEVELS]) + more


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
        stages = [
            asked["stages"][sha] for asked in run.sample_prompts if sha in asked.get("stages", {})
        ]
        own = stages or [asked for asked in run.sample_prompts if asked["templates"][-1:] == [sha]]
        calls = stages or [asked for asked in run.sample_prompts if sha in asked["templates"]]
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
            parts.append(f"{factor.replace('_', ' ')} {_some(levels)}")
    return f", {'; '.join(parts)}" if parts else ""


_FEW_LEVELS = 4
"""Levels that a prompt's heading names."""
