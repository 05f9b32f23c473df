"""A declared design: what an entry point varies, what it keeps, and which analysis answers it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from judgestats.errors import InputError, nearest
from judgestats.experiment.common_parameters import CommonParameters, RunParameters
from judgestats.experiment.conditions import crossed
from judgestats.experiment.levels import Levels
from judgestats.experiment.parameter_types import Parameter, ParameterModel, parameters_of
from judgestats.items.schema import Item
from judgestats.judgments.design import Condition
from judgestats.protocols.base import JudgingProtocol

P = TypeVar("P", bound=CommonParameters)


class _Declared:
    """What is declared of an entry point's parameters."""

    parameters: type[ParameterModel]

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """All that the entry point takes."""
        return parameters_of(self.parameters)

    @property
    def own_parameters(self) -> tuple[Parameter, ...]:
        """Those that stand beside the ones which every experiment takes, or in their place."""
        shared = (*parameters_of(CommonParameters), *parameters_of(RunParameters))
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
        The module of ``judgestats.analysis`` with ``plan(parameters, conditions)`` and
        ``analyse(frame, plan, ...)``.
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
        not all do so ``replicates`` times.
    join : callable or None
        ``join(items, answered) -> tuple of Item``: how the answers that models gave come to the
        items, where they do not replace the items' own (a crowd beside the candidates).
    draws_itself : bool
        Whether its protocols draw what they judge of an item (``responses=``) themselves.
    may_lack : bool
        Whether a condition under which these items leave nothing to judge is left out, rather than
        the run refused; its analysis says so.
    """

    name: str
    title: str
    question: str
    protocol: Callable[[P, Condition], JudgingProtocol]
    analysis: str
    parameters: type[P] = CommonParameters  # type: ignore[assignment]  # where it has none of its own
    conditions: Callable[[P], tuple[Condition, ...]] = crossed
    defaults: Mapping[str, str] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    items: Callable[[P], tuple[Item, ...]] | None = None
    uses_items: bool = False
    compares: tuple[Levels, ...] = ()
    study_items: str = ""
    trials: Callable[[P, Condition], int] | None = None
    join: Callable[[Sequence[Item], Sequence[Item]], tuple[Item, ...]] | None = None
    draws_itself: bool = False
    may_lack: bool = False


class ReplicationParameters(RunParameters):
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

    name: str
    title: str
    question: str
    parameters: type[ReplicationParameters]
    defaults: Mapping[str, str] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def project_folder(name: str) -> Path:
    """Where ``experiments`` or ``reports`` are: in a checkout beside the package, else inside it.

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
