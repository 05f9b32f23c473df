"""``judgestats template NAME --run RUN``: a report as a Quarto document of one's own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from judgestats.commands.table import Given
from judgestats.errors import InputError, guard_output
from judgestats.experiment import console

_PARAMETER = re.compile(r'^run = "\."', re.MULTILINE)


def template_command(arguments: Given) -> int:
    """Write a document with cells, the run in its parameters cell, and the files it needs.

    Parameters
    ----------
    arguments : Given
        ``name`` (of a document), ``run`` (an id or folder) and ``out`` (a folder).

    Returns
    -------
    int
        0.

    Raises
    ------
    InputError
        There is no such document, or a file of its name is there already.
    """
    from judgestats.reporting.report import DOCUMENTS, document_path

    names = [name for name in DOCUMENTS if name != "compare"]
    if arguments.name not in names:
        raise InputError(
            f"template: name must be one of {', '.join(names)}, but is {arguments.name!r}."
        )
    source = document_path(arguments.name)
    out = Path(arguments.out or ".")
    target = out / source.name
    if target.exists():
        raise InputError(
            f"template: {target} is there already. Move it, or name another folder with --out."
        )
    folder = Path(arguments.run)
    run = str(folder.resolve()) if folder.is_dir() else arguments.run
    quoted = run.replace("\\", "\\\\").replace('"', '\\"')
    text = _PARAMETER.sub(lambda _: f'run = "{quoted}"', source.read_text(encoding="utf-8"), 1)
    with guard_output(target):
        out.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        for beside in sorted(source.parent.iterdir()):  # bibliography, styles, the shared header
            needed = beside.suffix in {".bib", ".csl", ".css", ".scss", ".typ", ".yml"}
            if needed and not (out / beside.name).exists():
                shutil.copyfile(beside, out / beside.name)
    console.say(
        f"{target}: edit it, then",
        f"  quarto render {target.name}      (in its folder, with judgestats' Python)",
        f"  judgestats report {arguments.run} --template {target}      (without Quarto too)",
    )
    return 0
