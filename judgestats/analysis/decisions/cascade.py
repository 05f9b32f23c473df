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
from judgestats.analysis.decisions.automation import CheckedItems, Routed
from judgestats.analysis.decisions.operating_point import Bounded, cost_text
from judgestats.analysis.decisions.record import Source
from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError
from judgestats.results.records import Number, Part
from judgestats.results.verdict import Caveat
from judgestats.stats.validity import sequential
from judgestats.stats.validity.calibration import least_trials
from judgestats.stats.validity.inputs import cluster_variance, verdict_values
from judgestats.stats.validity.sequential import Candidate, Certificate

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
    unparsed : int
        Items that reach it without a verdict of it, or with a tie.
    labels, wrong : int
        Labelled items it decides, and errors among them.
    upper : float
        Upper limit of its error rate, as description.
    candidates : tuple of Candidate
    is_partial : bool
        Whether it saw escalated items only.
    confidence_source : str
        Empty: there is none, so it decides all items or none.
    """

    judge: str
    price: Number
    reached: int
    decided: int = 0
    share: Number = 0.0
    threshold: Number = math.nan
    unparsed: int = 0
    labels: int = 0
    wrong: int = 0
    upper: Number = math.nan
    candidates: tuple[Candidate, ...] = ()
    is_partial: bool = False
    confidence_source: Source = ""


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
            f"{cost_text(made)} per item, {last} alone "
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
    source: Source | Mapping[str, Source] = "mapped",
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
    source : str, or mapping of judge to str
        Where confidences are from; empty: there are none.
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
    said = {j: record.aligned(read[j], n, where=where, name=j) for j in order}
    said = {j: np.where(v == 0.5, np.nan, np.round(v)) for j, v in said.items()}
    sources = dict.fromkeys(order, source) if isinstance(source, str) else dict(source)
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
    known = np.asarray([] if thresholds is None else thresholds, dtype=float)
    tests = {
        j: CheckedItems(
            sure=sure[j], verdict=said[j], wrong=said[j] != judged.human, judged=judged,
            error=error, known=known,
        )
        for j in order
    }  # fmt: skip
    rest, unparsed = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
    routes = np.full(n, HUMAN, dtype=object)
    spent = np.zeros(n)
    stages = []
    path = _tested_path(tests, delta / 2, seed) if strict else {}
    for judge, test in tests.items():
        spent += np.where(rest, prices[judge], 0.0)
        unparsed |= rest & np.isnan(said[judge])
        found = path.get(judge, math.inf) if strict else test.certificate(rest, own)
        stage, decided = _stage(judge, prices[judge], test, rest, found)
        stages.append(replace(stage, confidence_source=sources[judge]))
        routes[decided] = judge
        rest = rest & ~decided
    spent += np.where(rest, prices[HUMAN], 0.0)
    last = order[-1]
    every = np.ones(n, dtype=bool)
    found = tests[last].certificate(every, delta / 2)
    alone, decided_alone = _stage(last, prices[last], tests[last], every, found)
    cost_alone = prices[last] + prices[HUMAN] * (1 - alone.share)
    choices = {CASCADE: float(spent.mean()), LAST: cost_alone, PEOPLE: float(prices[HUMAN])}
    decides = {PEOPLE: True, CASCADE: any(s.decided for s in stages), LAST: alone.decided > 0}
    best = min((name for name in decides if decides[name]), key=lambda name: choices[name])
    if best == LAST:
        routes = np.where(decided_alone, last, HUMAN).astype(object)
    elif best == PEOPLE:
        routes = np.full(n, HUMAN, dtype=object)
    unsure = [j for j in order if not sources[j]]
    if unsure:
        caveats = (*caveats, Caveat(
            code="no_confidence", severity="minor", about=unsure[0],
            text=f"{', '.join(unsure)}: there is no confidence, so all items that reach it are "
            "decided, or none.",
            action="Map a column: --map confidence=COLUMN.",
        ))  # fmt: skip
    if any(s.is_partial for s in stages):
        caveats = (*caveats, Caveat(
            code="partial", severity="minor", about=last,
            text="A later judge saw escalated items only. Alone, it is certified on these.",
        ))  # fmt: skip
    chosen = [(said[r], sure[r]) if r != HUMAN else None for r in routes.tolist()]
    return Cascade(
        subject="", certified=best != PEOPLE, error=error, level=level,
        n_labels=int(judged.used.sum()), n_items=n, n_clusters=groups,
        n_ties=judged.n_ties, n_unparsed=int(unparsed.sum()),
        share=float(np.mean(routes != HUMAN)), stages=tuple(stages),
        last=alone, cost=replace(
            _cost(spent, judged.codes, level, (prices[order[0]], sum(prices.values()))),
            people_only=float(prices[HUMAN]), last_judge_alone=cost_alone,
        ), recommended=best,
        confidence_source=sources[last] if len(set(sources.values())) == 1 else "",
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
    missing = sorted({*verdicts, HUMAN} - set(prices))
    if missing or len(verdicts) < 2:
        what = f"no price of {missing[0]}" if missing else "a cascade needs two judges or more"
        raise InputError(
            f"{where}: {what}. Name all judges and human, e.g. --price cheap=1,dear=10,human=200."
        )
    if not record.are_costs(prices.values()):
        raise InputError(f"{where}: prices must be numbers from 0 to 1e12.")
    return sorted(verdicts, key=lambda judge: prices[judge])


_TUNED = 20
"""Policies of a path, tuned to error rates up to the one allowed."""


def _stage(
    judge: str, price: float, own: CheckedItems, reached: Bools, found: Certificate | float
) -> tuple[Stage, Bools]:
    """A stage at its certified threshold, or at one that was tuned and tested before."""
    made = found if isinstance(found, Certificate) else None
    threshold = found if isinstance(found, float) else found.threshold
    decided = reached & (own.sure >= threshold)
    known = decided & own.judged.used
    return Stage(
        judge=judge, price=price, reached=int(reached.sum()),
        decided=int(decided.sum()), share=float(decided.mean()),
        threshold=threshold if decided.any() else math.nan,
        unparsed=int((reached & np.isnan(own.verdict)).sum()), labels=int(known.sum()),
        wrong=int(own.wrong[known].sum()),
        upper=made.upper if made else math.nan,
        candidates=made.candidates if made else (),
        is_partial=bool(
            np.isnan(own.verdict[reached]).sum() == 0 and np.isnan(own.verdict).any()
        ),
    ), decided  # fmt: skip


def _tested_path(tests: Mapping[str, CheckedItems], delta: float, seed: int) -> dict[str, float]:
    """Thresholds of the last policy on a tuned path that passes on the other half, if any."""
    error, judged = next((one.error, one.judged) for one in tests.values())
    known = judged.used
    names = np.unique(judged.codes[known])
    drawn = np.random.default_rng(seed).permutation(names)[: names.size // 2]
    tune = known & np.isin(judged.codes, drawn)
    test = known & ~tune
    policies: list[dict[str, float]] = []
    for allowed in error * np.arange(1, _TUNED + 1) / _TUNED:
        rest, policy = np.ones(judged.human.size, dtype=bool), {}
        for judge, own in tests.items():
            policy[judge] = _tuned_threshold(own, rest & tune, rest, float(allowed))
            rest = rest & ~(own.sure >= policy[judge])
        if policy not in policies:
            policies.append(policy)
    repeated = np.unique(judged.codes[test]).size < int(test.sum())
    sets = []
    for policy in policies:
        rest, wrong = (np.full(judged.human.size, v) for v in (True, False))
        for judge, own in tests.items():
            decided = rest & (own.sure >= policy[judge])
            wrong |= decided & (own.wrong > 0)
            rest = rest & ~decided
        held = test & ~rest
        sets.append(sequential.set_test(
            wrong[held], judged.codes[held] if repeated else None, error
        ))  # fmt: skip
    levels = sequential.fallback_test(
        [one.effective for one in sets], [one.p for one in sets],
        least=least_trials(error, delta), delta=delta,
    )  # fmt: skip
    passed = [i for i, level in enumerate(levels) if level > 0 and sets[i].p <= level]
    return policies[passed[-1]] if passed else {}


def _tuned_threshold(own: CheckedItems, used: Bools, reached: Bools, allowed: float) -> float:
    """The least strict candidate whose smoothed error rate is at most what is allowed."""
    best = math.inf
    for threshold in own.thresholds(reached).tolist():
        held = used & (own.sure >= threshold)
        if (float(own.wrong[held].sum()) + 0.5) / (float(held.sum()) + 1) <= allowed:
            best = threshold
    return best


def _cost(spent: Floats, codes: Ints, level: float, ends: tuple[float, float]) -> PolicyCost:
    """Mean cost per item, with limits that allow for items unlike those in the data.

    The interval over clusters is widened to hold that of Agresti and Coull (1998). It adds z^2 / 2
    items of the least cost and of the most, since humans may decide further items although they
    decide none of these.
    """
    mean, (least, most) = float(spent.mean()), ends
    _, place = np.unique(codes, return_inverse=True)
    groups, variance = int(place.max()) + 1, float(spent.var())
    error = math.sqrt(cluster_variance((spent - mean) / spent.size, place))
    quantile = float(special.stdtrit(max(groups - 1, 1), (1 + level) / 2))
    n = min(variance / error**2, spent.size) if error > 0 else groups
    added = float(special.ndtri((1 + level) / 2)) ** 2 / 2
    whole = n + 2 * added
    centre = (n * mean + added * (least + most)) / whole
    squares = (n * (variance + mean**2) + added * (least**2 + most**2)) / whole
    half, wide = quantile * error, quantile * math.sqrt((squares - centre**2) / whole)
    return PolicyCost(
        estimate=mean, low=max(min(mean - half, centre - wide), least),
        high=min(max(mean + half, centre + wide), most),
        method="t over clusters, with z^2 / 2 items more at each extreme",
    )  # fmt: skip
