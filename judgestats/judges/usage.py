"""What a request is charged at: the tokens that the server reports, where its text allows them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from judgestats.judges.outcomes import Kind, Outcome
from judgestats.judges.prices import Price
from judgestats.judges.text_size import TextSize


@dataclass(frozen=True, kw_only=True, slots=True)
class Charged:
    """What a request is charged at.

    Attributes
    ----------
    outcome : Outcome
        Without the reported tokens that its text does not allow.
    cost : float
        Dollars by reported tokens; NaN where they, or the price, are not known.
    estimate : float
        Dollars to charge where the cost is not known.
    basis : str
        What the estimate rests on.
    """

    outcome: Outcome
    cost: float
    estimate: float
    basis: str = "their length"


def charged(
    outcome: Outcome, price: Price, asked: TextSize, *, hold: float, bound: int | None
) -> Charged:
    """Charge a request by its reported tokens, or by its length where they cannot be right.

    Parameters
    ----------
    outcome : Outcome
    price : Price
    asked : TextSize
        Of the prompt.
    hold : float
        Dollars held back for the request.
    bound : int or None
        The request's ``max_tokens``. With one, a request of unknown cost is charged at no less
        than what was held back for it, so that ``max_cost`` stays a bound.

    Examples
    --------
    >>> from judgestats.judges.outcomes import Choice
    >>> lie = Outcome(kind=Kind.ANSWERED, choices=(Choice("8" * 10 + " good" * 1000, "stop"),),
    ...     tokens_in=300, tokens_out=0)
    >>> price = Price(input=10.0, output=40.0)
    >>> made = charged(lie, price, TextSize.of(["Why? "] * 100), hold=0.02, bound=None)
    >>> made.outcome.usage_fault, made.cost, round(made.estimate, 4)
    ('0 tokens', nan, 0.0531)
    """
    if not price.is_known or price.free:
        return Charged(outcome=outcome, cost=price.cost(*outcome.usage), estimate=hold)
    written = TextSize.of(outcome.contents)
    tokens_in, tokens_out, cached = outcome.usage
    reported = ((tokens_out, written), (tokens_in, asked))
    wrong = [(n, size) for n, size in reported if n is not None and not size.allows(n)]
    known = not wrong and tokens_in is not None and tokens_out is not None
    basis = "their length"
    if not known:  # one count that cannot be right leaves none to rest on
        outcome = _without_tokens(outcome, [n for n, _ in wrong])
        least_out, least_in, cached = tokens_out or 0, tokens_in or 0, None
        tokens_out, tokens_in = written.estimate, asked.estimate
        too_many = any(n > size.floor for n, size in wrong)
        if not too_many and (least_out > tokens_out or least_in > tokens_in):
            tokens_out, tokens_in = max(least_out, tokens_out), max(least_in, tokens_in)
            basis = "their length and the higher count that is reported"
    cost = price.cost(*outcome.usage)
    estimate = replace(price, up_to=math.inf).cost(tokens_in, tokens_out, cached)
    if hold > estimate and (bound is not None or known or outcome.kind is not Kind.ANSWERED):
        return Charged(outcome=outcome, cost=cost, estimate=hold, basis="what was reserved")
    return Charged(outcome=outcome, cost=cost, estimate=estimate, basis=basis)


def _without_tokens(outcome: Outcome, wrong: list[int]) -> Outcome:
    """An outcome whose reported tokens are not believed, and why."""
    fault = outcome.usage_fault or ("no token counts" if outcome.contents else "")
    if wrong and not outcome.usage_fault:
        fault = f"{wrong[0]:,} token{'s' * (wrong[0] != 1)}"
    return replace(
        outcome,
        tokens_in=None,
        tokens_out=None,
        tokens_cached=None,
        tokens_reasoning=None,
        usage_fault=fault,
    )


@dataclass(slots=True)
class UsageFaults:
    """Replies whose reported tokens were not believed, and what they are charged at."""

    replies: int = 0
    characters: int = 0
    dollars: float = 0.0
    first: str = ""
    basis: str = ""

    def add(self, bill: Charged) -> None:
        """Count one."""
        self.replies += 1
        self.characters += sum(map(len, bill.outcome.contents))
        self.dollars += bill.estimate
        self.first = self.first or bill.outcome.usage_fault
        self.basis = self.basis or bill.basis

    def note(self, name: str, *, capped: bool) -> str:
        """What to say of them; empty where there were none.

        Examples
        --------
        >>> UsageFaults(2, 10_000, 0.1, "0 tokens", "their length").note("m", capped=True)
        'm reports 0 tokens for 2 replies of about 5,000 characters, so their cost is estimated \
from their length: about $0.05 per reply. max_cost holds for the estimate'
        """
        if not self.replies:
            return ""
        replies = "1 reply" if self.replies == 1 else f"{self.replies:,} replies"
        size, each = self.characters / self.replies, self.dollars / self.replies
        note = (
            f"{name} reports {self.first} for {replies} of about {size:,.0f} characters, so their "
            f"cost is estimated from {self.basis}: about ${each:.2g} per reply"
        )
        return f"{note}. max_cost holds for the estimate" if capped else note
