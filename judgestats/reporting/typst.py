"""Typst to PDF, in a process of its own so that it can be given a time limit."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from judgestats.errors import RenderError

_PROGRAM = """
import json, sys
import typst
job = json.load(sys.stdin)
given = {"root": job["root"], "font_paths": [], "ignore_system_fonts": job["own_fonts"]}
def end(inputs):
    try:
        found = json.loads(typst.query(job["source"], "<js-end>", sys_inputs=inputs, **given))
    except RuntimeError:  # compiling says better what is wrong
        found = []
    return found[0]["value"] if found else {"page": 1, "part": 1}
try:
    inputs, last = {}, end({})
    if last["page"] not in (1, job["pages"]) and last["part"] < job["least"]:
        closer = {"closer": "1"}
        inputs = closer if end(closer)["page"] < last["page"] else {}
    typst.compile(job["source"], output=job["output"], sys_inputs=inputs, format="pdf",
                  timestamp=job["epoch"], **given)
except typst.TypstError as error:
    sys.exit("typst: " + str(error) + " " + " ".join(getattr(error, "hints", None) or []))
"""

_PAGES = 4
"""A report of so many is as short as expected."""
_LEAST = 0.3
"""A last page with less than so much of it in use is avoided, where type set closer does that."""

# What Libertinus Serif, New Computer Modern and DejaVu Sans Mono cover well enough.
_COVERED = re.compile(
    r"[\u0000-\u052f\u1e00-\u1fff\u2000-\u22ff\u2300-\u23ff\u2500-\u25ff\ufb00-\ufb06\ufeff\ufffd]*"
)


def needs_other_fonts(text: str) -> bool:
    """Whether `text` has letters outside the fonts that typst carries inside itself.

    Examples
    --------
    >>> needs_other_fonts("plain, accented \u00e9, \u03c9 = .81"), needs_other_fonts("\u4f60\u597d")
    (False, True)
    """
    return _COVERED.fullmatch(text) is None


def compile_pdf(
    source: str, *, work_dir: Path, output: Path, epoch: int, timeout: float = 180.0
) -> None:
    """Compile a typst document to a PDF whose bytes depend on `source` and `epoch` alone.

    Where the last page would hold a few lines only, the type is set a little closer if that saves
    the page. Only fonts inside typst are used, unless the text needs letters they do not have; then
    the machine's fonts are allowed too. Files outside `work_dir` cannot be read.

    Parameters
    ----------
    source : str
        The typst document.
    work_dir : Path
        Folder with the pictures it names.
    output : Path
        The PDF to write.
    epoch : int
        Creation date written into the file, seconds since 1970.
    timeout : float
        Seconds allowed.

    Raises
    ------
    RenderError
        With typst's message, or when it takes too long.
    """
    main = work_dir / ".main.typ"
    main.write_text(source, encoding="utf-8")
    job = {
        "source": str(main),
        "output": str(output),
        "root": str(work_dir),
        "own_fonts": not needs_other_fonts(source),
        "epoch": epoch,
        "least": _LEAST,
        "pages": _PAGES,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=json.dumps(job).encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RenderError(f"typst took longer than {timeout:g} seconds and was ended") from error
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()
        raise RenderError(message[-2000:] or f"typst ended with code {done.returncode}")
