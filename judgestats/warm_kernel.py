"""A Python that imports what a document's cells need while its run is still analysed.

It becomes the kernel of the next document that is rendered, which saves most of what a report
takes: the cells themselves run in tenths of a second.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH", re.IGNORECASE)
_BECOMES = "from judgestats.reporting.become_kernel import become; become()"
_waiting: list[subprocess.Popen[bytes]] = []
"""The Python that waits to become a kernel, while there is one."""


@contextmanager
def warmed() -> Iterator[None]:
    """What `warm_up` starts within the block does not outlive it unless a document took it."""
    try:
        yield
    finally:
        while _waiting:
            end(_waiting.pop())


def warm_up(document: str) -> None:
    """Start a Python that imports what a document's cells import, where none waits already.

    Parameters
    ----------
    document : str
        Its name among those that come with judgestats.
    """
    if not _waiting:
        command = [sys.executable, "-P", "-c", _BECOMES, document]
        # read when the kernel's module is imported: a kernel without a parent speaks to a terminal
        parent = {"JPY_PARENT_PID": str(os.getpid())}
        environment = kernel_environment(Path(os.devnull), 0) | parent
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, env=environment, start_new_session=True
        )
        _waiting.append(process)


def taken() -> subprocess.Popen[bytes] | None:
    """The Python that waits, if there is one: from now on the caller's to end."""
    process = _waiting.pop() if _waiting else None
    if process is None or process.poll() is None:
        return process
    end(process)
    return None


def end(process: subprocess.Popen[bytes]) -> None:
    """End a Python that nobody needs."""
    process.kill()
    if process.stdin is not None:
        process.stdin.close()
    process.wait()


def become_kernel(
    process: subprocess.Popen[bytes], *, argv: list[str], env: Mapping[str, str], cwd: str
) -> None:
    """Let a Python that waits become a kernel.

    Parameters
    ----------
    process : Popen
        From `taken`.
    argv : list of str
        Name and words of the kernel's program.
    env, cwd
        Its environment and folder.

    Raises
    ------
    BrokenPipeError
        It has gone.
    """
    assert process.stdin is not None
    told = json.dumps({"argv": argv, "env": dict(env), "cwd": cwd})
    process.stdin.write(told.encode() + b"\n")
    process.stdin.close()


def kernel_environment(folder: Path, epoch: int) -> dict[str, str]:
    """The kernel's environment: no keys, no start-up files, a fixed hash seed and time."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if k.startswith("MLFLOW_")
        or not (
            _SECRET.search(k) or k.startswith(("PYTHON", "JUPYTER", "IPYTHON", "MPL", "OPENAI"))
        )
    }
    package_root = str(Path(__file__).resolve().parents[1])
    inherited = os.environ.get("PYTHONPATH", "")
    return kept | {
        "IPYTHONDIR": str(folder / "ipython"),
        "JUDGESTATS_RENDERER": "builtin",
        "MPLBACKEND": "Agg",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(p for p in (package_root, inherited) if p),
        "SOURCE_DATE_EPOCH": str(epoch),
    }
