"""One hypothesis test, with its effects."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from judgestats.results.numbers import apa_p, format_number, printed_p
from judgestats.results.wording import statistic_text, words_of_test
from judgestats.stats.inference.estimate import Estimate
from judgestats.stats.inference.result_parts import Note, Result, Sample, notes_block


@dataclasses.dataclass(frozen=True, kw_only=True)
class TestResult(Result):
    """One hypothesis test, printed as R prints an ``htest``.

    Attributes
    ----------
    name : str
        Stable machine name, such as ``friedman_test``.
    method : str
        Title as R would print it.
    statistic, statistic_name : float, str
        The test statistic and its symbol.
    df : mapping of str to float
        Degrees of freedom by name (``{"df": 3}`` or ``{"num df": 3, "denom df": 57}``).
    p_value : float
        Exact to double precision where defined.
    null_hypothesis, alternative : str
        In words.
    why : str
        Why this test answers the question (used by `sentence`).
    effects : tuple of Estimate
        Effect sizes with intervals, the first is the main one.
    sample : Sample
    estimates : mapping of str to float
        Group means, mean ranks and the like, by level.
    notes, reason, details
        As in `Estimate`; ``p_floor`` of the details is the smallest p that the method can give.
    """

    __test__ = False  # pytest must not collect it

    name: str
    method: str
    statistic: float
    statistic_name: str
    p_value: float
    sample: Sample
    df: Mapping[str, float] = dataclasses.field(default_factory=dict)
    null_hypothesis: str = ""
    alternative: str = ""
    why: str = ""
    effects: tuple[Estimate, ...] = ()
    estimates: Mapping[str, float] = dataclasses.field(default_factory=dict)
    data_name: str = ""
    notes: tuple[Note, ...] = ()
    reason: str = ""
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def effect(self) -> Estimate | None:
        """The main effect size."""
        return self.effects[0] if self.effects else None

    def replace(self, **changes: Any) -> TestResult:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def statistic_text(self) -> str:
        """``F(3, 57) = 4.21``-style text."""
        inside = ", ".join(format_number(v) for v in self.df.values())
        name = f"{self.statistic_name}({inside})" if inside else self.statistic_name
        return f"{name} = {format_number(self.statistic)}"

    def glance(self) -> pd.DataFrame:
        """One row for the whole result."""
        dfs = list(self.df.values())
        return pd.DataFrame(
            [
                {
                    "term": self.name,
                    "statistic": self.statistic,
                    "df": dfs[0] if dfs else math.nan,
                    "df_residual": dfs[1] if len(dfs) > 1 else math.nan,
                    "p_value": self.p_value,
                    "estimate": self.effect.estimate if self.effect else math.nan,
                    "conf_low": self.effect.interval.low
                    if self.effect and self.effect.interval
                    else math.nan,
                    "conf_high": self.effect.interval.high
                    if self.effect and self.effect.interval
                    else math.nan,
                    "effect": self.effect.name if self.effect else "",
                    "method": self.method,
                    "alternative": self.alternative,
                    "n": self.sample.n_items,
                    "n_clusters": self.sample.n_clusters,
                    "n_excluded": self.sample.n_excluded,
                    "reason": self.reason,
                }
            ]
        )

    def tidy(self) -> pd.DataFrame:
        """One row per term, broom's column names."""
        if not self.effects:
            return self.glance()
        frame = pd.DataFrame([e.row() for e in self.effects])
        frame["statistic"], frame["p_value"] = self.statistic, self.p_value
        frame["test"] = self.name
        return frame

    def apa(self, *, digits: int = 2) -> str:
        """``F(3, 57) = 4.21, p = .009, ηp² = .18, 95% CI [.02, .32]``: see `Result.apa`.

        A chi-squared statistic is given with the number of items, ``χ²(3, N = 20) = 9.10``, as the
        manual asks.

        Examples
        --------
        >>> t = TestResult(name="f", method="F", statistic=4.213, statistic_name="F",
        ...                p_value=0.0093, df={"a": 3, "b": 57}, sample=Sample(n_items=20))
        >>> t.apa()
        'F(3, 57) = 4.21, p = .009'
        """
        if math.isnan(self.p_value):
            return f"{self.method}: not computed ({self.reason})"
        text = f"{self._statistic(digits)}, {apa_p(self.p_value, smallest=self.p_floor)}"
        if self.effect is not None and not math.isnan(self.effect.estimate):
            text += f", {self.effect.apa(digits=digits)}"
        return text

    @property
    def p_floor(self) -> float:
        """The smallest p that the method can give on these data; NaN where none is known."""
        drawn = self.details.get("n_permutations")
        return float(self.details.get("p_floor", 1 / (drawn + 1) if drawn else math.nan))

    def _statistic(self, digits: int) -> str:
        """The statistic with its degrees of freedom."""
        return statistic_text(
            self.statistic_name, self.statistic, self.df, n_items=self.sample.n_items, digits=digits
        )

    def sentence(self, *, p_adjusted: float = math.nan) -> str:
        """The result as one sentence for a report.

        Parameters
        ----------
        p_adjusted : float
            The p-value adjusted in the declared family of the test, where it has one: the verdict
            goes by it.

        Examples
        --------
        >>> t = TestResult(name="f", method="F test", statistic=3.6, statistic_name="F",
        ...                p_value=0.04, sample=Sample(n_items=20), null_hypothesis="all are alike")
        >>> t.sentence(p_adjusted=0.12).partition("). ")[2]
        'Taken alone it speaks against the hypothesis that all are alike; adjusted for the other tests of its family it does not.'
        """  # noqa: E501
        if math.isnan(self.p_value):
            return f"{self.method}: not computed ({self.reason})."
        return str(
            words_of_test(
                method=self.method,
                numbers=self.apa(),
                sample=str(self.sample),
                p=self.p_value,
                p_adjusted=p_adjusted,
                null_hypothesis=self.null_hypothesis,
                why=self.why,
                has_effect=bool(self.effect),
            )
        )

    def __str__(self) -> str:
        lines = ["", f"\t{self.method}", ""]
        if self.data_name:
            lines.append(f"data:  {self.data_name}")
        parts = [f"{self.statistic_name} = {format_number(self.statistic, digits=5)}"]
        parts += [f"{k} = {format_number(v, digits=5)}" for k, v in self.df.items()]
        parts.append(f"p-value {printed_p(self.p_value, smallest=self.p_floor)}")
        lines.append(", ".join(parts))
        if self.reason:
            lines.append(f"not computed: {self.reason}")
        if self.alternative:
            lines.append(f"alternative hypothesis: {self.alternative}")
        for effect in self.effects:
            text = f"{effect.label}: {format_number(effect.estimate)}"
            if effect.interval:
                text += f", {100 * effect.interval.level:g} percent CI {effect.interval}"
            lines.append(text)
        if self.estimates:
            lines.append("sample estimates:")
            width = max(len(str(k)) for k in self.estimates)
            lines += [
                f"  {k!s:<{width}}  {format_number(v, digits=5)}" for k, v in self.estimates.items()
            ]
        lines.append(f"({self.sample})")
        return "\n".join([*lines, *notes_block(self.notes), ""])
