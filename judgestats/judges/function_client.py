"""Asks a function where others ask an endpoint: the same way in, the same outcomes out."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from judgestats.judges.functions import FunctionName, accepted_by
from judgestats.judges.outcomes import Choice, Kind, Outcome, Parameter, one_line, storable
from judgestats.judges.own_loop import OwnLoop
from judgestats.judges.replies import MAX_TEXT_CHARS
from judgestats.judgments.design import Task
from judgestats.protocols.base import ReplyMode

JUDGED_HEADER = "X-Judgestats-Judged"
"""Carries what is judged, by name, to a function; it never leaves the process."""
_THREADS = 64


def judged_texts(task: Task) -> str:
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

    A function that is no coroutine runs in a thread of its own, so that one that waits holds
    nobody back: it must bear several calls at a time (``concurrency=1`` makes them one by one).
    One that is still busy past its time limit is left alone and does not keep the process from
    ending. Coroutines share a loop in a thread beside this one: one that blocks without awaiting
    fails at its limit too, with those that wait in the same loop meanwhile.

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

    async def ask(
        self, body: bytes, *, headers: Mapping[str, str] | None = None, request_id: str = ""
    ) -> Outcome:
        """Call the function once for each choice that is asked for."""
        del request_id
        request = json.loads(body)
        judged = json.loads((headers or {}).get(JUDGED_HEADER, "{}"))
        words = judged.pop("words", ("yes", "no"))
        offered = _offered(request, judged)
        started = time.perf_counter()
        try:
            texts = [
                _as_reply(await self._called(offered), words)
                for _ in range(int(request.get("n") or 1))
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

    async def _called(self, offered: Mapping[str, Any]) -> Any:
        missing = [n for n, by_name in self._takes.items() if by_name and self._needs(n)]
        if lacking := [n for n in missing if n not in offered]:
            raise LookupError(f"there is no {', '.join(lacking)} here")
        named = {n: offered[n] for n, keyword in self._takes.items() if keyword and n in offered}
        placed = [offered[n] for n, keyword in self._takes.items() if not keyword]
        call = functools.partial(self._function, *placed, **named)
        if inspect.iscoroutinefunction(self._function):
            return await self._loop.run(call(), self._timeout_s)
        value = await asyncio.wait_for(self._in_thread(call), self._timeout_s)
        return await self._loop.run(value, self._timeout_s) if inspect.isawaitable(value) else value

    async def _in_thread(self, call: Callable[[], Any]) -> Any:
        """Call in a daemon thread, which holds its place until the function returns.

        An executor's threads are joined when Python ends: one function that hangs would hang it.
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

    def _needs(self, name: str) -> bool:
        parameter = inspect.signature(self._function).parameters.get(name)
        return parameter is not None and parameter.default is parameter.empty

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
    if isinstance(value, str) and value.strip().casefold() in {"yes", "no"}:
        value = value.strip().casefold() == "yes"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return words[not value]
    if isinstance(value, int | float | dict):
        return json.dumps(value)
    raise TypeError(f"a judge gives a number, a text, yes / no or a mapping, not {value!r:.60}")
