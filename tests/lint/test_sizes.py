"""No size follows a value: what makes an array or a loop as long as a number says why it ends."""

import ast
from pathlib import Path

import pytest

import judgestats

ROOT = Path(judgestats.__file__).parent
SIZED = frozenset({"arange", "empty", "full", "histogram", "linspace", "ones", "range", "zeros"})
TAKEN = frozenset({"amax", "amin", "max", "min", "nanmax", "nanmin", "ptp"})
ROUNDED = frozenset({"ceil", "floor", "int", "rint", "round"})


def name_of(call: ast.Call) -> str:
    at = call.func
    return at.attr if isinstance(at, ast.Attribute) else getattr(at, "id", "")


def takes_a_value(node: ast.AST) -> bool:
    """Whether a number of the data goes into an expression: an extreme, or what is rounded."""
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        extreme = isinstance(call.func, ast.Attribute) and name_of(call) in TAKEN
        of_a_count = any(isinstance(a, ast.Call) and name_of(a) == "sum" for a in call.args)
        if extreme or (name_of(call) in ROUNDED and not of_a_count):
            return True
    return False


def size_of(call: ast.Call) -> list[ast.expr]:
    """The arguments that set how long the result is."""
    name = name_of(call)
    if name == "linspace":
        return call.args[2:3]
    if name == "histogram":
        return call.args[1:2]
    return call.args if name in {"range", "arange"} else call.args[:1]


def unexplained(source: str) -> list[int]:
    lines = source.split("\n")
    return [
        call.lineno
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        and name_of(call) in SIZED
        and any(map(takes_a_value, size_of(call)))
        and "# size: " not in "\n".join(lines[call.lineno - 2 : call.end_lineno])
    ]


def test_every_size_that_follows_a_value_says_why_it_is_bounded():
    found = {
        str(path.relative_to(ROOT)): lines
        for path in sorted(ROOT.rglob("*.py"))
        if (lines := unexplained(path.read_text()))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("np.zeros(int(score.max()) + 1)", [1]),
        ("range(int(x))", [1]),
        ("np.arange(low, np.ceil(high))", [1]),
        ("np.full(x.max(), 0.0)  # size: clusters", []),
        ("np.ones(int(used.sum()))", []),
        ("np.full(n, x.max())", []),
        ("np.linspace(x.min(), x.max(), 50)", []),
        ("range(max(1, n))", []),
    ],
)
def test_the_lint_knows_a_value_from_a_count(source, found):
    assert unexplained(source) == found
