"""Checking a whole experiment before anybody is asked: items, judges, prompts, tasks, plan."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from judgestats.analysis.plan import AnalysisPlan, with_omega_model
from judgestats.errors import InputError
from judgestats.experiment.answering import Given, answer_plan
from judgestats.experiment.common_parameters import CommonParameters
from judgestats.experiment.conditions import at_own_settings
from judgestats.experiment.design import Design, project_folder
from judgestats.experiment.item_sources import one_source, source_name
from judgestats.experiment.levels import check_levels
from judgestats.experiment.own_prompts import check_own_prompts
from judgestats.experiment.parameters import parse_parameters
from judgestats.experiment.tasks import STAGE_JUDGES, staged, tasks_of, units_of
from judgestats.items.published import GIVEN
from judgestats.items.schema import Item
from judgestats.items.sets import layout_of
from judgestats.judges.model_answers import AnswerPlan, foreseen_answers
from judgestats.judges.spec import JudgeSpec
from judgestats.judgments.design import Condition, Task
from judgestats.judgments.settings import heat
from judgestats.judgments.staging import Staging
from judgestats.protocols.base import JudgingProtocol, ReplyMode, Unit


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A checked plan: nothing has been sent or written yet.

    Where models answer first, `items` hold stand-ins until `answers` are there. `notices` say what
    the run will not answer and what a preset leaves to the user: before the first call, and in the
    report. `stage_judges` are asked at single stages, for all judges.
    """

    design: Design[Any]
    given: Mapping[str, str]
    parameters: CommonParameters
    items: tuple[Item, ...]
    conditions: tuple[Condition, ...]
    protocols: Mapping[Condition, JudgingProtocol]
    units: Mapping[Condition, tuple[Unit, ...]]
    judges: Mapping[str, JudgeSpec]
    tasks: Sequence[Task]
    staging: Staging | None
    analysis: ModuleType
    plan: AnalysisPlan
    questions: tuple[Item, ...]
    answering: AnswerPlan | None
    notices: tuple[str, ...] = ()
    answers: Given | None = None
    stage_judges: Mapping[str, JudgeSpec] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        """Whether any judge, or model that answers, is simulated."""
        return any(s.simulated for s in self.asked.values())

    @property
    def asked(self) -> Mapping[str, JudgeSpec]:
        """All models that are asked: the judges, and who answers first or works at a stage."""
        answering = self.answering.answerers if self.answering else {}
        return {**answering, **self.judging}

    @property
    def judging(self) -> Mapping[str, JudgeSpec]:
        """The judges, and who is asked at single stages."""
        named = [self.parameters[name] for name in self.stage_judges]
        return {**dict(zip(named, self.stage_judges.values(), strict=True)), **self.judges}


def prepare(design: Design[Any], given: Mapping[str, str]) -> Prepared:
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
    from judgestats.judges.judges_file import is_judges_file, read_judges
    from judgestats.judges.spec import PROVIDER_KEYS, parse_judge

    parameters = parse_parameters(
        given,
        design.parameters,
        experiment=design.name,
        defaults=design.defaults,
        presets=design.presets,
    )
    # A dry run and what the journal holds send nothing, and need no key.
    stand_ins = dict.fromkeys(PROVIDER_KEYS.values(), "not-needed")
    silent = parameters.dry_run or parameters.mode == "offline"
    environ = stand_ins | dict(os.environ) if silent else None
    judges = read_judges(
        (str(_shipped(n)) if is_judges_file(n) else n for n in parameters.judges),
        base_url=parameters.base_url,
        environ=environ,
    )
    parameters = parameters.changed(judges=tuple(judges))
    stage_judges = {
        name: judges.get(model)
        or parse_judge(model, base_url=parameters.base_url or None, environ=environ)
        for name in STAGE_JUDGES
        if (model := parameters.get(name))
    }
    notices = check_levels(design.compares, parameters)
    if parameters.base_url and all(spec.in_process for spec in judges.values()):
        unused = f"base_url={parameters.base_url} is not used: every judge is in this process."
        notices = (*notices, unused)
    answering = answer_plan(parameters, given, environ=environ)
    items = questions = (design.items or one_source)(parameters)
    if answering is not None and parameters.mode == "offline":
        raise InputError(
            "mode=offline: the models that answer first are asked online. Let them answer in a run "
            "of mode=online, and judge that run's data/items.jsonl (items=FILE)."
        )
    if answering is not None:
        journal = parameters.journal if parameters.dry_run else None
        items = _joined(design, questions, foreseen_answers(questions, answering, journal=journal))
    own = {name: spec.settings for name, spec in judges.items() if spec.settings}
    conditions = at_own_settings(design.conditions(parameters), own)
    protocols = {c: design.protocol(parameters, c) for c in conditions}
    units = _units(design, parameters, protocols, items)
    conditions = tuple(c for c in conditions if c in units)
    protocols = {c: protocols[c] for c in conditions}
    check_own_prompts(
        parameters, protocols, items, judges, answering.protocol if answering else None
    )
    analysis = importlib.import_module(f"judgestats.analysis.{design.analysis}")
    staging = staged(units, protocols, parameters, own)
    if staging is not None and parameters.reply == ReplyMode.LOGPROBS:
        raise InputError(
            "reply: replies that later calls are built on cannot carry log-probabilities; leave "
            f"reply=logprobs to experiments of one call ({design.name} judges in stages)."
        )
    return Prepared(
        design=design,
        given=given,
        parameters=parameters,
        items=tuple(items),
        conditions=conditions,
        protocols=protocols,
        units=units,
        judges=judges,
        tasks=_tasks(design, parameters, protocols, units, staging),
        staging=staging,
        analysis=analysis,
        plan=with_omega_model(
            analysis.plan(parameters.values(), conditions), parameters.omega_model
        ),
        questions=tuple(questions),
        answering=answering,
        stage_judges=stage_judges,
        notices=(
            *_other_items(design, given, parameters, len(questions)),
            *_further_temperatures(given, parameters, conditions),
            *notices,
        ),
    )


def _shipped(name: str) -> Path:
    """A file of judges: a user's own, else the one that ships with the experiments."""
    own = Path(name)
    shipped = project_folder("experiments") / name
    return shipped if own.name == name and not own.exists() and shipped.is_file() else own


def _further_temperatures(
    given: Mapping[str, str], parameters: CommonParameters, conditions: Sequence[Condition]
) -> tuple[str, ...]:
    """That the design asks at temperatures beside those that the user named."""
    if "temperatures" not in given:
        return ()
    named = set(parameters.temperatures)
    others = sorted({c.temperature for c in conditions if c.temperature is not None} - named)
    if not others:
        return ()
    also = ", ".join(heat(t) for t in others)
    how = f" (methods_at={others[0]:g} sets it)" if "methods_at" in parameters else ""
    return (f"Beside the temperatures named, {also} is asked too: all are compared there{how}.",)


def _other_items(
    design: Design[Any], given: Mapping[str, str], parameters: CommonParameters, n_items: int
) -> tuple[str, ...]:
    """That a preset is the study's procedure on other items, where its own were not taken."""
    preset = design.presets.get(given.get("preset", ""), {})
    theirs = preset.get("items", "")
    if not design.study_items or not preset or "items" not in given:
        return ()
    own = [layout_of(source) or source for source in given["items"].split(",")]
    if own == [layout_of(source) or source for source in theirs.split(",")]:
        return ()
    if theirs in GIVEN and own != ["bank"]:
        return ()  # only the user can know whether the file is the study's
    text = (
        f"preset={given['preset']} on other items: {n_items} questions of "
        f"{source_name(parameters['items'])} are judged as the study judged {design.study_items} "
        f"(items={theirs}). What is found is not a repetition of the study."
    )
    return (text,)


def with_given_answers(prepared: Prepared, given: Given) -> Prepared:
    """The plan with the models' answers in place of the stand-ins."""
    p = prepared.parameters
    items = _joined(prepared.design, prepared.questions, given.items)
    units = _units(prepared.design, p, prepared.protocols, items)
    own = {name: spec.settings for name, spec in prepared.judges.items()}
    staging = staged(units, prepared.protocols, p, own)
    return replace(
        prepared,
        items=items,
        units=units,
        tasks=_tasks(prepared.design, p, prepared.protocols, units, staging),
        staging=staging,
        answers=given,
    )


def _joined(
    design: Design[Any], questions: Sequence[Item], answered: Sequence[Item]
) -> tuple[Item, ...]:
    """The items with the models' answers, instead of their own or as the design joins them."""
    return tuple(answered) if design.join is None else design.join(questions, answered)


def _tasks(
    design: Design[Any],
    parameters: CommonParameters,
    protocols: Mapping[Condition, JudgingProtocol],
    units: Mapping[Condition, tuple[Unit, ...]],
    staging: Staging | None,
) -> Sequence[Task]:
    """What is asked first: all judgments, or the first stage of each.

    A dry run walks through the stages on its own, on a sample where there are many.
    """
    if staging is not None:
        return () if parameters.dry_run else staging.first()
    trials = design.trials or (lambda read, _: read.replicates)
    times = {condition: trials(parameters, condition) for condition in protocols}
    return list(tasks_of(units, protocols, replicates=times))


def _units(
    design: Design[Any],
    parameters: CommonParameters,
    protocols: Mapping[Condition, JudgingProtocol],
    items: Sequence[Item],
) -> dict[Condition, tuple[Unit, ...]]:
    return units_of(
        protocols,
        items,
        per_item=None if design.draws_itself else parameters.responses,
        seed=parameters.seed,
        source=parameters.items,
        may_lack=design.may_lack,
    )
