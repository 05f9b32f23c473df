"""Cascade of judges by price: each decides what it is sure of, people the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from judgestats.analysis.decisions import record
from judgestats.analysis.decisions.automation import Routed
from judgestats.analysis.decisions.operating_point import Bounded
from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError
from judgestats.results.records import Number, Part
from judgestats.results.verdict import Caveat
from judgestats.stats.validity import sequential
from judgestats.stats.validity.calibration import clustering, least_trials
from judgestats.stats.validity.inputs import cluster_variance, verdict_values
from judgestats.stats.validity.sequential import candidates

HUMAN = "human"
LAST, CASCADE, PEOPLE = "last judge alone", "cascade", "people alone"


@dataclass(frozen=True, kw_only=True)
class Stage(Part):
    """One judge of a cascade.

    Attributes
    ----------
    judge : str
    price : float
        Per item.
    reached, decided : int
        Items that reach it, and those that it decides.
    share : float
        Of all items that it decides.
    threshold : float
        NaN: it decides none.
    labels, wrong : int
        Labelled items it decides, and errors among them.
    upper : float
        Upper limit of its error rate, as description.
    candidates : tuple of Candidate
    is_partial : bool
        Whether it saw escalated items only.
    """

    judge: str
    price: Number
    reached: int
    decided: int = 0
    share: Number = 0.0
    threshold: Number = math.nan
    labels: int = 0
    wrong: int = 0
    upper: Number = math.nan
    candidates: tuple[sequential.Candidate, ...] = ()
    is_partial: bool = False


@dataclass(frozen=True, kw_only=True)
class PolicyCost(Bounded):
    """Cost per item of the cascade with its interval, and of the other policies."""

    people_only: Number = math.nan
    last_judge_alone: Number = math.nan


@dataclass(frozen=True, kw_only=True)
class Cascade(Routed):
    """Judges in price order, each with its threshold, and what the policy costs.

    Attributes
    ----------
    share : float
        Of items decided without a person by the recommended policy.
    stages : tuple of Stage
    last : Stage
        The last judge alone, on all items.
    cost : PolicyCost
    recommended : str
        ``cascade``, ``last judge alone`` or ``people alone``.
    is_strict : bool
        Whether the cascade was tuned on half of the labels and tested on the other half.
    routes, verdicts, confidence : tuple
        Of the recommended policy.
    """

    word: ClassVar[str] = "CASCADE"
    stages: tuple[Stage, ...] = ()
    last: Stage | None = None
    cost: PolicyCost = PolicyCost()
    recommended: str = PEOPLE
    is_strict: bool = False

    def sentences(self) -> list[str]:
        """Shares of the stages, costs, and the recommendation."""
        parts = [f"{s.judge} {record.percent(s.share)}" for s in self.stages]
        left = 1 - sum(s.share for s in self.stages)
        last = self.last.judge if self.last else ""
        made = self.cost
        costs = (
            f"{record.plain_number(made.estimate)} per item, {last} alone "
            f"{record.plain_number(made.last_judge_alone)}, humans alone "
            f"{record.plain_number(made.people_only)}."
        )
        proof = "exact" if self.is_strict else "simulated, not proved"
        first = f"{', '.join(parts)}, humans {record.percent(left)}: {self.bound} ({proof})."
        return [f"{first} {costs}", self._advice()]

    def _advice(self) -> str:
        if self.recommended == LAST and self.last:
            share = self.last.share
            what = "all items" if share == 1 else f"{record.percent(share)} of items"
            bound = f"error <= {record.percent(self.error)}"
            return f"Use {self.last.judge} alone: it decides {what} at {bound}."
        if self.recommended == CASCADE:
            return "Use the cascade: no certified policy is cheaper."
        return f"Leave all items to humans: {self.reason}."


def cascade_certificate(
    verdicts: Mapping[str, ArrayLike],
    confidence: Mapping[str, ArrayLike],
    labels: ArrayLike,
    *,
    prices: Mapping[str, float],
    error: float = 0.05,
    cluster: ArrayLike | None = None,
    level: float = 0.95,
    labels_drawn: str = "",
    tuned: bool = False,
    source: record.Source = "mapped",
    thresholds: Sequence[float] | None = None,
    strict: bool = False,
    seed: int = 0,
) -> Cascade:
    r"""Certify a cascade of judges by price, and the last judge alone.

    Parameters
    ----------
    verdicts : mapping of judge to array-like, shape (N,)
        None where unparsed or, of a later judge, not asked.
    confidence : mapping of judge to array-like, shape (N,)
    labels : array-like, shape (N,) or (N, raters)
    prices : mapping
        Per item of every judge, and of ``human``. Judges decide in this order.
    error : float
        Largest error rate at every stage, hence of everything that is decided.
    cluster : array-like, shape (N,), optional
    level : float
    labels_drawn : {"", "random", "stratified", "by-verdict", "convenience"}
    tuned : bool
    source : str
        Where confidences are from.
    thresholds : sequence of float, optional
        Candidates fixed beforehand; by default from confidences of unlabelled items.
    strict : bool
        Tune one path of policies on half of the labels, and test it on the other half. The claim is
        then exact, and on the error of everything that is decided.
    seed : int
        Of the halves.

    Returns
    -------
    Cascade

    Raises
    ------
    InputError
        A price is missing, there is one judge, or labels allow no claim.

    Notes
    -----
    Stage j is calibrated on the labelled items that reach it, at level :math:`\delta / 2J`; the
    last judge alone at :math:`\delta / 2`. The cheaper certified policy is recommended. Items of a
    later stage depend on errors of earlier ones through their thresholds: validity is simulated.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> y, c = rng.random(3000) < .6, rng.random(3000)
    >>> v = np.where(rng.random(3000) < np.where(c > .5, .01, .4), ~y, y)
    >>> w = np.where(rng.random(3000) < .02, ~y, y)
    >>> made = cascade_certificate({"a": v, "b": w}, {"a": c, "b": rng.random(3000)}, y,
    ...     prices={"a": 1, "b": 10, "human": 200}, error=.1, labels_drawn="random")
    >>> made.recommended, made.cost.estimate < made.cost.last_judge_alone
    ('cascade', True)
    """
    where = "decide automate"
    record.check_level(where, error=error, level=level)
    order = _ordered(where, verdicts, prices)
    judged = record.labelled(labels, cluster, where=where)
    n = judged.human.size
    read = {j: verdict_values(verdicts[j], where=where, name="verdicts") for j in order}
    said = {j: np.round(record.aligned(read[j], n, where=where, name=j)) for j in order}
    sure = {
        j: record.aligned(confidence[j], n, where=where, name=f"confidence of {j}") for j in order
    }
    sure = {j: np.where(np.isnan(said[j]), np.nan, sure[j]) for j in order}
    delta = 1 - level
    own = delta / (2 * len(order))
    caveats = record.check_draw(where, labels_drawn, items=n, by_verdict="do not serve a cascade")
    caveats = (*caveats, *record.people_caveat(error, judged.disagreement))
    least = least_trials(error, own)
    if int(judged.used.sum()) < least:
        raise InputError(
            f"{where}: {int(judged.used.sum())} labelled items are too few for a cascade. An error "
            f"of at most {record.number(error)} needs at least {least} at the first stage. "
            f"{record.label_more(600, n, int(judged.used.sum()))}"
        )
    groups = judged.cluster_count(judged.used, where=where)
    judges = _Judges(
        prices=prices, said=said, sure=sure, human=judged.human, codes=judged.codes,
        clustered=judged.clustered, error=error,
        fixed=None if thresholds is None else np.asarray(thresholds, float),
    )  # fmt: skip
    rest = np.ones(n, dtype=bool)
    routes = np.full(n, HUMAN, dtype=object)
    spent = np.zeros(n)
    stages = []
    path = judges.tested_path(order, delta / 2, seed) if strict else {}
    for judge in order:
        spent += np.where(rest, prices[judge], 0.0)
        found = None if strict else judges.certificate(judge, rest, own)
        stage, decided = judges.stage(judge, rest, path.get(judge, math.inf), found)
        stages.append(stage)
        routes[decided] = judge
        rest = rest & ~decided
    spent += np.where(rest, prices[HUMAN], 0.0)
    last = order[-1]
    every = np.ones(n, dtype=bool)
    alone, decided_alone = judges.stage(
        last, every, math.inf, judges.certificate(last, every, delta / 2)
    )
    cost_alone = prices[last] + prices[HUMAN] * (1 - alone.share)
    choices = {CASCADE: float(spent.mean()), LAST: cost_alone, PEOPLE: float(prices[HUMAN])}
    possible = [PEOPLE, *([CASCADE] if any(s.decided for s in stages) else []),
                *([LAST] if alone.decided else [])]  # fmt: skip
    best = min(possible, key=lambda name: choices[name])
    if best == LAST:
        routes = np.where(decided_alone, last, HUMAN).astype(object)
    elif best == PEOPLE:
        routes = np.full(n, HUMAN, dtype=object)
    if any(s.is_partial for s in stages):
        caveats = (*caveats, Caveat(
            code="partial", severity="minor", about=last,
            text="A later judge saw escalated items only. Alone, it is certified on these.",
        ))  # fmt: skip
    chosen = [(said[r], sure[r]) if r != HUMAN else None for r in routes.tolist()]
    return Cascade(
        subject="", certified=best != PEOPLE, error=error, level=level,
        n_labels=int(judged.used.sum()), n_items=n, n_clusters=groups,
        n_ties=judged.n_ties, share=float(np.mean(routes != HUMAN)), stages=tuple(stages),
        last=alone, cost=replace(
            _cost(spent, judged.codes, level), people_only=float(prices[HUMAN]),
            last_judge_alone=cost_alone,
        ), recommended=best, confidence_source=source,
        caveats=(*caveats, *record.tuned_caveat(tuned)), routes=tuple(map(str, routes.tolist())),
        verdicts=tuple(float(c[0][i]) if c else math.nan for i, c in enumerate(chosen)),
        confidence=tuple(float(c[1][i]) if c else math.nan for i, c in enumerate(chosen)),
        reason="" if best != PEOPLE else "no certified policy is cheaper",
        is_strict=strict,
        method="policies tuned on half of the labels, tested in fixed order on the other half"
        if strict else "exact tests in fixed order on the items that reach each stage",
    )  # fmt: skip


def _ordered(
    where: str, verdicts: Mapping[str, ArrayLike], prices: Mapping[str, float]
) -> list[str]:
    judges = list(verdicts)
    missing = sorted({*judges, HUMAN} - set(prices))
    if missing or len(judges) < 2:
        what = f"no price of {missing[0]}" if missing else "a cascade needs two judges or more"
        raise InputError(
            f"{where}: {what}. Name all judges and human, e.g. --price cheap=1,dear=10,human=200."
        )
    if not all(math.isfinite(v) and v >= 0 for v in prices.values()):
        raise InputError(f"{where}: prices must be numbers of at least 0.")
    return sorted(judges, key=lambda judge: prices[judge])


_TUNED = 20
"""Policies of a path, tuned to error rates up to the one allowed."""


@dataclass(frozen=True, kw_only=True)
class _Judges:
    """Verdicts and confidences of all judges, with the labels that certify them."""

    prices: Mapping[str, float]
    said: Mapping[str, Floats]
    sure: Mapping[str, Floats]
    human: Floats
    codes: Ints
    clustered: bool
    error: float
    fixed: Floats | None

    def candidates(self, judge: str, reached: Bools) -> Floats:
        """Thresholds of a judge, from items that reach it and have no label."""
        sure = self.sure[judge]
        found = candidates(sure[reached & np.isnan(self.human)], every=sure)
        return found if self.fixed is None else self.fixed

    def certificate(self, judge: str, reached: Bools, delta: float) -> sequential.Certificate:
        """What is certified of a judge on the items that reach it."""
        confidence, known = self.sure[judge], ~np.isnan(self.human)
        wrong = self.said[judge] != self.human
        every = known & ~np.isnan(confidence)
        used = reached & every
        icc = None
        if self.clustered and used.any():
            icc = clustering(wrong[every].astype(float), self.codes[every]).icc
        tested = self.candidates(judge, reached)
        return sequential.certify(
            confidence[used], wrong[used], tested, error=self.error, delta=delta,
            codes=self.codes[used] if self.clustered else None, correlation=icc,
        )  # fmt: skip

    def stage(
        self, judge: str, reached: Bools, threshold: float, found: sequential.Certificate | None
    ) -> tuple[Stage, Bools]:
        """A stage at its certified threshold, or at one that was tuned and tested before."""
        threshold = found.threshold if found else threshold
        verdict = self.said[judge]
        decided = reached & (np.nan_to_num(self.sure[judge], nan=-math.inf) >= threshold)
        known = decided & ~np.isnan(self.human)
        made = Stage(
            judge=judge, price=self.prices[judge], reached=int(reached.sum()),
            decided=int(decided.sum()), share=float(decided.mean()),
            threshold=threshold if decided.any() else math.nan, labels=int(known.sum()),
            wrong=int((verdict[known] != self.human[known]).sum()),
            upper=found.upper if found else math.nan,
            candidates=found.candidates if found else (),
            is_partial=bool(np.isnan(verdict[reached]).sum() == 0 and np.isnan(verdict).any()),
        )  # fmt: skip
        return made, decided

    def tested_path(self, order: Sequence[str], delta: float, seed: int) -> dict[str, float]:
        """Thresholds of the last policy on a tuned path that passes on the other half, if any."""
        known = ~np.isnan(self.human)
        names = np.unique(self.codes[known])
        drawn = np.random.default_rng(seed).permutation(names)[: names.size // 2]
        tune = known & np.isin(self.codes, drawn)
        test = known & ~tune
        policies: list[dict[str, float]] = []
        for allowed in self.error * np.arange(1, _TUNED + 1) / _TUNED:
            rest, policy = np.ones(self.human.size, dtype=bool), {}
            for judge in order:
                confidence = np.nan_to_num(self.sure[judge], nan=-math.inf)
                policy[judge] = _tuned_threshold(
                    confidence, self.said[judge] != self.human, rest & tune,
                    self.candidates(judge, rest), float(allowed),
                )  # fmt: skip
                rest = rest & (confidence < policy[judge])
            if policy not in policies:
                policies.append(policy)
        repeated = np.unique(self.codes[test]).size < int(test.sum())
        sets = []
        for policy in policies:
            rest, wrong = (np.full(self.human.size, v) for v in (True, False))
            for judge in order:
                own = rest & (np.nan_to_num(self.sure[judge], nan=-math.inf) >= policy[judge])
                wrong |= own & (self.said[judge] != self.human)
                rest = rest & ~own
            held = test & ~rest
            sets.append(sequential.set_test(
                wrong[held], self.codes[held] if repeated else None, self.error
            ))  # fmt: skip
        levels = sequential.fallback_test(
            [one.effective for one in sets], [one.p for one in sets],
            least=least_trials(self.error, delta), delta=delta,
        )  # fmt: skip
        passed = [i for i, level in enumerate(levels) if level > 0 and sets[i].p <= level]
        return policies[passed[-1]] if passed else {}


def _tuned_threshold(
    confidence: Floats, wrong: Bools, used: Bools, tested: Floats, allowed: float
) -> float:
    """The least strict candidate whose smoothed error rate is at most what is allowed."""
    best = math.inf
    for threshold in tested.tolist():
        held = used & (confidence >= threshold)
        if (float((wrong & held).sum()) + 0.5) / (float(held.sum()) + 1) <= allowed:
            best = threshold
    return best


def _cost(spent: Floats, codes: Ints, level: float) -> PolicyCost:
    """Mean cost per item with its interval over clusters."""
    mean = float(spent.mean())
    _, place = np.unique(codes, return_inverse=True)
    error = math.sqrt(cluster_variance((spent - mean) / spent.size, place))
    half = float(special.stdtrit(max(int(place.max()), 1), (1 + level) / 2)) * error
    return PolicyCost(estimate=mean, low=mean - half, high=mean + half, method="t over clusters")
