"""Claims of an audit, and what a file can answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from judgestats.analysis.conversion import effect_number
from judgestats.analysis.families import claim_of, described_headline, restrict_results
from judgestats.analysis.records import NamedResult
from judgestats.data.readers.columns import folded
from judgestats.data.verdict_kinds import PREFERENCES
from judgestats.results import Claim, Headline
from judgestats.results.numbers import count_noun
from judgestats.results.screen import in_these_runs
from judgestats.stats.inference.multiplicity import p_adjust, p_bounds
from judgestats.stats.inference.result import Comparisons, Estimate, Result, TestResult
from judgestats.stats.robustness.source_dif import NOISY, farthest_source

_COMPARED = {
    "gmd.all": ("gmd_ratio", (), "the conditions differ in the mean difference of repeats"),
    "shift.all": ("mean_difference", (), "the conditions differ in mean score"),
    "compare.people": (
        "rate_difference", ("compare.people.pairs",),
        "the conditions differ in agreement with human labels",
    ),
    "systems": ("corrected_difference", (), "the systems differ after correction by human labels"),
    "slots": ("choices_place_1", (), "choices follow the position of an option"),
    "instrument.dif_test": ("dif_log_odds", (), "sources are scored differently at equal quality"),
}  # fmt: skip
"""The one test of each comparison: what differs, what accompanies it, and the claim as a statement.
They are one family: each p is adjusted for the others (Holm)."""
_CLAIMS = {
    "differs": "{}",
    "open": "it is inconclusive whether {}",
    "undefined": "it could not be tested whether {}",
    NOISY: "{}, but noise in the labels alone can explain it",
}
_OF_SPREAD = {"spread", "ratio"}
"""Hypotheses whose pairs are limited by the claim on the GMD ratios."""
_SOURCES = "instrument.dif_test"


def audit_headlines(results: Sequence[NamedResult], *, n_criteria: int = 1) -> tuple[Headline, ...]:
    """The claims of an audit: estimates are described, only a test of all conditions can differ.

    Parameters
    ----------
    results : sequence of NamedResult
    n_criteria : int
        Criteria that are audited alike: p adjusted by Holm is multiplied by their number.

    Returns
    -------
    tuple of Headline
        Of every primary estimate, and of each comparison of all conditions: of their spread, their
        means, their agreement with human labels.
    """
    ids = {r.id for r in results}
    compared = {r.id: _p_of(r.result) for r in results if _kind(r.id) in _COMPARED}
    p_values, floors = zip(*compared.values(), strict=True) if compared else ((), ())
    of_all = [1.0 if n_criteria * p > 1 else n_criteria * p for p in p_adjust(p_values)]
    adjusted = dict(zip(compared, of_all, strict=True))
    bounds = dict(zip(compared, p_bounds(p_values, floors), strict=True))
    headlines: list[Headline] = []
    for named in results:
        result = named.result
        if isinstance(result, Estimate) and named.role == "primary":
            headlines.append(described_headline(named))
        if named.id not in adjusted:
            continue
        p = float(adjusted[named.id])
        claim = claim_of(p, math.nan)
        estimand, beside, statement = _COMPARED[_kind(named.id)]
        test = result if isinstance(result, TestResult) else None
        reason = test.reason if test else ""
        said: str = claim
        if claim == "differs" and test and any(note.code == NOISY for note in test.notes):
            claim, said = "open", NOISY
        far = largest_position_share(result) if _kind(named.id) == "slots" else None
        size = f"{named.id}/{far.name}" if far else ""
        if _kind(named.id) == _SOURCES and test and not reason:
            k = farthest_source(test)
            size = f"{named.id}/{test.effects[k].name}{effect_number(test.effects, k)}"
        runs = result.rows if isinstance(result, Comparisons) and claim == "differs" else ()
        headlines.append(
            described_headline(
                named,
                claim=claim,
                estimand=far.name if far else estimand,
                rests_on=(named.id, *(i for i in beside if i in ids)),
                p_adjusted=p,
                p_bound=bounds[named.id],
                reason=reason,
                says=_CLAIMS[said].format(statement)
                + (f" ({far.label})" if far else _source_phrase(named.id, result, claim))
                + max(map(in_these_runs, runs), default=""),
                size=size,
            )
        )
    return tuple(headlines)


def restrict_to_claims(
    results: Sequence[NamedResult], headlines: Sequence[Headline]
) -> list[NamedResult]:
    """The results, with no pair significant where the claim that rests on the pairs is not.

    A claim's p is that of the smallest pair or of the test of all conditions, adjusted for the
    audit's other claims; the pairs themselves are adjusted among one another alone.

    Parameters
    ----------
    results : sequence of NamedResult
    headlines : sequence of Headline
        From `audit_headlines`.
    """
    claims = {h.rests_on[0]: h for h in headlines}
    of_spread = claims.get("gmd.all")
    by_id = {r.id: of_spread if r.answers in _OF_SPREAD else claims.get(r.id) for r in results}
    return restrict_results(results, by_id)


def _kind(identity: str) -> str:
    """What is compared: systems and sources are within each condition."""
    if identity.startswith(_SOURCES):
        return _SOURCES
    kind = identity.partition(".")[0]
    return kind if kind in {"systems", "slots"} else identity


def _source_phrase(identity: str, result: Result, claim: Claim) -> str:
    """Of a test of sources: whose scores, since a judge's span several conditions; which sources.

    The number behind is of the second of two sources over the first.
    """
    if _kind(identity) != _SOURCES:
        return ""
    judge = identity.removeprefix(f"{_SOURCES}.")
    if not isinstance(result, TestResult) or len(result.details.get("sources", ())) < 2:
        return f" ({judge})"
    sources = result.details["sources"]
    k = farthest_source(result)
    one, other = str(sources[0]), str(sources[k + 1])
    favoured = other if result.effects[k].estimate > 0 else one
    favours = f" favours {favoured}" if claim == "differs" else ""
    return f" ({judge}{favours}; {other} over {one})"


def largest_position_share(result: Result) -> Estimate | None:
    """The position share that is farthest from the share without a preference.

    Parameters
    ----------
    result : Result
        A test of positions; None for any other.
    """
    if not isinstance(result, TestResult):
        return None
    expected = result.details.get("expected_share", math.nan)
    shares = (e for e in result.effects if not e.name.startswith("accuracy_"))
    known = (e for e in shares if not math.isnan(e.estimate))
    return max(known, key=lambda e: abs(e.estimate - expected), default=None)


def _p_of(result: Result) -> tuple[float, float]:
    """Of a test with its floor, or the smallest of pairs that are adjusted among themselves."""
    if isinstance(result, TestResult):
        return result.p_value, result.p_floor
    rows = result.rows if isinstance(result, Comparisons) else ()
    least = min(
        (r for r in rows if not math.isnan(r.p_adjusted)), key=lambda r: r.p_adjusted, default=None
    )
    return (least.p_adjusted, least.p_adjusted * least.p_bound) if least else (math.nan, math.nan)


_Z = 1.959964
_AIM = 0.05
FEWEST_SYSTEMS = 3
"""Systems that verdicts on pairs put in order; of two there are win rates."""


@dataclass(frozen=True)
class Question:
    """Quantities that these data give or not, and on what grounds.

    `needs` says what would be needed where they do not, or what would answer it better; `command`
    is what comes next then (``{file}`` is the file and how it is read).
    """

    asked: str
    answered: bool
    grounds: str
    needs: str = ""
    command: str = ""


_AGREEMENT, _JUDGES = "Agreement with labels", "Comparison of judges"


def labels_for(half: float, *, share: float = 0.5) -> int:
    """How many labelled items an interval of a share needs to reach +-`half`.

    Examples
    --------
    >>> labels_for(0.05), labels_for(0.05, share=0.9)
    (385, 139)
    """
    return math.ceil(_Z**2 * share * (1 - share) / half**2)


def half_width(n: int, *, share: float = 0.5) -> float:
    """Half the interval of a share of `n` independent items, in points of 100.

    Examples
    --------
    >>> round(half_width(385), 2)
    4.99
    """
    return 100 * _Z * math.sqrt(share * (1 - share) / n) if n else math.nan


def answerable(frame: pd.DataFrame) -> tuple[Question, ...]:
    """What these judgments can answer.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame.

    Returns
    -------
    tuple of Question

    Examples
    --------
    >>> from judgestats.data.readers import read_judgments
    >>> found = answerable(read_judgments([{"item": i, "passed": i % 2 == 0} for i in range(9)]))
    >>> [(q.asked, q.answered) for q in found][1]
    ('Flip rate', False)
    """
    kinds = (_described, _repeated, _orders, _people, _compared, _systems)
    return tuple(q for q in (kind(frame) for kind in kinds) if q is not None)


def _described(frame: pd.DataFrame) -> Question:
    n = int(frame["cluster"].nunique())
    read = int(frame["status"].eq("ok").sum())
    ok = read > 0
    scored = frame["score"].notna().any()
    few = not scored and n < labels_for(_AIM)
    precision = "" if scored else f", ±{half_width(n):.0f} points"
    grounds = f"{count_noun(n, 'cluster', 'clusters')}{precision}"
    needs = f"{labels_for(_AIM)} clusters for ±5 points" if few else ""
    return Question("Mean score" if scored else "Rates", ok, grounds, needs)


def _repeated(frame: pd.DataFrame) -> Question:
    sizes = frame[frame["status"] == "ok"].groupby(["condition", "item_id", "order"]).size()
    several = sizes[sizes > 1]
    n = int(several.index.get_level_values("item_id").nunique())
    asked = "ICC(1,1), SEM" if frame["score"].notna().any() else "Flip rate"
    grounds = f"{n:,} items judged {_times(several)}" if n else "no item has repeats"
    return Question(asked, n > 2, grounds, "2 repeats of 100 items" if n < 50 else "")


def _times(sizes: pd.Series) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low} times" if low == high else f"{low} to {high} times"


def _orders(frame: pd.DataFrame) -> Question | None:
    words = {str(word).lower() for word in frame["choice"].unique()} - {""}
    if not words or not words <= set(PREFERENCES) or words <= {"0", "1"}:
        return None
    per = frame.groupby(["condition", "item_id"])["order"].nunique()
    both = int((per > 1).sum())
    grounds = f"{both:,} pairs in both orders" if both else "one order only"
    needs = "" if both >= 50 else "50 pairs or more with the responses swapped"
    return Question("Order consistency", both > 2, grounds, needs)


def _people(frame: pd.DataFrame) -> Question:
    labelled = frame[
        frame.get("label", pd.Series("", frame.index)).ne("") & frame["status"].eq("ok")
    ]
    n = int(labelled["cluster"].nunique())
    if not n:
        need = min(labels_for(_AIM, share=0.8), int(frame["cluster"].nunique()))
        needs = f"about {need} labels for ±5 points"
        command = f"judgestats labels plan {{file}} --labels {need}"
        return Question(_AGREEMENT, False, "no human labels", needs, command)
    verdicts = labelled["choice"].where(labelled["choice"] != "", labelled["score"].astype(str))
    same = float((verdicts.str.lower() == labelled["label"].str.lower()).mean())
    share = min(max(same, 0.05), 0.95)
    need = labels_for(_AIM, share=share)
    wide = round(half_width(n, share=share)) > 100 * _AIM
    needs = f"about {need} labels for ±5 points" if wide else ""
    grounds = f"{n:,} labels, ±{half_width(n, share=share):.0f} points"
    return Question(_AGREEMENT, n > 2, grounds, needs)


def _compared(frame: pd.DataFrame) -> Question:
    """Judges and ways of judging are compared within a criterion, never across two."""
    factors = [c for c in frame.columns if c.startswith("factor_")]
    by = [c for c in factors if folded(c[7:]) == "task"]
    by += ["criterion"] if "criterion" in frame else []
    parts = [rows for _, rows in frame.groupby(by, sort=False)] if by else [frame]
    rows = max(parts, key=lambda part: part["condition"].nunique())
    n = int(rows["condition"].nunique())
    if n < 2:
        return Question(_JUDGES, False, "one judge", "a second judge")
    per = rows[rows["status"] == "ok"].groupby("item_id")["condition"].nunique()
    shared = int((per == n).sum())
    within = " of one criterion" if by else ""
    grounds = f"{shared:,} items under all {n} conditions{within}"
    needs = "" if shared > 2 else "the same items under every condition"
    return Question(_JUDGES, shared > 2, grounds, needs)


def _systems(frame: pd.DataFrame) -> Question | None:
    """Systems are put in order by verdicts on pairs of three or more."""
    if "system_a" not in frame:
        return None
    n = pd.concat([frame["system_a"], frame["system_b"]]).nunique()
    several, grounds = n >= FEWEST_SYSTEMS, f"{n} systems compared in pairs"
    needs = "" if several else f"pairs of {FEWEST_SYSTEMS} systems or more (two: win rates)"
    return Question("Ranking of systems", several, grounds, needs)
