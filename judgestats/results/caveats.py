"""Caveats of verdicts: what limits them, how severely, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

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
    return (
        *_requirement_caveats(results, purpose, subject, pairs, own),
        *_reply_caveats(own),
        *_far_score_caveats(results),
        *(_label_caveats(results, pairs, own, labels_drawn) if purpose in _OF_LABELS else ()),
        *_design_caveats(results, purpose, subject, own),
        *(_look_caveats(looks) if purpose in _OF_LABELS and looks > 1 else ()),
    )


def _far_score_caveats(results: Results) -> Iterator[Caveat]:
    for note in results.limitations:
        if note.code == "far_scores":
            yield Caveat(
                code="far_scores", severity="blocker", about="scores",
                text=f"{note.values.get('short') or note.message}.",
                action="Correct it, or leave its row out.",
            )  # fmt: skip


def _look_caveats(looks: int) -> Iterator[Caveat]:
    yield Caveat(
        code="looks", severity="minor", about="labels",
        text=f"Limits are adjusted for {looks} verdicts on a growing set of labels.",
        action="Plan the number: --looks.",
    )  # fmt: skip


_OF_LABELS = frozenset({"gate", "estimate"})


def _requirement_caveats(
    results: Results, purpose: str, subject: Subject, pairs: Asked, own: Mapping[str, Measure]
) -> Iterator[Caveat]:
    labelled = any(key in own for key in _LABELLED)
    if purpose in {"score", "classify", "compare", "rank"} and not labelled:
        yield Caveat(
            code="no_labels", severity="major", about="labels",
            text="No human labels: accuracy is not measured.", action="Add --labels FILE.",
        )  # fmt: skip
    for key, kind in ((d.key, d.kind) for d, made in pairs if made is None):
        if kind == "required" and key not in QUANTITIES:
            continue
        what = QUANTITIES[key]
        once = what.missing == QUANTITIES["flip_rate"].missing
        if kind == "required" and not once:
            continue
        if once or labelled or purpose in _OF_LABELS:
            missing = missing_labels(key, own, what.missing)
            action = (
                "Add --labels FILE." if missing == what.missing else "Decide on them: --for gate."
            )
            yield Caveat(
                code="expected_missing", severity="major", about=key,
                text=f"{what.label} is not measured: {missing}.",
                action="Repeat 100 items." if once else action,
            )  # fmt: skip
    tail = results.estimate(f"condition.sem_tail.{subject.label}")
    worst = tail.estimate if tail is not None else math.nan
    for demand, made in pairs:
        if demand.key == "sem" and made is not None and made.high <= demand.threshold < worst:
            bound = apa_number(worst, bounded=False)
            yield Caveat(
                code="wild_replies", severity="major", about="sem",
                text=f"Rare far replies could raise the SEM to {bound} points.",
                action="Judge 200 items or more.",
            )  # fmt: skip


def missing_labels(key: str, own: Mapping[str, Measure], otherwise: str) -> str:
    """Why a quantity of labels is not measured: scores may have labels of another kind."""
    of_scores = key == "kappa_weighted" and "cutoff_exists" in own
    return "human labels are pass / fail, not scores" if of_scores else otherwise


def _reply_caveats(own: Mapping[str, Measure]) -> Iterator[Caveat]:
    unparsed = own.get("unparsed_share")
    if unparsed is not None and unparsed.estimate > 0:
        share = f"{100 * unparsed.estimate:.0f}% of the replies have no verdict."
        if unparsed.low > _UNPARSED_HIGH:
            yield Caveat(
                code="unparsed_high", severity="blocker", about="unparsed_share", text=share,
                action="Fix the prompt or the reply format first.",
            )  # fmt: skip
        elif unparsed.high > _UNPARSED:
            yield Caveat(
                code="unparsed", severity="major", about="unparsed_share", text=share,
                action="Find out which items they are.",
            )  # fmt: skip
    if "_same_replies" in own:
        yield Caveat(
            code="cached_repeats", severity="blocker", about="repeats",
            text="All repeats have the same reply, letter by letter, so they look cached.",
            action="Turn the cache off and repeat the run.",
        )  # fmt: skip


def _label_caveats(
    results: Results, pairs: Asked, own: Mapping[str, Measure], labels_drawn: str
) -> Iterator[Caveat]:
    """Of purposes that rest on labels: how many, how drawn, by whom, and in which slices."""
    codes = {note.code for note in results.limitations}
    if picked := labels_drawn == "convenience" or "labels_handpicked" in codes:
        yield Caveat(
            code="labels_handpicked", severity="blocker", about="labels",
            text="Labels were picked by hand, so rates do not carry over to other answers.",
            action="Draw labels at random: judgestats labels plan.",
        )  # fmt: skip
    for key, word in (("tpr", "passes"), ("tnr", "fails")):
        if key in own and own[key].n < _FEW_LABELS:
            yield Caveat(
                code="few_labels", severity="major", about=key,
                text=f"Only {own[key].n} labelled {word}.", action="Label more answers.",
            )  # fmt: skip
    if DIFFER in own:
        yield Caveat(
            code=DIFFER, severity="minor", about="labels",
            text=f"{own[DIFFER].n:,} items have labels that differ, and count as unlabelled.",
            action="Let another rater decide, or name differing answers: --item.",
        )  # fmt: skip
    if "tpr" not in own and "tnr" not in own:
        return
    if not (picked or labels_drawn) and codes & {"assumes_random", "unrepresentative"}:
        differ = "unrepresentative" in codes
        rest = "; the judge passes them at another rate than the rest" if differ else ""
        yield Caveat(
            code="labels_drawn_unknown", severity="major" if differ else "minor", about="labels",
            text=f"Labels are assumed to be a random sample{rest}.",
            action="State how they were drawn: --labels-drawn.",
        )  # fmt: skip
    yield from _slice_caveats(pairs, own)
    defaults = [d for d, _ in pairs if d.key in {"tpr", "tnr"} and d.origin == "default"]
    if defaults:
        yield Caveat(
            code="default_thresholds", severity="minor", about="thresholds",
            text="Thresholds of .80 are minimums; .90 is usual.", action="See --require.",
        )  # fmt: skip
    if "_raters" in own and own["_raters"].estimate < 2:
        yield Caveat(
            code="one_labeller", severity="minor", about="labels",
            text="One human rater.", action="Let a second person label 50 items.",
        )  # fmt: skip


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
            text = f"{QUANTITIES[rate].label} is {number} where {where} ({made.n} labels)."
            worst = found.estimate, Caveat(
                code="slice_fails", severity="major", about=rate, text=text,
                action="Leave that slice to humans, or change its prompt.",
            )  # fmt: skip
    if worst is not None:
        yield worst[1]


def _design_caveats(
    results: Results, purpose: str, subject: Subject, own: Mapping[str, Measure]
) -> Iterator[Caveat]:
    orders = own.get(ORDERS)
    if purpose in {"compare", "rank"} and orders is not None and orders.estimate < 2:
        yield Caveat(
            code="order_fixed", severity="major", about="order_consistency",
            text="Every pair was shown in one order.", action="Show each pair in both orders.",
        )  # fmt: skip
    groups = max((m.n_clusters for m in own.values() if m.key != KIND), default=0)
    if 0 < groups < _FEW_CLUSTERS:
        yield Caveat(
            code="few_clusters", severity="major", about="items",
            text=f"Only {count_noun(groups, 'cluster', 'clusters')} of items.",
            action="Judge more items.",
        )  # fmt: skip
    copied = own.get("_duplicate_items")
    if copied is not None and copied.estimate >= _MANY_COPIES:
        yield Caveat(
            code="duplicate_items", severity="major", about="items",
            text=f"{100 * copied.estimate:.0f}% of the items are copies of one another.",
            action="Remove copies: --duplicates drop.",
        )  # fmt: skip
    yield from _repeat_caveats(results, purpose, subject, own)
    if (results.facts.get("design") or {}).get("scale_assumed") and purpose == "score":
        yield Caveat(
            code="scale_assumed", severity="minor", about="scale",
            text="The scale is assumed from the scores"
            f"{', so the SEM has no tail bound' if 'sem' in own else ''}.",
            action="State it: --scale.",
        )  # fmt: skip
    if any(note.code == "designed_labels" for note in results.limitations):
        yield Caveat(
            code="designed_labels", severity="minor", about="labels",
            text="Labels are designed, not human.", action="Add human labels: labels=FILE.",
        )  # fmt: skip
    if subject.judge in results.simulated_judges:
        yield Caveat(
            code="simulated", severity="minor", about="judge",
            text="The judge is simulated.", action="Name a model: judges=gpt-4o-mini.",
        )  # fmt: skip


def _repeat_caveats(
    results: Results, purpose: str, subject: Subject, own: Mapping[str, Measure]
) -> Iterator[Caveat]:
    still = subject.condition.get("temperature") == 0
    if still:
        yield Caveat(
            code="t0_only", severity="major", about="flip_rate",
            text="All repeats are at T = 0 and repeat one draw.",
            action="Repeat the run above T = 0.",
        )  # fmt: skip
    elif purpose != "contrast" and any(
        c.judge == subject.judge and c.factors.get("temperature") == 0 for c in results.conditions
    ):
        yield Caveat(
            code="t0_left_out", severity="minor", about="temperature",
            text="T = 0 repeats one draw and takes no part in the verdict.",
            action="Judge above T = 0 to measure consistency.",
        )  # fmt: skip
    runs = own.get("_runs")
    if runs is None or still:
        return
    if runs.estimate <= 0.05:
        yield Caveat(
            code="run_effect", severity="major", about="runs",
            text=runs.reason or "Runs differ from one another by more than noise.",
            action="Interleave repeats." if runs.reason else "Interleave repeats, or make 5 runs.",
        )  # fmt: skip
    if these := own.get("_these_runs"):
        yield Caveat(
            code="these_runs", severity="minor", about="runs",
            text=f"The result holds for these runs only: {these.reason}.",
            action="Interleave repeats or make 5 runs.",
        )  # fmt: skip
