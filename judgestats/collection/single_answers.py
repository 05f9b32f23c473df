"""Entry points: collection of a plan, and judges of single answers."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.collection.account import Collected
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.collector import collect_online
from judgestats.collection.journal import Journal
from judgestats.collection.spec import read_judges
from judgestats.data import Condition, Task, read_judgment
from judgestats.deadlines import END_SECONDS
from judgestats.errors import InputError, nearest
from judgestats.items.records import Item, Response
from judgestats.protocols.base import Scale, Status, Unit, Verdict
from judgestats.protocols.pointwise import Correctness, PassFail, Pointwise
from judgestats.protocols.replies.weighted import unpack_reply
from judgestats.protocols.template import PromptTemplate


async def collect(
    tasks: Iterable[Task], ask: CollectionRequest | None = None, **options: Any
) -> Collected:
    """Ask judges for every judgment of a plan that the journal does not hold yet.

    Parameters
    ----------
    tasks : iterable of Task
        The plan. A sequence runs judge by judge at once; a one-shot iterable is read lazily.
    ask : CollectionRequest, optional
        The request, the budget, and the journal.
    **options
        Fields of `judgestats.collection.ask.CollectionRequest` that replace those of `ask`.
        ``mode="batch"`` hands the plan to the provider's Batch API (see
        `judgestats.collection.batches.collect.collect_in_batches`).

    Returns
    -------
    Collected
        Rows, account, and why it stopped if it is not complete.

    Raises
    ------
    InputError
        An option out of range, an unknown judge, the same judgment twice in a plan.
    JudgeError
        Refused key, unknown model, or an endpoint that was never reached.
    BudgetError
        A cost limit for a judge whose price is unknown.
    StoreError
        The journal cannot be used. What was stored is kept.
    """
    ask = CollectionRequest.from_options(ask, **options)
    if ask.mode == "batch":
        from judgestats.collection.batches.collect import collect_in_batches

        return await collect_in_batches(tasks, ask)
    if ask.mode == "offline":
        from judgestats.collection.offline import collect_offline

        return await collect_offline(tasks, ask)
    return await collect_online(tasks, ask)


def collect_judgments(
    tasks: Iterable[Task], ask: CollectionRequest | None = None, **options: Any
) -> Collected:
    """`collect` for code that is not asynchronous; takes the same parameters.

    Ctrl-C (and SIGTERM) end the collection in order within seconds: requests in flight get two
    seconds to bring their answers, all answers are kept, and `Collected.message` says how to go on.
    In a notebook, where an event loop already runs, the work is done in a thread.

    Examples
    --------
    >>> from judgestats.data import Condition, Task
    >>> from judgestats.protocols.base import Prompted, ReplyMode
    >>> def build(mode):
    ...     text = "Rate from 1 to 10.\\n[The Start of Answer]\\nIt is 4.\\n[The End of Answer]"
    ...     return Prompted(
    ...         messages=({"role": "user", "content": text},), mode=ReplyMode.TEXT, prompt_sha="0"
    ...     )
    >>> task = Task(
    ...     condition=Condition(judge="sim-discerning", temperature=0.0),
    ...     item_id="q1", cluster="q1", replicate=0, build=build,
    ... )
    >>> collected = collect_judgments([task])
    >>> collected.account.answered, collected.complete
    (1, True)
    """
    ask = CollectionRequest.from_options(ask, **options)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        main_thread = threading.current_thread() is threading.main_thread()
        return asyncio.run(collect(tasks, ask, handle_signals=main_thread))
    return _run_thread(tasks, ask)


def _run_thread(tasks: Iterable[Task], ask: CollectionRequest) -> Collected:
    """Run in a thread with a separate loop; an interrupt here ends the work there."""
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Collected]]] = []
    done: Future[Collected] = Future()

    async def main() -> Collected:
        task = asyncio.create_task(collect(tasks, ask))
        running.append((asyncio.get_running_loop(), task))
        return await task

    def work() -> None:
        try:
            done.set_result(asyncio.run(main()))
        except BaseException as error:  # raised in the caller's thread below
            done.set_exception(error)

    thread = threading.Thread(target=work, name="judgestats-collect")
    thread.start()
    try:
        while not done.done():
            wait([done], _POLL_S)
    except KeyboardInterrupt:
        for loop, task in running:
            loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        thread.join(END_SECONDS)
    return done.result()


_POLL_S = 1.0
_WORDED = {kind.name: kind for kind in (PassFail, Correctness)}
PROTOCOLS = (Pointwise.name, *_WORDED)
"""How one answer can be judged: a score, pass or fail, correct or incorrect."""
_OWN = ("protocol", "prompt", "scale", "reasoning", "temperature", "journal")
_OF_ASK = ("base_url", "settings", "seed", "reply_mode", "budget", "prices", "timeout_s", "retry")


@dataclass(frozen=True, kw_only=True)
class AnswerRecord:
    """What came of one judgment.

    Attributes
    ----------
    protocol : str
    verdict : Verdict
    row : mapping of column to value
        As the raw frame has it.
    """

    protocol: str
    verdict: Verdict
    row: Mapping[str, Any]

    @property
    def value(self) -> float | bool | None:
        """The score, or whether the answer passed; None where there is no verdict."""
        if self.verdict.status is not Status.OK:
            return None
        if self.verdict.score is not None:
            return self.verdict.score
        return self.verdict.choice in {"pass", "correct"}

    @property
    def why_none(self) -> str:
        """Why there is no verdict; empty where there is one."""
        if self.verdict.status is Status.OK:
            return ""
        return self.verdict.reason or str(self.row["failure"]) or self.verdict.status.value

    @property
    def explanation(self) -> str:
        """The judge's words: its explanation, else its whole reply."""
        if self.verdict.explanation:
            return self.verdict.explanation
        return unpack_reply(str(self.row["raw_text"]))[0]

    @property
    def origin(self) -> dict[str, str]:
        """Where the verdict comes from, as words by name; what is not known is left out."""
        fields = {
            "protocol": self.protocol,
            "prompt_sha": self.row["prompt_sha"],
            "temperature": self.row["temperature"],
            "replicate": self.row["replicate"],
            "status": self.verdict.status.value,
            "model": self.row["model_reported"],
            "sent": self.row["sent"],
        }
        return {k: str(v) for k, v in fields.items() if v != "" and not pd.isna(v)}

    @property
    def usage(self) -> dict[str, float]:
        """Tokens and price of the call, by column; what is not known is left out."""
        fields = {name: float(self.row[name]) for name in ("tokens_in", "tokens_out", "cost_usd")}
        return {k: v for k, v in fields.items() if not pd.isna(v)}


class AnswerJudge:
    """Asks one judge for a verdict on single answers; every further asking is a repetition.

    What the endpoint supports is found out once and kept, as are retries and reading: those of
    every experiment. It belongs to one event loop.

    Parameters
    ----------
    judge : str
        As ``judges=`` takes one: a model, ``MODEL@ADDRESS``, ``module:function``, ``sim-typical``,
        or a YAML file of one judge.
    protocol : {"pointwise", "pass_fail", "correctness"}
    prompt : str
        A bundled prompt, a file, or a text that holds ``{response}``; empty for the protocol's own.
    scale : str
        Of `pointwise`: lowest-highest.
    reasoning : {"none", "before", "after"}
    temperature : float, optional
        None leaves it to the server.
    journal : path, optional
        Where answers are kept, so that a second process asks for none of them again.
    **ask
        Fields of `judgestats.collection.ask.CollectionRequest`: ``settings``, ``base_url``,
        ``seed``, ``reply_mode``, ``budget``, ``prices``, ``timeout_s``, ``retry``.

    Raises
    ------
    InputError
        No such judge, protocol or prompt.

    Examples
    --------
    >>> import asyncio
    >>> judged = asyncio.run(AnswerJudge("sim-discerning").judge("2+2?", "It is 4."))
    >>> judged.why_none, 1 <= judged.value <= 10
    ('', True)
    """

    def __init__(
        self,
        judge: str,
        *,
        protocol: str = "pointwise",
        prompt: str = "",
        scale: str = "1-10",
        reasoning: str = "none",
        temperature: float | None = None,
        journal: str | Path | None = None,
        **ask: Any,
    ) -> None:
        for name in ask:
            if name not in _OF_ASK:
                options = (*_OWN, *_OF_ASK)
                near = f"{nearest(name, options)} There are: {', '.join(options)}."
                raise InputError(f"a judge of single answers has no option {name!r}.{near}")
        if protocol not in PROTOCOLS:
            near = f"got {protocol!r}.{nearest(protocol, PROTOCOLS)}"
            raise InputError(f"protocol: expected {', '.join(PROTOCOLS)}, {near}")
        judges = read_judges([judge], base_url=ask.pop("base_url", ""))
        if len(judges) > 1:
            named = f"{judge} names {len(judges)} judges ({', '.join(judges)})"
            raise InputError(f"judge: {named}. A scorer is one judge: give each its own file.")
        [(self.name, spec)] = judges.items()
        if spec.function is not None:
            spec.function.load()  # one that cannot be called is named before any answer is judged
        text = prompt or protocol  # a bundled prompt's name, a file, or the text itself
        whole = "{" in text or "\n" in text
        template = PromptTemplate(text=text, name="prompt") if whole else PromptTemplate.load(text)
        self.protocol: Pointwise | Correctness = (
            Pointwise(template=template, scale=Scale.parse(scale), reasoning=reasoning)
            if protocol == Pointwise.name
            else _WORDED[protocol](template=template, reasoning=reasoning)
        )
        settings = dict(ask.pop("settings", {}))
        temperature = spec.settings.get("temperature", temperature)
        self._condition = Condition(judge=self.name, temperature=temperature)
        self._ask = CollectionRequest.from_options(None, judges=judges, settings=settings, **ask)
        self._path = journal
        self._journal: Journal | None = None
        self._asked: Counter[str] = Counter()

    async def judge(
        self,
        question: str,
        answer: str,
        *,
        reference: str = "",
        context: str = "",
        earlier: int = 0,
    ) -> AnswerRecord:
        """The verdict on one answer.

        Parameters
        ----------
        question, answer : str
        reference : str
            The true answer, where there is one; `correctness` needs it.
        context : str
            What belongs to the question: a passage, the turns before it.
        earlier : int
            How often this judge judged the answer elsewhere: this is a repetition of that.

        Returns
        -------
        AnswerRecord
            An unparsed or missing reply is one too, with its reason.

        Raises
        ------
        InputError
            The true answer is needed and not given.
        JudgeError
            The endpoint refuses the key or the model, or was never reached.
        """
        unit = self._unit(question, answer, reference, context)
        replicate = max(self._asked[unit.item_id], earlier)
        self._asked[unit.item_id] = replicate + 1
        task = Task(
            condition=self._condition,
            item_id=unit.item_id,
            cluster=unit.cluster,
            replicate=replicate,
            build=lambda mode: self.protocol.prompt(unit, mode),
            unit=unit,
        )
        if self._journal is None:
            self._journal = Journal(self._path)
        collected = await collect([task], self._ask, journal=self._journal)
        frame = pd.DataFrame() if collected.frame is None else collected.frame
        if frame.empty:
            raise InputError(f"judge {self.name!r} was not asked: {collected.message}")
        row = {str(column): value for column, value in frame.iloc[0].items()}
        verdict = read_judgment(
            self.protocol, unit, transport=row["transport"], mode=row["reply_mode"],
            text=row["raw_text"], finish_reason=row["finish_reason"], failure=row["failure"],
        )  # fmt: skip
        return AnswerRecord(protocol=self.protocol.name, verdict=verdict, row=row)

    def _unit(self, question: str, answer: str, reference: str, context: str) -> Unit:
        texts = (question, answer, reference, context)
        digest = hashlib.sha256("\x1f".join(texts).encode("utf-8", "surrogatepass"))
        cluster = hashlib.sha256(question.encode("utf-8", "surrogatepass"))
        item = Item(
            id=digest.hexdigest()[:16],
            cluster=cluster.hexdigest()[:16],
            turns=(question,),
            responses=(Response(turns=(answer,)),),
            reference=(reference,) if reference else (),
            context=context,
        )
        units = self.protocol.units((item,))
        if not units:
            none = f"there is none for the question {question[:60]!r}"
            raise InputError(f"{self.protocol.name} needs the true answer, and {none}.")
        return units[0]

    def close(self) -> None:
        """Close the journal; the next judgment opens it again."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
