"""What the tests of the judges share: a plan of pointwise judgments, and a server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import pytest

from judgestats.collection import RetryPolicy
from judgestats.data import Condition, Task
from judgestats.items import Item, Response
from judgestats.protocols import Pointwise
from judgestats.simulated import run_server
from tests.batch_server import BatchFaults, BatchServer
from tests.collection.forge import Forge, forging

PlanMaker = Callable[..., list[Task]]


@pytest.fixture(autouse=True)
def _no_keys_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "JUDGESTATS_API_KEY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


def make_items(count: int) -> tuple[Item, ...]:
    return tuple(
        Item(
            id=f"q{i}",
            cluster=f"q{i}",
            turns=(f"What is {i} plus {i}?",),
            responses=(Response(turns=(f"It is {2 * i}, since {i} doubled is {2 * i}.",)),),
        )
        for i in range(count)
    )


@pytest.fixture
def plan() -> PlanMaker:
    """Pointwise tasks: items x replicates x temperatures x judges."""
    protocol = Pointwise()

    def make(
        *,
        items: int = 5,
        replicates: int = 4,
        temperatures: Sequence[float | None] = (1.0,),
        judges: Sequence[str] = ("sim-typical",),
        url: str = "",
        protocol: Pointwise = protocol,
    ) -> list[Task]:
        units = protocol.units(make_items(items))
        return [
            Task(
                condition=Condition(judge=f"{judge}@{url}" if url else judge, temperature=t),
                item_id=unit.item_id,
                cluster=unit.cluster,
                replicate=r,
                build=lambda mode, unit=unit: protocol.prompt(unit, mode),
            )
            for judge in judges
            for t in temperatures
            for unit in units
            for r in range(replicates)
        ]

    return make


@pytest.fixture
def quick() -> RetryPolicy:
    """Retries without noticeable waits."""
    return RetryPolicy(first_s=0.001, longest_s=0.01, attempts=12, unusable_attempts=12)


@pytest.fixture
def server() -> Iterator[Callable[..., tuple[str, BatchServer]]]:
    """Starts simulated servers on free loopback ports; gives URL and application."""
    with ExitStack() as stack:

        def start(**faults: object) -> tuple[str, BatchServer]:
            app = BatchServer(BatchFaults(**faults))  # type: ignore[arg-type]
            return stack.enter_context(run_server(app)), app

        yield start


@pytest.fixture(scope="session")
def forge() -> Iterator[Forge]:
    """Starts real processes that are there at once."""
    with forging() as found:
        yield found
