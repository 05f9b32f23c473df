"""Checklist, and the methods as a document."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError, guard_output
from judgestats.reporting.document import escape_markdown
from judgestats.reporting.pandoc import to_document
from judgestats.reporting.runs import Run
from judgestats.reporting.writing_up.paragraph import dates_of, judgments_of, methods_text
from judgestats.results.records import Estimate, Test


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


_Look = Callable[[Run, "pd.DataFrame | None"], str]


def _judges(run: Run, key: str) -> str:
    values = [str(v) for j in run.facts.get("judges") or () for v in _listed(j.get(key))]
    return ", ".join(dict.fromkeys(v for v in values if v))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _design(run: Run, *keys: str) -> str:
    design: Mapping[str, Any] = run.facts.get("design") or {}
    sentences = [f"{k} {design[k]}" for k in keys if design.get(k) not in (None, "", [], {})]
    return ", ".join(sentences)


def _estimates(run: Run, *names: str) -> str:
    """Which estimates with an interval the run has, of those named."""
    by_name = {e.estimand for e in run.records.select(Estimate) if e.interval is not None}
    return ", ".join(n for n in names if n in by_name)


def _unparsed_count(_: Run, frame: pd.DataFrame | None) -> str:
    if frame is None or not len(frame):
        return ""
    unread = int((frame["status"] != "ok").sum())
    return f"{unread} of {len(frame)} judgments"


def _people(run: Run, _: pd.DataFrame | None) -> str:
    stems = sorted({e.id.partition(".")[0] for e in run.records.select(Estimate)})
    return ", ".join(s for s in stems if s in {"people", "validity", "alignment", "agreement"})


def _real_answers(run: Run, _: pd.DataFrame | None) -> str:
    return "" if run.all_simulated else _judges(run, "fingerprints") or _judges(run, "endpoint")


def _plan(run: Run, key: str) -> str:
    return str(run.plan.get(key) or "")[:120]


_TESTS = "family and adjustment are declared"
_ASKED: tuple[tuple[str, str, _Look, str], ...] = (
    ("The judge: model and version", "GRRAS 2; LLM: model version",
     lambda r, _: _judges(r, "model_reported") or _judges(r, "model"),
     "name the model with its version as the provider states it"),
    ("Where it was served, and which build", "LLM: model version",
     _real_answers, "say where the judge was served; a simulated judge is none"),
    ("When it was asked", "LLM: model version", lambda _, f: dates_of(f),
     "give the days on which the judgments were made"),
    ("Settings of the request", "LLM: model version",
     lambda r, _: _design(r, "temperatures", "settings"), "give temperature and limits"),
    ("The prompts, whole", "LLM: design", lambda r, _: _judges(r, "prompt_sha"),
     "print every prompt template in the supplement"),
    ("What was judged, and how it was chosen", "GRRAS 3, 7",
     lambda r, _: _design(r, "item_source"), "say where questions and answers come from"),
    ("How many items, questions, judges, repetitions", "GRRAS 6, 11",
     lambda r, _: _design(r, "items", "clusters", "replicates"), "give the numbers"),
    ("Why that many", "GRRAS 6", lambda *_: "",
     "say how the size was chosen (judgestats.stats.plan_study, judgestats labels plan)"),
    ("Were repetitions made anew, not copied", "GRRAS 9",
     lambda r, _: _design(r, "choices_per_request"),
     "say whether each repetition was a request of its own"),
    ("Replies that could not be read, and what was done", "GRRAS 8; LLM: traces", _unparsed_count,
     "give the share of unread replies by condition"),
    ("The tests, declared before the data", "GRRAS 10",
     lambda r, _: _TESTS if r.plan.get("hypotheses") else "", "say which tests were planned"),
    ("Dependence between items of one question", "GRRAS 10", lambda r, _: _plan(r, "blocks"),
     "say what is taken to be independent"),
    ("Reliability with its uncertainty", "GRRAS 13",
     lambda r, _: _estimates(r, "icc_1_1", "icc_3_k", "omega", "krippendorff_alpha",
                             "fleiss_kappa", "flip_rate", "grade_score"),
     "report a reliability with an interval (judge several times)"),
    ("The typical error of one judgment, in the scale's units", "GRRAS 13",
     lambda r, _: _estimates(r, "sd_repeated", "sem", "mean_absolute_deviation"),
     "report the standard error of measurement"),
    ("Every p-value, not only small ones", "GRRAS 13",
     lambda r, _: "tables/results.csv" if any(True for _ in r.records.select(Test)) else "",
     "report all tests"),
    ("Agreement with people, and who they are", "LLM: human validation", _people,
     "validate the judge on people's labels (judgestats labels), and describe the people"),
    ("An open model beside the closed one", "LLM: open model", lambda *_: "",
     "judge with an open model too, or say why not"),
    ("What the results mean for use", "GRRAS 14",
     lambda r, _: r.records.recommendation.text if r.records.recommendation else "",
     "discuss the practical relevance"),
    ("Raw judgments", "GRRAS 15; LLM: traces",
     lambda _, f: "data/judgments.parquet" if f is not None else "", "publish the judgments"),
    ("Versions of the software", "LLM: traces",
     lambda r, _: f"judgestats {(r.session or {}).get('judgestats')}" if r.session else "",
     "give the versions"),
)  # fmt: skip


def checklist(run: Run) -> tuple[Entry, ...]:
    """What is to be reported of a run, and what of it the run says.

    Parameters
    ----------
    run : Run

    Returns
    -------
    tuple of Entry
    """
    frame = judgments_of(run)
    entries = []
    for what, source, look, add in _ASKED:
        entry = look(run, frame)
        entries.append(
            Entry(what=what, source=source, reported=bool(entry), where=entry or f"missing: {add}")
        )
    return tuple(entries)


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
    with tempfile.TemporaryDirectory(prefix="judgestats-") as scratch:
        work = Path(scratch)
        shutil.copyfile(bibliography, work / "references.bib")
        made = work / f"methods.{kind}"
        to_document(
            methods_document(run), to=kind, header={"bibliography": "references.bib"},
            work_dir=work, output=made, epoch=0,
        )  # fmt: skip
        with guard_output(output):
            shutil.copyfile(made, output)
