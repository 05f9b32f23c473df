"""What a notebook gets: a short line, tidy results, figures that draw themselves, one HTML page."""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.analysis.records import Analysis
from judgestats.reporting.plots.base import Figure
from judgestats.reporting.runs import Run
from judgestats.reporting.sections import answer, compare, data, figures
from judgestats.reporting.sections.compare import Pair
from judgestats.reporting.tables import Captioned, Table
from judgestats.results import Headline, Results, Verdict
from judgestats.results.change_screen import change_screen, outcome_lines
from judgestats.results.results import results_frame
from judgestats.results.screen import WIDTH, Lines, plain_text
from judgestats.sinks import escape_html

_FIGURES = (
    figures.scores,
    figures.null_strip,
    figures.mean_against_spread,
    answer.answer_figure,
)
_STYLE = (
    "<style>.judgestats th, .judgestats td {padding: 2px 9px; white-space: nowrap; "
    "text-align: right} .judgestats .text {text-align: left} .judgestats caption "
    "{text-align: left; padding: 6px 9px}</style>"
)
_SHOWN = 4
"""Figures that a page shows; all are among `Findings.figures`."""


@dataclass(frozen=True, kw_only=True)
class MemoryRun(Run):
    """A run that lies in memory: nothing of it was written, and no folder is looked into."""

    held: pd.DataFrame
    at_level: float = 0.95
    folder: Path = field(default_factory=Path)

    @cached_property
    def judgments(self) -> pd.DataFrame:
        """The parsed judgments."""
        return self.held

    @cached_property
    def items(self) -> tuple[dict[str, Any], ...]:
        """None: judgments that were made elsewhere come without what was judged."""
        return ()

    @cached_property
    def prompts(self) -> dict[str, str]:
        """None, likewise."""
        return {}

    def _json(self, name: str) -> dict[str, Any]:
        return {"level": self.at_level} if name == "plan.json" else {}


class Figures(Mapping[str, Figure]):
    """The figures of an answer by name; a notebook shows them, and each has ``save(path)``.

    Examples
    --------
    >>> Figures(())
    no figures
    """

    def __init__(self, drawn: Sequence[Captioned]) -> None:
        self._drawn = {one.label.removeprefix("fig-"): one for one in drawn}

    def __getitem__(self, name: str) -> Figure:
        if name not in self._drawn:
            raise KeyError(f"no figure is called {name!r}. There are: {', '.join(self._drawn)}")
        return self._drawn[name].figure

    def __iter__(self) -> Iterator[str]:
        return iter(self._drawn)

    def __len__(self) -> int:
        return len(self._drawn)

    def __repr__(self) -> str:
        return f"{len(self)} figures: {', '.join(self)}" if self else "no figures"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _repr_html_(self) -> str:
        return self.html()

    def html(self, most: int | None = None) -> str:
        """The figures as pictures within the page, with their captions."""
        return "".join(_pictured(one) for one in list(self._drawn.values())[:most])


def _pictured(one: Captioned) -> str:
    picture = base64.b64encode(one.figure._repr_png_()).decode("ascii")
    alt, caption = escape_html(one.figure.alt), escape_html(one.caption)
    return (
        f'<figure style="margin:1em 0"><img alt="{alt}" style="max-width:100%" '
        f'src="data:image/png;base64,{picture}"><figcaption>{caption}</figcaption></figure>'
    )


def figures_of(run: Run) -> Figures:
    """All figures that a run's report could show, made but not yet drawn."""
    parts = [*(make(run) for make in _FIGURES), *figures.compared(run)]
    return Figures([part for part in parts if part is not None])


class Findings:
    """The answer of `judgestats.audit`, `judgestats.drift` and `judgestats.run`.

    ``print`` gives the whole summary, a notebook shows tables and figures, and a bare line at the
    prompt is short.

    Attributes
    ----------
    analysis : Analysis
        What was computed; ``analysis[ID]`` is one result of `judgestats.stats`.
    run : Run
        The run that it makes, or made.
    run_id : str
        Of the MLflow run; empty if nothing was logged.
    reports : mapping of format to path or name
    """

    def __init__(
        self,
        analysis: Analysis,
        run: Run | Callable[[], Run],
        *,
        run_id: str = "",
        reports: Mapping[str, Path | str] | None = None,
    ) -> None:
        self.analysis = analysis
        self.run_id = run_id
        self.reports = dict(reports or {})
        self._made = run

    @cached_property
    def run(self) -> Run:
        """The run behind the answer."""
        return self._made if isinstance(self._made, Run) else self._made()

    @property
    def conditions(self) -> pd.DataFrame:
        """One row per condition."""
        return self.analysis.conditions

    @property
    def sentence(self) -> str:
        """The outcomes, a sentence each, and next to verdicts the finding."""
        records = self.run.records
        found = [records.finding] if records.verdicts else []
        return " ".join([*outcome_lines(records), *found]).strip()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """May each judge be used? See ``docs/verdict.md``."""
        return self.run.records.verdicts

    @property
    def _answer(self) -> str:
        """The outcomes, a line each."""
        return "\n".join(outcome_lines(self.run.records))

    @property
    def question(self) -> str:
        """What was understood, and what was asked."""
        return self.analysis.question

    @property
    def limitations(self) -> tuple[str, ...]:
        """What limits the answer."""
        return self.analysis.limitations

    @property
    def headlines(self) -> tuple[Headline, ...]:
        """What is claimed."""
        return self.analysis.headlines

    @cached_property
    def results(self) -> pd.DataFrame:
        """One row an estimate, test or comparison: what ``results.csv`` of the run holds."""
        return results_frame(self.run.records)

    @cached_property
    def figures(self) -> Figures:
        """The figures by name."""
        return figures_of(self.run)

    def records(self) -> Results:
        """Everything as records: what ``results.json`` of the run holds."""
        return self.run.records

    def __getitem__(self, result_id: str) -> Any:
        return self.analysis[result_id]

    def __repr__(self) -> str:
        n = len(self.conditions)
        what = f"{self.analysis.experiment}: {n} condition{'s' * (n != 1)}"
        first = self._answer.partition("\n")[0]
        return f"<{what}. {_short(first)} (print it for all; .results, .figures)>"

    def __str__(self) -> str:
        return f"{self._answer}\n\n{self.analysis}"

    def __dir__(self) -> list[str]:
        return public_names(self)

    def _repr_html_(self) -> str:
        tables = data.descriptives(self.run)
        return page(self.question, self._answer, tables, self.figures, self.limitations)


class Compared:
    """The answer of `judgestats.compare`: several runs, files or frames, compared with the first.

    Attributes
    ----------
    names : tuple of str
    runs : tuple of Run
    pairs : tuple of Pair
        Each later run compared with the first, on the items that both judged.
    """

    def __init__(self, names: Sequence[str], runs: Sequence[Run], pairs: Sequence[Pair]) -> None:
        self.names = tuple(names)
        self.runs = tuple(runs)
        self.pairs = tuple(pairs)

    @property
    def question(self) -> str:
        """What was asked, and which run is which."""
        listed = "; ".join(f"Run {i} = {name}" for i, name in enumerate(self.names, start=1))
        return f"What differs between the runs? {listed}."

    @property
    def sentence(self) -> str:
        """The outcome of each later run, and what changed."""
        return " ".join(pair.sentence for pair in self.pairs)

    @property
    def differences(self) -> pd.DataFrame:
        """The parameters in which the runs differ, a column per run."""
        table = compare.differences(self.runs)
        rows = table.rows if isinstance(table, Table) else ()
        return pd.DataFrame([{k: str(v) for k, v in row.items()} for row in rows])

    @property
    def conditions(self) -> pd.DataFrame:
        """One row per run and condition, each on its own items."""
        return _stack_frames(
            (name, run.conditions) for name, run in zip(self.names, self.runs, strict=True)
        )

    @property
    def results(self) -> pd.DataFrame:
        """One row an estimate, test or comparison of a later run with the first."""
        return _stack_frames(
            (self.names[pair.number - 1], results_frame(pair.comparison))
            for pair in self.pairs
            if pair.comparison is not None
        )

    @cached_property
    def figures(self) -> Figures:
        """The shifts of the mean, where scores were compared."""
        figure = compare.shifts(self.pairs)
        return Figures([figure] if figure is not None else [])

    def __repr__(self) -> str:
        sentence = _short(self.sentence)
        return (
            f"<{len(self.runs)} runs compared. {sentence} (print it for all; .results, .figures)>"
        )

    def __str__(self) -> str:
        return plain_text(self.screen())

    def screen(self, *, width: int = WIDTH, more: str = "") -> Lines:
        """The first screen: outcome, what differs, changes, and care.

        Parameters
        ----------
        width : int
        more : str
            The command that shows everything.
        """
        first, *later = self.names
        found = {
            later[pair.number - 2]: pair.refused if pair.comparison is None else pair.comparison
            for pair in self.pairs
        }
        facts = [run.facts for run in self.runs]
        title = f"{first} to {', '.join(later)}"
        return change_screen(found, runs=facts, title=title, width=width, more=more)

    def __dir__(self) -> list[str]:
        return public_names(self)

    def _tables(self) -> list[Table]:
        held = [pair.table for pair in self.pairs if pair.comparison is not None]
        return [t for t in (compare.conditions(self.runs), *held) if t is not None]

    def _repr_html_(self) -> str:
        return page(self.question, self.sentence, self._tables(), self.figures)


def _short(text: str) -> str:
    return textwrap.shorten(text, 120, placeholder=" ...")


def _stack_frames(parts: Iterable[tuple[str, pd.DataFrame]]) -> pd.DataFrame:
    """Frames below one another, with the run that each row is of in front."""
    held = [frame.assign(run=name) for name, frame in parts]
    if not held:
        return pd.DataFrame()
    whole = pd.DataFrame([row for frame in held for row in frame.to_dict("records")])
    return whole[["run", *[c for c in whole.columns if c != "run"]]]


def public_names(thing: object) -> list[str]:
    """What tab completion offers."""
    return sorted(n for n in {*vars(thing), *vars(type(thing))} if not n.startswith("_"))


def page(
    question: str,
    answer: str,
    tables: Sequence[Table],
    drawn: Figures,
    limits: Sequence[str] = (),
) -> str:
    """An answer as HTML: nothing in it can run or load anything."""
    parts = [
        _STYLE,
        f"<p>{escape_html(question)}</p>",
        *(f"<p><strong>{escape_html(line)}</strong></p>" for line in answer.split("\n")),
    ]
    parts += [f'<div style="overflow-x:auto">{table.to_html()}</div>' for table in tables]
    parts.append(drawn.html(_SHOWN))
    if len(drawn) > _SHOWN:
        parts.append(f"<p>Further figures: {escape_html(', '.join(list(drawn)[_SHOWN:]))}</p>")
    if limits:
        entries = "".join(f"<li>{escape_html(text)}</li>" for text in limits)
        parts.append(
            f"<details><summary>Limits of these data</summary><ul>{entries}</ul></details>"
        )
    return '<div class="judgestats">' + "\n".join(parts) + "</div>"
