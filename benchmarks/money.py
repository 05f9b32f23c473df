"""What ``max_cost`` lets through at servers that misbehave: docs/simulations/money.md.

python -m benchmarks.money    # print the table
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgestats.collection.ledger import Budget
from judgestats.collection.prices import Price, PriceTable
from judgestats.collection.single_answers import collect_judgments
from judgestats.data.columns import Condition, Task
from judgestats.items.records import Item, Response
from judgestats.protocols.pointwise import Pointwise
from tests.batch_server import BatchServer

CAP = 1.0
PRICES = PriceTable(
    as_of="2026-01-01",
    source="invented",
    endpoints={"simulated": {"*": Price(input=10.0, output=40.0)}},
)
BOUND = 100


class Adversary(BatchServer):
    """Answers as the simulated judge does, and reports the tokens that `lie` makes of it."""

    def __init__(self, lie: Callable[[Turn], Bill]) -> None:
        super().__init__()
        self.lie, self.count, self.billed, self.share = lie, 0, 0.0, 1.0
        inner = self._completions.reply

        def reply(request: dict[str, Any], *arguments: Any, **options: Any) -> dict[str, Any]:
            made = inner(request, *arguments, **options)
            self.count += 1
            bound = request.get("max_completion_tokens") or request.get("max_tokens")
            honest = made["usage"]
            tokens_in, tokens_out, usage = self.lie(
                Turn(
                    number=self.count,
                    tokens_in=honest["prompt_tokens"],
                    tokens_out=honest["completion_tokens"],
                    bound=bound,
                )
            )
            self.billed += self.share * (tokens_in * 10.0 + tokens_out * 40.0) / 1e6
            return {**made, "usage": usage}

        self._completions.reply = reply  # type: ignore[method-assign]

    async def _answered_in_batch(self, body: bytes, draw: bytes) -> tuple[int, bytes]:
        self.share = 0.5
        try:
            return await super()._answered_in_batch(body, draw)
        finally:
            self.share = 1.0


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What an adversary knows of a request: its number, the honest tokens, the reply's bound."""

    number: int
    tokens_in: int
    tokens_out: int
    bound: int | None

    def least(self, tokens: int) -> int:
        """So many tokens, or as many as the bound allows."""
        return tokens if self.bound is None else min(tokens, self.bound)


Bill = tuple[int, int, dict[str, int]]
"""Tokens billed, in and out, and what is reported of them."""


def open_bill(tokens_in: int, tokens_out: int) -> Bill:
    """A bill that is reported as it is."""
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    return tokens_in, tokens_out, {**usage, "total_tokens": tokens_in + tokens_out}


def hidden(turn: Turn) -> Bill:
    """3,000 tokens of reasoning, which stand in the total alone."""
    out = turn.least(3_000)
    return 300, out, {**open_bill(300, 10)[2], "total_tokens": 300 + out}


SERVERS: dict[str, Callable[[Turn], Bill]] = {
    "honest": lambda turn: open_bill(turn.tokens_in, turn.tokens_out),
    "always 5,000 tokens, or max_tokens": lambda turn: open_bill(300, turn.least(5_000)),
    "ever longer, up to max_tokens": lambda turn: open_bill(
        300, turn.least(10 * 2 ** min(turn.number // 8, 16))
    ),
    "short 40 times, then 8,000 or max_tokens": lambda turn: open_bill(
        300, 10 if turn.number <= 40 else turn.least(8_000)
    ),
    "4,000 tokens, whatever max_tokens says": lambda _: open_bill(300, 4_000),
    "tells no tokens": lambda turn: (300, turn.least(30), {"total_tokens": 0}),
    "bills 20,000 tokens for every prompt": lambda turn: open_bill(20_000, turn.least(10)),
    "tells its reasoning in total_tokens only": hidden,
}


def tasks(replicates: int) -> list[Task]:
    protocol = Pointwise()
    items = tuple(
        Item(id=f"q{i}", cluster=f"q{i}", turns=(f"{i}?",), responses=(Response(turns=(f"{i}",)),))
        for i in range(40)
    )
    return [
        Task(
            condition=Condition(judge="sim-typical", temperature=1.0),
            item_id=unit.item_id,
            cluster=unit.cluster,
            replicate=r,
            build=lambda mode, unit=unit: protocol.prompt(unit, mode),  # type: ignore[misc]
        )
        for unit in protocol.units(items)
        for r in range(replicates)
    ]


def spent(
    lie: Callable[[Turn], Bill],
    *,
    mode: str,
    bound: int | None,
    cap: float = CAP,
    replicates: int = 10,
) -> tuple[float, float, str]:
    """Dollars billed after one run, and after the same command again; what was said of it."""
    app = Adversary(lie)
    options: dict[str, Any] = {"mode": mode, "simulated_app": app, "prices": PRICES}
    if mode == "batch":
        options["sleep"] = lambda _: asyncio.sleep(0)
    if bound is not None:
        options["settings"] = {"max_tokens": bound}
    plan, limit = tasks(replicates), Budget(max_cost=cap)
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.db"
        once = collect_judgments(plan, journal=journal, budget=limit, **options)
        first = app.billed
        collect_judgments(plan, journal=journal, budget=limit, **options)
    words = " ".join((once.message, *once.notes))
    said = next((what for what in ("overrun", "no promise") if what in words), "-")
    return first, app.billed, said


def rows() -> list[dict[str, Any]]:
    found = []
    for name, lie in SERVERS.items():
        for mode in ("online", "batch"):
            for bound in (BOUND, None):
                first, twice, said = spent(lie, mode=mode, bound=bound)
                found.append(
                    {"server": name, "mode": mode, "max_tokens": bound, "first": first,
                     "twice": twice, "said": said}
                )  # fmt: skip
    return found


def main() -> None:
    """Print the table."""
    print("| server | mode | max_tokens | dollars: one run, two | message |")
    print("|---|---|---|---|---|")
    for row in rows():
        print(
            f"| {row['server']} | {row['mode']} | {row['max_tokens'] or 'none'} "
            f"| {row['first']:.2f}, {row['twice']:.2f} | {row['said']} |"
        )


if __name__ == "__main__":
    main()
