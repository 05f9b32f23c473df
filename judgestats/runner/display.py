"""Output of a run on the terminal."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from judgestats.deadlines import announce_late
from judgestats.errors import printable
from judgestats.results import Results, plain, screen, to_plain
from judgestats.results.change_screen import change_screen, outcome_lines, study_screen
from judgestats.results.decisions import DecisionOptions, verdicts_of
from judgestats.results.purposes import read_requirements
from judgestats.results.verdict import SCHEMA, summary_of
from judgestats.results.verdict_screen import finding_of, verdict_screen
from judgestats.terminal import as_typed, can_show, emit, is_terminal

if TYPE_CHECKING:
    from judgestats.collection.spec import JudgeSpec
    from judgestats.tracking.store import Store


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """How to show results (a screen, in full, or as JSON), and the requirements on them.

    `required` are requirements as they were typed, ``icc_1_1=.8``.
    """

    form: Literal["screen", "full", "json"] = "full"
    required: tuple[str, ...] = ()


_SHOWN_AS: ContextVar[OutputOptions | None] = ContextVar("shown_as", default=None)


def output_options() -> OutputOptions:
    """What the user asked for; in full where nobody did."""
    return _SHOWN_AS.get() or OutputOptions()


def parse_output_options(arguments: Any) -> OutputOptions:
    """What the options ``--all``, ``--json`` and ``--require`` of a command say.

    Raises
    ------
    InputError
        A bound that can be read by its name alone is wrong, before anything is read or asked.
    """
    form: Literal["screen", "full", "json"] = "screen"
    if arguments.json:
        form = "json"
    elif arguments.all:
        form = "full"
    required = tuple(getattr(arguments, "require", ()))
    if required:
        read_requirements(required)
    return OutputOptions(form=form, required=required)


def output_parameters() -> dict[str, str]:
    """How results are shown, and the requirements on them, as a run records it."""
    chosen = output_options()
    return {
        "all": str(chosen.form == "full").lower(),
        "json": str(chosen.form == "json").lower(),
        "require": ", ".join(chosen.required) or "default",
    }


@contextmanager
def use_output(chosen: OutputOptions) -> Iterator[None]:
    """Show results so while a command works."""
    token = _SHOWN_AS.set(chosen)
    try:
        yield
    finally:
        _SHOWN_AS.reset(token)


def print_result(*lines: str) -> None:
    """Print lines on standard output at once, so that they stay in order with the progress bar.

    Names of items, conditions and judges come from files: they must not move the cursor. Where
    standard output is for one JSON document, standard error.
    """
    _print(lines, error=output_options().form == "json")


def print_status(*lines: str) -> None:
    """Print messages during the work: on standard error, unless everything is shown.

    All that matters is in the results too, so that a screen loses nothing.
    """
    _print(lines, error=output_options().form != "full")


def print_verbose(*lines: str) -> None:
    """Print what only those want who asked for everything."""
    if output_options().form == "full":
        print_result(*lines)


def _print(lines: Sequence[str], *, error: bool) -> None:
    emit(printable(as_typed("\n".join(lines))) + "\n", error=error)


def judges_lines(specs: Mapping[str, JudgeSpec]) -> list[str]:
    """Which judges are used, that simulated ones are simulated, and how to use a real one."""
    lines = ["Judges:"]
    for name, spec in specs.items():
        at = "" if spec.in_process or spec.simulated else "at "
        lines.append(f"  {name}  ({at}{spec.location})")
    simulated = [name for name, s in specs.items() if s.simulated]
    if simulated:
        whole = len(simulated) == len(specs)
        which = "These judges are" if whole else f"{', '.join(simulated)}:"
        lines += [
            "",
            f"  {which} SIMULATED: no model was asked{', nothing was paid' * whole}.",
            "  The numbers show what judgestats reports, not how any real judge behaves.",
            "  For a real judge:",
            "    export OPENAI_API_KEY=...   and add   judges=gpt-4o-mini",
            "    base_url=http://localhost:8000/v1 judges=MODEL   for any OpenAI-compatible",
            "    server: vLLM, Ollama, llama.cpp, LM Studio",
        ]
    return [*lines, ""]


def judges_line(specs: Mapping[str, JudgeSpec]) -> str:
    """Which judges are asked, in one line.

    Examples
    --------
    >>> from judgestats.collection.spec import parse_judge
    >>> judges_line({"sim-typical": parse_judge("sim-typical")})
    'Judging: sim-typical (SIMULATED)'
    """
    named = [f"{name} ({s.location})" for name, s in specs.items()]
    more = f" and {len(named) - 4} more" if len(named) > 4 else ""
    return f"Judging: {', '.join(named[:4])}{more}"


def account_lines(
    account: Mapping[str, Any], *, unknown_price: bool, what: str = "judgments"
) -> list[str]:
    """What was asked, answered, found in the journal, and paid."""
    from judgestats.collection.account import token_parts  # not for files of judgments

    spent = account["cost_usd"] + account["cost_in_vain_usd"]
    cost = f"${spent:.4f}"
    if unknown_price and account.get("cost_estimated_usd"):
        cost = f"about ${spent + account['cost_estimated_usd']:.4f}, partly estimated"
    elif unknown_price:
        cost = f"{cost} and what models of unknown price cost" if spent else "unknown"
    parts = [
        f"{account['asked']} {what} asked",
        f"{account['answered']} answered",
        f"{account['failed']} failed",
        f"{account['cached']} taken from the journal",
        f"{account['requests']} requests",
        f"{account['tokens_in']:.0f} + {account['tokens_out']:.0f} tokens{token_parts(account)}",
        f"cost {cost}",
    ]
    if account.get("invalid"):
        parts.append(f"{account['invalid']} not asked: the judge refuses the setting")
    if account.get("possibly_billed_twice"):
        parts.append(f"{account['possibly_billed_twice']} possibly billed twice")
    return [f"Account: {', '.join(parts)}.", ""]


def note_lines(notes: Sequence[str]) -> list[str]:
    """What the judges' servers had to say, and what was made of it; nothing where they did not.

    Examples
    --------
    >>> note_lines(())
    []
    >>> note_lines(["m: Unsupported parameter: 'seed' (asked without a seed)"])[0]
    'What the servers said:'
    """
    if not notes:
        return []
    more = [f"  and {len(notes) - _MOST_NOTES} more"] if len(notes) > _MOST_NOTES else []
    return ["What the servers said:", *(f"  {note}" for note in notes[:_MOST_NOTES]), *more, ""]


def notice_lines(notices: Sequence[str]) -> list[str]:
    """What a run leaves open by its design, before the first call; nothing where it does not.

    Examples
    --------
    >>> notice_lines(())
    []
    >>> notice_lines(["One scale: scales are not compared."])[0]
    'Note: One scale: scales are not compared.'
    """
    lines = [line for notice in notices for line in screen.wrapped(f"Note: {notice}")]
    return [*lines, ""] if lines else []


SHORT = 8
"""Characters of a run's id that name it."""
_MOST_NOTES = 12
_MOST_COMPARED = 40
_RUN_ID = re.compile(r"[0-9a-f]{32}")


def file_called(path: Path) -> str:
    """What a title calls a file or folder: its name, of a run's folder the id's beginning.

    Examples
    --------
    >>> file_called(Path("mlruns/1/62ed6b8a7cf14f2f81f3b819d295dcd5/artifacts"))
    '62ed6b8a'
    >>> file_called(Path("my.csv"))
    'my.csv'
    """
    path = path.resolve()
    name = path.parent.name if path.name == "artifacts" else path.name
    return name[:SHORT] if _RUN_ID.fullmatch(name) else name


def run_page(base: str, experiment_id: str, run_id: str) -> str:
    """The page of a run on a tracking server, among runs rather than traces.

    MLflow's pages begin with traces, whatever the kind of an experiment, unless a link asks for
    the other layout (seen in 3.17).

    Examples
    --------
    >>> run_page("http://h", "1", "d3fc")
    'http://h/#/experiments/1/runs/d3fc?workflowType=machine_learning'
    """
    return f"{base}/#/experiments/{experiment_id}/runs/{run_id}?workflowType=machine_learning"


def show_command(run_id: str) -> str:
    """The command that shows a run again, by the beginning of its id; all with ``--all``.

    Examples
    --------
    >>> show_command("d3fce2f6a0")
    'judgestats show d3fce2f6'
    """
    return f"judgestats show {run_id[:SHORT]}"


def ui_command(uri: str) -> str:
    """The command that opens a store in the browser.

    Examples
    --------
    >>> ui_command("sqlite:////data/runs.db")
    'mlflow ui --backend-store-uri sqlite:////data/runs.db'
    """
    own = Path(uri.removeprefix("sqlite:///")).resolve() == Path("mlflow.db").resolve()
    beside = uri.endswith("/mlflow.db") and own  # the default store of the current folder
    return "mlflow ui" if beside else f"mlflow ui --backend-store-uri {uri}"


def repeat_command(name: str, given: Mapping[str, str], *, mlflow: bool) -> str:
    """The command that repeats a run.

    Examples
    --------
    >>> repeat_command("temperature", {"repeats": "20"}, mlflow=True)
    'mlflow run . -e temperature -P repeats=20'
    >>> repeat_command("temperature", {"prompt": "my prompt.txt"}, mlflow=False)
    "judgestats run temperature --prompt 'my prompt.txt'"
    """
    if mlflow:
        words: Sequence[str] = [f"-P {shlex.quote(f'{k}={v}')}" for k, v in given.items()]
        return " ".join(["mlflow run . -e", name, *words])
    words = [f"--{k.replace('_', '-')} {shlex.quote(v)}" for k, v in given.items()]
    return " ".join(["judgestats run", name, *words])


_STYLES = {"bold": "1", "dim": "2", "good": "32", "bad": "31"}
_LATE_S = 2.0
"""Seconds before a progress message."""


@dataclass(frozen=True)
class Links:
    """Where a run's things are, for what is printed last.

    Parameters
    ----------
    run_id : str
    store : Store
    conditions : sequence of str
        Ids of the child runs.
    reports : mapping of format to path
    files : sequence of str
        Further files, as they should be named.
    has_judgments : bool
        Whether the run holds judgments, which `judgestats view` shows.
    """

    run_id: str
    store: Store
    _: KW_ONLY
    conditions: Sequence[str] = ()
    reports: Mapping[str, Path | str] = field(default_factory=dict)
    files: Sequence[str] = ()
    has_judgments: bool = True

    def full(self) -> list[str]:
        """All of them, one per line, with the page that compares the conditions."""
        experiment, uri = self.store.experiment_id, self.store.uri
        is_served = uri.startswith("http")
        base = uri.rstrip("/") if is_served else "http://127.0.0.1:5000"
        page = (
            f"{base}/#/experiments/{experiment}/runs"
            "?workflowType=machine_learning&compareRunsMode=CHART"
        )
        if 1 < len(self.conditions) <= _MOST_COMPARED:
            listed = quote(json.dumps(list(self.conditions), separators=(",", ":")), safe=",")
            page = f"{base}/#/compare-runs?runs={listed}&experiments=%5B%22{experiment}%22%5D"
        return [
            f"MLflow run {self.run_id} in experiment {self.store.experiment_name!r}",
            *([] if is_served else [f"  {ui_command(uri)}      then open:"]),
            f"  {page}",
            "  (the conditions side by side)",
            f"  {run_page(base, experiment, self.run_id)}",
            "  (this run, with the report under Artifacts)" if self.reports else "  (this run)",
            "",
            *(f"Report ({kind}): {path}" for kind, path in self.reports.items()),
            *(["Files:", *(f"  {name}" for name in self.files)] if self.files else []),
        ]

    def short(self) -> list[str]:
        """The commands and the page that come next."""
        command = show_command(self.run_id)
        if self.reports and self.has_judgments:  # the interactive page goes with a report
            command = f"{command} · judgestats view {self.run_id[:SHORT]}"
        if self.store.uri.startswith("http"):  # reports and files are on the run's page
            base, experiment = self.store.uri.rstrip("/"), self.store.experiment_id
            return [command, run_page(base, experiment, self.run_id)]
        beside = [*_paths(self.reports), *map(_from_here, self.files[:1])]
        return [command, ui_command(self.store.uri), *beside]


def _from_here(path: Path | str) -> str:
    """A path, relative where it is below the current folder."""
    whole = Path(path).resolve() if "://" not in str(path) else None
    if whole is not None and whole.is_relative_to(Path.cwd()):
        return str(whole.relative_to(Path.cwd()))
    return str(path)


def _paths(reports: Mapping[str, Path | str]) -> list[str]:
    """The first report, seen from here, and which others lie next to it."""
    if not reports:
        return []
    first, *others = reports.values()
    shown = _from_here(first)
    beside = [Path(str(path)).suffix for path in others]
    return [f"{shown} (and {', '.join(beside)})" if beside else shown]


def show(
    results: Results,
    *,
    first: Sequence[str] = (),
    more: str = "",
    following: Sequence[str] = (),
    linked: bool = False,
) -> None:
    """Print what was found, once its files are written.

    Parameters
    ----------
    results : Results
    first : sequence of str
        Lines that precede everything else where everything is shown.
    more : str
        The command that shows what a screen cuts.
    following : sequence of str
        What `finish` will be given, where that is known: the screen leaves space for it.
    linked : bool
        Whether `finish` will be given links as well, which take the lines left.
    """
    chosen = output_options()
    results = _required(results)
    if chosen.form == "full":
        print_result(*first, *outcome_lines(results), "", screen.full_text(results))
    elif chosen.form == "screen" and results.verdicts:
        width = screen_size()[0]
        reliability = screen.reliability_lines(results)
        after = len(screen.next_line(following, width))
        closing = (screen.NEXT if linked and following else max(after, 2)) + len(reliability)
        shown = verdict_screen(results, width=width, closing=closing, more=more)
        print_lines([*shown, *reliability])
    elif chosen.form == "screen" and results.kind == "drift":
        print_lines(change_screen({"": results}, width=screen_size()[0], more=more))
    elif chosen.form == "screen" and results.kind == "replication":
        print_lines(study_screen(results, width=screen_size()[0]))
    elif chosen.form == "screen":
        width = screen_size()[0]
        print_lines(verdict_screen(results, width=width, finding=results.finding, more=more))


def _required(results: Results) -> Results:
    """The results with verdicts on what the user requires, where that is stated."""
    required = output_options().required
    if not required:
        return results
    return replace(results, verdicts=verdicts_of(results, DecisionOptions(required=required)))


def finish(
    results: Results | None,
    links: Links | None = None,
    *,
    following: Sequence[str] = (),
    further: Mapping[str, Any] | None = None,
) -> None:
    """Print where things are and what comes next; or, for programs, the one JSON document.

    Parameters
    ----------
    results : Results or None
    links : Links, optional
        If nothing was logged there are none.
    following : sequence of str
        Commands that come next.
    further : mapping, optional
        What else the JSON document holds.
    """
    chosen = output_options()
    if chosen.form == "json":
        if results is not None:
            _json(results, links, further or {})
        return
    if chosen.form == "full":
        after = links.full() if links else ["Next:", *(f"  {part}" for part in following)]
        print_result(*(after if links or following else ()))
        return
    parts = [*following, *(links.short() if links else ())]
    if links is not None and results is not None and results.all_simulated:
        parts.append(as_typed("judges=gpt-4o-mini asks a real judge"))
    if parts:
        print_lines(screen.next_line(parts, screen_size()[0], screen.NEXT if following else 2))


def _json(results: Results, links: Links | None, further: Mapping[str, Any]) -> None:
    results = _required(results)
    document: dict[str, Any] = {
        **further,
        "schema": SCHEMA,
        "verdicts": plain(results.verdicts),
        "summary": plain(summary_of(results.verdicts, finding_of(results))),
        "brief": plain(screen.brief_of(results)),
        "reliability": plain([row._asdict() for row in screen.reliability_rows(results)]),
        "results": to_plain(results),
    }
    if links is not None:
        document["run_id"] = links.run_id
        document["reports"] = {kind: str(path) for kind, path in links.reports.items()}
    write_json(document)


def write_json(document: Mapping[str, Any]) -> None:
    """The one document of ``--json``; NaN is null."""
    values = plain(document)
    text = json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False)
    if not can_show(text):
        text = json.dumps(values, indent=1, allow_nan=False)
    emit(text + "\n")


def screen_size() -> tuple[int, int]:
    """Columns and lines of the screen; what is piped is as wide as COLUMNS says, or may be."""
    if not is_terminal() and not os.environ.get("COLUMNS"):
        return screen.WIDTH, screen.HEIGHT
    columns = shutil.get_terminal_size((screen.WIDTH, screen.HEIGHT)).columns
    return min(screen.WIDTH, columns), screen.HEIGHT


def print_lines(lines: screen.Lines) -> None:
    """Print styled lines; colours only on a terminal."""
    colour = (
        is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
    )
    out = []
    for line in lines:
        text = ""
        for span in line:
            own = printable(span.text)
            styled = colour and span.style and own.strip()
            text += f"\x1b[{_STYLES[span.style]}m{own}\x1b[0m" if styled else own
        out.append(text if colour else text.rstrip())
    emit("\n".join(out) + "\n")


def print_outcome(word: str, *sentences: str, following: Sequence[str] = ()) -> None:
    """Print an outcome with its sentences, and the commands that come next.

    Parameters
    ----------
    word : str
        ``READY`` or another outcome.
    *sentences : str
    following : sequence of str
    """
    width, head = screen_size()[0], f"{word}  "
    lines: screen.Lines = []
    for sentence in sentences:
        start = " " * len(head) if lines else head
        lines += screen.hanging_lines(start, "bold", screen.wrap_words(sentence, width - len(head)))
    print_lines([*lines, *screen.next_line(following, width)])


def announce_progress(what: str) -> AbstractContextManager[None]:
    """Say on standard error what is being done, where it takes more than two seconds.

    Parameters
    ----------
    what : str
        ``Analysing 4,800 judgments``.
    """
    return announce_late(_LATE_S, f"{printable(what, one_line=True)} ...")
