"""What is said of a collection that ended before all was asked."""

from __future__ import annotations

from collections.abc import Iterable

from judgestats.judges.account import Account, Stop
from judgestats.judges.budget import Budget
from judgestats.judges.endpoint import Endpoint
from judgestats.judges.journal import Journal
from judgestats.judges.sending import Halt
from judgestats.protocols.reading import READER_VERSION
from judgestats.results.numbers import counted


def kept(account: Account, journal: Journal) -> str:
    """What to add to an error that ended a collection: nothing answered is lost."""
    answers = counted(account.answered, "answer of this run is", "answers of this run are")
    return f"{answers} kept in {journal.path}; the same command goes on from there."


def message(
    halt: Halt, *, account: Account, budget: Budget, journal: Journal, running: str = ""
) -> str:
    """Why a collection stopped, and how to go on; empty where it is complete.

    Parameters
    ----------
    halt, account, budget, journal
        Of the collection.
    running : str
        A sentence on what goes on elsewhere, and how to fetch it; in place of how to go on.
    """
    why = _reason(halt, budget, account)
    if not why:
        return ""
    came = counted(account.answered, "answer", "answers")
    done = f"Stopped: {why}. {came} came in this run"
    if journal.path is None:
        return f"{done}. Nothing was kept: name a journal to be able to go on."
    done = f"{done}; all are kept in {journal.path}."
    if running:
        return f"{done} {running}"
    more = {
        Stop.MAX_COST: " with a larger max_cost",
        Stop.MAX_REQUESTS: " with a larger max_requests",
        Stop.REFUSED: ", once that is mended or that judge left out,",
        Stop.FAILING: ", once what the server names is mended or that judge or condition left out,",
    }.get(halt.why, "")
    return f"{done} Run the same command again{more} to go on: only what is missing is asked."


def reader_notes(before: str, account: Account) -> list[str]:
    """That answers of the journal were read by another version of the reader when they came.

    Examples
    --------
    >>> reader_notes("1", Account(cached=3))
    ['3 answers came when replies were read by version 1 of the rules; all are read by version ... \
now (`judgestats reread RUN` shows what differs from an earlier run)']
    """
    if not before or not account.cached:
        return []
    answers = counted(account.cached, "answer", "answers")
    rules = f"version {before} of the rules; all are read by version {READER_VERSION} now"
    what = "`judgestats reread RUN` shows what differs from an earlier run"
    return [f"{answers} came when replies were read by {rules} ({what})"]


def money_notes(account: Account, budget: Budget, endpoints: Iterable[Endpoint]) -> list[str]:
    """What a reader should know of the money: an overrun, a limit that is a guess, an old price."""
    notes = []
    limit = budget.max_cost
    priced = [
        endpoint for endpoint in endpoints if endpoint.price.is_known and not endpoint.price.free
    ]
    if limit is not None and account.requests:
        spent = account.charged_usd + account.earlier_cost_usd
        if spent > limit + 1e-9:
            notes.append(
                f"max_cost (${limit:g}) was overrun: ${spent:,.4f} is spent, since "
                "replies that were in flight cost more than was held back for them"
            )
        loose = [endpoint.spec.name for endpoint in priced if not endpoint.reserve.bounded]
        if loose:
            notes.append(
                f"{', '.join(loose)}: no bound on a reply's cost is known (without max_tokens, or "
                "at a server that does not keep to it), so max_cost is held by twice the worst "
                "seen, which is no promise"
            )
    for endpoint in priced:
        if note := endpoint.usage_faults.note(endpoint.spec.name, capped=limit is not None):
            notes.append(note)
    if account.requests:
        notes += [
            f"{endpoint.spec.name}: {age}" for endpoint in priced if (age := endpoint.price.age())
        ]
    return notes


def _reason(halt: Halt, budget: Budget, account: Account) -> str:
    spent = account.charged_usd + account.earlier_cost_usd
    of = f"${spent:,.4f} of it is spent"
    if account.earlier_cost_usd:
        of += f", ${account.earlier_cost_usd:,.4f} by earlier runs kept in the journal"
    if budget.max_cost is not None and spent > budget.max_cost + 1e-9:
        money = f"max_cost (${budget.max_cost:g}) is overrun: {of}"
    else:
        money = f"the next request could exceed max_cost (${budget.max_cost}); {of}"
    return {
        Stop.COMPLETE: "",
        Stop.MAX_COST: money,
        Stop.MAX_REQUESTS: f"max_requests ({budget.max_requests}) is reached",
        Stop.INTERRUPTED: "it was interrupted",
        Stop.NO_QUOTA: f"the quota is used up ({halt.detail})",
    }.get(halt.why, halt.detail)
