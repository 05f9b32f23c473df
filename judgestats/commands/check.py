"""Gate for CI: demands, findings, and output."""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from judgestats.commands.arguments import Args
from judgestats.errors import InputError, nearest, printable
from judgestats.results import QUANTITIES, Condition, Results, Row, plain, quantity_of
from judgestats.results.answers import format_record, number_of, row_decimals
from judgestats.results.metric_names import ALIASES, is_called, metric_called, quantities_of
from judgestats.results.numbers import bounds_of, estimate_parts
from judgestats.results.screen import Span
from judgestats.results.summary import brief_of
from judgestats.results.thresholds import (
    SIGNS,
    Bound,
    Side,
    Spelled,
    as_option,
    holds_size,
    named_bounds,
    not_estimable,
    refuse_wrong_side,
)
from judgestats.runner import display as console
from judgestats.runner.display import show_framed, write_json
from judgestats.tracking.runs import WHOLE_RUN, metrics_of


@dataclass(frozen=True)
class Demand:
    """A metric and the bound it must keep: at least (``min``) or at most (``max``).

    `written` is the number as it was typed.
    """

    metric: str
    side: Side
    bound: float
    written: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Finding:
    """What a demand found in one run.

    `decided_on` is the end of the interval on the demand's bad side (of a number whose either sign
    is a fault, the end that is farther from 0, without its sign); the estimate itself where the
    metric has no interval in any condition (a share that is counted, a cost); NaN where the number
    or its interval is undefined here and defined in another condition, where the interval is not
    estimable, and where it is of repetition and sampling is off.
    """

    demand: Demand
    where: str
    estimate: float
    decided_on: float
    basis: str
    low: float = math.nan
    high: float = math.nan

    @property
    def passed(self) -> bool:
        """Whether the demand holds; an undefined number never passes."""
        if math.isnan(self.decided_on):
            return False
        if self.demand.side == "min":
            return self.decided_on >= self.demand.bound
        return self.decided_on <= self.demand.bound


class CheckResult(NamedTuple):
    """What demands found in a run.

    `left` are the demands that say nothing of the conditions `still`, in which sampling is off;
    `runs` are the metrics of the conditions that were held to them.
    """

    findings: list[Finding]
    left: list[str]
    still: list[str]
    runs: Mapping[str, Mapping[str, float]]


_OF_REPETITION = (
    "reliability/", "spread/", "agreement/fleiss_kappa", "agreement/ac1", "agreement/flip_rate",
)  # fmt: skip
_ROWS_OF_REPETITION = frozenset({"sem", "reliability", "repeats", "flips"})


def depends_on_sampling(name: str, rows: Sequence[Row]) -> bool:
    """Whether a number says nothing where sampling is off: the same reply again is no agreement."""
    keys = {row.key for row in rows if is_called(row, name)}
    return name.startswith(_OF_REPETITION) or bool(keys & _ROWS_OF_REPETITION)


def with_row(
    runs: Mapping[str, Mapping[str, float]], name: str, results: Results
) -> dict[str, dict[str, float]]:
    """The conditions with a row's number and its bounds under this name, as metrics have them.

    A condition of which other rows tell something and this one does not cannot have the number
    (scores have no sensitivity) and falls out; one of which none tells anything stays, without it.

    Parameters
    ----------
    runs : mapping of name to metrics
    name : str
    results : Results

    Returns
    -------
    dict
        `runs` as they are where a metric has this name; with a metric under it that it stands for
        (``unread``) where no row has it.
    """
    same = {run: dict(metrics) for run, metrics in runs.items()}
    rows = [row for row in results.rows if is_called(row, name)]
    if any(name in metrics for metrics in runs.values()):
        return same
    if not rows:
        if metric := metric_called(name, {key for own in runs.values() for key in own}):
            for own in same.values():
                copied = {f"ci/{metric}.{end}": f"ci/{name}.{end}" for end in ("lo", "hi")}
                copied[metric] = name
                own |= {to: own[key] for key, to in copied.items() if key in own}
        return same
    in_rows = {
        label for row in results.rows for label, record in row.cells.items() if record in results
    }
    cells = {k: record for row in reversed(rows) for k, record in row.cells.items()}
    out: dict[str, dict[str, float]] = {}
    of_conditions = bool(
        set(cells) & {c.label for c in results.conditions} or set(cells) & set(runs)
    )
    for run in same if of_conditions else cells:  # a row may be of judges, say
        metrics = same.get(run, {})
        if cells.get(run, "") in results:
            record = number_of(results, cells[run])
            metrics[name] = record.estimate
            low, high = bounds_of(record.interval)
            ends = {f"ci/{name}.lo": low, f"ci/{name}.hi": high}
            metrics |= {key: end for key, end in ends.items() if not math.isnan(end)}
        elif run in in_rows:
            continue
        out[run] = metrics
    return out


def unknown_name(name: str, metrics: Iterable[str], rows: Sequence[Row]) -> InputError:
    """The fault of a name that neither a row nor a metric has."""
    named = [row.key for row in rows]
    names = sorted({m for m in metrics if not m.startswith(("ci/", "null/"))})
    named += [n for n in ("unread", "unanswered") if named and metric_called(n, names)]
    listed = ", ".join(dict.fromkeys(named)) or ", ".join(names)
    whole = "; by their whole names: judgestats show RUN --json" if named else ""
    return InputError(
        f"check: no number is called {printable(name, one_line=True)!r} in this run."
        f"{nearest(name, [*named, *names, *ALIASES])} There are: {listed}{whole}."
    )


_MOST_FINDINGS = 12
_LONGEST_NAME = 40
_UNANSWERED = "quality/unanswered_share"


def print_check(run: str, results: Results, held: CheckResult, demands: Sequence[Demand]) -> None:
    """Print what was demanded and found in a frame, what failed first.

    Parameters
    ----------
    run : str
        Its id or folder, as it was typed.
    results : Results
    held : CheckResult
    demands : sequence of Demand
    """
    ordered = list(held.findings)
    failed = sum(not f.passed for f in ordered)
    screen = console.output_options().form == "screen"
    if screen:
        ordered.sort(key=lambda f: f.passed)
        ordered = ordered[:_MOST_FINDINGS]
    width = max(len(f.where) for f in ordered)
    width = min(width, _LONGEST_NAME) if screen else width
    body = [[Span(f" {len(held.findings) - failed} of {len(held.findings)} demands hold.")]]
    body += [_line(f, width, results) for f in ordered]
    if more := len(held.findings) - len(ordered):
        body.append([Span(f" and {more} more: judgestats check {_short(run)} ... --all")])
    brief = brief_of(results)
    mind = (*_notes(held, demands), *brief.mind)
    facts = (f"run {_short(run)}", *brief.facts)
    show_framed(
        replace(brief, facts=facts, mind=mind, use=(), read=(), thresholds=()),
        body,
        following=[f"judgestats show {_short(run)}", *_reports(run, failed)],
    )


def _short(run: str) -> str:
    """A run as a command takes it: the beginning of an id, a whole path."""
    return run if Path(run).exists() else run[: console.SHORT]


def _reports(run: str, failed: int) -> list[str]:
    return [] if failed else [f"judgestats report {_short(run)}"]


def _notes(held: CheckResult, demands: Sequence[Demand]) -> list[str]:
    """What the demands say nothing of, and why."""
    notes = []
    if held.left and held.still:
        notes.append(
            f"left out (sampling is off there, so repeating says nothing of "
            f"{', '.join(held.left)}): {'; '.join(held.still)}"
        )
    if any(math.isnan(f.estimate) for f in held.findings):
        notes.append(
            "a number that is undefined in a condition fails there; where it cannot exist (the "
            "order of a single response), name the conditions meant: --condition NAME"
        )
    return [*notes, *_unanswered(held.runs, demands)]


def _unanswered(runs: Mapping[str, Mapping[str, float]], demands: Sequence[Demand]) -> list[str]:
    """That judgments are in no number, where nobody demanded anything of how many."""
    named = {metric_called(demand.metric, [_UNANSWERED]) for demand in demands}
    shares = {name: m.get(_UNANSWERED, 0.0) for name, m in runs.items() if name != WHOLE_RUN}
    worst = max(shares, key=lambda name: shares[name], default="")
    if not worst or not shares[worst] > 0 or _UNANSWERED in named:
        return []
    text = (
        f"not demanded: up to {100 * shares[worst]:.3g} % of the judgments of a condition "
        f"({worst}) were not answered or never asked, and are in no number "
        f"({as_option('max', 'unanswered', '.05')} says how many may be)"
    )
    return [text]


def _line(finding: Finding, width: int, results: Results) -> list[Span]:
    """``PASS  gpt-4o  reliability .89 [.85, .93], demanded >= .8``."""
    name = finding.where if len(finding.where) <= width else f"{finding.where[: width - 3]}..."
    mark = Span("PASS", "good") if finding.passed else Span("FAIL", "bad")
    sign = SIGNS[finding.demand.side]
    number, bounded = _number(finding, results)
    sized = finding.basis == "size at most"
    sign = f"size {sign}" if sized else sign
    why = "" if sized or finding.basis.endswith("bound") else f" ({finding.basis})"
    if math.isnan(finding.decided_on) and not why:
        why = " (no such end of its interval)"
    demanded = f"{finding.demand.bound:g}"
    demanded = demanded.replace("0.", ".", 1) if bounded and demanded[:2] == "0." else demanded
    text = f"{finding.demand.metric} {number}{why}, demanded {sign} {demanded}"
    return [Span(" "), mark, Span(f"  {name:<{width}}  {text}")]


def _number(finding: Finding, results: Results) -> tuple[str, bool]:
    """The number with its interval in the digits of the screen, and whether it is a share."""
    for row in results.rows:
        record = row.cells.get(finding.where, "")
        if is_called(row, finding.demand.metric) and record in results:
            number = number_of(results, record)
            parts = format_record(number, decimals=row_decimals(row, results))
            return " ".join(filter(None, parts)), QUANTITIES[row.estimand].bounded
    metrics = {m for own in results.condition_metrics.values() for m in own}
    named = quantities_of(finding.demand.metric, results.rows, metrics)
    bounded = any(quantity_of(quantity.estimand).bounded for quantity in named)
    if math.isnan(finding.estimate):
        return "-", bounded
    parts = estimate_parts(finding.estimate, finding.low, finding.high, bounded=bounded)
    return " ".join(filter(None, parts)), bounded


def read_demands(required: Sequence[str]) -> list[Demand]:
    """Read ``name>=number`` and ``name<=number`` demands.

    Examples
    --------
    >>> read_demands(["reliability/icc1>=.8"])
    [Demand(metric='reliability/icc1', side='min', bound=0.8)]
    """
    demands = [Demand(*bound) for bound in named_bounds(required, where="check: ")]
    if not demands:
        raise InputError("check: name a threshold, e.g. --require 'reliability>=.8'.")
    return demands


def judge_run(
    runs: Mapping[str, Mapping[str, float]],
    demands: Sequence[Demand],
    *,
    whole: Mapping[str, Mapping[str, float]] | None = None,
    rows: Sequence[Row] = (),
    lost: Collection[str] = (),
) -> list[Finding]:
    """Hold the metrics of runs to demands.

    Parameters
    ----------
    runs : mapping of name to metrics
        A run and its conditions.
    demands : sequence of Demand
        Each applies to every condition if one of them has the metric, else to the whole run. A
        condition whose number is undefined does not pass: nothing is known in its favour.
    whole : mapping, optional
        All conditions, where `runs` are some of them: one that bounds a number says that it has
        an interval.
    rows : sequence of Row
        Of the run's screen: their names are told where a demand names none.
    lost : collection of str
        Conditions in which the demanded number's interval is not estimable.

    Returns
    -------
    list of Finding

    Raises
    ------
    InputError
        No run has a demanded metric.

    Examples
    --------
    >>> runs = {"c": {"reliability/icc1": 0.9, "ci/reliability/icc1.lo": 0.7}}
    >>> [f.passed for f in judge_run(runs, read_demands(["reliability/icc1>=.8"]))]
    [False]
    >>> runs["d"] = {}  # nothing readable: the metric is undefined
    >>> [(f.where, f.basis) for f in judge_run(runs, read_demands(["reliability/icc1>=.1"]))]
    [('c', 'lower bound'), ('d', 'undefined')]
    """
    findings = []
    for demand in demands:
        held = {name: m for name, m in runs.items() if name != WHOLE_RUN}
        if not any(demand.metric in m for m in held.values()):
            held = {name: m for name, m in runs.items() if demand.metric in m}
        if not held:
            raise unknown_name(demand.metric, {k for m in runs.values() for k in m}, rows)
        end, text = ("lo", "lower bound") if demand.side == "min" else ("hi", "upper bound")
        sized = demand.side == "max" and any(
            holds_size(quantity.better, demand.bound)
            for quantity in quantities_of(
                demand.metric, rows, {k for m in held.values() for k in m}
            )
        )
        text = "size at most" if sized else text
        bounded = any(f"ci/{demand.metric}.{end}" in m for m in (whole or held).values())
        for name, metrics in held.items():
            estimate = metrics.get(demand.metric, math.nan)
            bound = metrics.get(f"ci/{demand.metric}.{end}", math.nan) if bounded else estimate
            if sized:
                low = metrics.get(f"ci/{demand.metric}.lo", math.nan) if bounded else estimate
                bound = math.nan if math.isnan(low + bound) else max(-low, bound)
            bound = math.nan if name in lost else bound
            if math.isnan(estimate):
                basis = "undefined"
            elif name in lost:
                basis = f"undefined {text}: these data do not bound it (interval not estimable)"
            elif not bounded:
                basis = "estimate (no interval)"
            else:
                basis = f"undefined {text}" if math.isnan(bound) else text
            findings.append(
                Finding(
                    demand=demand,
                    where=name,
                    estimate=estimate,
                    decided_on=bound,
                    basis=basis,
                    low=metrics.get(f"ci/{demand.metric}.lo", math.nan),
                    high=metrics.get(f"ci/{demand.metric}.hi", math.nan),
                )
            )
    return findings


def select_conditions(conditions: Sequence[Condition], names: Sequence[str]) -> list[str]:
    """The labels of the conditions that are named.

    Parameters
    ----------
    conditions : sequence of Condition
    names : sequence of str
        Each a whole label, a judge, or a factor with its level (``T=0``, ``reasoning=low``).

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        A name names none.

    Examples
    --------
    >>> cs = [Condition(label=f"a, T={t:g}", judge="a", factors={"temperature": t})
    ...       for t in (0.0, 0.3)]
    >>> select_conditions(cs, ["T=0"]), select_conditions(cs, ["a"]), select_conditions(cs,
    ...     ["a, T=0.3"])
    (['a, T=0'], ['a, T=0', 'a, T=0.3'], ['a, T=0.3'])
    """
    kept: set[str] = set()
    for name in names:
        named = {c.label for c in conditions if _is_called(c, name)}
        if not named:
            raise InputError(
                f"check: no condition is called {name!r}. Name a whole condition, a judge, or a "
                f"factor with its level, as in T=0. There are: "
                f"{'; '.join(c.label for c in conditions)}."
            )
        kept |= named
    return [c.label for c in conditions if c.label in kept]


def _is_called(condition: Condition, name: str) -> bool:
    if name in {condition.label, condition.judge}:
        return True
    factor, sign, level = name.partition("=")
    key = "temperature" if factor.strip() == "T" else factor.strip()
    if not sign or key not in condition.factors:
        return False
    held = condition.factors[key]
    if isinstance(held, (int, float)):
        try:
            return float(level) == held
        except ValueError:
            return False
    return level.strip() == ("default" if held is None else str(held))


_OF_VERDICTS = frozenset(
    f"validity/{name}"
    for name in (
        "sensitivity", "specificity", "precision", "negative_predictive_value",
        "balanced_accuracy", "matthews_correlation",
    )
)  # fmt: skip
_OF_SCORES = frozenset(f"validity/{n}" for n in ("bias", "concordance", "mean_squared_error"))


def drop_other_kind(runs: Mapping[str, Mapping[str, float]], metric: str) -> dict[str, Any]:
    """The conditions without those that cannot have the metric: scores have no sensitivity.

    Examples
    --------
    >>> runs = {"a": {"validity/sensitivity": 0.9}, "b": {"validity/bias": 0.1}, "c": {}}
    >>> list(drop_other_kind(runs, "validity/sensitivity"))
    ['a', 'c']
    """
    for kind, other in ((_OF_VERDICTS, _OF_SCORES), (_OF_SCORES, _OF_VERDICTS)):
        if metric in kind:
            return {n: m for n, m in runs.items() if not other & set(m) or kind & set(m)}
    return dict(runs)


def zero_temperature_labels(conditions: Sequence[Condition]) -> list[str]:
    """The labels of the conditions at temperature 0."""
    return [c.label for c in conditions if c.factors.get("temperature") == 0]


def check_command(arguments: Args) -> int:
    """Check a run against demands and print a table of what passed.

    Parameters
    ----------
    arguments : Args
        ``run`` and ``require``; ``condition`` keeps the conditions named (see `select_conditions`).

    Returns
    -------
    int
        0 where all demands hold, 1 where one does not.
    """
    demands = read_demands(arguments.require)
    if (file := Path(arguments.run)).is_file() and file.name != "results.json":
        raise InputError(
            f"check: {arguments.run} is a file, and check takes a run. Audit it first (judgestats "
            f"analyze {shlex.quote(arguments.run)}, with --labels for bounds on validity), then "
            "give the run that the line NEXT names."
        )
    from judgestats.tracking.fetch import results_of_run

    results = results_of_run(arguments.run)
    if not results.facts.get("complete", True):
        raise InputError(
            f"check: run {arguments.run} stopped early: it holds no complete set of judgments. "
            "Repeat its command to complete it, and give the new run."
        )
    held = evaluate_thresholds(results, demands, conditions=arguments.condition)
    with console.use_output(console.parse_output_options(arguments)):
        if console.output_options().form == "json":
            _say(arguments.run, held.findings, still=held.still)
        else:
            print_check(arguments.run, results, held, demands)
    return int(any(not f.passed for f in held.findings))


def evaluate_thresholds(
    results: Results,
    demands: Sequence[Demand],
    *,
    conditions: Sequence[str] = (),
    spelled: Spelled = as_option,
) -> CheckResult:
    """Hold a run's results to demands.

    Parameters
    ----------
    results : Results
    demands : sequence of Demand
    conditions : sequence of str
        Only these (see `select_conditions`).
    spelled : callable
        Writes a bound as the user gave it.

    Returns
    -------
    CheckResult

    Raises
    ------
    InputError
        A name is unknown, or a bound would pass the worst judge.
    """
    runs = whole = metrics_of(results)
    names = {name for metrics in runs.values() for name in metrics}
    refuse_wrong_side(
        [Bound(d.metric, d.side, d.bound, d.written or f"{d.bound:g}") for d in demands],
        results.rows, names, spelled=spelled,
    )  # fmt: skip
    listed = results.conditions
    if conditions:
        kept = select_conditions(listed, conditions)
        runs = {name: metrics for name, metrics in runs.items() if name in kept}
    still = [name for name in zero_temperature_labels(listed) if name in runs]
    sampled = {name: metrics for name, metrics in runs.items() if name not in still}
    findings = []
    left: dict[str, None] = {}
    for demand in demands:
        name = demand.metric
        metric = metric_called(name, names) or name
        repeated = depends_on_sampling(metric, results.rows) or depends_on_sampling(
            name, results.rows
        )
        held = repeated and any(name in m for m in with_row(sampled, name, results).values())
        own = with_row(sampled if held else runs, name, results)
        verdict = judge_run(
            drop_other_kind(own, metric),
            [demand],
            whole=with_row(whole, name, results),
            rows=results.rows,
            lost=not_estimable(results, name) | not_estimable(results, metric),
        )
        findings += [_not_sampled(f) if repeated and f.where in still else f for f in verdict]
        if held:
            left.setdefault(name)
    return CheckResult(findings, list(left), still, runs)


def _not_sampled(finding: Finding) -> Finding:
    """A number that comes of one draw repeated: nothing is known in its favour."""
    basis = "undefined: sampling is off, one draw is repeated"
    return replace(finding, decided_on=math.nan, basis=basis)


def _say(run: str, findings: Sequence[Finding], *, still: Sequence[str]) -> None:
    """The one document of ``--json``."""
    listed = [
        {
            **{k: v for k, v in plain(f).items() if k not in {"low", "high"}},
            "demand": {k: v for k, v in plain(f.demand).items() if k != "written"},
            "passed": f.passed,
        }
        for f in findings
    ]
    passed = all(f.passed for f in findings)
    write_json({"run": run, "passed": passed, "demands": listed, "left_out": still})
