"""Prepared experiments: items, judges, tasks, their request, and the judgments read from it."""

from __future__ import annotations

import hashlib
import importlib
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from judgestats.analysis import families, text_checks, texts_of
from judgestats.collection.answers import AnswerPlan, foreseen_answers
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.ledger import Budget, unknown_price
from judgestats.collection.prices import PriceTable, default_prices, load_prices
from judgestats.collection.spec import (
    CHAT,
    DEFAULT_BASE_URL,
    PROVIDER_KEYS,
    JudgeSpec,
    is_judges_file,
    parse_judge,
    read_judges,
)
from judgestats.data import StageSchedule, parse_judgments
from judgestats.data.columns import Condition, Task, heat
from judgestats.deprecated import current_parameters
from judgestats.errors import InputError
from judgestats.items.item_sets import GIVEN, layout_of
from judgestats.items.records import Item
from judgestats.protocols.base import JudgingProtocol, Prompted, ReplyMode, Unit
from judgestats.protocols.strategies import Strategy
from judgestats.runner import study_prompts
from judgestats.runner.answers import RunAnswers, answer_plan
from judgestats.runner.common_parameters import (
    CommonParameters,
    check_own_prompts,
    parse_parameters,
    settings_of,
)
from judgestats.runner.design import Design, apply_judge_settings, check_levels, project_folder
from judgestats.runner.sources import STAGE_JUDGES, one_source, source_name
from judgestats.runner.study_prompts import wording_statement
from judgestats.studies.texts import StudyRequest

if TYPE_CHECKING:
    import pandas as pd

    from judgestats.collection.journal import Journal

_MOST_PROMPTS = 1_000
"""Kept at a time: those of a larger plan are written again for every replication."""


def units_of(
    protocols: Mapping[Condition, JudgingProtocol],
    items: Sequence[Item],
    *,
    per_item: int | None,
    seed: int,
    source: str,
    may_lack: bool = False,
) -> dict[Condition, tuple[Unit, ...]]:
    """What is judged under each condition, drawn once for every protocol.

    Parameters
    ----------
    protocols : mapping of Condition to protocol
    items : sequence of Item
    per_item, seed
        As `draw_units`.
    source : str
        What the user gave as items, for messages.
    may_lack : bool
        Whether conditions under which fewer than two things are judged are left out.

    Returns
    -------
    dict of Condition to tuple of Unit

    Raises
    ------
    InputError
        Fewer than two things are judged under some condition; or under all, where some may lack.
    """
    drawn: dict[int, tuple[Unit, ...]] = {}
    units: dict[Condition, tuple[Unit, ...]] = {}
    for condition, protocol in protocols.items():
        if id(protocol) not in drawn:
            drawn[id(protocol)] = draw_units(
                protocol.units(tuple(items)), per_item=per_item, seed=seed
            )
        units[condition] = drawn[id(protocol)]
    n_items = {c: len({u.item_id for u in listed}) for c, listed in units.items()}
    fewest = (max if may_lack else min)(n_items.values())
    if fewest >= 2:
        return {c: listed for c, listed in units.items() if n_items[c] >= 2}
    raise InputError(
        "items: at least two items are needed, since one item has no differences between items. "
        f"{source!r} gave {fewest}."
    )


def draw_units(units: Sequence[Unit], *, per_item: int | None, seed: int) -> tuple[Unit, ...]:
    """Keep at most `per_item` things to judge of every item, drawn by seed.

    A pair that is shown in two orders is one thing: its orders stay together. The draw of an item
    depends on the seed and its id alone, so that further items in the file do not change which
    responses of the others are judged.

    Parameters
    ----------
    units : sequence of Unit
    per_item : int or None
        None keeps all.
    seed : int

    Returns
    -------
    tuple of Unit
        In the order given.
    """
    seen: dict[str, str] = {}
    for unit in units:
        key = f"{unit.item_id}\0{unit.order}"
        if key in seen:
            raise InputError(
                f"items: two things to judge are both called {unit.item_id!r}. Give every item "
                "its own id."
            )
        seen[key] = unit.item.id
    if per_item is None:
        return tuple(units)

    def sort_key(unit: Unit) -> str:
        return hashlib.sha256(f"{seed}\0{unit.item_id}".encode()).hexdigest()

    kept: set[str] = set()
    by_item: dict[str, dict[str, Unit]] = {}
    for unit in units:
        by_item.setdefault(unit.item.id, {})[unit.item_id] = unit
    for group in by_item.values():
        kept |= {u.item_id for u in sorted(group.values(), key=sort_key)[:per_item]}
    return tuple(u for u in units if u.item_id in kept)


def tasks_of(
    units: Mapping[Condition, Sequence[Unit]],
    protocols: Mapping[Condition, JudgingProtocol],
    *,
    replicates: int | Mapping[Condition, int],
) -> Iterator[Task]:
    """Every judgment of the plan, replication by replication.

    Requests are sent in a random order (`judgestats.collection.collector`); rows keep this one.

    Parameters
    ----------
    units : mapping of Condition to units
    protocols : mapping of Condition to protocol
    replicates : int or mapping of Condition to int

    Yields
    ------
    Task
    """
    times = dict.fromkeys(units, replicates) if isinstance(replicates, int) else replicates
    prompts = _Prompts()
    for replicate in range(max(times.values(), default=0)):
        for condition, listed in units.items():
            if replicate >= times[condition]:
                continue
            protocol = protocols[condition]
            for unit in listed:
                yield Task(
                    condition=condition,
                    item_id=unit.item_id,
                    cluster=unit.cluster,
                    category=unit.category,
                    replicate=replicate,
                    order=unit.order,
                    build=partial(prompts.build_prompt, protocol, unit),
                    unit=unit,
                )


def staged(
    units: Mapping[Condition, Sequence[Unit]],
    protocols: Mapping[Condition, JudgingProtocol],
    parameters: CommonParameters,
    own: Mapping[str, Mapping[str, Any]] | None = None,
) -> StageSchedule | None:
    """The stages of a design whose protocols are strategies; None where each judgment is one call.

    Parameters
    ----------
    units : mapping of Condition to units
    protocols : mapping of Condition to protocol
    parameters : CommonParameters
        ``replicates``, ``raised`` (the temperature of votes), and those of `STAGE_JUDGES`.
    own : mapping of judge to settings, optional
        What a file of judges fixes for each.

    Returns
    -------
    StageSchedule or None
    """
    if not all(hasattr(protocol, "calls") for protocol in protocols.values()):
        return None

    return StageSchedule(
        cast("Mapping[Condition, Strategy]", protocols),
        units,
        replicates=parameters.repeats,
        raised=parameters["raised"],
        asked_by={
            stage: parameters[name] for name, stage in STAGE_JUDGES.items() if parameters.get(name)
        },
        own={
            judge: settings["temperature"]
            for judge, settings in (own or {}).items()
            if "temperature" in settings
        },
    )


class _Prompts:
    """The prompts of a plan, each written once for all its replications.

    What another process gets is without them.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int, ReplyMode], Prompted] = {}

    def __reduce__(self) -> tuple[type[_Prompts], tuple[()]]:
        return type(self), ()

    def build_prompt(self, protocol: JudgingProtocol, unit: Unit, mode: ReplyMode) -> Prompted:
        """The prompt of a unit; the plan keeps protocols and units, and so their ids, alive."""
        key = (id(protocol), id(unit), mode)
        if key not in self._kept:
            if len(self._kept) >= _MOST_PROMPTS:
                self._kept.clear()
            self._kept[key] = protocol.prompt(unit, mode)
        return self._kept[key]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A checked plan: nothing has been sent or written yet.

    Where models answer first, `items` hold stand-ins until `answers` are there. `notices` say what
    the run will not answer and what a preset leaves to the user: before the first call, and in the
    report. `stage_judges` are asked at single stages, for all judges. `prices` are those of the
    user's file; None for the bundled ones.
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
    staging: StageSchedule | None
    analysis: Any
    plan: families.AnalysisPlan
    questions: tuple[Item, ...]
    answering: AnswerPlan | None
    notices: tuple[str, ...] = ()
    answers: RunAnswers | None = None
    stage_judges: Mapping[str, JudgeSpec] = field(default_factory=dict)
    wording: study_prompts.StudyWording = field(default_factory=study_prompts.StudyWording)
    prices: PriceTable | None = None

    @property
    def requests(self) -> Mapping[Condition, StudyRequest]:
        """The study's own request for the first item of every condition; none of ours."""
        return study_prompts.first_requests(self.protocols, self.units)

    @property
    def wording_statement(self) -> str:
        """Whose words the prompts are; empty where no study is replicated."""
        return wording_statement(self.wording, self.requests)

    @property
    def simulated(self) -> bool:
        """Whether any judge, or model that answers, is simulated."""
        return any(s.simulated for s in self.models.values())

    @property
    def models(self) -> Mapping[str, JudgeSpec]:
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
    given, notes = current_parameters(given)
    for note in notes:
        warnings.warn(note, FutureWarning, stacklevel=3)
    parameters = parse_parameters(
        given,
        design.parameters,
        experiment=design.name,
        defaults=design.defaults,
        presets=design.presets,
    )
    prices = load_prices(parameters.prices) if parameters.prices else None
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
    wording = study_prompts.study_wording(design.name, design.study, given, parameters)
    parameters = parameters.changed(wording=wording.kind)
    if wording.texts is not None:
        parameters = parameters.changed(reply=wording.reply, wire=wording.wire)
    wire, mode = parameters.wire, parameters.mode
    if wire != CHAT and (mode != "online" or parameters.reply not in {"auto", "text"}):
        raise InputError(f"wire={wire}: raw text takes mode=online and reply=text.")
    if wire != CHAT or wording.texts is not None:
        reply = ReplyMode.TEXT if wire != CHAT else ReplyMode(parameters.reply)
        judges = {n: replace(spec, wire=wire, reply_mode=reply) for n, spec in judges.items()}
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
    items = questions = _items(design, given, parameters)
    if answering is not None and parameters.mode == "offline":
        raise InputError(
            "mode=offline: the models that answer first are asked online. Let them answer in a run "
            "of mode=online, and judge that run's data/items.jsonl (items=FILE)."
        )
    if answering is not None:
        journal = parameters.journal if parameters.dry_run else None
        items = _joined(design, questions, foreseen_answers(questions, answering, journal=journal))
    own = {name: spec.settings for name, spec in judges.items() if spec.settings}
    conditions = apply_judge_settings(design.conditions(parameters), own)
    conditions = study_prompts.reworded(design.name, wording, conditions)

    def protocol_of(condition: Condition) -> JudgingProtocol:
        def build(asked: CommonParameters) -> JudgingProtocol:
            return design.protocol(asked, condition)

        worded = study_prompts.in_wording(parameters, wording, condition)
        own = study_prompts.own_protocol(build, worded, items)
        return study_prompts.original_protocol(own, wording, condition.factors)

    protocols = {c: protocol_of(c) for c in conditions}
    units = _units(design, parameters, protocols, items)
    conditions = tuple(c for c in conditions if c in units)
    protocols = {c: protocols[c] for c in conditions}
    check_own_prompts(
        parameters, protocols, items, judges, answering.protocol if answering else None
    )
    module, _, name = design.analysis.partition(":")
    analysis: Any = importlib.import_module(f"judgestats.analysis.{module}")
    analysis = getattr(analysis, name) if name else analysis
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
        plan=replace(
            families.with_omega_model(
                analysis.plan(parameters.values(), conditions), parameters.omega_model
            ),
            question=design.question,
        ),
        questions=tuple(questions),
        answering=answering,
        stage_judges=stage_judges,
        wording=wording,
        prices=prices,
        notices=(
            *_other_items(design, given, parameters, len(questions)),
            *wording.notices,
            *_further_temperatures(given, parameters, conditions),
            *_unserved([*judges.values(), *(answering.answerers.values() if answering else ())]),
            *notices,
        ),
    )


def _items(
    design: Design[Any], given: Mapping[str, str], parameters: CommonParameters
) -> tuple[Item, ...]:
    """The items; where a preset's own are not there, with the dry run that needs none."""
    try:
        return (design.items or one_source)(parameters)
    except InputError as error:
        if not parameters.preset or "items" in given:
            raise
        rehearsal = f"judgestats run {design.name} --preset {parameters.preset} --items bank"
        rehearsal += " --wording paraphrase" * (parameters.wording in {"original", "both"})
        raise InputError(f"{error} Rehearse without them: {rehearsal} --dry-run true.") from error


def _shipped(name: str) -> Path:
    """A file of judges: a user's own, else the one that ships with the experiments."""
    own = Path(name)
    shipped = project_folder("experiments") / name
    return shipped if own.name == name and not own.exists() and shipped.is_file() else own


def _unserved(specs: Iterable[JudgeSpec]) -> tuple[str, ...]:
    """That the default address serves no open model, which its provider's name precedes."""
    names = [s.name for s in specs if s.base_url == DEFAULT_BASE_URL and "/" in s.model]
    if not names:
        return ()
    text = (
        f"{DEFAULT_BASE_URL} does not serve open models ({', '.join(names)}). Give the address of "
        f"your server: base_url=http://localhost:8000/v1, or {names[0]}@http://localhost:8000/v1 "
        "for one."
    )
    return (text,)


def _further_temperatures(
    given: Mapping[str, str], parameters: CommonParameters, conditions: Sequence[Condition]
) -> tuple[str, ...]:
    """That the design asks at temperatures besides those that the user named."""
    if "temperatures" not in given:
        return ()
    named = set(parameters.temperatures)
    others = sorted({c.temperature for c in conditions if c.temperature is not None} - named)
    if not others:
        return ()
    also = ", ".join(heat(t) for t in others)
    how = f" (methods_at={others[0]:g} sets it)" if "methods_at" in parameters else ""
    return (f"Next to the temperatures named, {also} is asked too: all are compared there{how}.",)


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
        f"(items={theirs}). This does not replicate the study."
    )
    return (text,)


def with_given_answers(prepared: Prepared, given: RunAnswers) -> Prepared:
    """The plan with the models' answers instead of the stand-ins."""
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
    """The items with the models' answers, as replacements or as the design joins them."""
    return tuple(answered) if design.join is None else design.join(questions, answered)


def _tasks(
    design: Design[Any],
    parameters: CommonParameters,
    protocols: Mapping[Condition, JudgingProtocol],
    units: Mapping[Condition, tuple[Unit, ...]],
    staging: StageSchedule | None,
) -> Sequence[Task]:
    """The first requests: all judgments, or the first stage of each.

    A dry run walks through the stages on its own, on a sample where there are many.
    """
    if staging is not None:
        return () if parameters.dry_run else staging.first()
    trials = design.trials or (lambda read, _: read.repeats)
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


def ask_of(prepared: Prepared, journal: Journal | str | Path | None) -> CollectionRequest:
    """What the run's parameters ask of its judges, and what they may spend."""
    p, staging = prepared.parameters, prepared.staging
    return CollectionRequest.from_options(
        journal=journal,
        mode=p.mode,
        base_url=p.base_url or None,
        judges=dict(prepared.judging),
        experiment=prepared.design.name,
        concurrency=p.concurrency,
        choices_per_request=p.samples_per_request,
        seed=p.request_seed,
        settings=settings_of(p),
        reply_mode=None if p.reply == "auto" else ReplyMode(p.reply),
        budget=prepared.answers.budget
        if prepared.answers
        else Budget(max_cost=p.max_cost, max_requests=p.max_requests),
        prices=prepared.prices,
        timeout_s=p.timeout,
        progress=True,
        follow_up=staging.follow_up if staging is not None else None,
    )


def check_prices(prepared: Prepared) -> None:
    """Name a limit that cannot be held for lack of a price."""
    table = prepared.prices or default_prices()
    unknown = [name for name, spec in prepared.models.items() if not table.price(spec).is_known]
    if unknown and prepared.parameters.max_cost is not None:
        raise unknown_price(unknown)


def judgments_of(prepared: Prepared, raw: pd.DataFrame) -> tuple[pd.DataFrame, text_checks.Copies]:
    """Judgments read, with their order of requests, and copies handled."""
    protocols, units = readers_of(prepared)
    frame = parse_judgments(raw, protocols=protocols, units=units)
    if prepared.staging is None:
        frame[families.REQUEST_ORDER] = families.recorded_order(frame)
    copies = text_checks.find_copies(text_checks.with_texts(frame, texts_of(prepared.items)))
    copies = text_checks.handled_copies(copies, prepared.parameters.duplicates)
    return text_checks.apply_copy_policy(frame, copies), copies


def readers_of(
    prepared: Prepared,
) -> tuple[Mapping[str, JudgingProtocol], Mapping[tuple[str, str], Unit]]:
    """Who reads the replies of a condition, and what was judged."""
    if prepared.staging is not None:
        return prepared.staging.protocols, prepared.staging.units
    units = {(u.item_id, u.order): u for listed in prepared.units.values() for u in listed}
    return {c.label: p for c, p in prepared.protocols.items()}, units
