"""What ``max_cost`` lets through at servers that misbehave: docs/simulations/money.md.

python -m benchmarks.money               # print the table of servers that bill
python -m benchmarks.money --overruns    # write docs/simulations/overruns.csv, of servers that lie
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import math
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from judgestats.collection import (
    Budget,
    Journal,
    Price,
    PriceTable,
    collect_distributed,
    collect_judgments,
    parse_judge,
)
from judgestats.collection.account import Account
from judgestats.data import Condition, Task
from judgestats.engine import Engine
from judgestats.items import Item, Response
from judgestats.protocols import Pointwise
from judgestats.simulated import run_server
from tests.batch_server import BatchFaults, BatchServer

CAP = 1.0
BOUND = 100


def prices(place: str = "simulated") -> PriceTable:
    """Dollars per million tokens of every model of a place."""
    each = {"*": Price(input=10.0, output=40.0)}
    return PriceTable(as_of="2026-01-01", source="invented", endpoints={place: each})


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


def tasks(replicates: int, *, items: int = 40, url: str = "") -> list[Task]:
    """Judgments of answers."""
    protocol = Pointwise()
    asked = tuple(
        Item(id=f"q{i}", cluster=f"q{i}", turns=(f"{i}?",), responses=(Response(turns=(f"{i}",)),))
        for i in range(items)
    )
    return [
        Task(
            condition=Condition(judge="sim-typical" + (url and f"@{url}"), temperature=1.0),
            item_id=unit.item_id,
            cluster=unit.cluster,
            replicate=r,
            build=partial(protocol.prompt, unit),
        )
        for unit in protocol.units(asked)
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
    options: dict[str, Any] = {"mode": mode, "simulated_app": app, "prices": prices()}
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
    said = next((what for what in ("overrun", "not a promise") if what in words), "-")
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


WORDS = "The answer is right, and it says why. "
LIES: dict[str, dict[str, float]] = {
    "zero": {"prompt_tokens": 0, "completion_tokens": 0},
    "one": {"prompt_tokens": 1, "completion_tokens": 1},
    "input only": {"prompt_tokens": 1000, "completion_tokens": 1},
    "negative": {"prompt_tokens": -5, "completion_tokens": -5},
    "nan": {"prompt_tokens": 300, "completion_tokens": math.nan},
    "huge": {"prompt_tokens": 300, "completion_tokens": math.inf},  # what 1e400 is read as
    "none": {},
}
"""Usage that servers report."""


class Liar(BatchServer):
    """Replies of 5,000 characters, and the same usage for each; adds up the spend by length."""

    def __init__(self, usage: dict[str, float], **faults: Any) -> None:
        super().__init__(BatchFaults(**faults))
        self.replies, self.spent = 0, 0.0
        inner = self._completions.reply

        def reply(request: dict[str, Any], *arguments: Any, **options: Any) -> dict[str, Any]:
            made = inner(request, *arguments, **options)
            content = json.dumps({"score": 7, "explanation": (WORDS * 5_000)[:5_000]})
            for choice in made["choices"]:
                choice["message"] = {"role": "assistant", "content": content}
            self.replies += 1
            asked = sum(len(m["content"]) for m in request["messages"])
            self.spent += (asked / 4 * 10 + len(content) / 4 * 40) / 1e6
            return {**made, "usage": {**usage, "total_tokens": 0}}

        self._completions.reply = reply  # type: ignore[method-assign]


def _limits(url: str, journal: Path, cap: float) -> dict[str, Any]:
    place = url.split("/")[2] if url else "simulated"
    return {"prices": prices(place), "journal": journal, "budget": Budget(max_cost=cap)}


def _collect(url: str, journal: Path) -> None:
    collect_judgments(tasks(4, url=url), **_limits(url, journal, CAP))


def one_run(app: Liar, journal: Path) -> Account:
    """One run in one process."""
    return collect_judgments(tasks(4), simulated_app=app, **_limits("", journal, CAP)).account


def batch(app: Liar, journal: Path) -> Account:
    """One run in batches."""
    options = {"mode": "batch", "sleep": lambda _: asyncio.sleep(0), "simulated_app": app}
    return collect_judgments(tasks(4), **options, **_limits("", journal, CAP)).account


def resumed(app: Liar, journal: Path) -> Account:
    """Runs of ever more items under a cap that grows, on one journal."""
    for items, cap in ((2, 0.3), (6, 0.6), (40, CAP)):
        plan, limits = tasks(4, items=items), _limits("", journal, cap)
        collect_judgments(plan, simulated_app=app, **limits)
    return collect_judgments(tasks(8), simulated_app=app, **_limits("", journal, CAP)).account


def killed(app: Liar, journal: Path) -> Account:
    """A run that is killed after four replies, and the same again."""
    with run_server(app) as url:
        child = multiprocessing.get_context("spawn").Process(target=_collect, args=(url, journal))
        child.start()
        while app.replies < 4 and child.is_alive():
            time.sleep(0.005)
        child.kill()
        child.join(60)
        limits = _limits(url, journal, CAP)
        return collect_judgments(tasks(4, url=url), **limits).account


def two_processes(app: Liar, journal: Path) -> Account:
    """One run whose judgments two workers collect."""
    with run_server(app) as url, Journal(journal) as held:
        plan, limits = tasks(4, url=url), _limits(url, journal, CAP) | {"journal": held}
        judge = plan[0].condition.judge
        engine, judges = Engine(kind="loky", workers=2), {judge: parse_judge(judge)}
        return collect_distributed(plan, engine=engine, judges=judges, **limits).account


WAYS: dict[Callable[[Liar, Path], Account], float] = {
    one_run: 1.0, resumed: 1.0, killed: 1.0, two_processes: 1.0, batch: 0.5,
}  # fmt: skip
"""How judgments are collected, and the share of the price that is paid."""


def overrun(lie: str, way: Callable[[Liar, Path], Account]) -> dict[str, Any]:
    """Spend by length at a server that lies, and what may be spent: the cap and 8 requests."""
    app = Liar(LIES[lie], latency_s=0.02, latency_spread=0.5)
    with tempfile.TemporaryDirectory() as folder:
        account = way(app, Path(folder) / "journal.db")
    spent_by_length = WAYS[way] * app.spent
    return {
        "server": lie, "way": way.__name__, "replies": app.replies,
        "spent": round(spent_by_length, 4), "overrun": round(max(0.0, spent_by_length - CAP), 4),
        "allowed_overrun": round(8 * spent_by_length / app.replies, 4),
        "booked": round(account.charged_usd + account.earlier_cost_usd, 4),
    }  # fmt: skip


def write_overruns() -> None:
    """Write the table of servers that lie."""
    found = [overrun(lie, way) for lie in LIES for way in WAYS]
    path = Path(__file__).parents[1] / "docs/simulations/overruns.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--overruns", action="store_true")
    if parser.parse_args().overruns:
        write_overruns()
    else:
        main()
