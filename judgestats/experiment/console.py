"""What a run says on the terminal, in the order in which a newcomer needs it."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from judgestats.errors import printable
from judgestats.judges.account import token_parts
from judgestats.spelling import as_typed
from judgestats.terminal import emit

if TYPE_CHECKING:
    from judgestats.judges.spec import JudgeSpec  # half a second of prompts and probes


@dataclass(frozen=True, kw_only=True)
class ShownAs:
    """How results are to be shown: as a screen, in full, or as JSON; and what they are held to.

    `least` and `most` are thresholds as they were typed, ``reliability=.8``.
    """

    form: Literal["screen", "full", "json"] = "full"
    least: tuple[str, ...] = ()
    most: tuple[str, ...] = ()


_SHOWN_AS: ContextVar[ShownAs | None] = ContextVar("shown_as", default=None)


def shown_as() -> ShownAs:
    """What the user asked for; in full where nobody did."""
    return _SHOWN_AS.get() or ShownAs()


def asked_for(arguments: Any) -> ShownAs:
    """What the options ``--full``, ``--json``, ``--min`` and ``--max`` of a command say.

    Raises
    ------
    InputError
        A bound that can be read by its name alone is wrong, before anything is read or asked.
    """
    form: Literal["screen", "full", "json"] = "screen"
    if arguments.json:
        form = "json"
    elif arguments.full:
        form = "full"
    least = tuple(getattr(arguments, "at_least", ()))
    most = tuple(getattr(arguments, "at_most", ()))
    if least or most:
        from judgestats.results.thresholds import read_thresholds

        read_thresholds(least, most)
    return ShownAs(form=form, least=least, most=most)


def shown_texts() -> dict[str, str]:
    """How results are shown, and what they are held to, as a run records it."""
    chosen = shown_as()
    return {
        "full": str(chosen.form == "full").lower(),
        "json": str(chosen.form == "json").lower(),
        "min": ", ".join(chosen.least) or "default",
        "max": ", ".join(chosen.most) or "default",
    }


@contextmanager
def showing(chosen: ShownAs) -> Iterator[None]:
    """Show results so while a command works."""
    token = _SHOWN_AS.set(chosen)
    try:
        yield
    finally:
        _SHOWN_AS.reset(token)


def say(*lines: str) -> None:
    """Print lines on standard output at once, so that they stay in order with the progress bar.

    Names of items, conditions and judges come from files: they must not move the cursor. Where
    standard output is for one JSON document, standard error.
    """
    _print(lines, error=shown_as().form == "json")


def tell(*lines: str) -> None:
    """Print what is said on the way: on standard error, unless all is to be shown.

    What it says that matters stands in the results too: nothing of it is lost to a screen.
    """
    _print(lines, error=shown_as().form != "full")


def at_length(*lines: str) -> None:
    """Print what only those want who asked for everything."""
    if shown_as().form == "full":
        say(*lines)


def _print(lines: Sequence[str], *, error: bool) -> None:
    emit(printable(as_typed("\n".join(lines))) + "\n", error=error)


def judges_lines(specs: Mapping[str, JudgeSpec]) -> list[str]:
    """Which judges are used, that simulated ones are simulated, and how to use a real one."""
    lines = ["Judges:"]
    for name, spec in specs.items():
        at = "" if spec.in_process or spec.simulated else "at "
        lines.append(f"  {name}  ({at}{spec.where})")
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
    >>> from judgestats.judges.spec import parse_judge
    >>> judges_line({"sim-typical": parse_judge("sim-typical")})
    'Judging: sim-typical (SIMULATED)'
    """
    named = [f"{name} ({s.where})" for name, s in specs.items()]
    more = f" and {len(named) - 4} more" if len(named) > 4 else ""
    return f"Judging: {', '.join(named[:4])}{more}"


def account_lines(
    account: Mapping[str, Any], *, unknown_price: bool, what: str = "judgments"
) -> list[str]:
    """What was asked, answered, found in the journal, and paid."""
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
    lines = [line for notice in notices for line in wrapped(f"Note: {notice}")]
    return [*lines, ""] if lines else []


def wrapped(text: str, *, indent: str = "") -> list[str]:
    """Text in lines of at most 96 columns, the further ones set in."""
    return textwrap.wrap(
        text,
        width=96,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


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


def store_lines(
    *,
    run_id: str,
    experiment_id: str,
    experiment_name: str,
    uri: str,
    conditions: Sequence[str] = (),
    reported: bool = True,
) -> list[str]:
    """The MLflow run, and how to open the UI at the page that compares its conditions.

    Parameters
    ----------
    run_id, experiment_id, experiment_name, uri : str
    conditions : sequence of str
        Ids of the child runs, one a condition.
    reported : bool
        Whether a report lies among the run's artifacts.

    Returns
    -------
    list of str
    """
    if uri.startswith("http"):
        base, command = uri.rstrip("/"), []
    else:
        base = "http://127.0.0.1:5000"
        command = [f"  {ui_command(uri)}      then open:"]
    page = (
        f"{base}/#/experiments/{experiment_id}/runs"
        "?workflowType=machine_learning&compareRunsMode=CHART"
    )
    if 1 < len(conditions) <= _MOST_COMPARED:
        listed = quote(json.dumps(list(conditions), separators=(",", ":")), safe=",")
        page = f"{base}/#/compare-runs?runs={listed}&experiments=%5B%22{experiment_id}%22%5D"
    return [
        f"MLflow run {run_id} in experiment {experiment_name!r}",
        *command,
        f"  {page}",
        "  (the conditions side by side)",
        f"  {run_page(base, experiment_id, run_id)}",
        "  (this run, with the report under Artifacts)" if reported else "  (this run)",
        "",
    ]


def run_page(base: str, experiment_id: str, run_id: str) -> str:
    """The page of a run on a tracking server, among runs rather than traces.

    MLflow's pages begin with traces, whatever kind an experiment is said to be, unless a link asks
    for the other layout (seen in 3.17).

    Examples
    --------
    >>> run_page("http://h", "1", "d3fc")
    'http://h/#/experiments/1/runs/d3fc?workflowType=machine_learning'
    """
    return f"{base}/#/experiments/{experiment_id}/runs/{run_id}?workflowType=machine_learning"


def show_command(run_id: str) -> str:
    """The command that shows a run again, by the beginning of its id; all with ``--full``.

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
    beside = uri.endswith("/mlflow.db") and _beside(uri)
    return "mlflow ui" if beside else f"mlflow ui --backend-store-uri {uri}"


def _beside(uri: str) -> bool:
    """Whether an sqlite store is the default one of the current folder."""
    return Path(uri.removeprefix("sqlite:///")).resolve() == Path("mlflow.db").resolve()


def repeat_command(name: str, given: Mapping[str, str], *, mlflow: bool) -> str:
    """The command that repeats a run.

    Examples
    --------
    >>> repeat_command("temperature", {"replicates": "20"}, mlflow=True)
    'mlflow run . -e temperature -P replicates=20'
    >>> repeat_command("temperature", {"prompt": "my prompt.txt"}, mlflow=False)
    "judgestats run temperature --prompt 'my prompt.txt'"
    """
    if mlflow:
        words: Sequence[str] = [f"-P {shlex.quote(f'{k}={v}')}" for k, v in given.items()]
        return " ".join(["mlflow run . -e", name, *words])
    words = [f"--{k.replace('_', '-')} {shlex.quote(v)}" for k, v in given.items()]
    return " ".join(["judgestats run", name, *words])
