"""Let the literal ``mlflow run .`` run in the environment it is typed in.

``mlflow run`` never picks the current environment by itself: a project with a ``python_env.yaml``
gets a new one, which needs pyenv and minutes, and a project without one ends in a traceback.
MLflow does look first whether the environment's folder exists, and if so only sources its
``bin/activate``. So this plugin (entry point group ``mlflow.default_experiment_provider``, loaded
when MLflow starts) prepares a folder of the current environment with an ``activate`` of two lines,
and points ``MLFLOW_ENV_ROOT`` there. It acts only for ``mlflow run`` of this project, started from
an environment in which judgestats is installed, and only where the user named no environment
manager and no ``MLFLOW_ENV_ROOT``. A git address is left to MLflow's standard way.

MLflow must not be imported here while it is itself being imported, so the folder's name is computed
by the few lines below; a test holds them to ``mlflow.utils.virtualenv._get_virtualenv_name``.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judgestats.terminal import emit
from judgestats.yaml_text import read_yaml_file

EXPERIMENT_NAME = "judgestats"
"""The MLflow experiment that takes the runs where the user names none."""

_MARK = "judgestats"


def environment_name(project: Path) -> str:
    """The folder name MLflow gives to the environment of `project`.

    Parameters
    ----------
    project : Path
        A folder with a ``python_env.yaml``.

    Returns
    -------
    str
        ``mlflow-`` and the SHA-1 of the environment's description and requirements.
    """
    described: dict[str, Any] = read_yaml_file(project / "python_env.yaml")
    environment: dict[str, Any] = {
        "python": described.get("python"),
        "build_dependencies": described.get("build_dependencies") or [],
        "dependencies": described.get("dependencies") or [],
    }
    requirements = sorted(_requirements(environment["dependencies"], project))
    # MLflow hashes the representation of its own named tuple of a requirement.
    text = str(environment) + "".join(
        f"_Requirement(req_str={r!r}, is_constraint=False)" for r in requirements
    )
    return "mlflow-" + hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _requirements(lines: Sequence[str], folder: Path) -> Iterator[str]:
    """Requirement lines, continued lines joined, ``-r`` files followed, as MLflow reads them."""
    joined = ""
    for raw in lines:
        line = raw.strip().split(" #", 1)[0].rstrip()
        joined += line.rstrip("\\") if line.endswith("\\") else line
        if line.endswith("\\"):
            continue
        line, joined = joined, ""
        if not line or line.startswith("#"):
            continue
        if line.startswith(("-r ", "--requirement ")):
            file = folder / line.split(maxsplit=1)[1]
            yield from _requirements(file.read_text("utf-8").splitlines(), file.parent)
        else:
            yield line


def _project_of(argv: Sequence[str]) -> Path | None:
    """The local judgestats project that an ``mlflow run`` command line names, if it is one."""
    if len(argv) < 3 or argv[1] != "run" or "mlflow" not in Path(argv[0]).parent.name + argv[0]:
        return None
    if any(a == "--env-manager" or a.startswith("--env-manager=") for a in argv):
        return None
    for argument in argv[2:]:
        if argument.startswith("-"):
            continue
        folder = Path(argument)
        file = folder / "MLproject"
        try:
            first = file.read_text("utf-8").splitlines()[:1] if file.is_file() else []
        except (OSError, UnicodeDecodeError):
            return None
        if first == [f"name: {_MARK}"] and (folder / "python_env.yaml").is_file():
            return folder.resolve()
    return None


def prepare(project: Path, root: Path) -> Path:
    """Write the two-line ``activate`` that stands for the current environment.

    Parameters
    ----------
    project : Path
        The project's folder.
    root : Path
        Where environments are kept; what is written below it is all that MLflow will look at.

    Returns
    -------
    Path
        The environment's folder.
    """
    scripts = Path(sys.executable).parent
    folder = root / environment_name(project)
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    activate = (
        f"export PATH={shlex.quote(str(scripts))}:$PATH\n"
        f"export VIRTUAL_ENV={shlex.quote(sys.prefix)}\n"
    )
    (folder / "bin" / "activate").write_text(activate, encoding="utf-8")
    return folder


def _writable_root() -> Path:
    """A folder of the current environment, or a private temporary one where that is read-only."""
    inside = Path(sys.prefix) / "share" / "judgestats" / "mlflow-environments"
    try:
        inside.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="judgestats-environment-"))
    if os.access(inside, os.W_OK):
        return inside
    return Path(tempfile.mkdtemp(prefix="judgestats-environment-"))


class ProjectEnvironment:
    """The plugin: prepares the environment, and names the experiment the runs go to."""

    def __init__(self) -> None:
        self.project = _project_of(sys.argv)
        if self.project is not None and not os.environ.get("MLFLOW_ENV_ROOT"):
            try:
                root = _writable_root()
                prepare(self.project, root)
            except OSError as error:
                emit(
                    f"judgestats: the current environment cannot be offered to MLflow ({error}). "
                    "Add --env-manager local.\n",
                    error=True,
                )
            else:
                os.environ["MLFLOW_ENV_ROOT"] = str(root)

    def in_context(self) -> bool:
        """Whether MLflow is running this project (then its experiment is ours)."""
        return self.project is not None

    def get_experiment_id(self) -> str:
        """The id of the experiment ``judgestats``, created on first use."""
        from mlflow import MlflowClient

        client = MlflowClient()
        experiment = client.get_experiment_by_name(EXPERIMENT_NAME)
        return str(
            experiment.experiment_id if experiment else client.create_experiment(EXPERIMENT_NAME)
        )
