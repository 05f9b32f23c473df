"""Declaring an experiment: what its run holds before the first call."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from judgestats.items.readers import write_items
from judgestats.items.sets import item_set_sha
from judgestats.runner.common_parameters import templates_of
from judgestats.runner.display import output_parameters
from judgestats.runner.prompts import rendered
from judgestats.runner.record import file_name, session, write_json
from judgestats.runner.sources import source_name

if TYPE_CHECKING:
    from judgestats.runner.prepare import Prepared
    from judgestats.tracking.runs import RunWriter


def run_name(prepared: Prepared) -> str:
    """The experiment and its first judge; how many more there are."""
    judges = [s.model for s in prepared.judges.values()]
    more = f" +{len(judges) - 1}" if len(judges) > 1 else ""
    return f"{prepared.design.name}: {judges[0]}{more}"


def tags(prepared: Prepared) -> dict[str, str]:
    """What MLflow shows of a run before it is opened."""
    return {
        "judgestats.kind": "experiment",
        "judgestats.runner": prepared.design.name,
        "judgestats.simulated": str(prepared.simulated).lower(),
        "mlflow.note.content": (
            f"**{prepared.design.title}**\n\n{prepared.design.question}\n\n"
            + _simulated(prepared)
            + "Open `report.html` under Artifacts; the child runs are the conditions."
        ),
    }


def _simulated(prepared: Prepared) -> str:
    names = [name for name, spec in prepared.models.items() if spec.simulated]
    if not names:
        return ""
    return (
        "SIMULATED: "
        f"{'all judges' if len(names) == len(prepared.models) else ', '.join(names)}.\n\n"
    )


def write_plan(prepared: Prepared, folder: Path, command: str) -> None:
    """Write design, plan, prompts and items to the run's files before the first call.

    The plan's time and digest are in session.json.

    Parameters
    ----------
    prepared : Prepared
    folder : Path
        The run's files.
    command : str
        The command that repeats the run.
    """
    p, plan = prepared.parameters, folder / "plan.json"
    write_json(plan, prepared.plan)
    planned = {
        "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "sha256": hashlib.sha256(plan.read_bytes()).hexdigest(),
    }
    name = p.run_name or run_name(prepared)
    kept = session(command=command, run_name=name)
    asked = {"experiment": prepared.design.name, "parameters": dict(prepared.given)}
    write_json(folder / "session.json", {**kept, **asked, "plan": planned})
    (folder / "prompts").mkdir(exist_ok=True)
    for prompt_sha, text in _templates(prepared).items():
        (folder / "prompts" / f"{prompt_sha}.txt").write_text(text, encoding="utf-8")
    write_json(folder / "prompts" / "rendered.json", [r.record() for r in rendered(prepared)])
    (folder / "data").mkdir(exist_ok=True)
    write_items(prepared.items, folder / "data" / "items.jsonl")


def _templates(prepared: Prepared) -> dict[str, str]:
    """The texts of the prompts by their digests."""
    protocols = prepared.protocols.values()
    return {t.sha: t.text for protocol in protocols for t in templates_of(protocol)}


def log_plan(prepared: Prepared, run: RunWriter, folder: Path) -> None:
    """Log what `write_plan` wrote, with the endpoint cards of the judges.

    Parameters
    ----------
    prepared : Prepared
    run : RunWriter
    folder : Path
        The run's files.
    """
    p, first = prepared.parameters, next(iter(prepared.protocols.values()))
    sha = item_set_sha(prepared.items)
    if cards := _cards(prepared, run, folder):
        run.tags(cards)
    run.params(
        {
            **p.logged(),
            **{f"parameter/{name}": text for name, text in output_parameters().items()},
            "judge/models": ", ".join(s.model for s in prepared.judges.values()),
            "judge/prompt_sha": ", ".join(_templates(prepared)),
            "judge/protocol": first.name,
            "design/experiment": prepared.design.name,
            "design/items": len({u.item_id for u in next(iter(prepared.units.values()))}),
            "design/conditions": len(prepared.conditions),
            "data/items": source_name(p.items),
            "data/sha256": sha,
            **(prepared.answers.params if prepared.answers else {}),
        }
    )
    table = pd.DataFrame(
        [
            {
                "item_id": u.item_id,
                "cluster": u.cluster,
                "category": u.category,
                "question": u.item.question[:500],
            }
            for u in next(iter(prepared.units.values()))
        ]
    )
    run.dataset(
        table,
        name=file_name(source_name(p.items)),
        digest=sha,
        source=source_name(p.items),
        context="judged",
    )


def _cards(prepared: Prepared, run: RunWriter, folder: Path) -> dict[str, str]:
    """Put the newest endpoint card of every judge beside the judgments; tags say of which day."""
    from judgestats.tracking.runs import key, last_card

    tags = {}
    for name, spec in prepared.models.items():
        card = None if spec.in_process else last_card(run.store, *spec.address)
        if card is not None:
            write_json(folder / "endpoints" / f"{file_name(name)}.json", card)
            tags[f"judgestats.endpoint.{key(name)}"] = str(card.get("asked_at", ""))
    return tags
