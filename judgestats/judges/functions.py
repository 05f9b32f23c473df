"""Judges that are functions: ``module:function`` of the user's own, ``mlflow:NAME`` of a store."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgestats.errors import InputError, nearest
from judgestats.judges.function_source import source_digest

_NAME = re.compile(r"(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):(?P<function>[A-Za-z_]\w*)")
_FILE = re.compile(r"(?P<path>[^:@]+\.py):(?P<function>\w+)")
_STORED = re.compile(r"mlflow:(?:(?P<experiment>.+)/)?(?P<name>[^/]+)")
OFFERED = (
    "prompt",
    "messages",
    "temperature",
    "seed",
    "question",
    "answer",
    "answers",
    "reference",
    "context",
    "inputs",
    "outputs",
    "expectations",
)
"""What a function may name among its parameters."""


@dataclass(frozen=True, kw_only=True)
class FunctionName:
    """Where a function that judges stands.

    Attributes
    ----------
    name : str
        As the user wrote it.
    digest : str
        Of the file that defines it and what that imports from beside it, or of the stored judge:
        another one is another judge, whose answers are not the former's.
    """

    name: str
    digest: str

    def load(self) -> Callable[..., Any]:
        """The function itself.

        Raises
        ------
        InputError
            There is none of the name, it cannot be imported, or it wants what is not offered.
        """
        if stored := _STORED.fullmatch(self.name):
            return _stored(stored["experiment"] or "", stored["name"])
        module, _, function = self.name.partition(":")
        _look_here()
        try:
            holder = importlib.import_module(module)
        except Exception as error:
            raise InputError(
                f"judges: {self.name}: importing {module} fails ({type(error).__name__}: {error})."
            ) from error
        member: Callable[..., Any] | None = getattr(holder, function, None)
        if member is None or not callable(member):
            names = [n for n, v in vars(holder).items() if callable(v) and not n.startswith("_")]
            raise InputError(
                f"judges: {module} has no function {function!r}.{nearest(function, names)}"
            )
        accepted_by(member, self.name)
        return member


def function_named(name: str, *, served: bool) -> FunctionName | None:
    """The function that a judge's name means; None where it is a model's name.

    Parameters
    ----------
    name : str
    served : bool
        Whether a model of the name could be asked at an address that the user gave (Ollama's
        models have a colon too): a module that is not there is then no fault.

    Raises
    ------
    InputError
        There is no such module or stored judge.

    Examples
    --------
    >>> function_named("gpt-4o-mini", served=False) is None
    True
    >>> function_named("mistral:instruct", served=True) is None
    True
    >>> function_named("json:dumps", served=False).name
    'json:dumps'
    """
    if as_file := _FILE.fullmatch(name):
        module = Path(as_file["path"]).stem
        raise InputError(
            f"judges: {name!r}: write {module}:{as_file['function']} and start in the file's "
            "folder, or put that on PYTHONPATH."
        )
    if stored := _STORED.fullmatch(name):
        judge = _stored(stored["experiment"] or "", stored["name"])
        digest = hashlib.sha256(_written(judge)).hexdigest()[:12]
        return FunctionName(name=name, digest=digest)
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    _look_here()
    try:
        spec = importlib.util.find_spec(match["module"])
    except Exception:
        # a package that fails while it is imported is looked for, and told, when it is loaded
        spec = None
        if importlib.util.find_spec(match["module"].split(".", maxsplit=1)[0]) is not None:
            return FunctionName(name=name, digest="")
    if spec is None:
        if served:
            return None
        raise InputError(
            f"judges: {name!r} reads as a function of a module, and there is no module "
            f"{match['module']!r} in {Path.cwd()} or on PYTHONPATH. For a model of that name, "
            f"write {name}@http://host/v1."
        )
    source = Path(spec.origin) if spec.origin else None
    return FunctionName(name=name, digest=source_digest(match["module"], source))


def accepted_by(function: Callable[..., Any], name: str) -> Mapping[str, bool]:
    """Which of `OFFERED` a function takes, and whether by keyword.

    A function with one parameter of another name is given the prompt.

    Examples
    --------
    >>> accepted_by(lambda text: "8", "mine:judge")
    {'prompt': False}
    >>> accepted_by(lambda question, answer: 8, "mine:judge")
    {'question': True, 'answer': True}

    Raises
    ------
    InputError
        It wants what is not offered.
    """
    parameters = list(inspect.signature(function).parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return dict.fromkeys(OFFERED, True)
    wanted = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    if len(wanted) == 1 and wanted[0].name not in OFFERED:
        others = (p.name for p in parameters if p is not wanted[0])
        return {"prompt": False, **{n: True for n in others if n in OFFERED}}
    strange = [p.name for p in wanted if p.name not in OFFERED or p.kind is p.POSITIONAL_ONLY]
    if strange:
        raise InputError(
            f"judges: {name} wants {', '.join(strange)}, which no judge is given. It may take "
            f"{', '.join(OFFERED)}, or one text: the prompt."
        )
    return {p.name: True for p in parameters if p.name in OFFERED}


def _look_here() -> None:
    """The folder one stands in holds modules, as for ``python -m``."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)


def _written(judge: object) -> bytes:
    """A stored judge as text: its instructions, model and kind of value."""
    dump = getattr(judge, "model_dump_json", None)
    return (dump() if callable(dump) else repr(judge)).encode()


def _stored(experiment: str, name: str) -> Callable[..., Any]:
    """A judge registered in MLflow's store, in the experiment named or the only one that has it."""
    import mlflow
    from mlflow.exceptions import MlflowException
    from mlflow.genai.scorers import get_scorer, list_scorers

    listed = mlflow.search_experiments()
    if experiment:
        listed = [e for e in listed if e.name == experiment]
        if not listed:
            raise InputError(f"judges: mlflow:{experiment}/{name}: there is no such experiment.")
    having: dict[str, str] = {}
    names: list[str] = []
    for each in listed:
        try:
            here = [s.name for s in list_scorers(experiment_id=each.experiment_id)]
        except MlflowException as error:
            raise InputError(
                f"judges: mlflow:{name}: the store keeps no judges ({type(error).__name__}). "
                "They need a database, such as MLFLOW_TRACKING_URI=sqlite:///mlflow.db."
            ) from None
        names += here
        if name in here:
            having[each.name] = each.experiment_id
    if not having:
        raise InputError(
            f"judges: no judge {name!r} is registered in MLflow's store.{nearest(name, names)}"
        )
    if len(having) > 1:
        which = ", ".join(f"mlflow:{e}/{name}" for e in having)
        raise InputError(
            f"judges: several experiments have a judge {name!r}. Write one of {which}."
        )
    scorer: Callable[..., Any] = get_scorer(name=name, experiment_id=next(iter(having.values())))
    return scorer
