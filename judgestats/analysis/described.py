"""Descriptions that an answer tells beside its claims: numbers in a sentence, each a record's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judgestats.analysis.outcome import NamedResult
from judgestats.results import About, Headline
from judgestats.stats.inference.result import Estimate

_EACH = 4
"""So many conditions are told one by one as a rule; of more the lowest and the highest."""


@dataclass(kw_only=True)
class Description:
    """A sentence in the making.

    Attributes
    ----------
    results : mapping of id to NamedResult
    ids : list of str
        Of the results whose numbers stand in it, in their order.
    """

    results: Mapping[str, NamedResult]
    ids: list[str] = field(default_factory=list)

    def number(self, identity: str) -> str:
        """The place of the number of this result."""
        self.ids.append(identity)
        return f"{{{len(self.ids) - 1}}}"

    def each(self, ids: str, names: Sequence[str], *, most: int = _EACH) -> str:
        """What the conditions have, one by one or from the lowest to the highest; empty where none.

        Parameters
        ----------
        ids : str
            The results' ids, ``{}`` where the name stands.
        names : sequence of str
        most : int
            So many are told one by one.
        """
        values: dict[str, float] = {}
        for name in names:
            named = self.results.get(ids.replace("{}", name))
            value = named.result.estimate if named and isinstance(named.result, Estimate) else None
            if value is not None and not math.isnan(value):
                values[name] = value
        if len(values) <= most:
            return ", ".join(f"{name} {self.number(ids.replace('{}', name))}" for name in values)
        low, high = (f(values, key=lambda name: values[name]) for f in (min, max))
        places = [self.number(ids.replace("{}", name)) for name in (low, high)]
        return f"from {places[0]} ({low}) to {places[1]} ({high})"

    def numbers(self, ids: str, names: Sequence[str]) -> str:
        """The numbers of conditions without their names: ``{0} and {1}``; those that there are."""
        known = [
            named.id
            for name in names
            if (named := self.results.get(ids.replace("{}", name))) is not None
            and isinstance(named.result, Estimate)
            and not math.isnan(named.result.estimate)
        ]
        return " and ".join(map(self.number, known))

    def headline(self, hypothesis: str, says: str) -> Headline:
        """The sentence as a headline, which claims nothing."""
        return Headline(
            id=f"headline.described.{hypothesis}",
            hypothesis=hypothesis,
            claim="described",
            about=About(),
            rests_on=tuple(self.ids),
            says=says,
        )


def described(results: Sequence[NamedResult]) -> Description:
    """A sentence about these results.

    Examples
    --------
    >>> from judgestats.stats.inference.result import Sample
    >>> one = NamedResult(id="mean.a", title="a", role="primary", result=Estimate(
    ...     name="mean", label="mean", estimate=7.5, sample=Sample(n_items=2)))
    >>> sentence = described([one])
    >>> told = sentence.headline("mean", f"the mean is {sentence.each('mean.{}', ['a', 'b'])}")
    >>> told.says, told.rests_on
    ('the mean is a {0}', ('mean.a',))
    """
    return Description(results={named.id: named for named in results})
