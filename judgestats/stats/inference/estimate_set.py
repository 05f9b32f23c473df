"""Several estimates of one data set, kept together under their names."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.stats.inference.result import Estimate, Note, Result, Sample, format_number


@dataclasses.dataclass(frozen=True, kw_only=True)
class Estimates(Result):
    """A named set of `Estimate` objects, printed as one table.

    Attributes
    ----------
    name, label : str
        Machine name and title of the set.
    terms : tuple of Estimate
    sample : Sample
    notes : tuple of Note
        Warnings that concern all terms (each term has its own besides).
    details : mapping
        Further named numbers.

    Examples
    --------
    >>> one = Estimate(name="alpha", label="Alpha", estimate=0.8, sample=Sample(n_items=9))
    >>> both = Estimates(name="set", label="A set", terms=(one,), sample=one.sample)
    >>> both["alpha"].estimate
    0.8
    """

    name: str
    label: str
    terms: tuple[Estimate, ...]
    sample: Sample
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __getitem__(self, name: str) -> Estimate:
        for term in self.terms:
            if term.name == name:
                return term
        names = ", ".join(term.name for term in self.terms)
        raise InputError(f"{self.name}: no term is named {name!r}. Choose one of {names}.")

    def tidy(self) -> pd.DataFrame:
        """One row per estimate."""
        return pd.DataFrame([term.row() for term in self.terms])

    def glance(self) -> pd.DataFrame:
        """One row: every estimate in a column of its name."""
        values: dict[str, Any] = {"term": self.name}
        values |= {term.name: term.estimate for term in self.terms}
        return pd.DataFrame([values | {"n": self.sample.n_items}])

    def apa(self, *, digits: int = 2) -> str:
        """Every estimate with its interval: see `Result.apa`."""
        return "; ".join(term.apa(digits=digits) for term in self.terms)

    def sentence(self) -> str:
        """All estimates in one sentence."""
        parts = [
            f"{t.label} {t.short()}"
            if not math.isnan(t.estimate)
            else f"{t.label} undefined ({t.reason})"
            for t in self.terms
        ]
        return f"{self.label}: {'; '.join(parts)} ({self.sample})."

    def all_notes(self) -> tuple[Note, ...]:
        """The set's notes and those of its terms, each once."""
        notes = [*self.notes, *(note for term in self.terms for note in term.notes)]
        return tuple(dict.fromkeys(notes))

    def __str__(self) -> str:
        width = max((len(t.label) for t in self.terms), default=0)
        lines = ["", f"\t{self.label}", ""]
        for t in self.terms:
            line = f"{t.label:<{width}}  {format_number(t.estimate):>9}"
            if t.interval:
                line += f"  {t.interval!s:<20} {100 * t.interval.level:g}% CI, {t.interval.method}"
            if t.reason:
                line += f"  undefined: {t.reason}"
            lines.append(line)
            if t.null:
                lines.append(f"{'':<{width}}  {t.null}")
        lines.append(f"data: {self.sample}")
        lines += [f"warning: {note.message}" for note in self.all_notes()]
        return "\n".join([*lines, ""])
