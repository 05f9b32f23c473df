"""Designs of experiments: conditions, levels, wordings."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Generic, Protocol, TypeVar

from judgestats.data.columns import Condition, Contrast, as_text, field_of, sort_levels
from judgestats.errors import InputError, nearest
from judgestats.items.records import Item
from judgestats.protocols import Pointwise, ProbedPairwise, PromptTemplate
from judgestats.protocols.base import JudgingProtocol
from judgestats.runner import common_parameters, parameter_types
from judgestats.runner.parameter_types import data_option, judge_option, parameter


class ParameterLookup(Protocol):
    """Whatever gives a parameter by its name."""

    def __getitem__(self, name: str, /) -> Any: ...


def _length(value: Any) -> int:
    """How many values there are; of several fields, each with its levels, the most of one."""
    if isinstance(value, Mapping):
        return max(map(len, value.values()), default=0)
    return value if isinstance(value, int) else len(value)


@dataclass(frozen=True, kw_only=True)
class Levels:
    """A parameter of which an experiment needs several values, or more than a few.

    Attributes
    ----------
    parameter : str
    lost : str
        What a run with too few of them does not answer, as a sentence; empty if nothing is left to
        answer, so that the run is refused.
    example : str
        Values that would do, for the refusal.
    fewest : int
    count : callable or None
        ``count(parameters)``: how many there are, if not simply the parameter's values.
    unless : str
        A parameter that leaves something to compare if it has several values: then nothing is
        refused, and `lost` is reported.
    hint : str
        Behind the refusal: what else the user may have meant.
    """

    parameter: str
    lost: str = ""
    example: str = ""
    fewest: int = 2
    count: Callable[[Any], int] | None = None
    unless: str = ""
    hint: str = ""

    def enough(self, parameters: ParameterLookup) -> bool:
        """Whether there are as many as a comparison takes."""
        n_levels = self.count(parameters) if self.count else _length(parameters[self.parameter])
        return n_levels >= self.fewest

    def is_unanswerable(self, parameters: ParameterLookup) -> bool:
        """Whether a run with what there is would answer nothing."""
        if self.enough(parameters):
            return False
        return not self.lost or (self.unless != "" and _length(parameters[self.unless]) < 2)


def several(parameters: Mapping[str, Any], name: str) -> bool:
    """Whether a parameter has more than one value.

    Examples
    --------
    >>> several({"judges": ("a", "b")}, "judges"), several({"judges": ("a",)}, "judges")
    (True, False)
    """
    return len(parameters[name]) > 1


def check_levels(levels: Iterable[Levels], parameters: ParameterLookup) -> tuple[str, ...]:
    """Refuse a run that compares nothing, and say what it will not answer.

    Parameters
    ----------
    levels : iterable of Levels
    parameters : CommonParameters

    Returns
    -------
    tuple of str
        What stays unanswered, a sentence each.

    Raises
    ------
    InputError
        Naming the parameter, and values that would do.

    Examples
    --------
    >>> guidelines = Levels(parameter="guidelines", example="none,anchors")
    >>> check_levels([guidelines], {"guidelines": ("none", "words")})
    ()
    >>> check_levels([guidelines], {"guidelines": ("none",)})
    Traceback (most recent call last):
        ...
    judgestats.errors.InputError: guidelines: 'none' alone leaves nothing to compare. Give at least 2, as in guidelines=none,anchors.
    """  # noqa: E501
    sentences = []
    for level in levels:
        if level.is_unanswerable(parameters):
            value = parameters[level.parameter]
            raise InputError(
                f"{level.parameter}: {_format_value(value)} leaves nothing to compare. Give at "
                f"least {level.fewest}, as in {level.parameter}={level.example}."
                + (f" {level.hint}" if level.hint else "")
            )
        if not level.enough(parameters):
            sentences.append(level.lost)
    return tuple(sentences)


def _format_value(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    words = {None: "default"}  # a temperature that is left out
    names = ",".join(f"{v:g}" if isinstance(v, float) else words.get(v, str(v)) for v in value)
    return f"{names!r} alone"


def crossed(
    parameters: common_parameters.CommonParameters, **factors: Sequence[str]
) -> tuple[Condition, ...]:
    """Every judge at every temperature, with every level of what ``vary`` names, and of `factors`.

    Parameters
    ----------
    parameters : CommonParameters
    **factors : sequence of str
        Levels by the name of a factor of the design.

    Returns
    -------
    tuple of Condition

    Examples
    --------
    >>> given = VaryParameters.read({"judges": "j", "temperatures": "0.5", "vary": "top_p:0.5,1"})
    >>> [c.label for c in crossed(given, reasoning=["none"])]
    ['j, T=0.5, top_p=0.5, reasoning=none', 'j, T=0.5, top_p=1, reasoning=none']
    """
    vary = parameters.vary if isinstance(parameters, VaryParameters) else {}
    for name in vary:
        if name in common_parameters.settings_of(parameters):
            raise InputError(f"{name}: it is fixed and varied at once. Leave one out.")
    return tuple(
        Condition(
            judge=judge,
            temperature=temperature,
            factors=dict(zip(factors, levels, strict=True)),
            settings=dict(zip(vary, values, strict=True)),
        )
        for judge in parameters.judges
        for temperature in parameters.temperatures
        for values in product(*vary.values())
        for levels in product(*factors.values())
    )


def apply_judge_settings(
    conditions: Iterable[Condition], judges: Mapping[str, Mapping[str, Any]]
) -> tuple[Condition, ...]:
    """The conditions; a judge with its own temperature has only those at that temperature.

    Parameters
    ----------
    conditions : iterable of Condition
    judges : mapping of name to settings
        What a file of judges fixes for each.

    Raises
    ------
    InputError
        A field is varied that the file fixes for a judge.

    Examples
    --------
    >>> both = [Condition(judge=j, temperature=t) for j in "ab" for t in (0.0, 1.0)]
    >>> [c.label for c in apply_judge_settings(both, {"b": {"temperature": None}})]
    ['a, T=0', 'a, T=1', 'b, T=default']
    """
    settings = []
    for condition in conditions:
        own = judges.get(condition.judge, {})
        for name in condition.settings:
            if name in own:
                raise InputError(
                    f"vary: {name} is fixed for {condition.judge!r} in the file of judges. "
                    "Leave one out."
                )
        temperature = own.get("temperature", condition.temperature)
        settings.append(replace(condition, temperature=temperature))
    return tuple(dict.fromkeys(settings))


def read_vary(name: str, text: str) -> dict[str, tuple[Any, ...]]:
    """Fields of the request with their levels, in order where they have one.

    Examples
    --------
    >>> read_vary("vary", "reasoning_effort:high,low; top_p:1,0.5")
    {'reasoning_effort': ('low', 'high'), 'top_p': (0.5, 1.0)}
    """
    varied: dict[str, tuple[Any, ...]] = {}
    for part in filter(None, (p.strip() for p in text.split(";"))):
        field, sign, listed = part.partition(":")
        field = field.strip()
        if not sign:
            raise InputError(
                f"{name}: expected FIELD:LEVEL,LEVEL[;...], e.g. "
                f"reasoning_effort:low,medium,high, got {part!r}."
            )
        if field == "temperature":
            raise InputError(f"{name}: temperatures are varied by temperatures=0,0.5,1.")
        read = map(field_of(field).read, parameter_types.read_names(field, listed))
        levels = {as_text(v): v for v in read}
        if len(levels) < 2 or field in varied:
            raise InputError(f"{name}: give {field} once, with at least two levels.")
        varied[field] = tuple(levels[w] for w in sort_levels(field, levels) or levels)
    return varied


class VaryParameters(common_parameters.CommonParameters):
    """Of an experiment that may compare levels of any field of the request."""

    vary: Annotated[Mapping[str, tuple[Any, ...]], parameter_types.ParsedParam(read_vary)] = (
        parameter("", "More request fields to compare, e.g. reasoning_effort:low,medium,high")
    )


P = TypeVar("P", bound=common_parameters.CommonParameters)


@dataclass(frozen=True, kw_only=True)
class _Declared:
    """What every entry point declares."""

    name: str
    title: str
    question: str
    parameters: type[parameter_types.ParameterModel]
    defaults: Mapping[str, str] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def all_parameters(self) -> tuple[parameter_types.Parameter, ...]:
        """Everything that the entry point takes."""
        return parameter_types.parameters_of(self.parameters)

    @property
    def own_parameters(self) -> tuple[parameter_types.Parameter, ...]:
        """Those that add to the parameters of every experiment, or replace them."""
        shared = (
            *parameter_types.parameters_of(common_parameters.CommonParameters),
            *parameter_types.parameters_of(common_parameters.RunParameters),
        )
        return tuple(p for p in self.all_parameters if p not in shared)


@dataclass(frozen=True, kw_only=True)
class Design(_Declared, Generic[P]):
    """One experiment as a file in ``experiments/`` declares it.

    Attributes
    ----------
    name : str
        The entry point's name.
    title, question : str
        For reports.
    conditions : callable
        ``conditions(parameters) -> tuple of Condition``; every judge at every temperature, and at
        every level of what ``vary`` names, unless stated otherwise.
    protocol : callable
        ``protocol(parameters, condition) -> JudgingProtocol``.
    analysis : str
        The module of ``judgestats.analysis``, or ``module:object``, with
        ``plan(parameters, conditions)`` and ``analyse(frame, plan, ...)``.
    parameters : class of CommonParameters
        What it takes: the common ones, and its own.
    defaults : mapping
        Own defaults of common parameters.
    presets : mapping of name to mapping
        ``paper`` is the replicated study's size.
    items : callable or None
        ``items(parameters) -> tuple of Item``, where an experiment takes its items otherwise than
        from the one file that ``items=`` names.
    uses_items : bool
        Whether the analysis needs the items (their labels): it is then called as
        ``analyse(frame, plan, items=items)``.
    compares : tuple of Levels
        Of which parameters it takes several values to compare something: a run with too few is
        refused, or says what it does not answer.
    study_items : str
        What the replicated study judged, said where a preset is run on other items.
    trials : callable or None
        ``trials(parameters, condition) -> int``: how often a condition judges each thing, where
        not all do so ``repeats`` times.
    join : callable or None
        ``join(items, answered) -> tuple of Item``: how the answers that models gave come to the
        items, where they do not replace the items' own (a crowd next to the candidates).
    draws_itself : bool
        Whether its protocols draw what they judge of an item (``responses=``) themselves.
    study : str
        The study whose own prompts ``wording=original`` reads; empty where none are public.
    contrasts : tuple of Contrast
        What the study's claims compare: the rows of the first screen, and of ``wording=both``.
    may_lack : bool
        Whether a condition under which these items leave nothing to judge is left out, rather than
        the run refused; its analysis says so.
    """

    protocol: Callable[[P, Condition], JudgingProtocol]
    analysis: str
    parameters: type[P] = common_parameters.CommonParameters  # type: ignore[assignment]  # where it has none of its own
    conditions: Callable[[P], tuple[Condition, ...]] = crossed
    items: Callable[[P], tuple[Item, ...]] | None = None
    uses_items: bool = False
    compares: tuple[Levels, ...] = ()
    study_items: str = ""
    trials: Callable[[P, Condition], int] | None = None
    join: Callable[[Sequence[Item], Sequence[Item]], tuple[Item, ...]] | None = None
    draws_itself: bool = False
    study: str = ""
    contrasts: tuple[Contrast, ...] = ()
    may_lack: bool = False


class ReplicationParameters(common_parameters.RunParameters):
    """What an entry point takes that re-examines a study."""

    study: str
    data: str


@dataclass(frozen=True, kw_only=True)
class ReplicationDesign(_Declared):
    """An entry point that re-examines a study instead of asking a judge.

    Attributes
    ----------
    name, title, question : str
        As in `Design`.
    parameters : class of ReplicationParameters
        ``study`` and ``data`` among them.
    defaults, presets : mapping
        As in `Design`; a replication needs none.
    """

    parameters: type[ReplicationParameters]


def project_folder(name: str) -> Path:
    """Where ``experiments`` or ``reports`` are: in a checkout next to the package, else inside it.

    Parameters
    ----------
    name : {"experiments", "reports"}

    Returns
    -------
    Path
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_project" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise InputError(f"the folder {name!r} is missing from this installation of judgestats.")


def experiment_names() -> tuple[str, ...]:
    """The experiments that can be run.

    Examples
    --------
    >>> "temperature" in experiment_names()
    True
    """
    files = project_folder("experiments").glob("*.py")
    return tuple(sorted(f.stem for f in files if not f.stem.startswith("_")))


def load_design(name: str) -> Design[Any] | ReplicationDesign:
    """The design that ``experiments/<name>.py`` declares.

    Examples
    --------
    >>> load_design("temperature").name
    'temperature'
    """
    if name not in experiment_names():
        raise InputError(
            f"there is no experiment {name!r}.{nearest(name, experiment_names())} There are: "
            f"{', '.join(experiment_names())}."
        )
    module = _module(name, project_folder("experiments") / f"{name}.py")
    design = getattr(module, "DESIGN", None)
    if not isinstance(design, Design | ReplicationDesign):
        raise InputError(f"experiments/{name}.py does not declare a DESIGN.")
    return design


def _module(name: str, path: Path) -> ModuleType:
    full = f"judgestats_experiment_{name}"
    if full in sys.modules:
        return sys.modules[full]
    spec = importlib.util.spec_from_file_location(full, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} cannot be loaded.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[full] = module
    return module


_BUNDLED = {"scores": "pointwise", "pairs": "pairwise"}
_SHIPPED = 8


class WordingParameters(common_parameters.OwnReasoning):
    """Which wordings, and of what."""

    asks: Annotated[str, parameter_types.ChoiceParam(*_BUNDLED)] = parameter(
        "scores", "Task: scores (single answers) or pairs (two answers, in both orders)"
    )
    prompts: Annotated[
        tuple[str, ...],
        parameter_types.ParsedParam(parameter_types.read_names, or_word="", instead=()),
    ] = judge_option(
        "",
        "Prompts that ask for the same, comma-separated: bundled names or text files; by "
        "default the eight bundled ones",
    )
    pairs: Annotated[int | None, parameter_types.IntParam(4, or_word="all")] = data_option(
        "32", "Pairs to compare with asks=pairs (sampled by seed), or all"
    )


def wordings(parameters: WordingParameters) -> dict[str, str]:
    """Prompts by what they are called.

    Parameters
    ----------
    parameters : WordingParameters

    Returns
    -------
    dict of name to bundled name or path
    """
    if parameters.prompt:
        raise InputError("prompt: prompts compares several. Write prompts=one.txt,two.txt instead.")
    first = _BUNDLED[parameters.asks]
    shipped = (first, *(f"{first}_{k}" for k in range(2, _SHIPPED + 1)))
    listed = parameters.prompts or shipped
    names = [Path(p).stem for p in listed]
    if len(set(names)) < len(names):
        raise InputError(f"prompts: two files have the same name ({', '.join(names)}).")
    return dict(zip(names, listed, strict=True))


def wording_protocol(parameters: WordingParameters, wording: str) -> JudgingProtocol:
    """The protocol that asks in a wording.

    Parameters
    ----------
    parameters : WordingParameters
    wording : str
        One of `wordings`.

    Returns
    -------
    protocol
    """
    named = wordings(parameters)[wording]
    template = PromptTemplate.load(named, append=parameters.reply_instruction != "none")
    reasoning = common_parameters.own_reasoning(parameters, template, "none")
    if parameters.asks == "pairs":
        return ProbedPairwise(
            template=template, reasoning=reasoning, pairs=parameters.pairs,
            seed=parameters.seed,
        )  # fmt: skip
    return Pointwise(template=template, scale=parameters.scale, reasoning=reasoning)
