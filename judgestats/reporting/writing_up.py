"""What a paper says of a run: a paragraph of methods, and a checklist of what is reported."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.columns import as_text
from judgestats.deadlines import scratch_folder
from judgestats.errors import InputError, guard_output
from judgestats.reporting.pandoc import to_document
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.closing import methods as measures
from judgestats.reporting.sections.design import plan_sentences
from judgestats.results import Estimate, Requirement, Test, Verdict
from judgestats.results.numbers import apa_number, count_noun
from judgestats.results.purposes import threshold_text
from judgestats.results.verdict_screen import number_text, subject_names
from judgestats.sinks import escape_markdown

Write = Callable[[str], str]


def methods_text(run: Run, write: Write = str) -> str:
    """The methods of a run, with citations of `references.bib`.

    Everything is read from the run: what it does not say is left out, and the checklist names it.

    Parameters
    ----------
    run : Run
    write : function
        Writes what others wrote (names, plans) in the form wanted, as `escape_markdown` does.

    Returns
    -------
    str
    """
    parts = [submission_paragraph(run, write) or _assessed(run, write)]
    parts += [_design(run, write), _judges(run, write), _prompts(run), _judging(run, write)]
    told = measures(run, advised=False, roles=_TOLD, write=write)
    parts += [_tests(run, write), told.text, _software(run)]
    return "\n\n".join(filter(None, parts)) + "\n"


_MOST_VERDICTS = 4


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
    shown = verdicts[:_MOST_VERDICTS]
    sentences = [
        _assessed(run, write), _label_counts(run), _rule(verdicts),
        *(_result(v, names[v.subject.label]) for v in shown),
    ]  # fmt: skip
    if len(verdicts) > _MOST_VERDICTS:
        more = len(verdicts) - _MOST_VERDICTS
        sentences.append(f"Results for {more} further conditions are in the supplement.")
    careful = dict.fromkeys(
        c.text for v in shown for c in v.caveats if c.severity != "minor" or c.code == "t0_left_out"
    )
    if careful:
        sentences.append(f"Limitations: {' '.join(write(text) for text in careful)}")
    version = run.session.get("judgestats")
    if version:
        sentences.append(f"Analyses used judgestats {version}.")
    return " ".join(filter(None, sentences))


def _series(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    *first, last = parts
    return f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}"


def _assessed(run: Run, write: Write) -> str:
    design = run.design
    judges = list(dict.fromkeys(c.judge for c in run.records.conditions if c.judge))
    who = "one LLM judge" if len(judges) == 1 else f"{len(judges)} LLM judges"
    named = f" ({_series([write(j) for j in judges])})" if 0 < len(judges) <= 6 else ""
    simulated = "simulated " if run.all_simulated else ""
    n, clusters = design.get("items"), design.get("clusters")
    sample = count_noun(int(n), "item", "items") if n else "the items"
    if n and clusters and clusters != n:
        sample += f" in {count_noun(int(clusters), 'cluster', 'clusters')}"
    repeats = design.get("replicates")
    again = f", with {repeats} repeats per item" if repeats and int(repeats) > 1 else ", once each"
    return f"We assessed {who.replace('LLM', f'{simulated}LLM')}{named} on {sample}{again}."


def _label_counts(run: Run) -> str:
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
    wanted = _series([f"{_noun(r.label)} {threshold_text(r)}" for r in asked.values()])
    levels = verdicts[0].levels
    use, fail = (apa_number(x, digits=3, bounded=True) for x in (levels.use, levels.do_not_use))
    shared = f" Levels are Bonferroni-adjusted for {levels.judges} verdicts."
    shared *= levels.judges > 1
    return (
        f"We required {wanted}. A requirement was met if the confidence limit on its unfavourable "
        f"side reached the threshold (one-sided level {use}). It failed if the limit on its "
        f"favourable side did not (level {fail}). Otherwise it was inconclusive.{shared}"
    )


def _noun(label: str) -> str:
    """A label within a sentence: flip rate, but TPR and Kendall's tau-b."""
    first = label.partition(" ")[0]
    return label if "'" in first or not first[1:].islower() else label[0].lower() + label[1:]


def _result(verdict: Verdict, name: str) -> str:
    told = []
    for r in verdict.requirements:
        if r.status != "not_measured" and math.isfinite(r.estimate):
            number, _, interval = number_text(r).partition(" ")
            interval = f", 95% CI {interval}" if interval else ""
            told.append(f"{_noun(r.label)} = {number}{interval}")
    if not told:
        return f"For {name}, no required quantity was measured."
    by_status = {
        status: [_noun(r.label) for r in verdict.requirements if r.status == status]
        for status in ("fails", "open")
    }
    if by_status["fails"]:
        failed = by_status["fails"]
        outcome = f"the requirement{'s' * (len(failed) > 1)} on {_series(failed)} failed"
    elif by_status["open"]:
        outcome = f"the result for {_series(by_status['open'])} was inconclusive"
    else:
        outcome = "all measured requirements were met"
    return f"For {name}, {'; '.join(told)}: {outcome}."


def _days(run: Run) -> str:
    """The days on which judgments were asked for; empty where no row says."""
    frame = run.judgments
    if "asked_at" not in frame:
        return ""
    asked = pd.to_datetime(frame["asked_at"], utc=True, errors="coerce", format="ISO8601").dropna()
    if asked.empty:
        return ""
    first, last = (f"{d.date():%Y-%m-%d}" for d in (asked.min(), asked.max()))
    return first if first == last else f"{first} to {last}"


def _design(run: Run, write: Write) -> str:
    design = run.design
    asked = write(run.records.question)
    sentences = [f"**Design.** Question: {asked}" if asked else "**Design.**"]
    if source := design.get("item_source"):
        named = "the bundled bank of judgestats" if source == "bank" else write(str(source))
        sentences.append(f"The items came from {named}.")
    conditions = [write(str(c)) for c in design.get("conditions") or ()]
    if conditions:
        listed = f": {'; '.join(conditions)}" if len(conditions) <= 12 else ""
        n = count_noun(len(conditions), "condition", "conditions")
        sentences.append(f"There {'was' if len(conditions) == 1 else 'were'} {n}{listed}.")
    if run.records.kind == "experiment" and int(design.get("replicates") or 1) > 1:
        together = int(design.get("choices_per_request") or 1)
        sentences.append(
            "Every repeat was a new request."
            if together == 1
            else f"A request asked for up to {together} repeats of an item."
        )
    if scale := design.get("scale"):
        sentences.append(f"The scale ran from {scale[0]:g} to {scale[1]:g}.")
    if wording := design.get("wording"):
        sentences.append(write(str(wording)))
    return " ".join(sentences)


def _judges(run: Run, write: Write) -> str:
    listed = []
    for judge in run.facts.get("judges") or ():
        name, model = str(judge.get("name", "")), str(judge.get("model", ""))
        notes = [f"model `{_plain(model)}`"] if model and model != name else []
        if judge.get("simulated"):
            notes.append("simulated: no model was asked")
        reported = [str(r) for r in judge.get("model_reported") or () if str(r) not in {"", model}]
        if reported:
            notes.append(f"answering as {', '.join(f'`{_plain(r)}`' for r in reported)}")
        if endpoint := judge.get("endpoint"):
            notes.append(f"at {write(str(endpoint))}" if "://" in endpoint else endpoint)
        modes = [
            str(m).replace("json_schema", "JSON schema") for m in judge.get("reply_mode") or ()
        ]
        if modes:
            notes.append(f"replies asked for as {', '.join(modes).replace('_', ' ')}")
        inside = f" ({'; '.join(notes)})" if notes else ""
        listed.append(f"`{_plain(name)}`{inside}")
    if not listed:
        return ""
    design = run.design
    heats = [t for t in design.get("temperatures") or () if t is not None]
    sentences = [f"**Judges.** {'; '.join(listed)}."]
    if heats:
        sentences.append(f"Sampling temperature: {_series([f'{t:g}' for t in heats])}.")
    if settings := design.get("settings"):
        sentences.append(
            "Further settings: "
            + ", ".join(f"{write(k)} = {as_text(v)}" for k, v in settings.items())
            + "."
        )
    if days := _days(run):
        sentences.append(f"They were asked on {days} (UTC).")
    return " ".join(sentences)


def _prompts(run: Run) -> str:
    shas = list(
        dict.fromkeys(s for j in run.facts.get("judges") or () for s in j.get("prompt_sha") or ())
    )
    if not shas:
        return ""
    named = _series([f"`{s}`" for s in shas])
    noun = "template" if len(shas) == 1 else "templates"
    return (
        f"**Prompts.** The prompt {noun} (SHA-256 beginning with {named}) "
        f"{'is' if len(shas) == 1 else 'are'} given in full in the supplement."
    )


def _judging(run: Run, write: Write) -> str:
    """How many judgments there are, what became of them, how unparsed ones are treated."""
    account, frame = run.facts.get("account") or {}, run.judgments
    sentences = []
    if len(frame):
        n, unread = len(frame), int((frame["status"] != "ok").sum())
        sentences.append(
            f"Of {n:,} judgments, {unread:,} ({100 * unread / n:.1f}%) gave no verdict that could "
            "be read."
            if unread
            else f"All {n:,} judgments gave a verdict that could be read."
        )
    if (left := run.plan.get("missing")) and sentences:
        sentences.append(write(str(left)))
    if account.get("cached"):
        sentences.append(
            f"{int(account['cached']):,} answers came from the journal of an earlier run."
        )
    return f"**Judgments.** {' '.join(sentences)}" if sentences else ""


_TOLD = ("primary", "secondary", "descriptive")


def _tests(run: Run, write: Write) -> str:
    declared = run.plan.get("hypotheses") or ()
    primary = [str(h.get("question") or "") for h in declared if h.get("role") == "primary"]
    named = "; ".join(write(text) for text in dict.fromkeys(filter(None, primary)))
    sentences = [f"Primary question: {named}"] if named else []
    sentences += plan_sentences(run, write, "blocks")
    if not sentences:
        return ""
    first = (
        "The plan was written down before the first call."
        if run.records.kind == "experiment"
        else "The tests follow from the kind of data; none was chosen by its outcome."
    )
    return f"**Tests.** {first} {' '.join(sentences)}"


def _software(run: Run) -> str:
    session = run.session
    packages = session.get("packages") or {}
    with_what = _series([f"{n} {v}" for n, v in packages.items()])
    version = session.get("judgestats")
    sentences = [
        f"**Software.** judgestats {version} on Python {session.get('python', '?')}, with "
        f"{with_what}."
        if version
        else ""
    ]
    if command := run.facts.get("command") or session.get("command"):
        sentences.append(f"Command: `{_plain(str(command))}`.")
    return " ".join(filter(None, sentences))


def _plain(text: str) -> str:
    """A text without backticks and line ends, for inline code."""
    return " ".join(text.replace("`", "'").split())


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing to report.

    Attributes
    ----------
    what : str
    source : str
        The guideline's item.
    reported : bool
        Whether the run says it.
    where : str
        What the run says; where it says nothing, what the author has to add.
    """

    what: str
    source: str
    reported: bool
    where: str


_Look = Callable[[Run], str]


def _judge_facts(run: Run, key: str) -> str:
    values = [str(v) for j in run.facts.get("judges") or () for v in _listed(j.get(key))]
    return ", ".join(dict.fromkeys(v for v in values if v))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _design_facts(run: Run, *keys: str) -> str:
    design: Mapping[str, Any] = run.facts.get("design") or {}
    sentences = [f"{k} {design[k]}" for k in keys if design.get(k) not in (None, "", [], {})]
    return ", ".join(sentences)


def _estimates(run: Run, *names: str) -> str:
    """Which estimates with an interval the run has, of those named."""
    by_name = {e.estimand for e in run.records.select(Estimate) if e.interval is not None}
    return ", ".join(n for n in names if n in by_name)


def _unparsed_count(run: Run) -> str:
    frame = run.judgments
    unread = int((frame["status"] != "ok").sum()) if len(frame) else 0
    return f"{unread} of {len(frame)} judgments" if len(frame) else ""


def _people(run: Run) -> str:
    stems = sorted({e.id.partition(".")[0] for e in run.records.select(Estimate)})
    return ", ".join(s for s in stems if s in {"people", "validity", "alignment", "agreement"})


def _real_answers(run: Run) -> str:
    if run.all_simulated:
        return ""
    return _judge_facts(run, "fingerprints") or _judge_facts(run, "endpoint")


_DECLARED = "family and adjustment are declared"
_ASKED: tuple[tuple[str, str, _Look, str], ...] = (
    ("The judge: model and version", "GRRAS 2; LLM: model version",
     lambda r: _judge_facts(r, "model_reported") or _judge_facts(r, "model"),
     "name the model with its version as the provider states it"),
    ("Where it was served, and which build", "LLM: model version",
     _real_answers, "say where the judge was served"),
    ("When it was asked", "LLM: model version", _days,
     "give the days on which the judgments were made"),
    ("Settings of the request", "LLM: model version",
     lambda r: _design_facts(r, "temperatures", "settings"), "give temperature and limits"),
    ("The prompts, whole", "LLM: design", lambda r: _judge_facts(r, "prompt_sha"),
     "print every prompt template in the supplement"),
    ("What was judged, and how it was chosen", "GRRAS 3, 7",
     lambda r: _design_facts(r, "item_source"), "say where questions and answers come from"),
    ("How many items, questions, judges, repetitions", "GRRAS 6, 11",
     lambda r: _design_facts(r, "items", "clusters", "replicates"), "give the numbers"),
    ("Why that many", "GRRAS 6", lambda _: "",
     "say how the size was chosen (judgestats labels plan)"),
    ("Were repeats new judgments, not copies", "GRRAS 9",
     lambda r: _design_facts(r, "choices_per_request"),
     "say whether each repeat was a separate request"),
    ("Replies that could not be read, and what was done", "GRRAS 8; LLM: traces", _unparsed_count,
     "give the share of unparsed replies by condition"),
    ("The tests, declared before the data", "GRRAS 10",
     lambda r: _DECLARED if r.plan.get("hypotheses") else "", "say which tests were planned"),
    ("Dependence between items of one question", "GRRAS 10",
     lambda r: str(r.plan.get("blocks") or ""), "say what is taken to be independent"),
    ("Reliability with its uncertainty", "GRRAS 13",
     lambda r: _estimates(r, "icc_1_1", "icc_3_k", "omega", "krippendorff_alpha",
                             "fleiss_kappa", "flip_rate", "grade_score"),
     "report a reliability with an interval (judge several times)"),
    ("The typical error of one judgment", "GRRAS 13",
     lambda r: _estimates(r, "sd_repeated", "sem", "mean_absolute_deviation", "flip_rate"),
     "report the standard error of measurement, or the flip rate of verdicts"),
    ("Every p-value, not only small ones", "GRRAS 13",
     lambda r: "results.csv" if any(True for _ in r.records.select(Test)) else "",
     "report all tests"),
    ("Agreement with human labels, and who gave them", "LLM: human validation", _people,
     "validate the judge on human labels (judgestats labels), and describe the raters"),
    ("An open model next to the closed one", "LLM: open model", lambda _: "",
     "judge with an open model too, or say why not"),
    ("What the results mean for use", "GRRAS 14",
     lambda r: ", ".join(
         f"{n} × {outcome.replace('_', ' ')}"
         for outcome, n in Counter(v.outcome for v in r.records.verdicts).items()
     ),
     "discuss the practical relevance"),
    ("Raw judgments", "GRRAS 15; LLM: traces",
     lambda r: "data/judgments.parquet" if len(r.judgments) else "", "publish the judgments"),
    ("Versions of the software", "LLM: traces",
     lambda r: f"judgestats {r.session.get('judgestats')}" if r.session else "",
     "give the versions"),
)  # fmt: skip


def checklist(run: Run) -> tuple[Entry, ...]:
    """The reporting checklist of a run, and the parts of it that the run answers.

    Parameters
    ----------
    run : Run

    Returns
    -------
    tuple of Entry
    """
    answers = [(what, source, look(run), add) for what, source, look, add in _ASKED]
    return tuple(
        Entry(what=what, source=source, reported=bool(found), where=found or f"missing: {add}")
        for what, source, found, add in answers
    )


FORMATS = ("md", "tex", "docx")
_SOURCES = (
    "GRRAS: the guidelines for reporting reliability and agreement studies [@kottner2011]; LLM: "
    "the guidelines for empirical studies that use LLMs [@baltes2025]. An entry is reported where "
    "the run says it; whether the paper does is the author's part."
)


def methods_document(run: Run) -> str:
    """Methods and checklist as one Markdown text with citations.

    Parameters
    ----------
    run : Run

    Returns
    -------
    str
    """
    entries = checklist(run)
    rows = [
        f"| {'reported' if e.reported else '**missing**'} | {escape_markdown(e.what)} "
        f"| {escape_markdown(e.where.removeprefix('missing: '))} | {e.source} |"
        for e in entries
    ]
    n_reported = sum(e.reported for e in entries)
    return "\n".join(
        [
            "# Methods {.unnumbered}",
            "",
            methods_text(run, escape_markdown),
            "# Reporting checklist {.unnumbered}",
            "",
            f"{n_reported} of {len(entries)} entries are in the run. {_SOURCES}",
            "",
            "| | what | where, or what to add | source |",
            "|:---|:-------------|:------------------------|:------|",
            *rows,
            "",
            "# References {.unnumbered}",
            "",
        ]
    )


def write_methods(run: Run, output: Path, *, bibliography: Path) -> None:
    """Write methods and checklist with their references.

    Parameters
    ----------
    run : Run
    output : path
        Its suffix names the format: ``.md``, ``.tex`` or ``.docx``.
    bibliography : path
        A file with the sources (BibTeX).

    Raises
    ------
    InputError
        Another suffix, or a folder that is not there.
    """
    kind = output.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        listed = ", ".join(f".{f}" for f in FORMATS)
        raise InputError(f"methods: --out {output.name}: expected a file that ends in {listed}.")
    if not output.parent.is_dir():
        raise InputError(f"methods: --out: there is no folder {output.parent}.")
    with scratch_folder() as scratch:
        work = Path(scratch)
        shutil.copyfile(bibliography, work / "references.bib")
        made = work / f"methods.{kind}"
        to_document(
            methods_document(run), to=kind, header={"bibliography": "references.bib"},
            work_dir=work, output=made, epoch=0,
        )  # fmt: skip
        with guard_output(output):
            shutil.copyfile(made, output)
