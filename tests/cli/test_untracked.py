"""``analyze --track none``: an audit without MLflow, light and complete."""

import json
import subprocess
import sys

import pytest

from judgestats.cli import main
from tests.cli.test_screens import table

HEAVY = {"mlflow", "openai", "matplotlib", "sklearn", "pingouin", "statsmodels", "scipy.stats"}
OF_CALLS = {"judgestats.collection", "pydantic", "uvicorn"}


@pytest.mark.parametrize(
    "words",
    [
        ("analyze", "my.csv", "--track", "none", "--report", "none", "--resamples", "99"),
        ("check", "my.csv", "--require", "icc_1_1=0", "--allow", "cannot-tell"),
    ],
)
def test_the_screen_alone_needs_no_heavy_package_and_writes_nothing(tmp_path, words):
    table(tmp_path / "my.csv", 2)
    script = (
        "import sys\n"
        "from judgestats.cli import main\n"
        f"code = main({list(words)!r})\n"
        f"print(sorted({HEAVY | OF_CALLS!r} & set(sys.modules)), file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.rstrip().endswith("[]")
    assert "ICC(1,1)" in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["my.csv"]


def test_the_command_repeats_every_option_that_changes_the_numbers(tmp_path, monkeypatch, capsys):
    table(tmp_path / "my.csv", 2)
    monkeypatch.chdir(tmp_path)
    given = "judgestats analyze my.csv --specs --looks 2 --require sem=.5 --resamples 99 --seed 0"
    quiet = ["--track", "none", "--report", "none", "--json"]
    assert main([*given.split()[1:], *quiet]) == 0
    assert json.loads(capsys.readouterr().out)["results"]["facts"]["command"] == given


def test_the_help_of_an_experiment_loads_no_heavy_package():
    script = (
        "import sys\n"
        "from judgestats.cli import main\n"
        "main(['run', 'temperature', '--help'])\n"
        f"print(sorted({HEAVY | {'pandas', 'scipy', 'pandera'}!r} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "resamples" in done.stdout
    assert done.stdout.rstrip().endswith("[]")


def test_simulated_judges_are_asked_without_the_sdk():
    script = (
        "import sys\n"
        "from judgestats.collection.single_answers import collect_judgments\n"
        "from judgestats.data.columns import Condition, Task\n"
        "from judgestats.protocols.base import Prompted\n"
        "import judgestats.collection.plan, judgestats.tracking.runs\n"
        "says = ({'role': 'user', 'content': 'From 1 to 10. Score: [[number]]'},)\n"
        "build = lambda mode: Prompted(messages=says, mode=mode, prompt_sha='')\n"
        "judge = Condition(judge='sim-typical')\n"
        "task = Task(condition=judge, item_id='q', cluster='q', replicate=0, build=build)\n"
        "print(collect_judgments([task]).account.answered)\n"
        "print(sorted({'openai', 'httpx2', 'aiohttp'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "1\n[]\n"
