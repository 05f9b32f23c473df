"""Request of a collection: what judges are asked, its limits, and where replies are kept."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from judgestats.collection.account import Account
from judgestats.collection.app_client import AsgiApp
from judgestats.collection.endpoint import Endpoint
from judgestats.collection.journal import Journal
from judgestats.collection.journal_file import Limits
from judgestats.collection.ledger import Budget
from judgestats.collection.local_model import LocalModel
from judgestats.collection.prices import PriceTable, default_prices
from judgestats.collection.request import Sampling
from judgestats.collection.retry import AdaptiveLimit, RetryPolicy
from judgestats.collection.rows import FollowUp
from judgestats.collection.spec import CHAT, JudgeSpec, parse_judge
from judgestats.data.columns import field_of
from judgestats.errors import InputError, nearest
from judgestats.protocols.base import ReplyMode

_MAX_CONCURRENCY = 4096


@dataclass(frozen=True, kw_only=True)
class CollectionRequest:
    """Request of a collection: what judges are asked, its limits, and where replies are kept.

    `collect_judgments` and the functions that it calls take one, or its fields as keywords.

    Attributes
    ----------
    journal : Journal, path or None
        Where answers are kept. None keeps none: a rehearsal. Batches need one, for their ids.
    mode : {"online", "batch", "offline"}
        ``batch`` hands the plan to the provider's Batch API; ``offline`` asks nobody: what the
        journal holds is all there is.
    base_url : str, optional
        Endpoint of judges that do not name their own.
    judges : mapping of str to JudgeSpec
        Judges by name; others are read with `parse_judge`.
    experiment : str
        Goes into the frame; money is counted by it.
    concurrency : int
        The most requests in flight, per endpoint and model (in batches the provider decides).
    choices_per_request : int
        Choices one request asks for (``n``): cheaper, and not as independent as requests.
    seed : int, optional
        Sent as ``seed + replicate`` where the endpoint accepts a seed.
    settings : mapping of field to value
        Further fields of every request (``{"max_tokens": 300, "top_p": 0.9}``), by their names in
        `judgestats.data.columns.FIELDS`; one that the endpoint refuses is left out.
    reply_mode : ReplyMode, optional
        Forces a reply mode instead of finding the best the judge supports.
    budget : Budget
        In batches requests are handed in as far as it reaches, their estimates held back.
    prices : PriceTable
        Default: the bundled table.
    timeout_s : float
        Limit of one request, in seconds.
    retry : RetryPolicy
    progress : bool, str or function
        True shows a bar (a terminal) or lines (elsewhere) on stderr; a text is its label. A
        function is given the `Account` now and then; in batches, a line whenever one moves on.
    follow_up : function, optional
        Called with each row that is done; gives (or awaits) the tasks that follow from it.
    stream_to : path, optional
        Write rows to Parquet parts in this folder instead of one frame: memory stays flat.
    simulated_app : ASGI application, optional
        Answers instead of the bundled simulated server.
    handle_signals : bool
        Whether SIGINT and SIGTERM end the collection in order (a second one at once); batches go
        on on the server.
    limits : Limits, optional
        Of batches: sizes, number of rounds, seconds between two looks.
    sleep : function of seconds
        Waits between two looks at a batch.

    Examples
    --------
    >>> ask = CollectionRequest.from_options(seed=1, settings={"max_tokens": 20})
    >>> ask.sampling.seed, ask.concurrency, CollectionRequest.from_options(ask,
    ...     seed=2).sampling.seed
    (1, 32, 2)
    >>> CollectionRequest.from_options(sed=1)
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: collect: there is no option 'sed'. Did you mean seed?
    """

    journal: Journal | str | Path | None = None
    mode: str = "online"
    base_url: str | None = None
    judges: Mapping[str, JudgeSpec] = field(default_factory=dict)
    experiment: str = ""
    concurrency: int = 32
    choices_per_request: int = 1
    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    reply_mode: ReplyMode | None = None
    budget: Budget = field(default_factory=Budget)
    prices: PriceTable = field(default_factory=default_prices)
    timeout_s: float = 120.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    progress: bool | str | Callable[[Account], None] | Callable[[str], None] = False
    follow_up: FollowUp | None = None
    stream_to: str | Path | None = None
    simulated_app: AsgiApp | None = None
    handle_signals: bool = False
    limits: Limits | None = None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def __post_init__(self) -> None:
        if self.mode not in {"online", "batch", "offline"}:
            raise InputError(f"mode: expected online, batch or offline, got {self.mode!r}.")
        _check_range("concurrency", self.concurrency, 1, _MAX_CONCURRENCY, "requests in flight")
        _check_range("choices_per_request", self.choices_per_request, 1, 128)
        for name, value in self.settings.items():
            if name == "temperature":
                raise InputError("settings: a temperature belongs to a condition, not to settings.")
            field_of(name).check(value)
        if not self.timeout_s > 0:
            raise InputError(f"timeout_s: expected seconds above 0, got {self.timeout_s}.")
        if self.seed is not None and not 0 <= self.seed < 2**31:
            raise InputError(f"seed: expected 0 to 2**31 - 1, got {self.seed}.")
        object.__setattr__(self, "judges", dict(self.judges))  # names that are read are added

    @classmethod
    def from_options(
        cls, ask: CollectionRequest | None = None, /, **options: Any
    ) -> CollectionRequest:
        """An ask, with some of its fields changed; None leaves a field as it is.

        Raises
        ------
        InputError
            An unknown option, or one out of range.
        """
        names = [f.name for f in fields(cls)]
        for name in options:
            if name not in names:
                raise InputError(f"collect: there is no option {name!r}.{nearest(name, names)}")
        given = {name: value for name, value in options.items() if value is not None}
        return replace(ask or cls(), **given)

    @cached_property
    def sampling(self) -> Sampling:
        """What every request carries."""
        return Sampling(seed=self.seed, choices=self.choices_per_request, settings=self.settings)

    @contextlib.contextmanager
    def opened_journal(self) -> Iterator[Journal]:
        """The journal; closed again where it was given as a path."""
        if isinstance(self.journal, Journal):
            yield self.journal
        else:
            with Journal(self.journal) as journal:
                yield journal

    def judge(self, name: str) -> JudgeSpec:
        """A judge by its name; one that was not handed over is read from the name."""
        if name not in self.judges:
            spec = parse_judge(name, base_url=self.base_url)
            object.__setattr__(self, "judges", {**self.judges, name: spec})
        spec = self.judges[name]
        if self.mode != "online" and spec.function is not None:
            raise InputError(f"mode={self.mode}: {name} is a function; leave mode out to call it.")
        if spec.local is not None:
            self._check_local(spec, spec.local)
        return spec

    def _check_local(self, spec: JudgeSpec, model: LocalModel) -> None:
        if spec.wire == CHAT and not model.chat:
            raise InputError(
                f"judges: {model.path.name} holds no chat template: it is a base model. Use the "
                "instruct model of the family, or send raw text: wire=completions."
            )
        if self.mode != "online":
            raise InputError(f"mode={self.mode}: {spec.name} runs in this process. Leave mode out.")
        mode = self.reply_mode or spec.reply_mode
        if mode in {ReplyMode.TOOL, ReplyMode.LOGPROBS}:
            raise InputError(f"reply={mode}: {spec.name} answers reply=json_schema or reply=text.")

    def reply_modes(self, endpoints: Mapping[tuple[str, str], Endpoint]) -> dict[str, str]:
        """In which mode each judge was asked, of those whose endpoint was opened."""
        return {
            name: endpoints[spec.capability_key].abilities.mode.value
            for name, spec in self.judges.items()
            if spec.capability_key in endpoints
        }

    def endpoint(
        self, spec: JudgeSpec, *, journal: Journal, limit: AdaptiveLimit | None = None
    ) -> Endpoint:
        """What all requests to a judge share."""
        price = self.prices.price(spec)
        in_batch = self.mode == "batch"
        return Endpoint(
            spec,
            concurrency=1 if in_batch else spec.concurrency or self.concurrency,
            journal=journal,
            price=price.batch_price if in_batch else price,
            reply_mode=self.reply_mode or spec.reply_mode,
            experiment=self.experiment,
            limit=limit,
        )

    def for_worker(self, budget: Budget) -> CollectionRequest:
        """The same for a worker elsewhere, without what cannot travel: journal, keys, functions."""
        return replace(
            self, journal=None, judges={}, budget=budget, progress=False, follow_up=None,
            stream_to=None, handle_signals=False,
        )  # fmt: skip


def _check_range(name: str, value: int, least: int, most: int, unit: str = "") -> None:
    if not least <= value <= most:
        of_what = f" {unit}" if unit else ""
        raise InputError(f"{name}: expected {least} to {most}{of_what}, got {value}.")
