"""The Python that waits to become the kernel of a document: `judgestats.warm_kernel` starts it."""

from __future__ import annotations

import json
import os
import sys

from judgestats.reporting.render import document_path


def become() -> None:
    """Be that Python: import, wait to be told, run."""
    for line in document_path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        if line.startswith(("from judgestats.", "import ")):
            exec(line, {})  # noqa: S102 - as the document's cell does
    import matplotlib.pyplot  # noqa: F401
    from ipykernel.kernelapp import launch_new_instance

    if told := sys.stdin.buffer.readline():
        given = json.loads(told)
        os.environ.clear()
        os.environ.update(given["env"])
        os.chdir(given["cwd"])
        sys.argv = given["argv"]
        launch_new_instance()
