"""Worked examples on public judgments: reliability of verdicts, order, agreement with humans.

Run ``python docs/examples/verdicts.py --data ../shared/data``: it writes verdicts.md next to itself
(about a minute on one core). Every figure there is computed by this script.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from judgestats.results.numbers import format_p
from judgestats.stats.agreement.human import accuracy, alignment_score, human_ceiling
from judgestats.stats.agreement.kappa import cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha
from judgestats.stats.agreement.position import (
    agreement_across_judges,
    first_position_preference,
    position_and_noise,
    swap_consistency,
)
from judgestats.stats.agreement.raw_agreement import (
    flip_rate,
    percent_agreement,
    vote_share_reliability,
)
from judgestats.stats.inference.result import Estimate

HERE = Path(__file__).resolve().parent
LETTERS = ["A", "B", "C", "D", "E"]
UNREAD = ["no_answer", "multiple"]


def cell(estimate: Estimate) -> str:
    """``.81 [.75, .86]``, or why there is not a number."""
    if np.isnan(estimate.estimate):
        return f"undefined: {estimate.reason.split('(')[0].split(':')[0].strip()}"
    text = f"{estimate.estimate:.3f}"
    if estimate.interval:
        text += f" [{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"
    return text


def markdown(rows: list[dict[str, object]]) -> str:
    """Rows as a pipe table."""
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(row[h]) for h in head) + " |" for row in rows]
    return "\n".join(lines)


# --- reliability of letters --------------------------------------------------------------------


def schroeder_table(data: Path, judge: str, temperature: float, benchmark: str) -> np.ndarray:
    """Letters of one cell, items x replications."""
    frame = pd.read_csv(data / "schroeder2024" / "verdicts.csv.gz")
    part = frame[
        (frame.judge == judge) & (frame.temperature == temperature) & (frame.benchmark == benchmark)
    ]
    wide = part.pivot_table(index="item", columns="replicate", values="verdict", aggfunc="first")
    return wide.to_numpy(dtype=object)


def schroeder(data: Path) -> str:
    """Label-free reliability next to the published omega."""
    frame = pd.read_csv(data / "schroeder2024" / "verdicts.csv.gz")
    published = pd.read_csv(data / "schroeder2024" / "published_omega.csv")
    rows, unread, compared = [], [], []
    for judge in frame.judge.unique():
        name = judge.split("/")[-1]
        for t in sorted(frame.temperature.unique(), reverse=True):
            omega = published[(published.judge == judge) & (published.temperature == t)].iloc[0]
            for benchmark in ("BBH", "SQuAD", "MT-Bench"):
                letters = schroeder_table(data, judge, t, benchmark)
                own = np.where(np.isin(letters, UNREAD), "none", letters)
                read = np.where(np.isin(letters, UNREAD), None, letters)
                one = vote_share_reliability(own, n_permutations=999)
                many = vote_share_reliability(own, k=100, interval="none")
                compared.append((t, omega[benchmark], one.estimate))
                rows.append(
                    {
                        "judge": name,
                        "T": f"{t:g}",
                        "set": benchmark,
                        "published omega": f"{omega[benchmark]:.3f}",
                        "one judgment": cell(one),
                        "null mean, 95th percentile": f"{one.null.mean:.3f}, {one.null.q95:.3f}"
                        if one.null
                        else "",
                        "100 votes": cell(many),
                        "judgments for .80": f"{one.details['k_for_80']:g}",
                        "flip rate": cell(flip_rate(own)),
                    }
                )
                if t in {1.0, 0.25}:
                    unread.append(
                        {
                            "judge": name,
                            "T": f"{t:g}",
                            "set": benchmark,
                            "unparsed": f"{np.mean(np.isin(letters, UNREAD)):.3f}",
                            "unparsed = a category": cell(one),
                            "unparsed = missing": cell(vote_share_reliability(read)),
                            "items with two letters": vote_share_reliability(read).sample.n_items,
                            "AC1 (A-E, missing)": cell(gwet_ac1(read, categories=LETTERS)),
                        }
                    )
    warm = [(o, r) for t, o, r in compared if t > 0 and np.isfinite(r)]
    rank = stats.spearmanr(*zip(*warm, strict=True)).statistic
    judges = [schroeder_table(data, j, 0.25, "BBH") for j in frame.judge.unique()]
    across = agreement_across_judges(np.stack(judges))
    five = " / ".join(f"{v:.3f}" for v in across.details["five_numbers"].values())
    items = " / ".join(f"{v:.3f}" for v in across.details["five_numbers_items"].values())
    return f"""## Letters judged 100 times (arXiv 2412.12509, two of its three judges)

Letters have no order, so the reliability here needs no coding: how much do items differ in the
shares of letters they draw, compared with chance? "One judgment" is the reliability of a single
verdict (ANOVA estimator, 95% interval over items), "100 votes" that of the shares of all 100.
A reply that names no letter is a separate category here, as in the paper. The null permutes each
replication's verdicts over the items: what the same number gives when the item does not matter.
The published omega is a different estimand (questions as indicators, replications as cases): over
the {len(warm)} cells with T > 0 its Spearman correlation with the column "one judgment" is
{rank:.2f}.

{markdown(rows)}

At T = 0 one draw is repeated: reliability near 1 says that sampling was switched off, not that the
judge would agree with itself if asked differently.

Both policies for replies without a letter (a category, or missing):

{markdown(unread)}

Agreement of the two judges per replication (BBH, T = .25; every reply counts, "no answer" too):
{cell(across)} of the pairs.
Five numbers over the 100 replications: {five};
over the 27 items: {items}.
(The paper's .167 / .395 / .433 / .469 / 1 is over three judges; the third is not public.)
"""


# --- order -------------------------------------------------------------------------------------


def llmbar(data: Path) -> pd.DataFrame:
    """The five LLMBar sets, verdicts as responses a (output 1) and b (output 2)."""
    frame = pd.read_csv(data / "llmbar" / "verdicts.csv.gz")
    frame = frame[frame["set"].str.startswith("LLMBar/")].copy()
    for column in ("winner_orig", "winner_swap", "label"):
        frame[column] = frame[column].map({1: "a", 2: "b"}).astype(object)
        frame[column] = frame[column].where(frame[column].notna(), None)
    return frame


def llmbar_section(data: Path) -> str:
    """Swap consistency and preference for a place."""
    frame = llmbar(data)
    rows = []
    for (llm, strategy), part in frame[frame.strategy.isin(["Vanilla", "CoT"])].groupby(
        ["llm", "strategy"]
    ):
        first, second = part.winner_orig.to_numpy(), part.winner_swap.to_numpy()
        swap = swap_consistency(first, second)
        lean = first_position_preference(first, second)
        both = np.concatenate([first, second])
        right = accuracy(both, np.tile(part.label, 2), cluster=np.tile(np.arange(len(part)), 2))
        rows.append(
            {
                "judge": llm,
                "prompt": strategy,
                "items": swap.sample.n_items,
                "same response in both orders": cell(swap),
                "kappa of the orders": f"{swap.details['kappa']:.3f}",
                "prefers first, of those with a preference": cell(lean.effects[0]),
                "p": format_p(lean.p_value).lstrip("= "),
                "share for the first position": cell(lean.effects[1]),
                "accuracy": cell(right),
            }
        )
    return f"""## Order on LLMBar (419 pairs with expert gold, both orders, one judgment each)

Swap consistency has the exact (Clopper-Pearson) interval; the preference for a place is McNemar's
exact test on the pairs whose verdict follows the order. Accuracy is over both orders, clustered by
pair. One judgment in each order cannot separate position from noise: see the next section.

{markdown(rows)}
"""


def position_bias(data: Path, bench: str) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Judge -> verdicts with x first, with y first (pairs x repetitions), and the question."""
    frame = pd.read_csv(data / "position_bias" / "repetition_verdicts.csv.gz")
    frame = frame[frame.bench == bench].copy()
    parts = frame.cmp_index.str.split(";", expand=True)
    frame["question"], one, two = parts[0], parts[1], parts[2]
    straight = one < two
    frame["order"] = np.where(straight, "ab", "ba")
    frame["pair"] = (
        frame.question + ";" + np.where(straight, one, two) + ";" + np.where(straight, two, one)
    )
    frame["place"] = frame.ans.map({"A": "first", "B": "second", "C": "tie"}).astype(object)
    out = {}
    for judge, part in frame.groupby("judge"):
        wide = part.set_index(["pair", "order", "rep"]).place.unstack("rep")
        pairs = sorted(part.pair.unique())
        tables = []
        for order in ("ab", "ba"):
            chosen = {"first": order[0], "second": order[1], "tie": "tie"}
            places = wide.xs(order, level="order").reindex(pairs).to_numpy(dtype=object)
            tables.append(np.vectorize(chosen.get, otypes=[object])(places))
        out[str(judge)] = (tables[0], tables[1], np.array([p.split(";")[0] for p in pairs]))
    return out


def position_section(data: Path) -> str:
    """Position effect and repeat noise."""
    text = []
    for bench in ("MTBench", "DevBench"):
        rows = []
        for judge, (first, second, question) in position_bias(data, bench).items():
            split = position_and_noise(first, second, cluster=question, n_permutations=999)
            noise, between, position, _ = split.terms
            lean = first_position_preference(first, second, cluster=question)
            rows.append(
                {
                    "judge": judge,
                    "swap consistency": cell(swap_consistency(first, second, cluster=question)),
                    "noise: same order differs": cell(noise),
                    "swapped order differs": cell(between),
                    "position effect": cell(position),
                    "p": format_p(position.null.p_value).lstrip("= "),
                    "share for the first position": cell(lean.effects[1]),
                    "p (first = second)": format_p(lean.p_value).lstrip("= "),
                }
            )
        n = split.sample
        text.append(
            f"**{bench}** ({len(question)} pairs in {len(np.unique(question))} questions, "
            f"{n.n_replications} repetitions of both orders, intervals over questions):\n\n"
            + markdown(rows)
        )
    return (
        """## Position effect and repeat noise (both orders, three repeats, nine judges)

"Same order differs" is plain noise: two judgments of the same prompt disagree. "Swapped order
differs" holds noise *and* position; the difference is the position effect. Its p-value exchanges an
item's six verdicts between the orders. A judge can be perfectly repeatable and still follow the
order, and the swap inconsistency of a noisy judge is not all position.

"""
        + "\n\n".join(text)
        + "\n"
    )


# --- people ------------------------------------------------------------------------------------


def pandalm(data: Path) -> pd.DataFrame:
    """Labels as a / b / tie, with the instruction as cluster."""
    labels = pd.read_csv(data / "pandalm" / "labels.csv", dtype=str)
    with gzip.open(data / "pandalm" / "testset-v1.json.gz", "rt", encoding="utf-8") as file:
        items = pd.DataFrame(json.load(file))
    labels["question"] = (items.instruction + "\n" + items.input).to_numpy()
    names = {"0": "tie", "1": "a", "2": "b", "Tie": "tie"}
    for column in ("annotator1", "annotator2", "annotator3", "gpt35", "pandalm7b"):
        mapped = labels[column].map(names).astype(object)
        labels[column] = mapped.where(mapped.notna(), None)
    return labels


def pandalm_section(data: Path) -> str:
    """Human kappas, the ceiling, and two judges below it."""
    frame = pandalm(data)
    question = frame.question.to_numpy()
    people = frame[["annotator1", "annotator2", "annotator3"]].to_numpy()
    among = [
        {"coefficient": e.label, "estimate": cell(e)}
        for e in (
            percent_agreement(people, cluster=question),
            fleiss_kappa(people, cluster=question),
            krippendorff_alpha(people, cluster=question),
            gwet_ac1(people, categories=["a", "b", "tie"], cluster=question),
            human_ceiling(people, cluster=question),
        )
    ]
    pairs = [
        {
            "annotators": f"{i + 1} and {j + 1}",
            "Cohen's kappa": cell(cohen_kappa(people[:, i], people[:, j], cluster=question)),
        }
        for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    rows = []
    for name, column in (("PandaLM-7B", "pandalm7b"), ("GPT-3.5", "gpt35")):
        judge = np.repeat(frame[column].to_numpy(), 3)
        human, where = people.ravel(), np.repeat(question, 3)
        score = alignment_score(judge, human, cluster=where, n_permutations=199)
        rows.append(
            {
                "judge": name,
                "alignment with single annotators": cell(score),
                "always tie": f"{score.details['always_tie']:.3f}",
                "random (3 outcomes)": f"{score.details['random_three']:.3f}",
                "above always tie": cell(score.details["above_always_tie"]),
                "accuracy, ties an outcome": cell(accuracy(judge, human, cluster=where)),
                "accuracy, both decide": cell(
                    accuracy(judge, human, ties="exclude", cluster=where)
                ),
                "Cohen's kappa": cell(cohen_kappa(judge, human, cluster=where)),
                "unparsed": score.sample.n_excluded // 3,
            }
        )
    return f"""## People and two judges on the PandaLM test set (999 pairs, three annotators)

Intervals are over the {len(np.unique(question))} instructions: pairs of one instruction share
answers. Agreement between human raters:

{markdown(among)}

{markdown(pairs)}

Two judges against single annotators (the human-human figures above are its ceiling):

{markdown(rows)}
"""


def arena_section(data: Path) -> str:
    """One judge's agreement with arena votes."""
    rows = []
    for path in sorted((data / "arena_pairs").glob("*.json")):
        frame = pd.DataFrame(json.loads(path.read_text(encoding="utf-8")))
        human = frame.human_winner.map({"model_a": "a", "model_b": "b"}).to_numpy(dtype=object)
        pick = frame.judge_pick.map({"A": "a", "B": "b"}).astype(object)
        judge = pick.where(pick.notna(), None).to_numpy()
        right = accuracy(judge, human)
        read = pd.Series(judge).dropna()
        rows.append(
            {
                "pairs of models": path.stem.split("_gpt-4o")[0].replace("_", " "),
                "pairs": len(frame),
                "unparsed": int(len(frame) - len(read)),
                "accuracy": cell(right),
                "Cohen's kappa": cell(cohen_kappa(judge, human)),
                "judge says A": f"{np.mean(read == 'a'):.3f}",
                "humans say A": f"{np.mean(human == 'a'):.3f}",
            }
        )
    return f"""## One judge against arena votes (gpt-4o-mini, one order)

No ties, one vote per pair: accuracy .5 is chance, and the ceiling is unknown because nobody voted
twice. One order only: how much of "judge says A" is position cannot be determined from these files.

{markdown(rows)}
"""


def main() -> None:
    """Write verdicts.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data = parser.parse_args().data
    sections = [schroeder(data), llmbar_section(data), position_section(data)]
    sections += [pandalm_section(data), arena_section(data)]
    head = (
        "<!-- generated by docs/examples/verdicts.py -->\n\n"
        "# Verdicts, order, and agreement with humans: worked examples\n\n"
        "Generated by `docs/examples/verdicts.py` from public judgments. Every interval is 95%; "
        "`[low, high]`.\n\n"
    )
    (HERE / "verdicts.md").write_text(head + "\n".join(sections), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
