"""On which terms judges are asked: what requests carry, what may be spent, how long one tries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgestats.errors import InputError
from judgestats.judges.budget import Budget
from judgestats.judges.client import JudgeClient
from judgestats.judges.endpoint import Endpoint
from judgestats.judges.journal import Journal
from judgestats.judges.prices import PriceTable, default_prices
from judgestats.judges.request import Sampling
from judgestats.judges.retry import RetryPolicy
from judgestats.judges.spec import JudgeSpec, parse_judge
from judgestats.judgments.settings import field_of
from judgestats.protocols.base import ReplyMode

__all__ = ["Terms"]

_MAX_CONCURRENCY = 4096


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The options that asking one by one and asking in batches share, checked.

    Parameters are those of `judgestats.judges.collect.collect`; `Terms.of` fills in what is left
    out.
    """

    judges: dict[str, JudgeSpec]
    base_url: str | None
    experiment: str
    concurrency: int
    sampling: Sampling
    reply_mode: ReplyMode | None
    budget: Budget
    prices: PriceTable
    timeout_s: float
    retry: RetryPolicy

    def __post_init__(self) -> None:
        _check_range("concurrency", self.concurrency, 1, _MAX_CONCURRENCY, "requests in flight")
        _check_range("choices_per_request", self.sampling.choices, 1, 128)
        for name, value in self.sampling.settings.items():
            if name == "temperature":
                raise InputError("settings: a temperature belongs to a condition, not to settings.")
            field_of(name).check(value)
        if not self.timeout_s > 0:
            raise InputError(
                f"timeout_s: expected a positive number of seconds, got {self.timeout_s}."
            )
        seed = self.sampling.seed
        if seed is not None and not 0 <= seed < 2**31:
            raise InputError(f"seed: expected 0 to 2**31 - 1, got {seed}.")

    @classmethod
    def of(
        cls,
        *,
        judges: Mapping[str, JudgeSpec] | None,
        budget: Budget | None,
        prices: PriceTable | None,
        retry: RetryPolicy | None,
        choices_per_request: int,
        seed: int | None,
        settings: Mapping[str, Any] | None,
        **others: Any,
    ) -> Terms:
        """The terms, with the defaults of what is None.

        Raises
        ------
        InputError
            An option out of range.
        """
        return cls(
            judges=dict(judges or {}),
            budget=budget or Budget(),
            prices=prices or default_prices(),
            retry=retry or RetryPolicy(),
            sampling=Sampling(seed=seed, choices=choices_per_request, settings=settings or {}),
            **others,
        )

    def again(self, *, concurrency: int) -> dict[str, Any]:
        """The same terms as options of `collect`, for a collection within this one."""
        return {
            "judges": self.judges,
            "base_url": self.base_url,
            "experiment": self.experiment,
            "concurrency": concurrency,
            "choices_per_request": self.sampling.choices,
            "seed": self.sampling.seed,
            "settings": self.sampling.settings,
            "reply_mode": self.reply_mode,
            "budget": self.budget,
            "prices": self.prices,
            "timeout_s": self.timeout_s,
            "retry": self.retry,
        }

    def judge(self, name: str) -> JudgeSpec:
        """A judge by its name; one that was not handed over is read from the name."""
        if name not in self.judges:
            self.judges[name] = parse_judge(name, base_url=self.base_url)
        return self.judges[name]

    def endpoint(
        self,
        spec: JudgeSpec,
        *,
        client: JudgeClient,
        journal: Journal,
        in_batch: bool = False,
    ) -> Endpoint:
        """What all requests to a judge's model share."""
        price = self.prices.price(spec)
        return Endpoint(
            spec,
            client=client,
            concurrency=1 if in_batch else spec.concurrency or self.concurrency,
            journal=journal,
            price=price.in_batch if in_batch else price,
            reply_mode=self.reply_mode or spec.reply_mode,
            experiment=self.experiment,
        )


def _check_range(name: str, value: int, least: int, most: int, unit: str = "") -> None:
    if not least <= value <= most:
        of_what = f" {unit}" if unit else ""
        raise InputError(f"{name}: expected {least} to {most}{of_what}, got {value}.")
