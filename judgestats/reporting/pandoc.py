"""Pandoc and typst conversion."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgestats.deadlines import PROGRAM_SECONDS, run_program
from judgestats.errors import RenderError
from judgestats.reporting.tokens import css_tokens, typst_tokens

ASSETS = Path(__file__).resolve().parent / "assets"
_MAX_TABS = 12
_NOTHING: Mapping[str, str] = {}
_MATHML_NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'
_META_KEYS = (
    "title",
    "subtitle",
    "author",
    "date",
    "abstract",
    "lang",
    "nocite",
    "bibliography",
    "csl",
    "number-sections",
    "reference-section-title",
)


def find_pandoc() -> str:
    """The path of pandoc: the one that pypandoc carries, else the one on PATH.

    Raises
    ------
    RenderError
        Where there is neither.
    """
    try:
        import pypandoc

        return str(pypandoc.get_pandoc_path())
    except (ImportError, OSError):
        program = shutil.which("pandoc")
    if program is None:
        raise RenderError("pandoc was not found. Install it with: pip install pypandoc_binary")
    return program


def to_html(markdown: str, *, header: Mapping[str, Any], work_dir: Path) -> str:
    """Render Markdown as one HTML page that loads nothing from anywhere.

    Parameters
    ----------
    markdown : str
        The document's body after its cells ran.
    header : mapping
        The document's YAML header with the options of the format merged in.
    work_dir : Path
        Folder with the pictures and the bibliography.
    """
    rules = "".join(
        f".tabset>input:nth-of-type({i}):checked~.tab-panel:nth-of-type({i}){{display:block}}"
        for i in range(1, _MAX_TABS + 1)
    )
    css = css_tokens() + (ASSETS / "page.css").read_text(encoding="utf-8")
    css = css.replace("TABSET_RULES", rules)
    for name in _listed(header.get("css")):
        css += "\n" + (work_dir / name).read_text(encoding="utf-8")
    css = css.replace("$", "$$").replace("</", "<\\/")
    page = (ASSETS / "page.html").read_text(encoding="utf-8").replace("PAGE_CSS", css)
    template = work_dir / ".page.html"
    template.write_text(page, encoding="utf-8")
    extra = ["--mathml", "--wrap=none", f"--template={template.name}"]
    title = _plain(header.get("title", ""))
    out = _run(
        markdown, "html5", header=header, work_dir=work_dir, extra=extra,
        variables={"pagetitle": _html_text(title)},
    )  # fmt: skip
    return out.replace(_MATHML_NAMESPACE, "")


def to_typst(markdown: str, *, header: Mapping[str, Any], work_dir: Path) -> str:
    """Render Markdown as a typst document (for `judgestats.reporting.pandoc.compile_pdf`)."""
    template = work_dir / ".page.typ"
    page = typst_tokens() + (ASSETS / "page.typ").read_text(encoding="utf-8")
    template.write_text(page, encoding="utf-8")
    title = _plain(header.get("title", ""))
    variables = {"title-text": title.replace("\\", "\\\\").replace('"', '\\"')}
    return _run(
        markdown, "typst", header=header, work_dir=work_dir,
        extra=["--wrap=none", f"--template={template.name}"], variables=variables,
    )  # fmt: skip


def to_document(
    markdown: str,
    *,
    to: str,
    header: Mapping[str, Any],
    work_dir: Path,
    output: Path,
    epoch: int,
) -> None:
    """Render Markdown as Word (``docx``), LaTeX (``tex``) or Markdown (``md``) into `output`."""
    writer = {"docx": "docx", "tex": "latex", "md": "gfm-raw_html+footnotes+tex_math_dollars"}[to]
    extra = ["--standalone", f"--output={output}", "--wrap=preserve"]
    if to == "tex":
        extra.append(f"--include-in-header={ASSETS / 'signs.tex'}")
    if to == "docx":
        extra.append(f"--reference-doc={_reference(work_dir).name}")
    _run(
        markdown, writer, header=header, work_dir=work_dir, extra=extra,
        environment={"SOURCE_DATE_EPOCH": str(epoch)},
    )  # fmt: skip
    if to == "md":
        output.write_text(_plain_header(output.read_text(encoding="utf-8")), encoding="utf-8")


_SMALL = '<w:rPr><w:sz w:val="17"/><w:szCs w:val="17"/></w:rPr>'
"""8.5 points, for the tables of a Word document."""


def _reference(work_dir: Path) -> Path:
    """Pandoc's own styles for Word, with smaller text in tables."""
    target = work_dir / ".reference.docx"
    command = [find_pandoc(), "--print-default-data-file=reference.docx"]
    done = run_program(command, PROGRAM_SECONDS, "pandoc")
    if done.returncode != 0:
        raise RenderError(
            "pandoc has no Word styles. Install it again: pip install pypandoc_binary"
        )
    with (
        zipfile.ZipFile(io.BytesIO(done.stdout)) as given,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for name in given.namelist():
            data = given.read(name)
            if name == "word/styles.xml":
                text = data.decode()
                style = re.search(r'<w:style [^>]*w:styleId="Compact".*?</w:style>', text, re.S)
                if style is None:
                    raise RenderError("pandoc's Word styles have no style Compact for tables")
                small = style.group(0).replace("</w:style>", _SMALL + "</w:style>")
                data = text.replace(style.group(0), small).encode()
            made.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return target


def _plain_header(markdown: str) -> str:
    """Markdown without the header lines that only made it: its references are text by now.

    Examples
    --------
    >>> print(_plain_header("---\\nbibliography: x.bib\\ntitle: T\\n---\\n\\ncsl: y"))
    ---
    title: T
    ---
    <BLANKLINE>
    csl: y
    >>> _plain_header("---\\nbibliography: x.bib\\n---\\n\\ntext")
    'text'
    """
    head, end, body = markdown.partition("\n---\n")
    kept = [
        line
        for line in head.split("\n")
        if not re.match(r"(?:bibliography|csl|link-citations|number-sections): ", line)
    ]
    return body.lstrip("\n") if kept == ["---"] else "\n".join(kept) + end + body


def _run(
    markdown: str,
    writer: str,
    *,
    header: Mapping[str, Any],
    work_dir: Path,
    extra: list[str],
    variables: Mapping[str, str] = _NOTHING,
    environment: Mapping[str, str] = _NOTHING,
) -> str:
    meta = {key: header[key] for key in _META_KEYS if header.get(key) is not None}
    if "date" in meta:
        meta["date"] = str(meta["date"])
    meta["link-citations"] = not writer.startswith("gfm")  # Markdown has no place to lead to
    # pandoc's reader knows no surrogate pairs, so letters are written as they are
    text = json.dumps(meta, ensure_ascii=False)
    file = f".meta-{re.sub(r'[^a-z0-9]', '', writer)}.json"  # formats are made at once
    (work_dir / file).write_text(text, encoding="utf-8")
    command = [
        find_pandoc(),
        "--from=markdown",
        f"--to={writer}",
        f"--metadata-file={file}",
        f"--lua-filter={ASSETS / 'filter.lua'}",
        "--syntax-highlighting=none",
        *extra,
    ]
    if header.get("bibliography"):
        command.append("--citeproc")
    if header.get("toc"):
        command += ["--toc", f"--toc-depth={int(header.get('toc-depth', 2))}"]
    for key, value in variables.items():
        command += ["-V", f"{key}={value}"]
    done = run_program(
        command, PROGRAM_SECONDS, "pandoc", given=markdown.encode(), folder=work_dir,
        environment=os.environ | dict(environment),
    )  # fmt: skip
    complaint = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0:
        raise RenderError(f"pandoc ({writer}): {_shorten(complaint)}")
    missing = re.findall(r"citation (\S+) not found", complaint)
    if missing:
        raise RenderError(f"the bibliography has no entry {', '.join(sorted(set(missing)))}")
    return done.stdout.decode()


def _shorten(complaint: str) -> str:
    """The message of a failed run without the Lua traceback."""
    text = complaint.split("stack traceback", maxsplit=1)[0].strip()
    text = re.sub(r"Error running filter [^\n]*\n", "", text)
    return re.sub(r"\S*filter\.lua:\d+: ", "", text)[:2000]


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _plain(title: Any) -> str:
    """A title's Markdown as plain text for a window's title bar."""
    return re.sub(r"\\([!-/:-@\[-`{-~])|[*_`]", lambda m: m.group(1) or "", str(title or ""))


def _html_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


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
"""A report of this many is as short as expected."""
_LEAST = 0.3
"""A last page with less than this much of it in use is avoided, where type set closer does that."""

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


def compile_pdf(source: str, *, work_dir: Path, output: Path, epoch: int) -> None:
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
    program = [sys.executable, "-c", _PROGRAM]
    done = run_program(program, PROGRAM_SECONDS, "typst", given=json.dumps(job).encode())
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()
        raise RenderError(message[-2000:] or f"typst ended with code {done.returncode}")
