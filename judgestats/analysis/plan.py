"""The analysis plan: what will be tested, and how, written before the first judgment is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """One declared question to the data.

    Attributes
    ----------
    id : str
        Prefix of the ids of the results that answer it.
    role : {"primary", "secondary", "descriptive", "replicated"}
    question : str
    test : str
        The test or estimator, in words.
    family : str
        Tests of one family are adjusted together; empty where nothing is tested.
    adjustment : str
        Such as ``holm`` or ``none``.
    """

    id: str
    role: str
    question: str
    test: str
    family: str = ""
    adjustment: str = "none"


@dataclass(frozen=True, kw_only=True)
class AnalysisPlan:
    """What an experiment declares before it asks a judge anything.

    Attributes
    ----------
    experiment, question : str
    hypotheses : tuple of Hypothesis
    blocks : str
        What is compared with what.
    missing : str
        What is done with judgments that could not be read.
    level : float
        Of intervals; tests are read at ``1 - level``.
    n_resamples, seed : int
        Of bootstraps and permutations.
    margins : mapping of str to float
        Equivalence margins, declared before the data.
    options : mapping of str to str
        Further rules declared before the data (what becomes of orders that disagree).
    """

    experiment: str
    question: str
    hypotheses: tuple[Hypothesis, ...]
    blocks: str
    missing: str
    level: float = 0.95
    n_resamples: int = 999
    seed: int = 0
    margins: Mapping[str, float] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    def without(self, *hypotheses: str) -> AnalysisPlan:
        """The plan without the hypotheses of these ids, which the conditions cannot answer."""
        kept = tuple(h for h in self.hypotheses if h.id not in hypotheses)
        return replace(self, hypotheses=kept)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for plan.json."""
        return asdict(self)


def with_omega_model(declared: AnalysisPlan, model: str) -> AnalysisPlan:
    """The plan with the model whose omega stands beside the parallel one."""
    return replace(declared, options={**declared.options, "omega_model": model})
