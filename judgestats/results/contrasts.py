"""Verdicts of experiments: on perturbations that should not matter, and on declared contrasts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from judgestats.results.numbers import bounds_of, estimate_parts, short_names
from judgestats.results.quantities import quantity_of
from judgestats.results.records import Comparison, Estimate, Headline, ResultSet, Row
from judgestats.results.results import Results
from judgestats.results.screen import format_record, in_these_runs, record_text, size_of
from judgestats.results.verdict import Demand, NextStep, Outcome, Subject, Verdict

_CONTROL = "right_"
_SHIFTS = frozenset({"probe_shift", "preference_shift", "attack_success", "rank_loss"})
"""Estimands of what a perturbation changes."""
_MARGIN = 0.05
"""Of the scale's range, of shares, and of the success of attacks (a convention of this project)."""
_LEVEL = 0.05
_LESS_IS_BETTER = frozenset({"variance_ratio", "gmd_ratio", "distance_ratio_mean"})
"""Ratios of which the smaller one is the more consistent."""
_MORE_IS_BETTER = frozenset({"rate_difference", "accuracy_gain", "alignment_difference"})

FINDINGS: Mapping[str, str] = {
    "gmd_ratio": "Two repeats of {a} differ {number} times as much on average as those of {b}"
    "{runs}.",
    "distance_ratio_mean": "Scores of {a} lie {number} times as far from their item's mean as "
    "those of {b}{runs}.",
    "variance_ratio": "{a} has {number} times the within-item variance of {b}{runs}.",
    "mean_difference": "{a} scores {side} than {b} on the same items{runs}: {number} points.",
    "compare.people": "Agreement of {a} with human labels is {side} than that of {b}{runs}: "
    "{number}.",
}
"""What a comparison of two conditions says, by its estimand or id, and in which runs."""


ASKED: Mapping[tuple[str, str], tuple[str, str]] = {
    ("temperature", "spread"): (
        "repeated scores differ more at the highest temperature than at the lowest", "higher"),
    ("guidelines", "spread"): ("guidelines change how much repeated scores differ", ""),
    ("judges", "spread"): ("the judges differ in how much their repeated scores differ", ""),
    ("reasoning", "spread"): ("reasoning changes how much repeated scores differ", ""),
    ("omega", "temperature"): ("temperature changes how often choices repeat", ""),
    ("alignment", "methods"): ("the methods differ in agreement with human labels", ""),
    ("prompts", "wording"): ("the wording of the prompt changes judgments beyond repeats", ""),
    ("crowd", "strategies"): ("the strategies differ in accuracy", ""),
    ("self_consistency", "gain"): (
        "aggregating repeats raises agreement with human labels", "higher"),
    ("rejection_sampling", "gain"): (
        "the best answer is chosen more often than by chance", "higher"),
    ("head_to_tail", "judges"): ("the judges differ in the share of answers they pass", ""),
    ("grade_score", "position"): ("the position of an option changes choices", ""),
}  # fmt: skip
"""What an experiment asks, as a statement, and the direction of a difference that makes it true."""
CLAIMED: Mapping[str, tuple[str, str]] = {
    "moved": ("irrelevant changes shift scores", ""),
    "scale": ("another scale changes the order of answers", ""),
    "attack": ("attacks succeed", ""),
    "control": ("degraded answers get lower scores", "lower"),
    "interaction": ("reasoning changes the variance of one judge more than that of another", ""),
    "difference": ("the best method agrees more often than a baseline", "higher"),
    "scaling": ("accuracy changes with the number of judgments shown", ""),
    "gain": ("the accuracy is higher than that of the reference", "higher"),
    "crowd": ("one strategy chooses the best candidate more often", ""),
    "prompt": ("the judge prompt changes how choices follow the option", ""),
    "unrelated": ("an unrelated option changes how choices follow the option", ""),
    "related": ("verdicts agree with human labels more than by chance", ""),
    "vary": ("the levels of the setting differ in how much repeated scores differ", ""),
}
"""What else experiments claim, by hypothesis, as `ASKED`."""
_MOST_NAMED = 3


def answer_sentence(results: Results) -> str:
    """Whether what an experiment asks is so, and for whom; empty where it asks nothing declared.

    Parameters
    ----------
    results : Results

    Returns
    -------
    str
        Yes where a difference is shown in the stated direction, no where equality within the
        margin or the opposite is shown.
    """
    asked = [h for h in results.headlines if (results.experiment, h.hypothesis) in ASKED]
    if not asked:
        return ""
    statement, direction = ASKED[results.experiment, asked[0].hypothesis]
    names = short_names(results)
    found: dict[str, list[str]] = {}
    for headline in asked:
        shown = headline.claim
        if shown == "differs" and direction and headline.direction not in {"", direction}:
            shown = "described"  # the opposite
        if shown in _ANSWERS and shown != "undefined":
            about = headline.about
            one = about.conditions[0] if len(about.conditions) == 1 else ""
            who = about.stratum or about.judge or one
            found.setdefault(shown, []).append(names.get(who, who))
    if len(found) == 1:
        [(claim, whose)] = found.items()
        of = f", for {_listed(whose)}" if any(whose) else ""
        return f"{_ANSWERS[claim][0].format(statement)}{of}."
    parts = [f"{words} for {_listed(found[c])}" for c, (_, words) in _ANSWERS.items() if c in found]
    return f"That {statement} is {', '.join(parts)}." if parts else ""


_ANSWERS = {
    "differs": ("Yes: {}", "shown"),
    "equivalent": ("No: {} by less than the margin", "below the margin"),
    "described": ("No: the reverse is significant, not that {}", "significant in reverse"),
    "open": ("It is inconclusive whether {}", "inconclusive"),
    "undefined": ("It could not be tested whether {}", ""),
}
"""What claims answer, alone and among others."""


def _listed(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    return ", ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} comparisons"


def perturbation_rows(results: Results) -> list[Row]:
    """Rows on what a perturbation, an attack, or a negative control changes."""
    return [row for row in results.rows if row.estimand in _SHIFTS]


def perturbation_demands(results: Results, label: str) -> list[Demand]:
    """What robustness asks of each perturbation of a judge.

    Parameters
    ----------
    results : Results
    label : str
        As the cells of rows name the judge.

    Returns
    -------
    list of Demand
        Shifts are within 5% of the scale's range (points) or .05 (shares). Attacks succeed on at
        most .05 of the items. Negative controls lower the score.
    """
    scale = (results.facts.get("design") or {}).get("scale") or (0.0, 1.0)
    span = float(scale[1]) - float(scale[0])
    demands = []
    for row in perturbation_rows(results):
        if label not in row.cells:
            continue
        is_control = row.key.startswith(_CONTROL)
        if is_control or row.estimand in {"attack_success", "rank_loss"}:
            most = 0.0 if is_control else _MARGIN
            demands.append(Demand(key=row.key, threshold=most, direction="max"))
        else:
            margin = _MARGIN * span if row.estimand == "probe_shift" else _MARGIN
            demands.append(Demand(key=row.key, threshold=-margin, top=margin, direction="within"))
    return demands


def contrast_verdicts(results: Results) -> tuple[Verdict, ...]:
    """A verdict per claim on the first question of an experiment.

    Shown better: USE. Shown worse: DO NOT USE. Shown within the margin: USE, the cheaper. Neither:
    CANNOT TELL.
    """
    claims = [h for h in results.headlines if h.claim in {"differs", "equivalent", "open"}]
    first = [h for h in claims if h.hypothesis == claims[0].hypothesis] if claims else []
    out = []
    for headline in first:
        name = headline.about.stratum or headline.about.judge or results.title
        outcome = _outcome(headline, size_of(headline, results))
        is_open = outcome == "CANNOT_TELL"
        out.append(
            Verdict(
                outcome=outcome,
                subject=Subject(judge=headline.about.judge, label=name),
                purpose="contrast",
                purpose_from="experiment",
                sentence=_verdict_sentence(headline, outcome, results),
                deciding=headline.id,
                next=_items_that_decide(headline, claims, results) if is_open else (),
                simulated=headline.about.judge in results.simulated_judges,
            )
        )
    return tuple(out)


def _verdict_sentence(headline: Headline, outcome: Outcome, results: Results) -> str:
    """The claim as a clause; of a difference that decides nothing, why it does not."""
    sentence = claim_sentence(headline, results)
    if outcome == "CANNOT_TELL" and headline.claim == "differs" and ", but " not in sentence:
        size = size_of(headline, results)
        bounded = size is not None and size.interval is not None
        stated = _stated(headline, results.experiment) or headline.says
        why = "which condition is better is not shown" if bounded else "no difference has a CI"
        sentence = f"{stated.rstrip('.')}, but {why}."
    named = sentence[:1].isupper() and sentence[1:2].isupper()
    return sentence if named else sentence[:1].lower() + sentence[1:]


_MOST_ITEMS = 4000


def _items_that_decide(
    headline: Headline, claims: Sequence[Headline], results: Results
) -> tuple[NextStep, ...]:
    """Items after which the largest difference is shown with power .80, if it is the truth."""
    own = [c for c in claims if c.about.stratum == headline.about.stratum]
    for size in (size_of(claim, results) for claim in (headline, *own)):
        have = size.sample.n_items if size is not None and size.sample is not None else 0
        needed = _ratio_of_items(size) if size is not None and have else math.nan
        if not math.isnan(needed):
            more = have * max(needed - 1, 0)
            amount = math.ceil(more) if more <= _MOST_ITEMS else None
            return (NextStep(key=headline.id, unit="items", have=have, if_true=amount),)
    return ()


def _ratio_of_items(size: Estimate | Comparison) -> float:
    """Items for power .80 by those there are: from the interval, else from the p of the test.

    Without an interval of a ratio, enough items must also vary to bound it, with probability .80.
    """
    from scipy.special import bdtrin, ndtri

    critical, z, ends, least = -float(ndtri(_LEVEL / 2)), math.nan, size.interval, 1.0
    if ends is not None:
        critical = -float(ndtri((1 - ends.level) / 2))
        shift = [ends.low, size.estimate, ends.high]
        if size.estimand in _LESS_IS_BETTER:
            shift = [math.log(value) if value > 0 else -math.inf for value in shift]
        wide = shift[2] - shift[0]
        z = 2 * critical * shift[1] / wide if math.isfinite(wide) and wide > 0 else math.nan
    elif isinstance(size, Comparison) and size.margin is None and size.p > 0:
        z = -float(ndtri(size.p / 2))
        if size.sample is not None and "n_varying" in size.details:
            n = size.sample.n_items
            share = (float(size.details["n_varying"]) + 0.5) / (n + 1)
            least = float(bdtrin(float(size.details["least_varying"]) - 1, 0.2, share)) / n
    return max(((critical + 0.84) / z) ** 2, least) if z else math.inf


def _outcome(headline: Headline, size: Estimate | Comparison | None) -> Outcome:
    if headline.claim == "equivalent":
        return "USE"
    if headline.claim != "differs":
        return "CANNOT_TELL"
    if isinstance(size, Comparison) and size.estimand in _LESS_IS_BETTER:
        if not _excludes(size, 1.0):
            return "CANNOT_TELL"
        # The first condition is the reference, as numerator or as denominator.
        reference = headline.about.conditions[0] if headline.about.conditions else size.b
        smaller = size.estimate < 1
        return "USE" if smaller != (size.a == reference) else "DO_NOT_USE"
    better = quantity_of(headline.estimand).better if headline.estimand else "none"
    better = "higher" if headline.estimand in _MORE_IS_BETTER else better
    if better in {"higher", "lower"} and headline.direction:
        return "USE" if headline.direction == better else "DO_NOT_USE"
    return "DO_NOT_USE" if better in {"nothing", "lower"} else "CANNOT_TELL"


def _excludes(size: Comparison, nothing: float) -> bool:
    """Whether the interval of a pair and its adjusted p show that it is not `nothing`."""
    ends = size.interval
    apart = ends is not None and (ends.low > nothing or ends.high < nothing)
    adjusted = size.p_adjusted
    return apart and not (math.isfinite(adjusted) and adjusted > _LEVEL)


def claim_sentence(headline: Headline, results: Results) -> str:
    """A claim as one sentence without p, with its size where it shows something."""
    names = short_names(results)
    size = size_of(headline, results)
    number = ""
    no_pair = ""
    if isinstance(size, Comparison) and headline.hypothesis == "systems":
        is_shown = headline.claim == "differs" and size.p_adjusted <= _LEVEL
        n_pairs = len(results.members(results.get(headline.rests_on[0], ResultSet)))
        if is_shown or n_pairs == 1:
            return _system_sentence(size, results, "after correction by human labels", is_shown)
    if headline.claim == "differs" and isinstance(size, Comparison) and size.p_adjusted > _LEVEL:
        size, no_pair = None, ", but no two levels differ significantly"
    if headline.claim != "open" and size is not None and math.isfinite(size.estimate):
        number = record_text(size)
        tested = {size.estimand, *headline.rests_on[:1]}
        template = next((text for key, text in FINDINGS.items() if key in tested), "")
        if isinstance(size, Comparison) and template:
            a, b = (names.get(level, level) for level in (size.a, size.b))
            if headline.claim == "equivalent":
                return f"{a} and {b} differ by less than the margin: {number}."
            side = "higher" if size.estimate > 0 else "lower"
            own = [results.estimate(f"condition.gmd.{level}") for level in (size.a, size.b)]
            if size.estimand == "gmd_ratio" and None not in own:
                x, y = (format_record(one, decimals=2)[0] for one in own if one is not None)
                number = f"by {x} points on average, those of {b} by {y}: {number} times as much"
                return f"Two repeats of {a} differ {number}{in_these_runs(size)}."
            return template.format(a=a, b=b, number=number, side=side, runs=in_these_runs(size))
    says = headline.says.rstrip(".").removesuffix(f", {headline.about.stratum}")
    says = says or _stated(headline, results.experiment)
    if not says:
        return ""
    return f"{says[0].upper()}{says[1:]}{f': {number}' if number else no_pair}."


def systems_sentence(results: Results) -> str:
    """Which of two systems a judge scores higher; empty for more systems or conditions.

    Parameters
    ----------
    results : Results
    """
    sets = [r for r in results.select(ResultSet) if r.hypothesis == "systems_judged"]
    pairs = [p for s in sets for p in results.members(s) if isinstance(p, Comparison)]
    if len(sets) != 1 or len(pairs) != 1 or math.isnan(pairs[0].estimate):
        return ""
    return _system_sentence(pairs[0], results, "on the same questions", _excludes(pairs[0], 0.0))


def _system_sentence(pair: Comparison, results: Results, basis: str, is_shown: bool) -> str:
    """The system that comes out higher, named first, and by how much."""
    higher, lower = (pair.a, pair.b) if pair.estimate > 0 else (pair.b, pair.a)
    size = pair if pair.estimate > 0 else turned_record(pair)
    known = [
        key
        for key in _HIGHER
        if results.estimate(f"system.{key}.{higher}.{pair.about.conditions[0]}")
    ]
    verb = _HIGHER[known[0]] if known else "wins more often than"
    low, high = bounds_of(size.interval)
    scored = known == ["mean"]
    number = " ".join(filter(None, estimate_parts(size.estimate, low, high, bounded=not scored)))
    number = f": {number}{' points' if scored else ''}"
    if is_shown:
        return f"{higher} {verb} {lower} {basis}{number}."
    number = "" if low > 0 else number  # open by an adjusted p alone
    return f"It is inconclusive whether {higher} {verb} {lower} {basis}{number}."


_HIGHER: Mapping[str, str] = {
    "mean": "scores higher than",
    "pass_rate": "has a higher pass rate than",
}
"""What the higher of two systems does, by the statistic of systems that the results have."""


def turned_record(record: Estimate | Comparison) -> Estimate | Comparison:
    """A fall as a positive number."""
    ends = record.interval
    turned = replace(ends, low=-ends.high, high=-ends.low) if ends else None
    return replace(record, estimate=-record.estimate, interval=turned)


def _stated(headline: Headline, experiment: str) -> str:
    """What a claim says of the statement that its hypothesis asks about."""
    asked, claim = headline.hypothesis, headline.claim
    statement, direction = ASKED.get((experiment, asked)) or CLAIMED.get(
        asked.partition(".")[0], ("", "")
    )
    if claim == "differs" and direction and headline.direction not in {"", direction}:
        claim = "described"
    if not statement or claim not in _ANSWERS:
        return ""
    return _ANSWERS[claim][0].format(statement).removeprefix("Yes: ").removeprefix("No: ")
