"""Arena pairs with a person's winner and a judge's pick: whose win rate is it?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.analysis.summary_rows import ranked
from judgestats.errors import InputError
from judgestats.stats.agreement.human import accuracy
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference.estimate import Estimate
from judgestats.stats.validity.systems import corrected_win_rate
from judgestats.studies.claims import (
    Claim,
    Options,
    Replication,
    Study,
    format_percent,
    hundredths,
    now,
    records_of,
    shifted,
    then,
)

_FIELDS = ("id", "model_a", "model_b", "human_winner", "judge_pick")
_CREDIT = {"win": 1.0, "tie": 0.5, "loss": 0.0}
_LABELS, _DRAWS = 100, 400


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Outcomes of one system against another, by people and by the judge (None: no pick)."""

    name: str
    system: str
    other: str
    human: tuple[str, ...]
    judge: tuple[str | None, ...]
    first: tuple[bool, ...]
    """Whether the system stood first."""

    def first_position_credit(self, whose: str) -> np.ndarray:
        """1 where the answer shown first won, .5 for a tie."""
        credit = self.credit(whose)
        return np.where(self.first, credit, 1 - credit)

    def credit(self, whose: str) -> np.ndarray:
        """1, .5 or 0 of each pair; NaN where the judge picked none."""
        verdicts = self.human if whose == "people" else self.judge
        return np.array([np.nan if t is None else _CREDIT[t] for t in verdicts])


def _outcome(winner: object, first: bool) -> str:
    text = str(winner)
    if text not in {"model_a", "model_b"}:
        return "tie"
    return "win" if (text == "model_a") == first else "loss"


def read_pairs(folder: Path) -> list[Pairs]:
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
        rows = [r.values for r in records_of(path, _FIELDS)]
        systems = sorted({str(r[k]) for r in rows for k in ("model_a", "model_b")})
        if len(systems) != 2:
            raise InputError(f"replicate: {path.name}: expected pairs of the same two models.")
        strange = {str(r["judge_pick"]) for r in rows} - {"A", "B", "None", "nan", ""}
        if strange:
            raise InputError(f"replicate: {path.name}: judge_pick {min(strange)!r} is not A or B.")
        first = [str(r["model_a"]) == systems[0] for r in rows]
        picks = [p if (p := str(r["judge_pick"])) in {"A", "B"} else None for r in rows]
        sets.append(
            Pairs(
                name=f"{systems[0]} against {systems[1]}",
                system=systems[0],
                other=systems[1],
                human=tuple(
                    _outcome(r["human_winner"], f) for r, f in zip(rows, first, strict=True)
                ),
                judge=tuple(
                    None if p is None else _outcome({"A": "model_a", "B": "model_b"}[p], f)
                    for p, f in zip(picks, first, strict=True)
                ),
                first=tuple(first),
            )
        )
    return sets


def _rate(pairs: Pairs, whose: str, options: Options) -> Estimate:
    return mean_share(
        pairs.credit(whose), level=options.level, name="win_rate", label=f"Win rate by {whose}"
    )


def _same(sets: list[Pairs], options: Options) -> Claim:
    tests = {}
    for p in sets:
        both = np.column_stack([p.credit("people"), p.credit("the judge")])
        tests[p.name] = mean_shift(
            both[~np.isnan(both).any(axis=1)], conditions=["people", "the judge"]
        )
    rows = {name: t.rows[0] for name, t in tests.items()}
    off = [n for n, r in rows.items() if r.p_value < 0.05 / len(rows)]
    return Claim(
        id="same",
        claim="A judge's win rate can be read as people's.",
        published="a judge's win rate in place of a leaderboard's",
        test_then="win rates side by side",
        test_now="difference on the same pairs, Bonferroni over files",
        reproduced="; ".join(
            f"{p.name}: people {hundredths(_rate(p, 'people', options))}, judge "
            f"{hundredths(_rate(p, 'the judge', options))}"
            for p in sets
        ),
        verdict="does not stand" if len(off) == len(rows) else "stands in part" if off else "open",
        because="The judge less people: "
        + "; ".join(f"{n} {shifted(r, adjusted=False)}" for n, r in rows.items())
        + f". Shown in {len(off)} of {len(rows)} files.",
        results=(
            *(then(f"same.then.{p.name}.{w}", f"{p.name}, by {w}", _rate(p, w, options))
              for p in sets for w in ("people", "the judge")),
            *(now(f"same.now.{n}", f"Judge less people, {n}", t, primary=True)
              for n, t in tests.items()),
        ),
    )  # fmt: skip


def _order(sets: list[Pairs], options: Options) -> Claim:
    """Whether the judge's ranking is people's, and whether it exaggerates."""
    side = {
        p.name: (
            np.nanmean(p.credit("people")) - 0.5,
            np.nanmean(p.credit("the judge")) - 0.5,
        )
        for p in sets
    }
    same = sum(h * j > 0 for h, j in side.values())
    wider = sum(abs(j) > abs(h) for h, j in side.values())
    right = {p.name: _accuracy(p, options) for p in sets}
    return Claim(
        id="ranking",
        claim="A judge that errs still ranks the systems as people do.",
        published="agreement on who wins, file by file",
        test_then="none",
        test_now="side of .5 that people and judge see; accuracy pair by pair",
        verdict="stands" if same == len(sets) else "stands in part" if same else "does not stand",
        because=f"People and judge prefer the same system in {same} of {len(sets)} files; the "
        f"judge sees the larger gap in {wider}, though on single pairs it agrees with people "
        "in only "
        + ", ".join(hundredths(e) for e in right.values())
        + ". Who wins can be read from it, by how much cannot.",
        results=tuple(
            now(f"ranking.now.{n}", f"Accuracy, {n}", e) for n, e in right.items()
        ),
    )  # fmt: skip


def _accuracy(p: Pairs, options: Options) -> Estimate:
    code = {"win": "a", "loss": "b", "tie": "tie", None: None}
    judge, human = (
        np.array([code[o] for o in verdicts], dtype=object) for verdicts in (p.judge, p.human)
    )
    return accuracy(judge, human, ties="half", level=options.level)


def _mended(sets: list[Pairs], options: Options) -> Claim:
    """How often a hundred labels give an interval that holds people's win rate."""
    rng = np.random.default_rng(options.seed)
    draws = min(_DRAWS, options.n_resamples)
    held, naive = 0, 0
    examples: dict[str, Estimate] = {}
    for p in sets:
        truth = float(np.nanmean(p.credit("people")))
        raw = _rate(p, "the judge", options).interval
        naive += raw is not None and raw.low <= truth <= raw.high
        for _ in range(draws):
            kept = set(rng.choice(len(p.human), _LABELS, replace=False).tolist())
            shown = np.array(
                [h if i in kept else None for i, h in enumerate(p.human)], dtype=object
            )
            judge = np.array(p.judge, dtype=object)
            e = corrected_win_rate(judge, shown, labels_drawn="random", level=options.level)
            examples.setdefault(p.name, e)
            held += e.interval is not None and e.interval.low <= truth <= e.interval.high
    share = held / (draws * len(sets))
    return Claim(
        id="mended",
        claim=f"{_LABELS} labels drawn at random mend the judge's win rate.",
        published="prediction-powered corrections promise it",
        test_then="the judge's win rate with its interval",
        test_now=f"{draws} draws of {_LABELS} labels a file: how often the corrected interval "
        "holds the win rate of all of people's labels",
        reproduced=f"the judge's own interval holds it in {naive} of {len(sets)} files",
        verdict="stands" if share >= 0.93 else "does not stand",
        because=f"The corrected interval holds people's win rate in {format_percent(share)} of the "
        "draws (labels are drawn from a finite file, so more than 95 % are expected); one draw "
        "each: " + "; ".join(f"{n} {hundredths(e)}" for n, e in examples.items()) + ".",
        results=tuple(
            now(f"mended.now.{n}", f"Corrected win rate, {n}, one draw", e, primary=True)
            for n, e in examples.items()
        ),
    )


def _first(sets: list[Pairs], options: Options) -> Claim:
    """Whether the judge prefers the answer shown first, where the systems' places are drawn."""
    picks = np.concatenate([p.first_position_credit("the judge") for p in sets])
    people = np.concatenate([p.first_position_credit("people") for p in sets])
    share = mean_share(picks, level=options.level, name="first_position_share",
                      label="Share for the first place, judge")  # fmt: skip
    both = np.column_stack([people, picks])
    test = mean_shift(both[~np.isnan(both).any(axis=1)], conditions=["people", "the judge"])
    [row] = test.rows
    return Claim(
        id="first",
        claim="Drawing the places at random keeps position out of the win rate.",
        published="one order a pair, places drawn",
        test_then="none",
        test_now="share of picks for the first place, and how far it lies from people's on the "
        "same pairs",
        verdict="stands in part" if share.interval and share.interval.low > 0.5 else "stands",
        because=f"The judge picks the first place in {hundredths(share)} ({shifted(row)} beyond "
        "people's choices of the same answers). Drawn places keep the preference from favouring a "
        "system; it still costs accuracy on every pair, which one order cannot show.",
        results=(
            now("first.now.share", "Share for the first place, judge", share),
            now("first.now", "First place: the judge less people", test, primary=True),
        ),
    )


def examine(folder: Path, options: Options) -> Replication:
    """Whose win rate a judge's is, on the pairs of a folder.

    Parameters
    ----------
    folder : Path
        JSON files of pairs, each of two systems: id, model_a, model_b, human_winner, judge_pick.
    options : Options

    Returns
    -------
    Replication
    """
    sets = read_pairs(folder)
    rows = []
    for p in sets:
        cells: dict[str, object] = {"condition": p.other, "n_items": len(p.human)}
        for column, whose in (("win_rate_people", "people"), ("win_rate_judge", "the judge")):
            e = _rate(p, whose, options)
            cells |= {
                column: e.estimate,
                f"{column}_low": e.interval.low if e.interval else np.nan,
                f"{column}_high": e.interval.high if e.interval else np.nan,
            }
        rows.append(cells)
    systems = " and ".join(dict.fromkeys(p.system for p in sets))
    return Replication(
        study="arena_pairs",
        title="Arena pairs: people's win rate and a judge's, re-examined",
        question="Can a judge's win rate be read as people's, and do a few labels mend it?",
        claims=(
            _same(sets, options),
            _order(sets, options),
            _mended(sets, options),
            _first(sets, options),
        ),
        conditions=pd.DataFrame(rows),
        drawing=ranked(
            "win_rate_people",
            "win_rate_judge",
            caption=f"Win rate of {systems} against each other system, by people and by the judge.",
        ),
        data_source="pairs with a person's winner and one judge's pick",
        limitations=(
            "The files print no claim: those examined are what such data are used for.",
            "One pick a pair, one order: the judge's noise cannot be told from its errors.",
        ),
    )


STUDY = Study(
    name="arena_pairs",
    title="Arena pairs: whose win rate",
    source="pairs published by Chen Lab under MIT, 2025",
    layout="JSON files of id, model_a, model_b, human_winner, judge_pick",
    examine=examine,
)
