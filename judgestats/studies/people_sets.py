"""Public sets with human labels: arena pairs and PandaLM's test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.analysis.coefficients import ranked
from judgestats.arrays import Floats, Ints, Objects
from judgestats.errors import InputError
from judgestats.results.numbers import apa_p
from judgestats.stats import accuracy, cohen_kappa, corrected_win_rate
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.result import Estimate
from judgestats.stats.validity.annotators import AlternativeAnnotator, alternative_annotator_test
from judgestats.studies import claims
from judgestats.studies.claims import (
    Claim,
    bounded,
    format_percent,
    hundredths,
    listed,
    shifted,
)

_FIELDS = ("id", "model_a", "model_b", "human_winner", "judge_pick")
_CREDIT = {"win": 1.0, "tie": 0.5, "loss": 0.0}
_PICKS = {"A": "model_a", "B": "model_b"}
_RATERS = {"people": "human raters", "the judge": "judge"}
_LABELS, _DRAWS = 100, 400
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Outcomes of one system against another, by human raters and the judge (None: no pick)."""

    system: str
    other: str
    outcomes: Mapping[str, Objects]
    first: Flags
    """Whether the system was shown first."""

    @property
    def name(self) -> str:
        """The two systems."""
        return f"{self.system} against {self.other}"

    def credit(self, whose: str) -> Floats:
        """1, .5 or 0 of each pair; NaN where the judge picked none."""
        return np.array([_CREDIT.get(t, np.nan) for t in self.outcomes[whose]])

    def both(self, *, of_first: bool = False) -> dict[str, Floats]:
        """Credit by human raters and by the judge; `of_first`: of the answer shown first."""
        credit = {w: self.credit(w) for w in _RATERS}
        return {w: np.where(self.first, c, 1 - c) if of_first else c for w, c in credit.items()}

    def rate(self, whose: str) -> Estimate:
        """The system's win rate."""
        return mean_share(self.credit(whose), name="win_rate", label=f"Win rate, {_RATERS[whose]}")


def read_pairs(folder: Path, _: claims.Options) -> list[Pairs]:
    """Every file of pairs in a folder, each of two systems.

    Raises
    ------
    InputError
        If there is none, or one is damaged.
    """
    files = sorted(folder.glob("*.json*")) if folder.is_dir() else []
    if not files:
        raise InputError(f"replicate: {str(folder)!r} holds no JSON files of arena pairs.")
    sets = []
    for path in files:
        frame = claims.table_of(path, _FIELDS)
        systems = sorted({*frame["model_a"], *frame["model_b"]})
        if len(systems) != 2:
            raise InputError(f"replicate: {path.name}: expected pairs of the same two models.")
        strange = set(frame["judge_pick"]) - {*_PICKS, "None", "nan", ""}
        if strange:
            raise InputError(f"replicate: {path.name}: judge_pick {min(strange)!r} is not A or B.")
        first = frame["model_a"].eq(systems[0]).to_numpy()
        winners = {"people": frame["human_winner"], "the judge": frame["judge_pick"].map(_PICKS)}
        outcomes = {whose: _outcomes(own, first) for whose, own in winners.items()}
        sets.append(Pairs(system=systems[0], other=systems[1], outcomes=outcomes, first=first))
    return sets


def _outcomes(winners: pd.Series, first: Flags) -> Objects:
    """The system's outcomes, by the place of each winner."""
    place = winners.map({"model_a": True, "model_b": False})
    won = place.eq(pd.Series(first)).map({True: "win", False: "loss"}).where(place.notna(), "tie")
    outcomes: Objects = won.astype(object).where(winners.notna(), None).to_numpy()
    return outcomes


def _same(sets: Sequence[Pairs], _: claims.Options) -> claims.Finding:
    tests = {p.name: claims.paired_shift(p.both()) for p in sets}
    rows = {name: t.rows[0] for name, t in tests.items()}
    off = [r.p_value < 0.05 / len(rows) for r in rows.values()]
    rates = {p.name: {w: p.rate(w) for w in _RATERS} for p in sets}
    return claims.Finding(
        reproduced="; ".join(
            f"{name}: human {hundredths(of['people'])}, judge {hundredths(of['the judge'])}"
            for name, of in rates.items()
        ),
        verdict="does not stand" if all(off) else claims.joint_verdict(off),
        because=f"Judge minus human win rate: {listed(rows, shifted)}. "
        f"The difference is significant in {sum(off)} of {len(rows)} files.",
        results=[
            *(result for name, of in rates.items() for w, rate in of.items()
              for result in claims.then(f"{name}, {_RATERS[w]}", rate, f"{name}.{w}")),
            *claims.now("Judge minus human win rate", tests, primary=True),
        ],
    )  # fmt: skip


def _ranking(sets: Sequence[Pairs], _: claims.Options) -> claims.Finding:
    side = [[np.nanmean(c) - 0.5 for c in p.both().values()] for p in sets]
    same = [bool(h * j > 0) for h, j in side]
    wider = sum(abs(j) > abs(h) for h, j in side)
    right = {p.name: _agreement(p) for p in sets}
    return claims.Finding(
        verdict=claims.joint_verdict(same, otherwise="does not stand"),
        because=f"Humans and judge prefer the same system in {sum(same)} of {len(sets)} files. "
        f"The judge shows the larger gap in {wider}. Agreement on single pairs is only "
        f"{', '.join(map(hundredths, right.values()))}. The judge shows which system wins, but not "
        "by how much.",
        results=claims.now("Accuracy", right),
    )


def _agreement(p: Pairs) -> Estimate:
    code = {"win": "a", "loss": "b", "tie": "tie", None: None}
    human, judge = (np.array([code[o] for o in p.outcomes[w]], dtype=object) for w in _RATERS)
    return accuracy(judge, human, ties="half")


def _mended(sets: Sequence[Pairs], options: claims.Options) -> claims.Finding:
    """Share of draws of 100 labels whose interval holds the human win rate."""
    rng = np.random.default_rng(options.seed)
    draws = min(_DRAWS, options.n_resamples)
    held, naive = 0, 0
    examples: dict[str, Estimate] = {}
    for p in sets:
        truth = float(np.nanmean(p.credit("people")))
        human, judge = p.outcomes.values()
        naive += _holds(p.rate("the judge"), truth)
        for _ in range(draws):
            drawn = np.isin(np.arange(len(human)), rng.choice(len(human), _LABELS, replace=False))
            e = corrected_win_rate(
                judge, np.where(drawn, human, np.array(None)), labels_drawn="random"
            )
            examples.setdefault(p.name, e)
            held += _holds(e, truth)
    share = held / (draws * len(sets))
    return claims.Finding(
        test_now=f"{draws} draws of {_LABELS} labels per file: share of draws whose corrected "
        "interval holds the win rate of all human labels",
        reproduced=f"the judge's uncorrected interval holds it in {naive} of {len(sets)} files",
        verdict="stands" if share >= 0.93 else "does not stand",
        because=f"The corrected interval holds the human win rate in {format_percent(share)} of "
        "draws. Labels are drawn from a finite file, so more than 95% are expected. One draw "
        f"each: {listed(examples, hundredths)}.",
        results=claims.now("Corrected win rate, one draw", examples, primary=True),
    )


def _holds(estimate: Estimate, truth: float) -> bool:
    low, high = claims.low_high(estimate)
    return low <= truth <= high


def _first(sets: Sequence[Pairs], _: claims.Options) -> claims.Finding:
    parts = [p.both(of_first=True) for p in sets]
    both = {w: np.concatenate([p[w] for p in parts]) for w in _RATERS}
    label = "Share for the first position, judge"
    share = mean_share(both["the judge"], name="first_position_share", label=label)
    test = claims.paired_shift(both)
    return claims.Finding(
        verdict="stands in part" if claims.low_high(share)[0] > 0.5 else "stands",
        because=f"The judge picks the first position in {hundredths(share)} of the pairs. Judge "
        f"minus human raters, same pairs: {shifted(test.rows[0])}. Random positions keep this "
        "preference from favouring a system. It still costs accuracy, which one order cannot show.",
        results=claims.now(label, share, "share")
        + claims.now("First position: judge minus human raters", test, primary=True),
    )


ARENA_PAIRS = claims.Study(
    name="arena_pairs",
    title="Arena pairs: human and judge win rates",
    source="pairs published by Chen Lab under MIT, 2025",
    layout="JSON files of id, model_a, model_b, human_winner, judge_pick",
    heading="Arena pairs: human and judge win rates, re-examined",
    question="Does a judge's win rate equal the human win rate, and do a few labels correct it?",
    read=read_pairs,
    claims=(
        Claim("same", "A judge's win rate equals the human win rate.",
            published="a judge's win rate instead of a leaderboard's",
            test_then="win rates side by side",
            test_now="difference on the same pairs, Bonferroni over files", evaluate=_same),
        Claim("ranking", "A judge that errs still ranks the systems as human raters do.",
            published="agreement on who wins, file by file", test_then="none",
            test_now="side of .5 of both win rates; accuracy pair by pair",
            evaluate=_ranking),
        Claim("mended", f"{_LABELS} labels drawn at random correct the judge's win rate.",
            published="prediction-powered corrections promise it",
            test_then="the judge's win rate with its interval",
            test_now="share of draws whose corrected interval holds the human win rate",
            evaluate=_mended),
        Claim("first", "Random positions keep position bias out of the win rate.",
            published="one order per pair, positions drawn", test_then="none",
            test_now="share of picks for the first position, and its difference from the human "
                "share on the same pairs", evaluate=_first),
    ),
    conditions=lambda sets, _: pd.DataFrame(
        {"condition": p.other, "n_items": len(p.first)}
        | claims.interval_cells("win_rate_people", p.rate("people"))
        | claims.interval_cells("win_rate_judge", p.rate("the judge"))
        for p in sets
    ),
    drawing=lambda sets: ranked(
        "win_rate_people",
        "win_rate_judge",
        caption=f"Win rate of {' and '.join(dict.fromkeys(p.system for p in sets))} against each "
        "other system, by human raters and by the judge.",
    ),
    data_source="pairs with a human rater's winner and one judge's pick",
    limitations=lambda _: (
        "The files print no claim. The claims are common uses of such data.",
        "There is one pick per pair, in one order: noise and errors cannot be separated.",
    ),
)  # fmt: skip

_PANDALM, _GPT = "PandaLM-7B", "GPT-3.5"
_PEOPLE = ("annotator1", "annotator2", "annotator3")
_OUTCOMES = ("0", "1", "2")
_CODES = {"1": "1", "2": "2", "0": "0", "tie": "0"}
_PRINTED_RATIO = 0.9375
_EPSILON = 0.1
"""The smallest margin that the test's authors recommend: for annotators of a crowd."""


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Labels of humans and two judges, and whose pairs share an instruction; empty: unparsed."""

    people: Objects
    judges: Mapping[str, Objects]
    question: Ints | None

    @cached_property
    def gold(self) -> Objects:
        """The majority of the three labels; a tie where all three differ."""
        votes = np.stack([(self.people == o).sum(axis=1) for o in _OUTCOMES], axis=1)
        most = np.array(_OUTCOMES)[votes.argmax(axis=1)]
        return np.where(votes.max(axis=1) >= 2, most, "0")

    def hits(self, judge: str) -> Floats:
        """1 where a judge's verdict is the majority label."""
        right: Objects = np.equal(self.judges[judge], self.gold)
        return right.astype(float)

    def accuracy(self, judge: str) -> Estimate:
        """Accuracy against the majority."""
        label = f"Accuracy, {judge}"
        return mean_share(self.hits(judge), cluster=self.question, name="accuracy", label=label)

    def kappa(self, one: Objects, other: Objects) -> Estimate:
        """Cohen's kappa of two raters."""
        return cohen_kappa(one, other, cluster=self.question)

    def replaced_by(self, judge: str, epsilon: float) -> AlternativeAnnotator:
        """The alternative annotator test of a judge."""
        return alternative_annotator_test(
            np.array([label or None for label in self.judges[judge]], dtype=object),
            self.people,
            annotators=list(_PEOPLE),
            epsilon=epsilon,
            cluster=self.question,
            n_resamples=0,
        )


def read_labels(folder: Path, _: claims.Options) -> Labels:
    """The labels of a folder: one table, or the three files that the authors publish.

    Raises
    ------
    InputError
        If it holds neither, or a file is damaged.
    """
    items = sorted(folder.glob("testset-v1.json*")) if folder.is_dir() else []
    question = None
    if items:
        asked = claims.table_of(items[0], ("idx", "instruction", "input", *_PEOPLE))
        question = pd.factorize(asked["instruction"] + "\n" + asked["input"])[0]
    if sorted(folder.glob("labels.csv*")):
        path = claims.file_of(folder, "labels.csv", study="PandaLM")
        table = claims.table_of(path, (*_PEOPLE, "gpt35", "pandalm7b"))
    else:
        path = claims.file_of(folder, "testset-v1.json", study="PandaLM")
        table = claims.table_of(path, ("idx", *_PEOPLE)).set_index("idx")
        for column, name, field in (
            ("gpt35", "gpt-3.5-turbo-testset-v1.json", "gpt_result"),
            ("pandalm7b", "pandalm-7b-testset-v1.json", "pandalm_result"),
        ):
            own = claims.table_of(claims.file_of(folder, name, study="PandaLM"), ("idx", field))
            table[column] = own.set_index("idx")[field].reindex(table.index)
    if question is not None and len(question) != len(table):
        raise InputError(
            "replicate: testset-v1.json and the labels differ in their number of pairs."
        )
    coded = table.apply(lambda c: c.astype(str).str.lower().map(_CODES).fillna("")).astype(object)
    if coded[list(_PEOPLE)].eq("").any(axis=None):
        raise InputError("replicate: PandaLM: an annotator's label is none of 0, 1, 2.")
    judges = {_PANDALM: coded["pandalm7b"].to_numpy(), _GPT: coded["gpt35"].to_numpy()}
    return Labels(people=coded[list(_PEOPLE)].to_numpy(), judges=judges, question=question)


def macro_f1(gold: ArrayLike, judged: ArrayLike) -> float:
    """Mean of the three outcomes' F1, as the study counts.

    Examples
    --------
    >>> round(macro_f1(list("012"), list("011")), 3)
    0.556
    """
    y, x = (np.asarray(of, dtype=object) for of in (gold, judged))
    parts = []
    for outcome in _OUTCOMES:
        both = float(np.sum((y == outcome) & (x == outcome)))
        either = float(np.sum(y == outcome) + np.sum(x == outcome))
        parts.append(2 * both / either if either else 0.0)
    return float(np.mean(parts))


def _ratio(labels: Labels, _: claims.Options) -> claims.Finding:
    gold, judges = labels.gold, labels.judges
    as_ties = {j: macro_f1(gold, np.where(x == "", "0", x)) for j, x in judges.items()}
    as_errors = {j: macro_f1(gold, x) for j, x in judges.items()}
    ratio, other = (of[_PANDALM] / of[_GPT] for of in (as_ties, as_errors))
    return claims.Finding(
        reproduced=f"{100 * ratio:.1f}% ({bounded(as_ties[_PANDALM])} / {bounded(as_ties[_GPT])})",
        verdict="stands" if abs(ratio - _PRINTED_RATIO) < 5e-4 else "does not stand",
        because="The authors' public judgments do not reproduce the printed ratio. "
        f"It is {100 * ratio:.1f}% where GPT-3.5's {int(np.sum(judges[_GPT] == ''))} unparsed "
        f"replies count as ties and {100 * other:.1f}% where they count as errors. A third "
        f"of a macro F1 is the rare tie ({100 * np.mean(gold == '0'):.1f}% of the pairs).",
        results=claims.then("Accuracy", {j: labels.accuracy(j) for j in judges}),
    )


def _pandalm_shift(labels: Labels, _: claims.Options) -> claims.Finding:
    names = (_GPT, _PANDALM)
    shift = claims.paired_shift({j: labels.hits(j) for j in names}, cluster=labels.question)
    accuracies = {j: labels.accuracy(j) for j in names}
    return claims.Finding(
        reproduced=f"accuracy {listed(accuracies, hundredths, ', ')}",
        verdict="stands" if claims.low_high(shift.rows[0])[1] < 0 else "open",
        because=f"PandaLM-7B minus GPT-3.5: {shifted(shift.rows[0])}. An unparsed reply counts as "
        "wrong here.",
        results=claims.now("Accuracy: PandaLM-7B minus GPT-3.5", shift, primary=True),
    )


def _people(labels: Labels, _: claims.Options) -> claims.Finding:
    kappas = [labels.kappa(*pair) for pair in combinations(labels.people.T, 2)]
    values = [e.estimate for e in kappas]
    judged = [labels.kappa(x, labels.gold).estimate for x in labels.judges.values()]
    return claims.Finding(
        reproduced=", ".join(map(bounded, values)),
        verdict="stands in part",
        because=f"The kappas are {bounded(min(values))} to {bounded(max(values))}. But the authors "
        "dropped pairs with much disagreement until this was so, and kept 1,000 of 2,500. "
        "So the human ceiling and every judge's accuracy are those of easy pairs. The kappas of "
        f"the judges are {bounded(min(judged))} and {bounded(max(judged))}.",
        results=claims.then(
            "Cohen's kappa of two annotators", {str(i): e for i, e in enumerate(kappas)}
        ),
    )


def _replaces(labels: Labels, _: claims.Options) -> claims.Finding:
    tests = {j: labels.replaced_by(j, _EPSILON) for j in labels.judges}
    lenient = labels.replaced_by(_PANDALM, 0.2)
    own = tests[_PANDALM]
    closest = float(np.mean([t.annotator_share for t in own.annotators]))
    rates = {j: f"{t.winning_rate:.2g}" for j, t in tests.items()}
    return claims.Finding(
        verdict="stands" if own.winning_rate >= 0.5 else "does not stand",
        because=f"Winning rate at a margin of {bounded(_EPSILON, digits=1)}: "
        f"{listed(rates, between=', ')}"
        f". At .2, the margin for experts, that of PandaLM-7B is {lenient.winning_rate:.2g} "
        f"(least {apa_p(min(t.p_value for t in lenient.annotators))}). PandaLM-7B agrees with the "
        f"others as well as an annotator in {100 * own.advantage:.0f}% of the pairs. An annotator "
        f"does so in {100 * closest:.0f}%.",
        results=[
            result
            for j, t in tests.items()
            for result in claims.now("Alternative annotator test", {j: t}, primary=j == _PANDALM)
        ],
    )


PANDALM = claims.Study(
    name="pandalm",
    title="PandaLM-7B against human annotators",
    source="arXiv 2306.05087; github.com/WeOpenML/PandaLM",
    layout="`labels.csv`, or the three files of the authors' `data` folder",
    heading="PandaLM-7B against three annotators (arXiv 2306.05087), re-examined",
    question="How well do two judges agree with the annotators of PandaLM's test set?",
    read=read_labels,
    claims=(
        Claim("ratio", "PandaLM-7B reaches 93.75% of GPT-3.5's evaluation ability.",
            published="93.75% of GPT-3.5's F1",
            test_then="ratio of macro F1 over tie, 1 and 2, against the annotators' majority",
            test_now="the same ratio, with unparsed replies counted both ways", evaluate=_ratio),
        Claim("below", "PandaLM-7B is slightly less accurate than GPT-3.5.",
            published="F1 .5456 against .5820", test_then="none: two numbers side by side",
            test_now="difference of accuracies on the same pairs, instructions as clusters",
            evaluate=_pandalm_shift),
        Claim("people", "The test set is reliable: its three annotators agree.",
            published="Cohen's kappa of every two annotators near .85", test_then="Cohen's kappa",
            test_now="the same, with intervals over instructions", evaluate=_people),
        Claim("replaces", "PandaLM can replace human annotators in comparisons of models.",
            published="reliable and aligned with human preference; no test", test_then="none",
            test_now="alternative annotator test against all three, instructions as clusters",
            evaluate=_replaces),
    ),
    conditions=lambda labels, _: pd.DataFrame(
        {"condition": j, "judge": j, "n_items": len(x)}
        | claims.interval_cells("accuracy", labels.accuracy(j))
        | {"unread_share": float(np.mean(x == "")), "tie_share": float(np.mean(x == "0"))}
        for j, x in labels.judges.items()
    ),
    drawing=ranked(
        "accuracy", "unread_share", caption="Accuracy against the majority of three annotators."
    ),
    data_source=lambda labels: (
        f"the authors' labels of {len(labels.people):,} pairs; "
        + (
            "the instructions are not in the folder: every pair is assumed independent"
            if labels.question is None
            else "pairs of one instruction are clusters"
        )
    ),
    limitations=lambda _: (
        "Answers have one order, so a preference for a position cannot be measured.",
    ),
)  # fmt: skip
