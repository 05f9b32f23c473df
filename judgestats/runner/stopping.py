"""Collection in batches of whole items, until a stopping rule holds."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import TypeAdapter
from scipy import special

from judgestats.analysis.decisions.stopping import VERDICT, StopLook, StoppingRule, unmeasured
from judgestats.analysis.limits import Limit
from judgestats.analysis.records import Analysis
from judgestats.collection import Budget, collect_judgments, parse_judge
from judgestats.collection.account import Account, Collected
from judgestats.errors import InputError, StoreError
from judgestats.files.text import decode_json
from judgestats.items.item_sets import item_set_sha
from judgestats.results import ALIASES, Comparison, Estimate, Results
from judgestats.results.numbers import count_noun
from judgestats.runner import display as console
from judgestats.runner.common_parameters import templates_of
from judgestats.runner.prepare import Prepared, ask_of, judgments_of
from judgestats.runner.record import measured

if TYPE_CHECKING:
    from judgestats.collection.journal import Journal

_NAMES = {"difference": "mean_difference", "pass_rate": "proportion", "mean_score": "mean"}
"""Names in a rule, and the estimands that they stand for."""
_SHOWN = {estimand: name for name, estimand in _NAMES.items()}
_TERMS = {
    "rule": "rule (--until)", "seed": "order of items (--seed)", "method": "--max-items",
    "planned": "looks (--max-items, --first-look, --look-items)",
}  # fmt: skip
"""What is kept with the looks of a run, and the options that set it."""
_REHEARSED = 20
"""Items that a rehearsal judges to learn which quantities have an interval."""


def check_stoppable(prepared: Prepared) -> None:
    """Refuse ``--until`` where batches of whole items cannot be judged one after the other.

    Parameters
    ----------
    prepared : Prepared

    Raises
    ------
    InputError
        Calls follow from answers, requests are not sent one by one, or the rule cannot be read.
    """
    p = prepared.parameters
    if not p.until:
        if p.max_items is not None:
            raise InputError("max_items: it bounds --until. Without a rule use --limit.")
        return
    if prepared.staging is not None:
        raise InputError(
            f"--until: {prepared.design.name} judges in stages, where calls follow from answers. "
            "Leave --until out."
        )
    if p.mode != "online" or p.engine.kind != "local":
        raise InputError("--until: looks need answers at once. Use mode=online and engine=local.")
    if p.max_requests is not None:
        raise InputError("--until: bound the run by --max-items or --max-cost, not --max-requests.")
    _opened_rule(prepared, *_batches(prepared))


def longest_run(prepared: Prepared) -> tuple[Prepared, str]:
    """The plan without a stop before its maximum, and what a dry run says of it.

    Parameters
    ----------
    prepared : Prepared
        With ``until``.
    """
    batches, sizes = _batches(prepared)
    looks = "There is one look, at the end."
    if len(sizes) > 1:
        later = count_noun(len(sizes) - 1, "later look", "later looks")
        looks = f"The first look is after {sizes[0]}, with {later}."
    said = f"--until: this is the price of {sizes[-1]} items. {looks}"
    return part_of(prepared, [c for batch in batches for c in batch]), said


class SequentialRun:
    """A run that looks at whole items, batch by batch, and stops when its rule holds.

    Parameters
    ----------
    prepared : Prepared
        With ``until``.
    journal : Journal
        Keeps the looks, so that a run that was interrupted goes on where it was.
    collect : callable
        Collects the judgments of a part of the plan.
    """

    def __init__(
        self, prepared: Prepared, journal: Journal, collect: Callable[[Prepared], Collected]
    ) -> None:
        self._prepared, self._journal, self._collect = prepared, journal, collect
        self._batches, sizes = _batches(prepared)
        self.rule = _opened_rule(prepared, self._batches, sizes)
        self._keys = {stop: f"until {stop} {_plan_sha(prepared)}" for stop in ("width", "verdict")}

    def run(self) -> tuple[Prepared, Collected]:
        """Judge batch after batch.

        Returns
        -------
        (Prepared, Collected)
            The plan of what was judged, and the judgments.

        Raises
        ------
        InputError
            Looks were taken by another rule, or the quantity is not measured.
        """
        if not self._resume():
            self._check_measured()
        seen: list[str] = []
        parts: list[Collected] = []
        for k, batch in enumerate(self._batches):
            seen += batch
            parts.append(self._collect(part_of(self._prepared, batch)))
            collected, judged = _joined(parts), part_of(self._prepared, seen)
            raw = collected.read()
            if not collected.complete or not raw["transport"].eq("answered").any():
                break
            if k >= len(self.rule.looks):
                self._look(judged, raw)
            if self.rule.reached:
                break
        return judged, collected

    def _check_measured(self) -> None:
        """Refuse a quantity that the run does not measure, before a judge is asked."""
        part = part_of(self._prepared, [c for batch in self._batches for c in batch][:_REHEARSED])
        raw = _rehearsed(part).read()
        analysis, frame = _analysed(part, raw, self.rule.level)
        if (frame["status"] == "ok").mean() < 0.5:
            return  # simulated judges do not follow this prompt: the first look tells
        if self.rule.quantity == VERDICT:
            if not measured(part, frame, analysis).records().verdicts:
                raise InputError(
                    f"--until: {part.design.name} makes no verdicts. Stop by a quantity: "
                    f"{', '.join(measured_names(analysis.records()))}."
                )
        elif all(
            math.isnan(low)
            for _, low, _ in intervals_of(analysis.records(), self.rule.quantity).values()
        ):
            raise unmeasured(self.rule.quantity, measured_names(analysis.records()))

    def _look(self, judged: Prepared, raw: pd.DataFrame) -> None:
        """Take a look, keep it, and say where it stands."""
        items, before = _n_items(judged), len(self.rule.looks)
        rule = self.rule
        analysis, frame = _analysed(judged, raw, rule.next_level)
        if rule.quantity == VERDICT:
            made = measured(judged, frame, analysis, error=rule.next_error)
            if not (before or rule.is_bounded):
                claims = sum(len(v.requirements) for v in made.records().verdicts)
                rule = replace(rule, claims=max(claims, 1))
                made = measured(judged, frame, analysis, error=rule.next_error)
            verdicts = made.records().verdicts
            known = bool(verdicts) and all(v.outcome != "CANNOT_TELL" for v in verdicts)
            rule = rule.decide(items, known)
        else:
            subjects = intervals_of(analysis.records(), rule.quantity)
            if not subjects:
                raise unmeasured(rule.quantity, measured_names(analysis.records()))
            if rule.stop == "verdict" and not before:
                # Claims on several subjects at once share the error.
                rule = replace(rule, level=1 - (1 - rule.level) / len(subjects))
                if len(subjects) > 1:
                    analysis, frame = _analysed(judged, raw, rule.next_level)
                    subjects = intervals_of(analysis.records(), rule.quantity)
            label, (estimate, low, high) = max(
                subjects.items(), key=lambda s: _distance(rule, s[1])
            )
            rule = rule.look(
                items, estimate, low, high, at_bound=True,
                subject=label if len(subjects) > 1 else "",
            )  # fmt: skip
        self.rule = rule.priced(float(frame["cost_usd"].sum(min_count=1)))
        self._journal.note(self._keys[self.rule.stop], json.dumps(self._state()))
        if not self.rule.reached:
            console.print_status(*self.rule.screen())

    # ------------------------------------------------------------------ state

    def _state(self) -> dict[str, Any]:
        """What is kept: the terms, and the looks taken."""
        own = self.rule.to_dict()
        kept = {k: own[k] for k in (
            "level", "claims", "looks", "reached", "items", "projected")}  # fmt: skip
        return {**kept, **self._terms()}

    def _terms(self) -> dict[str, Any]:
        return {
            "rule": self.rule.rule, "seed": self._prepared.parameters.seed,
            "method": self.rule.method, "planned": list(self.rule.planned),
        }  # fmt: skip

    def _resume(self) -> bool:
        """Go on from the looks that the journal holds; whether it holds any.

        A stop on the width does not depend on the answer: under other terms it starts again.
        """
        is_width = self.rule.stop == "width"
        text = self._journal.noted(self._keys[self.rule.stop])
        if not (text or is_width):
            text = self._journal.noted(self._keys["width"])
        if not text:
            return False
        try:
            kept = decode_json(text)
            looks = TypeAdapter(tuple[StopLook, ...]).validate_python(kept["looks"])
            told, reached, items = str(kept["rule"]), bool(kept["reached"]), int(kept["items"])
            changed = [k for k, v in self._terms().items() if kept[k] != v]
            rule = replace(
                self.rule, looks=looks, reached=reached, certified=reached, items=items,
                n_items=items, level=float(kept["level"]), claims=int(kept["claims"]),
                projected=int(kept["projected"]), subject=looks[-1].subject,
                saved_share=1 - items / self.rule.max_items
                if reached or items == self.rule.max_items else math.nan,
                reason="" if reached else "the rule is not met",
            )  # fmt: skip
        except (ValueError, TypeError, LookupError):
            raise StoreError(
                f"journal {self._journal.path}: the looks of --until cannot be read. Move the file "
                "aside to begin a new journal."
            ) from None
        if changed and is_width:
            return False
        if changed:
            seen = count_noun(len(looks), "look", "looks")
            raise InputError(
                f"--until: these answers had {seen} by {told!r}. A claim that depends on the "
                f"answers cannot change its {_TERMS[changed[0]]} afterwards. Repeat the earlier "
                "options, or name another --journal."
            )
        self.rule = rule
        return True

    # ------------------------------------------------------------------ result

    @property
    def level(self) -> float:
        """Level of the intervals that are printed: that of the bound after a verdict stop."""
        looks = self.rule.looks
        if self.rule.stop == "width" or self.rule.quantity == VERDICT or not looks:
            return self._prepared.plan.level
        return float(1 - 2 * special.ndtr(-looks[-1].bound))

    @property
    def error(self) -> float:
        """Error of verdicts at the last look: what it may spend."""
        looks = self.rule.looks
        if self.rule.stop == "width" or not looks:
            return 0.05
        if self.rule.quantity == VERDICT:
            return replace(self.rule, looks=looks[:-1]).next_error
        return min(0.05, 1 - self.level)

    def recorded(self, analysis: Analysis, frame: pd.DataFrame) -> Analysis:
        """The analysis with the stop among its decisions, metrics and parameters.

        Parameters
        ----------
        analysis : Analysis
        frame : DataFrame
            Its judgments, with their cost.
        """
        rule = self.rule.priced(float(frame["cost_usd"].sum(min_count=1)))
        limits = analysis.limitations
        if self.level != self._prepared.plan.level:
            why = (
                f"the run could stop at {len(rule.planned)} looks, and each spends a part of the "
                "error"
                if rule.is_bounded
                else "they are of a confidence sequence, as the run could stop at any look"
            )
            text = f"Intervals have the level {100 * self.level:.2f}%: {why}."
            short = f"Intervals have the level {100 * self.level:.2f}%"
            limits = (Limit(text, code="stopping_level", short=short), *limits)
        metrics = {} if math.isnan(rule.saved_share) else {"stop/saved_share": rule.saved_share}
        return replace(
            analysis,
            limitations=limits,
            decisions=(rule.to_dict(), *analysis.decisions),
            metrics={**analysis.metrics, **metrics},
            params={
                **analysis.params, "stop/rule": rule.rule,
                "stop/items": f"{rule.items} of {rule.max_items}",
            },
        )  # fmt: skip


def _analysed(prepared: Prepared, raw: pd.DataFrame, level: float) -> tuple[Analysis, pd.DataFrame]:
    """The analysis of one look, and its judgments."""
    frame, _ = judgments_of(prepared, raw)
    extras: dict[str, Any] = {"items": prepared.items} if prepared.design.uses_items else {}
    plan = replace(prepared.plan, level=level)
    return prepared.analysis.analyse(frame, plan, **extras), frame


def _rehearsed(prepared: Prepared) -> Collected:
    """The plan by simulated judges in this process, which cost nothing."""
    ask, simulated = ask_of(prepared, None), parse_judge("sim-typical")
    judges = {name: replace(simulated, name=name) for name in prepared.judging}
    ask = replace(ask, judges=judges, budget=Budget(), progress=False, reply_mode=None, settings={})
    return collect_judgments(prepared.tasks, ask)


# ------------------------------------------------------------------------ the plan in batches


def part_of(prepared: Prepared, clusters: Sequence[str]) -> Prepared:
    """The plan of some clusters: all conditions and repeats of their items."""
    kept = frozenset(clusters)
    units = {c: tuple(u for u in own if u.cluster in kept) for c, own in prepared.units.items()}
    tasks = [t for t in prepared.tasks if t.cluster in kept]
    return replace(prepared, units={c: own for c, own in units.items() if own}, tasks=tasks)


def _n_items(prepared: Prepared) -> int:
    return len({u.item_id for own in prepared.units.values() for u in own})


def _batches(prepared: Prepared) -> tuple[list[list[str]], list[int]]:
    """Clusters of each batch in random order by seed, and items judged after each.

    The first look waits for as many clusters as items, or for all clusters.
    """
    p = prepared.parameters
    items: dict[str, set[str]] = {}
    for own in prepared.units.values():
        for unit in own:
            items.setdefault(unit.cluster, set()).add(unit.item_id)
    order = sorted(items, key=lambda c: hashlib.sha256(f"{p.seed}\0{c}".encode()).hexdigest())
    batches: list[list[str]] = []
    sizes: list[int] = []
    n, target = 0, 0
    for k, cluster in enumerate(order):
        if p.max_items is not None and n + len(items[cluster]) > p.max_items:
            break
        if n >= target and (k == 0 or k >= p.first_look):
            target = n + (p.look_items if batches else p.first_look)
            batches.append([])
            sizes.append(n)
        batches[-1].append(cluster)
        n += len(items[cluster])
        sizes[-1] = n
    return batches, sizes


def _opened_rule(
    prepared: Prepared, batches: Sequence[Sequence[str]], sizes: Sequence[int]
) -> StoppingRule:
    """The rule before its first look; it looks where a batch ends."""
    p = prepared.parameters
    if not sizes or sizes[0] < 2:
        raise InputError("--until: the first look needs two items or more.")
    rule = StoppingRule.parse(
        p.until,
        max_items=sizes[-1],
        first=sizes[0],
        level=prepared.plan.level,
        is_bounded=p.max_items is not None,
        independent=len(batches[0]),
    )
    found = ALIASES.get(rule.quantity.casefold(), rule.quantity)
    return replace(rule, planned=tuple(sizes), quantity=_SHOWN.get(found, found))


def _plan_sha(prepared: Prepared) -> str:
    """What was asked of which items; not the order, nor the rule."""
    protocols = prepared.protocols
    asked = {
        "experiment": prepared.design.name,
        "items": item_set_sha(prepared.items),
        "repeats": prepared.parameters.repeats,
        "conditions": [
            [c.label, protocols[c].name, [t.sha for t in templates_of(protocols[c])]]
            for c in prepared.conditions
        ],
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _joined(parts: Sequence[Collected]) -> Collected:
    """Several collections as one."""
    if len(parts) == 1:
        return parts[0]
    account = Account()
    for one in parts:
        account.add(one.account)
    account.earlier_cost_usd = parts[0].account.earlier_cost_usd
    account.earlier_billed_twice = parts[0].account.earlier_billed_twice
    return replace(
        parts[-1],
        frame=pd.concat([one.read() for one in parts], ignore_index=True),
        parts=(),
        account=account,
        notes=tuple(dict.fromkeys(note for one in parts for note in one.notes)),
    )


# ------------------------------------------------------------------------ what is looked at


def intervals_of(results: Results, name: str) -> dict[str, tuple[float, float, float]]:
    """Estimates of a quantity with their limits, by what they are about.

    Parameters
    ----------
    results : Results
    name : str
        An estimand; ``difference`` is the difference of two conditions' means.

    Returns
    -------
    dict of str to (estimate, low, high)
        Limits are NaN where the interval is refused. Conditions at T = 0 that have none, since
        one reply is repeated, are left out.
    """
    found: dict[str, tuple[float, float, float]] = {}
    for record in results.results:
        if not isinstance(record, Estimate | Comparison):
            continue
        if record.estimand != _NAMES.get(name, name):
            continue
        low, high = math.nan, math.nan
        if record.interval is not None:
            low, high = record.interval.low, record.interval.high
        elif record.about.factors.get("temperature") == 0:
            continue
        label = " against ".join(record.about.conditions) or record.about.judge or record.id
        found.setdefault(label, (record.estimate, low, high))
    return found


def measured_names(results: Results) -> list[str]:
    """Quantities that have an interval, as rules name them."""
    return sorted({
        _SHOWN.get(record.estimand, record.estimand)
        for record in results.results
        if isinstance(record, Estimate | Comparison) and record.interval is not None
    })  # fmt: skip


def _distance(rule: StoppingRule, found: tuple[float, float, float]) -> float:
    """How far a subject is from a stop; infinite without an interval."""
    estimate, low, high = found
    if math.isnan(low) or math.isnan(high):
        return math.inf
    if rule.stop == "width":
        return high - low
    side = (estimate - low) if estimate > rule.target else (high - estimate)
    return side / abs(estimate - rule.target) if estimate != rule.target else math.inf
