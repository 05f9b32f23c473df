"""Coverage of responses by judgments: an encoder-decoder's cross-attention.

The encoder reads the two responses, the decoder the judgment's explanation; what share of the
responses' tokens does the explanation attend to?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats.errors import InputError
from judgestats.items.records import Item
from judgestats.protocols.pairwise import Pairwise
from judgestats.stats.agreement.human import attention_coverage
from judgestats.stats.agreement.raw_agreement import mean_share
from judgestats.stats.inference.estimate import Estimate
from judgestats.training.train import load, need

EXTRA = "coverage"


class CoverageModel:
    """An encoder-decoder that says what of a target a text attends to.

    Parameters
    ----------
    model : str
        A model's folder, or its name on the hub (the replicated study: BART-base).
    threshold : float
        Attention above which a token counts as covered.
    """

    def __init__(self, model: str, *, threshold: float = 0.1) -> None:
        if not 0 <= threshold < 1:
            raise InputError(f"coverage: threshold must lie in 0-1, got {threshold}. Try 0.1.")
        (self._torch,) = need(EXTRA, "torch")
        self._model, self._tokenizer = load(model, kind="AutoModelForSeq2SeqLM", extra=EXTRA)
        self._model.eval()
        self.threshold = threshold
        self.cut = 0
        """Texts that were longer than the model reads, and were cut."""

    def __call__(self, target: str, reading: str) -> float:
        """The share of `target`'s tokens that `reading` attends to; NaN where either is empty."""
        if not target.strip() or not reading.strip():
            return float("nan")
        source, tokens = self._tokens(target), self._tokens(reading)
        with self._torch.inference_mode():
            out = self._model(
                input_ids=source["input_ids"],
                attention_mask=source["attention_mask"],
                decoder_input_ids=tokens["input_ids"],
                output_attentions=True,
            )
        last = out.cross_attentions[-1][0].numpy().astype(float)
        special = set(self._tokenizer.all_special_ids)
        counted = [t not in special for t in source["input_ids"][0].tolist()]
        return attention_coverage(last, threshold=self.threshold, counted=counted)

    def _tokens(self, text: str) -> Any:
        most = int(getattr(self._model.config, "max_position_embeddings", 0) or 1024)
        full = self._tokenizer(text, return_tensors="pt", truncation=False)
        if full["input_ids"].shape[1] <= most:
            return full
        self.cut += 1
        return self._tokenizer(text, return_tensors="pt", truncation=True, max_length=most)


def coverage_table(
    frame: pd.DataFrame, items: Sequence[Item], model: CoverageModel, *, seed: int = 0
) -> pd.DataFrame:
    """Coverage of each final judgment with an explanation, and of an unrelated explanation.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments of pairs.
    items : sequence of Item
    model : CoverageModel
    seed : int
        Of which other question's explanation of the same condition is taken as unrelated.

    Returns
    -------
    DataFrame
        ``condition, item_id, order, replicate, cluster, coverage, unrelated``; the last is NaN
        where the condition has no other question.

    Raises
    ------
    InputError
        If no judgment has an explanation.
    """
    units = {(u.item_id, u.order): u for u in Pairwise().units(tuple(items))}
    in_units = [pair in units for pair in zip(frame["item_id"], frame["order"], strict=True)]
    words = frame["stage"].eq("final") & frame["explanation"].str.strip().ne("")
    used = frame[words & pd.Series(in_units, index=frame.index)].reset_index(drop=True)
    if used.empty:
        raise InputError(
            "coverage: no final judgment on a pair has an explanation. Give a run that asks for "
            "reasoning (methods=pairwise-before, or the experiment crowd)."
        )
    rng = np.random.default_rng(seed)
    rows = []
    for row in used.to_dict("records"):
        unit = units[row["item_id"], row["order"]]
        target = "\n\n".join(unit.item.responses[i].text for i in unit.shown)
        others = used[used["condition"].eq(row["condition"]) & used["cluster"].ne(row["cluster"])][
            "explanation"
        ]
        other = others.iloc[int(rng.integers(len(others)))] if len(others) else ""
        rows.append(
            {
                **{k: row[k] for k in ("condition", "item_id", "order", "replicate", "cluster")},
                "coverage": model(target, row["explanation"]),
                "unrelated": model(target, other),
            }
        )
    return pd.DataFrame(rows)


def covered(table: pd.DataFrame, *, level: float = 0.95) -> dict[str, tuple[Estimate, Estimate]]:
    """Mean coverage of each condition, and of unrelated explanations, with intervals.

    Parameters
    ----------
    table : DataFrame
        As `coverage_table` makes it.
    level : float

    Returns
    -------
    dict of condition to (Estimate, Estimate)
        Intervals over questions.

    Examples
    --------
    >>> rows = [("c", f"q{i}", .2 + .1 * (i % 3), .1) for i in range(6)]
    >>> names = ["condition", "cluster", "coverage", "unrelated"]
    >>> made = covered(pd.DataFrame(rows, columns=names))
    >>> round(made["c"][0].estimate, 3), round(made["c"][1].estimate, 3)
    (0.3, 0.1)
    """
    out = {}
    for condition, own in table.groupby("condition", sort=False):
        shares = [
            mean_share(
                own[column].to_numpy(float),
                cluster=own["cluster"].to_numpy(object),
                level=level,
                name=f"attention_{column}",
                label="Coverage" if column == "coverage" else "Coverage by unrelated text",
            )
            for column in ("coverage", "unrelated")
            if own[column].notna().any()
        ]
        if len(shares) == 2:
            out[str(condition)] = (shares[0], shares[1])
    return out
