"""The house in numbers: lines, signatures, what the default run executes, what imports cost.

    python benchmarks/house.py --tree PATH --column before --write
    python benchmarks/house.py --write --ci-log LOG     this checkout, with CI's seconds by step

Both columns of docs/benchmarks/house.md are measured by this script. LOG is what `.ci/run` printed.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from checkout import DOCS, Figures, about, arguments, heading, python, table, turns, update

FOLDERS = ("judgestats", "experiments", "tests", "benchmarks", "docs")
INFERENCE = ("level", "interval", "n_resamples", "n_permutations", "cluster", "seed")
IMPORTS = {
    "import judgestats.stats": "import judgestats.stats",
    "import judgestats": "import judgestats",
    "judgestats --help": "from judgestats.cli import main\n"
    "import contextlib, io\n"
    "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
    "    main(['--help'])",
}
KINDS = ("files", "code", "docstring", "comment")
STEP = re.compile(
    r"^(?:> )?ci: (?P<seconds>\d+) s(?:, (?P<cpu>\d+) s of CPU)?  (?P<step>.+)$", re.MULTILINE
)

# Imported by every Python that the run starts. A trace function that returns None is told of calls
# alone; a function is written when it is first called.
TRACER = f"""
import os, sys, threading

root = os.environ["PYTHONPATH"].split(os.pathsep)[-1] + os.sep
out = open(os.path.join(os.path.dirname(__file__), f"calls.{{os.getpid()}}.txt"), "a", buffering=1)
seen = {{}}  # code objects by identity: comparing them compares their bytecode

def trace(frame, event, arg):
    code = frame.f_code
    if id(code) not in seen:
        seen[id(code)] = code
        wanted = code.co_flags & {inspect.CO_OPTIMIZED} or code.co_name == "<module>"
        name = code.co_filename
        if wanted and name.startswith(root) and "site-packages" not in name:
            out.write(f"{{name[len(root):]}}\\t{{code.co_firstlineno}}\\t{{code.co_name}}\\n")

threading.settrace(trace)
sys.settrace(trace)
"""


def files(tree: Path, folder: str) -> Iterator[Path]:
    """The Python files that belong to the checkout."""
    for path in sorted((tree / folder).rglob("*.py")):
        if not {"__pycache__", "generated"} & set(path.relative_to(tree).parts):
            yield path


def line_kinds(source: str) -> Counter[str]:
    """Lines of code, of docstrings and of comments alone; blank lines do not count outside
    docstrings.

    >>> sorted(line_kinds('# why\\nx = 1  # and\\n\\ndef f():\\n    "Doc."\\n').items())
    [('code', 2), ('comment', 1), ('docstring', 1)]
    """
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if ast.get_docstring(node, clean=False) is not None and first is not None:
                documented |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code: set[int] = set()
    comments: set[int] = set()
    layout = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in layout:
            code |= set(range(token.start[0], token.end[0] + 1))
    code -= documented
    return Counter(
        code=len(code), docstring=len(documented), comment=len(comments - code - documented)
    )


def lines(tree: Path) -> dict[str, Figures]:
    """Files and lines by folder, the package's by its own folders, largest first."""
    by_folder: dict[str, Counter[str]] = {}
    for folder in FOLDERS:
        for path in files(tree, folder):
            parts = path.relative_to(tree).parts
            names = [folder]
            if folder == "judgestats":
                names.append("/".join(parts[:2]) if len(parts) > 2 else "judgestats/*.py")
            counts = line_kinds(path.read_text(encoding="utf-8"))
            for name in names:
                by_folder.setdefault(name, Counter()).update({"files": 1, **counts})
    own = sorted(
        (n for n in by_folder if n.startswith("judgestats/")), key=lambda n: -by_folder[n]["code"]
    )
    ordered = ["judgestats", *own, *(f for f in FOLDERS[1:] if f in by_folder)]
    return {name: {kind: by_folder[name][kind] for kind in KINDS} for name in ordered}


def signatures(tree: Path) -> dict[str, Figures]:
    """How many slots of signatures there are, and how many the inference keywords take."""
    counts: Counter[str] = Counter()
    for path in files(tree, "judgestats"):
        in_stats = path.relative_to(tree).parts[1] == "stats"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            a = node.args
            counts["functions defined in judgestats"] += 1
            counts["parameters of them, self left out"] += sum(
                p.arg not in {"self", "cls"} for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)
            )
            if not in_stats:
                continue
            if a.kwarg and a.kwarg.annotation and "Unpack" in ast.unparse(a.kwarg.annotation):
                counts["functions in stats that take a typed bundle (Unpack)"] += 1
            for parameter in a.kwonlyargs:
                if parameter.arg in INFERENCE:
                    counts["inference keywords in signatures of stats"] += 1
                    counts[f"- `{parameter.arg}`"] += 1
    keys = (
        "functions defined in judgestats",
        "parameters of them, self left out",
        "inference keywords in signatures of stats",
        *(f"- `{k}`" for k in INFERENCE),
        "functions in stats that take a typed bundle (Unpack)",
    )
    return {key: {"": counts[key]} for key in keys}


def executed(tree: Path) -> dict[str, Figures]:
    """Functions that `judgestats run temperature` calls, its report's included, and their files.

    Named functions count: no lambda, no comprehension, no body of a class or a module, nothing
    that is generated, such as the methods of a dataclass.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as work:
        (Path(folder) / "sitecustomize.py").write_text(TRACER, encoding="utf-8")
        words = ("-m", "judgestats", "run", "temperature")
        python(tree, *words, cwd=Path(work), first=[Path(folder)])
        return called(Path(folder))


def called(folder: Path) -> dict[str, Figures]:
    """The counts, from the files that `TRACER` wrote into a folder, one a process."""
    calls = {
        tuple(line.split("\t"))
        for file in folder.glob("calls.*.txt")
        for line in file.read_text(encoding="utf-8").splitlines()
    }
    named = {call for call in calls if not call[2].startswith("<")}
    return {
        "functions executed by `judgestats run temperature`": {"": len(named)},
        "- files they stand in": {"": len({file for file, _, _ in named})},
        "- files imported by it": {"": len({c[0] for c in calls if c[2] == "<module>"})},
    }


def imports(tree: Path, repeats: int = 9) -> dict[str, Figures]:
    """Modules loaded beyond a bare Python's, ours among them, and time as a ratio to it."""
    names = "import sys; print(*sys.modules)"
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        bare = set(python(tree, "-c", names, cwd=work).split())
        took = turns(
            {
                "": lambda: python(tree, "-c", "pass", cwd=work),
                **{
                    name: lambda code=code: python(tree, "-c", code, cwd=work)
                    for name, code in IMPORTS.items()
                },
            },
            repeats,
        )
        loaded = {
            name: set(python(tree, "-c", f"{code}\n{names}", cwd=work).split()) - bare
            for name, code in IMPORTS.items()
        }
    return {
        name: {
            "modules": len(modules),
            "of ours": sum(m.partition(".")[0] == "judgestats" for m in modules),
            "time": took[name]["wall"] / took[""]["wall"],
            "CPU": took[name]["cpu"] / took[""]["cpu"],
        }
        for name, modules in loaded.items()
    }


def steps(log: Path) -> dict[str, Figures]:
    """CI's seconds by step, from what `.ci/run` printed."""
    matches = list(STEP.finditer(log.read_text(encoding="utf-8", errors="replace")))
    if not matches:
        raise SystemExit(f"{log}: no line like 'ci: 12 s  make test'; is it a log of .ci/run?")
    taken = {
        m["step"]: {"": int(m["seconds"])} | ({"CPU": int(m["cpu"])} if m["cpu"] else {})
        for m in matches
    }
    return taken | {"total": {"": sum(t[""] for t in taken.values())}}


def page(columns: dict[str, Figures]) -> str:
    """The page as Markdown."""
    ci = "No log of CI with seconds by step has been given yet."
    if any("ci" in c for c in columns.values()):
        ci = table(columns, "ci", "step", ["", "CPU"])
    return f"""# The house in numbers

`python benchmarks/house.py --write` makes this page; `--tree PATH --column before` measures another
checkout by the same script, `--page-only --ci-log LOG` adds what a log of `.ci/run` tells.
{heading(columns)}

## Lines by folder

Python files. A line counts once: as code, as part of a docstring, or as a comment alone; blank
lines do not count, unless inside a docstring.

{table(columns, "lines", "folder", KINDS)}

## Functions and signatures

Executed: named functions called at least once by the default run (simulated judges, bundled items,
HTML and PDF report), in all its threads; no lambda, no comprehension,
nothing generated. Inference keywords: keyword-only parameters of `judgestats/stats` named
{", ".join(f"`{k}`" for k in INFERENCE)}.

{table(columns, "counts", "what", [""])}

## Imports

Modules loaded beyond those of a bare Python; time and CPU as a ratio to `python -c pass`, medians
of commands that took turns.

{table(columns, "imports", "what", ("modules", "of ours", "time", "CPU"))}

## CI by step, seconds

{ci}
"""


def main() -> None:
    """Measure, print the page, and write it where asked to."""
    parser = arguments(__doc__)
    parser.add_argument("--ci-log", type=Path, help="what .ci/run printed on that checkout")
    given = parser.parse_args()
    tree = given.tree.resolve()
    figures: Figures = {}
    if not given.page_only:
        figures |= {
            "about": about(tree),
            "lines": lines(tree),
            "counts": signatures(tree) | executed(tree),
            "imports": imports(tree),
        }
    if given.ci_log:
        figures["ci"] = steps(given.ci_log)
    text = page(update("house", given.column, figures, write=given.write))
    print(text)
    if given.write:
        (DOCS / "house.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
