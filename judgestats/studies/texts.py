"""Requests of published studies, read from the authors' own files without executing them."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Any

from judgestats.errors import InputError, nearest
from judgestats.files.guarded import Limits, archive, decoded, head, json_value, opened
from judgestats.files.text import short
from judgestats.items.item_sets import PUBLISHED, STUDY_DATA

_MAX_BYTES = 2 << 20
_MAX_NODES = 10_000
_GUIDELINES = {
    "none": "",
    "anchors": "_3b",
    "words": "_3c",
    "paragraphs": "_3d",
    "subscores": "_3e",
}
_BENCHMARKS = {"helpsteer2": "MTBENCH_HELPSTEER_V2", "judgebench": "JUDGEBENCH_V2",
               "lfqa": "LFQA_V2", "two_turn": "MTBENCH_MULTI_V2"}  # fmt: skip
_CROWDS = {"mtbench": "mtbench_template", "two_turn": "mtbench_multiturn_template",
           "helpsteer2": "helpsteer2_template"}  # fmt: skip
_PRINTED = {"removal": "Outcome removal", "key_points": "Key points"}
_MOST_OPTIONS = 26


@dataclass(frozen=True, kw_only=True)
class StudyRequest:
    """One request as the study's own code sends it.

    Attributes
    ----------
    wire : {"chat", "completions"}
    messages : list of dict, or str
        A string where `wire` is ``completions``.
    tool : list of dict or None
        The legacy field ``functions``, keys in the authors' order.
    tool_choice : dict or None
        The legacy field ``function_call``.
    params : mapping
        The study's settings: ``n``, ``temperature``, ``max_tokens``, ...
    source : str
        Position of the text: ``core.py lines 158-170 (sha256 f954cd32…, as published)``.
    sha256 : str
        Of the template, its names in braces.
    method : str
        Its name among `StudyTexts.methods`.
    """

    wire: str
    messages: list[dict[str, str]] | str
    tool: list[dict[str, Any]] | None = None
    tool_choice: dict[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    sha256: str = ""
    method: str = ""

    def record(self) -> dict[str, Any]:
        """The request with its digests, as a dry run prints it with ``--json``."""
        return {
            "wire": self.wire,
            "messages": self.messages,
            "tool": self.tool,
            "tool_choice": self.tool_choice,
            "params": dict(self.params),
            "messages_sha256": text_sha256(self.messages),
            "tool_sha256": None if self.tool is None else text_sha256(self.tool),
        }


def text_sha256(value: Any) -> str:
    """SHA-256 of a text; of another value as compact JSON, keys in insertion order.

    Examples
    --------
    >>> text_sha256({"a": 1})[:8], text_sha256('{"a":1}')[:8]
    ('015abd7f', '015abd7f')
    """
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = value if isinstance(value, str) else compact
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class _Text:
    """A text with its file and lines."""

    value: Any
    file: str
    lines: str
    sha256: str


class _Source:
    """A Python file or notebook of a study, as syntax trees; nothing of it is ever executed."""

    def __init__(self, name: str, raw: bytes) -> None:
        self.name, self.sha256 = name, hashlib.sha256(raw).hexdigest()
        where = Path(name).name
        self.where, text = where, decoded(raw, where)
        self.notebook = name.endswith(".ipynb")
        self.bodies: list[list[ast.stmt]] = []
        for cell in _cells(text, where) if self.notebook else [text]:
            try:
                self.bodies.append(ast.parse(cell).body)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                if not self.notebook:
                    raise InputError(f"{where} is not a valid Python file.") from error

    def definition(self, name: str) -> list[ast.stmt]:
        """The body of a function or class, ``Class.method`` of a method."""
        body = self.bodies[0]
        for part in name.split("."):
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            found = [n for n in body if isinstance(n, kinds) and n.name == part]
            if not found:
                raise InputError(f"{self.where}: no definition of {name}.")
            body = found[-1].body
        return body

    def text(
        self, name: str, bound: Mapping[str, Any], *, within: str = "", branch: str | None = None,
        added: bool = False,
    ) -> _Text:  # fmt: skip
        """The value that a variable is assigned (or, `added`, extended by), with its lines."""
        bodies = [self.definition(within)] if within else self.bodies
        kind = ast.AugAssign if added else ast.Assign
        found = [
            (cell, node)
            for cell, body in enumerate(bodies)
            for node in _statements(body, branch)
            if isinstance(node, kind) and name in _targets(node)
        ]
        if not found:
            place = f" in {within.rpartition('.')[2]}" if within else ""
            missing = "no cell assigns" if self.notebook else "no assignment of"
            raise InputError(f"{self.where}: {missing} {name}{place}.")
        cell, node = found[-1]
        return self.value(node.value, name, bound, cell=cell if self.notebook else None)

    def value(
        self, node: ast.expr, name: str, bound: Mapping[str, Any], *, cell: int | None = None
    ) -> _Text:
        """An expression's value under what is bound, and the digest of it as a template."""
        if sum(1 for _ in ast.walk(node)) > _MAX_NODES:
            raise InputError(f"{self.where}: {name} is longer than {_MAX_NODES:,} nodes.")
        try:
            value = self._evaluate(node, name, bound)
        except RecursionError:
            raise InputError(f"{self.where}: {name} is nested too deeply.") from None
        at = f"{'lines ' if cell is None else f'cell {cell}: '}{node.lineno}-{node.end_lineno}"
        return _Text(value, self.name, at, text_sha256(_template(node) or value))

    def _evaluate(self, node: ast.expr, name: str, bound: Mapping[str, Any]) -> Any:
        def each(inner: ast.expr) -> Any:
            return self._evaluate(inner, name, bound)

        match node:
            case ast.Constant(value=str() | int() | float() | bool() | None):
                return node.value
            case ast.JoinedStr():
                return "".join(str(each(part)) for part in node.values)
            case ast.FormattedValue(conversion=-1, format_spec=None):
                return each(node.value)
            case ast.Name() if node.id in bound:
                return bound[node.id]
            case ast.Name() if any(node.id in _targets(n) for body in self.bodies for n in body):
                return self.text(node.id, bound).value
            case ast.BinOp(op=ast.Add()):
                left, right = each(node.left), each(node.right)
                if type(left) is type(right) and isinstance(left, str | int):
                    return left + right
            case ast.List() | ast.Tuple():
                return [each(inner) for inner in node.elts]
            case ast.Dict() if None not in node.keys:
                keys = [each(key) for key in node.keys if key is not None]
                return dict(zip(keys, map(each, node.values), strict=True))
            case ast.Subscript(
                value=of, slice=ast.Slice(lower=None, upper=ast.expr() as n, step=None)
            ):
                return each(of)[: each(n)]
            case ast.Subscript(value=of, slice=ast.Constant(value=n)):
                try:
                    return each(of)[n]
                except (LookupError, TypeError):
                    raise InputError(
                        f"{self.where}: {name} takes {ast.unparse(node)[:60]}: not found."
                    ) from None
            case ast.Call(func=ast.Name(id="str"), args=[only], keywords=[]):
                return str(each(only))
            case ast.ListComp(
                elt=ast.Attribute(value=ast.Name(id=item), attr="value"),
                generators=[
                    ast.comprehension(target=ast.Name(id=target), iter=ast.Name(id=enum), ifs=[])
                ],
            ) if item == target:
                members = self.definition(enum)
                return [each(member.value) for member in members if isinstance(member, ast.Assign)]
        calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
        by = f"{ast.unparse(calls[-1].func)}()" if calls else short(ast.unparse(node))
        raise InputError(f"{self.where}: {name} is computed by {by}, which is not read.")


_parsed = lru_cache(maxsize=32)(_Source)


def _template(node: ast.expr) -> str:
    """An f-string with its names in braces; empty for another expression."""
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    texts = (
        str(part.value)
        if isinstance(part, ast.Constant)
        else f"{{{ast.unparse(part.value if isinstance(part, ast.FormattedValue) else part)}}}"
        for part in parts
    )
    return "".join(texts)


def _cells(text: str, where: str) -> Iterator[str]:
    document = json_value(text, where)
    cells = document.get("cells") if isinstance(document, dict) else None
    for cell in cells if isinstance(cells, list) else []:
        source = cell.get("source") if isinstance(cell, dict) else None
        code = isinstance(cell, dict) and cell.get("cell_type") == "code"
        lines = source if isinstance(source, list) else [source]
        # cells keep their number
        yield "".join(map(str, lines)) if code else ""


def _targets(node: ast.stmt) -> list[str]:
    named = node.targets if isinstance(node, ast.Assign) else []
    named = [node.target] if isinstance(node, ast.AugAssign) else named
    return [t.id for t in named if isinstance(t, ast.Name)]


def _statements(body: Sequence[ast.stmt], branch: str | None) -> Iterator[ast.stmt]:
    """Statements in order; of a comparison with texts only the branch that is taken."""
    for node in body:
        yield node
        match node:
            case ast.If(test=ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=of)])):
                yield from _statements(node.body if of == branch else node.orelse, branch)
            case ast.For() | ast.Try() | ast.With():
                yield from _statements(node.body, branch)


def _calls(body: Sequence[ast.stmt], branch: str | None) -> Iterator[ast.Call]:
    for node in _statements(body, branch):
        if not isinstance(node, ast.If | ast.For | ast.Try | ast.With):
            yield from (n for n in ast.walk(node) if isinstance(n, ast.Call))


def _filled(template: str, fields: Mapping[str, Any], where: str) -> str:
    """``str.format`` of plain names alone, once: an inserted text is never formatted."""
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise InputError(f"{where}: the template's braces do not close.") from error
    texts = []
    for literal, name, spec, conversion in parts:
        texts.append(literal)
        if name is not None:
            if spec or conversion or name not in fields:
                raise InputError(f"{where}: the template needs {short(name)}, which is not given.")
            texts.append(str(fields[name]))
    return "".join(texts)


@dataclass(frozen=True)
class StudyTexts:
    """A study's texts in a folder, ZIP, or (of a paper) text file.

    Attributes
    ----------
    study : str
    path : Path
    paper : Path or None
        The paper as a text file, for what it alone prints.
    """

    study: str
    path: Path
    paper: Path | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        """The possible requests; ``rotation_N`` for as many options as an item has."""
        if self.study == "llmasjudge":
            kinds = [f"pointwise/{g}/{r}" for g in _GUIDELINES for r in ("none", "before", "after")]
            own = [f"{kind}+reference" for kind in kinds if kind.startswith("pointwise/none/")]
            return (*kinds, *own, "pairwise/before", "pairwise/none")
        if self.study == "llm_reliability":
            return (*(f"best_response/{b}" for b in ("bbh", "squad", "mtb")), "head_to_tail")
        if self.study == "gradelab":
            turns = range(1, _MOST_OPTIONS + 1)
            return tuple(f"prompt_{k}/rotation_{r}" for k in range(1, 5) for r in turns)
        vanilla = ("vanilla", *(f"vanilla/{name}" for name in _BENCHMARKS))
        return (*vanilla, *(f"crowd/{name}" for name in _CROWDS), *_PRINTED)

    def request(self, method: str, fields: Mapping[str, Any]) -> StudyRequest:
        """The request of a method for one item.

        Parameters
        ----------
        method : str
            One of `methods`.
        fields : mapping
            The item's texts under the study's names; of ``pointwise`` also ``scale`` (10).

        Returns
        -------
        StudyRequest

        Raises
        ------
        InputError
            The method is unknown, a file is missing, or a text is computed by unsupported code.
        """
        if method not in self.methods:
            raise InputError(
                f"{self.study}: unknown request {method!r}.{nearest(method, self.methods)}"
            )
        try:
            return replace(_REQUESTS[self.study](self, method.split("/"), fields), method=method)
        except KeyError as error:
            raise InputError(f"{self.study}: {method} needs the field {error}.") from error

    def source(self, name: str) -> _Source:
        """A Python file or notebook."""
        return _parsed(name, self.raw(name))

    def raw(self, name: str) -> bytes:
        """The bytes of a file of the study."""
        limits = Limits(member_bytes=_MAX_BYTES, expanded_bytes=_MAX_BYTES)
        found = self.path / name
        if _is_archive(self.path):
            with archive(self.path, Limits(member_bytes=_MAX_BYTES)) as files:
                for member in files.names:
                    if member == name or member.partition("/")[2] == name:
                        return files.read(member)
        elif found.is_file():
            if found.stat().st_size > _MAX_BYTES:
                raise InputError(f"{name} is larger than 2 MiB, so it is not a study's code.")
            with opened(found, limits) as stream:
                return stream.read()
        raise InputError(
            f"{name} is not in {self.path}. Run judgestats items fetch {self.study}, or give the "
            "folder of the study's repository as study_files=FOLDER."
        )

    def origin(self, text: _Text) -> dict[str, Any]:
        """Where a text was read, and whether its file is the pinned one; and its digest."""
        published = {**PUBLISHED, **STUDY_DATA}[self.study].files
        known = {f.name: f.sha256 for f in published}.get(text.file)
        here = hashlib.sha256(self.raw(text.file)).hexdigest()
        at = f" {text.lines}" if text.lines else ""
        same = ", as published" if here == known else ""
        place = f"{text.file}{at} (sha256 {text.sha256[:8]}…{same})"
        if known and not same:
            place += (
                f"; {text.file} differs from the pinned file (sha256 {here[:2]}…, expected "
                f"{known[:2]}…): its own text is sent"
            )
        return {"source": place, "sha256": text.sha256}


def read_study(study: str, files: str | Path) -> StudyTexts:
    """The texts of a study in files that the user has.

    Parameters
    ----------
    study : {"llmasjudge", "llm_reliability", "gradelab", "cce"}
    files : path
        A folder or ZIP of the study's repository; of ``cce`` also the paper as a text file, next
        to the files that were fetched.

    Returns
    -------
    StudyTexts

    Raises
    ------
    InputError
        There is no such study or file.

    Examples
    --------
    >>> read_study("gradelab", ".").methods[0]
    'prompt_1/rotation_1'
    """
    if study not in _REQUESTS:
        raise InputError(
            f"study_files: unknown study {study!r}.{nearest(study, _REQUESTS)} Known: "
            f"{', '.join(_REQUESTS)}."
        )
    if not Path(files).exists():
        raise InputError(
            f"study_files: {str(files)!r} not found. Run judgestats items fetch {study}, or "
            "give the folder of the study's repository."
        )
    if study == "cce" and Path(files).is_file() and not _is_archive(Path(files)):
        return StudyTexts(study, Path("data") / study, Path(files))
    return StudyTexts(study, Path(files))


def _is_archive(path: Path) -> bool:
    return path.is_file() and head(path).startswith(b"PK")


def _chat(*messages: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in messages]


def _llmasjudge(texts: StudyTexts, method: list[str], fields: Mapping[str, Any]) -> StudyRequest:
    if method[0] == "pairwise":
        source = texts.source("core_4.py")
        name = "pairwise_comparison" + ("_no_reasoning" if method[1] == "none" else "")
        bound, branch = dict(fields), None
        params: dict[str, Any] = {"temperature": 0.5}
    else:
        source, name = texts.source(f"core{_GUIDELINES[method[1]]}.py"), "judge_response"
        branch, _, reference = method[2].partition("+")
        block = texts.source("experiment_4a.py").text("REFERENCE", {}).value if reference else ""
        scale = fields.get("scale", 10)
        bound = {"question": fields["question"], "response": fields["response"]}
        bound |= {"scale": scale, "reference": block}
        params = {"n": 10, "temperature": 0.5, "scale": scale}
    prompt = source.text("prompt", bound, within=name, branch=branch)
    functions = source.text("functions", bound, within=name, branch=branch)
    call = next(
        (
            word.value
            for call in ast.walk(ast.Module(source.definition(name), []))
            if isinstance(call, ast.Call)
            for word in call.keywords
            if word.arg == "function_call"
        ),
        None,
    )
    if call is None:
        raise InputError(f"{source.where}: no function_call in {name}.")
    return StudyRequest(
        wire="chat",
        messages=_chat(("user", prompt.value)),
        tool=functions.value,
        tool_choice=source.value(call, "function_call", bound).value,
        params=params,
        **texts.origin(prompt),
    )


def _llm_reliability(
    texts: StudyTexts, method: list[str], fields: Mapping[str, Any]
) -> StudyRequest:
    params: dict[str, Any] = {"max_tokens": 50, "top_k": 50}
    if method[0] == "head_to_tail":
        source, branch = texts.source("application_data/application_judges.py"), None
        asked: dict[str, Any] = {k: fields[k] for k in ("question", "ground_truth", "response")}
        params["temperature"] = 0.75
    else:
        source, branch = texts.source("judges.py"), method[1]
        asked = {"type": branch, "prompt": fields["prompt"], "model_responses": fields["responses"]}
    calls = [
        call
        for call in _calls(source.definition("model_judge"), branch)
        if isinstance(call.func, ast.Name) and call.func.id == "generate_judge"
    ]
    if not calls or len(calls[0].args) < 3:
        raise InputError(f"{source.where}: no call of generate_judge in model_judge.")
    expression = calls[0].args[2]
    text = source.value(expression, "the prompt", {"q_dict": asked})
    names = [n.id for n in ast.walk(expression) if isinstance(n, ast.Name)]
    prefix = next((n for n in names if n not in {"q_dict", "str"}), "judge_prompt")
    return StudyRequest(
        wire="completions",
        messages=text.value,
        params={**params, "n_calls": 100},
        **texts.origin(source.text(prefix, {})),
    )


def _gradelab(texts: StudyTexts, method: list[str], fields: Mapping[str, Any]) -> StudyRequest:
    source, within = texts.source("llm_eval.py"), "Evaluator.evaluate"
    bound = {"instruction": fields["question"]}
    user = source.text("eval_input", bound, within=within).value
    options, turns = list(fields["options"]), int(method[1].rpartition("_")[2])
    turned = [options[(i - turns) % len(options)] for i in range(len(options))]
    for index, option in enumerate(turned):
        shown = {**bound, "idx": index, "o": option}
        user += source.text("eval_input", shown, within=within, added=True).value
    name = f"prompts/judge_{method[0]}.txt"
    raw = texts.raw(name)
    system = _Text(decoded(raw, name), name, "", hashlib.sha256(raw).hexdigest())
    return StudyRequest(
        wire="chat",
        messages=_chat(("system", system.value), ("user", user)),
        params={"temperature": 0.3},
        **texts.origin(system),
    )


def _cce(texts: StudyTexts, method: list[str], fields: Mapping[str, Any]) -> StudyRequest:
    if method[0] in _PRINTED:
        text = _printed(texts, _PRINTED[method[0]])
        return StudyRequest(
            wire="chat",
            messages=_chat(("user", text.value)),
            source=f"{text.file} (sha256 {text.sha256[:8]}…)",
            sha256=text.sha256,
        )
    if method[0] == "vanilla":
        source = texts.source("src/prompt.py")
        name = _BENCHMARKS[method[1]] if len(method) > 1 else "MTBENCH_V2"
        found = source.text(name, {})
        try:
            system, template = found.value["system_prompt"], found.value["prompt_template"]
            user = _filled(template, fields, source.where)
            found = replace(found, sha256=text_sha256(template))
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{source.where}: {name} does not have the expected form.") from error
        return StudyRequest(
            wire="chat",
            messages=_chat(("system", system), ("user", user)),
            **texts.origin(found),
        )
    source = texts.source("MAIN.ipynb")
    found = source.text(_CROWDS[method[1]], {})
    given = {**fields, "previous_evaluation": previous_evaluation(fields)}
    return StudyRequest(
        wire="chat",
        messages=_chat(("user", _filled(found.value, given, source.where))),
        params={"temperature": 0.1, "model": "gpt-4o"},
        **texts.origin(found),
    )


def previous_evaluation(fields: Mapping[str, Any]) -> str:
    """A crowd's judgments as study D shows them: those against A first, models lettered from C.

    Parameters
    ----------
    fields : mapping
        ``pool_a`` and ``pool_b``: judgments (``model_name``, ``judgment``) in which a model of the
        crowd replaced A, and B.

    Returns
    -------
    str

    Examples
    --------
    >>> previous_evaluation({"pool_a": [], "pool_b": [{"model_name": "m", "judgment": "[[B]]"}]})
    '1. Evaluation between Assistant A and Assistant C:[[C]]\\n'
    """
    pools = {place: list(fields[f"pool_{place.lower()}"]) for place in "AB"}
    models = dict.fromkeys(one["model_name"] for pool in pools.values() for one in pool)
    letters = {model: chr(ord("C") + index) for index, model in enumerate(models)}
    lines: list[str] = []
    for place in "BA":
        for one in pools[place]:
            letter = letters[one["model_name"]]
            pair = f"A and Assistant {letter}" if place == "B" else f"{letter} and Assistant B"
            text = one["judgment"]
            for before, after in (
                (f"Assistant {place}", f"Assistant {letter}"),
                (f"[[{place}]]", f"[[{letter}]]"),
                (f"Response {place}", f"Assistant {letter}"),
            ):
                text = text.replace(before, after)
            lines.append(f"{len(lines) + 1}. Evaluation between Assistant {pair}:{text}\n")
    return "".join(lines)


def _printed(texts: StudyTexts, heading: str) -> _Text:
    """The text between the first pair of quotation marks after a heading of the paper."""
    path = texts.paper
    if path is None:
        raise InputError(
            f"study_files: only the paper has the instruction of {heading.lower()}. Give "
            "its text as study_files=PAPER.txt."
        )
    with opened(path, Limits(expanded_bytes=_MAX_BYTES)) as stream:
        paper = decoded(stream.read(), path.name)
    after = re.search(rf"{heading}.*?(?:“([^”]*)”|\"([^\"]*)\")", paper, re.DOTALL)
    if not after:
        raise InputError(f"{path.name}: no text in quotation marks after {heading!r}.")
    text = " ".join((after[1] or after[2]).split())
    return _Text(text, path.name, "", hashlib.sha256(text.encode()).hexdigest())


_REQUESTS = {
    "llmasjudge": _llmasjudge,
    "llm_reliability": _llm_reliability,
    "gradelab": _gradelab,
    "cce": _cce,
}
