"""The literal `mlflow run .` runs in the environment it is typed in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from judgestats.tracking import project_env

ROOT = Path(__file__).resolve().parents[2]


def _mlflow_name(project: Path) -> str:
    from mlflow.utils.environment import _PythonEnv
    from mlflow.utils.virtualenv import _get_virtualenv_name

    return _get_virtualenv_name(_PythonEnv.from_yaml(project / "python_env.yaml"), project)


def test_folder_name_is_the_one_mlflow_computes_for_this_project():
    assert project_env.environment_name(ROOT) == _mlflow_name(ROOT)


@pytest.mark.parametrize(
    "requirements",
    ["a==1\n", "# only a comment\nb>=2  # why\n\na==1 \\\n    --hash=sha256:00\n", ""],
)
def test_folder_name_follows_the_requirements(tmp_path, requirements):
    (tmp_path / "python_env.yaml").write_text(
        'python: "3.12"\ndependencies:\n  - -r requirements.lock\n  - zzz\n'
    )
    (tmp_path / "requirements.lock").write_text(requirements)
    assert project_env.environment_name(tmp_path) == _mlflow_name(tmp_path)


def test_activate_puts_the_current_interpreter_first(tmp_path):
    folder = project_env.prepare(ROOT, tmp_path)
    shown = subprocess.run(
        ["bash", "-c", f"source '{folder}/bin/activate' && command -v python"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert Path(shown.stdout.strip()).parent == Path(sys.executable).parent


@pytest.mark.parametrize(
    ("argv", "ours"),
    [
        (["/x/bin/mlflow", "run", str(ROOT), "-e", "temperature"], True),
        (["/x/bin/mlflow", "run", "-e", "temperature", str(ROOT)], True),
        (["/x/bin/mlflow", "run", str(ROOT), "--env-manager", "local"], False),
        (["/x/bin/mlflow", "run", str(ROOT), "--env-manager=virtualenv"], False),
        (["/x/bin/mlflow", "run", "https://example.org/judgestats.git"], False),
        (["/x/bin/mlflow", "ui"], False),
        (["/x/bin/pytest", "run", str(ROOT)], False),
    ],
)
def test_acts_only_for_mlflow_run_of_this_project(argv, ours):
    assert (project_env._project_of(argv) is not None) is ours


def test_leaves_other_projects_alone(tmp_path):
    (tmp_path / "MLproject").write_text("name: somebody_else\n")
    (tmp_path / "python_env.yaml").write_text('python: "3.11"\n')
    assert project_env._project_of(["/x/bin/mlflow", "run", str(tmp_path)]) is None


def test_says_nothing_and_does_nothing_where_the_user_chose_a_root(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/x/bin/mlflow", "run", str(ROOT)])
    monkeypatch.setenv("MLFLOW_ENV_ROOT", "/somewhere/else")
    assert project_env.ProjectEnvironment().in_context()
    assert os.environ["MLFLOW_ENV_ROOT"] == "/somewhere/else"
