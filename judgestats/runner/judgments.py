"""What a run asks of its judges, and the judgments it reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from judgestats.analysis.families import REQUEST_ORDER, recorded_order
from judgestats.analysis.text_checks import (
    Copies,
    apply_copy_policy,
    find_copies,
    handled_copies,
    with_texts,
)
from judgestats.analysis.validity import texts_of
from judgestats.data.parse import parse_judgments
from judgestats.protocols.base import JudgingProtocol, ReplyMode, Unit
from judgestats.runner.common_parameters import settings_of
from judgestats.runner.prepare import Prepared

if TYPE_CHECKING:
    from judgestats.collection.ask import CollectionRequest
    from judgestats.collection.journal import Journal


def ask_of(prepared: Prepared, journal: Journal | str | Path | None) -> CollectionRequest:
    """What the run's parameters ask of its judges, and what they may spend."""
    from judgestats.collection.ask import CollectionRequest
    from judgestats.collection.ledger import Budget

    p, staging = prepared.parameters, prepared.staging
    return CollectionRequest.from_options(
        journal=journal,
        mode=p.mode,
        base_url=p.base_url or None,
        judges=dict(prepared.judging),
        experiment=prepared.design.name,
        concurrency=p.concurrency,
        choices_per_request=p.samples_per_request,
        seed=p.request_seed,
        settings=settings_of(p),
        reply_mode=None if p.reply == "auto" else ReplyMode(p.reply),
        budget=prepared.answers.budget
        if prepared.answers
        else Budget(max_cost=p.max_cost, max_requests=p.max_requests),
        prices=prepared.prices,
        timeout_s=p.timeout,
        progress=True,
        follow_up=staging.follow_up if staging is not None else None,
    )


def check_prices(prepared: Prepared) -> None:
    """Name a limit that cannot be held for lack of a price."""
    from judgestats.collection.ledger import unknown_price
    from judgestats.collection.prices import default_prices

    table = prepared.prices or default_prices()
    unknown = [name for name, spec in prepared.models.items() if not table.price(spec).is_known]
    if unknown and prepared.parameters.max_cost is not None:
        raise unknown_price(unknown)


def judgments_of(prepared: Prepared, raw: pd.DataFrame) -> tuple[pd.DataFrame, Copies]:
    """Judgments read, with their order of requests, and copies handled."""
    frame = _parsed(prepared, raw)
    if prepared.staging is None:
        frame[REQUEST_ORDER] = recorded_order(frame)
    copies = find_copies(with_texts(frame, texts_of(prepared.items)))
    copies = handled_copies(copies, prepared.parameters.duplicates)
    return apply_copy_policy(frame, copies), copies


def _parsed(prepared: Prepared, raw: pd.DataFrame) -> pd.DataFrame:
    """Every reply read, by the protocol of its condition or of its stage."""
    protocols, units = readers_of(prepared)
    return parse_judgments(raw, protocols=protocols, units=units)


def readers_of(
    prepared: Prepared,
) -> tuple[Mapping[str, JudgingProtocol], Mapping[tuple[str, str], Unit]]:
    """Who reads the replies of a condition, and what was judged."""
    if prepared.staging is not None:
        return prepared.staging.protocols, prepared.staging.units
    units = {(u.item_id, u.order): u for listed in prepared.units.values() for u in listed}
    return {c.label: p for c, p in prepared.protocols.items()}, units
