"""What is said of a collection that ended before all was asked."""

from __future__ import annotations

from judgestats.judges.account import Account, Stop
from judgestats.judges.asking import Halt
from judgestats.judges.budget import Budget
from judgestats.judges.journal import Journal
from judgestats.stats.inference.notation import counted

__all__ = ["kept", "message"]


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
    why = _reason(halt, budget)
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
        Stop.FAILING: ", once what the server names is mended or that judge or condition left out,",
    }.get(halt.why, "")
    return f"{done} Run the same command again{more} to go on: only what is missing is asked."


def _reason(halt: Halt, budget: Budget) -> str:
    return {
        Stop.COMPLETE: "",
        Stop.MAX_COST: f"the next request could exceed max_cost (${budget.max_cost})",
        Stop.MAX_REQUESTS: f"max_requests ({budget.max_requests}) is reached",
        Stop.INTERRUPTED: "it was interrupted",
        Stop.NO_QUOTA: f"the quota is used up ({halt.detail})",
    }.get(halt.why, halt.detail)
