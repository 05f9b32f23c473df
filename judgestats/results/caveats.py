"""Caveats of verdicts: what limits them, how severely, and what to do."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from judgestats.results import verdict
from judgestats.results.numbers import apa_number, count_noun
from judgestats.results.purposes import QUANTITIES
from judgestats.results.results import Results
from judgestats.results.verdict import Caveat, Demand, Levels, Measure, Subject, requirement

KIND, ORDERS = "_kind", "_orders"
"""Keys of measures that say what a condition's verdicts are, and how many orders it has."""
DIFFER = "labels_differ"
"""Key of the measure that counts items whose labels differ."""
FEW_SYSTEMS = "_few_systems"
"""Key of the number of systems, where too few for a rank correlation."""
SLICE = "_slice."
"""Beginning of the key of a rate in one slice."""
_FEW_LABELS, _FEW_CLUSTERS, _MANY_COPIES = 30, 20, 0.1
_UNPARSED_HIGH, _UNPARSED = 0.2, 0.05
_LABELLED = ("tpr", "tnr", "kappa", "kappa_weighted", "accuracy", "cutoff_exists")
Asked = Sequence[tuple[Demand, Measure | None]]
_OF_LABELS = frozenset({"gate", "estimate"})
_CAVEATS: Mapping[str, tuple[verdict.Severity, str, str, str]] = {
    "cached_repeats": ("blocker", "repeats",
        "All repeats have the same reply, letter by letter, so they look cached.",
        "Turn the cache off and repeat the run."),
    "default_thresholds": ("minor", "thresholds",
        "Thresholds of .80 are minimums; .90 is usual.", "See --require."),
    "designed_labels": ("minor", "labels",
        "Labels are designed, not human.", "Add human labels: labels=FILE."),
    "duplicate_items": ("major", "items", "{:.0f}% of the items are copies of one another.",
        "Remove copies: --duplicates drop."),
    "expected_missing": ("major", "", "{} is not measured: {}.", "Repeat 100 items."),
    "far_scores": ("blocker", "scores", "{}.", "Correct it, or leave its row out."),
    "few_clusters": ("major", "items", "Only {} of items.", "Judge more items."),
    "few_labels": ("major", "", "Only {} labelled {}.", "Label more answers."),
    DIFFER: ("minor", "labels",
        "{:,} items have labels that differ, and count as unlabelled.",
        "Let another rater decide, or name differing answers: --item."),
    "labels_drawn_unknown": ("minor", "labels", "Labels are assumed to be a random sample{}.",
        "State how they were drawn: --labels-drawn."),
    "labels_handpicked": ("blocker", "labels",
        "Labels were picked by hand, so rates do not carry over to other answers.",
        "Draw labels at random: judgestats labels plan."),
    "looks": ("minor", "labels",
        "Limits are adjusted for {} verdicts on a growing set of labels.",
        "Plan the number: --looks."),
    "no_labels": ("major", "labels",
        "No human labels: accuracy is not measured.", "Add --labels FILE."),
    "one_labeller": ("minor", "labels",
        "One human rater.", "Let a second person label 50 items."),
    "order_fixed": ("major", "order_consistency",
        "Every pair was shown in one order.", "Show each pair in both orders."),
    "run_effect": ("major", "runs", "Runs differ from one another by more than noise.",
        "Interleave repeats, or make 5 runs."),
    "scale_assumed": ("minor", "scale", "The scale is assumed from the scores{}.",
        "State it: --scale."),
    "simulated": ("minor", "judge",
        "The judge is simulated.", "Name a model: judges=gpt-4o-mini."),
    "slice_fails": ("major", "", "{} is {} where {} ({} labels).",
        "Leave that slice to humans, or change its prompt."),
    "t0_left_out": ("minor", "temperature",
        "T = 0 repeats one draw and takes no part in the verdict.",
        "Judge above T = 0 to measure consistency."),
    "t0_only": ("major", "flip_rate",
        "All repeats are at T = 0 and repeat one draw.", "Repeat the run above T = 0."),
    "these_runs": ("minor", "runs", "The result holds for these runs only: {}.",
        "Interleave repeats or make 5 runs."),
    "unparsed": ("major", "unparsed_share", "{:.0f}% of the replies have no verdict.",
        "Find out which items they are."),
    "unparsed_high": ("blocker", "unparsed_share", "{:.0f}% of the replies have no verdict.",
        "Fix the prompt or the reply format first."),
    "wild_replies": ("major", "sem", "Rare far replies could raise the SEM to {} points.",
        "Judge 200 items or more."),
}  # fmt: skip
"""Severity, subject, text (with places for values), and action of each caveat, by code."""


def _caveat(code: str, *values: object, about: str = "") -> Caveat:
    severity, usual, text, action = _CAVEATS[code]
    return Caveat(
        code=code, severity=severity, about=about or usual, text=text.format(*values), action=action
    )  # fmt: skip


def caveats_of(
    results: Results,
    purpose: str,
    subject: Subject,
    pairs: Asked,
    own: Mapping[str, Measure],
    *,
    labels_drawn: str = "",
    looks: int = 1,
) -> tuple[Caveat, ...]:
    """Caveats of the verdict on one subject.

    Parameters
    ----------
    results : Results
    purpose : str
    subject : Subject
    pairs : sequence of (Demand, Measure or None)
        Requirements and their measures.
    own : mapping of key to Measure
        All measures of the subject, and those of the data as a whole.
    labels_drawn : str
        How labels were drawn, as stated.
    looks : int
        Verdicts on growing labels, this one included, over which error rates are shared.

    Returns
    -------
    tuple of Caveat
    """
    codes = {note.code for note in results.limitations}
    of_labels = purpose in _OF_LABELS
    return (
        *_requirement_caveats(results, purpose, subject, pairs, own),
        *_reply_caveats(own),
        *(
            _caveat("far_scores", note.values.get("short") or note.message)
            for note in results.limitations
            if note.code == "far_scores"
        ),
        *(_label_caveats(codes, pairs, own, labels_drawn) if of_labels else ()),
        *_design_caveats(results, codes, purpose, subject, own),
        *([_caveat("looks", looks)] if of_labels and looks > 1 else ()),
    )


def _requirement_caveats(
    results: Results, purpose: str, subject: Subject, pairs: Asked, own: Mapping[str, Measure]
) -> Iterator[Caveat]:
    labelled = any(key in own for key in _LABELLED)
    if purpose in {"score", "classify", "compare", "rank"} and not labelled:
        yield _caveat("no_labels")
    for key, kind in ((d.key, d.kind) for d, made in pairs if made is None):
        if kind == "required" and key not in QUANTITIES:
            continue
        what = QUANTITIES[key]
        once = what.missing == QUANTITIES["flip_rate"].missing
        if once or (kind != "required" and (labelled or purpose in _OF_LABELS)):
            missing = missing_labels(key, own, what.missing)
            caveat = _caveat("expected_missing", what.label, missing, about=key)
            if not once:
                other = "Decide on them: --for gate."
                usual = missing == what.missing
                caveat = replace(caveat, action="Add --labels FILE." if usual else other)
            yield caveat
    tail = results.estimate(f"condition.sem_tail.{subject.label}")
    worst = tail.estimate if tail is not None else math.nan
    for demand, made in pairs:
        if demand.key == "sem" and made is not None and made.high <= demand.threshold < worst:
            yield _caveat("wild_replies", apa_number(worst, bounded=False))


def missing_labels(key: str, own: Mapping[str, Measure], otherwise: str) -> str:
    """Why a quantity of labels is not measured: scores may have labels of another kind."""
    of_scores = key == "kappa_weighted" and "cutoff_exists" in own
    return "human labels are pass / fail, not scores" if of_scores else otherwise


def _reply_caveats(own: Mapping[str, Measure]) -> Iterator[Caveat]:
    unparsed = own.get("unparsed_share")
    if unparsed is not None and unparsed.estimate > 0:
        if unparsed.low > _UNPARSED_HIGH:
            yield _caveat("unparsed_high", 100 * unparsed.estimate)
        elif unparsed.high > _UNPARSED:
            yield _caveat("unparsed", 100 * unparsed.estimate)
    if "_same_replies" in own:
        yield _caveat("cached_repeats")


def _label_caveats(
    codes: Collection[str], pairs: Asked, own: Mapping[str, Measure], labels_drawn: str
) -> Iterator[Caveat]:
    """Of purposes that rest on labels: how many, how drawn, by whom, and in which slices."""
    if picked := labels_drawn == "convenience" or "labels_handpicked" in codes:
        yield _caveat("labels_handpicked")
    for key, word in (("tpr", "passes"), ("tnr", "fails")):
        if key in own and own[key].n < _FEW_LABELS:
            yield _caveat("few_labels", own[key].n, word, about=key)
    if DIFFER in own:
        yield _caveat(DIFFER, own[DIFFER].n)
    if "tpr" not in own and "tnr" not in own:
        return
    drawn = picked or labels_drawn
    if not drawn and "unrepresentative" in codes:
        rest = "; the judge passes them at another rate than the rest"
        yield replace(_caveat("labels_drawn_unknown", rest), severity="major")
    elif not drawn and "assumes_random" in codes:
        yield _caveat("labels_drawn_unknown", "")
    yield from _slice_caveats(pairs, own)
    if any(d.key in {"tpr", "tnr"} and d.origin == "default" for d, _ in pairs):
        yield _caveat("default_thresholds")
    if "_raters" in own and own["_raters"].estimate < 2:
        yield _caveat("one_labeller")


def _slice_caveats(pairs: Asked, own: Mapping[str, Measure]) -> Iterator[Caveat]:
    """The slice in which a rate fails by most, at a level shared over slices."""
    worst: tuple[float, Caveat] | None = None
    count = sum(key.startswith(SLICE) for key in own)
    for key, made in own.items():
        rate, _, where = key.removeprefix(SLICE).partition(".")
        demand = next((d for d, _ in pairs if d.key == rate), None)
        if not key.startswith(SLICE) or demand is None:
            continue
        found = requirement(demand, made, Levels.from_counts(count))
        if found.status == "fails" and (worst is None or found.estimate < worst[0]):
            number = apa_number(found.estimate, bounded=True)
            values = QUANTITIES[rate].label, number, where, made.n
            worst = found.estimate, _caveat("slice_fails", *values, about=rate)
    if worst is not None:
        yield worst[1]


def _design_caveats(
    results: Results,
    codes: Collection[str],
    purpose: str,
    subject: Subject,
    own: Mapping[str, Measure],
) -> Iterator[Caveat]:
    orders = own.get(ORDERS)
    if purpose in {"compare", "rank"} and orders is not None and orders.estimate < 2:
        yield _caveat("order_fixed")
    groups = max((m.n_clusters for m in own.values() if m.key != KIND), default=0)
    if 0 < groups < _FEW_CLUSTERS:
        yield _caveat("few_clusters", count_noun(groups, "cluster", "clusters"))
    copied = own.get("_duplicate_items")
    if copied is not None and copied.estimate >= _MANY_COPIES:
        yield _caveat("duplicate_items", 100 * copied.estimate)
    yield from _repeat_caveats(results, purpose, subject, own)
    if (results.facts.get("design") or {}).get("scale_assumed") and purpose == "score":
        yield _caveat("scale_assumed", ", so the SEM has no tail bound" * ("sem" in own))
    if "designed_labels" in codes:
        yield _caveat("designed_labels")
    if subject.judge in results.simulated_judges:
        yield _caveat("simulated")


def _repeat_caveats(
    results: Results, purpose: str, subject: Subject, own: Mapping[str, Measure]
) -> Iterator[Caveat]:
    still = subject.condition.get("temperature") == 0
    if still:
        yield _caveat("t0_only")
    elif purpose != "contrast" and any(
        c.judge == subject.judge and c.factors.get("temperature") == 0 for c in results.conditions
    ):
        yield _caveat("t0_left_out")
    runs = own.get("_runs")
    if runs is None or still:
        return
    if runs.estimate <= 0.05:
        found = _caveat("run_effect")
        yield (
            replace(found, text=runs.reason, action="Interleave repeats.") if runs.reason else found
        )
    if these := own.get("_these_runs"):
        yield _caveat("these_runs", these.reason)
