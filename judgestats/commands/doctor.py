"""``judgestats doctor``: what is installed, which judge answers, where runs go, what to do next."""

from __future__ import annotations

import asyncio
import os
import platform
import shlex
import shutil
from importlib import metadata
from typing import TYPE_CHECKING

from judgestats.commands.table import Given
from judgestats.errors import JudgestatsError
from judgestats.experiment import console
from judgestats.version import __version__

if TYPE_CHECKING:
    from judgestats.judges.spec import JudgeSpec

_PACKAGES = (
    "mlflow",
    "openai",
    "pandas",
    "pandera",
    "scipy",
    "statsmodels",
    "pingouin",
    "factor-analyzer",
    "scikit-learn",
    "typst",
    "pypandoc_binary",
)


def doctor_command(arguments: Given) -> int:
    """Look at everything a run needs and say what is missing.

    Parameters
    ----------
    arguments : Given
        ``judges``, ``base_url`` and ``timeout``; with a ``file`` that is looked at instead.

    Returns
    -------
    int
        0 when a run can start, 1 when something named here is in its way.
    """
    if arguments.file:
        from judgestats.commands.doctor_file import doctor_file

        return doctor_file(arguments)
    console.say(f"judgestats {__version__}, Python {platform.python_version()}", "")
    faults = [*_packages(), *_renderer(), *_store(), *_judges(arguments)]
    if faults:
        console.say("", "To do:", *(f"  - {f}" for f in faults))
        return 1
    asked = [("--judges", arguments.judges), ("--base-url", arguments.base_url)]
    words = "".join(f" {flag} {shlex.quote(value)}" for flag, value in asked if value)
    console.say("", f"All is in place. Next: judgestats run temperature{words}")
    return 0


def _packages() -> list[str]:
    faults = []
    shown = []
    for package in _PACKAGES:
        try:
            shown.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            faults.append(f"{package} is not installed: pip install judgestats again")
    console.say("Packages: " + ", ".join(shown))
    return faults


def _renderer() -> list[str]:
    quarto = shutil.which("quarto")
    console.say(
        "Reports: "
        + ("rendered by Quarto" if quarto else "rendered by the built-in renderer (no Quarto here)")
    )
    return []


def _store() -> list[str]:
    from judgestats.tracking.store import open_store

    try:
        store = open_store()
    except JudgestatsError as error:
        console.say(f"Runs: {error}")
        return ["make the tracking store writable, or set MLFLOW_TRACKING_URI"]
    console.say(f"Runs: go to {store.uri}, experiment {store.experiment_name!r}")
    return []


def _judges(arguments: Given) -> list[str]:
    from judgestats.judges.judges_file import read_judges
    from judgestats.judges.spec import without_address

    has_key = bool(os.environ.get("OPENAI_API_KEY"))
    console.say(f"OPENAI_API_KEY: {'set' if has_key else 'not set'}")
    names = [n.strip() for n in arguments.judges.split(",") if n.strip()]
    if not names:
        names = ["gpt-4o-mini"] if has_key or arguments.base_url else ["sim-typical"]
    faults = []
    for name in names:
        try:
            specs = read_judges([name], base_url=arguments.base_url)
        except JudgestatsError as error:
            console.say(f"Judge {without_address(name)}: {error}")
            faults.append(f"judge {without_address(name)}: see above")
            continue
        for spec in specs.values():
            seen, fault = _seen(spec, arguments.timeout)
            console.say(f"Judge {spec.name}: {seen}")
            faults += [f"judge {spec.name}: see above"] if fault else []
    if not has_key:
        console.say(
            "  (for a real judge: export OPENAI_API_KEY=..., or --base-url of any "
            "OpenAI-compatible server)"
        )
    return faults


def _seen(spec: JudgeSpec, timeout_s: float) -> tuple[str, bool]:
    """What one call of a judge came to, and whether that is in a run's way."""
    from judgestats.judges.endpoint_card import first_answer

    if spec.in_process:
        if spec.function is not None:
            spec.function.load()
            return "a function, in this process", False
        return "simulated, in this process", False
    try:
        return asyncio.run(first_answer(spec, timeout_s=timeout_s)), False
    except JudgestatsError as error:
        return str(error), True
