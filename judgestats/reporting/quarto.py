"""Render with Quarto where it is installed: the cells have run, Quarto is given text.

The document's cells run once, in judgestats' own kernel; what Quarto renders is the Markdown that
they made, under the header that both formats need (``engine: markdown``). So one execution serves
every format and the built-in renderer alike, and Quarto needs neither a kernel nor papermill.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from judgestats.errors import RenderError

MINIMUM_VERSION = (1, 7)
"""The first Quarto whose typst knows the page's rules (sticky blocks, page numbering)."""

_FORMATS = {"html": "html", "pdf": "typst"}
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# Quarto ends with code 0 after these, with a hole in the page.
_SILENT = re.compile(
    r"[^\n]*(?:Unable to resolve crossref|Citeproc: citation|Could not fetch resource"
    r"|Could not convert image)[^\n]*"
)
_FALLBACK = re.compile(r"^::::: \{\.js-fallback\}\n.*?^:::::$\n?", re.MULTILINE | re.DOTALL)
_NARROW = re.compile(
    r"^(?P<float>:{3,} \{#fig-[a-z0-9-]+\}\n\n)?!\[\]\((?P<wide>[^)\s]+)\)"
    r'\{(?P<alt>fig-alt="[^"]*") narrow="(?P<narrow>[^"]+)"\}$',
    re.MULTILINE,
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^(?P<marks>#{1,6}) (?P<title>.*?)(?: \{(?P<attributes>[^{}]*)\})?\s*$")
_SECTION = re.compile(r"(?<![\w\\@])@(sec-[a-z0-9-]*[a-z0-9])")


def find_quarto() -> str | None:
    """The path of ``quarto``, or None; ``JUDGESTATS_RENDERER=builtin`` sets it aside."""
    if os.environ.get("JUDGESTATS_RENDERER", "") == "builtin":
        return None
    return shutil.which("quarto")


def quarto_version(quarto: str, *, timeout: float = 60.0) -> tuple[int, ...]:
    """Quarto's version as numbers.

    Raises
    ------
    RenderError
        It does not answer ``--version`` with one.
    """
    try:
        done = subprocess.run(
            [quarto, "--version"], capture_output=True, timeout=timeout, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RenderError(f"quarto --version gave no answer ({error})") from error
    text = done.stdout.decode(errors="replace").strip()
    numbers = re.match(r"\d+(?:\.\d+)+", text)
    if done.returncode != 0 or numbers is None:
        raise RenderError(f"quarto --version gave no version: {_shown(done)}")
    return tuple(int(part) for part in numbers.group(0).split("."))


def quarto_source(markdown: str, header: Mapping[str, Any]) -> str:
    r"""The document that Quarto is given: header and Markdown, nothing left to run.

    Parameters
    ----------
    markdown : str
        The body after its cells ran.
    header : mapping
        Title, subtitle, date, bibliography, and ``format`` with the options of each format.

    Returns
    -------
    str
        Blocks that only Word, LaTeX and Markdown need are left out. Appendices carry their letter
        in the heading, and references to sections without a number are links: Quarto letters no
        appendix itself, and its typst stops at a reference to an unnumbered heading.

    Examples
    --------
    >>> text = "See @sec-more.\n\n# One\n\n# More {#sec-more .appendix}\n"
    >>> print(quarto_source(text, {"title": "T"}))
    ---
    title: T
    engine: markdown
    ---
    <BLANKLINE>
    See [Appendix A](#sec-more).
    <BLANKLINE>
    # One
    <BLANKLINE>
    # Appendix A. More {#sec-more .unnumbered}
    <BLANKLINE>
    """
    plain = dict(header) | {"engine": "markdown"}
    for name in ("execute", "jupyter", "params"):
        plain.pop(name, None)
    head = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    return f"---\n{head}---\n\n{_lettered(_NARROW.sub(_both, _FALLBACK.sub('', markdown)))}"


def _both(picture: re.Match[str]) -> str:
    """A figure, and in HTML its narrow variant: `report.css` shows one of them by the screen.

    The variant stands before the float, of which Quarto keeps one picture.
    """
    begin, wide, alt, narrow = picture.group("float", "wide", "alt", "narrow")
    small = f"![]({narrow}){{{alt} .js-narrow}}"
    return (
        f'::: {{.content-visible when-format="html"}}\n\n{small}\n\n:::\n\n'
        f"{begin or ''}![]({wide}){{{alt} .js-wide}}"
    )


def _lettered(markdown: str) -> str:
    """Headings of appendices with their letters, references to unnumbered sections as links."""
    lines: list[str] = []
    outside: list[bool] = []
    links: dict[str, str] = {}
    fence, appendices = "", 0
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        inside = bool(fence)
        if mark and not fence:
            fence, inside = mark.group(1), True
        elif mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1):
            fence = ""
        shown = line
        heading = None if inside else _HEADING.match(line)
        if heading:
            words = (heading["attributes"] or "").split()
            title, top = heading["title"], len(heading["marks"]) == 1
            if ".appendix" in words:
                appendices += 1
                letter = f"Appendix {chr(64 + appendices)}"
                title, name = f"{letter}. {title}", letter
                words = [".unnumbered" if w == ".appendix" else w for w in words]
            else:
                name = title
                if appendices and not top and ".unnumbered" not in words:
                    words.append(".unnumbered")
            if ".unnumbered" in words:
                links |= {w[1:]: f"[{name}](#{w[1:]})" for w in words if w.startswith("#sec-")}
            tail = f" {{{' '.join(words)}}}" if words else ""
            shown = f"{heading['marks']} {title}{tail}"
        lines.append(shown)
        outside.append(not inside)

    def linked(match: re.Match[str]) -> str:
        return links.get(match.group(1), match.group(0))

    return "\n".join(
        _SECTION.sub(linked, line) if free else line
        for line, free in zip(lines, outside, strict=True)
    )


def render_with_quarto(
    quarto: str, source: Path, *, to: str, output: Path, epoch: int, timeout: float = 900.0
) -> None:
    """Run ``quarto render`` on a document in its own folder and move the result to `output`.

    Parameters
    ----------
    quarto : str
        The program.
    source : Path
        What `quarto_source` made, beside its pictures, bibliography and styles.
    to : {"html", "pdf"}
    output : Path
    epoch : int
        The time written into the result, seconds since 1970.
    timeout : float
        Seconds allowed.

    Raises
    ------
    RenderError
        With the end of what Quarto printed: when it fails, takes too long, or ends well although a
        reference, a citation or a resource is missing.
    """
    command = [quarto, "render", source.name, "--to", _FORMATS[to], "--output", output.name]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
    environment.pop("JUDGESTATS_RENDERER", None)
    try:
        done = subprocess.run(
            command, cwd=source.parent, env=environment, capture_output=True, timeout=timeout,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise RenderError(f"quarto took longer than {timeout:g} seconds and was ended") from error
    except OSError as error:
        raise RenderError(f"quarto cannot be run: {error}") from error
    made = source.parent / output.name
    if done.returncode != 0 or not made.is_file():
        raise RenderError(f"quarto could not render {source.name}: {_shown(done)}")
    missing = _SILENT.search(_ANSI.sub("", done.stderr.decode(errors="replace")))
    if missing:
        raise RenderError(f"quarto rendered {source.name} with a hole: {missing.group(0).strip()}")
    shutil.move(made, output)


def _shown(done: subprocess.CompletedProcess[bytes]) -> str:
    """What Quarto printed, from its error on where it names one, without its own stack."""
    printed = _ANSI.sub("", (done.stdout + done.stderr).decode(errors="replace"))
    told = re.search(r"^ERROR: .*?(?=^Stack trace:|\Z)", printed, re.MULTILINE | re.DOTALL)
    return (told.group(0)[:2000] if told else printed[-2000:]).strip()
