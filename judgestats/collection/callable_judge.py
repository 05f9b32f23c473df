"""Judges that are functions."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import json
import re
import sys
import sysconfig
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from judgestats.collection.response import MAX_TEXT_CHARS
from judgestats.collection.retry import Choice, Kind, Outcome, Parameter, one_line, storable
from judgestats.data.columns import Task
from judgestats.errors import InputError, JudgeError, nearest
from judgestats.files.text import decode_json
from judgestats.protocols.base import ReplyMode

_MOST_FILES = 500
_INSTALLED = tuple(
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib")
)


def source_digest(module: str, file: Path | None) -> str:
    """Digest (12 digits) of a module's file and of its imports from the same folder.

    What is installed, what is imported by other means than a statement, and files that are only
    read (a prompt, weights) are not seen.

    Parameters
    ----------
    module : str
        Its dotted name.
    file : Path or None
        None where the module has no file.

    Returns
    -------
    str
        Of the file alone where it imports nothing from its folder.

    Examples
    --------
    >>> source_digest("nothing", None)
    'e3b0c44298fc'
    """
    if file is None or not file.is_file():
        return hashlib.sha256(b"").hexdigest()[:12]
    file = file.resolve()
    root = file.parents[module.count(".") + (file.name == "__init__.py")]
    texts = {module: file.read_bytes()}
    left = [] if any(map(root.is_relative_to, _INSTALLED)) else [(module, file)]
    while left and len(texts) < _MOST_FILES:  # what is imported from below the root, each once
        name, place = left.pop()
        package = name if place.name == "__init__.py" else name.rpartition(".")[0]
        for wanted in _imports(texts[name], package):
            path = root.joinpath(*wanted.split("."))
            for one in (path / "__init__.py", path.with_suffix(".py")):
                if wanted not in texts and one.is_file():
                    texts[wanted] = one.read_bytes()
                    left.append((wanted, one))
    whole = texts.pop(module)
    for name in sorted(texts):
        whole += b"\0" + name.encode() + b"\0" + texts[name]
    return hashlib.sha256(whole).hexdigest()[:12]


def _imports(text: bytes, package: str) -> Iterator[str]:
    """The modules that a file's statements may mean, packages above them included.

    Examples
    --------
    >>> sorted(_imports(b"import a.b\\nfrom . import c", "p"))
    ['a', 'a.b', 'p', 'p.c']
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # told when it is imported
        return
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = [*above, node.module] if node.level else [node.module]
            names = [".".join(p for p in (*base, alias.name) if p) for alias in node.names]
        for name in names:
            yield from accumulate(name.split("."), "{}.{}".format)


_NAME = re.compile(r"(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):(?P<function>[A-Za-z_]\w*)")
_FILE = re.compile(r"(?P<path>[^:@]+\.py):(?P<function>\w+)")
_STORED = re.compile(r"mlflow:(?:(?P<experiment>.+)/)?(?P<name>[^/]+)")
OFFERED = (
    "prompt", "messages", "temperature", "seed", "question", "answer", "answers", "reference",
    "context", "inputs", "outputs", "expectations",
)  # fmt: skip
"""What a function may name among its parameters."""


@dataclass(frozen=True, kw_only=True)
class FunctionName:
    """Where a function that judges stands.

    Attributes
    ----------
    name : str
        As the user wrote it.
    digest : str
        Of the file that defines it and its imports from the same folder, or of the stored judge. A
        judge with another digest is another judge: it has its own answers.
    """

    name: str
    digest: str

    def load(self) -> Callable[..., Any]:
        """The function itself.

        Raises
        ------
        InputError
            There is none of the name, it cannot be imported, or it wants what is not offered.
        """
        if stored := _STORED.fullmatch(self.name):
            return _load_scorer(stored["experiment"] or "", stored["name"])
        module, _, function = self.name.partition(":")
        _look_here()
        try:
            holder = importlib.import_module(module)
        except Exception as error:
            why = f"importing {module} fails ({type(error).__name__}: {error})"
            raise InputError(f"judges: {self.name}: {why}.") from error
        member: Callable[..., Any] | None = getattr(holder, function, None)
        if member is None or not callable(member):
            names = [n for n, v in vars(holder).items() if callable(v) and not n.startswith("_")]
            near = nearest(function, names)
            raise InputError(f"judges: {module} has no function {function!r}.{near}")
        accepted_by(member, self.name)
        return member


def function_named(name: str, *, served: bool) -> FunctionName | None:
    """The function that a judge's name means; None where it is a model's name.

    Parameters
    ----------
    name : str
    served : bool
        Whether a model of the name could be asked at an address that the user gave (Ollama's
        models have a colon too): a module that is not there is then no fault.

    Raises
    ------
    InputError
        There is no such module or stored judge.

    Examples
    --------
    >>> function_named("gpt-4o-mini", served=False) is None
    True
    >>> function_named("mistral:instruct", served=True) is None
    True
    >>> function_named("json:dumps", served=False).name
    'json:dumps'
    """
    if as_file := _FILE.fullmatch(name):
        written = f"{Path(as_file['path']).stem}:{as_file['function']}"
        raise InputError(f"judges: {name!r}: write {written} and start in the file's folder.")
    if stored := _STORED.fullmatch(name):
        judge = _load_scorer(stored["experiment"] or "", stored["name"])
        dump = getattr(judge, "model_dump_json", None)  # its instructions, model and kind of value
        text = dump() if callable(dump) else repr(judge)
        return FunctionName(name=name, digest=hashlib.sha256(text.encode()).hexdigest()[:12])
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    _look_here()
    try:
        spec = importlib.util.find_spec(match["module"])
    except Exception:
        # a package that fails while it is imported is looked for, and told, when it is loaded
        spec = None
        if importlib.util.find_spec(match["module"].split(".", maxsplit=1)[0]) is not None:
            return FunctionName(name=name, digest="")
    if spec is None:
        if served:
            return None
        raise InputError(
            f"judges: {name!r}: there is no module {match['module']!r} in {Path.cwd()} or on "
            f"PYTHONPATH. For a model of that name, write {name}@http://host/v1."
        )
    source = Path(spec.origin) if spec.origin else None
    return FunctionName(name=name, digest=source_digest(match["module"], source))


def accepted_by(function: Callable[..., Any], name: str) -> Mapping[str, bool]:
    """Which of `OFFERED` a function takes, and whether by keyword.

    A function with one parameter of another name is given the prompt.

    Examples
    --------
    >>> accepted_by(lambda text: "8", "mine:judge")
    {'prompt': False}
    >>> accepted_by(lambda question, answer: 8, "mine:judge")
    {'question': True, 'answer': True}

    Raises
    ------
    InputError
        It wants what is not offered.
    """
    parameters = list(inspect.signature(function).parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return dict.fromkeys(OFFERED, True)
    wanted = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    if len(wanted) == 1 and wanted[0].name not in OFFERED:
        others = (p.name for p in parameters if p is not wanted[0])
        return {"prompt": False, **{n: True for n in others if n in OFFERED}}
    strange = [p.name for p in wanted if p.name not in OFFERED or p.kind is p.POSITIONAL_ONLY]
    if strange:
        takes = f"It may take {', '.join(OFFERED)}, or one text: the prompt."
        raise InputError(
            f"judges: {name} wants {', '.join(strange)}, which no judge is given. {takes}"
        )
    return {p.name: True for p in parameters if p.name in OFFERED}


def _look_here() -> None:
    """Look for modules in the current folder too, as ``python -m`` does."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)


def _load_scorer(experiment: str, name: str) -> Callable[..., Any]:
    """A judge registered in MLflow's store, in the experiment named or the only one that has it."""
    import mlflow
    from mlflow.exceptions import MlflowException
    from mlflow.genai.scorers import get_scorer, list_scorers

    listed = mlflow.search_experiments()
    if experiment:
        listed = [e for e in listed if e.name == experiment]
        if not listed:
            raise InputError(f"judges: mlflow:{experiment}/{name}: there is no such experiment.")
    having: dict[str, str] = {}
    names: list[str] = []
    for each in listed:
        try:
            here = [s.name for s in list_scorers(experiment_id=each.experiment_id)]
        except MlflowException as error:
            why = f"the store keeps no judges ({type(error).__name__})"
            how = "Use a database, such as MLFLOW_TRACKING_URI=sqlite:///mlflow.db."
            raise InputError(f"judges: mlflow:{name}: {why}. {how}") from None
        names += here
        if name in here:
            having[each.name] = each.experiment_id
    if not having:
        near = nearest(name, names)
        raise InputError(f"judges: no judge {name!r} is registered in MLflow's store.{near}")
    if len(having) > 1:
        which = ", ".join(f"mlflow:{e}/{name}" for e in having)
        raise InputError(f"judges: several experiments have {name!r}. Write one of {which}.")
    scorer: Callable[..., Any] = get_scorer(name=name, experiment_id=next(iter(having.values())))
    return scorer


_RESPONSE_S = 1.0
_START_S = 30.0


class OwnLoop:
    """Awaits what may block without ever blocking the one who waits.

    All awaitables share one loop, so that a client that a module keeps stays usable; once that
    loop is found blocked, it is left to itself and later ones get a new one.

    Examples
    --------
    >>> async def gives_seven():
    ...     return 7
    >>> async def seven():
    ...     loop = OwnLoop()
    ...     try:
    ...         return await loop.run(gives_seven(), 5.0)
    ...     finally:
    ...         loop.close()
    >>> asyncio.run(seven())
    7
    """

    def __init__(self) -> None:
        self._threads: list[_LoopThread] = []

    async def run(self, awaitable: Awaitable[Any], timeout_s: float) -> Any:
        """Await it in the other thread.

        Raises
        ------
        TimeoutError
            It took longer, blocking or not.
        """
        if not self._threads:
            self._threads.append(_LoopThread())
        thread = self._threads[-1]
        try:
            return await asyncio.wait_for(thread.submit(awaitable), timeout_s)
        except TimeoutError:
            if thread is self._threads[-1]:
                try:
                    answer = thread.submit(asyncio.sleep(0))
                    await asyncio.wait_for(answer, min(timeout_s, _RESPONSE_S))
                except TimeoutError:
                    self._threads.append(_LoopThread())
            raise

    def close(self) -> None:
        """End the loops, as soon as each of them lets itself be ended."""
        for thread in self._threads:
            thread.stop()
        self._threads.clear()


class _LoopThread:
    """A daemon thread: the process ends whatever blocks it."""

    def __init__(self) -> None:
        ready = threading.Event()
        threading.Thread(
            target=lambda: asyncio.run(self._serve(ready)), name="judge", daemon=True
        ).start()
        if not ready.wait(_START_S):
            raise JudgeError(f"The judge's event loop did not start in {_START_S:.0f} s.")

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        ready.set()
        await self._stopped.wait()

    def submit(self, awaitable: Awaitable[Any]) -> asyncio.Future[Any]:
        async def awaited() -> Any:
            try:
                return await awaitable
            except (SystemExit, KeyboardInterrupt) as error:  # would end the loop with all in it
                raise RuntimeError(f"{type(error).__name__}: {error}") from error

        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(awaited(), self._loop))

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._stopped.set)


JUDGED_HEADER = "X-Judgestats-Judged"
"""Carries what is judged, by name, to a function; it never leaves the process."""
_THREADS = 64


def task_inputs(task: Task) -> str:
    """What is judged, as JSON: question, answers as shown, reference, context.

    With them the two words of a protocol that wants one of two, the better first.
    """
    unit = task.unit
    if unit is None:
        return "{}"
    item = unit.item
    schema = task.build(ReplyMode.JSON_SCHEMA).schema
    members = schema.schema.get("properties", {}).values() if schema is not None else ()
    words = next((list(m["enum"]) for m in members if len(m.get("enum", ())) == 2), None)
    texts = [item.responses[i].text for i in unit.shown]
    named = {
        "question": item.question,
        "answer": texts[0] if len(texts) == 1 else None,
        "answers": texts,
        "reference": item.reference[-1] if item.reference else None,
        "context": item.context or None,
        "words": words,
    }
    return json.dumps({name: value for name, value in named.items() if value is not None})


class FunctionClient(AbstractAsyncContextManager["FunctionClient"]):
    """Calls a function with what a request holds; its own errors are outcomes, never raised.

    A function that is not a coroutine runs in a separate thread, so that a slow call does not delay
    others. It must be safe to call several times at once (``concurrency=1`` calls it one by one). A
    call past its time limit is abandoned and does not keep the process from ending. Coroutines
    share the event loop of another thread. One that blocks without awaiting fails at its limit, as
    do those that wait in the same loop.

    Parameters
    ----------
    name : FunctionName
    timeout_s : float
        Limit of one call, in seconds.
    """

    def __init__(self, name: FunctionName, *, timeout_s: float = 120.0) -> None:
        self._name = name.name
        self._function: Callable[..., Any] = name.load()
        self._takes = accepted_by(self._function, self._name)
        self._timeout_s = timeout_s
        self._threads = asyncio.Semaphore(_THREADS)
        self._loop = OwnLoop()

    async def __aexit__(self, *error: object) -> None:
        self._loop.close()

    async def ask(self, body: bytes, *, headers: Mapping[str, str] | None = None) -> Outcome:
        """Call the function once for each choice that is asked for."""
        request = decode_json(body)
        judged = decode_json((headers or {}).get(JUDGED_HEADER, "{}"))
        words = judged.pop("words", ("yes", "no"))
        offered = _offered(request, judged)
        started = time.perf_counter()
        try:
            texts = [
                _as_reply(await self._call_function(offered), words)
                for _ in range(int(request.get("n") or 1))  # size: our own request
            ]
        except TimeoutError:
            return self._failed(Kind.TIMED_OUT, "too late; --timeout allows more", started)
        except Exception as error:  # whatever a user's function raises is this judgment's failure
            words = f"{type(error).__name__}: {error}"
            return self._failed(Kind.BAD_REQUEST, words, started)
        if any(len(text) > MAX_TEXT_CHARS for text in texts):
            words = f"a reply is longer than {MAX_TEXT_CHARS} characters"
            return self._failed(Kind.TOO_LARGE, words, started)
        return Outcome(
            kind=Kind.ANSWERED,
            choices=tuple(Choice(storable(text), "stop") for text in texts),
            model=self._name,
            latency_s=time.perf_counter() - started,
        )

    async def _call_function(self, offered: Mapping[str, Any]) -> Any:
        parameters = inspect.signature(self._function).parameters
        needed = [n for n, p in parameters.items() if self._takes.get(n) and p.default is p.empty]
        if lacking := [n for n in needed if n not in offered]:
            raise LookupError(f"there is no {', '.join(lacking)} here")
        named = {n: offered[n] for n, keyword in self._takes.items() if keyword and n in offered}
        placed = [offered[n] for n, keyword in self._takes.items() if not keyword]
        call = functools.partial(self._function, *placed, **named)
        if inspect.iscoroutinefunction(self._function):
            return await self._loop.run(call(), self._timeout_s)
        value = await asyncio.wait_for(self._call_thread(call), self._timeout_s)
        return await self._loop.run(value, self._timeout_s) if inspect.isawaitable(value) else value

    async def _call_thread(self, call: Callable[[], Any]) -> Any:
        """Call in a daemon thread, which holds its position until the function returns.

        An executor's threads are joined when Python ends: one function that blocks would block it.
        """
        await self._threads.acquire()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

        def settle(value: Any, error: BaseException | None) -> None:
            self._threads.release()
            if not done.done():  # else nobody waits any more
                done.set_result((value, error))

        def work() -> None:
            value, fault = None, None
            try:
                value = call()
            except BaseException as error:  # SystemExit too is this judgment's failure
                fault = error
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(settle, value, fault)

        threading.Thread(target=work, name="judge", daemon=True).start()
        value, fault = await done
        if isinstance(fault, Exception):
            raise fault
        if fault is not None:
            raise RuntimeError(f"{type(fault).__name__}: {fault}") from fault
        return value

    def _failed(self, kind: Kind, words: str, started: float) -> Outcome:
        return Outcome(
            kind=kind,
            detail=one_line(words),
            about=Parameter.CONTENT,  # nothing of the request is to blame: nothing is learned
            latency_s=time.perf_counter() - started,
        )


def _offered(request: Mapping[str, Any], judged: Mapping[str, Any]) -> dict[str, Any]:
    """What a function may be given, by name."""
    messages = request["messages"]
    offered = {"prompt": "\n\n".join(m["content"] for m in messages), "messages": messages}
    offered |= {n: request[n] for n in ("temperature", "seed") if request.get(n) is not None}
    offered |= judged
    if "question" in judged:
        about = {n: judged[n] for n in ("question", "context") if n in judged}
        answers = judged["answers"]
        offered["inputs"] = about
        offered["outputs"] = judged.get("answer") or dict(zip("abcdefghij", answers, strict=False))
        if "reference" in judged:
            offered["expectations"] = {"expected_response": judged["reference"]}
    return offered


def _as_reply(value: Any, words: Sequence[str] = ("yes", "no")) -> str:
    """What a function returned, as a reply to be read; yes and no in the words asked for.

    Examples
    --------
    >>> _as_reply(8), _as_reply(True), _as_reply({"score": 8, "why": "clear"})
    ('8', 'yes', '{"score": 8, "why": "clear"}')
    >>> _as_reply("No", ("correct", "incorrect"))
    'incorrect'
    """
    if hasattr(value, "value") and hasattr(value, "rationale"):  # MLflow's Feedback
        if getattr(value, "error", None) is not None:
            raise RuntimeError(str(value.error))
        value = value.value
    value = value.item() if hasattr(value, "item") and not isinstance(value, str) else value
    if isinstance(value, str):
        said = value.strip().casefold()
        return words[said == "no"] if said in {"yes", "no"} else value
    if isinstance(value, bool):
        return words[not value]
    if isinstance(value, int | float | dict):
        return json.dumps(value)
    raise TypeError(f"a judge gives a number, a text, yes / no or a mapping, not {value!r:.60}")
