"""Attribution of changed verdicts between two evaluations: judge noise, or another output."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import betaln

from judgestats.arrays import Floats
from judgestats.errors import InputError

_DRAWS = 1_000
_CAUSES = {
    "same": "judge noise",
    "judge": "judge changed",
    "system": "system changed",
    "unknown": "changed, outputs not in the files",
    "noise": "within judge noise",
    "once": "cannot tell (repeat the judge 5 times)",
}


@dataclass(frozen=True, kw_only=True)
class Flip:
    """An item whose first verdict changed.

    Attributes
    ----------
    item : str
    before, after : str
        First verdicts of the two evaluations.
    cause : str
        ``"judge noise"``: the output is the same text. ``"system changed"``: another output, and
        the repeats show another pass rate. ``"within judge noise"``: they do not. ``"judge
        changed"``: the judge rates the old outputs otherwise today.
    unchanged : float
        Posterior probability of one pass rate in both; NaN with fewer than two repeats on a side.
    """

    item: str
    before: str
    after: str
    cause: str
    unchanged: float


@dataclass(frozen=True, kw_only=True)
class Flips:
    """Changed verdicts of one judge, and how many its noise alone gives.

    Attributes
    ----------
    n_items : int
        Items with a pass or fail in both.
    expected, low, high : float
        Flips if no item had changed, with a 95% interval by simulation; NaN without repeats.
    rows : tuple of Flip
        Attributed to the system first, then by posterior.
    """

    n_items: int
    expected: float
    low: float
    high: float
    rows: tuple[Flip, ...]

    @property
    def sentence(self) -> str:
        """How many verdicts changed, and how many judge noise explains."""
        count = len(self.rows)
        said = f"{count} flip{'' if count == 1 else 's'} in {self.n_items} items"
        if math.isnan(self.expected):
            return f"{said}. One verdict per item does not show the noise of the judge."
        noise = f"{self.expected:.0f} [{self.low:.0f}, {self.high:.0f}]"
        return f"{said}. Judge noise alone gives {noise}."


def attribute_flips(
    before: pd.DataFrame, after: pd.DataFrame, *, judge_changed: bool = False, seed: int = 0
) -> Flips:
    """Attribute each changed verdict to judge noise or to a changed output.

    Parameters
    ----------
    before, after : DataFrame
        Parsed pass / fail judgments of one judge and condition. A column ``answer_text`` holds
        what was judged.
    judge_changed : bool
        Whether today's judge rates the old outputs otherwise (`drift` with the anchors).
    seed : int
        Of the simulated number of flips.

    Returns
    -------
    Flips

    Raises
    ------
    InputError
        Verdicts other than pass and fail, or no common item.

    Notes
    -----
    A flip is a change of the first verdict. Passes k of m and k' of m' repeats of an item have
    one pass rate or two. Their prior Beta(a, b) maximises the likelihood of all counts. With the
    beta function B the marginal likelihoods are B(k+k'+a, m+m'-k-k'+b) / B(a, b) and
    B(k+a, m-k+b) B(k'+a, m'-k'+b) / B(a, b)^2.

    EM estimates the share of changed items on all items, flipped or not. Flips alone would be
    biased, since the first verdict chose them. ``"system changed"`` needs a posterior of one pass
    rate of at most .05. Expected flips sum 2p(1-p) over the posterior of p.

    Simulation: docs/simulations/flip_attribution.py.

    Examples
    --------
    >>> def run(passes):
    ...     words = {True: "pass", False: "fail"}
    ...     return pd.DataFrame([
    ...         {"item_id": f"q{i}", "choice": words[r < k], "answer_text": f"{i} {k}"}
    ...         for i, k in enumerate(passes) for r in range(10)])
    >>> found = attribute_flips(run([10] * 20 + [0] * 20), run([10] * 19 + [0] * 21))
    >>> found.rows[0].item, found.rows[0].cause, len(found.rows)
    ('q19', 'system changed', 1)
    """
    one, two = _counts(before), _counts(after)
    both = one.add_suffix("_before").join(two.add_suffix("_after"), how="inner")
    if both.empty:
        raise InputError("flips: the two files share no item with a verdict.")
    k, m = (both[f"{c}_before"].to_numpy(float) for c in ("passes", "repeats"))
    l, n = (both[f"{c}_after"].to_numpy(float) for c in ("passes", "repeats"))  # noqa: E741
    enough = (m >= 2) & (n >= 2)
    posterior = np.full(len(both), np.nan)
    expected = low = high = math.nan
    if enough.any():
        prior = _prior(np.concatenate([k, l]), np.concatenate([m, n]))
        posterior[enough] = _unchanged(k[enough], m[enough], l[enough], n[enough], *prior)
        draws = _noise(k, m, l, n, posterior, prior, np.random.default_rng(seed))
        expected, (low, high) = float(draws.mean()), np.quantile(draws, [0.025, 0.975])
    rows = []
    for row, unchanged in zip(
        both.reset_index(names="item").to_dict("records"), posterior.tolist(), strict=True
    ):
        first, second = str(row["first_before"]), str(row["first_after"])
        if first != second:
            known = bool(row["text_before"] and row["text_after"])
            same = known and bool(row["text_before"] == row["text_after"])
            cause, item = _CAUSES[_cause(unchanged, same, known, judge_changed)], str(row["item"])
            flip = Flip(item=item, before=first, after=second, cause=cause, unchanged=unchanged)
            rows.append(flip)
    order = [*list(_CAUSES.values())[1:], _CAUSES["same"]]
    rows.sort(key=lambda f: (order.index(f.cause), f.unchanged))
    return Flips(
        n_items=len(both), expected=expected, low=float(low), high=float(high), rows=tuple(rows)
    )


def _counts(frame: pd.DataFrame) -> pd.DataFrame:
    """Passes, repeats, first verdict and text of every item with a verdict."""
    words = frame["choice"].astype(str).str.lower()
    judged = frame.assign(choice=words, text=frame.get("answer_text", ""))[words != ""]
    strange = sorted(set(judged["choice"]) - {"pass", "fail"})
    if strange:
        raise InputError(f"flips: {strange[0][:40]!r} is not pass or fail.")
    grouped = judged.assign(passes=judged["choice"] == "pass").groupby("item_id", sort=True)
    return grouped.agg(
        passes=("passes", "sum"), repeats=("passes", "size"), first=("choice", "first"),
        text=("text", "first"),
    )  # fmt: skip


def _prior(passes: Floats, repeats: Floats) -> tuple[float, float]:
    """Beta distribution of pass rates that maximises the likelihood of all counts."""

    def loss(logs: Floats) -> float:
        a, b = np.exp(np.clip(logs, -8, 8))
        return -float(np.sum(betaln(passes + a, repeats - passes + b) - betaln(a, b)))

    a, b = np.exp(np.clip(minimize(loss, [0.0, 0.0], method="Nelder-Mead").x, -8, 8))
    return float(a), float(b)


def _unchanged(k: Floats, m: Floats, l: Floats, n: Floats, a: float, b: float) -> Floats:  # noqa: E741
    """Posterior probability of one pass rate, with the share of changed items by EM."""
    one = betaln(k + l + a, m + n - k - l + b) - betaln(a, b)
    two = betaln(k + a, m - k + b) + betaln(l + a, n - l + b) - 2 * betaln(a, b)
    ratio = np.exp(np.clip(one - two, -50, 50))
    changed = 0.1
    for _ in range(200):
        posterior: Floats = ratio * (1 - changed) / (ratio * (1 - changed) + changed)
        changed = float(np.clip(np.mean(1 - posterior), 0.5 / k.size, 1 - 0.5 / k.size))
    return posterior


def _noise(
    k: Floats, m: Floats, l: Floats, n: Floats,  # noqa: E741
    posterior: Floats, prior: tuple[float, float], rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """Simulated numbers of flips if nothing had changed.

    An item's pass rate comes from the repeats of both sides where it has one, else of the first.
    """
    a, b = prior
    shared = rng.random((_DRAWS, k.size)) < np.where(np.isnan(posterior), 1.0, posterior)
    passes, repeats = k + l * shared, m + n * shared
    p = rng.beta(passes + a, repeats - passes + b)
    flips = rng.random(p.shape) < 2 * p * (1 - p)
    return np.asarray(flips.sum(axis=1), dtype=float)


def _cause(unchanged: float, same: bool, known: bool, judge_changed: bool) -> str:
    if judge_changed or same:
        return "judge" if judge_changed else "same"
    if math.isnan(unchanged) or unchanged > 0.05:
        return "once" if math.isnan(unchanged) else "noise"
    return "system" if known else "unknown"
