"""Public sets of pairs judged in both orders: LLMBar and position bias."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.coefficients import ranked
from judgestats.arrays import Ints, Objects
from judgestats.errors import InputError
from judgestats.results.numbers import apa_p
from judgestats.stats.agreement.position import (
    first_position_preference,
    position_and_noise,
    swap_consistency,
)
from judgestats.stats.agreement.raw_agreement import mean_share, percent_agreement
from judgestats.stats.comparison.rank_correlation import spearman_correlation
from judgestats.stats.inference.multiplicity import p_adjust
from judgestats.stats.inference.result import Estimate, Estimates, TestResult
from judgestats.studies import claims
from judgestats.studies.claims import (
    Claim,
    bounded,
    format_percent,
    hundredths,
    levels_of,
    listed,
    shifted,
)

_COLUMNS = ("set", "item", "label", "llm", "strategy", "winner_orig", "winner_swap")
_GPT4, _PLAIN, _SWAP = "GPT-4", "Vanilla", "Swap"
_SIDE_BY_SIDE = "mean of the four sets' accuracies, over both orders; numbers side by side"
_SAME_PAIRS = "difference of accuracies on the same pairs, both orders averaged, paired by pair"
Verdicts = Mapping[tuple[str, str], Any]
"""A judge and its prompt to the adversarial pairs, by set and item."""


def read_verdicts(folder: Path, _: claims.Options) -> Verdicts:
    """LLMBar's adversarial pairs: verdicts in both orders, and the share of correct ones.

    Raises
    ------
    InputError
        If there is no table of verdicts, or it is damaged.
    """
    frame = claims.table_of(claims.file_of(folder, "verdicts.csv", study="LLMBar"), _COLUMNS)
    frame = frame[frame["set"].str.startswith("LLMBar/")].reset_index(drop=True)
    if frame.empty or not frame["label"].isin(["1", "2"]).all():
        raise InputError("replicate: verdicts.csv: no set LLMBar/... with labels 1 and 2.")
    if frame.duplicated(["set", "item", "llm", "strategy"]).any():
        raise InputError("replicate: verdicts.csv: a pair occurs twice under one judge and prompt.")
    one, two, gold = (
        frame[c].map({"1": "a", "2": "b"}) for c in ("winner_orig", "winner_swap", "label")
    )
    frame["one"], frame["two"] = (o.astype(object).where(o.notna(), None) for o in (one, two))
    frame["right"] = (one.eq(gold).astype(float) + two.eq(gold)) / 2
    frame["same"] = (one.notna() & one.eq(two)).astype(float)
    hard = frame[frame["set"].str.startswith("LLMBar/Adversarial/")].set_index(["set", "item"])
    grouped = hard.groupby(["llm", "strategy"], sort=False)
    return {(str(llm), str(strategy)): own for (llm, strategy), own in grouped}


def _plain(verdicts: Verdicts) -> dict[str, Any]:
    """The pairs of the judges under the plain prompt."""
    return {llm: own for (llm, strategy), own in verdicts.items() if strategy == _PLAIN}


def _printed(own: Any) -> str:
    """Accuracy as the study averages: over sets, each the same weight."""
    return format_percent(float(own["right"].groupby(level="set").mean().mean()))


def _right(own: Any, llm: str, strategy: str = _PLAIN) -> Estimate:
    return mean_share(own["right"], name="accuracy", label=f"Accuracy, {llm}, {strategy}")


def _consistency(own: Any) -> Estimate:
    """Swap consistency; an unparsed verdict agrees with none."""
    return swap_consistency(own["one"].to_list(), own["two"].to_list())


def _prompt(better: str, *than: str, rises: bool) -> claims.Evaluator:
    """One prompt of GPT-4 against others, on the same adversarial pairs."""

    def evaluate(verdicts: Verdicts, _: claims.Options) -> claims.Finding | str:
        own = {s: verdicts[_GPT4, s] for s in (better, *than) if (_GPT4, s) in verdicts}
        if len(own) <= len(than):
            return f"{_GPT4} lacks one of the prompts"
        columns = {s: of["right"] for s, of in own.items()}
        shift = claims.paired_shift(columns, reference=better)
        clear = [r.p_adjusted < 0.05 and (r.estimate < 0) == rises for r in shift.rows]
        return claims.Finding(
            reproduced=listed(own, _printed, ", "),
            verdict=claims.joint_verdict(clear),
            because=f"Against {better}: {listed(levels_of(shift), shifted)} "
            f"({len(pd.DataFrame(columns).dropna())} pairs).",
            results=claims.then("Accuracy", {s: _right(of, _GPT4, s) for s, of in own.items()})
            + claims.now(f"Accuracy of {_GPT4} by prompt", shift, primary=True),
        )

    return evaluate


def _chance(verdicts: Verdicts, _: claims.Options) -> claims.Finding | str:
    plain = _plain(verdicts)
    if not plain:
        return f"no verdicts under {_PLAIN}"
    accuracies = {j: _right(own, j) for j, own in plain.items()}
    below = [j for j, e in accuracies.items() if claims.low_high(e)[1] < 0.5]
    above = [j for j, e in accuracies.items() if claims.low_high(e)[0] > 0.5]
    return claims.Finding(
        reproduced=listed(plain, _printed, ", "),
        verdict="stands" if len(below) > 1 else "stands in part" if below else "does not stand",
        because=f"Significantly below .5: {', '.join(below) or 'none'}. Significantly above: "
        f"{', '.join(above) or 'none'}. Accuracies: {listed(accuracies, hundredths)}.",
        results=claims.now("Accuracy on adversarial pairs", accuracies, primary=True),
    )


def _consistent(verdicts: Verdicts, _: claims.Options) -> claims.Finding | str:
    """Whether a judge that is consistent after a swap is accurate."""
    plain = _plain(verdicts)
    if len(plain) < 3:
        return f"fewer than three judges under {_PLAIN}"
    agree = {j: _consistency(own) for j, own in plain.items()}
    right = {j: float(own["right"].mean()) for j, own in plain.items()}
    wrong = {
        j: format_percent(float((own["same"].eq(1) & own["right"].eq(0)).mean()))
        for j, own in plain.items()
    }
    inaccurate = [j for j in plain if right[j] < 0.5] or [*plain][:1]
    bad = max(inaccurate, key=lambda j: agree[j].estimate)
    return claims.Finding(
        reproduced=listed(agree, hundredths, ", "),
        verdict="does not stand" if right[bad] < 0.5 < agree[bad].estimate else "stands in part",
        because=f"{bad} gives the same verdict in both orders in {hundredths(agree[bad])} of the "
        f"adversarial pairs. Its accuracy is {format_percent(right[bad])}, and it is wrong in both "
        f"orders in {wrong[bad]}. Consistency is not accuracy. Wrong in both orders: "
        f"{listed(wrong, between=', ')}.",
        results=claims.then("Swap consistency", agree),
    )


def _swapped(verdicts: Verdicts, _: claims.Options) -> claims.Finding | str:
    """Gain of a prompt that judges both orders."""
    both = {s: verdicts[_GPT4, s] for s in (_PLAIN, _SWAP) if (_GPT4, s) in verdicts}
    if len(both) < 2:
        return f"{_GPT4} lacks {_PLAIN} or {_SWAP}"
    same, right = (
        claims.paired_shift({s: of[column] for s, of in both.items()})
        for column in ("same", "right")
    )
    rises = same.rows[0].p_value < 0.05 and same.rows[0].estimate > 0
    shares = {s: format_percent(of["same"].mean()) for s, of in both.items()}
    return claims.Finding(
        reproduced=f"{listed(shares, between=', ')} over all pairs",
        verdict="stands" if rises else "open",
        because=f"Consistency: {shifted(same.rows[0])}. Accuracy: {shifted(right.rows[0])}. A "
        "prompt that judges both orders is more consistent, but not more accurate.",
        results=claims.now(
            f"Same verdict in both orders, {_GPT4}", same, "consistency", primary=True
        )
        + claims.now(f"Accuracy, {_GPT4}", right, "accuracy"),
    )


LLMBAR = claims.Study(
    name="llmbar",
    title="LLMBar: consistency and accuracy",
    source="arXiv 2310.07641; github.com/princeton-nlp/LLMBar",
    layout="`verdicts.csv.gz`: set, item, label, llm, strategy, winner_orig, winner_swap",
    heading="LLMBar: judges of instruction following (arXiv 2310.07641), re-examined",
    question="Which judges and prompts are accurate on adversarial pairs, and does consistency "
    "identify them?",
    read=read_verdicts,
    claims=(
        Claim("chance", "On adversarial pairs many judges do worse than chance.",
            published="ChatGPT and LLaMA-2 below 50%, Falcon near it", test_then=_SIDE_BY_SIDE,
            test_now="accuracy over pairs with its interval, against .5, plain prompt (Vanilla)",
            evaluate=_chance),
        Claim("best", "Rules, self-made metrics and a reference answer improve GPT-4.",
            published="82.8% on adversarial sets, about 10 points above the plainest prompt",
            test_then=_SIDE_BY_SIDE, test_now=f"{_SAME_PAIRS}, Holm",
            evaluate=_prompt("Metrics_Reference", "Vanilla_NoRules", _PLAIN, rises=True)),
        Claim("cot", "Chain of thought does not help; it hurts GPT-4.",
            published="76.6 against 80.8% on adversarial sets", test_then=_SIDE_BY_SIDE,
            test_now=f"{_SAME_PAIRS}, Holm",
            evaluate=_prompt("CoT", _PLAIN, rises=False)),
        Claim("swap", "Judging both orders within the prompt (Swap) raises consistency.",
            published="GPT-4, agreement per set: 93.3 to 97.0, 94.6 to 95.7, 93.6 to 97.9, 82.6 to "
                "93.5%", test_then="shares side by side",
            test_now="difference on the same pairs, of consistency and of accuracy",
            evaluate=_swapped),
        Claim("consistent",
            "Consistency after a swap identifies a good judge (a common reading, not the study's).",
            published="agreement after the swap next to every accuracy",
            test_then="share of pairs with the same verdict in both orders",
            test_now="the same, with exact intervals, next to accuracy, plain prompt (Vanilla)",
            evaluate=_consistent),
    ),
    conditions=lambda verdicts, _: pd.DataFrame(
        {"condition": j, "judge": j, "n_items": len(own)}
        | claims.interval_cells("accuracy", _right(own, j))
        | claims.interval_cells("swap_consistency", _consistency(own))
        for j, own in _plain(verdicts).items()
    ),
    drawing=ranked(
        "accuracy",
        "swap_consistency",
        caption="Accuracy on adversarial pairs and consistency between the two orders, under the "
        "plain prompt.",
    ),
    data_source="the study's verdicts on its 419 pairs",
    limitations=lambda _: (
        "Each order was judged once, so position and repeat noise cannot be separated.",
        "An unparsed verdict counts as wrong, as in the study.",
    ),
    margins={"accuracy": 0.03},
)  # fmt: skip

_VERDICTS = ("bench", "judge", "rep", "cmp_index", "ans")
_STABLE = 0.85
"""The study's threshold of stability."""
_PREFERRED = {"A": ("b", "a"), "B": ("a", "b"), "C": ("tie", "tie"), "": (None, None)}
"""What a verdict prefers where the answers are swapped, and where they are not."""
_WON = {"a": 1.0, "b": 0.0, "tie": 0.5}


@dataclass(frozen=True, kw_only=True)
class Positions:
    """A judge on a benchmark: answer preferred in each order, pairs x repetitions.

    Attributes
    ----------
    judge, bench : str
    both : sequence of ndarray
        By order.
    pairs : sequence of (question, answer, answer)
    options : Options
    """

    judge: str
    bench: str
    both: Sequence[Objects]
    pairs: Sequence[tuple[str, str, str]]
    options: claims.Options

    @property
    def name(self) -> str:
        """Judge and benchmark."""
        return f"{self.judge}, {self.bench}"

    @cached_property
    def question(self) -> Ints:
        """The question of each pair."""
        return pd.factorize(pd.Series([pair[0] for pair in self.pairs]))[0]

    @cached_property
    def stable(self) -> Mapping[str, Estimate]:
        """Agreement of repetitions, by order."""
        return {
            order: percent_agreement(table, cluster=self.question)
            for order, table in zip(("one", "other"), self.both, strict=True)
        }

    @property
    def least_stable(self) -> float:
        """Agreement of repetitions in the order in which they agree less."""
        return min(e.estimate for e in self.stable.values())

    @cached_property
    def consistent(self) -> Estimate:
        """Swap consistency."""
        return swap_consistency(*self.both, cluster=self.question)

    @cached_property
    def split(self) -> Estimates:
        """Disagreement after a swap, in its parts."""
        draws, seed = self.options.n_resamples, self.options.seed
        return position_and_noise(
            *self.both, cluster=self.question, n_permutations=draws, seed=seed
        )

    @cached_property
    def lean(self) -> TestResult:
        """Preference of the first position."""
        return first_position_preference(*self.both, cluster=self.question)

    @property
    def effect(self) -> Estimate:
        """Position effect."""
        return self.split["position_effect"]

    @property
    def p(self) -> float:
        """The p-value of no position effect."""
        return float("nan") if self.effect.null is None else self.effect.null.p_value


def read_positions(folder: Path, options: claims.Options) -> list[Positions]:
    """The judges and benchmarks of a folder.

    Raises
    ------
    InputError
        If there is no table of verdicts, or it is damaged.
    """
    path = claims.file_of(folder, "repetition_verdicts.csv", study="the position bias judgments")
    frame = claims.table_of(path, _VERDICTS)
    strange = sorted(set(frame["ans"]) - set(_PREFERRED))
    if strange:
        raise InputError(f"replicate: {path.name}: {strange[0]!r} is none of A, B, C and empty.")
    shown = [tuple(text.split(";")) for text in frame["cmp_index"]]
    if any(len(parts) != 3 for parts in shown):
        raise InputError(f"replicate: {path.name}: cmp_index must be question;answer;answer.")
    straight = [one <= two for _, one, two in shown]
    preferred = [_PREFERRED[a][s] for a, s in zip(frame["ans"], straight, strict=True)]
    pairs_shown = [(question, *sorted(answers)) for question, *answers in shown]
    frame = frame.assign(
        pair=pd.Series(pairs_shown, dtype=object),
        straight=straight,
        preferred=pd.Series(preferred, dtype=object),
    )
    cells = []
    for (bench, judge), own in frame.groupby(["bench", "judge"], sort=True):
        orders = [
            own[own["straight"] == s].pivot(index="pair", columns="rep", values="preferred")
            for s in (True, False)
        ]
        pairs = sorted(set(orders[0].index) & set(orders[1].index))
        both = [o.loc[pairs].to_numpy(dtype=object) for o in orders]
        cells.append(
            Positions(judge=str(judge), bench=str(bench), both=both, pairs=pairs, options=options)
        )
    return cells


def _stable(cells: Sequence[Positions], _: claims.Options) -> claims.Finding:
    low = [c for c in cells if c.least_stable < _STABLE]
    worst = min(cells, key=lambda c: c.least_stable)
    found = {f"{c.name}.{order}": e for c in cells for order, e in c.stable.items()}
    values = [e.estimate for e in found.values()]
    return claims.Finding(
        reproduced=f"{bounded(min(values))} to {bounded(max(values))}",
        verdict="stands" if not low else "stands in part",
        because=f"In {len(cells) - len(low)} of {len(cells)} cells two repeats agree in at "
        f"least {bounded(_STABLE, digits=2)} of the pairs in both orders. The lowest agreement is "
        f"{bounded(worst.least_stable)} ({worst.name}). Agreement after the swap alone would count "
        "this repeat noise as bias.",
        results=claims.now("Agreement of two repeats", found),
    )


def _position(cells: Sequence[Positions], _: claims.Options) -> claims.Finding:
    shown = sum(p < 0.05 for p in p_adjust([c.p for c in cells], method="holm"))
    most, least = (of(cells, key=lambda c: c.effect.estimate) for of in (max, min))
    consistent = [c.consistent.estimate for c in cells]
    above, below = (c.effect.apa().split(" = ", 1)[-1] for c in (most, least))
    return claims.Finding(
        reproduced=f"position consistency {bounded(min(consistent))} to {bounded(max(consistent))}",
        verdict="stands" if shown == len(cells) else "stands in part",
        because=f"The position effect is significant in {shown} of {len(cells)} cells (Holm). "
        f"The effect is largest for {most.name} ({above}) and smallest for {least.name} ({below}, "
        f"{apa_p(least.p)}).",
        results=claims.now("Position effect", {c.name: c.effect for c in cells}, primary=True),
    )


def _inflated(cells: Sequence[Positions], _: claims.Options) -> claims.Finding:
    """Share of the disagreement after a swap that is repeat noise."""
    noise = {c.name: c.split["repetition_noise"] for c in cells}
    shares = [
        noise[c.name].estimate / order
        for c in cells
        if (order := c.split["order_disagreement"].estimate) > 0
    ]
    half = sum(s > 0.5 for s in shares)
    least, median, most = (100 * float(of(shares)) for of in (min, np.median, max))
    return claims.Finding(
        verdict="does not stand" if half else "stands in part",
        because=f"Repeats without a swap also show {least:.0f} to {most:.0f}% of the disagreement "
        f"between orders (median {median:.0f}%). In {half} of {len(shares)} cells it is "
        "more than half.",
        results=claims.now("Repeat noise", noise),
    )


def _lean(cells: Sequence[Positions], _: claims.Options) -> claims.Finding:
    """Preferred positions, and the position effect of GPT-4 models and others."""
    adjusted = p_adjust([c.lean.p_value for c in cells], method="holm")
    sides = {
        c.name: float(c.lean.effects[1].estimate)
        for c, p in zip(cells, adjusted, strict=True)
        if p < 0.05
    }
    late = sum(s < 0.5 for s in sides.values())
    four, rest = (
        [c.effect.estimate for c in cells if c.judge.startswith("gpt-4") == of]
        for of in (True, False)
    )
    families = ""
    if four and rest:
        families = (
            f" The position effect averages {bounded(float(np.mean(four)))} for GPT-4 models and "
            f"{bounded(float(np.mean(rest)))} for the others."
        )
    return claims.Finding(
        verdict="stands" if 0 < late < len(sides) else "stands in part" if sides else "open",
        because=f"A preference is significant in {len(sides)} of {len(cells)} cells, in {late} for "
        "the second position. Shares of the first position: "
        f"{listed(sides, partial(bounded, digits=2), ', ')}.{families}",
        results=claims.now("Preferred position", {c.name: c.lean for c in cells}),
    )


def _gap(cells: Sequence[Positions], _: claims.Options) -> claims.Finding:
    """Correlation of the gap of win rates with the share of verdicts that follow the order."""
    wins: dict[tuple[str, str], list[float]] = defaultdict(list)
    follow: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for c in cells:
        for (_question, a, b), *orders in zip(c.pairs, *c.both, strict=True):
            one, two = ([v for v in verdicts if v in _WON] for verdicts in orders)
            if not one and not two:
                continue
            won = float(np.mean([_WON[v] for v in (*one, *two)]))
            wins[c.bench, a].append(won)
            wins[c.bench, b].append(1 - won)
            if one and two:
                follow[c.bench, a, b].append(float(np.mean([x != y for x in one for y in two])))
    rate = {k: float(np.mean(v)) for k, v in wins.items()}
    gaps = [abs(rate[bench, a] - rate[bench, b]) for bench, a, b in follow]
    test = spearman_correlation(gaps, [float(np.mean(v)) for v in follow.values()])
    return claims.Finding(
        verdict="stands" if test.p_value < 0.05 and test.effects[0].estimate < 0 else "open",
        because=f"{test.apa()} over {len(gaps)} pairs of answerers and benchmarks. As in the "
        "study, the gap comes from the same verdicts, so it depends on consistency.",
        results=claims.then("Gap and share that follows the order", test),
    )


POSITION_BIAS = claims.Study(
    name="position_bias",
    title="Position bias and repeat noise",
    source="arXiv 2406.07791; github.com/Slimshilin/Position-Bias-Analyzer",
    layout="`repetition_verdicts.csv.gz`: bench, judge, rep, cmp_index, task, ans",
    heading="Position bias of nine judges (arXiv 2406.07791), re-examined",
    question="How large is the position effect of two answers beyond repeat noise?",
    read=read_positions,
    claims=(
        Claim("stable", "Judges are consistent, so position bias is not due to random variation.",
            published=f"repetition stability above {bounded(_STABLE, digits=2)} for capable judges",
            test_then="share of repeats that agree with the most frequent verdict",
            test_now="agreement of two repeats in the same order, over questions",
            evaluate=_stable),
        Claim("position", "Every judge has position bias.",
            published="position consistency well below repetition stability; no test",
            test_then="share of pairs with the same winner after the swap",
            test_now="position effect (order minus repeat disagreement), permutation within pairs, "
                "Holm over cells", evaluate=_position),
        Claim("inflated", "1 minus position consistency measures position bias.",
            published="position consistency is the measure of bias",
            test_then="share of pairs whose winner changes with the order",
            test_now="share of that disagreement that repeats in the same order also have",
            evaluate=_inflated),
        Claim("lean", "Judges differ in the position that they prefer.",
            published="preference fairness by judge: primacy for some, recency for others",
            test_then="preference fairness score, no test",
            test_now="share of decided verdicts for the first position, exact over questions, Holm "
                "over cells", evaluate=_lean),
        Claim("gap", "Position bias is strong where the two answers are about equally good.",
            published="position consistency falls as the quality gap closes",
            test_then="regression on the gap between answerers' overall win rates",
            test_now="rank correlation, over pairs of answerers, of the gap between overall win "
                "rates with the share of verdicts that follow the order", evaluate=_gap),
    ),
    conditions=lambda cells, _: pd.DataFrame(
        {"condition": c.name, "judge": c.judge, "factor_bench": c.bench, "n_items": len(c.pairs)}
        | claims.interval_cells("position_effect", c.effect)
        | claims.interval_cells("repetition_noise", c.split["repetition_noise"])
        | claims.interval_cells("swap_consistency", c.consistent)
        for c in cells
    ),
    drawing=ranked(
        "position_effect",
        "repetition_noise",
        caption="Position effect, and disagreement of repeats in the same order, "
        "by judge and benchmark.",
    ),
    data_source="the study's verdicts: both orders, three repeats",
    limitations=lambda _: (
        "Intervals are over 24 and 18 questions. The study's sets are larger.",
    ),
)  # fmt: skip
