"""LLMBar (arXiv 2310.07641): judges of instruction following, by prompt, in both orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.analysis.summary_rows import ranked
from judgestats.errors import InputError
from judgestats.stats.agreement.position import swap_consistency
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.dispersion.condition_summary import mean_shift
from judgestats.stats.inference.estimate import Estimate
from judgestats.studies.claims import (
    Claim,
    Options,
    Replication,
    Study,
    file_of,
    format_percent,
    hundredths,
    now,
    shifted,
    table_of,
    then,
)

_COLUMNS = ("set", "item", "label", "llm", "strategy", "winner_orig", "winner_swap")
_ADVERSARIAL = "LLMBar/Adversarial/"
GPT4 = "GPT-4"
_BEST, _PLAIN, _BARE, _COT, _SWAP = (
    "Metrics_Reference", "Vanilla", "Vanilla_NoRules", "CoT", "Swap",
)  # fmt: skip
_MARGIN = 0.03
"""Declared margin: three points of accuracy matter little."""
_THEN = "mean of the four sets' accuracies, over both orders; numbers side by side"
_NOW = "difference of accuracies on the same pairs, both orders averaged, paired by pair"


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """One row a pair, judge and prompt: which set, and whether each order's verdict is right."""

    frame: pd.DataFrame

    def select_rows(self, llm: str, strategy: str, *, adversarial: bool = True) -> pd.DataFrame:
        """The rows of a judge and prompt, by set and pair."""
        f = self.frame
        own = f[(f["llm"] == llm) & (f["strategy"] == strategy)]
        hard = own["set"].str.startswith(_ADVERSARIAL)
        return own[hard if adversarial else ~hard].set_index(["set", "item"])

    def right(self, llm: str, strategy: str) -> pd.Series:
        """Share of the two orders that are right, an adversarial pair."""
        return self.select_rows(llm, strategy)["right"]

    def printed(self, llm: str, strategy: str) -> float:
        """As the study averages: over sets, each the same weight."""
        return float(self.right(llm, strategy).groupby(level="set").mean().mean())

    def consistency(self, llm: str, strategy: str, options: Options) -> Estimate:
        """Swap consistency; a verdict that was not read agrees with none."""
        own = self.select_rows(llm, strategy)
        return swap_consistency(own["one"].to_list(), own["two"].to_list(), level=options.level)


def read_verdicts(folder: Path) -> Verdicts:
    """The verdicts of a folder, of the sets that are LLMBar's own.

    Raises
    ------
    InputError
        If there is no table of verdicts, or it is damaged.
    """
    frame = table_of(file_of(folder, "verdicts.csv", study="LLMBar"), _COLUMNS)
    frame = frame[frame["set"].str.startswith("LLMBar/")].reset_index(drop=True)
    if frame.empty or not frame["label"].isin(["1", "2"]).all():
        raise InputError("replicate: verdicts.csv: no set LLMBar/... with labels 1 and 2.")
    if frame.duplicated(["set", "item", "llm", "strategy"]).any():
        raise InputError("replicate: verdicts.csv: a pair occurs twice under one judge and prompt.")
    orders = [frame[c].map({"1": "a", "2": "b"}) for c in ("winner_orig", "winner_swap")]
    gold = frame["label"].map({"1": "a", "2": "b"})
    frame["one"], frame["two"] = (o.astype(object).where(o.notna(), None) for o in orders)
    frame["right"] = sum((o == gold).astype(float) for o in orders) / 2
    return Verdicts(frame=frame)


def _accuracy(v: Verdicts, llm: str, strategy: str, options: Options) -> Estimate:
    return mean_share(
        v.right(llm, strategy).to_numpy(),
        level=options.level,
        name="accuracy",
        label=f"Accuracy, {llm}, {strategy}",
    )


def _prompt_claim(
    v: Verdicts, options: Options, *, identity: str, claim: str, published: str, better: str,
    than: Sequence[str], rises: bool,
) -> Claim:  # fmt: skip
    """One prompt of GPT-4 against others, on the same adversarial pairs."""
    about = Claim(
        id=identity,
        claim=claim,
        published=published,
        test_then=_THEN,
        test_now=f"{_NOW}, Holm",
    )
    there = set(v.frame.loc[v.frame["llm"] == GPT4, "strategy"])
    if not {better, *than} <= there:
        return about.not_examined(f"{GPT4} lacks one of the prompts")
    names = [better, *than]
    wide = pd.concat([v.right(GPT4, s) for s in names], axis=1, join="inner").dropna()
    shift = mean_shift(wide.to_numpy(), conditions=names, reference=better, level=options.level)
    signed = [(-row.estimate, row) for row in shift.rows]
    clear = [row.p_adjusted < 1 - options.level and (d > 0) == rises for d, row in signed]
    verdict = "stands" if all(clear) else "stands in part" if any(clear) else "open"
    return about.examined(
reproduced=", ".join(f"{s} {format_percent(v.printed(GPT4, s))}" for s in names),
verdict=verdict,
because=f"Beside {better}: "
        + "; ".join(f"{row.a} {shifted(row)}" for row in shift.rows)
        + f" ({len(wide)} pairs).",
results=(
            *(then(f"{identity}.then.{s}", s, _accuracy(v, GPT4, s, options)) for s in names),
            now(f"{identity}.now", f"Accuracy of {GPT4} by prompt", shift, primary=True),
        ),
)  # fmt: skip


def _chance(v: Verdicts, options: Options) -> Claim:
    """Which judges are worse than a coin on adversarial pairs, under the study's plain prompt."""
    about = Claim(
        id="chance",
        claim="On adversarial pairs many judges do worse than chance.",
        published="ChatGPT and LLaMA-2 below 50 %, Falcon near it",
        test_then=_THEN,
        test_now="accuracy over pairs with its interval, against .5, plain prompt (Vanilla)",
    )
    llms = [j for j in dict.fromkeys(v.frame["llm"]) if len(v.select_rows(j, _PLAIN))]
    if not llms:
        return about.not_examined("no verdicts under Vanilla")
    accuracies = {j: _accuracy(v, j, _PLAIN, options) for j in llms}
    below = [j for j, e in accuracies.items() if e.interval and e.interval.high < 0.5]
    above = [j for j, e in accuracies.items() if e.interval and e.interval.low > 0.5]
    return about.examined(
        reproduced=", ".join(f"{j} {format_percent(v.printed(j, _PLAIN))}" for j in llms),
        verdict="stands" if len(below) > 1 else "stands in part" if below else "does not stand",
        because=f"Shown below .5: {', '.join(below) or 'none'}; shown above: "
        f"{', '.join(above) or 'none'}. "
        + "; ".join(f"{j} {hundredths(e)}" for j, e in accuracies.items())
        + ".",
        results=tuple(
            now(f"chance.now.{j}", f"Accuracy, {j}, adversarial pairs", e, primary=True)
            for j, e in accuracies.items()
        ),
    )


def _consistent(v: Verdicts, options: Options) -> Claim:
    """Whether a judge that agrees with itself after a swap is right."""
    about = Claim(
        id="consistent",
        claim="Agreement after a swap tells a good judge (a common reading, not the study's).",
        published="agreement after the swap beside every accuracy",
        test_then="share of pairs with the same verdict in both orders",
        test_now="the same, with exact intervals, beside accuracy, plain prompt (Vanilla)",
    )
    llms = [j for j in dict.fromkeys(v.frame["llm"]) if len(v.select_rows(j, _PLAIN))]
    if len(llms) < 3:
        return about.not_examined("fewer than three judges under Vanilla")
    agree = {j: v.consistency(j, _PLAIN, options) for j in llms}
    right = {j: float(v.right(j, _PLAIN).mean()) for j in llms}
    wrong = {j: _same_and_wrong(v, j) for j in llms}
    bad = max((j for j in llms if right[j] < 0.5), key=lambda j: agree[j].estimate, default=llms[0])
    return about.examined(
        reproduced=", ".join(f"{j} {hundredths(e)}" for j, e in agree.items()),
        verdict="does not stand" if right[bad] < 0.5 < agree[bad].estimate else "stands in part",
        because=f"{bad} gives the same verdict in both orders in {hundredths(agree[bad])} of the "
        f"adversarial pairs and is right in {format_percent(right[bad])}: in "
        f"{format_percent(wrong[bad])} it is wrong both times. Consistency is not correctness: "
        "wrong "
        "both times are " + ", ".join(f"{j} {format_percent(w)}" for j, w in wrong.items()) + ".",
        results=tuple(
            then(f"consistent.then.{j}", f"Swap consistency, {j}", e) for j, e in agree.items()
        ),
    )


def _same_and_wrong(v: Verdicts, llm: str) -> float:
    own = v.select_rows(llm, _PLAIN)
    both = own["one"].notna() & (own["one"] == own["two"])
    return float((both & (own["right"] == 0)).mean())


def _swapped(v: Verdicts, options: Options) -> Claim:
    """What a prompt that judges both orders buys."""
    about = Claim(
        id="swap",
        claim="Judging both orders within the prompt (Swap) raises agreement with oneself.",
        published="GPT-4, agreement per set: 93.3 to 97.0, 94.6 to 95.7, 93.6 to 97.9, 82.6 to "
        "93.5 %",
        test_then="shares side by side",
        test_now="difference on the same pairs, of consistency and of accuracy",
    )
    there = set(v.frame.loc[v.frame["llm"] == GPT4, "strategy"])
    if not {_PLAIN, _SWAP} <= there:
        return about.not_examined(f"{GPT4} lacks Vanilla or Swap")
    both = [v.select_rows(GPT4, s) for s in (_PLAIN, _SWAP)]
    same = [(b["one"].notna() & (b["one"] == b["two"])).astype(float) for b in both]
    tables = [pd.concat(same, axis=1, join="inner")]
    tables.append(pd.concat([b["right"] for b in both], axis=1, join="inner"))
    shift = [
        mean_shift(t.to_numpy(), conditions=[_PLAIN, _SWAP], level=options.level) for t in tables
    ]
    (agree,), (right,) = (f.rows for f in shift)
    rises = agree.p_value < 1 - options.level and agree.estimate > 0
    return about.examined(
reproduced=", ".join(
            f"{s} {format_percent(float(x.mean()))}"
            for s, x in zip((_PLAIN, _SWAP), same, strict=True)
        )
        + " over all pairs",
verdict="stands" if rises else "open",
because=f"Consistency {shifted(agree)}; accuracy {shifted(right)}: a prompt that judges "
        "both orders is steadier, and no more often right.",
results=(
            now("swap.now.consistency", f"Same verdict in both orders, {GPT4}", shift[0],
                primary=True),
            now("swap.now.accuracy", f"Accuracy, {GPT4}", shift[1]),
        ),
)  # fmt: skip


def examine(folder: Path, options: Options) -> Replication:
    """Every claim of the study, on the verdicts of a folder.

    Parameters
    ----------
    folder : Path
        With ``verdicts.csv`` (``.gz``): set, item, label, llm, strategy, and the winner in both
        orders by number of output.
    options : Options

    Returns
    -------
    Replication
    """
    v = read_verdicts(folder)
    claims = (
        _chance(v, options),
        _prompt_claim(
            v, options, identity="best", better=_BEST, than=(_BARE, _PLAIN), rises=True,
            claim="Rules, self-made metrics and a reference answer improve GPT-4.",
            published="82.8 % on adversarial sets, about 10 points above the plainest prompt",
        ),
        _prompt_claim(
            v, options, identity="cot", better=_COT, than=(_PLAIN,), rises=False,
            claim="Chain of thought does not help; it hurts GPT-4.",
            published="76.6 against 80.8 % on adversarial sets",
        ),
        _swapped(v, options),
        _consistent(v, options),
    )  # fmt: skip
    return Replication(
        study="llmbar",
        title="LLMBar: judges of instruction following (arXiv 2310.07641), re-examined",
        question="Which judges and prompts are right on pairs made to mislead, and does agreement "
        "with oneself tell them?",
        claims=claims,
        conditions=_conditions(v, options),
        drawing=ranked(
            "accuracy",
            "swap_consistency",
            caption="Accuracy on adversarial pairs and agreement between the two orders, under the "
            "plain prompt.",
        ),
        data_source="the study's verdicts on its 419 pairs",
        limitations=(
            "Each order was judged once: position cannot be told from repetition noise.",
            "A verdict that was not read counts as wrong, as in the study.",
        ),
        margins={"accuracy": _MARGIN},
    )


def _conditions(v: Verdicts, options: Options) -> pd.DataFrame:
    rows: list[Mapping[str, object]] = []
    for llm in dict.fromkeys(v.frame["llm"]):
        if not len(v.select_rows(llm, _PLAIN)):
            continue
        right, same = _accuracy(v, llm, _PLAIN, options), v.consistency(llm, _PLAIN, options)
        rows.append(
            {
                "condition": llm,
                "judge": llm,
                "n_items": len(v.select_rows(llm, _PLAIN)),
                **_cells("accuracy", right),
                **_cells("swap_consistency", same),
            }
        )
    return pd.DataFrame(rows)


def _cells(name: str, e: Estimate) -> Mapping[str, float]:
    at = e.interval
    return {
        name: e.estimate,
        f"{name}_low": at.low if at else np.nan,
        f"{name}_high": at.high if at else np.nan,
    }


STUDY = Study(
    name="llmbar",
    title="LLMBar: right, or only consistent",
    source="arXiv 2310.07641; github.com/princeton-nlp/LLMBar",
    layout="`verdicts.csv.gz`: set, item, label, llm, strategy, winner_orig, winner_swap",
    examine=examine,
)
