"""Scores of each judge under every variant of a probe, and their tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats import stats
from judgestats.analysis.agreement import own_authors, position_shares, preference_share
from judgestats.analysis.families import AnalysisPlan, claim_headline, direction_of
from judgestats.analysis.records import NamedResult, named_results
from judgestats.analysis.selections import Rotations
from judgestats.arrays import Floats, Objects
from judgestats.data.columns import heat
from judgestats.data.parse import both_orders, scores_of
from judgestats.items import Item, label_table
from judgestats.protocols import Scale, pair_name, probes
from judgestats.protocols.probes import ORIGINAL, PAIRS, Asks, Kind, Probe
from judgestats.protocols.probes.base import REVERSED, WORDS
from judgestats.protocols.probes.protocols import SCALE_WORDS
from judgestats.results import About, Headline
from judgestats.results.records import Role
from judgestats.stats.agreement.preference import equivalence_of_effects, preference_effects
from judgestats.stats.inference import Estimate, TestResult, multiplicity
from judgestats.stats.inference.multiplicity import Family


@dataclass(frozen=True, kw_only=True)
class PairedValues:
    """What a probe compares: each thing judged before and after, and its question."""

    names: tuple[str, ...]
    before: Floats
    after: Floats
    cluster: Objects


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Data on the pairs in addition to the judge's verdicts.

    Attributes
    ----------
    human : ndarray, shape (n_pairs,)
        Human share for the earlier answer, a tie counting half; NaN without labels.
    log_length_ratio : ndarray, shape (n_pairs,)
    own : ndarray, shape (n_pairs,)
        1 where the earlier answer is the judge's own, -1 where the later one is, else 0.
    """

    human: Floats
    log_length_ratio: Floats
    own: Floats


@dataclass(frozen=True, kw_only=True)
class ProbedJudge:
    """One judge at one temperature.

    Attributes
    ----------
    where, judge : str
    names : mapping of what is asked to tuple of str
        The things judged as they are.
    cluster : mapping of what is asked to ndarray
        Their questions.
    scores : mapping of variant to ndarray, shape (n_answers, n_replications)
        NaN where not asked or not read.
    verdicts : mapping of variant to (ab, ba)
        Of pairs, in both orders; empty text where not read.
    turned : Rotations or None
        Choices among several, in every rotation.
    labelled : Labelled or None
    conditions : mapping of variant to condition
    counts : mapping of variant to int
        Things that were asked about.
    """

    where: str
    judge: str
    names: Mapping[Asks, tuple[str, ...]]
    cluster: Mapping[Asks, Objects]
    scores: Mapping[str, Floats] = field(default_factory=dict)
    verdicts: Mapping[str, tuple[Objects, Objects]] = field(default_factory=dict)
    turned: Rotations | None = None
    labelled: Labelled | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def probe_count(self, probe: Probe) -> int:
        """Of how many things a probe could be built."""
        if probe.measured == "own answers":
            return 0 if self.labelled is None else int(np.sum(self.labelled.own != 0))
        return self.counts.get(probe.changed.name, 0)

    def paired_values(self, probe: Probe) -> PairedValues | None:
        """What a probe of shifts and places compares; None if nothing was read."""
        if not self.probe_count(probe) or probe.measured == "own answers":
            return None
        if probe.asks == "options":
            return self._option_positions(last=probe.measured == "last place")
        if probe.measured == "first place":
            shares = position_shares(*self.verdicts[probe.baseline])
            return self._paired("pairs", shares[:, :1], shares[:, 1:])
        values = self.scores if probe.asks == "scores" else self.preferences()
        if probe.baseline not in values or probe.changed.name not in values:
            return None
        return self._paired(probe.asks, values[probe.baseline], values[probe.changed.name])

    def _paired(self, asks: Asks, before: Floats, after: Floats) -> PairedValues | None:
        used = np.all([np.any(~np.isnan(x), axis=1) for x in (before, after)], axis=0)
        if used.sum() < 2:
            return None
        names = tuple(np.array(self.names[asks], dtype=object)[used])
        own = self.cluster[asks][used]
        return PairedValues(names=names, before=before[used], after=after[used], cluster=own)

    def preferences(self) -> dict[str, Floats]:
        """The share for the earlier answer over both orders, which weigh alike."""
        return {
            name: ((preference_share(ab) + preference_share(ba)) / 2)[:, None]
            for name, (ab, ba) in self.verdicts.items()
        }

    def _option_positions(self, *, last: bool) -> PairedValues | None:
        """The expected share of a position, and the share of the first or the last one."""
        turned = self.turned
        if turned is None:
            return None
        n = turned.n_options
        asked = np.arange(turned.positions.shape[1]) < n[:, None]
        whole = ~(np.isnan(turned.positions) & asked).any(axis=1)
        wanted = (n - 1 if last else np.zeros_like(n))[:, None]
        share = np.sum((turned.positions == wanted) & asked, axis=1) / n
        table = pd.DataFrame({
            "name": turned.items, "cluster": turned.cluster, "even": 1 / n, "share": share,
        })[whole].groupby("name", sort=False).agg(
            cluster=("cluster", "first"), even=("even", "mean"), share=("share", "mean")
        )  # fmt: skip
        if len(table) < 2:
            return None
        before, after = (table[c].to_numpy(float)[:, None] for c in ("even", "share"))
        names, cluster = tuple(map(str, table.index)), table["cluster"].to_numpy(object)
        return PairedValues(names=names, before=before, after=after, cluster=cluster)


def requested_output(variant: str) -> Asks:
    """The form of the requested output under a variant.

    Examples
    --------
    >>> requested_output("padding"), requested_output("pair hint: later"), requested_output(
    ...     "options")
    ('scores', 'pairs', 'options')
    """
    return _ALL[variant].asks


def variant_scale(variant: str) -> str:
    """The scale whose points a variant's scores have, where that is not the run's.

    Examples
    --------
    >>> [variant_scale(v) for v in ("padding", "scale 1-100", "scale of words", "reversed scale")]
    ['', '1-100', '1-5', '']
    """
    asked = _ALL[variant].scale
    if asked == WORDS:
        return str(Scale(1, len(SCALE_WORDS)))
    return "" if asked == REVERSED else asked  # scores of a turned one are turned back


def on_another_scale(variant: str) -> bool:
    """Whether a variant asks on another scale than the run's.

    Examples
    --------
    >>> on_another_scale("padding"), on_another_scale("scale 1-5")
    (False, True)
    """
    return bool(_ALL[variant].scale)


_ALL = probes.variants_of(tuple(probes.PROBES.values()))


def probed_judges(
    frame: pd.DataFrame, items: Sequence[Item], declared: AnalysisPlan
) -> tuple[dict[str, str], list[ProbedJudge]]:
    """Every judge at every temperature with what it said under each variant.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with ``factor_probe``.
    items : sequence of Item
        What was judged: human labels and authors are theirs.
    declared : AnalysisPlan
        Its options ``own.JUDGE`` name the author whose answers are the judge's own.

    Returns
    -------
    dict of judge to author
    list of ProbedJudge
    """
    given = {k.removeprefix("own."): v for k, v in declared.options.items() if k.startswith("own.")}
    own = own_authors(frame, items, given)
    names: dict[Asks, tuple[str, ...]] = {}
    cluster: dict[Asks, Objects] = {}
    of: tuple[tuple[Asks, str], ...] = (
        ("scores", probes.ORIGINAL), ("pairs", probes.PAIRS), ("options", probes.OPTIONS),
    )  # fmt: skip
    for asks, plain in of:
        wanted = frame["factor_probe"].map(requested_output).eq(asks)
        first = frame["factor_probe"].eq(plain)
        once = frame[first if first.any() else wanted].drop_duplicates("item_id")
        names[asks] = tuple(once["item_id"].astype(str))
        cluster[asks] = once["cluster"].to_numpy(object)
    settings = [c for c in frame if str(c).startswith("factor_") and c != "factor_probe"]
    references = _pair_attributes(items, names["pairs"])
    out = []
    for key, asked in frame.groupby(["judge", "temperature", *settings], sort=False, dropna=False):
        judge, temperature, *levels = key
        parts = {str(k): part for k, part in asked.groupby("factor_probe", sort=False)}
        further = "".join(
            f", {str(c).removeprefix('factor_')}={v}" for c, v in zip(settings, levels, strict=True)
        )
        out.append(
            ProbedJudge(
                where=f"{judge} at {heat(float(str(temperature)))}{further}",
                judge=str(judge),
                names=names,
                cluster=cluster,
                labelled=_labelled(references, own.get(str(judge), "")),
                conditions={k: str(part["condition"].iloc[0]) for k, part in parts.items()},
                counts={k: part["item_id"].nunique() for k, part in parts.items()},
                **_reply_examples(parts, names),
            )
        )
    return own, out


def _reply_examples(
    parts: Mapping[str, pd.DataFrame], names: Mapping[Asks, Sequence[str]]
) -> dict[str, Any]:
    replies: dict[str, Any] = {"scores": {}, "verdicts": {}}
    for variant, part in parts.items():
        asks = requested_output(variant)
        if asks == "scores":
            replies["scores"][variant] = scores_of(part, names[asks])
        elif asks == "pairs":
            replies["verdicts"][variant] = both_orders(part, names[asks])
        else:
            replies["turned"] = Rotations(part)
    return replies


def _pair_attributes(
    items: Sequence[Item], pairs: Sequence[str]
) -> tuple[Floats, Floats, Objects] | None:
    """Human share, log ratio of lengths and the two authors of every pair, in their order."""
    table = label_table(items)
    by_id = {item.id: item for item in items}
    by_item: dict[str, tuple[float, float, tuple[str, str]]] = {}
    shares = preference_share(table.labels) if len(table.items) else np.zeros(0)
    for item_id, pair, share in zip(table.items, table.pairs, shares, strict=True):
        item = by_id[item_id]
        a, b = (item.responses[k] for k in pair)
        ratio = float(np.log(max(len(a.text), 1) / max(len(b.text), 1)))
        by_item[pair_name(item, pair)] = (float(share), ratio, (a.author, b.author))
    if not by_item or not all(name in by_item for name in pairs) or not pairs:
        return None
    human, ratios, authors = zip(*(by_item[name] for name in pairs), strict=True)
    return np.array(human), np.array(ratios), np.array(authors, dtype=object)


def _labelled(reference: tuple[Floats, Floats, Objects] | None, author: str) -> Labelled | None:
    if reference is None:
        return None
    human, ratio, authors = reference
    mine = authors == author if author else np.zeros(authors.shape, dtype=bool)
    own = mine[:, 0].astype(float) - mine[:, 1].astype(float)
    return Labelled(human=human, log_length_ratio=ratio, own=own)


MARGIN = 0.25
"""A quarter point of a 1-10 scale: a smaller effect is called none."""
SHARE_MARGIN = 0.1
"""The same in shares of verdicts: the first position chosen in .55 of them, against .45."""
RANK_MARGIN = 0.1
"""The same in a rank correlation: what the order of answers loses by another scale."""
FAMILY = "probes: all changes and attacks, judges and temperatures"
_KINDS: Mapping[Kind, tuple[str, str]] = {
    "fair": ("moved", "What should not matter"),
    "scale": ("scale", "Order of answers on another scale"),
    "attack": ("attack", "Success of attacks"),
    "control": ("control", "What makes an answer worse"),
}
"""Of each kind that is tested: its hypothesis, and the title of its family."""
_FEWEST_DRAWS = 999
_NO_CONTROL = "no control was passed: a judge that sees nothing is not called fair"

Tests = dict[tuple[Probe, str], TestResult]


def identity(probe: Probe, where: str) -> str:
    """Of a probe's test with a judge."""
    return f"instrument.{probe.name}.{where}"


def _label(probe: Probe, where: str) -> str:
    return f"{probe.name}, {where}"


def quantity_of(probe: Probe) -> str:
    """What a probe's size is.

    Examples
    --------
    >>> from judgestats.protocols.probes import PROBES
    >>> [quantity_of(PROBES[name]) for name in ("order", "scale 1-5", "position")]
    ['attack_success', 'rank_loss', 'preference_shift']
    """
    if probe.kind in {"attack", "scale"}:
        return "attack_success" if probe.kind == "attack" else "rank_loss"
    return "probe_shift" if probe.asks == "scores" else "preference_shift"


def tests_of_probes(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], declared: AnalysisPlan
) -> Tests:
    """The test of each probe with each judge, by kind; none if nothing was read.

    Parameters
    ----------
    judges : sequence of ProbedJudge
    probes : sequence of Probe
    declared : AnalysisPlan
    """
    kinds = list(_KINDS)
    ordered = sorted((p for p in probes if p.kind in kinds), key=lambda p: kinds.index(p.kind))
    tests = {(p, judge.where): _test(judge, p, declared) for p in ordered for judge in judges}
    return {key: test for key, test in tests.items() if test is not None}


def _test(judge: ProbedJudge, probe: Probe, declared: AnalysisPlan) -> TestResult | None:
    """How far a change moves a judge, how much its order loses, or how often an attack succeeds."""
    if not judge.probe_count(probe):
        return None
    margins = declared.margins
    if probe.measured == "own answers":
        return _own_answers(judge, declared)
    if probe.kind == "attack":
        low, high = map(float, declared.options["scale"].split())
        return stats.attack_success(
            judge.scores[probe.changed.name],
            None if probe.against is None else judge.scores.get(probe.baseline),
            success_from=high if probe.success == "highest" else (low + high) / 2,
            tolerance=margins["attack"], cluster=judge.cluster["scores"], level=declared.level,
        )  # fmt: skip
    sides = judge.paired_values(probe)
    if sides is None:
        return None
    if probe.kind == "scale":
        return stats.scale_agreement(
            sides.before, sides.after, margin=margins["order"], cluster=sides.cluster,
            level=declared.level,
        )  # fmt: skip
    scores = probe.asks == "scores"
    return stats.probe_shift(
        sides.before, sides.after, margin=margins["points" if scores else "verdicts"],
        reach=float(declared.options["width"]) if scores else 1.0,
        of="scores" if scores else "verdicts", cluster=sides.cluster, level=declared.level,
    )  # fmt: skip


def _own_answers(judge: ProbedJudge, declared: AnalysisPlan) -> TestResult | None:
    """What an answer gains by being its own, length and human preference held constant."""
    labelled = judge.labelled
    if labelled is None or PAIRS not in judge.verdicts:
        return None
    preference = judge.preferences()[PAIRS][:, 0]
    effects = preference_effects(
        preference, labelled.human, log_length_ratio=labelled.log_length_ratio, own=labelled.own,
        cluster=judge.cluster["pairs"], level=declared.level,
    )  # fmt: skip
    whole, margin = effects["own"], declared.margins["verdicts"]
    [row], [small] = whole.rows, equivalence_of_effects(whole, margin=margin).rows
    added = Estimate(
        name="preference_shift",
        label="Added to its own answer",
        estimate=row.estimate,
        interval=row.interval,
        sample=whole.sample,
        reason=row.reason,
    )
    n_own = int((labelled.own != 0).sum())
    return TestResult(
        name="own_effect",
        method="Least squares on the preference, human preference and length held constant",
        statistic=row.statistic, statistic_name="t", df={"df": row.df}, p_value=row.p_value,
        null_hypothesis="being its own adds nothing",
        alternative="it adds or takes",
        why="own answers may be better: human preference on the same pairs is held constant",
        sample=whole.sample, reason=row.reason, effects=(added,),
        details={"p_small": small.p_value, "margin": margin, "n_own": n_own},
    )  # fmt: skip


def families_of(
    tests: Tests, judges: Sequence[ProbedJudge], declared: AnalysisPlan
) -> dict[str, Family]:
    """The tests of each kind as a family, those of all kinds adjusted as one.

    Shifts by Westfall and Young's step-down procedure (`signed_step_down`), the other tests by
    Holm, each part at half of the level where there are both.

    Parameters
    ----------
    tests : mapping of (probe, judge) to TestResult
    judges : sequence of ProbedJudge
    declared : AnalysisPlan

    Returns
    -------
    dict of hypothesis to Family
    """
    of = {judge.where: judge for judge in judges}
    defined = {key: test for key, test in tests.items() if not math.isnan(test.p_value)}
    sides = {
        (probe, where): s
        for probe, where in defined
        if probe.kind in {"fair", "control"} and (s := of[where].paired_values(probe)) is not None
    }
    rest = {key: test for key, test in defined.items() if key not in sides}
    weight = 2.0 if sides and rest else 1.0
    p: dict[tuple[Probe, str], float] = {}
    draws = max(declared.n_resamples, _FEWEST_DRAWS)
    smallest = weight / (draws + 1) if sides else 0.0
    if sides:
        adjusted, _ = multiplicity.signed_step_down(
            [np.nanmean(s.after, axis=1) - np.nanmean(s.before, axis=1) for s in sides.values()],
            [s.cluster for s in sides.values()],
            n_permutations=draws, seed=declared.seed,
        )  # fmt: skip
        p |= dict(zip(sides, np.minimum(weight * adjusted, 1.0).tolist(), strict=True))
    if rest:
        adjusted = weight * multiplicity.p_adjust([test.p_value for test in rest.values()])
        p |= dict(zip(rest, np.minimum(adjusted, 1.0).tolist(), strict=True))
    families = {}
    for kind, (hypothesis, _) in _KINDS.items():
        own = {key: test for key, test in tests.items() if key[0].kind == kind}
        if not own:
            continue
        shifts = kind in {"fair", "control"}
        family = multiplicity.adjust_family(
            {_label(*key): test for key, test in own.items()}, family=FAMILY
        )
        families[hypothesis] = replace(
            family,
            adjust=("Westfall-Young" if shifts else "half-level Holm") if sides else "holm",
            p_adjusted={_label(*key): p.get(key, math.nan) for key in own},
            p_bound={_label(*key): key in sides and p[key] <= smallest * 1.001 for key in own},
            smallest=smallest if shifts else 0.0,
        )
    return families


def named_tests(
    tests: Tests, families: Mapping[str, Family], judges: Sequence[ProbedJudge]
) -> list[NamedResult]:
    """The tests of every kind, the family of a kind behind them."""
    of = {judge.where: judge for judge in judges}
    results: list[NamedResult] = []
    for kind, (hypothesis, title) in _KINDS.items():
        own = ((p, of[where], test) for (p, where), test in tests.items() if p.kind == kind)
        results += [_named_test(p, judge, "primary", test, hypothesis) for p, judge, test in own]
        if hypothesis in families:
            named = f"{title}, adjusted"
            results.append(NamedResult(hypothesis, named, "primary", families[hypothesis]))
    return results


def _named_test(
    probe: Probe, judge: ProbedJudge, role: Role, test: TestResult, hypothesis: str
) -> NamedResult:
    about = About(judge=judge.judge, stratum=judge.where, varied=probe.name)
    title = f"{probe.name}, {judge.where}"
    return NamedResult(
        identity(probe, judge.where), title, role, test, hypothesis=hypothesis, about=about
    )


def claims_by_judge(
    tests: Tests, families: Mapping[str, Family], judges: Sequence[ProbedJudge]
) -> dict[str, list[Headline]]:
    """Of each judge and probe: it moves the judge, is shown not to, or is left open.

    Nothing is called equivalent within the margin for a judge that passed no control of the same
    kind: of scores, or of comparisons. Changes, scales and attacks that are equivalent within the
    margin are one family (Holm).

    Parameters
    ----------
    tests : mapping of (probe, judge) to TestResult
    families : mapping of hypothesis to Family
    judges : sequence of ProbedJudge

    Returns
    -------
    dict of judge to list of Headline
    """
    p_small = {
        key: float(test.details.get("p_small", test.details.get("p_fails", math.nan)))
        for key, test in tests.items()
        if key[0].kind != "control"
    }
    small = dict(zip(p_small, multiplicity.p_adjust(list(p_small.values())).tolist(), strict=True))
    by_judge = {}
    for judge in judges:
        own = {
            probe: _headline(
                test, families, judge, probe, small.get((probe, judge.where), math.nan)
            )
            for (probe, where), test in tests.items()
            if where == judge.where
        }
        seen = {
            p.asks == "scores"
            for p, h in own.items()
            if p.kind == "control" and h.direction == "lower"
        }
        by_judge[judge.where] = [
            h
            if h.claim != "equivalent" or (p.asks == "scores") in seen
            else replace(
                _headline(tests[p, judge.where], families, judge, p, math.nan), reason=_NO_CONTROL
            )
            for p, h in own.items()
        ]
    return by_judge


def probe_headlines(claims: Mapping[str, Sequence[Headline]]) -> tuple[Headline, ...]:
    """The headlines of all judges: what moves them, what succeeds, what they see."""
    every = [h for own in claims.values() for h in own]
    return tuple(h for kind, _ in _KINDS.values() for h in every if h.hypothesis == kind)


def _headline(
    test: TestResult,
    families: Mapping[str, Family],
    judge: ProbedJudge,
    probe: Probe,
    p_small: float,
) -> Headline:
    own, label = identity(probe, judge.where), _label(probe, judge.where)
    hypothesis = _KINDS[probe.kind][0]
    family = families[hypothesis]
    p, size = family.p_adjusted[label], 1.0
    if probe.kind == "attack":
        # Where it succeeds less often than the same text without it, it is not successful.
        lifted = test.details["more"] > test.details["less"] or probe.against is None
        p = p if lifted or math.isnan(p) else 1.0
    elif test.effect is not None:
        size = test.effect.estimate
    asked = (judge.conditions.get(v, "") for v in (probe.baseline, probe.changed.name))
    headline = claim_headline(
        f"{hypothesis}.{label}",
        About(
            judge=judge.judge, stratum=f"{judge.where}, {probe.name}", varied=probe.name,
            conditions=tuple(dict.fromkeys(filter(None, asked))),
        ),
        p=p, p_alike=p_small, p_bound=family.p_bound[label], estimand=quantity_of(probe),
        direction=direction_of(size), rests_on=(own,), family=hypothesis, reason=test.reason,
        size=f"{own}/{quantity_of(probe)}",
    )  # fmt: skip
    return headline if headline.claim == "differs" else replace(headline, direction="")


def described_results(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], declared: AnalysisPlan
) -> list[NamedResult]:
    """Descriptive results in addition to the tests.

    Flips beyond those of repeats, levels in use on every scale, and the effect of another
    question's reference.
    """
    results: list[NamedResult] = []
    for probe in (p for p in probes if p.kind == "fair" and p.asks == "scores"):
        for judge in judges:
            sides = judge.paired_values(probe)
            if sides is None or sides.before.shape[1] < 2:
                continue
            test = stats.run_change(
                sides.before, sides.after, kind="verdicts", cluster=sides.cluster,
                level=declared.level,
            )  # fmt: skip
            title = f"Verdicts changed beyond repetition, {probe.name}"
            results += named_results(judge.where, "secondary", (f"flips.{probe.name}", title, test))
    results += _levels(judges, probes, declared)
    references = [(p, judge) for p in probes if p.kind == "reference" for judge in judges]
    for probe, judge in references:
        test_of = _test(judge, probe, declared) if judge.paired_values(probe) else None
        if test_of is not None:
            results.append(_named_test(probe, judge, "descriptive", test_of, "reference"))
    return results


def _levels(
    judges: Sequence[ProbedJudge], probes: Sequence[Probe], declared: AnalysisPlan
) -> list[NamedResult]:
    """How many levels each judge uses of the run's scale, and of every other."""
    results: list[NamedResult] = []
    variants = {ORIGINAL: declared.options["scale"].replace(" ", "-")}
    variants |= {p.changed.name: p.changed.name for p in probes if p.kind == "scale"}
    for judge in judges if len(variants) > 1 else ():
        for variant, own in variants.items():
            scores = judge.scores.get(variant)
            if scores is None or np.isnan(scores).all():
                continue
            used = stats.levels_used(scores, cluster=judge.cluster["scores"], level=declared.level)
            title = f"Effective levels, {own.removeprefix('scale ')}"
            results += named_results(
                judge.where, "descriptive", (f"levels.{own}", title, used["effective_levels"]),
                hypothesis="scale",
                about=About(judge=judge.judge, stratum=judge.where, varied=own),
            )  # fmt: skip
    return results
