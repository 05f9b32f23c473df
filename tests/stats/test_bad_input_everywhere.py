"""Every public statistic meets bad data: a defined limit, NaN with a reason, or a readable refusal.

Each function is called with the same kinds of bad data: one item, one replication, constant
columns, nothing read, infinite numbers, perfect agreement, a duplicated column, fewer items than
replications, no data at all. Whatever comes, it must not crash, warn, or give an infinite number or
a NaN that nobody explains.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import math
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from judgestats import stats
from judgestats.errors import InputError
from judgestats.stats.inference import Comparisons, Estimate, Result, TestResult

NAN, INF = math.nan, math.inf

# ---------------------------------------------------------------------------------- bad data


def _scores() -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.round(rng.normal(6, 1.5, (12, 1)) + rng.normal(0, 1, (12, 4)), 1)


def _with(value: float, *, at: tuple[Any, ...] = (0, 0)) -> np.ndarray:
    x = _scores()
    x[at] = value
    return x


MATRICES: dict[str, np.ndarray] = {
    "good": _scores(),
    "one item": _scores()[:1],
    "two items": _scores()[:2],
    "one replication": _scores()[:, :1],
    "two replications": _scores()[:, :2],
    "one score": np.array([[7.0]]),
    "no items": np.empty((0, 4)),
    "no replications": np.empty((12, 0)),
    "one constant column": _with(5.0, at=(slice(None), 1)),
    "constant columns": np.tile([3.0, 5.0, 5.0, 8.0], (12, 1)),
    "all equal": np.full((12, 4), 8.0),
    "all missing": np.full((12, 4), NAN),
    "one missing": _with(NAN),
    "one item missing": _with(NAN, at=(0, slice(None))),
    "one column missing": _with(NAN, at=(slice(None), 0)),
    "one complete item": np.where(np.arange(12)[:, None] == 0, _scores(), [[NAN, 1, 2, 3]]),
    "infinite": _with(INF),
    "minus infinite": _with(-INF),
    "perfect agreement": np.repeat(_scores()[:, :1], 4, axis=1),
    "duplicated column": _scores()[:, [0, 1, 2, 0]],
    "fewer items than replications": _scores()[:4, :].repeat(1, axis=0).T[:3],
    "as many items as replications": _scores()[:4],
    "opposite columns": np.column_stack([_scores()[:, 0], -_scores()[:, 0]]),
}


ABSURD = (-1e6, 1764273600.0, 1e100, 1e308, -1e308, 5e-324)
"""Scores that no judge means: a time, a typing error, an overflow."""
SECONDS: dict[str, int] = {}
"""A factor fit without a solution runs to its last iteration, as many for any value."""


def verdicts(x: np.ndarray) -> np.ndarray:
    """The same matrix as letters: None where missing, infinity as the word it prints as."""
    out = np.empty(x.shape, dtype=object)
    for at, value in np.ndenumerate(x):
        if math.isnan(value):
            out[at] = None
        else:
            out[at] = "ABC"[int(abs(value)) % 3] if abs(value) < 1e9 else "inf"
    return out


def outcomes(x: np.ndarray) -> np.ndarray:
    """The same matrix as a / b / tie."""
    names = {"A": "a", "B": "b", "C": "tie", "inf": "inf", None: None}
    return np.array([[names[v] for v in row] for row in verdicts(x)], dtype=object).reshape(x.shape)


def binary(x: np.ndarray) -> np.ndarray:
    """The same matrix as 0 / 1; missing and infinite stay."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(x), np.floor(np.abs(x)) % 2, x)


def integers(x: np.ndarray) -> np.ndarray:
    """The same matrix as few ordered values."""
    return np.where(np.isfinite(x), np.clip(np.round(x), 1, 9), x)


def positions(x: np.ndarray) -> np.ndarray:
    """The same matrix as chosen positions: 0 to columns - 1."""
    k = max(x.shape[1], 1)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(x), np.floor(np.abs(x)) % k, x)


def column(x: np.ndarray, i: int) -> np.ndarray:
    return x[:, min(i, x.shape[1] - 1)] if x.shape[1] else np.empty(0)


def cells(x: np.ndarray) -> np.ndarray:
    """Items x conditions x replications: the second condition is the first in another order."""
    return np.stack([x, x[:, ::-1]], axis=1)


def fewer(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with as few resamples as make sense, for the functions that have them."""
    small = {
        "n_permutations": 19,
        "n_resamples": 40,
        "n_splits": 20,
        "n_draws": 50,
        "n_simulations": 20,
    }
    return {k: v for k, v in small.items() if k in options}


def call(name: str, *args: Any, **options: Any) -> Any:
    function = getattr(stats, name)
    if inspect.ismodule(function):
        # Collecting the doctests of a module of that name binds the module over the function.
        function = getattr(function, name)
    return function(*args, **{**fewer(inspect.signature(function).parameters), **options})


Caller = Callable[[np.ndarray], Any]


def on(name: str, make: Callable[[np.ndarray], Any] = lambda x: x, **options: Any) -> Caller:
    return lambda x: call(name, make(x), **options)


def on_two(name: str, make: Callable[[np.ndarray], Any] = lambda x: x, **options: Any) -> Caller:
    return lambda x: call(name, column(make(x), 0), column(make(x), 1), **options)


def on_orders(name: str, **options: Any) -> Caller:
    """Both orders as matrices."""
    return lambda x: call(name, outcomes(x), outcomes(x)[:, ::-1], **options)


def table(x: np.ndarray) -> np.ndarray:
    return np.floor(x[:2, :2])


CALLS: dict[str, Caller] = {
    "accuracy": on_two("accuracy", outcomes),
    "agreement_across_judges": lambda x: call(
        "agreement_across_judges", np.stack([verdicts(x), verdicts(x)[:, ::-1]], axis=1)
    ),
    "alignment_by_category": lambda x: call(
        "alignment_by_category",
        column(outcomes(x), 0),
        column(outcomes(x), 1),
        category=np.arange(len(x)) % 2,
    ),
    "alignment_score": on_two("alignment_score", outcomes, n_permutations=19),
    "cochran_q_test": on("cochran_q_test", binary),
    "cohen_kappa": on_two("cohen_kappa", verdicts),
    "grade_score": on("grade_score", positions),
    "grade_score_difference": lambda x: call(
        "grade_score_difference", positions(x), positions(x)[:, ::-1]
    ),
    "human_ceiling": on("human_ceiling", outcomes),
    "human_correlation": lambda x: call("human_correlation", x, column(x, 1)),
    "intransitive_triads": lambda x: call(
        "intransitive_triads",
        np.repeat("q", 3 * (len(x) // 3)),
        np.tile(["x", "y", "x"], len(x) // 3),
        np.tile(["y", "z", "z"], len(x) // 3),
        column(outcomes(x), 0)[: 3 * (len(x) // 3)],
    ),
    "levene_of_variances": lambda x: call("levene_of_variances", np.clip(x.T, -1e150, 1e150) ** 2),
    "mcnemar_test": on_two("mcnemar_test", binary),
    "nemenyi_critical_difference": lambda x: call("nemenyi_critical_difference", *x.shape[::-1]),
    "normality_test": on("normality_test"),
    "option_win_rate": on("option_win_rate", verdicts, option="A"),
    "p_adjust": on("p_adjust", lambda x: np.abs(x.ravel()) / 20),
    "page_trend_test": on("page_trend_test"),
    "pairwise_from_scores": on_two("pairwise_from_scores"),
    "cluster_bootstrap": lambda x: call("cluster_bootstrap", x, np.sum),
    "position_test": on("position_test", positions, n_options=4),
    "ratio_of_ratios": lambda x: call("ratio_of_ratios", cells(x), cells(x[::-1])),
    "replications_needed": lambda x: call(
        "replications_needed", float(x.flat[0]) / 10 if x.size else NAN, target=0.8
    ),
    "spearman_brown": lambda x: call(
        "spearman_brown", float(x.flat[0]) / 10 if x.size else NAN, k=3
    ),
    "round_robin": lambda x: call(
        "round_robin",
        np.tile([0, 1, 0], len(x) // 3),
        np.tile([1, 2, 2], len(x) // 3),
        column(outcomes(x), 0)[: 3 * (len(x) // 3)],
        n_candidates=3,
    ),
    "spread_trend": on("spread_trend", np.abs),
    "published_omega_2412_12509": on("published_omega_2412_12509", verdicts, n_permutations=9),
}
for _name in [
    "brown_forsythe_test",
    "kruskal_test",
    "levene_test",
    "pairwise_mann_whitney",
]:
    CALLS[_name] = on(_name, lambda x: list(x.T))
for _name in [
    "condition_summary",
    "gmd_ratio",
    "mean_shift",
    "run_component",
    "spread_published",
    "spread_test",
    "variance_ratio",
]:
    CALLS[_name] = on(_name, cells)
for _name in ("equivalence_of_means", "equivalence_of_spread"):
    CALLS[_name] = on(_name, cells, margin=1.5)
for _name in ("first_position_preference", "swap_consistency", "position_and_noise"):
    CALLS[_name] = on_orders(_name)

for _name in ("error_rates", "corrected_rate"):
    CALLS[_name] = lambda x, n=_name: call(n, column(binary(x), 0), column(binary(x), 1))
CALLS["graded_agreement"] = lambda x: call("graded_agreement", column(x, 0), column(x, 1))
CALLS["confidence_calibration"] = lambda x: call(
    "confidence_calibration",
    1 / (1 + np.exp(-np.clip(column(x, 0), -500, 500))),
    column(binary(x), 1),
)
CALLS["alternative_annotator_test"] = lambda x: call(
    "alternative_annotator_test", column(verdicts(x), 0), verdicts(x)[:, 1:]
)
CALLS["agreement_ceiling"] = lambda x: call(
    "agreement_ceiling", column(verdicts(x), 0), verdicts(x)[:, 1:]
)
CALLS["accuracy_by_k"] = lambda x: call("accuracy_by_k", binary(x)[:, 1:], column(binary(x), 0))
CALLS["error_parts"] = lambda x: call("error_parts", x[:, 1:], column(x, 0))
CALLS["anchored_change"] = lambda x: call(
    "anchored_change", column(x, 0), column(x, 1), column(x, 2)
)
CALLS["corrected_differences"] = lambda x: call(
    "corrected_differences", x, x[:, ::-1], names=[str(i) for i in range(x.shape[1])]
)
CALLS["error_rates_by_slice"] = lambda x: call(
    "error_rates_by_slice", column(binary(x), 0), column(binary(x), 1), np.arange(len(x)) % 2
)
CALLS["corrected_mean"] = lambda x: call("corrected_mean", column(x, 0), column(x, 1))

CALLS["repeat_pairs"] = lambda x: [
    getattr(call("repeat_pairs", x, scale=(1, 10)), name)()
    for name in ("sem", "core_sem", "far_share", "sem_tail", "icc")
]
CALLS["comparisons_with_best"] = on("comparisons_with_best", lambda x: x)
CALLS["run_change"] = lambda x: [
    call("run_change", x, x[:, ::-1], kind="scores"),
    call("run_change", verdicts(x), verdicts(x[:, ::-1]), kind="verdicts"),
]
CALLS["correlation_by_level"] = lambda x: call(
    "correlation_by_level",
    column(x, 0),
    column(x, 1),
    source=np.arange(len(x)) // 4,
    system=np.arange(len(x)) % 4,
)
CALLS["accuracy_by_slot"] = lambda x: call(
    "accuracy_by_slot",
    positions(x).ravel(),
    np.tile(np.arange(max(x.shape[1], 2))[: x.shape[1]], len(x)),
    item=np.repeat(np.arange(len(x)), x.shape[1]),
    n_options=max(x.shape[1], 2),
    n_permutations=19,
)
CALLS["pair_accuracy"] = lambda x: call(
    "pair_accuracy", outcomes(x), outcomes(x[:, ::-1]), column(outcomes(x), 0)
)
CALLS["choice_accuracy_by_k"] = lambda x: call(
    "choice_accuracy_by_k", x, np.arange(len(x)) % 3 == 0, np.arange(len(x)) // 3
)
CALLS["separation"] = lambda x: call("separation", x, np.arange(len(x)) % 2)
CALLS["panel_of_scores"] = lambda x: call(
    "panel_of_scores",
    np.repeat(x, 2, axis=0),  # it takes at least 20 items
    np.repeat(column(x, 0), 2),
    names=[f"j{k}" for k in range(x.shape[1])],
)
CALLS["panel_gain"] = lambda x: call("panel_gain", column(binary(x), 0), binary(x)[:, 1:])
CALLS["leniency"] = lambda x: call("leniency", x)
CALLS["copied_items"] = lambda x: call(
    "copied_items",
    x.ravel(),
    np.repeat(np.arange(len(x)), x.shape[1]),
    np.tile(np.arange(x.shape[1]), len(x)),
)
CALLS["labels_gained"] = lambda x: call(
    "labels_gained", np.repeat(column(x, 0), 2), np.repeat(column(x, 1), 2)
)
CALLS["paired_share_difference"] = lambda x: call(
    "paired_share_difference", column(binary(x), 0), column(binary(x), 1)
)
CALLS["win_rates"] = lambda x: call(
    "win_rates",
    column(outcomes(x), 0),
    system_a=np.arange(len(x)) % 3,
    system_b=(np.arange(len(x)) + 1) % 3,
)
CALLS["bradley_terry"] = lambda x: call(
    "bradley_terry",
    outcomes(x).ravel(),
    system_a=np.arange(x.size) % 3,
    system_b=(np.arange(x.size) + 1 + (np.arange(x.size) // 3) % 2) % 3,
)
CALLS["dif_test"] = lambda x: call(
    "dif_test",
    np.repeat(column(integers(x), 0), 8),  # it takes at least 30 questions a source
    np.arange(8 * len(x)) % 2,
    quality=np.repeat(column(x, 1), 8),
)
CALLS["attack_success"] = lambda x: call(
    "attack_success", column(x, 0), column(x, 1), success_from=8.0
)
CALLS["scale_agreement"] = lambda x: call("scale_agreement", x, x)
CALLS["probe_shift"] = lambda x: call(
    "probe_shift", column(x, 0), column(x, 1), margin=0.25, reach=1000.0
)
CALLS["prompt_sensitivity"] = lambda x: call("prompt_sensitivity", cells(x))
CALLS["crossed_components"] = lambda x: call("crossed_components", np.stack([cells(x)] * 2, axis=1))
CALLS["relation_null"] = lambda x: call(
    "relation_null",
    (column(verdicts(x), 0), column(verdicts(x), 1)),
    lambda a, b: float(np.mean(a == b)),
    n_permutations=19,
)


NOT_FROM_DATA = {
    "adjust_family",
    "allocate_labels",
    "corrected_by_rates",
    "corrected_win_rate",
    "draw_labels",
    "labels_needed",
    "panel_of_judges",
    "split_labels",
    "tango_limits",
}
"""Functions that take results or declared figures, not data; their own tests hold them."""


BY_FIRST_ARGUMENTS: dict[tuple[str, ...], Callable[[str], Caller]] = {
    ("scores",): on,
    ("verdicts",): lambda name: on(name, verdicts),
    ("positions",): lambda name: on(name, positions),
    ("x", "y"): on_two,
}
"""The same name of an argument is the same kind of data: a new statistic needs no entry above."""

for _name in set(stats.__all__) - set(CALLS) - NOT_FROM_DATA:
    _required = tuple(
        p.name
        for p in inspect.signature(getattr(stats, _name)).parameters.values()
        if p.name == "y" or (p.default is p.empty and p.kind is not p.VAR_KEYWORD)
    )
    if _required in BY_FIRST_ARGUMENTS:
        CALLS[_name] = BY_FIRST_ARGUMENTS[_required](_name)


def test_every_public_statistic_is_called() -> None:
    assert set(CALLS) | NOT_FROM_DATA >= set(stats.__all__)


# ------------------------------------------------------------------------ what may come back


def estimates_in(value: Any) -> Iterator[Estimate]:
    """Every Estimate inside a result."""
    if isinstance(value, Estimate):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from estimates_in(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from estimates_in(part)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from estimates_in(getattr(value, field.name))


def complaints(value: Any) -> list[str]:
    """What is silent or unprintable in a result."""
    found: list[str] = []
    for e in estimates_in(value):
        if math.isnan(e.estimate) and not e.reason:
            found.append(f"{e.name}: NaN without a reason")
        if not math.isnan(e.estimate) and e.reason:
            found.append(f"{e.name}: {e.estimate} although {e.reason}")
        if e.interval is not None:
            low, high = e.interval.low, e.interval.high
            if math.isnan(e.estimate) and not (math.isnan(low) and math.isnan(high)):
                found.append(f"{e.name}: an interval [{low}, {high}] of an undefined estimate")
            if low == high:
                found.append(f"{e.name}: an interval of width zero at {low}")
            if low > high:
                found.append(f"{e.name}: interval [{low}, {high}] is upside down")
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, TestResult):
            if math.isnan(part.p_value) and not part.reason:
                found.append(f"{part.name}: p is NaN without a reason")
            if not math.isnan(part.p_value) and not 0 <= part.p_value <= 1:
                found.append(f"{part.name}: p = {part.p_value}")
        if isinstance(part, Comparisons):
            found += [
                f"{part.name}: {r.a} - {r.b} has no p and no reason"
                for r in part.rows
                if math.isnan(r.p_value) and not r.reason
            ]
        if isinstance(part, Result):
            text = f"{part}\n{part._repr_html_()}"
            assert text.strip()
            part.glance()
            part.tidy()
    return found


@pytest.mark.parametrize("name", sorted(CALLS))
def test_bad_data_is_refused_explained_or_has_a_defined_limit(name: str) -> None:
    for kind in sorted(MATRICES):
        try:
            result = CALLS[name](MATRICES[kind].copy())
        except InputError as refusal:
            text = str(refusal)
            assert kind != "good" or name == "schmid_leiman", text
            assert text.split(":", maxsplit=1)[0].split(".", maxsplit=1)[0].isidentifier(), text
            assert len(text) > 40, text
        else:
            assert complaints(result) == [], kind


@pytest.mark.parametrize("name", sorted(CALLS))
def test_one_absurd_score_neither_crashes_nor_sets_a_size(name: str) -> None:
    for value in ABSURD:
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.thread_time()
        with contextlib.suppress(InputError):
            assert complaints(CALLS[name](_with(value))) == [], value
        assert time.thread_time() - start < SECONDS.get(name, 2), value
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held < 200 * 1024, value
