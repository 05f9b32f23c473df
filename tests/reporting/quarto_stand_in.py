"""A stand-in for the program ``quarto``: it refuses what real Quarto (1.7 to 1.11) fails on.

Run as ``quarto --version`` or ``quarto render FILE --to FORMAT --output NAME``. It ends with code 1
and a sentence for whatever would fail, render wrongly in silence, or load something from elsewhere.
What it accepts it answers with a file that holds the title, the format and the body.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import yaml

WEB_FONTS = {
    "cosmo", "cyborg", "darkly", "flatly", "journal", "lumen", "lux", "materia", "minty", "morph",
    "sandstone", "simplex", "sketchy", "solar", "spacelab", "superhero", "united", "vapor", "yeti",
    "zephyr",
}  # fmt: skip


def problems(arguments: list[str]) -> list[str]:
    """Everything that is wrong with one call and the file it names, each in one sentence."""
    out: list[str] = []
    options = {"--to": "", "--output": ""}
    rest = list(arguments)
    if rest[:1] != ["render"] or len(rest) < 2:
        return [f"unknown command {rest[:1]}"]
    source = rest[1]
    rest = rest[2:]
    while rest:
        name = rest.pop(0)
        if name in {"--execute-params", "-P"}:
            out.append("parameters are not used: there are no cells")
            rest = rest[1:]
        elif name in options and rest:
            options[name] = rest.pop(0)
        else:
            out.append(f"Unknown option {name}.")
    if "/" in options["--output"]:
        out.append("--output option cannot specify a relative or absolute path")
    text = Path(source).read_text(encoding="utf-8")
    head, body = text.removeprefix("---\n").split("\n---\n", 1)
    header = yaml.safe_load(head)
    return out + in_header(header, options["--to"]) + in_body(header, body, options["--to"])


def in_header(header: dict, to: str) -> list[str]:
    """What the header says wrongly."""
    out = []
    formats = header.get("format") or {}
    html, typst = formats.get("html") or {}, formats.get("typst") or {}
    if not header.get("title"):
        out.append("the document has no title of its own")
    if header.get("engine") != "markdown":
        out.append("the document has cells to run")
    if len(formats) > 1 and html.get("format-links") is not False:
        out.append("the page links to other formats that are not beside it")
    if to == "typst" and typst.get("toc", header.get("toc")) is not False:
        out.append("the contents fill the first page of the PDF")
    themes = html.get("theme")
    if not isinstance(themes, dict) or not {"light", "dark"} <= set(themes):
        out.append("there is no dark theme")
    else:
        named = {name for part in themes.values() for name in part}
        out += [f"theme {name} loads a font from elsewhere" for name in sorted(named & WEB_FONTS)]
        files = {name for name in named if name.endswith(".scss")}
        out += [f"{name} is not there" for name in sorted(files) if not Path(name).is_file()]
    css = [html["css"]] if isinstance(html.get("css"), str) else list(html.get("css") or [])
    out += [f"Could not fetch resource {name}" for name in css if not Path(name).is_file()]
    rules = "".join(Path(n).read_text(encoding="utf-8") for n in css if Path(n).is_file())
    for rule in (r"\.js-table t[hd][^{]*\{[^}]*padding", r"\.js-table thead[^{]*\{[^}]*border",
                 r"\.js-table t[hd][^{]*\{[^}]*text-align:left"):  # fmt: skip
        if not re.search(rule, rules):
            out.append(f"raw tables stay without {rule}")
    partials = typst.get("template-partials") or []
    out += [
        f"Template partial {name} was not found" for name in partials if not Path(name).is_file()
    ]
    if not partials:
        out.append("the PDF has Quarto's own page, a third of its first the title")
    if typst.get("citeproc") is not True:
        out.append("typst has no citations")
    if typst.get("html-table-processing") != "none":
        out.append("every raw table costs a process")
    for key in ("bibliography", "csl"):
        if header.get(key) and not Path(header[key]).is_file():
            out.append(f"{header[key]} is not there")
    return out


def in_body(header: dict, body: str, to: str) -> list[str]:
    """What the body says wrongly."""
    out = []
    free = re.sub(r"^(`{3,}|~{3,}).*?^\1", "", body, flags=re.MULTILINE | re.DOTALL)
    free = re.sub(r'fig-alt="[^"]*"', "", free)  # an attribute: no reference is looked for in it
    if re.search(r"^```\{python", body, re.MULTILINE) or "`{python}" in free:
        out.append("cells are left")
    if ".js-fallback" in body:
        out.append("every table occurs twice")
    if re.search(r"\{\{<", body):
        out.append("a shortcode would run")
    headings = re.findall(r"^#+ .*?\{([^}]*)\}\s*$", free, re.MULTILINE)
    if header.get("number-sections") and any(".appendix" in h for h in headings):
        out.append("an appendix would be numbered on")
    numbered = {m for h in headings if ".unnumbered" not in h for m in re.findall(r"#(sec-\S+)", h)}
    floats = set(re.findall(r"^:+ \{#((?:fig|tbl)-[\w-]+)\}", free, re.MULTILINE))
    for label in sorted(set(re.findall(r"(?<![\w\\])@((?:fig|tbl|sec)-[\w-]+)", free))):
        if label not in numbered | floats:
            out.append(f"Unable to resolve crossref @{label}")
    ids = set(re.findall(r"\{[^{}]*#([\w-]+)", free))
    for label in sorted(set(re.findall(r"\]\(#([\w-]+)\)", free)) - ids):
        out.append(f"label `<{label}>` does not exist in the document")
    for picture in re.findall(r"!\[\]\(([^)]+)\)", free):
        if not Path(picture).is_file():
            typst_says = f"file not found: {picture}"
            out.append(typst_says if to == "typst" else f"Could not fetch resource {picture}")
    return out


def main() -> int:
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(os.environ.get("STAND_IN_VERSION", "1.11.3") + "\n")
        return 0
    wrong = problems(arguments)
    if os.environ.get("STAND_IN_FAILS") == arguments[arguments.index("--to") + 1]:
        wrong.append("\x1b[31mERROR:\x1b[0m it went wrong")
    if wrong:
        sys.stderr.write("\n".join(wrong) + "\n")
        return 1
    text = Path(arguments[1]).read_text(encoding="utf-8")
    head, body = text.removeprefix("---\n").split("\n---\n", 1)
    answer = {"arguments": arguments, "header": yaml.safe_load(head), "body": body}
    Path(arguments[arguments.index("--output") + 1]).write_text(
        json.dumps(answer, default=str), encoding="utf-8"
    )
    sys.stderr.write(os.environ.get("STAND_IN_WARNS", ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
