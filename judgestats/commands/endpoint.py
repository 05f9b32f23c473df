"""Endpoints and the simulated server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgestats.api import endpoint
from judgestats.commands.arguments import Args
from judgestats.errors import InputError, guard_output
from judgestats.files.text import decode_json
from judgestats.runner import display as console
from judgestats.terminal import emit

if TYPE_CHECKING:
    from judgestats.collection.endpoint_card import EndpointCard
    from judgestats.collection.spec import JudgeSpec
    from judgestats.tracking.store import Store


def endpoint_command(arguments: Args) -> int:
    """Examine an endpoint, or those of a file of judges; print each card, keep and compare it.

    Parameters
    ----------
    arguments : Args
        ``model``, ``base_url``, ``timeout``, ``prices``, ``out``, ``against`` and ``track``.

    Returns
    -------
    int
        0; 1 where the earlier card that was named said otherwise.

    Raises
    ------
    InputError, JudgeError
        An unusable name or file; an endpoint that does not answer.
    """
    from judgestats.collection.spec import read_judges

    judges = read_judges([arguments.model], base_url=arguments.base_url)
    if len(judges) > 1 and (arguments.out or arguments.against):
        raise InputError(
            f"endpoint: {arguments.model} holds {len(judges)} judges; --out and --against are of "
            "one card."
        )
    return max([_examined(spec, arguments) for spec in judges.values()])


def _examined(spec: JudgeSpec, arguments: Args) -> int:
    """Examine one judge."""
    card = endpoint(spec, prices=arguments.prices, timeout=arguments.timeout)
    named = [f"{spec.name}:"] if spec.from_file and spec.name != spec.model else []
    console.print_result(*named, str(card))
    if arguments.out:
        with guard_output(arguments.out):
            Path(arguments.out).write_text(card.to_json(), encoding="utf-8")
    store = None
    if arguments.track != "none":
        from judgestats.tracking.store import open_store

        store = open_store()
    earlier = _earlier(arguments.against, card, store)
    if store is not None:
        from judgestats.tracking.runs import keep_card

        console.print_result("", f"Kept as run {keep_card(store, card)} in {store.uri}")
    if earlier is None:
        return 0
    changes = card.changes(earlier)
    console.print_result("", *(changes or [f"As on {str(earlier.get('asked_at', ''))[:10]}."]))
    return 1 if changes and arguments.against else 0


def _earlier(against: str, card: EndpointCard, store: Store | None) -> dict[str, Any] | None:
    """The card to compare with: the one named, else the newest that the store holds."""
    if not against:
        if store is None:
            return None
        from judgestats.tracking.runs import last_card

        return last_card(store, card.base_url, card.model)
    if not Path(against).is_file():
        from judgestats.tracking.runs import card_of_run
        from judgestats.tracking.store import open_store

        return card_of_run(store or open_store(existing=True), against)
    try:
        earlier: dict[str, Any] = decode_json(Path(against).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"endpoint: {against} is not a card ({error}).") from None
    whole = isinstance(earlier, dict) and isinstance(earlier.get("features"), dict)
    if not whole or not isinstance(earlier.get("asked_at"), str):
        raise InputError(f"endpoint: {against} is not a card (no features, or no time of asking).")
    return earlier


def simulate_command(arguments: Args) -> int:
    """Serve until stopped.

    Parameters
    ----------
    arguments : Args
        ``host`` and ``port``.

    Returns
    -------
    int
        0.
    """
    from judgestats.simulated.app import Faults, serve

    if not 0 <= arguments.port <= 65535:
        raise InputError(f"simulate: --port must lie in 0-65535, got {arguments.port}.")
    if arguments.host not in {"127.0.0.1", "localhost", "::1"}:
        emit(
            f"judgestats: serving on {arguments.host}: everyone who reaches this machine can use "
            "the simulated judges.\n",
            error=True,
        )
    serve(port=arguments.port, host=arguments.host, faults=Faults.parse(arguments.faults))
    return 0
