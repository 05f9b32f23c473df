"""Endpoint cards in the store: kept as runs, and beside the judgments of the judges they are of."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgestats.errors import InputError
from judgestats.tracking.runs import RunWriter, run_files
from judgestats.tracking.store import Store, store_faults

if TYPE_CHECKING:
    from judgestats.judges.endpoint_card import EndpointCard

FILE = "endpoint.json"
_TAG = "judgestats.endpoint"


def keep_card(store: Store, card: EndpointCard) -> str:
    """Keep a card as a run of its own: its file, its features as tags, latency and cost as metrics.

    Returns
    -------
    str
        The run's id.
    """
    tags = {
        "judgestats.kind": "endpoint",
        f"{_TAG}.address": _address(card.base_url, card.model),
        f"{_TAG}.model": card.model,
        f"{_TAG}.url": card.base_url,
        f"{_TAG}.asked_at": card.asked_at,
        f"{_TAG}.repeats_at_0": str(card.repeats_at_0),
        **{f"{_TAG}.{name}": value for name, value in card.features.items()},
    }
    cost = {} if card.cost_usd is None else {"cost/usd": card.cost_usd}
    with run_files() as folder, RunWriter(store, name=f"endpoint {card.model}", tags=tags) as run:
        (folder / FILE).write_text(card.to_json(), encoding="utf-8")
        run.metrics({"latency/seconds": card.latency_s, **cost})
        run.artifacts(folder)
    return run.run_id


def last_card(store: Store, base_url: str, model: str) -> dict[str, Any] | None:
    """The newest card of a model at an address that the experiment's runs hold, if any does."""
    with store_faults("endpoint cards were looked up"):
        runs = store.client.search_runs(
            [store.experiment_id],
            filter_string=(
                f"tags.`judgestats.kind` = 'endpoint' and attributes.status = 'FINISHED' and "
                f"tags.`{_TAG}.address` = '{_address(base_url, model)}'"
            ),
            order_by=["attributes.start_time DESC"],
            max_results=1,
        )
    return card_of_run(store, runs[0].info.run_id) if runs else None


def card_of_run(store: Store, run: str) -> dict[str, Any]:
    """The card that a run holds.

    Raises
    ------
    InputError
        There is no such run, or it holds no card.
    """
    from mlflow.exceptions import MlflowException

    with (
        store_faults("an endpoint card was read"),
        tempfile.TemporaryDirectory(prefix="judgestats-") as scratch,
    ):
        try:
            file = Path(store.client.download_artifacts(run, FILE, scratch))
            card = json.loads(file.read_text(encoding="utf-8"))
        except (MlflowException, OSError, ValueError, RecursionError) as error:
            raise InputError(
                f"endpoint: {run} is neither a file nor a run that holds a card. Give the run id "
                "that `judgestats endpoint` printed, or the file of its --out."
            ) from error
    return card if isinstance(card, dict) else {}


def _address(base_url: str, model: str) -> str:
    """An address as a tag that can be searched for whatever stands in it."""
    return hashlib.sha256(f"{base_url}\0{model}".encode()).hexdigest()[:16]
