"""One experiment, all the way: items, prompts, judge, judgments, statistics, run, report."""

from __future__ import annotations

import dataclasses
import importlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pandas as pd

from judgestats.analysis.outcome import Analysis, summary
from judgestats.analysis.plan import AnalysisPlan
from judgestats.errors import BudgetError, InputError, JudgeError
from judgestats.experiment import console
from judgestats.experiment.design import Design
from judgestats.experiment.folder import file_name, session, write_json, write_results
from judgestats.experiment.parameters import parse_parameters
from judgestats.experiment.tasks import draw_units, staged, tasks_of
from judgestats.items.schema import Item
from judgestats.judges.account import Collected, Stop
from judgestats.judges.spec import JudgeSpec
from judgestats.judgments.design import Condition, Task
from judgestats.judgments.parse import parse_judgments
from judgestats.judgments.staging import Staging
from judgestats.protocols.base import JudgingProtocol, ReplyMode, Unit

if TYPE_CHECKING:
    from judgestats.judges.journal import Journal
    from judgestats.judges.prices import PriceTable

__all__ = ["Outcome", "Prepared", "prepare", "run_experiment"]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A checked plan: nothing has been sent or written yet."""

    design: Design
    given: Mapping[str, str]
    parameters: Mapping[str, Any]
    items: tuple[Item, ...]
    conditions: tuple[Condition, ...]
    protocols: Mapping[Condition, JudgingProtocol]
    units: Mapping[Condition, tuple[Unit, ...]]
    judges: Mapping[str, JudgeSpec]
    tasks: Sequence[Task]
    staging: Staging | None
    analysis: ModuleType
    plan: AnalysisPlan

    @property
    def simulated(self) -> bool:
        """Whether any judge is simulated."""
        return any(s.simulated for s in self.judges.values())


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a finished run left behind."""

    run_id: str
    experiment_id: str
    analysis: Analysis
    reports: Mapping[str, Path | str]


def prepare(design: Design, given: Mapping[str, str]) -> Prepared:
    """Check everything that can be checked without asking a judge.

    Parameters
    ----------
    design : Design
    given : mapping of parameter to text

    Returns
    -------
    Prepared

    Raises
    ------
    InputError
        An unknown judge or parameter, an unusable file, prompt or value.
    """
    from judgestats.experiment.item_sources import one_source
    from judgestats.judges.spec import parse_judge

    parameters = parse_parameters(
        given,
        experiment=design.name,
        parameters=design.all_parameters,
        defaults=design.defaults,
        presets=design.presets,
    )
    # A price is told without a key: a dry run sends nothing.
    environ = {"OPENAI_API_KEY": "not-needed", **os.environ} if parameters["dry_run"] else None
    judges = {
        name: parse_judge(name, base_url=parameters["base_url"] or None, environ=environ)
        for name in parameters["judges"]
    }
    items = (design.items or one_source)(parameters)
    conditions = design.conditions(parameters)
    protocols = {c: design.protocol(parameters, c) for c in conditions}
    drawn: dict[int, tuple[Unit, ...]] = {}
    units: dict[Condition, tuple[Unit, ...]] = {}
    for condition, protocol in protocols.items():
        if id(protocol) not in drawn:
            drawn[id(protocol)] = draw_units(
                protocol.units(items), per_item=parameters["responses"], seed=parameters["seed"]
            )
        units[condition] = drawn[id(protocol)]
    if min(len({u.item_id for u in listed}) for listed in units.values()) < 2:
        raise InputError(
            "items: at least two things to be judged are needed; with one item nothing can be said "
            f"about differences between items. {parameters['items']!r} gave "
            f"{min(len({u.item_id for u in listed}) for listed in units.values())}."
        )
    analysis = importlib.import_module(f"judgestats.analysis.{design.analysis}")
    staging = staged(units, protocols, parameters)
    return Prepared(
        design=design,
        given=given,
        parameters=parameters,
        items=tuple(items),
        conditions=conditions,
        protocols=protocols,
        units=units,
        judges=judges,
        tasks=staging.first()
        if staging is not None
        else list(tasks_of(units, protocols, replicates=parameters["replicates"])),
        staging=staging,
        analysis=analysis,
        plan=analysis.plan(parameters, conditions),
    )


def run_experiment(design: Design, given: Mapping[str, str]) -> Outcome | None:
    """Run an experiment and print what a user wants to see, in order.

    Parameters
    ----------
    design : Design
    given : mapping of parameter to text

    Returns
    -------
    Outcome or None
        None after a dry run.

    Raises
    ------
    InputError, JudgeError, BudgetError, StoreError
        One clear sentence each; a run that was opened is marked FAILED.
    KeyboardInterrupt
        After Ctrl-C; everything answered is in the journal.
    """
    prepared = prepare(design, given)
    console.say(*console.judges_lines(prepared.judges))
    if prepared.parameters["dry_run"]:
        _dry_run(prepared)
        return None
    from judgestats.judges.journal import Journal
    from judgestats.judges.journal_file import check_file
    from judgestats.judges.preflight import check_judges

    check_file(Path(prepared.parameters["journal"]))
    _prices(prepared)  # a wrong file is named before anything is asked
    check_judges(prepared.judges, timeout_s=min(20.0, prepared.parameters["timeout"]))
    from judgestats.tracking.runs import RunWriter
    from judgestats.tracking.store import open_store

    store = open_store()
    name = prepared.parameters["run_name"] or _run_name(prepared)
    command = console.repeat_command(design.name, given, mlflow=bool(store.adopted_run))
    with (
        Journal(Path(prepared.parameters["journal"])) as journal,  # ours before a run is opened
        tempfile.TemporaryDirectory(prefix="judgestats-") as scratch,
        RunWriter(store, name=name, tags=_tags(prepared), run_id=store.adopted_run) as run,
    ):
        folder = Path(scratch)
        _declare(prepared, run, folder, command)
        collected = _collect(prepared, journal)
        journal.close()  # another process may go on while this one analyses
        raw = _checked(collected)
        account = collected.account.as_dict()
        frame = _parsed(prepared, raw)
        known: dict[str, Any] = {"items": prepared.items} if design.uses_items else {}
        if prepared.staging is not None:
            known["pipelines"] = prepared.staging.table(frame)
            known["pipelines"].to_parquet(folder / "data" / "pipelines.parquet", index=False)
        analysis = prepared.analysis.analyse(frame, prepared.plan, **known)
        if said := _refused(raw):
            analysis = dataclasses.replace(analysis, limitations=(said, *analysis.limitations))
        if not collected.complete:
            analysis = _incomplete(analysis, collected, prepared)
        reports = _record(prepared, run, folder, frame, analysis, collected, command)
        unknown = bool(account.get("cost_unknown"))
        told = console.account_lines(account, unknown_price=unknown)
        console.say(*told, *console.note_lines(collected.notes))
        console.say(summary(analysis))
        lines = console.store_lines(
            run_id=run.run_id,
            experiment_id=store.experiment_id,
            experiment_name=store.experiment_name,
            uri=store.uri,
            conditions=run.children,
        )
        console.say(*lines, *(f"Report ({kind}): {path}" for kind, path in reports.items()))
    return Outcome(
        run_id=run.run_id,
        experiment_id=store.experiment_id,
        analysis=analysis,
        reports=reports,
    )


def _dry_run(prepared: Prepared) -> None:
    from judgestats.judges.plan import price_plan

    p = prepared.parameters
    plan = price_plan(
        prepared.tasks,
        stages=prepared.staging,
        judges=prepared.judges,
        choices_per_request=p["choices"],
        journal=p["journal"],
        seed=p["judge_seed"],
        max_tokens=p["max_tokens"],
        reply_mode=None if p["reply"] == "auto" else ReplyMode(p["reply"]),
        prices=_prices(prepared),
        mode=p["mode"],
    )
    console.say(str(plan))


def _prices(prepared: Prepared) -> PriceTable | None:
    from judgestats.judges.prices import load_prices

    file = prepared.parameters["prices"]
    return load_prices(file) if file else None


def _collect(prepared: Prepared, journal: Journal) -> Collected:
    from judgestats.judges.budget import Budget
    from judgestats.judges.collect import collect_judgments

    p = prepared.parameters
    return collect_judgments(
        prepared.tasks,
        journal=journal,
        judges=dict(prepared.judges),
        experiment=prepared.design.name,
        concurrency=p["concurrency"],
        choices_per_request=p["choices"],
        seed=p["judge_seed"],
        max_tokens=p["max_tokens"],
        reply_mode=None if p["reply"] == "auto" else ReplyMode(p["reply"]),
        budget=Budget(max_cost=p["max_cost"], max_requests=p["max_requests"]),
        prices=_prices(prepared),
        timeout_s=p["timeout"],
        progress=True,
        mode=p["mode"],
        follow_up=prepared.staging.follow_up if prepared.staging is not None else None,
    )


def _checked(collected: Collected) -> pd.DataFrame:
    """The raw frame, or the reason why there is nothing to analyse."""
    if collected.stopped_because is Stop.INTERRUPTED:
        raise KeyboardInterrupt(collected.message)
    raw = collected.read()
    answered = raw["transport"].eq("answered") if len(raw) else pd.Series(dtype=bool)
    if not answered.any():
        if collected.message and not collected.complete:
            raise BudgetError(collected.message)
        reasons = raw["failure"].value_counts().head(3) if len(raw) else pd.Series(dtype=int)
        told = "; ".join(f"{why} ({n} times)" for why, n in reasons.items())
        heard = "".join(f" {note}." for note in collected.notes[:3])
        raise JudgeError(
            f"no judgment was answered: {told or 'nothing was asked'}.{heard} Check the judge's "
            "name, its address and its key with `judgestats doctor`."
        )
    if said := _refused(raw):
        console.say(said, "")
    return raw


def _refused(raw: pd.DataFrame) -> str:
    """Which conditions a judge refused, as a sentence; empty where it refused none."""
    invalid = sorted(set(raw.loc[raw["transport"].eq("invalid_condition"), "condition"]))
    if not invalid:
        return ""
    return (
        f"Left out, since the judge refuses the temperature: {'; '.join(invalid)}. Nothing was "
        "asked at another temperature instead."
    )


def _parsed(prepared: Prepared, raw: pd.DataFrame) -> pd.DataFrame:
    """Every reply read, by the protocol of its condition or of its stage."""
    if prepared.staging is not None:
        staging = prepared.staging
        return parse_judgments(raw, protocols=staging.protocols, units=staging.units)
    units = {(u.item_id, u.order): u for listed in prepared.units.values() for u in listed}
    by_label = {c.label: p for c, p in prepared.protocols.items()}
    return parse_judgments(raw, protocols=by_label, units=units)


def _incomplete(analysis: Analysis, collected: Collected, prepared: Prepared) -> Analysis:
    done = collected.account.answered + collected.account.cached
    what = f"{done} of {len(prepared.tasks)} planned judgments"
    if prepared.staging is not None:
        what = f"{prepared.staging.settled} of {len(prepared.staging)} planned verdicts"
    text = f"Incomplete: {what}. {collected.message}"
    return dataclasses.replace(analysis, limitations=(text, *analysis.limitations))


def _run_name(prepared: Prepared) -> str:
    judges = [s.model for s in prepared.judges.values()]
    shown = ", ".join(judges[:3]) + (f" and {len(judges) - 3} more" if len(judges) > 3 else "")
    return f"{prepared.design.name}: {shown}"


def _tags(prepared: Prepared) -> dict[str, str]:
    return {
        "judgestats.kind": "experiment",
        "judgestats.experiment": prepared.design.name,
        "judgestats.simulated": str(prepared.simulated).lower(),
        "mlflow.note.content": (
            f"**{prepared.design.title}**\n\n{prepared.design.question}\n\n"
            + ("SIMULATED judges.\n\n" if prepared.simulated else "")
            + "Open `report.html` under Artifacts; the child runs are the conditions."
        ),
    }


def _declare(prepared: Prepared, run: Any, folder: Path, command: str) -> None:
    """Write design, plan, prompts and items to the run before the first call."""
    from judgestats.experiment.item_sources import source_name
    from judgestats.items.readers import write_items
    from judgestats.items.summary import item_set_sha

    p, first = prepared.parameters, next(iter(prepared.protocols.values()))
    sha = item_set_sha(prepared.items)
    templates = {
        template.sha: template.text
        for pr in prepared.protocols.values()
        for template in getattr(pr, "templates", [getattr(pr, "template", None)])
        if template is not None
    }
    write_json(folder / "plan.json", prepared.plan)
    write_json(folder / "session.json", {**session(), "command": command})
    (folder / "prompts").mkdir()
    for prompt_sha, text in templates.items():
        (folder / "prompts" / f"{prompt_sha}.txt").write_text(text, encoding="utf-8")
    (folder / "data").mkdir()
    write_items(prepared.items, folder / "data" / "items.jsonl")
    run.params(
        {
            "judge/models": ", ".join(s.model for s in prepared.judges.values()),
            "judge/temperatures": ", ".join(f"{t:g}" for t in p["temperatures"]),
            "judge/prompt_sha": ", ".join(templates),
            "judge/protocol": first.name,
            "judge/scale": str(p["scale"]),
            "design/experiment": prepared.design.name,
            "design/replicates": p["replicates"],
            "design/items": len({u.item_id for u in next(iter(prepared.units.values()))}),
            "design/conditions": len(prepared.conditions),
            "design/choices_per_request": p["choices"],
            "data/items": source_name(p["items"]),
            "data/sha256": sha,
            "analysis/seed": p["seed"],
            "analysis/resamples": p["resamples"],
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
        name=file_name(source_name(p["items"])),
        digest=sha,
        source=source_name(p["items"]),
        context="judged",
    )
    run.artifacts(folder)


def _record(
    prepared: Prepared,
    run: Any,
    folder: Path,
    frame: pd.DataFrame,
    analysis: Analysis,
    collected: Collected,
    command: str,
) -> dict[str, Path | str]:
    """Write results, judgments, children and the report to the run."""
    from judgestats.experiment.record import about, log_children, render_into

    facts = about(prepared, frame, collected, command)
    write_results(folder, analysis, facts)
    raw_columns = [c for c in frame.columns if c not in {"status", "score", "choice", "reason"}]
    frame.to_parquet(folder / "data" / "judgments.parquet", index=False)
    frame[raw_columns].to_parquet(folder / "data" / "raw.parquet", index=False)
    run.metrics(
        {
            **analysis.metrics,
            "cost/usd": facts["account"]["cost_usd"],
            "cost/requests": facts["account"]["requests"],
            "quality/answered": facts["account"]["answered"] + facts["account"]["cached"],
        },
        curves=analysis.curves,
    )
    log_children(prepared, run, analysis)
    run.artifacts(folder)
    return render_into(run, folder, formats=prepared.parameters["report"])
