"""What a run says on the terminal, in the order in which a newcomer needs it."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from judgestats.errors import printable
from judgestats.judges.account import token_parts
from judgestats.judges.spec import JudgeSpec
from judgestats.spelling import as_typed

__all__ = [
    "account_lines",
    "judges_lines",
    "note_lines",
    "notice_lines",
    "repeat_command",
    "say",
    "store_lines",
]


def say(*lines: str) -> None:
    """Print lines on standard output at once, so that they stay in order with the progress bar.

    Names of items, conditions and judges come from files: they must not move the cursor.
    """
    sys.stdout.write(printable(as_typed("\n".join(lines))) + "\n")
    sys.stdout.flush()


def judges_lines(specs: Mapping[str, JudgeSpec]) -> list[str]:
    """Which judges are used, that simulated ones are simulated, and how to use a real one."""
    lines = ["Judges:"]
    for name, spec in specs.items():
        where = "SIMULATED" if spec.simulated else f"at {spec.base_url}"
        lines.append(f"  {name}  ({where})")
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


def account_lines(
    account: Mapping[str, Any], *, unknown_price: bool, what: str = "judgments"
) -> list[str]:
    """What was asked, answered, found in the journal, and paid."""
    known = account["cost_usd"] + account["cost_in_vain_usd"]
    cost = f"${known:.4f}"
    if unknown_price:
        cost = f"{cost} and what models of unknown price cost" if known else "unknown"
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
    lines = [line for notice in notices for line in _wrapped(f"Note: {notice}")]
    return [*lines, ""] if lines else []


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, width=96, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


_MOST_NOTES = 12
_MOST_COMPARED = 40


def store_lines(
    *,
    run_id: str,
    experiment_id: str,
    experiment_name: str,
    uri: str,
    conditions: Sequence[str] = (),
) -> list[str]:
    """The MLflow run, and how to open the UI at the page that compares its conditions.

    Parameters
    ----------
    run_id, experiment_id, experiment_name, uri : str
    conditions : sequence of str
        Ids of the child runs, one a condition.

    Returns
    -------
    list of str
    """
    if uri.startswith("http"):
        base, command = uri.rstrip("/"), []
    else:
        base = "http://127.0.0.1:5000"
        store = "" if uri.endswith("/mlflow.db") and _beside(uri) else f" --backend-store-uri {uri}"
        command = [f"  mlflow ui{store}      then open:"]
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
        f"  {base}/#/experiments/{experiment_id}/runs/{run_id}",
        "  (this run, with the report under Artifacts)",
        "",
    ]


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
