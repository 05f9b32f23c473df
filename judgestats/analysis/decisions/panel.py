"""Panel: how many independent votes correlated judges are, and which of them adds nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from judgestats.analysis.decisions import record
from judgestats.analysis.decisions.operating_point import Bounded
from judgestats.analysis.decisions.record import Decision
from judgestats.arrays import Bools, Floats, Ints, as_numbers
from judgestats.errors import InputError
from judgestats.results.records import Number, Part
from judgestats.results.verdict import Caveat, Measure, NextStep, Subject
from judgestats.stats.validity import panels
from judgestats.stats.validity.inputs import cluster_variance, verdict_values

ASSUMED = (0.7, 0.8, 0.9)
"""Accuracies for which the effective votes are stated without labels."""
FURTHER = 25
FEW_ERRORS = 30


@dataclass(frozen=True, kw_only=True)
class Votes(Bounded):
    """Effective votes, from labels or from assumed accuracies alone."""

    source: Literal["labels", "assumed"] = "labels"


@dataclass(frozen=True, kw_only=True)
class Size(Part):
    """Accuracy of the majority of k judges; of more than there are, by a model without limits."""

    k: int
    estimate: Number
    low: Number = math.nan
    high: Number = math.nan
    model: bool = False


@dataclass(frozen=True, kw_only=True)
class Droppable(Part):
    """Accuracy lost without a judge, its upper limit, and whether that is below the margin."""

    judge: str
    loss: Number
    limit: Number
    droppable: bool


@dataclass(frozen=True, kw_only=True)
class Panel(Decision):
    """Effective votes of a panel, with an interval.

    Attributes
    ----------
    judges : tuple of str
    n_eff : Votes
        Independent judges of the same accuracy whose mean errs as variably. Source ``assumed``:
        without labels, only `assumed` and `least_mean_error` can be stated.
    mean_correlation : float
        Of two judges' errors.
    error_rates : mapping of judge to float
    least_mean_error : float
        Half the mean pairwise disagreement, which the mean error rate cannot fall below.
    assumed : mapping of accuracy to float
        Effective votes if every judge had this accuracy; NaN where the disagreement excludes it.
    accuracy_by_size : tuple of Size
    accuracy_if_independent : float
    droppable : tuple of Droppable
        By loss; with prices the dearest that can go first.
    copies : tuple of (str, str, float)
        Pairs of judges whose errors correlate above .9.
    margin : float
    """

    kind: ClassVar[str] = "panel"
    word: ClassVar[str] = "PANEL"
    required: ClassVar[tuple[str, ...]] = ("n_eff",)
    judges: tuple[str, ...]
    n_eff: Votes = Votes()
    mean_correlation: Number = math.nan
    error_rates: Mapping[str, Number]
    least_mean_error: Number = math.nan
    assumed: Mapping[str, Number]
    accuracy_by_size: tuple[Size, ...] = ()
    accuracy_if_independent: Number = math.nan
    droppable: tuple[Droppable, ...] = ()
    copies: tuple[tuple[str, str, Number], ...] = ()
    margin: Number = 0.01

    def measures(self, subject: Subject) -> Iterator[Measure]:
        """Effective votes; unmeasured without labels."""
        if self.certified:
            yield Measure(
                key="n_eff", subject=subject, estimate=self.n_eff.estimate, low=self.n_eff.low,
                high=self.n_eff.high, shape="log", n=self.n_labels,
                n_clusters=self.n_clusters or self.n_labels,
            )  # fmt: skip

    def sentences(self) -> list[str]:
        """Effective votes, accuracy, larger panels, and the judge that adds least."""
        k = len(self.judges)
        if self.n_eff.source == "assumed":
            listed = ", ".join(
                f"{n:.1f} at {record.number(float(a), 1)}" for a, n in self.assumed.items()
                if not math.isnan(n)
            )  # fmt: skip
            least = f"The mean error rate is at least {record.number(self.least_mean_error)}."
            votes = f"If every judge had this accuracy, effective votes: {listed}." if listed else (
                "More disagreement than accuracies of .7 to .9 allow."
            )  # fmt: skip
            return [f"{k} judges without labels: accuracy is not measured. {least} {votes}"]
        if not self.certified:
            return [f"{k} judges: {self.reason}."]
        made = self.n_eff
        first = (
            f"{k} judges have {made.estimate:.1f} effective votes, "
            f"{record.level_text(self.level)} CI [{made.low:.1f}, {made.high:.1f}]."
        )
        own = next((s for s in self.accuracy_by_size if s.k == k and not s.model), None)
        if own is None:
            return [first]
        first += (
            f" Accuracy of the majority: {record.number(own.estimate, 3)}, of independent judges "
            f"{record.number(self.accuracy_if_independent, 3)}."
        )
        more = [
            f"{s.k} such judges: about {record.number(s.estimate, 3)} (model)."
            for s in self.accuracy_by_size if s.model
        ]  # fmt: skip
        gone = [d for d in self.droppable if d.droppable]
        if gone:
            more.append(f"Not needed: {gone[0].judge} ({_loss_text(gone[0])}).")
        elif self.droppable:
            fewest = self.droppable[0]
            more.append(f"Smallest loss: without {fewest.judge} ({_loss_text(fewest)}).")
        more += [
            f"Near copies: {a} and {b} (error correlation {record.number(r)})."
            for a, b, r in self.copies[:1]
        ]
        return [first, *([" ".join(more)] if more else [])]


def _loss_text(one: Droppable) -> str:
    """Accuracy of the majority without a judge, against that with it."""
    if round(one.loss, 3) == 0:
        return "the majority stays as accurate without it"
    how = "lower" if one.loss > 0 else "higher"
    return f"majority {record.number(abs(one.loss), 3)} {how} without it"


def effective_votes(
    votes: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    names: Sequence[str] = (),
    cluster: ArrayLike | None = None,
    level: float = 0.95,
    margin: float = 0.01,
    prices: Mapping[str, float] | None = None,
    labels_drawn: str = "",
    scores: bool = False,
    subject: str = "",
) -> Panel:
    r"""Estimate the effective votes of a panel of judges.

    Parameters
    ----------
    votes : array-like, shape (N, judges)
        Pass and fail as words, booleans or 1 and 0; None where unparsed. With `scores` numbers.
    labels : array-like, shape (N,) or (N, raters), optional
        None without a label. Without any label only what votes show is stated.
    names : sequence of str
        Of the judges.
    cluster : array-like, shape (N,), optional
    level : float
    margin : float
        Loss of accuracy that does not matter.
    prices : mapping of judge to float, optional
        The dearest judge that can go is named first.
    labels_drawn : {"", "random", "stratified", "by-verdict", "convenience"}
    scores : bool
        Whether votes are scores: errors are then score minus label.
    subject : str

    Returns
    -------
    Panel

    Raises
    ------
    InputError
        There are fewer than two judges, labels were picked by hand, or scores have no human score.

    Notes
    -----
    :math:`n_{eff} = \overline{Var(e_j)} / Var(\bar e) = k / (1 + (k - 1)\rho)`; its interval is on
    the logarithm, by influence summed over clusters. Items that a judge left unparsed are left out.
    Agreement of judges never shows accuracy.

    References
    ----------
    Kish (1965), *Survey sampling*; Kohli (2026), arXiv:2605.29800; Ladha (1992), Am. J. Political
    Science 36, 617-634.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < .6
    >>> shared = rng.random(400) < .15
    >>> votes = np.column_stack([np.where(shared | (rng.random(400) < .1), ~y, y)
    ...                          for _ in range(5)])
    >>> found = effective_votes(votes, y, labels_drawn="random")
    >>> found.n_eff.low < found.n_eff.estimate < found.n_eff.high < 5
    True
    """
    where = "decide panel"
    record.check_level(where, level=level, margin=margin)
    if scores:
        read = as_numbers(votes, "votes", where)
    else:
        read = verdict_values(votes, where=where, name="votes")
    if read.ndim != 2 or read.shape[1] < 2:
        raise InputError(f"{where}: two judges or more are needed, one column each.")
    k = read.shape[1]
    judges = tuple(names) or tuple(f"judge {j + 1}" for j in range(k))
    if len(set(judges)) != k:
        raise InputError(f"{where}: names must differ, one per judge, got {list(judges)}.")
    if strange := sorted(set(prices or {}) - set(judges)):
        raise InputError(
            f"{where}: no judge is called {strange[0]!r}. Judges: {', '.join(judges)}."
        )
    complete = ~np.isnan(read).any(axis=1)
    base = Panel(
        subject=subject, judges=judges, level=level, margin=margin, n_items=len(read),
        n_unparsed=int((~complete).sum()), error_rates={}, assumed={},
        method="log n_eff, influence summed over clusters, t with kurtosis df",
    )  # fmt: skip
    if not complete.any():
        return replace(base, reason="no item was judged by every judge")
    if not scores:
        base = _unlabelled_panel(base, read[complete])
    if labels is None:
        return _assumed(base, "there are no labels")
    judged = record.labelled(labels, cluster, where=where, is_scored=scores)
    human = judged.human
    caveats = record.check_draw(where, labels_drawn, items=len(read), by_verdict="bias error rates")
    used: Bools = complete & ~np.isnan(human)
    if not used.any():
        return _assumed(base, "no item that all judges judged has a label")
    f, y = read[used], human[used]
    errors = f - y[:, None] if scores else (f != y[:, None]).astype(float)
    codes = judged.codes[used]
    base = replace(
        base, n_labels=int(used.sum()), n_clusters=judged.cluster_count(used, where=where),
        caveats=caveats, n_ties=judged.n_ties,
        error_rates=dict(zip(judges, np.abs(errors).mean(axis=0).tolist(), strict=True)),
    )  # fmt: skip
    if used.sum() < 3:
        return replace(base, reason="fewer than three labelled items")
    if errors.mean(axis=1).var() <= 1e-12 * np.square(errors).mean():  # of thirds it is not 0
        same, none = "the mean error is the same on every item", "no shared item was judged wrongly"
        what = same if errors.any() else none
        return replace(base, reason=f"{what}: n_eff is not defined")
    spread = float(max(x.var(axis=0).mean() for x in (f, errors))) if scores else None
    return _with_votes(base, errors, codes if judged.clustered else None, prices, spread)


def _assumed(base: Panel, reason: str) -> Panel:
    """What can be said without labels, and how to get them.

    Raises
    ------
    InputError
        Judges give scores: their errors need human scores.
    """
    if not base.assumed:
        raise InputError(
            "decide panel: judges give scores, so their errors need human scores. Add them by "
            f"--labels FILE, or draw items: {record.plan_command(200, base.n_items)}"
        )
    command = record.plan_command(200, base.n_items)
    step = NextStep(key="n_eff", unit="labels", have=0, if_true=200, command=command)
    return replace(base, n_eff=Votes(source="assumed"), reason=reason, next=(step,))


def _unlabelled_panel(base: Panel, votes: Floats) -> Panel:
    """What votes alone show: least mean error, and effective votes for assumed accuracies."""
    apart = [float(np.mean(votes[:, i] != votes[:, j]))
             for i, j in combinations(range(votes.shape[1]), 2)]  # fmt: skip
    v = panels.vote_variance(votes)
    assumed = {}
    for accuracy in ASSUMED:
        q = accuracy * (1 - accuracy)
        assumed[f"{accuracy:g}"] = q / (q - v) if q > v else math.nan
    return replace(base, least_mean_error=float(np.mean(apart)) / 2, assumed=assumed)


def _with_votes(
    base: Panel,
    errors: Floats,
    codes: Ints | None,
    prices: Mapping[str, float] | None,
    spread: float | None,
) -> Panel:
    """Effective votes, and of verdicts accuracies; `spread` is the variance of scores."""
    k = len(base.judges)
    estimate = panels.effective_judges(errors)
    step = 1.0 if spread is None else 2 * spread
    low, high = panels.effective_judges_limits(errors, codes, base.level, step)
    caveats = base.caveats
    few = int((np.abs(errors) > 0).any(axis=1).sum())
    if few < FEW_ERRORS:
        caveats = (*caveats, Caveat(
            code="few_errors", severity="minor", about="n_eff",
            text=f"Only {few} labelled items have any error, so the interval allows for one more "
            "in which all judges err.",
            action="Label more items.",
        ))  # fmt: skip
    found = replace(
        base, certified=True, caveats=caveats,
        n_eff=Votes(estimate=estimate, low=low, high=high, method=base.method),
        mean_correlation=(k / estimate - 1) / (k - 1),
        copies=panels.near_copies(errors, base.judges),
    )  # fmt: skip
    if spread is not None:
        return found
    places = codes if codes is not None else np.arange(len(errors))
    sizes = [_size(errors, n, places, base.level) for n in range(1, k + 1)]
    rate, rho = float(errors.mean()), found.mean_correlation
    own = sizes[-1]
    modelled = partial(panels.modelled_accuracy, rate, max(rho, 0))
    if k < FURTHER and rho < 1 and own.low <= modelled(k) <= own.high:
        sizes.append(Size(k=FURTHER, estimate=modelled(FURTHER), model=True))
    return replace(
        found, accuracy_by_size=tuple(sizes),
        accuracy_if_independent=panels.independent_accuracy(errors.mean(axis=0)),
        droppable=_droppable(errors, places, base, prices or {}),
    )  # fmt: skip


def _mean_error(values: Floats, places: Ints) -> tuple[float, float]:
    """Mean, and its standard error over clusters."""
    mean = float(values.mean())
    return mean, math.sqrt(cluster_variance((values - mean) / values.size, places))


def _size(errors: Floats, n: int, places: Ints, level: float) -> Size:
    mean, error = _mean_error(panels.subset_credit(errors, n), places)
    groups = np.unique(places).size
    half = float(special.stdtrit(max(groups - 1, 1), (1 + level) / 2)) * error
    return Size(k=n, estimate=mean, low=max(mean - half, 0.0), high=min(mean + half, 1.0))


def _droppable(
    errors: Floats, places: Ints, base: Panel, prices: Mapping[str, float]
) -> tuple[Droppable, ...]:
    """Accuracy lost without each judge, with one-sided limits that hold together."""
    k = len(base.judges)
    if k < 3:
        return ()
    whole = panels.subset_credit(errors, k)
    groups = np.unique(places).size
    quantile = float(special.stdtrit(max(groups - 1, 1), 1 - (1 - base.level) / k))
    out = []
    for j, judge in enumerate(base.judges):
        rest = panels.subset_credit(np.delete(errors, j, axis=1), k - 1)
        loss, error = _mean_error(whole - rest, places)
        # Where hardly any majority changes, as much as four items with a loss or gain of .5 add.
        limit = loss + quantile * math.hypot(error, 1 / groups)
        out.append(Droppable(judge=judge, loss=loss, limit=limit, droppable=limit < base.margin))
    return tuple(sorted(out, key=lambda d: (not d.droppable, -prices.get(d.judge, 0.0), d.loss)))
